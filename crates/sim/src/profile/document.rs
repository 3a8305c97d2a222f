//! The whole profile: one TOML document that describes one model of stick.

use flashscope_device::Bytes;
use flashscope_device::layer::FaultSpec;
use serde::{Deserialize, Serialize};

use super::background::Background;
use super::bounds::{CAPACITY_MAX, ensure, size};
use super::builtin;
use super::error::ProfileError;
use super::ftl::Ftl;
use super::link::Link;
use super::noise::Noise;
use super::policy::Policy;
use super::quantity;
use super::read::ReadPath;
use super::region::{self, Region};
use super::slc_cache::SlcCache;
use super::source::Source;
use super::state::State;
use super::states::States;
use super::thermal::Thermal;
use super::wear::Wear;
use super::write::{SmallWrites, WritePath};
use super::write_buffer::WriteBuffer;

/// One model of stick, field by field as in its TOML file.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name: lowercase letters, digits and hyphens.
    pub name: String,
    /// What the stick is, in one line.
    pub description: String,
    /// The capacity that the stick reports.
    #[serde(with = "quantity")]
    pub capacity: Bytes,
    /// Injected faults, such as `["wrap:real=2GiB"]`. A `VirtualStick` ignores them;
    /// [`Target`](crate::Target) adds them.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub fault: Vec<FaultSpec>,
    /// Where the numbers come from.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub source: Vec<Source>,
    /// The link between host and controller.
    pub link: Link,
    /// The latency of reads.
    pub read: ReadPath,
    /// The latency of writes that copy nothing.
    pub write: WritePath,
    /// The separate path of small writes, if the controller has one.
    pub small_writes: Option<SmallWrites>,
    /// The geometry of the flash translation layer.
    pub ftl: Ftl,
    /// The policy of the flash translation layer.
    pub policy: Policy,
    /// The preconditioning state before the first request.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub state: State,
    /// The SLC cache, if there is one.
    pub slc_cache: Option<SlcCache>,
    /// The write buffer in the controller's memory, if there is one.
    pub write_buffer: Option<WriteBuffer>,
    /// The speed of areas that hold no data.
    pub states: Option<States>,
    /// Background work of the controller.
    pub background: Option<Background>,
    /// Slow and failing ranges.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub region: Vec<Region>,
    /// Wear.
    pub wear: Option<Wear>,
    /// Thermal throttling.
    pub thermal: Option<Thermal>,
    /// Noise on request times.
    pub noise: Noise,
}

impl Profile {
    /// Parses a profile's TOML and checks every value.
    ///
    /// # Errors
    /// [`ProfileError::Syntax`] with line and key, or [`ProfileError::Impossible`] with key, value and what
    /// is allowed.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let profile: Self =
            toml::from_str(text).map_err(|error| ProfileError::Syntax(printable(&error.to_string())))?;
        profile.check()?;
        Ok(profile)
    }

    /// The profile as TOML. [`Profile::parse`] of the text gives an equal profile.
    ///
    /// # Errors
    /// [`ProfileError::Unwritable`] if TOML cannot express a value.
    pub fn to_toml(&self) -> Result<String, ProfileError> {
        toml::to_string(self).map_err(|error| ProfileError::Unwritable(error.to_string()))
    }

    /// Checks every value, alone and against the others.
    ///
    /// # Errors
    /// [`ProfileError::Impossible`] for the first value that is out of bounds.
    pub fn check(&self) -> Result<(), ProfileError> {
        self.check_names()?;
        self.ftl.check(self.capacity)?;
        size("capacity", self.capacity, self.ftl.erase_block, CAPACITY_MAX)?;
        self.policy.section().check(&self.ftl, self.capacity)?;
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
        let is_allowed = self.policy.section().allows_small_write_path();
        let allowed = "absent, unless the policy is open_blocks: the others map all writes alike";
        ensure(is_allowed, "small_writes.up_to", small.up_to, allowed)?;
        small.check(self.ftl.erase_block)
    }

    fn check_background_share(&self) -> Result<(), ProfileError> {
        let Some((key, share)) = self.policy.section().background_share() else { return Ok(()) };
        let allowed = "0, unless a [background] table gives the delay before idle work";
        ensure(share == 0.0 || self.background.is_some(), key, share, allowed)
    }

    fn check_names(&self) -> Result<(), ProfileError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let good = (1..=64).contains(&self.name.len()) && self.name.chars().all(plain);
        ensure(good, "name", self.name.escape_debug(), "1 to 64 lowercase letters, digits and hyphens")?;
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
    /// [`ProfileError::Unknown`] with the names of the built-in profiles.
    pub fn builtin(name: &str) -> Result<Self, ProfileError> {
        Self::parse(Self::text(name)?)
    }

    /// The TOML text of the built-in profile of this name, as `sim show` prints it.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] with the names of the built-in profiles.
    pub fn text(name: &str) -> Result<&'static str, ProfileError> {
        builtin::text(name).ok_or_else(|| ProfileError::Unknown {
            name: name.to_owned(),
            similar: Self::similar_builtin(name),
            known: Self::builtin_names().collect::<Vec<_>>().join(", "),
        })
    }

    /// The names of the built-in profiles, sorted.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        builtin::NAMES.iter().copied()
    }

    /// The built-in profile whose name is most similar to this one, for a typing mistake.
    #[must_use]
    pub fn similar_builtin(name: &str) -> Option<&'static str> {
        Self::builtin_names()
            .map(|known| (strsim::jaro_winkler(name, known), known))
            .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, known)| known)
    }
}

/// Names with less similarity (Jaro and Winkler) are no typing mistakes. Guess: two wrong letters in ten are
/// above it, another word is below.
const SIMILARITY_MIN: f64 = 0.85;

/// A message that may quote a file, with its control characters replaced.
fn printable(message: &str) -> String {
    let kept = |c: char| c == '\n' || !c.is_control();
    message.trim_end().chars().map(|c| if kept(c) { c } else { '\u{fffd}' }).collect()
}
