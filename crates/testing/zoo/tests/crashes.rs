//! 60 crashes: after restoring, every byte is as before. `cargo xtask crash` runs more.

use flashscope_zoo::{Crash, CrashCase};

#[test]
fn device_is_bit_identical_after_60_crashes() {
    let (mut cut, mut cut_again) = (0, 0);
    // Seeds whose draws cut many restores.
    for index in 0..60 {
        let case = CrashCase { seed: 1 + index, crash: Crash::ALL[index as usize % Crash::ALL.len()] };
        let outcome = case.run().unwrap();
        assert!(outcome.is_identical, "{case:?}: {outcome:?}");
        cut += u64::from(outcome.is_cut);
        cut_again += u64::from(outcome.restores_cut > 0);
    }
    assert!(cut >= 20 && cut_again >= 10, "{cut} runs and {cut_again} restores were cut");
}
