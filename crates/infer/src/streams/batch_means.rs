//! The mean time per byte of a stream, and its standard error by the method of batch means (A. Law,
//! "Simulation Modeling and Analysis", 9.5.3): the error comes from parts of the stream, so that drift and
//! stalls widen it.

use std::sync::LazyLock;

use crate::statistics::{count, student_quantile};
use crate::streams::slowdown::Stretch;

/// The number of parts that a stream is cut into. Guess: enough for a standard error, few enough that each
/// part holds several stalls.
pub const BATCHES: usize = 12;
/// Degrees of freedom of the mean over the parts.
pub const FREEDOM: f64 = (BATCHES - 1) as f64;

/// Half the width of the 95 % interval of such a mean, in standard errors: Student's t with [`FREEDOM`]
/// degrees of freedom.
pub static STUDENT_95: LazyLock<f64> = LazyLock::new(|| student_quantile(FREEDOM, 0.975));

/// The mean time per byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean over all bytes.
    pub seconds_per_byte: f64,
    /// Its standard error as a share of it.
    pub error: f64,
    /// The difference between its two halves, as a share of it.
    pub halves: f64,
    /// The time of all bytes.
    pub seconds: f64,
    /// How many bytes.
    pub bytes: f64,
    /// How many parts the error comes from.
    pub parts: usize,
}

impl Mean {
    /// Half the width of the 95 % interval, as a share of the mean: Student's t for the number of parts.
    pub fn half_width(&self) -> f64 {
        self.error * self.student_95()
    }

    /// Half the width of the 95 % interval in standard errors: Student's t for the number of parts.
    pub fn student_95(&self) -> f64 {
        let few = || student_quantile(count(self.parts.saturating_sub(1).max(1)), 0.975);
        if self.parts == BATCHES { *STUDENT_95 } else { few() }
    }

    /// The mean of a stream of fewer stretches than [`BATCHES`]: each is a part. `None` of fewer than two.
    pub fn of_few(stream: &[Stretch]) -> Option<Self> {
        (stream.len() >= 2).then(|| Self::over(stream, stream.len()))?
    }

    /// The mean of a stream; `None` if it has too few stretches, or took no time.
    pub fn of(stream: &[Stretch]) -> Option<Self> {
        (stream.len() >= BATCHES).then(|| Self::over(stream, BATCHES))?
    }

    fn over(stream: &[Stretch], number: usize) -> Option<Self> {
        let (all, bytes) = (seconds_per_byte(stream), bytes_of(stream));
        let parts = equal_parts(stream, number);
        let [first, second] = parts_of_two(stream);
        (all > 0.0).then(|| Self {
            seconds_per_byte: all,
            error: error_of(&parts),
            halves: (first - second).abs() / all,
            seconds: all * bytes,
            bytes,
            parts: number,
        })
    }
}

/// The stream in `number` parts of equal bytes, each as one stretch.
pub fn equal_parts(stream: &[Stretch], number: usize) -> Vec<Stretch> {
    let whole =
        |part: &[Stretch]| Stretch { bytes: bytes_of(part), seconds_per_byte: seconds_per_byte(part) };
    parts(stream, number).into_iter().map(whole).collect()
}

/// The standard error of the mean over all bytes of these parts, as a share of it. Each part is weighted by
/// its bytes.
pub fn error_of(parts: &[Stretch]) -> f64 {
    let (all, bytes) = (seconds_per_byte(parts), bytes_of(parts));
    let weigh = |part: &Stretch| part.bytes / bytes * (part.seconds_per_byte - all).powi(2);
    let spread = parts.iter().map(weigh).sum::<f64>() / (count(parts.len()) - 1.0).max(1.0);
    spread.sqrt() / all
}

/// The time per byte in either half of the bytes.
fn parts_of_two(stream: &[Stretch]) -> [f64; 2] {
    let halves = parts(stream, 2);
    let [first, second] = halves.as_slice() else { return [0.0; 2] };
    [first, second].map(|half| seconds_per_byte(half))
}

/// The stream in `number` parts of nearly equal bytes, made of whole stretches: a stretch belongs to the part
/// that holds its middle. Stretches may be of 1 MiB at first and of hundreds later, so that equal counts
/// would overweight the start.
fn parts(stream: &[Stretch], number: usize) -> Vec<&[Stretch]> {
    let (bytes, mut before) = (bytes_of(stream), 0.0);
    let part_of = |stretch: &Stretch| {
        let middle = before + stretch.bytes / 2.0;
        before += stretch.bytes;
        (middle / bytes * count(number)).floor()
    };
    let part_numbers: Vec<f64> = stream.iter().map(part_of).collect();
    let mut rest = stream;
    let lengths = part_numbers.chunk_by(|one, next| one.total_cmp(next).is_eq()).map(<[f64]>::len);
    lengths
        .map(|length| {
            let (part, after) = rest.split_at(length);
            rest = after;
            part
        })
        .collect()
}

fn bytes_of(stretches: &[Stretch]) -> f64 {
    stretches.iter().map(|each| each.bytes).sum()
}

/// The mean over all bytes.
fn seconds_per_byte(stretches: &[Stretch]) -> f64 {
    let took: f64 = stretches.iter().map(|each| each.bytes * each.seconds_per_byte).sum();
    took / bytes_of(stretches).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_95_is_the_exact_quantile() {
        assert!((*STUDENT_95 - 2.200_985).abs() < 1e-6, "{}", *STUDENT_95);
    }

    #[test]
    fn few_stretches_have_the_interval_of_as_many_samples() {
        let stream = [4.0, 5.0, 6.0].map(|seconds_per_byte| Stretch { bytes: 2.0, seconds_per_byte });
        let mean = Mean::of_few(&stream).unwrap();
        // The standard error is 1 / sqrt(3); Student's t of two degrees of freedom is 4.303.
        let half = 4.302_653 / 3.0_f64.sqrt() / 5.0;
        assert!((mean.half_width() - half).abs() < 1e-6, "{mean:?}");
        assert_eq!(Mean::of_few(&stream[..1]), None);
    }

    #[test]
    fn differing_parts_widen_the_error_and_too_few_stretches_have_no_mean() {
        let stream = |of: fn(usize) -> f64| -> Vec<Stretch> {
            (0..48).map(|index| Stretch { bytes: 2.0, seconds_per_byte: of(index) }).collect()
        };
        let even = Mean::of(&stream(|_| 3.0)).unwrap();
        assert!((even.seconds_per_byte - 3.0).abs() < 1e-12 && even.error < 1e-12 && even.halves < 1e-12);
        assert!((even.seconds - 288.0).abs() < 1e-9);
        let drift = Mean::of(&stream(|index| 3.0 + count(index))).unwrap();
        assert!(drift.error > 0.1 && drift.halves > 0.5, "{drift:?}");
        assert_eq!(Mean::of(&stream(|_| 3.0)[..BATCHES - 1]), None);
        assert_eq!(Mean::of(&stream(|_| 0.0)), None);
    }

    #[test]
    fn parts_hold_equal_bytes_for_stretches_of_any_size() {
        // Small stretches, every 16th of which stalls, and large ones that hold as many stalls for their
        // bytes.
        let small = (0..256).map(|index| if index % 16 == 15 { 18.0 } else { 2.0 });
        let large = (0..64).map(|_| 3.0);
        let stream: Vec<Stretch> = small
            .map(|seconds_per_byte| Stretch { bytes: 1.0, seconds_per_byte })
            .chain(large.map(|seconds_per_byte| Stretch { bytes: 64.0, seconds_per_byte }))
            .collect();
        let mean = Mean::of(&stream).unwrap();
        assert!(
            (mean.seconds_per_byte - 3.0).abs() < 1e-12 && mean.error < 1e-3 && mean.halves < 1e-3,
            "{mean:?}"
        );
        let small_first: Vec<Stretch> = (0..100)
            .map(|index| Stretch {
                bytes: if index < 50 { 1.0 } else { 99.0 },
                seconds_per_byte: if index < 50 { 2.0 } else { 3.0 },
            })
            .collect();
        let mean = Mean::of(&small_first).unwrap();
        assert!(mean.error < 0.01, "a hundredth of the bytes: {mean:?}");
        assert_eq!(parts(&small_first, BATCHES).len(), BATCHES);
    }
}
