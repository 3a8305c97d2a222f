//! The mean of what a byte takes in a stream, and how well it is known: from parts of the stream, so that drift and stalls
//! widen its error (the method of batch means: A. Law, "Simulation Modeling and Analysis", 9.5.3).

use crate::statistics::count;
use crate::streams::slowdown::Stretch;

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
        let (all, bytes) = (seconds_per_byte(stream), bytes_of(stream));
        let parts = equal_parts(stream, BATCHES);
        let [first, second] = parts_of_two(stream);
        (all > 0.0).then(|| Self {
            seconds_per_byte: all,
            error: error_of(&parts),
            halves: (first - second).abs() / all,
            seconds: all * bytes,
            bytes,
        })
    }
}

/// The stream in so many parts of equal bytes, each as one stretch.
pub fn equal_parts(stream: &[Stretch], number: usize) -> Vec<Stretch> {
    let whole =
        |part: &[Stretch]| Stretch { bytes: bytes_of(part), seconds_per_byte: seconds_per_byte(part) };
    parts(stream, number).into_iter().map(whole).collect()
}

/// The standard error of the mean over all bytes of these parts, as a share of it. A part of fewer bytes tells less: each counts by what it
/// holds.
pub fn error_of(parts: &[Stretch]) -> f64 {
    let (all, bytes) = (seconds_per_byte(parts), bytes_of(parts));
    let weigh = |part: &Stretch| part.bytes / bytes * (part.seconds_per_byte - all).powi(2);
    let spread = parts.iter().map(weigh).sum::<f64>() / (count(parts.len()) - 1.0).max(1.0);
    spread.sqrt() / all
}

/// What a byte takes in either half of the bytes.
fn parts_of_two(stream: &[Stretch]) -> [f64; 2] {
    let halves = parts(stream, 2);
    let [first, second] = halves.as_slice() else { return [0.0; 2] };
    [first, second].map(|half| seconds_per_byte(half))
}

/// The stream in so many parts of equal bytes, as nearly as whole stretches make them: a stretch belongs to the part in which its middle
/// lies. Stretches may be of a mebibyte at first and of hundreds later; parts of equally many would weigh the beginning.
fn parts(stream: &[Stretch], number: usize) -> Vec<&[Stretch]> {
    let (bytes, mut before) = (bytes_of(stream), 0.0);
    let part_of = |stretch: &Stretch| {
        let middle = before + stretch.bytes / 2.0;
        before += stretch.bytes;
        (middle / bytes * count(number)).floor()
    };
    let places: Vec<f64> = stream.iter().map(part_of).collect();
    let mut rest = stream;
    let lengths = places.chunk_by(|one, next| one.total_cmp(next).is_eq()).map(<[f64]>::len);
    lengths
        .map(|length| {
            let (part, behind) = rest.split_at(length);
            rest = behind;
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

    #[test]
    fn parts_hold_equal_bytes_however_large_the_stretches_are() {
        // Small stretches that stall now and then, and large ones that hold as many stalls for their bytes.
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
        let beginning: Vec<Stretch> = (0..100)
            .map(|index| Stretch {
                bytes: if index < 50 { 1.0 } else { 99.0 },
                seconds_per_byte: if index < 50 { 2.0 } else { 3.0 },
            })
            .collect();
        let mean = Mean::of(&beginning).unwrap();
        assert!(mean.error < 0.01, "a hundredth of the bytes: {mean:?}");
        assert_eq!(parts(&beginning, BATCHES).len(), BATCHES);
    }
}
