//! How much longer reads across a candidate's boundaries take, robustly, and how well that is known.

use std::collections::BTreeMap;
use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::AlignSample;

use crate::statistics::{count, median};

/// The noise is never taken to be smaller: no clock we know tells 100 ns of a request's time.
const NOISE_MIN_S: f64 = 1e-7;
/// Of fewer pairs of samples of one candidate the noise is not known: half of the pairs differ by less than the noise of one sample,
/// so that a few may all differ by next to nothing.
const PAIRS_MIN: usize = 8;
/// Half of the differences of two normal values are smaller than so many of their deviations.
const HALF_OF_DIFFERENCES: f64 = 0.954;
/// Degrees of freedom of a sample's noise: tails heavy enough that single strange samples do not decide.
const FREEDOM: f64 = 3.0;
/// The scale of that distribution which fits the middle of a normal one.
const SCALE: f64 = 0.88;
/// What a sample without outliers tells of the mean, as a share of what it tells where the noise is normal.
const EFFICIENCY: f64 = 0.86;
/// Beyond so many scales a sample counts as an outlier.
const OUTLIER: f64 = 4.0;
const ITERATIONS: usize = 6;

/// One candidate's extra time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The candidate.
    pub candidate: Bytes,
    /// How much longer a read across takes, seconds.
    pub extra_s: f64,
    /// The standard error of that, seconds.
    pub error_s: f64,
    /// How many boundaries were read.
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
    /// Whether no place reads otherwise than others do, as far as many samples tell.
    pub is_even: bool,
}

impl Figures {
    /// Of samples in any order; `None` where so few boundaries were read twice that the noise is not known.
    #[must_use]
    pub fn of(samples: &[AlignSample]) -> Option<Self> {
        let beside = |sample: &AlignSample| [sample.before.as_secs_f64(), sample.after.as_secs_f64()];
        let read_s = median(&samples.iter().flat_map(beside).collect::<Vec<_>>())?;
        let groups = by_candidate(&undisturbed(samples, read_s), read_s);
        let noise_s = noise(&groups)?.max(NOISE_MIN_S);
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

    /// How many boundaries were read.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.each.iter().map(|figure| figure.samples).sum()
    }
}

/// A read that takes so many times as long as most was held up. A boundary may cost that much as well, but then every read across it
/// takes as long.
const HELD_UP: f64 = 2.5;
/// Where more reads than these take that long, that is how the device is.
const HELD_UP_SHARE_MAX: f64 = 0.35;

/// The samples without a read that was held up; all, if that is the rule.
fn undisturbed(samples: &[AlignSample], read_s: f64) -> Vec<AlignSample> {
    let across = usual_across(samples);
    let held_up = |sample: &AlignSample| {
        let usual_s = across.get(&sample.candidate).map_or(read_s, |usual_s| usual_s.max(read_s));
        let beside = [sample.before, sample.after].into_iter();
        let beside = beside.filter(|time| time.as_secs_f64() > HELD_UP * read_s).count();
        beside + usize::from(sample.across.as_secs_f64() > HELD_UP * usual_s)
    };
    let all: usize = samples.iter().map(held_up).sum();
    if count(all) > HELD_UP_SHARE_MAX * count(3 * samples.len()) {
        return samples.to_vec();
    }
    samples.iter().copied().filter(|sample| held_up(sample) == 0).collect()
}

/// What a read across boundaries of each candidate takes, seconds: all but the quickest quarter take as long. Of three samples that is
/// the quickest, so that two which were held up do not count as a boundary.
fn usual_across(samples: &[AlignSample]) -> BTreeMap<Bytes, f64> {
    let mut times: BTreeMap<Bytes, Vec<Duration>> = BTreeMap::new();
    for sample in samples {
        times.entry(sample.candidate).or_default().push(sample.across);
    }
    let usual = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times.get((times.len() - 1) / 4).map_or(0.0, Duration::as_secs_f64)
    };
    times.into_iter().map(|(candidate, times)| (candidate, usual(times))).collect()
}

/// The differences by candidate, each as if reads had always taken as long as they mostly do: drift makes boundaries dearer
/// too.
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

/// So many samples that follow each other tell what a read takes at that time.
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

/// So many samples tell whether places differ, and by so many deviations they may agree by chance.
const EVEN_AFTER: usize = 800;
const EVEN: f64 = 1.0;

/// Whether a read before a boundary tells nothing of the one behind it: where some places read otherwise than others, as written ones
/// beside others that never were, both sides of most boundaries are slow, or quick. By how often both lie on the same side of what reads
/// take at that time (N. Blomqvist, "On a measure of dependence between two random variables", Annals of Mathematical Statistics 21, 1950).
fn are_even(samples: &[AlignSample]) -> bool {
    let is_same = |(sample, local_s): (&AlignSample, f64)| {
        (sample.before.as_secs_f64() > local_s) == (sample.after.as_secs_f64() > local_s)
    };
    let same = samples.iter().zip(local_read_s(samples)).filter(|each| is_same(*each)).count();
    // Of the values that a median is of, as many lie on either side, the one that is looked at left out.
    let by_chance = count(NEIGHBOURS - 1) / count(2 * NEIGHBOURS - 1);
    let all = count(samples.len());
    samples.len() >= EVEN_AFTER && count(same) - by_chance * all < EVEN / 2.0 * all.sqrt()
}

/// The deviation of single samples, by how much those of one candidate differ from each other: whatever the boundaries are,
/// this is noise. `None` where too few of them were read again.
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

/// The centre of a Student-t distribution of this scale, from the median on (K. Lange, R. Little and J. Taylor, JASA 84,
/// 1989).
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
    fn a_held_up_read_moves_neither_the_figure_nor_the_noise() {
        let times = [598, 600, 602, 9_000, 601, 599, 600, 602, 598, 601];
        let samples: Vec<AlignSample> = times.map(|us| sample(Bytes::mib(4), us)).into();
        let figures = Figures::of(&samples).unwrap();
        let figure = figures.each[0];
        assert!((figure.extra_s - 100e-6).abs() < 2e-6, "{figure:?}");
        assert!(figure.error_s < 3e-6, "{figure:?}");
        assert!((figures.read_s - 500e-6).abs() < 1e-9);
    }

    #[test]
    fn places_that_read_otherwise_show_on_both_sides_of_a_boundary() {
        let is_even = |differs_us: u64| {
            let mut draws = 7_u64;
            let mut jitter_us = || {
                draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (draws >> 33) % 400
            };
            let mut read = |place: u64| {
                Duration::from_micros(
                    800 + jitter_us() + if place.is_multiple_of(3) { differs_us } else { 0 },
                )
            };
            let sample = |place| AlignSample {
                candidate: Bytes::mib(4),
                boundary: None,
                before: read(place),
                across: read(place),
                after: read(place),
            };
            are_even(&(0..4000).map(sample).collect::<Vec<_>>())
        };
        assert!(is_even(0));
        assert!(!is_even(80), "a fifth of the noise");
    }

    #[test]
    fn a_boundary_that_costs_several_reads_is_not_held_up() {
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
    fn without_a_second_look_the_noise_is_not_known() {
        let sizes = || (0..20).map(|shift| Bytes::kib(2 << shift));
        let once: Vec<AlignSample> = sizes().map(|size| sample(size, 500)).collect();
        assert_eq!(Figures::of(&once), None);
        let twice: Vec<AlignSample> = sizes().flat_map(|size| [sample(size, 500); 2]).collect();
        assert!(Figures::of(&twice).is_some());
    }
}
