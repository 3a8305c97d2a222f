//! Tests of the posterior, on simulated controllers.

use super::*;

const FAST: Duration = Duration::from_millis(20);
const SLOW: Duration = Duration::from_millis(460);

fn posterior(order: Order, prior: Prior) -> Posterior {
    Posterior::new(order, SlowClassifier::from_baseline(&[FAST; 5]).unwrap(), prior)
}

#[test]
fn the_second_of_two_writes_merges_once_all_slots_for_random_order_are_taken() {
    let prior = Prior::Random { linear: Some(80), lru: 0.02, hidden_ratio: 0.02 };
    let mut random = posterior(Order::Random, prior);
    for unit in 0..16 {
        // While all sequential slots are taken, the first one merges, too.
        random.write(unit, if unit <= 10 { SLOW } else { FAST });
        random.write(unit, if unit < 10 { FAST } else { SLOW });
    }
    let verdict = random.verdict();
    assert_eq!(verdict.number, 10, "{verdict:?}");
    // The first writes may have closed one or two of them.
    assert!((8..=10).contains(&verdict.low) && verdict.high <= 11, "{verdict:?}");
}

#[test]
fn a_merge_at_every_switch_is_found_despite_stalls_at_every_third_write() {
    let third = |write: u32| if write.is_multiple_of(3) { SLOW } else { FAST };
    let [mut one, mut none] = [(); 2].map(|()| posterior(Order::Linear, Prior::Linear));
    for write in 0..15 {
        one.write(0, third(write));
        none.write(0, third(write));
    }
    for write in 0..45 {
        one.write(write % 2, SLOW);
        none.write(write % 2, third(write));
    }
    assert!(!one.stalls_too_often() && one.verdict().number == 1, "{:?}", one.verdict());
    assert!(none.stall_share() > 0.28 && none.stalls_too_often());
}

#[test]
fn latencies_near_the_threshold_give_no_bayes_factor() {
    let between = posterior(Order::Linear, Prior::Linear).classifier().threshold_seconds();
    let mut linear = posterior(Order::Linear, Prior::Linear);
    for write in 0..400 {
        let undecided = Duration::from_secs_f64(between * if write % 2 == 0 { 0.97 } else { 1.03 });
        linear.write(write % 20, if write % 10 == 0 { undecided } else { FAST });
    }
    assert!(
        linear.undecided_share() > 0.05 && linear.log_bayes_factor() < 0.0,
        "{}",
        linear.log_bayes_factor()
    );
}

/// A controller with random eviction and separate slots for random order. The first of two writes may evict
/// any open unit, the second one any of those open in random order.
struct SeparateController {
    sequential: Vec<u32>,
    random: Vec<u32>,
    /// The numbers of sequential and of random slots.
    slots: (usize, usize),
    state: u64,
}

impl SeparateController {
    fn draw(&mut self, below: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % below
    }

    fn write(&mut self, unit: u32) -> (Duration, Duration) {
        if self.random.contains(&unit) {
            return (FAST, FAST);
        }
        let (sequential, random) = self.slots;
        let is_full = |units: &Vec<u32>, slots| units.len() == slots;
        let first = is_full(&self.sequential, sequential);
        if first {
            let evicted = self.draw(sequential);
            let evicted = self.sequential.swap_remove(evicted);
            self.random.retain(|other| *other != evicted);
        }
        self.sequential.push(unit);
        let second = is_full(&self.random, random);
        if second {
            let evicted = self.draw(random);
            let evicted = self.random.swap_remove(evicted);
            self.sequential.retain(|other| *other != evicted);
        }
        self.random.push(unit);
        let latency = |slow| if slow { SLOW } else { FAST };
        (latency(first), latency(second))
    }
}

#[test]
fn separate_slots_for_random_order_are_counted_by_which_of_two_writes_merges() {
    let found = |slots: (usize, usize), units: u32, turns: u32| {
        let sequential = (1000..).take(slots.0).collect();
        let mut controller = SeparateController { sequential, random: Vec::new(), slots, state: 3 };
        let prior = Prior::Random { linear: u32::try_from(slots.0).ok(), lru: 0.02, hidden_ratio: 0.02 };
        let mut random = posterior(Order::Random, prior);
        for unit in (0..turns).flat_map(|_| 0..units) {
            let (first, second) = controller.write(unit);
            random.write(unit, first);
            random.write(unit, second);
        }
        random.verdict()
    };
    let all = found((30, 30), 31, 20);
    assert!(all.number == 30 && all.probability > 0.98, "{all:?}");
    let fewer = found((30, 12), 14, 20);
    assert!(fewer.number == 12 && fewer.probability > 0.98, "{fewer:?}");
    let long = found((59, 33), 40, 60);
    assert!(long.number == 33 && long.probability > 0.98, "{long:?}");
}

#[test]
fn under_random_eviction_no_more_units_fit_in_random_than_in_sequential_order() {
    let prior = Prior::Random { linear: Some(9), lru: 0.0, hidden_ratio: 0.02 };
    let more: f64 = posterior(Order::Random, prior).numbers().iter().skip(10).sum();
    assert!(more < 1e-9, "{more}");
}

#[test]
fn the_largest_sequential_number_is_known_in_random_order() {
    let mut linear = posterior(Order::Linear, Prior::Linear);
    (0..12).for_each(|_| linear.write(0, FAST));
    (1..OPEN_MAX).for_each(|unit| linear.write(unit, FAST));
    (0..OPEN_MAX).for_each(|unit| linear.write(unit, FAST));
    (0..OPEN_MAX).for_each(|index| linear.write((OPEN_MAX + index) % (OPEN_MAX + 1), SLOW));
    assert_eq!(linear.verdict().number, OPEN_MAX);
    assert_eq!(linear.random_prior().sequential_count(), Some(OPEN_MAX));
    assert!(!linear.exceeds_max(OPEN_MAX + 1), "a number was found");
}

#[test]
fn more_units_seem_to_fit_only_if_all_that_were_tried_or_64_were_open_at_once() {
    let mut linear = posterior(Order::Linear, Prior::Linear);
    // The second round shows that the first evicted none of them.
    (0..12).chain(0..12).for_each(|unit| linear.write(unit, FAST));
    assert!(linear.exceeds_max(12), "{:?}", linear.verdict());
    assert!(!linear.exceeds_max(13) && !linear.exceeds_max(OPEN_MAX + 1), "twelve were open at once");
    (12..63).chain(0..63).for_each(|unit| linear.write(unit, FAST));
    assert!(!linear.exceeds_max(OPEN_MAX + 1), "63 were open at once");
    linear.write(63, FAST);
    assert!(linear.exceeds_max(OPEN_MAX + 1), "{:?}", linear.verdict());
}

/// All but one of 24 units are seen open at once, after stalls among the last twelve openings.
#[test]
fn units_fit_only_if_fewer_than_half_of_the_last_openings_were_slow() {
    let fit = |slow: &[u32]| {
        let mut linear = posterior(Order::Linear, Prior::Linear);
        (0..24).for_each(|unit| linear.write(unit, if slow.contains(&unit) { SLOW } else { FAST }));
        (0..22).for_each(|unit| linear.write(unit, FAST));
        assert!(linear.surely_fit(24) && linear.open_at_once_max() == 23, "{:?}", linear.verdict());
        linear.fits_all(24)
    };
    assert!(fit(&[15, 17, 19, 21, 23]));
    assert!(!fit(&[13, 15, 17, 19, 21, 23]), "six of twelve");
}

#[test]
fn units_open_slowly_only_if_all_openings_were_slow_and_all_are_still_open() {
    let opened = |slow_from: u32, turns: u32| {
        let mut linear = posterior(Order::Linear, Prior::Linear);
        (0..24).for_each(|unit| linear.write(unit, if unit < slow_from { FAST } else { SLOW }));
        (0..24 * turns).for_each(|write| linear.write(write % 24, FAST));
        linear
    };
    let open = opened(1, 2);
    assert!(open.opens_slowly(24) && !open.opens_slowly(25), "{:?}", open.verdict());
    assert!(!opened(1, 0).opens_slowly(24), "some of them may be closed again");
    assert!(!opened(2, 2).opens_slowly(24), "the second one was opened fast");
}

#[test]
fn merges_are_hidden_in_random_order_only_if_they_are_in_sequential_order() {
    let hides = |hidden_of_ten: u32| {
        let mut linear = posterior(Order::Linear, Prior::Linear);
        (0..12).for_each(|_| linear.write(0, FAST));
        for index in 0..200_u32 {
            let hidden = index * index / 7 % 10 < hidden_of_ten;
            linear.write(index % 2, if hidden { FAST } else { SLOW });
        }
        linear.hidden_merges_ratio()
    };
    assert!(hides(0) < 0.1, "every switch merged");
    assert!(hides(4) > 1.0, "two fifths of the merges were hidden");
}

#[test]
fn a_few_slow_openings_are_no_evictions() {
    let opens_fast = |slow: &[u32], opened: u32| {
        let mut linear = posterior(Order::Linear, Prior::Linear);
        (0..opened).for_each(|unit| linear.write(unit, if slow.contains(&unit) { SLOW } else { FAST }));
        linear.opens_fast_beyond(8)
    };
    assert!(opens_fast(&[8, 14], 20));
    assert!(!opens_fast(&[8, 9, 11, 12, 13, 14, 15], 16), "most of them were slow");
    assert!(!opens_fast(&[8], 10), "two openings are too few");
}

#[test]
fn an_opening_into_the_slot_of_a_full_unit_does_not_count_as_fast() {
    let mut linear = posterior(Order::Linear, Prior::Linear);
    (0..12).for_each(|unit| linear.write(unit, SLOW));
    for unit in 12..40 {
        linear.retire(unit - 1);
        linear.write(unit, FAST);
    }
    assert!(!linear.opens_fast_beyond(8));
    (40..60).for_each(|unit| linear.write(unit, FAST));
    assert!(linear.opens_fast_beyond(8));
}

#[test]
fn a_unit_not_written_during_many_merges_is_closed() {
    let mut linear = posterior(Order::Linear, Prior::Linear);
    linear.write(7, FAST);
    for index in 0..40 {
        linear.write(index % 5, SLOW);
    }
    let open: Vec<u32> = linear.may_be_open(4).collect();
    assert_eq!(open, [4, 3, 2, 1, 0]);
    assert!(linear.may_be_open(20).any(|unit| unit == 7));
}

#[test]
fn a_full_unit_is_skipped() {
    let classifier = SlowClassifier::from_baseline(&[FAST; 5]).unwrap();
    let mut linear = posterior(Order::Linear, Prior::Linear).with_erase_block(Bytes::kib(64));
    linear.continue_with(classifier, Bytes::kib(16));
    [0, 1, 2, 0, 0].into_iter().for_each(|unit| linear.write(unit, FAST));
    assert_eq!(linear.writable_units(), 3, "a fourth write into the first would reach its end");
    linear.write(1, FAST);
    assert_eq!(linear.writable_units(), 3, "it may still be next");
    linear.write(2, FAST);
    assert_eq!(linear.writable_units(), 2, "another was written instead");
}

#[test]
fn a_device_with_rare_stalls_has_recovered() {
    let mut linear = posterior(Order::Linear, Prior::Linear);
    (0..9).for_each(|unit| linear.write(unit, SLOW));
    (0..48).for_each(|index| linear.write(index % 9, if index % 9 == 1 { SLOW } else { FAST }));
    assert!(linear.has_recovered(48, 6) && !linear.has_recovered(48, 5));
    assert!(linear.has_recovered(1, 0));
    let mut fast = posterior(Order::Linear, Prior::Linear);
    (0..9).for_each(|_| fast.write(0, FAST));
    assert!(!fast.has_recovered(4, 4), "nothing was slow before");
    assert!(!fast.has_recovered(40, 40), "there were fewer writes");
}

#[test]
fn before_the_first_write_each_law_has_its_prior_probability() {
    let lru = |order, prior| posterior(order, prior).eviction_probability(EvictionLaw::Lru);
    let sequential = lru(Order::Linear, Prior::Linear);
    assert!((sequential - 0.7).abs() < 1e-9, "{sequential}");
    for known in [0.02, 0.6, 0.98] {
        let random = lru(Order::Random, Prior::Random { linear: None, lru: known, hidden_ratio: 1.0 });
        assert!((random - known).abs() < 1e-9, "{random} instead of {known}");
    }
}
