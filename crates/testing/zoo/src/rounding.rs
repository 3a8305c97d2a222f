//! Rounding of drawn numbers, so that profiles stay readable.

/// `value` rounded to this number of decimal digits.
pub(crate) fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_numbers_equal_their_decimal_text() {
        for (value, digits) in [(0.123_456, 3), (1234.567, 1), (-0.96, 1), (7.5e5, 0)] {
            let text = format!("{value:.*}", usize::try_from(digits).unwrap());
            assert_eq!(rounded(value, digits).to_string(), text.parse::<f64>().unwrap().to_string());
        }
    }
}
