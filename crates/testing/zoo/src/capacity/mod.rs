//! Devices with a known true capacity: genuine ones, counterfeits, bad ones, and ones that map on demand.

mod layer;
mod rules;

use std::collections::HashSet;

use flashscope_device::layer::{FaultSpec, Faulty};
use flashscope_device::{Bytes, Device};
use flashscope_sim::{Profile, VirtualStick};

use crate::draw::Draw;
use crate::error::ZooError;
use crate::stick::Stick;
use layer::Lossy;
use rules::{BadBlocks, CachedLimbo, OnDemand};

/// The kind of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CapacityClass {
    /// Stores what it announces.
    Genuine,
    /// Addresses wrap around.
    Wrap,
    /// Writes beyond the true size are dropped.
    Limbo,
    /// The same with a cache that evicts the oldest sector, or any.
    LimboCache,
    /// Wraps, and drops the upper part of each period.
    Chain,
    /// Requests beyond the true size fail.
    Errors,
    /// A share of all blocks keeps nothing.
    BadBlocks,
    /// Maps flash on demand and has less than it announces.
    OnDemand,
    /// Drops writes beyond the true size, and a share of the sectors below it is bad.
    Mixed,
}

impl CapacityClass {
    /// All counterfeits and bad devices that a quick test can see.
    pub const VISIBLE: [Self; 7] =
        [Self::Wrap, Self::Limbo, Self::LimboCache, Self::Chain, Self::Errors, Self::BadBlocks, Self::Mixed];
}

/// A device and its true capacity.
#[derive(Debug, Clone)]
pub struct CapacityCase {
    /// Its kind.
    pub class: CapacityClass,
    /// What it stores; `None` if bad blocks are scattered, or if no quick test can tell.
    pub true_size: Option<Bytes>,
    /// One line for people.
    pub text: String,
    profile: Profile,
    build: Build,
    seed: u64,
}

#[derive(Debug, Clone)]
enum Build {
    Faults(Vec<FaultSpec>),
    Cached { real: Bytes, announced: Bytes, cache: Bytes, is_random: bool },
    BadBlocks { block: Bytes, share: f64 },
    OnDemand { pool: usize },
}

/// The smallest base stick, so that announced sizes exceed the run of a quick test.
const CAPACITY_MIN: Bytes = Bytes::gib(1);
/// The largest one. It bounds the memory of a virtual stick.
const CAPACITY_MAX: Bytes = Bytes::gib(128);

impl CapacityCase {
    /// The case with this number: any visible counterfeit or bad device.
    ///
    /// # Errors
    /// [`ZooError`] if a drawn device is impossible.
    pub fn counterfeit(seed: u64, index: u64) -> Result<Self, ZooError> {
        let classes = CapacityClass::VISIBLE;
        let class = classes[usize::try_from(index).unwrap_or_default() % classes.len()];
        Self::of_class(class, seed, index)
    }

    /// A case of this class.
    ///
    /// # Errors
    /// [`ZooError`] if a drawn device is impossible.
    pub fn of_class(class: CapacityClass, seed: u64, index: u64) -> Result<Self, ZooError> {
        let mut draw = Draw::new(seed ^ CASE_SEED, index * 16 + class as u64);
        let is_random = class == CapacityClass::Genuine && index % 2 == 1;
        let profile = if is_random { random_stick(&mut draw)? } else { base(&mut draw)? };
        let capacity = profile.capacity;
        let page = Bytes::kib(4) * draw.weighted(&[(1.0, 1), (1.0, 2), (1.0, 4)]);
        let real = Bytes::new(draw.log_uniform_integer(Bytes::mib(64).as_f64(), capacity.as_f64() * 0.9))
            .round_down(page)
            .max(page);
        let least = (real.as_f64() * 1.3).max(Bytes::gib(1).as_f64());
        let most = (real.as_f64() * 40.0).max(Bytes::gib(2).as_f64());
        let announced = Bytes::new(draw.log_uniform_integer(least, most)).round_down(Bytes::mib(1));
        let (true_size, build) = match class {
            CapacityClass::Genuine => (Some(capacity), Build::Faults(Vec::new())),
            CapacityClass::Wrap => {
                (Some(real), faults(&format!("wrap:real={},fake={}", real.get(), announced.get()))?)
            }
            CapacityClass::Limbo => (Some(real), limbo(real, announced, &mut draw)?),
            CapacityClass::LimboCache => {
                let cache = Bytes::kib(draw.log_uniform_integer(64.0, 32_768.0));
                (Some(real), Build::Cached { real, announced, cache, is_random: draw.bernoulli(0.5) })
            }
            CapacityClass::Chain => {
                let wrap = real + (announced - real).round_down(page) / draw.uniform_integer(2, 6);
                let wrap = wrap.round_up(page);
                let text = format!("chain:wrap={},real={},fake={}", wrap.get(), real.get(), announced.get());
                (Some(real), faults(&text)?)
            }
            CapacityClass::Errors => {
                let range = format!("{}+{}", real.get(), (capacity - real).get());
                let writes = format!("write-errors:share=1,range={range}");
                let reads = format!("read-errors:share=1,range={range}");
                let which: Vec<&str> = match draw.uniform_integer(0, 2) {
                    0 => vec![&writes],
                    1 => vec![&reads],
                    _ => vec![&writes, &reads],
                };
                let specs = which.into_iter().map(str::parse).collect::<Result<_, _>>()?;
                (Some(real), Build::Faults(specs))
            }
            CapacityClass::BadBlocks => {
                let block = Bytes::kib(64 << draw.uniform_integer(0, 5));
                (None, Build::BadBlocks { block, share: draw.uniform(0.05, 0.4) })
            }
            CapacityClass::Mixed => (Some(real), mixed(real, announced, &mut draw)?),
            CapacityClass::OnDemand => {
                let pool = draw.log_uniform_integer(8192.0, 16_384.0);
                (None, Build::OnDemand { pool: usize::try_from(pool).unwrap_or_default() })
            }
        };
        let text = format!("{class:?} on {} of {capacity}: {build:?}", profile.name);
        Ok(Self { class, true_size, text, profile, build, seed: draw.seed() })
    }

    /// Makes the device.
    ///
    /// # Errors
    /// [`ZooError::Fault`] if its fault is impossible.
    pub fn device(&self) -> Result<Box<dyn Device + Send>, ZooError> {
        let stick = VirtualStick::new(&self.profile, self.seed);
        Ok(match &self.build {
            Build::Faults(faults) => Box::new(Faulty::new(stick, faults, self.seed)?),
            Build::Cached { real, announced, cache, is_random } => {
                let rule = CachedLimbo::new(*real, *announced, *cache, *is_random, self.seed);
                Box::new(Lossy::new(stick, rule))
            }
            Build::BadBlocks { block, share } => {
                let rule = BadBlocks { block: *block, share: *share, seed: self.seed };
                Box::new(Lossy::new(stick, rule))
            }
            Build::OnDemand { pool } => {
                Box::new(Lossy::new(stick, OnDemand { pool: *pool, mapped: HashSet::new() }))
            }
        })
    }
}

/// Keeps these cases apart from other specimens of the same seed. Fractional digits of sqrt(7).
const CASE_SEED: u64 = 0xa54f_f53a_5f1d_36f1;

/// A built-in stick that is no counterfeit and has a capacity in range.
fn base(draw: &mut Draw) -> Result<Profile, ZooError> {
    loop {
        let names: Vec<&str> = Profile::builtin_names().collect();
        let index = draw.uniform_integer(0, names.len() as u64 - 1);
        let profile = Profile::builtin(names[usize::try_from(index).unwrap_or_default()])?;
        let fits = (CAPACITY_MIN..=CAPACITY_MAX).contains(&profile.capacity);
        if profile.fault.is_empty() && fits {
            return Ok(profile);
        }
    }
}

/// A random stick of any speed, with stalls up to 10 times as frequent.
fn random_stick(draw: &mut Draw) -> Result<Profile, ZooError> {
    loop {
        let mut profile = Stick::sample(draw)?.profile;
        if profile.capacity <= CAPACITY_MAX {
            profile.noise.outliers_per_million *= draw.log_uniform(1.0, 10.0);
            return Ok(profile);
        }
    }
}

fn faults(text: &str) -> Result<Build, ZooError> {
    Ok(Build::Faults(vec![text.parse()?]))
}

fn mixed(real: Bytes, announced: Bytes, draw: &mut Draw) -> Result<Build, ZooError> {
    let kind = draw.weighted(&[(1.0, "limbo"), (1.0, "wrap")]);
    let share = draw.uniform(0.15, 0.25);
    let false_size = format!("{kind}:real={},fake={}", real.get(), announced.get());
    let bad = format!("wrong-reads:share={share},range=0+{}", real.get());
    Ok(Build::Faults(vec![false_size.parse()?, bad.parse()?]))
}

fn limbo(real: Bytes, announced: Bytes, draw: &mut Draw) -> Result<Build, ZooError> {
    let reads = draw.weighted(&[(1.0, "zeros"), (1.0, "ones"), (1.0, "garbage")]);
    let cache = Bytes::new(draw.log_uniform_integer(65_536.0, 268_435_456.0)).round_down(Bytes::new(4096));
    let lookup = draw.weighted(&[(1.0, "strict"), (1.0, "loose")]);
    // A cache as large as everything that is dropped would be storage.
    let cache = cache.min(((announced - real) / 2).round_down(Bytes::new(4096)));
    let with =
        if draw.bernoulli(0.6) { format!(",cache={},lookup={lookup}", cache.get()) } else { String::new() };
    faults(&format!("limbo:real={},fake={},reads={reads}{with}", real.get(), announced.get()))
}
