//! 10 000 random geometries: everything lies where it should, or the planner says why not.

use flashscope_device::Bytes;
use flashscope_layout::filesystem::{ALL, Cannot, DataArea, FilesystemKind, Placement, Request};

use crate::support::{Random, request};

fn check(request: &Request, kind: FilesystemKind, placed: &Placement) {
    let Placement { start, size, .. } = *placed;
    let erase_block = request.erase_block;
    assert!(start >= request.space.first && start + size <= request.space.end, "{kind}: {request:?}");
    assert!(start.is_multiple_of(request.logical_block) && size.is_multiple_of(request.logical_block));
    assert!((start + size).is_multiple_of(erase_block), "{kind} does not end on an edge: {request:?}");
    assert!(!placed.reasons.is_empty());
    if let DataArea::At { offset } = placed.data_area {
        assert!(offset > start && offset < start + size, "{kind}: {request:?}");
    }
    let is_aligned = placed.data_area.is_aligned(start, erase_block);
    match kind {
        FilesystemKind::Ext4
        | FilesystemKind::Vfat
        | FilesystemKind::Exfat
        | FilesystemKind::F2fs
        | FilesystemKind::Xfs => {
            assert!(is_aligned && placed.cannot.is_none(), "{kind}: {request:?} {placed:?}")
        }
        FilesystemKind::Btrfs | FilesystemKind::Ntfs | FilesystemKind::Nilfs2 => {
            assert_eq!(is_aligned, placed.cannot.is_none(), "{kind}: {request:?}");
            assert!(start.is_multiple_of(erase_block));
        }
    }
}

#[test]
fn all_filesystems_are_aligned_where_they_can_be() {
    let mut random = Random::new(1);
    let (mut placed, mut refused) = (0_u32, 0_u32);
    for _ in 0..10_000 {
        let request = request(&mut random, 2_000_000_000_000);
        for filesystem in ALL {
            match filesystem.align(&request) {
                Ok(placement) => {
                    check(&request, filesystem.kind(), &placement);
                    placed += 1;
                }
                Err(Cannot::TooSmall { minimum, available, .. }) => {
                    assert!(available < minimum, "{request:?}");
                    refused += 1;
                }
                Err(Cannot::FewEraseBlocks { available, erase_block }) => {
                    assert!(available < erase_block * 4, "{request:?}");
                    refused += 1;
                }
                Err(Cannot::Cluster { filesystem, .. } | Cannot::TooLarge { filesystem, .. }) => {
                    assert_eq!(filesystem, FilesystemKind::Vfat, "{request:?}");
                    refused += 1;
                }
                Err(other) => panic!("{}: {other} ({request:?})", filesystem.kind()),
            }
        }
    }
    assert!(placed > refused * 4, "{placed} placed, {refused} refused");
}

#[test]
fn a_disk_below_one_erase_block_is_refused() {
    let mut request = request(&mut Random::new(7), 100_000_000);
    (request.erase_block, request.space.end) = (Bytes::mib(64), Bytes::mib(60));
    for filesystem in ALL {
        let refusal = filesystem.align(&request).unwrap_err();
        assert!(matches!(refusal, Cannot::FewEraseBlocks { .. } | Cannot::TooSmall { .. }), "{refusal}");
    }
}
