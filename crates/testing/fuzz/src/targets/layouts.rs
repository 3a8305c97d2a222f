//! Partition tables, heads of filesystems, plans and undo files.

use std::io::Cursor;

use flashscope_device::memory::MemoryDevice;
use flashscope_device::{ByteRange, Bytes};
use flashscope_layout::apply::{self, UndoHeader};
use flashscope_layout::filesystem::FilesystemKind;
use flashscope_layout::head::{self, Gpt, Mbr};
use flashscope_layout::present::present;
use flashscope_layout::{EraseBlock, EraseBlockSource, Identity, Medium, Plan, Purpose, Wish, plan};
use serde_json::json;

use super::samples;
use crate::target::Target;

/// The size of the medium that plans are for. The smallest that has room for each purpose.
const PLANNED: Bytes = Bytes::gib(4);
/// The size of the medium that undo files are for.
const UNDONE: Bytes = Bytes::mib(1);
const BLOCK: Bytes = Bytes::new(512);

pub fn targets() -> std::io::Result<Vec<Target>> {
    let mut undo = Target::new("undo file", vec![undo_sample(), undo_sample_of_one_range()], undo_file);
    undo.sealed = sealed_undo;
    Ok(vec![
        Target::new("heads and tables", samples("fuzz", ".head")?, heads),
        Target::new("plan file", plans(), plan_file),
        undo,
    ])
}

/// The parsers alone, then together as they read a medium.
fn heads(input: &[u8]) -> bool {
    let capacity = Bytes::mib(64);
    let head = head::parse(input);
    let mbr = Mbr::parse(input);
    let gpt = Gpt::parse(input, BLOCK);
    for block in [BLOCK, Bytes::kib(4)] {
        let found = present(capacity, block, &mut |range: ByteRange| {
            let start = range.offset.to_usize().min(input.len());
            let mut bytes = input[start..range.end().to_usize().min(input.len())].to_vec();
            bytes.resize(range.length.to_usize(), 0);
            Some(bytes)
        });
        for volume in &found.volumes {
            let _alignment = volume.alignment(Bytes::mib(4));
        }
    }
    head.is_some() || mbr.is_some() || gpt.is_some()
}

fn medium() -> Medium {
    Medium {
        target: "/dev/sdb".to_owned(),
        capacity: PLANNED,
        true_size: None,
        logical_block: BLOCK,
        erase_block: EraseBlock { size: Bytes::mib(4), source: EraseBlockSource::Given },
        fat_area: None,
        identity: Identity { capacity: PLANNED, ..Identity::default() },
    }
}

fn plans() -> Vec<Vec<u8>> {
    let kinds = [None, Some(FilesystemKind::Vfat), Some(FilesystemKind::Exfat), Some(FilesystemKind::Ext4)];
    let planned = |filesystem| {
        let wish = Wish { filesystem, ..Wish::new(Purpose::LinuxData, 1) };
        serde_json::to_vec(&plan(&medium(), &wish).ok()?).ok()
    };
    kinds.into_iter().filter_map(planned).collect()
}

fn plan_file(input: &[u8]) -> bool {
    let Ok(plan) = serde_json::from_slice::<Plan>(input) else { return false };
    let is_possible = apply::check(&plan, &Sized(PLANNED)).is_ok();
    if is_possible {
        // What is made of a plan before the tools see it.
        let _ranges = flashscope_layout::steps::table_ranges(&plan);
        let _fields = flashscope_layout::steps::chs_fields(&plan);
        for partition in &plan.partitions {
            let _ends = flashscope_layout::steps::partition_ends(partition);
        }
    }
    is_possible
}

/// A medium of a size, without memory behind it.
struct Sized(Bytes);

impl flashscope_device::Device for Sized {
    fn capabilities(&self) -> flashscope_device::Capabilities {
        let device = MemoryDevice::new(UNDONE);
        flashscope_device::Capabilities {
            capacity: self.0,
            ..flashscope_device::Device::capabilities(&device)
        }
    }

    fn now(&self) -> flashscope_device::Instant {
        flashscope_device::Device::now(&MemoryDevice::new(UNDONE))
    }

    fn submit(
        &mut self,
        tag: flashscope_device::Tag,
        op: flashscope_device::Op,
    ) -> Result<(), flashscope_device::DeviceError> {
        MemoryDevice::new(UNDONE).submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<flashscope_device::Completion>, flashscope_device::DeviceError> {
        Ok(None)
    }
}

/// FNV-1a, as in undo files.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

const MAGIC: &[u8] = b"FSUNDO1\n";

fn undo_sample() -> Vec<u8> {
    undo_of(&[(0, 512), (8192, 512), (65536, 512)], &[(131_072, 7), (262_144, 9)])
}

fn undo_sample_of_one_range() -> Vec<u8> {
    undo_of(&[(0, 512)], &[])
}

/// An undo file of these ranges, whose old contents are sevens, and these untouched places.
fn undo_of(ranges: &[(u64, u64)], places: &[(u64, u64)]) -> Vec<u8> {
    let ranges_json: Vec<_> = ranges
        .iter()
        .map(|(offset, length)| json!({"offset": offset, "length": length, "applied": 1}))
        .collect();
    let places: Vec<_> =
        places.iter().map(|(offset, checksum)| json!({"offset": offset, "checksum": checksum})).collect();
    let header = json!({
        "flashscope": "0.1.0", "target": "/dev/sdb", "logical_block": 512,
        "identity": {"model": "Stick", "serial": null, "capacity": UNDONE.get()},
        "ranges": ranges_json, "fingerprint": places,
    });
    let json = header.to_string().into_bytes();
    let mut file = with_header(&json);
    for (_, length) in ranges {
        let data = vec![7; Bytes::new(*length).to_usize()];
        file.extend(&data);
        file.extend(checksum(&data).to_le_bytes());
    }
    file
}

fn with_header(json: &[u8]) -> Vec<u8> {
    let length = (json.len() as u64).to_le_bytes();
    [MAGIC, &length, json, &checksum(json).to_le_bytes()].concat()
}

/// The header up to its last brace, with its length and checksum, then what follows. Data whose length fits
/// gets its checksums as well.
fn sealed_undo(input: Vec<u8>) -> Vec<u8> {
    let Some(body) = input.get(16..) else { return input };
    let Some(end) = body.windows(2).position(|pair| pair == b"]}" || pair == b"}}") else { return input };
    // The header ends where a reader of JSON would end.
    let mut values = serde_json::Deserializer::from_slice(body).into_iter::<serde_json::Value>();
    let length = match values.next() {
        Some(Ok(_)) => values.byte_offset(),
        _ => end + 2,
    };
    let json = &body[..length];
    let mut file = with_header(json);
    let mut rest = body.get(length + 8..).unwrap_or_default();
    let header: Option<UndoHeader> = serde_json::from_slice(json).ok();
    for saved in header.iter().flat_map(|header| &header.ranges) {
        let Some(data) = usize::try_from(saved.length.get()).ok().and_then(|length| rest.get(..length))
        else {
            break;
        };
        file.extend(data);
        file.extend(checksum(data).to_le_bytes());
        rest = rest.get(data.len() + 8..).unwrap_or_default();
    }
    file.extend(rest);
    file
}

fn undo_file(input: &[u8]) -> bool {
    let mut device = MemoryDevice::new(UNDONE);
    let mut file = Cursor::new(input);
    let Ok(header) = apply::read_header(&mut file) else { return false };
    let data = file.position();
    let Ok(_) = apply::state(&header, &mut file, &mut device) else { return false };
    file.set_position(data);
    apply::restore(&header, &mut file, &mut device).is_ok()
}
