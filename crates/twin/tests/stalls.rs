//! The twin of a stick that stalls in long copies stalls as well; that of another one does not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::attachment::Attachment;
use flashscope_record::run_file::{FORMAT, RunFile};
use flashscope_sim::profile::{Background, Basis, Stall};
use flashscope_sim::{Profile, VirtualStick};
use flashscope_twin::whatif::StickTwin;

/// A built-in stick with a stall after each `every` bytes.
fn stalling(every: Bytes, duration_us: f64) -> Profile {
    let stall = Stall { every, duration_us, duration_max_us: None };
    let background =
        Background { basis: Basis::Assumed, idle_after_us: 1e6, unit_us: 0.0, stall: Some(stall) };
    Profile { background: Some(background), ..Profile::builtin("transcend-8g").unwrap() }
}

/// The twin after a check with all tests.
fn twin(profile: &Profile) -> StickTwin {
    let mut stick = VirtualStick::new(profile, 3);
    let survey = Survey::new(true, 7);
    let mut observations = vec![survey.fill_briefly(&mut stick, &mut Silent)];
    observations.extend(survey.run(&mut stick, &mut Silent));
    let run = RunFile {
        format: FORMAT,
        flashscope: String::new(),
        target: "stick".to_owned(),
        device_name: String::new(),
        attachment: Attachment::default(),
        measured_at: String::new(),
        is_erased: true,
        observations,
        cost: Default::default(),
        capacity: None,
        failed_requests: 0,
        remarks: Vec::new(),
    };
    StickTwin::of(&run).unwrap()
}

/// A file of 64 MiB in the requests of a host, seconds.
fn copy_s(profile: &Profile) -> f64 {
    const REQUEST: Bytes = Bytes::kib(120);
    let mut stick = VirtualStick::new(profile, 5);
    let start = stick.now();
    for index in 0..Bytes::mib(64) / REQUEST {
        let range = ByteRange::new(Bytes::mib(64) + REQUEST * index, REQUEST);
        stick.run(Op::write(range, Pattern::new(1))).unwrap();
    }
    stick.now().since(start).as_secs_f64()
}

#[test]
fn twin_of_a_stalling_stick_copies_a_file_as_slowly() {
    // The stalls of the second are in each write of 1 MiB, so that none is longer than the others.
    for (every, duration_us) in [(Bytes::mib(9), 2e6), (Bytes::mib(1), 2e5)] {
        let stick = stalling(every, duration_us);
        let twin = twin(&stick).profile;
        let stall = twin.background.as_ref().and_then(|background| background.stall.as_ref()).unwrap();
        assert!((stall.every.as_f64() / every.as_f64() - 1.0).abs() < 0.05, "{stall:?}");
        let ratio = copy_s(&twin) / copy_s(&stick);
        assert!((0.8..1.25).contains(&ratio), "{ratio} with stalls every {every}: {stall:?}");
    }
}

#[test]
fn twin_of_a_stick_without_stalls_has_none() {
    let profile = twin(&Profile::builtin("transcend-8g").unwrap()).profile;
    assert_eq!(profile.background, None);
    assert_eq!(profile.read.basis, Basis::Measured, "its reads are those that were measured");
}
