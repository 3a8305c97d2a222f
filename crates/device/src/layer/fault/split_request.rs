//! A request in several parts, which are combined into one completion.

use crate::buffer::Buffer;
use crate::pattern::{CheckReport, Pattern};
use crate::request::{Completion, FailureCause, Op, OpKind, ReadInto, RequestError, Success, Tag};
use crate::time::Instant;
use crate::units::ByteRange;

/// A request whose parts are in flight.
#[derive(Debug)]
pub struct SplitRequest {
    tag: Tag,
    kind: OpKind,
    range: Option<ByteRange>,
    submitted_at: Instant,
    parts_left: usize,
    failure: Option<FailureCause>,
    buffer: Option<Buffer>,
    check: Option<(Pattern, CheckReport)>,
}

impl SplitRequest {
    /// `op` in this number of parts.
    pub fn new(tag: Tag, op: Op, submitted_at: Instant, parts: usize) -> Self {
        let check = match &op {
            Op::Read { into: ReadInto::Check(pattern), .. } => Some((*pattern, CheckReport::default())),
            _ => None,
        };
        Self {
            tag,
            kind: op.kind(),
            range: op.range(),
            submitted_at,
            parts_left: parts,
            failure: None,
            buffer: op.into_buffer(),
            check,
        }
    }

    /// Records that a part failed, which fails the request.
    pub fn fail(&mut self, cause: FailureCause) {
        self.failure.get_or_insert(cause);
    }

    /// Adds the bytes of a part of a read.
    pub fn add_bytes(&mut self, part: ByteRange, bytes: &[u8]) {
        if let Some((pattern, _)) = &self.check {
            let report = pattern.check(part.offset.sectors(), bytes);
            self.add_report(&report);
        }
        if let (Some(buffer), Some(range)) = (&mut self.buffer, self.range) {
            let start = part.offset.saturating_sub(range.offset).to_usize();
            buffer[start..start + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Adds this number of right blocks, which the device checked itself.
    pub const fn count_right(&mut self, blocks: u64) {
        if let Some((_, report)) = &mut self.check {
            report.right += blocks;
        }
    }

    /// Adds the result of a part that the device checked itself.
    pub fn add_report(&mut self, part: &CheckReport) {
        let Some((_, report)) = &mut self.check else { return };
        report.right += part.right;
        report.stale += part.stale;
        report.misplaced += part.misplaced;
        report.blank += part.blank;
        report.corrupt += part.corrupt;
        let wrong = [report.first_wrong, part.first_wrong].into_iter().flatten();
        report.first_wrong = wrong.min_by_key(|(lba, _)| *lba);
    }

    /// Counts a completed part. True after the last one.
    pub const fn count_part(&mut self) -> bool {
        self.parts_left -= 1;
        self.parts_left == 0
    }

    /// The completion of the request.
    pub fn complete(self, completed_at: Instant) -> Completion {
        let outcome = match (self.failure, self.check) {
            (Some(cause), _) => Err(RequestError::new(self.kind, self.range, cause)),
            (None, Some((_, report))) => Ok(Success::of_check(report)),
            (None, None) => Ok(Success::Done),
        };
        Completion::new(self.tag, (self.submitted_at, completed_at), outcome, self.buffer)
    }
}
