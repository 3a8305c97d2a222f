//! Truth tests: the throughput profile of a long stream on sticks with a cache, with stalls, and with
//! neither.

use flashscope_device::Bytes;
use flashscope_device::layer::{Budget, Meter};
use flashscope_infer::infer_run;
use flashscope_infer::streams::throughput_profile::{ThroughputProfile, throughput_profile};
use flashscope_measure::experiment::Sustained;
use flashscope_measure::{Experiment as _, Extent, Silent};
use flashscope_record::finding::{Finding, FindingId, Value};
use flashscope_record::observation::{Data, Ended};
use flashscope_sim::{Profile, VirtualStick};

fn measured(profile: &Profile) -> (Vec<Finding>, ThroughputProfile) {
    let experiment = Sustained { seed: 5, extent: Extent::Thorough, device_capacity: None };
    let seen = experiment.measure(&mut VirtualStick::new(profile, 3), &Budget::UNLIMITED, &mut Silent);
    let Data::Sustained(data) = &seen.data else { panic!("not data of sustained") };
    let profile_of_stream = throughput_profile(data);
    (infer_run(&[seen]), profile_of_stream)
}

fn is_near(value: f64, truth: f64, share: f64) -> bool {
    (value / truth - 1.0).abs() <= share
}

fn floor(findings: &[Finding]) -> Option<f64> {
    let finding = findings.iter().find(|each| each.id == FindingId::SustainedWriteBytesPerS)?;
    match finding.value() {
        Some(Value::BytesPerSecond(rate)) => Some(rate),
        _ => None,
    }
}

#[test]
fn cache_floor_and_stalls_match_every_profile() {
    let mut wrong = Vec::new();
    for name in Profile::builtin_names() {
        let profile = Profile::builtin(name).unwrap();
        let (findings, profile_of_stream) = measured(&profile);
        let truth = profile.sustained_write_per_s().as_f64();
        let floor = floor(&findings);
        if !floor.is_some_and(|floor| is_near(floor, truth, 0.05)) {
            wrong.push(format!("{name}: {floor:?} instead of {truth}"));
        }
        let cache = findings.iter().find(|each| each.id == FindingId::SlcCacheBytes).and_then(Finding::bytes);
        let true_cache = profile.truth().slc_cache;
        let fits = match (true_cache, cache) {
            (Some(truth), Some(cache)) => is_near(cache.as_f64(), truth.as_f64(), 0.05),
            (None, Some(Bytes::ZERO)) => true,
            // The stream may be fast before it reaches a slow region, which it does not recognise.
            (None, None) => !profile.region.is_empty(),
            _ => false,
        };
        if !fits {
            wrong.push(format!("{name}: a cache of {cache:?} instead of {true_cache:?}"));
        }
        let every = profile.background.as_ref().and_then(|background| background.stall.as_ref());
        let period = profile_of_stream.stalls.map(|stalls| stalls.period);
        if every.is_some()
            && !period.is_some_and(|period| is_near(period.as_f64(), every.unwrap().every.as_f64(), 0.1))
        {
            wrong.push(format!("{name}: stalls every {period:?}"));
        }
        // Closing an erase block may take as long as many writes: that is a period, too.
        if every.is_none() && period.is_some_and(|period| period != profile.ftl.erase_block) {
            wrong.push(format!("{name}: stalls {:?}", profile_of_stream.stalls));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn stream_waits_for_rare_stalls_that_make_its_throughput_uncertain() {
    let profile = Profile::builtin("lexar-633x-16g").unwrap();
    let experiment = Sustained { seed: 5, extent: Extent::Usual, device_capacity: None };
    let seen = experiment.measure(&mut VirtualStick::new(&profile, 3), &Budget::UNLIMITED, &mut Silent);
    let (seen, truth) = (floor(&infer_run(&[seen])), profile.sustained_write_per_s().as_f64());
    assert!(seen.is_some_and(|seen| is_near(seen, truth, 0.03)), "{seen:?} instead of {truth}");
}

#[test]
fn estimate_bounds_the_bytes_written_with_pauses() {
    // The cache is a third of the stick, and each pause frees most of it: with three pauses the stick would
    // be written more than twice.
    let tables = "[slc_cache]\nbasis = \"assumed\"\nsize = \"640MiB\"\npage_program_us = 400\nfold_megabytes_per_s = 20\n\
                  when_full = \"fold\"\n[background]\nbasis = \"assumed\"\nidle_after_us = 1000";
    let profile = Profile::parse(&format!("{}\n{tables}", Profile::text("generic-2g").unwrap())).unwrap();
    for is_thorough in [true, false] {
        let experiment =
            Sustained { seed: 5, extent: Extent::thorough_if(is_thorough), device_capacity: None };
        let mut stick = Meter::new(VirtualStick::new(&profile, 3), Budget::UNLIMITED);
        let most = experiment.estimate(&stick).bytes_written;
        let seen = experiment.measure(&mut stick, &Budget::UNLIMITED, &mut Silent);
        assert_eq!(seen.ended, Ended::Complete);
        let written = stick.cost().bytes_written;
        assert!(written <= most && written > most / 3, "{written} of {most}");
    }
}

#[test]
fn idle_recovery_of_the_cache_shows_after_pauses() {
    let tables = "[slc_cache]\nbasis = \"assumed\"\nsize = \"256MiB\"\npage_program_us = 400\nfold_megabytes_per_s = 2\n\
                  when_full = \"fold\"\n[background]\nbasis = \"assumed\"\nidle_after_us = 1000";
    let profile = Profile::parse(&format!("{}\n{tables}", Profile::text("generic-2g").unwrap())).unwrap();
    let (_, profile_of_stream) = measured(&profile);
    let fast: Vec<f64> =
        profile_of_stream.recovered.iter().map(|recovered| recovered.bytes.as_f64() / 1e6).collect();
    // Folding frees 2 MB/s, also while the cache is written.
    assert!(is_near(fast[0], 20.0, 0.4) && is_near(fast[1], 120.0, 0.4), "{fast:?}");
    assert!(fast[2] >= fast[1] && profile_of_stream.changes.len() == 1, "{profile_of_stream:?}");
}

#[test]
fn stalls_after_pauses_do_not_count_toward_the_stream() {
    let tables = "[slc_cache]\nbasis = \"assumed\"\nsize = \"256MiB\"\npage_program_us = 400\nfold_megabytes_per_s = 20\n\
                  when_full = \"direct\"\n[background]\nbasis = \"assumed\"\nidle_after_us = 1000\n[background.stall]\n\
                  every = \"40MiB\"\nduration_us = 3000000";
    let profile = Profile::parse(&format!("{}\n{tables}", Profile::text("generic-2g").unwrap())).unwrap();
    let (_, profile_of_stream) = measured(&profile);
    let stalls = profile_of_stream.stalls.unwrap();
    let share = stalls.seconds / (stalls.period.as_f64() * stalls.seconds_per_byte);
    assert!(
        profile_of_stream.recovered.iter().any(|recovered| recovered.bytes > Bytes::mib(100)),
        "{profile_of_stream:?}"
    );
    assert!(is_near(stalls.share, share, 0.1), "{share}: {stalls:?}");
}
