//! How many requests a second the virtual stick serves on one core. Target: 1 M.

use divan::Bencher;
use divan::counter::ItemsCount;
use flashscope_device::{ByteRange, Bytes, DeviceExt, Op, Pattern};
use flashscope_sim::target;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const REQUESTS: usize = 100_000;

fn main() {
    divan::main();
}

/// Reads and writes of 4 KiB to 256 KiB, half of each, anywhere on the stick.
fn mixed() -> Vec<Op> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut draw = |below: u64| random.next_u64() % below;
    (0..REQUESTS)
        .map(|_| {
            let length = Bytes::kib(4 << draw(7));
            let offset = Bytes::kib(4) * draw(Bytes::gib(14) / Bytes::kib(4));
            let range = ByteRange::new(offset, length);
            if draw(2) == 0 { Op::read(range) } else { Op::write(range, Pattern::new(7)) }
        })
        .collect()
}

#[divan::bench(args = ["patriot-xt-16g", "transcend-8g", "generic-2g"])]
fn mixed_requests(bencher: Bencher, name: &str) {
    serve(bencher, name, &mixed());
}

fn serve(bencher: Bencher, name: &str, ops: &[Op]) {
    let Ok(mut stick) = target::open(&format!("{name}?capacity=15GiB")) else { return };
    bencher.counter(ItemsCount::new(ops.len())).bench_local(|| {
        for op in ops {
            assert!(stick.run(op.clone()).is_ok_and(|completion| completion.outcome.is_ok()));
        }
    });
}
