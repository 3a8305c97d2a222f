//! Takes back findings that a file of flashscope's own does not show.

use flashscope_device::{ByteRange, Bytes};
use flashscope_record::finding::{Finding, FindingId, Reason, WouldDecide};
use flashscope_record::observation::Observations;

/// The fewest erase blocks in a file that shows their size. Guess: with fewer boundaries, blocks of another
/// size may fit as well.
const BLOCKS_MIN: u64 = 10;

/// The part of the device that a file covered, if only a file was used and its place is known.
fn region(observations: &[Observations]) -> Option<ByteRange> {
    observations.iter().find(|seen| seen.conditions.is_in_file)?.conditions.region
}

/// The erase block becomes unknown if the file holds few of that size, or does not begin at a multiple of it:
/// its boundaries then lie elsewhere.
pub fn unless_off_alignment(finding: Finding, observations: &[Observations]) -> Finding {
    let (Some(size), Some(region)) = (finding.bytes(), region(observations)) else { return finding };
    let reason = if region.length / size.max(Bytes::new(1)) < BLOCKS_MIN {
        Reason::FileTooShort { size, file: region.length }
    } else if !region.offset.is_multiple_of(size) {
        Reason::FileOffAlignment { size, offset: region.offset }
    } else {
        return finding;
    };
    Finding::unknown(finding.id, reason, [WouldDecide::WholeDevice])
}

/// The cache and the sustained speed become unknown: the stream overwrote one file.
pub fn unless_stream_in_file(finding: Finding, observations: &[Observations]) -> Finding {
    let is_of_stream = matches!(finding.id, FindingId::SlcCacheBytes | FindingId::SustainedWriteBytesPerS);
    let in_file = observations.iter().find(|seen| seen.conditions.is_in_file);
    let (true, true, Some(seen)) = (is_of_stream, finding.value().is_some(), in_file) else {
        return finding;
    };
    let file = seen.conditions.region.map_or(Bytes::ZERO, |region| region.length);
    Finding::unknown(finding.id, Reason::StreamInFile { file }, [WouldDecide::WholeDevice])
}
