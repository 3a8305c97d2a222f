//! *block-ends*: where do two writes one behind the other lie in two erase blocks? Where reads do not show it.
//!
//! Erase blocks are opened, far from each other, until every opening costs a merge: all places are taken. Then two small writes
//! meet at one offset after the other. The second costs a merge too if an erase block ends there.
//! See docs/methods/block-ends.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use flashscope_infer::geometry::block_end_posterior::{
    BlockPosterior, TAKEN, is_full as places_are_taken, slowness as block_slowness,
    some_merge as some_openings_merge,
};
use flashscope_record::observation::{BlockEndsData, Crossing, Data, Observations, Opening};

use crate::contract::{Estimate, Experiment, Observer};
use crate::experiment::align::own_multiple;
use crate::experiment::places::Places;
use crate::session::{Session, Stop, not_started, range, to_write};

/// So many erase blocks are opened at most: more than the largest cards keep open.
const OPENINGS_MAX: usize = 140;
/// On a blank device, erase blocks get data before they are opened again: first few of them, then more, then all the rest. A
/// controller that keeps as many open has to be given more at a time.
const FILLED_FIRST: (usize, usize) = (8, 24);
/// So many of them are looked at for what they hold.
const LOOKED_AT: usize = 8;
/// That much data, in writes: merging it takes several times as long as a write alone.
const FILLING: u64 = 8;
/// So many offsets are tried whatever time they take: a log that is emptied in between may hold everything up once.
const CROSSINGS_MIN: usize = 16;
/// So many offsets are tried at most,
const CROSSINGS_MAX: usize = 64;
/// and for so long; nor is a blank device given data for longer than this.
const SECONDS_MAX: f64 = 60.0;
/// Nor is so much written: with the largest pages a few offsets must do,
const BYTES_MAX: Bytes = Bytes::mib(80);
/// for which so much is left.
const CROSSINGS_BYTES_MAX: Bytes = Bytes::mib(40);
/// Nor so much until all places are taken, once they are given data: some of that is left for offsets as well.
const BYTES_FILLED_MAX: Bytes = Bytes::mib(105);
/// The writes, where no page is known: smaller ones may take a path of their own, without merges.
const REQUEST: Bytes = Bytes::kib(32);
/// No smaller ones are written in any case.
const REQUEST_MIN: Bytes = Bytes::kib(4);
/// A size that is more probable is confirmed.
const PLAUSIBLE: f64 = 0.95;
/// What tells less than this, in nats, is not worth a try.
const TOLD_MIN: f64 = 0.002;
/// Multiples of each size that are weighed, and what tells nearly as much as the best of all.
const MULTIPLES: usize = 4;
const NEARLY: f64 = 0.9;
/// Of no more multiples than this all are weighed, even of larger sizes.
const FEW: u64 = 16;
/// Multiples of all sizes from the page on are weighed, or of this where no page is known.
const SIZE_MIN: Bytes = Bytes::kib(16);
/// And multiples of those that are as likely as this.
const LIKELY: f64 = 0.02;
/// A common multiple of several sizes tells of all of them at once.
const FACTORS: [u64; 8] = [1, 3, 5, 7, 15, 21, 35, 105];

/// The experiment *block-ends*.
#[derive(Debug, Clone)]
pub struct BlockEnds {
    /// The size of the writes: a page. The shorter they are the more a merge shows.
    pub request: Bytes,
    /// The page, if it is known.
    pub page: Option<Bytes>,
    /// Erase blocks that reads left, each with its probability.
    pub reads: Vec<(Bytes, f64)>,
    /// The seed of the data and of the places.
    pub seed: u64,
}

impl BlockEnds {
    /// The experiment on a device with this page, if it is known, and these erase blocks left by reads.
    #[must_use]
    pub fn new(page: Option<Bytes>, reads: Vec<(Bytes, f64)>, seed: u64) -> Self {
        Self { request: page.unwrap_or(REQUEST).max(REQUEST_MIN), page, reads, seed }
    }
}

impl Experiment for BlockEnds {
    fn name(&self) -> &'static str {
        "block-ends"
    }

    fn estimate(&self, _device: &dyn Device) -> Estimate {
        let (openings, crossings) = (OPENINGS_MAX as u64, CROSSINGS_MAX as u64);
        // Plain openings, others over data, and crossings with data on both sides.
        let writes = openings * (2 + 4) + crossings * 8;
        let filled = self.request * FILLING * (openings + crossings * 2);
        let bytes_written = (self.request * (openings * 5 + crossings * 8) + filled)
            .min((BYTES_MAX + CROSSINGS_BYTES_MAX) * 2);
        Estimate { requests: writes * 2, bytes_written }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = BlockEndsData { request: self.request, page: self.page, ..BlockEndsData::default() };
        if let Err(refusal) = to_write(device) {
            return not_started(device, self.seed, Data::BlockEnds(data), refusal);
        }
        let places = Places::new(device);
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut run = Run {
            request: self.request,
            filling: Bytes::ZERO,
            reads: &self.reads,
            session,
            places,
            data: &mut data,
        };
        let result = run.take_all().and_then(|is_full| if is_full { run.search() } else { Ok(()) });
        run.session.end(result, Data::BlockEnds(data))
    }
}

/// The state of one run.
struct Run<'a, 'b> {
    request: Bytes,
    /// Written beside whatever is tried, so that merging it costs something; nothing on a device that holds data.
    filling: Bytes,
    reads: &'b [(Bytes, f64)],
    session: Session<'a>,
    places: Places,
    data: &'b mut BlockEndsData,
}

impl Run<'_, '_> {
    /// Opens erase blocks until all places are taken; false if that does not happen.
    fn take_all(&mut self) -> Result<bool, Stop> {
        let length = self.request * (2 + FILLING);
        for _ in 0..OPENINGS_MAX {
            let Some(place) = self.places.take_alone(length) else { break };
            self.open(place)?;
            if self.is_full() {
                return Ok(true);
            }
            // Nothing may be written behind it any more that tells an end.
            if self.wrote_enough(CROSSINGS_BYTES_MAX) {
                return Ok(false);
            }
        }
        self.take_all_over_data()
    }

    /// The same where nothing was ever written: a merge has to copy what a place was given before.
    fn take_all_over_data(&mut self) -> Result<bool, Stop> {
        self.filling = self.request * FILLING;
        let places: Vec<Bytes> = self.data.openings.iter().map(|opening| opening.offset).collect();
        let (few, rest) = places.split_at(places.len().min(FILLED_FIRST.0));
        let (more, rest) = rest.split_at(rest.len().min(FILLED_FIRST.1));
        let mut filled: Vec<Bytes> = Vec::new();
        for places in [few, more, rest] {
            let again = self.request * 2 * filled.len() as u64;
            let left = BYTES_FILLED_MAX.saturating_sub(self.session.bytes_written() + again);
            let affordable = usize::try_from(left / (self.filling + self.request * 2)).unwrap_or(usize::MAX);
            let places = &places[..places.len().min(affordable)];
            if places.len() < TAKEN || !(self.some_merge() || self.are_blank(places)?) {
                break;
            }
            for place in places {
                self.fill(*place + self.request * 2)?;
            }
            // Those of before lost their places first, if all together are more than there are.
            filled.extend(places);
            for place in &filled {
                self.open(*place)?;
                if self.is_full() {
                    return Ok(true);
                }
            }
            if self.session.device_time().as_secs_f64() > SECONDS_MAX || self.wrote_enough(Bytes::ZERO) {
                break;
            }
        }
        Ok(self.some_merge())
    }

    fn some_merge(&self) -> bool {
        let openings = &self.data.openings;
        block_slowness(openings).is_some_and(|slowness| some_openings_merge(openings, slowness))
    }

    /// Whether most of these places hold nothing but what opened them.
    fn are_blank(&mut self, places: &[Bytes]) -> Result<bool, Stop> {
        let mut blank = 0;
        let looked_at = &places[..places.len().min(LOOKED_AT)];
        for place in looked_at {
            let behind = range(*place + self.request * 2, self.request);
            blank += usize::from(self.session.is_blank(behind)? == Some(true));
        }
        Ok(blank * 2 > looked_at.len())
    }

    fn wrote_enough(&self, more: Bytes) -> bool {
        self.session.bytes_written() >= BYTES_MAX + more
    }

    fn is_full(&self) -> bool {
        let openings = &self.data.openings;
        block_slowness(openings).is_some_and(|slowness| places_are_taken(openings, slowness))
    }

    /// Two writes at the start of a place, of which the first opens an erase block.
    fn open(&mut self, offset: Bytes) -> Result<(), Stop> {
        let first = self.write(offset, self.request)?;
        let second = self.write(offset + self.request, self.request)?;
        if let Some((first, second)) = first.zip(second) {
            self.data.openings.push(Opening { offset, first, second });
        }
        Ok(())
    }

    /// Lets writes meet where that tells most, until one erase block is left.
    fn search(&mut self) -> Result<(), Stop> {
        let begins = self.session.device_time();
        for _ in 0..CROSSINGS_MAX {
            let seconds = self.session.device_time().saturating_sub(begins).as_secs_f64();
            let belief = BlockPosterior::of(self.data, self.reads);
            let is_time_up = seconds > SECONDS_MAX && self.data.crossings.len() >= CROSSINGS_MIN;
            let ends = is_time_up || self.wrote_enough(CROSSINGS_BYTES_MAX);
            let Some(belief) = belief.filter(|each| !each.is_decided() && !ends) else { break };
            let Some(offset) = self.next(&belief) else { break };
            self.cross(offset)?;
        }
        Ok(())
    }

    /// The offset at which two writes would tell most; of those, the one that is farthest from all that was written.
    fn next(&mut self, belief: &BlockPosterior) -> Option<Bytes> {
        let (best, probability) = belief.verdict();
        let missing = best.filter(|_| probability > PLAUSIBLE).and_then(|block| belief.missing(block));
        if let Some((missing, block)) = missing.zip(best) {
            let mut offsets = self.multiples(missing, 4 * MULTIPLES);
            offsets.retain(|offset| missing == block || !belief.is_end(*offset, block));
            return self.farthest(offsets);
        }
        let blocks = belief.blocks();
        let smallest = self.data.page.map_or(SIZE_MIN, |_| self.request);
        let doublings = std::iter::successors(Some(smallest), |size| Some(*size * 2));
        let sizes = doublings.take_while(|size| *size < self.places.end());
        // A size that holds no whole pages is no multiple of any of these.
        let likely = blocks.iter().filter_map(|(block, probability)| block.filter(|_| *probability > LIKELY));
        let sizes: Vec<Bytes> =
            sizes.flat_map(|size| FACTORS.map(|factor| size * factor)).chain(likely).collect();
        let offsets: Vec<Bytes> =
            sizes.into_iter().flat_map(|size| self.multiples(size, MULTIPLES)).collect();
        let told = |offset: Bytes| belief.information_at(offset, &blocks);
        let weighed: Vec<(Bytes, f64)> = offsets.into_iter().map(|offset| (offset, told(offset))).collect();
        let most = weighed.iter().map(|(_, told)| *told).fold(TOLD_MIN, f64::max);
        let telling = weighed.into_iter().filter(|(_, told)| *told >= most * NEARLY);
        self.farthest(telling.map(|(offset, _)| offset).collect())
    }

    /// Multiples of a size here and there, and of no larger one if there are such, at which nothing was written yet; of few all. Writes
    /// keep to whole pages: where those do not end with the size, its end lies in the second write.
    fn multiples(&mut self, size: Bytes, count: usize) -> Vec<Bytes> {
        let around = self.around();
        let most = self.places.end() / size;
        let draw = || size * own_multiple(&mut self.session, most);
        let drawn: Vec<Bytes> = if most <= FEW {
            (1..=most).map(|multiple| size * multiple).collect()
        } else {
            std::iter::repeat_with(draw).take(count).collect()
        };
        let in_pages = drawn.into_iter().map(|offset| offset.round_down(self.request));
        in_pages.filter(|offset| self.places.is_free(*offset, around)).collect()
    }

    fn farthest(&self, offsets: Vec<Bytes>) -> Option<Bytes> {
        offsets.into_iter().max_by_key(|offset| self.places.distance(*offset))
    }

    /// What is written before and behind an offset.
    fn around(&self) -> (Bytes, Bytes) {
        (self.request + self.request.max(self.filling), self.request * 2 + self.filling)
    }

    /// Writes that meet at an offset, behind one that opens the erase block before it.
    fn cross(&mut self, offset: Bytes) -> Result<(), Stop> {
        let (before, behind) = self.around();
        self.places.give(offset - before, offset + behind);
        self.write(offset - before, before - self.request)?;
        let before = self.write(offset - self.request, self.request)?;
        let after = self.write(offset, self.request)?;
        if let Some((before, after)) = before.zip(after) {
            self.data.crossings.push(Crossing { offset, before, after });
        }
        if self.filling.is_zero() { Ok(()) } else { self.keep_dear(offset) }
    }

    /// On a blank device: the erase block that was opened last is given data, one that holds some is begun anew, and then that which
    /// may begin at the offset, so that whichever the controller merges next, it has something to copy: a log for a run in order is
    /// given up for free if no data lies behind the run.
    fn keep_dear(&mut self, offset: Bytes) -> Result<(), Stop> {
        self.fill(offset + self.request * 2)?;
        let turn = self.data.crossings.len() % TAKEN;
        let place = self.data.openings.get(turn).map(|opening| opening.offset);
        for begun in place.into_iter().chain([offset]) {
            self.write(begun, self.request)?;
            self.write(begun + self.request, self.request)?;
        }
        Ok(())
    }

    /// Gives an erase block data that is not at its start.
    fn fill(&mut self, offset: Bytes) -> Result<(), Stop> {
        self.write(offset, self.filling).map(drop)
    }

    /// A write and a flush, so that what the device does behind it is seen.
    fn write(&mut self, offset: Bytes, length: Bytes) -> Result<Option<Duration>, Stop> {
        self.session.write_through(range(offset, length))
    }
}
