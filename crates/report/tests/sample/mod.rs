//! A made-up run, shaped like the Patriot stick's published table: 8 MiB erase blocks, 32 KiB pages, 8 open
//! units. Only for looking at reports and testing them; nothing is inferred from it.

use std::time::Duration;

use flashscope_device::layer::Cost;
use flashscope_device::{ByteRange, Bytes};
use flashscope_record::finding::{
    BlockEvidence, Caveat, Confidence, Evidence, FatEvidence, Finding, FindingId, FtlClass, ReadEvidence,
    SizeEvidence, Value,
};
use flashscope_record::observation::{
    AlignData, AlignSample, Conditions, Contents, Data, Ended, FatAreaCell, FatAreaData, Observations,
    OpenUnitsCell, OpenUnitsData, Order, Source, Times, WriteSizeCell, WriteSizeData,
};
use flashscope_record::run_file::RunFile;

const ERASE_BLOCK: Bytes = Bytes::mib(8);
const PAGE: Bytes = Bytes::kib(32);

/// A generator of jitter: numbers from -1 to 1, always the same.
struct Jitter(u64);

impl Jitter {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f64 / f64::from(1u32 << 23)) - 1.0
    }

    fn around(&mut self, seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds * (1.0 + 0.06 * self.next() + 0.04 * self.next()))
    }
}

fn sizes(from: Bytes, to: Bytes) -> impl Iterator<Item = Bytes> {
    std::iter::successors(Some(from), |size| Some(*size * 2)).take_while(move |size| *size <= to)
}

fn observations(data: Data) -> Observations {
    let conditions = Conditions {
        source: Source::Measured,
        capacity: Some(Bytes::new(16_000_000_000)),
        region: Some(ByteRange::new(Bytes::mib(16), Bytes::gib(2))),
        is_in_file: false,
        seed: 7,
    };
    Observations { data, conditions, ended: Ended::Complete }
}

fn align(jitter: &mut Jitter) -> AlignData {
    let halves = sizes(Bytes::kib(3), Bytes::mib(24));
    let mut candidates: Vec<Bytes> = sizes(Bytes::kib(2), Bytes::mib(64)).chain(halves).collect();
    candidates.sort_unstable();
    let samples = candidates.into_iter().flat_map(|candidate| (0..9).map(move |round| (candidate, round)));
    let samples = samples.map(|(candidate, round)| {
        let edge = candidate.is_multiple_of(ERASE_BLOCK);
        let extra = if edge { 219e-6 } else { 28e-6 };
        AlignSample {
            candidate,
            boundary: Some(candidate * (2 * (round * 37 % 113) + 1)),
            before: jitter.around(if edge { 545e-6 } else { 660e-6 }),
            across: jitter.around(660e-6 + extra - if edge { 58e-6 } else { 0.0 }),
            after: jitter.around(660e-6),
        }
    });
    AlignData {
        read: Some(Bytes::kib(1)),
        samples: samples.collect(),
        contents: Contents { looked_at: 32, blank: 3 },
    }
}

/// Seconds for one write without a merge.
fn unhindered(request: Bytes) -> f64 {
    0.0016 + request.as_f64().max(PAGE.as_f64()) / 17.5e6 + if request < PAGE { 0.001 } else { 0.0 }
}

/// Seconds for one write with this many units open.
fn with_open(open_units: u32, request: Bytes, order: Order) -> f64 {
    let shuffled = if order == Order::Random { 1.7 } else { 1.0 };
    let merge = if open_units > 8 && request >= PAGE { 0.042 * f64::from(open_units - 8) } else { 0.0 };
    unhindered(request) * shuffled + merge
}

fn times(jitter: &mut Jitter, seconds: f64, count: u64) -> Times {
    Times::Each((0..count).map(|_| jitter.around(seconds)).collect())
}

fn open_units(jitter: &mut Jitter) -> OpenUnitsData {
    let orders = [(Order::Linear, vec![1, 3, 6, 8, 9, 10]), (Order::Random, vec![8, 9])];
    let mut cells = Vec::new();
    for (order, counts) in orders {
        for open_units in counts {
            for request in sizes(Bytes::kib(4), ERASE_BLOCK) {
                let count = (ERASE_BLOCK / request).min(128) * u64::from(open_units);
                let times = times(jitter, with_open(open_units, request, order), count);
                cells.push(OpenUnitsCell::round_robin((order, open_units, request), times));
            }
        }
    }
    OpenUnitsData { erase_block: ERASE_BLOCK, cells, ..OpenUnitsData::default() }
}

fn write_size(jitter: &mut Jitter) -> WriteSizeData {
    let cells = sizes(Bytes::new(512), Bytes::mib(32)).map(|request| WriteSizeCell {
        start: None,
        order: Order::Linear,
        request,
        times: times(jitter, unhindered(request), 32),
    });
    WriteSizeData { erase_block: Some(ERASE_BLOCK), cells: cells.collect(), ..WriteSizeData::default() }
}

fn fat_area(jitter: &mut Jitter) -> FatAreaData {
    let order = Order::Random;
    let places =
        (0..6).flat_map(|unit| sizes(Bytes::kib(4), ERASE_BLOCK).map(move |request| (unit, request)));
    let cells = places.map(|(unit, request)| FatAreaCell {
        unit,
        order,
        request,
        times: times(jitter, with_open(1, request, order), (ERASE_BLOCK / request).min(128)),
    });
    FatAreaData { erase_block: ERASE_BLOCK, cells: cells.collect(), ..FatAreaData::default() }
}

/// The run.
pub fn run() -> RunFile {
    let jitter = &mut Jitter(7);
    let data = [
        Data::Align(align(jitter)),
        Data::WriteSize(write_size(jitter)),
        Data::OpenUnits(open_units(jitter)),
        Data::FatArea(fat_area(jitter)),
    ];
    RunFile {
        format: flashscope_record::run_file::FORMAT,
        flashscope: "0.1.0".to_owned(),
        target: "/dev/sdb".to_owned(),
        device_name: "Patriot Xporter XT Boost 16 GB".to_owned(),
        attachment: flashscope_record::attachment::Attachment::default(),
        measured_at: "2026-11-21T20:13:08Z".to_owned(),
        observations: data.into_iter().map(observations).collect(),
        cost: Cost {
            reads: 7_020,
            writes: 31_456,
            bytes_read: Bytes::kib(7_020),
            bytes_written: Bytes::gib(6),
            device_time: Duration::from_millis(913_250),
        },
        failed_requests: 0,
        is_erased: false,
        capacity: None,
        remarks: vec![
            "the region was written before the reads, so that no never-written area was read".to_owned(),
        ],
    }
}

/// What could be concluded from it.
pub fn findings() -> Vec<Finding> {
    use FindingId as Id;
    let sure = Confidence::new;
    let too_many = |order, within_s, beyond_s| {
        let request = Some(PAGE);
        Evidence::Blocks(BlockEvidence::TooMany { order, request, fits: 8, too_many: 9, within_s, beyond_s })
    };
    let reads = ReadEvidence::EraseBlock {
        size: ERASE_BLOCK,
        extra_s: 219e-6,
        noise_s: 28e-6,
        others_to: Some(Bytes::mib(6)),
    };
    let sweep = SizeEvidence::PageSweep {
        smaller: (Bytes::kib(16), 4.5e-3),
        page: (PAGE, 3.5e-3),
        larger: (Bytes::kib(64), 5.3e-3),
    };
    let unit = SizeEvidence::WriteUnit {
        unit: (Bytes::kib(64), 12.2e6),
        below: (PAGE, 9.4e6),
        best: (Bytes::mib(8), 15.1e6),
    };
    let merges = BlockEvidence::Merges {
        low: 8,
        high: 8,
        every_switch: false,
        merge_s: 0.042,
        free_to: Some(Bytes::kib(16)),
    };
    vec![
        Finding::exact(Id::EraseBlockBytes, Value::Bytes(ERASE_BLOCK), sure(0.997), Evidence::Reads(reads)),
        Finding::exact(Id::PageBytes, Value::Bytes(PAGE), sure(0.96), Evidence::Sizes(sweep)),
        Finding::exact(Id::WriteUnitBytes, Value::Bytes(Bytes::kib(64)), sure(0.86), Evidence::Sizes(unit))
            .within(Value::Bytes(Bytes::kib(64)), Value::Bytes(Bytes::kib(128)))
            .with_caveat(Caveat::LessLikely(vec![(Bytes::kib(128), 0.09)])),
        Finding::exact(
            Id::OpenUnitsLinear,
            Value::Count(8),
            sure(0.995),
            too_many(Order::Linear, 3.5e-3, 46e-3),
        ),
        Finding::exact(
            Id::OpenUnitsRandom,
            Value::Count(8),
            sure(0.93),
            too_many(Order::Random, 5.9e-3, 48e-3),
        ),
        Finding::exact(
            Id::FatAreaBytes,
            Value::Bytes(Bytes::ZERO),
            sure(0.9),
            Evidence::FirstBlocks(FatEvidence::Alike { blocks: 6, factor: 1.04 }),
        ),
        Finding::exact(
            Id::FtlClass,
            Value::Class { class: FtlClass::LogStructured, above: Some(Bytes::kib(16)) },
            sure(0.75),
            Evidence::Blocks(merges),
        ),
    ]
}

/// The same run as a log has it: means only, no boundaries' offsets.
pub fn published() -> RunFile {
    let mut run = run();
    run.target = "patriot.txt".to_owned();
    run.cost = Cost::default();
    for observations in &mut run.observations {
        observations.conditions.source =
            Source::Published { program: "flashbench".to_owned(), devices: Vec::new() };
        publish(&mut observations.data);
    }
    run
}

fn publish(data: &mut Data) {
    match data {
        Data::Align(data) => {
            data.samples.dedup_by_key(|sample| sample.candidate);
            data.samples.iter_mut().for_each(|sample| sample.boundary = None);
        }
        Data::OpenUnits(data) => data.cells.iter_mut().for_each(|cell| average(&mut cell.times)),
        Data::WriteSize(data) => data.cells.iter_mut().for_each(|cell| average(&mut cell.times)),
        Data::FatArea(data) => data.cells.iter_mut().for_each(|cell| average(&mut cell.times)),
        _ => unreachable!("nobody publishes these"),
    }
}

fn average(times: &mut Times) {
    let mean = times.mean_seconds().unwrap_or_default();
    *times = Times::Mean { per_request: Duration::from_secs_f64(mean), requests: None };
}
