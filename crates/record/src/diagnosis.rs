//! What a diagnosis says: which layer holds a device back, and what it gives to lift it. Plain data.

use serde::Serialize;

use crate::finding::{Reason, WouldDecide};

/// A layer that would give less is not worth a word: runs differ by as much.
pub const LITTLE: f64 = 1.25;

/// A gain below this is none.
pub const LEAST: f64 = 1.02;

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

/// Why a layer could not be weighed, or no layer can be named.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// One sentence.
    Said(String),
    /// The reason why a finding is unknown.
    Finding(Reason),
    /// Nothing that was weighed costs much, but this layer was not weighed.
    NotWeighed(Layer, Box<Why>),
}

impl From<String> for Why {
    fn from(sentence: String) -> Self {
        Self::Said(sentence)
    }
}

impl From<&str> for Why {
    fn from(sentence: &str) -> Self {
        Self::Said(sentence.to_owned())
    }
}

impl From<Reason> for Why {
    fn from(reason: Reason) -> Self {
        Self::Finding(reason)
    }
}

/// A layer that could not be weighed, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Unweighed {
    /// The layer.
    pub layer: Layer,
    /// Why.
    pub reason: Why,
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
        /// Why.
        reason: Why,
        /// What would decide it: any one of these.
        would_decide: Vec<WouldDecide>,
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

/// How many times as fast a copy gets: an interval, and the likely value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gain {
    /// At least; 1 is no gain.
    pub low: f64,
    /// Most likely.
    pub likely: f64,
    /// At most.
    pub high: f64,
}

impl Gain {
    /// No gain, as far as anybody can tell.
    pub const NONE: Self = Self { low: 1.0, likely: 1.0, high: LEAST };

    /// Whether there is nothing to be had at all.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.high <= LEAST
    }
}

/// A speed that no device has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Illusion {
    /// The layer that makes it.
    pub layer: Layer,
    /// How many times what was really there of the same data is claimed.
    pub times: f64,
    /// One sentence with the measured figures.
    pub evidence: String,
}
