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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_record::finding::{ReadEvidence, WouldDecide};
    use flashscope_record::observation::{Crossing, Opening};

    use super::*;

    /// Pairs of writes that meet at these KiB, on a device with erase blocks of 6 MiB: a write takes 4 ms, a
    /// merge 90 ms.
    fn data(met: &[u64]) -> BlockEndsData {
        let write = Duration::from_millis(4);
        let opening = |millis: u64| Opening {
            offset: Bytes::ZERO,
            first: Duration::from_millis(millis),
            second: write,
        };
        let crossing = |kib: &u64| Crossing {
            offset: Bytes::kib(*kib),
            before: write,
            after: Duration::from_millis(if kib.is_multiple_of(6144) { 94 } else { 4 }),
        };
        BlockEndsData {
            request: Bytes::kib(32),
            page: None,
            openings: [4, 4, 90, 91, 90, 88].map(opening).into(),
            crossings: met.iter().map(crossing).collect(),
        }
    }

    const ENDS: [u64; 4] = [6144 * 35, 6144 * 16, 6144, 6144 * 11];
    const OTHERS: [u64; 5] = [3072, 2048 * 5, 2048 * 35, 3072 * 7, 4096 * 5];

    /// What reads found: this size, or nothing.
    fn from_reads(block: Option<Bytes>) -> Finding {
        let id = FindingId::EraseBlockBytes;
        let Some(block) = block else {
            return Finding::unknown(id, Reason::NothingFits, [WouldDecide::WriteTests]);
        };
        let evidence = Evidence::Reads(ReadEvidence::Alike { read_s: 7e-4, noise_s: 1e-6 });
        Finding::exact(id, Value::Bytes(block), Confidence::new(0.9), evidence)
    }

    #[test]
    fn writes_find_the_erase_block_with_the_confidence_of_their_posterior_and_its_delay() {
        let data = data(&[&ENDS[..], &OTHERS].concat());
        let found = or(from_reads(None), &[], Some(&data));
        assert_eq!(found.bytes(), Some(Bytes::mib(6)), "{found:?}");
        let (_, probability) = BlockPosterior::of(&data, &[]).unwrap().verdict();
        let expected = probability * (1.0 - MODEL_ERROR);
        assert!((found.confidence().get() - expected).abs() < 1e-3, "{probability}: {found:?}");
        let delay = delay(&found).unwrap();
        assert!((delay.seconds - 0.09).abs() < 1e-9 && (delay.write_s - 4e-3).abs() < 1e-9, "{delay:?}");
    }

    #[test]
    fn too_few_merges_or_pairs_without_one_leave_what_reads_found() {
        let one_merge = [&ENDS[..1], &OTHERS].concat();
        for met in [&one_merge[..], &ENDS] {
            let data = data(met);
            let unknown = or(from_reads(None), &[], Some(&data));
            assert_eq!(unknown.value(), None, "{unknown:?}");
            assert_ne!(unknown, from_reads(None), "the reason names the writes as well");
            let read = from_reads(Some(Bytes::mib(3)));
            assert_eq!(or(read.clone(), &[], Some(&data)), read);
        }
        assert_eq!(or(from_reads(None), &[], None), from_reads(None), "nothing was written");
    }

    #[test]
    fn writes_count_more_than_reads_which_are_named_if_they_differ() {
        let data = data(&[&ENDS[..], &OTHERS].concat());
        let caveats = |read: u64| {
            let found = or(from_reads(Some(Bytes::mib(read))), &[], Some(&data));
            assert_eq!(found.bytes(), Some(Bytes::mib(6)), "{found:?}");
            found.caveats
        };
        assert_eq!(caveats(6), []);
        assert_eq!(caveats(3), [Caveat::ReadsSuggest(Bytes::mib(3))]);
    }
}
