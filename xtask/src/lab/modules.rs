//! The kernel modules that the machine needs, in the order of their dependencies.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules that the machine needs. A driver that is built into the kernel has no module.
const NEEDED: [&str; 17] = [
    "virtio_pci",
    "9pnet_virtio",
    "9p",
    "xhci_pci",
    "uhci_hcd",
    "usb_storage",
    "uas",
    "sd_mod",
    "dm_mod",
    "raid1",
    "vfat",
    "nls_cp437",
    "nls_iso8859_1",
    "nls_ascii",
    "exfat",
    "ext4",
    "crc32c_generic",
];

/// A module: its name and its contents.
pub type Module = (String, Vec<u8>);

/// The needed modules and `more` below `folder`, in the order of loading.
pub fn needed(folder: &Path, more: &[&str]) -> anyhow::Result<Vec<Module>> {
    let mut paths = BTreeMap::new();
    find(folder, &mut paths)?;
    let mut loaded = Vec::new();
    for name in NEEDED.iter().chain(more) {
        add(name, &paths, &mut loaded)?;
    }
    Ok(loaded)
}

fn find(folder: &Path, paths: &mut BTreeMap<String, PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, paths)?;
        } else if let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".ko")) {
            paths.insert(underscored(name), path);
        }
    }
    Ok(())
}

fn add(name: &str, paths: &BTreeMap<String, PathBuf>, loaded: &mut Vec<Module>) -> anyhow::Result<()> {
    let Some(path) = paths.get(name).filter(|_| loaded.iter().all(|(loaded, _)| loaded != name)) else {
        return Ok(());
    };
    let contents = fs::read(path)?;
    for dependency in dependencies(&contents) {
        add(&dependency, paths, loaded)?;
    }
    loaded.push((name.to_owned(), contents));
    Ok(())
}

/// The kernel's name of a module, with underscores for the hyphens of the file name.
fn underscored(name: &str) -> String {
    name.replace('-', "_")
}

/// The dependencies in a module's section `.modinfo`: zero-terminated texts, one of which is `depends=a,b`.
fn dependencies(contents: &[u8]) -> Vec<String> {
    let mut texts = contents.split(|byte| *byte == 0);
    let names = texts.find_map(|text| text.strip_prefix(b"depends=")).unwrap_or_default();
    let names = String::from_utf8_lossy(names);
    names.split(',').filter(|name| !name.is_empty()).map(underscored).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_follow_their_dependencies() {
        let folder = tempfile::tempdir().unwrap();
        let module = |name: &str, depends: &str| {
            fs::write(folder.path().join(name), format!("\x7fELF\0license=GPL\0depends={depends}\0name=x\0"))
                .unwrap();
        };
        module("usb-storage.ko", "scsi_mod,usbcore");
        module("scsi_mod.ko", "scsi-common");
        module("scsi-common.ko", "");
        module("sd_mod.ko", "scsi_mod");
        module("unneeded.ko", "");
        let names: Vec<String> =
            needed(folder.path(), &[]).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["scsi_common", "scsi_mod", "usb_storage", "sd_mod"]);
    }
}
