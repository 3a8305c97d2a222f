//! Counts what others write to a disk that is measured through a file.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use flashscope_device::Bytes;
use flashscope_record::activity::Counters;

use crate::sysfs::Sysfs;

/// The longest text of the counters: 17 numbers of at most 20 digits.
const TEXT_BYTES_MAX: usize = 512;

/// The writes of others to the disk under a file: the kernel's counter less the file's own.
#[derive(Debug)]
pub struct OtherWrites {
    counters: File,
    /// The bytes that the kernel had counted at the beginning, and what the file wrote since then.
    before: Bytes,
    own: Bytes,
    /// What others have written since then, as seen so far, bytes. Below zero after a failed write that the
    /// kernel did not count.
    others: i128,
}

impl OtherWrites {
    /// Counts from now on. `None` if the kernel does not count the writes of the disk under `file`.
    pub fn to_disk_under(file: impl AsFd) -> Option<Self> {
        let device = rustix::fs::fstat(file).ok()?.st_dev;
        let node = Sysfs::default().node_of(rustix::fs::major(device), rustix::fs::minor(device))?;
        let disk = node.whole_disk();
        if disk.number::<u32>("queue/iostats") == Some(0) {
            return None;
        }
        let counters = disk.open("stat")?;
        let before = written(&counters)?;
        Some(Self { counters, before, own: Bytes::ZERO, others: 0 })
    }

    /// Counts a write of the file itself, before its completion.
    pub fn add_own(&mut self, length: Bytes) {
        self.own += length;
    }

    /// Whether others may have written since the call before. `is_counted` is false if a request of the file
    /// failed: what of it the kernel counted is not known.
    pub fn any_since_last(&mut self, is_counted: bool) -> bool {
        let Some(now) = written(&self.counters) else { return false };
        let others = i128::from(now.get()) - i128::from(self.before.get()) - i128::from(self.own.get());
        let any = !is_counted || others > self.others;
        if any {
            self.others = others;
        }
        any
    }
}

/// The bytes written to the disk so far.
fn written(counters: &File) -> Option<Bytes> {
    let mut text = [0; TEXT_BYTES_MAX];
    let length = counters.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    Some(Counters::parse(text)?.writes.bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn stat(sectors: u64) -> String {
        format!("1 0 8 0 2 0 {sectors} 0 0 0 0 0 0 0 0 0 0\n")
    }

    #[test]
    fn writes_beyond_the_own_ones_are_those_of_others() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("stat");
        let set = |sectors| fs::write(&path, stat(sectors)).unwrap();
        set(100);
        let counters = File::open(&path).unwrap();
        let before = written(&counters).unwrap();
        let mut writes = OtherWrites { counters, before, own: Bytes::ZERO, others: 0 };
        assert!(!writes.any_since_last(true));
        writes.add_own(Bytes::kib(4));
        set(108);
        assert!(!writes.any_since_last(true), "its own");
        set(116);
        assert!(writes.any_since_last(true));
        assert!(!writes.any_since_last(true), "told once");
        // Of two writes in flight one is complete; the other is counted later.
        writes.add_own(Bytes::kib(8));
        set(124);
        assert!(!writes.any_since_last(true));
        set(132);
        assert!(!writes.any_since_last(true));
        // A failed write may be counted or not. What others write after it is seen.
        writes.add_own(Bytes::mib(1));
        assert!(writes.any_since_last(false));
        writes.add_own(Bytes::kib(4));
        set(140);
        assert!(!writes.any_since_last(true));
        set(142);
        assert!(writes.any_since_last(true));
        fs::write(&path, "nonsense").unwrap();
        assert!(!writes.any_since_last(true), "unreadable counters tell nothing");
    }
}
