//! Decides which files may be erased: those that can be the image of a stick.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use flashscope_device::SECTOR;

use crate::error::{NoImage, OpenError};
use crate::printable::printable;
use crate::roots::Roots;
use crate::swap::swaps;
use crate::sysfs::read_start;

/// Checks that the file at `path` may be overwritten: it is no swap space in use, and looks like an image
/// unless `is_forced`. Other kinds of targets, and paths that cannot be read, pass: opening them reports what
/// is wrong.
///
/// # Errors
/// [`OpenError`], with the reason and what to try.
pub fn examine_image(path: &Path, is_forced: bool, roots: &Roots) -> Result<(), OpenError> {
    let Some(file) = std::fs::metadata(path).ok().filter(Metadata::is_file) else { return Ok(()) };
    let name = printable(&path.to_string_lossy());
    if is_swap(&file, roots) {
        let by = format!("it is swap space; turn it off first (swapoff {name})");
        return Err(OpenError::DiskInUse { path: name, by });
    }
    match sign(path, file.len()).filter(|_| !is_forced) {
        Some(sign) => Err(OpenError::NotImage { path: name, sign }),
        None => Ok(()),
    }
}

/// Whether the kernel swaps to this file, under any of its names.
fn is_swap(file: &Metadata, roots: &Roots) -> bool {
    let is_it = |path: &String| {
        std::fs::metadata(path).is_ok_and(|swap| (swap.dev(), swap.ino()) == (file.dev(), file.ino()))
    };
    swaps(roots).iter().any(is_it)
}

fn sign(path: &Path, size: u64) -> Option<NoImage> {
    let start = read_start(path, SECTOR.get()).unwrap_or_default();
    if is_text(&start) {
        Some(NoImage::Text)
    } else if !size.is_multiple_of(SECTOR.get()) {
        Some(NoImage::OddSize { size })
    } else {
        None
    }
}

/// Whether the first sector of a file is UTF-8 without control characters but white space and escapes. Boot
/// sectors, tables and filesystems have zeros.
fn is_text(start: &[u8]) -> bool {
    let (mut lines, cut) = match std::str::from_utf8(start) {
        Ok(text) => (text.chars(), false),
        // The sector may end within a character.
        Err(error) => {
            let valid = std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default();
            (valid.chars(), error.error_len().is_some())
        }
    };
    let is_plain = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x1b');
    start.starts_with(b"#!") || (!start.is_empty() && !cut && lines.all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(contents: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), contents).unwrap();
        file
    }

    #[test]
    fn text_and_odd_sizes_are_no_image_unless_forced() {
        let long = "Fotos für Ömi und Öpi. ".repeat(90);
        for (contents, sign) in [
            (&b"#!/bin/sh\n\0\0"[..], NoImage::Text),
            (b"shopping: milk, bread\n", NoImage::Text),
            (&long.as_bytes()[..2048], NoImage::Text),
            (&long.as_bytes()[..2047], NoImage::Text),
            (&[0; 700], NoImage::OddSize { size: 700 }),
            (&[0xff; 513], NoImage::OddSize { size: 513 }),
        ] {
            let file = file(contents);
            let refused = examine_image(file.path(), false, &Roots::default()).unwrap_err();
            assert!(
                matches!(&refused, OpenError::NotImage { sign: found, .. } if *found == sign),
                "{refused}"
            );
            assert!(refused.is_for_safety() && refused.to_string().contains("--force-image"), "{refused}");
            assert_eq!(examine_image(file.path(), true, &Roots::default()), Ok(()));
        }
    }

    #[test]
    fn blank_and_formatted_images_are_images() {
        let mut boot_sector = vec![0; 4096];
        boot_sector[..11].copy_from_slice(b"\xeb\x3c\x90MSDOS5.0");
        for contents in [&[][..], &[0; 4096], &[0xff; 4096], &[7; 512], &boot_sector] {
            assert_eq!(examine_image(file(contents).path(), false, &Roots::default()), Ok(()));
        }
        for path in ["/nowhere", "/dev/null", "/tmp"] {
            assert_eq!(examine_image(Path::new(path), false, &Roots::default()), Ok(()));
        }
    }

    #[test]
    fn swap_file_is_refused_under_any_name_and_also_if_forced() {
        let folder = tempfile::tempdir().unwrap();
        let [swap, link, hard_link, other] =
            ["a swap file", "link", "hard-link", "other"].map(|name| folder.path().join(name));
        std::fs::write(&swap, [0; 4096]).unwrap();
        std::fs::write(&other, [0; 4096]).unwrap();
        std::os::unix::fs::symlink(&swap, &link).unwrap();
        std::fs::hard_link(&swap, &hard_link).unwrap();
        std::fs::create_dir_all(folder.path().join("sys")).unwrap();
        std::fs::create_dir_all(folder.path().join("proc")).unwrap();
        let shown = swap.to_str().unwrap().replace(' ', "\\040");
        let swaps = format!("Filename\tType\tSize\tUsed\tPriority\n{shown} file\t4\t0\t-2\n");
        std::fs::write(folder.path().join("proc/swaps"), swaps).unwrap();
        let roots = Roots::copy(folder.path());
        for path in [&swap, &link, &hard_link] {
            for is_forced in [false, true] {
                let refused = examine_image(path, is_forced, &roots).unwrap_err();
                assert!(refused.is_for_safety() && refused.to_string().contains("swapoff"), "{refused}");
            }
        }
        assert_eq!(examine_image(&other, false, &roots), Ok(()));
    }
}
