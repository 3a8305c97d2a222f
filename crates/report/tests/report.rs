//! Properties of every report: text from outside is printable, the page is self-contained, lines fit the
//! width, and unknowns are reported.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hostile;
mod layout;
mod sample;
mod words;

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_infer::infer_run;
use flashscope_record::attachment::{Attachment, Driver, Link, LinkKind, LinkRange};
use flashscope_record::diagnosis::{Conclusion, DiagnosisReason};
use flashscope_record::finding::{
    Confidence, Evidence, Finding, FindingId, ReadEvidence, Reason, Value, WouldDecide,
};
use flashscope_record::observation::{
    Cause, Conditions, Data, Ended, LongWrite, MethodTiming, MethodsData, Observations, Piece, Refusal,
    Resumed, StopReason, SustainedData, WriteMethod,
};
use flashscope_record::run_file::RunFile;
use flashscope_report::{Report, Style, advice, brief, chart, html, terminal, verdict};
use unicode_width::UnicodeWidthStr;

/// The runs of the tests, with findings: measured, published, hostile, absurd, and empty.
fn cases() -> Vec<(&'static str, RunFile, Vec<Finding>)> {
    vec![
        ("measured", sample::run(), sample::findings()),
        ("published", sample::published(), sample::findings()),
        ("nothing inferred", sample::run(), Vec::new()),
        ("hostile", hostile::named(), hostile::findings()),
        ("absurd", hostile::absurd(), sample::findings()),
        ("empty", hostile::empty(), Vec::new()),
    ]
}

fn each(check: impl Fn(&str, &Report<'_>)) {
    for (name, run, findings) in cases() {
        check(name, &Report::new(&run, &findings));
    }
}

/// `text` without the escapes that set colours and weights.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').unwrap().1)
}

/// Any evidence, for findings whose evidence does not matter.
const fn figures() -> Evidence {
    Evidence::Reads(ReadEvidence::Alike { read_s: 2e-4, noise_s: 1e-6 })
}

#[test]
fn the_page_has_no_external_resources() {
    each(|name, report| {
        let page = html(report);
        for outside in ["://", "src=", "<script", "<link", "@import", "url(", "javascript:", "<iframe"] {
            assert!(!page.contains(outside), "{name}: {outside}");
        }
    });
}

#[test]
fn the_brief_report_is_one_line_without_escapes() {
    each(|name, report| {
        let line = brief(report);
        assert!(!line.chars().any(char::is_control), "{name}: {line:?}");
        assert_eq!(line.contains(": unknown: "), report.findings.is_empty(), "{name}: {line}");
        let figures = "page 32 KiB (96 %), write unit 64 KiB (86 %)";
        assert!(name != "measured" || line.contains(figures), "{line}");
    });
}

#[test]
fn every_chart_has_a_description_and_a_table() {
    each(|name, report| {
        let page = html(report);
        let charts = chart::charts(report);
        let drawn = charts.iter().filter(|chart| chart.is_telling());
        assert_eq!(page.matches("<svg").count(), drawn.count() * 2, "{name}");
        for svg in page.split("<svg").skip(1).map(|svg| svg.split("</svg>").next().unwrap()) {
            assert!(svg.contains("role=\"img\"") && svg.contains("aria-label=\""), "{name}");
            assert!(svg.contains("<title>") && svg.contains("<desc>"), "{name}");
        }
        assert_eq!(page.matches("<details>").count(), charts.len(), "{name}");
        for chart in charts {
            assert!(!chart.description.is_empty() && !chart.table.rows.is_empty(), "{name}: {}", chart.id);
            assert!(
                chart.table.rows.iter().all(|row| row.len() == chart.table.header.len()),
                "{name}: {}",
                chart.id
            );
        }
    });
}

#[test]
fn a_full_run_fills_every_chart() {
    let (run, findings) = (sample::run(), sample::findings());
    let charts = chart::charts(&Report::new(&run, &findings));
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id).collect();
    let expected = [
        "boundary",
        "speed-linear",
        "speed-random",
        "latency-linear",
        "latency-random",
        "fat-area-random",
        "offset",
    ];
    assert_eq!(ids, expected);
    let latency = &charts[3];
    assert_eq!(
        latency.series.iter().map(|series| series.name.as_str()).collect::<Vec<_>>(),
        ["8 open", "9 open"]
    );
}

#[test]
fn pictures_hold_only_finite_numbers() {
    each(|name, report| {
        let page = html(report);
        for picture in page.split("<svg").skip(1).map(|part| part.split("</svg>").next().unwrap()) {
            assert!(
                !picture.contains("NaN") && !picture.contains("inf\"") && !picture.contains("inf "),
                "{name}"
            );
        }
        for chart in chart::charts(report) {
            assert!(
                [chart.x.low, chart.x.high, chart.y.low, chart.y.high].iter().all(|end| end.is_finite()),
                "{name}"
            );
            assert!(chart.x.low < chart.x.high && chart.y.low < chart.y.high, "{name}: {}", chart.id);
        }
    });
}

#[test]
fn control_characters_and_markup_are_removed() {
    each(|name, report| {
        let control = |text: &str| text.chars().any(|character| character != '\n' && character.is_control());
        let page = html(report);
        assert!(!control(&page), "{name}: page");
        assert!(!page.contains("<b>") && !page.contains("\u{202e}"), "{name}: markup");
        assert!(!control(&terminal(report, 80, Style::Plain)), "{name}: text");
        assert!(!control(&without_colours(&terminal(report, 80, Style::Ansi))), "{name}: coloured text");
        let words = serde_json::to_string(&(verdict(report), advice(report))).unwrap();
        assert!(!words.contains("\\u00"), "{name}: {words}");
    });
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    each(|name, report| {
        for width in [20, 23, 31, 40, 57, 79, 80, 81, 120, 200] {
            let text = without_colours(&terminal(report, width, Style::Ansi));
            for line in text.lines() {
                assert!(line.width() <= width, "{name}, {width}: {} columns: {line}", line.width());
            }
        }
    });
}

#[test]
fn colours_do_not_change_the_text() {
    each(|name, report| {
        let (plain, coloured) = (terminal(report, 80, Style::Plain), terminal(report, 80, Style::Ansi));
        assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'), "{name}");
        let trimmed =
            |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<String>>();
        assert_eq!(trimmed(&plain), trimmed(&without_colours(&coloured)), "{name}");
    });
}

#[test]
fn an_unknown_is_reported_with_its_reason() {
    let run = sample::run();
    let reason = Reason::WithinNoise { boundaries_from: None, read_s: 200e-6, noise_s: 40e-6 };
    let findings = [Finding::unknown(FindingId::EraseBlockBytes, reason, [WouldDecide::WriteTests])];
    let report = Report::new(&run, &findings);
    let page =
        html(&report).replace('\u{a0}', " ").replace("<span class=\"option\">", "").replace("</span>", "");
    for text in [page, terminal(&report, 200, Style::Plain)] {
        assert!(
            text.contains(
                "Unknown: erase block. Reads of 200 µs differ by no more than their noise of 40 µs."
            ),
            "{text}"
        );
        assert!(text.contains("What would decide it: write tests (--erase)."), "{text}");
    }
    assert!(verdict(&report).headline.as_str().starts_with("Unknown"));
    let [only] = advice(&report).try_into().unwrap();
    assert_eq!((only.id, only.text.as_str()), ("measure_more", "Next measurement: write tests (--erase)."));
}

#[test]
fn an_early_end_is_reported() {
    let mut run = sample::run();
    let reason = StopReason::Failed { error: "the device vanished".to_owned() };
    run.observations[2].ended = Ended::Early { reason, cause: Cause::Device };
    run.observations[3].ended = Ended::NotStarted { reason: Refusal::ReadOnly, would_decide: Vec::new() };
    let findings = sample::findings();
    let report = Report::new(&run, &findings);
    for text in [html(&report), terminal(&report, 200, Style::Plain)] {
        assert!(text.contains("The open-units measurement ended early: the device vanished."));
        assert!(text.contains("The fat-area measurement could not start: the device was opened read-only, and this experiment writes."));
    }
}

#[test]
fn an_empty_run_reports_that_nothing_was_measured() {
    let run = hostile::empty();
    let report = Report::new(&run, &[]);
    assert!(chart::charts(&report).is_empty());
    assert!(html(&report).contains("Nothing was measured"));
    assert!(terminal(&report, 80, Style::Plain).contains("Nothing was measured"));
}

/// Regression: the sentence about the page was lost when the tables with the most open units had no smaller
/// writes.
#[test]
fn small_writes_are_reported_from_any_table_that_has_them() {
    let mut run = sample::run();
    run.observations.retain(|observations| !matches!(observations.data, Data::WriteSize(_)));
    for observations in &mut run.observations {
        if let Data::OpenUnits(data) = &mut observations.data {
            data.cells.retain(|cell| cell.open_units != 8 || cell.request >= Bytes::kib(32));
        }
    }
    let findings = sample::findings();
    let means = verdict(&Report::new(&run, &findings)).consequences;
    assert!(means.iter().any(|sentence| sentence.as_str().contains("16 KiB: 4.")), "{means:?}");
}

#[test]
fn advice_follows_from_findings_alone() {
    let run = hostile::empty();
    let ids = |findings: &[Finding]| -> Vec<&str> {
        advice(&Report::new(&run, findings)).into_iter().map(|advice| advice.id).collect()
    };
    assert_eq!(ids(&[]), [""; 0]);
    assert_eq!(ids(&sample::findings()), ["align_partitions", "limit_streams", "write_whole_pages"]);
    let fat = Value::Bytes(Bytes::mib(4));
    let fat = Finding::exact(FindingId::FatAreaBytes, fat, Confidence::new(0.9), figures());
    assert_eq!(ids(&[fat]), ["keep_fat_area"]);
}

#[test]
fn advice_has_its_gain_or_says_that_it_is_unknown() {
    let mut run = sample::run();
    let driver = Driver { name: "usb-storage".to_owned(), is_uas_unused: true };
    run.attachment = Attachment { driver: Some(driver), ..Attachment::default() };
    let texts = |run: &RunFile| -> Vec<String> {
        let findings = sample::findings();
        advice(&Report::new(run, &findings))
            .iter()
            .map(|advice| advice.with_gain_text().as_str().to_owned())
            .collect()
    };
    let with = texts(&run);
    let of = |word: &str| with.iter().find(|text| text.contains(word)).unwrap().clone();
    assert!(of("e.g. dd").ends_with("Gain: an everyday copy is 1.1 to 1.3 times as fast."), "{with:?}");
    assert!(of("at most").ends_with("Gain: none for an everyday copy."), "{with:?}");
    assert!(of("uas driver").contains("several requests in flight"), "{with:?}");
    run.observations.clear();
    let without = texts(&run);
    assert!(without.iter().all(|text| text.ends_with("Gain: not measured.")), "{without:?}");
}

#[test]
fn the_text_at_80_columns() {
    let (run, findings) = (sample::run(), sample::findings());
    insta::assert_snapshot!(terminal(&Report::new(&run, &findings), 80, Style::Plain));
}

#[test]
fn a_stalling_write_is_not_reported_as_fast_as_short_writes() {
    let stream = |stall_ms: u64| {
        let took = |index: u64| Duration::from_millis(if index % 16 == 15 { stall_ms } else { 40 });
        let long = |index: u64| LongWrite {
            written: Bytes::mib(index + 1),
            took: took(index),
            ended: (0..=index).map(took).sum(),
        };
        SustainedData {
            request: Bytes::mib(1),
            pieces: (0..600).map(|index| Piece { requests: 1, time: took(index) }).collect(),
            long: if stall_ms > 40 {
                (0..37).map(|stall| long(stall * 16 + 15)).collect()
            } else {
                Vec::new()
            },
            ..SustainedData::default()
        }
    };
    let report_text = |stall_ms| {
        let mut run = sample::run();
        let conditions =
            Conditions { capacity: Some(Bytes::gib(1)), ..run.observations[0].conditions.clone() };
        let data = Data::Sustained(stream(stall_ms));
        run.observations.push(Observations { data, conditions, ended: Ended::Complete });
        let findings = infer_run(&run.observations);
        terminal(&Report::new(&run, &findings), 300, Style::Plain)
    };
    let even = report_text(40);
    assert!(even.contains("long writes are as fast as short ones"), "{even}");
    let stalling = report_text(1760);
    assert!(
        stalling.contains("stalls take 75 % of the time; between stalls, writes are 3.9 times as fast"),
        "{stalling}"
    );
    assert!(!stalling.contains("as fast as short ones"), "{stalling}");
}

/// Pieces of one 1 MiB write each; `parts` gives the number of pieces and their milliseconds.
fn pieces(parts: &[(usize, u64)]) -> Vec<Piece> {
    let of =
        |(count, ms): &(usize, u64)| vec![Piece { requests: 1, time: Duration::from_millis(*ms) }; *count];
    parts.iter().flat_map(of).collect()
}

/// The sample run with a sustained write, and its findings.
fn with_sustained_write(stream: SustainedData) -> (RunFile, Vec<Finding>) {
    let mut run = sample::run();
    let conditions = Conditions { capacity: Some(Bytes::gib(8)), ..run.observations[0].conditions.clone() };
    run.observations.push(Observations { data: Data::Sustained(stream), conditions, ended: Ended::Complete });
    let findings = infer_run(&run.observations);
    (run, findings)
}

/// Whether the advice to idle between copies has a gain; `None` without that advice.
fn idle_advice_has_gain(stream: SustainedData) -> Option<bool> {
    let (run, findings) = with_sustained_write(stream);
    let advice = advice(&Report::new(&run, &findings));
    advice.iter().find(|advice| advice.id == "rest_between_copies").map(|advice| advice.gain.is_some())
}

#[test]
fn idle_time_is_advised_for_an_slc_cache_with_a_gain_only_after_measured_recovery() {
    let cache = SustainedData {
        request: Bytes::mib(1),
        pieces: pieces(&[(400, 10), (900, 80)]),
        ..SustainedData::default()
    };
    let after_idle = |parts: &[(usize, u64)]| {
        let resumed = vec![Resumed { pause: Duration::from_secs(600), pieces: pieces(parts) }];
        SustainedData { resumed, ..cache.clone() }
    };
    assert_eq!(idle_advice_has_gain(cache.clone()), Some(false), "no pause was measured");
    assert_eq!(idle_advice_has_gain(after_idle(&[(300, 10), (60, 80)])), Some(true));
    assert_eq!(idle_advice_has_gain(after_idle(&[(60, 80)])), None, "no recovery was measured");
}

#[test]
fn idle_time_is_not_advised_against_stalls() {
    let took = |index: u64| Duration::from_millis(if index % 16 == 15 { 1760 } else { 40 });
    let long = |index: u64| LongWrite {
        written: Bytes::mib(index + 1),
        took: took(index),
        ended: (0..=index).map(took).sum(),
    };
    let stalling = SustainedData {
        request: Bytes::mib(1),
        pieces: (0..3000).map(|index| Piece { requests: 1, time: took(index) }).collect(),
        long: (0..187).map(|stall| long(stall * 16 + 15)).collect(),
        ..SustainedData::default()
    };
    let (run, findings) = with_sustained_write(stalling.clone());
    let text = terminal(&Report::new(&run, &findings), 300, Style::Plain);
    assert!(text.contains("Stalls in long copies: stalls take 75 %"), "{text}");
    assert_eq!(idle_advice_has_gain(stalling), None);
}

#[test]
fn a_saturated_link_is_reported_and_a_port_advised_only_if_a_faster_one_is_known() {
    // Its small writes are slow: without a page size, the flash is not blamed for them.
    let (mut run, mut findings) = (sample::run(), sample::findings());
    findings.retain(|finding| finding.id != FindingId::PageBytes);
    let named = |name: &str| LinkKind::Named(name.to_owned());
    let mut of = |device_fastest: Option<LinkRange>| {
        let link = Link {
            kind: named("a wire"),
            bytes_per_s: (16e6, 20e6),
            device_fastest,
            slow_cause: None,
            is_card_reader: false,
        };
        run.attachment = Attachment { link: Some(link), ..Attachment::default() };
        let report = Report::new(&run, &findings);
        let bottleneck = verdict(&report).bottleneck[0].as_str().to_owned();
        (bottleneck, advice(&report).iter().any(|advice| advice.id == "faster_port"))
    };
    let faster = LinkRange { kind: named("a pipe"), bytes_per_s: (160e6, 200e6) };
    for (device_fastest, is_advised) in [(None, false), (Some(faster), true)] {
        let (bottleneck, advised) = of(device_fastest);
        assert!(bottleneck.starts_with("Link speed: writes reach"), "{bottleneck}");
        assert_eq!(advised, is_advised, "{bottleneck}");
    }
}

#[test]
fn a_failing_device_is_reported_first_and_many_failures_void_the_diagnosis() {
    let (mut run, findings) = (sample::run(), sample::findings());
    run.failed_requests = 1;
    let check = |run: &RunFile, failed: &str| {
        let report = Report::new(run, &findings);
        let text = terminal(&report, 300, Style::Plain);
        assert!(text.starts_with(&format!("{failed} of 38,476 requests failed: the stick may be failing")));
        let page = html(&report);
        assert!(page.find("may be failing") < page.find("<h1>"), "{page}");
        let first = &advice(&report)[0];
        let id = if run.is_erased { "keep_no_data_on_it" } else { "save_what_it_holds" };
        assert_eq!((first.id, first.gain), (id, None));
        let text = first.with_gain_text();
        assert!(text.as_str().ends_with("its contacts are bad."), "{text}");
        report.diagnosis()
    };
    assert!(!check(&run, "1").costs.is_empty(), "one of many");
    run.is_erased = true;
    run.failed_requests = 3000;
    let many = check(&run, "3,000");
    assert_eq!((many.bottleneck(), many.costs.len()), (None, 0));
    let Conclusion::Unknown { reason, .. } = many.conclusion else { panic!("{many:?}") };
    assert_eq!(reason, DiagnosisReason::RequestsFailed { failed: 3000, requests: 38476 });
}

#[test]
fn no_advice_for_use_follows_from_untrusted_latencies() {
    let (memory, mut quick, mut failing) = (sample::run(), sample::run(), sample::run());
    let memory = RunFile { attachment: Attachment { in_memory: true, ..Attachment::default() }, ..memory };
    failing.failed_requests = 3000;
    for observations in &mut quick.observations {
        let Data::Align(data) = &mut observations.data else { continue };
        let short = Duration::from_micros(2);
        data.samples.iter_mut().for_each(|each| [each.before, each.across, each.after] = [short; 3]);
    }
    for (run, objection) in [
        (&memory, "the target lies in memory (tmpfs)"),
        (&quick, "too fast for a stick or card; the data comes from memory"),
        (&failing, "too many requests failed"),
    ] {
        let findings = infer_run(&run.observations);
        let report = Report::new(run, &findings);
        let means = verdict(&report).consequences;
        assert!(means.len() == 1 && means[0].as_str().contains(objection), "{means:?}");
        let others = advice(&report).into_iter().map(|advice| advice.id);
        let others: Vec<&str> = others
            .filter(|id| !["measure_more", "save_what_it_holds", "keep_no_data_on_it"].contains(id))
            .collect();
        assert_eq!(others, [""; 0]);
        assert_eq!(report.diagnosis().bottleneck(), None);
    }
}

#[test]
fn advised_sizes_are_powers_of_two_and_name_no_cluster() {
    let run = hostile::empty();
    let text_for = |kib: u64| {
        let unit = Value::Bytes(Bytes::kib(kib));
        let unit = Finding::exact(FindingId::WriteUnitBytes, unit, Confidence::new(0.98), figures());
        advice(&Report::new(&run, &[unit]))[0].text.as_str().to_owned()
    };
    let cases = [
        (3, "Use write requests of at least 4 KiB, e.g. dd bs=4096."),
        (64, "Use write requests of at least 64 KiB, e.g. dd bs=65536."),
        (96, "Use write requests of at least 128 KiB, e.g. dd bs=131072."),
        (384, "Use write requests of at least 512 KiB, e.g. dd bs=524288."),
    ];
    for (kib, text) in cases {
        assert_eq!(text_for(kib), text);
    }
}

#[test]
fn a_wide_table_may_exceed_the_text_and_is_printed_whole() {
    let (run, findings) = (sample::run(), sample::findings());
    let page = html(&Report::new(&run, &findings));
    let (screen, print) = page.split_once("@media print").unwrap();
    assert!(screen.contains(".speeds .scroll {") && screen.contains("max-width: calc(100vw"), "{screen}");
    let rule = print.lines().find(|line| line.contains(".speeds .scroll {")).unwrap();
    assert!(rule.contains("overflow: visible") && rule.contains("max-width: none"), "{rule}");
}

#[test]
fn the_conditions_of_write_methods_have_methods_and_rounds_but_no_seed() {
    let methods = [
        WriteMethod::Zeros,
        WriteMethod::Random,
        WriteMethod::FlushAtEnd,
        WriteMethod::FlushEach,
        WriteMethod::Direct,
    ];
    let timing = |method: WriteMethod| MethodTiming {
        method,
        bytes: Bytes::mib(8),
        reported_s: 1.0,
        durable_s: 1.0,
        source_s: None,
    };
    let timings = (0..6).flat_map(|_| methods.map(timing)).collect();
    let mut run = sample::run();
    run.observations.truncate(1);
    run.observations[0].data = Data::Methods(MethodsData { timings, ..MethodsData::default() });
    run.observations[0].conditions.seed = 0;
    let reason = StopReason::Interrupted { rounds: Some(6) };
    run.observations[0].ended = Ended::Early { reason, cause: Cause::Interrupt };
    let page = html(&Report::new(&run, &[]));
    assert!(page.contains("5 write methods, 6 rounds") && !page.contains(">seed<"), "{page}");
    // A long reason wraps and is not cut off.
    assert!(page.contains("<td>early: interrupted after 6 rounds</td>"), "{page}");
    assert!(page.contains(".conditions .scroll td { white-space: normal; }"));
}

#[test]
fn page_of_write_methods_has_their_table_if_a_round_was_completed() {
    let page = |timings: Vec<MethodTiming>| {
        let mut run = sample::run();
        run.observations.truncate(1);
        run.observations[0].data = Data::Methods(MethodsData { timings, ..MethodsData::default() });
        html(&Report::new(&run, &[]))
    };
    let timing = MethodTiming {
        method: WriteMethod::Direct,
        bytes: Bytes::mib(8),
        reported_s: 1.0,
        durable_s: 1.0,
        source_s: None,
    };
    let title = "<h2>Write methods</h2>";
    let measured = page(vec![timing]);
    assert!(measured.contains(title) && measured.contains("<td>8.39 MB/s</td>"), "{measured}");
    let empty = page(Vec::new());
    assert!(!empty.contains(title), "{empty}");
}

/// Blocks are numbered from 1.
#[test]
fn end_of_the_fat_area_is_drawn_between_its_last_block_and_the_next() {
    let run = sample::run();
    let area = Value::Bytes(Bytes::mib(16));
    let findings = [Finding::exact(FindingId::FatAreaBytes, area, Confidence::new(0.9), figures())];
    let charts = chart::charts(&Report::new(&run, &findings));
    let fat_area = charts.iter().find(|chart| chart.id == "fat-area-random").unwrap();
    let lines: Vec<(f64, &str)> =
        fat_area.annotations.iter().map(|line| (line.x, line.label.as_str())).collect();
    assert_eq!(lines, [(2.5, "FAT area 16 MiB")]);
}
