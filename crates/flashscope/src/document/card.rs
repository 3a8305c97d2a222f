//! The registers of an SD or MMC card.

use flashscope_device::Bytes;
use flashscope_linux::{BusMode, Card, Reserve, SdStatus};
use schemars::JsonSchema;
use serde::Serialize;

/// What the registers of an SD or MMC card say.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CardDocument {
    /// `SD` or `MMC`.
    pub kind: Option<String>,
    /// The manufacturer id.
    pub manufacturer_id: Option<u32>,
    /// The manufacturer.
    pub maker: Option<&'static str>,
    /// The product name.
    pub name: Option<String>,
    /// The OEM id.
    pub oem: Option<String>,
    /// The product revision.
    pub revision: Option<String>,
    /// The date of manufacture.
    pub date: Option<String>,
    /// The preferred erase size that the kernel derives.
    pub preferred_erase_bytes: Option<u64>,
    /// The allocation unit.
    pub allocation_unit_bytes: Option<u64>,
    /// The capacity in the CSD register.
    pub capacity_bytes: Option<u64>,
    /// Whether the card is write-protected in its CSD register.
    pub write_protected: Option<bool>,
    /// The version of the SD specification.
    pub specification: Option<&'static str>,
    /// The SD status register.
    pub status: Option<SdStatusDocument>,
    /// The mode of the bus between reader and card. Needs root.
    pub bus_mode: Option<BusModeDocument>,
    /// The share of the life used up, in tenths: cells of type A and of type B.
    pub life_used_tenths: Option<[u8; 2]>,
    /// The reserved blocks of an eMMC chip (`pre_eol_info`).
    pub reserve: Option<ReserveDocument>,
    /// Whether the command queue is on.
    pub has_command_queue: Option<bool>,
}

/// How many of its reserved blocks an eMMC chip has used.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReserveDocument {
    /// Less than 80 %.
    Normal,
    /// 80 %.
    Warning,
    /// 90 %.
    Urgent,
}

impl From<Reserve> for ReserveDocument {
    fn from(reserve: Reserve) -> Self {
        match reserve {
            Reserve::Normal => Self::Normal,
            Reserve::Warning => Self::Warning,
            Reserve::Urgent => Self::Urgent,
        }
    }
}

/// The SD status register.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SdStatusDocument {
    /// The allocation unit.
    pub allocation_unit_bytes: Option<u64>,
    /// The allocation unit in UHS modes.
    pub uhs_allocation_unit_bytes: Option<u64>,
    /// The allocation unit of the video speed class.
    pub video_allocation_unit_bytes: Option<u64>,
    /// The speed class.
    pub speed_class: Option<u8>,
    /// The UHS speed grade; 0 is none.
    pub uhs_grade: u8,
    /// The video speed class; 0 is none.
    pub video_class: u8,
    /// The application performance class; 0 is none.
    pub application_class: u8,
    /// Whether the card supports discard.
    pub discards: bool,
}

/// The mode of the bus between reader and card.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BusModeDocument {
    /// Its name, for example `sd uhs SDR104`.
    pub name: String,
    /// The clock, MHz.
    pub clock_mhz: f64,
    /// The number of data lines.
    pub lines: u32,
}

impl From<&Card> for CardDocument {
    fn from(card: &Card) -> Self {
        let cid = card.identification.as_ref();
        Self {
            kind: card.kind.clone(),
            manufacturer_id: card.manufacturer_id,
            maker: card.maker,
            name: cid.map(|cid| cid.product.clone()),
            oem: cid.map(|cid| cid.oem.clone()),
            revision: cid.map(|cid| cid.revision.clone()),
            date: card.date.clone(),
            preferred_erase_bytes: card.preferred_erase.map(Bytes::get),
            allocation_unit_bytes: card.allocation_unit().map(Bytes::get),
            capacity_bytes: card.specific_data.and_then(|csd| csd.capacity).map(Bytes::get),
            write_protected: card.specific_data.map(|csd| csd.write_protected),
            specification: card.configuration.and_then(|scr| scr.version),
            status: card.status.as_ref().map(SdStatusDocument::from),
            bus_mode: card.bus_mode.as_ref().map(BusModeDocument::from),
            life_used_tenths: card.life_used.map(|(single, multiple)| [single, multiple]),
            reserve: card.reserve.map(ReserveDocument::from),
            has_command_queue: card.has_command_queue,
        }
    }
}

impl From<&SdStatus> for SdStatusDocument {
    fn from(status: &SdStatus) -> Self {
        Self {
            allocation_unit_bytes: status.allocation_unit.map(Bytes::get),
            uhs_allocation_unit_bytes: status.uhs_allocation_unit.map(Bytes::get),
            video_allocation_unit_bytes: status.video_allocation_unit.map(Bytes::get),
            speed_class: status.speed_class,
            uhs_grade: status.uhs_grade,
            video_class: status.video_class,
            application_class: status.application_class,
            discards: status.discards,
        }
    }
}

impl From<&BusMode> for BusModeDocument {
    fn from(mode: &BusMode) -> Self {
        Self { name: mode.name.clone(), clock_mhz: mode.clock_mhz, lines: mode.lines }
    }
}
