//! The mean of what a byte takes in a stream, and how well it is known: from parts of the stream, so that drift and stalls
//! widen its error (the method of batch means: A. Law, "Simulation Modeling and Analysis", 9.5.3).

use super::slowdown::Stretch;
use super::statistics::count;

/// The stream is cut into so many parts to see how much they differ.
pub const BATCHES: usize = 12;
/// Student's t for 95 % with eleven degrees of freedom.
pub const STUDENT_95: f64 = 2.2;

/// The mean of what a byte takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean over all bytes.
    pub seconds_per_byte: f64,
    /// Its standard error as a share of it.
    pub error: f64,
    /// How far its two halves are apart, as a share of it.
    pub halves: f64,
    /// What all bytes took.
    pub seconds: f64,
    /// How many bytes.
    pub bytes: f64,
}

impl Mean {
    /// The mean of a stream; `None` if it has too few stretches, or took no time.
    pub fn of(stream: &[Stretch]) -> Option<Self> {
        if stream.len() < BATCHES {
            return None;
        }
        let parts = stream.chunks(stream.len().div_ceil(BATCHES)).map(seconds_per_byte);
        let parts: Vec<f64> = parts.collect();
        let all = seconds_per_byte(stream);
        let spread = parts.iter().map(|part| (part - all).powi(2)).sum::<f64>() / count(parts.len() - 1);
        let (first, second) = stream.split_at(stream.len() / 2);
        let bytes = stream.iter().map(|stretch| stretch.bytes).sum::<f64>();
        (all > 0.0).then(|| Self {
            seconds_per_byte: all,
            error: (spread / count(parts.len())).sqrt() / all,
            halves: (seconds_per_byte(first) - seconds_per_byte(second)).abs() / all,
            seconds: all * bytes,
            bytes,
        })
    }
}

/// The mean over all bytes.
fn seconds_per_byte(stretches: &[Stretch]) -> f64 {
    let bytes: f64 = stretches.iter().map(|each| each.bytes).sum();
    stretches.iter().map(|each| each.bytes * each.seconds_per_byte).sum::<f64>() / bytes.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_differ_widen_the_error_and_few_tell_nothing() {
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
}
