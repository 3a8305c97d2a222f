//! Random reads of 4 KiB through the device contract: our side of the comparison with fio.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use flashscope_device::{ByteRange, Bytes, Device, Op, Tag};
use flashscope_linux::{OpenOptions, open};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};

use super::row::{Sample, per_request};

/// The size of each read.
pub const READ: Bytes = Bytes::kib(4);

/// Keeps `queue_depth` reads in flight for `duration`, at offsets sampled uniformly from the whole device.
pub fn measure(path: &Path, queue_depth: u32, duration: Duration, seed: u64) -> Result<Sample> {
    let mut device = open(path, &OpenOptions { queue_depth, ..OpenOptions::default() })?;
    let offsets = RandomOffsets::of(&device, seed);
    let cpu_before = process_cpu();
    let (requests, elapsed) = keep_reading(&mut device, offsets, duration)?;
    let cpu = per_request(process_cpu() - cpu_before, requests.into());
    Ok(Sample { rate: f64::from(requests) / elapsed.as_secs_f64(), cpu })
}

/// The number of completed reads, and their device time.
fn keep_reading(
    device: &mut impl Device,
    mut offsets: RandomOffsets,
    duration: Duration,
) -> Result<(u32, Duration)> {
    let started_at = device.now();
    for _ in 0..device.capabilities().queue_depth {
        device.submit(Tag::default(), offsets.next_read())?;
    }
    let mut completed = 0;
    loop {
        let completion = device.wait()?.context("a read did not complete")?;
        completion.outcome?;
        completed += 1;
        let elapsed = completion.completed_at.since(started_at);
        if elapsed >= duration {
            return Ok((completed, elapsed));
        }
        device.submit(Tag::default(), offsets.next_read())?;
    }
}

/// The offsets of the reads.
struct RandomOffsets {
    random: Xoshiro256PlusPlus,
    count: u64,
}

impl RandomOffsets {
    fn of(device: &impl Device, seed: u64) -> Self {
        let count = device.capabilities().capacity / READ;
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed), count }
    }

    /// A read at an offset that is sampled uniformly: the high half of a product (D. Lemire, "Fast random
    /// integer generation in an interval", 2019).
    fn next_read(&mut self) -> Op {
        let index = ((u128::from(self.random.next_u64()) * u128::from(self.count)) >> 64) as u64;
        Op::read(ByteRange::new(READ * index, READ))
    }
}

/// CPU time of this process and its threads, in user space and in the kernel.
pub fn process_cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
