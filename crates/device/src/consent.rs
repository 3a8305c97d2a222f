//! A person's permission to erase a target, as a value.

use std::fmt;

/// A person's permission to erase one target. Opening a real device for writing requires one.
///
/// The code that asks a person has the only type for it, with private fields; `cargo xtask tidy` reports any
/// other one. A consent names its target, so that it cannot be used for another one.
pub trait Consent: fmt::Debug {
    /// The target this permission is for, named as the person saw it.
    fn target(&self) -> &str;

    /// The identity of the medium that was in the drive while the person was asked; `None` for a file. The
    /// device name alone does not identify it: another card can get the same name.
    fn medium(&self) -> Option<&str>;

    /// Whether a file may be erased that looks like no image of a stick.
    fn includes_other_files(&self) -> bool {
        false
    }

    /// Whether the data on the target is lost, instead of put back at the end.
    fn loses_data(&self) -> bool {
        true
    }
}
