//! Runs a parser on mutated inputs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::memory::Memory;
use crate::mutation::mutated;
use crate::random::Random;
use crate::target::Target;

/// The limit for the memory of one input of at most 1 MiB. Policy (issue 44: no unbounded memory).
const MEMORY_KIB_MAX: u64 = 64 << 10;

/// A run of mutated inputs.
#[derive(Debug)]
pub struct Fuzzer {
    random: Random,
    inputs: u64,
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashKind {
    /// The parser panicked.
    Panic,
    /// It allocated this many KiB.
    Memory(u64),
    /// It refuses a valid sample.
    Refused,
}

/// An input that a parser does not take.
#[derive(Debug, thiserror::Error)]
#[error("{parser}: {kind:?} on input {number} ({} bytes): {}", input.len(), input.escape_ascii())]
pub struct Crash {
    /// The parser's name.
    pub parser: &'static str,
    /// What went wrong.
    pub kind: CrashKind,
    /// The number of the input, from 0.
    pub number: u64,
    /// The input.
    pub input: Vec<u8>,
}

impl Fuzzer {
    /// With this random seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), inputs: 0 }
    }

    /// How many mutated inputs were parsed.
    #[must_use]
    pub const fn inputs(&self) -> u64 {
        self.inputs
    }

    /// Parses the samples, which must be accepted.
    ///
    /// # Errors
    /// [`Crash`] for a sample that is not.
    pub fn samples(&self, target: &mut Target) -> Result<(), Crash> {
        for sample in target.samples.clone() {
            if !parsed(target, &sample, self.inputs)? {
                let (parser, number) = (target.name, self.inputs);
                return Err(Crash { parser, kind: CrashKind::Refused, number, input: sample });
            }
        }
        Ok(())
    }

    /// Parses one more mutated input.
    ///
    /// # Errors
    /// [`Crash`] if the parser panics, or allocates more than 64 MiB.
    pub fn step(&mut self, target: &mut Target) -> Result<(), Crash> {
        let samples = &target.samples;
        let [one, other] = [(); 2].map(|()| &samples[self.random.below(samples.len())]);
        let mut input = mutated(one, other, &mut self.random);
        if self.random.below(4) > 0 {
            input = (target.sealed)(input);
        }
        let number = self.inputs;
        self.inputs += 1;
        parsed(target, &input, number).map(drop)
    }
}

fn parsed(target: &mut Target, input: &[u8], number: u64) -> Result<bool, Crash> {
    let crash = |kind| Crash { parser: target.name, kind, number, input: input.to_vec() };
    let before = Memory::now();
    let result = catch_unwind(AssertUnwindSafe(|| (target.parse)(input)));
    let risen = before.and_then(|before| Some(Memory::now()?.risen_kib(before))).unwrap_or(0);
    match result {
        Err(_) => Err(crash(CrashKind::Panic)),
        Ok(_) if risen > MEMORY_KIB_MAX => Err(crash(CrashKind::Memory(risen))),
        Ok(is_accepted) => Ok(is_accepted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(parse: impl FnMut(&[u8]) -> bool + 'static) -> Target {
        Target::new("test", vec![b"sample 1".to_vec()], parse)
    }

    fn kind(parse: impl FnMut(&[u8]) -> bool + 'static) -> Option<CrashKind> {
        let mut target = target(parse);
        let mut fuzzer = Fuzzer::new(1);
        (0..200).find_map(|_| fuzzer.step(&mut target).err()).map(|crash| crash.kind)
    }

    #[test]
    fn panics_huge_allocations_and_refused_samples_are_crashes() {
        assert_eq!(kind(|_| true), None);
        assert_eq!(kind(|input| input.len() > usize::from(input[4])), Some(CrashKind::Panic));
        let huge = |input: &[u8]| std::hint::black_box(vec![1_u8; (input.len() % 3) << 27]).len() < 5;
        if Memory::now().is_some() {
            assert!(matches!(kind(huge), Some(CrashKind::Memory(_))));
        }
        assert!(Fuzzer::new(1).samples(&mut target(|_| false)).is_err());
    }
}
