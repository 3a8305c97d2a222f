//! Truth tests: virtual sticks with one ailment, with two and with none, and which layer the diagnosis names. What each gains where
//! it is cured is measured by `cargo xtask validate diagnose`.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};
use flashscope_infer::{diagnose, infer};
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::attachment::{Attachment, Driver, Link, Volume};
use flashscope_record::diagnosis::{Bottleneck, Diagnosis, LITTLE, Layer, Why};
use flashscope_record::finding::{Finding, FindingId, Measurement, Objection, Reason, WouldDecide};
use flashscope_record::observation::{
    Claim, Conditions, Data, Ended, MethodsData, Observations, Source, Times, Way, WriteSizeData,
};
use flashscope_sim::{Profile, VirtualStick};

/// A stick that lacks nothing, but for what differs from it: 68 MB/s, more than any high-speed link carries.
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

const SOUND: Build = Build {
    bus: "usb-super-5",
    cut_kib: 1024,
    page_kib: 32,
    overhead_us: 40,
    partial_page_us: 560,
    open_units: 12,
    cache: "",
};

/// Cells behind the cache take what the flash of a sound stick takes; the cache is three times as fast.
const CACHE: &str = "[slc_cache]\nbasis = \"assumed\"\nsize = \"96MiB\"\noverhead_us = 40\npage_program_us = 160\n\
                     fold_megabytes_per_s = 20\nwhen_full = \"fold\"\n";
/// Two thirds of the time of a long copy.
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

    /// What a check with a long stream sees.
    fn checked(self) -> Vec<Observations> {
        let mut stick = VirtualStick::new(&self.profile(), 3);
        let survey = Survey::new(true, 7);
        let mut seen = survey.fill(&mut stick, &mut Silent);
        seen.extend(survey.run(&mut stick, &mut Silent));
        seen
    }

    /// A USB stick for 5000 Mbit/s, wherever it is plugged in.
    fn attachment(self) -> Attachment {
        let now = if self.bus == "usb-high" { 480.0 } else { 5000.0 };
        let driver = Some(Driver { name: "usb-storage".to_owned(), leaves_uas: false });
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

/// Four pages of 120 us in a command, which takes 400 us beside them.
const fn ailing_by_its_driver() -> Build {
    Build { cut_kib: 32, page_kib: 8, partial_page_us: 140, overhead_us: 400, ..SOUND }
}

fn volume(start_sector: u64, data_start: u64) -> Volume {
    let bytes = |sectors| Bytes::new(sectors * 512);
    Volume { name: "sdx1".to_owned(), start: bytes(start_sector), data_start: Some(bytes(data_start)) }
}

/// The layer is named, and nothing else is worth a word.
fn assert_only(diagnosis: &Diagnosis, layer: Layer) {
    assert_eq!(diagnosis.layer(), Some(layer), "{diagnosis:#?}");
    let others = diagnosis.costs.iter().filter(|cost| cost.layer != layer);
    assert!(others.clone().all(|cost| cost.gain.likely < LITTLE), "{diagnosis:#?}");
    let gain = diagnosis.cost(layer).map(|cost| cost.gain);
    assert!(gain.is_none_or(|gain| gain.low <= gain.likely && gain.likely <= gain.high), "{gain:?}");
}

#[test]
fn a_stick_without_an_ailment_is_as_fast_as_its_flash() {
    let seen = SOUND.checked();
    let findings = infer(&seen);
    let diagnosis = diagnose(&seen, &findings, &SOUND.attachment());
    assert_only(&diagnosis, Layer::Flash);
    // Partitions at a page cost nothing; without a known link, nothing is said of the flash.
    let aligned = Attachment { volumes: vec![volume(8192, 64)], ..SOUND.attachment() };
    assert_only(&diagnose(&seen, &findings, &aligned), Layer::Flash);
    let unknown = diagnose(&seen, &findings, &Attachment::default());
    let Bottleneck::Unknown { reason, .. } = unknown.bottleneck else { panic!("{unknown:#?}") };
    assert!(matches!(reason, Why::NotWeighed(Layer::Link, _)), "{reason:?}");
}

#[test]
fn a_fast_stick_in_a_slow_port_is_held_back_by_the_link_and_a_card_by_its_reader() {
    let ailing = Build { bus: "usb-high", cut_kib: 120, ..SOUND };
    let seen = ailing.checked();
    let findings = infer(&seen);
    let diagnosis = diagnose(&seen, &findings, &ailing.attachment());
    assert_only(&diagnosis, Layer::Link);
    // 68 beside 36 MB/s, in all but the small writes.
    let gain = diagnosis.cost(Layer::Link).unwrap().gain;
    assert!(gain.low <= 1.85 && 1.85 <= gain.high, "{gain:?}");
    let link = Link { could: None, is_readers: true, ..ailing.attachment().link.unwrap() };
    let reader = Attachment { link: Some(link.clone()), ..ailing.attachment() };
    assert_only(&diagnose(&seen, &findings, &reader), Layer::Reader);
    // Where it can do no more, no port helps; the link is full all the same, and no other layer is called slow for it.
    let alone = Attachment { link: Some(Link { is_readers: false, ..link }), ..ailing.attachment() };
    assert_only(&diagnose(&seen, &findings, &alone), Layer::Link);
}

#[test]
fn a_driver_that_cuts_requests_is_named_if_it_can_be_told_not_to() {
    let ailing = ailing_by_its_driver();
    let seen = ailing.checked();
    let findings = infer(&seen);
    let diagnosis = diagnose(&seen, &findings, &ailing.attachment());
    assert_only(&diagnosis, Layer::Driver);
    let cost = diagnosis.cost(Layer::Driver).unwrap();
    assert!(cost.evidence.contains("cuts requests at 32 KiB"), "{}", cost.evidence);
    assert!(cost.gain.low <= 1.7 && 1.7 <= cost.gain.high, "{:?}", cost.gain);
    let another = Some(Driver { name: "sdhci".to_owned(), leaves_uas: false });
    for driver in [None, another] {
        let attachment = Attachment { driver, ..ailing.attachment() };
        let diagnosis = diagnose(&seen, &findings, &attachment);
        assert_eq!(diagnosis.cost(Layer::Driver), None);
        let Bottleneck::Unknown { reason, .. } = diagnosis.bottleneck else { panic!("{diagnosis:#?}") };
        let Why::NotWeighed(Layer::Driver, why) = reason else { panic!("{reason:?}") };
        assert!(
            matches!(&*why, Why::Said(said) if said.starts_with("requests are cut at 32 KiB")),
            "{why:?}"
        );
    }
    // A page in each command: what of its time is the page's cannot be told, and so nor that it is the flash.
    let one_page = Build { cut_kib: 32, overhead_us: 400, ..SOUND };
    let Bottleneck::Unknown { would_decide, .. } = one_page.diagnosis().bottleneck else { panic!("told") };
    assert_eq!(would_decide, [WouldDecide::LargerCommands]);
}

#[test]
fn dear_small_writes_are_named() {
    assert_only(&Build { overhead_us: 4000, ..SOUND }.diagnosis(), Layer::SmallWrites);
}

#[test]
fn too_few_open_units_are_named() {
    assert_only(&Build { open_units: 2, ..SOUND }.diagnosis(), Layer::OpenUnits);
}

#[test]
fn a_full_cache_is_named() {
    let diagnosis = Build { cache: CACHE, ..SOUND }.diagnosis();
    assert_only(&diagnosis, Layer::SlcCache);
    assert!(diagnosis.cost(Layer::SlcCache).unwrap().evidence.contains("falls from"), "{diagnosis:#?}");
}

/// Memory that takes 8 MiB at once.
const MEMORY: &str = "[write_buffer]\nbasis = \"assumed\"\nsize = \"8MiB\"\naccept_us = 20\n";

#[test]
fn memory_of_the_controller_is_no_cache() {
    for open_units in [12, 2] {
        let build = Build { cache: MEMORY, open_units, ..SOUND };
        let diagnosis = build.diagnosis();
        assert_eq!(diagnosis.cost(Layer::SlcCache), None, "{diagnosis:#?}");
        assert_eq!(diagnosis.cost(Layer::Link), None, "{diagnosis:#?}");
        let layer = if open_units == 2 { Layer::OpenUnits } else { Layer::Flash };
        assert_only(&diagnosis, layer);
    }
}

/// The run, with one finding unknown for this reason.
fn without(findings: &[Finding], id: FindingId, why: &Reason) -> Vec<Finding> {
    let unknown = || Finding::unknown(id, why.clone(), [WouldDecide::QuieterMachine]);
    let forget = |finding: &Finding| if finding.id == id { unknown() } else { finding.clone() };
    findings.iter().map(forget).collect()
}

#[test]
fn a_cache_that_is_not_known_is_not_weighed() {
    let build = Build { cache: CACHE, ..SOUND };
    let seen = build.checked();
    let why = Reason::SomeBurstsFast { fast: 1, bursts: 5 };
    let findings = without(&infer(&seen), FindingId::SlcCacheBytes, &why);
    let diagnosis = diagnose(&seen, &findings, &build.attachment());
    assert_eq!(diagnosis.cost(Layer::SlcCache), None, "{diagnosis:#?}");
    let reason = diagnosis.unweighed.iter().find(|unweighed| unweighed.layer == Layer::SlcCache);
    assert_eq!(reason.map(|unweighed| &unweighed.reason), Some(&Why::Finding(why)), "{diagnosis:#?}");
    // A long stream was measured: another one decides nothing, but what the finding asks for.
    let Bottleneck::Unknown { would_decide, .. } = diagnosis.bottleneck else { panic!("{diagnosis:#?}") };
    assert_eq!(would_decide, [WouldDecide::QuieterMachine]);
}

#[test]
fn collection_is_named() {
    let diagnosis = Build { cache: STALLS, ..SOUND }.diagnosis();
    assert_only(&diagnosis, Layer::SlcCache);
    assert!(diagnosis.cost(Layer::SlcCache).unwrap().evidence.contains("stalls take"), "{diagnosis:#?}");
}

#[test]
fn a_partition_in_the_middle_of_a_page_is_named_and_so_is_a_filesystem() {
    let ailing = Build { partial_page_us: 1050, ..SOUND };
    let seen = ailing.checked();
    let findings = infer(&seen);
    let with = |volume| Attachment { volumes: vec![volume], ..ailing.attachment() };
    let named = |volume| diagnose(&seen, &findings, &with(volume)).layer();
    let sectors = [(63, 0), (8192, 33), (8192, 64)].map(|(start, data)| named(volume(start, data)));
    assert_eq!(sectors, [Layer::Alignment, Layer::Filesystem, Layer::Flash].map(Some));
}

/// What writes of `request` take, each into the next of so many places 16 MiB apart, seconds a byte.
fn seconds_per_byte(profile: &Profile, request: Bytes, places: u64) -> f64 {
    const WRITES: u64 = 320;
    let mut stick = VirtualStick::new(profile, 9);
    let began = stick.now();
    for index in 0..WRITES {
        let offset = Bytes::mib(64 + 16 * (index % places)) + request * (index / places);
        stick.run(Op::write(ByteRange::new(offset, request), Pattern::new(1))).unwrap();
    }
    stick.now().since(began).as_secs_f64() / (request * WRITES).as_f64()
}

#[test]
fn what_holds_small_files_back_is_told_though_large_ones_are_as_fast_as_the_flash() {
    let profile = Profile::builtin("generic-2g").unwrap();
    let mut stick = VirtualStick::new(&profile, 3);
    let survey = Survey::new(true, 7);
    let mut seen = survey.fill(&mut stick, &mut Silent);
    seen.extend(survey.run(&mut stick, &mut Silent));
    let attachment = Attachment { request_max: Some(Bytes::kib(120)), ..SOUND.attachment() };
    let diagnosis = diagnose(&seen, &infer(&seen), &attachment);
    assert_eq!(diagnosis.layer(), Some(Layer::Flash), "{diagnosis:#?}");
    let cost = diagnosis.small_files.clone().unwrap();
    assert_eq!(cost.layer, Layer::OpenUnits, "{diagnosis:#?}");
    // A third of their bytes 4 KiB at a time in a row, the others 32 KiB at a time into five places in turn, or into one.
    let takes = |places| {
        seconds_per_byte(&profile, Bytes::kib(4), 1)
            + 2.0 * seconds_per_byte(&profile, Bytes::kib(32), places)
    };
    let gain = takes(5) / takes(1);
    assert!(cost.gain.low <= gain && gain <= cost.gain.high, "{gain} and {cost:?}");
    assert_eq!(SOUND.diagnosis().small_files.map(|cost| cost.layer), Some(Layer::SmallWrites));
}

#[test]
fn of_two_ailments_the_larger_comes_first() {
    // Merges of 150 ms beside writes that wait for 1.5 ms; then of 10 ms beside 8 ms.
    let order = |build: Build| {
        let costs = build.diagnosis().costs;
        costs.into_iter().map(|cost| cost.layer).take(2).collect::<Vec<_>>()
    };
    let merges = Build { overhead_us: 1500, open_units: 2, ..SOUND };
    assert_eq!(order(merges), [Layer::OpenUnits, Layer::SmallWrites]);
    let cache = Build { cache: CACHE, overhead_us: 400, ..SOUND };
    assert_eq!(order(cache), [Layer::SlcCache, Layer::SmallWrites]);
    let cut = Build { open_units: 2, ..ailing_by_its_driver() };
    assert_eq!(order(cut), [Layer::OpenUnits, Layer::Driver]);
}

#[test]
fn times_that_have_nothing_to_do_with_what_is_asked_name_no_layer() {
    let mut seen = SOUND.checked();
    for each in &mut seen {
        if let Data::WriteSize(data) = &mut each.data {
            let same = Times::Each(vec![Duration::from_millis(15); 8]);
            data.cells.iter_mut().for_each(|cell| cell.times = same.clone());
            *data = WriteSizeData { cells: std::mem::take(&mut data.cells), ..WriteSizeData::default() };
        }
    }
    // Nothing is left that would show flash.
    seen.retain(|each| matches!(each.data, Data::WriteSize(_) | Data::Sustained(_)));
    let diagnosis = diagnose(&seen, &infer(&seen), &SOUND.attachment());
    assert!(diagnosis.costs.is_empty(), "{diagnosis:#?}");
    let Bottleneck::Unknown { reason, .. } = diagnosis.bottleneck else { panic!("told") };
    assert!(
        matches!(reason, Why::Finding(Reason::Objection(Objection::SizeDoesNotMatter { .. }))),
        "{reason:?}"
    );
}

#[test]
fn what_was_not_measured_is_not_named() {
    let mut stick = VirtualStick::new(&SOUND.profile(), 3);
    let seen = Survey::new(false, 7).run(&mut stick, &mut Silent);
    let diagnosis = diagnose(&seen, &infer(&seen), &SOUND.attachment());
    assert_eq!((diagnosis.layer(), diagnosis.costs.len()), (None, 0));
    // Without a long stream there may be a cache that is never full.
    let mut stick = VirtualStick::new(&SOUND.profile(), 3);
    let seen = Survey::new(true, 7).run(&mut stick, &mut Silent);
    let diagnosis = diagnose(&seen, &infer(&seen), &SOUND.attachment());
    let Bottleneck::Unknown { would_decide, .. } = diagnosis.bottleneck else { panic!("{diagnosis:#?}") };
    assert_eq!(would_decide, [WouldDecide::Measure(Measurement::LongStream)]);
}

/// What people's ways to write 64 MiB see of a stick, from sources of so many bytes a second: what goes to memory first is there at
/// once, and then has its way to the stick; what the source brings waits for it.
fn ways(build: Build, zeros: f64, random: f64) -> Vec<Observations> {
    let (bytes, mut stick) = (Bytes::mib(64), VirtualStick::new(&build.profile(), 3));
    for step in 0..64 {
        let range = ByteRange::new(Bytes::mib(8 + step), Bytes::mib(1));
        stick.run(Op::write(range, Pattern::new(1))).unwrap();
    }
    let device = stick.now().as_nanos() as f64 / 1e9;
    let memory = bytes.as_f64() / 2e9;
    let from = |way, source: f64| {
        let source = bytes.as_f64() / source;
        Claim {
            way,
            bytes,
            claimed_s: memory + source,
            durable_s: device.max(source) + memory,
            source_s: Some(source),
        }
    };
    let flushed = Claim { way: Way::FlushAtEnd, bytes, claimed_s: device, durable_s: device, source_s: None };
    let claims = vec![from(Way::Zeros, zeros), from(Way::Random, random), flushed];
    let data = Data::Methods(MethodsData { claims, ..MethodsData::default() });
    let conditions = Conditions { source: Source::Measured, capacity: None, region: None, seed: 1 };
    vec![Observations { data, conditions, ended: Ended::Complete }]
}

fn of_ways(build: Build, zeros: f64, random: f64) -> Diagnosis {
    diagnose(&ways(build, zeros, random), &[], &build.attachment())
}

#[test]
fn a_source_slower_than_the_stick_is_named_and_memory_is_told_apart_from_it() {
    // 66 MB/s, and a source of 20.
    let slow = of_ways(SOUND, 20e6, 20e6);
    assert_eq!(slow.layer(), Some(Layer::DataSource), "{slow:#?}");
    let gain = slow.cost(Layer::DataSource).unwrap().gain;
    assert!(gain.low <= 3.3 && 3.3 <= gain.high && slow.illusions.is_empty(), "{slow:#?}");
    // Fast ones fill memory: that limits nothing, and says nothing of the stick.
    let cached = of_ways(SOUND, 10e9, 10e9);
    assert_eq!((cached.layer(), cached.illusions.len(), cached.costs.len()), (None, 2, 0), "{cached:#?}");
    assert!(cached.illusions.iter().all(|told| told.layer == Layer::PageCache && told.times > 10.0));
    // Both: zeros out of memory, and a slow source of random data. Only the source costs anything.
    let both = of_ways(SOUND, 10e9, 20e6);
    assert_eq!((both.layer(), both.illusions.len()), (Some(Layer::DataSource), 1), "{both:#?}");
    // A source that would hold up a faster stick is none where the stick is slower.
    let slower = Build { bus: "usb-high", cut_kib: 120, ..SOUND };
    assert_eq!(of_ways(slower, 10e9, 60e6).cost(Layer::DataSource), None);
}
