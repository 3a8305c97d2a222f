//! Where a journal is kept.

use std::io;

/// A place for a journal: bytes that are appended, made durable, and read back.
pub trait JournalStore {
    /// The number of bytes that were appended.
    ///
    /// # Errors
    /// That of the system.
    fn length(&mut self) -> io::Result<u64>;

    /// Appends bytes at the end. They may be lost in a power cut until they are made durable.
    ///
    /// # Errors
    /// That of the system; a part of the bytes may be appended then.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes everything durable that was appended: it survives a power cut.
    ///
    /// # Errors
    /// That of the system; it is unknown then which bytes survive.
    fn make_durable(&mut self) -> io::Result<()>;

    /// Reads bytes that were appended.
    ///
    /// # Errors
    /// That of the system, or [`io::ErrorKind::UnexpectedEof`] behind the end.
    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Removes the journal. It is not needed any more.
    ///
    /// # Errors
    /// That of the system.
    fn remove(&mut self) -> io::Result<()>;
}

impl<S: JournalStore + ?Sized> JournalStore for Box<S> {
    fn length(&mut self) -> io::Result<u64> {
        (**self).length()
    }
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        (**self).append(bytes)
    }
    fn make_durable(&mut self) -> io::Result<()> {
        (**self).make_durable()
    }
    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        (**self).read_at(position, buffer)
    }
    fn remove(&mut self) -> io::Result<()> {
        (**self).remove()
    }
}

/// A journal in memory, for virtual sticks and crash tests.
#[derive(Debug, Default, Clone)]
pub struct MemoryStore {
    bytes: Vec<u8>,
    durable: usize,
    /// How many appends and flushes still succeed; `None`: all.
    operations_left: Option<u64>,
}

impl MemoryStore {
    /// The same store, which fails after this number of operations. An append that fails leaves half of its
    /// bytes.
    #[must_use]
    pub const fn failing_after(mut self, operations: u64) -> Self {
        self.operations_left = Some(operations);
        self
    }

    /// The store after a power cut: of the bytes that were not durable, only the first `kept` are left. It
    /// does not fail any more.
    #[must_use]
    pub fn after_power_cut(mut self, kept: usize) -> Self {
        self.bytes.truncate(self.durable.saturating_add(kept));
        Self { durable: self.bytes.len(), bytes: self.bytes, operations_left: None }
    }

    /// The number of bytes that are not durable.
    #[must_use]
    pub const fn undurable(&self) -> usize {
        self.bytes.len() - self.durable
    }

    /// All bytes, for tests of damaged journals.
    pub const fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    fn operate(&mut self) -> io::Result<()> {
        match &mut self.operations_left {
            None => Ok(()),
            Some(0) => Err(io::Error::from_raw_os_error(EIO)),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }
}

/// The error number of an input/output error on Linux (errno(3)).
pub(super) const EIO: i32 = 5;

impl JournalStore for MemoryStore {
    fn length(&mut self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let operated = self.operate();
        let written = if operated.is_ok() { bytes.len() } else { bytes.len() / 2 };
        self.bytes.extend_from_slice(&bytes[..written]);
        operated
    }

    fn make_durable(&mut self) -> io::Result<()> {
        self.operate()?;
        self.durable = self.bytes.len();
        Ok(())
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(position).unwrap_or(usize::MAX);
        let end = start.saturating_add(buffer.len());
        let bytes = self.bytes.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn remove(&mut self) -> io::Result<()> {
        self.bytes.clear();
        self.durable = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_cut_keeps_what_was_durable_and_the_first_bytes_of_the_rest() {
        let mut store = MemoryStore::default();
        store.append(b"durable").unwrap();
        store.make_durable().unwrap();
        store.append(b"later").unwrap();
        assert_eq!(store.undurable(), 5);
        let left = store.after_power_cut(2);
        assert_eq!(left.bytes, b"durablela");
        assert_eq!(left.undurable(), 0);
    }
}
