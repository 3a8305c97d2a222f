//! Reads a journal back, after a measurement or after a crash.

use super::error::JournalError;
use super::format::{HEAD, Head, Kind, RECORD_MAX};
use super::header::JournalHeader;
use super::originals::{Original, SavedRange};
use super::store::JournalStore;
use crate::checksum::Checksum;
use crate::transfer::{REQUEST_MAX, parts};
use crate::units::{ByteRange, Bytes};

/// Takes original data and its offset.
type Each<'a> = dyn FnMut(Bytes, &[u8]) -> Result<(), JournalError> + 'a;

/// What a journal holds, verified: its header, and where the original data of each range is.
#[derive(Debug)]
pub struct JournalContents {
    /// The header.
    pub header: JournalHeader,
    /// Whether everything is restored already.
    pub is_done: bool,
    /// Whether the last record was incomplete and is left out. Its range was not overwritten: nothing is
    /// written before its record is durable.
    pub is_cut: bool,
    /// By offset.
    ranges: Vec<SavedRange>,
    /// The same, what was saved first first.
    as_saved: Vec<SavedRange>,
    /// How many records there are, for the sequence number of the next.
    records: u64,
}

impl JournalContents {
    /// Reads and verifies a journal.
    ///
    /// # Errors
    /// [`JournalError`] if it is no journal, damaged, or cannot be read.
    pub fn read(store: &mut dyn JournalStore) -> Result<Self, JournalError> {
        let end = store.length()?;
        let (header, mut position) = JournalHeader::read(store)?;
        let mut contents = Self {
            header,
            is_done: false,
            is_cut: false,
            ranges: Vec::new(),
            as_saved: Vec::new(),
            records: 0,
        };
        while position < end {
            let Some(head) = contents.head_at(store, position, end)? else { break };
            let data = position + HEAD as u64;
            let behind = data.saturating_add(head.tail());
            if behind > end || !is_sound(store, head, data)? {
                contents.end_at(position, behind >= end)?;
                break;
            }
            contents.accept(head, data)?;
            position = behind;
        }
        contents.as_saved = contents.ranges.clone();
        contents.ranges.sort_unstable_by_key(|saved| saved.range.offset);
        let overlaps = contents.ranges.windows(2).any(|pair| pair[0].range.end() > pair[1].range.offset);
        if overlaps { Err(JournalError::damaged("its list of ranges")) } else { Ok(contents) }
    }

    /// The header alone, without its records.
    ///
    /// # Errors
    /// As [`JournalContents::read`].
    pub fn header(store: &mut dyn JournalStore) -> Result<JournalHeader, JournalError> {
        Ok(JournalHeader::read(store)?.0)
    }

    /// The number of saved bytes.
    #[must_use]
    pub fn saved(&self) -> Bytes {
        self.ranges.iter().map(|saved| saved.range.length).sum()
    }

    /// Whether a range has a byte in common with a saved range.
    #[must_use]
    pub fn has_saved(&self, range: ByteRange) -> bool {
        let next = self.ranges.partition_point(|saved| saved.range.end() <= range.offset);
        self.ranges.get(next).is_some_and(|saved| saved.range.overlaps(range))
    }

    /// The head of the next record; `None` at an incomplete one.
    fn head_at(
        &mut self,
        store: &mut dyn JournalStore,
        position: u64,
        end: u64,
    ) -> Result<Option<Head>, JournalError> {
        let mut bytes = [0; HEAD];
        if end - position < HEAD as u64 {
            self.end_at(position, true)?;
            return Ok(None);
        }
        store.read_at(position, &mut bytes)?;
        let head = Head::decode(&bytes, self.records);
        if head.is_none() {
            // A filesystem may have extended the file and not yet written the data.
            self.end_at(position, bytes == [0; HEAD])?;
        }
        Ok(head)
    }

    /// Notes that the record at `position` is incomplete. It is damaged if more follows.
    fn end_at(&mut self, position: u64, is_last: bool) -> Result<(), JournalError> {
        if !is_last {
            return Err(JournalError::damaged(format!("record {} at byte {position}", self.records + 1)));
        }
        self.is_cut = true;
        Ok(())
    }

    fn accept(&mut self, head: Head, data: u64) -> Result<(), JournalError> {
        let whole = ByteRange::new(Bytes::ZERO, self.header.start.medium.capacity);
        let original = match head.kind {
            Kind::Data => Original::At(data),
            Kind::Fill(byte) => Original::Fill(byte),
            Kind::Done => {
                self.is_done = true;
                self.records += 1;
                return Ok(());
            }
        };
        if !whole.contains(head.range) || head.range.length.is_zero() {
            return Err(JournalError::damaged(format!("the range of record {}", self.records + 1)));
        }
        self.ranges.push(SavedRange { range: head.range, original });
        self.records += 1;
        Ok(())
    }

    /// Hands the original data to `each` in ascending order, adjacent ranges together, at most
    /// [`REQUEST_MAX`] at once.
    pub(super) fn originals(
        &self,
        store: &mut dyn JournalStore,
        each: &mut Each<'_>,
    ) -> Result<(), JournalError> {
        let (mut start, mut bytes) = (Bytes::ZERO, Vec::new());
        for saved in &self.ranges {
            for part in parts(saved.range, REQUEST_MAX) {
                let end = start + Bytes::new(bytes.len() as u64);
                let fits = bytes.len() + part.length.to_usize() <= REQUEST_MAX.to_usize();
                if !bytes.is_empty() && (end != part.offset || !fits) {
                    each(start, &bytes)?;
                    bytes.clear();
                }
                if bytes.is_empty() {
                    start = part.offset;
                }
                let from = bytes.len();
                bytes.resize(from + part.length.to_usize(), 0);
                saved.read(store, part, &mut bytes[from..])?;
            }
        }
        if bytes.is_empty() { Ok(()) } else { each(start, &bytes) }
    }

    /// Hands the original data to `each`, what was saved last first.
    pub(super) fn originals_backward(
        &self,
        store: &mut dyn JournalStore,
        each: &mut Each<'_>,
    ) -> Result<(), JournalError> {
        for saved in self.as_saved.iter().rev() {
            for part in parts(saved.range, REQUEST_MAX) {
                let mut bytes = vec![0; part.length.to_usize()];
                saved.read(store, part, &mut bytes)?;
                each(part.offset, &bytes)?;
            }
        }
        Ok(())
    }

    /// The record that says that everything is restored.
    pub(super) fn done_record(&self) -> [u8; HEAD] {
        let range = ByteRange::new(Bytes::ZERO, Bytes::ZERO);
        Head { kind: Kind::Done, range }.encode(self.records)
    }
}

/// Whether the data of a record has its checksum.
fn is_sound(store: &mut dyn JournalStore, head: Head, position: u64) -> Result<bool, JournalError> {
    if head.kind != Kind::Data {
        return Ok(true);
    }
    if head.range.length > RECORD_MAX {
        return Ok(false);
    }
    let mut data = vec![0; head.range.length.to_usize() + 8];
    store.read_at(position, &mut data)?;
    let (data, sum) = data.split_at(data.len() - 8);
    Ok(sum == Checksum::of(data).to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::journal::format::record;
    use crate::layer::journal::{JournalMedium, JournalStart, MemoryStore};

    /// The header of a medium of 64 KiB.
    fn header() -> Vec<u8> {
        let medium = JournalMedium { capacity: Bytes::kib(64), ..JournalMedium::default() };
        JournalHeader { start: JournalStart { medium, ..JournalStart::default() }, places: Vec::new() }
            .encode()
    }

    fn read(records: &[Vec<u8>]) -> Result<JournalContents, JournalError> {
        let mut store = MemoryStore::default();
        store.append(&header()).unwrap();
        store.append(&records.concat()).unwrap();
        JournalContents::read(&mut store)
    }

    /// The record of 4 KiB at this number of KiB.
    fn record_at(kib: u64, sequence: u64) -> Vec<u8> {
        let data: Vec<u8> = (0..=255).cycle().take(4096).collect();
        record(Bytes::kib(kib), &data, sequence)
    }

    #[test]
    fn journal_that_ends_inside_a_record_holds_the_records_before_it() {
        let (first, second) = (record_at(0, 0), record_at(4, 1));
        for kept in [1, HEAD / 2, HEAD - 1, HEAD, HEAD + 1, second.len() - 1] {
            let contents = read(&[first.clone(), second[..kept].to_vec()]).unwrap();
            assert_eq!((contents.is_cut, contents.saved()), (true, Bytes::kib(4)), "{kept} bytes");
        }
        let extended = read(&[first.clone(), vec![0; 100]]).unwrap();
        assert_eq!((extended.is_cut, extended.saved()), (true, Bytes::kib(4)));
        let whole = read(&[first, second]).unwrap();
        assert_eq!((whole.is_cut, whole.saved()), (false, Bytes::kib(8)));
    }

    #[test]
    fn message_of_a_damaged_record_names_its_number_and_place() {
        for byte in [0, HEAD] {
            let mut records = [0, 1, 2].map(|index| record_at(4 * index, index));
            records[1][byte] ^= 1;
            let message = read(&records).unwrap_err().to_string();
            let start = header().len() + records[0].len();
            assert!(message.contains(&format!("record 2 at byte {start}")), "{message}");
        }
        let message = read(&[record_at(0, 0), record_at(64, 1)]).unwrap_err().to_string();
        assert!(message.contains("the range of record 2"), "behind the end of the medium: {message}");
    }

    /// A measurement may end before its first write.
    #[test]
    fn restored_journal_is_done_with_and_without_records() {
        for records in [Vec::new(), vec![record_at(0, 0)]] {
            let done = read(&records).unwrap().done_record().to_vec();
            let restored = read(&[records.concat(), done]).unwrap();
            assert!(restored.is_done && !restored.is_cut, "{} records", records.len());
        }
    }
}
