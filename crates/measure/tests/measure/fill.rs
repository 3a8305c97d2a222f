//! Truth tests of *sustained* and *write-buffer*: caches, and the throughput after them.

use flashscope_device::layer::ReadOnly;
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};
use flashscope_infer::infer;
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::finding::{Caveat, Finding, FindingId, Reason, Value};
use flashscope_record::observation::{Data, Refusal};
use flashscope_sim::{Profile, VirtualStick};

/// A profile with these tables added.
fn profile(tables: &str) -> Profile {
    Profile::parse(&format!("{}\n{tables}", Profile::text("generic-2g").unwrap())).unwrap()
}

fn filled(device: &mut dyn Device) -> Vec<Finding> {
    infer(&Survey::new(true, 5).fill(device, &mut Silent))
}

fn of(findings: &[Finding], id: FindingId) -> &Finding {
    findings.iter().find(|finding| finding.id == id).unwrap()
}

fn assert_near(finding: &Finding, truth: Bytes) {
    let value = match finding.value() {
        Some(Value::Bytes(bytes)) => bytes.as_f64(),
        Some(Value::BytesPerSecond(rate)) => rate,
        _ => panic!("{finding:?}"),
    };
    assert!((value / truth.as_f64() - 1.0).abs() < 0.05, "{truth}: {finding:?}");
}

const CACHE: &str = "[slc_cache]\nbasis = \"assumed\"\nsize = \"150MiB\"\npage_program_us = 400\n\
                     fold_megabytes_per_s = 6\nwhen_full = ";

#[test]
fn cache_and_sustained_throughput_are_found_for_both_full_policies() {
    for when_full in ["\"direct\"", "\"fold\""] {
        let profile = profile(&(CACHE.to_owned() + when_full));
        let findings = filled(&mut VirtualStick::new(&profile, 3));
        assert_near(of(&findings, FindingId::SlcCacheBytes), Bytes::mib(150));
        assert_near(of(&findings, FindingId::SustainedWriteBytesPerS), profile.sustained_write_per_s());
    }
}

#[test]
fn stick_without_caches_has_none_and_stalls_count_toward_its_throughput() {
    let profile = profile(
        "[background]\nbasis = \"assumed\"\nidle_after_us = 1000000\n[background.stall]\nevery = \"16MiB\"\n\
         duration_us = 600000\nduration_max_us = 1200000",
    );
    let findings = filled(&mut VirtualStick::new(&profile, 3));
    assert_eq!(of(&findings, FindingId::SlcCacheBytes).bytes(), Some(Bytes::ZERO));
    assert_eq!(of(&findings, FindingId::WriteBufferBytes).bytes(), Some(Bytes::ZERO));
    assert_near(of(&findings, FindingId::SustainedWriteBytesPerS), profile.sustained_write_per_s());
}

#[test]
fn write_buffer_is_no_cache() {
    let profile = profile("[write_buffer]\nbasis = \"assumed\"\nsize = \"512KiB\"\naccept_us = 10");
    let findings = filled(&mut VirtualStick::new(&profile, 3));
    assert_eq!(of(&findings, FindingId::WriteBufferBytes).bytes(), Some(Bytes::kib(512)));
    assert_eq!(of(&findings, FindingId::SlcCacheBytes).bytes(), Some(Bytes::ZERO));
}

/// A stream alone does not distinguish memory from a cache in flash.
#[test]
fn small_cache_may_be_memory_unless_the_buffer_was_measured() {
    let profile = profile(&(CACHE.replace("150MiB", "48MiB") + "\"direct\""));
    let seen = Survey::new(true, 5).fill(&mut VirtualStick::new(&profile, 3), &mut Silent);
    let stream = seen.iter().filter(|seen| matches!(seen.data, Data::Sustained(_))).cloned();
    for (observations, is_ambiguous) in [(seen.clone(), false), (stream.collect(), true)] {
        let findings = infer(&observations);
        let cache = of(&findings, FindingId::SlcCacheBytes);
        assert_near(cache, Bytes::mib(48));
        let has_caveat = cache.caveats.contains(&Caveat::MayBeMemory);
        assert_eq!(has_caveat, is_ambiguous, "{cache:?}");
    }
}

/// A buffer larger than the bursts, and one that is emptied nearly as fast as it is filled.
#[test]
fn large_or_fast_write_buffer_is_no_cache_and_not_absent() {
    const BUFFER: &str = "[write_buffer]\nbasis = \"assumed\"\naccept_us = 10\nsize = ";
    let large = profile(&(BUFFER.to_owned() + "\"16MiB\""));
    // The link takes 56 ms for 1 MiB, the flash 64 ms.
    let text = Profile::text("generic-2g").unwrap().replace("_us = 1600", "_us = 123");
    let text = text.replace("overhead_us = 1200", "overhead_us = 100") + "\n" + BUFFER + "\"4MiB\"";
    let fast = Profile::parse(&text).unwrap();
    for (profile, size) in [(large, Bytes::mib(16)), (fast, Bytes::mib(4))] {
        let stream = Survey::new(true, 5).fill_briefly(&mut VirtualStick::new(&profile, 3), &mut Silent);
        let whole = filled(&mut VirtualStick::new(&profile, 3));
        for findings in [infer(&[stream]), whole] {
            let cache = of(&findings, FindingId::SlcCacheBytes);
            assert!(cache.bytes().is_none_or(Bytes::is_zero), "{size}: {cache:?}");
            let buffer = of(&findings, FindingId::WriteBufferBytes);
            assert_ne!(buffer.bytes(), Some(Bytes::ZERO), "{size}: {buffer:?}");
        }
    }
}

/// As `check --sustained`: the test of the capacity interrupts the stream.
#[test]
fn cache_is_found_though_other_writes_interrupt_the_stream() {
    let cache = |mib: u64| {
        let size = format!("{mib}MiB");
        let profile = profile(&(CACHE.replace("150MiB", &size) + "\"direct\""));
        let (mut stick, survey) = (VirtualStick::new(&profile, 3), Survey::new(true, 5));
        let started = survey.fill_briefly(&mut stick, &mut Silent);
        let Data::Sustained(data) = &started.data else { panic!("not data of sustained") };
        let in_the_first_part = data.written() > Bytes::mib(mib);
        let capacity = stick.capabilities().capacity;
        for index in 1..=64 {
            let range = ByteRange::new(capacity - Bytes::mib(index), Bytes::mib(1));
            stick.run(Op::write(range, Pattern::new(9))).unwrap().outcome.unwrap();
        }
        let seen = survey.fill_on(started, Bytes::mib(64), &mut stick, &mut Silent);
        (of(&infer(&seen), FindingId::SlcCacheBytes).clone(), in_the_first_part)
    };
    for (mib, first) in [(72, true), (200, false)] {
        let (finding, in_the_first_part) = cache(mib);
        assert_eq!(in_the_first_part, first, "{mib} MiB");
        assert_near(&finding, Bytes::mib(mib));
    }
}

#[test]
fn read_only_device_gives_its_reason() {
    let stick = VirtualStick::new(&profile(""), 3);
    let findings = filled(&mut ReadOnly::new(stick));
    for id in [FindingId::SlcCacheBytes, FindingId::SustainedWriteBytesPerS, FindingId::WriteBufferBytes] {
        assert_eq!(of(&findings, id).reason(), Some(&Reason::NotStarted(Refusal::ReadOnly)), "{id}");
    }
}
