//! Replays the requests of a recording on a device.
//!
//! Requests are submitted in the recorded order, without the recorded idle time: on the recorded host all of
//! it was that of an emulated processor. A flush is a barrier in both directions. A device without a queue
//! gets one request at a time. One with a queue gets as many as fit, but a request never overtakes a read
//! that it may depend on: a read that does not continue the previous read, and the first write after a read,
//! wait until nothing is in flight.

use std::time::Duration;

use flashscope_device::trace::TraceRecord;
use flashscope_device::{
    ByteRange, Bytes, Completion, Device, DeviceError, Op, OpKind, Pattern, RequestError, Tag,
};

/// The result of a replay.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replayed {
    /// Device time from the first submission to the last completion.
    pub time: Duration,
    /// The requests that completed.
    pub requests: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// The first failure.
    pub first_failure: Option<RequestError>,
    /// Why the device accepted no further request, if it ended early.
    pub ended: Option<DeviceError>,
}

/// Replays `records` on `device`, from byte `start` on, with at most `queue_depth` requests in flight. Writes
/// carry `pattern`. Discards are left out on a device that has none.
pub fn replay(
    records: &[TraceRecord],
    start: Bytes,
    device: &mut impl Device,
    queue_depth: u32,
    pattern: Pattern,
) -> Replayed {
    let started_at = device.now();
    let capabilities = device.capabilities();
    let depth = u64::from(queue_depth.clamp(1, capabilities.queue_depth.max(1)));
    let mut player = Player {
        device,
        start,
        pattern,
        depth,
        in_flight: 0,
        tag: 0,
        last: None,
        replayed: Replayed::default(),
    };
    let records = records.iter().filter(|record| record.kind != OpKind::Discard || capabilities.discard);
    let ended = records.into_iter().try_for_each(|record| player.submit(record));
    let drained = ended.and_then(|()| player.drain_to(0));
    let mut replayed = std::mem::take(&mut player.replayed);
    replayed.ended = drained.err();
    replayed.time = device.now().since(started_at);
    replayed
}

/// The device, and the requests in flight on it.
struct Player<'device, D> {
    device: &'device mut D,
    start: Bytes,
    pattern: Pattern,
    depth: u64,
    in_flight: u64,
    tag: u64,
    /// The previous request.
    last: Option<TraceRecord>,
    replayed: Replayed,
}

impl<D: Device> Player<'_, D> {
    fn submit(&mut self, record: &TraceRecord) -> Result<(), DeviceError> {
        self.drain_to(if self.may_overlap(record) { self.depth - 1 } else { 0 })?;
        let offset = record.range.offset.checked_add(self.start).unwrap_or(Bytes::new(u64::MAX));
        let range = ByteRange::new(offset, record.range.length);
        let op = match record.kind {
            OpKind::Read => Op::read(range),
            OpKind::Write => Op::write(range, self.pattern),
            OpKind::Discard => Op::Discard { range },
            OpKind::Flush | OpKind::Pause => Op::Flush,
        };
        self.device.submit(Tag(self.tag), op)?;
        (self.tag, self.in_flight, self.last) = (self.tag + 1, self.in_flight + 1, Some(*record));
        Ok(())
    }

    /// Whether `record` may be in flight together with the previous request.
    fn may_overlap(&self, record: &TraceRecord) -> bool {
        let Some(last) = &self.last else { return true };
        match (last.kind, record.kind) {
            (OpKind::Flush, _) | (_, OpKind::Flush) => false,
            (OpKind::Read, OpKind::Read) => last.range.end() == record.range.offset,
            (OpKind::Read, _) | (_, OpKind::Read) => false,
            _ => true,
        }
    }

    /// Waits until at most `most` requests are in flight.
    fn drain_to(&mut self, most: u64) -> Result<(), DeviceError> {
        while self.in_flight > most
            && let Some(completion) = self.device.wait()?
        {
            self.settle(completion);
        }
        Ok(())
    }

    fn settle(&mut self, completion: Completion) {
        self.in_flight -= 1;
        self.replayed.requests += 1;
        if let Err(error) = completion.outcome {
            self.replayed.failed += 1;
            self.replayed.first_failure.get_or_insert(error);
        }
    }
}
