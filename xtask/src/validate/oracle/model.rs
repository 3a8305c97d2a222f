//! The model of a stick: the last written generation of each sector, and the possible ones after a power cut.

use std::collections::BTreeMap;

use anyhow::{bail, ensure};
use flashscope_device::{BlockState, ByteRange, CheckReport, Lba, Pattern};

/// The generation of each sector. Generation 0 is a blank sector.
#[derive(Debug)]
pub struct Model {
    generations: Vec<u32>,
    /// Earlier generations of each sector written since the last flush; `None` while no power cut can occur.
    unflushed: Option<BTreeMap<u64, Vec<u32>>>,
}

impl Model {
    pub fn new(sectors: u64) -> Self {
        Self { generations: vec![0; usize::try_from(sectors).unwrap_or(0)], unflushed: None }
    }

    /// Writes this generation to the range.
    pub fn set(&mut self, range: ByteRange, generation: u32) {
        let first = range.offset.sectors().0;
        let sectors = &mut self.generations[span(range)];
        if let Some(unflushed) = &mut self.unflushed {
            for (lba, before) in (first..).zip(sectors.iter()) {
                unflushed.entry(lba).or_default().push(*before);
            }
        }
        sectors.fill(generation);
    }

    /// The generation of the range's first sector.
    pub fn first(&self, range: ByteRange) -> u32 {
        self.generations[span(range).start]
    }

    /// The expected result of checking the range for a generation.
    pub fn expected(&self, range: ByteRange, generation: u32) -> CheckReport {
        let mut report = CheckReport::default();
        for (lba, held) in (range.offset.sectors().0..).zip(&self.generations[span(range)]) {
            if *held == generation {
                report.right += 1;
            } else {
                report.count(Lba(lba), state(*held));
            }
        }
        report
    }

    /// From now on a power cut can occur. Everything written before is durable.
    pub fn start_recording(&mut self) {
        self.unflushed = Some(BTreeMap::new());
    }

    /// Makes everything durable.
    pub fn flushed(&mut self) {
        if let Some(unflushed) = &mut self.unflushed {
            unflushed.clear();
        }
    }

    /// After a power cut: the earlier generations of each unflushed sector, which it may hold instead of the
    /// last one.
    pub fn stop_recording(&mut self) -> BTreeMap<u64, Vec<u32>> {
        self.unflushed.take().unwrap_or_default()
    }

    /// Takes over the state of an unflushed sector if it is a possible one. False if the last write is lost.
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
            "sector {lba} has generation {found} after a power cut, which is neither {last} nor one of {before:?}"
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
