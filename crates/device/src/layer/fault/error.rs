//! Errors of fault descriptions.

/// A text that describes no fault, or a fault that does not fit a device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// No fault has this name.
    #[error("unknown fault '{}'; the faults are {known}", name.escape_debug())]
    Unknown {
        /// The unknown name.
        name: String,
        /// All names, joined with commas.
        known: String,
    },
    /// The fault has no such key.
    #[error("the fault {fault} has no key '{}'; its keys are {known}", key.escape_debug())]
    UnknownKey {
        /// The fault.
        fault: &'static str,
        /// The key.
        key: String,
        /// All keys, joined with commas.
        known: String,
    },
    /// A required key is missing.
    #[error("the fault {fault} needs {key}, such as {fault}:{example}")]
    Missing {
        /// The fault.
        fault: &'static str,
        /// The key or keys.
        key: &'static str,
        /// An example.
        example: &'static str,
    },
    /// A key is given twice, or together with a key that excludes it.
    #[error("the fault {fault} takes {key} once")]
    Twice {
        /// The fault.
        fault: &'static str,
        /// The key.
        key: String,
    },
    /// A value is invalid or out of bounds.
    #[error("'{}' is not a value for {key} of the fault {fault}: {allowed}", value.escape_debug())]
    Value {
        /// The fault.
        fault: &'static str,
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// The allowed values.
        allowed: String,
    },
    /// The fault does not fit this device.
    #[error("the fault {fault} does not fit this device: {why}")]
    Misfit {
        /// The fault, as text.
        fault: String,
        /// The reason: key, value and bounds.
        why: String,
    },
}
