//! What a stick should be: the generation that each sector was written with last, and after a power cut what it may be.

use std::collections::BTreeMap;

use anyhow::{bail, ensure};
use flashscope_device::{BlockState, ByteRange, CheckReport, Lba, Pattern};

/// Sectors by number. Generation 0: blank.
#[derive(Debug)]
pub struct Model {
    generations: Vec<u32>,
    /// What each sector written since the last flush was at any time since then; only kept while the power may go.
    unsure: Option<BTreeMap<u64, Vec<u32>>>,
}

impl Model {
    pub fn new(sectors: u64) -> Self {
        Self { generations: vec![0; usize::try_from(sectors).unwrap_or(0)], unsure: None }
    }

    /// The range holds this generation now.
    pub fn set(&mut self, range: ByteRange, generation: u32) {
        let first = range.offset.sectors().0;
        let sectors = &mut self.generations[span(range)];
        if let Some(unsure) = &mut self.unsure {
            for (lba, before) in (first..).zip(sectors.iter()) {
                unsure.entry(lba).or_default().push(*before);
            }
        }
        sectors.fill(generation);
    }

    /// The generation of the range's first sector.
    pub fn first(&self, range: ByteRange) -> u32 {
        self.generations[span(range).start]
    }

    /// What a check of the range against a generation must find.
    pub fn expected(&self, range: ByteRange, asked: u32) -> CheckReport {
        let mut report = CheckReport::default();
        for (lba, held) in (range.offset.sectors().0..).zip(&self.generations[span(range)]) {
            if *held == asked {
                report.right += 1;
            } else {
                report.count(Lba(lba), state(*held));
            }
        }
        report
    }

    /// From now on the power may go: everything so far is safe.
    pub fn begin_risk(&mut self) {
        self.unsure = Some(BTreeMap::new());
    }

    /// Everything written so far is safe.
    pub fn flushed(&mut self) {
        if let Some(unsure) = &mut self.unsure {
            unsure.clear();
        }
    }

    /// The power went: returns what each unsure sector may be, apart from what it was last.
    pub fn end_risk(&mut self) -> BTreeMap<u64, Vec<u32>> {
        self.unsure.take().unwrap_or_default()
    }

    /// Takes for true what an unsure sector was found to be, if it may be that; false if it lost what was written last.
    pub fn settle(
        &mut self,
        lba: u64,
        before: &[u32],
        pattern: Pattern,
        block: &[u8; 512],
    ) -> anyhow::Result<bool> {
        let found = match pattern.identify(Lba(lba), block) {
            BlockState::Right => pattern.generation,
            BlockState::Stale { generation } => generation,
            BlockState::Blank { byte: 0 } => 0,
            other => bail!("sector {lba} is {other:?} after a power cut"),
        };
        let last = &mut self.generations[usize::try_from(lba)?];
        ensure!(
            found == *last || before.contains(&found),
            "sector {lba} is of generation {found} after a power cut: neither {last} nor one of {before:?}"
        );
        let kept = found == *last;
        *last = found;
        Ok(kept)
    }
}

fn state(held: u32) -> BlockState {
    if held == 0 { BlockState::Blank { byte: 0 } } else { BlockState::Stale { generation: held } }
}

fn span(range: ByteRange) -> std::ops::Range<usize> {
    let index = |bytes: flashscope_device::Bytes| usize::try_from(bytes.sectors().0).unwrap_or(usize::MAX);
    index(range.offset)..index(range.end())
}
