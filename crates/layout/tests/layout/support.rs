//! Random geometries, the same for the same seed.

use flashscope_device::Bytes;
use flashscope_layout::Purpose;
use flashscope_layout::filesystem::{ExtMake, Request, Space};
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::SplitMix64;

/// How many times as many cases are tried: 1, or what `cargo xtask validate layout` asks for.
pub fn sweep() -> u64 {
    std::env::var("FLASHSCOPE_LAYOUT_SWEEP").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// A small generator, so that a test names its seed and repeats.
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// A random erase block: 1, 3, 5 or 7 times a power of two, from 128 KiB to 64 MiB.
pub fn erase_block(random: &mut Random) -> Bytes {
    loop {
        let size = Bytes::new([1, 3, 5, 7][random.below(4) as usize] << (15 + random.below(12)));
        if (Bytes::kib(128)..=Bytes::mib(64)).contains(&size) {
            return size;
        }
    }
}

/// A random request: capacity from 64 MB to `most`, spread evenly over its logarithm.
pub fn request(random: &mut Random, most: u64) -> Request {
    let least = 64_000_000_f64;
    let share = random.below(1 << 20) as f64 / f64::from(1 << 20);
    let capacity = Bytes::new((least * (most as f64 / least).powf(share)) as u64).round_down(Bytes::kib(4));
    let logical_block = if random.below(10) == 0 { Bytes::kib(4) } else { Bytes::new(512) };
    let erase_block = erase_block(random);
    Request {
        // The partition table, and the backup of a GPT at the end.
        space: Space {
            first: Bytes::mib(1),
            end: capacity.saturating_sub(Bytes::kib(132)).round_down(Bytes::kib(4)),
        },
        erase_block,
        logical_block,
        fat_area: (random.below(5) == 0).then_some(erase_block * 2),
        purpose: Purpose::ALL[random.below(6) as usize],
        cluster: None,
        has_journal: true,
        ext: ExtMake::Planned,
    }
}
