//! Takes back findings that are not sure enough, or rest on an assumption.

use flashscope_record::finding::{
    Caveat, Confidence, Finding, FindingId, FtlClass, Outcome, Reason, Sample, Value, WouldDecide,
};

use crate::thresholds::{AS_LIKELY_AS_NOT, LIKELY, SURE_ENOUGH};

/// A value that is not sure enough becomes an unknown.
pub fn unless_sure(mut finding: Finding) -> Finding {
    let Outcome::Found { value, confidence, .. } = finding.outcome else { return finding };
    if confidence.get() < SURE_ENOUGH {
        let reason = Reason::Likely { value, confidence, because: finding.evidence.take() };
        let would_decide = vec![WouldDecide::More(Sample::Measurements)];
        finding.outcome = Outcome::Unknown { reason, would_decide };
    }
    finding
}

/// A class of page-mapped becomes an unknown: other delays of equal writes, such as the rotation of a disk,
/// look the same. For devices that show neither a page nor an erase block.
pub fn unless_flash_shows(finding: &mut Finding) {
    if finding.value() == Some(Value::Class { class: FtlClass::PageMapped, above: None }) {
        let would_decide =
            [FindingId::PageBytes, FindingId::EraseBlockBytes].map(WouldDecide::Finding).to_vec();
        finding.outcome = Outcome::Unknown { reason: Reason::NoSignOfFlash, would_decide };
        finding.evidence = None;
    }
}

/// What was measured in blocks of an assumed size loses a tenth of its confidence if the assumption may
/// stand, and becomes an unknown otherwise. It stands in a published table: whoever chose the block had seen
/// more than the log shows.
pub fn rest_on_assumption(finding: &mut Finding, assumption: &Caveat, stands: bool) {
    let Outcome::Found { value, confidence, .. } = &mut finding.outcome else { return };
    if stands {
        *confidence = Confidence::new(confidence.get() * LIKELY);
        finding.caveats.push(assumption.clone());
    } else {
        let reason = Reason::IfAssumed { value: *value, assumption: assumption.clone() };
        let would_decide = vec![WouldDecide::Finding(FindingId::EraseBlockBytes)];
        finding.outcome = Outcome::Unknown { reason, would_decide };
    }
}

/// A page by reads becomes an unknown: writes may work in a multiple of it, and the device failed before they
/// showed that.
pub fn undecided_by_writes(page: Finding) -> Finding {
    if page.value().is_none() {
        return page;
    }
    let reason = Reason::PageFromReads(page.evidence);
    Finding::unknown(FindingId::PageBytes, reason, [WouldDecide::OtherPort])
}

/// What rests on merges is in doubt if they are too short to copy the erase block, and so is that block.
/// Either it has another size, or the writes wait for something else.
pub fn unless_merged(finding: &mut Finding) {
    let rests_on_merges = matches!(
        finding.id,
        FindingId::EraseBlockBytes
            | FindingId::OpenUnitsLinear
            | FindingId::OpenUnitsRandom
            | FindingId::FatAreaBytes
            | FindingId::FtlClass
            | FindingId::MergeSeconds
    );
    if let (true, Outcome::Found { confidence, .. }) = (rests_on_merges, &mut finding.outcome) {
        // The erase block may have another size instead.
        *confidence = Confidence::new(confidence.get() * (1.0 - AS_LIKELY_AS_NOT));
    }
}
