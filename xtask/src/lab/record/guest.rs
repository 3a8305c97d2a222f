//! The script that the machine runs: make the filesystem, write the files, read them back.

use flashscope_device::Bytes;
use flashscope_record::Writeback;

use super::variants::Variant;

/// The length of the reads that mark the phases: each mark is two such reads. Some
/// filesystems read the last sector once when they are mounted.
pub const MARK: Bytes = Bytes::new(512);

/// Marks are read at the device's last sector: before and after writing, before and after reading.
pub const MARKS: usize = 4;

/// The limits of the page cache. `Late`: nothing is written before the flush, as the limits are above all
/// data, and the timers above the longest recording: an hour. `Early`: from 4 MiB on, the kernel writes while
/// files are still copied.
///
/// The interval of writeback must not be 0. That stops the timer too, but reiserfs and HFS+ take the interval
/// as the delay of their own commits (`reiserfs_schedule_old_flush`, `hfsplus_mark_mdb_dirty` in Linux 6.1).
/// With 0, reiserfs commits without end.
const fn limits(writeback: Writeback) -> &'static str {
    match writeback {
        Writeback::Late => {
            "echo 360000 > /proc/sys/vm/dirty_writeback_centisecs
echo 360000 > /proc/sys/vm/dirty_expire_centisecs
echo 1600000000 > /proc/sys/vm/dirty_bytes
echo 1500000000 > /proc/sys/vm/dirty_background_bytes"
        }
        Writeback::Early | Writeback::Host => "echo 4194304 > /proc/sys/vm/dirty_background_bytes",
    }
}

/// The script for a stick of `capacity` and the files of the second disk.
pub fn script(variant: &Variant, writeback: Writeback, capacity: Bytes) -> String {
    let last_sector = capacity.get() / MARK.get() - 1;
    format!(
        "set -e
{limits}
stick=/dev/sda
look() {{ dd if=$stick of=/run/sector bs={mark} skip={last_sector} count=1 iflag=direct status=none; }}
mark() {{ look; look; }}
# FUSE and mount helpers need these.
[ -e /dev/fuse ] || mknod /dev/fuse c 10 229
mkdir -p /run/mnt /run/source
mount -t ext4 -o ro,noload /dev/vda /run/source
{mkfs} $stick > /run/mkfs.log 2>&1 || {{ cat /run/mkfs.log >&2; exit 1; }}
sync
mount -t {kind} -o {options} $stick /run/mnt
sync
mark
cp -r /run/source/files /run/mnt/files
sync
mark
umount /run/mnt
echo 3 > /proc/sys/vm/drop_caches
mount -t {kind} -o {options} $stick /run/mnt
mark
tar -C /run/mnt -cf - files | wc -c
mark
umount /run/mnt
",
        limits = limits(writeback),
        mark = MARK.get(),
        mkfs = variant.mkfs_command(),
        kind = variant.mount_type,
        options = variant.mount,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_writeback_has_timers_of_an_hour_and_no_interval_of_zero() {
        let reiserfs = Variant::of_name("reiserfs").unwrap();
        let script = script(reiserfs, Writeback::Late, Bytes::mib(1));
        for timer in ["dirty_writeback_centisecs", "dirty_expire_centisecs"] {
            assert!(script.contains(&format!("echo 360000 > /proc/sys/vm/{timer}\n")), "{timer}");
        }
        assert!(script.contains("skip=2047 "), "the last sector of 1 MiB");
    }
}
