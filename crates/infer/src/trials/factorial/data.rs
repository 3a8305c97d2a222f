//! The data of a factorial experiment, and what is wrong with it.

use thiserror::Error;

/// A factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    /// Its name, such as `alignment`.
    pub name: String,
    /// Its levels. Every effect compares a level with the first.
    pub levels: Vec<String>,
    /// Whether a change is named by its levels (`vfat to ext4`), not by the factor (`alignment`).
    pub is_named_by_levels: bool,
}

/// One timed trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The level of each factor, an index of its levels.
    pub levels: Vec<usize>,
    /// The round: trials of one share their conditions.
    pub block: u32,
    /// The time, seconds.
    pub seconds: f64,
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FactorialError {
    /// There is no factor.
    #[error("a factorial experiment needs at least one factor")]
    NoFactor,
    /// A factor never changes.
    #[error("the factor {name} has fewer than two levels")]
    OneLevel {
        /// Its name.
        name: String,
    },
    /// There is no trial.
    #[error("no trial was timed")]
    NoRow,
    /// A trial has other levels than the factors.
    #[error("trial {row} has no level of each factor")]
    Levels {
        /// Its number, from 1.
        row: usize,
    },
    /// A time is not above zero and finite.
    #[error("trial {row} took {seconds} s, which is no time")]
    Time {
        /// The trial's number, from 1.
        row: usize,
        /// The time.
        seconds: f64,
    },
    /// The error is negative or not finite.
    #[error("an error of {0} is no relative error")]
    Error(f64),
}

/// Whether a fit can start from these rows.
pub(super) fn check(factors: &[Factor], rows: &[Row], error: f64) -> Result<(), FactorialError> {
    if !(error.is_finite() && error >= 0.0) {
        return Err(FactorialError::Error(error));
    }
    if factors.is_empty() {
        return Err(FactorialError::NoFactor);
    }
    if let Some(factor) = factors.iter().find(|factor| factor.levels.len() < 2) {
        return Err(FactorialError::OneLevel { name: factor.name.clone() });
    }
    if rows.is_empty() {
        return Err(FactorialError::NoRow);
    }
    rows.iter().enumerate().try_for_each(|(index, row)| check_row(factors, index + 1, row))
}

fn check_row(factors: &[Factor], number: usize, row: &Row) -> Result<(), FactorialError> {
    let fits = row.levels.len() == factors.len()
        && row.levels.iter().zip(factors).all(|(level, factor)| *level < factor.levels.len());
    if !fits {
        return Err(FactorialError::Levels { row: number });
    }
    if !(row.seconds.is_finite() && row.seconds > 0.0) {
        return Err(FactorialError::Time { row: number, seconds: row.seconds });
    }
    Ok(())
}
