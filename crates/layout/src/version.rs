//! Versions of tools, as they print them.

use std::fmt;

/// A version: up to three numbers, compared from the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Version(pub [u32; 3]);

impl Version {
    /// The first version in a text such as `mke2fs 1.47.0 (5-Feb-2023)`: numbers with dots between them.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',')).find_map(|word| {
            let word = word.strip_prefix('v').unwrap_or(word);
            let mut parts = word.split(['.', '-', '+', '_']);
            let first: u32 = parts.next()?.parse().ok()?;
            let second: u32 = parts.next()?.parse().ok()?;
            let third = parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
            word.contains('.').then_some(Self([first, second, third]))
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, third] = self.0;
        write!(formatter, "{first}.{second}.{third}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_the_tools_print() {
        let cases = [
            ("mke2fs 1.47.0 (5-Feb-2023)\n\tUsing EXT2FS Library version 1.47.0", [1, 47, 0]),
            ("exfatprogs version : 1.2.0", [1, 2, 0]),
            ("mkfs.f2fs 1.15.0 (2022-05-13)", [1, 15, 0]),
            ("mkfs.xfs version 6.1.0", [6, 1, 0]),
            ("mkfs.btrfs, part of btrfs-progs v6.2", [6, 2, 0]),
            ("\nmkntfs v2022.10.3 (libntfs-3g)\n", [2022, 10, 3]),
            ("mkfs.nilfs2 (nilfs-utils 2.2.9)", [2, 2, 9]),
            ("sfdisk from util-linux 2.38.1", [2, 38, 1]),
            ("mkfs.fat 4.2 (2021-01-31)", [4, 2, 0]),
            ("mkexfatfs 1.3.0-rc1", [1, 3, 0]),
        ];
        for (text, version) in cases {
            assert_eq!(Version::find(text), Some(Version(version)), "{text}");
        }
        assert_eq!(Version::find("5-Feb-2023 and 7"), None);
        assert!(Version([1, 2, 0]) < Version([1, 2, 3]) && Version([1, 10, 0]) > Version([1, 9, 9]));
    }
}
