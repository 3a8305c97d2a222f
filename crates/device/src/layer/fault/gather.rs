//! One request in several parts: what each part brought, put together to one completion.

use crate::buffer::Buffer;
use crate::pattern::{CheckReport, Pattern};
use crate::request::{Completion, FailureCause, Op, OpKind, ReadInto, RequestError, Success, Tag};
use crate::time::Instant;
use crate::units::ByteRange;

/// A request whose parts are under way.
#[derive(Debug)]
pub struct Gather {
    tag: Tag,
    kind: OpKind,
    range: Option<ByteRange>,
    submitted_at: Instant,
    parts_left: usize,
    failure: Option<FailureCause>,
    buffer: Option<Buffer>,
    check: Option<(Pattern, CheckReport)>,
}

impl Gather {
    /// `op`, in so many parts.
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

    /// A part failed, and with it the whole.
    pub fn fail(&mut self, cause: FailureCause) {
        self.failure.get_or_insert(cause);
    }

    /// A part of a read brought these bytes.
    pub fn take(&mut self, part: ByteRange, bytes: &[u8]) {
        if let Some((pattern, _)) = &self.check {
            let report = pattern.check(part.offset.sectors(), bytes);
            self.judge(&report);
        }
        if let (Some(buffer), Some(range)) = (&mut self.buffer, self.range) {
            let start = part.offset.saturating_sub(range.offset).to_usize();
            buffer[start..start + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// The device checked a part itself, and all of these blocks are right.
    pub const fn all_right(&mut self, blocks: u64) {
        if let Some((_, report)) = &mut self.check {
            report.right += blocks;
        }
    }

    /// The device checked a part itself.
    pub fn judge(&mut self, part: &CheckReport) {
        let Some((_, report)) = &mut self.check else { return };
        report.right += part.right;
        report.stale += part.stale;
        report.misplaced += part.misplaced;
        report.blank += part.blank;
        report.corrupt += part.corrupt;
        let wrong = [report.first_wrong, part.first_wrong].into_iter().flatten();
        report.first_wrong = wrong.min_by_key(|(lba, _)| *lba);
    }

    /// True once every part has come back.
    pub const fn count_part(&mut self) -> bool {
        self.parts_left -= 1;
        self.parts_left == 0
    }

    /// The completion of the whole.
    pub fn complete(self, completed_at: Instant) -> Completion {
        let outcome = match (self.failure, self.check) {
            (Some(cause), _) => Err(RequestError::new(self.kind, self.range, cause)),
            (None, Some((_, report))) => Ok(Success::of_check(report)),
            (None, None) => Ok(Success::Done),
        };
        Completion {
            tag: self.tag,
            submitted_at: self.submitted_at,
            completed_at,
            outcome,
            buffer: self.buffer,
        }
    }
}
