//! Experiments with known effects.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ContinuousCDF, Normal};

use super::*;

const ALIGNMENT: Change = Change { factor: 0, to: 1 };
const STRIPE: Change = Change { factor: 1, to: 1 };
const FILESYSTEM: Change = Change { factor: 2, to: 1 };

fn factor(name: &str, levels: [&str; 2]) -> Factor {
    Factor { name: name.to_owned(), levels: levels.map(str::to_owned).to_vec(), is_named_by_levels: false }
}

fn factors() -> Vec<Factor> {
    vec![
        factor("alignment", ["sector 63", "erase block"]),
        factor("stripe", ["none", "erase block"]),
        factor("filesystem", ["vfat", "ext4"]),
    ]
}

/// All cells that exist: vfat has no stripe.
const CELLS: [[usize; 3]; 6] = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]];

/// The true logarithm of a cell's time: ext4 gains from alignment and stripe, most from both.
fn log_seconds([alignment, stripe, filesystem]: [usize; 3]) -> f64 {
    let (a, s, f) = (alignment as f64, stripe as f64, filesystem as f64);
    5.0 - 0.05 * a - 1.4 * f - 0.1 * a * f - 0.2 * s - 0.5 * a * s
}

/// Every effect that exists, with the logarithm of its true ratio.
fn truths() -> Vec<(EffectKind, f64)> {
    let time = |cell| log_seconds(cell);
    let gain = |from, to| time(from) - time(to);
    let mean = |a: f64, b: f64| f64::midpoint(a, b);
    let align_vfat = gain([0, 0, 0], [1, 0, 0]);
    let align_ext4 = gain([0, 0, 1], [1, 0, 1]);
    let align_striped = gain([0, 1, 1], [1, 1, 1]);
    let stripe = gain([0, 0, 1], [0, 1, 1]);
    let both = gain([0, 0, 1], [1, 1, 1]);
    let ext4 = gain([0, 0, 0], [0, 0, 1]);
    let alone = |change, without| EffectKind::Alone { change, without };
    vec![
        (EffectKind::Main(ALIGNMENT), (align_vfat + align_ext4 + align_striped) / 3.0),
        (EffectKind::Main(STRIPE), mean(stripe, gain([1, 0, 1], [1, 1, 1]))),
        (EffectKind::Main(FILESYSTEM), mean(ext4, gain([1, 0, 0], [1, 0, 1]))),
        (alone(ALIGNMENT, STRIPE), align_ext4),
        (alone(STRIPE, ALIGNMENT), stripe),
        (EffectKind::Both(ALIGNMENT, STRIPE), both),
        (EffectKind::Interaction(ALIGNMENT, STRIPE), both - align_ext4 - stripe),
        (alone(ALIGNMENT, FILESYSTEM), align_vfat),
        (alone(FILESYSTEM, ALIGNMENT), ext4),
        (EffectKind::Both(ALIGNMENT, FILESYSTEM), gain([0, 0, 0], [1, 0, 1])),
        (EffectKind::Interaction(ALIGNMENT, FILESYSTEM), align_ext4 - align_vfat),
    ]
}

struct Noise(Xoshiro256PlusPlus);

impl Noise {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self, deviation: f64) -> f64 {
        deviation * Normal::standard().inverse_cdf(self.uniform())
    }

    /// The rows of these cells in these rounds; rounds differ, and each cell has its own noise.
    fn rows(&mut self, cells: &[[usize; 3]], blocks: u32, deviation: impl Fn([usize; 3]) -> f64) -> Vec<Row> {
        let mut rows = Vec::new();
        for block in 0..blocks {
            let shift = self.normal(0.1);
            for cell in cells {
                let log_seconds = log_seconds(*cell) + shift + self.normal(deviation(*cell));
                rows.push(Row { levels: cell.to_vec(), block, seconds: log_seconds.exp() });
            }
        }
        rows
    }
}

/// The share of intervals that hold the truth, of each effect, over experiments that `rows` makes.
fn coverage(experiments: u32, seed: u64, rows: impl Fn(&mut Noise, u32) -> Vec<Row>) -> Vec<f64> {
    let (mut noise, truths, factors) = (Noise::new(seed), truths(), factors());
    let mut hits = vec![0.0; truths.len()];
    for index in 0..experiments {
        let result = factorial(&factors, &rows(&mut noise, index), 0.0).unwrap();
        for (hit, (kind, truth)) in hits.iter_mut().zip(&truths) {
            let ratio = result.effect(kind).unwrap().outcome.unwrap();
            *hit += f64::from(u8::from((ratio.low..=ratio.high).contains(&truth.exp())));
        }
    }
    hits.iter().map(|hit| hit / f64::from(experiments)).collect()
}

fn assert_covers(name: &str, coverage: &[f64]) {
    for (share, (kind, _)) in coverage.iter().zip(truths()) {
        assert!((0.93..=0.97).contains(share), "{name}, {kind:?}: {share}");
    }
}

/// Noise of 1 to 10 %, as the experiment has it.
fn noise_of(index: u32) -> f64 {
    0.01 * f64::from(1 + index % 10)
}

#[test]
fn intervals_of_equal_noise_cover_95_percent() {
    for (blocks, seed) in [(3, 1001), (4, 1002), (5, 1003), (6, 1004)] {
        let covered = coverage(4000, seed, |noise, index| noise.rows(&CELLS, blocks, |_| noise_of(index)));
        assert_covers(&format!("{blocks} rounds"), &covered);
    }
}

#[test]
fn intervals_of_unequal_noise_cover_95_percent() {
    for (blocks, seed) in [(3, 2001), (4, 2002), (5, 2003), (6, 2004)] {
        let covered = coverage(4000, seed, |noise, index| {
            let repeats = 0.05 * noise_of(index);
            noise.rows(&CELLS, blocks, |cell| if cell[2] == 0 { repeats } else { noise_of(index) })
        });
        assert_covers(&format!("{blocks} rounds, vfat repeats"), &covered);
    }
}

#[test]
fn intervals_of_unbalanced_cells_cover_95_percent() {
    // Each experiment lacks two of its trials, other ones each time, and has one cell twice in each round.
    let cells = [&CELLS[..], &[CELLS[4]]].concat();
    let covered = coverage(4000, 3001, |noise, index| {
        let mut rows = noise.rows(&cells, 4, |_| noise_of(index));
        for _ in 0..2 {
            let number = (noise.uniform() * rows.len() as f64) as usize;
            rows.remove(number);
        }
        rows
    });
    assert_covers("unbalanced", &covered);
}

#[test]
fn exact_times_give_the_true_ratios() {
    let rows = Noise::new(1).rows(&CELLS, 3, |_| 0.0);
    let result = factorial(&factors(), &rows, 0.0).unwrap();
    for (kind, truth) in truths() {
        let ratio = result.effect(&kind).unwrap().outcome.unwrap();
        assert!((ratio.ratio / truth.exp() - 1.0).abs() < 1e-9, "{kind:?}: {ratio:?}");
        assert!(ratio.high / ratio.low < 1.0 + 1e-6, "{kind:?}: {ratio:?}");
    }
}

/// The outcome of an effect of three rounds of these cells.
fn outcome(cells: &[[usize; 3]], kind: &EffectKind) -> Result<Ratio, UnknownEffect> {
    let rows = Noise::new(2).rows(cells, 3, |_| 0.02);
    factorial(&factors(), &rows, 0.0).unwrap().effect(kind).unwrap().outcome
}

#[test]
fn missing_cells_take_only_the_effects_that_need_them() {
    let rows = Noise::new(3).rows(&CELLS, 3, |_| 0.02);
    let result = factorial(&factors(), &rows, 0.0).unwrap();
    let unknown: Vec<&EffectKind> =
        result.effects.iter().filter(|effect| effect.outcome.is_err()).map(|effect| &effect.kind).collect();
    assert_eq!(unknown, [&EffectKind::Interaction(STRIPE, FILESYSTEM)]);
    let stripe = result.effect(&EffectKind::Main(STRIPE)).unwrap();
    let held = |factor, levels: &[usize]| Held { factor, levels: levels.to_vec() };
    assert_eq!(stripe.held, [held(0, &[0, 1]), held(2, &[1])], "on ext4, the mean over both alignments");
    let alone = EffectKind::Alone { change: ALIGNMENT, without: STRIPE };
    assert_eq!(result.effect(&alone).unwrap().held, [held(2, &[1])]);
}

#[test]
fn factors_that_only_change_together_are_unknown() {
    let together = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]];
    let main = |change| outcome(&together, &EffectKind::Main(change));
    assert_eq!(main(ALIGNMENT), Err(UnknownEffect::NoCells));
    assert_eq!(main(STRIPE), Err(UnknownEffect::NoCells));
    assert!(main(FILESYSTEM).is_ok());
}

#[test]
fn a_level_without_trials_is_unknown() {
    assert_eq!(outcome(&CELLS[..2], &EffectKind::Main(FILESYSTEM)), Err(UnknownEffect::NoCells));
}

#[test]
fn one_round_is_too_few() {
    let rows = Noise::new(4).rows(&CELLS, 1, |_| 0.02);
    let result = factorial(&factors(), &rows, 0.1).unwrap();
    assert_eq!(result.deviation, None);
    let alone = EffectKind::Alone { change: ALIGNMENT, without: STRIPE };
    assert_eq!(result.effect(&alone).unwrap().outcome, Err(UnknownEffect::NoSpread));
}

#[test]
fn cells_that_share_no_round_are_not_compared() {
    let row = |level, block, seconds| Row { levels: vec![level], block, seconds };
    let factors = [factor("alignment", ["sector 63", "erase block"])];
    let rows = [row(0, 1, 10.0), row(0, 2, 10.1), row(1, 3, 5.0), row(1, 4, 5.1)];
    let apart = factorial(&factors, &rows, 0.0).unwrap();
    assert_eq!(apart.effects[0].outcome, Err(UnknownEffect::NotConnected));
    let joined = [&rows[..], &[row(1, 1, 5.0), row(1, 2, 5.0)]].concat();
    let ratio = factorial(&factors, &joined, 0.0).unwrap().effects[0].outcome.unwrap();
    assert!((ratio.ratio - 2.01).abs() < 0.01, "{ratio:?}");
}

#[test]
fn no_interval_is_narrower_than_the_error_of_the_recordings() {
    // A virtual stick repeats exactly.
    let rows = Noise::new(5).rows(&CELLS, 3, |_| 0.0);
    let result = factorial(&factors(), &rows, 0.05).unwrap();
    for (kind, truth) in truths() {
        let Ratio { low, high, .. } = result.effect(&kind).unwrap().outcome.unwrap();
        let error =
            if matches!(kind, EffectKind::Interaction(..)) { 1.05_f64.powf(2_f64.sqrt()) } else { 1.05 };
        assert!((high / truth.exp() / error - 1.0).abs() < 1e-6, "{kind:?}: {high}");
        assert!((low * error / truth.exp() - 1.0).abs() < 1e-6, "{kind:?}: {low}");
    }
    let noisy = Noise::new(5).rows(&CELLS, 3, |_| 0.05);
    let width = |error| {
        let Ratio { low, high, .. } =
            factorial(&factors(), &noisy, error).unwrap().effects[0].outcome.unwrap();
        high / low
    };
    assert!(width(0.05) > width(0.0) && width(0.05) > 1.05_f64.powi(2));
}

#[test]
fn a_factor_of_three_levels_compares_each_with_the_first() {
    let mut three = factor("filesystem", ["vfat", "ext4"]);
    three.levels.push("f2fs".to_owned());
    let row = |level, block, seconds| Row { levels: vec![level], block, seconds };
    let rows: Vec<Row> =
        (0..3).flat_map(|block| [row(0, block, 8.0), row(1, block, 4.0), row(2, block, 2.0)]).collect();
    let result = factorial(&[three], &rows, 0.0).unwrap();
    let ratios: Vec<f64> = result.effects.iter().map(|effect| effect.outcome.unwrap().ratio).collect();
    assert!((ratios[0] - 2.0).abs() < 1e-9 && (ratios[1] - 4.0).abs() < 1e-9, "{ratios:?}");
    assert_eq!(result.effects.len(), 2, "two changes of one factor make no pair");
}

#[test]
fn data_out_of_range_is_refused() {
    let refused = |factors: &[Factor], rows: &[Row], error| factorial(factors, rows, error).unwrap_err();
    let rows = Noise::new(6).rows(&CELLS, 2, |_| 0.0);
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut rows = rows.clone();
        rows[7].seconds = seconds;
        let error = refused(&factors(), &rows, 0.0);
        assert!(matches!(error, FactorialError::Time { row: 8, .. }), "{error}");
    }
    let mut other = rows.clone();
    other[0].levels[1] = 2;
    assert_eq!(refused(&factors(), &other, 0.0), FactorialError::Levels { row: 1 });
    other[0].levels.pop();
    assert_eq!(refused(&factors(), &other, 0.0), FactorialError::Levels { row: 1 });
    assert_eq!(refused(&[], &rows, 0.0), FactorialError::NoFactor);
    assert_eq!(refused(&factors(), &[], 0.0), FactorialError::NoRow);
    assert_eq!(refused(&factors(), &rows, -0.1), FactorialError::Error(-0.1));
    let mut one = factors();
    one[1].levels.pop();
    assert_eq!(refused(&one, &rows, 0.0), FactorialError::OneLevel { name: "stripe".to_owned() });
}
