//! Background work while the stick is idle, and garbage-collection stalls when it was deferred too long.

use flashscope_device::Bytes;

use crate::arithmetic::nanoseconds;
use crate::arithmetic::times;
use crate::profile::{Profile, Stall};
use crate::rng::StreamRng;

/// Background work, in uninterruptible units that a request waits for.
#[derive(Debug, Clone)]
pub(crate) struct Background {
    idle_after_ns: u64,
    unit_ns: u64,
    works_until_ns: u64,
    stalls: Option<Stalls>,
}

impl Background {
    pub(crate) fn new(profile: &Profile, rng: StreamRng) -> Option<Self> {
        let background = profile.background.as_ref()?;
        Some(Self {
            idle_after_ns: nanoseconds(background.idle_after_us),
            unit_ns: nanoseconds(background.unit_us),
            works_until_ns: 0,
            stalls: background.stall.as_ref().map(|stall| Stalls::new(stall, rng)),
        })
    }

    /// Works between the end of the last command and `at_ns`. `work` takes a time budget and returns the time
    /// it used.
    pub(crate) fn run(&mut self, idle_since_ns: u64, at_ns: u64, work: impl FnOnce(u64) -> u64) {
        let begins_ns = idle_since_ns.saturating_add(self.idle_after_ns).max(self.works_until_ns);
        let window_ns = at_ns.saturating_sub(begins_ns);
        if window_ns == 0 {
            return;
        }
        let units = window_ns.div_ceil(self.unit_ns.max(1));
        let budget_ns = if self.unit_ns == 0 { window_ns } else { units.saturating_mul(self.unit_ns) };
        let stalls = self.stalls.as_mut();
        let collected_ns = stalls.map_or(0, |stalls| stalls.collect_for(budget_ns));
        let worked_ns = collected_ns + work(budget_ns - collected_ns);
        self.works_until_ns = begins_ns.saturating_add(worked_ns);
    }

    /// The time that a command arriving at `at_ns` waits for the unit under way.
    pub(crate) const fn wait_ns(&self, at_ns: u64) -> u64 {
        self.works_until_ns.saturating_sub(at_ns)
    }

    /// The stall of a write of this length.
    pub(crate) fn stall_ns(&mut self, bytes: u64) -> u64 {
        self.stalls.as_mut().map_or(0, |stalls| stalls.write(bytes))
    }

    /// The number of stalls.
    pub(crate) fn stalls(&self) -> u64 {
        self.stalls.as_ref().map_or(0, |stalls| stalls.count)
    }
}

/// Deferred garbage collection, in bytes written since the last one.
#[derive(Debug, Clone)]
struct Stalls {
    every_bytes: u64,
    duration_ns: u64,
    spread_ns: u64,
    ns_per_byte: f64,
    pending_bytes: u64,
    count: u64,
    rng: StreamRng,
}

impl Stalls {
    fn new(stall: &Stall, rng: StreamRng) -> Self {
        let spread_us = stall.duration_max_us() - stall.duration_us;
        Self {
            every_bytes: stall.every.get(),
            duration_ns: nanoseconds(stall.duration_us),
            spread_ns: nanoseconds(spread_us),
            ns_per_byte: (stall.duration_us + spread_us / 2.0) * 1e3 / stall.every.as_f64(),
            pending_bytes: 0,
            count: 0,
            rng,
        }
    }

    fn write(&mut self, bytes: u64) -> u64 {
        self.pending_bytes += bytes;
        let times = self.pending_bytes / self.every_bytes;
        self.pending_bytes %= self.every_bytes;
        self.count += times;
        (0..times).map(|_| self.draw_ns()).sum()
    }

    fn draw_ns(&mut self) -> u64 {
        let spread = Bytes::new(self.spread_ns).to_usize();
        self.duration_ns + self.rng.below(spread.saturating_add(1)) as u64
    }

    /// Does pending garbage collection in idle time, for at most this time. Returns the time used.
    fn collect_for(&mut self, budget_ns: u64) -> u64 {
        let pending_ns = times(self.pending_bytes, self.ns_per_byte);
        if pending_ns <= budget_ns {
            self.pending_bytes = 0;
            return pending_ns;
        }
        self.pending_bytes -= times(budget_ns, 1.0 / self.ns_per_byte).min(self.pending_bytes);
        budget_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn background(unit_us: f64, stall: &str) -> Background {
        let text = Profile::text("generic-2g").unwrap().to_owned()
            + &format!(
                "\n[background]\nbasis = \"assumed\"\nidle_after_us = 1\nunit_us = {unit_us}\n{stall}"
            );
        Background::new(&Profile::parse(&text).unwrap(), StreamRng::new(1, 3)).unwrap()
    }

    #[test]
    fn command_waits_for_the_unit_of_background_work_under_way() {
        let mut background = background(0.4, "");
        background.run(500, 1500, |_| unreachable!("the idle time was too short"));
        // Above 1500, in units of 400: two whole ones and a part of the third.
        background.run(500, 2500, |budget_ns| budget_ns);
        assert_eq!(background.wait_ns(2500), 200);
        // The pause continues: the third ends at 2700, two more at 3500.
        background.run(500, 3500, |budget_ns| budget_ns);
        assert_eq!(background.wait_ns(3500), 0);
        // Work that ends early delays no command.
        background.run(3500, 9000, |_| 10);
        assert_eq!(background.wait_ns(9000), 0);
    }

    #[test]
    fn background_work_without_units_stops_at_once() {
        let mut background = background(0.0, "");
        background.run(0, 2345, |budget_ns| {
            assert_eq!(budget_ns, 1345);
            budget_ns
        });
        assert_eq!(background.wait_ns(2345), 0);
    }

    /// A stall after each 1024 bytes, of 1 ns for each byte. Above the 1000 ns without work, collection of
    /// what is pending comes first.
    #[test]
    fn other_work_gets_the_idle_time_that_collection_leaves() {
        let mut background = background(0.0, "[background.stall]\nevery = 1024\nduration_us = 1.024");
        for (bytes, idle_since_ns, at_ns, left_ns) in
            [(600, 0, 2345, 1345 - 600), (900, 2345, 3645, 0), (0, 3645, 5645, 1000 - 600)]
        {
            assert_eq!(background.stall_ns(bytes), 0);
            background.run(idle_since_ns, at_ns, |budget_ns| {
                assert_eq!(budget_ns, left_ns, "until {at_ns}");
                budget_ns
            });
            assert_eq!(background.wait_ns(at_ns), 0);
        }
    }
}
