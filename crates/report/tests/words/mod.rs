//! The sentences on what the figures mean: each follows from its comparison, and advice from its gain.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_record::attachment::{Attachment, Driver, Link, LinkKind, LinkRange};
use flashscope_record::diagnosis::GAIN_REPORTED_MIN;
use flashscope_record::finding::{Confidence, Finding, FindingId, Value};
use flashscope_record::observation::{Data, OpenUnitsCell, Order, Times, WriteSizeCell, WriteSizeData};
use flashscope_record::run_file::RunFile;
use flashscope_report::{Report, advice, verdict};

use crate::{figures, sample};

/// What the report says of writes below a page of 32 KiB: latencies of 16, 32 and 64 KiB, milliseconds.
fn on_small_writes(milliseconds: [u64; 3]) -> String {
    let mut run = sample::run();
    let cell = |(kib, ms)| WriteSizeCell {
        start: None,
        order: Order::Linear,
        request: Bytes::kib(kib),
        times: Times::Each(vec![Duration::from_millis(ms); 8]),
    };
    let cells = [16, 32, 64].into_iter().zip(milliseconds).map(cell).collect();
    run.observations.truncate(1);
    run.observations[0].data = Data::WriteSize(WriteSizeData { cells, ..WriteSizeData::default() });
    let page = Value::Bytes(Bytes::kib(32));
    let page = Finding::exact(FindingId::PageBytes, page, Confidence::new(0.98), figures());
    let sentences = verdict(&Report::new(&run, &[page])).consequences;
    sentences.iter().map(|each| each.as_str().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_small_write_takes_as_long_as_a_page_only_if_it_nearly_does() {
    let as_long = "A write smaller than 32 KiB takes about as long as one of 32 KiB. 16 KiB: ";
    let less = "Writes smaller than 32 KiB have a lower throughput. 16 KiB: ";
    let same = "Writes smaller than 32 KiB have about the same throughput. 16 KiB: ";
    let longer = "A write smaller than 32 KiB takes longer than one of 32 KiB. 16 KiB: ";
    for (milliseconds, sentence) in [(50, same), (70, less), (90, as_long), (100, as_long), (150, longer)] {
        let text = on_small_writes([milliseconds, 100, 200]);
        assert!(text.contains(sentence), "{milliseconds} ms: {text}");
    }
}

#[test]
fn a_size_is_named_as_the_fastest_only_if_it_is_clearly_faster_than_the_page() {
    for (milliseconds, is_named) in [(150, true), (175, true), (195, false), (200, false), (300, false)] {
        let text = on_small_writes([100, 100, milliseconds]);
        assert_eq!(text.contains("The fastest size is 64 KiB: "), is_named, "{text}");
    }
}

#[test]
fn advice_begins_with_the_largest_gain() {
    let named = |name: &str| LinkKind::Named(name.to_owned());
    let link = Link {
        kind: named("a wire"),
        bytes_per_s: (16e6, 20e6),
        device_fastest: Some(LinkRange { kind: named("a pipe"), bytes_per_s: (160e6, 200e6) }),
        slow_cause: None,
        is_card_reader: false,
    };
    let driver = Driver { name: "usb-storage".to_owned(), is_uas_unused: true };
    let mut run = sample::run();
    let mut tops = Vec::new();
    for link in [None, Some(link)] {
        run.attachment = Attachment { link, driver: Some(driver.clone()), ..Attachment::default() };
        for skipped in [None, Some(FindingId::PageBytes)] {
            let findings: Vec<Finding> =
                sample::findings().into_iter().filter(|finding| Some(finding.id) != skipped).collect();
            let all = advice(&Report::new(&run, &findings));
            let gains: Vec<f64> = all.iter().filter_map(|advice| Some(advice.gain?.likely)).collect();
            let reported: Vec<f64> = gains.iter().map(|gain| gain.max(GAIN_REPORTED_MIN)).collect();
            assert!(reported.is_sorted_by(|one, next| one >= next), "{gains:?}");
            let first_without = all.iter().position(|advice| advice.gain.is_none());
            let last_with = all
                .iter()
                .rposition(|advice| advice.gain.is_some_and(|gain| gain.likely > GAIN_REPORTED_MIN));
            assert!(first_without.is_none() || last_with < first_without, "{all:?}");
            tops.push(all[0].id);
        }
    }
    tops.dedup();
    assert!(tops.len() > 1, "another gain is the largest: {tops:?}");
}

/// The sample with round-robin writes within the limit at 64 KiB only, and with single-stream writes taken by
/// a write buffer.
fn buffered() -> RunFile {
    let mut run = sample::run();
    for observations in &mut run.observations {
        match &mut observations.data {
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
fn the_headline_compares_round_robin_writes_and_ignores_buffered_ones() {
    let buffer = Value::Bytes(Bytes::mib(8));
    let buffer = Finding::exact(FindingId::WriteBufferBytes, buffer, Confidence::new(0.94), figures());
    let headline = |run: &RunFile, findings: &[Finding]| {
        verdict(&Report::new(run, findings)).headline.as_str().to_owned()
    };
    let mut run = buffered();
    let with_buffer = [sample::findings(), vec![buffer]].concat();
    let round_robin = headline(&run, &with_buffer);
    assert!(
        round_robin.contains("64 KiB writes take") && round_robin.contains("instead of 12."),
        "{round_robin}"
    );
    for observations in &mut run.observations {
        if let Data::OpenUnits(data) = &mut observations.data {
            data.cells.retain(|cell| cell.open_units > 8);
        }
    }
    let single_stream = headline(&run, &with_buffer);
    assert!(!single_stream.contains("instead of"), "{single_stream}");
    assert!(
        headline(&run, &sample::findings()).contains("instead of"),
        "single-stream writes count without a buffer"
    );
}

#[test]
fn orders_are_compared_up_to_the_sequential_open_blocks_and_over_several_writes() {
    let order_sentence = |random_units: u32, writes: usize| {
        let mut run = sample::run();
        for observations in &mut run.observations {
            let Data::OpenUnits(data) = &mut observations.data else { continue };
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
        let means = verdict(&Report::new(&run, &findings)).consequences;
        means
            .iter()
            .map(|sentence| sentence.as_str().to_owned())
            .find(|text| text.contains("sequential ones"))
    };
    let slow = order_sentence(1, 8).unwrap();
    assert!(
        slow.starts_with(
            "Random 64 KiB writes take 19 times as long as sequential ones. Random, 4 open blocks: "
        ),
        "{slow}"
    );
    assert!(slow.contains("writes). Sequential, 6 open blocks: "), "{slow}");
    // One write is too few; and without writes beyond the open blocks, no equal speed is reported.
    assert_eq!(order_sentence(1, 1), None);
    assert!(order_sentence(8, 1)
        .is_some_and(|text| text.starts_with("Random 64 KiB writes are about as fast as sequential ones")));
}
