//! Image files for tests, and skipping with a message.

use std::fs::File;
use std::path::PathBuf;

use flashscope_device::{ByteRange, Bytes, Completion, Device, DeviceExt, Op, Pattern, ReadInto, Tag};
use flashscope_linux::{Access, Engine, LinuxDevice, OpenOptions, open};
use tempfile::TempDir;

use crate::agreed::Agreed;

pub const PATTERN: Pattern = Pattern::new(11);

/// The engines and queue depths of each engine test.
pub const ENGINES: [(Engine, u32); 4] =
    [(Engine::Sync, 1), (Engine::Sync, 32), (Engine::Ring, 32), (Engine::Best, 32)];

/// An image file in a directory of its own.
pub struct Image {
    pub path: PathBuf,
    pub directory: TempDir,
}

impl Image {
    /// A sparse image of this size.
    pub fn of(size: Bytes) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("stick.img");
        File::create(&path).unwrap().set_len(size.get()).unwrap();
        Self { path, directory }
    }

    pub fn resize(&self, size: Bytes) {
        File::options().write(true).open(&self.path).unwrap().set_len(size.get()).unwrap();
    }

    /// The image, opened for writing.
    pub fn erasable(&self, engine: Engine, queue_depth: u32) -> LinuxDevice {
        let consent = Agreed::to_erase(self.path.to_str().unwrap());
        let options =
            OpenOptions { access: Access::Erase(&consent), queue_depth, engine, ..OpenOptions::default() };
        open(&self.path, &options).unwrap()
    }

    /// The image, opened for reading.
    pub fn readable(&self, engine: Engine, queue_depth: u32) -> LinuxDevice {
        open(&self.path, &OpenOptions { queue_depth, engine, ..OpenOptions::default() }).unwrap()
    }
}

pub fn range(offset_kib: u64, length_kib: u64) -> ByteRange {
    ByteRange::new(Bytes::kib(offset_kib), Bytes::kib(length_kib))
}

pub fn check(range: ByteRange) -> Op {
    Op::Read { range, into: ReadInto::Check(PATTERN) }
}

pub fn run(device: &mut impl Device, op: Op) -> Completion {
    device.run(op).unwrap()
}

/// Keeps the queue full until every request is done; completions come in any order.
pub fn run_all(device: &mut impl Device, ops: Vec<Op>) -> Vec<Completion> {
    let depth = device.capabilities().queue_depth as usize;
    let mut completions = Vec::new();
    for (tag, op) in (0..).zip(ops) {
        if usize::try_from(tag).unwrap() - completions.len() == depth {
            completions.push(device.wait().unwrap().unwrap());
        }
        device.submit(Tag(tag), op).unwrap();
    }
    while let Some(completion) = device.wait().unwrap() {
        completions.push(completion);
    }
    completions
}

/// Reports why a test did not run. With `FLASHSCOPE_REQUIRE_ALL=1` that is a failure.
pub fn skip(reason: &str) {
    assert!(std::env::var("FLASHSCOPE_REQUIRE_ALL").as_deref() != Ok("1"), "must not be skipped: {reason}");
    #[expect(clippy::print_stderr, reason = "a skipped test reports it")]
    {
        eprintln!("skipped: {reason}");
    }
}
