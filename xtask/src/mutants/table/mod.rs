//! The guards of data, and the mutation that removes each.

mod device;
mod flashscope;
mod layout;
mod linux;

/// One guard, without it.
pub struct Mutant {
    /// What the program does without the guard.
    pub name: &'static str,
    /// The file.
    pub file: &'static str,
    /// Source text that is in the file once.
    pub from: &'static str,
    /// What takes its place.
    pub to: &'static str,
    /// Arguments for `cargo test`, then the filter of the tests that must fail.
    pub test: &'static [&'static str],
}

/// Every guard over what may write, erase, confirm, restore or replace, sorted by crate, so that each is
/// built as seldom as possible.
pub fn mutants() -> impl Iterator<Item = &'static Mutant> {
    [linux::MUTANTS, device::MUTANTS, layout::MUTANTS, flashscope::MUTANTS].into_iter().flatten()
}
