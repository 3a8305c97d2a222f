//! Coordinates as SVG text.

/// A coordinate with one decimal; zero if it is not finite.
pub fn at(coordinate: f64) -> String {
    let coordinate = if coordinate.is_finite() { coordinate } else { 0.0 };
    format!("{coordinate:.1}")
}
