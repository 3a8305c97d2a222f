//! Surveys inside a file on a mounted stick, compared with those of the whole stick.

use flashscope_device::layer::Window;
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, FileExtent, Op, Pattern, SECTOR};
use flashscope_infer::infer;
use flashscope_measure::survey::{FilePlace, Survey};
use flashscope_measure::{Silent, choose_window};
use flashscope_record::finding::{Finding, FindingId};
use flashscope_record::observation::Observations;
use flashscope_zoo::{Scope, Specimen};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::support::finding;

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
    for counts in zoo(100) {
        eprintln!("{counts:#?}");
        let all = counts.equal + counts.unknown + counts.other.len() as u32;
        assert!(counts.other.len() as u32 * 10 <= all && counts.equal * 2 >= all, "{counts:#?}");
    }
}
