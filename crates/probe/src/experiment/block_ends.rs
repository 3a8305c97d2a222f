//! *block-ends*: after how many bytes does a stream of writes give its place back? The erase block, where reads do not show it.
//!
//! Erase blocks are opened, far from each other, until every opening costs a merge: all places are taken. Then a stream is
//! written into a fresh stretch, and one more block is opened. That is free if the stream ended with an erase block.
//! See docs/methods/block-ends.md.

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use super::places::Places;
use super::session::{Session, Stop, not_started, range, to_write};
use super::{Estimate, Experiment, Observer};
use crate::belief::{BlockBelief, TAKEN, block_slowness, places_are_taken};
use crate::inference::statistics::{entropy, median};
use crate::observation::{BlockEndsData, Data, Observations, Opening};

/// So many erase blocks are opened at most: more than the largest cards keep open.
const OPENINGS_MAX: usize = 140;
/// So many streams are written at most,
const STREAMS_MAX: usize = 40;
/// and so much in all.
const STREAMED_MAX: Bytes = Bytes::mib(112);
/// and for so long.
const SECONDS_MAX: f64 = 40.0;
/// The writes of a stream: as large as hosts send them.
const STREAM_REQUEST: Bytes = Bytes::mib(1);
/// The writes that open erase blocks, where no page is known: smaller ones may take a path of their own, without merges.
const REQUEST: Bytes = Bytes::kib(32);
/// No smaller ones are written in any case.
const REQUEST_MIN: Bytes = Bytes::kib(4);
/// A size that is more probable is confirmed.
const PLAUSIBLE: f64 = 0.95;
/// What tells less than this, in nats, is not worth a stream.
const TOLD_MIN: f64 = 0.002;

/// The experiment *block-ends*.
#[derive(Debug, Clone, Copy)]
pub struct BlockEnds {
    /// The size of the writes that open erase blocks: a page. The shorter they are the more a merge shows.
    pub request: Bytes,
    /// The page, if it is known.
    pub page: Option<Bytes>,
    /// The seed of the data.
    pub seed: u64,
}

impl BlockEnds {
    /// The experiment on a device with this page, if it is known.
    #[must_use]
    pub fn new(page: Option<Bytes>, seed: u64) -> Self {
        Self { request: page.unwrap_or(REQUEST).max(REQUEST_MIN), page, seed }
    }
}

impl Experiment for BlockEnds {
    fn name(&self) -> &'static str {
        "block-ends"
    }

    fn estimate(&self, device: &dyn Device) -> Estimate {
        let openings = (OPENINGS_MAX + STREAMS_MAX) as u64;
        let streamed = STREAMED_MAX.min(device.capabilities().capacity);
        let requests = openings * 4 + streamed / STREAM_REQUEST + STREAMS_MAX as u64 * 2;
        Estimate { requests, bytes_written: streamed + self.request * openings * 2 }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = BlockEndsData { request: self.request, page: self.page, openings: Vec::new() };
        if let Err(refusal) = to_write(device) {
            return not_started(device, self.seed, Data::BlockEnds(data), refusal);
        }
        let places = Places::new(device);
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut run = Run {
            request: self.request,
            session,
            places,
            streamed: Bytes::ZERO,
            streaming: 0.0,
            data: &mut data,
        };
        let result = run.fill().and_then(|is_full| if is_full { run.search() } else { Ok(()) });
        run.session.end(result, Data::BlockEnds(data))
    }
}

/// The state of one run.
struct Run<'a, 'b> {
    request: Bytes,
    session: Session<'a>,
    places: Places,
    streamed: Bytes,
    streaming: f64,
    data: &'b mut BlockEndsData,
}

impl Run<'_, '_> {
    /// Opens erase blocks until all places are taken; false if that does not happen.
    fn fill(&mut self) -> Result<bool, Stop> {
        while self.data.openings.len() < OPENINGS_MAX {
            if !self.open(Bytes::ZERO, Bytes::ZERO)? {
                return Ok(false);
            }
            let slowness = block_slowness(&self.data.openings);
            let openings = &self.data.openings;
            if openings.len() > TAKEN && slowness.is_some_and(|slowness| places_are_taken(openings, slowness))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Streams of the size that tells most for its time, until one erase block is left.
    fn search(&mut self) -> Result<(), Stop> {
        for _ in 0..STREAMS_MAX {
            if self.streaming > SECONDS_MAX {
                break;
            }
            let Some(belief) = BlockBelief::of(self.data).filter(|belief| !belief.is_decided()) else {
                break;
            };
            let Some(length) = self.next(&belief) else { break };
            let Some(start) = self.places.take_stretch(length) else { break };
            self.stream(start, length)?;
            if !self.open(length, start)? {
                break;
            }
        }
        Ok(())
    }

    /// The length of stream that tells most for its time.
    fn next(&self, belief: &BlockBelief) -> Option<Bytes> {
        let blocks = belief.blocks();
        let slow: Vec<f64> = self.data.openings.iter().map(|opening| opening.first.as_secs_f64()).collect();
        let merge = median(&slow).unwrap_or(0.1);
        let per_byte = if self.streamed.is_zero() { 1e-7 } else { self.streaming / self.streamed.as_f64() };
        let free = |length: Bytes| -> f64 {
            let divides = |block: &Option<Bytes>| block.is_some_and(|block| length.is_multiple_of(block));
            blocks.iter().filter(|(block, _)| divides(block)).map(|(_, probability)| probability).sum()
        };
        let left = STREAMED_MAX - self.streamed;
        let (best, probability) = belief.verdict();
        let missing = best.filter(|_| probability > PLAUSIBLE).and_then(|block| belief.missing(block));
        if let Some(missing) = missing {
            return Some(missing).filter(|length| *length <= left);
        }
        blocks
            .iter()
            .filter_map(|(block, _)| *block)
            .filter(|length| *length <= left)
            .map(|length| (length, entropy(free(length)), 2.0 * merge + length.as_f64() * per_byte))
            .filter(|(_, told, _)| *told > TOLD_MIN)
            .max_by(|(_, a, cost_a), (_, b, cost_b)| (a / cost_a).total_cmp(&(b / cost_b)))
            .map(|(length, ..)| length)
    }

    /// Writes a stretch from its start to its end.
    fn stream(&mut self, start: Bytes, length: Bytes) -> Result<(), Stop> {
        let mut written = Bytes::ZERO;
        while written < length {
            let request = STREAM_REQUEST.min(length - written);
            let took = self.session.write(range(start + written, request))?;
            written += request;
            self.streaming += took.unwrap_or_default().as_secs_f64();
        }
        self.streamed += length;
        self.session.flush().map(drop)
    }

    /// Two writes into a fresh erase block, of which the first opens it. False if there is no more room.
    fn open(&mut self, streamed: Bytes, from: Bytes) -> Result<bool, Stop> {
        let Some(offset) = self.places.take_alone(self.request * 2) else { return Ok(false) };
        let first = self.session.write_through(range(offset, self.request))?;
        let second = self.session.write_through(range(offset + self.request, self.request))?;
        if let Some((first, second)) = first.zip(second) {
            self.data.openings.push(Opening { offset, streamed, from, first, second });
        }
        Ok(true)
    }
}
