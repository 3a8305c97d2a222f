//! How the numbers of each section of a profile were found.

use super::document::Profile;
use super::source::Basis;

impl Profile {
    /// Every section of the profile with the basis of its numbers, in the order of the model. Repeated
    /// sections appear once each.
    #[must_use]
    pub fn bases(&self) -> Vec<(&'static str, Basis)> {
        let mut bases = vec![("link", self.link.basis), ("read", self.read.basis)];
        bases.extend(self.read.cache.iter().map(|cache| ("read.cache", cache.basis)));
        bases.push(("write", self.write.basis));
        bases.extend(self.small_writes.as_ref().map(|small| ("small_writes", small.basis)));
        bases.push(("ftl", self.ftl.basis));
        let policy = self.policy.section();
        bases.push((policy.key(), policy.basis()));
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
