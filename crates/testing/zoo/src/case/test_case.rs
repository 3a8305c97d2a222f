//! One case: a stick with known faults.

use flashscope_device::Bytes;
use flashscope_sim::VirtualStick;
use flashscope_sim::profile::Bus;

use super::build::Build;
use super::copy::{self, CopyMethod};
use super::fault::Fault;
use crate::draw::Draw;
use crate::error::ZooError;

/// A stick with known faults. The same seed, index and number of faults make the same one on every machine.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its number.
    pub index: u64,
    /// The faults, the worst first, each with the speed-up of the everyday copy without it.
    pub faults: Vec<(Fault, f64)>,
    /// The seed to measure it with.
    pub survey_seed: u64,
    /// Whether the request limit of the host's driver can be changed.
    pub has_adjustable_driver: bool,
    build: Build,
    seed: u64,
}

/// The minimum speed-up without a single fault. All limits here are guesses.
const SINGLE_GAIN_MIN: f64 = 1.4;
/// The minimum speed-up without one of two faults.
const PAIR_GAIN_MIN: f64 = 1.25;
/// The minimum ratio of the speed-ups of two faults, so that one is clearly worse.
const PAIR_RATIO_MIN: f64 = 1.1;
/// The maximum speed-up without a property that is not a fault.
const NO_FAULT_GAIN_MAX: f64 = 1.15;
/// The draws before other faults are tried, as not every pair of faults can be effective.
const DRAWS_MAX: u64 = 40;

impl Case {
    /// The case of this number with 0, 1 or 2 faults.
    ///
    /// # Errors
    /// [`ZooError::Profile`] if a drawn profile is impossible, [`ZooError::Case`] if no draw has effective
    /// faults.
    pub fn new(seed: u64, index: u64, faults: usize) -> Result<Self, ZooError> {
        let mut draw = Draw::new(seed ^ (faults as u64) << 32, index);
        for _ in 0..DRAWS_MAX {
            let mut wanted = match faults {
                0 => Vec::new(),
                1 => vec![Fault::sample(&mut draw)],
                _ => Fault::sample_two(&mut draw).to_vec(),
            };
            // The port comes first: it determines the speed of the flash, and so the severity of the other
            // fault.
            wanted.sort_unstable();
            let drawn = (0..DRAWS_MAX).map(|_| Self::sample(index, &wanted, &mut draw));
            if let Some(case) = drawn.filter_map(Result::transpose).next() {
                return case;
            }
        }
        Err(ZooError::Case)
    }

    /// One draw; `None` if the wanted faults are not effective, or others are.
    fn sample(index: u64, wanted: &[Fault], draw: &mut Draw) -> Result<Option<Self>, ZooError> {
        let build = wanted.iter().fold(Build::baseline(draw), |build, fault| build.with_fault(*fault, draw));
        let (survey_seed, seed) = (draw.seed(), draw.seed());
        let mut case =
            Self { index, faults: Vec::new(), survey_seed, has_adjustable_driver: false, build, seed };
        Ok(case.has_exactly(wanted)?.then_some(case))
    }

    /// Measures the speed-up without each wanted fault, and returns whether exactly these faults are
    /// effective.
    fn has_exactly(&mut self, wanted: &[Fault]) -> Result<bool, ZooError> {
        let now = copy::seconds_per_byte(&self.build, CopyMethod::default(), self.seed, copy::EVERYDAY)?;
        for fault in wanted {
            self.faults.push((*fault, now / self.seconds_without(*fault, copy::EVERYDAY)?));
        }
        self.faults.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let gain_min = if wanted.len() == 1 { SINGLE_GAIN_MIN } else { PAIR_GAIN_MIN };
        let is_one_worse = self.faults.windows(2).all(|pair| pair[0].1 >= pair[1].1 * PAIR_RATIO_MIN);
        let is_effective = is_one_worse && self.faults.iter().all(|(_, gain)| *gain >= gain_min);
        if !is_effective {
            return Ok(false);
        }
        // Small writes and commands cost something on every stick. Small writes that cost much are a fault,
        // so the draw is rejected. Commands that cost much are allowed if the driver cannot be changed.
        let is_cheap = |fault| {
            let is_wanted = wanted.contains(&fault);
            Ok::<_, ZooError>(
                is_wanted || now / self.seconds_without(fault, copy::EVERYDAY)? <= NO_FAULT_GAIN_MAX,
            )
        };
        let (small_writes, commands) = (is_cheap(Fault::SlowSmallWrites)?, is_cheap(Fault::SmallCommands)?);
        self.has_adjustable_driver = commands;
        Ok(small_writes)
    }

    /// The speed-up of a copy of only small files without each bottleneck, the largest first.
    ///
    /// # Errors
    /// [`ZooError::Profile`] if a counterfactual stick is impossible.
    pub fn small_file_gains(&self) -> Result<Vec<(&'static str, f64)>, ZooError> {
        let now = copy::seconds_per_byte(&self.build, CopyMethod::default(), self.seed, copy::SMALL_FILES)?;
        let link = if self.is_card() { Fault::SlowReader } else { Fault::SlowPort };
        let has_stalls = self.build.stall.is_some();
        let cache = if has_stalls { Fault::GarbageCollection } else { Fault::ExhaustedSlcCache };
        let faults = [
            link,
            Fault::SmallCommands,
            Fault::SlowSmallWrites,
            Fault::FewOpenUnits,
            cache,
            Fault::Misaligned,
        ];
        let gain =
            |fault: Fault| Ok((fault.bottleneck(), now / self.seconds_without(fault, copy::SMALL_FILES)?));
        let mut gains: Vec<(&str, f64)> = faults.into_iter().map(gain).collect::<Result<_, ZooError>>()?;
        gains.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        Ok(gains)
    }

    /// The speed-up of an everyday copy, and of a copy of only small files, whose small files are one
    /// archive: they are written like a large file.
    ///
    /// # Errors
    /// [`ZooError::Profile`] if the stick is impossible.
    pub fn archive_gains(&self) -> Result<[f64; 2], ZooError> {
        let seconds = |shares| copy::seconds_per_byte(&self.build, CopyMethod::default(), self.seed, shares);
        let [large, medium, small, interleaved] = copy::EVERYDAY;
        let everyday = seconds(copy::EVERYDAY)? / seconds([large + small + interleaved, medium, 0.0, 0.0])?;
        let small_files = seconds(copy::SMALL_FILES)? / seconds([small + interleaved, 0.0, 0.0, 0.0])?;
        Ok([everyday, small_files])
    }

    /// The speed-up of an everyday copy without this fault; 1 if the stick does not have it.
    ///
    /// # Errors
    /// [`ZooError::Profile`] if the counterfactual stick is impossible.
    pub fn everyday_gain(&self, without: Fault) -> Result<f64, ZooError> {
        let now = copy::seconds_per_byte(&self.build, CopyMethod::default(), self.seed, copy::EVERYDAY)?;
        Ok(now / self.seconds_without(without, copy::EVERYDAY)?)
    }

    /// Seconds per byte of the copy in the counterfactual without this fault.
    fn seconds_without(&self, fault: Fault, shares: [f64; 4]) -> Result<f64, ZooError> {
        let method = CopyMethod {
            packs_files: fault == Fault::SlowSmallWrites,
            is_sequential: fault == Fault::FewOpenUnits,
            has_empty_cache: fault == Fault::ExhaustedSlcCache,
        };
        copy::seconds_per_byte(&self.build.without_fault(fault), method, self.seed, shares)
    }

    /// Makes the stick.
    ///
    /// # Errors
    /// [`ZooError::Profile`] if it is impossible.
    pub fn device(&self) -> Result<VirtualStick, ZooError> {
        Ok(VirtualStick::new(&self.build.profile()?, self.seed.rotate_left(17)))
    }

    /// The bus it is plugged into, and its own bus.
    #[must_use]
    pub const fn buses(&self) -> (Bus, Bus) {
        (self.build.bus, self.build.own_bus())
    }

    /// The largest command of the driver.
    #[must_use]
    pub fn request_max(&self) -> Bytes {
        self.build.request_max()
    }

    /// True for a card in a reader.
    #[must_use]
    pub const fn is_card(&self) -> bool {
        self.build.is_card
    }

    /// The start of the partition.
    #[must_use]
    pub const fn partition_start(&self) -> Bytes {
        self.build.partition_start
    }

    /// The profile as TOML (for `flashscope check sim:FILE`), with the faults as comments.
    #[must_use]
    pub fn describe(&self) -> String {
        let faults = self.faults.iter().map(|(fault, gain)| {
            format!("# {fault}: the everyday copy is {gain:.2} times as fast without it\n")
        });
        let profile = self.build.profile().and_then(|profile| profile.to_toml());
        faults.chain([profile.unwrap_or_else(|error| format!("# {error}\n"))]).collect()
    }
}
