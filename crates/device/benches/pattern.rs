//! Throughput of filling and checking the data pattern, in bytes per second on one core. Target: 8 GiB/s
//! each.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use flashscope_device::{Buffer, Bytes, Lba, Pattern};

const SIZES: [u64; 3] = [4 << 10, 128 << 10, 1 << 20];

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES)]
fn fill(bencher: Bencher, bytes: u64) {
    let mut buffer = Buffer::zeroed(Bytes::new(bytes));
    bencher
        .counter(BytesCount::new(bytes))
        .bench_local(|| Pattern::new(7).fill(black_box(Lba(99)), &mut buffer));
}

#[divan::bench(args = SIZES)]
fn check(bencher: Bencher, bytes: u64) {
    let mut buffer = Buffer::zeroed(Bytes::new(bytes));
    Pattern::new(7).fill(Lba(99), &mut buffer);
    bencher
        .counter(BytesCount::new(bytes))
        .bench_local(|| assert!(Pattern::new(7).check(black_box(Lba(99)), &buffer).is_right()));
}
