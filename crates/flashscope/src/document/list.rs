//! The documents of `list`.

use flashscope_linux::{Disk, Listing, MissingDisk, MissingDiskReason};
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;
use super::disk::DiskDocument;
use crate::wall_clock;

/// The sticks, cards and readers of this machine; with `--all`, every disk.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListDocument {
    /// The disks.
    pub disks: Vec<DiskDocument>,
    /// Card slots and USB storage devices without a disk.
    pub idle: Vec<IdleDocument>,
    /// Disks that were unplugged while they were read.
    pub vanished: Vec<String>,
}

/// A card slot or USB storage device without a disk.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IdleDocument {
    /// Its kernel name.
    pub name: String,
    /// The product name it reports.
    pub product: Option<String>,
    /// Why it has no disk.
    pub why: IdleReason,
}

/// Why a slot or device has no disk.
#[derive(Debug, Serialize, JsonSchema)]
pub enum IdleReason {
    /// The slot is empty.
    #[serde(rename = "no card")]
    EmptySlot,
    /// No driver has taken the device.
    #[serde(rename = "no driver")]
    NoDriver,
    /// No driver has taken the device, which supports UAS.
    #[serde(rename = "no uas driver")]
    NoUasDriver,
    /// The device is starting or does not answer.
    #[serde(rename = "no disk")]
    NoDisk,
}

/// One event of `list --watch`, one document a line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListEventDocument {
    /// What happened.
    pub event: EventKind,
    /// When (UTC, RFC 3339).
    pub at: String,
    /// The disk.
    pub disk: DiskDocument,
}

/// What happened to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// It was there when watching started.
    Present,
    /// It was plugged in.
    Added,
    /// It was unplugged.
    Removed,
    /// It changed: a card was inserted, or a partition was mounted.
    Changed,
}

impl EventKind {
    /// The event as it stands in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

impl Body for ListDocument {
    const NAME: &'static str = "list";
    const COMMANDS: &'static str = "list";
}

impl Body for ListEventDocument {
    const NAME: &'static str = "list-event";
    const COMMANDS: &'static str = "list --watch, one document a line";
}

impl ListEventDocument {
    /// An event that was seen now.
    pub fn now(event: EventKind, disk: &Disk) -> Self {
        Self { event, at: wall_clock::now(), disk: DiskDocument::from(disk) }
    }
}

impl From<&Listing> for ListDocument {
    fn from(listing: &Listing) -> Self {
        Self {
            disks: listing.disks.iter().map(DiskDocument::from).collect(),
            idle: listing.missing.iter().map(IdleDocument::from).collect(),
            vanished: listing.vanished.clone(),
        }
    }
}

impl From<&MissingDisk> for IdleDocument {
    fn from(idle: &MissingDisk) -> Self {
        let why = match idle.reason {
            MissingDiskReason::NoCard => IdleReason::EmptySlot,
            MissingDiskReason::NoDriver => IdleReason::NoDriver,
            MissingDiskReason::NoUasDriver => IdleReason::NoUasDriver,
            MissingDiskReason::NoDisk => IdleReason::NoDisk,
        };
        Self { name: idle.name.clone(), product: idle.product.clone(), why }
    }
}
