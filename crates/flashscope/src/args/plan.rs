//! `flashscope plan`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_device::Bytes;
use flashscope_layout::filesystem::FilesystemKind;
use flashscope_layout::{Chs, Purpose, TableKind};

use super::shared::heading;
use super::value;

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope plan sim:transcend-8g --for linux-data
  sudo flashscope plan /dev/sdX --for share --label PHOTOS -o plan.json
  sudo flashscope apply plan.json";

/// `flashscope plan`
#[derive(Debug, Args)]
#[command(override_usage = "flashscope plan --for <PURPOSE> [OPTIONS] <TARGET>")]
pub struct Plan {
    /// A disk, an image file, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// What it is for.
    ///
    /// One of share, linux-data, linux-root, camera, board-boot and backup.
    #[arg(
        help_heading = heading::PLANNED,
        long = "for",
        value_name = "PURPOSE",
        hide_possible_values = true
    )]
    pub purpose: Option<Purpose>,
    /// The layout that the SD Association recommends.
    #[arg(help_heading = heading::PLANNED, long, conflicts_with_all = ["purpose", "filesystem", "erase_block", "run", "cluster", "table"])]
    pub restore_factory: bool,
    /// Another filesystem, such as ext4.
    ///
    /// One of ext4, vfat, exfat, f2fs, xfs, btrfs, ntfs and nilfs2.
    #[arg(help_heading = heading::PLANNED, long = "fs", value_name = "NAME")]
    pub filesystem: Option<FilesystemKind>,
    /// The label of the filesystem.
    #[arg(help_heading = heading::PLANNED, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub label: String,
    /// The cluster of vfat, exfat or ntfs.
    #[arg(help_heading = heading::PLANNED, hide_short_help = true, long, value_name = "SIZE")]
    pub cluster: Option<Bytes>,
    /// ext4 without a journal: fewer writes, but files may be lost after a power cut.
    #[arg(help_heading = heading::PLANNED, hide_short_help = true, long, conflicts_with = "restore_factory")]
    pub no_journal: bool,
    /// The partition table: mbr or gpt.
    ///
    /// Default: mbr, where the capacity allows it.
    #[arg(help_heading = heading::PLANNED, hide_short_help = true, long, value_name = "KIND")]
    pub table: Option<TableKind>,
    /// The geometry that the CHS fields of an MBR pretend, such as 224/56.
    #[arg(help_heading = heading::PLANNED, hide_short_help = true, long, value_name = "HEADS/SECTORS")]
    pub chs: Option<Chs>,
    /// The erase block; otherwise measured with reads.
    #[arg(help_heading = heading::MEASURED, long, value_name = "SIZE", value_parser = value::erase_block, conflicts_with = "run")]
    pub erase_block: Option<Bytes>,
    /// Use only the first BYTES.
    ///
    /// Those that the device really stores; `verify` finds them. Default: what the run file of --run says,
    /// or all.
    #[arg(help_heading = heading::PLANNED, hide_short_help = true, long, value_name = "BYTES")]
    pub true_size: Option<Bytes>,
    /// Take the findings from this run file.
    ///
    /// Nothing is measured then.
    #[arg(help_heading = heading::MEASURED, long, value_name = "FILE")]
    pub run: Option<PathBuf>,
    /// The seed of all identifiers; the same seed makes the same bytes. Default: random.
    #[arg(help_heading = heading::PLANNED, hide_short_help = true, long, value_name = "N")]
    pub seed: Option<u64>,
    /// Also print commands that save and copy back the files.
    #[arg(help_heading = heading::OUTPUT, long = "move")]
    pub keeps_files: bool,
    /// Print a shell script that does the same as `apply`.
    #[arg(help_heading = heading::OUTPUT, long, conflicts_with = "keeps_files")]
    pub script: bool,
    /// Also write the plan, for `apply`.
    #[arg(help_heading = heading::OUTPUT, short = 'o', long = "output", value_name = "FILE.json", value_parser = value::plan_file)]
    pub output: Option<PathBuf>,
}
