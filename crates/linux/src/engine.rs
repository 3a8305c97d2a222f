//! The engines that serve a target's requests, and the choice between them.

use rustix::io::Errno;

use crate::geometry::supports_nowait;
use crate::remark::Remark;
use crate::ring::RingEngine;
use crate::sync::SyncEngine;
use crate::sysfs::Sysfs;
use crate::target::Target;

/// The requested engine.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// `pread` and `pwrite` for a single request, `io_uring` for several at once, whichever works.
    #[default]
    Best,
    /// `pread` and `pwrite`, one request at a time.
    Sync,
    /// `io_uring` for every request, or an error.
    Ring,
}

/// The engine in use.
#[derive(Debug)]
pub enum ActiveEngine {
    Sync(SyncEngine),
    Ring(Box<RingEngine>),
}

impl ActiveEngine {
    /// Starts the engine that `choice` asks for and this target allows. A fallback is noted in `remarks`.
    ///
    /// Fails only if `io_uring` was requested by name and is refused.
    pub fn start(
        choice: Engine,
        queue_depth: u32,
        target: &mut Target,
        remarks: &mut Vec<Remark>,
    ) -> Result<Self, Errno> {
        if choice == Engine::Sync || choice == Engine::Best && queue_depth == 1 {
            return Ok(Self::sync());
        }
        if !supports_nowait(&target.file, target.capabilities.logical_block) {
            if serves_one_by_one(choice, is_ram_disk(target)) {
                remarks.push(Remark::ServedSequentially);
                return Ok(Self::sync());
            }
            remarks.push(Remark::ServedByThreads);
        }
        match RingEngine::new(target, queue_depth, choice == Engine::Best) {
            Err(errno) if choice == Engine::Best => Ok(Self::fall_back_to_sync(errno, target, remarks)),
            ring => ring.map(|ring| Self::Ring(Box::new(ring))),
        }
    }

    fn sync() -> Self {
        Self::Sync(SyncEngine::default())
    }

    /// Falls back to one request at a time and reduces the queue depth to 1.
    fn fall_back_to_sync(errno: Errno, target: &mut Target, remarks: &mut Vec<Remark>) -> Self {
        remarks.retain(|remark| *remark != Remark::ServedByThreads);
        remarks.push(Remark::RingRefused { errno: errno.raw_os_error() });
        target.capabilities.queue_depth = 1;
        Self::sync()
    }
}

/// Whether a queue of blocking requests is served one by one. Only `io_uring` requested by name serves the
/// queue of a disk in memory.
fn serves_one_by_one(choice: Engine, is_ram_disk: bool) -> bool {
    choice == Engine::Best && is_ram_disk
}

/// Whether this is a zram disk: the caller itself copies and decompresses, so a queue cannot make it
/// faster.
fn is_ram_disk(target: &Target) -> bool {
    Sysfs::default().node_of_file(&target.file).is_some_and(|node| node.name().starts_with("zram"))
}

#[cfg(test)]
mod tests {
    use flashscope_device::{Bytes, Capabilities};

    use super::*;
    use crate::clock::Clock;
    use crate::target::TargetKind;

    #[test]
    fn queue_of_a_disk_in_memory_is_served_one_by_one_unless_io_uring_was_requested() {
        assert!(serves_one_by_one(Engine::Best, true));
        assert!(!serves_one_by_one(Engine::Ring, true));
        assert!(!serves_one_by_one(Engine::Best, false) && !serves_one_by_one(Engine::Ring, false));
    }

    #[test]
    fn refused_io_uring_reduces_the_queue_depth_to_one() {
        let capabilities = Capabilities {
            capacity: Bytes::mib(1),
            logical_block: Bytes::kib(4),
            physical_block: Bytes::kib(4),
            max_request: Bytes::mib(1),
            queue_depth: 32,
            writable: false,
            discard: false,
        };
        let file = tempfile::tempfile().unwrap().into();
        let kind = TargetKind::File;
        let mut target = Target { file, capabilities, kind, is_buffered: false, clock: Clock::start() };
        let mut remarks = vec![Remark::ImageFile, Remark::ServedByThreads];
        let engine = ActiveEngine::fall_back_to_sync(Errno::PERM, &mut target, &mut remarks);
        assert!(matches!(engine, ActiveEngine::Sync(_)));
        assert_eq!(target.capabilities.queue_depth, 1);
        assert_eq!(remarks, [Remark::ImageFile, Remark::RingRefused { errno: 1 }]);
    }
}
