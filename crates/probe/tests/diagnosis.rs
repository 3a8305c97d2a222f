//! Truth tests: virtual sticks with one ailment, with two and with none, and which layer the diagnosis names. What each gains where
//! it is cured is measured by `cargo xtask diagnose`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use flashscope_device::Bytes;
use flashscope_probe::diagnosis::{Attachment, Bottleneck, Diagnosis, LITTLE, Layer, Link, Volume, diagnose};
use flashscope_probe::inference::infer;
use flashscope_probe::survey::Survey;
use flashscope_probe::{Observations, Silent};
use flashscope_sim::{Profile, VirtualStick};

/// A stick that lacks nothing, but for what differs from it: 68 MB/s, more than any high-speed link carries.
#[derive(Clone, Copy)]
struct Build {
    bus: &'static str,
    overhead_us: u32,
    partial_page_us: u32,
    open_units: u32,
    cache: &'static str,
}

const SOUND: Build =
    Build { bus: "usb-super-5", overhead_us: 40, partial_page_us: 560, open_units: 12, cache: "" };

/// Cells behind the cache take what the flash of a sound stick takes; the cache is three times as fast.
const CACHE: &str = "[slc_cache]\nbasis = \"assumed\"\nsize = \"96MiB\"\noverhead_us = 40\npage_program_us = 160\n\
                     fold_megabytes_per_s = 20\nwhen_full = \"fold\"\n";
/// Two thirds of the time of a long copy.
const STALLS: &str = "[background]\nbasis = \"assumed\"\nidle_after_us = 2e6\n[background.stall]\nevery = \"16MiB\"\n\
                      duration_us = 400000\nduration_max_us = 600000\n";

impl Build {
    fn profile(self) -> Profile {
        let Self { bus, overhead_us, partial_page_us, open_units, cache } = self;
        let text = format!(
            "name = \"built\"\ndescription = \"built\"\ncapacity = \"1GiB\"\n\
             [[source]]\nwhat = \"made up\"\nwhere = \"here\"\n\
             [link]\nbasis = \"assumed\"\nbus = \"{bus}\"\n\
             [read]\nbasis = \"assumed\"\naccess_us = 300\n\
             [[read.boundary]]\nperiod = \"4MiB\"\nacross_us = 200\n\
             [write]\nbasis = \"assumed\"\noverhead_us = {overhead_us}\npage_program_us = 480\npartial_page_us = {partial_page_us}\n\
             [ftl]\nbasis = \"assumed\"\nerase_block = \"4MiB\"\npage = \"32KiB\"\n\
             [policy.open_blocks]\nbasis = \"assumed\"\nopen_units_linear = {open_units}\n\
             open_units_random = {open_units}\nvictim = \"lru\"\nmerge_us = 150000\n\
             {cache}[noise]\nbasis = \"assumed\"\njitter = 0.01\noutliers_per_million = 0\noutlier_us = 1000\n"
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
        let cut = if self.bus == "usb-high" { Bytes::kib(120) } else { Bytes::mib(1) };
        Attachment { link: Link::usb(now, Some(5000.0)), request_max: Some(cut), volumes: Vec::new() }
    }

    fn diagnosis(self) -> Diagnosis {
        self.diagnosis_with(&self.attachment())
    }

    fn diagnosis_with(self, attachment: &Attachment) -> Diagnosis {
        let seen = self.checked();
        diagnose(&seen, &infer(&seen), attachment)
    }
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
    assert!(matches!(&unknown.bottleneck, Bottleneck::Unknown { reason, .. } if reason.contains("the link")));
}

#[test]
fn a_fast_stick_in_a_slow_port_is_held_back_by_the_link_and_a_card_by_its_reader() {
    let ailing = Build { bus: "usb-high", ..SOUND };
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
    // Where it can do no more, no port helps.
    let alone = Attachment { link: Some(Link { is_readers: false, ..link }), ..ailing.attachment() };
    assert_eq!(diagnose(&seen, &findings, &alone).cost(Layer::Link), None);
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
    assert!(would_decide.contains("--sustained"));
}
