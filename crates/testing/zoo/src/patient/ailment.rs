//! What may be wrong with a patient.

use crate::draw::Draw;

/// One thing that makes a stick slower than it could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ailment {
    /// It is plugged in where the link is slower than its own.
    SlowPort,
    /// It is a card in a reader whose own link is slower than the card.
    SlowReader,
    /// The driver cuts requests into small commands.
    SmallCommands,
    /// A write of a few KiB takes many times its share of a page.
    DearSmallWrites,
    /// Fewer erase blocks can be open than an everyday copy writes in turn.
    FewOpenUnits,
    /// A cache in single-level cells is full, and what is behind it is slow.
    FullCache,
    /// Collection stalls a long copy.
    Collection,
    /// Its partition begins in the middle of a page.
    Misaligned,
}

impl Ailment {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::SlowPort,
        Self::SlowReader,
        Self::SmallCommands,
        Self::DearSmallWrites,
        Self::FewOpenUnits,
        Self::FullCache,
        Self::Collection,
        Self::Misaligned,
    ];

    /// The layer that it lies in, as `bottleneck` of `check --json` calls it.
    #[must_use]
    pub const fn layer(self) -> &'static str {
        match self {
            Self::SlowPort => "link",
            Self::SlowReader => "reader",
            Self::SmallCommands => "driver",
            Self::DearSmallWrites => "small_writes",
            Self::FewOpenUnits => "open_units",
            Self::FullCache | Self::Collection => "slc_cache",
            Self::Misaligned => "alignment",
        }
    }

    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::SlowPort => "a slow port",
            Self::SlowReader => "a slow reader",
            Self::SmallCommands => "a driver that cuts requests",
            Self::DearSmallWrites => "dear small writes",
            Self::FewOpenUnits => "few open units",
            Self::FullCache => "a full cache",
            Self::Collection => "collection",
            Self::Misaligned => "a partition in the middle of a page",
        }
    }

    pub(super) fn draw(draw: &mut Draw) -> Self {
        draw.weighted(&Self::ALL.map(|ailment| (1.0, ailment)))
    }

    /// Two in different layers. A card's reader takes the place of a stick's port.
    pub(super) fn draw_two(draw: &mut Draw) -> [Self; 2] {
        loop {
            let (one, other) = (Self::draw(draw), Self::draw(draw));
            let is_of_link = |ailment| matches!(ailment, Self::SlowPort | Self::SlowReader);
            let is_one_layer = one.layer() == other.layer() || is_of_link(one) && is_of_link(other);
            if !is_one_layer {
                return [one, other];
            }
        }
    }
}
