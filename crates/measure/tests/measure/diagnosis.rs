//! Truth tests of the diagnosis: virtual sticks with one fault, two faults or none, and the bottleneck that
//! is named. The gain of each counterfactual is validated by `cargo xtask diagnose`.

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
    Claim, Conditions, Data, Ended, MethodsData, Observations, Source, Times, Way, WriteSizeData,
};
use flashscope_sim::{Profile, VirtualStick};

/// The numbers of a stick. [`SOUND`] has no fault: 68 MB/s, more than any high-speed link carries.
#[derive(Clone, Copy)]
struct Build {
    bus: &'static str,
    cut_kib: u64,
    page_kib: u64,
    overhead_us: u32,
    partial_page_us: u32,
    open_units: u32,
    cache: &'static str,
}

/// A stick without a fault.
const SOUND: Build = Build {
    bus: "usb-super-5",
    cut_kib: 1024,
    page_kib: 32,
    overhead_us: 40,
    partial_page_us: 560,
    open_units: 12,
    cache: "",
};

/// A cache three times as fast as the flash of a sound stick.
const CACHE: &str = "[slc_cache]\nbasis = \"assumed\"\nsize = \"96MiB\"\noverhead_us = 40\npage_program_us = 160\n\
                     fold_megabytes_per_s = 20\nwhen_full = \"fold\"\n";
/// Stalls that take two thirds of the time of a long copy.
const STALLS: &str = "[background]\nbasis = \"assumed\"\nidle_after_us = 2e6\n[background.stall]\nevery = \"16MiB\"\n\
                      duration_us = 400000\nduration_max_us = 600000\n";

impl Build {
    fn profile(self) -> Profile {
        let Self { bus, cut_kib, page_kib, overhead_us, partial_page_us, open_units, cache } = self;
        let text = format!(
            "name = \"built\"\ndescription = \"built\"\ncapacity = \"1GiB\"\n\
             [[source]]\nwhat = \"made up\"\nwhere = \"here\"\n\
             [link]\nbasis = \"assumed\"\nbus = \"{bus}\"\nmax_command = \"{cut_kib}KiB\"\n\
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
        let request_max = Some(Bytes::kib(self.cut_kib));
        Attachment {
            link: Link::usb(now, Some(5000.0)),
            request_max,
            driver,
            volumes: Vec::new(),
            in_memory: false,
        }
    }

    fn diagnosis(self) -> Diagnosis {
        self.diagnosis_with(&self.attachment())
    }

    fn diagnosis_with(self, attachment: &Attachment) -> Diagnosis {
        let seen = self.checked();
        diagnose(&seen, &infer(&seen), attachment)
    }
}

/// A stick slowed by its driver: each command holds four pages of 120 us and takes 400 us more.
const fn limited_by_driver() -> Build {
    Build { cut_kib: 32, page_kib: 8, partial_page_us: 140, overhead_us: 400, ..SOUND }
}

fn volume(start_sector: u64, data_start: u64) -> Volume {
    let bytes = |sectors| Bytes::new(sectors * 512);
    Volume { name: "sdx1".to_owned(), start: bytes(start_sector), data_start: Some(bytes(data_start)) }
}

/// Asserts that this layer is named, and no other one costs much.
fn assert_only(diagnosis: &Diagnosis, layer: Layer) {
    assert_eq!(diagnosis.layer(), Some(layer), "{diagnosis:#?}");
    let others = diagnosis.costs.iter().filter(|cost| cost.layer != layer);
    assert!(others.clone().all(|cost| cost.gain.likely < LITTLE), "{diagnosis:#?}");
    let gain = diagnosis.cost(layer).map(|cost| cost.gain);
    assert!(gain.is_none_or(|gain| gain.low <= gain.likely && gain.likely <= gain.high), "{gain:?}");
}

#[test]
fn stick_without_fault_is_limited_by_its_flash() {
    let seen = SOUND.checked();
    let findings = infer(&seen);
    let diagnosis = diagnose(&seen, &findings, &SOUND.attachment());
    assert_only(&diagnosis, Layer::Flash);
    // Partitions at a page boundary cost nothing. Without a known link the flash cannot be named.
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
fn slow_port_limits_a_fast_stick_and_slow_reader_a_card() {
    let faulty = Build { bus: "usb-high", cut_kib: 120, ..SOUND };
    let seen = faulty.checked();
    let findings = infer(&seen);
    let diagnosis = diagnose(&seen, &findings, &faulty.attachment());
    assert_only(&diagnosis, Layer::Link);
    // 68 instead of 36 MB/s, for all but the small writes.
    let gain = diagnosis.cost(Layer::Link).unwrap().gain;
    assert!(gain.low <= 1.85 && 1.85 <= gain.high, "{gain:?}");
    let link = Link { could: None, is_readers: true, ..faulty.attachment().link.unwrap() };
    let reader = Attachment { link: Some(link.clone()), ..faulty.attachment() };
    assert_only(&diagnose(&seen, &findings, &reader), Layer::Reader);
    // If the stick supports no faster link, no port helps. The link is still the bottleneck.
    let alone = Attachment { link: Some(Link { is_readers: false, ..link }), ..faulty.attachment() };
    assert_only(&diagnose(&seen, &findings, &alone), Layer::Link);
}

#[test]
fn driver_that_splits_requests_is_named_if_configurable() {
    let faulty = limited_by_driver();
    let seen = faulty.checked();
    let findings = infer(&seen);
    let diagnosis = diagnose(&seen, &findings, &faulty.attachment());
    assert_only(&diagnosis, Layer::Driver);
    let cost = diagnosis.cost(Layer::Driver).unwrap();
    assert!(cost.evidence.contains("cuts requests at 32 KiB"), "{}", cost.evidence);
    assert!(cost.gain.low <= 1.7 && 1.7 <= cost.gain.high, "{:?}", cost.gain);
    let another = Some(Driver { name: "sdhci".to_owned(), is_uas_unused: false });
    for driver in [None, another] {
        let attachment = Attachment { driver, ..faulty.attachment() };
        let diagnosis = diagnose(&seen, &findings, &attachment);
        assert_eq!(diagnosis.cost(Layer::Driver), None);
        let Bottleneck::Unknown { reason, .. } = diagnosis.bottleneck else { panic!("{diagnosis:#?}") };
        assert!(reason.contains("the driver was not: requests are cut at 32 KiB"), "{reason}");
    }
    // With one page in each command, the times of page and command cannot be separated.
    let one_page = Build { cut_kib: 32, overhead_us: 400, ..SOUND };
    let Bottleneck::Unknown { would_decide, .. } = one_page.diagnosis().bottleneck else {
        panic!("not unknown")
    };
    assert!(would_decide.contains("max_sectors"));
}

#[test]
fn slow_small_writes_are_named() {
    assert_only(&Build { overhead_us: 4000, ..SOUND }.diagnosis(), Layer::SmallWrites);
}

#[test]
fn too_few_open_units_are_reported() {
    assert_only(&Build { open_units: 2, ..SOUND }.diagnosis(), Bottleneck::OpenUnits);
}

#[test]
fn exhausted_cache_is_named() {
    let diagnosis = Build { cache: CACHE, ..SOUND }.diagnosis();
    assert_only(&diagnosis, Bottleneck::SlcCache);
    let evidence = &diagnosis.cost(Bottleneck::SlcCache).unwrap().evidence;
    assert!(matches!(evidence, DiagnosisEvidence::Slowdown { .. }), "{evidence:?}");
}

/// A write buffer of 8 MiB.
const MEMORY: &str = "[write_buffer]\nbasis = \"assumed\"\nsize = \"8MiB\"\naccept_us = 20\n";

#[test]
fn write_buffer_is_no_bottleneck() {
    for open_units in [12, 2] {
        let build = Build { cache: WRITE_BUFFER, open_units, ..SOUND };
        let diagnosis = build.diagnosis();
        assert_eq!(diagnosis.cost(Bottleneck::SlcCache), None, "{diagnosis:#?}");
        assert_eq!(diagnosis.cost(Bottleneck::Link), None, "{diagnosis:#?}");
        let bottleneck = if open_units == 2 { Bottleneck::OpenUnits } else { Bottleneck::Flash };
        assert_only(&diagnosis, bottleneck);
    }
}

/// The findings with this one unknown.
fn without(findings: &[Finding], id: FindingId, why: &str) -> Vec<Finding> {
    let forget = |finding: &Finding| {
        if finding.id == id { Finding::unknown(id, why, "a quieter machine") } else { finding.clone() }
    };
    findings.iter().map(forget).collect()
}

#[test]
fn unknown_cache_is_not_diagnosed() {
    let build = Build { cache: CACHE, ..SOUND };
    let seen = build.checked();
    let findings = without(&infer(&seen), FindingId::SlcCacheBytes, "the speed wavers as much on its own");
    let diagnosis = diagnose(&seen, &findings, &build.attachment());
    assert_eq!(diagnosis.cost(Layer::SlcCache), None, "{diagnosis:#?}");
    let reason = diagnosis.unweighed.iter().find(|unweighed| unweighed.layer == Layer::SlcCache);
    assert!(reason.is_some_and(|unweighed| unweighed.reason.contains("wavers")), "{diagnosis:#?}");
    // A long stream was measured: another one would not decide it.
    let Bottleneck::Unknown { would_decide, .. } = diagnosis.bottleneck else { panic!("{diagnosis:#?}") };
    assert_eq!(would_decide, "a quieter machine");
}

#[test]
fn garbage_collection_is_named() {
    let diagnosis = Build { cache: STALLS, ..SOUND }.diagnosis();
    assert_only(&diagnosis, Bottleneck::SlcCache);
    let evidence = &diagnosis.cost(Bottleneck::SlcCache).unwrap().evidence;
    assert!(matches!(evidence, DiagnosisEvidence::Stalls { .. }), "{evidence:?}");
}

#[test]
fn misaligned_partition_and_filesystem_are_named() {
    let faulty = Build { partial_page_us: 1050, ..SOUND };
    let seen = faulty.checked();
    let findings = infer(&seen);
    let with = |volume| Attachment { volumes: vec![volume], ..faulty.attachment() };
    let named = |volume| diagnose(&seen, &findings, &with(volume)).layer();
    let sectors = [(63, 0), (8192, 33), (8192, 64)].map(|(start, data)| named(volume(start, data)));
    assert_eq!(sectors, [Layer::Alignment, Layer::Filesystem, Layer::Flash].map(Some));
}

/// The time of round-robin writes of `request` at `areas` offsets 16 MiB apart, seconds per byte.
fn seconds_per_byte(profile: &Profile, request: Bytes, areas: u64) -> f64 {
    const WRITES: u64 = 320;
    let mut stick = VirtualStick::new(profile, 9);
    let started = stick.now();
    for index in 0..WRITES {
        let offset = Bytes::mib(64 + 16 * (index % areas)) + request * (index / areas);
        stick.run(Op::write(ByteRange::new(offset, request), Pattern::new(1))).unwrap();
    }
    stick.now().since(started).as_secs_f64() / (request * WRITES).as_f64()
}

#[test]
fn bottleneck_of_small_files_is_named_beside_flash_limited_large_files() {
    let profile = Profile::builtin("generic-2g").unwrap();
    let mut stick = VirtualStick::new(&profile, 3);
    let survey = Survey::new(true, 7);
    let mut observations = survey.fill(&mut stick, &mut Silent);
    observations.extend(survey.run(&mut stick, &mut Silent));
    let attachment = Attachment { request_max: Some(Bytes::kib(120)), ..SOUND.attachment() };
    let diagnosis = diagnose(&observations, &infer(&observations), &attachment);
    assert_eq!(diagnosis.bottleneck(), Some(Bottleneck::Flash), "{diagnosis:#?}");
    let cost = diagnosis.small_files.clone().unwrap();
    assert_eq!(cost.layer, Layer::OpenUnits, "{diagnosis:#?}");
    // A third of the bytes are sequential writes of 4 KiB, the others writes of 32 KiB, round-robin at five
    // offsets or at one.
    let seconds = |areas| {
        seconds_per_byte(&profile, Bytes::kib(4), 1) + 2.0 * seconds_per_byte(&profile, Bytes::kib(32), areas)
    };
    let gain = seconds(5) / seconds(1);
    assert!(cost.gain.low <= gain && gain <= cost.gain.high, "{gain} and {cost:?}");
    let of_sound = SOUND.diagnosis().small_files.map(|cost| cost.bottleneck);
    assert_eq!(of_sound, Some(Bottleneck::SmallWrites));
}

#[test]
fn larger_of_two_faults_comes_first() {
    // Merges of 150 ms and writes that wait for 1.5 ms; then 10 ms and 8 ms.
    let order = |build: Build| {
        let costs = build.diagnosis().costs;
        costs.into_iter().map(|cost| cost.bottleneck).take(2).collect::<Vec<_>>()
    };
    // Merges of 150 ms, and an overhead of 1.5 ms per write.
    let merges = Build { overhead_us: 1500, open_units: 2, ..SOUND };
    assert_eq!(first_two(merges), [Bottleneck::OpenUnits, Bottleneck::SmallWrites]);
    let cache = Build { cache: CACHE, overhead_us: 400, ..SOUND };
    assert_eq!(order(cache), [Layer::SlcCache, Layer::SmallWrites]);
    let cut = Build { open_units: 2, ..limited_by_driver() };
    assert_eq!(order(cut), [Layer::OpenUnits, Layer::Driver]);
}

#[test]
fn latencies_unrelated_to_the_requests_name_no_layer() {
    let mut seen = SOUND.checked();
    for each in &mut seen {
        if let Data::WriteSize(data) = &mut each.data {
            let same = Times::Each(vec![Duration::from_millis(15); 8]);
            data.cells.iter_mut().for_each(|cell| cell.times = same.clone());
            *data = WriteSizeData { cells: std::mem::take(&mut data.cells), ..WriteSizeData::default() };
        }
    }
    // No other data shows flash.
    seen.retain(|each| matches!(each.data, Data::WriteSize(_) | Data::Sustained(_)));
    let diagnosis = diagnose(&seen, &infer(&seen), &SOUND.attachment());
    assert!(diagnosis.costs.is_empty(), "{diagnosis:#?}");
    let Bottleneck::Unknown { reason, .. } = diagnosis.bottleneck else { panic!("not unknown") };
    assert!(reason.contains("nothing to do with what is asked"), "{reason}");
}

#[test]
fn unmeasured_layers_are_not_named() {
    let mut stick = VirtualStick::new(&SOUND.profile(), 3);
    let seen = Survey::new(false, 7).run(&mut stick, &mut Silent);
    let diagnosis = diagnose(&seen, &infer(&seen), &SOUND.attachment());
    assert_eq!((diagnosis.layer(), diagnosis.costs.len()), (None, 0));
    // Without a long stream there may be a cache that is not exhausted.
    let mut stick = VirtualStick::new(&SOUND.profile(), 3);
    let observations = Survey::new(true, 7).run(&mut stick, &mut Silent);
    let diagnosis = diagnose(&observations, &infer(&observations), &SOUND.attachment());
    assert_eq!(would_decide(&diagnosis), Some(Decider::LongStream));
}

/// The observations of several write methods for 64 MiB, from sources of these bytes per second. Buffered
/// data is in memory at once and durable later. A slow source delays both.
fn methods(build: Build, zeros: f64, random: f64) -> Vec<Observations> {
    let (bytes, mut stick) = (Bytes::mib(64), VirtualStick::new(&build.profile(), 3));
    for step in 0..64 {
        let range = ByteRange::new(Bytes::mib(8 + step), Bytes::mib(1));
        stick.run(Op::write(range, Pattern::new(1))).unwrap();
    }
    let device = stick.now().as_nanos() as f64 / 1e9;
    let page_cache = bytes.as_f64() / 2e9;
    let from = |way, source: f64| {
        let source = bytes.as_f64() / source;
        Claim {
            way,
            bytes,
            claimed_s: page_cache + source,
            durable_s: device.max(source) + page_cache,
            source_s: Some(source),
        }
    };
    let flushed = Claim { way: Way::FlushAtEnd, bytes, claimed_s: device, durable_s: device, source_s: None };
    let claims = vec![from(Way::Zeros, zeros), from(Way::Random, random), flushed];
    let data = Data::Methods(MethodsData { claims, ..MethodsData::default() });
    let conditions = Conditions { source: Source::Measured, capacity: None, region: None, seed: 1 };
    vec![Observations { data, conditions, ended: Ended::Complete }]
}

fn of_methods(build: Build, zeros: f64, random: f64) -> Diagnosis {
    diagnose(&methods(build, zeros, random), &[], &build.attachment())
}

#[test]
fn slow_source_is_named_and_page_cache_is_not() {
    // A stick of 66 MB/s, and a source of 20 MB/s.
    let slow = of_methods(SOUND, 20e6, 20e6);
    assert_eq!(slow.layer(), Some(Layer::DataSource), "{slow:#?}");
    let gain = slow.cost(Layer::DataSource).unwrap().gain;
    assert!(gain.low <= 3.3 && 3.3 <= gain.high && slow.illusions.is_empty(), "{slow:#?}");
    // Fast sources fill memory: that limits nothing, and shows nothing of the stick.
    let cached = of_methods(SOUND, 10e9, 10e9);
    assert_eq!((cached.layer(), cached.illusions.len(), cached.costs.len()), (None, 2, 0), "{cached:#?}");
    assert!(
        cached.illusions.iter().all(|illusion| illusion.layer == Layer::PageCache && illusion.times > 10.0)
    );
    // Both: zeros from memory, and a slow source of random data. Only the source costs time.
    let both = of_methods(SOUND, 10e9, 20e6);
    assert_eq!((both.layer(), both.illusions.len()), (Some(Layer::DataSource), 1), "{both:#?}");
    // A source slower than a fast stick is no bottleneck of a slower stick.
    let slower = Build { bus: "usb-high", cut_kib: 120, ..SOUND };
    assert_eq!(of_methods(slower, 10e9, 60e6).cost(Layer::DataSource), None);
}
