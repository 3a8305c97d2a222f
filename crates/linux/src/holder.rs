//! What holds a disk or partition, and how to end that: device mapper, RAID, bcache.

use crate::sysfs::Node;

/// The sentence about `holder`, which uses the disk or partition `name`.
pub fn use_and_advice(holder: &Node, name: &str) -> String {
    let kernel_name = holder.name();
    let (what, close) = match holder.text("dm/name") {
        Some(volume) => mapped(&volume, &holder.text("dm/uuid").unwrap_or_default()),
        None if kernel_name.starts_with("md") => {
            ("a RAID".to_owned(), format!("mdadm --stop /dev/{kernel_name}"))
        }
        None if kernel_name.starts_with("bcache") => {
            ("a cache".to_owned(), format!("echo 1 > /sys/block/{kernel_name}/bcache/stop"))
        }
        None => {
            return format!("{kernel_name} is using {name}; close that first (lsblk /dev/{name} shows it)");
        }
    };
    format!("{kernel_name} is using {name} ({what}); unmount what is on it, then close it ({close})")
}

/// What a volume of device mapper is, and the command that closes it. The programs that make volumes begin
/// their UUIDs with a name of their own (libdevmapper.h).
fn mapped(volume: &str, uuid: &str) -> (String, String) {
    if uuid.starts_with("CRYPT-") {
        (format!("the encrypted volume {volume}"), format!("cryptsetup close {volume}"))
    } else if uuid.starts_with("LVM-") {
        (format!("the LVM volume {volume}"), format!("vgchange -an {}", volume_group(volume)))
    } else {
        (format!("the volume {volume}"), format!("dmsetup remove {volume}"))
    }
}

/// The volume group of `group-volume`, in which LVM doubles the dashes of a name.
fn volume_group(volume: &str) -> String {
    let doubled = volume.replace("--", "\0");
    doubled.split('-').next().unwrap_or_default().replace('\0', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysfs::Sysfs;

    #[test]
    fn each_kind_of_holder_is_named_with_the_command_that_closes_it() {
        let folder = tempfile::tempdir().unwrap();
        let sentence = |holder: &str, mapped: Option<(&str, &str)>| {
            let block = folder.path().join("block").join(holder);
            std::fs::create_dir_all(block.join("dm")).unwrap();
            if let Some((name, uuid)) = mapped {
                std::fs::write(block.join("dm/name"), format!("{name}\n")).unwrap();
                std::fs::write(block.join("dm/uuid"), format!("{uuid}\n")).unwrap();
            }
            use_and_advice(&Sysfs::at(folder.path()).disk(holder).unwrap(), "sdb1")
        };
        for (holder, mapped, expected) in [
            ("dm-0", Some(("luks-1f", "CRYPT-LUKS2-1f-luks-1f")), "(cryptsetup close luks-1f)"),
            ("dm-1", Some(("my--group-my--files", "LVM-2x9Z")), "(vgchange -an my-group)"),
            ("dm-2", Some(("window", "")), "(dmsetup remove window)"),
            ("md127", None, "(mdadm --stop /dev/md127)"),
            ("bcache0", None, "(echo 1 > /sys/block/bcache0/bcache/stop)"),
            ("drbd0", None, "(lsblk /dev/sdb1 shows it)"),
        ] {
            let sentence = sentence(holder, mapped);
            assert!(sentence.starts_with(&format!("{holder} is using sdb1")), "{sentence}");
            assert!(sentence.ends_with(expected), "{sentence}");
        }
    }
}
