//! The everyday copy: the workload on which bottlenecks are compared, and the time per byte of each of its
//! parts.
//!
//! By bytes, 80 % are large files, longer than any cache; 17 % are files of 64 KiB and more, such as photos;
//! 1 % is written in 4 KiB requests; and 2 % go round-robin into five streams: directory, allocation table,
//! and several files. All of it is written in one go, on a device whose caches are full. The shares are a
//! choice, not a measurement (docs/diagnosis.md).

use flashscope_device::Bytes;

use crate::diagnosis::gain::RUN_FACTOR;

/// The number of streams of [`CopyPart::Interleaved`]: a choice, not a measurement (docs/diagnosis.md).
pub const STREAMS: u32 = 5;

/// The share of the bytes in each part of a copy, in the order of [`CopyPart::ALL`].
pub type Shares = [f64; 4];
/// The shares of the everyday copy in the order of [`CopyPart::ALL`]: a choice, not a measurement
/// (docs/diagnosis.md).
pub const EVERYDAY: Shares = [0.8, 0.17, 0.01, 0.02];
/// Small files alone: the last two parts of the everyday copy.
pub const SMALL_FILES: Shares = [0.0, 0.0, EVERYDAY[2], EVERYDAY[3]];

/// A part of the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyPart {
    /// Large files, sequential.
    Large,
    /// Files of medium size, sequential.
    Medium,
    /// Small writes, sequential.
    Small,
    /// Clusters, round-robin into [`STREAMS`] streams.
    Interleaved,
}

impl CopyPart {
    pub const ALL: [Self; 4] = [Self::Large, Self::Medium, Self::Small, Self::Interleaved];

    /// The request size.
    pub const fn request(self) -> Bytes {
        match self {
            Self::Large => Bytes::mib(1),
            Self::Medium => Bytes::kib(64),
            Self::Interleaved => Bytes::kib(32),
            Self::Small => Bytes::kib(4),
        }
    }
}

/// The time per byte of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimePerByte {
    /// Seconds.
    pub seconds: f64,
    /// The factor by which it may be less or more.
    pub factor: f64,
}

impl TimePerByte {
    /// With the uncertainty of one run.
    pub const fn of_one_run(seconds: f64) -> Self {
        Self { seconds, factor: RUN_FACTOR }
    }
}

/// The time per byte of every part on the device as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workload {
    /// In the order of [`CopyPart::ALL`].
    pub parts: [TimePerByte; 4],
    /// The time that stalls add to each byte of any part, seconds.
    pub stalls: f64,
}

impl Workload {
    /// With these times per byte, seconds.
    #[cfg(test)]
    pub fn of(seconds: [f64; 4]) -> Self {
        Self { parts: seconds.map(TimePerByte::of_one_run), stalls: 0.0 }
    }

    pub const fn time_per_byte(&self, part: CopyPart) -> TimePerByte {
        self.parts[part as usize]
    }
}
