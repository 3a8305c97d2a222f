//! Data that a layer stores for a device: ranges of sectors, each a pattern reference or bytes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::pattern::{BLOCK, Pattern};
use crate::units::Lba;

/// The data of consecutive sectors.
#[derive(Debug, Clone)]
pub struct Held {
    /// The address to which the first sector was written.
    pub home: u64,
    /// Their data.
    pub data: Data,
}

/// Data of consecutive sectors.
#[derive(Debug, Clone)]
pub enum Data {
    /// The pattern's blocks of the addresses that were written.
    Pattern(Pattern),
    /// These bytes, starting with this block.
    Bytes(Arc<[u8]>, usize),
}

impl Held {
    /// The same data without its first `sectors`.
    pub fn skip(&self, sectors: u64) -> Self {
        let data = match &self.data {
            Data::Pattern(pattern) => Data::Pattern(*pattern),
            Data::Bytes(bytes, first) => Data::Bytes(Arc::clone(bytes), first + index(sectors)),
        };
        Self { home: self.home + sectors, data }
    }

    /// Copies the data to `out`, whose length selects the number of sectors.
    pub fn fill(&self, out: &mut [u8]) {
        match &self.data {
            Data::Pattern(pattern) => pattern.fill(Lba(self.home), out),
            Data::Bytes(bytes, first) => out.copy_from_slice(&bytes[first * BLOCK..][..out.len()]),
        }
    }

    /// Whether `next` continues this data after `sectors` sectors.
    fn continues_with(&self, sectors: u64, next: &Self) -> bool {
        match (&self.data, &next.data) {
            (Data::Pattern(ours), Data::Pattern(theirs)) => {
                ours == theirs && self.home + sectors == next.home
            }
            _ => false,
        }
    }
}

/// Ranges of sectors with data. Ranges do not overlap.
#[derive(Debug, Default)]
pub struct Extents(BTreeMap<u64, (u64, Held)>);

impl Extents {
    /// Removes the data of these sectors.
    pub fn remove(&mut self, sectors: Range<u64>) {
        let before = self.0.range(..sectors.start).next_back().map(|(start, (end, _))| (*start, *end));
        if let Some((start, _)) = before.filter(|(_, end)| *end > sectors.start)
            && let Some((end, held)) = self.0.remove(&start)
        {
            if end > sectors.end {
                self.0.insert(sectors.end, (end, held.skip(sectors.end - start)));
            }
            self.0.insert(start, (sectors.start, held));
        }
        while let Some(start) = self.0.range(sectors.clone()).next().map(|(start, _)| *start) {
            if let Some((end, held)) = self.0.remove(&start)
                && end > sectors.end
            {
                self.0.insert(sectors.end, (end, held.skip(sectors.end - start)));
            }
        }
    }

    /// Stores data for these sectors. Extends the range before them if the data continues it.
    pub fn insert(&mut self, sectors: Range<u64>, held: Held) {
        self.remove(sectors.clone());
        if let Some((start, (end, before))) = self.0.range_mut(..sectors.start).next_back()
            && *end == sectors.start
            && before.continues_with(*end - *start, &held)
        {
            *end = sectors.end;
            return;
        }
        self.0.insert(sectors.start, (sectors.end, held));
    }

    /// The data within these sectors, clipped to them, in order of address.
    pub fn within(&self, sectors: Range<u64>) -> impl Iterator<Item = (Range<u64>, Held)> {
        let before = self.0.range(..sectors.start).next_back();
        let inside = self.0.range(sectors.clone());
        before.into_iter().chain(inside).filter_map(move |(start, (end, held))| {
            let (from, to) = ((*start).max(sectors.start), (*end).min(sectors.end));
            (from < to).then(|| (from..to, held.skip(from - start)))
        })
    }

    /// Whether any of these sectors has data.
    pub fn touches(&self, sectors: Range<u64>) -> bool {
        self.within(sectors).next().is_some()
    }
}

/// A number of sectors as an index into memory.
pub fn index(sectors: u64) -> usize {
    usize::try_from(sectors).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECTORS: u64 = 64;

    /// The extents as an array: for each sector, the address that was written.
    fn model(extents: &Extents) -> Vec<Option<u64>> {
        let mut sectors = vec![None; index(SECTORS)];
        for (range, held) in extents.within(0..SECTORS) {
            for (offset, sector) in range.enumerate() {
                assert!(sectors[index(sector)].is_none());
                sectors[index(sector)] = Some(held.home + offset as u64);
            }
        }
        sectors
    }

    proptest! {
        #[test]
        fn extents_equal_an_array_model(steps in proptest::collection::vec((0..SECTORS, 1..20u64, 0..4u64), 1..60)) {
            let mut extents = Extents::default();
            let mut array = vec![None; index(SECTORS)];
            for (start, length, home) in steps {
                let range = start..(start + length).min(SECTORS);
                if home == 0 {
                    extents.remove(range.clone());
                    array[index(range.start)..index(range.end)].fill(None);
                } else {
                    let home = home * 1000 + range.start;
                    let data = Data::Pattern(Pattern::new(1));
                    extents.insert(range.clone(), Held { home, data });
                    for sector in range.clone() {
                        array[index(sector)] = Some(home + sector - range.start);
                    }
                }
                prop_assert_eq!(model(&extents), array.clone());
                prop_assert_eq!(extents.touches(range.clone()), array[index(range.start)..index(range.end)].iter().any(Option::is_some));
            }
        }
    }
}
