//! The machine's initramfs: an archive in the newc format of cpio
//! (`Documentation/driver-api/early-userspace/buffer-format.rst`).

use std::fs;

use super::kernel::Kernel;
use super::modules;

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const PLAIN: u32 = 0o100_644;

/// An initramfs with the modules of every machine and `more`, busybox, the init script, and the command's
/// script.
pub fn build(kernel: &Kernel, more: &[&str], init: &str, script: &str) -> anyhow::Result<Vec<u8>> {
    let mut archive = Archive::default();
    for folder in ["bin", "lib", "proc", "sys", "dev", "host"] {
        archive.add(folder, FOLDER, b"");
    }
    archive.add("bin/busybox", PROGRAM, &fs::read(&kernel.busybox)?);
    let modules = modules::needed(&kernel.modules, more)?;
    let names: Vec<&str> = modules.iter().map(|(name, _)| name.as_str()).collect();
    archive.add("modules", PLAIN, names.join("\n").as_bytes());
    for (name, contents) in &modules {
        archive.add(&format!("lib/{name}.ko"), PLAIN, contents);
    }
    archive.add("init", PROGRAM, init.as_bytes());
    archive.add("script", PLAIN, script.as_bytes());
    archive.add("TRAILER!!!", 0, b"");
    Ok(archive.0)
}

#[derive(Debug, Default)]
struct Archive(Vec<u8>);

impl Archive {
    /// Adds a header of 13 numbers with 8 hexadecimal digits each, the name with a terminating zero, and the
    /// contents. Name and contents are padded to multiples of 4 bytes.
    fn add(&mut self, name: &str, mode: u32, contents: &[u8]) {
        let (size, name_size) = (contents.len(), name.len() + 1);
        // Inode, mode, owner, group, links, time, size, four device numbers, the name's size, an unused
        // checksum.
        let header = [0, mode as usize, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0];
        self.0.extend(b"070701");
        header.into_iter().for_each(|number| self.0.extend(format!("{number:08x}").bytes()));
        self.0.extend(name.bytes().chain([0]));
        self.pad();
        self.0.extend(contents);
        self.pad();
    }

    fn pad(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_laid_out_as_the_kernel_reads_them() {
        let mut archive = Archive::default();
        archive.add("init", PROGRAM, b"hello");
        let text = String::from_utf8(archive.0).unwrap();
        assert!(text.starts_with("07070100000000000081ed"), "{text}");
        assert_eq!(&text[54..62], "00000005", "the size of the contents");
        assert_eq!(&text[94..102], "00000005", "the size of the name");
        assert_eq!(&text[110..], "init\0\0hello\0\0\0");
    }
}
