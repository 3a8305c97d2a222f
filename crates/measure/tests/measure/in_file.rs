//! Surveys inside a file on a mounted stick, compared with those of the whole stick.

use flashscope_device::layer::Window;
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, FileExtent, Op, Pattern, SECTOR};
use flashscope_infer::infer;
use flashscope_measure::survey::{FilePlace, Survey};
use flashscope_measure::{Silent, choose_window};
use flashscope_record::finding::{Finding, FindingId, Reason};
use flashscope_record::observation::{Observations, Refusal};
use flashscope_zoo::{Scope, Specimen};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::support::{finding, stick};

/// The size of a file.
const FILE: Bytes = Bytes::mib(256);
/// The space that is reserved to find a good place for it.
const RESERVED: Bytes = Bytes::mib(512);

/// A survey in a file that begins at `start` and is written once before.
fn survey(device: &mut dyn Device, start: Bytes, seed: u64) -> Option<Vec<Observations>> {
    let capacity = device.capabilities().capacity;
    let reserved = RESERVED.min(capacity.saturating_sub(start));
    let extent = FileExtent { in_file: ByteRange::new(Bytes::ZERO, reserved), on_device: start };
    let region = choose_window(&[extent], FILE)?.on_device;
    let mut window = Window::new(device, region);
    let mut offset = Bytes::ZERO;
    while offset < region.length {
        let range = ByteRange::new(offset, Bytes::mib(1));
        window.run(Op::write(range, Pattern::new(0))).ok()?;
        offset += range.length;
    }
    let file = Some(FilePlace { capacity, region: Some(region), is_buffered: false });
    Some(Survey { file, ..Survey::new(true, seed) }.run(&mut window, &mut Silent))
}

/// A random start of a file, in the middle of a stick.
fn start(capacity: Bytes, seed: u64) -> Bytes {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let most = capacity.saturating_sub(RESERVED).max(capacity / 4);
    Bytes::new(random.next_u64() % most.get()).round_down(SECTOR * 8)
}

/// Findings in a file of random sticks: how many are those of the whole stick, unknown, and others.
#[derive(Debug, Default)]
struct Counts {
    equal: u32,
    unknown: u32,
    other: Vec<String>,
}

impl Counts {
    fn count(&mut self, index: u64, raw: &Finding, in_file: &Finding) {
        match (raw.value(), in_file.value()) {
            (_, None) => self.unknown += 1,
            (raw, found) if raw == found => self.equal += 1,
            _ => self.other.push(format!("{index}: {raw:?} in file {in_file:?}")),
        }
    }
}

/// Surveys this many random sticks, and the same in a file.
fn zoo(number: usize) -> [Counts; 3] {
    let mut counts = [Counts::default(), Counts::default(), Counts::default()];
    let inside =
        (0..).map(|index| Specimen::new(77, index).unwrap()).filter(|each| each.scope == Scope::Inside);
    for specimen in inside.take(number) {
        let mut whole = specimen.device().unwrap();
        let raw = infer(&Survey::new(true, specimen.survey_seed).run(&mut *whole, &mut Silent));
        let mut device = specimen.device().unwrap();
        let start = start(device.capabilities().capacity, specimen.index);
        let Some(seen) = survey(&mut *device, start, specimen.survey_seed) else { continue };
        let in_file = infer(&seen);
        let ids = [FindingId::EraseBlockBytes, FindingId::PageBytes, FindingId::OpenUnitsLinear];
        for (counts, id) in counts.iter_mut().zip(ids) {
            counts.count(specimen.index, finding(&raw, id), finding(&in_file, id));
        }
    }
    counts
}

#[test]
fn findings_in_a_file_of_random_sticks_are_those_of_the_stick_or_unknown() {
    for counts in zoo(12) {
        let all = counts.equal + counts.unknown + counts.other.len() as u32;
        assert!(counts.other.len() as u32 * 10 <= all && counts.equal * 2 >= all, "{counts:#?}");
    }
}

#[test]
fn erase_block_that_does_not_divide_the_start_is_unknown() {
    let survey = |start: Bytes| {
        let (mut device, _) = stick("transcend-8g?erase_block=6MiB&page=24KiB");
        let capacity = device.capabilities().capacity;
        let region = ByteRange::new(start, FILE);
        let file = Some(FilePlace { capacity, region: Some(region), is_buffered: false });
        let mut window = Window::new(&mut device, region);
        infer(&Survey { file, ..Survey::new(true, 3) }.run(&mut window, &mut Silent))
    };
    let aligned = survey(Bytes::mib(96));
    assert_eq!(finding(&aligned, FindingId::EraseBlockBytes).bytes(), Some(Bytes::mib(6)));
    let off = survey(Bytes::mib(64));
    assert_eq!(finding(&off, FindingId::EraseBlockBytes).value(), None);
}

#[test]
fn without_a_place_only_speeds_are_measured() {
    let (mut device, _) = stick("transcend-8g?capacity=256MiB");
    let file = Some(FilePlace { capacity: Bytes::gib(8), region: None, is_buffered: false });
    let survey = Survey { file, ..Survey::new(true, 3) };
    let mut seen = vec![survey.fill_briefly(&mut device, &mut Silent)];
    seen.extend(survey.run(&mut device, &mut Silent));
    let findings = infer(&seen);
    for id in [FindingId::EraseBlockBytes, FindingId::OpenUnitsLinear, FindingId::FatAreaBytes] {
        let reason = finding(&findings, id).reason();
        assert_eq!(reason, Some(&Reason::NotStarted(Refusal::OffsetsUnknown)), "{id}");
    }
    for id in [FindingId::SlcCacheBytes, FindingId::SustainedWriteBytesPerS] {
        assert_eq!(finding(&findings, id).value(), None, "a window says nothing of the whole stick");
    }
    assert!(seen.iter().all(|each| each.conditions.capacity == Some(Bytes::gib(8))));
}
