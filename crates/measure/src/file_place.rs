//! Which part of a file on a mounted filesystem stands for the device: one piece whose start is aligned.

use flashscope_device::{ByteRange, Bytes, FileExtent};

use crate::limits::LARGE_REQUEST;

/// The alignments of a window, the best first: each a multiple of all usual erase blocks that divide it.
/// Three times a power of two comes first, because controllers with three planes or cells have such blocks.
const ALIGNMENTS: [Bytes; 8] = [
    Bytes::mib(96),
    Bytes::mib(64),
    Bytes::mib(48),
    Bytes::mib(32),
    Bytes::mib(24),
    Bytes::mib(16),
    Bytes::mib(12),
    Bytes::mib(4),
];
/// The share of the longest window that a better alignment may cost. Guess.
const LOSS: u64 = 3;
/// The smallest window. Guess: it holds eight erase blocks of the usual 4 MiB.
const LENGTH_MIN: Bytes = Bytes::mib(32);

/// A part of a file that lies in one piece on its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileWindow {
    /// Its offset in the file.
    pub in_file: Bytes,
    /// Its range on the device.
    pub on_device: ByteRange,
    /// Its start is a multiple of this.
    pub alignment: Bytes,
}

/// The best window of at most `length_max` in a file with these extents; `None` if no piece is long enough.
#[must_use]
pub fn choose_window(extents: &[FileExtent], length_max: Bytes) -> Option<FileWindow> {
    let pieces = pieces(extents);
    let longest = |alignment: Bytes| {
        let windows = pieces.iter().filter_map(|piece| window(piece, alignment, length_max));
        windows.max_by_key(|window| window.on_device.length)
    };
    let least = longest(LARGE_REQUEST * 4)?.on_device.length;
    let least = (least - least / LOSS).max(LENGTH_MIN);
    ALIGNMENTS
        .iter()
        .filter_map(|alignment| longest(*alignment))
        .find(|window| window.on_device.length >= least)
}

/// The extents, those joined that follow each other both in the file and on the device.
fn pieces(extents: &[FileExtent]) -> Vec<FileExtent> {
    let mut pieces: Vec<FileExtent> = Vec::new();
    for extent in extents {
        match pieces.last_mut() {
            Some(last) if last.in_file.end() == extent.in_file.offset && last.end() == extent.on_device => {
                last.in_file.length += extent.in_file.length;
            }
            _ => pieces.push(*extent),
        }
    }
    pieces
}

fn window(piece: &FileExtent, alignment: Bytes, length_max: Bytes) -> Option<FileWindow> {
    let start = piece.on_device.round_up(alignment);
    let length = piece.end().saturating_sub(start).min(length_max).round_down(LARGE_REQUEST);
    let in_file = piece.in_file.offset + (start - piece.on_device);
    (length >= LENGTH_MIN).then_some(FileWindow {
        in_file,
        on_device: ByteRange::new(start, length),
        alignment,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(in_file: u64, on_device: u64, length: u64) -> FileExtent {
        FileExtent {
            in_file: ByteRange::new(Bytes::mib(in_file), Bytes::mib(length)),
            on_device: Bytes::mib(on_device),
        }
    }

    #[test]
    fn longest_piece_is_used_from_an_aligned_offset() {
        let extents = [extent(0, 9, 40), extent(40, 101, 100), extent(140, 201, 60), extent(200, 7, 2)];
        let window = choose_window(&extents, Bytes::mib(512)).unwrap();
        // From 101 to 261 MiB; from 192 MiB, too little would be left.
        assert_eq!(window.alignment, Bytes::mib(64));
        assert_eq!(window.on_device, ByteRange::new(Bytes::mib(128), Bytes::mib(133)));
        assert_eq!(window.in_file, Bytes::mib(67));
        let short = choose_window(&extents, Bytes::mib(64)).unwrap();
        assert_eq!(short.on_device, ByteRange::new(Bytes::mib(192), Bytes::mib(64)));
    }

    #[test]
    fn scattered_file_has_no_window() {
        let extents: Vec<FileExtent> = (0..20).map(|index| extent(index * 20, index * 50 + 3, 20)).collect();
        assert_eq!(choose_window(&extents, Bytes::mib(256)), None);
        assert_eq!(choose_window(&[], Bytes::mib(256)), None);
    }
}
