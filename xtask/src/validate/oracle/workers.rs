//! Runs shards on all processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, anyhow};

use super::layers::Layer;
use super::shard::Shard;
use super::tally::Tally;

const SHARD_OPERATIONS: u64 = 1_000_000;

/// Runs this number of operations on a layer; an error names the seed of the failing shard.
pub fn run(layer: &Layer, operations: u64, seed: u64) -> anyhow::Result<Tally> {
    let next = AtomicU64::new(0);
    let worker = || {
        let tally = work(layer, operations, seed, &next);
        if tally.is_err() {
            next.store(u64::MAX / 2, Ordering::Relaxed);
        }
        tally
    };
    let count = thread::available_parallelism().map_or(1, NonZero::get);
    let mut total = Tally::default();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            let tally = worker.join().map_err(|_| anyhow!("{}: a worker panicked", layer.name))??;
            total.add(&tally);
        }
        Ok(total)
    })
}

/// Runs the next free shard until all shards are done.
fn work(layer: &Layer, operations: u64, seed: u64, next: &AtomicU64) -> anyhow::Result<Tally> {
    let mut total = Tally::default();
    loop {
        let before = next.fetch_add(1, Ordering::Relaxed).saturating_mul(SHARD_OPERATIONS);
        if before >= operations {
            return Ok(total);
        }
        let shard_seed = seed.wrapping_add(before / SHARD_OPERATIONS);
        let count = SHARD_OPERATIONS.min(operations - before);
        let tally = Shard::new(layer, shard_seed).and_then(|shard| shard.run(count));
        total.add(&tally.with_context(|| format!("{}, seed {shard_seed}", layer.name))?);
    }
}
