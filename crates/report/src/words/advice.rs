//! What to do, and because of which finding. Only what follows from findings.

use flashscope_device::Bytes;
use flashscope_infer::streams::throughput_profile::throughput_profile;
use flashscope_record::attachment::Link;
use flashscope_record::diagnosis::{Bottleneck, Diagnosis, GAIN_REPORTED_MIN, Gain};
use flashscope_record::finding::{Finding, FindingId, FtlClass, Outcome};
use serde::Serialize;

use super::bottleneck::gain_text;
use super::course::stream;
use super::diagnosis::{evidence_text, slow_cause_text};
use super::finding_title::finding_title;
use super::hedge::hedged;
use super::reason::reason;
use super::sentence::Sentence;
use super::warning::failures;
use super::would_decide::would_decide;
use crate::Report;

/// One piece of advice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// A short name that does not change between versions.
    pub id: &'static str,
    /// What to do.
    pub text: Sentence,
    /// The finding it follows from, with how sure that is.
    pub because: Sentence,
    /// How many times as fast the everyday copy gets by it (docs/diagnosis.md); `None` where that was not measured.
    pub gain: Option<Gain>,
}

/// What tells more makes nothing faster.
const MEASURE_MORE: &str = "measure_more";
/// Nor does what saves data.
const SAVE: &str = "save_what_it_holds";

impl Advice {
    /// The same, with what it gains to be rid of this bottleneck.
    fn against(self, diagnosis: &Diagnosis, bottleneck: Bottleneck) -> Self {
        Self { gain: diagnosis.gain(bottleneck), ..self }
    }

    /// What to do, and what it gives.
    #[must_use]
    pub fn told(&self) -> Sentence {
        let text = self.text.as_str().trim_end_matches('.');
        match self.gain {
            _ if [MEASURE_MORE, SAVE].contains(&self.id) => self.text.clone(),
            None => Sentence::new(format!("{text} (what that gives was not measured)")),
            Some(gain) if gain.is_none() => {
                Sentence::new(format!("{text} (an everyday copy gains nothing by it)"))
            }
            Some(gain) => Sentence::new(format!("{text}: an everyday copy gets {}", gain_text(gain))),
        }
    }
}

/// The largest cluster of FAT32, 128 sectors (mkfs.vfat -s). exFAT has larger ones; a stick with them holds few small files.
const CLUSTER_MAX: Bytes = Bytes::kib(64);

type Rule = fn(&Report<'_>, &Diagnosis) -> Option<Advice>;

/// The advice that follows from a report's findings and diagnosis, the most useful first.
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
        write_in_order,
        write_whole_pages,
        keep_fat_area,
        measure_more,
    ];
    let diagnosis = report.diagnosis();
    // Where times mean nothing, more of them are to be had, and nothing else.
    let rules = if report.objection().is_some() { &rules[rules.len() - 1..] } else { &rules[..] };
    let advice = rules.iter().filter_map(|rule| rule(report, &diagnosis));
    let mut advice: Vec<Advice> = advice.collect();
    let likely = |advice: &Advice| advice.gain.map_or(1.0, |gain| gain.likely).max(GAIN_REPORTED_MIN);
    advice.sort_by(|a, b| likely(b).total_cmp(&likely(a)));
    // Nothing else is worth anything to the person whose data is lost.
    save_what_it_holds(report).into_iter().chain(advice).collect()
}

/// Advice that follows from what a bottleneck costs.
fn against(diagnosis: &Diagnosis, bottleneck: Bottleneck, id: &'static str, text: &str) -> Option<Advice> {
    let cost = diagnosis.cost(bottleneck)?;
    Some(Advice {
        id,
        text: Sentence::new(text),
        because: Sentence::new(evidence_text(&cost.evidence)),
        gain: Some(cost.gain),
    })
}

fn save_what_it_holds(report: &Report<'_>) -> Option<Advice> {
    let text = format!("save what it holds: the {} may be dying, or its contacts are", report.noun());
    let because = Sentence::new(failures(report)?);
    Some(Advice { id: SAVE, text: Sentence::new(text), because, gain: None })
}

/// Of a link that is full where nothing faster is known, nothing can be advised.
fn could_be_faster<'a>(report: &Report<'a>) -> Option<&'a Link> {
    report.run.attachment.link.as_ref().filter(|link| link.faster_bytes_per_s().is_some())
}

fn faster_port(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let link = could_be_faster(report)?;
    let text = match link.slow_cause.as_ref().map(|cause| slow_cause_text(cause, &link.kind)) {
        Some(cause) => format!("plug it into a faster port: {cause}"),
        None => "plug it into a faster port".to_owned(),
    };
    against(diagnosis, Bottleneck::Link, "faster_port", &text)
}

fn faster_reader(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    could_be_faster(report)?;
    against(diagnosis, Bottleneck::Reader, "faster_reader", "use a card reader that is as fast as the card")
}

fn larger_commands(_: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let text = "let the kernel send more in a command: echo 2048 > /sys/block/NAME/device/max_sectors as root, until it is unplugged \
                (if errors follow, it was cut for a reason)";
    against(diagnosis, Bottleneck::Driver, "larger_commands", text)
}

/// The everyday copy makes one request at a time, for which it does not matter how many the driver could send.
fn use_uas(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let driver = report.run.attachment.driver.as_ref().filter(|driver| driver.is_uas_unused)?;
    let text = "let the uas driver have it, for programs that make several requests at a time: the kernel's log (dmesg) says why it \
                did not take it, and another port may help";
    let because =
        format!("it also speaks UAS, and {} has it, which sends one command at a time", driver.name);
    let gain = diagnosis.bottleneck().map(|_| Gain::NONE);
    Some(Advice { id: "use_uas", text: Sentence::new(text), because: Sentence::new(because), gain })
}

/// Only of a cache that was found: rest does not end stalls. What rest gives is known where a pause was measured.
fn rest_between_copies(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let cache = report.size(FindingId::SlcCacheBytes)?;
    let text = format!("keep each copy within the first {cache}, and let it rest before the next");
    let advice = against(diagnosis, Bottleneck::SlcCache, "rest_between_copies", &text)?;
    let pauses = stream(report).map_or_else(Vec::new, |stream| throughput_profile(stream).recovered);
    let gave_back = pauses.iter().any(|pause| !pause.bytes.is_zero());
    match (pauses.is_empty(), gave_back) {
        (true, _) => Some(Advice { gain: None, ..advice }),
        (false, true) => Some(advice),
        (false, false) => None,
    }
}

fn align_filesystem(_: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let text = "format it anew so that its clusters begin at a page (mkfs.vfat -R or -s, mkfs.exfat -b)";
    against(diagnosis, Bottleneck::Filesystem, "align_filesystem", text)
}

fn because(id: &'static str, finding: &Finding, text: String) -> Option<Advice> {
    let because = format!("{}: {}", finding_title(finding.id), hedged(finding)?);
    Some(Advice { id, text: Sentence::new(text), because: Sentence::new(because), gain: None })
}

fn align_partitions(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let finding = report.found(FindingId::EraseBlockBytes)?;
    let block = report.size(FindingId::EraseBlockBytes)?;
    because(
        "align_partitions",
        finding,
        format!("start every partition at a multiple of {block} (sector {})", block.sectors().0),
    )
    .map(|advice| advice.against(diagnosis, Bottleneck::Alignment))
}

fn limit_streams(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let finding = report.found(FindingId::OpenUnitsLinear)?;
    let text = match finding.count()? {
        1 => "write one file at a time, not several side by side".to_owned(),
        count => {
            format!("write to at most {count} places at a time, the filesystem's own bookkeeping included")
        }
    };
    because("limit_streams", finding, text).map(|advice| advice.against(diagnosis, Bottleneck::OpenUnits))
}

fn write_in_order(report: &Report<'_>, _: &Diagnosis) -> Option<Advice> {
    let finding = report.found(FindingId::FtlClass)?;
    let (FtlClass::LinearOnly, _) = report.class()? else { return None };
    let text = "keep databases, virtual machines and other random writes off it; copy whole files".to_owned();
    // The everyday copy has no random writes.
    because("write_in_order", finding, text).map(|advice| Advice { gain: Some(Gain::NONE), ..advice })
}

fn write_whole_pages(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let id = if report.size(FindingId::WriteUnitBytes).is_some() {
        FindingId::WriteUnitBytes
    } else {
        FindingId::PageBytes
    };
    // What is written is cut at powers of two: clusters are, and so are places that a write should not straddle.
    let size = report.size(id)?.get().checked_next_power_of_two().map(Bytes::new)?;
    let cluster = if size <= CLUSTER_MAX { " or a cluster of that size" } else { "" };
    because(
        "write_whole_pages",
        report.found(id)?,
        format!("write at least {size} at a time, e.g. dd bs={}{cluster}", size.get()),
    )
    .map(|advice| advice.against(diagnosis, Bottleneck::SmallWrites))
}

fn keep_fat_area(report: &Report<'_>, diagnosis: &Diagnosis) -> Option<Advice> {
    let area = report.size(FindingId::FatAreaBytes)?;
    let text = format!("keep the file allocation table, or any journal, within the first {area}");
    // Then the table is one place less that is written in turn: at most what all of them cost.
    let gain = diagnosis.gain(Bottleneck::OpenUnits).map(|gain| Gain { low: 1.0, likely: 1.0, ..gain });
    because("keep_fat_area", report.found(FindingId::FatAreaBytes)?, text)
        .map(|advice| Advice { gain, ..advice })
}

/// The first unknown, in the order of a report, that something would decide.
fn measure_more(report: &Report<'_>, _: &Diagnosis) -> Option<Advice> {
    let findings = FindingId::ALL.into_iter().filter_map(|id| report.finding(id));
    let undecided = findings.filter_map(|finding| match &finding.outcome {
        Outcome::Unknown { reason, would_decide } if !would_decide.is_empty() => {
            Some((finding.id, reason, would_decide))
        }
        _ => None,
    });
    let (id, why, decides) = undecided.into_iter().next()?;
    Some(Advice {
        id: MEASURE_MORE,
        text: Sentence::new(format!("measure more: {}", would_decide(decides))),
        because: Sentence::new(format!("{} is unknown: {}", finding_title(id), reason(why))),
        gain: None,
    })
}
