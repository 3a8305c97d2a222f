//! The series a chart draws, and their colours and markers. Its table holds all of them.

use super::{Colour, Marker};

/// At most `most` of `items`, evenly spaced, including the first and the last.
pub fn spread<T: Copy>(items: &[T], most: usize) -> Vec<T> {
    let (count, last) = (items.len().min(most), items.len().saturating_sub(1));
    (0..count).map(|index| items[(index * last).div_ceil(count.saturating_sub(1).max(1))]).collect()
}

/// A colour and a marker for each of `count` series that are neither fast nor slow.
pub fn styles(count: usize) -> impl Iterator<Item = (Colour, Marker)> {
    let colours = Colour::GOOD.into_iter().chain(Colour::BAD).cycle();
    let markers = Marker::FILLED.into_iter().chain(Marker::OPEN).cycle();
    colours.zip(markers).take(count)
}

/// The numbers of open units to draw, with colour and marker: at most four within `limit` and four beyond.
/// Without a limit, at most eight.
pub fn open_units(tried: &[u32], limit: Option<u32>) -> Vec<(u32, Colour, Marker)> {
    let Some(limit) = limit else {
        let drawn = spread(tried, 8);
        let styles = styles(drawn.len());
        return drawn
            .into_iter()
            .zip(styles)
            .map(|(count, (colour, marker))| (count, colour, marker))
            .collect();
    };
    let (within, beyond): (Vec<u32>, Vec<u32>) = tried.iter().partition(|count| **count <= limit);
    let fast = spread(&within, 4).into_iter().zip(Colour::GOOD).zip(Marker::FILLED);
    let slow = spread(&beyond, 4).into_iter().zip(Colour::BAD).zip(Marker::OPEN);
    fast.chain(slow).map(|((count, colour), marker)| (count, colour, marker)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_keeps_both_ends() {
        let items: Vec<u32> = (1..=16).collect();
        assert_eq!(spread(&items, 4), [1, 6, 11, 16]);
        assert_eq!(spread(&items[..3], 4), [1, 2, 3]);
        assert_eq!(spread(&items[..1], 4), [1]);
        assert!(spread::<u32>(&[], 4).is_empty());
    }

    #[test]
    fn the_last_within_the_limit_and_the_first_beyond_are_drawn() {
        let tried: Vec<u32> = (1..=16).collect();
        let drawn: Vec<u32> = open_units(&tried, Some(8)).into_iter().map(|(count, ..)| count).collect();
        assert!(drawn.contains(&8) && drawn.contains(&9), "{drawn:?}");
    }
}
