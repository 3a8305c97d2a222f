//! Which sizes are pages? Compares small writes across a possible page boundary with small writes beside it.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::geometry::page_posterior::{Missing, PagePosterior};
use flashscope_infer::statistics::{entropy, median};
use flashscope_infer::thresholds::{CLEARLY_LONGER, LIKELY};
use flashscope_record::observation::{PageEdge, WriteSizeData};

use crate::experiment::gapless_writer::GaplessWriter;
use crate::limits::SMALL_REQUEST;
use crate::session::Stop;

/// The most boundaries tested. Guess: a page undecided by then is hidden in noise.
const EDGES_MAX: usize = 160;
/// The most bytes written. Guess.
const BYTES_MAX: Bytes = Bytes::mib(5);
/// The most device time. Guess.
const SECONDS_MAX: f64 = 8.0;
/// The next boundaries of each plausible page that are candidates.
const NEXT_EDGES: u64 = 4;
/// They end at multiples of this, so that they leave no page partly written.
const BUFFER_TEST_GRID: Bytes = Bytes::kib(64);
/// The number of these writes.
const BUFFER_TESTS: usize = 3;

/// The most requests that a search makes.
pub const fn requests_max() -> u64 {
    (EDGES_MAX * 4 + BUFFER_TESTS * 3) as u64
}

/// Writes across boundaries until the page is decided or a limit is reached, and returns the plausible page.
///
/// # Errors
/// [`Stop`] if no further request makes sense.
pub fn search(
    writer: &mut GaplessWriter<'_, '_>,
    logical_block: Bytes,
    data: &mut WriteSizeData,
) -> Result<Option<Bytes>, Stop> {
    data.edges_flushed = has_write_buffer(writer)?;
    writer.flush_each(data.edges_flushed);
    let mut posterior = PagePosterior::new(data.erase_block);
    let search = Search { write: logical_block * 2, end: writer.position() + BYTES_MAX };
    while !posterior.is_decided()
        && data.edges.len() < EDGES_MAX
        && writer.device_time().as_secs_f64() < SECONDS_MAX
    {
        let Some(edge) = search.next(writer, &posterior, &data.edges) else { break };
        if let Some(seen) = search.test_edge(writer, edge)? {
            posterior.take(&seen);
            data.edges.push(seen);
        }
    }
    writer.flush_each(false);
    let (page, probability) = posterior.verdict();
    Ok(page.filter(|_| probability > LIKELY))
}

/// Whether the device completes writes that are still in its memory: a flush then waits for them.
fn has_write_buffer(writer: &mut GaplessWriter<'_, '_>) -> Result<bool, Stop> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..BUFFER_TESTS {
        if !writer.has_room(BUFFER_TEST_GRID) {
            break;
        }
        writer.fill(writer.position() + BUFFER_TEST_GRID - SMALL_REQUEST)?;
        writer.write(SMALL_REQUEST)?;
        first.extend(writer.flush()?.map(|latency| latency.as_secs_f64()));
        second.extend(writer.flush()?.map(|latency| latency.as_secs_f64()));
    }
    let flushes = median(&first).zip(median(&second));
    Ok(flushes.is_some_and(|(first, second)| first > second * CLEARLY_LONGER))
}

/// The size of the small writes, and the end of the search.
#[derive(Debug, Clone, Copy)]
struct Search {
    write: Bytes,
    end: Bytes,
}

impl Search {
    /// The next boundary with the most expected information per second. Once a page is plausible, the kind of
    /// boundary that was tested too few times.
    fn next(
        self,
        writer: &GaplessWriter<'_, '_>,
        posterior: &PagePosterior,
        seen: &[PageEdge],
    ) -> Option<Bytes> {
        let first = writer.position() + self.write + self.write / 2;
        // Shifted by half a write, none of the three writes crosses a boundary.
        let beside = first.round_up(self.write) + self.write / 2;
        let missing =
            posterior.missing().filter(|_| posterior.verdict().1 > LIKELY).map(|missing| match missing {
                Missing::Edges(page) => first.round_up(page),
                Missing::Others => beside,
            });
        let ahead = posterior.pages().flat_map(|(page, _)| {
            let next = first.round_up(page);
            (0..NEXT_EDGES).map(move |index| next + page * index)
        });
        let small = seen.last().map_or(1e-3, |edge| edge.before.as_secs_f64());
        let information_rate = |edge: Bytes| {
            let filler = (edge - first).as_f64() * writer.seconds_per_byte();
            entropy(posterior.is_edge(edge, self.write)) / (filler + 4.0 * small)
        };
        let is_ahead =
            |edge: &Bytes| *edge < self.end && writer.has_room(*edge + self.write * 2 - writer.position());
        let best = ahead
            .chain([beside])
            .filter(is_ahead)
            .map(|edge| (edge, information_rate(edge)))
            .max_by(|(a, rate_a), (b, rate_b)| rate_a.total_cmp(rate_b).then(b.cmp(a)));
        missing.filter(is_ahead).or(best.map(|(edge, _)| edge))
    }

    /// Three small writes, the second across the boundary. `None` if one of them failed.
    fn test_edge(self, writer: &mut GaplessWriter<'_, '_>, edge: Bytes) -> Result<Option<PageEdge>, Stop> {
        writer.fill(edge - self.write / 2 - self.write)?;
        let mut times: [Option<Duration>; 3] = [None; 3];
        for time in &mut times {
            *time = writer.write(self.write)?;
        }
        let [Some(before), Some(across), Some(after)] = times else { return Ok(None) };
        Ok(Some(PageEdge { edge, write: self.write, before, across, after }))
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::layer::Budget;
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::contract::{Estimate, Silent};
    use crate::session::Session;

    /// The writes up to a boundary that lies far ahead take longer than several tests of near ones.
    #[test]
    fn the_first_boundary_tested_is_a_near_one_that_several_pages_share() {
        for (start, edge) in [(0, 8), (1024, 1032)] {
            let mut device = MemoryDevice::new(Bytes::mib(16));
            let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
            let mut session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
            let writer = GaplessWriter::new(&mut session, Bytes::kib(start), Bytes::mib(16));
            let search = Search { write: Bytes::kib(1), end: writer.position() + BYTES_MAX };
            let next = search.next(&writer, &PagePosterior::new(None), &[]);
            assert_eq!(next, Some(Bytes::kib(edge)), "from {start} KiB on");
        }
    }
}
