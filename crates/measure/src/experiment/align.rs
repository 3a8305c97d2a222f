//! *align*: where are the boundaries of erase blocks and pages? Reads only.
//!
//! A small read across a boundary of the controller's units takes longer than one beside it. For every
//! candidate size the experiment reads before, across and after boundaries that are multiples of this
//! candidate and of no larger one. So each boundary is evidence for one candidate alone. After every batch it
//! infers the sizes ([`boundary`](flashscope_infer::geometry::boundary)) and next reads the most informative
//! boundaries, until the sizes are decided. See docs/methods/align.md.

use flashscope_record::finding::{Quantity, WouldDecide};
use flashscope_record::observation::{Refusal, Room};
use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use flashscope_infer::Method;
use flashscope_infer::geometry::align::single_reads_agree;
use flashscope_infer::geometry::boundary;
use flashscope_infer::geometry::boundary::figure::Figures;
use flashscope_infer::sizes::sizes;
use flashscope_infer::statistics::median;
use flashscope_record::finding::FindingId;
use flashscope_record::observation::{AlignData, AlignSample, Contents, Data, Observations};

use crate::contract::{Estimate, Expected, Experiment, Extent, Observer};
use crate::experiment::registration::{Access, Registration, RequestOption};
use crate::limits::CONTENT_READS;
use crate::session::{Refused, Session, Stop, not_started, range};

/// The largest candidate: several candidates are multiples of even the largest erase blocks.
const CANDIDATE_MAX: Bytes = Bytes::gib(2);
/// Boundaries per candidate before the first inference.
const FIRST_ROUNDS: usize = 3;
/// Boundaries per candidate of the fixed design, which does not infer in between.
const FIXED_ROUNDS: usize = 8;
/// Boundaries between two inferences.
const BATCH: usize = 16;
/// Later a batch is an eighth of all samples so far.
const BATCH_SHARE: usize = 8;
/// The most boundaries per candidate, on average. Guess: sizes undecided by then stay so.
const ROUNDS_MAX: usize = 120;
/// The most device time. Guess: on such a slow stick writes decide sooner.
const SECONDS_MAX: f64 = 180.0;
/// The most device time of a brief run. Guess: a check that only reads should answer within seconds.
const BRIEF_SECONDS_MAX: f64 = 10.0;

/// Multiples counted by [`own_multiples`]: more need not be counted.
const OWN_MULTIPLES_MAX: u64 = 4096;

/// The most reads at a boundary: three, and two further out if the reads on both sides differ.
const READS_MAX: usize = 5;
/// The reads on both sides of a boundary are repeated further out if they differ by at least 3 %,
const EDGE_SHARE: f64 = 0.03;
/// and by at least four times the median difference.
const EDGE_TIMES: f64 = 4.0;
/// The same factor for differences against the common direction.
const EDGE_TIMES_OPPOSITE: f64 = 1.5;
/// The median signed difference is at least this share of the median absolute one if there is a common
/// direction.
const DIRECTION_SHARE: f64 = 0.5;
/// Samples needed for a common direction.
const DIRECTION_SAMPLES: usize = 64;

/// The usual time. Median of the virtual sticks.
const USUAL_TIME: Duration = Duration::from_millis(700);

/// The entry in the table of all experiments.
pub(super) const REGISTRATION: Registration = Registration {
    name: "align",
    question: "Erase block and page, by reads",
    access: Access::Reads,
    options: &[RequestOption::RequestSize],
    findings: &[FindingId::EraseBlockBytes, FindingId::PageBytes, FindingId::ReadBoundarySignal],
    new: |request| Box::new(Align::new(request.request, request.seed)),
};

/// The experiment *align*.
#[derive(Debug, Clone, Copy)]
pub struct Align {
    /// The size of each read; `None`: two logical blocks, at least 1 KiB.
    pub read: Option<Bytes>,
    /// The random seed of positions and order.
    pub seed: u64,
    /// The parts of the method in use.
    pub method: Method,
    /// Brief, or as long as it takes.
    pub extent: Extent,
}

impl Align {
    /// The experiment with reads of this size (`None`: two logical blocks, at least 1 KiB) and this seed.
    #[must_use]
    pub fn new(read: Option<Bytes>, seed: u64) -> Self {
        Self { read, seed, method: Method::default(), extent: Extent::Usual }
    }

    fn read_size(self, device: &dyn Device) -> Bytes {
        let block = device.capabilities().logical_block;
        self.read.unwrap_or(block * 2).max(block * 2).max(Bytes::kib(1)).round_up(block * 2)
    }
}

impl Experiment for Align {
    fn name(&self) -> &'static str {
        REGISTRATION.name
    }

    fn estimate(&self, device: &dyn Device) -> Estimate {
        let count = candidates(self.read_size(device), device.capabilities().capacity, self.method).len()
            * ROUNDS_MAX
            * READS_MAX
            + CONTENT_READS;
        let expected = Expected::time(USUAL_TIME);
        Estimate { requests: count as u64, bytes_written: Bytes::ZERO, expected }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let read = self.read_size(device);
        let capacity = device.capabilities().capacity;
        let mut data = AlignData { read: Some(read), ..AlignData::default() };
        let candidates = candidates(read, capacity, self.method);
        if candidates.is_empty() {
            let reason = Refusal::TooSmall { capacity, room: Room::Reads(read) };
            let would_decide =
                [WouldDecide::Larger(Quantity::Device), WouldDecide::Smaller(Quantity::Requests)];
            let refused = Refused::new(reason, would_decide);
            return not_started(device, self.seed, Data::Align(data), refused);
        }
        let estimate = self.estimate(device);
        let mut session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut reader =
            Reader { session: &mut session, read, capacity, samples: &mut data.samples, align: *self };
        let result = reader.run(&candidates).and_then(|()| contents(&mut session, read, capacity));
        let result = result.map(|contents| data.contents = contents);
        session.end(result, Data::Align(data))
    }
}

/// All candidate sizes, ascending: {1, 3, 5, 7} x 2^n from twice the read to half the capacity or
/// [`CANDIDATE_MAX`].
fn candidates(read: Bytes, capacity: Bytes, method: Method) -> Vec<Bytes> {
    let largest = CANDIDATE_MAX.min(capacity.saturating_sub(read) / 2);
    sizes(method.factors(), read * 2, largest).filter(|size| size.is_multiple_of(read / 2)).collect()
}

/// The candidates all of whose samples so far were stalled.
fn without_figure(candidates: &[Bytes], figures: &Figures) -> Vec<Bytes> {
    let has_figure = |candidate: &Bytes| figures.each.iter().any(|figure| figure.candidate == *candidate);
    candidates.iter().copied().filter(|candidate| !has_figure(candidate)).collect()
}

/// A random multiple up to `largest` that shares no factor with 2, 3, 5 or 7, so that the boundary is a
/// multiple of no larger candidate; 1 if none is found soon.
pub(super) fn own_multiple(session: &mut Session<'_>, largest: u64) -> u64 {
    (0..32).map(|_| session.draw(largest) + 1).find(|multiple| is_own(*multiple)).unwrap_or(1)
}

fn is_own(multiple: u64) -> bool {
    [2, 3, 5, 7].iter().all(|factor| !multiple.is_multiple_of(*factor))
}

/// The number of such multiples among the first [`OWN_MULTIPLES_MAX`].
fn own_multiples(largest: u64) -> usize {
    (1..=largest.min(OWN_MULTIPLES_MAX)).filter(|multiple| is_own(*multiple)).count()
}

/// Separates equal boundaries by other ones, and drops those for which no other is left.
fn keep_apart(boundaries: &mut Vec<(Bytes, Bytes)>) {
    for index in 1..boundaries.len() {
        let before = boundaries[index - 1].1;
        match boundaries[index..].iter().position(|(_, boundary)| *boundary != before) {
            Some(other) => boundaries.swap(index, index + other),
            None => return boundaries.truncate(index),
        }
    }
}

/// Reads random offsets and counts the blank ones.
fn contents(session: &mut Session<'_>, read: Bytes, capacity: Bytes) -> Result<Contents, Stop> {
    let mut contents = Contents::default();
    for _ in 0..CONTENT_READS {
        let index = session.draw(capacity / read);
        if let Some(is_blank) = session.is_blank(range(read * index, read))? {
            contents.looked_at += 1;
            contents.blank += u32::from(is_blank);
        }
    }
    Ok(contents)
}

/// Reads across boundaries until the sizes are decided.
struct Reader<'a, 'b> {
    session: &'a mut Session<'b>,
    read: Bytes,
    capacity: Bytes,
    samples: &'a mut Vec<AlignSample>,
    align: Align,
}

impl Reader<'_, '_> {
    fn run(&mut self, candidates: &[Bytes]) -> Result<(), Stop> {
        if !self.align.method.sequential {
            return self.read_at(&candidates.repeat(FIXED_ROUNDS));
        }
        self.read_at(&candidates.repeat(FIRST_ROUNDS))?;
        let seconds_max = if self.align.extent == Extent::Brief { BRIEF_SECONDS_MAX } else { SECONDS_MAX };
        let is_time_up = |session: &Session<'_>| session.device_time().as_secs_f64() > seconds_max;
        while self.samples.len() < candidates.len() * ROUNDS_MAX && !is_time_up(self.session) {
            let Some(figures) = Figures::of(self.samples) else { return Ok(()) };
            let explanations = boundary::explain(&figures, self.align.method, None);
            let continues_at_block =
                boundary::has_common_block(&explanations) && !single_reads_agree(self.samples, &explanations);
            if !continues_at_block && boundary::is_decided(&explanations, &figures) {
                return Ok(());
            }
            let known = self.samples.len();
            let batch = (known / BATCH_SHARE).max(BATCH);
            let mut next = without_figure(candidates, &figures);
            if continues_at_block {
                let boundaries = |candidate| own_multiples(self.multiples(candidate));
                next.extend(boundary::at_block_and_beside(&explanations, &figures, batch / 2, boundaries));
            }
            let hiding = boundary::hiding(&explanations, &figures);
            next.extend(hiding.iter().copied().cycle().take(batch / 2));
            next.truncate(batch);
            next.extend(boundary::informative(&explanations, &figures, batch - next.len()));
            self.read_at(&next)?;
            if self.samples.len() == known {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A boundary of each candidate, in shuffled order so that drift affects all equally. Two different
    /// boundaries are interleaved, so that no read is sequential to the one before it.
    fn read_at(&mut self, candidates: &[Bytes]) -> Result<(), Stop> {
        let mut boundaries: Vec<(Bytes, Bytes)> =
            candidates.iter().map(|candidate| (*candidate, self.boundary(*candidate))).collect();
        self.session.shuffle(&mut boundaries);
        keep_apart(&mut boundaries);
        boundaries.chunks(2).try_for_each(|pair| self.read_interleaved(pair))
    }

    fn boundary(&mut self, candidate: Bytes) -> Bytes {
        candidate * own_multiple(self.session, self.multiples(candidate))
    }

    fn multiples(&self, candidate: Bytes) -> u64 {
        self.capacity.saturating_sub(self.read) / candidate
    }

    fn read_interleaved(&mut self, boundaries: &[(Bytes, Bytes)]) -> Result<(), Stop> {
        let mut triples: Vec<Triple> = boundaries.iter().map(|_| Triple::shuffled(self.session)).collect();
        for round in 0..3 {
            for (triple, (_, boundary)) in triples.iter_mut().zip(boundaries) {
                triple.read(round, *boundary, self.read, self.session)?;
            }
        }
        for (triple, (candidate, boundary)) in triples.iter().zip(boundaries) {
            if let [Some(before), Some(across), Some(after)] = triple.times
                && !self.is_at_an_edge(*boundary, (before, after))?
            {
                let boundary = Some(*boundary);
                self.samples.push(AlignSample { candidate: *candidate, boundary, before, across, after });
            }
        }
        Ok(())
    }

    /// The difference of reads on both sides of a boundary from which on they are repeated further out,
    /// seconds. `difference` gives the direction. The end of a block may make the read before it faster or
    /// slower: that is the common direction.
    fn difference_min_s(&self, difference: f64) -> f64 {
        let all: Vec<f64> =
            self.samples.iter().map(|each| each.before.as_secs_f64() - each.after.as_secs_f64()).collect();
        let median_s =
            median(&all.iter().map(|difference| difference.abs()).collect::<Vec<_>>()).unwrap_or(0.0);
        let signed = median(&all).unwrap_or(0.0);
        let is_opposite = all.len() >= DIRECTION_SAMPLES
            && signed.abs() > median_s * DIRECTION_SHARE
            && signed * difference < 0.0;
        median_s * if is_opposite { EDGE_TIMES_OPPOSITE } else { EDGE_TIMES }
    }

    /// Whether the device reads faster on one side of a boundary than on the other, as at the edge of written
    /// data. Then the read across is no evidence. A boundary of the flash may affect the reads next to it,
    /// but not those further out.
    fn is_at_an_edge(
        &mut self,
        boundary: Bytes,
        (before, after): (Duration, Duration),
    ) -> Result<bool, Stop> {
        let (before, after) = (before.as_secs_f64(), after.as_secs_f64());
        let difference = before - after;
        let is_inside = boundary >= self.read * 2 && boundary + self.read * 2 <= self.capacity;
        if !is_inside
            || difference.abs() < before.min(after) * EDGE_SHARE
            || difference.abs() < self.difference_min_s(difference)
        {
            return Ok(false);
        }
        let beyond = [boundary - self.read * 2, boundary + self.read];
        let mut seconds = [0.0; 2];
        for (seconds, start) in seconds.iter_mut().zip(beyond) {
            let Some(time) = self.session.read(range(start, self.read))? else { return Ok(false) };
            *seconds = time.as_secs_f64();
        }
        let beyond = seconds[0] - seconds[1];
        Ok(beyond * difference > 0.0 && beyond.abs() > difference.abs() / 2.0)
    }
}

/// The reads before, across and after a boundary, in shuffled order. A time is missing if that read failed.
struct Triple {
    order: [usize; 3],
    times: [Option<Duration>; 3],
}

impl Triple {
    fn shuffled(session: &mut Session<'_>) -> Self {
        let mut order = [0, 1, 2];
        session.shuffle(&mut order);
        Self { order, times: [None; 3] }
    }

    fn read(
        &mut self,
        round: usize,
        boundary: Bytes,
        read: Bytes,
        session: &mut Session<'_>,
    ) -> Result<(), Stop> {
        let position = self.order[round];
        let start = [boundary - read, boundary - read / 2, boundary][position];
        self.times[position] = session.read(range(start, read))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::{MemoryDevice, TimedDevice};

    use super::*;
    use crate::contract::Silent;
    use flashscope_record::observation::Ended;

    #[test]
    fn boundaries_are_multiples_of_their_candidate_alone() {
        let mut device = MemoryDevice::new(Bytes::mib(64));
        let seen = Align::new(None, 3).measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        let Data::Align(data) = seen.data else { panic!("not data of align") };
        assert_eq!(seen.ended, Ended::Complete);
        let sizes = candidates(Bytes::kib(1), Bytes::mib(64), Method::default());
        assert!(data.samples.len() >= sizes.len() * FIRST_ROUNDS);
        for sample in data.samples {
            let boundary = sample.boundary.unwrap();
            for size in &sizes {
                assert_eq!(
                    boundary.is_multiple_of(*size),
                    sample.candidate.is_multiple_of(*size),
                    "{boundary} {size}"
                );
            }
        }
    }

    /// Pages of such sizes are multiples of half a read only.
    #[test]
    fn large_reads_meet_the_multiples_of_odd_sizes_near_their_own() {
        let read = Some(Bytes::kib(16));
        let mut device = MemoryDevice::new(Bytes::mib(64));
        let seen = Align::new(read, 3).measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        let Data::Align(data) = seen.data else { panic!("not data of align") };
        for size in [32, 40, 48, 56].map(Bytes::kib) {
            assert!(data.samples.iter().any(|sample| sample.candidate == size), "{size}");
        }
    }

    #[test]
    fn equal_boundaries_are_separated() {
        let kept = |boundaries_mib: &[u64]| {
            let mut boundaries: Vec<_> =
                boundaries_mib.iter().map(|mib| (Bytes::mib(1), Bytes::mib(*mib))).collect();
            keep_apart(&mut boundaries);
            boundaries.into_iter().map(|(_, boundary)| boundary / Bytes::mib(1)).collect::<Vec<_>>()
        };
        assert_eq!(kept(&[1, 1, 1, 2, 3]), [1, 2, 1, 3, 1]);
        assert_eq!(kept(&[1, 2, 1, 3]), [1, 2, 1, 3]);
        assert_eq!(kept(&[4, 4, 5, 4, 4]), [4, 5, 4], "no other boundary is left to separate the rest");
        assert!(kept(&[]).is_empty());
    }

    #[test]
    fn device_too_small_is_refused() {
        let mut device = MemoryDevice::new(Bytes::kib(2));
        let seen = Align::new(None, 3).measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert!(matches!(seen.ended, Ended::NotStarted { .. }));
    }

    /// Whether the boundary at 512 KiB counts as the edge of written data after these samples. Reads at these
    /// offsets, in KiB, take `slow_us` instead of 100 us.
    fn is_edge_after(mut samples: Vec<AlignSample>, slow_us: u64, is_slow: fn(u64) -> bool) -> bool {
        let (read, boundary, capacity) = (Bytes::kib(1), Bytes::kib(512), Bytes::mib(1));
        let mut device = TimedDevice::new(MemoryDevice::new(capacity), |op| {
            let is_slow = op.range().is_some_and(|range| is_slow(range.offset / Bytes::kib(1)));
            Duration::from_micros(if is_slow { slow_us } else { 100 })
        });
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let mut session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let before = session.read(range(boundary - read, read)).unwrap().unwrap();
        let after = session.read(range(boundary, read)).unwrap().unwrap();
        let align = Align::new(None, 1);
        let mut reader = Reader { session: &mut session, read, capacity, samples: &mut samples, align };
        reader.is_at_an_edge(boundary, (before, after)).unwrap()
    }

    /// The same if no boundary was read before, and the slow reads take twice as long.
    fn is_edge(is_slow: fn(u64) -> bool) -> bool {
        is_edge_after(Vec::new(), 200, is_slow)
    }

    /// Whichever side is faster. A boundary of the flash affects only the reads next to it. Where the other
    /// side is the slower one further out, nothing goes on.
    #[test]
    fn a_difference_that_goes_on_further_out_is_the_edge_of_written_data() {
        assert!(is_edge(|kib| kib < 512) && is_edge(|kib| kib >= 512));
        assert!(!is_edge(|kib| kib == 511) && !is_edge(|kib| kib == 512));
        assert!(!is_edge(|kib| [511, 513].contains(&kib)) && !is_edge(|kib| [510, 512].contains(&kib)));
        assert!(!is_edge(|_| false));
    }

    /// Where reads before a boundary usually take 30 us longer, 50 us more are no sign. 50 us less are one.
    #[test]
    fn an_edge_against_the_common_direction_shows_in_a_smaller_difference() {
        let [before, across, after] = [130, 100, 100].map(Duration::from_micros);
        let usual = AlignSample { candidate: Bytes::kib(2), boundary: None, before, across, after };
        let samples = || vec![usual; 64];
        assert!(is_edge_after(samples(), 150, |kib| kib >= 512));
        assert!(!is_edge_after(samples(), 150, |kib| kib < 512));
        assert!(is_edge_after(samples(), 250, |kib| kib < 512));
    }
}
