//! The erase block from what it costs to open another one behind streams of several lengths.

use flashscope_device::Bytes;

use super::statistics::median;
use super::wording::time;
use crate::belief::{BlockBelief, block_slowness};
use crate::finding::{Confidence, Finding, FindingId, Outcome, Value};
use crate::observation::BlockEndsData;

/// Below this probability the honest answer is unknown.
const PROBABILITY_MIN: f64 = 0.9;
/// So many streams of other lengths must have left something to merge.
const MERGED_MIN: usize = 2;
/// What the model can be wrong about that its posterior does not know.
const MODEL_DOUBT: f64 = 0.01;

/// The erase block as reads show it; where they do not, as writes do.
#[must_use]
pub fn or(from_reads: Finding, data: Option<&BlockEndsData>) -> Finding {
    let Some(data) = data.filter(|_| from_reads.value().is_none()) else { return from_reads };
    match of_writes(data) {
        Ok(found) => found,
        Err(why) => also(from_reads, &why),
    }
}

/// The finding, or why there is none.
fn of_writes(data: &BlockEndsData) -> Result<Finding, String> {
    let openings = data.openings.len();
    let Some(belief) = BlockBelief::of(data) else {
        return Err(format!("nothing was merged when {openings} erase blocks were opened"));
    };
    let (block, probability) = belief.verdict();
    let Some(block) = block else {
        return Err(
            "opening another erase block merged behind streams of every length that was tried".to_owned()
        );
    };
    let (free, merged) = belief.seen(block);
    if probability < PROBABILITY_MIN || free == 0 || merged < MERGED_MIN {
        let percent = probability * 100.0;
        return Err(format!("writes fit an erase block of {block} only with {percent:.0} % probability"));
    }
    let confidence = Confidence::new(probability * (1.0 - MODEL_DOUBT));
    Ok(Finding::exact(FindingId::EraseBlockBytes, Value::Bytes(block), confidence, evidence(block, data)))
}

fn evidence(block: Bytes, data: &BlockEndsData) -> String {
    let slowness = block_slowness(&data.openings);
    let behind = |whole: bool| {
        let here = data
            .openings
            .iter()
            .filter(|opening| !opening.streamed.is_zero() && opening.streamed.is_multiple_of(block) == whole);
        let seconds: Vec<f64> = here.map(|opening| opening.first.as_secs_f64()).collect();
        median(&seconds).map_or_else(String::new, time)
    };
    let usual = slowness.map_or_else(String::new, |slowness| time(slowness.typical_seconds()));
    format!(
        "behind {block} written in order, opening another erase block took {}, behind other lengths {} (a write alone {usual})",
        behind(true),
        behind(false)
    )
}

/// An unknown with one more reason.
fn also(mut finding: Finding, why: &str) -> Finding {
    if let Outcome::Unknown { reason, .. } = &mut finding.outcome {
        *reason = format!("{reason}; {why}");
    }
    finding
}
