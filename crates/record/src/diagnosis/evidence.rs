//! The measured figures behind a bottleneck.

use flashscope_device::Bytes;

use crate::attachment::{LinkKind, LinkRange};
use crate::observation::WriteMethod;

/// The measured figures behind a bottleneck. Times in seconds, speeds in bytes per second.
#[derive(Debug, Clone, PartialEq)]
pub enum DiagnosisEvidence {
    /// Writes reach the speed of the link, or of the card's bus.
    Link {
        /// The highest measured write speed.
        bytes_per_s: f64,
        /// How close that is to the link's range.
        link_use: LinkUse,
        /// The link.
        link: LinkRange,
        /// The fastest link that the device supports, if it is faster.
        device_fastest: Option<LinkKind>,
    },
    /// The driver splits requests.
    Driver {
        /// The name of the driver.
        driver: String,
        /// The largest command it sends.
        command_max: Bytes,
        /// The time of a command besides its data.
        per_command_s: f64,
        /// The largest request of the host.
        request: Bytes,
        /// How many commands that request needs.
        commands: f64,
    },
    /// Small writes cost more per byte than large ones.
    SmallWrites {
        /// The size of a small write.
        request: Bytes,
        /// Its latency.
        latency_s: f64,
        /// The speed of small writes.
        bytes_per_s: f64,
        /// The speed of large writes.
        large_bytes_per_s: f64,
    },
    /// Data begins inside a page, so that requests end in partial pages.
    Alignment {
        /// The kernel's name of the partition or disk, e.g. `sdb1`.
        volume: String,
        /// The offset of its data on the device.
        data_start: Bytes,
        /// The page size.
        page: Bytes,
        /// The time to write a partial page.
        partial_page_s: f64,
    },
    /// Round-robin writes into more erase blocks than can be open.
    OpenUnits {
        /// How many can be open, if that is known.
        open_units: Option<u32>,
        /// How many streams the everyday copy has.
        streams: u32,
        /// The size of a write.
        request: Bytes,
        /// Its latency within the open erase blocks.
        within_s: f64,
        /// Its latency beyond them.
        beyond_s: f64,
    },
    /// A long copy stalls at regular intervals.
    Stalls {
        /// The share of the time that stalls take, from 0 to 1.
        share: f64,
        /// How many bytes are written from stall to stall.
        period: Bytes,
        /// What the controller does meanwhile, as far as the findings support it.
        cause: StallCause,
        /// The speed of a long copy, stalls included.
        bytes_per_s: f64,
    },
    /// A long copy slows down.
    Slowdown {
        /// The speed before.
        before_bytes_per_s: f64,
        /// The speed of a long copy.
        after_bytes_per_s: f64,
    },
    /// A long copy is slower than single large writes.
    SlowLongCopy {
        /// The speed of single large writes.
        single_bytes_per_s: f64,
        /// The speed of a long copy.
        long_bytes_per_s: f64,
    },
    /// The source delivers data more slowly than the device writes it.
    DataSource {
        /// The write method.
        method: WriteMethod,
        /// The speed of the source alone.
        source_bytes_per_s: f64,
        /// The durable write speed from this source.
        durable_bytes_per_s: f64,
        /// The durable write speed of other data.
        other_bytes_per_s: f64,
    },
    /// A write ended in the page cache.
    PageCache {
        /// The write method.
        method: WriteMethod,
        /// The reported speed.
        reported_bytes_per_s: f64,
        /// The durable write speed.
        durable_bytes_per_s: f64,
    },
    /// No other bottleneck has a reportable gain.
    Flash {
        /// The speed of single large writes.
        single_bytes_per_s: f64,
        /// The speed of a long copy.
        long_bytes_per_s: f64,
    },
}

/// What the controller does during a stall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StallCause {
    /// One stall comes in each erase block: opening it takes the time of an erasure, or of copying another.
    OpeningEraseBlock,
    /// The controller maps pages into any free space, which only garbage collection makes.
    GarbageCollection,
    /// The findings do not tell.
    Unknown,
}

/// How close the measured speed is to the range of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkUse {
    /// Within the range, or above it.
    Within,
    /// Slightly below it.
    Close,
    /// Within it, apart from the overhead of each command.
    WithoutCommands,
}
