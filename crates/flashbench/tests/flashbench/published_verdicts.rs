//! What is inferred from published logs, against what the people who measured them said.

use std::path::Path;

use flashscope_device::Bytes;
use flashscope_flashbench::parse;
use flashscope_infer::infer;
use flashscope_record::finding::{
    BlockEvidence, Evidence, Finding, FindingId, FtlClass, LogFault, Objection, Outcome, Reason, Value,
};

fn findings(name: &str) -> Vec<Finding> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/published").join(name);
    let log = parse::parse(&std::fs::read(path).unwrap(), name).unwrap();
    infer(&log.entries.into_iter().map(|entry| entry.observations).collect::<Vec<_>>())
}

fn value(findings: &[Finding], id: FindingId) -> Option<Value> {
    findings.iter().find(|finding| finding.id == id).unwrap().value()
}

fn assert_found(findings: &[Finding], expected: &[(FindingId, Value)]) {
    for (id, expected) in expected {
        assert_eq!(value(findings, *id), Some(*expected), "{id}");
    }
}

fn assert_unknown(findings: &[Finding], ids: &[FindingId]) {
    for id in ids {
        assert_eq!(value(findings, *id), None, "{id}");
    }
}

#[test]
fn the_patriot_log_matches_its_owners_findings() {
    let class = Value::Class { class: FtlClass::LogStructured, above: Some(Bytes::kib(16)) };
    assert_found(
        &findings("patriot-xporter-xt-boost-16gb.txt"),
        &[
            (FindingId::EraseBlockBytes, Value::Bytes(Bytes::mib(8))),
            (FindingId::PageBytes, Value::Bytes(Bytes::kib(32))),
            (FindingId::WriteUnitBytes, Value::Bytes(Bytes::kib(64))),
            (FindingId::OpenUnitsLinear, Value::Count(8)),
            (FindingId::OpenUnitsRandom, Value::Count(8)),
            (FindingId::FatAreaBytes, Value::Bytes(Bytes::ZERO)),
            (FindingId::FtlClass, class),
        ],
    );
}

#[test]
fn the_readme_card_has_blocks_of_4_mib_pages_of_8_kib_and_two_open_units() {
    let findings = findings("readme-example-arnd.txt");
    assert_found(
        &findings,
        &[
            (FindingId::EraseBlockBytes, Value::Bytes(Bytes::mib(4))),
            (FindingId::PageBytes, Value::Bytes(Bytes::kib(8))),
            (FindingId::OpenUnitsLinear, Value::Count(2)),
            (FindingId::FtlClass, Value::Class { class: FtlClass::OpenBlock, above: None }),
        ],
    );
    assert_unknown(&findings, &[FindingId::OpenUnitsRandom]);
}

#[test]
fn the_pqi_card_has_blocks_of_4_mib_and_pages_of_4_kib() {
    assert_found(
        &findings("pqi-microsd-32gb-gentoo.txt"),
        &[
            (FindingId::EraseBlockBytes, Value::Bytes(Bytes::mib(4))),
            (FindingId::PageBytes, Value::Bytes(Bytes::kib(4))),
        ],
    );
}

#[test]
fn ambiguous_logs_stay_unknown() {
    assert_unknown(&findings("intel-600p-nvme-control.txt"), &FindingId::ALL);
    for log in ["samsung-1b-534d-johnlane.txt", "sandisk-4gb-sdhc-simmonds.txt"] {
        assert_unknown(&findings(log), &[FindingId::EraseBlockBytes, FindingId::OpenUnitsLinear]);
    }
}

/// A table for one number of units bounds the count from one side only.
#[test]
fn a_table_for_one_number_of_units_bounds_it() {
    let of = |log: &str| reason(&findings(log), FindingId::OpenUnitsRandom);
    let toshiba = of("olpc-toshiba-c4-4gb-B.txt");
    assert!(matches!(toshiba, Reason::FewestMerge { blocks: 5, free_to: None, .. }), "{toshiba:?}");
    assert_eq!(of("olpc-high-perf-arnd.txt"), Reason::AtLeast(5));
}

/// Findings of a log given as text.
fn of_text(text: &str) -> Vec<Finding> {
    let log = parse::parse(text.as_bytes(), "log").unwrap();
    infer(&log.entries.into_iter().map(|entry| entry.observations).collect::<Vec<_>>())
}

fn table(units: u32, speeds: [f64; 4]) -> String {
    let [a, b, c, d] = speeds;
    format!(
        "$ flashbench --open-au --open-au-nr {units} --blocksize 65536 /dev/x\n\
         4MiB {a}M/s\n2MiB {b}M/s\n1MiB {b}M/s\n512KiB {c}M/s\n256KiB {c}M/s\n128KiB {d}M/s\n64KiB {d}M/s\n"
    )
}

const FAST: [f64; 4] = [15.0, 15.0, 14.0, 13.0];

#[test]
fn an_option_with_a_space_before_its_value_is_read() {
    let text = table(2, FAST) + &table(3, [9.0, 5.0, 1.0, 0.3]);
    assert_eq!(value(&of_text(&text), FindingId::OpenUnitsLinear), Some(Value::Count(2)));
}

/// Requests of 64 KiB escape the merge: those of 128 KiB pay the most for it.
#[test]
fn the_evidence_of_open_units_is_the_request_that_slows_down_most() {
    let table = |units: u32, speeds: [f64; 7]| {
        let sizes = ["4MiB", "2MiB", "1MiB", "512KiB", "256KiB", "128KiB", "64KiB"];
        let rows = sizes.iter().zip(speeds).map(|(size, speed)| format!("{size} {speed}M/s\n"));
        let rows: String = rows.collect();
        format!("$ flashbench --open-au --open-au-nr {units} --blocksize 65536 /dev/x\n{rows}")
    };
    let fitting = table(2, [15.0, 15.0, 15.0, 14.0, 14.0, 13.0, 13.0]);
    let findings = of_text(&(fitting + &table(3, [6.1, 4.5, 2.8, 1.5, 0.8, 0.4, 12.0])));
    assert_eq!(value(&findings, FindingId::OpenUnitsLinear), Some(Value::Count(2)));
    let linear = findings.iter().find(|finding| finding.id == FindingId::OpenUnitsLinear).unwrap();
    let Some(Evidence::Blocks(BlockEvidence::TooMany {
        request, fits, too_many, within_s, beyond_s, ..
    })) = linear.evidence
    else {
        panic!("{linear:?}")
    };
    assert_eq!((request, fits, too_many), (Some(Bytes::kib(128)), 2, 3));
    assert!((beyond_s / within_s - 13.0 / 0.4).abs() < 0.01, "{within_s} {beyond_s}");
}

#[test]
fn contradicting_tables_give_unknown() {
    let slow = [9.0, 5.0, 1.0, 0.3];
    let findings = of_text(&(table(2, FAST) + &table(3, slow) + &table(3, FAST)));
    for id in [FindingId::OpenUnitsLinear, FindingId::FtlClass] {
        let reason = reason(&findings, id);
        assert!(matches!(reason, Reason::Log(LogFault::TimesDisagree { blocks: 3, .. })), "{reason:?}");
    }
}

/// Why a finding is unknown, apart from an early end of the log.
fn reason(findings: &[Finding], id: FindingId) -> Reason {
    let finding = findings.iter().find(|finding| finding.id == id).unwrap();
    finding.reason().unwrap().apart_from_early_end().clone()
}

#[test]
fn a_fast_table_with_more_units_than_a_slow_one_gives_unknown() {
    let slow = [9.0, 5.0, 1.0, 0.3];
    let log = |slow_at: &[u32]| -> Vec<Finding> {
        let tables = (1..=6).map(|units| table(units, if slow_at.contains(&units) { slow } else { FAST }));
        of_text(&tables.collect::<String>())
    };
    assert_eq!(value(&log(&[4, 5, 6]), FindingId::OpenUnitsLinear), Some(Value::Count(3)));
    for slow_at in [&[3][..], &[3, 5]] {
        for id in [FindingId::OpenUnitsLinear, FindingId::FtlClass] {
            let expected = Reason::Log(LogFault::LargerCountIsFast { slow: 3, fast: 6, base: 1 });
            assert_eq!(reason(&log(slow_at), id), expected);
        }
    }
}

/// A table of `-a` whose reads across multiples of `block` and of 16 KiB take longer, if there is one, and
/// stalled rows.
fn align(block: Option<u64>, stalled: &[u32]) -> String {
    align_of_two(block, u64::MAX, stalled)
}

/// The same with another step at `larger`.
fn align_of_two(block: Option<u64>, larger: u64, stalled: &[u32]) -> String {
    let row = |shift: u32| {
        let size = 1_u64 << shift;
        let step = |from: u64, us: u64| if block.is_some() && size >= from { us } else { 0 };
        let at_block = step(block.unwrap_or(u64::MAX), 160) + step(larger, 100);
        let on = (700 + at_block + step(16_384, 60)) * if stalled.contains(&shift) { 3 } else { 1 };
        let (pre, diff) = (698 + shift % 3, on - 700);
        format!("align {size}\tpre {pre}\u{b5}s\ton {on}\u{b5}s\tpost 702\u{b5}s\tdiff {diff}\u{b5}s\n")
    };
    format!("$ flashbench -a /dev/x\n{}", (11..=29).rev().map(row).collect::<String>())
}

#[test]
fn contradicting_read_tables_give_unknown() {
    let block = |text: &str| value(&of_text(text), FindingId::EraseBlockBytes);
    let (four, eight) = (align(Some(4 << 20), &[]), align(Some(8 << 20), &[]));
    assert_eq!(block(&four), Some(Value::Bytes(Bytes::mib(4))));
    assert_eq!(block(&(four.clone() + &four)), Some(Value::Bytes(Bytes::mib(4))));
    let both = of_text(&(four.clone() + &four + &eight));
    let id = FindingId::EraseBlockBytes;
    let disagree = LogFault::TablesDisagree { id, least: Bytes::mib(4), most: Bytes::mib(8) };
    assert_eq!(reason(&both, id), Reason::Log(disagree));
}

#[test]
fn a_stalled_row_is_not_a_boundary() {
    for stalled in 14..=29 {
        let findings = of_text(&align(None, &[stalled]));
        let sure = findings.iter().filter(|finding| finding.confidence().get() >= 0.95).count();
        assert_eq!(sure, 0, "{stalled}: {findings:?}");
    }
}

#[test]
fn fat_contradicting_tables_give_unknown() {
    let table = |fast: &[usize]| {
        let row = |(size, quick, slow): (&str, f64, f64)| {
            let speeds = (0..6).map(|unit| if fast.contains(&unit) { quick } else { slow });
            let columns: String = speeds.map(|speed| format!("\t{speed}M/s")).collect();
            format!("{size}{columns}\n")
        };
        let rows = [
            ("4MiB", 9.1, 9.0),
            ("1MiB", 9.1, 9.0),
            ("128KiB", 8.0, 2.0),
            ("64KiB", 7.0, 1.0),
            ("16KiB", 5.0, 0.5),
        ];
        format!("$ flashbench --find-fat --fat-nr=6 --blocksize 16384 /dev/x\n{}", rows.map(row).concat())
    };
    let area = |text: &str| value(&of_text(text), FindingId::FatAreaBytes);
    assert_eq!(area(&table(&[0])), Some(Value::Bytes(Bytes::mib(4))));
    assert_eq!(area(&(table(&[0]) + &table(&[0]))), Some(Value::Bytes(Bytes::mib(4))));
    let id = FindingId::FatAreaBytes;
    let fault = |text: &str| reason(&of_text(text), id);
    let disagree = LogFault::TablesDisagree { id, least: Bytes::mib(4), most: Bytes::mib(12) };
    assert_eq!(fault(&(table(&[0]) + &table(&[0, 1, 2]))), Reason::Log(disagree));
    let alternating = fault(&table(&[0, 2, 4]));
    assert_eq!(alternating, Reason::Log(LogFault::FastAfterSlowBlock { fast: 2, slow: 1 }));
}

#[test]
fn a_gradual_slowdown_is_below_the_confidence_threshold() {
    let findings = of_text(&(table(2, FAST) + &table(3, [9.0, 7.0, 5.0, 4.6])));
    let reason = reason(&findings, FindingId::OpenUnitsLinear);
    assert!(matches!(reason, Reason::Likely { value: Value::Count(2), .. }), "{reason:?}");
}

#[test]
fn speeds_without_open_units_give_no_page_and_no_write_unit() {
    let bare =
        |speeds: [f64; 4]| table(1, speeds).lines().skip(1).map(|row| format!("{row}\n")).collect::<String>();
    let merging = "4MiB 6.06M/s\n2MiB 4.49M/s\n1MiB 2.82M/s\n512KiB 1.25M/s\n256KiB 607K/s\n128KiB 302K/s\n64KiB 150K/s\n";
    for text in [merging.to_owned(), bare(FAST) + merging, bare([9.0, 8.8, 4.5, 2.2])] {
        let findings = of_text(&text);
        assert_unknown(&findings, &[FindingId::PageBytes, FindingId::WriteUnitBytes]);
        let reason = reason(&findings, FindingId::WriteUnitBytes);
        assert_eq!(reason, Reason::Log(LogFault::BlockCountMissing), "{text}");
    }
}

#[test]
fn named_columns_are_not_erase_blocks() {
    let rows = |bar: &str| {
        let row = |(size, speeds): (&str, [f64; 4])| {
            let columns: String = speeds.iter().map(|speed| format!(" {bar} {speed}M/s")).collect();
            format!("{size}{columns}\n")
        };
        [("4MiB", [8.8, 3.1, 3.8, 4.0]), ("512KiB", [5.1, 1.3, 1.3, 1.6]), ("64KiB", [4.6, 0.3, 0.2, 0.2])]
            .map(row)
            .concat()
    };
    let area = |text: &str| value(&of_text(text), FindingId::FatAreaBytes);
    assert_eq!(area(&rows("")), Some(Value::Bytes(Bytes::mib(4))), "bare columns are flashbench's own");
    let named = [
        format!("Size | one card | another | a third | a bad one |\n---|---|---|---|---|\n{}", rows("|")),
        format!("Size  Class 4 A  Class 4 B  Class 6  Other\n{}", rows("")),
        format!("A B C D\n\n{}", rows("")),
        format!("$ flashbench -O --open-au-nr=3 -e 4M /dev/x\n{}", rows("")),
    ];
    for text in named {
        assert_eq!(area(&text), None, "{text}");
        let reason = reason(&of_text(&text), FindingId::WriteUnitBytes);
        let is_expected =
            matches!(&reason, Reason::Objection(Objection::SeveralDevices(devices)) if devices.len() == 4);
        assert!(is_expected, "{text}: {reason:?}");
    }
}

#[test]
fn implausible_sizes_are_not_reported_as_erase_block() {
    let block = |size: u64| value(&of_text(&align(Some(size), &[])), FindingId::EraseBlockBytes);
    for size in [512 << 10, 1 << 20, 4 << 20, 16 << 20, 32 << 20] {
        assert_eq!(block(size), Some(Value::Bytes(Bytes::new(size))));
    }
    for size in [128 << 10, 256 << 10, 64 << 20, 128 << 20] {
        assert_eq!(block(size), None, "{size}");
    }
    for (size, at_limit) in [(128 << 10, Bytes::kib(512)), (128 << 20, Bytes::mib(32))] {
        let reason = reason(&of_text(&align(Some(size), &[])), FindingId::EraseBlockBytes);
        let is_expected = matches!(reason, Reason::UnlikelyBlock { limit, .. } if limit == at_limit);
        assert!(is_expected, "{reason:?}");
    }
}

#[test]
fn a_second_boundary_leaves_the_erase_block_unknown() {
    let text = align_of_two(Some(1 << 20), 4 << 20, &[]);
    let reason = reason(&of_text(&text), FindingId::EraseBlockBytes);
    let is_expected = matches!(
        reason,
        Reason::Log(LogFault::TwoBoundaries { larger, .. }) if larger == Bytes::mib(4)
    );
    assert!(is_expected, "{reason:?}");
}

#[test]
fn the_first_slowdown_counts_not_the_sharpest() {
    let tables = |by: &[f64]| -> String {
        (1..).zip(by).map(|(units, by)| table(units, FAST.map(|speed| speed / by))).collect()
    };
    let id = FindingId::OpenUnitsLinear;
    let linear = |by: &[f64]| value(&of_text(&tables(by)), id);
    let gradually = |by: &[f64]| match reason(&of_text(&tables(by)), id) {
        Reason::SlowsGradually { at_most, blocks, factor, .. } => (at_most, blocks, (factor * 10.0).round()),
        other => panic!("{other:?}"),
    };
    assert_eq!(linear(&[1.0, 1.1, 1.2, 20.0]), Some(Value::Count(3)));
    assert_eq!(gradually(&[1.0, 1.0, 2.2, 20.0]), (Some(3), 3, 22.0));
    assert_eq!(gradually(&[1.0, 1.0, 2.0, 4.0]), (None, 3, 20.0));
    assert_eq!(
        linear(&[1.0, 2.2, 2.2, 20.0]),
        Some(Value::Count(3)),
        "one block alone is written in one run"
    );
}

#[test]
fn a_class_needs_a_count_and_a_merge_cost() {
    let class = |text: &str| reason(&of_text(text), FindingId::FtlClass);
    let gentle = class(&(table(2, FAST) + &table(3, [9.0, 7.0, 5.0, 4.6])));
    assert_eq!(gentle, Reason::DependsOn(FindingId::OpenUnitsLinear));
    let throttled = class(&(table(2, FAST) + &table(3, FAST.map(|speed| speed / 8.0))));
    assert_eq!(throttled, Reason::CostPerByte { fits: 2 });
}

#[test]
fn an_interrupted_table_does_not_end_the_search() {
    let cut = |units: u32, speeds: [f64; 4]| {
        let rows: String = table(units, speeds).lines().take(3).map(|row| format!("{row}\n")).collect();
        rows + "^C\n"
    };
    let slow = [9.0, 5.0, 1.0, 0.3];
    let findings = of_text(&(table(4, FAST) + &table(5, FAST) + &cut(6, FAST) + &table(7, slow)));
    let linear = findings.iter().find(|finding| finding.id == FindingId::OpenUnitsLinear).unwrap();
    assert_eq!(linear.value(), Some(Value::Count(5)));
    let Outcome::Found { high, .. } = linear.outcome else { panic!("{linear:?}") };
    assert_eq!(high, Value::Count(6));
    let open = of_text(&(table(4, FAST) + &table(5, FAST) + &cut(6, slow)));
    assert_eq!(reason(&open, FindingId::OpenUnitsLinear), Reason::AtLeast(5));
}

#[test]
fn a_log_of_several_devices_gives_no_findings() {
    let text = format!("Card 1: good\n{}Card 2: bad\n{}", table(2, FAST), table(3, [9.0, 5.0, 1.0, 0.3]));
    let findings = of_text(&text);
    assert_unknown(&findings, &FindingId::ALL);
    let names = ["card 1", "card 2"].map(str::to_owned).to_vec();
    let expected = Reason::Objection(Objection::SeveralDevices(names));
    assert_eq!(reason(&findings, FindingId::OpenUnitsLinear), expected);
}
