//! What shows beside the number of open units: how the layer takes small requests, what it does over data, and what it costs
//! to begin a block. See docs/methods/open-units.md.

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::evidence;
use flashscope_infer::open_blocks::laws::Law;
use flashscope_infer::open_blocks::posterior::Belief;
use flashscope_infer::slow_classifier::SlowClassifier;
use flashscope_record::observation::{Beginnings, BegunApart, Group, Order};

use crate::experiment::open_units::{SETTLED_MAX, SMALLEST, Search, oldest_first};
use crate::experiment::pool::Pool;
use crate::session::{PIECE, Stop, fill, range};

/// A merge below so many writes may be less than that of a block.
const SHORT_MERGE: f64 = 4.5;
/// Writes out of order over data: two that may open the block, and enough to tell.
const OUT_OF_ORDER: u32 = 8;
/// A log maps no more pages at once than these, where as many fit.
const MAPPED: [u64; 2] = [8, 4];
/// So many groups are written twice, of as many at least as lie in a block.
const GROUPS: u64 = 6;
const GROUPS_LEAST: u64 = 4;
/// So many places of a unit are written and then written again, where as many fit.
const REWRITTEN_PLACES: u64 = 8;
/// So many where that is not enough to find more units than fit.
const REWRITTEN_FEW: u32 = 3;
/// With so many pages each, behind the first one: so a run never ends where several pages are mapped at once, and something has
/// to be completed.
const REWRITTEN_PAGES: u64 = 2;
/// So much is written at most before it is written again, and once more where places are few.
const REWRITTEN_MAX: Bytes = Bytes::mib(16);
/// So much is written at most for pairs of whole blocks, and so many pairs.
pub(super) const BEGINNINGS_MAX: Bytes = Bytes::mib(72);
const PAIRS: u64 = 3;
/// Two of blocks of up to this, if the first says so: something else may have come just then.
const TWICE_MAX: Bytes = Bytes::mib(16);
const PAIRS_LEAST: u64 = 2;
/// Else so much.
const PAIRS_BYTES: Bytes = Bytes::mib(32);
/// The largest block of which a pair is written whole.
const WHOLE_MAX: Bytes = Bytes::mib(32);
/// Of larger blocks only the last part is written, so that putting one aside costs something. That the places are free is
/// known then only if no number was too many.
const PART: Bytes = Bytes::mib(1);
/// So many blocks are begun out of order, unless so many of them are slow.
const APART: u32 = 6;
const APART_SLOW: u32 = 3;
/// So many slow writes tell that requests of a size do merge.
const SURVEY_SLOW: usize = 2;
/// So many rounds without tell that they do not, where each switch merges (of many blocks one is enough), and where some do.
const SURVEY_ROUNDS: u32 = 2;
const SURVEY_ROUNDS_OF_ANY: u32 = 3;
/// From 64 KiB down to the smallest: more is seldom needed.
const SURVEY_SIZES: u32 = 4;

/// How many requests these tests take at most, pieces of whole blocks apart, where up to so many units are written in turn.
pub(super) fn requests_max(units_max: u32) -> u64 {
    let surveyed = SURVEY_ROUNDS_OF_ANY * SURVEY_SIZES * (units_max + 1);
    u64::from(surveyed + OUT_OF_ORDER) + PAIRS * (4 + PAIRS) + GROUPS * 2
}

impl Search<'_, '_> {
    /// Smaller and smaller requests into one unit too many, until a size pays no merge: the largest that takes another path.
    pub(super) fn survey(
        &mut self,
        pool: &mut Pool,
        too_many: u32,
        linear: &Belief,
    ) -> Result<Option<Bytes>, Stop> {
        let slowness = linear.slowness();
        let rounds = match too_many - 1 {
            _ if linear.law(Law::Any) > 0.5 => SURVEY_ROUNDS_OF_ANY,
            0..=SETTLED_MAX => SURVEY_ROUNDS,
            _ => 1,
        };
        // The one that is closed comes first where the oldest goes: then each write merges, or none does.
        let mut oldest_first = oldest_first(pool, linear, too_many as usize).into_iter().cycle();
        let halves = std::iter::successors(Some(self.request / 2), |size| Some(*size / 2));
        let searched = pool.request;
        let is_smaller =
            |size: &Bytes| *size >= SMALLEST && size.is_multiple_of(SMALLEST) && *size != searched;
        for size in halves.take_while(is_smaller) {
            pool.set_request(size);
            let mut slow = 0;
            for index in oldest_first.by_ref().take((rounds * too_many) as usize) {
                let Some(written) = self.write(pool, too_many, index)? else { return Ok(None) };
                slow += usize::from(written.latency.is_some_and(|latency| slowness.is_slow(latency)));
                if slow >= SURVEY_SLOW {
                    break;
                }
            }
            if slow < SURVEY_SLOW {
                return Ok(Some(size));
            }
        }
        Ok(None)
    }

    /// What shows only over data: whether a log maps less than an erase block at once, if merges are so short that it may,
    /// or none was seen.
    pub(super) fn written_before(&mut self, linear: &Belief) -> Result<(), Stop> {
        if linear.is_beyond(self.experiment.units_max) {
            let is_log = self.rewrite(true)?;
            // As many as were opened fit, though stalls may have come in between.
            let places_are_free = self.begins_whole() || linear.opened() >= self.experiment.units_max;
            if self.data.beginnings.is_empty() && !is_log && places_are_free {
                self.begin_pairs(linear.slowness())?;
            }
            return Ok(());
        }
        let short = linear.slowness().typical_seconds() * SHORT_MERGE;
        if linear.shortest_merges_seconds().is_some_and(|seconds| seconds < short) {
            let mut pool = self.pool(Order::Random).written_before(2 * OUT_OF_ORDER + 2);
            for _ in 0..OUT_OF_ORDER {
                let written = pool.write(&mut self.session, &mut self.units, 0)?;
                self.data.out_of_order.extend(written.and_then(|written| written.latency));
            }
            if evidence::is_slow_over_data(self.data, linear.slowness()) {
                self.write_groups()?;
                if !evidence::is_no_log(self.data, linear) {
                    self.rewrite(false)?;
                }
            }
        }
        Ok(())
    }

    /// Groups of pages of one block in order, and then from the last to the first: a log that maps no more than a group at once has
    /// nothing to complete.
    fn write_groups(&mut self) -> Result<(), Stop> {
        let page = self.experiment.mapped_at_once();
        let fit = (PIECE / page).min(self.experiment.erase_block / page / GROUPS_LEAST);
        let Some(pages) = MAPPED.into_iter().find(|pages| *pages <= fit) else { return Ok(()) };
        let group = page * pages;
        let groups = (self.experiment.erase_block / group).min(GROUPS);
        let Some(unit) = self.units.take() else { return Ok(()) };
        let at = |index: u64| range(unit + group * index, group);
        let mut forward = Vec::new();
        for index in 0..groups {
            forward.push((index, self.session.write_through(at(index))?));
        }
        for (index, in_order) in forward.into_iter().rev() {
            let backward = self.session.write_through(at(index))?;
            self.data
                .groups
                .extend(in_order.zip(backward).map(|(in_order, backward)| Group { in_order, backward }));
        }
        Ok(())
    }

    /// The search once more, with requests of two pages over data, up to as many units as that takes where nothing else told their
    /// number; whether it found one.
    fn rewrite(&mut self, is_thorough: bool) -> Result<bool, Stop> {
        let (page, erase_block) = (self.experiment.mapped_at_once(), self.experiment.erase_block);
        let request = page * REWRITTEN_PAGES;
        let places = (erase_block.saturating_sub(page * REWRITTEN_PAGES) / request).min(REWRITTEN_PLACES);
        let most = (REWRITTEN_MAX / (request * places.max(1))).min(u64::from(self.experiment.units_max));
        let places = u32::try_from(places).unwrap_or(u32::MAX);
        let mut pool = Pool::new(erase_block, request, Order::Linear).behind(page).written_before(places);
        self.rewrites = true;
        let mut is_log = false;
        self.rounds(&mut pool, 1, places.saturating_sub(2))?;
        if let Some(slowness) = evidence::unmerged(self.cells()) {
            let mut belief = evidence::over_data(&self.data.rewritten, slowness);
            let mut most = u32::try_from(most).unwrap_or(u32::MAX);
            self.search(&mut pool, &mut belief, most)?;
            if is_thorough && belief.surely_fit(most) {
                let few = places.min(REWRITTEN_FEW);
                let more = u32::try_from(REWRITTEN_MAX / (request * u64::from(few.max(1)) + page * 2))
                    .unwrap_or(u32::MAX);
                most = most.saturating_add(more).min(self.experiment.units_max);
                pool = pool.written_before(few);
                self.search(&mut pool, &mut belief, most)?;
            }
            is_log = belief.verdict().tells(most);
            self.confirm(&mut pool, &mut belief, most)?;
        }
        self.rewrites = false;
        Ok(is_log)
    }

    /// Writes two blocks to their ends, so that whatever they took is free, and begins both anew: one that has to be put
    /// aside for the other tells that only one run is taken in order.
    pub(super) fn begin_pairs(&mut self, slowness: SlowClassifier) -> Result<(), Stop> {
        let erase_block = self.experiment.erase_block;
        let request = self.request;
        let is_whole = self.begins_whole();
        let has_pages = self.experiment.page.is_none_or(|page| request.is_multiple_of(page));
        let least = if erase_block <= TWICE_MAX { PAIRS_LEAST } else { 1 };
        let pairs = if is_whole { (PAIRS_BYTES / (erase_block * 2)).clamp(least, PAIRS) } else { PAIRS };
        for pair in 0..pairs {
            if self.units.left() < 2 {
                self.units.begin_again();
            }
            let (Some(one), Some(other)) = (self.units.take(), self.units.take()) else { return Ok(()) };
            let mut is_written = true;
            if is_whole {
                // Both are open before either is full: so each of them leaves a place free.
                is_written &= fill(&mut self.session, range(one, request))?;
                is_written &= fill(&mut self.session, range(other, request))?;
            }
            let from = if is_whole { request } else { erase_block - PART };
            let rest = if is_whole { erase_block - request } else { PART };
            is_written &= fill(&mut self.session, range(one + from, rest))?;
            is_written &= fill(&mut self.session, range(other + from, rest))?;
            if !is_written {
                // A block with a gap keeps its place.
                continue;
            }
            let mut alone = self.session.write_through(range(one, request))?;
            if !is_whole {
                // What was begun before that is put aside: going on is what costs nothing.
                alone = self.session.write_through(range(one + request, request))?;
            }
            // What always comes so many writes after a large one is met by another write of each pair. A run does not go on inside a page.
            for more in 0..if has_pages { pair } else { 0 } {
                let took = self
                    .session
                    .write_through(range(one + request * (more + 1 + u64::from(!is_whole)), request))?;
                alone = alone.zip(took).map(|(before, took)| before.max(took));
            }
            let behind = self.session.write_through(range(other, request))?;
            self.begun.extend([one, other]);
            self.data
                .beginnings
                .extend(alone.zip(behind).map(|(alone, behind)| Beginnings { alone, behind }));
            if !self.is_one_run(slowness) && !evidence::seems_one_run(self.data) {
                break;
            }
        }
        Ok(())
    }

    /// Begins fresh blocks now out of order, now in order: where only the latter costs something, one run is taken in order, and what else
    /// is written goes to logs. Those in order are steps of the search; the others may take places or not, so that what was open is
    /// opened again behind them.
    pub(super) fn begin_apart(&mut self, pool: &mut Pool, belief: &mut Belief) -> Result<(), Stop> {
        let slowness = belief.slowness();
        let mut slow = 0;
        for _ in 0..APART {
            let apart = pool.begin_apart(&mut self.session, &mut self.units)?;
            let index = pool.len();
            let written = self.write(pool, belief.opened() + 1, index)?;
            let Some((unit, in_order)) = written.and_then(|written| Some((written.unit, written.latency?)))
            else {
                break;
            };
            belief.write(unit, in_order);
            let Some(apart) = apart else { break };
            self.data.apart.push(BegunApart { apart, in_order });
            slow += u32::from(slowness.is_slow(apart));
            if slow == APART_SLOW {
                break;
            }
        }
        if self.is_one_run(slowness) { Ok(()) } else { self.open_again(pool, belief) }
    }

    /// Whether two whole blocks are not too much to write for a pair.
    pub(super) fn begins_whole(&self) -> bool {
        let erase_block = self.experiment.erase_block;
        let most = self.experiment.bytes_max.max(PAIRS_BYTES);
        erase_block <= WHOLE_MAX && self.session.bytes_written() + erase_block * 2 <= most
    }

    pub(super) fn is_one_run(&self, slowness: SlowClassifier) -> bool {
        evidence::shows_one_run(self.data, slowness)
    }
}
