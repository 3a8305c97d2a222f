//! The median of costs.

/// The median; the default of nothing. Sorts the values.
pub fn median<T: Ord + Copy + Default>(values: &mut [T]) -> T {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}
