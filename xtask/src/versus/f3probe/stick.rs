//! The virtual sticks of the comparison: half genuine, half counterfeit.

use anyhow::{Context, Result};
use flashscope_device::{Bytes, Device};
use flashscope_sim::target::Target;
use flashscope_zoo::{CapacityCase, CapacityClass};

/// Counterfeits that are always among them, with their true sizes: periods that are no power of two, which
/// f3probe does not read.
const WRAPS: [(&str, Bytes); 2] = [
    ("counterfeit-64g-wrap", Bytes::mib(7680)),
    ("counterfeit-64g-wrap?capacity=58GiB&fault=wrap:real=7GiB", Bytes::gib(7)),
];
/// The kinds of the random counterfeits. The other kinds of the zoo accept only the data pattern, and a
/// served stick receives bytes.
const COUNTERFEITS: [CapacityClass; 3] = [CapacityClass::Wrap, CapacityClass::Limbo, CapacityClass::Chain];

/// A stick with a known capacity.
pub struct Stick {
    /// Its kind.
    pub class: CapacityClass,
    /// What it stores.
    pub true_size: Bytes,
    build: Build,
}

enum Build {
    Target(Box<Target>),
    Case(Box<CapacityCase>),
}

impl Stick {
    /// Stick `index` of `count`: the genuine ones first.
    ///
    /// # Errors
    /// If a drawn stick is impossible.
    pub fn new(seed: u64, index: u64, count: u64) -> Result<Self> {
        let Some(fake) = index.checked_sub(count / 2) else {
            return Self::of_case(CapacityCase::of_class(CapacityClass::Genuine, seed, index)?);
        };
        if let Some((text, true_size)) = WRAPS.get(usize::try_from(fake)?) {
            return Self::of_wrap(text, *true_size);
        }
        let class = COUNTERFEITS[usize::try_from(fake % COUNTERFEITS.len() as u64)?];
        Self::of_case(CapacityCase::of_class(class, seed, fake)?)
    }

    fn of_wrap(text: &str, true_size: Bytes) -> Result<Self> {
        let mut target = Target::parse(text)?;
        // A fault in the text comes after that of the profile, and replaces it.
        target.faults.drain(..target.faults.len() - 1);
        Ok(Self { class: CapacityClass::Wrap, true_size, build: Build::Target(Box::new(target)) })
    }

    fn of_case(case: CapacityCase) -> Result<Self> {
        let true_size = case.true_size.context("a stick without a true size")?;
        Ok(Self { class: case.class, true_size, build: Build::Case(Box::new(case)) })
    }

    /// Whether it stores what it announces.
    pub fn is_genuine(&self) -> bool {
        self.class == CapacityClass::Genuine
    }

    /// A new device.
    ///
    /// # Errors
    /// If its fault is impossible.
    pub fn device(&self) -> Result<Box<dyn Device + Send>> {
        Ok(match &self.build {
            Build::Target(target) => Box::new(target.device()?),
            Build::Case(case) => case.device()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_sticks_store_what_they_announce_and_two_wrap_at_no_power_of_two() {
        let sticks: Vec<Stick> = (0..10).map(|index| Stick::new(1, index, 10).unwrap()).collect();
        for (index, stick) in sticks.iter().enumerate() {
            let announced = stick.device().unwrap().capabilities().capacity;
            assert_eq!(stick.is_genuine(), index < 5);
            assert_eq!(stick.true_size == announced, index < 5, "{:?}", stick.true_size);
        }
        let sizes = [sticks[5].true_size, sticks[6].true_size];
        assert_eq!(sizes, [Bytes::mib(7680), Bytes::gib(7)]);
        assert!(sticks[7..].iter().any(|stick| stick.class == CapacityClass::Chain));
    }
}
