//! Each parser takes its samples, and a few hundred mutations of them. `cargo xtask fuzz` runs for longer.

use flashscope_fuzz::{Fuzzer, targets};

/// Mutated inputs for each parser. 200 take the whole suite a few seconds.
const INPUTS: u64 = 200;
const SEED: u64 = 1;

#[test]
fn no_parser_panics_or_allocates_without_bound() {
    for mut target in targets().unwrap() {
        let mut fuzzer = Fuzzer::new(SEED);
        fuzzer.samples(&mut target).unwrap_or_else(|crash| panic!("{crash}"));
        for _ in 0..INPUTS {
            fuzzer.step(&mut target).unwrap_or_else(|crash| panic!("{crash}"));
        }
    }
}
