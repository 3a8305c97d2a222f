//! Targets: `NAME` or `path/to/stick.toml`, then optionally `?key=value&key=value`. (The `sim:` in front is the caller's.)

use std::path::PathBuf;

use flashscope_device::Bytes;
use flashscope_device::layer::{FaultError, FaultSpec, Faulty};

use crate::profile::{Bus, Link, OpenBlocks, Policy, Profile, ProfileError};
use crate::stick::VirtualStick;

/// The seed where none is given.
pub const DEFAULT_SEED: u64 = 1;

/// The keys a target understands.
pub const KEYS: [&str; 11] = [
    "seed",
    "capacity",
    "state",
    "erase_block",
    "page",
    "open_units_linear",
    "open_units_random",
    "fat_area",
    "link",
    "noise",
    "fault",
];

/// A virtual stick that was asked for by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// What it is made of, overrides included.
    pub profile: Profile,
    /// The link it is made for, whatever it is plugged into.
    pub own_link: Link,
    /// What decides its chance.
    pub seed: u64,
    /// What is wrong with it: the profile's faults, then those of the text.
    pub faults: Vec<FaultSpec>,
}

/// A target that names no virtual stick.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The profile's file cannot be read.
    #[error("the profile '{}' cannot be read: {source}", path.display().to_string().escape_debug())]
    File {
        /// Its path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The profile is unknown or impossible.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A fault that is none, or that this stick cannot have.
    #[error(transparent)]
    Fault(#[from] FaultError),
    /// A key that means nothing.
    #[error("a virtual stick has no '{}'; it knows {}", key.escape_debug(), KEYS.join(", "))]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A value that cannot be read.
    #[error("'{}' is no value for {key}: {expected}", value.escape_debug())]
    Value {
        /// The key.
        key: &'static str,
        /// What was given.
        value: String,
        /// What is expected.
        expected: String,
    },
}

/// Makes the virtual stick that `text` names, e.g. `patriot-xt-16g?seed=7&capacity=8GiB`, without its faults:
/// [`Target::device`] makes it with them.
///
/// # Errors
/// [`TargetError`], as for [`Target::parse`].
pub fn open(text: &str) -> Result<VirtualStick, TargetError> {
    Target::parse(text).map(|target| VirtualStick::new(&target.profile, target.seed))
}

impl Target {
    /// Reads `NAME?key=value&…` or `path/to/stick.toml?key=value&…`; see [`KEYS`]. `noise` is a factor on the profile's noise.
    ///
    /// # Errors
    /// [`TargetError`]: an unknown profile or key (with those that are known), a value that cannot be read, or one
    /// that no stick can have.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let (name, query) = text.split_once('?').unwrap_or((text, ""));
        let profile = load(name)?;
        let (faults, own_link) = (profile.fault.clone(), profile.link.clone());
        let mut target = Self { profile, own_link, faults, seed: DEFAULT_SEED };
        for assignment in query.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = assignment.split_once('=').unwrap_or((assignment, ""));
            target.set(key, value)?;
        }
        target.profile.check()?;
        Ok(target)
    }

    /// The stick with its faults.
    ///
    /// # Errors
    /// [`TargetError::Fault`] for a counterfeit that the stick is too small to play.
    pub fn device(&self) -> Result<Faulty<'static>, TargetError> {
        let stick = VirtualStick::new(&self.profile, self.seed);
        Ok(Faulty::new(stick, &self.faults, self.seed)?)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), TargetError> {
        match key {
            "seed" => self.seed = read("seed", value, "a whole number from 0 to 2^64 - 1")?,
            "capacity" => self.profile.capacity = size("capacity", value)?,
            "erase_block" => self.set_erase_block(size("erase_block", value)?),
            "page" => self.set_page(size("page", value)?),
            "state" => self.profile.state = read("state", value, "new, full, steady or trimmed")?,
            "open_units_linear" => {
                let count = read("open_units_linear", value, "a whole number")?;
                self.open_blocks("open_units_linear", value)?.open_units_linear = count;
            }
            "open_units_random" => {
                let count = read("open_units_random", value, "a whole number")?;
                self.open_blocks("open_units_random", value)?.open_units_random = count;
            }
            "fat_area" => self.profile.ftl.fat_area = size("fat_area", value)?,
            "link" => self.set_link(value)?,
            "noise" => self.scale_noise(value)?,
            "fault" => self.faults.push(value.parse()?),
            _ => return Err(TargetError::UnknownKey { key: key.to_owned() }),
        }
        Ok(())
    }

    /// The open blocks of the profile, to set a number of them; an error if it has another policy.
    fn open_blocks(&mut self, key: &'static str, value: &str) -> Result<&mut OpenBlocks, TargetError> {
        match &mut self.profile.policy {
            Policy::OpenBlocks(policy) => Ok(policy),
            _ => Err(TargetError::Value {
                key,
                value: value.to_owned(),
                expected: format!("{} has another policy than open_blocks", self.profile.name),
            }),
        }
    }

    /// Another erase block, and with it what comes in erase blocks: its edge in reads, the FAT area.
    fn set_erase_block(&mut self, erase_block: Bytes) {
        let old = std::mem::replace(&mut self.profile.ftl.erase_block, erase_block);
        self.profile.ftl.fat_area = times(erase_block, self.profile.ftl.fat_area, old);
        self.scale_boundaries(old, erase_block);
    }

    /// Another page, and with it its edge in reads.
    fn set_page(&mut self, page: Bytes) {
        let old = std::mem::replace(&mut self.profile.ftl.page, page);
        self.scale_boundaries(old, page);
    }

    fn scale_boundaries(&mut self, old: Bytes, new: Bytes) {
        for boundary in self.profile.read.boundary.iter_mut().filter(|boundary| boundary.period == old) {
            boundary.phase = times(new, boundary.phase, old);
            boundary.period = new;
        }
    }

    /// Another bus; see [`Link::on`].
    fn set_link(&mut self, value: &str) -> Result<(), TargetError> {
        let expected = format!("one of {}", Bus::ALL.map(Bus::name).join(", "));
        self.profile.link = self.profile.link.on(read("link", value, &expected)?);
        Ok(())
    }

    fn scale_noise(&mut self, value: &str) -> Result<(), TargetError> {
        let factor: f64 = read("noise", value, "a factor, such as 0 or 2.5")?;
        self.profile.noise.jitter *= factor;
        self.profile.noise.outliers_per_million *= factor;
        Ok(())
    }
}

fn load(name: &str) -> Result<Profile, TargetError> {
    if !name.contains('/') && !name.ends_with(".toml") {
        return Ok(Profile::builtin(name)?);
    }
    let path = PathBuf::from(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Profile::parse(&text)?),
        Err(source) => Err(TargetError::File { path, source }),
    }
}

/// `new` times the ratio of `part` to `old`; zero where that is out of range, which the profile's check then refuses.
fn times(new: Bytes, part: Bytes, old: Bytes) -> Bytes {
    let product = u128::from(new.get()) * u128::from(part.get()) / u128::from(old.get().max(1));
    Bytes::new(u64::try_from(product).unwrap_or(0))
}

fn size(key: &'static str, value: &str) -> Result<Bytes, TargetError> {
    read(key, value, "a size such as 8MiB")
}

fn read<T: std::str::FromStr>(key: &'static str, value: &str, expected: &str) -> Result<T, TargetError> {
    let error = || TargetError::Value { key, value: value.to_owned(), expected: expected.to_owned() };
    value.parse().map_err(|_| error())
}
