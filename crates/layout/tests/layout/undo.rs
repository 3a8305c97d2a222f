//! Plans applied to devices in memory, cut anywhere, and taken back bit for bit.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use flashscope_device::layer::{FaultSpec, Faulty};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{Buffer, ByteRange, Bytes, Device, DeviceExt as _, Op, Payload};
use flashscope_layout::apply::{
    ApplyError, Host, HostError, Means, UndoError, apply, read_header, restore, state,
};
use flashscope_layout::filesystem::{Command, FilesystemKind};
use flashscope_layout::{EraseBlock, EraseBlockSource, Identity, Medium, Plan, Purpose, Wish, plan};

use crate::support::{Random, sweep};
use crate::tool_host::{has_tools, host};

const CAPACITY: Bytes = Bytes::mib(192);

fn medium() -> Medium {
    Medium {
        target: "memory".to_owned(),
        capacity: CAPACITY,
        logical_block: Bytes::new(512),
        erase_block: EraseBlock { size: Bytes::mib(4), source: EraseBlockSource::Given },
        fat_area: None,
        identity: Identity { capacity: CAPACITY, ..Identity::default() },
    }
}

fn planned(filesystem: FilesystemKind) -> Plan {
    let wish = Wish { filesystem: Some(filesystem), ..Wish::new(Purpose::LinuxData, 1) };
    plan(&medium(), &wish).unwrap()
}

/// A device full of random bytes.
fn full(seed: u64) -> MemoryDevice {
    let mut device = MemoryDevice::new(CAPACITY);
    let mut random = Random::new(seed);
    let mut buffer = Buffer::zeroed(Bytes::mib(1));
    for index in 0..CAPACITY / Bytes::mib(1) {
        for chunk in buffer.chunks_exact_mut(8) {
            chunk.copy_from_slice(&random.next().to_le_bytes());
        }
        let range = ByteRange::new(Bytes::mib(index), Bytes::mib(1));
        device.run(Op::Write { range, payload: Payload::Bytes(buffer.clone()) }).unwrap().outcome.unwrap();
    }
    device
}

fn applied(plan: &Plan, device: &mut dyn Device) -> (Result<(), ApplyError>, Vec<u8>) {
    let mut file = Vec::new();
    let mut host = host();
    let means =
        Means { version: "0.0.0", target: "memory", host: &mut host, undo: &mut file, observer: &mut |_| {} };
    let result = apply(plan, device, means);
    (result.map(drop), file)
}

fn undone(file: &[u8], device: &mut dyn Device) -> Result<(), UndoError> {
    let mut reader = Cursor::new(file);
    let header = read_header(&mut reader)?;
    let at = reader.position();
    state(&header, &mut reader, device)?;
    reader.set_position(at);
    restore(&header, &mut reader, device).map(drop)
}

const FILESYSTEMS: [FilesystemKind; 3] = [FilesystemKind::Ext4, FilesystemKind::Vfat, FilesystemKind::Exfat];
const TOOLS: [&str; 4] = ["sfdisk", "mkfs.ext4", "mkfs.vfat", "mkfs.exfat"];

#[test]
fn an_applied_plan_is_undone_bit_for_bit() {
    if !has_tools(&TOOLS) {
        return;
    }
    for filesystem in FILESYSTEMS {
        let mut device = full(1);
        let before = device.contents().to_vec();
        let (result, file) = applied(&planned(filesystem), &mut device);
        result.unwrap();
        assert!(device.contents() != before);
        undone(&file, &mut device).unwrap();
        assert!(device.contents() == before, "{filesystem}");
        // Once more changes nothing.
        undone(&file, &mut device).unwrap();
        assert!(device.contents() == before);
    }
}

#[test]
fn an_apply_cut_at_any_write_is_undone_bit_for_bit() {
    if !has_tools(&TOOLS) {
        return;
    }
    let count = 12 * sweep();
    let mut random = Random::new(5);
    for index in 0..count {
        let filesystem = FILESYSTEMS[index as usize % FILESYSTEMS.len()];
        let mut device = full(index);
        let before = device.contents().to_vec();
        let cut: FaultSpec = format!("unplug:after={}", 1 + random.below(500)).parse().unwrap();
        let file = {
            let mut faulty = Faulty::new(&mut device, &[cut], index).unwrap();
            applied(&planned(filesystem), &mut faulty).1
        };
        // While it is undone, it is cut as well, wherever that falls.
        let again: FaultSpec = format!("unplug:after={}", 1 + random.below(400)).parse().unwrap();
        let _ = undone(&file, &mut Faulty::new(&mut device, &[again], index).unwrap());
        match undone(&file, &mut device) {
            Ok(()) => {}
            // Cut before the undo file was whole: then nothing was written.
            Err(UndoError::Damaged { .. } | UndoError::NotUndo) => {}
            Err(error) => panic!("{error}"),
        }
        assert!(device.contents() == before, "{index} {filesystem}");
    }
}

#[test]
fn an_undo_file_of_another_stick_or_a_damaged_one_is_refused() {
    if !has_tools(&TOOLS) {
        return;
    }
    let mut device = full(2);
    let (result, file) = applied(&planned(FilesystemKind::Vfat), &mut device);
    result.unwrap();
    let after = device.contents().to_vec();
    for length in [0, 7, 8, 20, 300, file.len() / 2, file.len() - 1] {
        let error = undone(&file[..length], &mut device).unwrap_err();
        assert!(matches!(error, UndoError::NotUndo | UndoError::Damaged { .. }), "{length}: {error}");
    }
    let mut damaged = file.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    assert!(matches!(undone(&damaged, &mut device), Err(UndoError::Damaged { .. })));
    let mut other = MemoryDevice::new(Bytes::mib(64));
    assert!(matches!(undone(&file, &mut other), Err(UndoError::OtherMedium { .. })));
    assert!(device.contents() == after);
    let mut reader = Cursor::new(&file);
    let header = read_header(&mut reader).unwrap();
    let state = state(&header, &mut reader, &mut full(3)).unwrap();
    assert!(state.fingerprint > 20 && state.fingerprint_changed == state.fingerprint, "{state:?}");
}

#[test]
fn an_edited_plan_is_checked_again() {
    let edits: [fn(&mut Plan); 5] = [
        |plan| plan.partitions[0].placement.start = Bytes::ZERO,
        |plan| plan.partitions[0].placement.size = CAPACITY,
        |plan| plan.partitions[0].placement.start = Bytes::new(4097),
        |plan| plan.partitions[0].number = 7,
        |plan| plan.partitions.clear(),
    ];
    for edit in edits {
        let mut plan = planned(FilesystemKind::Ext4);
        edit(&mut plan);
        let mut device = MemoryDevice::new(CAPACITY);
        let (result, file) = applied(&plan, &mut device);
        assert!(matches!(result, Err(ApplyError::Impossible(_))), "{result:?}");
        assert!(file.is_empty() && device.contents().iter().all(|byte| *byte == 0));
    }
}

/// A host whose tools are missing, or fail from the n-th on.
struct Broken {
    tools: flashscope_linux::ScratchFiles,
    left: usize,
    is_missing: bool,
}

impl Host for Broken {
    fn scratch(&mut self, name: &str, size: Bytes) -> Result<PathBuf, HostError> {
        self.tools.scratch(name, size)
    }

    fn run(&mut self, command: &Command) -> Result<String, HostError> {
        if self.left > 0 {
            self.left -= 1;
            return self.tools.run(command);
        }
        let (program, package) = (command.program.clone(), String::new());
        if self.is_missing {
            return Err(HostError::Missing { program, package });
        }
        let messages = "no space left".to_owned();
        Err(HostError::Failed { command: program, status: "exit status: 1".to_owned(), messages })
    }

    fn written(&mut self, path: &Path) -> Result<Vec<ByteRange>, HostError> {
        self.tools.written(path)
    }

    fn read(&mut self, path: &Path, range: ByteRange) -> Result<Vec<u8>, HostError> {
        self.tools.read(path, range)
    }

    fn write(&mut self, path: &Path, offset: Bytes, bytes: &[u8]) -> Result<(), HostError> {
        self.tools.write(path, offset, bytes)
    }
}

#[test]
fn a_tool_that_is_missing_or_fails_at_any_step_leaves_the_medium_untouched() {
    if !has_tools(&TOOLS) {
        return;
    }
    // The version, mkfs, fsck, sfdisk.
    for left in 0..4 {
        for is_missing in [true, false] {
            let mut device = full(1);
            let before = device.contents().to_vec();
            let mut broken = Broken { tools: host(), left, is_missing };
            let mut file = Vec::new();
            let means = Means {
                version: "0.0.0",
                target: "memory",
                host: &mut broken,
                undo: &mut file,
                observer: &mut |_| {},
            };
            let error = apply(&planned(FilesystemKind::Ext4), &mut device, means);
            // A version that cannot be read is no failure.
            if left == 0 && !is_missing {
                assert!(matches!(error, Err(ApplyError::Host(HostError::Failed { .. }))), "{error:?}");
            }
            let message = error.unwrap_err().to_string();
            let package = if left == 3 { "fdisk" } else { "e2fsprogs" };
            assert!(message.contains("nothing was written"), "{message}");
            assert!(!is_missing || message.contains(package), "{left}: {message}");
            assert!(device.contents() == before && file.is_empty());
        }
    }
}

/// An undo file whose header was edited, with the right checksum.
fn edited(file: &[u8], edit: &dyn Fn(&mut serde_json::Value)) -> Vec<u8> {
    let length = u64::from_le_bytes(file[8..16].try_into().unwrap()) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&file[16..16 + length]).unwrap();
    edit(&mut header);
    let json = serde_json::to_vec(&header).unwrap();
    let sum = json
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    [&file[..8], &(json.len() as u64).to_le_bytes(), &json, &sum.to_le_bytes(), &file[16 + length + 8..]]
        .concat()
}

#[test]
fn an_edited_undo_file_is_refused_before_anything_is_allocated() {
    if !has_tools(&TOOLS) {
        return;
    }
    let mut device = full(2);
    let (result, file) = applied(&planned(FilesystemKind::Vfat), &mut device);
    result.unwrap();
    assert_eq!(edited(&file, &|_| {}).len(), file.len());
    let huge = u64::MAX / 2;
    let edits: [&dyn Fn(&mut serde_json::Value); 8] = [
        &|header| header["logical_block"] = (1_u64 << 60).into(),
        &|header| header["logical_block"] = 0.into(),
        &|header| header["logical_block"] = 1000.into(),
        &|header| header["ranges"] = serde_json::json!([]),
        &|header| header["ranges"][0]["length"] = huge.into(),
        &|header| header["ranges"][0]["offset"] = huge.into(),
        &|header| header["ranges"][1]["offset"] = 0.into(),
        &|header| header["fingerprint"][0]["offset"] = 5.into(),
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        let error = read_header(&mut Cursor::new(edited(&file, edit))).unwrap_err();
        assert!(matches!(error, UndoError::Damaged { .. }), "{index}: {error}");
    }
}
