//! *open-units*: into how many erase blocks can one write in turn before writes cost a merge?
//!
//! The controller keeps K erase blocks open. Writing into N of them in turn is free of merges for N <= K and never for
//! long beyond. Every write moves a probability over all K ([`Belief`]); the next write is the one that tells most for the time
//! it takes, until one K is left. See docs/methods/open-units.md.

mod collection;
mod given_back;
mod gone_on;
mod layer;

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device, SECTOR};

use flashscope_infer::open_blocks::choice::Step;
use flashscope_infer::open_blocks::evidence;
use flashscope_infer::open_blocks::evidence::Part;
use flashscope_infer::open_blocks::laws::Law;
use flashscope_infer::open_blocks::posterior::{Belief, OPEN_MAX};
use flashscope_infer::slow_classifier::SlowClassifier;
use flashscope_record::observation::{Data, Observations, OpenUnitsCell, OpenUnitsData, Order, Times};

use crate::contract::{Estimate, Experiment, Observer};
use crate::experiment::pool::{Pool, Written};
use crate::experiment::units;
use crate::experiment::units::Units;
use crate::session::{PIECE as FILL_PIECE, Session, Stop, not_started};

/// Where the search ends unless told otherwise: one more than twice what the largest cards seen so far keep open.
pub const UNITS_MAX: u32 = OPEN_MAX + 1;
/// Writes into one unit at the start: enough for a typical time, and for how often the device stalls by itself.
const BASELINE: u32 = 12;
/// Writes of a control where each takes what it took at the start. Else as many more as are enough for a median, and so many times as many
/// where stalls may have held up most of them.
const CONTROL_ALIKE: usize = 4;
const CONTROL: usize = 7;
const CONTROLS_MAX: usize = 4;
/// A search that has not decided after so many writes for each unit up to its end never will.
const WRITES_PER_UNIT: usize = 24;
/// And after so many in any case, where a stick merges at nearly each of them.
const WRITES_MIN: usize = 300;
/// Nor after so many bytes in all, unless told otherwise, and this share of them in linear order.
const BYTES_MAX: Bytes = Bytes::mib(160);
const LINEAR_SHARE: (u64, u64) = (4, 5);
/// Nor after so long in linear order, and in all.
const TIME_LINEAR_MAX: Duration = Duration::from_secs(800);
const TIME_MAX: Duration = Duration::from_secs(1500);
/// A search in linear order that wrote so much and is undecided goes on with smaller requests, and ends after so many times as
/// many writes and so many times as long: where any block has to go, K of them take a few K² writes.
const LARGE_BYTES_MAX: Bytes = Bytes::mib(24);
/// The same while it seems that the block written longest ago goes, where few writes tell.
const FEW_BYTES_MAX: Bytes = Bytes::mib(48);
const SMALLER_LASTS: usize = 16;
const SMALLER_TIME: f64 = 1.5;
/// Where no more than so many numbers beside one are left by then, it may take so many times as long.
const NEARLY_TOLD: u32 = 3;
const FINISHING_TIME: f64 = 1.3;
/// What tells a smaller request that merges as well: opening a block takes so many times as long as going on, or going on as
/// opening, for so many of so many blocks.
const OPENED_SLOWLY_ENOUGH: u32 = 4;
const OPENED_TO_SEE: u32 = 5;
const SLOWER: f64 = 1.6;
/// The smallest request of the survey by size, and that of the search: [`OPEN_MAX`] units take some 35 000 writes where any has to go.
/// Where a block holds fewer of them than so many it is smaller: one that is full keeps its place for long.
const SMALLEST: Bytes = Bytes::kib(4);
const SMALLEST_SEARCHED: Bytes = Bytes::kib(1);
const PLACES_ENOUGH: u64 = 512;
/// How much smaller the request is that is taken where no merge was seen that could tell.
const SMALLER_UNSEEN: u64 = 4;
/// Where nothing merges in order it does not out of order either, unless all but one of so many blocks were opened slowly there.
const OPENED_IN_VAIN: u32 = 4;
/// A search beyond what switches cost takes so many blocks at least.
const SWITCHED_LEAST: u32 = 16;
/// So many merges beyond what switches cost tell that those are none, also where they come now and then.
const MERGES_BEYOND: usize = 4;
/// So many writes into each block does a search take where the block written longest ago goes.
const WRITES_WHERE_OLDEST_GOES: u64 = 4;
/// A search goes on so often where a slow write looks otherwise in the end.
const SEARCHED_AGAIN: u32 = 3;
/// After so many writes it is looked at for the first time whether stalls are taken for merges.
const LOOK_AFTER: usize = 16;
/// Any block has to go where this is as probable.
const GIVES_BACK: f64 = 0.98;
/// So many turns at most of as many blocks as fit, until they are open again.
const CONFIRMED_MAX: u32 = 6;
/// Where slow writes came evenly in so many, they are collections: more of the search would tell nothing.
const COLLECTED_AFTER: usize = 1000;
/// In such a turn one in so many writes may stall.
const STALLS_ONCE_IN: u32 = 16;
/// Which block has to go is asked beyond up to so many, in so many turns at most, while either law has this probability at least.
const SETTLED_MAX: u32 = 8;
const SETTLING_TURNS: u32 = 12;
const SETTLED_ANEW: u32 = 3;
const UNSETTLED: f64 = 0.015;
/// So many blocks that cost something to open, and nothing to go on with, make it worth the while to ask why. On a stick
/// that was used before, that is no wonder with a few; with large blocks the answer costs more.
const OPENED_SLOWLY: usize = 4;
const OPENED_SLOWLY_LARGE: usize = 7;
const SMALL_BLOCK: Bytes = Bytes::mib(4);

/// The experiment *open-units*.
#[derive(Debug, Clone, Copy)]
pub struct OpenUnits {
    /// The erase block.
    pub erase_block: Bytes,
    /// The size of each write in the search: at least the effective page, at most a sixteenth of the erase block.
    pub request: Bytes,
    /// The effective page, if it is known: what a log maps at once can be as small.
    pub page: Option<Bytes>,
    /// The size of each write of a search anew if nothing merges, where the request may be what a log maps at once.
    pub smaller: Option<Bytes>,
    /// Where the search ends.
    pub units_max: u32,
    /// How much it may write.
    pub bytes_max: Bytes,
    /// How much more than that it may write where blocks that were written whole told nothing.
    pub bytes_afterwards: Bytes,
    /// The seed of data and order.
    pub seed: u64,
}

impl OpenUnits {
    /// The experiment for an erase block and the size of write that suits the device, if that is known: the effective
    /// page, or the smallest request that is written efficiently.
    #[must_use]
    pub fn new(erase_block: Bytes, request: Option<Bytes>, seed: u64) -> Self {
        Self {
            erase_block,
            request: units::request(erase_block, request),
            page: None,
            smaller: None,
            units_max: UNITS_MAX,
            bytes_max: BYTES_MAX,
            bytes_afterwards: given_back::BYTES_AFTERWARDS,
            seed,
        }
    }

    /// The smallest that a log may map at once, as far as it is known.
    fn mapped_at_once(self) -> Bytes {
        self.page.unwrap_or(self.request).min(self.request)
    }

    /// The smallest request of the search.
    fn smallest(self) -> Bytes {
        let small = (self.erase_block / PLACES_ENOUGH).get().max(1);
        Bytes::new(1 << small.ilog2()).clamp(SECTOR, SMALLEST_SEARCHED)
    }

    /// After how many writes a search ends.
    fn writes_max(self) -> usize {
        (self.units_max as usize * WRITES_PER_UNIT).max(WRITES_MIN)
    }
}

impl Experiment for OpenUnits {
    fn name(&self) -> &'static str {
        "open-units"
    }

    /// What three searches with smaller requests take that do not decide, behind one with those asked for, and all tests beside them;
    /// nearly all end far below.
    fn estimate(&self, _device: &dyn Device) -> Estimate {
        // And one beyond what switches cost.
        let searches = (2 + 3 * SMALLER_LASTS) as u64 * self.writes_max() as u64;
        let around = u64::from(CONFIRMED_MAX * 2 * (self.units_max + 1))
            + layer::requests_max(self.units_max)
            + given_back::requests_max(self.units_max)
            + gone_on::requests_max(self.units_max)
            + collection::REQUESTS_MAX;
        // Sizes are doubled.
        let smaller = u64::from(u64::BITS * (2 * OPENED_TO_SEE + BASELINE));
        let requests = searches
            + around
            + smaller
            + u64::from(BASELINE)
            + (2 * CONTROL * CONTROLS_MAX) as u64
            + u64::from(BASELINE * evidence::IN_TURN);
        let whole_blocks = layer::BEGINNINGS_MAX / FILL_PIECE;
        let bytes_written = (self.request * requests).min(self.bytes_max + self.request * around)
            + self.bytes_afterwards
            + layer::BEGINNINGS_MAX
            + collection::BYTES_MAX;
        // Behind each write comes a flush.
        Estimate { requests: (requests + whole_blocks) * 2, bytes_written }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = OpenUnitsData { erase_block: self.erase_block, ..OpenUnitsData::default() };
        let units = match Units::to_write(device, self.erase_block).map(Units::with_reserve) {
            Ok(units) => units,
            Err(refusal) => return not_started(device, self.seed, Data::OpenUnits(data), refusal),
        };
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let request = self.request;
        let mut search = Search {
            experiment: *self,
            session,
            units,
            data: &mut data,
            rewrites: false,
            request,
            may_shrink: true,
            may_begin_apart: true,
            begun: Vec::new(),
        };
        let result = search.run();
        search.session.end(result, Data::OpenUnits(data))
    }
}

/// The state of one run.
struct Search<'a, 'b> {
    experiment: OpenUnits,
    session: Session<'a>,
    units: Units,
    data: &'b mut OpenUnitsData,
    rewrites: bool,
    /// The size of each write, now.
    request: Bytes,
    /// Whether smaller ones were not tried yet.
    may_shrink: bool,
    /// Whether no block was begun out of order yet between others in order.
    may_begin_apart: bool,
    /// Where blocks lie that were gone on with out of order, or begun beyond those, or in pairs: they may be open.
    begun: Vec<Bytes>,
}

impl Search<'_, '_> {
    fn run(&mut self) -> Result<(), Stop> {
        let mut pool = self.pool(Order::Linear);
        self.rounds(&mut pool, 1, BASELINE)?;
        let Some(mut linear) = evidence::linear(self.data) else { return Ok(()) };
        let most = self.experiment.units_max;
        self.search(&mut pool, &mut linear, most)?;
        if let Some((other, belief)) = self.begin_anew(&linear, most)? {
            (pool, linear) = (other, belief);
        }
        let before = self.request;
        if self.is_large(Order::Linear, &linear) {
            self.may_shrink = false;
            if linear.next(most).is_some()
                && may_tell_more(&linear, most)
                && self.shrink(&mut pool, &linear)?
            {
                let Some(anew) = evidence::linear(self.data) else { return Ok(()) };
                linear = anew;
            }
            self.search(&mut pool, &mut linear, most)?;
        }
        self.settle_and_confirm(&mut pool, &mut linear, most)?;
        // What all writes together tell may be less.
        if let Some(judged) = evidence::linear(self.data)
            && judged.verdict().number != linear.verdict().number
        {
            linear = judged;
            self.search(&mut pool, &mut linear, most)?;
            self.settle_and_confirm(&mut pool, &mut linear, most)?;
        }
        if self.data.led {
            self.request = before;
            linear = evidence::with_whole_requests(linear, self.data);
        }
        if let Some((other, belief)) = self.begin_beyond_switches(&linear, most)? {
            (pool, linear) = (other, belief);
        }
        let mut verdict = linear.verdict();
        let mut is_told = verdict.tells(most);
        if is_told && self.may_be_rare_merges(&linear, verdict.number) {
            self.begin_pairs(linear.slowness())?;
        }
        // What is written in between takes places until it goes by chance.
        let mut is_tried_out_of_order = is_told
            && !self.is_one_run(linear.slowness())
            && linear.is_seen_open()
            && linear.law(Law::Any) > 0.5
            && (self.go_on_out_of_order(&mut pool, &linear)?
                || self.begin_given_back(&pool, &linear, verdict.number)?);
        let mut free = if is_told { self.survey(&mut pool, verdict.number + 1, &linear)? } else { None };
        if free.is_some()
            && let Some((other, belief)) = self.begin_outgrown(&mut pool, &linear, most)?
        {
            (pool, linear) = (other, belief);
            (verdict, is_told) = (linear.verdict(), linear.verdict().tells(most));
            free = if is_told { self.survey(&mut pool, verdict.number + 1, &linear)? } else { None };
        }
        if is_told && free.is_none() && self.survey_tells_of_any(&linear, verdict.number) {
            self.settle_anew(&mut pool, &mut linear, most)?;
            (verdict, is_told) = (linear.verdict(), linear.verdict().tells(most));
        }
        if !(is_told && linear.is_seen_open()) && self.data.beginnings.is_empty() && self.begins_whole() {
            self.begin_pairs(linear.slowness())?;
        }
        self.control()?;
        // Where larger requests pay nothing, a log is what it is.
        if self.is_one_run(linear.slowness()) || (is_told && !self.data.free.is_empty()) {
            return Ok(());
        }
        self.written_before(&linear)?;
        if is_told && linear.law(Law::Any) < 0.5 {
            self.request = self.affordable(verdict.number, free);
            is_tried_out_of_order = linear.is_seen_open() && self.go_on_out_of_order(&mut pool, &linear)?;
        }
        if !is_tried_out_of_order {
            // A small stick has no others: what is written out of order need not be fresh.
            if self.units.left() == 0 || (is_told && self.units.left() <= u64::from(verdict.number)) {
                self.units.begin_again();
            }
            if linear.is_beyond(most) {
                self.open_out_of_order(&linear, most)?;
            } else {
                self.experiment.bytes_max += std::mem::take(&mut self.experiment.bytes_afterwards);
                let mut random = evidence::random(&[], &linear, most);
                let mut pool = self.pool(Order::Random);
                self.search(&mut pool, &mut random, most)?;
            }
        }
        self.control()?;
        let may_be_collected = self.is_slow_evenly(&linear) || self.is_slow_in_one_block(linear.slowness());
        if is_told && linear.is_seen_open() && !linear.stalls_too_often() && !may_be_collected {
            return Ok(());
        }
        self.collect()
    }

    /// Opens blocks out of order where nothing merged in order, as on a new stick, which has nothing to copy there. If the last of them cost
    /// something it goes on with the search, and with which of them has to go.
    fn open_out_of_order(&mut self, linear: &Belief, most: u32) -> Result<(), Stop> {
        let mut random = evidence::random(&[], linear, most);
        let mut pool = self.pool(Order::Random);
        let left = self.experiment.bytes_max.saturating_sub(self.session.bytes_written());
        let affordable = u32::try_from(left / (self.request * 2)).unwrap_or(u32::MAX);
        self.open(&mut pool, most.min(affordable), &mut random)?;
        random = self.beyond_stalls(&random, Order::Random, random.slowness());
        if random.openings_were_slow(OPENED_IN_VAIN) {
            self.search(&mut pool, &mut random, most)?;
            self.settle_law(&mut pool, &mut random, most, OPEN_MAX)?;
        }
        Ok(())
    }

    const fn cells(&self) -> &Vec<OpenUnitsCell> {
        if self.rewrites { &self.data.rewritten } else { &self.data.cells }
    }

    const fn cells_mut(&mut self) -> &mut Vec<OpenUnitsCell> {
        if self.rewrites { &mut self.data.rewritten } else { &mut self.data.cells }
    }

    /// An empty pool of this order. Out of order smaller requests are as far apart as those that fill their place.
    fn pool(&self, order: Order) -> Pool {
        let Self { experiment: OpenUnits { erase_block, request, .. }, request: smaller, .. } = *self;
        match order {
            Order::Linear => Pool::new(erase_block, smaller, order),
            Order::Random => Pool::new(erase_block, request, order).starts_of_places(smaller),
        }
    }

    /// The request, or a half or at least a fourth of it, so that about so many blocks can be written in turn, each as often as a search
    /// takes where the one written longest ago goes, before too much is written; not so small that it is `free`.
    fn affordable(&self, blocks: u32, free: Option<Bytes>) -> Bytes {
        let left = self.experiment.bytes_max.saturating_sub(self.session.bytes_written());
        let writes = u64::from(blocks + 1) * WRITES_WHERE_OLDEST_GOES;
        let mut size = self.request;
        while size * writes > left
            && size * SMALLER_UNSEEN > self.request
            && (size / 2).is_multiple_of(SMALLEST)
            && free.is_none_or(|free| size / 2 > free)
        {
            size = size / 2;
        }
        size
    }

    /// How much may have been written when the search in this order ends.
    fn bytes_max(&self, order: Order) -> Bytes {
        let most = self.experiment.bytes_max;
        if self.is_first(order) { most * LINEAR_SHARE.0 / LINEAR_SHARE.1 } else { most }
    }

    /// Whether this is the search in linear order, not the one over data.
    fn is_first(&self, order: Order) -> bool {
        order == Order::Linear && !self.rewrites
    }

    /// Whether that search wrote so much with large requests that smaller ones may tell more.
    fn is_large(&self, order: Order, belief: &Belief) -> bool {
        let writes = u64::try_from(belief.writes()).unwrap_or(u64::MAX);
        let most = if belief.law(Law::Any) > 0.5 { LARGE_BYTES_MAX } else { FEW_BYTES_MAX };
        self.is_first(order)
            && self.may_shrink
            && self.request > self.experiment.smallest()
            && (self.request * writes >= most || belief.whole_turns_end())
    }

    /// Searches once more with smaller requests if nothing merged in that many units: where a log maps as much at once as was
    /// written, no switch leaves anything to complete. `None` if that finds no number either; then all is as before.
    fn begin_anew(&mut self, belief: &Belief, most: u32) -> Result<Option<(Pool, Belief)>, Stop> {
        let may_be = |size: &Bytes| *size >= self.experiment.smallest() && size.is_multiple_of(SECTOR);
        let Some(smaller) = self.experiment.smaller.filter(may_be).filter(|_| belief.fits_all(most)) else {
            return Ok(None);
        };
        let larger = std::mem::replace(&mut self.request, smaller);
        self.data.free = std::mem::take(&mut self.data.cells);
        let mut pool = self.pool(Order::Linear);
        self.rounds(&mut pool, 1, BASELINE)?;
        if let Some(mut anew) = evidence::linear(self.data) {
            self.search(&mut pool, &mut anew, most)?;
            if anew.verdict().tells(most) {
                return Ok(Some((pool, anew)));
            }
        }
        self.request = larger;
        self.data.cells = std::mem::take(&mut self.data.free);
        Ok(None)
    }

    /// Searches once more from two blocks in turn, where every write that does not go on behind the last one takes longer by less than
    /// copying a block: on some cards that is no merge, and merges, which take far longer, come with more blocks. `None` if none come;
    /// then all is as before.
    fn begin_beyond_switches(&mut self, belief: &Belief, most: u32) -> Result<Option<(Pool, Belief)>, Stop> {
        let verdict = belief.verdict();
        let is_one = verdict.tells(most) && verdict.number == 1;
        if !is_one
            || !self.is_short(belief)
            || self.is_one_run(belief.slowness())
            || !self.data.larger.is_empty()
        {
            return Ok(None);
        }
        self.data.appended = std::mem::take(&mut self.data.cells);
        if self.units.left() < u64::from(SWITCHED_LEAST) {
            self.units.begin_again();
        }
        let mut pool = self.pool(Order::Linear);
        self.rounds(&mut pool, evidence::IN_TURN, BASELINE)?;
        if let Some(mut anew) = evidence::linear(self.data) {
            self.search(&mut pool, &mut anew, most)?;
            self.settle(&mut pool, &mut anew, most)?;
            self.confirm(&mut pool, &mut anew, most)?;
            let verdict = anew.verdict();
            // What comes now and then, and is too short to copy a block, may be anything.
            let is_each = anew.law(Law::LeastRecent) > 0.5;
            let is_told = is_each && verdict.tells(most) && verdict.number >= evidence::IN_TURN;
            if is_told || (anew.merges() >= MERGES_BEYOND && !self.is_short(&anew)) {
                return Ok(Some((pool, anew)));
            }
        }
        self.data.cells = std::mem::take(&mut self.data.appended);
        Ok(None)
    }

    /// Whether what is taken for merges hardly copies an erase block.
    fn is_short(&self, belief: &Belief) -> bool {
        belief.merge_seconds().is_some_and(|seconds| {
            evidence::hardly_copies(seconds, belief.slowness(), self.request, self.experiment.erase_block)
        })
    }

    /// Searches once more where whole requests into one unit too many merge no more, as smaller ones did not: those take no other path,
    /// but what held a place before, and went by chance last, is gone only now. `None` if they do merge; then all is as before.
    fn begin_outgrown(
        &mut self,
        pool: &mut Pool,
        belief: &Belief,
        most: u32,
    ) -> Result<Option<(Pool, Belief)>, Stop> {
        let too_many = belief.verdict().number + 1;
        // On a small stick blocks that are left may lie in its FAT area, where nothing merges.
        let has_fresh = self.units.left() >= u64::from(2 * too_many);
        if !has_fresh || self.data.led || !self.data.larger.is_empty() || self.is_spent(pool.order) {
            return Ok(None);
        }
        let indices = oldest_first(pool, belief, too_many as usize);
        pool.fill_gaps(&mut self.session, indices.iter().copied(), self.request)?;
        pool.set_request(self.request);
        // Without a word to the belief, which does not know of the smaller ones in between.
        for index in indices {
            let written = pool.write(&mut self.session, &mut self.units, index)?;
            if written.and_then(|written| written.latency).is_none_or(|took| belief.slowness().is_slow(took))
            {
                return Ok(None);
            }
        }
        let before = std::mem::take(&mut self.data.cells);
        let mut pool = self.pool(Order::Linear);
        self.rounds(&mut pool, 1, BASELINE)?;
        let Some(mut anew) = evidence::linear(self.data) else {
            self.data.cells = before;
            return Ok(None);
        };
        self.data.outgrown = before;
        self.search(&mut pool, &mut anew, most)?;
        self.settle(&mut pool, &mut anew, most)?;
        self.confirm(&mut pool, &mut anew, most)?;
        Ok(Some((pool, anew)))
    }

    /// Whether smaller requests into one block too many merged now and then, though each of them would if the block written longest ago
    /// had to go.
    fn survey_tells_of_any(&self, belief: &Belief, number: u32) -> bool {
        let surveyed = |cell: &&OpenUnitsCell| {
            cell.order == Order::Linear && cell.open_units == number + 1 && cell.request < self.request
        };
        // One that all others were written behind is not open any more.
        let is_mixed = |cell: &OpenUnitsCell| {
            let slow: Vec<bool> =
                cell.writes().map(|(_, latency)| belief.slowness().is_slow(latency)).collect();
            slow.contains(&true) && slow.iter().skip(number as usize + 1).any(|slow| !slow)
        };
        belief.law(Law::LeastRecent) > 0.5
            && number <= SETTLED_MAX
            && !self.data.led
            && self.data.cells.iter().filter(surveyed).any(is_mixed)
    }

    /// Turns of one too many with whole requests, and the search from there on, where it is in doubt which block has to go.
    fn settle_anew(&mut self, pool: &mut Pool, belief: &mut Belief, most: u32) -> Result<(), Stop> {
        let too_many = belief.verdict().number + 1;
        let indices = oldest_first(pool, belief, too_many as usize);
        pool.fill_gaps(&mut self.session, indices.iter().copied(), self.request)?;
        pool.set_request(self.request);
        // In between smaller requests went elsewhere: first all are written in the order in which the belief knows them.
        for index in indices {
            pool.write(&mut self.session, &mut self.units, index)?;
        }
        for _ in 0..SETTLED_ANEW {
            self.step(pool, belief.all_of(too_many), belief)?;
        }
        self.search(pool, belief, most)?;
        self.settle(pool, belief, most)
    }

    /// Goes on with the smallest request that merges as well, if there is one; whether there is. Where the block written longest ago
    /// goes, whatever is opened to see it counts: there no smaller one is taken unless all blocks fit so far, and that one untried.
    fn shrink(&mut self, pool: &mut Pool, belief: &Belief) -> Result<bool, Stop> {
        let larger = self.request;
        let smallest = self.experiment.smallest();
        let is_tried = belief.law(Law::Any) > 0.5;
        let sizes: Vec<Bytes> = if is_tried {
            let doubled = std::iter::successors(Some(smallest), |size| Some(*size * 2));
            doubled.take_while(|size| *size < larger).collect()
        } else if belief.all_fit_so_far() {
            vec![larger / SMALLER_UNSEEN]
        } else {
            Vec::new()
        };
        // Each block goes on where it ended.
        let sizes = sizes.into_iter().filter(|size| *size >= smallest && larger.is_multiple_of(*size));
        self.data.larger = std::mem::take(&mut self.data.cells);
        for size in sizes {
            self.go_on_with(pool, size, false)?;
            match if is_tried { self.merges_at(pool, belief.opened())? } else { Some(Command::First) } {
                Some(Command::First) => return Ok(true),
                Some(Command::Second) => {
                    self.data.larger.append(&mut self.data.cells);
                    self.data.led = true;
                    self.go_on_with(pool, size, true)?;
                    return Ok(true);
                }
                _ => self.data.larger.append(&mut self.data.cells),
            }
        }
        pool.fill_gaps(&mut self.session, 0..pool.len(), larger)?;
        pool.set_request(larger);
        self.request = larger;
        self.data.cells = std::mem::take(&mut self.data.larger);
        Ok(false)
    }

    /// Goes on with requests of this size, each led by one over the place before or not, after a baseline of its own.
    fn go_on_with(&mut self, pool: &mut Pool, size: Bytes, led: bool) -> Result<(), Stop> {
        pool.set_request(size);
        if led {
            pool.lead_each();
        }
        self.request = size;
        let last = pool.len().saturating_sub(1);
        for _ in 0..BASELINE {
            self.write(pool, 1, last)?;
        }
        Ok(())
    }

    /// Which of two commands into a fresh block merges, if one does, where as many were opened before.
    fn merges_at(&mut self, pool: &mut Pool, opened: u32) -> Result<Option<Command>, Stop> {
        let (mut first, mut second) = (0, 0);
        for number in (opened + 1..).take(OPENED_TO_SEE as usize) {
            let index = pool.len();
            let mut write = || -> Result<Option<Duration>, Stop> {
                let written = self.write(pool, number, index)?;
                Ok(written.and_then(|written| written.latency))
            };
            let (Some(opening), Some(behind)) = (write()?, write()?) else { return Ok(None) };
            first += u32::from(opening >= behind.mul_f64(SLOWER));
            second += u32::from(behind >= opening.mul_f64(SLOWER));
            let slow = first.max(second);
            if slow == OPENED_SLOWLY_ENOUGH || number - opened - slow > OPENED_TO_SEE - OPENED_SLOWLY_ENOUGH {
                break;
            }
        }
        Ok(match OPENED_SLOWLY_ENOUGH {
            enough if first == enough => Some(Command::First),
            enough if second == enough => Some(Command::Second),
            _ => None,
        })
    }

    /// Writes where that tells most, until one number of open units is left, or the device has no more units. What a slow write is may look
    /// otherwise in the end: then it goes on.
    fn search(&mut self, pool: &mut Pool, belief: &mut Belief, most: u32) -> Result<(), Stop> {
        let base = belief.slowness();
        for _ in 0..SEARCHED_AGAIN {
            self.search_on(pool, belief, most, base)?;
            let known = belief.slowness();
            if !self.rewrites {
                *belief = self.beyond_stalls(belief, pool.order, base);
            }
            if belief.slowness() == known {
                break;
            }
        }
        Ok(())
    }

    /// The belief by what a slow write seems to be by now, where it was this at first.
    fn beyond_stalls(&self, belief: &Belief, order: Order, base: SlowClassifier) -> Belief {
        let parts = match order {
            Order::Linear => evidence::parts(self.data),
            Order::Random => vec![Part::new(&self.data.cells, base)],
        };
        evidence::beyond_stalls(belief.clone(), &parts)
    }

    fn search_on(
        &mut self,
        pool: &mut Pool,
        belief: &mut Belief,
        mut most: u32,
        base: SlowClassifier,
    ) -> Result<(), Stop> {
        let mut look_at = belief.writes() + LOOK_AFTER;
        while belief.writes() < self.writes_max()
            && may_tell_more(belief, most)
            && (!self.is_spent(pool.order) || self.may_finish(pool.order, belief))
        {
            let Some(step) = self.next(belief, most).filter(|_| !self.is_large(pool.order, belief)) else {
                break;
            };
            if pool.order == Order::Linear && self.may_be_one_run(belief) {
                self.begin_pairs(belief.slowness())?;
                if self.is_one_run(belief.slowness()) {
                    break;
                }
                self.open_again(pool, belief)?;
            }
            if pool.order == Order::Linear && self.may_be_one_run_apart(belief) {
                self.may_begin_apart = false;
                self.begin_apart(pool, belief)?;
                if self.is_one_run(belief.slowness()) {
                    break;
                }
                continue;
            }
            if !self.step(pool, step, belief)? {
                most = belief.opened();
            }
            if !self.rewrites && belief.writes() >= look_at {
                look_at = belief.writes() * 3 / 2;
                *belief = self.beyond_stalls(belief, pool.order, base);
                if belief.writes() > COLLECTED_AFTER
                    && pool.order == Order::Linear
                    && self.is_slow_evenly(belief)
                {
                    break;
                }
            }
        }
        Ok(())
    }

    /// After how many writes a search ends.
    fn writes_max(&self) -> usize {
        self.experiment.writes_max() * if self.is_smaller() { SMALLER_LASTS } else { 1 }
    }

    /// Whether the requests are smaller than asked for.
    fn is_smaller(&self) -> bool {
        self.request < self.experiment.request
    }

    /// Whether the search in this order wrote enough, or took long enough.
    fn is_spent(&self, order: Order) -> bool {
        let lasts = if self.is_smaller() || !self.data.larger.is_empty() { SMALLER_TIME } else { 1.0 };
        let time_max = if self.is_first(order) { TIME_LINEAR_MAX } else { TIME_MAX };
        self.session.device_time() >= time_max.mul_f64(lasts)
            || self.session.bytes_written() >= self.bytes_max(order)
    }

    /// Whether so little is left open in linear order that it is worth some time more, which is all that is spent.
    fn may_finish(&self, order: Order, belief: &Belief) -> bool {
        let verdict = belief.verdict();
        self.is_first(order)
            && verdict.high - verdict.low <= NEARLY_TOLD
            && self.session.device_time() < TIME_LINEAR_MAX.mul_f64(SMALLER_TIME * FINISHING_TIME)
            && self.session.bytes_written() < self.bytes_max(order)
    }

    /// What to write next. Over data all blocks of a round begin anew together, so that there whole rounds are chosen.
    fn next(&self, belief: &Belief, most: u32) -> Option<Step> {
        if self.rewrites {
            return belief.next_round(most).map(|number| Step::Turn { number, writes: number });
        }
        belief.next(most)
    }

    /// One step of the search. False if the device has no more fresh units.
    fn step(&mut self, pool: &mut Pool, step: Step, belief: &mut Belief) -> Result<bool, Stop> {
        match step {
            Step::Turn { number, .. } if self.rewrites => self.round(pool, number, belief),
            Step::Turn { number, writes } => self.turn(pool, (number, writes), belief),
            Step::Open(number) => self.open(pool, number, belief),
        }
    }

    /// Opens fresh blocks until so many were.
    fn open(&mut self, pool: &mut Pool, number: u32, belief: &mut Belief) -> Result<bool, Stop> {
        for opened in belief.opened()..number {
            let index = pool.len();
            if !self.ask(pool, (opened + 1, index), belief)? {
                return Ok(false);
            }
            if pool.order == Order::Random && belief.hardly_fit(opened + 1) {
                break;
            }
        }
        Ok(true)
    }

    /// Writes into so many blocks in turn, each time into the one written longest ago, until that is surely too many.
    fn turn(
        &mut self,
        pool: &mut Pool,
        (number, writes): (u32, u32),
        belief: &mut Belief,
    ) -> Result<bool, Stop> {
        belief.turn(number, writes);
        for _ in 0..writes {
            let Some((unit, since)) = belief.longest_ago_of(number) else { break };
            let Some((index, true)) = pool.member_of(unit) else {
                belief.retire(unit);
                OpenUnitsCell::pass_over(self.cells_mut(), pool.order, unit);
                continue;
            };
            if !self.ask(pool, (since, index), belief)? {
                return Ok(false);
            }
            if belief.is_too_many(number) {
                break;
            }
        }
        Ok(true)
    }

    /// One write in order, or two one after the other out of order: with the first alone a block may not be opened.
    fn ask(
        &mut self,
        pool: &mut Pool,
        (number, index): (u32, usize),
        belief: &mut Belief,
    ) -> Result<bool, Stop> {
        for _ in 0..if pool.order == Order::Random { 2 } else { 1 } {
            if !self.write_and_tell(pool, (number, index), belief)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One write that the belief hears of. Where any block has to go, one that is full by now is written to its end, and another begun, which
    /// takes its place: so none is left to what takes no more turns, nor to what is written in between. False if the device has no more
    /// fresh units.
    fn write_and_tell(
        &mut self,
        pool: &mut Pool,
        (number, index): (u32, usize),
        belief: &mut Belief,
    ) -> Result<bool, Stop> {
        let Some(written) = self.write(pool, number, index)? else { return Ok(false) };
        if let Some(latency) = written.latency {
            belief.write(written.unit, latency);
        }
        if pool.has_place(index) || self.rewrites || belief.law(Law::Any) < GIVES_BACK {
            return Ok(true);
        }
        if !pool.write_rest(&mut self.session, index)? {
            return Ok(true);
        }
        belief.retire(written.unit);
        OpenUnitsCell::pass_over(self.cells_mut(), pool.order, written.unit);
        let Some(next) = self.write(pool, number, index)? else { return Ok(false) };
        if let Some(latency) = next.latency {
            belief.write(next.unit, latency);
        }
        Ok(true)
    }

    /// Writes into as many as were found to fit in turn until that is quick; the first time may have to open them again. So a
    /// cache that filled up during the search is told from one unit too many.
    fn confirm(&mut self, pool: &mut Pool, belief: &mut Belief, most: u32) -> Result<(), Stop> {
        let verdict = belief.verdict();
        // Where any block has to go, quick writes among the last merges say the same.
        let turns = if verdict.tells(most) && belief.law(Law::Any) < 0.5 { CONFIRMED_MAX } else { 0 };
        for turn in 0..turns {
            // In a whole turn a few may be stalls; before it they may as well be those that were too many.
            let stalls = if turn == 0 { 0 } else { verdict.number / STALLS_ONCE_IN };
            if belief.is_quick_again(verdict.number, stalls) || self.is_spent(pool.order) {
                break;
            }
            self.step(pool, belief.all_of(verdict.number), belief)?;
        }
        Ok(())
    }

    /// The law, then the number, and what that says of the law.
    fn settle_and_confirm(&mut self, pool: &mut Pool, linear: &mut Belief, most: u32) -> Result<(), Stop> {
        self.settle(pool, linear, most)?;
        self.confirm(pool, linear, most)?;
        self.settle(pool, linear, most)
    }

    /// The law, and where that makes another number likely, the search from there on.
    fn settle(&mut self, pool: &mut Pool, belief: &mut Belief, most: u32) -> Result<(), Stop> {
        let number = belief.verdict().number;
        self.settle_law(pool, belief, most, SETTLED_MAX)?;
        if belief.verdict().number == number {
            return Ok(());
        }
        self.search(pool, belief, most)?;
        self.settle_law(pool, belief, most, SETTLED_MAX)
    }

    /// Writes into one more than fit in turn, where up to so many fit and it is not clear which of them has to go.
    fn settle_law(
        &mut self,
        pool: &mut Pool,
        belief: &mut Belief,
        most: u32,
        settled_max: u32,
    ) -> Result<(), Stop> {
        let verdict = belief.verdict();
        if !verdict.tells(most) || verdict.number > settled_max {
            return Ok(());
        }
        let number = verdict.number + 1;
        for _ in 0..SETTLING_TURNS {
            if !(UNSETTLED..1.0 - UNSETTLED).contains(&belief.law(Law::Any)) || self.is_spent(pool.order) {
                break;
            }
            let step = match belief.all_of(number) {
                Step::Turn { writes, .. } => Step::Turn { number, writes: writes.min(SETTLED_MAX + 1) },
                open => open,
            };
            if !self.step(pool, step, belief)? {
                break;
            }
        }
        Ok(())
    }

    /// Opens all blocks of the pool again as far as they fit, since others were opened in between: in the order in which the belief knows them,
    /// so that those are open that it takes for open.
    fn open_again(&mut self, pool: &mut Pool, belief: &Belief) -> Result<(), Stop> {
        let all = oldest_first(pool, belief, pool.len());
        self.open_in_turn(pool, &all, CONFIRMED_MAX, belief.slowness())?;
        Ok(())
    }

    /// Writes into these blocks of the pool in turn until none is slow, without a word to the belief: others were opened in between. Whether
    /// none was in the end, and each of them had a place left. Where all of them are slow, more are written than fit, or all are open now.
    fn open_in_turn(
        &mut self,
        pool: &mut Pool,
        indices: &[usize],
        turns: u32,
        slowness: SlowClassifier,
    ) -> Result<bool, Stop> {
        for _ in 0..turns {
            let (mut slow, mut is_full) = (0, false);
            for index in indices {
                if !pool.has_place(*index) {
                    is_full = true;
                    continue;
                }
                let written = pool.write(&mut self.session, &mut self.units, *index)?;
                let took = written.and_then(|written| written.latency);
                slow += usize::from(took.is_none_or(|latency| slowness.is_slow(latency)));
            }
            if slow == 0 {
                return Ok(!is_full);
            }
            if slow == indices.len() || self.is_spent(Order::Random) {
                break;
            }
        }
        Ok(false)
    }

    /// Whether every block that was opened cost something, and none that was gone on with: asked once.
    fn may_be_one_run(&self, belief: &Belief) -> bool {
        let enough =
            if self.experiment.erase_block > SMALL_BLOCK { OPENED_SLOWLY_LARGE } else { OPENED_SLOWLY };
        self.begins_whole()
            && self.data.beginnings.is_empty()
            && !self.rewrites
            && belief.opens_slowly(enough)
    }

    /// The same where blocks are too large to be written in pairs, or a stall may have come beside one.
    fn may_be_one_run_apart(&self, belief: &Belief) -> bool {
        (!self.begins_whole() || !self.data.beginnings.is_empty())
            && self.may_begin_apart
            && !self.rewrites
            && !self.data.led
            && belief.opens_slowly(OPENED_SLOWLY_LARGE)
    }

    /// Whether a log that takes one run in order may be behind a number that was found: it merges now and then, whatever is begun.
    fn may_be_rare_merges(&self, belief: &Belief, number: u32) -> bool {
        self.experiment.erase_block <= SMALL_BLOCK
            && self.begins_whole()
            && self.data.beginnings.is_empty()
            && belief.opens_quickly_beyond(number)
    }

    /// One round, cut short once its number is clearly too large. False if the device has no more fresh units.
    fn round(&mut self, pool: &mut Pool, number: u32, belief: &mut Belief) -> Result<bool, Stop> {
        pool.prepare(&mut self.session, &mut self.units, number)?;
        for index in 0..number as usize {
            if !self.write_and_tell(pool, (number, index), belief)? {
                return Ok(false);
            }
            if belief.is_too_many(number) {
                break;
            }
        }
        Ok(true)
    }

    /// One write, kept in the cell of its number of units; `None` if the device has no more fresh units.
    fn write(&mut self, pool: &mut Pool, number: u32, index: usize) -> Result<Option<Written>, Stop> {
        let written = pool.write(&mut self.session, &mut self.units, index)?;
        if let Some(Written { unit, latency: Some(latency), .. }) = written {
            OpenUnitsCell::keep(self.cells_mut(), (pool.order, number, pool.request), unit, latency);
        }
        Ok(written)
    }

    fn rounds(&mut self, pool: &mut Pool, number: u32, rounds: u32) -> Result<bool, Stop> {
        for index in (0..rounds).flat_map(|_| 0..number as usize) {
            if self.write(pool, number, index)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Linear writes into one fresh unit, or two, as at the start of the search; the first of each, which may close a block, left out.
    fn control(&mut self) -> Result<(), Stop> {
        let first = self.data.larger.first().or(self.data.cells.first());
        let request = first.map_or(self.request, |cell| cell.request);
        let at_start = evidence::parts(self.data).first().map(|part| part.slowness);
        let mut pool = Pool::new(self.experiment.erase_block, request, Order::Linear);
        let in_turn = if self.data.appended.is_empty() { 1 } else { evidence::IN_TURN as usize };
        for index in 0..in_turn {
            pool.write(&mut self.session, &mut self.units, index)?;
        }
        let mut times = Vec::new();
        for writes in std::iter::once(CONTROL_ALIKE).chain((1..=CONTROLS_MAX).map(|times| times * CONTROL)) {
            while times.len() < writes {
                let written = pool.write(&mut self.session, &mut self.units, times.len() % in_turn)?;
                times.push(written.and_then(|written| written.latency));
            }
            let known: Vec<Duration> = times.iter().copied().flatten().collect();
            let is_told = |slowness: SlowClassifier| {
                if writes == CONTROL_ALIKE {
                    slowness.is_unchanged(&known)
                } else {
                    slowness.changed(&known).is_none()
                }
            };
            if at_start.is_none_or(is_told) {
                break;
            }
        }
        let times = times.into_iter().flatten().collect();
        self.data.controls.push(Times::Each(times));
        Ok(())
    }
}

/// The members of the pool that were written last, so many of them, the one written longest ago first.
fn oldest_first(pool: &Pool, belief: &Belief, number: usize) -> Vec<usize> {
    let mut members: Vec<usize> =
        belief.latest().filter_map(|unit| Some(pool.member_of(unit)?.0)).take(number).collect();
    members.reverse();
    members
}

/// The command of two into one block that merges another: small ones may take another path unless they go on behind the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    First,
    Second,
}

/// Whether neither all of so many blocks fit nor stalls hide for good which number does.
fn may_tell_more(belief: &Belief, most: u32) -> bool {
    !belief.fits_all(most) && !belief.is_in_vain()
}
