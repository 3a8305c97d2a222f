//! exFAT: Microsoft's "exFAT file system specification", section 3.1, main boot sector.

use flashscope_device::Bytes;

use super::Filesystem;
use super::field::number;

/// Parses the boot sector. `None` if it is not exFAT. The label is in the root directory, which is not
/// read.
pub fn parse(head: &[u8]) -> Option<Filesystem> {
    if head.get(3..11) != Some(b"EXFAT   ") || number(head, 510, 2)? != 0xaa55 {
        return None;
    }
    let (sector_shift, cluster_shift) = (number(head, 108, 1)?, number(head, 109, 1)?);
    let is_possible = (9..=12).contains(&sector_shift) && sector_shift + cluster_shift <= 25;
    let heap_sector = number(head, 88, 4)?;
    is_possible.then(|| Filesystem {
        kind: "exfat".to_owned(),
        label: None,
        cluster: Some(Bytes::new(1 << (sector_shift + cluster_shift))),
        data_start: Some(Bytes::new(heap_sector << sector_shift)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_heap_is_found() {
        let mut head = vec![0; 512];
        head[3..11].copy_from_slice(b"EXFAT   ");
        head[88..92].copy_from_slice(&32768_u32.to_le_bytes());
        (head[108], head[109], head[510], head[511]) = (9, 8, 0x55, 0xaa);
        let found = parse(&head).unwrap();
        assert_eq!((found.cluster, found.data_start), (Some(Bytes::kib(128)), Some(Bytes::mib(16))));
        head[109] = 200;
        assert_eq!(parse(&head), None);
    }
}
