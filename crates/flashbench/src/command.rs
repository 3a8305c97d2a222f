//! The part of a flashbench command that changes the measurement.

use flashscope_device::Bytes;

use flashscope_record::observation::Order;

/// The measurement that a flashbench command line requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `-a`: reads before, across and after boundaries.
    Align {
        /// `--blocksize`: the size of each read.
        read: Bytes,
    },
    /// `--open-au`: round-robin writes into several erase blocks.
    OpenUnits {
        /// `--erasesize`.
        erase_block: Bytes,
        /// `--open-au-nr`.
        open_units: u32,
        /// `--blocksize`: the smallest request; sizes halve from the erase block down to it.
        smallest: Bytes,
        /// `--random`: shuffled inside each unit.
        order: Order,
    },
    /// `--find-fat`: identical writes in each of the first erase blocks.
    FindFat {
        /// `--erasesize`.
        erase_block: Bytes,
        /// `--fat-nr`: how many erase blocks from the start of the device.
        units: u32,
        /// `--blocksize`: the smallest request.
        smallest: Bytes,
        /// `--random`: shuffled inside each unit.
        order: Order,
    },
}

impl Command {
    /// `--erasesize` where none is given: 4 MiB.
    pub const DEFAULT_ERASE_BLOCK: Bytes = Bytes::mib(4);
    /// `--blocksize` where none is given: 16 KiB.
    pub const DEFAULT_BLOCK: Bytes = Bytes::kib(16);
}
