//! Random placements made by the real tools on sparse files, and read back from their own heads.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use flashscope_device::Bytes;
use flashscope_layout::filesystem::{ALL, DataArea, FilesystemKind, Placement, Request};

use flashscope_layout::Version;

use crate::support::{Random, request, sweep};
use crate::tool_host::skip;

const UUID: &str = "8c9e5c5a-1b1e-4f4b-9f6e-3a2b1c0d9e8f";

/// Runs a tool; `None` if it is not installed.
fn run(program: &str, arguments: &[String]) -> Option<(bool, String)> {
    let path = "/usr/sbin:/sbin:/usr/bin:/bin";
    let output = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C")
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Some((output.status.success(), text.into_owned()))
}

fn number(file: &File, at: u64, length: usize) -> u64 {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes[..length], at).unwrap();
    u64::from_le_bytes(bytes)
}

/// Where the data begins in the file, from the filesystem's own head; the unit of groups for ext4.
fn read_back(kind: FilesystemKind, path: &Path) -> Bytes {
    let file = File::open(path).unwrap();
    let field = |at, length| number(&file, at, length);
    match kind {
        FilesystemKind::Vfat => {
            let sector = field(11, 2);
            let fat = if field(22, 2) == 0 { field(36, 4) } else { field(22, 2) };
            let root = (field(17, 2) * 32).div_ceil(sector);
            Bytes::new((field(14, 2) + field(16, 1) * fat + root) * sector)
        }
        FilesystemKind::Exfat => Bytes::new(field(88, 4) << field(108, 1)),
        FilesystemKind::Ext4 => Bytes::new(field(1024 + 32, 4) * 4096),
        FilesystemKind::F2fs => Bytes::new(field(1024 + 92, 4) * 4096),
        FilesystemKind::Xfs => {
            let mut bytes = [0; 4];
            file.read_exact_at(&mut bytes, 84).unwrap();
            Bytes::new(u64::from(u32::from_be_bytes(bytes)) * 4096)
        }
        _ => Bytes::ZERO,
    }
}

fn assert_placed(kind: FilesystemKind, placement: &Placement, erase_block: Bytes, path: &Path) {
    let found = read_back(kind, path);
    match (kind, placement.data_area) {
        (FilesystemKind::F2fs, _) => {
            assert!(
                (placement.start + found).is_multiple_of(erase_block),
                "f2fs main at {found}: {placement:?}"
            );
        }
        (FilesystemKind::Nilfs2, _) => {}
        (FilesystemKind::Xfs, _) => assert!(found.is_multiple_of(erase_block), "xfs groups of {found}"),
        (_, DataArea::At { offset }) => assert_eq!(placement.start + found, offset, "{kind}: {placement:?}"),
        (_, DataArea::Groups { size }) => assert_eq!(found, size, "{kind}: {placement:?}"),
        (_, DataArea::Anywhere) => {}
    }
}

/// Makes `count` random placements of each filesystem; names the tools that are missing.
fn make(count: usize, seed: u64) {
    let mut random = Random::new(seed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("partition.img");
    let mut made = 0;
    while made < count {
        // A file has sectors of 512 bytes to every tool.
        let request = Request { logical_block: Bytes::new(512), ..request(&mut random, 64_000_000_000) };
        let filesystem = ALL[made % ALL.len()];
        let Ok(placement) = filesystem.align(&request) else { continue };
        made += 1;
        File::create(&path).unwrap().set_len(placement.size.get()).unwrap();
        let command = filesystem.command(&placement, "STICK", UUID, &path.to_string_lossy());
        let tool = filesystem.tool();
        let printed = tool.version_option.and_then(|option| run(tool.program, &[option.to_owned()]));
        let version = printed.and_then(|(_, text)| Version::find(&text));
        let command = tool.adapt(command, version).unwrap();
        let Some((is_ok, text)) = run(&command.program, &command.arguments) else {
            skip(&format!("{} (package {})", tool.program, tool.package));
            continue;
        };
        assert!(is_ok, "{request:?}\n{} {}\n{text}", command.program, command.arguments.join(" "));
        assert_placed(filesystem.kind(), &placement, request.erase_block, &path);
    }
}

#[test]
fn real_tools_place_filesystems_as_planned() {
    make(64 * sweep() as usize, 11);
}
