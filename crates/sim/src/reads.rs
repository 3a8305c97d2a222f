//! The latency of a read command: access, boundaries, data.

use crate::area_states::Area;
use crate::arithmetic::nanoseconds;
use crate::command::Command;
use crate::profile::{Boundary, Profile};
use crate::read_cache::ReadCaches;

/// The latency model of reads.
#[derive(Debug, Clone)]
pub(crate) struct Reads {
    access_ns: u64,
    access_never_written_ns: u64,
    access_trimmed_ns: u64,
    read_ahead_saves_ns: u64,
    boundaries: Vec<BoundaryNs>,
    read_ahead_at: Option<u64>,
    caches: Option<ReadCaches>,
}

/// A profile's boundary in nanoseconds.
#[derive(Debug, Clone)]
struct BoundaryNs {
    period: u64,
    phase: u64,
    across_ns: i64,
    before_ns: i64,
    after_ns: Option<i64>,
}

impl BoundaryNs {
    fn new(boundary: &Boundary) -> Self {
        let signed = |us: f64| {
            let ns = nanoseconds(us.abs()).cast_signed();
            if us < 0.0 { -ns } else { ns }
        };
        Self {
            period: boundary.period.get(),
            phase: boundary.phase.get(),
            across_ns: signed(boundary.across_us),
            before_ns: signed(boundary.before_us),
            after_ns: boundary.after_us.map(signed),
        }
    }

    /// The extra time of a command from `start` to `end`; `None` if no boundary of this period applies.
    fn extra_ns(&self, start: u64, end: u64) -> Option<i64> {
        // Shifted offsets have their boundaries at multiples of the period.
        let shift = self.period - self.phase;
        let last = (end + shift) / self.period * self.period;
        if last == start + shift {
            self.after_ns
        } else if last < start + shift {
            None
        } else if last == end + shift {
            // A command longer than the period may also cross one.
            let crosses = last - self.period > start + shift;
            Some(if crosses { self.across_ns } else { self.before_ns })
        } else {
            Some(self.across_ns)
        }
    }
}

impl Reads {
    pub(crate) fn new(profile: &Profile) -> Self {
        let read = &profile.read;
        let trimmed_factor = profile.states.as_ref().and_then(|states| states.read_trimmed_factor);
        let mut boundaries: Vec<BoundaryNs> = read.boundary.iter().map(BoundaryNs::new).collect();
        boundaries.sort_by_key(|boundary| std::cmp::Reverse(boundary.period));
        Self {
            access_ns: nanoseconds(read.access_us),
            access_never_written_ns: nanoseconds(read.access_us * read.never_written_factor),
            access_trimmed_ns: nanoseconds(
                read.access_us * trimmed_factor.unwrap_or(read.never_written_factor),
            ),
            read_ahead_saves_ns: nanoseconds(read.read_ahead_saves_us),
            boundaries,
            read_ahead_at: None,
            caches: ReadCaches::new(&read.cache),
        }
    }

    /// The time of a read command with its transfer.
    pub(crate) fn command_ns(&mut self, command: Command, area: Area) -> u64 {
        let Command { start, end, transfer_ns, .. } = command;
        let continues = self.read_ahead_at.replace(end) == Some(start);
        if let Some(hit_ns) = self.caches.as_mut().and_then(|caches| caches.read(start, end)) {
            return hit_ns + transfer_ns;
        }
        let access_ns = match area {
            Area::Written => self.access_ns,
            Area::NeverWritten => self.access_never_written_ns,
            Area::Trimmed => self.access_trimmed_ns,
        };
        let saved_ns = if continues { self.read_ahead_saves_ns } else { 0 };
        access_ns.saturating_sub(saved_ns).saturating_add_signed(self.boundary_ns(start, end)) + transfer_ns
    }

    /// Ends the read-ahead run, and invalidates this range in the caches.
    pub(crate) fn invalidate(&mut self, start: u64, end: u64) {
        self.read_ahead_at = None;
        if let Some(caches) = &mut self.caches {
            caches.invalidate(start, end);
        }
    }

    fn boundary_ns(&self, start: u64, end: u64) -> i64 {
        self.boundaries.iter().find_map(|boundary| boundary.extra_ns(start, end)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundary_applies_across_and_before_and_optionally_after() {
        let boundary = BoundaryNs { period: 32, phase: 16, across_ns: 7, before_ns: -3, after_ns: None };
        let extra_ns = [(8, 16), (12, 20), (16, 24), (0, 8), (44, 48), (40, 56), (48, 80), (16, 48), (0, 48)]
            .map(|(start, end)| boundary.extra_ns(start, end));
        let (none, before, across) = (None, Some(-3), Some(7));
        assert_eq!(extra_ns, [before, across, none, none, before, across, before, before, across]);
        let boundary = BoundaryNs { after_ns: Some(2), ..boundary };
        let extra_ns =
            [(8, 16), (16, 24), (17, 24), (16, 49)].map(|(start, end)| boundary.extra_ns(start, end));
        assert_eq!(extra_ns, [before, Some(2), none, across]);
    }
}
