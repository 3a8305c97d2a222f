//! The undo file: what a medium held in every range that applying writes, and how to put it back.
//!
//! Layout: the magic; the length of the header (8 bytes, little endian); the header in JSON; the header's
//! checksum; then for each range its bytes and their checksum. Everything is verified before a byte of the
//! medium is touched.

use flashscope_device::transfer::{self, MediumError, REQUEST_MAX};
use std::io::{Read, Write};

use flashscope_device::{ByteRange, Bytes, Checksum, Device};
use serde::{Deserialize, Serialize};

use super::build::Image;
use super::host::{Host, HostError};
use crate::medium::{Identity, Medium};

/// The first bytes of an undo file. The digit counts up when an old reader could not read it.
pub const MAGIC: &[u8; 8] = b"FSUNDO1\n";
/// A header is far smaller; a larger one is no header.
const HEADER_MAX: u64 = 64 << 20;
/// Logical blocks of disks, bytes.
const LOGICAL_BLOCKS: std::ops::RangeInclusive<u64> = 512..=65_536;
/// Places that stay untouched and are remembered, to recognise the medium. Policy.
const FINGERPRINTS: u64 = 64;
/// How much of each is remembered.
const FINGERPRINT: Bytes = Bytes::kib(4);

/// Where an undo file is written.
pub trait UndoSink: Write {
    /// Makes what was written durable, under its final name.
    ///
    /// # Errors
    /// That of the system.
    fn make_durable(&mut self) -> std::io::Result<()>;
}

/// In memory there is nothing to make durable.
impl UndoSink for Vec<u8> {
    fn make_durable(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What an undo file says before its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoHeader {
    /// The version of flashscope that wrote it.
    pub flashscope: String,
    /// The target as it was given.
    pub target: String,
    /// The medium.
    pub identity: Identity,
    /// Its logical block.
    pub logical_block: Bytes,
    /// The ranges that are saved, ascending.
    pub ranges: Vec<SavedRange>,
    /// Untouched places with their checksums.
    pub fingerprint: Vec<Fingerprint>,
}

impl UndoHeader {
    /// Whether its ranges and places are possible: ascending, on the medium, in whole blocks.
    fn is_sound(&self) -> bool {
        let (block, capacity) = (self.logical_block, self.identity.capacity);
        let is_block = LOGICAL_BLOCKS.contains(&block.get()) && block.get().is_power_of_two();
        let fits = |offset: Bytes, length: Bytes| {
            let end = offset.get().checked_add(length.get());
            offset.is_multiple_of(block)
                && length.is_multiple_of(block)
                && !length.is_zero()
                && end.is_some_and(|end| end <= capacity.get())
        };
        is_block
            && !self.ranges.is_empty()
            && self.ranges.iter().all(|saved| fits(saved.offset, saved.length))
            && self.ranges.windows(2).all(|pair| pair[0].range().end() <= pair[1].offset)
            && self.fingerprint.iter().all(|place| fits(place.offset, FINGERPRINT.round_up(block)))
    }
}

/// A range that is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedRange {
    /// Where it is.
    pub offset: Bytes,
    /// Its length.
    pub length: Bytes,
    /// The checksum of what applying writes there.
    pub applied: u64,
}

impl SavedRange {
    const fn range(self) -> ByteRange {
        ByteRange::new(self.offset, self.length)
    }
}

/// An untouched place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Where it is.
    pub offset: Bytes,
    /// The checksum of its bytes.
    pub checksum: u64,
}

/// An undo file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// It is no undo file.
    #[error("this is not an undo file of flashscope")]
    NotUndo,
    /// It is damaged or cut short.
    #[error("the undo file is damaged or cut short ({part}); nothing was written")]
    Damaged {
        /// Where.
        part: String,
    },
    /// It cannot be read or written.
    #[error("the undo file: {0}")]
    File(#[from] std::io::Error),
    /// The medium failed.
    #[error(transparent)]
    Medium(#[from] MediumError),
    /// A scratch file failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// It belongs to another medium.
    #[error("the undo file belongs to {expected}, and this is {found}; nothing was written")]
    OtherMedium {
        /// The medium that was saved.
        expected: String,
        /// The medium that is there.
        found: String,
    },
    /// After restoring, a range reads back differently.
    #[error("{range} reads back differently after it was restored; the medium may be failing")]
    NotRestored {
        /// The range.
        range: String,
    },
}

/// How a medium stands to an undo file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoState {
    /// Ranges that hold what was applied.
    pub applied: usize,
    /// Ranges that hold what they held before.
    pub original: usize,
    /// Ranges that hold something else: applying was cut, or something was written since.
    pub changed: usize,
    /// Ranges that hold what the undo file knows, and are not blank there.
    pub recognised: usize,
    /// Untouched places that were not blank when they were saved, and those of them that are unchanged.
    pub marked: usize,
    /// See [`marked`](Self::marked).
    pub marked_unchanged: usize,
    /// Whether the medium held nothing but blank data before.
    pub was_blank: bool,
    /// Whether applying changed nothing: every range held before what was applied.
    pub is_same_layout: bool,
    /// Untouched places that differ: data was written since, or this is another medium.
    pub fingerprint_changed: usize,
    /// All untouched places.
    pub fingerprint: usize,
}

impl UndoState {
    /// Whether this can be the medium that was saved. Untouched places that were not blank decide. Where
    /// there are none, a range that is not blank is recognised, or all was blank and is so now.
    #[must_use]
    pub const fn can_be_same(&self) -> bool {
        if self.marked > 0 {
            return self.marked_unchanged > 0;
        }
        self.recognised > 0 || (self.was_blank && self.fingerprint_changed == 0)
    }
}

/// What was restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Ranges that were written.
    pub written: usize,
    /// Ranges that held their original bytes already.
    pub unchanged: usize,
}

/// Where an undo file comes from.
pub(super) struct Origin<'a> {
    /// The version of flashscope.
    pub version: &'a str,
    /// The target as undo should find it again.
    pub target: &'a str,
    /// The medium.
    pub medium: &'a Medium,
}

/// The bytes that a piece of an image writes, fed to `each` in parts.
fn image_parts(
    image: &Image,
    index: usize,
    host: &mut dyn Host,
    max: Bytes,
    each: &mut dyn FnMut(&[u8]),
) -> Result<(), UndoError> {
    let piece = &image.pieces[index];
    for part in transfer::parts(piece.range, max) {
        let from = ByteRange::new(piece.offset + (part.offset - piece.range.offset), part.length);
        let bytes = host.read(&piece.source, from)?;
        each(&bytes);
    }
    Ok(())
}

/// Saves what a medium holds in every range that `image` writes.
///
/// The caller makes the file durable afterwards, before anything is written to the medium.
///
/// # Errors
/// [`UndoError`] if medium or file fail.
pub(super) fn save(
    origin: &Origin<'_>,
    image: &Image,
    host: &mut dyn Host,
    device: &mut dyn Device,
    file: &mut dyn Write,
) -> Result<UndoHeader, UndoError> {
    let max = transfer::request_max(device);
    let mut ranges = Vec::new();
    for (index, piece) in image.pieces.iter().enumerate() {
        let mut sum = Checksum::new();
        image_parts(image, index, host, max, &mut |bytes| sum.add(bytes))?;
        ranges.push(SavedRange {
            offset: piece.range.offset,
            length: piece.range.length,
            applied: sum.get(),
        });
    }
    let header = UndoHeader {
        flashscope: origin.version.to_owned(),
        target: origin.target.to_owned(),
        identity: origin.medium.identity.clone(),
        logical_block: origin.medium.logical_block,
        fingerprint: fingerprint(device, origin.medium.usable(), &ranges)?,
        ranges,
    };
    write_header(&header, file)?;
    for saved in &header.ranges {
        let mut sum = Checksum::new();
        for part in transfer::parts(saved.range(), max) {
            let bytes = transfer::read(device, part)?;
            sum.add(&bytes);
            file.write_all(&bytes)?;
        }
        file.write_all(&sum.get().to_le_bytes())?;
    }
    file.flush()?;
    Ok(header)
}

fn write_header(header: &UndoHeader, file: &mut dyn Write) -> Result<(), UndoError> {
    let json = serde_json::to_vec(header).map_err(std::io::Error::other)?;
    let sum = Checksum::of(&json);
    file.write_all(MAGIC)?;
    file.write_all(&(json.len() as u64).to_le_bytes())?;
    file.write_all(&json)?;
    file.write_all(&sum.to_le_bytes())?;
    Ok(())
}

/// Places between the saved ranges, spread over the part that stores data, with their checksums.
fn fingerprint(
    device: &mut dyn Device,
    usable: Bytes,
    ranges: &[SavedRange],
) -> Result<Vec<Fingerprint>, UndoError> {
    let length = FINGERPRINT.round_up(device.capabilities().logical_block);
    let mut places = Vec::new();
    for index in 0..FINGERPRINTS {
        let share = usable.get() / FINGERPRINTS * index + usable.get() / FINGERPRINTS / 2;
        let offset = Bytes::new(share).round_down(length);
        let range = ByteRange::new(offset, length);
        let is_saved = ranges.iter().any(|saved| saved.offset < range.end() && offset < saved.range().end());
        if is_saved || range.end() > usable {
            continue;
        }
        places.push(Fingerprint { offset, checksum: summary_of(device, range)?.checksum });
    }
    Ok(places)
}

fn summary_of(device: &mut dyn Device, range: ByteRange) -> Result<Summary, UndoError> {
    let max = transfer::request_max(device);
    let mut sum = Summing::new();
    for part in transfer::parts(range, max) {
        sum.add(&transfer::read(device, part)?);
    }
    Ok(sum.get())
}

fn damaged(part: impl Into<String>) -> UndoError {
    UndoError::Damaged { part: part.into() }
}

fn read_number(file: &mut dyn Read, part: &str) -> Result<u64, UndoError> {
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes).map_err(|_| damaged(part))?;
    Ok(u64::from_le_bytes(bytes))
}

/// Reads the header of an undo file; the file then stands at its data.
///
/// # Errors
/// [`UndoError`] if it is no undo file, or its header is damaged.
pub fn read_header(file: &mut dyn Read) -> Result<UndoHeader, UndoError> {
    let mut magic = [0; 8];
    file.read_exact(&mut magic).map_err(|_| UndoError::NotUndo)?;
    if &magic != MAGIC {
        return Err(UndoError::NotUndo);
    }
    let length = read_number(file, "its header")?;
    if length > HEADER_MAX {
        return Err(damaged("its header"));
    }
    let mut json = Vec::new();
    file.take(length).read_to_end(&mut json)?;
    if json.len() as u64 != length || read_number(file, "its header")? != Checksum::of(&json) {
        return Err(damaged("its header"));
    }
    let header: UndoHeader = serde_json::from_slice(&json).map_err(|_| damaged("its header"))?;
    if header.is_sound() { Ok(header) } else { Err(damaged("its list of ranges")) }
}

/// The checksum of bytes, and whether they are blank: all zero, or all ones as erased flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Summary {
    checksum: u64,
    is_blank: bool,
}

/// A summary of bytes that are fed in parts.
struct Summing {
    sum: Checksum,
    blank: [bool; 2],
}

impl Summing {
    const fn new() -> Self {
        Self { sum: Checksum::new(), blank: [true; 2] }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.sum.add(bytes);
        for (is_blank, value) in self.blank.iter_mut().zip([0x00, 0xff]) {
            *is_blank = *is_blank && bytes.iter().all(|byte| *byte == value);
        }
    }

    fn get(&self) -> Summary {
        Summary { checksum: self.sum.get(), is_blank: self.blank[0] || self.blank[1] }
    }
}

/// Verifies the data of an undo file, and returns the summary of each range. The file stands at its data
/// before.
fn verify_data(header: &UndoHeader, file: &mut dyn Read) -> Result<Vec<Summary>, UndoError> {
    let mut sums = Vec::with_capacity(header.ranges.len());
    let mut bytes = vec![0; REQUEST_MAX.to_usize()];
    for saved in &header.ranges {
        let mut sum = Summing::new();
        for part in transfer::parts(saved.range(), REQUEST_MAX) {
            let bytes = &mut bytes[..part.length.to_usize()];
            file.read_exact(bytes).map_err(|_| damaged(saved.range().to_string()))?;
            sum.add(bytes);
        }
        if read_number(file, &saved.range().to_string())? != sum.get().checksum {
            return Err(damaged(saved.range().to_string()));
        }
        sums.push(sum.get());
    }
    Ok(sums)
}

/// How a medium stands to an undo file, whose header was read. Nothing is written.
///
/// # Errors
/// [`UndoError`] if the file is damaged, the medium fails, or another size shows that it is another one.
pub fn state(
    header: &UndoHeader,
    file: &mut dyn Read,
    device: &mut dyn Device,
) -> Result<UndoState, UndoError> {
    let capacity = device.capabilities().capacity;
    if capacity != header.identity.capacity {
        return Err(UndoError::OtherMedium {
            expected: format!("a medium of {}", header.identity.capacity),
            found: format!("a medium of {capacity}"),
        });
    }
    let originals = verify_data(header, file)?;
    let mut state = UndoState {
        applied: 0,
        original: 0,
        changed: 0,
        recognised: 0,
        marked: 0,
        marked_unchanged: 0,
        was_blank: originals.iter().all(|original| original.is_blank),
        is_same_layout: originals
            .iter()
            .zip(&header.ranges)
            .all(|(original, saved)| original.checksum == saved.applied),
        fingerprint_changed: 0,
        fingerprint: header.fingerprint.len(),
    };
    for (saved, original) in header.ranges.iter().zip(originals) {
        let found = summary_of(device, saved.range())?;
        let count = match found.checksum {
            sum if sum == original.checksum => &mut state.original,
            sum if sum == saved.applied => &mut state.applied,
            _ => {
                state.changed += 1;
                continue;
            }
        };
        *count += 1;
        state.recognised += usize::from(!found.is_blank);
    }
    let length = FINGERPRINT.round_up(header.logical_block);
    let blanks = blank_checksums(length);
    for place in &header.fingerprint {
        let found = summary_of(device, ByteRange::new(place.offset, length))?;
        let is_same = found.checksum == place.checksum;
        let was_blank = blanks.contains(&place.checksum);
        state.fingerprint_changed += usize::from(!is_same);
        state.marked += usize::from(!was_blank);
        state.marked_unchanged += usize::from(is_same && !was_blank);
        state.was_blank &= was_blank;
    }
    Ok(state)
}

/// The checksums of blank places of this length.
fn blank_checksums(length: Bytes) -> [u64; 2] {
    [0x00, 0xff].map(|value| Checksum::of(&vec![value; length.to_usize()]))
}

/// Writes every saved range back, flushes, and reads it back. The file stands at its data; it was verified by
/// [`state`].
///
/// It may be cut and run again: what is restored already is left alone.
///
/// # Errors
/// [`UndoError`] if file or medium fail, or a range reads back differently.
pub fn restore(
    header: &UndoHeader,
    file: &mut dyn Read,
    device: &mut dyn Device,
) -> Result<Restored, UndoError> {
    let max = transfer::request_max(device);
    let mut restored = Restored { written: 0, unchanged: 0 };
    let mut sums = Vec::with_capacity(header.ranges.len());
    for saved in &header.ranges {
        let mut is_written = false;
        let mut sum = Checksum::new();
        for part in transfer::parts(saved.range(), max) {
            let mut bytes = vec![0; part.length.to_usize()];
            file.read_exact(&mut bytes).map_err(|_| damaged(saved.range().to_string()))?;
            sum.add(&bytes);
            if transfer::read(device, part).is_ok_and(|there| there[..] == bytes[..]) {
                continue;
            }
            transfer::write(device, part.offset, &bytes)?;
            is_written = true;
        }
        if read_number(file, &saved.range().to_string())? != sum.get() {
            return Err(damaged(saved.range().to_string()));
        }
        sums.push(sum.get());
        let count = if is_written { &mut restored.written } else { &mut restored.unchanged };
        *count += 1;
    }
    transfer::flush(device)?;
    for (saved, sum) in header.ranges.iter().zip(sums) {
        if summary_of(device, saved.range())?.checksum != sum {
            return Err(UndoError::NotRestored { range: saved.range().to_string() });
        }
    }
    Ok(restored)
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;

    /// The header of a medium of 1 MiB that saves these ranges, each an offset and a length.
    fn header(ranges: &[(u64, u64)]) -> UndoHeader {
        let saved = |(offset, length): &(u64, u64)| SavedRange {
            offset: Bytes::new(*offset),
            length: Bytes::new(*length),
            applied: 1,
        };
        UndoHeader {
            flashscope: "0.1.0".to_owned(),
            target: "/dev/sdb".to_owned(),
            identity: Identity { capacity: Bytes::mib(1), ..Identity::default() },
            logical_block: Bytes::new(512),
            ranges: ranges.iter().map(saved).collect(),
            fingerprint: Vec::new(),
        }
    }

    fn is_sound(ranges: &[(u64, u64)]) -> bool {
        header(ranges).is_sound()
    }

    /// The space before the first partition and the start of that partition touch where it starts at 1 MiB.
    #[test]
    fn saved_ranges_may_touch_and_reach_the_end_but_not_overlap_or_exceed_it() {
        let end = 1 << 20;
        assert!(is_sound(&[(0, 512)]) && is_sound(&[(0, end)]));
        assert!(is_sound(&[(0, 4096), (4096, 512), (4608, 512)]));
        assert!(is_sound(&[(0, 4096), (8192, 512), (end - 512, 512)]));
        assert!(!is_sound(&[]));
        assert!(!is_sound(&[(0, 4096), (3584, 4096)]));
        assert!(!is_sound(&[(4096, 512), (0, 512)]));
        assert!(!is_sound(&[(0, 0)]) && !is_sound(&[(0, 100)]) && !is_sound(&[(100, 512)]));
        assert!(!is_sound(&[(end - 512, 1024)]) && !is_sound(&[(end, 512)]));
    }

    /// An undo file of sectors, each an offset and the byte that filled it. The place at 64 KiB was blank.
    fn undo_file(originals: &[(u64, u8)]) -> Vec<u8> {
        let ranges: Vec<(u64, u64)> = originals.iter().map(|(offset, _)| (*offset, 512)).collect();
        let place = Fingerprint { offset: Bytes::kib(64), checksum: Checksum::of(&[0; 4096]) };
        let mut file: Vec<u8> = Vec::new();
        write_header(&UndoHeader { fingerprint: vec![place], ..header(&ranges) }, &mut file).unwrap();
        for (_, byte) in originals {
            file.extend_from_slice(&[*byte; 512]);
            file.extend_from_slice(&Checksum::of(&[*byte; 512]).to_le_bytes());
        }
        file
    }

    /// Whether a medium of zeros, but for sectors that these bytes fill, can be the one that was saved.
    fn can_be_same(mut file: &[u8], sectors: &[(u64, u8)]) -> bool {
        let mut device = MemoryDevice::new(Bytes::mib(1));
        for (offset, byte) in sectors {
            transfer::write(&mut device, Bytes::new(*offset), &[*byte; 512]).unwrap();
        }
        let header = read_header(&mut file).unwrap();
        state(&header, &mut file, &mut device).unwrap().can_be_same()
    }

    /// Many media are blank where this one was: that shows nothing, unless it was blank everywhere.
    #[test]
    fn medium_is_not_recognised_by_ranges_that_were_blank_and_are() {
        let in_use = undo_file(&[(0, 7), (4096, 0x00), (8192, 0xff)]);
        assert!(can_be_same(&in_use, &[(0, 7)]));
        assert!(!can_be_same(&in_use, &[]));
        assert!(!can_be_same(&in_use, &[(0, 0xff), (8192, 0xff)]));
        let blank = undo_file(&[(0, 0x00), (8192, 0xff)]);
        assert!(can_be_same(&blank, &[]));
        assert!(!can_be_same(&blank, &[(64 << 10, 7)]));
    }
}
