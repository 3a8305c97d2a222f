//! Faults that cannot be.

/// A text that is no fault, or a fault that a device cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// No fault has this name.
    #[error("there is no fault '{}'; there are {known}", name.escape_debug())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are, joined with commas.
        known: String,
    },
    /// The fault has no such key.
    #[error("the fault {fault} has no '{}'; it knows {known}", key.escape_debug())]
    UnknownKey {
        /// The fault.
        fault: &'static str,
        /// The key.
        key: String,
        /// The keys there are, joined with commas.
        known: String,
    },
    /// A key that is needed is not given.
    #[error("the fault {fault} needs {key}, such as {fault}:{example}")]
    Missing {
        /// The fault.
        fault: &'static str,
        /// The key or keys.
        key: &'static str,
        /// How it may look.
        example: &'static str,
    },
    /// A key is given twice, or together with one that says the same otherwise.
    #[error("the fault {fault} takes {key} once")]
    Twice {
        /// The fault.
        fault: &'static str,
        /// The key.
        key: String,
    },
    /// A value that cannot be read, or is out of bounds.
    #[error("'{}' is no value for {key} of the fault {fault}: {allowed}", value.escape_debug())]
    Value {
        /// The fault.
        fault: &'static str,
        /// The key.
        key: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A fault that this device cannot have.
    #[error("the fault {fault} does not fit this device: {why}")]
    Misfit {
        /// The fault, as text.
        fault: String,
        /// Key, value and bounds.
        why: String,
    },
}
