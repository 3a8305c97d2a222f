//! What the controller does on its own while nothing is asked for, and the stalls where it has put that off.

use flashscope_device::Bytes;

use crate::chance::Chance;
use crate::factor::times;
use crate::link::nanoseconds;
use crate::profile::{Profile, Stall};

/// When background work runs, in units that a request must wait for.
#[derive(Debug, Clone)]
pub(crate) struct Background {
    idle_after_ns: u64,
    unit_ns: u64,
    works_until_ns: u64,
    stalls: Option<Stalls>,
}

impl Background {
    pub(crate) fn new(profile: &Profile, chance: Chance) -> Option<Self> {
        let background = profile.background.as_ref()?;
        Some(Self {
            idle_after_ns: nanoseconds(background.idle_after_us),
            unit_ns: nanoseconds(background.unit_us),
            works_until_ns: 0,
            stalls: background.stall.as_ref().map(|stall| Stalls::new(stall, chance)),
        })
    }

    /// Works between the end of the last command and `at_ns`. `work` is told how long it may take and says how long it took.
    pub(crate) fn work(&mut self, idle_since_ns: u64, at_ns: u64, work: impl FnOnce(u64) -> u64) {
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

    /// How long a command that arrives at `at_ns` waits for the unit under way.
    pub(crate) const fn wait_ns(&self, at_ns: u64) -> u64 {
        self.works_until_ns.saturating_sub(at_ns)
    }

    /// What a write of so many bytes is stalled for.
    pub(crate) fn stall_ns(&mut self, bytes: u64) -> u64 {
        self.stalls.as_mut().map_or(0, |stalls| stalls.write(bytes))
    }

    /// How many writes were stalled.
    pub(crate) fn stalls(&self) -> u64 {
        self.stalls.as_ref().map_or(0, |stalls| stalls.count)
    }
}

/// Collection that is owed, in bytes written since it was last done.
#[derive(Debug, Clone)]
struct Stalls {
    every_bytes: u64,
    duration_ns: u64,
    spread_ns: u64,
    ns_per_byte: f64,
    owed_bytes: u64,
    count: u64,
    chance: Chance,
}

impl Stalls {
    fn new(stall: &Stall, chance: Chance) -> Self {
        let spread_us = stall.longest_us() - stall.duration_us;
        Self {
            every_bytes: stall.every.get(),
            duration_ns: nanoseconds(stall.duration_us),
            spread_ns: nanoseconds(spread_us),
            ns_per_byte: (stall.duration_us + spread_us / 2.0) * 1e3 / stall.every.as_f64(),
            owed_bytes: 0,
            count: 0,
            chance,
        }
    }

    fn write(&mut self, bytes: u64) -> u64 {
        self.owed_bytes += bytes;
        let times = self.owed_bytes / self.every_bytes;
        self.owed_bytes %= self.every_bytes;
        self.count += times;
        (0..times).map(|_| self.draw_ns()).sum()
    }

    fn draw_ns(&mut self) -> u64 {
        let spread = Bytes::new(self.spread_ns).to_usize();
        self.duration_ns + self.chance.below(spread.saturating_add(1)) as u64
    }

    /// Does in idle time what a stall would have to do.
    fn collect_for(&mut self, budget_ns: u64) -> u64 {
        let owed_ns = times(self.owed_bytes, self.ns_per_byte);
        if owed_ns <= budget_ns {
            self.owed_bytes = 0;
            return owed_ns;
        }
        self.owed_bytes -= times(budget_ns, 1.0 / self.ns_per_byte).min(self.owed_bytes);
        budget_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn background(unit_us: f64) -> Background {
        let text = Profile::text("generic-2g").unwrap().to_owned()
            + &format!("\n[background]\nbasis = \"assumed\"\nidle_after_us = 1\nunit_us = {unit_us}");
        Background::new(&Profile::parse(&text).unwrap(), Chance::new(1, 3)).unwrap()
    }

    #[test]
    fn work_comes_in_units_and_a_command_waits_for_the_one_under_way() {
        let mut background = background(0.4);
        background.work(500, 1500, |_| unreachable!("nothing was idle for long enough"));
        // From 1500 on, in units of 400: two and a part of the third.
        background.work(500, 2500, |budget_ns| budget_ns);
        assert_eq!(background.wait_ns(2500), 200);
        // The pause goes on: the third ends at 2700, two more at 3500.
        background.work(500, 3500, |budget_ns| budget_ns);
        assert_eq!(background.wait_ns(3500), 0);
        // Work that ends early holds nobody up.
        background.work(3500, 9000, |_| 10);
        assert_eq!(background.wait_ns(9000), 0);
    }

    #[test]
    fn work_without_units_stops_at_once() {
        let mut background = background(0.0);
        background.work(0, 2345, |budget_ns| {
            assert_eq!(budget_ns, 1345);
            budget_ns
        });
        assert_eq!(background.wait_ns(2345), 0);
    }
}
