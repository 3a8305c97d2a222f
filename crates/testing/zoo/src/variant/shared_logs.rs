//! Logs shared by a set of erase blocks: adjacent blocks write to one log block (superblock FTL: J. Kang et
//! al., EMSOFT 2006; SAST: C. Park et al., ACM TECS 7(4), 2008).

use std::collections::BTreeSet;
use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_sim::profile::Policy;
use flashscope_sim::{Profile, ProfileError};

use super::base;
use super::delayed::{Delay, Request};
use super::parts::parts;
use super::stick::Variant;
use crate::draw::Draw;
use crate::truth::Fact;

pub(super) fn sample(draw: &mut Draw) -> Result<Variant, ProfileError> {
    let profile = base::open_blocks(draw, |profile, _| profile.small_writes.is_none())?;
    let mut truth = base::truth(&profile);
    let blocks = draw.uniform_integer(2, 8);
    let delay = SharedLogs::new(&profile, blocks);
    // Blocks in different sets, or all of a set: both counts are right.
    let logs = u32::try_from(delay.logs_max).unwrap_or(1);
    let counts = Fact::CountOf([logs, logs * u32::try_from(blocks).unwrap_or(1)]);
    truth.set("open_units_linear", counts);
    truth.set("open_units_random", counts);
    let is_shown = profile.read.boundary.iter().any(|each| each.period == profile.ftl.erase_block);
    if !is_shown {
        // Writes show the set.
        truth.remove("erase_block_bytes");
    }
    ["merge_seconds", "ftl_class", "write_unit_bytes"].into_iter().for_each(|id| truth.remove(id));
    Ok(Variant::with_delayed_merges(profile, truth, delay))
}

/// The log of one set of erase blocks.
#[derive(Debug, Clone)]
struct Log {
    set: u64,
    pages: u64,
    /// The erase blocks that have data in it.
    blocks: BTreeSet<u64>,
    /// The end of one sequential run from the start of an erase block, if the log holds nothing else.
    run_end: Option<Bytes>,
}

/// The logs in use, the least recently written first.
#[derive(Debug, Clone)]
struct SharedLogs {
    erase_block: Bytes,
    page: Bytes,
    fat_area: Bytes,
    set_blocks: u64,
    logs_max: usize,
    merge_s: f64,
    logs: Vec<Log>,
}

impl SharedLogs {
    fn new(profile: &Profile, set_blocks: u64) -> Self {
        let logs_max = match &profile.policy {
            Policy::OpenBlocks(policy) => policy.open_units_linear as usize,
            _ => 1,
        };
        Self {
            erase_block: profile.ftl.erase_block,
            page: profile.ftl.page,
            fat_area: profile.ftl.fat_area,
            set_blocks,
            logs_max,
            merge_s: base::merge_s(profile),
            logs: Vec::new(),
        }
    }

    /// Writes a part of one erase block. Returns the time of merges.
    fn write(&mut self, block: u64, from: Bytes, to: Bytes) -> f64 {
        let (mut log, mut merge_s) = self.take_log(block / self.set_blocks);
        let start = self.erase_block * block;
        let continues = log.run_end.unwrap_or(start) == from && (log.pages == 0 || log.run_end.is_some());
        log.run_end = continues.then_some(to);
        log.pages += to.get().div_ceil(self.page.get()) - from / self.page;
        log.blocks.insert(block);
        if log.run_end == Some(start + self.erase_block) {
            // The log replaces the whole block.
            return merge_s;
        }
        if log.pages >= self.erase_block / self.page {
            merge_s += self.merged_s(&log);
        } else {
            self.logs.push(log);
        }
        merge_s
    }

    /// The log of a set, and the time to free one for it.
    fn take_log(&mut self, set: u64) -> (Log, f64) {
        if let Some(index) = self.logs.iter().position(|log| log.set == set) {
            return (self.logs.remove(index), 0.0);
        }
        let evicted = (self.logs.len() == self.logs_max).then(|| self.logs.remove(0));
        let merge_s = evicted.map_or(0.0, |log| self.merged_s(&log));
        (Log { set, pages: 0, blocks: BTreeSet::new(), run_end: None }, merge_s)
    }

    /// The time to merge a log: every block with data in it is copied; of a sequential run, the rest of its
    /// block.
    #[expect(clippy::cast_precision_loss, reason = "few blocks")]
    fn merged_s(&self, log: &Log) -> f64 {
        let copies = match (log.run_end, log.blocks.first()) {
            (Some(end), Some(block)) => {
                1.0 - (end - self.erase_block * *block).as_f64() / self.erase_block.as_f64()
            }
            _ => log.blocks.len() as f64,
        };
        copies * self.merge_s
    }
}

impl Delay for SharedLogs {
    fn delay(&mut self, request: &Request) -> Duration {
        let Some(range) = request.written() else { return Duration::ZERO };
        let all = parts(range, self.erase_block);
        let fat_area = self.fat_area;
        let behind = all.filter(|(_, from, _)| *from >= fat_area);
        Duration::from_secs_f64(behind.map(|(block, from, to)| self.write(block, from, to)).sum())
    }

    fn describe(&self) -> String {
        format!("{} logs, each shared by {} adjacent erase blocks", self.logs_max, self.set_blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: Bytes = Bytes::kib(64);

    fn logs(logs_max: usize) -> SharedLogs {
        let (page, fat_area) = (Bytes::kib(4), Bytes::ZERO);
        SharedLogs {
            erase_block: BLOCK,
            page,
            fat_area,
            set_blocks: 4,
            logs_max,
            merge_s: 0.1,
            logs: Vec::new(),
        }
    }

    fn write_pages(logs: &mut SharedLogs, block: u64, from: u64, count: u64) -> f64 {
        let start = BLOCK * block + Bytes::kib(4) * from;
        logs.write(block, start, start + Bytes::kib(4) * count)
    }

    #[test]
    fn shared_log_is_taken_by_all_blocks_of_its_set() {
        let mut logs = logs(1);
        let in_one_set: f64 = (0..4).map(|block| write_pages(&mut logs, block, 0, 1)).sum();
        assert!(in_one_set.abs() < 1e-9, "{in_one_set}");
        let other_set = write_pages(&mut logs, 4, 0, 1);
        assert!((other_set - 0.4).abs() < 1e-9, "four blocks are merged: {other_set}");
    }

    #[test]
    fn shared_log_of_one_sequential_run_copies_the_rest_of_its_block() {
        let mut logs = logs(1);
        assert!(write_pages(&mut logs, 0, 0, 4).abs() < 1e-9);
        let rest = write_pages(&mut logs, 4, 0, 4);
        assert!((rest - 0.075).abs() < 1e-9, "{rest}");
        let whole = write_pages(&mut logs, 4, 4, 12) + write_pages(&mut logs, 8, 0, 1);
        assert!(whole.abs() < 1e-9, "a whole block needs no copy: {whole}");
    }

    #[test]
    fn shared_log_that_is_full_is_merged() {
        let mut logs = logs(2);
        let times: Vec<f64> = (0..8).map(|index| write_pages(&mut logs, index % 2, 1, 2)).collect();
        assert!(times[..7].iter().all(|time| *time < 1e-9) && (times[7] - 0.2).abs() < 1e-9, "{times:?}");
    }
}
