//! The layout that is on an image file, in run files and documents.

use std::fs;
use std::os::unix::fs::FileExt;

use serde_json::{Value, json};

use super::{document, flashscope, image, stderr};

/// A field of a boot sector or partition table: offset and bytes.
type Field<'a> = (u64, &'a [u8]);

/// An image of 32 MiB with these fields, each from the start of `base`.
fn with_fields(folder: &tempfile::TempDir, parts: &[(u64, &[Field<'_>])]) -> String {
    let path = image(folder, 32);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    for (base, fields) in parts {
        fields.iter().for_each(|(at, bytes)| file.write_all_at(bytes, base + at).unwrap());
    }
    path
}

/// An image whose one partition starts at this sector and has this boot sector.
fn partitioned(folder: &tempfile::TempDir, start: u32, kind: u8, boot: &[Field<'_>]) -> String {
    let (start_field, blocks) = (start.to_le_bytes(), 32_768_u32.to_le_bytes());
    let table: [Field<'_>; 4] = [(450, &[kind]), (454, &start_field), (458, &blocks), (510, &[0x55, 0xaa])];
    with_fields(folder, &[(0, &table), (u64::from(start) * 512, boot)])
}

/// A FAT16 boot sector: 1 root directory of 32 sectors, two tables of 64 sectors, clusters of 4 sectors.
fn fat(reserved: &[u8; 2], check: impl FnOnce(&[Field<'_>])) {
    check(&[
        (0, &[0xeb, 0x3c, 0x90]),
        (11, &[0, 2, 4]),
        (14, reserved),
        (16, &[2]),
        (17, &[0, 2]),
        (22, &[64, 0]),
        (54, b"FAT16"),
        (510, &[0x55, 0xaa]),
    ]);
}

/// The one volume in the document of `check`, and in the run file that it stores.
fn checked(path: &str, folder: &tempfile::TempDir) -> (Value, Value) {
    let run = folder.path().join("run.json");
    let document = document(&["check", path, "-o", run.to_str().unwrap()]);
    let stored: Value = serde_json::from_str(&fs::read_to_string(run).unwrap()).unwrap();
    let only = |volumes: &Value| {
        assert_eq!(volumes.as_array().map(Vec::len), Some(1), "{volumes}");
        volumes[0].clone()
    };
    (only(&document["layout"]), only(&stored["attachment"]["volumes"]))
}

#[test]
fn check_stores_where_partitions_and_data_areas_start() {
    // Data areas at sector 63 + 161, and at 2048 + 192 = 2240; at 2048 + 161 it is misplaced.
    for (start, reserved, data_sectors) in [(63, [1, 0], 161), (2048, [32, 0], 192), (2048, [1, 0], 161)] {
        let folder = tempfile::tempdir().unwrap();
        fat(&reserved, |boot| {
            let path = partitioned(&folder, start, 0x06, boot);
            // What is left of an older ext2 on the whole disk does not count.
            fs::OpenOptions::new()
                .write(true)
                .open(&path)
                .unwrap()
                .write_all_at(&[0x53, 0xef], 1080)
                .unwrap();
            let (layout, stored) = checked(&path, &folder);
            let expected = json!({
                "name": "partition 1", "start": start * 512, "data_start": data_sectors * 512, "size": 16 << 20,
                "filesystem": "vfat", "cluster": 2048
            });
            assert_eq!(stored, expected);
            assert_eq!(
                (&layout["volume"], &layout["start_bytes"]),
                (&json!("partition 1"), &json!(start * 512))
            );
            assert_eq!(layout["data_start_bytes"], data_sectors * 512);
            // The erase block of an image file is not known.
            assert_eq!((&layout["alignment"], &layout["gain"]), (&Value::Null, &Value::Null));
        });
    }
}

#[test]
fn exfat_off_the_edge_on_purpose_keeps_its_data_area() {
    // Start 2 MiB, cluster heap 4 MiB behind it: at 6 MiB, the erase block.
    let folder = tempfile::tempdir().unwrap();
    let heap = 8192_u32.to_le_bytes();
    let boot: [Field<'_>; 5] =
        [(0, &[0xeb, 0x76, 0x90]), (3, b"EXFAT   "), (88, &heap), (108, &[9, 6]), (510, &[0x55, 0xaa])];
    let path = partitioned(&folder, 4096, 0x07, &boot);
    let (layout, stored) = checked(&path, &folder);
    assert_eq!((&layout["filesystem"], &layout["cluster_bytes"]), (&json!("exfat"), &json!(32768)));
    assert_eq!((&stored["start"], &stored["data_start"]), (&json!(2 << 20), &json!(4 << 20)));
}

#[test]
fn a_filesystem_without_partitions_is_named_after_its_file() {
    let folder = tempfile::tempdir().unwrap();
    fat(&[1, 0], |boot| {
        let path = with_fields(&folder, &[(0, boot)]);
        let (layout, _) = checked(&path, &folder);
        assert_eq!((&layout["volume"], &layout["start_bytes"]), (&json!("stick.img"), &json!(0)));
    });
}

#[test]
fn damaged_tables_and_boot_sectors_are_measured_all_the_same() {
    let mut state = 7_u64;
    let mut garbage = vec![0_u8; 1 << 16];
    for byte in &mut garbage {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *byte = (state >> 33) as u8;
    }
    let ones = vec![0xff; 4096];
    let gpt: [Field<'_>; 3] = [(450, &[0xee]), (510, &[0x55, 0xaa]), (512, b"EFI PART")];
    let beyond: [Field<'_>; 3] = [(450, &[6]), (454, &[0xff; 8]), (510, &[0x55, 0xaa])];
    let signed: [Field<'_>; 2] = [(0, &garbage), (510, &[0x55, 0xaa])];
    let superblock: [Field<'_>; 3] =
        [(1024, &ones), (1024 + 0x38, &[0x53, 0xef]), (1024 + 0x18, &[6, 0, 0, 0])];
    for fields in [&gpt[..], &beyond, &signed, &superblock] {
        let folder = tempfile::tempdir().unwrap();
        let path = with_fields(&folder, &[(0, fields)]);
        let output = flashscope(&["check", &path]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
}
