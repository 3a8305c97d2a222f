//! Requests per second of the virtual stick on one core. Targets: 10 M without merges, 2 M with a merge for
//! each request, 1 M for a page-mapped stick with constant garbage collection.

use divan::Bencher;
use divan::counter::ItemsCount;
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};
use flashscope_sim::profile::{Basis, GcVictim, PageMapped, Policy, State};
use flashscope_sim::{Profile, VirtualStick, target};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const REQUESTS: u64 = 100_000;
const STICKS: [&str; 3] = ["patriot-xt-16g", "transcend-8g", "generic-2g"];

fn main() {
    divan::main();
}

/// Sequential writes over the whole stick, wrapping around.
#[divan::bench(args = STICKS)]
fn sequential_64_kib_writes(bencher: Bencher, name: &str) {
    let length = Bytes::kib(64);
    serve(bencher, name, |step, capacity| {
        Op::write(ByteRange::new(length * (step % (capacity / length)), length), Pattern::new(7))
    });
}

/// Reads at random offsets.
#[divan::bench(args = STICKS)]
fn random_4_kib_reads(bencher: Bencher, name: &str) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let length = Bytes::kib(4);
    serve(bencher, name, |_, capacity| {
        Op::read(ByteRange::new(length * below(&mut random, capacity / length), length))
    });
}

/// Round-robin over one erase block more than can be open.
#[divan::bench]
fn thrashing_4_mib_blocks(bencher: Bencher) {
    let (block, length) = (Bytes::mib(4), Bytes::kib(64));
    serve(bencher, "transcend-8g", |step, _| {
        let (unit, inside) = (step % 6, step / 6 % (block / length));
        Op::write(ByteRange::new(block * (3 * unit + 1) + length * inside, length), Pattern::new(7))
    });
}

/// Single pages at random offsets of a page-mapped stick in steady state.
#[divan::bench]
fn random_page_writes_with_gc(bencher: Bencher) {
    let Some(mut stick) = page_mapped() else { return };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let length = stick.profile().ftl.page;
    serve_on(bencher, &mut stick, |_, capacity| {
        let page = below(&mut random, capacity / length);
        Op::write(ByteRange::new(length * page, length), Pattern::new(7))
    });
}

fn page_mapped() -> Option<VirtualStick> {
    let mut profile = Profile::builtin("transcend-8g").ok()?;
    profile.ftl.fat_area = Bytes::ZERO;
    profile.state = State::Steady;
    profile.policy = Policy::PageMapped(PageMapped {
        basis: Basis::Assumed,
        over_provisioning: 0.07,
        victim: GcVictim::Greedy,
        hot_cold: false,
        background_share: 0.0,
        copy_page_us: 1000.0,
        erase_us: 3000.0,
    });
    profile.check().ok()?;
    Some(VirtualStick::new(&profile, 1))
}

/// Reads and writes of 4 KiB to 256 KiB at random offsets, half of each.
#[divan::bench(args = STICKS)]
fn mixed_requests(bencher: Bencher, name: &str) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    serve(bencher, name, |_, capacity| {
        let length = Bytes::kib(4 << below(&mut random, 7));
        let offsets = capacity.saturating_sub(length) / Bytes::kib(4);
        let range = ByteRange::new(Bytes::kib(4) * below(&mut random, offsets), length);
        if below(&mut random, 2) == 0 { Op::read(range) } else { Op::write(range, Pattern::new(7)) }
    });
}

/// A number below `count`: the high half of a product (D. Lemire, "Fast random integer generation in an
/// interval", 2019).
fn below(random: &mut Xoshiro256PlusPlus, count: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(count)) >> 64) as u64
}

/// Serves the requests that `op` makes from each step and the stick's capacity.
fn serve(bencher: Bencher, name: &str, op: impl FnMut(u64, Bytes) -> Op) {
    let Ok(mut stick) = target::open(name) else { return };
    serve_on(bencher, &mut stick, op);
}

fn serve_on(bencher: Bencher, stick: &mut VirtualStick, mut op: impl FnMut(u64, Bytes) -> Op) {
    let capacity = stick.capabilities().capacity;
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        for step in 0..REQUESTS {
            assert!(stick.run(op(step, capacity)).is_ok_and(|completion| completion.outcome.is_ok()));
        }
    });
}
