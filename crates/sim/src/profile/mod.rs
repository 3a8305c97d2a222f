//! What a stick is made of: every number of the model, with where it came from.

mod background;
mod bases;
mod bounds;
mod builtin;
mod bus;
mod curve;
mod ftl;
mod link;
mod noise;
mod policy;
mod quantity;
mod read;
mod read_cache;
mod region;
mod slc_cache;
mod source;
mod state;
mod states;
mod thermal;
mod truth;
mod wear;
mod write;
mod write_buffer;

use flashscope_device::Bytes;
use flashscope_device::layer::FaultSpec;
use serde::Deserialize;

use bounds::{CAPACITY_MAX, ensure, size};

pub use background::{Background, Stall};
pub use bus::{Bus, BusFigures, UnknownBus};
pub use curve::{Curve, Knot};
pub use ftl::Ftl;
pub use link::{CardLink, Link, LinkTiming, Protocol};
pub use noise::Noise;
pub use policy::{
    Association, CollectionVictim, HybridLog, LogStructured, OpenBlocks, Opening, PageMapped, Policy, Victim,
};
pub use read::{Boundary, ReadPath};
pub use read_cache::{ReadCache, ReadCacheKind};
pub use region::{Fails, Region};
pub use slc_cache::{SlcCache, WhenFull};
pub use source::{Basis, Source};
pub use state::State;
pub use states::States;
pub use thermal::Thermal;
pub use truth::{Class, Truth};
pub use wear::{AtEnd, Levelling, Wear};
pub use write::{SmallWrites, WriteCurve, WritePath};
pub use write_buffer::WriteBuffer;

/// Everything that makes one model of stick, as its TOML file has it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name: small letters, digits and hyphens.
    pub name: String,
    /// What it is, in one line.
    pub description: String,
    /// How many bytes it claims to hold, and holds.
    #[serde(deserialize_with = "quantity::bytes")]
    pub capacity: Bytes,
    /// What is wrong with it, e.g. `["wrap:real=2GiB"]`. The stick itself is without; [`Target`](crate::Target) adds it.
    #[serde(default)]
    pub fault: Vec<FaultSpec>,
    /// Where its numbers come from.
    #[serde(default)]
    pub source: Vec<Source>,
    /// The way from the host to the controller.
    pub link: Link,
    /// How reads take their time.
    pub read: ReadPath,
    /// How writes take their time when nothing has to be copied.
    pub write: WritePath,
    /// The separate path of small writes, where the controller has one.
    pub small_writes: Option<SmallWrites>,
    /// The geometry of the flash translation layer.
    pub ftl: Ftl,
    /// Its policy.
    pub policy: Policy,
    /// What it has been through before its first request.
    #[serde(default)]
    pub state: State,
    /// The cache in single-level cells, where there is one.
    pub slc_cache: Option<SlcCache>,
    /// The write buffer in the controller's memory, where there is one.
    pub write_buffer: Option<WriteBuffer>,
    /// How areas that hold nothing differ.
    pub states: Option<States>,
    /// What the controller does on its own.
    pub background: Option<Background>,
    /// Slow and bad parts.
    #[serde(default)]
    pub region: Vec<Region>,
    /// How it grows old.
    pub wear: Option<Wear>,
    /// How it slows down when it is hot.
    pub thermal: Option<Thermal>,
    /// What makes two equal requests differ.
    pub noise: Noise,
}

/// A profile that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No built-in profile has this name.
    #[error("there is no profile '{}'; the built-in ones are {known}; a path to a .toml file works too", name.escape_debug())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are, joined with commas.
        known: String,
    },
    /// The text is not TOML, or has a key missing, unknown or of the wrong type.
    #[error("the profile cannot be read: {0}")]
    Syntax(String),
    /// A value that no stick can have, or that this model cannot simulate.
    #[error("{key} = {value} is impossible: {allowed}")]
    Impossible {
        /// The key, as a path.
        key: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
}

impl Profile {
    /// Reads a profile's TOML and checks that a stick can be made of it.
    ///
    /// # Errors
    /// [`ProfileError::Syntax`] with line and key, or [`ProfileError::Impossible`] with key, value and what is allowed.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let profile: Self =
            toml::from_str(text).map_err(|error| ProfileError::Syntax(printable(&error.to_string())))?;
        profile.check()?;
        Ok(profile)
    }

    /// Checks every value, alone and against the others.
    ///
    /// # Errors
    /// [`ProfileError::Impossible`] for the first value that cannot be.
    pub fn check(&self) -> Result<(), ProfileError> {
        self.check_names()?;
        self.ftl.check(self.capacity)?;
        size("capacity", self.capacity, self.ftl.erase_block, CAPACITY_MAX)?;
        self.policy.check(&self.ftl, self.capacity)?;
        self.check_small_writes()?;
        self.check_background_share()?;
        self.link.check()?;
        self.read.check()?;
        self.write.check()?;
        self.small_writes.as_ref().map_or(Ok(()), |small| small.check(self.ftl.erase_block))?;
        self.slc_cache.as_ref().map_or(Ok(()), |cache| cache.check(self.capacity, &self.ftl))?;
        self.write_buffer.as_ref().map_or(Ok(()), WriteBuffer::check)?;
        self.states.as_ref().map_or(Ok(()), |states| states.check(self.capacity, &self.ftl))?;
        self.background.as_ref().map_or(Ok(()), Background::check)?;
        region::check_all(&self.region, self.capacity)?;
        self.wear.as_ref().map_or(Ok(()), Wear::check)?;
        self.thermal.as_ref().map_or(Ok(()), Thermal::check)?;
        self.noise.check()
    }

    fn check_small_writes(&self) -> Result<(), ProfileError> {
        let Some(small) = &self.small_writes else { return Ok(()) };
        let beside = matches!(self.policy, Policy::OpenBlocks(_));
        let allowed = "absent, unless the policy is open_blocks: the others map small writes as they map all";
        ensure(beside, "small_writes.up_to", small.up_to, allowed)?;
        small.check(self.ftl.erase_block)
    }

    fn check_background_share(&self) -> Result<(), ProfileError> {
        let (key, share) = self.policy.background_share();
        let allowed = "0, unless there is a [background] table that says when idle work begins";
        ensure(share == 0.0 || self.background.is_some(), key, share, allowed)
    }

    fn check_names(&self) -> Result<(), ProfileError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let good = (1..=64).contains(&self.name.len()) && self.name.chars().all(plain);
        ensure(good, "name", self.name.escape_debug(), "1 to 64 small letters, digits and hyphens")?;
        let one_line = !self.description.chars().any(char::is_control);
        ensure(
            one_line,
            "description",
            self.description.escape_debug(),
            "one line without control characters",
        )
    }

    /// The built-in profile of this name.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] with the names there are.
    pub fn builtin(name: &str) -> Result<Self, ProfileError> {
        Self::parse(Self::text(name)?)
    }

    /// The TOML text of the built-in profile of this name, as `sim show` prints it.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] with the names there are.
    pub fn text(name: &str) -> Result<&'static str, ProfileError> {
        builtin::text(name).ok_or_else(|| ProfileError::Unknown {
            name: name.to_owned(),
            known: Self::builtin_names().collect::<Vec<_>>().join(", "),
        })
    }

    /// The names of the built-in profiles, in order.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        builtin::NAMES.iter().copied()
    }

    /// What is true of this stick, for tests of what was inferred.
    #[must_use]
    pub fn truth(&self) -> Truth {
        Truth::of(self)
    }
}

/// A message that quotes a file, without the control characters that may be in it.
fn printable(message: &str) -> String {
    let kept = |c: char| c == '\n' || !c.is_control();
    message.trim_end().chars().map(|c| if kept(c) { c } else { '\u{fffd}' }).collect()
}
