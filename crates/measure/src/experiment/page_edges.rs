//! Which sizes are pages? Small writes across places where one may end, beside small writes that end nowhere.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::geometry::page_posterior::{Missing, PagePosterior};
use flashscope_infer::statistics::{entropy, median};
use flashscope_record::observation::{PageEdge, WriteSizeData};

use crate::experiment::stream::Stream;
use crate::session::Stop;

/// No more edges are tried: what so many do not tell is hidden in noise.
const EDGES_MAX: usize = 160;
/// And no more is written.
const BYTES_MAX: Bytes = Bytes::mib(5);
/// And no longer.
const SECONDS_MAX: f64 = 8.0;
/// A page that is more probable than this is plausible.
const PLAUSIBLE: f64 = 0.9;
/// Of each plausible page, so many next edges are weighed.
const NEXT_EDGES: u64 = 4;
/// A write of this size that ends at a multiple of `HELD_AT`, where nothing is left begun, is followed by two flushes,
const HELD: Bytes = Bytes::kib(4);
const HELD_AT: Bytes = Bytes::kib(64);
/// so many times, to see whether the device holds them in memory.
const HELD_TRIES: usize = 3;
/// If it does, the first flush takes so many times as long as the second.
const HELD_FACTOR: f64 = 1.5;

/// The most requests that a search makes.
pub const fn requests_max() -> u64 {
    (EDGES_MAX * 4 + HELD_TRIES * 3) as u64
}

/// Writes across edges until the page is decided, or cannot be; the page that is plausible then.
///
/// # Errors
/// [`Stop`] if no further request makes sense.
pub fn search(
    stream: &mut Stream<'_, '_>,
    logical_block: Bytes,
    data: &mut WriteSizeData,
) -> Result<Option<Bytes>, Stop> {
    data.edges_flushed = is_held(stream)?;
    stream.flush_each(data.edges_flushed);
    let mut belief = PagePosterior::new(data.erase_block);
    let search = Search { write: logical_block * 2, end: stream.position() + BYTES_MAX };
    while !belief.is_decided() && data.edges.len() < EDGES_MAX && stream.took().as_secs_f64() < SECONDS_MAX {
        let Some(edge) = search.next(stream, &belief, &data.edges) else { break };
        if let Some(seen) = search.try_edge(stream, edge)? {
            belief.take(&seen);
            data.edges.push(seen);
        }
    }
    stream.flush_each(false);
    let (page, probability) = belief.verdict();
    Ok(page.filter(|_| probability > PLAUSIBLE))
}

/// Whether the device says that writes are done which it only holds in memory: a flush then waits for them.
fn is_held(stream: &mut Stream<'_, '_>) -> Result<bool, Stop> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..HELD_TRIES {
        if !stream.has_room(HELD_AT) {
            break;
        }
        stream.fill(stream.position() + HELD_AT - HELD)?;
        stream.write(HELD)?;
        first.extend(stream.flush()?.map(|latency| latency.as_secs_f64()));
        second.extend(stream.flush()?.map(|latency| latency.as_secs_f64()));
    }
    let flushes = median(&first).zip(median(&second));
    Ok(flushes.is_some_and(|(first, second)| first > second * HELD_FACTOR))
}

/// The size of the small writes, and where the search ends.
#[derive(Debug, Clone, Copy)]
struct Search {
    write: Bytes,
    end: Bytes,
}

impl Search {
    /// The edge ahead that tells most for the time it takes to get there and to try it; once that hardly matters, what was
    /// tried too seldom.
    fn next(self, stream: &Stream<'_, '_>, belief: &PagePosterior, seen: &[PageEdge]) -> Option<Bytes> {
        let first = stream.position() + self.write + self.write / 2;
        // Half a write off, nothing ends in any of the three.
        let beside = first.round_up(self.write) + self.write / 2;
        let missing =
            belief.missing().filter(|_| belief.verdict().1 > PLAUSIBLE).map(|missing| match missing {
                Missing::Edges(page) => first.round_up(page),
                Missing::Others => beside,
            });
        let ahead = belief.pages().flat_map(|(page, _)| {
            let next = first.round_up(page);
            (0..NEXT_EDGES).map(move |index| next + page * index)
        });
        let small = seen.last().map_or(1e-3, |edge| edge.before.as_secs_f64());
        let worth = |edge: Bytes| {
            let filler = (edge - first).as_f64() * stream.seconds_per_byte();
            entropy(belief.is_edge(edge, self.write)) / (filler + 4.0 * small)
        };
        let is_ahead =
            |edge: &Bytes| *edge < self.end && stream.has_room(*edge + self.write * 2 - stream.position());
        let best = ahead
            .chain([beside])
            .filter(is_ahead)
            .map(|edge| (edge, worth(edge)))
            .max_by(|(a, worth_a), (b, worth_b)| worth_a.total_cmp(worth_b).then(b.cmp(a)));
        missing.filter(is_ahead).or(best.map(|(edge, _)| edge))
    }

    /// Three small writes; the second lies across the edge. `None` if one of them failed.
    fn try_edge(self, stream: &mut Stream<'_, '_>, edge: Bytes) -> Result<Option<PageEdge>, Stop> {
        stream.fill(edge - self.write / 2 - self.write)?;
        let mut times: [Option<Duration>; 3] = [None; 3];
        for time in &mut times {
            *time = stream.write(self.write)?;
        }
        let [Some(before), Some(across), Some(after)] = times else { return Ok(None) };
        Ok(Some(PageEdge { edge, write: self.write, before, across, after }))
    }
}
