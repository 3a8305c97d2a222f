//! Ways to write: where the source of the data holds writing up, and where a speed is only the page cache's.
//!
//! The page cache limits no device: what goes there is not there yet, and that is an illusion. A source that gives hardly more than what
//! arrives is what was measured.

use flashscope_record::diagnosis::{Bottleneck, Cost, Diagnosis, Gain, Illusion, LITTLE, Layer};
use flashscope_record::figure::speed;
use flashscope_record::finding::WouldDecide;
use flashscope_record::observation::{Data, Observations};

use crate::diagnosis::seen::last;
use crate::files::comparison::Spread;
use crate::files::write_methods::{WaySpeed, truth, ways};

/// A claim that is so many times what is really there is worth a word.
const CLAIMED: f64 = 1.15;
/// Two runs of the same way differ by as much.
const FACTOR: f64 = 1.1;

/// The diagnosis where ways to write were measured, and nothing that tells more.
pub fn diagnosis(observations: &[Observations]) -> Option<Diagnosis> {
    let data = last(observations, |data| match data {
        Data::Methods(data) => Some(data),
        _ => None,
    })?;
    let (ways, truth) = (ways(data), truth(data));
    let costs: Vec<Cost> = truth.and_then(|truth| source(&ways, &truth)).into_iter().collect();
    let bottleneck = match costs.first().filter(|cost| cost.gain.likely >= LITTLE) {
        Some(cost) => Bottleneck::Layer(cost.clone()),
        None => Bottleneck::Unknown {
            reason:
                "ways to write tell how fast data is really written, not where the device spends the time"
                    .into(),
            would_decide: vec![WouldDecide::WriteTests],
        },
    };
    let illusions = if truth.is_some() { illusions(&ways) } else { Vec::new() };
    Some(Diagnosis { bottleneck, costs, small_files: None, unweighed: Vec::new(), illusions })
}

/// The slowest of the sources that hold writing up: alone they give less than the device takes, and so little arrives; in every round, so
/// that a stall is not taken for a source.
fn source(ways: &[WaySpeed], truth: &Spread) -> Option<Cost> {
    let held = ways.iter().filter(|way| way.is_held_up_by_its_source(truth));
    let way = held.min_by(|a, b| a.durable.median.total_cmp(&b.durable.median))?;
    let likely = (truth.median / way.durable.median).max(1.0);
    let low = (truth.low / way.durable.high).min(likely / FACTOR).max(1.0);
    let high = (truth.high / way.durable.low).max(likely * FACTOR);
    Some(Cost { layer: Layer::DataSource, gain: Gain { low, likely, high }, evidence: told(way, truth) })
}

fn told(way: &WaySpeed, truth: &Spread) -> String {
    let source = way.source.map_or(0.0, |source| source.median);
    format!(
        "{}: the source alone gives {}, and {} arrive; other data is written at {}",
        way.way.command(),
        speed(source),
        speed(way.durable.median),
        speed(truth.median)
    )
}

fn illusions(ways: &[WaySpeed]) -> Vec<Illusion> {
    let claimed =
        ways.iter().filter(|way| way.way.may_end_in_page_cache()).filter(|way| way.times.low > CLAIMED);
    let told = |way: &WaySpeed| Illusion {
        layer: Layer::PageCache,
        times: way.times.median,
        evidence: format!(
            "{} claims {}, for the data was only in memory; it is written at {}",
            way.way.command(),
            speed(way.claimed.median),
            speed(way.durable.median)
        ),
    };
    claimed.map(told).collect()
}
