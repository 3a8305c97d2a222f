//! Places of which any may have to go: which units hold one is not known, only how many places are held by others than those
//! that take turns.
//!
//! That number says it all: with so many units taking turns and so many places left to them, it is known how many of the
//! units miss one, and how often a write meets such a unit. A merge takes one of all places, so that what is not written any
//! more goes at last, and never comes back. It is a hidden Markov model with one state for each number of places (L. Rabiner,
//! "A tutorial on hidden Markov models", Proceedings of the IEEE 77, 1989), moved on write by write.

use std::sync::LazyLock;

use crate::open_blocks::laws::Touch;
use crate::open_blocks::limits::OPEN_MAX;
use crate::open_blocks::spread::Spread;
use crate::statistics::count;

/// Nothing is less likely than this: the model is not that good.
const LEAST: f64 = 1e-4;
/// How often a write is slow without a merge, and a merge does not show, as far as single units are concerned.
const SURPRISE: f64 = 0.005;
/// So often is the first write into a unit slow for other reasons than a block that it closed.
const STALLS_AS_OFTEN: f64 = 0.01;
/// A unit that was not written for long holds a place no more surely than this.
const HELD_MOST: f64 = 0.98;
/// An interval from 0 to 1 is known well enough once it was halved so often.
const HALVINGS: u32 = 40;

/// The places of a controller that closes any of its open blocks.
#[derive(Debug, Clone)]
pub(super) struct AnyPlace {
    two_steps: bool,
    /// If places out of order are apart from those in order, and were free at first.
    apart: Option<Apart>,
    /// The probability that so many places are held by others than the units that take turns, or by nothing.
    outside: Spread,
    /// How many units take turns.
    turning: usize,
    /// Units of ours that have not been filled, the one written longest ago first.
    order: Vec<usize>,
    /// The logarithm of how likely what held a place at the start holds it still, by the merges there were; and where that stood when a
    /// unit was written last, by its number.
    survival: f64,
    held_at: Vec<f64>,
    /// How many of the places still belong to what was open before, on the average.
    strange: f64,
    /// How many writes there were since one of those that take turns took another's place, itself among them; `None` if others have
    /// taken turns since.
    since: Option<usize>,
}

/// Places that only blocks out of order hold.
#[derive(Debug, Clone)]
struct Apart {
    /// How many there are in order.
    in_order: usize,
    /// The probability that so many are free still.
    free: Spread,
}

impl Apart {
    /// A block is opened: with the first of two writes that may close any block, and with the second, which takes a place that is free.
    fn open(&mut self, first: f64, second: f64) {
        let (places, in_order) = (self.free.largest(), self.in_order);
        self.free.weigh(|free| if free == 0 { second.max(SURPRISE) } else { (1.0 - second).max(SURPRISE) });
        self.free.rise(|free| lost(first, places - free, in_order));
        self.free.fall(|_| 1.0);
    }
}

/// How likely the first write, slow with this probability, closes one of so many blocks that hold a place out of order.
fn lost(first: f64, held: usize, in_order: usize) -> f64 {
    first * count(held) / count(in_order.max(1))
}

impl AnyPlace {
    pub(super) fn new(number: usize, two_steps: bool) -> Self {
        Self {
            two_steps,
            apart: None,
            outside: Spread::certain(number, number),
            turning: 0,
            order: Vec::new(),
            survival: 0.0,
            held_at: Vec::new(),
            strange: count(number),
            since: None,
        }
    }

    /// Places that only units out of order hold, free at first, where so many are open in order.
    pub(super) fn apart(number: usize, in_order: usize) -> Self {
        let free = Spread::certain(number, number);
        Self { apart: Some(Apart { in_order, free }), strange: 0.0, ..Self::new(number, true) }
    }

    const fn places(&self) -> usize {
        self.outside.largest()
    }

    /// How likely a write into a unit that was written before contains a merge, once [`AnyPlace::turn_to`] heard of it.
    pub(super) fn chance(&self, touch: Touch) -> f64 {
        if self.tells(touch) { self.misses().clamp(LEAST, 1.0 - LEAST) } else { LEAST }
    }

    /// How likely the first write into a unit contains one: surely if no other has a place.
    pub(super) fn chance_of_opening(&self, touch: Touch) -> f64 {
        if touch.distance >= self.places() {
            return 1.0;
        }
        let none_left = self.outside.of(0);
        none_left + (1.0 - none_left) * touch.opens_slowly
    }

    /// How likely the second of the first two writes into a unit makes room, where places are apart: if none is free.
    pub(super) fn second(&self) -> Option<f64> {
        self.apart.as_ref().map(|apart| apart.free.of(0))
    }

    /// Whether a unit takes its place with the second of two writes.
    pub(super) const fn in_two_steps(&self) -> bool {
        self.two_steps
    }

    /// Whether the write shows if its unit had lost its place: in two steps only two writes one after the other do.
    const fn tells(&self, touch: Touch) -> bool {
        touch.distance > 0 && (touch.twice || !self.two_steps)
    }

    /// The write is into the unit written longest ago of those that take turns from now on.
    pub(super) fn turn_to(&mut self, touch: Touch) {
        if touch.before == 0 || touch.distance == 0 {
            return;
        }
        if self.turning != touch.live + 1 {
            self.since = None;
        }
        while self.turning > touch.live + 1 {
            self.leave();
        }
        while self.turning <= touch.live && self.turning < self.order.len() {
            self.join();
        }
    }

    /// The unit written longest ago of those that take turns does so no more, and keeps its place if it holds one.
    fn leave(&mut self) {
        self.since = None;
        let turning = self.turning();
        self.outside.rise(|outside| 1.0 - turning.misses_with(outside));
        self.turning = self.turning.saturating_sub(1);
    }

    /// The unit written last of those that do not take turns does so from now on. How likely it holds a place follows from the merges
    /// since it was written, and from how many places others hold in all, beside what is to be expected.
    fn join(&mut self) {
        let others = &self.order[..self.order.len() - self.turning];
        let expected = others.iter().map(|unit| self.held(*unit)).sum::<f64>() + self.strange;
        let held = others.last().map_or(0.0, |unit| self.held(*unit)).min(HELD_MOST);
        self.outside.fall(|outside| {
            let part = held * count(outside) / expected.max(held).max(LEAST);
            part / (1.0 - held + part)
        });
        self.turning += 1;
    }

    /// How likely a unit holds a place, by the merges since it was written.
    fn held(&self, unit: usize) -> f64 {
        (self.survival - self.held_at.get(unit).copied().unwrap_or_default()).exp()
    }

    /// This unit cannot be written any more, and keeps its place if it holds one, as the one written last does.
    pub(super) fn retire(&mut self, unit: usize) {
        let Some(index) = self.order.iter().position(|other| *other == unit) else { return };
        let is_turning = index + self.turning >= self.order.len();
        self.order.remove(index);
        if is_turning && index == self.order.len() {
            self.since = None;
            self.outside.rise(|_| 1.0);
            self.turning = self.turning.saturating_sub(1);
        } else if is_turning {
            self.leave();
        }
        self.strange += self.held(unit);
    }

    /// There were so many merges, each of which took any place.
    fn merged(&mut self, merges: f64) {
        let stays = (1.0 - merges / count(self.places())).max(LEAST);
        self.survival += stays.ln();
        self.strange *= stays;
    }

    /// The unit was written last, and holds a place if it surely does.
    fn written(&mut self, unit: usize, is_placed: bool) {
        if let Some(place) = self.order.iter().position(|other| *other == unit) {
            self.order.remove(place);
        }
        self.order.push(unit);
        if self.held_at.len() <= unit {
            self.held_at.resize(unit + 1, 0.0);
        }
        if is_placed {
            self.held_at[unit] = self.survival;
        }
    }

    /// Moves on after a write that is slow with this probability.
    pub(super) fn take(&mut self, touch: Touch, slow: f64) {
        if touch.before == 0 {
            self.since = None;
            self.open(touch, slow);
        } else if self.tells(touch) {
            match touch.halves.filter(|_| slow > 0.5) {
                Some(halves) if self.apart.is_some() => self.meet_apart(halves),
                _ => self.meet(slow),
            }
            self.since = if slow > 0.5 { Some(1) } else { self.since.map(|since| since + 1) };
        }
        self.written(touch.unit, touch.before == 0 || self.tells(touch));
    }

    /// A unit gets a place: one that held nothing, or, where something had to be merged, any.
    fn open(&mut self, touch: Touch, slow: f64) {
        if let Some((first, second)) = touch.halves
            && self.apart.is_some()
        {
            // What is slow where nothing was to be closed is a stall as often.
            let closes = touch.first_opens_slowly / (touch.first_opens_slowly + STALLS_AS_OFTEN);
            self.open_apart(first * closes, second);
            self.turning += 1;
            return;
        }
        let opens_slowly = touch.opens_slowly;
        self.outside.weigh(|outside| {
            let merges = if outside == 0 { 1.0 } else { opens_slowly };
            merges * slow.max(SURPRISE) + (1.0 - merges) * (1.0 - slow).max(SURPRISE)
        });
        self.take_place(slow);
        self.turning += 1;
        self.strange = (self.strange - (1.0 - slow)).max(0.0);
    }

    /// A unit gets a place out of order: the first of two writes may close any block, the second takes a place.
    fn open_apart(&mut self, first: f64, second: f64) {
        let places = self.places();
        if let Some(mut apart) = self.apart.take() {
            apart.open(first, second);
            self.outside.rise(|outside| lost(first, places - outside, apart.in_order));
            self.apart = Some(apart);
        }
        self.take_place(second);
    }

    /// A unit that takes turns had lost its place out of order: it is opened anew.
    fn meet_apart(&mut self, (first, second): (f64, f64)) {
        let turning = self.turning();
        self.outside.weigh(|outside| turning.misses_with(outside).max(SURPRISE));
        self.open_apart(first, second);
    }

    /// A unit takes a place that held nothing, or, where that is slow, any.
    fn take_place(&mut self, slow: f64) {
        let places = count(self.places());
        self.outside.fall(|outside| 1.0 - slow + slow * count(outside) / places);
        self.merged(slow);
    }

    /// A unit that takes turns held its place, or took that of any other.
    fn meet(&mut self, slow: f64) {
        let (turning, places) = (self.turning(), count(self.places()));
        let (merges, is_clean) = (slow.max(SURPRISE), (1.0 - slow).max(SURPRISE));
        let likelihood = |lost: f64| lost * merges + (1.0 - lost) * is_clean;
        let missed = |outside: usize| {
            let lost = turning.misses_with(outside);
            lost * merges / likelihood(lost)
        };
        self.outside.weigh(|outside| likelihood(turning.misses_with(outside)));
        let merged = self.outside.mean(missed);
        self.outside.fall(|outside| missed(outside) * count(outside) / places);
        self.merged(merged);
    }

    /// How likely the unit written longest ago of those that take turns has lost its place.
    fn misses(&self) -> f64 {
        let turning = self.turning();
        self.outside.mean(|outside| turning.misses_with(outside))
    }

    const fn turning(&self) -> Turning {
        Turning { units: self.turning, places: self.places(), since: self.since }
    }
}

/// The units that take turns.
#[derive(Debug, Clone, Copy)]
struct Turning {
    /// How many they are, and how many places there are.
    units: usize,
    places: usize,
    /// How many writes there were since one of them took another's place, itself among them.
    since: Option<usize>,
}

impl Turning {
    /// How likely the unit written longest ago of them has lost its place, if so many places are held by others.
    fn misses_with(self, outside: usize) -> f64 {
        let missing = (self.units + outside).saturating_sub(self.places);
        match self.since {
            // It is any of those that were not written since it lost its place.
            Some(since) if missing == 1 => 1.0 / count(self.units.saturating_sub(since).max(1)),
            _ => misses(self.units, missing),
        }
    }
}

/// How likely the unit written longest ago has lost its place, if so many of those that take turns have.
///
/// Each place is kept from one write to the next with the same probability r, so that of N units those that hold one are
/// 1 + r + ... + r^(N-1). The unit written longest ago then holds one with r^(N-1) as far as it is like the others, and with r^(N-1/2) as
/// far as merges come evenly; what lies between is right within a two-hundredth.
fn misses(turning: usize, missing: usize) -> f64 {
    let turning = turning.max(1);
    let missing = missing.min(turning);
    TURNS
        .get(turning * (turning + 1) / 2 + missing)
        .map_or_else(|| misses_of(turning, missing), |chance| *chance)
}

/// That for all turns of up to [`OPEN_MAX`] + 1 units, by units and by how many of them miss their place.
static TURNS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    (0..=OPEN_MAX as usize + 1)
        .flat_map(|turning| (0..=turning).map(move |missing| misses_of(turning, missing)))
        .collect()
});

fn misses_of(turning: usize, missing: usize) -> f64 {
    if missing == 0 {
        return 0.0;
    }
    let (units, held) = (count(turning), count(turning - missing).max(1.0));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let kept: f64 = f64::midpoint(low, high);
        if (1.0 - kept.powf(units)) / (1.0 - kept) < held { low = kept } else { high = kept }
    }
    1.0 - low.powf(units - 0.75)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_merge_takes_any_place_from_whoever_holds_it() {
        let mut places = AnyPlace::new(10, false);
        places.written(0, true);
        (0..7).for_each(|_| places.merged(1.0));
        assert!((places.held(0) - 0.9_f64.powi(7)).abs() < 1e-9);
        assert!((places.strange - 10.0 * 0.9_f64.powi(7)).abs() < 1e-9);
        places.written(0, true);
        assert!(places.held(0) > 0.999, "it has just been written");
    }

    /// How often the unit written longest ago misses its place where so many take turns, any of which goes.
    fn missed(places: usize, turning: usize) -> f64 {
        let mut state = 7_u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut held: Vec<usize> = (0..places).collect();
        let mut merges = 0_u32;
        for write in 0..300_000 {
            let unit = write % turning;
            if !held.contains(&unit) {
                held[draw(places)] = unit;
                merges += u32::from(write >= 10_000);
            }
        }
        f64::from(merges) / 290_000.0
    }

    #[test]
    fn so_often_the_oldest_of_a_turn_misses_its_place() {
        for (places, turning) in [(5, 6), (5, 11), (10, 12), (10, 17), (30, 31), (30, 42), (60, 132)] {
            let (seen, told) = (missed(places, turning), misses(turning, turning - places));
            assert!((seen - told).abs() < 0.005, "{places} of {turning}: {seen} seen, {told} told");
        }
    }

    #[test]
    fn what_was_written_last_keeps_its_place_and_may_hand_it_over() {
        let mut places = AnyPlace { outside: Spread::certain(0, 2), turning: 3, ..AnyPlace::new(2, false) };
        (0..3).for_each(|unit| places.written(unit, true));
        places.retire(2);
        assert_eq!((places.turning, places.outside.of(1)), (2, 1.0), "one of the two others misses its own");
        let begun = Touch {
            unit: 3,
            before: 0,
            distance: 3,
            live: 2,
            proven: 0,
            twice: false,
            halves: None,
            first_opens_slowly: 0.9,
            opens_slowly: 0.9,
        };
        places.take(begun, 0.0);
        assert!(places.outside.of(0) > 0.999);
        assert_eq!(places.turning, 3);
    }

    #[test]
    fn a_single_one_without_a_place_was_not_written_since_the_last_merge() {
        let one_missing =
            |since| AnyPlace { outside: Spread::certain(1, 2), turning: 2, since, ..AnyPlace::new(2, false) };
        assert!(one_missing(Some(1)).misses() > 0.999, "of two, it is the other");
        let of_four =
            |since| AnyPlace { outside: Spread::certain(1, 4), turning: 4, since, ..AnyPlace::new(4, false) };
        assert!(of_four(None).misses() < 0.6);
        let chances: Vec<f64> = (1..=3).map(|since| of_four(Some(since)).misses()).collect();
        assert!(
            chances.iter().zip([1.0 / 3.0, 0.5, 1.0]).all(|(one, other)| (one - other).abs() < 1e-9),
            "{chances:?}"
        );
    }
}
