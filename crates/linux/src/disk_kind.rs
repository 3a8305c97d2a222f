//! The kinds of disks.

/// The kind of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiskKind {
    /// A USB stick.
    Stick,
    /// A slot of a USB card reader, with or without a card.
    Reader,
    /// A USB disk whose medium is not removable: an SSD or hard disk, and some sticks.
    UsbDisk,
    /// An SD or MMC card in a native card reader.
    Card,
    /// A soldered flash chip (eMMC).
    Embedded,
    /// A special area of an eMMC chip: for booting, or for keys.
    EmbeddedPart,
    /// An optical drive, or the emulated one of a stick.
    Optical,
    /// Any other disk.
    Disk,
}

impl DiskKind {
    /// The kind in words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stick => "stick",
            Self::Reader => "card reader",
            Self::UsbDisk => "USB disk",
            Self::Card => "card",
            Self::Embedded => "eMMC chip",
            Self::EmbeddedPart => "part of an eMMC chip",
            Self::Optical => "optical drive",
            Self::Disk => "disk",
        }
    }
}
