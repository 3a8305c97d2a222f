//! What holds for every report: nothing from outside gets through, nothing leaves the page, nothing exceeds the width, and
//! what is not known is said.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hostile;
mod sample;

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_infer::infer_run;
use flashscope_record::attachment::{Attachment, Driver, Link, LinkKind, LinkRange};
use flashscope_record::diagnosis::{Conclusion, DiagnosisReason};
use flashscope_record::finding::{
    Confidence, Evidence, Finding, FindingId, ReadEvidence, Reason, Value, WouldDecide,
};
use flashscope_record::observation::{
    Cause, Claim, Conditions, Data, Ended, LongWrite, MethodsData, Observations, OpenUnitsCell, Order, Piece,
    Refusal, Resumed, StopReason, SustainedData, Times, Way,
};
use flashscope_record::run_file::RunFile;
use flashscope_report::{Report, Style, advice, brief, chart, html, terminal, verdict};
use unicode_width::UnicodeWidthStr;

/// Every run the tests look at, with findings: as measured, as published, hostile, absurd, and empty.
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
        check(name, &Report { run: &run, findings: &findings });
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
fn the_page_needs_nothing_from_outside() {
    each(|name, report| {
        let page = html(report);
        for outside in ["://", "src=", "<script", "<link", "@import", "url(", "javascript:", "<iframe"] {
            assert!(!page.contains(outside), "{name}: {outside}");
        }
    });
}

#[test]
fn the_brief_form_is_one_line_without_escapes() {
    each(|name, report| {
        let line = brief(report);
        assert!(!line.chars().any(char::is_control), "{name}: {line:?}");
        assert_eq!(line.contains(": unknown: "), report.findings.is_empty(), "{name}: {line}");
    });
}

#[test]
fn every_chart_has_words_and_a_table() {
    each(|name, report| {
        let page = html(report);
        let charts = chart::charts(report);
        assert_eq!(page.matches("<svg").count(), charts.len() * 2, "{name}");
        for svg in page.split("<svg").skip(1) {
            let svg = svg.split("</svg>").next().unwrap();
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
    let charts = chart::charts(&Report { run: &run, findings: &findings });
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
    let wall = &charts[3];
    assert_eq!(
        wall.series.iter().map(|series| series.name.as_str()).collect::<Vec<_>>(),
        ["8 open", "9 open"]
    );
}

#[test]
fn nothing_infinite_reaches_a_picture() {
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
fn control_characters_and_markup_stay_out() {
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
fn colours_change_nothing_but_colours() {
    each(|name, report| {
        let (plain, coloured) = (terminal(report, 80, Style::Plain), terminal(report, 80, Style::Ansi));
        assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'), "{name}");
        let trimmed =
            |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<String>>();
        assert_eq!(trimmed(&plain), trimmed(&without_colours(&coloured)), "{name}");
    });
}

#[test]
fn an_unknown_is_called_unknown_with_its_reason() {
    let run = sample::run();
    let reason = Reason::WithinNoise { boundaries_from: None, read_s: 200e-6, noise_s: 40e-6 };
    let findings = [Finding::unknown(FindingId::EraseBlockBytes, reason, [WouldDecide::WriteTests])];
    let report = Report { run: &run, findings: &findings };
    for text in [html(&report).replace('\u{a0}', " "), terminal(&report, 200, Style::Plain)] {
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
    assert_eq!((only.id, only.text.as_str()), ("measure_more", "Measure more: write tests (--erase)."));
}

#[test]
fn an_early_end_is_said() {
    let mut run = sample::run();
    let reason = StopReason::Failed { error: "the device vanished".to_owned() };
    run.observations[2].ended = Ended::Early { reason, cause: Cause::Device };
    run.observations[3].ended = Ended::NotStarted { reason: Refusal::ReadOnly, would_decide: Vec::new() };
    let report = Report { run: &run, findings: &sample::findings() };
    for text in [html(&report), terminal(&report, 200, Style::Plain)] {
        assert!(text.contains("The open-units measurement ended early: the device vanished."));
        assert!(text.contains(
            "The fat-area measurement could not begin: the device was opened read-only, and this experiment writes."
        ));
    }
}

#[test]
fn an_empty_run_says_that_nothing_was_measured() {
    let run = hostile::empty();
    let report = Report { run: &run, findings: &[] };
    assert!(chart::charts(&report).is_empty());
    assert!(html(&report).contains("Nothing was measured"));
    assert!(terminal(&report, 80, Style::Plain).contains("Nothing was measured"));
}

/// The sentence that quotes the page was once lost when the tables with the most open units held no smaller writes.
#[test]
fn small_writes_are_told_from_whichever_table_has_them() {
    let mut run = sample::run();
    run.observations.retain(|seen| !matches!(seen.data, Data::WriteSize(_)));
    for seen in &mut run.observations {
        if let Data::OpenUnits(data) = &mut seen.data {
            data.cells.retain(|cell| cell.open_units != 8 || cell.request >= Bytes::kib(32));
        }
    }
    let report = Report { run: &run, findings: &sample::findings() };
    let means = verdict(&report).what_it_means;
    assert!(means.iter().any(|sentence| sentence.as_str().contains("16 KiB at a time take")), "{means:?}");
}

#[test]
fn advice_follows_from_findings_alone() {
    let run = hostile::empty();
    let ids = |findings: &[Finding]| -> Vec<&str> {
        advice(&Report { run: &run, findings }).into_iter().map(|advice| advice.id).collect()
    };
    assert_eq!(ids(&[]), [""; 0]);
    assert_eq!(ids(&sample::findings()), ["align_partitions", "limit_streams", "write_whole_pages"]);
    let fat = Value::Bytes(Bytes::mib(4));
    let fat = Finding::exact(FindingId::FatAreaBytes, fat, Confidence::new(0.9), figures());
    assert_eq!(ids(&[fat]), ["keep_fat_area"]);
}

#[test]
fn advice_says_what_it_gives_or_that_nobody_knows() {
    let mut run = sample::run();
    let driver = Driver { name: "usb-storage".to_owned(), is_uas_unused: true };
    run.attachment = Attachment { driver: Some(driver), ..Attachment::default() };
    let told = |run: &RunFile| -> Vec<String> {
        let findings = sample::findings();
        advice(&Report { run, findings: &findings })
            .iter()
            .map(|advice| advice.told().as_str().to_owned())
            .collect()
    };
    let with = told(&run);
    let of = |word: &str| with.iter().find(|told| told.contains(word)).unwrap().clone();
    assert!(
        of("at a time, e.g. dd").ends_with("an everyday copy gets 1.1 to 1.3 times as fast."),
        "{with:?}"
    );
    assert!(of("at most").ends_with("(an everyday copy gains nothing by it)."), "{with:?}");
    assert!(of("uas driver").contains("several requests at a time"), "{with:?}");
    run.observations.clear();
    let without = told(&run);
    assert!(without.iter().all(|told| told.ends_with("(what that gives was not measured).")), "{without:?}");
}

#[test]
fn the_text_at_80_columns() {
    let (run, findings) = (sample::run(), sample::findings());
    insta::assert_snapshot!(terminal(&Report { run: &run, findings: &findings }, 80, Style::Plain));
}

#[test]
fn a_stream_that_stalls_is_not_as_fast_as_short_writing() {
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
    let said = |stall_ms| {
        let mut run = sample::run();
        let conditions =
            Conditions { capacity: Some(Bytes::gib(1)), ..run.observations[0].conditions.clone() };
        let data = Data::Sustained(stream(stall_ms));
        run.observations.push(Observations { data, conditions, ended: Ended::Complete });
        let findings = infer_run(&run.observations);
        terminal(&Report { run: &run, findings: &findings }, 300, Style::Plain)
    };
    let even = said(40);
    assert!(even.contains("long writing is as fast as short"), "{even}");
    let stalling = said(1760);
    assert!(
        stalling.contains("stalls take 74 % of the time; short writing goes 3.9 times as fast"),
        "{stalling}"
    );
    assert!(!stalling.contains("as fast as short"), "{stalling}");
}

/// Writes of 1 MiB, so many of so many milliseconds each.
fn pieces(parts: &[(usize, u64)]) -> Vec<Piece> {
    let of =
        |(count, ms): &(usize, u64)| vec![Piece { requests: 1, time: Duration::from_millis(*ms) }; *count];
    parts.iter().flat_map(of).collect()
}

/// The sample with a long stream, and what follows from both.
fn with_stream(stream: SustainedData) -> (RunFile, Vec<Finding>) {
    let mut run = sample::run();
    let conditions = Conditions { capacity: Some(Bytes::gib(8)), ..run.observations[0].conditions.clone() };
    run.observations.push(Observations { data: Data::Sustained(stream), conditions, ended: Ended::Complete });
    let findings = infer_run(&run.observations);
    (run, findings)
}

/// What the advice to let it rest gives, if there is such advice.
fn rest(stream: SustainedData) -> Option<bool> {
    let (run, findings) = with_stream(stream);
    let advice = advice(&Report { run: &run, findings: &findings });
    advice.iter().find(|advice| advice.id == "rest_between_copies").map(|advice| advice.gain.is_some())
}

#[test]
fn rest_is_advised_for_a_cache_and_promised_only_where_a_pause_gave_something_back() {
    let cache = SustainedData {
        request: Bytes::mib(1),
        pieces: pieces(&[(400, 10), (900, 80)]),
        ..SustainedData::default()
    };
    let behind = |parts: &[(usize, u64)]| {
        let resumed = vec![Resumed { pause: Duration::from_secs(600), pieces: pieces(parts) }];
        SustainedData { resumed, ..cache.clone() }
    };
    assert_eq!(rest(cache.clone()), Some(false), "no pause was measured");
    assert_eq!(rest(behind(&[(300, 10), (60, 80)])), Some(true));
    assert_eq!(rest(behind(&[(60, 80)])), None, "the pause gave nothing back");
}

#[test]
fn rest_is_no_advice_against_stalls() {
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
    let (run, findings) = with_stream(stalling.clone());
    let text = terminal(&Report { run: &run, findings: &findings }, 300, Style::Plain);
    assert!(text.contains("SLC cache exhausted, or garbage collection: stalls take 75 %"), "{text}");
    assert_eq!(rest(stalling), None);
}

#[test]
fn a_full_link_is_named_and_another_port_advised_only_where_one_is_known() {
    // Its small writes are dear: without a page they are not taken for slow flash.
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
        let report = Report { run: &run, findings: &findings };
        let held = verdict(&report).what_holds_it_back[0].as_str().to_owned();
        (held, advice(&report).iter().any(|advice| advice.id == "faster_port"))
    };
    let faster = LinkRange { kind: named("a pipe"), bytes_per_s: (160e6, 200e6) };
    for (device_fastest, is_advised) in [(None, false), (Some(faster), true)] {
        let (held, advised) = of(device_fastest);
        assert!(held.starts_with("Link speed: writes reach"), "{held}");
        assert_eq!(advised, is_advised, "{held}");
    }
}

#[test]
fn that_a_device_may_be_dying_comes_first_and_nothing_is_concluded_from_its_times() {
    let (mut run, findings) = (sample::run(), sample::findings());
    run.failed_requests = 1;
    let said = |run: &RunFile| {
        let report = Report { run, findings: &findings };
        let text = terminal(&report, 300, Style::Plain);
        assert!(text.starts_with(&format!(
            "{} of 38476 requests failed: the stick may be dying",
            run.failed_requests
        )));
        let page = html(&report);
        assert!(page.find("may be dying") < page.find("<h1>"), "{page}");
        let first = &advice(&report)[0];
        assert_eq!((first.id, first.gain), ("save_what_it_holds", None));
        assert!(first.told().as_str().ends_with("its contacts are."), "{}", first.told());
        report.diagnosis()
    };
    assert!(!said(&run).costs.is_empty(), "one of many");
    run.failed_requests = 3000;
    let many = said(&run);
    assert_eq!((many.bottleneck(), many.costs.len()), (None, 0));
    let Conclusion::Unknown { reason, .. } = many.conclusion else { panic!("{many:?}") };
    assert_eq!(reason, DiagnosisReason::RequestsFailed { failed: 3000, requests: 38476 });
}

#[test]
fn nothing_follows_from_times_that_something_speaks_against() {
    let (memory, mut quick, mut failing) = (sample::run(), sample::run(), sample::run());
    let memory = RunFile { attachment: Attachment { in_memory: true, ..Attachment::default() }, ..memory };
    failing.failed_requests = 3000;
    for seen in &mut quick.observations {
        let Data::Align(data) = &mut seen.data else { continue };
        let short = Duration::from_micros(2);
        data.samples.iter_mut().for_each(|each| [each.before, each.across, each.after] = [short; 3]);
    }
    for (run, objection) in [
        (&memory, "the target lies in memory (tmpfs)"),
        (&quick, "too fast for a stick or card; this comes out of memory"),
        (&failing, "too many requests failed"),
    ] {
        let findings = infer_run(&run.observations);
        let report = Report { run, findings: &findings };
        let means = verdict(&report).what_it_means;
        assert!(means.len() == 1 && means[0].as_str().contains(objection), "{means:?}");
        let others = advice(&report).into_iter().map(|advice| advice.id);
        let others: Vec<&str> =
            others.filter(|id| !["measure_more", "save_what_it_holds"].contains(id)).collect();
        assert_eq!(others, [""; 0]);
        assert_eq!(report.diagnosis().bottleneck(), None);
    }
}

#[test]
fn sizes_in_advice_are_powers_of_two_and_clusters_such_as_filesystems_have() {
    let run = hostile::empty();
    let told = |kib: u64| {
        let unit = Value::Bytes(Bytes::kib(kib));
        let unit = Finding::exact(FindingId::WriteUnitBytes, unit, Confidence::new(0.98), figures());
        advice(&Report { run: &run, findings: &[unit] })[0].text.as_str().to_owned()
    };
    let cases = [
        (3, "Write at least 4 KiB at a time, e.g. dd bs=4096 or a cluster of that size."),
        (64, "Write at least 64 KiB at a time, e.g. dd bs=65536 or a cluster of that size."),
        (96, "Write at least 128 KiB at a time, e.g. dd bs=131072."),
        (384, "Write at least 512 KiB at a time, e.g. dd bs=524288."),
    ];
    for (kib, text) in cases {
        assert_eq!(told(kib), text);
    }
}

/// The sample without what blocks in turn told of small writes within the limit, and with rows of sizes that memory took at once.
fn buffered() -> RunFile {
    let mut run = sample::run();
    for seen in &mut run.observations {
        match &mut seen.data {
            Data::OpenUnits(data) => {
                data.cells.retain(|cell| cell.open_units > 8 || cell.request == Bytes::kib(64));
            }
            Data::WriteSize(data) => {
                let at_once = Times::Each(vec![Duration::from_micros(50); 8]);
                data.cells.iter_mut().for_each(|cell| cell.times = at_once.clone());
            }
            _ => {}
        }
    }
    run
}

#[test]
fn the_headline_holds_writes_in_turn_against_each_other_and_takes_no_memory_for_the_stick() {
    let buffer = Value::Bytes(Bytes::mib(8));
    let buffer = Finding::exact(FindingId::WriteBufferBytes, buffer, Confidence::new(0.94), figures());
    let headline =
        |run: &RunFile, findings: &[Finding]| verdict(&Report { run, findings }).headline.as_str().to_owned();
    let mut run = buffered();
    let with_buffer = [sample::findings(), vec![buffer]].concat();
    let in_turn = headline(&run, &with_buffer);
    assert!(in_turn.contains("writes of 64 KiB take") && in_turn.contains("instead of 12."), "{in_turn}");
    for seen in &mut run.observations {
        if let Data::OpenUnits(data) = &mut seen.data {
            data.cells.retain(|cell| cell.open_units > 8);
        }
    }
    let alone = headline(&run, &with_buffer);
    assert!(!alone.contains("instead of"), "{alone}");
    assert!(headline(&run, &sample::findings()).contains("instead of"), "rows of sizes count otherwise");
}

#[test]
fn order_is_compared_up_to_what_linear_order_has_room_for_and_over_several_writes() {
    let said = |random_units: u32, writes: usize| {
        let mut run = sample::run();
        for seen in &mut run.observations {
            let Data::OpenUnits(data) = &mut seen.data else { continue };
            data.cells.retain(|cell| cell.order == Order::Linear);
            let random = |open_units, ms, writes| {
                let times = Times::Each(vec![Duration::from_millis(ms); writes]);
                OpenUnitsCell::round_robin((Order::Random, open_units, Bytes::kib(64)), times)
            };
            data.cells.extend([random(1, 6, 8), random(4, 100, writes)]);
        }
        let mut findings = sample::findings();
        for finding in findings.iter_mut().filter(|finding| finding.id == FindingId::OpenUnitsRandom) {
            let units = Value::Count(random_units);
            *finding = Finding::exact(FindingId::OpenUnitsRandom, units, Confidence::new(0.93), figures());
        }
        let means = verdict(&Report { run: &run, findings: &findings }).what_it_means;
        means.iter().map(|sentence| sentence.as_str().to_owned()).find(|said| said.contains("rder "))
    };
    let dear = said(1, 8).unwrap();
    assert!(dear.starts_with("Random order costs 19 times as much as linear order: 64 KiB"), "{dear}");
    assert!(dear.contains("in random order with 4 open blocks"), "{dear}");
    // A single write tells nothing; and that order hardly matters is not said of so little room.
    assert_eq!(said(1, 1), None);
    assert!(said(8, 1).is_some_and(|said| said.starts_with("Order hardly matters: 64 KiB at a time take")));
}

#[test]
fn a_wide_table_is_whole_on_paper_and_may_be_wider_than_the_text() {
    let (run, findings) = (sample::run(), sample::findings());
    let page = html(&Report { run: &run, findings: &findings });
    let (screen, print) = page.split_once("@media print").unwrap();
    assert!(screen.contains(".speeds .scroll {") && screen.contains("max-width: calc(100vw"), "{screen}");
    let rule = print.lines().find(|line| line.contains(".speeds .scroll {")).unwrap();
    assert!(rule.contains("overflow: visible") && rule.contains("max-width: none"), "{rule}");
}

#[test]
fn the_conditions_of_ways_to_write_count_ways_and_rounds_and_name_no_seed() {
    let ways = [Way::Zeros, Way::Random, Way::FlushAtEnd, Way::FlushEach, Way::Direct];
    let claim =
        |way: Way| Claim { way, bytes: Bytes::mib(8), claimed_s: 1.0, durable_s: 1.0, source_s: None };
    let claims = (0..6).flat_map(|_| ways.map(claim)).collect();
    let mut run = sample::run();
    run.observations.truncate(1);
    run.observations[0].data = Data::Methods(MethodsData { claims, ..MethodsData::default() });
    run.observations[0].conditions.seed = 0;
    let reason = StopReason::Interrupted { rounds: Some(6) };
    run.observations[0].ended = Ended::Early { reason, cause: Cause::Interrupt };
    let page = html(&Report { run: &run, findings: &[] });
    assert!(page.contains("5 ways to write, 6 rounds") && !page.contains(">seed<"), "{page}");
    // A long reason goes on in the next line and is not cut off.
    assert!(page.contains("<td>early: interrupted after 6 rounds</td>"), "{page}");
    assert!(page.contains(".conditions .scroll td { white-space: normal; }"));
}
