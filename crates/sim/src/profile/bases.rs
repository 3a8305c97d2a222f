//! How each group of a profile's numbers was found.

use super::{Basis, Policy, Profile};

impl Profile {
    /// Every group that the profile has, in the order of the model, with how its numbers were found. Of groups that may stand there
    /// several times, each.
    #[must_use]
    pub fn bases(&self) -> Vec<(&'static str, Basis)> {
        let mut bases = vec![("link", self.link.basis), ("read", self.read.basis)];
        bases.extend(self.read.cache.iter().map(|cache| ("read.cache", cache.basis)));
        bases.push(("write", self.write.basis));
        bases.extend(self.small_writes.as_ref().map(|small| ("small_writes", small.basis)));
        bases.push(("ftl", self.ftl.basis));
        bases.push(self.policy.basis());
        bases.extend(self.slc_cache.as_ref().map(|cache| ("slc_cache", cache.basis)));
        bases.extend(self.write_buffer.as_ref().map(|buffer| ("write_buffer", buffer.basis)));
        bases.extend(self.states.as_ref().map(|states| ("states", states.basis)));
        bases.extend(self.background.as_ref().map(|background| ("background", background.basis)));
        bases.extend(self.region.iter().map(|region| ("region", region.basis)));
        bases.extend(self.wear.as_ref().map(|wear| ("wear", wear.basis)));
        bases.extend(self.thermal.as_ref().map(|thermal| ("thermal", thermal.basis)));
        bases.push(("noise", self.noise.basis));
        bases
    }
}

impl Policy {
    const fn basis(&self) -> (&'static str, Basis) {
        match self {
            Self::OpenBlocks(policy) => ("policy.open_blocks", policy.basis),
            Self::HybridLog(policy) => ("policy.hybrid_log", policy.basis),
            Self::LogStructured(policy) => ("policy.log_structured", policy.basis),
            Self::PageMapped(policy) => ("policy.page_mapped", policy.basis),
        }
    }
}

impl Basis {
    /// The three, best first.
    pub const ALL: [Self; 3] = [Self::Measured, Self::Fitted, Self::Assumed];

    /// As profiles write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Fitted => "fitted",
            Self::Assumed => "assumed",
        }
    }
}
