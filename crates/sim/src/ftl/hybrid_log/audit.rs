//! Invariants of a hybrid layer.

use super::HybridLog;
use crate::ftl::audit::ensure;
use crate::ftl::inconsistency::Inconsistency;
use crate::profile::Association;

impl HybridLog {
    /// Checks every invariant. Walks over all pages.
    pub(super) fn check(&self) -> Result<(), Inconsistency> {
        self.check_pages()?;
        self.check_logs()?;
        let in_logs: usize = self.logs.iter().map(|log| log.pages.len()).sum();
        let present = self.data.total_programmed() + in_logs as u64;
        let super::PageAccounting { programmed, erased } = self.accounting;
        ensure(programmed == erased + present, || {
            format!("{programmed} pages programmed, {erased} erased, {present} in blocks")
        })
    }

    /// A page whose newest version is in a log is there and valid. A valid page in no log is in its data
    /// block.
    fn check_pages(&self) -> Result<(), Inconsistency> {
        for (page, location) in self.logs.held_pages() {
            let (log, slot) = (location / self.block_pages, location % self.block_pages);
            let holds = self.logs[log as usize].pages.get(slot as usize) == Some(&page);
            ensure(holds, || format!("page {page} is not in slot {slot} of log {log}"))?;
            ensure(self.data.is_valid(page), || format!("page {page} is in log {log}, but not valid"))?;
        }
        let miscounted = self.data.miscounted().next();
        ensure(miscounted.is_none(), || format!("block {miscounted:?} counts its pages wrongly"))?;
        let in_data = |page: u32| {
            let block = page / self.block_pages;
            self.logs.is_held(page) || self.data.programmed(block) > 0
        };
        let lost = (0..self.pages).find(|page| self.data.is_valid(*page) && !in_data(*page));
        ensure(lost.is_none(), || format!("page {lost:?} is valid, but in no block"))
    }

    /// Each log counts its newest pages, is not overfull, and belongs to at most one data block.
    fn check_logs(&self) -> Result<(), Inconsistency> {
        for (index, log) in self.logs.iter().enumerate() {
            let newest = (0..log.pages.len()).filter(|slot| self.logs.is_newest(index, *slot)).count();
            ensure(newest == log.newest as usize, || {
                format!("log {index} counts {} newest of {newest}", log.newest)
            })?;
            ensure(log.pages.len() <= self.block_pages as usize, || format!("log {index} is overfull"))?;
            let is_foreign =
                log.is_assigned() && log.pages.iter().any(|page| page / self.block_pages != log.block);
            ensure(!is_foreign, || format!("log {index} holds pages of a block other than {}", log.block))?;
            let is_found = !log.is_assigned() || self.logs.of_block(log.block) == Some(index);
            ensure(is_found, || format!("log {index} is not found by its block {}", log.block))?;
            let is_shared = self.association == Association::Full && index > 0;
            ensure(log.is_unused() || log.is_assigned() != is_shared, || {
                format!("log {index} is of the wrong kind")
            })?;
        }
        Ok(())
    }
}
