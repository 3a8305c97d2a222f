//! The experiments of a whole check, in an order in which each can use the findings of those before it.

use flashscope_device::layer::{Budget, Meter};
use flashscope_device::{ByteRange, Bytes, Device};

use flashscope_infer::Method;
use flashscope_infer::findings::{erase_blocks, infer_by, merges};
use flashscope_infer::thresholds::SURE;
use flashscope_record::finding::{Finding, FindingId, WouldDecide};
use flashscope_record::observation::{
    AlignData, Cause, Data, Direction, Ended, FatAreaData, LinkLimit, Observations, OpenUnitsData, Order,
    Refusal, SpeedCase, WriteSizeData,
};

use crate::contract::{Estimate, Experiment, Extent, Observer};
use crate::experiment::{Align, BlockEnds, FatArea, OpenUnits, Speed, Sustained, WriteBuffer, WriteSize};
use crate::forecast::Stage;
use crate::session::{Refused, not_started};

pub use crate::experiment::ASSUMED_ERASE_BLOCK;

/// The most bytes written before the experiment *fat-area*. Guess: 20 s at 10 MB/s.
const BYTES_MAX: Bytes = Bytes::mib(204);

/// A whole check.
#[derive(Debug, Clone, Copy)]
pub struct Survey {
    /// Whether the writing experiments run too. They destroy what the device holds.
    pub writes: bool,
    /// The random seed of all experiments.
    pub seed: u64,
    /// The parts of the method in use.
    pub method: Method,
    /// The file that stands for the device, if only a file on it is used.
    pub file: Option<FilePlace>,
}

/// Where a file that is measured lies on its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePlace {
    /// The capacity of the device.
    pub capacity: Bytes,
    /// The part of the device that the file covers, in one piece; `None` if that is not known.
    pub region: Option<ByteRange>,
    /// Whether its requests go through the page cache.
    pub is_buffered: bool,
}

impl FilePlace {
    fn mark(self, seen: &mut Observations) {
        let conditions = &mut seen.conditions;
        conditions.capacity = Some(self.capacity);
        conditions.region = self.region;
        conditions.is_in_file = true;
    }
}

impl Survey {
    /// The whole check, with this seed.
    #[must_use]
    pub fn new(writes: bool, seed: u64) -> Self {
        Self { writes, seed, method: Method::default(), file: None }
    }

    const fn align(&self) -> Align {
        let extent = if self.writes { Extent::Usual } else { Extent::Brief };
        Align { read: None, seed: self.seed, method: self.method, extent }
    }

    /// Exhausts caches, to measure the sustained throughput and the write buffer. This writes gigabytes, so
    /// that it is separate and needs permission. It comes before [`Survey::run`], whose writes would use a
    /// part of the cache.
    pub fn fill(&self, device: &mut dyn Device, observer: &mut dyn Observer) -> Vec<Observations> {
        let experiments: [&dyn Experiment; 2] = [&self.long_stream(), &WriteBuffer { seed: self.seed }];
        experiments.map(|each| each.measure(device, &Budget::UNLIMITED, observer)).into()
    }

    /// The same, continuing a [brief stream](Self::fill_briefly) after this many `other` bytes were written.
    /// A stream that the device or the user ended is left as it is.
    pub fn fill_on(
        &self,
        started: Observations,
        other: Bytes,
        device: &mut dyn Device,
        observer: &mut dyn Observer,
    ) -> Vec<Observations> {
        let may_go_on = match &started.ended {
            Ended::Complete => true,
            Ended::Early { cause, .. } => *cause == Cause::Budget,
            Ended::NotStarted { .. } => false,
        };
        let stream = match started.data {
            Data::Sustained(data) if may_go_on => self.long_stream().resume(data, other, device, observer),
            _ => started,
        };
        let buffer = WriteBuffer { seed: self.seed }.measure(device, &Budget::UNLIMITED, observer);
        vec![stream, buffer]
    }

    /// A brief stream of large writes, before [`Survey::run`]: how a copy of its length goes on.
    pub fn fill_briefly(&self, device: &mut dyn Device, observer: &mut dyn Observer) -> Observations {
        self.measure(&self.brief_stream(), device, observer)
    }

    /// The observations of one experiment, with the place of the file.
    fn measure(
        &self,
        experiment: &dyn Experiment,
        device: &mut dyn Device,
        observer: &mut dyn Observer,
    ) -> Observations {
        let mut seen = experiment.measure(device, &Budget::UNLIMITED, observer);
        if let Some(file) = self.file {
            file.mark(&mut seen);
        }
        seen
    }

    const fn long_stream(&self) -> Sustained {
        Sustained { seed: self.seed, extent: Extent::Usual, device_capacity: None }
    }

    fn brief_stream(&self) -> Sustained {
        let device_capacity = self.file.map(|file| file.capacity);
        Sustained { seed: self.seed, extent: Extent::Brief, device_capacity }
    }

    /// The speeds that everybody compares: large sequential and small random reads, and small random writes.
    /// The writes come last, because they leave the device full of scattered data.
    pub fn speeds(
        &self,
        device: &mut dyn Device,
        link: Option<&LinkLimit>,
        observer: &mut dyn Observer,
    ) -> Vec<Observations> {
        let measured = |cases| self.measure(&self.speed(cases, link), device, observer);
        self.speed_cases().into_iter().map(measured).collect()
    }

    /// The kinds of request of each experiment.
    fn speed_cases(&self) -> Vec<Vec<SpeedCase>> {
        let case = |direction, order, request| SpeedCase { direction, order, request, queue_depth: 1 };
        let reads = vec![
            case(Direction::Read, Order::Linear, Bytes::mib(1)),
            case(Direction::Read, Order::Random, Bytes::kib(4)),
        ];
        let writes = vec![case(Direction::Write, Order::Random, Bytes::kib(4))];
        if self.writes { vec![reads, writes] } else { vec![reads] }
    }

    fn speed(&self, cases: Vec<SpeedCase>, link: Option<&LinkLimit>) -> Speed {
        Speed {
            cases,
            link: link.cloned(),
            is_buffered: self.file.is_some_and(|file| file.is_buffered),
            extent: Extent::Brief,
            seed: self.seed,
        }
    }

    /// The cost of [`fill`](Self::fill) at most.
    #[must_use]
    pub fn fill_estimate(&self, device: &dyn Device) -> Estimate {
        let stream = self.long_stream().estimate(device);
        let buffer = WriteBuffer { seed: self.seed }.estimate(device);
        Estimate {
            requests: stream.requests + buffer.requests,
            bytes_written: stream.bytes_written + buffer.bytes_written,
            ..stream
        }
    }

    /// What [`fill`](Self::fill) is expected to take.
    #[must_use]
    pub fn fill_stages(&self, device: &dyn Device) -> Vec<Stage> {
        vec![Stage::of(&self.long_stream(), device), Stage::of(&WriteBuffer { seed: self.seed }, device)]
    }

    /// What [`fill_briefly`](Self::fill_briefly) is expected to take.
    #[must_use]
    pub fn brief_fill_stage(&self, device: &dyn Device) -> Stage {
        Stage::of(&self.brief_stream(), device)
    }

    /// What [`run`](Self::run) and then [`speeds`](Self::speeds) are expected to take.
    #[must_use]
    pub fn stages(&self, device: &dyn Device) -> Vec<Stage> {
        let seed = self.seed;
        let mut experiments: Vec<Box<dyn Experiment>> = Vec::new();
        if self.file.is_none_or(|file| file.region.is_some()) {
            experiments.push(Box::new(self.align()));
            if self.writes {
                let erase_block = ASSUMED_ERASE_BLOCK;
                experiments.push(Box::new(WriteSize { erase_block, erase_block_is_known: false, seed }));
                experiments.push(Box::new(OpenUnits::new(erase_block, None, seed)));
                if self.file.is_none() {
                    experiments.push(Box::new(FatArea::new(erase_block, None, None, seed)));
                }
            }
        }
        for cases in self.speed_cases() {
            experiments.push(Box::new(self.speed(cases, None)));
        }
        experiments.iter().map(|experiment| Stage::of(experiment.as_ref(), device)).collect()
    }

    /// Runs the experiments. Each uses the findings so far. The budget applies to each of them. One for all
    /// is set by a [`Meter`](flashscope_device::layer::Meter) around the device.
    pub fn run(&self, device: &mut dyn Device, observer: &mut dyn Observer) -> Vec<Observations> {
        let device = &mut Meter::new(device, Budget::UNLIMITED);
        if self.file.is_some_and(|file| file.region.is_none()) {
            return self.not_placed(device);
        }
        let mut seen = vec![self.measure(&self.align(), device, observer)];
        if !self.writes {
            return seen;
        }
        let known = bytes(&infer_by(&seen, self.method), FindingId::EraseBlockBytes);
        let write_size = WriteSize {
            erase_block: known.unwrap_or(ASSUMED_ERASE_BLOCK),
            erase_block_is_known: known.is_some(),
            seed: self.seed,
        };
        seen.push(self.measure(&write_size, device, observer));
        let mut findings = infer_by(&seen, self.method);
        if !find(&findings, FindingId::EraseBlockBytes).is_some_and(is_sure) {
            let page = bytes(&findings, FindingId::PageBytes);
            let block_ends = BlockEnds::new(page, erase_blocks(&seen, self.method), self.seed);
            seen.push(self.measure(&block_ends, device, observer));
            findings = infer_by(&seen, self.method);
        }
        let page = bytes(&findings, FindingId::PageBytes);
        let erase_block = bytes(&findings, FindingId::EraseBlockBytes).unwrap_or_else(|| assumed(page));
        let request = request(&findings, erase_block);
        let open_units = OpenUnits::new(erase_block, request, self.seed);
        let left = BYTES_MAX.saturating_sub(device.cost().bytes_written);
        let bytes_max = left.min(open_units.bytes_max);
        let bytes_afterwards = left.saturating_sub(bytes_max).min(open_units.bytes_afterwards);
        let open_units = OpenUnits { page, bytes_max, bytes_afterwards, ..open_units };
        seen.push(self.measure(&open_units, device, observer));
        let fat_area = FatArea::new(erase_block, request, merges(&seen), self.seed);
        seen.push(match self.file {
            Some(_) => self.not_started(device, fat_area_data(erase_block), Refusal::InFile),
            None => self.measure(&fat_area, device, observer),
        });
        seen
    }

    /// What cannot be measured in a file whose place on the device is not known.
    fn not_placed(&self, device: &dyn Device) -> Vec<Observations> {
        let refused = |data| self.not_started(device, data, Refusal::OffsetsUnknown);
        let mut seen = vec![refused(Data::Align(AlignData::default()))];
        if self.writes {
            seen.push(refused(Data::WriteSize(WriteSizeData::default())));
            seen.push(refused(Data::OpenUnits(OpenUnitsData::default())));
            seen.push(refused(fat_area_data(Bytes::ZERO)));
        }
        seen
    }

    fn not_started(&self, device: &dyn Device, data: Data, reason: Refusal) -> Observations {
        let refused = Refused::new(reason, [WouldDecide::WholeDevice]);
        let mut seen = not_started(device, self.seed, data, refused);
        if let Some(file) = self.file {
            file.mark(&mut seen);
        }
        seen
    }
}

fn fat_area_data(erase_block: Bytes) -> Data {
    Data::FatArea(FatAreaData { erase_block, ..FatAreaData::default() })
}

/// The erase block that is assumed if none was found: a power of two of pages, at least
/// [`ASSUMED_ERASE_BLOCK`], so that it starts with a page.
fn assumed(page: Option<Bytes>) -> Bytes {
    let page = page.filter(|page| *page <= ASSUMED_ERASE_BLOCK).unwrap_or(ASSUMED_ERASE_BLOCK);
    page * ASSUMED_ERASE_BLOCK.get().div_ceil(page.get().max(1)).next_power_of_two()
}

/// Controllers may write small requests elsewhere, without merges. The largest such size seen is 16 KiB (the
/// Patriot of docs/methods/open-units.md).
const REQUEST_MIN: Bytes = Bytes::kib(32);

/// The fewest requests per erase block, if the page allows. Guess: a nearly full block is merged at once.
const REQUESTS_PER_BLOCK: u64 = 64;

/// The size of writes that look for merges: whole pages, if the page is known.
#[must_use]
pub fn request(findings: &[Finding], erase_block: Bytes) -> Option<Bytes> {
    match bytes(findings, FindingId::PageBytes) {
        Some(page) => {
            let wanted = REQUEST_MIN.min(erase_block / REQUESTS_PER_BLOCK);
            Some(page * wanted.get().div_ceil(page.get().max(1)).max(1))
        }
        None => bytes(findings, FindingId::WriteUnitBytes).map(|unit| unit.max(REQUEST_MIN)),
    }
}

fn is_sure(finding: &Finding) -> bool {
    finding.value().is_some() && finding.confidence().get() >= SURE
}

fn find(findings: &[Finding], id: FindingId) -> Option<&Finding> {
    findings.iter().find(|finding| finding.id == id)
}

fn bytes(findings: &[Finding], id: FindingId) -> Option<Bytes> {
    find(findings, id).and_then(Finding::bytes)
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;
    use flashscope_record::finding::{Confidence, Outcome, Value};

    use super::*;

    #[test]
    fn assumed_erase_block_holds_whole_pages() {
        assert_eq!(assumed(None), ASSUMED_ERASE_BLOCK);
        assert_eq!(assumed(Some(Bytes::kib(16))), ASSUMED_ERASE_BLOCK);
        assert_eq!(assumed(Some(Bytes::kib(96))), Bytes::mib(6));
        assert_eq!(assumed(Some(Bytes::kib(640))), Bytes::mib(5));
        assert_eq!(assumed(Some(Bytes::mib(64))), ASSUMED_ERASE_BLOCK);
    }

    #[test]
    fn stages_are_the_experiments_that_will_run() {
        let device = MemoryDevice::new(Bytes::mib(256));
        let names = |survey: &Survey| -> Vec<&'static str> {
            survey.stages(&device).iter().map(|stage| stage.name).collect()
        };
        let (reads, writes) = (Survey::new(false, 1), Survey::new(true, 1));
        assert_eq!(names(&reads), ["align", "read"]);
        assert_eq!(names(&writes), ["align", "write-size", "open-units", "fat-area", "read", "write"]);
        let region = Some(ByteRange::new(Bytes::mib(64), Bytes::mib(256)));
        let placed = Some(FilePlace { capacity: Bytes::gib(8), region, is_buffered: false });
        let unplaced = Some(FilePlace { capacity: Bytes::gib(8), region: None, is_buffered: false });
        // The FAT area of a device lies in no file.
        assert_eq!(
            names(&Survey { file: placed, ..writes }),
            ["align", "write-size", "open-units", "read", "write"]
        );
        assert_eq!(names(&Survey { file: unplaced, ..writes }), ["read", "write"]);
        assert_eq!(names(&Survey { file: unplaced, ..reads }), ["read"]);
    }

    /// An erase block that reads leave uncertain is measured by writes.
    #[test]
    fn a_value_of_low_confidence_is_not_sure() {
        let found = |probability| {
            let (value, confidence) = (Value::Bytes(Bytes::mib(4)), Confidence::new(probability));
            let outcome = Outcome::Found { value, low: value, high: value, confidence };
            Finding { id: FindingId::EraseBlockBytes, outcome, evidence: None, caveats: Vec::new() }
        };
        assert!(is_sure(&found(0.96)) && !is_sure(&found(0.9)));
    }
}
