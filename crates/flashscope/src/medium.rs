//! The medium behind a target, as plans see it.

use std::path::Path;

use flashscope_device::{Bytes, Device};
use flashscope_layout::Identity;
use flashscope_layout::present::Present;
use flashscope_linux::{Roots, identify, persistent_name};

use crate::target::{Target, read_volumes};

/// What tells the medium of a target from another one.
pub fn identity(target: &Target) -> Identity {
    let capacity = target.device.capabilities().capacity;
    if target.is_virtual {
        return Identity { model: target.text.clone(), serial: None, capacity };
    }
    let disk = identify(Path::new(&target.text), &Roots::default()).disk;
    let named = disk.as_ref().map(|disk| [disk.vendor.clone(), disk.model.clone()]);
    let model = named.into_iter().flatten().flatten().collect::<Vec<String>>().join(" ");
    Identity { model, serial: disk.and_then(|disk| disk.serial), capacity }
}

/// Partition table and filesystems on the medium of a target. A range that cannot be read holds nothing.
pub fn on_it(target: &mut Target) -> Present {
    read_volumes(&mut target.device)
}

/// A name of a target that still holds after a change of directory or a restart: the persistent name of a
/// disk, or the absolute path.
pub fn lasting_name(target: &str) -> String {
    let path = Path::new(target);
    let persistent = persistent_name(path, &Roots::default());
    let absolute = persistent.or_else(|| std::fs::canonicalize(path).ok());
    absolute.map_or_else(|| target.to_owned(), |path| path.display().to_string())
}

/// A name for a file about this target, with letters, digits and dashes only.
pub fn file_stem(target: &str) -> String {
    let last = target.rsplit('/').next().unwrap_or(target);
    let plain: String = last.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    plain.trim_matches('-').to_owned()
}

/// The boundary unit of the SD Association for this capacity.
pub fn standard_boundary(capacity: Bytes) -> Bytes {
    flashscope_layout::standard::standard(capacity).boundary
}
