//! The counts of an oracle run.

use std::fmt;

use flashscope_sim::VirtualStick;
use serde::Serialize;

/// The counts of one or several shards.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Tally {
    pub operations: u64,
    /// Sectors of checked reads.
    pub sectors_checked: u64,
    pub power_cuts: u64,
    /// Unflushed sectors that were read after power cuts.
    pub sectors_settled: u64,
    /// Those of them that lost their last write.
    pub sectors_lost: u64,
    pub audits: u64,
    pub merges: u64,
    pub erases: u64,
    pub pages_copied: u64,
    /// The longest latency, s.
    pub longest_s: f64,
}

impl Tally {
    /// Adds the counts of the stick's translation layer.
    pub fn count_inside(&mut self, stick: &VirtualStick) {
        let statistics = stick.statistics();
        self.merges += statistics.merges;
        self.erases += statistics.erases;
        self.pages_copied += statistics.pages_copied;
    }

    /// Adds the counts of another shard.
    pub fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.sectors_checked += other.sectors_checked;
        self.power_cuts += other.power_cuts;
        self.sectors_settled += other.sectors_settled;
        self.sectors_lost += other.sectors_lost;
        self.audits += other.audits;
        self.merges += other.merges;
        self.erases += other.erases;
        self.pages_copied += other.pages_copied;
        self.longest_s = self.longest_s.max(other.longest_s);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} operations, {} sectors right, {} power cuts ({} of {} unflushed sectors lost), {} audits, {} merges, \
             {} erases, longest request {:.2} s",
            self.operations,
            self.sectors_checked,
            self.power_cuts,
            self.sectors_lost,
            self.sectors_settled,
            self.audits,
            self.merges,
            self.erases,
            self.longest_s,
        )
    }
}
