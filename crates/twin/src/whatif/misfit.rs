//! How far a twin is from speeds to which it was not fitted: the brief stream and the speed test of the same
//! run, repeated on the twin.

use flashscope_infer::trials::twin_error::Misfit;
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::observation::{Data, Direction, Observations, Order};
use flashscope_sim::{Profile, VirtualStick};

/// The seed of the repetition. Any does.
const SEED: u64 = 1;

/// The logarithms of the ratios of measured and repeated speeds; 0 for a speed that was not measured.
pub fn misfit(measured: &[Observations], twin: &Profile) -> Misfit {
    let mut device = VirtualStick::new(twin, SEED);
    let survey = Survey::new(true, SEED);
    let mut repeated = vec![survey.fill_briefly(&mut device, &mut Silent)];
    repeated.extend(survey.speeds(&mut device, None, &mut Silent));
    let ratio = |speed: &dyn Fn(&[Observations]) -> Option<f64>| {
        let ratio = speed(measured).zip(speed(&repeated)).map(|(measured, repeated)| measured / repeated);
        ratio.map_or(0.0, |ratio| ratio.ln().abs())
    };
    Misfit {
        linear_reads: ratio(&|seen| mean_rate(seen, Direction::Read, Order::Linear)),
        random_reads: ratio(&|seen| mean_rate(seen, Direction::Read, Order::Random)),
        linear_writes: ratio(&stream_rate),
        random_writes: ratio(&|seen| mean_rate(seen, Direction::Write, Order::Random)),
    }
}

/// The mean rate of the requests of one kind without a queue, bytes per second.
fn mean_rate(seen: &[Observations], direction: Direction, order: Order) -> Option<f64> {
    let cells = seen.iter().filter_map(|seen| match &seen.data {
        Data::Speed(data) if !data.is_buffered => Some(&data.cells),
        _ => None,
    });
    let is_asked = |case: (Direction, Order, u32)| case == (direction, order, 1);
    let cell = cells
        .flatten()
        .find(|cell| is_asked((cell.case.direction, cell.case.order, cell.case.queue_depth)))?;
    #[expect(clippy::cast_precision_loss, reason = "a test takes less than 2^53 ns")]
    let seconds = cell.took_ns.iter().sum::<u64>() as f64 / 1e9;
    (seconds > 0.0).then(|| cell.transferred().as_f64() / seconds)
}

/// The mean rate of the first stream of large writes, over the length of the brief one, bytes per second.
fn stream_rate(seen: &[Observations]) -> Option<f64> {
    seen.iter().find_map(|seen| match &seen.data {
        Data::Sustained(data) if !data.is_spread => {
            let seconds = data.time().as_secs_f64();
            (seconds > 0.0).then(|| data.written().as_f64() / seconds)
        }
        _ => None,
    })
}
