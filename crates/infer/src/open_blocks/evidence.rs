//! The belief that stored writes lead to: the same as while they were measured.

use std::collections::HashSet;
use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::{
    Group, OpenUnitsCell, OpenUnitsData, OpenedApart, OpeningPair, Order, Times,
};

use crate::open_blocks::posterior::{Belief, OPEN_MAX};
use crate::open_blocks::prior::Prior;
use crate::slow_classifier::SlowClassifier;
use crate::statistics::{count, median, quantile};

/// What a write without a merge takes, by the writes into one unit at the start; the first of them, which may close
/// another block, does not count. `None` if there are too few.
#[must_use]
pub fn unmerged(cells: &[OpenUnitsCell]) -> Option<SlowClassifier> {
    unmerged_in_turn(cells, 1)
}

/// The same by writes into so many units in turn at the start.
fn unmerged_in_turn(cells: &[OpenUnitsCell], units: u32) -> Option<SlowClassifier> {
    let first = cells.first().filter(|cell| cell.order == Order::Linear && cell.open_units == units)?;
    let times: Vec<Duration> = first.writes().skip(units as usize).map(|(_, latency)| latency).collect();
    SlowClassifier::beyond(&times).filter(|_| times.len() >= 3)
}

/// So many units are written in turn where only a write that goes on behind the last one is quicker.
pub const IN_TURN: u32 = 2;

/// Whether what takes so much longer than a usual write of this size copies less than an erase block.
#[must_use]
pub fn copies_less(seconds: f64, slowness: SlowClassifier, request: Bytes, erase_block: Bytes) -> bool {
    let writes = request.as_f64() / slowness.typical_seconds();
    seconds * (writes * COPIED_FASTER).max(COPIED_BYTES_PER_S) < erase_block.as_f64()
}

/// Whether it hardly copies an erase block: worth to ask whether more blocks take far longer.
#[must_use]
pub fn hardly_copies(seconds: f64, slowness: SlowClassifier, request: Bytes, erase_block: Bytes) -> bool {
    copies_less(seconds / HARDLY, slowness, request, erase_block)
}

/// No stick copies faster than this, unless it is no more than so many times as fast as it writes: with several dies, and without a link
/// in between. A half of that is hardly ever met.
const COPIED_BYTES_PER_S: f64 = 400e6;
const COPIED_FASTER: f64 = 40.0;
const HARDLY: f64 = 2.0;

/// What a slow write out of order is, after the search in order: what merges took there is known, or at least that a write
/// out of order takes longer by itself.
fn out_of_order(linear: &Belief, most: u32) -> SlowClassifier {
    let slowness = linear.slowness();
    if linear.verdict().tells(most) {
        slowness.for_merges(linear.merge_seconds())
    } else {
        slowness.out_of_order()
    }
}

/// The part of a search that was made with requests of one size.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// What a slow write of that size is.
    pub slowness: SlowClassifier,
    /// That size.
    pub request: Bytes,
    cells: &'a [OpenUnitsCell],
    /// Whether it only tried which requests merge, with two writes into each fresh unit: then the slower one of both tells.
    tries: bool,
}

impl<'a> Part<'a> {
    /// These cells, of which those with requests as large as the first one's in the same order count.
    #[must_use]
    pub fn new(cells: &'a [OpenUnitsCell], slowness: SlowClassifier) -> Self {
        let request = cells.first().map_or(Bytes::ZERO, |cell| cell.request);
        Self { slowness, request, cells, tries: false }
    }

    /// The cells in this order with requests as large as the first one's.
    fn of_search(self, order: Order) -> impl Iterator<Item = &'a OpenUnitsCell> {
        let in_order = self.cells.iter().filter(move |cell| cell.order == order);
        let request = in_order.clone().next().map(|cell| cell.request);
        in_order.filter(move |cell| Some(cell.request) == request)
    }

    /// The units that became full in this order, each with how many writes there were before that.
    fn passed_over(self, order: Order) -> impl Iterator<Item = (usize, u32)> + 'a {
        let mut writes = 0;
        let cells = self.of_search(order).filter(move |_| !self.tries).map(move |cell| {
            let before = writes;
            writes += cell.writes().count();
            (before, cell)
        });
        cells.flat_map(|(before, cell)| {
            cell.passed_over.iter().map(move |each| (before + each.after, each.unit))
        })
    }

    /// The writes in this order: the number of units of their round, the unit, and how long each took.
    pub fn writes(self, order: Order) -> Box<dyn Iterator<Item = (u32, u32, Duration)> + 'a> {
        if self.tries {
            let fresh = self.cells.iter().filter(|cell| cell.open_units > 1);
            return Box::new(fresh.filter_map(|cell| {
                let (unit, latency) = cell.writes().max_by_key(|(_, latency)| *latency)?;
                Some((cell.open_units, unit, latency))
            }));
        }
        Box::new(
            self.of_search(order)
                .flat_map(|cell| cell.writes().map(|(unit, latency)| (cell.open_units, unit, latency))),
        )
    }
}

/// The parts of the search in linear order, first that with larger requests, if there is one, and what was tried until smaller ones
/// merged. One that ended before it had enough writes into one unit says nothing.
#[must_use]
pub fn parts(data: &OpenUnitsData) -> Vec<Part<'_>> {
    let mut sizes = data.larger.chunk_by(|one, other| one.request == other.request);
    let first = sizes.next().into_iter().map(|cells| (cells, false));
    let all = first.chain(sizes.map(|cells| (cells, true))).chain([(data.cells.as_slice(), false)]);
    let units = if data.appended.is_empty() { 1 } else { IN_TURN };
    all.filter_map(|(cells, tries)| {
        unmerged_in_turn(cells, units).map(|slowness| Part { tries, ..Part::new(cells, slowness) })
    })
    .collect()
}

/// The belief behind all writes of the search in linear order; `None` without any.
#[must_use]
pub fn linear(data: &OpenUnitsData) -> Option<Belief> {
    let parts = parts(data);
    let slowness = parts.first()?.slowness;
    let belief = Belief::new(Order::Linear, slowness, Prior::Linear).in_blocks_of(data.erase_block);
    let after = after_all(&belief, &parts, SlowClassifier::clone);
    // Where the control took longer by a small step, small steps are no merges.
    let changed = |control: &Times| match control {
        Times::Each(times) => slowness.for_small_steps().changed(times).is_some(),
        Times::Mean { .. } => false,
    };
    let mut belief = if data.controls.iter().any(changed) {
        among_stalls(after, &parts)
    } else {
        beyond_stalls(after, &parts)
    };
    let known = belief.verdict();
    if known.probability < SURE {
        // What made the search look at stalls may hardly show among all that followed, nor need it where the number stays.
        let explains = |other: &Belief| {
            let verdict = other.verdict();
            let more = if verdict.number == known.number { 0.0 } else { MORE_EXPLAINED };
            (verdict.tells(OPEN_MAX + 1) && verdict.probability > known.probability).then_some(more)
        };
        belief = beyond_limits(&belief, &parts, f64::INFINITY, explains).unwrap_or(belief);
    }
    let places = [&data.freed, &data.continued].map(|cells| places_in(cells, &belief));
    places.into_iter().flatten().for_each(|places| belief.has_places(places));
    Some(belief)
}

/// How many units were begun or gone on with out of order without a merge, each written twice, where none wanted for a place, and all of
/// the next ones with one: so many places there are at least, since any may be taken in order.
fn places_in(cells: &[OpenUnitsCell], linear: &Belief) -> Option<u32> {
    // A stall among a few merges puts the limit for merges above others of them.
    let limits = [linear.slowness(), out_of_order(linear, OPEN_MAX + 1)];
    let is_slow = |cell: &OpenUnitsCell| {
        cell.writes().any(|(_, latency)| limits.iter().any(|limit| limit.is_slow(latency)))
    };
    let quick = cells.iter().take_while(|cell| !is_slow(cell));
    let are_twice = quick.clone().all(|cell| cell.writes().count() == 2);
    let quick = quick.count();
    let beyond = &cells[quick..];
    (are_twice && beyond.len() >= BEYOND_GIVEN_BACK && beyond.iter().all(is_slow))
        .then(|| u32::try_from(quick).unwrap_or(u32::MAX))
}

/// So many units too many tell that the places are taken.
const BEYOND_GIVEN_BACK: usize = 2;

/// The same belief where what follows is written with requests as large as at the start, not led by others.
#[must_use]
pub fn with_whole_requests(mut linear: Belief, data: &OpenUnitsData) -> Belief {
    if let Some(part) = parts(data).first().filter(|_| data.led) {
        linear.go_on_with(part.slowness.as_firm_as(linear.slowness()), part.request);
    }
    linear
}

/// The belief behind all writes of the search in random order, after that in linear order, which tried up to `most` units.
#[must_use]
pub fn random(cells: &[OpenUnitsCell], linear: &Belief, most: u32) -> Belief {
    after_cells(cells, before_random(linear, most))
}

/// The belief behind units begun out of order, each once another was written whole.
#[must_use]
pub fn given_back(cells: &[OpenUnitsCell], linear: &Belief, most: u32) -> Belief {
    after_cells(cells, before_random(linear, most).with_places_given_back())
}

/// The belief before the first write in random order.
fn before_random(linear: &Belief, most: u32) -> Belief {
    Belief::new(Order::Random, out_of_order(linear, most), Prior::after(linear))
}

/// The same after all writes of these cells.
fn after_cells(cells: &[OpenUnitsCell], before: Belief) -> Belief {
    let parts = [Part::new(cells, before.slowness())];
    beyond_stalls(after_all(&before, &parts, SlowClassifier::clone), &parts)
}

/// The same if it tells how many fit: from [`GIVEN_BACK_MIN`] on, or it may be that nothing was given back; and where one was too many.
#[must_use]
pub fn given_back_tells(cells: &[OpenUnitsCell], linear: &Belief, most: u32) -> Option<Belief> {
    let belief =
        Some(cells).filter(|cells| !cells.is_empty()).map(|cells| given_back(cells, linear, most))?;
    let verdict = belief.verdict();
    // Where each of a few is slow, none of many needs to be: that is no number.
    let is_beyond = belief.ever_opened() > verdict.number && !belief.stalls_too_often();
    let is_told = verdict.tells(OPEN_MAX + 1)
        && verdict.number >= GIVEN_BACK_MIN
        && is_beyond
        && belief.openings_were_slow(2);
    is_told.then_some(belief)
}

/// So many open units at least are told by units begun once others were written whole.
const GIVEN_BACK_MIN: u32 = 2;

/// After all writes of a search, whose slowness is changed in this way. In order a block that became full may be open still, since its last
/// place is left out; out of order it was written whole, and goes like any other.
fn after_all(
    belief: &Belief,
    parts: &[Part<'_>],
    slowness: impl Fn(&SlowClassifier) -> SlowClassifier,
) -> Belief {
    let mut belief = belief.anew();
    for part in parts {
        belief.go_on_with(slowness(&part.slowness), part.request);
        let order = belief.order();
        let mut passed_over = part.passed_over(order).filter(|_| order == Order::Linear).peekable();
        for (index, (_, unit, latency)) in part.writes(order).enumerate() {
            while let Some((_, full)) = passed_over.next_if(|(after, _)| *after <= index) {
                belief.retire(full);
            }
            belief.write(unit, latency);
        }
        passed_over.for_each(|(_, full)| belief.retire(full));
        belief.settle();
    }
    belief
}

/// The same belief where merges take less than is slow otherwise, or a stick stalls now and then: merges may take far longer than stalls,
/// and then a higher limit between quick and slow tells more. The one is taken by which the numbers explain most, unless it runs through
/// the midst of what is slow.
#[must_use]
pub fn beyond_stalls(belief: Belief, parts: &[Part<'_>]) -> Belief {
    let is_unchanged = parts.last().is_none_or(|part| belief.slowness() == part.slowness);
    // What told little at first may tell all by now.
    let mut best = if is_unchanged { belief } else { after_all(&belief, parts, SlowClassifier::clone) };
    if let Some(first) = parts.first().filter(|first| best.order() == Order::Linear && has_small_steps(first))
    {
        let of_first = |slowness| after_all(&best, &[Part { slowness, ..*first }], SlowClassifier::clone);
        let usual = if parts.len() == 1 { best.clone() } else { of_first(first.slowness) };
        let is_told = usual.explains() > SMALL_EXPLAIN && usual.verdict().tells(OPEN_MAX + 1);
        if !is_told
            && of_first(first.slowness.for_small_steps()).explains() > usual.explains() + SMALL_EXPLAIN
        {
            best = after_all(&best, parts, |slowness| slowness.for_small_steps());
        }
    }
    if best.order() == Order::Random && !best.verdict().tells(OPEN_MAX + 1) {
        // Blocks that are new have little to copy out of order.
        let shorter = after_all(&best, parts, |slowness| slowness.for_shorter_merges());
        let (usual, other) = (best.verdict(), shorter.verdict());
        let fits = |number: u32| best.most_likely().is_some_and(|most| number <= most);
        let is_told = other.tells(OPEN_MAX + 1) && fits(other.number) && !fits(usual.number);
        let is_each = is_told && parts.iter().any(|part| switches_cost(part, shorter.slowness()));
        if is_each || shorter.explains() > if is_told { 0.0 } else { best.explains() } + SMALL_EXPLAIN {
            best = shorter;
        }
    }
    among_stalls(best, parts)
}

/// Whether the first of two writes into a block is slow nearly each time, and the second is quick: where all switches cost, which of
/// them do needs no explaining, but that going on costs nothing tells them from writes that are slow by themselves.
fn switches_cost(part: &Part<'_>, slowness: SlowClassifier) -> bool {
    let writes: Vec<(u32, bool)> =
        part.writes(Order::Random).map(|(_, unit, latency)| (unit, slowness.is_slow(latency))).collect();
    let pairs: Vec<_> = writes.windows(2).filter(|pair| pair[0].0 == pair[1].0).collect();
    let costly = pairs.iter().filter(|pair| pair[0].1 && !pair[1].1).count();
    pairs.len() >= SWITCHES_MIN && count(costly) >= count(pairs.len()) * SWITCHES_COSTLY
}

/// So many switches tell, of which so many cost.
const SWITCHES_MIN: usize = 8;
const SWITCHES_COSTLY: f64 = 0.9;

/// Whether some writes are slow only if small steps count.
fn has_small_steps(part: &Part<'_>) -> bool {
    let small = part.slowness.for_small_steps();
    let is_small = |latency: &Duration| small.is_slow(*latency) && !part.slowness.is_slow(*latency);
    let writes: Vec<Duration> = part.writes(Order::Linear).map(|(.., latency)| latency).collect();
    let later = &writes[writes.len() / 2..];
    let quick = later.iter().filter(|latency| !small.is_slow(**latency)).count();
    // Where hardly a write is quick any more, all take somewhat longer than at first.
    let has_quick = count(quick) >= count(later.len()) * QUICK_AMONG_STEPS;
    let stands_out = |(index, latency): &(usize, &Duration)| {
        let around = &writes[index.saturating_sub(AROUND)..writes.len().min(*index + AROUND)];
        let seconds: Vec<f64> = around.iter().map(Duration::as_secs_f64).collect();
        let beside = latency.as_secs_f64() / small.limit_seconds() * small.typical_seconds();
        quantile(&seconds, BESIDE).is_none_or(|beside_it| beside > beside_it)
    };
    let steps: Vec<_> = writes.iter().enumerate().filter(|(_, latency)| is_small(latency)).collect();
    let standing_out = steps.iter().filter(|step| stands_out(step)).count();
    let without_merges = writes.iter().filter(|latency| !part.slowness.is_slow(**latency));
    let seconds: Vec<f64> = without_merges.map(Duration::as_secs_f64).collect();
    standing_out > SMALL_STEPS_MIN
        && count(standing_out) > count(steps.len()) * STANDING_OUT
        && has_quick
        && !wavers(&seconds)
}

/// Whether these times, in the order in which they came, go up and down slowly instead of in steps: by the mean square of the difference
/// from one to the next, against twice their variance (J. von Neumann, "Distribution of the ratio of the mean square successive difference to
/// the variance", Annals of Mathematical Statistics 12, 1941); and hardly any goes from one end to the other at once.
#[must_use]
pub fn wavers(seconds: &[f64]) -> bool {
    let mean = seconds.iter().sum::<f64>() / count(seconds.len().max(1));
    let around: f64 = seconds.iter().map(|each| (each - mean).powi(2)).sum();
    let mut apart: Vec<f64> = seconds.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    let successive: f64 = apart.iter().map(|each| each.powi(2)).sum();
    apart.sort_by(|one, other| other.total_cmp(one));
    let at = |share: f64| quantile(seconds, share).unwrap_or(0.0);
    let is_step = |step: &f64| *step > (at(0.95) - at(0.05)) * STEP;
    successive < 2.0 * around * WAVERS && !apart.get(STEPS_MIN).is_some_and(is_step)
}

/// Independent times give 1; steps of a few writes each some tenths.
const WAVERS: f64 = 0.1;
/// More than so many steps over this share of what lies between nearly all times are none that waver.
const STEPS_MIN: usize = 3;
const STEP: f64 = 0.4;

/// So many of the steps stand out from the quickest quarter of so many writes before and behind them, too: all of them may have become slower.
const STANDING_OUT: f64 = 0.33;
const AROUND: usize = 12;
const BESIDE: f64 = 0.25;
/// So many are not enough.
const SMALL_STEPS_MIN: usize = 3;
/// Of the later half of writes so many are quick in any case.
const QUICK_AMONG_STEPS: f64 = 0.2;

/// The same where only stalls are looked at.
fn among_stalls(best: Belief, parts: &[Part<'_>]) -> Belief {
    let best = beyond_doubt(best, parts);
    // Where the numbers explain less than chance does, something else is taken for merges.
    let most = if best.stalls() >= STALLS_NOW_AND_THEN || best.explains() < 0.0 {
        f64::INFINITY
    } else if best.stalls_in_a_turn() >= STALLS_IN_A_TURN {
        best.middle_of_merges()
    } else {
        return best;
    };
    beyond_limits(&best, parts, most, |_| Some(MORE_EXPLAINED)).unwrap_or(best)
}

/// The belief by that of the limits up to `most` by which the numbers explain most, and by so many nats more as each has to; `None` if none
/// does. A belief that has to by no number does not count.
fn beyond_limits(
    belief: &Belief,
    parts: &[Part<'_>],
    most: f64,
    has_to: impl Fn(&Belief) -> Option<f64>,
) -> Option<Belief> {
    let slow = belief.slow_share();
    let mut best = None;
    let mut explained = belief.explains();
    for limit in LIMITS.into_iter().filter(|limit| *limit <= most) {
        let other = after_all(belief, parts, |slowness| slowness.beyond_stalls(limit));
        let stalls = slow - other.slow_share();
        let is_plausible = stalls < STALLS_MOST && other.doubtful_share() <= other.slow_share();
        let Some(more) = Some(&other).filter(|_| is_plausible).and_then(&has_to) else { continue };
        let explains = other.explains();
        if explains > explained + more {
            explained = explains;
            best = Some(other);
        }
    }
    best
}

/// The same where the limit runs through the midst of what is usual: what any switch costs, say, beside which merges take far longer.
fn beyond_doubt(best: Belief, parts: &[Part<'_>]) -> Belief {
    let doubtful = best.doubtful_share();
    if doubtful < DOUBTFUL {
        return best;
    }
    let other = after_all(&best, parts, |slowness| slowness.beyond_stalls(LIMIT_BEYOND_DOUBT));
    let is_clear = other.merges() >= MERGES_BEYOND_DOUBT && other.doubtful_share() < doubtful * DOUBT_LEFT;
    if is_clear && other.explains() > best.explains() { other } else { best }
}

/// So many writes that may as well be slow as quick leave the limit in doubt, and a limit of so many times what a write takes tells if so
/// few are left, and so many are slow still.
const DOUBTFUL: f64 = 0.2;
const DOUBT_LEFT: f64 = 0.25;
const LIMIT_BEYOND_DOUBT: f64 = 3.0;
const MERGES_BEYOND_DOUBT: usize = 4;

/// Nats by which small steps must explain more of the first part of a search, where larger ones tell no number: what a log completes may
/// take less than half as long as a write, on a slow link or with large pages. Requests of less than a page, later on, take longer than that
/// in another block than the one before.
const SMALL_EXPLAIN: f64 = 5.0;
/// Stalls so frequent are looked at. So are so many in a turn where only whole turns tell; then a limit lies no nearer to merges than to
/// writes without one.
const STALLS_NOW_AND_THEN: f64 = 0.03;
const STALLS_IN_A_TURN: f64 = 0.1;
/// What is slow for every fifth write is no stall, however little a number explains which of them are.
const STALLS_MOST: f64 = 0.2;
/// The limits tried, multiples of what a write without a merge takes.
const LIMITS: [f64; 3] = [6.0, 15.0, 40.0];
/// A number that is less likely than this in the end may be surer by another limit.
const SURE: f64 = 0.97;
/// Nats by which another limit must explain more.
const MORE_EXPLAINED: f64 = 2.0;

/// The belief behind writes of a few pages over data. Where a run happens to stop at the end of what a log maps at once,
/// nothing has to be completed: such a merge does not show.
#[must_use]
pub fn over_data(cells: &[OpenUnitsCell], slowness: SlowClassifier) -> Belief {
    let slowness = slowness.for_small_steps();
    let mut belief = Belief::new(Order::Linear, slowness, Prior::Linear).with_hidden(AT_AN_END);
    for (unit, latency) in cells.iter().flat_map(|cell| cell.writes()) {
        belief.write(unit, latency);
    }
    belief
}

/// None does where two or four pages are mapped at once and each is known for one.
const AT_AN_END: f64 = 0.1;

/// So many pairs of blocks tell that one is put aside for the other, whatever else is slow.
const PAIRS_MIN: usize = 2;

/// Whether the pairs of blocks tell that one run is taken in order, and no more. What a search takes for slow may be far longer than
/// putting one aside, where one merge in many is.
#[must_use]
pub fn shows_one_run(data: &OpenUnitsData, slowness: SlowClassifier) -> bool {
    let in_pairs =
        is_one_run(&data.beginnings, slowness) || (data.beginnings.len() >= PAIRS_MIN && seems_one_run(data));
    (in_pairs && !goes_on_as_slowly(data) && !is_far_shorter(data)) || is_one_run_apart(&data.apart, slowness)
}

/// Whether what one block of each pair cost is far less than what opening fresh ones did: that is a stall, and nothing was put aside.
fn is_far_shorter(data: &OpenUnitsData) -> bool {
    let Some((part, behind)) = behind_another(data) else { return false };
    let mut begun = HashSet::new();
    let openings = part.writes(Order::Linear).filter(|(_, unit, _)| begun.insert(*unit)).skip(1);
    let slow: Vec<f64> = openings
        .filter(|(_, _, latency)| part.slowness.is_slow(*latency))
        .map(|(_, _, latency)| longer(part, latency))
        .collect();
    let usual = median(&slow).filter(|_| slow.len() >= OPENINGS_MIN);
    usual.is_some_and(|opening| behind < opening * FAR_SHORTER)
}

/// The first part of the search, and what beginning a block behind another took longer than its usual write, seconds.
fn behind_another(data: &OpenUnitsData) -> Option<(Part<'_>, f64)> {
    let part = parts(data).first().copied()?;
    let behind: Vec<f64> = data.beginnings.iter().map(|pair| longer(part, pair.behind)).collect();
    Some((part, median(&behind)?))
}

/// What a write took longer than the usual one of a part, seconds.
fn longer(part: Part<'_>, latency: Duration) -> f64 {
    latency.as_secs_f64() - part.slowness.typical_seconds()
}

/// So many slow openings tell what one costs; what takes less than this share of it is none.
const OPENINGS_MIN: usize = 4;
const FAR_SHORTER: f64 = 0.25;

/// Whether going on costs as much as beginning a block behind another does: in a block that was begun before another one, most of the time,
/// since each is put aside for the other however it is written; or in the same block now and then, since it has nothing to do with blocks.
fn goes_on_as_slowly(data: &OpenUnitsData) -> bool {
    let Some((part, behind)) = behind_another(data) else { return false };
    let as_slow = behind * AS_SLOW;
    let (mut begun, mut last) = (HashSet::new(), None);
    let (mut switched, mut same) = (Vec::new(), Vec::new());
    for (_, unit, latency) in part.writes(Order::Linear) {
        let is_slow = longer(part, latency) > as_slow;
        match last.replace(unit) {
            Some(before) if before == unit => same.push(is_slow),
            _ if begun.contains(&unit) => switched.push(is_slow),
            _ => {}
        }
        begun.insert(unit);
    }
    let are_slow = |writes: &[bool], share: f64| {
        let slow = writes.iter().filter(|slow| **slow).count();
        writes.len() >= GOING_ON_MIN && count(slow) > count(writes.len()) * share
    };
    are_slow(&switched, SWITCHED_SLOWLY) || are_slow(&same, GONE_ON_SLOWLY)
}

/// So many blocks gone on with tell, by this share of what beginning one costs.
const GOING_ON_MIN: usize = 8;
const AS_SLOW: f64 = 0.5;
const SWITCHED_SLOWLY: f64 = 0.5;
const GONE_ON_SLOWLY: f64 = 0.2;

/// Whether blocks cost something that are begun in order, and no others: a log takes those, and one run in order. One of those in order
/// may hide it, a third of the others may stall.
fn is_one_run_apart(opened: &[OpenedApart], slowness: SlowClassifier) -> bool {
    let slow = |time: fn(&OpenedApart) -> Duration| {
        opened.iter().filter(|pair| slowness.is_slow(time(pair))).count()
    };
    let (in_order, apart) = (slow(|pair| pair.in_order), slow(|pair| pair.apart));
    opened.len() >= BEGUN_MIN && in_order + 1 >= opened.len() && apart * 3 <= opened.len()
}

/// So many of either tell.
const BEGUN_MIN: usize = 5;

/// Whether it seems so by what was slow at the start.
#[must_use]
pub fn seems_one_run(data: &OpenUnitsData) -> bool {
    parts(data).first().is_some_and(|part| is_one_run(&data.beginnings, part.slowness))
}

/// Whether one block has to be put aside as soon as another is begun, though what both take was free: one run is taken in
/// order, and no more.
fn is_one_run(beginnings: &[OpeningPair], slowness: SlowClassifier) -> bool {
    let is_clear = |pair: &&OpeningPair| {
        let stalled = pair.behind.as_secs_f64() > pair.alone.as_secs_f64() * FAR_LONGER;
        stalled || !slowness.is_slow(pair.alone)
    };
    let clear = beginnings.iter().filter(is_clear).count();
    let unclear = beginnings.len() - clear;
    let are_clear = unclear == 0 || (unclear <= UNCLEAR_MAX && clear >= PAIRS_MIN);
    clear > 0 && are_clear && beginnings.iter().all(|pair| slowness.is_slow(pair.behind))
}

/// So many pairs beside those that tell may meet a log that is full when the first of them begins.
const UNCLEAR_MAX: usize = 1;

/// A stall behind the beginning of a block is shorter than putting one aside by this factor.
const FAR_LONGER: f64 = 8.0;

/// Whether writes out of order into a block are slow though the block is open: what is mapped at once is less than that. They are
/// held against the control made just before, since a cache that filled up makes all writes slower.
#[must_use]
pub fn is_slow_over_data(data: &OpenUnitsData, slowness: SlowClassifier) -> bool {
    let control = data
        .controls
        .first()
        .and_then(|times| median(&times.each().iter().map(Duration::as_secs_f64).collect::<Vec<_>>()));
    let at_start = parts(data).first().map(|part| part.slowness.typical_seconds());
    let slower = control.zip(at_start).map_or(1.0, |(now, at_start)| (now / at_start).max(1.0));
    let slowness = slowness.scaled(slower).for_parts_of_steps();
    let behind = data.out_of_order.get(OPENING..).unwrap_or_default();
    let slow = behind.iter().filter(|latency| slowness.is_slow(**latency)).count();
    !behind.is_empty() && slow * 3 >= behind.len() * 2
}

/// The first two writes out of order may open the block.
const OPENING: usize = 2;

/// Whether groups of pages that a log maps at once at most cost a merge as well where they are out of order: then it is no log
/// that completes less. `None` if too few were written, or merges are too short to show. The first of either order may open the block, the
/// second meets one that was just written to its end, and what older runs left may have to be completed behind some of them.
fn merges_whole_groups(groups: &[Group], merge_seconds: f64) -> Option<bool> {
    let seconds = |of: fn(&Group) -> Duration| groups.iter().map(move |group| of(group).as_secs_f64());
    // The quickest one holds no stall.
    let in_order = seconds(|group| group.in_order).reduce(f64::min)?;
    let backward: Vec<f64> = seconds(|group| group.backward).skip(BACKWARD).collect();
    let shows = backward.len() >= GROUPS_MIN && merge_seconds > in_order * SHOWS_IN_A_GROUP;
    let merged = backward.iter().filter(|seconds| *seconds - in_order > merge_seconds * MERGED_WHOLE).count();
    shows.then(|| count(merged) >= count(backward.len()) * MERGED_MOST)
}

/// Whether the layer is no log, though its merges are short.
#[must_use]
pub fn is_no_log(data: &OpenUnitsData, linear: &Belief) -> bool {
    linear.merge_seconds().and_then(|seconds| merges_whole_groups(&data.groups, seconds)) == Some(true)
}

/// A group that is merged whole takes this share of a usual merge longer at least; a log may have a page to copy beside it.
const MERGED_WHOLE: f64 = 0.6;
/// Of the groups so many are, at least.
const MERGED_MOST: f64 = 0.75;
/// What is less than this share of a group's time does not show in it.
const SHOWS_IN_A_GROUP: f64 = 0.1;
/// So many groups tell, behind so many.
const GROUPS_MIN: usize = 2;
const BACKWARD: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    /// Units begun one after the other, so many of them quickly.
    fn begun(quick: u32, slow: u32) -> Vec<OpenUnitsCell> {
        twice_each((0..quick + slow).map(|unit| if unit < quick { 2 } else { 40 }))
    }

    /// Units written twice each out of order, of which the second write takes so many milliseconds.
    fn twice_each(seconds: impl Iterator<Item = u64>) -> Vec<OpenUnitsCell> {
        let mut cells = Vec::new();
        for (unit, second) in (0..).zip(seconds) {
            for milliseconds in [2, second] {
                let kept = (Order::Random, unit + 1, Bytes::kib(4));
                OpenUnitsCell::keep(&mut cells, kept, unit, Duration::from_millis(milliseconds));
            }
        }
        cells
    }

    #[test]
    fn as_many_are_open_as_were_begun_quickly_once_others_were_given_back() {
        let slowness = SlowClassifier::beyond(&[Duration::from_millis(2); 5]).unwrap();
        let linear = Belief::new(Order::Linear, slowness, Prior::Linear);
        let number = |quick, slow| {
            let told = given_back_tells(&begun(quick, slow), &linear, OPEN_MAX);
            told.map(|belief| belief.verdict().number)
        };
        assert_eq!(number(12, 4), Some(12));
        assert_eq!(number(90, 4), Some(90));
        assert_eq!(number(12, 0), None, "there may be more");
        assert_eq!(number(0, 4), None, "nothing was given back");
        assert_eq!(number(0, 0), None);
    }

    #[test]
    fn a_unit_that_took_turns_no_more_is_left_out_where_it_was() {
        let quick = Duration::from_millis(2);
        let slowness = SlowClassifier::beyond(&[quick; 5]).unwrap();
        let request = Bytes::kib(16);
        let opened = |order| {
            let mut live = Belief::new(order, slowness, Prior::Linear);
            live.go_on_with(slowness, request);
            let mut cells = Vec::new();
            OpenUnitsCell::pass_over(&mut cells, order, 9);
            for (writes, full) in
                [(&[(1, 0), (2, 1), (3, 2), (3, 0), (3, 1)][..], 0), (&[(2, 2), (2, 1), (2, 2)], 1)]
            {
                for (number, unit) in writes {
                    live.write(*unit, quick);
                    OpenUnitsCell::keep(&mut cells, (order, *number, request), *unit, quick);
                }
                live.retire(full);
                OpenUnitsCell::pass_over(&mut cells, order, full);
            }
            let part = Part::new(&cells, slowness);
            assert_eq!(part.passed_over(order).collect::<Vec<_>>(), [(5, 0), (8, 1)]);
            let again = after_all(&live, &[part], SlowClassifier::clone);
            [live.opened(), again.opened()]
        };
        assert_eq!(opened(Order::Linear), [1, 1]);
        assert_eq!(opened(Order::Random), [1, 3], "it went as others go");
    }

    #[test]
    fn groups_that_cost_a_merge_out_of_order_belong_to_no_log() {
        let milliseconds = |(in_order, backward)| Group {
            in_order: Duration::from_millis(in_order),
            backward: Duration::from_millis(backward),
        };
        // The last group opens the block, the first one is written when it is opened.
        let merged = [(20, 36), (20, 20), (20, 36), (20, 36), (38, 36)].map(milliseconds);
        assert_eq!(merges_whole_groups(&merged, 0.019), Some(true));
        assert_eq!(merges_whole_groups(&merged[..3], 0.019), None);
        let stalled = [(52, 36), (20, 20), (20, 36), (41, 36), (38, 52)].map(milliseconds);
        assert_eq!(merges_whole_groups(&stalled, 0.019), Some(true), "most in order stalled");
        let completed = [(20, 31), (20, 20), (20, 21), (20, 20), (38, 20)].map(milliseconds);
        assert_eq!(merges_whole_groups(&completed, 0.019), Some(false));
        let leftovers = [(25, 25), (26, 31), (26, 31), (26, 26), (26, 104), (25, 25)].map(milliseconds);
        assert_eq!(merges_whole_groups(&leftovers, 0.0065), Some(false), "two completed what was left");
    }

    #[test]
    fn where_each_switch_costs_a_little_out_of_order_one_block_is_open() {
        let quick = SlowClassifier::beyond(&[Duration::from_millis(4); 5]).unwrap();
        let mut linear = Belief::new(Order::Linear, quick, Prior::Linear);
        (0..12).for_each(|_| linear.write(0, Duration::from_millis(4)));
        (0..40).for_each(|index| linear.write((index + 1) % 2, Duration::from_millis(700)));
        assert_eq!(linear.verdict().number, 1);
        let number = |second| {
            let mut cells = Vec::new();
            let mut write = |number, unit, milliseconds| {
                let kept = (Order::Random, number, Bytes::kib(32));
                OpenUnitsCell::keep(&mut cells, kept, unit, Duration::from_millis(milliseconds));
            };
            [second; 2].iter().for_each(|each| write(1, 0, *each));
            (1..60).for_each(|unit| [15, second].iter().for_each(|each| write(unit + 1, unit, *each)));
            (0..60).for_each(|unit| [15, second].iter().for_each(|each| write(60, unit, *each)));
            let belief = random(&cells, &linear, 2);
            let verdict = belief.verdict();
            verdict.tells(OPEN_MAX + 1).then_some(verdict.number)
        };
        assert_eq!(number(4), Some(1));
        assert_ne!(number(15), Some(1), "every write out of order is slow, whatever the block");
    }

    #[test]
    fn a_stall_beside_a_block_that_is_begun_hides_no_run() {
        let slowness = SlowClassifier::beyond(&[Duration::from_millis(2); 5]).unwrap();
        let pair = |(alone, behind)| OpeningPair {
            alone: Duration::from_millis(alone),
            behind: Duration::from_millis(behind),
        };
        assert!(is_one_run(&[(2, 174), (2, 170)].map(pair), slowness));
        assert!(is_one_run(&[(2, 174), (19, 170)].map(pair), slowness), "far shorter than putting one aside");
        assert!(!is_one_run(&[(2, 174), (90, 170)].map(pair), slowness), "both may be put aside");
        assert!(is_one_run(&[(2, 174), (90, 170), (2, 172)].map(pair), slowness), "a log was full");
        assert!(!is_one_run(&[(2, 174), (2, 2)].map(pair), slowness));
        assert!(!is_one_run(&[], slowness));
    }

    #[test]
    fn blocks_that_are_put_aside_each_time_are_no_run() {
        let milliseconds = Duration::from_millis;
        let pair = OpeningPair { alone: milliseconds(3), behind: milliseconds(6) };
        let is_one_run = |going_on: u64| {
            let mut data = OpenUnitsData { beginnings: vec![pair; 2], ..OpenUnitsData::default() };
            let mut write = |number, unit, latency| {
                let kept = (Order::Linear, number, Bytes::kib(8));
                OpenUnitsCell::keep(&mut data.cells, kept, unit, milliseconds(latency));
            };
            (0..12).for_each(|_| write(1, 0, 3));
            (0..12).for_each(|index| write(2, (index + 1) % 2, if index == 0 { 6 } else { going_on }));
            shows_one_run(&data, parts(&data)[0].slowness)
        };
        assert!(is_one_run(3), "going on costs nothing");
        assert!(!is_one_run(6));
    }

    #[test]
    fn a_stall_behind_a_block_that_is_begun_is_no_run() {
        let milliseconds = Duration::from_millis;
        let is_one_run = |behind: u64| {
            let pair = OpeningPair { alone: milliseconds(8), behind: milliseconds(behind) };
            let mut data = OpenUnitsData { beginnings: vec![pair], ..OpenUnitsData::default() };
            let mut write = |number, unit, latency| {
                let kept = (Order::Linear, number, Bytes::kib(80));
                OpenUnitsCell::keep(&mut data.cells, kept, unit, milliseconds(latency));
            };
            (0..12).for_each(|_| write(1, 0, 8));
            (1..8).for_each(|unit| [200, 8].iter().for_each(|latency| write(unit + 1, unit, *latency)));
            shows_one_run(&data, parts(&data)[0].slowness)
        };
        assert!(is_one_run(180));
        assert!(!is_one_run(29), "beginning others took 200 ms");
    }

    #[test]
    fn pairs_tell_of_one_run_even_where_only_far_more_is_taken_for_slow() {
        let milliseconds = Duration::from_millis;
        let write = |latency| (0, milliseconds(latency));
        let mut data = OpenUnitsData::default();
        for (unit, latency) in [2; 8].map(write) {
            OpenUnitsCell::keep(&mut data.cells, (Order::Linear, 1, Bytes::kib(16)), unit, latency);
        }
        let pair = OpeningPair { alone: milliseconds(2), behind: milliseconds(59) };
        let far_slower = SlowClassifier::beyond(&[milliseconds(100); 5]).unwrap();
        data.beginnings.push(pair);
        assert!(seems_one_run(&data) && !shows_one_run(&data, far_slower));
        data.beginnings.push(pair);
        assert!(shows_one_run(&data, far_slower), "two of them");
        data.beginnings.push(OpeningPair { alone: milliseconds(2), behind: milliseconds(2) });
        assert!(!seems_one_run(&data) && !shows_one_run(&data, far_slower));
    }

    #[test]
    fn blocks_that_cost_something_only_where_they_begin_in_order_tell_of_one_run() {
        let slowness = SlowClassifier::beyond(&[Duration::from_millis(3); 5]).unwrap();
        let is_one_run = |in_order: &[u64], apart: &[u64]| {
            let pairs = in_order.iter().zip(apart).map(|(in_order, apart)| OpenedApart {
                apart: Duration::from_millis(*apart),
                in_order: Duration::from_millis(*in_order),
            });
            is_one_run_apart(&pairs.collect::<Vec<_>>(), slowness)
        };
        assert!(is_one_run(&[900; 6], &[3; 6]));
        assert!(is_one_run(&[900, 900, 3, 900, 900, 900], &[3, 90, 3, 3, 80, 3]), "stalls");
        assert!(!is_one_run(&[900; 6], &[900; 6]), "either needs a place");
        assert!(!is_one_run(&[3; 6], &[3; 6]));
        assert!(!is_one_run(&[900; 3], &[3; 3]), "too few");
        assert!(!shows_one_run(&OpenUnitsData::default(), slowness));
    }

    #[test]
    fn a_speed_that_wavers_is_told_from_steps() {
        let noise = |index: u32| 0.01 * f64::from(index * index % 7);
        let wave = |index: u32| 15.0 + 2.0 * (f64::from(index) * 0.05).sin() + noise(index);
        assert!(wavers(&(0..200).map(wave).collect::<Vec<_>>()));
        let steps = |index: u32| 13.5 + f64::from(index / 6 % 2) * 2.1 + noise(index);
        assert!(!wavers(&(0..200).map(steps).collect::<Vec<_>>()), "six writes each");
        let long = |index: u32| steps(index / 7);
        assert!(!wavers(&(0..300).map(long).collect::<Vec<_>>()), "42 writes each");
        assert!(!wavers(&(0..200).map(noise).collect::<Vec<_>>()), "all the same but for noise");
    }

    /// Turns of 54 blocks of which 50 can be open, any of which goes for 300 ms; one write in so many stalls for 8 ms.
    fn turns_among_stalls(turns: u32, stalls_once_in: u32) -> OpenUnitsData {
        let (mut state, mut open) = (5_u32, Vec::new());
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        let mut cells = Vec::new();
        for _ in 0..12 {
            OpenUnitsCell::keep(&mut cells, (Order::Linear, 1, Bytes::kib(4)), 0, Duration::from_millis(2));
        }
        for unit in (0..turns).flat_map(|_| 0..54) {
            let is_open = open.contains(&unit);
            let merges = !is_open && open.len() == 50;
            if merges {
                open.swap_remove(draw(50) as usize);
            }
            if !is_open {
                open.push(unit);
            }
            let milliseconds = match draw(stalls_once_in) {
                _ if merges => 300,
                0 => 8,
                _ => 2,
            };
            let kept = (Order::Linear, 54, Bytes::kib(4));
            OpenUnitsCell::keep(&mut cells, kept, unit, Duration::from_millis(milliseconds));
        }
        OpenUnitsData { erase_block: Bytes::mib(64), cells, ..OpenUnitsData::default() }
    }

    #[test]
    fn stalls_that_hardly_show_among_many_writes_leave_a_number_as_sure_as_it_is() {
        let verdict = linear(&turns_among_stalls(40, 80)).unwrap().verdict();
        // By the lower limit alone it has 84 %.
        assert!(verdict.number == 50 && verdict.probability > 0.9, "{verdict:?}");
    }

    /// Eight fit, as turns of nine show; the merges among these take 12 to 15 ms, but two stalled.
    #[test]
    fn stalls_among_few_merges_leave_no_room_for_one_block_more() {
        let mut cells = Vec::new();
        let mut write = |units, unit, milliseconds| {
            let kept = (Order::Linear, units, Bytes::kib(4));
            OpenUnitsCell::keep(&mut cells, kept, unit, Duration::from_millis(milliseconds));
        };
        (0..12).for_each(|_| write(1, 0, 2));
        for unit in (0..4).flat_map(|_| 0..8) {
            write(8, unit, 2);
        }
        for (unit, milliseconds) in [(8, 320), (0, 12), (1, 327), (2, 15)] {
            write(9, unit, milliseconds);
        }
        let gone_on = twice_each([2, 2, 2, 2, 2, 2, 2, 2, 17, 300, 310].into_iter());
        let data = OpenUnitsData {
            erase_block: Bytes::mib(24),
            cells,
            continued: gone_on,
            ..OpenUnitsData::default()
        };
        let verdict = linear(&data).unwrap().verdict();
        assert!(verdict.number == 8 && verdict.probability > 0.9, "{verdict:?}");
    }
}
