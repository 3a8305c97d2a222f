//! The partitions and filesystems on a device, judged against its erase block.

use flashscope_device::Bytes;
use flashscope_layout::present::Alignment;
use flashscope_report::layout::JudgedVolume;
use schemars::JsonSchema;
use serde::Serialize;

use super::bottleneck::GainDocument;

/// A partition, or a filesystem on the whole device.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VolumeDocument {
    /// Its name, for example `sdb1`; `partition 1` or the file's name for an image file.
    pub volume: String,
    /// Its offset on the device.
    pub start_bytes: u64,
    /// Its size; null if unknown.
    pub size_bytes: Option<u64>,
    /// The kernel's name of its filesystem, for example `vfat`; null if unknown.
    pub filesystem: Option<String>,
    /// Its cluster or block size.
    pub cluster_bytes: Option<u64>,
    /// The offset of its data area in the partition.
    pub data_start_bytes: Option<u64>,
    /// The size of its block groups or sections.
    pub group_bytes: Option<u64>,
    /// The stripe that it was made for; 0 for none.
    pub stripe_bytes: Option<u64>,
    /// Whether it keeps a journal; null if its kind cannot, or if unknown.
    pub has_journal: Option<bool>,
    /// The options it is mounted with.
    pub mount_options: Vec<String>,
    /// How it lies against the erase block; null if the erase block is not known.
    pub alignment: Option<AlignmentDocument>,
    /// How many times faster the everyday copy gets if it is aligned; null if it is aligned, or if not
    /// measured.
    pub gain: Option<GainDocument>,
}

/// How a volume lies against the erase block.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AlignmentDocument {
    /// `aligned`: start and data area, `data_area_only`: the start is off on purpose, `data_area_off`,
    /// `groups_off`: the group size is no multiple, `start_off`, or `start_only`: the start is aligned, and
    /// the data area is not known.
    pub kind: &'static str,
    /// The erase block.
    pub erase_block_bytes: u64,
    /// How far the start or the data area is into an erase block. Only if it is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_by_bytes: Option<u64>,
}

impl From<&JudgedVolume<'_>> for VolumeDocument {
    fn from(judged: &JudgedVolume<'_>) -> Self {
        let volume = judged.volume;
        Self {
            volume: volume.name.clone(),
            start_bytes: volume.start.get(),
            size_bytes: volume.size.map(Bytes::get),
            filesystem: volume.filesystem.clone(),
            cluster_bytes: volume.cluster.map(Bytes::get),
            data_start_bytes: volume.data_start.map(Bytes::get),
            group_bytes: volume.group.map(Bytes::get),
            stripe_bytes: volume.stripe.map(Bytes::get),
            has_journal: volume.has_journal,
            mount_options: volume.mount_options.clone(),
            alignment: judged.alignment.map(AlignmentDocument::from),
            gain: judged.gain.map(GainDocument::from),
        }
    }
}

impl From<(Bytes, Alignment)> for AlignmentDocument {
    fn from((erase_block, alignment): (Bytes, Alignment)) -> Self {
        let (kind, off_by) = match alignment {
            Alignment::Aligned => ("aligned", None),
            Alignment::DataAreaOnly => ("data_area_only", None),
            Alignment::DataAreaOff { by } => ("data_area_off", Some(by)),
            Alignment::GroupsOff { .. } => ("groups_off", None),
            Alignment::StartOff { by } => ("start_off", Some(by)),
            Alignment::StartOnly => ("start_only", None),
        };
        Self { kind, erase_block_bytes: erase_block.get(), off_by_bytes: off_by.map(Bytes::get) }
    }
}
