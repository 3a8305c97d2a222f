//! File sizes of typical folders that people copy, as distributions.

use std::f64::consts::SQRT_2;

use flashscope_device::Bytes;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::function::erf::erf_inv;

/// A kind of folder. Sizes are lognormal, like most file sizes (A. Downey, "The structural cause of file size
/// distributions", 2001). The parameters are flashscope's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileProfile {
    /// Pages of a manual or a web site: most under 2 KB, 8 KiB on average. ZDNet's folder ("Flash drives:
    /// Your mileage will vary") had some 2 000 files, mostly under 2 KB, in 16 MB.
    HelpPages,
    /// Notes, settings and icons: none above 2 KiB, half below 700 bytes.
    Snippets,
    /// A source tree such as the kernel's: half below 5 KiB, 13 KiB on average, fifteen to a folder. Linux
    /// 2.6.34 had some 33,000 files in 442 MB.
    KernelSource,
    /// Photographs of 12 to 24 megapixels: some 4 MiB each.
    Photos,
}

/// The sizes of one kind of folder.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// The median size.
    median: Bytes,
    /// The standard deviation of the logarithm.
    sigma: f64,
    /// The largest size.
    most: Bytes,
}

impl FileProfile {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::HelpPages, Self::Snippets, Self::KernelSource, Self::Photos];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HelpPages => "help-pages",
            Self::Snippets => "snippets",
            Self::KernelSource => "kernel-source",
            Self::Photos => "photos",
        }
    }

    /// The default number of files.
    #[must_use]
    pub const fn default_count(self) -> u32 {
        match self {
            Self::HelpPages | Self::Snippets | Self::KernelSource => 2000,
            Self::Photos => 40,
        }
    }

    /// The number of files in one folder.
    #[must_use]
    pub const fn files_per_folder(self) -> u32 {
        match self {
            Self::HelpPages | Self::Snippets => 2000,
            Self::KernelSource => 15,
            Self::Photos => 999,
        }
    }

    const fn shape(self) -> Shape {
        match self {
            Self::HelpPages => Shape { median: Bytes::new(1200), sigma: 2.0, most: Bytes::kib(512) },
            Self::Snippets => Shape { median: Bytes::new(700), sigma: 0.8, most: Bytes::kib(2) },
            Self::KernelSource => Shape { median: Bytes::kib(5), sigma: 1.39, most: Bytes::mib(4) },
            Self::Photos => Shape { median: Bytes::mib(4), sigma: 0.35, most: Bytes::mib(12) },
        }
    }

    /// `count` sizes. They are stratified over the distribution, so that the seed changes the order and
    /// hardly the sum.
    #[must_use]
    pub fn sizes(self, count: u32, seed: u64) -> Vec<Bytes> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let shape = self.shape();
        let share = |index: u32| (f64::from(index) + 0.5) / f64::from(count);
        let mut sizes: Vec<Bytes> = (0..count).map(|index| shape.quantile(share(index))).collect();
        shuffle(&mut sizes, &mut random);
        sizes
    }
}

impl Shape {
    /// The quantile of the sizes, at least one byte.
    fn quantile(self, share: f64) -> Bytes {
        let normal = SQRT_2 * erf_inv(2.0 * share - 1.0);
        let size = self.median.as_f64() * (self.sigma * normal).exp();
        Bytes::new(size.clamp(1.0, self.most.as_f64()).round() as u64)
    }
}

/// `count` of the sizes of a folder: all of them in their order, or random draws.
#[must_use]
pub fn like(sizes: &[Bytes], count: u32, seed: u64) -> Vec<Bytes> {
    if sizes.len() == count as usize || sizes.is_empty() {
        return sizes.to_vec();
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(|_| sizes[below(sizes.len(), &mut random)]).collect()
}

/// Shuffles uniformly (R. Durstenfeld, "Algorithm 235: Random permutation", 1964).
pub(super) fn shuffle<T>(items: &mut [T], random: &mut impl Rng) {
    for index in (1..items.len()).rev() {
        items.swap(index, below(index + 1, random));
    }
}

/// A nearly uniform index below `count`: the high half of a product (D. Lemire, "Fast random integer
/// generation in an interval", 2019).
fn below(count: usize, random: &mut impl Rng) -> usize {
    ((u128::from(random.next_u64()) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(sizes: &[Bytes]) -> f64 {
        sizes.iter().map(|size| size.as_f64()).sum()
    }

    #[test]
    fn help_pages_match_zdnets_folder() {
        let sizes = FileProfile::HelpPages.sizes(2000, 1);
        let small = sizes.iter().filter(|size| **size < Bytes::new(2000)).count();
        assert!((1100..1400).contains(&small), "{small} of 2000 under 2 KB");
        assert!((14e6..18e6).contains(&sum(&sizes)), "{}", sum(&sizes));
        let clusters: f64 = sizes.iter().map(|size| size.round_up(Bytes::kib(32)).as_f64()).sum();
        let bloat = clusters / sum(&sizes);
        assert!((3.5..5.0).contains(&bloat), "{bloat}");
    }

    #[test]
    fn profile_means_hold_for_any_seed_and_count() {
        for (profile, low, high) in [
            (FileProfile::HelpPages, 6e3, 10e3),
            (FileProfile::Snippets, 0.75e3, 0.9e3),
            (FileProfile::KernelSource, 12e3, 18e3),
            (FileProfile::Photos, 4e6, 5e6),
        ] {
            for (count, seed) in [(400, 1), (400, 2), (2000, 7)] {
                let sizes = profile.sizes(count, seed);
                let mean = sum(&sizes) / f64::from(count);
                assert!(sizes.len() == count as usize && (low..high).contains(&mean), "{profile:?}: {mean}");
            }
            let most = profile.sizes(2000, 7).into_iter().max();
            assert!(profile != FileProfile::Snippets || most <= Some(Bytes::kib(2)), "{most:?}");
            assert_ne!(profile.sizes(400, 1), profile.sizes(400, 2));
            assert_eq!(profile.sizes(400, 3), profile.sizes(400, 3));
            assert!(profile.sizes(1, 1).iter().all(|size| !size.is_zero()));
        }
    }

    #[test]
    fn folder_sizes_are_kept_or_drawn_from() {
        let sizes = [1, 20, 300].map(Bytes::new);
        assert_eq!(like(&sizes, 3, 9), sizes);
        let drawn = like(&sizes, 1000, 9);
        assert!(sizes.iter().all(|size| (250..420).contains(&drawn.iter().filter(|x| *x == size).count())));
        assert!(like(&[], 5, 1).is_empty());
    }
}
