//! The erase block from pairs of adjacent writes, which cost a merge where they meet at its end.

use flashscope_device::Bytes;

use flashscope_record::finding::{
    Caveat, Confidence, Evidence, Finding, FindingId, Outcome, Reason, SizeEvidence, Value,
};
use flashscope_record::observation::BlockEndsData;

use crate::copying::Delay;
use crate::geometry::block_end_posterior::BlockPosterior;
use crate::statistics::median;
use crate::thresholds::{MODEL_ERROR, REPEATED, SURE_ENOUGH};

/// The erase block by writes, which start from what reads leave open; by reads if the writes do not decide.
#[must_use]
pub fn or(from_reads: Finding, reads: &[(Bytes, f64)], data: Option<&BlockEndsData>) -> Finding {
    let Some(data) = data else { return from_reads };
    match (of_writes(data, reads), from_reads.bytes()) {
        (Ok(found), Some(read)) if found.bytes() != Some(read) => {
            found.with_caveat(Caveat::ReadsSuggest(read))
        }
        (Ok(found), _) => found,
        (Err(_), Some(_)) => from_reads,
        (Err(why), None) => with_reason(from_reads, why),
    }
}

/// The finding, or why there is none.
fn of_writes(data: &BlockEndsData, reads: &[(Bytes, f64)]) -> Result<Finding, Reason> {
    let Some(posterior) = BlockPosterior::of(data, reads) else {
        return Err(Reason::NothingMerged { offsets: data.openings.len() });
    };
    let (block, probability) = posterior.verdict();
    let Some(block) = block else {
        return Err(Reason::PairsDisagree { pairs: data.crossings.len() });
    };
    let (merged, free) = posterior.seen(block);
    if probability < SURE_ENOUGH || merged < REPEATED || free < REPEATED {
        let (value, confidence) = (Value::Bytes(block), Confidence::new(probability));
        return Err(Reason::Likely { value, confidence, because: None });
    }
    let confidence = Confidence::new(probability * (1.0 - MODEL_ERROR));
    Ok(Finding::exact(
        FindingId::EraseBlockBytes,
        Value::Bytes(block),
        confidence,
        evidence(block, data, &posterior),
    ))
}

/// The delay of a pair of writes at the end of an erase block that such pairs show.
pub fn delay(erase_block: &Finding) -> Option<Delay> {
    match erase_block.evidence.as_ref()? {
        Evidence::Sizes(SizeEvidence::BlockEnds { at_end_s, elsewhere_s, .. }) => {
            let write_s = (*elsewhere_s)? / 2.0;
            Some(Delay { seconds: (*at_end_s)? - write_s * 2.0, write_s })
        }
        _ => None,
    }
}

fn evidence(block: Bytes, data: &BlockEndsData, posterior: &BlockPosterior) -> Evidence {
    let seconds = |ends: bool| {
        let crossings =
            data.crossings.iter().filter(|crossing| posterior.is_end(crossing.offset, block) == ends);
        median(&crossings.map(|crossing| crossing.took().as_secs_f64()).collect::<Vec<_>>())
    };
    let (at_end_s, elsewhere_s) = (seconds(true), seconds(false));
    Evidence::Sizes(SizeEvidence::BlockEnds { size: block, at_end_s, elsewhere_s })
}

/// An unknown with one more reason.
fn with_reason(mut finding: Finding, other: Reason) -> Finding {
    if let Outcome::Unknown { reason, .. } = &mut finding.outcome {
        *reason = reason.clone().and(other);
    }
    finding
}
