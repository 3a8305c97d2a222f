//! Which engine serves a target's requests.

use rustix::io::Errno;

use crate::geometry::answers_at_once;
use crate::remark::Remark;
use crate::ring::RingEngine;
use crate::sync::SyncEngine;
use crate::sysfs::Sysfs;
use crate::target::Target;

/// What is to serve the requests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// `pread` and `pwrite` for what is asked alone, `io_uring` for several at once, what works where that is refused.
    #[default]
    Best,
    /// `pread` and `pwrite`, one after the other.
    Sync,
    /// `io_uring` for every request, or an error.
    Ring,
}

/// What serves the requests.
#[derive(Debug)]
pub enum ActiveEngine {
    Sync(SyncEngine),
    Ring(Box<RingEngine>),
}

impl ActiveEngine {
    /// Starts what `choice` asks for and this target allows; what had to give way is remarked.
    ///
    /// Fails only where `io_uring` was asked for by name and is refused.
    pub fn start(
        choice: Engine,
        queue_depth: u32,
        target: &mut Target,
        remarks: &mut Vec<Remark>,
    ) -> Result<Self, Errno> {
        if choice == Engine::Sync || choice == Engine::Best && queue_depth == 1 {
            return Ok(Self::sync());
        }
        if !answers_at_once(&target.file, target.capabilities.logical_block) {
            if choice == Engine::Best && is_ram_disk(target) {
                remarks.push(Remark::ServedInTurn);
                return Ok(Self::sync());
            }
            remarks.push(Remark::ServedByThreads);
        }
        match RingEngine::new(target, queue_depth, choice == Engine::Best) {
            Err(errno) if choice == Engine::Best => Ok(Self::instead_of_ring(errno, target, remarks)),
            ring => ring.map(|ring| Self::Ring(Box::new(ring))),
        }
    }

    fn sync() -> Self {
        Self::Sync(SyncEngine::default())
    }

    /// One request at a time, and no more in flight than are served.
    fn instead_of_ring(errno: Errno, target: &mut Target, remarks: &mut Vec<Remark>) -> Self {
        remarks.retain(|remark| *remark != Remark::ServedByThreads);
        remarks.push(Remark::RingRefused { errno: errno.raw_os_error() });
        target.capabilities.queue_depth = 1;
        Self::sync()
    }
}

/// True for a zram disk: whoever asks copies and decompresses, so a queue cannot make it faster.
fn is_ram_disk(target: &Target) -> bool {
    Sysfs::default().node_behind(&target.file).is_some_and(|node| node.name().starts_with("zram"))
}

#[cfg(test)]
mod tests {
    use flashscope_device::{Bytes, Capabilities};

    use super::*;
    use crate::clock::Clock;
    use crate::target::TargetKind;

    #[test]
    fn where_io_uring_is_refused_the_queue_shrinks_to_what_is_served() {
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
        let engine = ActiveEngine::instead_of_ring(Errno::PERM, &mut target, &mut remarks);
        assert!(matches!(engine, ActiveEngine::Sync(_)));
        assert_eq!(target.capabilities.queue_depth, 1);
        assert_eq!(remarks, [Remark::ImageFile, Remark::RingRefused { errno: 1 }]);
    }
}
