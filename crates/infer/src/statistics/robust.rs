//! Linear regression with Student-t noise, for a handful of parameters.
//!
//! Iteratively reweighted least squares: K. Lange, R. Little and J. Taylor, "Robust statistical modeling
//! using the t distribution", JASA 84 (1989).

use statrs::function::gamma::ln_gamma;

use crate::statistics::{count, median};

/// Degrees of freedom of the noise, by Student's t. Guess: tails heavy enough that single outliers do not
/// decide.
pub const FREEDOM: f64 = 3.0;
/// Iterations of the weights: it limits the work. Guess: the weights settle within twelve.
const ITERATIONS: usize = 12;
/// The least scale of the noise, seconds. Guess: no known clock resolves 100 ns of a request's time.
pub const SCALE_MIN: f64 = 1e-7;

/// A fitted regression.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// One per column.
    pub coefficients: Vec<f64>,
    /// The scale of the noise, in the unit of the values.
    pub scale: f64,
    /// The logarithm of the likelihood at the fit.
    pub log_likelihood: f64,
}

/// Fits `values` (n) in seconds by `rows` (n x k); `None` if the columns are not independent or n <= k.
#[must_use]
pub fn fit(rows: &[Vec<f64>], values: &[f64]) -> Option<Fit> {
    fit_with_scale(rows, values, SCALE_MIN)
}

/// The same for values of any unit, whose noise is never taken to be smaller than `scale_min`.
#[must_use]
pub fn fit_with_scale(rows: &[Vec<f64>], values: &[f64], scale_min: f64) -> Option<Fit> {
    let columns = rows.first()?.len();
    if values.len() <= columns {
        return None;
    }
    let mut weights = vec![1.0; values.len()];
    let mut coefficients = Vec::new();
    let mut scale = scale_min;
    for _ in 0..ITERATIONS {
        coefficients = solve(normal_equations(rows, values, &weights))?;
        let residuals = residuals(rows, values, &coefficients);
        scale = scale_of(&residuals, columns).max(scale_min);
        for (weight, residual) in weights.iter_mut().zip(&residuals) {
            *weight = (FREEDOM + 1.0) / (FREEDOM + (residual / scale).powi(2));
        }
    }
    let log_likelihood = log_likelihood(&residuals(rows, values, &coefficients), scale);
    Some(Fit { coefficients, scale, log_likelihood })
}

/// The noise's scale from the median absolute residual, which a t with three degrees of freedom puts at 0.765
/// of it; the `columns` residuals that the fit could make vanish do not count.
fn scale_of(residuals: &[f64], columns: usize) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().map(|residual| residual.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let kept = sizes.get(columns.min(sizes.len() - 1)..).unwrap_or(&[]);
    median(kept).unwrap_or(0.0) / 0.765
}

fn residuals(rows: &[Vec<f64>], values: &[f64], coefficients: &[f64]) -> Vec<f64> {
    let predicted = |row: &Vec<f64>| row.iter().zip(coefficients).map(|(x, c)| x * c).sum::<f64>();
    rows.iter().zip(values).map(|(row, value)| value - predicted(row)).collect()
}

fn log_likelihood(residuals: &[f64], scale: f64) -> f64 {
    let constant = ln_gamma(f64::midpoint(FREEDOM, 1.0))
        - ln_gamma(FREEDOM / 2.0)
        - 0.5 * (FREEDOM * std::f64::consts::PI).ln()
        - scale.ln();
    let tail = |residual: &f64| {
        f64::midpoint(FREEDOM, 1.0) * (residual / scale).powi(2).mul_add(1.0 / FREEDOM, 1.0).ln()
    };
    count(residuals.len()) * constant - residuals.iter().map(tail).sum::<f64>()
}

/// The augmented matrix (k x k+1) of weighted least squares.
fn normal_equations(rows: &[Vec<f64>], values: &[f64], weights: &[f64]) -> Vec<Vec<f64>> {
    let columns = rows[0].len();
    let mut matrix = vec![vec![0.0; columns + 1]; columns];
    for ((row, value), weight) in rows.iter().zip(values).zip(weights) {
        for (i, equation) in matrix.iter_mut().enumerate() {
            for (j, cell) in equation.iter_mut().enumerate() {
                *cell += weight * row[i] * row.get(j).unwrap_or(value);
            }
        }
    }
    matrix
}

/// Gauss and Jordan with column pivots; `None` if singular.
fn solve(mut matrix: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let columns = matrix.len();
    for pivot in 0..columns {
        let best =
            (pivot..columns).max_by(|a, b| matrix[*a][pivot].abs().total_cmp(&matrix[*b][pivot].abs()))?;
        matrix.swap(pivot, best);
        if matrix[pivot][pivot].abs() < 1e-9 {
            return None;
        }
        let pivot_row = matrix[pivot].clone();
        for (index, row) in matrix.iter_mut().enumerate() {
            if index != pivot {
                let factor = row[pivot] / pivot_row[pivot];
                row.iter_mut().zip(&pivot_row).for_each(|(cell, above)| *cell -= factor * above);
            }
        }
    }
    Some((0..columns).map(|index| matrix[index][columns] / matrix[index][index]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_survives_a_fifth_of_outliers() {
        let rows: Vec<Vec<f64>> = (0..20).map(|x| vec![1.0, f64::from(x)]).collect();
        let wobble = [0.1, -0.2, 0.15, -0.05, 40.0];
        let values: Vec<f64> = (0..20).map(|x| 3.0 + 2.0 * f64::from(x) + wobble[x as usize % 5]).collect();
        let fit = fit(&rows, &values).unwrap();
        assert!((fit.coefficients[0] - 3.0).abs() < 0.2, "{fit:?}");
        assert!((fit.coefficients[1] - 2.0).abs() < 0.02, "{fit:?}");
    }

    #[test]
    fn as_many_values_as_columns_fit_any_line_and_are_refused() {
        let rows: Vec<Vec<f64>> = (0..3).map(|x| vec![1.0, f64::from(x)]).collect();
        let values = [3.0, 5.0, 7.0];
        assert_eq!(fit(&rows[..2], &values[..2]), None);
        assert!(fit(&rows, &values).is_some());
    }

    #[test]
    fn equal_columns_are_refused() {
        let rows = vec![vec![1.0, 1.0]; 5];
        assert_eq!(fit(&rows, &[1.0, 2.0, 3.0, 4.0, 5.0]), None);
    }
}
