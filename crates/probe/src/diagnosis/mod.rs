//! Diagnosis: which layer holds a device back, by what the *everyday copy* gains where that layer is lifted. Pure, from what was
//! measured and how the device is plugged in.
//!
//! Each rule says what a byte of each part of the copy would take without its layer, from how much to how much; the
//! bottleneck is the layer with the largest gain. docs/diagnosis.md says why, rule by rule.

mod alignment;
mod attachment;
mod claims;
mod driver;
mod gain;
mod ladder;
mod link;
mod open_units;
mod slc_cache;
mod small_writes;
mod workload;

use flashscope_device::Bytes;
use serde::Serialize;

use crate::RunFile;
use crate::finding::{Finding, FindingId};
use crate::inference::wording::speed;
use crate::inference::{objection_to, on_a_virtual_stick};
use crate::observation::{Data, Observations};

pub use attachment::{Attachment, Driver, Link, Volume};
pub use claims::Illusion;
pub use gain::Gain;
pub use workload::{IN_TURN, LONG, MEDIUM, PLACES, SMALL};

use gain::Cure;
use ladder::Ladder;
use workload::{EVERYDAY, Part, SMALL_FILES, Shares, Workload};

/// A layer that would give less is not worth a word: runs differ by as much.
pub const LITTLE: f64 = 1.25;

/// Of what no time tells anything of a stick.
pub const IN_MEMORY: &str = "lies in memory (tmpfs), where no time tells anything of a stick";

/// What may hold a device back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The link between host and device.
    Link,
    /// The reader that a card sits in.
    Reader,
    /// The driver, which cuts requests into many commands.
    Driver,
    /// Writes smaller than what the flash takes at a time.
    SmallWrites,
    /// A partition that begins in the middle of a page.
    Alignment,
    /// A filesystem whose data begins in the middle of a page, in a partition that does not.
    Filesystem,
    /// More erase blocks written in turn than the controller keeps open.
    OpenUnits,
    /// A cache of single-level cells that is full, or blocks that have to be collected.
    SlcCache,
    /// Where the data comes from.
    DataSource,
    /// Memory before the device: what is only there seems to be written, and is not. It limits nothing.
    PageCache,
    /// The flash itself: how fast it takes data under the best conditions.
    Flash,
}

impl Layer {
    /// The layer as it stands in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Reader => "reader",
            Self::Driver => "driver",
            Self::SmallWrites => "small_writes",
            Self::Alignment => "alignment",
            Self::Filesystem => "filesystem",
            Self::OpenUnits => "open_units",
            Self::SlcCache => "slc_cache",
            Self::DataSource => "data_source",
            Self::PageCache => "page_cache",
            Self::Flash => "flash",
        }
    }

    /// The layer in words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Link => "the link",
            Self::Reader => "the card reader",
            Self::Driver => "the driver",
            Self::SmallWrites => "small writes",
            Self::Alignment => "the partition's alignment",
            Self::Filesystem => "the filesystem's alignment",
            Self::OpenUnits => "writing to several places in turn",
            Self::SlcCache => "a full cache, or collection",
            Self::DataSource => "the source of the data",
            Self::PageCache => "the page cache",
            Self::Flash => "the flash itself",
        }
    }
}

/// A layer that costs something, and what it would give to lift it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// The layer.
    pub layer: Layer,
    /// How many times as fast the copy gets without it.
    pub gain: Gain,
    /// One sentence with the measured figures.
    pub evidence: String,
}

/// A layer that could not be weighed, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unweighed {
    /// The layer.
    pub layer: Layer,
    /// One sentence.
    pub reason: String,
}

/// Which layer holds a device back.
#[derive(Debug, Clone, PartialEq)]
pub enum Bottleneck {
    /// This one; it comes first of the costs.
    Layer(Cost),
    /// Nothing else gives more than a little.
    Flash {
        /// One sentence with the measured figures.
        evidence: String,
    },
    /// It is not known.
    Unknown {
        /// One sentence.
        reason: String,
        /// What would tell.
        would_decide: String,
    },
}

/// What holds a device back.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The layer that counts.
    pub bottleneck: Bottleneck,
    /// Every layer that was weighed and costs something, the largest gain first.
    pub costs: Vec<Cost>,
    /// What holds small files back that are copied alone, if that is worth a word.
    pub small_files: Option<Cost>,
    /// Those that could not be weighed.
    pub unweighed: Vec<Unweighed>,
    /// Speeds that were claimed and are no device's.
    pub illusions: Vec<Illusion>,
}

impl Diagnosis {
    /// The layer that holds the device back, if that is known.
    #[must_use]
    pub const fn layer(&self) -> Option<Layer> {
        match &self.bottleneck {
            Bottleneck::Layer(cost) => Some(cost.layer),
            Bottleneck::Flash { .. } => Some(Layer::Flash),
            Bottleneck::Unknown { .. } => None,
        }
    }

    /// What this layer costs, if it was weighed and costs something.
    #[must_use]
    pub fn cost(&self, layer: Layer) -> Option<&Cost> {
        self.costs.iter().find(|cost| cost.layer == layer)
    }

    /// What it gives to lift this layer: none where it was weighed and costs nothing; `None` where it was not weighed.
    #[must_use]
    pub fn gain(&self, layer: Layer) -> Option<Gain> {
        let is_open = self.unweighed.iter().any(|unweighed| unweighed.layer == layer);
        let is_nothing = self.costs.is_empty() && self.unweighed.is_empty() && self.layer().is_none();
        let weighed = (!is_open && !is_nothing).then_some(Gain::NONE);
        self.cost(layer).map_or(weighed, |cost| Some(cost.gain))
    }
}

/// What was seen, concluded from it, and known of how the device is plugged in.
#[derive(Debug, Clone, Copy)]
struct Seen<'a> {
    observations: &'a [Observations],
    findings: &'a [Finding],
    attachment: &'a Attachment,
    ladder: &'a Ladder,
}

impl Seen<'_> {
    fn finding(&self, id: FindingId) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.id == id)
    }

    /// The effective page, if it is known.
    fn page(&self) -> Option<Bytes> {
        self.finding(FindingId::PageBytes).and_then(Finding::bytes).filter(|page| !page.is_zero())
    }

    /// What the controller takes into memory; nothing where none was found.
    fn buffer(&self) -> Bytes {
        self.finding(FindingId::WriteBufferBytes).and_then(Finding::bytes).unwrap_or_default()
    }

    /// Where the host cuts requests, if it does and that is known.
    fn cut(&self) -> Option<Bytes> {
        self.attachment.request_max.filter(|cut| !cut.is_zero())
    }
}

/// The diagnosis of a run: none where so many requests failed that times tell nothing.
#[must_use]
pub fn diagnose_run(run: &RunFile, findings: &[Finding]) -> Diagnosis {
    if !run.fails_often() {
        let mut diagnosis = diagnose(&run.observations, findings, &run.attachment);
        if let Bottleneck::Unknown { would_decide, .. } = &mut diagnosis.bottleneck
            && run.is_of_a_virtual_stick()
        {
            *would_decide = on_a_virtual_stick(would_decide);
        }
        return diagnosis;
    }
    let (failed, all) = (run.failed_requests, run.requests());
    open(
        format!(
            "{failed} of {all} requests failed, and what the others took tells nothing of a sound device"
        ),
        "the device at another port or reader, if it still answers there",
    )
}

/// The diagnosis of a device from what was measured, what was concluded from it, and how it is plugged in.
#[must_use]
pub fn diagnose(observations: &[Observations], findings: &[Finding], attachment: &Attachment) -> Diagnosis {
    if let Some(objection) = objection_to(observations, findings) {
        return open(objection.reason().to_owned(), objection.would_decide());
    }
    let Some(ladder) = Ladder::of(observations) else {
        return claims::diagnosis(observations).unwrap_or_else(nothing_written);
    };
    if attachment.in_memory {
        return open(format!("it {IN_MEMORY}"), "the same on a stick");
    }
    let seen = Seen { observations, findings, attachment, ladder: &ladder };
    let ladder = ladder.clone().behind_memory(slc_cache::behind_memory(&seen));
    let seen = Seen { ladder: &ladder, ..seen };
    let (workload, mut unweighed) = workload::measured(&seen);
    let cures = [
        link::cure(&seen, &workload),
        driver::cure(&seen, &workload),
        small_writes::cure(&seen, &workload),
        alignment::cure(&seen, &workload),
        open_units::cure(&seen, &workload),
        slc_cache::cure(&seen, &workload),
    ];
    let mut weighed = Vec::new();
    for cure in cures {
        match cure {
            Ok(cure) => weighed.extend(cure),
            Err(reason) => unweighed.push(reason),
        }
    }
    let costs = costs_of(&weighed, &workload, &EVERYDAY);
    unweighed.sort_by_key(|unweighed| unweighed.layer);
    unweighed.dedup_by_key(|unweighed| unweighed.layer);
    let bottleneck = bottleneck(&seen, &workload, &costs, &unweighed);
    let small_files = costs_of(&weighed, &workload, &SMALL_FILES);
    let small_files = small_files.into_iter().next().filter(|first| first.gain.likely >= LITTLE);
    Diagnosis { bottleneck, costs, small_files, unweighed, illusions: Vec::new() }
}

/// What each layer costs a copy of these parts, if it costs something, the largest gain first.
fn costs_of(cures: &[Cure], workload: &Workload, shares: &Shares) -> Vec<Cost> {
    let mut costs: Vec<Cost> = cures.iter().filter_map(|cure| cure.cost(workload, shares)).collect();
    costs.sort_by(|a, b| b.gain.likely.total_cmp(&a.gain.likely));
    costs
}

fn nothing_written() -> Diagnosis {
    open(
        "no writes of every size were measured, so that it is not known where the time goes".to_owned(),
        "the writing tests (check --erase, which destroys what is on it)",
    )
}

/// Nothing was weighed.
fn open(reason: String, would_decide: &str) -> Diagnosis {
    let bottleneck = Bottleneck::Unknown { reason, would_decide: would_decide.to_owned() };
    Diagnosis {
        bottleneck,
        costs: Vec::new(),
        small_files: None,
        unweighed: Vec::new(),
        illusions: Vec::new(),
    }
}

/// The largest cost, if it is worth a word; otherwise the flash, if everything was weighed that is usually larger.
fn bottleneck(seen: &Seen<'_>, workload: &Workload, costs: &[Cost], unweighed: &[Unweighed]) -> Bottleneck {
    if let Some(first) = costs.first().filter(|first| first.gain.likely >= LITTLE) {
        return Bottleneck::Layer(first.clone());
    }
    let open = |layer| unweighed.iter().find(|unweighed| unweighed.layer == layer);
    match [Layer::SlcCache, Layer::OpenUnits, Layer::Driver, Layer::Link].into_iter().find_map(open) {
        Some(unweighed) => Bottleneck::Unknown {
            reason: format!(
                "nothing that was weighed costs much, but {} was not: {}",
                unweighed.layer.title(),
                unweighed.reason
            ),
            would_decide: would_decide(seen, unweighed.layer),
        },
        None => Bottleneck::Flash { evidence: of_flash(seen, workload) },
    }
}

/// What would tell of a layer that could not be weighed.
fn would_decide(seen: &Seen<'_>, layer: Layer) -> String {
    let decides = match layer {
        Layer::SlcCache => return slc_cache::would_decide(seen),
        Layer::OpenUnits => "the writing tests on a quieter machine",
        Layer::Driver => {
            "larger commands (/sys/block/NAME/device/max_sectors, or another port, reader or driver), and the same tests again"
        }
        _ => "the device on a USB port, or in a card reader that the kernel tells the speed of",
    };
    decides.to_owned()
}

fn of_flash(seen: &Seen<'_>, workload: &Workload) -> String {
    let best = speed(1.0 / seen.ladder.seconds_per_byte(Part::Long.request()));
    let long = speed(1.0 / workload.pace(Part::Long).seconds);
    format!(
        "single large writes reach {best} and long copies {long}; nothing around the flash costs much of that"
    )
}

/// The last data of one kind.
fn last<'a, T>(observations: &'a [Observations], of: impl Fn(&'a Data) -> Option<&'a T>) -> Option<&'a T> {
    observations.iter().rev().find_map(|seen| of(&seen.data))
}
