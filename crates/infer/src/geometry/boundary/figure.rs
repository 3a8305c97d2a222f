//! The extra time of reads across a candidate's boundaries, by robust statistics, with its standard error.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::AlignSample;

use crate::statistics::robust::{FREEDOM, SCALE_MIN};
use crate::statistics::{count, median};
use crate::thresholds::{ITERATIONS, OUTLIER_RATIO};

/// The fewest pairs of samples that give the noise. Half of the pairs differ by less than the noise of one
/// sample; with eight pairs, all do so in one case of 256.
const PAIRS_MIN: usize = 8;
/// The median difference of two normal values, in standard deviations: 0.6745 times the square root of two.
const HALF_OF_DIFFERENCES: f64 = 0.954;
/// The scale of that distribution with the quartiles of a normal one: 0.6745 over 0.7649, the quartile of
/// Student's t with three degrees of freedom.
const SCALE: f64 = 0.88;
/// The efficiency of that distribution's centre under normal noise: 0.87 by the integral over a normal
/// density if the scale is known. Guess: one hundredth less, since the scale is estimated.
const EFFICIENCY: f64 = 0.86;
/// A sample beyond this many scales is an outlier. Guess.
const OUTLIER: f64 = 4.0;

/// One candidate's extra time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The candidate.
    pub candidate: Bytes,
    /// The extra time of a read across, seconds.
    pub extra_s: f64,
    /// The standard error of that, seconds.
    pub error_s: f64,
    /// The number of samples.
    pub samples: usize,
}

/// All candidates' extra times.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// One per candidate, ascending.
    pub each: Vec<Figure>,
    /// The median time of a read beside a boundary, seconds.
    pub read_s: f64,
    /// The deviation of a single sample, seconds.
    pub noise_s: f64,
    /// Whether reads do not depend on the offset, as far as many samples show.
    pub is_even: bool,
}

impl Figures {
    /// Of samples in any order; `None` if too few boundaries were read twice to know the noise.
    #[must_use]
    pub fn of(samples: &[AlignSample]) -> Option<Self> {
        let beside = |sample: &AlignSample| [sample.before.as_secs_f64(), sample.after.as_secs_f64()];
        let read_s = median(&samples.iter().flat_map(beside).collect::<Vec<_>>())?;
        let groups = by_candidate(&undisturbed(samples, read_s), read_s);
        let noise_s = noise(&groups)?.max(SCALE_MIN);
        let share = kept_share(&groups, noise_s);
        let figure = |(candidate, values): &(Bytes, Vec<f64>)| {
            let error_s = noise_s / (EFFICIENCY * share * count(values.len())).sqrt();
            Some(Figure {
                candidate: *candidate,
                extra_s: centre(values, noise_s * SCALE)?,
                error_s,
                samples: values.len(),
            })
        };
        Some(Self {
            each: groups.iter().filter_map(figure).collect(),
            read_s,
            noise_s,
            is_even: are_even(samples),
        })
    }

    /// The number of samples of all candidates.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.each.iter().map(|figure| figure.samples).sum()
    }
}

/// If more than this share of the reads takes that long, they are no outliers. Guess.
const OUTLIER_SHARE_MAX: f64 = 0.35;

/// The samples without outliers; all, if outliers are the rule.
fn undisturbed(samples: &[AlignSample], read_s: f64) -> Vec<AlignSample> {
    let across = across_s(samples);
    let outliers = |sample: &AlignSample| {
        let across_s = across.get(&sample.candidate).map_or(read_s, |across_s| across_s.max(read_s));
        let beside = [sample.before, sample.after].into_iter();
        let beside = beside.filter(|time| time.as_secs_f64() > OUTLIER_RATIO * read_s).count();
        beside + usize::from(sample.across.as_secs_f64() > OUTLIER_RATIO * across_s)
    };
    let all: usize = samples.iter().map(outliers).sum();
    if count(all) > OUTLIER_SHARE_MAX * count(3 * samples.len()) {
        return samples.to_vec();
    }
    samples.iter().copied().filter(|sample| outliers(sample) == 0).collect()
}

/// The lower quartile of reads across boundaries of each candidate, seconds. Of three samples that is the
/// fastest, so that two outliers do not count as a boundary.
fn across_s(samples: &[AlignSample]) -> BTreeMap<Bytes, f64> {
    let mut times: BTreeMap<Bytes, Vec<Duration>> = BTreeMap::new();
    for sample in samples {
        times.entry(sample.candidate).or_default().push(sample.across);
    }
    let lower_quartile_s = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times.get((times.len() - 1) / 4).map_or(0.0, Duration::as_secs_f64)
    };
    times.into_iter().map(|(candidate, times)| (candidate, lower_quartile_s(times))).collect()
}

/// The differences by candidate, each corrected for the drift of reads, which scales boundaries as well.
fn by_candidate(samples: &[AlignSample], read_s: f64) -> Vec<(Bytes, Vec<f64>)> {
    let local_s = local_read_s(samples);
    let steady = |(sample, local_s): (&AlignSample, f64)| {
        (sample.candidate, sample.difference() * if local_s > 0.0 { read_s / local_s } else { 1.0 })
    };
    let mut sorted: Vec<(Bytes, f64)> = samples.iter().zip(local_s).map(steady).collect();
    sorted.sort_by_key(|(candidate, _)| *candidate);
    let same = sorted.chunk_by(|a, b| a.0 == b.0);
    same.map(|group| (group[0].0, group.iter().map(|(_, difference)| *difference).collect())).collect()
}

/// The number of neighbouring samples that give the time of a read at that moment. Guess.
const NEIGHBOURS: usize = 20;

/// The median time of a read beside a boundary around the time of each sample, seconds.
fn local_read_s(samples: &[AlignSample]) -> Vec<f64> {
    let beside = |sample: &AlignSample| [sample.before.as_secs_f64(), sample.after.as_secs_f64()];
    let of_chunk = |chunk: &[AlignSample]| {
        let middle = median(&chunk.iter().flat_map(beside).collect::<Vec<_>>()).unwrap_or(0.0);
        vec![middle; chunk.len()]
    };
    samples.chunks(NEIGHBOURS).flat_map(of_chunk).collect()
}

/// The fewest samples that decide whether reads depend on the offset. Guess.
const EVENNESS_SAMPLES_MIN: usize = 800;
/// Reads do not depend on the offset if both sides agree at most this number of standard deviations more
/// often than independent reads. Guess.
const EVENNESS_DEVIATIONS_MAX: f64 = 1.0;

/// Whether the reads before and after a boundary are independent. If reads depend on the offset, as with
/// written areas beside blank ones, both sides of most boundaries are slow, or fast. The test counts how
/// often both lie on the same side of the local median (N. Blomqvist, "On a measure of dependence between two
/// random variables", Annals of Mathematical Statistics 21, 1950).
fn are_even(samples: &[AlignSample]) -> bool {
    let is_same = |(sample, local_s): (&AlignSample, f64)| {
        (sample.before.as_secs_f64() > local_s) == (sample.after.as_secs_f64() > local_s)
    };
    let same = samples.iter().zip(local_read_s(samples)).filter(|each| is_same(*each)).count();
    // A median has equally many values on either side, apart from the value itself.
    let expected_share = count(NEIGHBOURS - 1) / count(2 * NEIGHBOURS - 1);
    let all = count(samples.len());
    samples.len() >= EVENNESS_SAMPLES_MIN
        && count(same) - expected_share * all < EVENNESS_DEVIATIONS_MAX / 2.0 * all.sqrt()
}

/// The deviation of single samples, by differences between samples of one candidate, which contain no
/// boundary's step. `None` if too few candidates were read again.
fn noise(groups: &[(Bytes, Vec<f64>)]) -> Option<f64> {
    let apart = |(_, values): &(Bytes, Vec<f64>)| {
        values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect::<Vec<_>>()
    };
    let differences: Vec<f64> = groups.iter().flat_map(apart).collect();
    let typical = median(&differences).filter(|_| differences.len() >= PAIRS_MIN)?;
    Some(typical / HALF_OF_DIFFERENCES)
}

/// The share of samples that are not outliers.
fn kept_share(groups: &[(Bytes, Vec<f64>)], noise_s: f64) -> f64 {
    let mut kept = 0;
    let mut all = 0;
    for (_, values) in groups {
        let Some(centre) = centre(values, noise_s * SCALE) else { continue };
        kept += values.iter().filter(|value| (**value - centre).abs() <= OUTLIER * noise_s).count();
        all += values.len();
    }
    (count(kept) / count(all.max(1))).max(0.2)
}

/// The centre of a Student-t distribution of this scale, from the median on (K. Lange, R. Little and J.
/// Taylor, JASA 84, 1989).
fn centre(values: &[f64], scale: f64) -> Option<f64> {
    let mut centre = median(values)?;
    for _ in 0..ITERATIONS {
        let (mut sum, mut weights) = (0.0, 0.0);
        for value in values {
            let weight = 1.0 / (FREEDOM + ((value - centre) / scale).powi(2));
            sum += weight * value;
            weights += weight;
        }
        centre = sum / weights;
    }
    Some(centre)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn sample(candidate: Bytes, across_us: u64) -> AlignSample {
        let beside = Duration::from_micros(500);
        let across = Duration::from_micros(across_us);
        AlignSample { candidate, boundary: None, before: beside, across, after: beside }
    }

    #[test]
    fn an_outlier_moves_neither_the_figure_nor_the_noise() {
        let times = [598, 600, 602, 9_000, 601, 599, 600, 602, 598, 601];
        let samples: Vec<AlignSample> = times.map(|us| sample(Bytes::mib(4), us)).into();
        let figures = Figures::of(&samples).unwrap();
        let figure = figures.each[0];
        assert!((figure.extra_s - 100e-6).abs() < 2e-6, "{figure:?}");
        assert!(figure.error_s < 3e-6, "{figure:?}");
        assert!((figures.read_s - 500e-6).abs() < 1e-9);
    }

    #[test]
    fn dependence_on_the_offset_shows_on_both_sides_of_a_boundary() {
        let is_even = |differs_us: u64| {
            let mut draws = 7_u64;
            let mut jitter_us = || {
                draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (draws >> 33) % 400
            };
            let mut read = |offset: u64| {
                Duration::from_micros(
                    800 + jitter_us() + if offset.is_multiple_of(3) { differs_us } else { 0 },
                )
            };
            let sample = |offset| AlignSample {
                candidate: Bytes::mib(4),
                boundary: None,
                before: read(offset),
                across: read(offset),
                after: read(offset),
            };
            are_even(&(0..4000).map(sample).collect::<Vec<_>>())
        };
        assert!(is_even(0));
        assert!(!is_even(80), "a fifth of the noise");
    }

    #[test]
    fn a_boundary_that_costs_several_reads_is_no_outlier() {
        let sizes = || (0..20).map(|shift| Bytes::kib(2 << shift));
        let is_at = |size: Bytes| size.is_multiple_of(Bytes::mib(4));
        let across_us = |size: Bytes| if is_at(size) { 2_000 } else { 500 };
        let samples: Vec<AlignSample> =
            sizes().flat_map(|size| [0, 2, 9_000].map(|us| sample(size, across_us(size) + us))).collect();
        let figures = Figures::of(&samples).unwrap();
        assert_eq!(figures.each.len(), 20);
        for figure in &figures.each {
            let expected_s = if is_at(figure.candidate) { 1.5e-3 } else { 0.0 };
            assert!((figure.extra_s - expected_s).abs() < 5e-6, "{figure:?}");
            assert_eq!(figure.samples, 2, "{figure:?}");
        }
    }

    #[test]
    fn the_noise_is_unknown_without_repeated_reads() {
        let sizes = || (0..20).map(|shift| Bytes::kib(2 << shift));
        let once: Vec<AlignSample> = sizes().map(|size| sample(size, 500)).collect();
        assert_eq!(Figures::of(&once), None);
        let twice: Vec<AlignSample> = sizes().flat_map(|size| [sample(size, 500); 2]).collect();
        assert!(Figures::of(&twice).is_some());
    }

    #[test]
    fn the_error_of_a_figure_follows_from_the_noise_and_the_reads_that_are_no_outliers() {
        // Half of the neighbours differ by up to 2 µs. The last read may be an outlier.
        for (last, kept) in [(601, 10.0), (700, 9.0)] {
            let times = [598, 600, 602, 601, 601, 599, 600, 602, 598, last];
            let samples: Vec<AlignSample> = times.map(|us| sample(Bytes::mib(4), us)).into();
            let figures = Figures::of(&samples).unwrap();
            assert!((figures.noise_s * HALF_OF_DIFFERENCES - 2e-6).abs() < 1e-9, "{figures:?}");
            let expected_s = figures.noise_s / (EFFICIENCY * kept).sqrt();
            let figure = figures.each[0];
            assert!((figure.error_s / expected_s - 1.0).abs() < 1e-6, "{kept} reads: {figure:?}");
            assert!((figure.extra_s - 100e-6).abs() < 2e-6, "{kept} reads: {figure:?}");
        }
    }
}
