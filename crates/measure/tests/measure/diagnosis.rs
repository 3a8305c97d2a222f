//! Truth tests: virtual sticks with one fault, with two and with none, and the bottleneck that the diagnosis
//! reports. `cargo xtask diagnose` measures the gain of removing each fault.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};
use flashscope_infer::{diagnose, infer};
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::attachment::{Attachment, Driver, Link, Volume};
use flashscope_record::diagnosis::{
    Bottleneck, CachedSpeed, Conclusion, Decider, Diagnosis, DiagnosisEvidence, DiagnosisReason,
    GAIN_REPORTED_MIN,
};
use flashscope_record::finding::{Finding, FindingId, Reason, WouldDecide};
use flashscope_record::observation::{
    Conditions, Data, Ended, MethodTiming, MethodsData, Observations, Source, Times, WriteMethod,
    WriteSizeData,
};
use flashscope_sim::{Profile, VirtualStick};

/// A virtual stick. [`SOUND`] writes 68 MB/s, more than any high-speed link carries.
#[derive(Clone, Copy)]
struct Build {
    bus: &'static str,
    command_max_kib: u64,
    page_kib: u64,
    overhead_us: u32,
    partial_page_us: u32,
    open_units: u32,
    cache: &'static str,
}

/// A stick without a fault.
const SOUND: Build = Build {
    bus: "usb-super-5",
    command_max_kib: 1024,
    page_kib: 32,
    overhead_us: 40,
    partial_page_us: 560,
    open_units: 12,
    cache: "",
};

/// An SLC cache three times as fast as the flash of a sound stick.
const CACHE: &str = "[slc_cache]\nbasis = \"assumed\"\nsize = \"96MiB\"\noverhead_us = 40\npage_program_us = 160\n\
                     fold_megabytes_per_s = 20\nwhen_full = \"fold\"\n";
/// Stalls that take two thirds of the time of a long copy.
const STALLS: &str = "[background]\nbasis = \"assumed\"\nidle_after_us = 2e6\n[background.stall]\nevery = \"16MiB\"\n\
                      duration_us = 400000\nduration_max_us = 600000\n";

impl Build {
    fn profile(self) -> Profile {
        let Self { bus, command_max_kib, page_kib, overhead_us, partial_page_us, open_units, cache } = self;
        let text = format!(
            "name = \"built\"\ndescription = \"built\"\ncapacity = \"1GiB\"\n\
             [[source]]\nwhat = \"made up\"\nwhere = \"here\"\n\
             [link]\nbasis = \"assumed\"\nbus = \"{bus}\"\nmax_command = \"{command_max_kib}KiB\"\n\
             [read]\nbasis = \"assumed\"\naccess_us = 300\n\
             [[read.boundary]]\nperiod = \"4MiB\"\nacross_us = 200\n\
             [write]\nbasis = \"assumed\"\noverhead_us = {overhead_us}\npage_program_us = {}\npartial_page_us = {partial_page_us}\n\
             [ftl]\nbasis = \"assumed\"\nerase_block = \"4MiB\"\npage = \"{page_kib}KiB\"\n\
             [policy.open_blocks]\nbasis = \"assumed\"\nopen_units_linear = {open_units}\n\
             open_units_random = {open_units}\nvictim = \"lru\"\nmerge_us = 150000\n\
             {cache}[noise]\nbasis = \"assumed\"\njitter = 0.01\noutliers_per_million = 0\noutlier_us = 1000\n",
            15 * page_kib
        );
        Profile::parse(&text).unwrap()
    }

    /// The observations of a check with a long stream.
    fn checked(self) -> Vec<Observations> {
        let mut stick = VirtualStick::new(&self.profile(), 3);
        let survey = Survey::new(true, 7);
        let mut seen = survey.fill(&mut stick, &mut Silent);
        seen.extend(survey.run(&mut stick, &mut Silent));
        seen
    }

    /// A USB stick that supports 5000 Mbit/s, on the link of this build.
    fn attachment(self) -> Attachment {
        let now = if self.bus == "usb-high" { 480.0 } else { 5000.0 };
        let driver = Some(Driver { name: "usb-storage".to_owned(), is_uas_unused: false });
        let request_max = Some(Bytes::kib(self.command_max_kib));
        Attachment { link: Link::usb(now, Some(5000.0)), request_max, driver, ..Attachment::default() }
    }

    fn diagnosis(self) -> Diagnosis {
        self.diagnosis_with(&self.attachment())
    }

    fn diagnosis_with(self, attachment: &Attachment) -> Diagnosis {
        let seen = self.checked();
        diagnose(&seen, &infer(&seen), attachment)
    }
}

/// Each command takes 400 us besides its four pages of 120 us.
const fn split_by_its_driver() -> Build {
    Build { command_max_kib: 32, page_kib: 8, partial_page_us: 140, overhead_us: 400, ..SOUND }
}

fn volume(start_sector: u64, data_start: u64) -> Volume {
    let bytes = |sectors| Bytes::new(sectors * 512);
    Volume {
        name: "sdx1".to_owned(),
        start: bytes(start_sector),
        data_start: Some(bytes(data_start)),
        ..Volume::default()
    }
}

/// Asserts that this bottleneck is reported, and no other has a reportable gain.
fn assert_only(diagnosis: &Diagnosis, bottleneck: Bottleneck) {
    assert_eq!(diagnosis.bottleneck(), Some(bottleneck), "{diagnosis:#?}");
    let others = diagnosis.costs.iter().filter(|cost| cost.bottleneck != bottleneck);
    assert!(others.clone().all(|cost| cost.gain.likely < GAIN_REPORTED_MIN), "{diagnosis:#?}");
    let gain = diagnosis.cost(bottleneck).map(|cost| cost.gain);
    assert!(gain.is_none_or(|gain| gain.low <= gain.likely && gain.likely <= gain.high), "{gain:?}");
}

#[test]
fn a_sound_stick_is_limited_by_its_flash() {
    let observations = SOUND.checked();
    let findings = infer(&observations);
    assert_only(&diagnose(&observations, &findings, &SOUND.attachment()), Bottleneck::Flash);
    let aligned = Attachment { volumes: vec![volume(8192, 64)], ..SOUND.attachment() };
    assert_only(&diagnose(&observations, &findings, &aligned), Bottleneck::Flash);
    // Without a known link, the flash is not reported.
    let unknown = diagnose(&observations, &findings, &Attachment::default());
    assert_eq!(not_tested(&unknown), Some((Bottleneck::Link, DiagnosisReason::NoLink)));
}

/// The bottleneck that was needed for a conclusion but not tested, and why.
fn not_tested(diagnosis: &Diagnosis) -> Option<(Bottleneck, DiagnosisReason)> {
    match &diagnosis.conclusion {
        Conclusion::Unknown { reason: DiagnosisReason::NotTested { bottleneck, reason }, .. } => {
            Some((*bottleneck, (**reason).clone()))
        }
        _ => None,
    }
}

fn would_decide(diagnosis: &Diagnosis) -> Option<Decider> {
    match &diagnosis.conclusion {
        Conclusion::Unknown { would_decide, .. } => Some(would_decide.clone()),
        _ => None,
    }
}

#[test]
fn a_fast_stick_on_a_slow_link_is_limited_by_the_link_and_a_card_by_its_reader() {
    let slow = Build { bus: "usb-high", command_max_kib: 120, ..SOUND };
    let observations = slow.checked();
    let findings = infer(&observations);
    let diagnosis = diagnose(&observations, &findings, &slow.attachment());
    assert_only(&diagnosis, Bottleneck::Link);
    // 68 instead of 36 MB/s in all parts but the small writes.
    let gain = diagnosis.cost(Bottleneck::Link).unwrap().gain;
    assert!(gain.low <= 1.85 && 1.85 <= gain.high, "{gain:?}");
    let link = Link { device_fastest: None, is_card_reader: true, ..slow.attachment().link.unwrap() };
    let reader = Attachment { link: Some(link.clone()), ..slow.attachment() };
    assert_only(&diagnose(&observations, &findings, &reader), Bottleneck::Reader);
    // A full link is the bottleneck also where no faster one is known, and no other bottleneck is reported
    // instead.
    let alone = Attachment { link: Some(Link { is_card_reader: false, ..link }), ..slow.attachment() };
    assert_only(&diagnose(&observations, &findings, &alone), Bottleneck::Link);
}

#[test]
fn a_driver_that_splits_requests_is_reported_if_its_limit_can_be_changed() {
    let split = split_by_its_driver();
    let observations = split.checked();
    let findings = infer(&observations);
    let diagnosis = diagnose(&observations, &findings, &split.attachment());
    assert_only(&diagnosis, Bottleneck::Driver);
    let cost = diagnosis.cost(Bottleneck::Driver).unwrap();
    let DiagnosisEvidence::Driver { command_max, commands, .. } = cost.evidence else { panic!("{cost:?}") };
    assert_eq!((command_max, commands), (Bytes::kib(32), 32.0));
    assert!(cost.gain.low <= 1.7 && 1.7 <= cost.gain.high, "{:?}", cost.gain);
    let another = Some(Driver { name: "sdhci".to_owned(), is_uas_unused: false });
    for driver in [None, another] {
        let attachment = Attachment { driver, ..split.attachment() };
        let diagnosis = diagnose(&observations, &findings, &attachment);
        assert_eq!(diagnosis.cost(Bottleneck::Driver), None);
        let Some((Bottleneck::Driver, reason)) = not_tested(&diagnosis) else { panic!("{diagnosis:#?}") };
        let DiagnosisReason::CommandLimitUnknown { command_max, .. } = reason else { panic!("{reason:?}") };
        assert_eq!(command_max, Bytes::kib(32));
    }
    // With one page per command, the time of the command cannot be separated from that of the page.
    let one_page = Build { command_max_kib: 32, overhead_us: 400, ..SOUND };
    assert_eq!(would_decide(&one_page.diagnosis()), Some(Decider::LargerCommands));
}

#[test]
fn slow_small_writes_are_reported() {
    assert_only(&Build { overhead_us: 4000, ..SOUND }.diagnosis(), Bottleneck::SmallWrites);
}

#[test]
fn too_few_open_units_are_reported() {
    assert_only(&Build { open_units: 2, ..SOUND }.diagnosis(), Bottleneck::OpenUnits);
}

#[test]
fn an_exhausted_slc_cache_is_reported() {
    let diagnosis = Build { cache: CACHE, ..SOUND }.diagnosis();
    assert_only(&diagnosis, Bottleneck::SlcCache);
    let evidence = &diagnosis.cost(Bottleneck::SlcCache).unwrap().evidence;
    assert!(matches!(evidence, DiagnosisEvidence::Slowdown { .. }), "{evidence:?}");
}

/// A write buffer of 8 MiB.
const WRITE_BUFFER: &str = "[write_buffer]\nbasis = \"assumed\"\nsize = \"8MiB\"\naccept_us = 20\n";

#[test]
fn a_write_buffer_is_not_reported_as_slc_cache() {
    for open_units in [12, 2] {
        let build = Build { cache: WRITE_BUFFER, open_units, ..SOUND };
        let diagnosis = build.diagnosis();
        assert_eq!(diagnosis.cost(Bottleneck::SlcCache), None, "{diagnosis:#?}");
        assert_eq!(diagnosis.cost(Bottleneck::Link), None, "{diagnosis:#?}");
        let bottleneck = if open_units == 2 { Bottleneck::OpenUnits } else { Bottleneck::Flash };
        assert_only(&diagnosis, bottleneck);
    }
}

/// The findings, with one of them unknown.
fn without(findings: &[Finding], id: FindingId, reason: &Reason) -> Vec<Finding> {
    let unknown = || Finding::unknown(id, reason.clone(), [WouldDecide::QuieterMachine]);
    let forget = |finding: &Finding| if finding.id == id { unknown() } else { finding.clone() };
    findings.iter().map(forget).collect()
}

#[test]
fn slc_cache_is_not_tested_if_its_finding_is_unknown() {
    let build = Build { cache: CACHE, ..SOUND };
    let observations = build.checked();
    let findings = without(&infer(&observations), FindingId::SlcCacheBytes, &Reason::NoTime);
    let diagnosis = diagnose(&observations, &findings, &build.attachment());
    assert_eq!(diagnosis.cost(Bottleneck::SlcCache), None, "{diagnosis:#?}");
    let untested = diagnosis.untested.iter().find(|untested| untested.bottleneck == Bottleneck::SlcCache);
    let reason = DiagnosisReason::Finding(Reason::NoTime);
    assert_eq!(untested.map(|untested| &untested.reason), Some(&reason));
    // A long stream was measured, so the finding says what would decide.
    assert_eq!(would_decide(&diagnosis), Some(Decider::Finding(vec![WouldDecide::QuieterMachine])));
}

#[test]
fn garbage_collection_is_reported() {
    let diagnosis = Build { cache: STALLS, ..SOUND }.diagnosis();
    assert_only(&diagnosis, Bottleneck::SlcCache);
    let evidence = &diagnosis.cost(Bottleneck::SlcCache).unwrap().evidence;
    assert!(matches!(evidence, DiagnosisEvidence::Stalls { .. }), "{evidence:?}");
}

#[test]
fn misaligned_partitions_and_filesystems_are_reported() {
    let slow_pages = Build { partial_page_us: 1050, ..SOUND };
    let observations = slow_pages.checked();
    let findings = infer(&observations);
    let with = |volume| Attachment { volumes: vec![volume], ..slow_pages.attachment() };
    let bottleneck = |volume| diagnose(&observations, &findings, &with(volume)).bottleneck();
    let sectors = [(63, 0), (8192, 33), (8192, 64)].map(|(start, data)| bottleneck(volume(start, data)));
    assert_eq!(sectors, [Bottleneck::Alignment, Bottleneck::Filesystem, Bottleneck::Flash].map(Some));
}

/// The time per byte of round-robin writes of `request` into `streams` streams 16 MiB apart, seconds.
fn time_per_byte(profile: &Profile, request: Bytes, streams: u64) -> f64 {
    const WRITES: u64 = 320;
    let mut stick = VirtualStick::new(profile, 9);
    let start = stick.now();
    for index in 0..WRITES {
        let offset = Bytes::mib(64 + 16 * (index % streams)) + request * (index / streams);
        stick.run(Op::write(ByteRange::new(offset, request), Pattern::new(1))).unwrap();
    }
    stick.now().since(start).as_secs_f64() / (request * WRITES).as_f64()
}

#[test]
fn the_bottleneck_of_small_files_is_reported_beside_the_flash() {
    let profile = Profile::builtin("generic-2g").unwrap();
    let mut stick = VirtualStick::new(&profile, 3);
    let survey = Survey::new(true, 7);
    let mut observations = survey.fill(&mut stick, &mut Silent);
    observations.extend(survey.run(&mut stick, &mut Silent));
    let attachment = Attachment { request_max: Some(Bytes::kib(120)), ..SOUND.attachment() };
    let diagnosis = diagnose(&observations, &infer(&observations), &attachment);
    assert_eq!(diagnosis.bottleneck(), Some(Bottleneck::Flash), "{diagnosis:#?}");
    let cost = diagnosis.small_files.clone().unwrap();
    assert_eq!(cost.bottleneck, Bottleneck::OpenUnits, "{diagnosis:#?}");
    // One third of the bytes in sequential 4 KiB writes, two thirds in 32 KiB writes into five streams or
    // into one.
    let copy = |streams| {
        time_per_byte(&profile, Bytes::kib(4), 1) + 2.0 * time_per_byte(&profile, Bytes::kib(32), streams)
    };
    let gain = copy(5) / copy(1);
    assert!(cost.gain.low <= gain && gain <= cost.gain.high, "{gain} and {cost:?}");
    let of_sound = SOUND.diagnosis().small_files.map(|cost| cost.bottleneck);
    assert_eq!(of_sound, Some(Bottleneck::SmallWrites));
}

#[test]
fn of_two_faults_the_one_with_the_larger_gain_comes_first() {
    let first_two = |build: Build| {
        let costs = build.diagnosis().costs;
        costs.into_iter().map(|cost| cost.bottleneck).take(2).collect::<Vec<_>>()
    };
    // Merges of 150 ms, and an overhead of 1.5 ms per write.
    let merges = Build { overhead_us: 1500, open_units: 2, ..SOUND };
    assert_eq!(first_two(merges), [Bottleneck::OpenUnits, Bottleneck::SmallWrites]);
    let cache = Build { cache: CACHE, overhead_us: 400, ..SOUND };
    assert_eq!(first_two(cache), [Bottleneck::SlcCache, Bottleneck::SmallWrites]);
    let split = Build { open_units: 2, ..split_by_its_driver() };
    assert_eq!(first_two(split), [Bottleneck::OpenUnits, Bottleneck::Driver]);
}

#[test]
fn latencies_independent_of_the_request_size_give_no_bottleneck() {
    let mut observations = SOUND.checked();
    for each in &mut observations {
        if let Data::WriteSize(data) = &mut each.data {
            let same = Times::Each(vec![Duration::from_millis(15); 8]);
            data.cells.iter_mut().for_each(|cell| cell.times = same.clone());
            *data = WriteSizeData { cells: std::mem::take(&mut data.cells), ..WriteSizeData::default() };
        }
    }
    // No other experiment shows flash.
    observations.retain(|each| matches!(each.data, Data::WriteSize(_) | Data::Sustained(_)));
    let diagnosis = diagnose(&observations, &infer(&observations), &SOUND.attachment());
    assert!(diagnosis.costs.is_empty(), "{diagnosis:#?}");
    let Conclusion::Unknown { reason, .. } = &diagnosis.conclusion else { panic!("{diagnosis:#?}") };
    assert!(matches!(reason, DiagnosisReason::Finding(_)), "{reason:?}");
}

#[test]
fn a_bottleneck_without_a_measurement_is_not_reported() {
    let mut stick = VirtualStick::new(&SOUND.profile(), 3);
    let observations = Survey::new(false, 7).run(&mut stick, &mut Silent);
    let diagnosis = diagnose(&observations, &infer(&observations), &SOUND.attachment());
    assert_eq!((diagnosis.bottleneck(), diagnosis.costs.len()), (None, 0));
    // Without a long stream, there may be an SLC cache.
    let mut stick = VirtualStick::new(&SOUND.profile(), 3);
    let observations = Survey::new(true, 7).run(&mut stick, &mut Silent);
    let diagnosis = diagnose(&observations, &infer(&observations), &SOUND.attachment());
    assert_eq!(would_decide(&diagnosis), Some(Decider::LongStream));
}

/// The observations of three ways to write 64 MiB, from sources of zeros and of random data at these speeds,
/// bytes per second. The page cache takes buffered data at 2 GB/s and then writes it to the stick; meanwhile
/// it waits for the source.
fn write_methods(build: Build, zeros: f64, random: f64) -> Vec<Observations> {
    let (bytes, mut stick) = (Bytes::mib(64), VirtualStick::new(&build.profile(), 3));
    for step in 0..64 {
        let range = ByteRange::new(Bytes::mib(8 + step), Bytes::mib(1));
        stick.run(Op::write(range, Pattern::new(1))).unwrap();
    }
    let device = stick.now().as_nanos() as f64 / 1e9;
    let page_cache = bytes.as_f64() / 2e9;
    let from = |method, source: f64| {
        let source = bytes.as_f64() / source;
        MethodTiming {
            method,
            bytes,
            reported_s: page_cache + source,
            durable_s: device.max(source) + page_cache,
            source_s: Some(source),
        }
    };
    let flushed = MethodTiming {
        method: WriteMethod::FlushAtEnd,
        bytes,
        reported_s: device,
        durable_s: device,
        source_s: None,
    };
    let timings = vec![from(WriteMethod::Zeros, zeros), from(WriteMethod::Random, random), flushed];
    let data = Data::Methods(MethodsData { timings, ..MethodsData::default() });
    let conditions =
        Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 1 };
    vec![Observations { data, conditions, ended: Ended::Complete }]
}

fn diagnosis_of_write_methods(build: Build, zeros: f64, random: f64) -> Diagnosis {
    diagnose(&write_methods(build, zeros, random), &[], &build.attachment())
}

#[test]
fn a_slow_source_is_a_bottleneck_and_a_cached_speed_is_not() {
    // The stick writes 66 MB/s, the source delivers 20 MB/s.
    let slow = diagnosis_of_write_methods(SOUND, 20e6, 20e6);
    assert_eq!(slow.bottleneck(), Some(Bottleneck::DataSource), "{slow:#?}");
    let gain = slow.cost(Bottleneck::DataSource).unwrap().gain;
    assert!(gain.low <= 3.3 && 3.3 <= gain.high && slow.cached_speeds.is_empty(), "{slow:#?}");
    // Fast sources fill the page cache, which limits nothing.
    let cached = diagnosis_of_write_methods(SOUND, 10e9, 10e9);
    let counts = (cached.cached_speeds.len(), cached.costs.len());
    assert_eq!((cached.bottleneck(), counts), (None, (2, 0)), "{cached:#?}");
    let is_cached = |speed: &CachedSpeed| speed.bottleneck == Bottleneck::PageCache && speed.ratio > 10.0;
    assert!(cached.cached_speeds.iter().all(is_cached));
    // With cached zeros and a slow source of random data, only the source is a bottleneck.
    let both = diagnosis_of_write_methods(SOUND, 10e9, 20e6);
    let counts = both.cached_speeds.len();
    assert_eq!((both.bottleneck(), counts), (Some(Bottleneck::DataSource), 1), "{both:#?}");
    // A source slower than a fast stick does not limit a slower one.
    let slower = Build { bus: "usb-high", command_max_kib: 120, ..SOUND };
    assert_eq!(diagnosis_of_write_methods(slower, 10e9, 60e6).cost(Bottleneck::DataSource), None);
}
