//! Runs that nobody wants to see: names with escapes and markup, figures that cannot be, nothing at all.

use std::time::Duration;

use flashscope_device::layer::Cost;
use flashscope_device::{ByteRange, Bytes};
use flashscope_record::finding::{
    Confidence, Evidence, Finding, FindingId, Objection, ReadEvidence, Reason, Value, WouldDecide,
};
use flashscope_record::observation::{
    AlignData, AlignSample, Cause, Conditions, Data, Ended, FatAreaCell, FatAreaData, Observations,
    OpenUnitsCell, OpenUnitsData, Order, Refusal, Source, StopReason, Times, WriteSizeCell, WriteSizeData,
};
use flashscope_record::run_file::RunFile;

/// Escapes that colour, clear and retitle a terminal, one that reorders text, markup, and wide characters.
const EVIL: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J<b>bold</b>\u{202e}漢字漢字\r\n\t&amp;\"'\u{0}ein_sehr_langes_Wort_ohne_Leerzeichen_das_in_keine_Zeile_passt";

/// No observations.
pub fn empty() -> RunFile {
    RunFile {
        format: 1,
        flashscope: String::new(),
        target: String::new(),
        device_name: String::new(),
        attachment: flashscope_record::attachment::Attachment::default(),
        measured_at: String::new(),
        observations: Vec::new(),
        cost: Cost::default(),
        failed_requests: 0,
        is_erased: false,
        capacity: None,
        remarks: Vec::new(),
    }
}

/// Every text is [`EVIL`].
pub fn named() -> RunFile {
    let mut run = super::sample::run();
    for text in [&mut run.flashscope, &mut run.target, &mut run.device_name, &mut run.measured_at] {
        EVIL.clone_into(text);
    }
    run.remarks = vec![EVIL.to_owned()];
    let early = Ended::Early { reason: StopReason::Recorded(EVIL.to_owned()), cause: Cause::Device };
    let (reason, would_decide) = (Refusal::Recorded(EVIL.to_owned()), vec![evil_advice()]);
    let endings = [early, Ended::NotStarted { reason, would_decide }];
    for (observations, ended) in run.observations.iter_mut().zip(endings.into_iter().cycle()) {
        observations.ended = ended;
        observations.conditions.source = Source::Published { program: EVIL.to_owned(), devices: Vec::new() };
    }
    run
}

fn evil_advice() -> WouldDecide {
    WouldDecide::Recorded(EVIL.to_owned())
}

/// Every text that comes from outside is [`EVIL`].
pub fn findings() -> Vec<Finding> {
    let names = Objection::SeveralDevices(vec![EVIL.to_owned(), EVIL.to_owned()]);
    let refused = Reason::NotStarted(Refusal::Recorded(EVIL.to_owned()));
    let failed = Reason::NoTime.ended_early(StopReason::Failed { error: EVIL.to_owned() });
    let unknown = |id, reason| Finding::unknown(id, reason, [evil_advice()]);
    let size = Value::Bytes(Bytes::kib(32));
    let figures = Evidence::Reads(ReadEvidence::Alike { read_s: f64::NAN, noise_s: f64::INFINITY });
    vec![
        Finding::exact(FindingId::WriteBufferBytes, size, Confidence::new(0.5), figures),
        unknown(FindingId::EraseBlockBytes, Reason::Objection(names)),
        unknown(FindingId::PageBytes, refused),
        unknown(FindingId::WriteUnitBytes, failed),
    ]
}

fn observations(data: Data) -> Observations {
    let conditions = Conditions {
        source: Source::Measured,
        capacity: Some(Bytes::ZERO),
        region: Some(ByteRange::new(Bytes::new(u64::MAX), Bytes::new(u64::MAX))),
        is_in_file: false,
        seed: u64::MAX,
    };
    Observations { data, conditions, ended: Ended::Complete }
}

fn times() -> [Times; 5] {
    [
        Times::Each(Vec::new()),
        Times::Each(vec![Duration::ZERO; 3]),
        Times::Each(vec![Duration::MAX, Duration::from_nanos(1), Duration::ZERO]),
        Times::Mean { per_request: Duration::ZERO, requests: Some(0) },
        Times::Mean { per_request: Duration::MAX, requests: Some(u64::MAX / 2) },
    ]
}

/// Sizes of nothing and of everything, times of nothing and of ages.
pub fn absurd() -> RunFile {
    let sizes = [Bytes::ZERO, Bytes::new(1), Bytes::kib(32), Bytes::new(u64::MAX)];
    let orders = [Order::Linear, Order::Random];
    let mut align = AlignData::default();
    let (mut open, mut write, mut fat) =
        (OpenUnitsData::default(), WriteSizeData::default(), FatAreaData::default());
    for (size, time) in sizes.into_iter().flat_map(|size| times().map(|time| (size, time))) {
        let (before, across, after) = (Duration::MAX, Duration::ZERO, Duration::MAX);
        align.samples.push(AlignSample { candidate: size, boundary: Some(size), before, across, after });
        for order in orders {
            let (request, times) = (size, time.clone());
            write.cells.push(WriteSizeCell { order, request, start: None, times: times.clone() });
            for count in [0, 8, 9, u32::MAX] {
                open.cells.push(OpenUnitsCell::round_robin((order, count, request), times.clone()));
                fat.cells.push(FatAreaCell { unit: count, order, request, times: times.clone() });
            }
        }
    }
    let data = [Data::Align(align), Data::OpenUnits(open), Data::WriteSize(write), Data::FatArea(fat)];
    RunFile { observations: data.into_iter().map(observations).collect(), ..empty() }
}
