//! Truth tests of the whole survey, on undisturbed and on failing sticks.

use flashscope_device::layer::{Budget, FaultSpec, Faulty, Interrupt, Interruptible, Meter, Replay, Trace};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{Bytes, Device};
use flashscope_infer::infer;
use flashscope_measure::experiment::Align;
use flashscope_measure::survey::Survey;
use flashscope_measure::{Event, Experiment as _, Observer, Silent};
use flashscope_record::finding::{FindingId, Reason, Value};
use flashscope_record::observation::{Cause, Ended, StopReason};
use flashscope_record::run_file::RunFile;
use flashscope_sim::VirtualStick;
use flashscope_sim::target::Target;

use crate::support::{assert_true, check, finding, stick};

#[test]
fn patriot_findings_are_true() {
    for seed in 1..=3 {
        assert_true(&format!("patriot-xt-16g?seed={seed}"));
    }
}

#[test]
fn transcend_findings_are_true() {
    for seed in 1..=3 {
        assert_true(&format!("transcend-8g?seed={seed}"));
    }
}

#[test]
fn generic_stick_findings_are_true() {
    for seed in 1..=3 {
        assert_true(&format!("generic-2g?seed={seed}"));
    }
}

#[test]
fn geometry_off_powers_of_two_is_found() {
    for geometry in [
        "erase_block=12MiB&page=48KiB",
        "erase_block=6MiB&page=24KiB",
        "erase_block=1536KiB",
        "erase_block=24MiB",
    ] {
        assert_true(&format!("transcend-8g?{geometry}"));
    }
}

#[test]
fn fat_area_of_several_blocks_is_measured() {
    for fat_area in ["0", "8MiB", "12MiB"] {
        assert_true(&format!("transcend-8g?fat_area={fat_area}"));
    }
}

#[test]
fn device_without_flash_has_no_findings() {
    let mut memory = MemoryDevice::new(Bytes::mib(256));
    for finding in check(&mut memory, true) {
        // A fixed time per request makes large writes efficient, and all reads equal: true of this device,
        // and no sign of flash.
        let is_true = finding.id == FindingId::WriteUnitBytes || finding.value() == Some(Value::Shows(None));
        assert!(finding.value().is_none() || is_true, "{finding:?}");
    }
}

/// Counts the requests before the experiment of this name.
#[derive(Debug)]
struct Before {
    name: &'static str,
    requests: u64,
    has_started: bool,
    ended: u64,
}

impl Observer for Before {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin { name, .. } => self.has_started |= name == self.name,
            Event::Progress { requests, .. } => self.requests = requests,
            Event::End if !self.has_started => self.ended += std::mem::take(&mut self.requests),
            Event::End | Event::Expect { .. } | Event::SecondLook | Event::Remark { .. } => {}
        }
    }
}

/// Requests of 40 KiB reach 70 to 80 % of the best speed here, those of 80 KiB more. No size 2^n or 3 x 2^n
/// near them does, since each ends inside a page.
#[test]
fn write_unit_of_an_odd_page_is_whole_pages() {
    let mut profile = Target::parse("transcend-8g").unwrap().profile;
    profile.ftl.page = Bytes::kib(40);
    profile.ftl.erase_block = Bytes::kib(40 * 128);
    for seed in 0..5 {
        let findings = check(&mut VirtualStick::new(&profile, seed), true);
        let page = finding(&findings, FindingId::PageBytes).bytes();
        let unit = finding(&findings, FindingId::WriteUnitBytes);
        assert_eq!(
            (page, unit.bytes()),
            (Some(Bytes::kib(40)), Some(Bytes::kib(80))),
            "seed {seed}: {unit:?}"
        );
    }
}

#[test]
fn write_unit_is_unknown_on_a_slowing_device() {
    let unit = |faults: &[FaultSpec]| {
        let mut device = Faulty::new(stick("transcend-8g").0, faults, 1).unwrap();
        finding(&check(&mut device, true), FindingId::WriteUnitBytes).clone()
    };
    assert_eq!(unit(&[]).value(), Some(Value::Bytes(Bytes::kib(32))));
    let slower = unit(&["dying:after=0B,over=20MiB,delay=20ms".parse().unwrap()]);
    assert!(
        matches!(slower.reason(), Some(Reason::SpeedChanged { first_s, last_s }) if last_s > first_s),
        "{slower:?}"
    );
}

#[test]
fn vanished_device_keeps_findings_and_gives_the_reason() {
    let mut before = Before { name: "open-units", requests: 0, has_started: false, ended: 0 };
    Survey::new(true, 11).run(&mut stick("transcend-8g").0, &mut before);
    let (stick, _) = stick("transcend-8g");
    let unplug = format!("unplug:after={}", before.ended + 15);
    let mut dying = Faulty::new(stick, &[unplug.parse().unwrap()], 1).unwrap();
    let seen = Survey::new(true, 11).run(&mut dying, &mut Silent);
    let findings = infer(&seen);
    assert_eq!(finding(&findings, FindingId::EraseBlockBytes).bytes(), Some(Bytes::mib(4)));
    let Some(Reason::EndedEarly { stops, .. }) = finding(&findings, FindingId::OpenUnitsLinear).reason()
    else {
        unreachable!("open units of a vanished device")
    };
    let [StopReason::Failed { error }] = stops.as_slice() else { panic!("{stops:?}") };
    assert!(error.contains("vanished"), "{error}");
}

#[test]
fn scattered_read_errors_do_not_change_the_erase_block() {
    let (stick, truth) = stick("transcend-8g?seed=3");
    let mut faulty = Faulty::new(stick, &["read-errors:share=0.02".parse().unwrap()], 5).unwrap();
    let findings = check(&mut faulty, false);
    assert_eq!(finding(&findings, FindingId::EraseBlockBytes).bytes(), Some(truth.erase_block));
}

#[test]
fn device_with_only_errors_ends_the_experiment() {
    let (stick, _) = stick("transcend-8g");
    let mut dead = Faulty::new(stick, &["read-errors:share=1".parse().unwrap()], 5).unwrap();
    let seen = Align::new(None, 1).measure(&mut dead, &Budget::UNLIMITED, &mut Silent);
    assert!(
        matches!(
            &seen.ended,
            Ended::Early { reason: StopReason::RequestsFailed { .. }, cause: Cause::Device }
        ),
        "{:?}",
        seen.ended
    );
}

#[test]
fn interrupt_and_spent_budget_keep_observations() {
    let interrupt = Interrupt::default();
    let (stick_a, _) = stick("transcend-8g");
    let mut device = Interruptible::new(stick_a, interrupt.clone());
    interrupt.request();
    let seen = Survey::new(true, 1).run(&mut device, &mut Silent);
    // Without open units the FAT area cannot be measured.
    let (last, before) = seen.split_last().unwrap();
    assert!(before.iter().all(|each| matches!(&each.ended, Ended::Early { cause: Cause::Interrupt, .. })));
    assert!(matches!(last.ended, Ended::NotStarted { .. }), "{:?}", last.ended);

    let (stick_b, _) = stick("transcend-8g");
    let budget = Budget { bytes_written: Some(Bytes::mib(4)), ..Budget::UNLIMITED };
    let mut metered = Meter::new(stick_b, budget);
    let seen = Survey::new(true, 1).run(&mut metered, &mut Silent);
    assert!(metered.cost().bytes_written <= Bytes::mib(4));
    assert!(seen[1..].iter().any(|each| matches!(&each.ended, Ended::Early { cause: Cause::Budget, .. })));
}

/// A check replayed from its trace, without the stick, gives the same observations and findings.
#[test]
fn replayed_check_gives_the_same_observations() {
    let (stick, _) = stick("generic-2g");
    let survey = Survey::new(true, 2);
    let mut traced = Trace::new(stick);
    let capabilities = traced.capabilities();
    let seen = survey.run(&mut traced, &mut Silent);
    let mut replay = Replay::new(capabilities, traced.records().to_vec());
    assert_eq!(survey.run(&mut replay, &mut Silent), seen);
}

#[test]
fn run_file_gives_the_same_findings() {
    let (mut stick, _) = stick("generic-2g");
    let observations = Survey::new(true, 2).run(&mut stick, &mut Silent);
    let run = RunFile {
        format: flashscope_record::run_file::FORMAT,
        flashscope: "test".to_owned(),
        target: "sim:generic-2g".to_owned(),
        device_name: String::new(),
        attachment: flashscope_record::attachment::Attachment::default(),
        measured_at: String::new(),
        observations,
        cost: flashscope_device::layer::Cost::default(),
        failed_requests: 0,
        is_erased: false,
        capacity: None,
        remarks: Vec::new(),
    };
    let again = RunFile::parse(&run.to_json().unwrap()).unwrap();
    assert_eq!(infer(&again.observations), infer(&run.observations));
}
