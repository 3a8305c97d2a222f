//! A parser under test, with valid samples.

/// Runs the parser; whether it accepted the input.
type Parse = Box<dyn FnMut(&[u8]) -> bool>;

/// A parser under test.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Inputs that it accepts.
    pub samples: Vec<Vec<u8>>,
    /// Repairs the checksums of a mutated input, so that it is not refused for those.
    pub sealed: fn(Vec<u8>) -> Vec<u8>,
    /// Runs the parser, and what depends on its result; whether the input was accepted.
    pub parse: Parse,
}

impl Target {
    /// A parser of inputs without checksums.
    pub fn new(
        name: &'static str,
        samples: Vec<Vec<u8>>,
        parse: impl FnMut(&[u8]) -> bool + 'static,
    ) -> Self {
        Self { name, samples, sealed: |input| input, parse: Box::new(parse) }
    }
}
