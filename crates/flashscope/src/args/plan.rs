//! `flashscope plan`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_device::Bytes;
use flashscope_layout::filesystem::FilesystemKind;
use flashscope_layout::{Chs, Purpose, TableKind};

use super::value;

pub const EXAMPLES: &str = "\
Examples:
  flashscope plan sim:transcend-8g --for linux-data
  sudo flashscope plan /dev/sdX --for share --label PHOTOS -o plan.json
  sudo flashscope apply plan.json";

/// `flashscope plan`
#[derive(Debug, Args)]
pub struct Plan {
    /// A disk, an image file, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// What it is for: share, linux-data, linux-root, camera, board-boot or backup.
    #[arg(
        long = "for",
        value_name = "PURPOSE",
        required_unless_present = "restore_factory",
        hide_possible_values = true
    )]
    pub purpose: Option<Purpose>,
    /// The layout that the SD Association recommends for this capacity.
    #[arg(long, conflicts_with_all = ["purpose", "filesystem", "erase_block", "run", "cluster", "table"])]
    pub restore_factory: bool,
    /// Another filesystem: ext4, vfat, exfat, f2fs, xfs, btrfs, ntfs or nilfs2.
    #[arg(long = "fs", value_name = "NAME")]
    pub filesystem: Option<FilesystemKind>,
    /// The label of the filesystem.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub label: String,
    /// The cluster of vfat, exfat or ntfs.
    #[arg(long, value_name = "SIZE")]
    pub cluster: Option<Bytes>,
    /// ext4 without a journal: fewer writes, but files may be lost after a power cut.
    #[arg(long)]
    pub no_journal: bool,
    /// The partition table: mbr or gpt. Default: mbr, where the capacity allows it.
    #[arg(long, value_name = "KIND")]
    pub table: Option<TableKind>,
    /// The geometry that the CHS fields of an MBR pretend, such as 224/56.
    #[arg(long, value_name = "HEADS/SECTORS")]
    pub chs: Option<Chs>,
    /// The erase block, if you know it. Otherwise it is measured with reads.
    #[arg(long, value_name = "SIZE", value_parser = value::erase_block, conflicts_with = "run")]
    pub erase_block: Option<Bytes>,
    /// Use only the first BYTES, which the device really stores. `verify` finds them. Default: what the run
    /// file of --run says, or all.
    #[arg(long, value_name = "BYTES")]
    pub true_size: Option<Bytes>,
    /// Take the findings from this run file instead of measuring.
    #[arg(long, value_name = "FILE")]
    pub run: Option<PathBuf>,
    /// The seed of all identifiers; the same seed makes the same bytes. Default: random.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Also print the commands that save the files first and copy them back afterwards.
    #[arg(long = "move")]
    pub keeps_files: bool,
    /// Print a shell script that does the same as `apply`.
    #[arg(long, conflicts_with = "keeps_files")]
    pub script: bool,
    /// Also write the plan to FILE, for `apply`.
    #[arg(short = 'o', long = "output", value_name = "FILE.json", value_parser = value::plan_file)]
    pub output: Option<PathBuf>,
}
