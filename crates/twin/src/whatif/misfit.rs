//! How far a twin is from the brief stream and the speed test of its run, which are repeated on it. Of them
//! only the rate of the link, stalls and a path of small writes were fitted.

use flashscope_device::Bytes;
use flashscope_infer::trials::twin_error::Misfit;
use flashscope_infer::verdict::rows_of;
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::observation::{Data, Direction, Observations, Order, SustainedData};
use flashscope_sim::{Profile, VirtualStick};

/// The seed of the repetition. Any does.
const SEED: u64 = 1;

/// The logarithms of the ratios of measured and repeated speeds; 0 for a speed that was not measured.
pub fn misfit(measured: &[Observations], twin: &Profile) -> Misfit {
    let mut device = VirtualStick::new(twin, SEED);
    let survey = Survey::new(true, SEED);
    let mut repeated = vec![survey.fill_briefly(&mut device, &mut Silent)];
    repeated.extend(survey.speeds(&mut device, None, &mut Silent));
    let brief = stream(&repeated).map_or(Bytes::ZERO, SustainedData::written);
    let ratio = |speed: &dyn Fn(&[Observations]) -> Option<f64>| {
        let ratio = speed(measured).zip(speed(&repeated)).map(|(measured, repeated)| measured / repeated);
        ratio.map_or(0.0, |ratio| ratio.ln().abs())
    };
    Misfit {
        linear_reads: ratio(&|seen| mean_rate(seen, Direction::Read, Order::Linear)),
        random_reads: ratio(&|seen| mean_rate(seen, Direction::Read, Order::Random)),
        linear_writes: ratio(&|seen| stream_rate(seen, brief)),
        random_writes: ratio(&|seen| mean_rate(seen, Direction::Write, Order::Random)),
    }
}

/// The mean rate of the requests of one kind without a queue, bytes per second.
fn mean_rate(seen: &[Observations], direction: Direction, order: Order) -> Option<f64> {
    let (_, cell) = rows_of(seen, direction, order).find(|(data, _)| !data.is_buffered)?;
    #[expect(clippy::cast_precision_loss, reason = "a test takes less than 2^53 ns")]
    let seconds = cell.took_ns.iter().sum::<u64>() as f64 / 1e9;
    (seconds > 0.0).then(|| cell.transferred().as_f64() / seconds)
}

/// The mean rate of the first `most` bytes of the stream of large writes, bytes per second.
fn stream_rate(seen: &[Observations], most: Bytes) -> Option<f64> {
    let data = stream(seen)?;
    let (mut bytes, mut seconds) = (Bytes::ZERO, 0.0_f64);
    for piece in &data.pieces {
        if bytes >= most {
            break;
        }
        bytes += data.request * u64::from(piece.requests);
        seconds += piece.time.as_secs_f64();
    }
    (seconds > 0.0).then(|| bytes.as_f64() / seconds)
}

fn stream(seen: &[Observations]) -> Option<&SustainedData> {
    seen.iter().find_map(|seen| match &seen.data {
        Data::Sustained(data) if !data.is_spread => Some(data),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use flashscope_sim::profile::{Basis, Curve, WriteCurve};

    use super::*;

    fn measured(profile: &Profile) -> Vec<Observations> {
        let (mut device, survey) = (VirtualStick::new(profile, 7), Survey::new(true, 7));
        let mut seen = vec![survey.fill_briefly(&mut device, &mut Silent)];
        seen.extend(survey.speeds(&mut device, None, &mut Silent));
        seen
    }

    #[test]
    fn a_twin_of_other_writes_misfits_in_writes_alone() {
        let stick = Profile::builtin("transcend-8g").unwrap();
        let own = misfit(&measured(&stick), &stick);
        assert!(own.factor().is_some_and(|factor| factor < 1.3), "{own:?}");
        let mut slow = stick.clone();
        slow.write.basis = Basis::Assumed;
        (slow.write.overhead_us, slow.write.page_program_us, slow.write.partial_page_us) = (None, None, None);
        slow.write.curve =
            Some(WriteCurve { append_us: Curve::Constant(1e6), switch_us: None, jump_us: None });
        let other = misfit(&measured(&stick), &slow);
        assert!(other.linear_writes > 1.5 && other.linear_reads < 0.1, "{other:?}");
        assert_eq!(misfit(&[], &stick).factor(), None, "no speeds were measured");
    }
}
