//! Virtual sticks, checks of them, and their true findings.

use flashscope_device::{Bytes, Device};
use flashscope_infer::infer;
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::finding::{Finding, FindingId, FtlClass, Value};
use flashscope_record::observation::{Data, OpenUnitsCell, OpenUnitsData};
use flashscope_sim::VirtualStick;
use flashscope_sim::profile::{Association, Basis, Class, HybridLog, LogStructured, Policy, Truth, Victim};
use flashscope_sim::target::Target;

pub fn stick(target: &str) -> (VirtualStick, Truth) {
    let target = Target::parse(target).unwrap();
    (VirtualStick::new(&target.profile, target.seed), target.profile.truth())
}

pub fn check(device: &mut dyn Device, writes: bool) -> Vec<Finding> {
    infer(&Survey::new(writes, 11).run(device, &mut Silent))
}

pub fn finding(findings: &[Finding], id: FindingId) -> &Finding {
    findings.iter().find(|finding| finding.id == id).unwrap()
}

pub fn expected(truth: &Truth) -> [(FindingId, Value); 6] {
    let class = match truth.class {
        Class::LinearOnly => FtlClass::LinearOnly,
        Class::OpenBlock => FtlClass::OpenBlock,
        Class::LogStructured => FtlClass::LogStructured,
        Class::HybridLog => FtlClass::HybridLog,
        Class::PageMapped => FtlClass::PageMapped,
    };
    [
        (FindingId::EraseBlockBytes, Value::Bytes(truth.erase_block)),
        (FindingId::PageBytes, Value::Bytes(truth.page)),
        (FindingId::OpenUnitsLinear, Value::Count(truth.open_units_linear.unwrap())),
        (FindingId::OpenUnitsRandom, Value::Count(truth.open_units_random.unwrap())),
        (FindingId::FatAreaBytes, Value::Bytes(truth.fat_area)),
        (FindingId::FtlClass, Value::Class { class, above: truth.small_writes_up_to }),
    ]
}

/// Every finding of a full check is known and true.
pub fn assert_true(target: &str) {
    let (mut stick, truth) = stick(target);
    let findings = check(&mut stick, true);
    for (id, value) in expected(&truth) {
        let found = finding(&findings, id);
        assert_eq!(found.value(), Some(value), "{target}: {id}: {found:?}");
        assert!(found.confidence().get() > 0.8, "{target}: {id}: {found:?}");
    }
}

/// The findings of a full check, and the data of its open-units experiment.
pub fn check_and_open_units(target: &Target) -> (Vec<Finding>, OpenUnitsData) {
    let seen = Survey::new(true, 11).run(&mut VirtualStick::new(&target.profile, target.seed), &mut Silent);
    let data = seen.iter().find_map(|seen| match &seen.data {
        Data::OpenUnits(data) => Some(data.clone()),
        _ => None,
    });
    (infer(&seen), data.unwrap())
}

/// The data of an experiment that counted `open_units` correctly under random eviction.
pub fn counted_under_random_eviction(open_units: u32, target: &str) -> OpenUnitsData {
    counted_on(open_units, Target::parse(&format!("{target}&open_units_linear={open_units}")).unwrap())
}

/// The same on a given stick.
pub fn counted_on(open_units: u32, target: Target) -> OpenUnitsData {
    let (findings, data) = with_random_eviction(target);
    let units = finding(&findings, FindingId::OpenUnitsLinear);
    assert_eq!(units.value(), Some(Value::Count(open_units)), "{units:?}");
    data
}

/// The findings and the open-units data of a stick with random eviction.
pub fn with_random_eviction(mut target: Target) -> (Vec<Finding>, OpenUnitsData) {
    let victim = match &mut target.profile.policy {
        Policy::OpenBlocks(policy) => Some(&mut policy.victim),
        _ => None,
    };
    *victim.unwrap() = Victim::Random;
    check_and_open_units(&target)
}

pub fn request(cells: &[OpenUnitsCell]) -> Option<Bytes> {
    cells.first().map(|cell| cell.request)
}

/// A hybrid log. Times to copy a page and to erase a block are in microseconds.
pub fn hybrid_log(
    (association, log_blocks): (Association, u32),
    (copy_page_us, erase_us): (f64, f64),
) -> Policy {
    Policy::HybridLog(HybridLog { basis: Basis::Assumed, association, log_blocks, copy_page_us, erase_us })
}

pub const LOG: Value = Value::Class { class: FtlClass::LogStructured, above: None };

pub fn log_structured(streams: u32, unit: Bytes) -> Policy {
    Policy::LogStructured(LogStructured {
        basis: Basis::Assumed,
        streams,
        unit: Some(unit),
        over_provisioning: 0.07,
        background_share: 0.0,
        copy_page_us: 3000.0,
        erase_us: 3000.0,
    })
}
