//! `cargo xtask validate`: what flashscope reports and simulates, compared with known truth.

pub mod capacity;
pub mod diagnose;
pub mod fidelity;
pub mod layout;
mod median;
pub mod oracle;
pub mod scratch;
pub mod true_speed;
pub mod verdict;
pub mod whatif;
pub mod zoo;

/// What to validate.
#[derive(Debug, clap::Subcommand)]
pub enum Task {
    /// Compare the findings on random sticks with the truth
    Zoo(zoo::Arguments),
    /// Compare the verdicts of `verify` with the true capacity of counterfeit, bad and genuine devices
    Capacity(capacity::Arguments),
    /// Compare the diagnoses of sticks with known faults with the real gain of each repair
    Diagnose(diagnose::Arguments),
    /// Compare virtual sticks with the published tables they were made from
    Fidelity(fidelity::Arguments),
    /// Apply plans with the real tools, cut them anywhere, and undo them
    Layout(layout::Arguments),
    /// Compare the data of every translation layer with a simple model, with power cuts
    Oracle(oracle::Arguments),
    /// Compare `check --scratch` with `check --erase` on random sticks full of data
    Scratch(scratch::Arguments),
    /// Compare the speeds of `bench write` with those of a long run
    TrueSpeed(true_speed::Arguments),
    /// Look for contradictions in the first screens of virtual sticks, and compare gains with the truth
    Verdict(verdict::Arguments),
    /// Compare the gains that `whatif` predicts on random sticks with the true ones
    Whatif(whatif::Arguments),
}

/// Runs one validation.
pub fn run(task: &Task) -> anyhow::Result<()> {
    match task {
        Task::Zoo(arguments) => zoo::run(arguments),
        Task::Capacity(arguments) => capacity::run(arguments),
        Task::Diagnose(arguments) => diagnose::run(arguments),
        Task::Fidelity(arguments) => fidelity::run(arguments),
        Task::Layout(arguments) => layout::run(arguments),
        Task::Oracle(arguments) => oracle::run(arguments),
        Task::Scratch(arguments) => scratch::run(arguments),
        Task::TrueSpeed(arguments) => true_speed::run(arguments),
        Task::Verdict(arguments) => verdict::run(arguments),
        Task::Whatif(arguments) => whatif::run(arguments),
    }
}
