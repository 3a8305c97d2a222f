//! A factorial experiment: how many times as fast each factor makes a workload, alone and with others.
//!
//! A cell is one combination of levels. The model of the logarithm of the time is a mean for each cell, an
//! effect for each block (round), and noise. Every effect is a contrast of cell means, so cells that do not
//! exist take nothing but the effects that need them: a stripe has no meaning on vfat, and that is no error.
//!
//! Each effect is fitted to the cells that it compares, and has their residual variance: vfat repeats within
//! 0.2 %, ext4 within 6 %, and one variance for both would be wrong for each. As all its cells have the same
//! weight, up to the sign, that variance has no bias where these cells differ in spread; it has fewer degrees
//! of freedom then.
//!
//! G. E. P. Box, J. S. Hunter and W. G. Hunter, "Statistics for Experimenters", 2nd ed., Wiley 2005, chapters
//! 4 and 5; incomplete blocks: R. C. Bose, "Least square aspects of analysis of variance", 1947.

mod contrast;
mod data;
mod design;
mod effect;
mod fit;

pub use data::{Factor, FactorialError, Row};
pub use effect::{Change, Direction, Effect, EffectKind, Held, Ratio, UnknownEffect};

use contrast::Contrast;
use design::Design;
use effect::Estimate;
use fit::Fit;

/// What a factorial experiment shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Factorial {
    /// The factors.
    pub factors: Vec<Factor>,
    /// Main effects first, then for each pair of factors both alone, both together, and their interaction.
    pub effects: Vec<Effect>,
    /// The standard deviation of the logarithm of a time between rounds, over all cells: 0.05 is 5 %. It is
    /// that of repeated measurements, or of recordings of the same work that were replayed: a virtual stick
    /// answers the same recording with the same time. `None` if there are too few rounds to know it.
    pub deviation: Option<f64>,
    /// The number of rounds.
    pub blocks: usize,
    /// The relative error of a ratio of two times that more rounds do not reduce.
    pub error: f64,
}

/// Fits the model to these rows. `error` is the relative error of a ratio of two times that is common to all
/// rounds, such as that of recordings made on another host: 0.05 widens every interval to at least ±5 %.
///
/// # Errors
///
/// A factor without levels, a row that does not fit them, a time or an error out of range.
pub fn factorial(factors: &[Factor], rows: &[Row], error: f64) -> Result<Factorial, FactorialError> {
    data::check(factors, rows, error)?;
    let design = Design::new(rows);
    let effects = design.contrasts(factors).into_iter();
    let effects = effects.map(|(kind, contrast)| effect(&design, kind, contrast.as_ref(), error)).collect();
    let deviation = Fit::new(&design).variance().map(f64::sqrt);
    Ok(Factorial { factors: factors.to_vec(), effects, deviation, blocks: design.blocks, error })
}

fn effect(design: &Design, kind: EffectKind, contrast: Option<&Contrast>, error: f64) -> Effect {
    let Some(contrast) = contrast else {
        return Effect { kind, held: Vec::new(), outcome: Err(UnknownEffect::NoCells) };
    };
    let outcome = estimate(design, contrast).map(|found| found.with_error(&kind, error));
    Effect { held: design.held(&kind, contrast), outcome, kind }
}

/// The contrast, fitted to the cells that it compares.
fn estimate(design: &Design, contrast: &Contrast) -> Result<Estimate, UnknownEffect> {
    let design = design.of_cells(contrast);
    let fit = Fit::new(&design);
    let contrast = contrast.of_its_cells();
    if !fit.connects(&contrast) {
        return Err(UnknownEffect::NotConnected);
    }
    let variance = fit.variance().ok_or(UnknownEffect::NoSpread)? * fit.variance_of(&contrast);
    Ok(Estimate {
        value: contrast.of(&fit.cells),
        standard_error: variance.sqrt(),
        freedom: fit.freedom_of_unequal(&design),
    })
}

impl Factorial {
    /// The effect of this kind, if it is one of the experiment's.
    #[must_use]
    pub fn effect(&self, kind: &EffectKind) -> Option<&Effect> {
        self.effects.iter().find(|effect| effect.kind == *kind)
    }

    /// The factor that a change is of.
    #[must_use]
    pub fn factor(&self, change: Change) -> Option<&Factor> {
        self.factors.get(change.factor)
    }
}

#[cfg(test)]
mod tests;
