//! The workload against filesystems in memory, in virtual time.

use std::collections::BTreeMap;

use flashscope_device::host::{FileHost, TrafficCounters};

use super::*;

/// A medium whose filesystems take a fixed time for each file, and a common time for each byte.
#[derive(Default)]
struct Fake {
    now: Instant,
    /// The time of each file, by filesystem.
    each: BTreeMap<&'static str, Duration>,
    free: Bytes,
    mounted: Option<String>,
    /// What was made, in this order.
    made: Vec<String>,
    refuses: Option<&'static str>,
    /// Errors from this number of filesystems on.
    fails_after: Option<(usize, &'static str)>,
    interrupts_after: Option<(usize, Interrupt)>,
    corrupts: Option<&'static str>,
    files: BTreeMap<u32, Vec<u8>>,
    current: u32,
    position: usize,
}

impl Fake {
    fn new(each: &[(&'static str, u64)]) -> Self {
        let each = each.iter().map(|(name, ms)| (*name, Duration::from_millis(*ms))).collect();
        Self { each, free: Bytes::gib(4), ..Self::default() }
    }

    fn each(&self) -> Duration {
        self.mounted.as_deref().map(|variant| self.each[variant]).unwrap()
    }
}

impl TrialHost for Fake {
    type Error = &'static str;
    type Files<'a> = FakeFiles<'a>;

    fn now(&self) -> Instant {
        self.now
    }

    fn prepare(
        &mut self,
        variant: &str,
        start: Bytes,
        _interrupt: &Interrupt,
    ) -> Result<FreshSpace, NotReady<Self::Error>> {
        assert!(self.mounted.is_none() && start == Bytes::mib(4));
        self.now += Duration::from_secs(1);
        if self.refuses == Some(variant) {
            return Err(NotReady::Refused { reason: "the kernel refuses it".to_owned() });
        }
        self.made.push(variant.to_owned());
        self.mounted = Some(variant.to_owned());
        self.files.clear();
        Ok(FreshSpace { free: self.free, cluster: Bytes::kib(4), files: None })
    }

    fn files(&mut self) -> Result<FakeFiles<'_>, Self::Error> {
        Ok(FakeFiles(self))
    }

    fn unmount(&mut self) -> Result<(), Self::Error> {
        self.mounted = None;
        Ok(())
    }

    fn is_limit(error: &Self::Error) -> bool {
        *error == "full"
    }
}

struct FakeFiles<'a>(&'a mut Fake);

impl FileHost for FakeFiles<'_> {
    type Error = &'static str;

    fn now(&self) -> Instant {
        self.0.now
    }

    fn create_directory(&mut self, _files_per_directory: u32, _needed: Bytes) -> Result<(), Self::Error> {
        assert!(self.0.files.is_empty(), "every trial starts empty");
        Ok(())
    }

    fn create_subdirectory(&mut self, _number: u32) -> Result<(), Self::Error> {
        Ok(())
    }

    fn create(&mut self, number: u32) -> Result<(), Self::Error> {
        let made = self.0.made.len();
        if let Some((_, error)) = self.0.fails_after.filter(|(after, _)| made > *after) {
            return Err(error);
        }
        if let Some((_, interrupt)) = self.0.interrupts_after.as_ref().filter(|(after, _)| made > *after) {
            interrupt.request();
        }
        self.0.now += self.0.each();
        self.0.current = number;
        self.0.files.insert(number, Vec::new());
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        // 10 MB/s.
        self.0.now += Duration::from_nanos(bytes.len() as u64 * 100);
        self.0.files.entry(self.0.current).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn close(&mut self, _flush: FlushPolicy) -> Result<(), Self::Error> {
        Ok(())
    }

    fn open(&mut self, number: u32) -> Result<(), Self::Error> {
        (self.0.current, self.0.position) = (number, 0);
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<bool, Self::Error> {
        self.0.now += Duration::from_nanos(buffer.len() as u64 * 50);
        let (at, file) = (self.0.position, &self.0.files[&self.0.current]);
        let Some(found) = file.get(at..at + buffer.len()) else { return Ok(false) };
        buffer.copy_from_slice(found);
        self.0.position += buffer.len();
        Ok(true)
    }

    fn flush_filesystem(&mut self, interrupt: &Interrupt) -> Result<bool, Self::Error> {
        Ok(!interrupt.is_requested())
    }

    fn allocated(&self) -> Bytes {
        Bytes::ZERO
    }

    fn drop_page_cache(&mut self, _count: u32) -> Result<(CacheDrop, Option<f64>), Self::Error> {
        if self.0.corrupts == self.0.mounted.as_deref()
            && let Some(first) = self.0.files.get_mut(&0).and_then(|file| file.first_mut())
        {
            *first ^= 1;
        }
        Ok((CacheDrop::Remounted, None))
    }

    fn traffic(&self) -> Option<TrafficCounters> {
        None
    }

    fn remove_all(&mut self) -> Result<(), Self::Error> {
        self.0.files.clear();
        Ok(())
    }
}

fn workload(variants: &[&str], models: Vec<FileModel>, budget_s: u64) -> TrialsWorkload {
    let candidate = |variant: &&str| Candidate { variant: (*variant).to_owned(), start: Bytes::mib(4) };
    TrialsWorkload {
        candidates: variants.iter().map(candidate).collect(),
        models,
        seed: 1,
        rounds: None,
        time_budget: Duration::from_secs(budget_s),
    }
}

fn small(count: usize) -> FileModel {
    FileModel {
        workload: TrialWorkload::Small,
        sizes: vec![Bytes::new(800); count],
        files_per_directory: 2000,
    }
}

fn large() -> FileModel {
    FileModel { workload: TrialWorkload::Large, sizes: vec![Bytes::mib(2)], files_per_directory: 1 }
}

type Outcome = (Result<(), Stopped<&'static str>>, TrialsData, Vec<String>);

fn measured(fake: &mut Fake, workload: &TrialsWorkload, interrupt: &Interrupt) -> Outcome {
    let (mut data, mut events) = (TrialsData::default(), Vec::new());
    let mut note = |event: TrialsEvent<'_>| events.push(format!("{event:?}"));
    let ended = workload.measure(fake, &mut data, interrupt, &mut note);
    assert!(fake.mounted.is_none(), "nothing stays mounted");
    (ended, data, events)
}

#[test]
fn rounds_end_when_the_fastest_is_clear() {
    let mut fake = Fake::new(&[("ext4", 2), ("vfat", 20)]);
    let workload = workload(&["ext4", "vfat"], vec![small(500), large()], 3600);
    let (ended, data, events) = measured(&mut fake, &workload, &Interrupt::default());
    // The large file takes the same time on both, which is clear as well.
    assert_eq!((ended, data.ended, data.rounds), (Ok(()), Some(RoundsEnd::Clear), ROUNDS_MIN));
    assert_eq!(data.trials.len(), 3 * 2 * 2 * 2, "rounds, filesystems, files, directions");
    assert_eq!((data.cold, data.corrupt.len()), (Some(CacheDrop::Remounted), 0));
    let write = |variant: &str| {
        let is_it = |trial: &&Trial| {
            (trial.variant.as_str(), trial.workload, trial.operation)
                == (variant, TrialWorkload::Small, TrialOperation::Write)
        };
        data.trials.iter().find(is_it).unwrap().seconds
    };
    assert!((write("ext4") - 1.04).abs() < 1e-6 && (write("vfat") - 10.04).abs() < 1e-6);
    assert!(
        data.trials.iter().all(|trial| trial.start == Bytes::mib(4) && trial.writeback == Writeback::Host)
    );
    let trials = events.iter().filter(|event| event.starts_with("Trial"));
    assert_eq!(trials.count(), 12);
}

#[test]
fn order_is_shuffled_by_the_seed_and_every_round_has_each_trial_once() {
    let names = ["a", "b", "c", "d", "e"];
    let order = |seed| {
        let mut fake = Fake::new(&names.map(|name| (name, 1)));
        let workload = TrialsWorkload { seed, rounds: Some(4), ..workload(&names, vec![small(100)], 3600) };
        let (ended, data, _) = measured(&mut fake, &workload, &Interrupt::default());
        assert_eq!((ended, data.ended), (Ok(()), Some(RoundsEnd::Complete)));
        fake.made.split_off(names.len())
    };
    let made = order(1);
    let rounds: Vec<&[String]> = made.chunks(names.len()).collect();
    for round in &rounds {
        let mut sorted = round.to_vec();
        sorted.sort();
        assert_eq!(sorted, names);
    }
    assert!(rounds.windows(2).any(|pair| pair[0] != pair[1]));
    assert_eq!(made, order(1));
    assert_ne!(made, order(2));
}

#[test]
fn refused_filesystem_is_left_out_and_the_others_are_compared() {
    let mut fake = Fake { refuses: Some("f2fs"), ..Fake::new(&[("ext4", 1), ("vfat", 9)]) };
    let workload = workload(&["ext4", "f2fs", "vfat"], vec![small(100)], 3600);
    let (ended, data, events) = measured(&mut fake, &workload, &Interrupt::default());
    assert_eq!(ended, Ok(()));
    assert_eq!(data.left_out.len(), 1);
    assert_eq!(data.left_out[0].variant.as_deref(), Some("f2fs"));
    assert!(data.trials.iter().all(|trial| trial.variant != "f2fs"));
    assert!(events.iter().any(|event| event.contains("LeftOut")));
}

#[test]
fn nothing_left_ends_the_rounds() {
    let mut fake = Fake { refuses: Some("ext4"), ..Fake::new(&[]) };
    let (ended, data, _) =
        measured(&mut fake, &workload(&["ext4"], vec![small(100)], 60), &Interrupt::default());
    assert_eq!((ended, data.ended, data.trials.len()), (Ok(()), Some(RoundsEnd::NothingLeft), 0));
}

#[test]
fn full_filesystem_is_left_out_for_these_files_only() {
    let mut fake = Fake { fails_after: Some((2, "full")), ..Fake::new(&[("ext4", 1), ("vfat", 9)]) };
    let workload = workload(&["ext4", "vfat"], vec![small(100)], 3600);
    let (ended, data, _) = measured(&mut fake, &workload, &Interrupt::default());
    assert_eq!((ended, data.ended), (Ok(()), Some(RoundsEnd::NothingLeft)));
    assert!(data.left_out.iter().all(|each| each.workload == Some(TrialWorkload::Small)));
}

#[test]
fn stick_that_fails_keeps_the_trials_before() {
    let mut fake = Fake { fails_after: Some((5, "unplugged")), ..Fake::new(&[("ext4", 1), ("vfat", 9)]) };
    let workload = workload(&["ext4", "vfat"], vec![small(100)], 3600);
    let (ended, data, _) = measured(&mut fake, &workload, &Interrupt::default());
    assert_eq!((ended, data.ended), (Err(Stopped::Host("unplugged")), None));
    assert_eq!((data.trials.len(), data.rounds), (6, 1), "two pilots, then three trials");
}

#[test]
fn interrupt_unmounts_and_keeps_the_trials_before() {
    let interrupt = Interrupt::default();
    let mut fake =
        Fake { interrupts_after: Some((3, interrupt.clone())), ..Fake::new(&[("ext4", 1), ("vfat", 9)]) };
    let workload = workload(&["ext4", "vfat"], vec![small(100)], 3600);
    let (ended, data, _) = measured(&mut fake, &workload, &interrupt);
    assert_eq!((ended, data.trials.len()), (Err(Stopped::Interrupted), 2));
}

#[test]
fn budget_reduces_the_files_and_ends_the_rounds() {
    let mut fake = Fake::new(&[("ext4", 10), ("vfat", 100)]);
    let workload = workload(&["ext4", "vfat"], vec![small(5000)], 120);
    let (ended, data, events) = measured(&mut fake, &workload, &Interrupt::default());
    assert_eq!(ended, Ok(()));
    assert!(
        events.iter().any(|event| event.contains("CountReduced") && event.contains("Time")),
        "{events:?}"
    );
    assert!((200..400).contains(&data.models[0].count()), "{}", data.models[0].count());
    assert!(data.rounds >= 2 && fake.now.since(Instant::ZERO) < Duration::from_secs(160), "{:?}", fake.now);
    // A first round that takes longer than all the budget is completed.
    let mut slow = Fake::new(&[("ext4", 1000), ("vfat", 2000)]);
    let workload = TrialsWorkload { time_budget: Duration::from_secs(1), ..workload };
    let (_, data, _) = measured(&mut slow, &workload, &Interrupt::default());
    assert_eq!((data.rounds, data.ended, data.models[0].count()), (1, Some(RoundsEnd::Budget), 100));
    // If that was the only one asked for, nothing is missing.
    let workload = TrialsWorkload { rounds: Some(1), ..workload };
    let mut slow = Fake::new(&[("ext4", 1000), ("vfat", 2000)]);
    let (_, data, _) = measured(&mut slow, &workload, &Interrupt::default());
    assert_eq!((data.rounds, data.ended), (1, Some(RoundsEnd::Complete)));
}

#[test]
fn files_that_do_not_fit_are_reduced_or_left_out() {
    let fake = |free| Fake { free, ..Fake::new(&[("ext4", 1), ("vfat", 2)]) };
    let workload = workload(&["ext4", "vfat"], vec![small(2000), large()], 3600);
    let (_, data, _) = measured(&mut fake(Bytes::mib(4)), &workload, &Interrupt::default());
    assert_eq!(data.models[0].count(), 716, "70 % of 4 MiB in clusters of 4 KiB");
    let (_, data, _) = measured(&mut fake(Bytes::kib(1500)), &workload, &Interrupt::default());
    assert!(data.trials.iter().all(|trial| trial.workload == TrialWorkload::Small));
    assert_eq!(data.left_out[0].workload, Some(TrialWorkload::Large));
}

#[test]
fn corrupt_files_are_counted_by_filesystem() {
    let mut fake = Fake { corrupts: Some("vfat"), ..Fake::new(&[("ext4", 1), ("vfat", 9)]) };
    let workload = TrialsWorkload { rounds: Some(1), ..workload(&["ext4", "vfat"], vec![small(100)], 60) };
    let (_, data, _) = measured(&mut fake, &workload, &Interrupt::default());
    assert_eq!(data.corrupt, [("vfat".to_owned(), 1)]);
}

/// A trial takes 1.112 s: 1 s to make the filesystem, then 100 files of 1 ms, and 800 bytes each.
#[test]
fn time_left_is_that_of_the_trials_left() {
    let mut fake = Fake::new(&[("ext4", 1), ("vfat", 1)]);
    let workload = TrialsWorkload { rounds: Some(2), ..workload(&["ext4", "vfat"], vec![small(100)], 3600) };
    let (mut data, mut seconds) = (TrialsData::default(), Vec::new());
    let mut note = |event: TrialsEvent<'_>| {
        if let TrialsEvent::Trial { left, .. } = event {
            seconds.push(left.as_secs_f64());
        }
    };
    workload.measure(&mut fake, &mut data, &Interrupt::default(), &mut note).unwrap();
    assert_eq!(seconds.len(), 4);
    // Before the first one it is not known how long they take.
    for (left, trials) in seconds[1..].iter().zip([3.0, 2.0, 1.0]) {
        assert!((left - trials * 1.112).abs() < 1e-3, "{trials}: {left}");
    }
}
