//! Plans applied to devices in memory, cut anywhere, and taken back bit for bit.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use flashscope_device::layer::{FaultSpec, Faulty};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{Buffer, ByteRange, Bytes, Device, DeviceExt as _, Op, Payload};
use flashscope_layout::apply::{
    Applied, ApplyError, Host, HostError, Means, UndoError, UndoSink, UndoState, apply, check, read_header,
    restore, state,
};
use flashscope_layout::filesystem::{Command, FilesystemKind};
use flashscope_layout::reason::{Because, PlanNumber};
use flashscope_layout::{
    Chs, EraseBlock, EraseBlockSource, Identity, Medium, Partition, Plan, PlanError, Purpose, TableKind,
    Wish, plan,
};

use crate::support::{Random, sweep};
use crate::tool_host::{has_tools, host};

const CAPACITY: Bytes = Bytes::mib(96);

fn medium() -> Medium {
    Medium {
        target: "memory".to_owned(),
        capacity: CAPACITY,
        true_size: None,
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

fn applied(plan: &Plan, device: &mut dyn Device) -> (Result<Applied, ApplyError>, Vec<u8>) {
    let mut file = Vec::new();
    let mut host = host();
    let means =
        Means { version: "0.0.0", target: "memory", host: &mut host, undo: &mut file, observer: &mut |_| {} };
    let result = apply(plan, device, means);
    (result, file)
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
fn plan_that_was_applied_already_is_recognised_and_writes_nothing() {
    if !has_tools(&TOOLS) {
        return;
    }
    // Other tools write the time or a number that they draw: then only the table is the same.
    for (filesystem, is_constant) in FILESYSTEMS.map(|each| (each, each == FilesystemKind::Vfat)) {
        let (plan, mut device) = (planned(filesystem), full(1));
        let before = device.contents().to_vec();
        let (first, undo) = applied(&plan, &mut device);
        let first = first.unwrap();
        assert!(first.bytes > Bytes::mib(1) && first.undo.is_some() && !first.is_repeated, "{filesystem}");
        let (second, none) = applied(&plan, &mut device);
        let second = second.unwrap();
        assert!(second.is_repeated, "{filesystem}");
        if is_constant {
            assert_eq!((second.bytes, second.undo, none.len()), (Bytes::ZERO, None, 0), "{filesystem}");
        }
        undone(&undo, &mut device).unwrap();
        assert!(device.contents() == before, "{filesystem}");
    }
}

#[test]
fn layout_of_which_only_the_table_is_there_is_applied_again() {
    if !has_tools(&TOOLS) {
        return;
    }
    let (plan, mut device) = (planned(FilesystemKind::Vfat), full(1));
    applied(&plan, &mut device).0.unwrap();
    let whole = device.contents().to_vec();
    let range = ByteRange::new(plan.partitions[0].placement.start, Bytes::kib(4));
    let payload = Payload::Bytes(Buffer::zeroed(range.length));
    device.run(Op::Write { range, payload }).unwrap().outcome.unwrap();
    let (again, file) = applied(&plan, &mut device);
    assert!(!again.unwrap().bytes.is_zero() && !file.is_empty());
    assert!(device.contents() == whole);
}

#[test]
fn undo_file_of_an_apply_that_changed_nothing_is_recognised() {
    if !has_tools(&TOOLS) {
        return;
    }
    let mut device = full(1);
    let (result, file) = applied(&planned(FilesystemKind::Ext4), &mut device);
    result.unwrap();
    let state_of = |file: &[u8], device: &mut MemoryDevice| {
        let mut reader = Cursor::new(file);
        let header = read_header(&mut reader).unwrap();
        state(&header, &mut reader, device).unwrap()
    };
    assert!(!state_of(&file, &mut device).is_same_layout);
    // As an earlier version wrote it: the saved bytes are those that were applied.
    let same = undo_file_of_what_is_there(&file, &mut device);
    let state = state_of(&same, &mut device);
    assert!(state.is_same_layout && state.applied == 0 && state.changed == 0, "{state:?}");
}

/// An undo file with the header of `file`, and the bytes that the device holds now.
fn undo_file_of_what_is_there(file: &[u8], device: &mut MemoryDevice) -> Vec<u8> {
    let mut reader = Cursor::new(file);
    let header = read_header(&mut reader).unwrap();
    let mut same = file[..usize::try_from(reader.position()).unwrap()].to_vec();
    for saved in &header.ranges {
        let at = saved.offset.to_usize()..(saved.offset + saved.length).to_usize();
        let bytes = device.contents()[at].to_vec();
        same.extend_from_slice(&bytes);
        same.extend_from_slice(&checksum(&bytes).to_le_bytes());
    }
    same
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

/// Files may lie in any part: a place of each tells the medium from another one, and shows what was written.
#[test]
fn each_64th_of_the_medium_that_is_not_written_has_a_place_that_is_compared() {
    if !has_tools(&TOOLS) {
        return;
    }
    let mut device = full(1);
    let (result, file) = applied(&planned(FilesystemKind::Ext4), &mut device);
    result.unwrap();
    let mut reader = Cursor::new(&file);
    let header = read_header(&mut reader).unwrap();
    let share = CAPACITY / 64;
    for index in 0..64 {
        let (begin, end) = (share * index, share * (index + 1));
        let is_written =
            header.ranges.iter().any(|saved| saved.offset < end && begin < saved.offset + saved.length);
        let places = header.fingerprint.iter().filter(|place| (begin..end).contains(&place.offset)).count();
        assert!(places == 1 || (is_written && places == 0), "share {index}: {places} places");
    }
    let state = state(&header, &mut reader, &mut device).unwrap();
    assert_eq!(state.fingerprint, header.fingerprint.len());
    assert_eq!((state.marked, state.marked_unchanged), (state.fingerprint, state.fingerprint), "{state:?}");
    assert_eq!(state.fingerprint_changed, 0, "{state:?}");
}

#[test]
fn an_edited_plan_is_checked_again() {
    let edits: [fn(&mut Plan); 19] = [
        |plan| plan.partitions[0].mount_options.push("exec\n".to_owned()),
        |plan| plan.partitions[0].type_code = "ee".to_owned(),
        |plan| plan.partitions[0].placement.start = Bytes::ZERO,
        |plan| plan.partitions[0].placement.start = Bytes::new(4097),
        |plan| plan.partitions[0].placement.start = Bytes::new(u64::MAX - 511),
        |plan| plan.partitions[0].placement.size = CAPACITY,
        |plan| plan.partitions[0].placement.size = Bytes::ZERO,
        |plan| plan.partitions[0].placement.size = Bytes::new(1000),
        |plan| plan.partitions[0].number = 7,
        |plan| plan.partitions.clear(),
        |plan| plan.partitions = vec![plan.partitions[0].clone(); 5],
        |plan| {
            let again = Partition { number: 2, ..plan.partitions[0].clone() };
            plan.partitions.push(again);
        },
        |plan| plan.partitions[0].label = "a label that is far too long".to_owned(),
        |plan| plan.partitions[0].uuid = "-l/etc/passwd".to_owned(),
        |plan| plan.partitions[0].type_code = "83, bootable".to_owned(),
        |plan| plan.partitions[0].placement.options.push("-d/etc".to_owned()),
        |plan| plan.table.id = "0x1\nsize=1".to_owned(),
        |plan| plan.medium.logical_block = Bytes::kib(4),
        |plan| plan.medium.erase_block.size = Bytes::ZERO,
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

#[test]
fn a_geometry_of_an_edited_plan_is_one_that_an_mbr_can_have() {
    let is_taken = |table, heads, sectors| {
        let wish = Wish {
            filesystem: Some(FilesystemKind::Ext4),
            table: Some(table),
            ..Wish::new(Purpose::LinuxData, 1)
        };
        let mut edited = plan(&medium(), &wish).unwrap();
        edited.table.chs = Some(Chs { heads, sectors });
        check(&edited, &MemoryDevice::new(CAPACITY)).is_ok()
    };
    for (heads, sectors) in [(1, 1), (255, 63)] {
        assert!(is_taken(TableKind::Mbr, heads, sectors), "{heads}/{sectors}");
        assert!(!is_taken(TableKind::Gpt, heads, sectors), "{heads}/{sectors} in a GPT");
    }
    for (heads, sectors) in [(0, 63), (255, 0), (255, 64)] {
        assert!(!is_taken(TableKind::Mbr, heads, sectors), "{heads}/{sectors}");
    }
}

/// A counterfeit loses what is written behind its true size: a partition there, or the copy that a GPT keeps
/// at the announced end.
#[test]
fn a_plan_that_reaches_beyond_the_true_size_is_refused() {
    let with_table = |table| {
        let wish = Wish {
            filesystem: Some(FilesystemKind::Ext4),
            table: Some(table),
            ..Wish::new(Purpose::LinuxData, 1)
        };
        plan(&medium(), &wish).unwrap()
    };
    let (mut beyond, mut gpt) = (with_table(TableKind::Mbr), with_table(TableKind::Gpt));
    beyond.medium.true_size = Some(beyond.partitions[0].end() - Bytes::kib(4));
    gpt.medium.true_size = Some(gpt.partitions[0].end());
    let mut larger = with_table(TableKind::Mbr);
    larger.medium.true_size = Some(CAPACITY + Bytes::mib(1));
    for plan in [beyond, gpt, larger] {
        let mut device = MemoryDevice::new(CAPACITY);
        let (result, file) = applied(&plan, &mut device);
        assert!(matches!(result, Err(ApplyError::Impossible(_))), "{result:?}");
        assert!(file.is_empty() && device.contents().iter().all(|byte| *byte == 0));
    }
}

#[test]
fn choice_that_the_filesystem_does_not_have_is_refused() {
    let refused = |filesystem, cluster, has_journal| {
        let wish = Wish { cluster, has_journal, ..Wish::new(Purpose::LinuxData, 1) };
        plan(&medium(), &Wish { filesystem: Some(filesystem), ..wish }).err().map(|error| error.to_string())
    };
    let cluster = Some(Bytes::kib(32));
    let another = "leave it out, or name another filesystem (--fs)";
    let of_cluster = format!("--cluster is for vfat, exfat and ntfs, and this plan makes ext4: {another}");
    assert_eq!(refused(FilesystemKind::Ext4, cluster, true), Some(of_cluster));
    let of_journal = format!("--no-journal is for ext4, and this plan makes vfat: {another}");
    assert_eq!(refused(FilesystemKind::Vfat, None, false), Some(of_journal));
    assert_eq!(refused(FilesystemKind::Ext4, None, false), None);
    assert_eq!(refused(FilesystemKind::Ntfs, cluster, true), None);
}

/// One inode per 64 KiB for data, one per MiB for archives, mke2fs's own number for systems.
#[test]
fn ext4_has_as_many_inodes_as_its_purpose_needs_and_says_so() {
    // A board's two partitions need more space than the other tests.
    let medium = Medium { capacity: Bytes::gib(4), ..medium() };
    for (purpose, bytes) in [
        (Purpose::LinuxData, Some("65536")),
        (Purpose::Share, Some("65536")),
        (Purpose::Backup, Some("1048576")),
        (Purpose::LinuxRoot, None),
        (Purpose::BoardBoot, None),
    ] {
        let wish = Wish { filesystem: Some(FilesystemKind::Ext4), ..Wish::new(purpose, 1) };
        let placement = plan(&medium, &wish).unwrap().partitions.pop().unwrap().placement;
        let option = placement.options.iter().skip_while(|option| *option != "-i").nth(1);
        let stated = placement.reasons.iter().find(|reason| reason.number == PlanNumber::BytesPerInode);
        assert_eq!(option.map(String::as_str), bytes, "{purpose}");
        assert_eq!(stated.map(|reason| reason.value.as_str()), bytes, "{purpose}");
    }
}

#[test]
fn a_plan_for_another_size_is_refused() {
    for capacity in [CAPACITY - Bytes::mib(1), CAPACITY + Bytes::mib(1)] {
        let mut device = MemoryDevice::new(capacity);
        let (result, file) = applied(&planned(FilesystemKind::Ext4), &mut device);
        assert!(matches!(result, Err(ApplyError::OtherMedium { .. })), "{result:?}");
        assert!(file.is_empty() && device.contents().iter().all(|byte| *byte == 0));
    }
}

/// An undo file that never reaches the disk.
struct Lost(Vec<u8>);

impl std::io::Write for Lost {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl UndoSink for Lost {
    fn make_durable(&mut self) -> std::io::Result<()> {
        Err(std::io::Error::other("no space left on device"))
    }
}

#[test]
fn nothing_is_written_before_the_undo_file_is_durable() {
    if !has_tools(&TOOLS) {
        return;
    }
    let mut device = full(4);
    let before = device.contents().to_vec();
    let (mut host, mut lost) = (host(), Lost(Vec::new()));
    let means =
        Means { version: "0.0.0", target: "memory", host: &mut host, undo: &mut lost, observer: &mut |_| {} };
    let error = apply(&planned(FilesystemKind::Ext4), &mut device, means).unwrap_err();
    assert!(matches!(error, ApplyError::Undo(_)), "{error}");
    assert!(device.contents() == before && !lost.0.is_empty());
}

/// FNV-1a, as in undo files.
fn checksum(bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    bytes.iter().fold(start, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A checksum proves that a file is whole, not that its numbers are possible.
#[test]
fn undo_file_with_impossible_numbers_is_refused() {
    let header = |block: u64, offset: u64, length: u64, place: u64| {
        let json = format!(
            r#"{{"flashscope":"0.1.0","target":"/dev/sdb","logical_block":{block},
            "identity":{{"model":"Stick","serial":null,"capacity":1048576}},
            "ranges":[{{"offset":{offset},"length":{length},"applied":1}}],
            "fingerprint":[{{"offset":{place},"checksum":1}}]}}"#
        );
        let (json, length) = (json.as_bytes(), (json.len() as u64).to_le_bytes());
        let file = [b"FSUNDO1\n", &length[..], json, &checksum(json).to_le_bytes()].concat();
        read_header(&mut Cursor::new(file)).map(drop)
    };
    assert!(header(512, 0, 4096, 8192).is_ok());
    for (block, offset, length, place) in [
        (0, 0, 4096, 8192),
        (513, 0, 4096, 8192),
        (1 << 32, 0, 4096, 8192),
        (u64::MAX, 0, 4096, 8192),
        (512, 1 << 20, 4096, 8192),
        (512, u64::MAX, u64::MAX, 8192),
        (512, 0, u64::MAX, 8192),
        (512, 0, 4096, 1 << 20),
        (512, 0, 4096, u64::MAX),
    ] {
        let result = header(block, offset, length, place);
        assert!(matches!(result, Err(UndoError::Damaged { .. })), "{block} {offset} {length} {place}");
    }
}

#[test]
fn medium_on_which_nothing_is_recognised_is_another_one() {
    let state = UndoState {
        applied: 0,
        original: 0,
        changed: 3,
        recognised: 0,
        marked: 0,
        marked_unchanged: 0,
        was_blank: false,
        is_same_layout: false,
        fingerprint_changed: 60,
        fingerprint: 60,
    };
    assert!(!state.can_be_same());
    assert!(UndoState { recognised: 1, ..state }.can_be_same());
    assert!(!UndoState { was_blank: true, ..state }.can_be_same());
    assert!(UndoState { was_blank: true, fingerprint_changed: 0, ..state }.can_be_same());
    // What was applied may be on another medium, too: untouched contents decide.
    assert!(!UndoState { recognised: 9, marked: 5, ..state }.can_be_same());
    assert!(UndoState { marked: 5, marked_unchanged: 1, ..state }.can_be_same());
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

/// Everything lies below the true size: on a fake whose addresses wrap around, a write beyond it would land
/// in the partition.
#[test]
fn a_plan_for_the_true_size_of_a_fake_is_applied_and_undone_bit_for_bit() {
    if !has_tools(&TOOLS) {
        return;
    }
    let size = Bytes::mib(70) + Bytes::new(512);
    let fake = Medium { true_size: Some(size), ..medium() };
    for (filesystem, fault) in FILESYSTEMS.into_iter().zip(["wrap", "limbo", "wrap"]) {
        let wish = Wish { filesystem: Some(filesystem), ..Wish::new(Purpose::Share, 1) };
        let planned = plan(&fake, &wish).unwrap();
        assert!(planned.partitions.iter().all(|partition| partition.end() <= size), "{filesystem}");
        let mut device = full(3);
        let before = device.contents().to_vec();
        let fault: FaultSpec =
            format!("{fault}:real={},fake={}", size.get(), CAPACITY.get()).parse().unwrap();
        let mut faulty = Faulty::new(&mut device, &[fault], 1).unwrap();
        let (result, file) = applied(&planned, &mut faulty);
        result.unwrap();
        undone(&file, &mut faulty).unwrap();
        drop(faulty);
        assert!(device.contents() == before, "{filesystem}");
    }
}

#[test]
fn a_true_size_needs_an_mbr_and_is_at_most_the_capacity() {
    let of = |true_size| Medium { true_size: Some(true_size), ..medium() };
    let wish = |table| Wish { table, ..Wish::new(Purpose::Share, 1) };
    let planned = plan(&of(Bytes::mib(64)), &wish(None)).unwrap();
    assert_eq!((planned.table.kind, planned.table.reason.because), (TableKind::Mbr, Because::GptNeedsTheEnd));
    let gpt = plan(&of(Bytes::mib(64)), &wish(Some(TableKind::Gpt)));
    assert_eq!(gpt, Err(PlanError::GptBeyondTrueSize));
    let more = plan(&of(CAPACITY + Bytes::mib(1)), &wish(None));
    assert!(matches!(more, Err(PlanError::TrueSize { .. })), "{more:?}");
    let tiny = plan(&of(Bytes::new(7)), &Wish::new(Purpose::LinuxData, 1)).unwrap_err();
    assert!(
        tiny.to_string().contains("--true-size") && !tiny.to_string().contains("--erase-block"),
        "{tiny}"
    );
    let small = plan(&of(Bytes::mib(7)), &wish(None));
    assert!(matches!(small, Err(PlanError::TrueSizeTooSmall { .. })), "{small:?}");
    let whole = plan(&of(CAPACITY), &wish(None)).unwrap();
    assert!(check(&whole, &MemoryDevice::new(CAPACITY)).is_ok(), "all of the capacity");
    let mut edited = planned;
    edited.medium.true_size = Some(Bytes::mib(32));
    assert!(check(&edited, &MemoryDevice::new(CAPACITY)).is_err(), "a partition beyond the true size");
}
