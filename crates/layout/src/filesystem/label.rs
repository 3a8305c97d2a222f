//! Labels: what each filesystem can have.

use super::FilesystemKind;

/// A label that a filesystem cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// It is too long.
    #[error("the label '{label}' is too long for {filesystem}: at most {maximum} {unit}")]
    TooLong {
        /// The label.
        label: String,
        /// The filesystem.
        filesystem: FilesystemKind,
        /// The longest label.
        maximum: usize,
        /// The unit of that number.
        unit: &'static str,
    },
    /// It has a character that the filesystem cannot store.
    #[error("the label '{label}' has a character that {filesystem} cannot store: {character:?}")]
    Character {
        /// The label, printable.
        label: String,
        /// The filesystem.
        filesystem: FilesystemKind,
        /// The character.
        character: char,
    },
}

/// The characters that a FAT label cannot have (Microsoft, FAT: General Overview of On-Disk Format, 1.03,
/// short names).
const NOT_IN_FAT: &str = "*?.,;:/\\|+=<>[]\"";

fn printable(label: &str) -> String {
    label.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(80).collect()
}

fn refuse(
    label: &str,
    filesystem: FilesystemKind,
    is_refused: impl Fn(char) -> bool,
) -> Result<(), LabelError> {
    match label.chars().find(|c| c.is_control() || is_refused(*c)) {
        Some(character) => Err(LabelError::Character { label: printable(label), filesystem, character }),
        None => Ok(()),
    }
}

fn limit(
    label: &str,
    filesystem: FilesystemKind,
    length: usize,
    maximum: usize,
    unit: &'static str,
) -> Result<(), LabelError> {
    if length <= maximum {
        return Ok(());
    }
    Err(LabelError::TooLong { label: printable(label), filesystem, maximum, unit })
}

/// At most `maximum` bytes of UTF-8, no control characters, no slash.
pub(super) fn utf8(label: &str, filesystem: FilesystemKind, maximum: usize) -> Result<(), LabelError> {
    refuse(label, filesystem, |c| c == '/')?;
    limit(label, filesystem, label.len(), maximum, "bytes")
}

/// At most `maximum` UTF-16 units, no control characters.
pub(super) fn utf16(label: &str, filesystem: FilesystemKind, maximum: usize) -> Result<(), LabelError> {
    refuse(label, filesystem, |c| c == '/')?;
    limit(label, filesystem, label.encode_utf16().count(), maximum, "characters")
}

/// A FAT label: at most 11 ASCII characters without those that short names exclude.
pub(super) fn fat(label: &str, filesystem: FilesystemKind) -> Result<(), LabelError> {
    if label.starts_with(' ') {
        return Err(LabelError::Character { label: printable(label), filesystem, character: ' ' });
    }
    refuse(label, filesystem, |c| !c.is_ascii() || NOT_IN_FAT.contains(c))?;
    limit(label, filesystem, label.len(), 11, "characters")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(checked: Result<(), LabelError>) -> Option<char> {
        match checked {
            Err(LabelError::Character { character, .. }) => Some(character),
            other => {
                assert!(other.is_ok(), "{other:?}");
                None
            }
        }
    }

    #[test]
    fn fat_labels_have_eleven_ascii_characters_that_short_names_allow() {
        let checked = |label| fat(label, FilesystemKind::Vfat);
        for (label, character) in [("caf\u{e9}", '\u{e9}'), ("a?", '?'), ("a\u{7}b", '\u{7}'), (" a", ' ')] {
            assert_eq!(refused(checked(label)), Some(character), "{label}");
        }
        assert_eq!(checked("MY STICK 12"), Ok(()));
        assert!(matches!(checked("MY STICK 123"), Err(LabelError::TooLong { maximum: 11, .. })));
    }

    #[test]
    fn lengths_count_bytes_or_characters_as_the_filesystem_does() {
        assert_eq!(utf8("\u{e9}\u{e9}", FilesystemKind::Ext4, 4), Ok(()));
        assert!(matches!(
            utf8("\u{e9}\u{e9}\u{e9}", FilesystemKind::Ext4, 4),
            Err(LabelError::TooLong { maximum: 4, unit: "bytes", .. })
        ));
        assert_eq!(utf16("\u{e9}\u{e9}\u{e9}\u{e9}", FilesystemKind::Exfat, 4), Ok(()));
        assert_eq!(refused(utf8("a/b", FilesystemKind::Ext4, 16)), Some('/'));
        assert_eq!(refused(utf16("a\nb", FilesystemKind::Exfat, 16)), Some('\n'));
    }
}
