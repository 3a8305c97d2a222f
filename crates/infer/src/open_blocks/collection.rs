//! Collections of space: what they do to writes one behind the other, and how evenly they come.

use flashscope_record::observation::{OpenUnitsCell, Order};

use crate::open_blocks::evidence::Part;
use crate::slow_classifier::SlowClassifier;
use crate::statistics::{count, lower_quartile, median, quantile};

/// A write takes so many times as long as usual if space is collected in it.
const SLOW: f64 = 1.5;
/// And so much longer at least, seconds: an erase block is erased, which takes 1.5 to 5 ms by data sheets.
const LEAST_SECONDS: f64 = 1.5e-3;

/// What each collection took by itself, seconds, among writes into one block after the other; the first write into a block, which may
/// close another one, left out.
#[must_use]
pub fn collections<'a>(cells: impl IntoIterator<Item = &'a OpenUnitsCell>) -> Vec<f64> {
    cells.into_iter().flat_map(of_size).map(|(_, seconds)| seconds).collect()
}

/// By how much the middle half of what was written between collections differs, as a share of its median: by chance by 1.6 of it. `None` if
/// there are too few.
#[must_use]
pub fn unevenness(cells: &[OpenUnitsCell]) -> Option<f64> {
    let mut written = 0.0;
    let mut at = Vec::new();
    for cell in cells {
        at.extend(of_size(cell).into_iter().map(|(index, _)| written + count(index) * cell.request.as_f64()));
        written += count(cell.writes().count()) * cell.request.as_f64();
    }
    let apart: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if apart.len() < APART_MIN {
        return None;
    }
    let at = |share: f64| quantile(&apart, share);
    Some((at(0.75)? - at(0.25)?) / at(0.5)?)
}

/// So many distances tell how even they are.
const APART_MIN: usize = 4;

/// Each collection among writes of one size: which write, and seconds by itself.
fn of_size(cell: &OpenUnitsCell) -> Vec<(usize, f64)> {
    let writes: Vec<(u32, f64)> =
        cell.writes().map(|(unit, latency)| (unit, latency.as_secs_f64())).collect();
    let seconds: Vec<f64> = writes.iter().map(|(_, seconds)| *seconds).collect();
    let Some(typical) = lower_quartile(&seconds) else { return Vec::new() };
    let behind = (1..).zip(writes.windows(2));
    let within = behind.filter(|(_, pair)| pair[0].0 == pair[1].0).map(|(index, pair)| (index, pair[1].1));
    let is_slow = |seconds: f64| seconds > typical * SLOW && seconds > typical + LEAST_SECONDS;
    let own: Vec<(usize, f64)> = within
        .filter(|(_, seconds)| is_slow(*seconds))
        .map(|(index, seconds)| (index, seconds - typical))
        .collect();
    // Where many take somewhat longer, the slow ones are the end of that.
    let usual = median(&own.iter().map(|(_, seconds)| *seconds).collect::<Vec<_>>()).unwrap_or(0.0);
    let between =
        seconds.iter().filter(|seconds| (SOMEWHAT..NEARLY).contains(&((**seconds - typical) / usual)));
    if between.count() > own.len() { Vec::new() } else { own }
}

/// Between these shares of a usual collection lies hardly any write.
const SOMEWHAT: f64 = 0.25;
const NEARLY: f64 = 0.75;

/// Slow writes that take less than this share of the usual one are none of them.
const LEAST_OF_USUAL: f64 = 0.25;
/// So many distances between slow writes, of which the middle half differs by no more than so many twentieths of their median,
/// tell that space is collected: by chance it differs by twenty and more.
const EVEN: [(usize, u64); 3] = [(8, 1), (20, 5), (96, 10)];
/// The same of two distances one behind the other.
const EVEN_IN_PAIRS: (usize, u64) = (20, 1);
/// No more than one in so many is shorter than half of that: a block that has to go by chance is met again at once as often as late.
const SHORT: usize = 20;
/// And one comes after so many writes at least.
const COLLECTED_WRITES: u64 = 4;

/// After how many writes of this part of a search, in linear order, one is slow, if that comes so evenly that it has nothing to do with the
/// blocks that are written: a block that is chosen by chance, or is one too many, comes back unevenly.
#[must_use]
pub fn slow_each(part: &Part<'_>, slowness: SlowClassifier) -> Option<u64> {
    let writes = || part.writes(Order::Linear).map(|(.., latency)| latency);
    let seconds: Vec<f64> =
        writes().filter(|latency| slowness.is_slow(*latency)).map(|latency| latency.as_secs_f64()).collect();
    // Stalls may come in between.
    let least = median(&seconds)? * LEAST_OF_USUAL;
    let is_slow = writes().map(|latency| slowness.is_slow(latency) && latency.as_secs_f64() >= least);
    let slow: Vec<u64> = (0..).zip(is_slow).filter_map(|(at, slow)| slow.then_some(at)).collect();
    let apart: Vec<u64> = slow.windows(2).map(|pair| pair[1] - pair[0]).collect();
    evenly_apart(&apart)
}

/// The distance between slow writes, of one kind or of two in turn, if they come evenly.
fn evenly_apart(apart: &[u64]) -> Option<u64> {
    // Of two streams each is collected in its turn, evenly by itself alone.
    let of_two = || apart.windows(2).map(|pair| pair[0] + pair[1]).collect::<Vec<u64>>();
    let in_pairs = || evenly(&of_two(), EVEN_IN_PAIRS).map(|both| both / 2);
    EVEN.into_iter().find_map(|even| evenly(apart, even)).or_else(in_pairs)
}

/// The median of the last so many distances, if they are that even.
fn evenly(apart: &[u64], (number, twentieths): (usize, u64)) -> Option<u64> {
    let mut last = apart[apart.len().checked_sub(number)?..].to_vec();
    last.sort_unstable();
    let (typical, spread) = (last[number / 2], last[number * 3 / 4] - last[number / 4]);
    let is_seldom_short = last[number / SHORT] * 2 >= typical;
    (typical >= COLLECTED_WRITES && is_seldom_short && spread * 20 <= typical * twentieths).then_some(typical)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;

    use super::*;

    /// Writes into one block, of which those take 40 ms instead of two.
    fn one_run(slow: &[u32]) -> OpenUnitsCell {
        let mut cells = Vec::new();
        for index in 0..200 {
            let milliseconds = if slow.contains(&index) { 40 } else { 2 };
            let kept = (Order::Linear, 1, Bytes::kib(16));
            OpenUnitsCell::keep(&mut cells, kept, 0, Duration::from_millis(milliseconds));
        }
        cells.remove(0)
    }

    #[test]
    fn what_comes_by_chance_is_uneven() {
        let even = unevenness(&[one_run(&[20, 41, 60, 82, 100, 121])]).unwrap();
        let chance = unevenness(&[one_run(&[7, 9, 60, 63, 64, 140])]).unwrap();
        assert!(even < 0.1 && chance > 1.2, "{even} {chance}");
        assert_eq!(unevenness(&[one_run(&[20, 41])]), None);
    }

    #[test]
    fn even_distances_are_told_from_those_by_chance() {
        let [_, few, many] = EVEN;
        let even: Vec<u64> = (0..20).map(|at| 7 + at % 2).collect();
        assert_eq!(evenly(&even, few), Some(8));
        let rough: Vec<u64> = (0..120).map(|at| 5 + at * 3 % 7).collect();
        assert_eq!((evenly(&rough, few), evenly(&rough, many)), (None, Some(8)));
        let two_streams: Vec<u64> = (0..30).map(|at| if at % 2 == 0 { 39 } else { 57 }).collect();
        assert_eq!((evenly(&two_streams, few), evenly_apart(&two_streams)), (None, Some(48)));
        // One block too many comes back anywhere in its turn.
        let chance: Vec<u64> = (0..120).map(|at| 1 + at * 37 % 40).collect();
        assert_eq!((evenly(&chance, few), evenly(&chance, many)), (None, None));
        assert_eq!(evenly(&[1; 20], few), None, "every write merges");
        assert_eq!(evenly(&even[..11], few), None);
    }
}
