//! Whether all of the layer's books agree.

use super::HybridLog;
use crate::ftl::Inconsistency;
use crate::ftl::audit::ensure;
use crate::profile::Association;

impl HybridLog {
    /// Checks every invariant; walks over all pages.
    pub(crate) fn audit(&self) -> Result<(), Inconsistency> {
        self.audit_pages()?;
        self.audit_logs()?;
        let in_logs: usize = self.logs.iter().map(|log| log.pages.len()).sum();
        let lies = self.data.programmed_in_all() + in_logs as u64;
        let super::Books { programmed, erased } = self.books;
        ensure(programmed == erased + lies, || {
            format!("{programmed} pages programmed, {erased} erased, {lies} in blocks")
        })
    }

    /// A page whose newest version is in a log is there, and is wanted; one that is wanted and in no log is in its data block.
    fn audit_pages(&self) -> Result<(), Inconsistency> {
        for (page, place) in self.logs.held() {
            let (log, slot) = (place / self.block_pages, place % self.block_pages);
            let holds = self.logs[log as usize].pages.get(slot as usize) == Some(&page);
            ensure(holds, || format!("page {page} is not in place {slot} of log {log}"))?;
            ensure(self.data.is_wanted(page), || format!("page {page} is in log {log}, yet not wanted"))?;
        }
        let miscounted = self.data.miscounted().next();
        ensure(miscounted.is_none(), || format!("block {miscounted:?} counts its pages wrongly"))?;
        let in_data = |page: u32| {
            let block = page / self.block_pages;
            self.logs.is_held(page) || self.data.programmed(block) > 0
        };
        let lost = (0..self.pages).find(|page| self.data.is_wanted(*page) && !in_data(*page));
        ensure(lost.is_none(), || format!("page {lost:?} is wanted, but nowhere"))
    }

    /// Each log counts its newest pages, is not overfull, and belongs to one block if it belongs to any.
    fn audit_logs(&self) -> Result<(), Inconsistency> {
        for (index, log) in self.logs.iter().enumerate() {
            let newest = (0..log.pages.len()).filter(|slot| self.logs.is_newest(index, *slot)).count();
            ensure(newest == log.newest as usize, || {
                format!("log {index} counts {} newest of {newest}", log.newest)
            })?;
            ensure(log.pages.len() <= self.block_pages as usize, || format!("log {index} is overfull"))?;
            let foreign =
                log.is_dedicated() && log.pages.iter().any(|page| page / self.block_pages != log.block);
            ensure(!foreign, || format!("log {index} holds pages of another block than {}", log.block))?;
            let found = !log.is_dedicated() || self.logs.of_block(log.block) == Some(index);
            ensure(found, || format!("log {index} is not found by its block {}", log.block))?;
            let shared = self.association == Association::Full && index > 0;
            ensure(log.is_unused() || log.is_dedicated() != shared, || {
                format!("log {index} is of the wrong kind")
            })?;
        }
        Ok(())
    }
}
