//! One run of a procedure: device, observer and random state.

use std::time::Duration;

use flashscope_device::layer::Cost;
use flashscope_device::{
    ByteRange, Bytes, Device, DeviceError, DeviceExt, Instant, Op, Pattern, RequestError,
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use flashscope_measure::{Event, Observer};
use flashscope_record::observation::{Cause, Order, StopReason};

/// The reason for an early end.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stop {
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl Stop {
    pub(super) fn reason(&self) -> StopReason {
        match self {
            Self::Device(error) => StopReason::from(error),
            Self::Request(error) => StopReason::Failed { error: error.to_string() },
        }
    }

    pub(super) fn cause(&self) -> Cause {
        match self {
            Self::Device(error) => Cause::from(error),
            Self::Request(_) => Cause::Device,
        }
    }
}

pub(super) struct Session<'a> {
    pub(super) device: &'a mut dyn Device,
    observer: &'a mut dyn Observer,
    random: Xoshiro256PlusPlus,
    pattern: Pattern,
    row_end: Option<Bytes>,
    requests: u64,
    cost: Cost,
    began_at: Instant,
}

impl<'a> Session<'a> {
    pub(super) fn new(device: &'a mut dyn Device, observer: &'a mut dyn Observer, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let began_at = device.now();
        Self {
            device,
            observer,
            random,
            pattern: Pattern::new(seed),
            row_end: None,
            requests: 0,
            cost: Cost::default(),
            began_at,
        }
    }

    /// Reads a range and returns its latency.
    pub(super) fn read(&mut self, range: ByteRange) -> Result<Duration, Stop> {
        self.run(Op::read(range))
    }

    /// Writes a range, split at the device's largest request.
    pub(super) fn write(&mut self, range: ByteRange) -> Result<(), Stop> {
        let piece_max = self.device.capabilities().max_request;
        let mut offset = range.offset;
        while offset < range.end() {
            let length = piece_max.min(range.end() - offset);
            self.run(Op::write(ByteRange::new(offset, length), self.pattern))?;
            offset += length;
        }
        Ok(())
    }

    fn run(&mut self, op: Op) -> Result<Duration, Stop> {
        let (kind, range) = (op.kind(), op.range());
        let completion = self.device.run(op)?;
        self.requests += 1;
        self.cost.count(kind, range.map_or(Bytes::ZERO, |range| range.length));
        let device_time = completion.completed_at.since(self.began_at);
        self.observer.event(Event::Progress {
            requests: self.requests,
            writes: self.cost.writes,
            bytes_written: self.cost.bytes_written,
            bytes_read: self.cost.bytes_read,
            device_time,
        });
        let latency = completion.latency();
        completion.outcome?;
        Ok(latency)
    }

    /// Device time.
    pub(super) fn now(&self) -> Instant {
        self.device.now()
    }

    /// Starts a row: new data, and the offsets inside a unit in write order.
    pub(super) fn begin_row(&mut self, erase_block: Bytes, request: Bytes, order: Order) -> Vec<Bytes> {
        self.pattern = self.pattern.next_generation();
        let mut offsets: Vec<Bytes> = (0..erase_block / request).map(|index| request * index).collect();
        if order == Order::Random {
            self.shuffle(&mut offsets, request);
        }
        self.row_end = offsets.last().map(|offset| *offset + request);
        offsets
    }

    /// Shuffles until no request continues its predecessor, within this row or from the previous row.
    ///
    /// To a stick, two such requests are sequential writing. About one shuffle in three has none, at any
    /// length.
    fn shuffle(&mut self, offsets: &mut [Bytes], request: Bytes) {
        if offsets.len() < 2 {
            return;
        }
        loop {
            for last in (1..offsets.len()).rev() {
                let chosen = (u128::from(self.random.next_u64()) * (last as u128 + 1)) >> 64;
                offsets.swap(last, usize::try_from(chosen).unwrap_or(last));
            }
            let continues = |pair: &[Bytes]| pair[0] + request == pair[1];
            let continues_row = self.row_end == offsets.first().copied();
            if !continues_row && !offsets.windows(2).any(continues) {
                return;
            }
        }
    }
}
