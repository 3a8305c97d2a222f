//! NTFS: the boot sector, as Microsoft's "NTFS: How It Works" lists it.

use flashscope_device::Bytes;

use super::Head;
use super::field::little;
use crate::filesystem::FilesystemKind;

pub(super) fn parse(head: &[u8]) -> Option<Head> {
    if head.get(3..11) != Some(b"NTFS    ") {
        return None;
    }
    let sector = little(head, 11, 2)?;
    let code = little(head, 13, 1)?;
    // Above 128, the byte is the negative power of two of the sectors per cluster.
    let cluster = if code <= 128 { code } else { 1_u64.checked_shl(u32::try_from(256 - code).ok()?)? };
    if !matches!(sector, 512 | 1024 | 2048 | 4096) || !cluster.is_power_of_two() || cluster > 1 << 16 {
        return None;
    }
    let sectors = little(head, 40, 8)?.min(u64::MAX / sector);
    Some(Head {
        kind: FilesystemKind::Ntfs,
        ext: None,
        label: None,
        cluster: Bytes::new(cluster * sector),
        data_start: Bytes::ZERO,
        group: None,
        stripe: None,
        has_journal: Some(true),
        size: Some(Bytes::new(sectors * sector)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cluster and size by a boot sector: the bytes of a sector, the code of a cluster, and all sectors.
    fn found(sector: u16, code: u8, sectors: u64) -> Option<(Bytes, Option<Bytes>)> {
        let mut head = vec![0; 512];
        head[3..11].copy_from_slice(b"NTFS    ");
        head[11..13].copy_from_slice(&sector.to_le_bytes());
        head[13] = code;
        head[40..48].copy_from_slice(&sectors.to_le_bytes());
        parse(&head).map(|found| (found.cluster, found.size))
    }

    /// Windows makes clusters of up to 2 MiB. Those above 64 KiB are negative powers of two: -8 and -12 here.
    #[test]
    fn clusters_are_numbers_of_sectors_or_powers_of_two() {
        for (sector, code, cluster) in [
            (512, 1, Bytes::new(512)),
            (512, 8, Bytes::kib(4)),
            (4096, 1, Bytes::kib(4)),
            (512, 128, Bytes::kib(64)),
            (512, 0xf8, Bytes::kib(128)),
            (512, 0xf4, Bytes::mib(2)),
        ] {
            let found = found(sector, code, 1).map(|(cluster, _)| cluster);
            assert_eq!(found, Some(cluster), "{code} of {sector}");
        }
        for (sector, code) in [(512, 0), (512, 3), (513, 8), (512, 129), (512, 0xef)] {
            assert_eq!(found(sector, code, 1), None, "{code} of {sector}");
        }
    }

    #[test]
    fn size_counts_sectors_and_is_no_more_than_64_bits_hold() {
        let size = |sector, sectors| found(sector, 1, sectors).and_then(|(_, size)| size);
        assert_eq!(size(512, 655_359), Some(Bytes::new(512 * 655_359)));
        assert_eq!(size(4096, 1000), Some(Bytes::new(4_096_000)));
        assert_eq!(size(512, u64::MAX), Some(Bytes::new(u64::MAX - 511)));
    }
}
