//! Kinds of logs that were once read wrongly: each specimen, and variants of its kind.

use std::path::Path;

use flashscope_device::Bytes;
use flashscope_flashbench::Command;
use flashscope_flashbench::parse::{self, Log};
use flashscope_infer::diagnosis::diagnose;
use flashscope_infer::infer;
use flashscope_record::attachment::Attachment;
use flashscope_record::diagnosis::Conclusion;
use flashscope_record::finding::{Finding, FindingId, FtlClass, LogFault, Objection, Reason, Value};
use flashscope_record::observation::{Observations, Order};

fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/import");
    String::from_utf8(std::fs::read(folder.join(name)).unwrap()).unwrap()
}

fn log(text: &str) -> Log {
    parse::parse(text.as_bytes(), "log").unwrap()
}

fn observations(log: Log) -> Vec<Observations> {
    log.entries.into_iter().map(|entry| entry.observations).collect()
}

fn findings(text: &str) -> Vec<Finding> {
    infer(&observations(log(text)))
}

fn finding(findings: &[Finding], id: FindingId) -> &Finding {
    findings.iter().find(|finding| finding.id == id).unwrap()
}

fn value(text: &str, id: FindingId) -> Option<Value> {
    finding(&findings(text), id).value()
}

fn reason(text: &str, id: FindingId) -> Reason {
    let findings = findings(text);
    finding(&findings, id).reason().unwrap().apart_from_early_end().clone()
}

fn class(text: &str) -> Option<FtlClass> {
    match value(text, FindingId::FtlClass) {
        Some(Value::Class { class, .. }) => Some(class),
        _ => None,
    }
}

/// A table of one number of units, with the time of each request in milliseconds by its size in KiB.
fn table(order: &str, units: u32, milliseconds: impl Fn(f64) -> f64) -> String {
    let row = |shift: u32| {
        let kib = f64::from(1 << shift);
        let speed = kib * 1.024 / milliseconds(kib) * 1e3;
        format!("{}KiB\t{speed:.4}K/s\n", 1 << shift)
    };
    format!("AU={units}, {order} access\n{}", (4..=12).rev().map(row).collect::<String>())
}

/// Sequential writes at 8 MB/s with 1 ms for each request, and this many milliseconds more for a merge.
fn with_merges(merge_ms: f64) -> impl Fn(f64) -> f64 {
    move |kib| 1.0 + kib / 8.0 + if kib < 4096.0 { merge_ms } else { 0.0 }
}

#[test]
fn the_short_option_states_the_open_units() {
    let findings = findings(&text("short-open-au-nr.txt"));
    let linear = finding(&findings, FindingId::OpenUnitsLinear);
    assert_eq!(linear.count(), Some(20), "{linear:?}");
}

#[test]
fn a_bare_open_au_writes_into_two_units() {
    let log = log(&text("default-open-au-nr.txt"));
    assert!(matches!(log.entries[0].command, Some(Command::OpenUnits { open_units: 2, .. })));
    assert_eq!(reason(&text("default-open-au-nr.txt"), FindingId::OpenUnitsLinear), Reason::AtLeast(2));
}

#[test]
fn speeds_of_a_log_give_no_bottleneck() {
    let uncounted = "4MiB 8.86M/s\n1MiB 5.02M/s\n256KiB 4.69M/s\n64KiB 4.62M/s\n16KiB 2.38M/s\n4KiB 0.3M/s\n";
    for text in [&text("short-open-au-nr.txt"), uncounted, &format!("4MiB 9M/s\n{uncounted}")] {
        let seen = observations(log(text));
        let diagnosis = diagnose(&seen, &infer(&seen), &Attachment::default());
        assert!(matches!(diagnosis.conclusion, Conclusion::Unknown { .. }), "{diagnosis:?}");
        assert!(diagnosis.costs.is_empty() && diagnosis.small_files.is_none(), "{diagnosis:?}");
    }
}

#[test]
fn the_class_does_not_depend_on_where_the_tester_stopped() {
    let (three, four) = (text("class-3-4-5.txt"), text("class-3-4-5-6.txt"));
    assert_eq!((class(&three), class(&four)), (Some(FtlClass::LogStructured), Some(FtlClass::LogStructured)));
    // What each number of units beyond three costs, in milliseconds.
    let random_eviction = [150.0, 330.0, 420.0, 460.0];
    let lru_eviction = [420.0; 4];
    for (costs, expected) in [(random_eviction, FtlClass::LogStructured), (lru_eviction, FtlClass::OpenBlock)]
    {
        let base = table("linear", 2, with_merges(0.0)) + &table("linear", 3, with_merges(0.0));
        for stop in 1..=costs.len() {
            let beyond =
                (4..).zip(&costs[..stop]).map(|(units, cost)| table("linear", units, with_merges(*cost)));
            let found = class(&(base.clone() + &beyond.collect::<String>()));
            assert!(found.is_none_or(|found| found == expected), "{costs:?} up to {stop}: {found:?}");
            assert!(stop < 2 || found.is_some(), "{costs:?} up to {stop}");
        }
    }
}

#[test]
fn a_plateau_above_a_gap_decides_no_class() {
    let slow = [5, 6].map(|units| table("linear", units, with_merges(420.0))).concat();
    let base = table("linear", 2, with_merges(0.0)) + &table("linear", 3, with_merges(0.0));
    let tables = base + &slow;
    assert_eq!(class(&tables), None, "four units may have cost a part");
    let between = reason(&tables, FindingId::FtlClass);
    assert!(matches!(between, Reason::BetweenRules { low: 3, high: 4, .. }), "{between:?}");
}

#[test]
fn a_page_that_writes_contradict_is_not_named() {
    let specimen = text("page-16.txt");
    let by_reads = specimen.split("======= AU").next().unwrap();
    assert_eq!(value(by_reads, FindingId::PageBytes), Some(Value::Bytes(Bytes::kib(8))));
    let fault = reason(&specimen, FindingId::PageBytes);
    assert!(
        matches!(fault, Reason::Log(LogFault::WritesShowLargerPage { page, .. }) if page == Bytes::kib(8)),
        "{fault:?}"
    );
    let writes = |page_kib: f64| {
        let rows = [1024.0, 64.0, 32.0, 16.0, 8.0, 4.0].map(|kib: f64| {
            let seconds = 3e-3 * (kib / page_kib).ceil();
            format!("{kib}KiB {:.2}K/s\n", kib * 1.024 / seconds)
        });
        format!("{by_reads}\nAU=1, random access\n{}", rows.concat())
    };
    assert_eq!(value(&writes(8.0), FindingId::PageBytes), Some(Value::Bytes(Bytes::kib(8))));
    for larger in [16.0, 32.0] {
        assert_eq!(value(&writes(larger), FindingId::PageBytes), None, "{larger}");
    }
}

#[test]
fn units_that_merge_at_every_write_are_too_many() {
    let free_to = |text: &str| match reason(text, FindingId::OpenUnitsRandom) {
        Reason::FewestMerge { blocks: 5, free_to, .. } => free_to,
        other => panic!("{other:?}"),
    };
    assert_eq!(free_to(&text("merging-at-5.txt")), None);
    assert_eq!(free_to(&text("merging-at-5-small-path.txt")), Some(Bytes::kib(16)));
    for merge_ms in [150.0, 200.0, 600.0] {
        assert_eq!(free_to(&table("random", 5, with_merges(merge_ms))), None, "{merge_ms}");
    }
    let large_pages = table("random", 5, |kib| 4.0 * (kib / 128.0).ceil());
    assert_eq!(reason(&large_pages, FindingId::OpenUnitsRandom), Reason::AtLeast(5), "pages are no merges");
}

#[test]
fn a_table_that_slows_down_is_said_to() {
    let specimen = text("nothing-slows-down.txt");
    let reason_of = |text: &str| reason(text, FindingId::OpenUnitsLinear);
    let Reason::SlowsGradually { as_fast: 4, blocks: 5, last: Some((7, factor)), .. } = reason_of(&specimen)
    else {
        panic!("{:?}", reason_of(&specimen))
    };
    assert!((3.0..4.5).contains(&factor), "{factor}");
    // Requests of up to 64 KiB take another path, and the rest slows down step by step.
    let slower = |by: f64| move |kib: f64| (1.0 + kib / 8.0) * if kib > 64.0 { by } else { 1.0 };
    for by in [1.8_f64, 2.4, 3.0] {
        let tables = table("linear", 2, slower(1.0))
            + &table("linear", 3, slower(by.min(2.4)))
            + &table("linear", 4, slower(by));
        let found = reason_of(&tables);
        assert!(matches!(found, Reason::SlowsGradually { as_fast: 2, blocks: 3, .. }), "{by}: {found:?}");
    }
    let fast = table("linear", 2, slower(1.0)) + &table("linear", 4, slower(1.1));
    assert_eq!(reason_of(&fast), Reason::AtLeast(4));
}

#[test]
fn a_layer_that_takes_sequential_writes_alone_is_named() {
    let specimen = text("linear-only.txt");
    assert_eq!(class(&specimen), Some(FtlClass::LinearOnly));
    assert_eq!(value(&specimen, FindingId::OpenUnitsRandom), Some(Value::Count(0)));
    let sequential = table("linear", 1, with_merges(0.0)) + &table("linear", 4, with_merges(0.0));
    let decided = |random: &str| class(&(sequential.clone() + random));
    assert_eq!(decided(&table("random", 1, with_merges(200.0))), Some(FtlClass::LinearOnly));
    assert_eq!(decided(&table("random", 1, with_merges(3.0))), None, "no merge");
    assert_eq!(decided(&table("random", 2, with_merges(200.0))), None, "one unit may stay open");
    let merging = table("linear", 1, with_merges(200.0)) + &table("random", 1, with_merges(200.0));
    assert_eq!(class(&merging), None, "sequential writes merge as well");
}

#[test]
fn character_references_cost_no_row() {
    let specimen = text("html-entity-micro.txt");
    let plain = specimen.replace("µmicro;", "µ");
    let block = Some(Value::Bytes(Bytes::mib(8)));
    for micro in ["µmicro;", "&micro;", "&#181;", "&#xB5;", "&amp;micro;", "&micro", "µ"] {
        let text = plain.replace('µ', micro);
        assert_eq!(log(&text).problems, [], "{micro}");
        assert_eq!(value(&text, FindingId::EraseBlockBytes), block, "{micro}");
    }
}

#[test]
fn columns_with_names_are_devices() {
    let specimen = log(&text("two-cards-side-by-side.txt"));
    assert_eq!(specimen.columns, ["High perf card", "Unusable card"]);
    assert_eq!(specimen.entries.len(), 2);
    let together = infer(&observations(specimen.clone()));
    let objection = finding(&together, FindingId::OpenUnitsLinear).reason();
    assert!(matches!(objection, Some(Reason::Objection(Objection::SeveralDevices(_)))), "{objection:?}");
    let last = |column: usize| match &specimen.of_column(column).entries[0].observations.data {
        flashscope_record::observation::Data::WriteSize(data) => {
            data.cells.last().unwrap().times.mean_seconds()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!([last(0), last(1)].map(|seconds| (seconds.unwrap() * 1e3).round()), [5.0, 512.0]);
}

/// Rows of six cards, of which the last merges at every request.
fn six_columns() -> String {
    let rows = [
        ("4MiB", 3.1),
        ("1MiB", 2.8),
        ("256KiB", 0.87),
        ("64KiB", 0.297),
        ("32KiB", 0.155),
        ("16KiB", 0.076),
    ];
    rows.map(|(size, slow)| format!("{size} 8M/s 8M/s 8M/s 8M/s 8M/s {slow}M/s\n")).concat()
}

#[test]
fn six_named_columns_are_six_devices_and_keep_what_the_command_states() {
    let command = "$ flashbench -O -r --open-au-nr=5 -e 4M /dev/x";
    let header = "Block size   Class 4 A   Class 4 B   Class 6   Kingston   SanDisk one   A bad card";
    let log = log(&format!("{command}\n{header}\n{}", six_columns()));
    assert_eq!(log.columns.len(), 6);
    assert_eq!(log.columns[5], "A bad card");
    let of = |column: usize| {
        let findings = infer(&observations(log.of_column(column)));
        finding(&findings, FindingId::OpenUnitsRandom).reason().unwrap().apart_from_early_end().clone()
    };
    assert_eq!(of(0), Reason::AtLeast(5));
    assert!(matches!(of(5), Reason::FewestMerge { blocks: 5, .. }), "{:?}", of(5));
}

#[test]
fn columns_that_name_open_units_are_of_one_device() {
    let log = log(&format!("Size  1 AU  2 AU  3 AU  4 AU  5 AU  6 AU\n{}", six_columns()));
    assert!(log.columns.is_empty());
    let findings = infer(&observations(log.clone()));
    assert_eq!(finding(&findings, FindingId::OpenUnitsLinear).count(), Some(5));
    assert!(
        log.entries.iter().all(|entry| matches!(
            entry.command,
            None | Some(Command::OpenUnits { order: Order::Linear, .. })
        ))
    );
}
