//! Advice: what to do, the finding it follows from, and its gain.

use flashscope_device::Bytes;
use flashscope_infer::streams::throughput_profile::throughput_profile;
use flashscope_infer::verdict::COPY_MIN;
use flashscope_record::attachment::Link;
use flashscope_record::diagnosis::{Bottleneck, Diagnosis, GAIN_REPORTED_MIN, Gain};
use flashscope_record::finding::{Finding, FindingId, FtlClass, Outcome, WouldDecide};
use serde::Serialize;

use super::bottleneck::gain_text;
use super::confidence::with_confidence;
use super::diagnosis::{evidence_text, slow_cause_text};
use super::reason::reason;
use super::sentence::Sentence;
use super::throughput_profile::sustained_write;
use super::timing_objection::timing_objection;
use super::warning::failed_requests;
use super::would_decide::would_decide;
use crate::Report;
use crate::layout::{self, JudgedVolume};
use crate::terms::finding_title;

/// One piece of advice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// A stable name.
    pub id: &'static str,
    /// What to do.
    pub text: Sentence,
    /// The finding it follows from, with its confidence.
    #[serde(rename = "because")]
    pub reason: Sentence,
    /// The speed-up of the everyday copy (docs/diagnosis.md); `None` where it was not measured.
    pub gain: Option<Gain>,
}

/// The advice to measure more, which has no gain.
const MEASURE_MORE: &str = "measure_more";
/// The advice to back up the data, which has no gain either.
const BACK_UP: &str = "save_what_it_holds";
/// The advice where tests overwrote the data, so that there is nothing to back up.
const KEEP_NO_DATA: &str = "keep_no_data_on_it";

impl Advice {
    /// The same, with the gain of removing this bottleneck.
    fn with_gain(self, diagnosis: &Diagnosis, bottleneck: Bottleneck) -> Self {
        Self { gain: diagnosis.gain(bottleneck), ..self }
    }

    /// What to do, and its gain.
    #[must_use]
    pub fn with_gain_text(&self) -> Sentence {
        let gain = match self.gain {
            _ if [MEASURE_MORE, BACK_UP, KEEP_NO_DATA].contains(&self.id) => return self.text.clone(),
            None => "not measured".to_owned(),
            Some(gain) if gain.is_none() => "none for an everyday copy".to_owned(),
            Some(gain) => format!("an everyday copy is {}", gain_text(gain)),
        };
        Sentence::new(format!("{} Gain: {gain}", self.text))
    }
}

type Rule = fn(&Report<'_>, &Diagnosis) -> Option<Advice>;

/// The advice that follows from a report's findings and diagnosis, in descending order of gain.
#[must_use]
pub fn advice(report: &Report<'_>) -> Vec<Advice> {
    let rules: [Rule; 12] = [
        faster_port,
        faster_reader,
        larger_commands,
        use_uas,
        rest_between_copies,
        align_filesystem,
        align_partitions,
        limit_streams,
        write_sequentially,
        write_large_requests,
        keep_fat_area,
        measure_more,
    ];
    let diagnosis = report.diagnosis();
    // Without trustworthy latencies, the only advice is to measure again.
    let rules = if timing_objection(report).is_some() { &rules[rules.len() - 1..] } else { &rules[..] };
    let advice = rules.iter().filter_map(|rule| rule(report, &diagnosis));
    let mut advice: Vec<Advice> = advice.collect();
    let likely = |advice: &Advice| advice.gain.map_or(1.0, |gain| gain.likely).max(GAIN_REPORTED_MIN);
    advice.sort_by(|a, b| likely(b).total_cmp(&likely(a)));
    // Data at risk comes first.
    back_up(report).into_iter().chain(advice).collect()
}

/// Advice that removes a bottleneck.
fn remove_bottleneck(
    diagnosis: &Diagnosis,
    bottleneck: Bottleneck,
    id: &'static str,
    text: &str,
) -> Option<Advice> {
    let cost = diagnosis.cost(bottleneck)?;
    Some(Advice {
        id,
        text: Sentence::new(text),
        reason: Sentence::new(evidence_text(&cost.evidence)),
        gain: Some(cost.gain),
    })
}

fn back_up(report: &Report<'_>) -> Option<Advice> {
    let (id, what) = if report.run.is_erased {
        (KEEP_NO_DATA, "keep no data on it that you have nowhere else")
    } else {
        (BACK_UP, "back up its data now")
    };
    let text = format!("{what}: the {} may be failing, or its contacts are bad", report.noun());
    let reason = Sentence::new(failed_requests(report)?);
    Some(Advice { id, text: Sentence::new(text), reason, gain: None })
}

/// The link, if a faster one is known: without one, there is nothing to advise.
fn slow_link<'a>(report: &Report<'a>) -> Option<&'a Link> {
    report.run.attachment.link.as_ref().filter(|link| link.faster_bytes_per_s().is_some())
}

fn faster_port(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let link = slow_link(report)?;
    let text = match link.slow_cause.as_ref().map(|cause| slow_cause_text(cause, &link.kind)) {
        Some(cause) => format!("plug it into a faster port: {cause}"),
        None => "plug it into a faster port".to_owned(),
    };
    remove_bottleneck(diagnosis, Bottleneck::Link, "faster_port", &text)
}

fn faster_reader(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    slow_link(report)?;
    remove_bottleneck(diagnosis, Bottleneck::Reader, "faster_reader", "use a faster card reader")
}

fn larger_commands(_: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let text = "let the kernel send larger commands: as root, echo 2048 > /sys/block/NAME/device/max_sectors (lasts until it is \
                unplugged; undo it if errors follow)";
    remove_bottleneck(diagnosis, Bottleneck::Driver, "larger_commands", text)
}

/// The everyday copy has queue depth 1, so it gains nothing.
fn use_uas(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let driver = report.run.attachment.driver.as_ref().filter(|driver| driver.is_uas_unused)?;
    let text = "use the uas driver, for programs with several requests in flight: dmesg says why the kernel chose another; a \
                different port may help";
    let reason = format!(
        "the device supports UAS, but the driver is {}, which sends one command at a time",
        driver.name
    );
    let gain = diagnosis.bottleneck().map(|_| Gain::NONE);
    Some(Advice { id: "use_uas", text: Sentence::new(text), reason: Sentence::new(reason), gain })
}

/// Only for an SLC cache: idle time does not prevent stalls. The gain is known where idle recovery was
/// measured.
fn rest_between_copies(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let cache = report.size(FindingId::SlcCacheBytes).filter(|cache| *cache >= COPY_MIN)?;
    let text = format!("keep each copy below {cache}, and let the device idle before the next one");
    let advice = remove_bottleneck(diagnosis, Bottleneck::SlcCache, "rest_between_copies", &text)?;
    let pauses = sustained_write(report).map_or_else(Vec::new, |data| throughput_profile(data).recovered);
    let has_recovered = pauses.iter().any(|pause| !pause.bytes.is_zero());
    match (pauses.is_empty(), has_recovered) {
        (true, _) => Some(Advice { gain: None, ..advice }),
        (false, true) => Some(advice),
        (false, false) => None,
    }
}

fn align_filesystem(_: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let text = "reformat it so that clusters start at a page boundary (mkfs.vfat -R or -s, mkfs.exfat -b)";
    remove_bottleneck(diagnosis, Bottleneck::Filesystem, "align_filesystem", text)
}

fn from_finding(id: &'static str, finding: &Finding, text: String) -> Option<Advice> {
    let reason = format!("{}: {}", finding_title(finding.id), with_confidence(finding)?);
    Some(Advice { id, text: Sentence::new(text), reason: Sentence::new(reason), gain: None })
}

/// Not where everything on it is aligned, at its data area if not at its start.
fn align_partitions(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let finding = report.found(FindingId::EraseBlockBytes)?;
    let block = report.size(FindingId::EraseBlockBytes)?;
    let judged = layout::judged(report, diagnosis);
    let is_off = |volume: &JudgedVolume<'_>| volume.alignment.is_none_or(|(_, alignment)| alignment.is_off());
    if !judged.is_empty() && !judged.iter().any(is_off) {
        return None;
    }
    from_finding(
        "align_partitions",
        finding,
        format!("start every partition at a multiple of {block} (sector {})", block.sectors().0),
    )
    .map(|advice| advice.with_gain(diagnosis, Bottleneck::Alignment))
}

fn limit_streams(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let finding = report.found(FindingId::OpenUnitsLinear)?;
    let text = match finding.count()? {
        1 => "write one file at a time".to_owned(),
        count => format!("write to at most {count} files at a time; filesystem metadata counts as one"),
    };
    from_finding("limit_streams", finding, text)
        .map(|advice| advice.with_gain(diagnosis, Bottleneck::OpenUnits))
}

fn write_sequentially(report: &Report<'_>, _: &Diagnosis) -> Option<Advice> {
    let finding = report.found(FindingId::FtlClass)?;
    let (FtlClass::LinearOnly, _) = report.class()? else { return None };
    let text = "keep databases, virtual machines and other random writes off it; copy whole files".to_owned();
    // The everyday copy has no random writes.
    from_finding("write_in_order", finding, text).map(|advice| Advice { gain: Some(Gain::NONE), ..advice })
}

fn write_large_requests(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let id = if report.size(FindingId::WriteUnitBytes).is_some() {
        FindingId::WriteUnitBytes
    } else {
        FindingId::PageBytes
    };
    // Buffers of programs are powers of two, so the advised size is one too. Clusters of that size are no
    // remedy: vfat writes only the used sectors of a cluster, and small files get slower
    // (docs/methods/layout.md).
    let size = report.size(id)?.get().checked_next_power_of_two().map(Bytes::new)?;
    from_finding(
        "write_whole_pages",
        report.found(id)?,
        format!("use write requests of at least {size}, e.g. dd bs={}", size.get()),
    )
    .map(|advice| advice.with_gain(diagnosis, Bottleneck::SmallWrites))
}

fn keep_fat_area(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let area = report.size(FindingId::FatAreaBytes)?;
    let mut starts = report.run.attachment.volumes.iter().map(|volume| volume.start).peekable();
    if starts.peek().is_some() && starts.all(|start| start >= area) {
        // No filesystem reaches into the area.
        return None;
    }
    let text = format!("keep the file allocation table and any journal within the first {area}");
    // The table then takes no open block: the gain is at most that of all open blocks.
    let gain = diagnosis.gain(Bottleneck::OpenUnits).map(|gain| Gain { low: 1.0, likely: 1.0, ..gain });
    from_finding("keep_fat_area", report.found(FindingId::FatAreaBytes)?, text)
        .map(|advice| Advice { gain, ..advice })
}

/// The first unknown, in report order, that a measurement would decide.
fn measure_more(report: &Report<'_>, _: &Diagnosis) -> Option<Advice> {
    let findings = FindingId::ALL.into_iter().filter_map(|id| report.finding(id));
    let undecided = findings.filter_map(|finding| match &finding.outcome {
        // What needs another finding first is no measurement to make next.
        Outcome::Unknown { reason, would_decide }
            if would_decide.iter().any(|each| !matches!(each, WouldDecide::Finding(_))) =>
        {
            Some((finding.id, reason, would_decide))
        }
        _ => None,
    });
    let (id, why, decides) = undecided.into_iter().next()?;
    Some(Advice {
        id: MEASURE_MORE,
        text: Sentence::new(format!("next measurement: {}", would_decide(decides))),
        reason: Sentence::new(format!("{} is unknown: {}", finding_title(id), reason(why))),
        gain: None,
    })
}
