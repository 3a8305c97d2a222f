//! Why a bottleneck is not known, and the measurement that would decide it.

use flashscope_device::Bytes;

use super::Bottleneck;
use crate::finding::{Reason, WouldDecide};

/// Why a bottleneck is not known, or was not tested.
#[derive(Debug, Clone, PartialEq)]
pub enum DiagnosisReason {
    /// Too many requests failed.
    RequestsFailed {
        /// How many failed.
        failed: u64,
        /// How many were made.
        requests: u64,
    },
    /// A finding is unknown, or all of them are, for this reason.
    Finding(Reason),
    /// The target lies in memory (tmpfs).
    InMemory,
    /// The target lies on a disk of this machine that is no stick or card.
    HostDisk {
        /// The kernel's name of the disk.
        name: String,
    },
    /// Only the write methods were measured.
    OnlyWriteMethods,
    /// The sweep over write sizes was not measured.
    NoSizeSweep,
    /// No tested bottleneck has a reportable gain, but this one was not tested.
    NotTested {
        /// The bottleneck.
        bottleneck: Bottleneck,
        /// Why it was not tested.
        reason: Box<Self>,
    },
    /// The link is not known.
    NoLink,
    /// No partition is known.
    NoPartition,
    /// The page size is not known.
    NoPageSize,
    /// The page is hardly smaller than the largest command, so that their times cannot be separated.
    PageNearCommand {
        /// The largest command.
        command_max: Bytes,
    },
    /// Requests are split, and it is not known whether the driver's limit can be raised.
    CommandLimitUnknown {
        /// The largest command.
        command_max: Bytes,
        /// The time of a command besides its data, seconds.
        per_command_s: f64,
    },
    /// The write buffer absorbs small writes, which hides what they cost the flash.
    WriteBuffer,
    /// The fast bytes at the start of a long stream may be in the write buffer instead of an SLC cache.
    CacheOrWriteBuffer {
        /// How many bytes were fast.
        fast: Bytes,
    },
    /// No long write stream was measured.
    NoLongStream,
    /// The open erase blocks were not measured.
    NoOpenUnits,
    /// No single write within the open erase blocks was timed.
    NoWritesWithinOpenUnits,
    /// No single write beyond the open erase blocks was timed.
    NoWritesBeyondOpenUnits,
}

/// The measurement that would decide an unknown bottleneck.
#[derive(Debug, Clone, PartialEq)]
pub enum Decider {
    /// The one that would decide a finding, or all of them.
    Finding(Vec<WouldDecide>),
    /// The device at another port or reader.
    AnotherPort,
    /// A device instead of memory.
    Device,
    /// The write tests on the whole device.
    WriteTests,
    /// The write tests on a quieter machine.
    WriteTestsOnQuietMachine,
    /// The write tests on a virtual stick with another random seed, or with less noise.
    WriteTestsWithAnotherSeed,
    /// A long write stream.
    LongStream,
    /// Larger commands, and the same tests again.
    LargerCommands,
    /// A link whose speed the kernel reports.
    KnownLink,
}
