//! Ways to write: where the source of the data holds writing up, and where a speed is only the page cache's.
//!
//! The page cache limits no device: what goes there is not there yet, and that is an illusion. A source that gives hardly more than what
//! arrives is what was measured.

use serde::Serialize;

use super::{Bottleneck, Cost, Diagnosis, Gain, LITTLE, Layer, last};
use crate::inference::truth;
use crate::inference::wording::speed;
use crate::observation::{Claim, Data, MethodsData, Observations};

/// A source that gives less than this many times what the device takes holds it up.
const SOURCE: f64 = 1.15;
/// A claim that is so many times the truth is worth a word.
const CLAIMED: f64 = 1.15;
/// Two runs of the same way differ by as much.
const FACTOR: f64 = 1.1;

/// A speed that no device has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Illusion {
    /// The layer that makes it.
    pub layer: Layer,
    /// How many times the truth is claimed.
    pub times: f64,
    /// One sentence with the measured figures.
    pub evidence: String,
}

/// The diagnosis where ways to write were measured, and nothing that tells more.
pub fn diagnosis(observations: &[Observations]) -> Option<Diagnosis> {
    let data = last(observations, |data| match data {
        Data::Methods(data) => Some(data),
        _ => None,
    })?;
    let truth = truth(data);
    let costs: Vec<Cost> = truth.and_then(|truth| source(data, truth)).into_iter().collect();
    let bottleneck = match costs.first().filter(|cost| cost.gain.likely >= LITTLE) {
        Some(cost) => Bottleneck::Layer(cost.clone()),
        None => Bottleneck::Unknown {
            reason:
                "ways to write tell how fast data is really written, not where the device spends the time"
                    .to_owned(),
            would_decide: "the writing tests on the whole device (check --erase, which destroys what is on it)",
        },
    };
    let illusions = truth.map_or_else(Vec::new, |truth| illusions(data, truth));
    Some(Diagnosis { bottleneck, costs, unweighed: Vec::new(), illusions })
}

/// The slowest of the sources that hold writing up.
fn source(data: &MethodsData, truth: f64) -> Option<Cost> {
    let held =
        data.claims.iter().filter(|claim| claim.source().is_some_and(|source| source < truth * SOURCE));
    let claim = held.min_by(|a, b| a.durable().total_cmp(&b.durable()))?;
    let likely = (truth / claim.durable()).max(1.0);
    let gain = Gain { low: (likely / FACTOR).max(1.0), likely, high: likely * FACTOR };
    Some(Cost { layer: Layer::DataSource, gain, evidence: told(claim, truth) })
}

fn told(claim: &Claim, truth: f64) -> String {
    let source = claim.source().unwrap_or_default();
    format!(
        "{}: the source alone gives {}, and {} arrive; other data is written at {}",
        claim.way.command(),
        speed(source),
        speed(claim.durable()),
        speed(truth)
    )
}

fn illusions(data: &MethodsData, truth: f64) -> Vec<Illusion> {
    let claimed = data
        .claims
        .iter()
        .filter(|claim| claim.way.may_end_in_page_cache())
        .filter(|claim| claim.claimed() > truth * CLAIMED && claim.durable_s > claim.claimed_s * CLAIMED);
    let told = |claim: &Claim| Illusion {
        layer: Layer::PageCache,
        times: claim.claimed() / truth,
        evidence: format!(
            "{} claims {}, for the data was only in memory; it is written at {}",
            claim.way.command(),
            speed(claim.claimed()),
            speed(claim.durable())
        ),
    };
    claimed.map(told).collect()
}
