//! The erase block from pairs of writes, one behind the other, that cost a merge where they meet at its end.

use flashscope_device::Bytes;

use flashscope_record::figure::time;
use flashscope_record::finding::{Confidence, Finding, FindingId, Outcome, Value};
use flashscope_record::observation::BlockEndsData;

use crate::geometry::block_end_posterior::BlockBelief;
use crate::statistics::median;

/// Below this probability the honest answer is unknown.
const PROBABILITY_MIN: f64 = 0.9;
/// So many pairs must have merged at its ends, and so many not elsewhere.
const SEEN_MIN: usize = 2;
/// What the model can be wrong about that its posterior does not know.
const MODEL_DOUBT: f64 = 0.01;

/// The erase block as reads show it; where they are not sure, as writes do after what reads left.
#[must_use]
pub fn or(from_reads: Finding, reads: &[(Bytes, f64)], data: Option<&BlockEndsData>) -> Finding {
    let Some(data) = data else { return from_reads };
    match (of_writes(data, reads), from_reads.bytes()) {
        (Ok(found), Some(read)) if found.bytes() != Some(read) => {
            found.with_caveat(format!("reads suggest {read}"))
        }
        (Ok(found), _) => found,
        (Err(_), Some(_)) => from_reads,
        (Err(why), None) => also(from_reads, &why),
    }
}

/// The finding, or why there is none.
fn of_writes(data: &BlockEndsData, reads: &[(Bytes, f64)]) -> Result<Finding, String> {
    let openings = data.openings.len();
    let Some(belief) = BlockBelief::of(data, reads) else {
        return Err(format!("nothing was merged when writing began at {openings} places"));
    };
    let (block, probability) = belief.verdict();
    let Some(block) = block else {
        let tried = data.crossings.len();
        return Err(format!(
            "of {tried} pairs of writes, those that merged meet at no multiples of one size"
        ));
    };
    let (merged, free) = belief.seen(block);
    if probability < PROBABILITY_MIN || merged < SEEN_MIN || free < SEEN_MIN {
        let percent = probability * 100.0;
        return Err(format!("writes fit an erase block of {block} only with {percent:.0} % probability"));
    }
    let confidence = Confidence::new(probability * (1.0 - MODEL_DOUBT));
    Ok(Finding::exact(
        FindingId::EraseBlockBytes,
        Value::Bytes(block),
        confidence,
        evidence(block, data, &belief),
    ))
}

fn evidence(block: Bytes, data: &BlockEndsData, belief: &BlockBelief) -> String {
    let took = |ends: bool| {
        let here = data.crossings.iter().filter(|crossing| belief.is_end(crossing.offset, block) == ends);
        let seconds: Vec<f64> = here.map(|crossing| crossing.took().as_secs_f64()).collect();
        median(&seconds).map_or_else(String::new, time)
    };
    format!(
        "with all places for open erase blocks taken, two writes one behind the other took {} where they meet at a \
         multiple of {block}, elsewhere {}",
        took(true),
        took(false)
    )
}

/// An unknown with one more reason.
fn also(mut finding: Finding, why: &str) -> Finding {
    if let Outcome::Unknown { reason, .. } = &mut finding.outcome {
        *reason = format!("{reason}; {why}");
    }
    finding
}
