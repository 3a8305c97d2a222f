//! What Debian wants to know of a package: control fields, copyright and changelog.

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;

use super::archive::Entry;

/// The version that every package of this tree has, for neither depends on another packaging of it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Tools that `apply` runs, one package for each filesystem and one for partition tables.
const SUGGESTS: &str = "dosfstools, e2fsprogs, exfatprogs, f2fs-tools, fdisk";

const DESCRIPTION: &str = "\
find out why a USB stick or SD card is slow
 flashscope measures slow USB sticks and SD cards, explains why they are slow,
 and plans the partition and filesystem that suit them. One command answers on
 one screen: what the stick is, what limits it, and what to do.
 .
 Disks are only read unless an option allows writing.";

/// Who made the package, and when.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The address of whoever answers for the package.
    pub email: String,
    /// Seconds since 1970.
    pub seconds: u64,
}

impl Origin {
    fn maintainer(&self) -> String {
        format!("flashscope developers <{}>", self.email)
    }

    fn date(&self) -> anyhow::Result<String> {
        let time = Timestamp::from_second(self.seconds.try_into()?)?;
        Ok(rfc2822::to_string(&time.to_zoned(TimeZone::UTC))?)
    }
}

/// The control file. `depends` is empty for a static binary.
pub fn control(architecture: &str, depends: &str, origin: &Origin, data: &[Entry]) -> String {
    let kib: usize = data.iter().map(|entry| entry.bytes.len().div_ceil(1024)).sum();
    let depends = if depends.is_empty() { String::new() } else { format!("Depends: {depends}\n") };
    format!(
        "Package: flashscope\nVersion: {VERSION}\nArchitecture: {architecture}\nMaintainer: {}\n\
         Installed-Size: {kib}\n{depends}Suggests: {SUGGESTS}\nSection: utils\nPriority: optional\n\
         Description: {DESCRIPTION}\n",
        origin.maintainer()
    )
}

/// The MD5 sum of each file, which `dpkg --verify` compares.
pub fn sums(data: &[Entry]) -> String {
    data.iter().map(|entry| format!("{:x}  {}\n", md5::compute(&entry.bytes), entry.path)).collect()
}

/// The machine-readable copyright file. `mit` is the text of that licence, with the owner's line.
pub fn copyright(mit: &str) -> String {
    let owner = mit.lines().find_map(|line| line.strip_prefix("Copyright (c) ")).unwrap_or_default();
    let text = mit.lines().skip_while(|line| !line.starts_with("Permission")).map(|line| match line.trim() {
        "" => " .\n".to_owned(),
        line => format!(" {line}\n"),
    });
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: flashscope\n\
         Comment: Licences of the linked crates are in /usr/share/doc/flashscope/THIRD-PARTY.gz.\n\n\
         Files: *\nCopyright: {owner}\nLicense: Expat or Apache-2.0\n\n\
         License: Expat\n{}\n\
         License: Apache-2.0\n On Debian systems, the text of the Apache License, Version 2.0, is in\n \
         /usr/share/common-licenses/Apache-2.0.\n",
        text.collect::<String>()
    )
}

/// The changelog in Debian's form: one entry, for the reader's changelog has the rest.
pub fn changelog(origin: &Origin) -> anyhow::Result<String> {
    Ok(format!(
        "flashscope ({VERSION}) unstable; urgency=medium\n\n  * The changes are in CHANGELOG.md.gz.\n\n \
         -- {}  {}\n",
        origin.maintainer(),
        origin.date()?
    ))
}
