//! Observations sorted by experiment, and the findings of single experiments.

use flashscope_device::Bytes;

use flashscope_record::finding::{
    Caveat, Confidence, Finding, FindingId, LogFault, Measurement, Outcome, Quantity, Reason, Value,
    WouldDecide,
};
use flashscope_record::observation::{
    AlignData, BlockEndsData, Data, FatAreaData, Observations, OpenUnitsData, Order, Source, SustainedData,
    WriteBufferData, WriteSizeData,
};

use crate::copying::Delay;
use crate::findings::withdrawal::unless_merged;
use crate::geometry::{block_ends, first_reads, page};
use crate::open_blocks::{fat_area, ftl_class, merge, open_units};
use crate::published::Published;
use crate::size_sweep::sweep;
use crate::size_sweep::write_unit::{self, SweepPoint};
use crate::streams::{sustained, write_buffer};

/// An assumed block size stands if the device holds at least 64 such blocks for each that was written
/// round-robin: then two of them rarely lie in one erase block. Guess.
const ROOM_FOR_EACH: u64 = 64;

/// The most confidence in a write unit from a published table, which is of one run. Five logs of one card
/// give 8 to 64 KiB (corpus, wirenboard card no. 3). The value is a guess.
const UNIT_OF_ONE_RUN: f64 = 0.85;

/// The findings about open units, and what they rest on.
pub struct OpenUnits {
    /// Linear, random, class, merge.
    pub findings: [Finding; 4],
    /// Whether the layer maps less than an erase block at once, so that these do not rest on its size.
    pub maps_less: bool,
    /// The delay of a switch to another block, if it would be a merge of a whole block or a map explains it.
    pub delay: Option<Delay>,
}

/// Observations by experiment.
#[derive(Default)]
pub struct Seen<'a> {
    pub align: Vec<(&'a AlignData, &'a Observations)>,
    pub open_units: Vec<&'a OpenUnitsData>,
    published: Vec<&'a OpenUnitsData>,
    pub write_size: Vec<&'a WriteSizeData>,
    /// Whether a log has speeds by request size without the number of blocks that were written round-robin.
    has_uncounted_speeds: bool,
    fat_area: Vec<&'a FatAreaData>,
    pub block_ends: Option<&'a BlockEndsData>,
    published_fat_area: Vec<&'a FatAreaData>,
    sustained: Option<(&'a SustainedData, &'a Observations)>,
    write_buffer: Option<&'a WriteBufferData>,
}

impl<'a> Seen<'a> {
    pub fn sort(observations: &'a [Observations]) -> Self {
        let mut seen = Self::default();
        for each in observations {
            let measured = each.conditions.source == Source::Measured;
            match &each.data {
                Data::Align(data) if !data.samples.is_empty() => seen.align.push((data, each)),
                Data::OpenUnits(data) if measured => seen.open_units.push(data),
                Data::OpenUnits(data) => seen.published.push(data),
                Data::WriteSize(data) if measured => seen.write_size.push(data),
                Data::WriteSize(_) => seen.has_uncounted_speeds = true,
                Data::FatArea(data) if measured => seen.fat_area.push(data),
                Data::FatArea(data) => seen.published_fat_area.push(data),
                Data::Sustained(data) => seen.sustained = Some((data, each)),
                Data::WriteBuffer(data) => seen.write_buffer = Some(data),
                Data::BlockEnds(data) => seen.block_ends = Some(data),
                _ => {}
            }
        }
        seen
    }

    /// Whether no open units and no FAT area were measured here, so that both come from logs at most.
    pub const fn is_published(&self) -> bool {
        self.open_units.is_empty() && self.fat_area.is_empty()
    }

    fn tables(&self) -> Published {
        Published::new(&self.published)
    }

    /// Sequential writes by size: our own size sweep, or the rows of published tables that fit.
    pub fn size_sweep(&self) -> Vec<SweepPoint> {
        let measured = self.write_size.last().map(|data| sweep::sweep_points(&data.cells));
        measured.filter(|points| !points.is_empty()).unwrap_or_else(|| self.tables().size_sweep())
    }

    /// The write unit of published tables. Speeds without a number of blocks give none: with more blocks than
    /// fit, they are those of merges, and several such tables may be of several numbers.
    pub fn published_write_unit(&self, size_sweep: &[SweepPoint]) -> Finding {
        if size_sweep.is_empty() && self.has_uncounted_speeds {
            let reason = Reason::Log(LogFault::BlockCountMissing);
            return Finding::unknown(FindingId::WriteUnitBytes, reason, [WouldDecide::BlockCountOfLog]);
        }
        let mut unit = write_unit::write_unit(size_sweep);
        if let Outcome::Found { confidence, .. } = &mut unit.outcome {
            *confidence = Confidence::new(confidence.get().min(UNIT_OF_ONE_RUN));
        }
        unit
    }

    /// The page by reads, unless the log's own writes show a larger one.
    pub fn unless_writes_contradict(&self, by_reads: Finding) -> Finding {
        let larger = by_reads.bytes().and_then(|page| self.tables().larger_page(page));
        let Some([(page, page_s), (_, twice_s)]) = larger else { return by_reads };
        let fault = LogFault::WritesShowLargerPage { page, page_s, twice_s };
        Finding::unknown(by_reads.id, Reason::Log(fault), [WouldDecide::WriteTests])
    }

    /// The page by our own small writes across boundaries.
    pub fn page_by_writes(&self) -> Option<Finding> {
        self.write_size.last().and_then(|data| page::page(data))
    }

    /// Linear, random, class, merge.
    pub fn open_units(&self) -> OpenUnits {
        let Some(data) = self.open_units.last() else {
            let findings = self.published_open_units();
            return OpenUnits { findings, maps_less: false, delay: None };
        };
        let search = open_units::Search::new(data);
        let is_known = search.as_ref().ok();
        let delay = is_known.and_then(|search| search.merge_delay(self.loads_map()));
        OpenUnits {
            findings: [
                open_units::open_units(&search, Order::Linear),
                open_units::open_units(&search, Order::Random),
                ftl_class::ftl_class(data, &search),
                merge::merge_seconds(&search),
            ],
            maps_less: is_known.is_some_and(open_units::Search::maps_less),
            delay,
        }
    }

    fn published_open_units(&self) -> [Finding; 4] {
        const IDS: [FindingId; 4] = [
            FindingId::OpenUnitsLinear,
            FindingId::OpenUnitsRandom,
            FindingId::FtlClass,
            FindingId::MergeSeconds,
        ];
        if self.published.is_empty() {
            let reason = Reason::NotMeasured(Measurement::RoundRobinWrites);
            return IDS.map(|id| Finding::unknown(id, reason.clone(), [WouldDecide::WriteTests]));
        }
        let tables = self.tables();
        let means = Reason::Log(LogFault::MeansOnly);
        [
            tables.open_units(Order::Linear),
            tables.open_units(Order::Random),
            tables.ftl_class(),
            Finding::unknown(FindingId::MergeSeconds, means, [WouldDecide::WriteTests]),
        ]
    }

    /// Whether a delay is too short to merge the erase block, found or assumed. On a blank stick a merge may
    /// copy little, but if reads show loads of the map, so short a delay is as likely one of them.
    pub fn is_too_short_to_merge(&self, delay: Delay, found: Option<Bytes>) -> bool {
        let holds_data = self.align.iter().any(|(data, _)| data.contents.mostly_blank() == Some(false));
        let block = found.or(self.open_units.last().map(|data| data.erase_block));
        block.is_some_and(|block| delay.is_too_short(block, holds_data || self.loads_map()))
    }

    /// The erase block with half its confidence if pairs of writes at its ends take too little longer for a
    /// merge.
    pub fn unless_ends_are_too_short(&self, mut erase_block: Finding) -> Finding {
        let delay = block_ends::delay(&erase_block);
        if delay.is_some_and(|delay| self.is_too_short_to_merge(delay, erase_block.bytes())) {
            unless_merged(&mut erase_block);
        }
        erase_block
    }

    /// Whether the controller loads parts of its map, as reads show.
    fn loads_map(&self) -> bool {
        self.align.iter().any(|(data, _)| first_reads::loading_s(&data.samples).is_some())
    }

    /// The erase block that the writes assumed, if that is not the one found.
    pub fn assumed_erase_block(&self, erase_block: &Finding) -> Option<Caveat> {
        if !self.is_published() && self.align.is_empty() {
            // No reads looked for it: the person who measured named it.
            return None;
        }
        let open_units = self.open_units.last().or(self.published.last()).map(|data| data.erase_block);
        let assumed = open_units.or(self.fat_area.last().map(|data| data.erase_block))?;
        let found = erase_block.bytes();
        (found != Some(assumed)).then_some(Caveat::AssumedEraseBlock { assumed, found })
    }

    /// Whether this many blocks of the assumed size are rarely parts of the same erase block: there is only
    /// one, or the device holds far more of them.
    pub fn lie_far_apart(&self, number: u32, observations: &[Observations]) -> bool {
        let capacity = observations.iter().find_map(|seen| seen.conditions.capacity).unwrap_or_default();
        let room = |data: &&OpenUnitsData| capacity / data.erase_block / ROOM_FOR_EACH;
        number == 1 || self.open_units.last().is_some_and(|data| u64::from(number) <= room(data))
    }

    /// The write buffer.
    pub fn write_buffer(&self) -> Finding {
        write_buffer::write_buffer(self.write_buffer, self.sustained.map(|(data, _)| data))
    }

    /// Cache and steady speed.
    pub fn sustained(&self, write_buffer: &Finding) -> [Finding; 2] {
        let capacity = self.sustained.and_then(|(_, seen)| seen.conditions.capacity);
        let buffer = match write_buffer.outcome {
            Outcome::Found { high: Value::Bytes(high), .. } => Some(high),
            _ => None,
        };
        let [mut cache, speed] = sustained::sustained(self.sustained.map(|(data, _)| data), capacity, buffer);
        if let Outcome::Unknown { reason: Reason::MayBeMemory { buffer: None, .. }, would_decide } =
            &mut cache.outcome
            && self.write_buffer.is_some()
        {
            // Bursts were measured, and did not show the buffer.
            *would_decide = vec![WouldDecide::Larger(Quantity::Bursts)];
        }
        [cache, speed]
    }

    pub fn fat_area(&self) -> Finding {
        match self.fat_area.last() {
            Some(data) => fat_area::infer(data),
            None => fat_area::of_tables(&self.published_fat_area),
        }
    }
}

#[cfg(test)]
mod tests {
    use flashscope_record::finding::{Evidence, SizeEvidence};
    use flashscope_record::observation::{Conditions, Contents, Ended};

    use super::*;
    use crate::geometry::first_reads::tests::samples;

    /// Reads of a blank stick, of which the first at each place takes this much longer.
    fn reads(first_us: f64) -> Observations {
        let contents = Contents { looked_at: 32, blank: 32 };
        Observations {
            data: Data::Align(AlignData { read: None, samples: samples(first_us), contents }),
            conditions: Conditions {
                source: Source::Measured,
                capacity: None,
                region: None,
                is_in_file: false,
                seed: 1,
            },
            ended: Ended::Complete,
        }
    }

    #[test]
    fn a_short_delay_is_no_sure_merge_of_a_controller_that_loads_its_map() {
        let is_too_short = |first_us, seconds| {
            let observations = [reads(first_us)];
            let delay = Delay { seconds, write_s: 2e-3 };
            Seen::sort(&observations).is_too_short_to_merge(delay, Some(Bytes::mib(16)))
        };
        assert!(!is_too_short(0.0, 5e-3), "a blank block is hardly copied");
        assert!(is_too_short(80.0, 5e-3), "a part of the map is stored in that time");
        assert!(!is_too_short(80.0, 0.2), "a whole block is copied in that time");
    }

    #[test]
    fn an_erase_block_whose_ends_take_less_than_an_erase_is_not_sure() {
        let confidence = |at_end_ms: f64| {
            let size = Bytes::mib(4);
            let (at_end_s, elsewhere_s) = (Some(at_end_ms * 1e-3), Some(3.8e-3));
            let evidence = Evidence::Sizes(SizeEvidence::BlockEnds { size, at_end_s, elsewhere_s });
            let (value, sure) = (Value::Bytes(size), Confidence::new(0.98));
            let found = Finding::exact(FindingId::EraseBlockBytes, value, sure, evidence);
            Seen::default().unless_ends_are_too_short(found).confidence().get()
        };
        assert!((confidence(90.0) - 0.98).abs() < 1e-9);
        assert!(confidence(4.7) < 0.5);
    }
}
