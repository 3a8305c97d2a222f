//! Targets: `NAME` or `path/to/stick.toml`, then optionally `?key=value&key=value`. (The caller strips the
//! prefix `sim:`.)

use std::path::PathBuf;

use flashscope_device::Bytes;
use flashscope_device::layer::{FaultError, FaultSpec, Faulty};

use crate::profile::{Bus, Link, OpenBlocks, Policy, Profile, ProfileError};
use crate::stick::VirtualStick;

/// The seed if none is given.
pub const DEFAULT_SEED: u64 = 1;

/// The keys of a target.
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

/// A virtual stick, parsed from a target's text.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The profile with all overrides.
    pub profile: Profile,
    /// The link of the profile, without an override.
    pub own_link: Link,
    /// The random seed.
    pub seed: u64,
    /// Injected faults: those of the profile, then those of the text.
    pub faults: Vec<FaultSpec>,
}

/// A target that is not a virtual stick.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The profile's file cannot be read.
    #[error("the profile '{}' cannot be read: {source}", path.display().to_string().escape_debug())]
    File {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The profile is unknown or impossible.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// An unknown fault, or one that this stick cannot have.
    #[error(transparent)]
    Fault(#[from] FaultError),
    /// An unknown key.
    #[error("a virtual stick has no key '{}'; the keys are {}", key.escape_debug(), KEYS.join(", "))]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A value that cannot be parsed.
    #[error("'{}' is not a value of {key}: {expected}", value.escape_debug())]
    Value {
        /// The key.
        key: &'static str,
        /// The given value.
        value: String,
        /// The expected value.
        expected: String,
    },
}

/// The virtual stick of a target such as `patriot-xt-16g?seed=7&capacity=8GiB`, without faults.
/// [`Target::device`] adds them.
///
/// # Errors
/// [`TargetError`], as for [`Target::parse`].
pub fn open(text: &str) -> Result<VirtualStick, TargetError> {
    Target::parse(text).map(|target| VirtualStick::new(&target.profile, target.seed))
}

impl Target {
    /// Parses `NAME?key=value&…` or `path/to/stick.toml?key=value&…`; see [`KEYS`]. `noise` is a factor on
    /// the profile's noise.
    ///
    /// # Errors
    /// [`TargetError`]: an unknown profile or key (the error lists the known ones), a value that cannot be
    /// parsed, or one that is out of bounds.
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
    /// [`TargetError::Fault`] for a counterfeit whose real size exceeds the stick.
    pub fn device(&self) -> Result<Faulty<'static>, TargetError> {
        let stick = VirtualStick::new(&self.profile, self.seed);
        Ok(Faulty::new(stick, &self.faults, self.seed)?)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), TargetError> {
        match key {
            "seed" => self.seed = parse_value("seed", value, "a whole number from 0 to 2^64 - 1")?,
            "capacity" => self.profile.capacity = size("capacity", value)?,
            "erase_block" => self.set_erase_block(size("erase_block", value)?),
            "page" => self.set_page(size("page", value)?),
            "state" => self.profile.state = parse_value("state", value, "new, full, steady or trimmed")?,
            "open_units_linear" => {
                let count = parse_value("open_units_linear", value, "a whole number")?;
                self.open_blocks("open_units_linear", value)?.open_units_linear = count;
            }
            "open_units_random" => {
                let count = parse_value("open_units_random", value, "a whole number")?;
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

    /// The parameters of open blocks, for an override; an error for another policy.
    fn open_blocks(&mut self, key: &'static str, value: &str) -> Result<&mut OpenBlocks, TargetError> {
        match &mut self.profile.policy {
            Policy::OpenBlocks(policy) => Ok(policy),
            _ => Err(TargetError::Value {
                key,
                value: value.to_owned(),
                expected: format!("the policy of {} is not open_blocks", self.profile.name),
            }),
        }
    }

    /// Sets the erase block, and scales what depends on it: its read boundary and the FAT area.
    fn set_erase_block(&mut self, erase_block: Bytes) {
        let old = std::mem::replace(&mut self.profile.ftl.erase_block, erase_block);
        self.profile.ftl.fat_area = scale(erase_block, self.profile.ftl.fat_area, old);
        self.scale_boundaries(old, erase_block);
    }

    /// Sets the page, and scales its read boundary.
    fn set_page(&mut self, page: Bytes) {
        let old = std::mem::replace(&mut self.profile.ftl.page, page);
        self.scale_boundaries(old, page);
    }

    fn scale_boundaries(&mut self, old: Bytes, new: Bytes) {
        for boundary in self.profile.read.boundary.iter_mut().filter(|boundary| boundary.period == old) {
            boundary.phase = scale(new, boundary.phase, old);
            boundary.period = new;
        }
    }

    /// Sets the bus; see [`Link::on`].
    fn set_link(&mut self, value: &str) -> Result<(), TargetError> {
        let expected = format!("one of {}", Bus::ALL.map(Bus::name).join(", "));
        self.profile.link = self.profile.link.on(parse_value("link", value, &expected)?);
        Ok(())
    }

    fn scale_noise(&mut self, value: &str) -> Result<(), TargetError> {
        let factor: f64 = parse_value("noise", value, "a factor, such as 0 or 2.5")?;
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

/// `new` times the ratio of `part` to `old`; zero on overflow, which the profile's check then refuses.
fn scale(new: Bytes, part: Bytes, old: Bytes) -> Bytes {
    let product = u128::from(new.get()) * u128::from(part.get()) / u128::from(old.get().max(1));
    Bytes::new(u64::try_from(product).unwrap_or(0))
}

fn size(key: &'static str, value: &str) -> Result<Bytes, TargetError> {
    parse_value(key, value, "a size such as 8MiB")
}

fn parse_value<T: std::str::FromStr>(
    key: &'static str,
    value: &str,
    expected: &str,
) -> Result<T, TargetError> {
    let error = || TargetError::Value { key, value: value.to_owned(), expected: expected.to_owned() };
    value.parse().map_err(|_| error())
}
