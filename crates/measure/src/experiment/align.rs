//! *align*: where are the boundaries of erase blocks and pages? Reads only.
//!
//! A small read that straddles a boundary of the controller's units takes longer than one beside it. For every
//! candidate size the experiment reads before, across and after boundaries that are multiples of this candidate and of
//! no other of its family, so that each boundary answers for one candidate alone. After every batch it judges what it saw
//! ([`boundary`](flashscope_infer::geometry::boundary)) and reads next where that tells most, until it is decided. See docs/methods/align.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use flashscope_infer::Method;
use flashscope_infer::geometry::align::single_reads_agree;
use flashscope_infer::geometry::boundary;
use flashscope_infer::geometry::boundary::figure::Figures;
use flashscope_infer::sizes::sizes;
use flashscope_infer::statistics::median;
use flashscope_record::finding::{Quantity, WouldDecide};
use flashscope_record::observation::{AlignData, AlignSample, Contents, Data, Observations, Refusal, Room};

use crate::contract::{Estimate, Experiment, Observer};
use crate::session::{Refused, Session, Stop, not_started, range};

/// The largest candidate: so large that several candidates are multiples of the largest erase blocks.
const CANDIDATE_MAX: Bytes = Bytes::gib(2);
/// Boundaries per candidate before anything is judged.
const FIRST_ROUNDS: usize = 3;
/// Boundaries per candidate where nothing is judged in between.
const FIXED_ROUNDS: usize = 8;
/// Candidates that are read once more before it is judged again, and the share of what was read so far that this is later.
const BATCH: usize = 16;
const BATCH_SHARE: usize = 8;
/// Boundaries per candidate, on average, after which reading on would not decide either.
const ROUNDS_MAX: usize = 120;

/// And after so much time: a stick that answers that slowly is asked for writes instead.
const SECONDS_MAX: f64 = 180.0;

/// Among so many multiples there is no need to know how many are a candidate's own.
const OWN_MULTIPLES_MAX: u64 = 4096;

/// Reads at a boundary: three, and two further out where those on both sides differ.
const READS_MAX: usize = 5;
/// Reads on both sides of a boundary that differ by no more than this share, or so many times what they differ by as a rule, need no
/// second look.
const EDGE_SHARE: f64 = 0.03;
const EDGE_TIMES: f64 = 4.0;
/// What differs the other way round than it mostly does, by this share of that at least, is looked at sooner.
const EDGE_TIMES_AGAINST: f64 = 1.5;
const ONE_WAY: f64 = 0.5;
/// So many samples tell which way.
const ONE_WAY_AFTER: usize = 64;

/// Places that are looked at afterwards, for what they hold.
const PLACES: usize = 32;

/// The experiment *align*.
#[derive(Debug, Clone, Copy)]
pub struct Align {
    /// The size of each read; `None`: two logical blocks, at least 1 KiB.
    pub read: Option<Bytes>,
    /// The seed of positions and order.
    pub seed: u64,
    /// Which parts of the method are used.
    pub method: Method,
}

impl Align {
    /// The experiment with reads of this size (`None`: two logical blocks, at least 1 KiB) and this seed.
    #[must_use]
    pub fn new(read: Option<Bytes>, seed: u64) -> Self {
        Self { read, seed, method: Method::default() }
    }

    fn read_size(self, device: &dyn Device) -> Bytes {
        let block = device.capabilities().logical_block;
        self.read.unwrap_or(block * 2).max(block * 2).max(Bytes::kib(1)).round_up(block * 2)
    }
}

impl Experiment for Align {
    fn name(&self) -> &'static str {
        "align"
    }

    fn estimate(&self, device: &dyn Device) -> Estimate {
        let count = candidates(self.read_size(device), device.capabilities().capacity, self.method).len()
            * ROUNDS_MAX
            * READS_MAX
            + PLACES;
        Estimate { requests: count as u64, bytes_written: Bytes::ZERO }
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
            Reader { session: &mut session, read, capacity, samples: &mut data.samples, method: self.method };
        let result = reader.run(&candidates).and_then(|()| contents(&mut session, read, capacity));
        let result = result.map(|contents| data.contents = contents);
        session.end(result, Data::Align(data))
    }
}

/// All candidate sizes, ascending: {1, 3, 5, 7} x 2^n from twice the read to half the capacity or [`CANDIDATE_MAX`].
fn candidates(read: Bytes, capacity: Bytes, method: Method) -> Vec<Bytes> {
    let largest = CANDIDATE_MAX.min(capacity.saturating_sub(read) / 2);
    sizes(method.factors(), read * 2, largest).filter(|size| size.is_multiple_of(read / 2)).collect()
}

/// The candidates of which every sample so far was held up.
fn without_figure(candidates: &[Bytes], figures: &Figures) -> Vec<Bytes> {
    let has_figure = |candidate: &Bytes| figures.each.iter().any(|figure| figure.candidate == *candidate);
    candidates.iter().copied().filter(|candidate| !has_figure(candidate)).collect()
}

/// A random multiple up to `largest` that shares no factor with 2, 3, 5 or 7, so that the boundary is a multiple of no
/// larger candidate; 1 if none is found soon.
pub(super) fn own_multiple(session: &mut Session<'_>, largest: u64) -> u64 {
    (0..32).map(|_| session.draw(largest) + 1).find(|multiple| is_own(*multiple)).unwrap_or(1)
}

fn is_own(multiple: u64) -> bool {
    [2, 3, 5, 7].iter().all(|factor| !multiple.is_multiple_of(*factor))
}

/// How many such multiples there are, as far as that matters.
fn own_multiples(largest: u64) -> usize {
    (1..=largest.min(OWN_MULTIPLES_MAX)).filter(|multiple| is_own(*multiple)).count()
}

/// Puts others between boundaries that are the same, and leaves out those for which there are no others.
fn keep_apart(boundaries: &mut Vec<(Bytes, Bytes)>) {
    for index in 1..boundaries.len() {
        let before = boundaries[index - 1].1;
        match boundaries[index..].iter().position(|(_, boundary)| *boundary != before) {
            Some(other) => boundaries.swap(index, index + other),
            None => return boundaries.truncate(index),
        }
    }
}

/// Looks at places here and there.
fn contents(session: &mut Session<'_>, read: Bytes, capacity: Bytes) -> Result<Contents, Stop> {
    let mut contents = Contents::default();
    for _ in 0..PLACES {
        let place = session.draw(capacity / read);
        if let Some(is_blank) = session.is_blank(range(read * place, read))? {
            contents.looked_at += 1;
            contents.blank += u32::from(is_blank);
        }
    }
    Ok(contents)
}

/// Reads across boundaries until it is decided where they are.
struct Reader<'a, 'b> {
    session: &'a mut Session<'b>,
    read: Bytes,
    capacity: Bytes,
    samples: &'a mut Vec<AlignSample>,
    method: Method,
}

impl Reader<'_, '_> {
    fn run(&mut self, candidates: &[Bytes]) -> Result<(), Stop> {
        if !self.method.sequential {
            return self.read_at(&candidates.repeat(FIXED_ROUNDS));
        }
        self.read_at(&candidates.repeat(FIRST_ROUNDS))?;
        let is_time_up = |session: &Session<'_>| session.device_time().as_secs_f64() > SECONDS_MAX;
        while self.samples.len() < candidates.len() * ROUNDS_MAX && !is_time_up(self.session) {
            let Some(figures) = Figures::of(self.samples) else { return Ok(()) };
            let explanations = boundary::explain(&figures, self.method, None);
            let goes_on_at_block =
                boundary::has_usual_block(&explanations) && !single_reads_agree(self.samples, &explanations);
            if !goes_on_at_block && boundary::is_decided(&explanations, &figures) {
                return Ok(());
            }
            let known = self.samples.len();
            let batch = (known / BATCH_SHARE).max(BATCH);
            let mut next = without_figure(candidates, &figures);
            if goes_on_at_block {
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

    /// A boundary of each candidate, in shuffled order so that drift hits all alike; two different boundaries at a time, so that no read
    /// goes on where the one before it ended.
    fn read_at(&mut self, candidates: &[Bytes]) -> Result<(), Stop> {
        let mut boundaries: Vec<(Bytes, Bytes)> =
            candidates.iter().map(|candidate| (*candidate, self.boundary(*candidate))).collect();
        self.session.shuffle(&mut boundaries);
        keep_apart(&mut boundaries);
        boundaries.chunks(2).try_for_each(|pair| self.read_beside_each_other(pair))
    }

    fn boundary(&mut self, candidate: Bytes) -> Bytes {
        candidate * own_multiple(self.session, self.multiples(candidate))
    }

    fn multiples(&self, candidate: Bytes) -> u64 {
        self.capacity.saturating_sub(self.read) / candidate
    }

    fn read_beside_each_other(&mut self, boundaries: &[(Bytes, Bytes)]) -> Result<(), Stop> {
        let mut triples: Vec<Triple> = boundaries.iter().map(|_| Triple::shuffled(self.session)).collect();
        for turn in 0..3 {
            for (triple, (_, boundary)) in triples.iter_mut().zip(boundaries) {
                triple.read(turn, *boundary, self.read, self.session)?;
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

    /// By how much the reads on both sides of a boundary have to differ in this way to be looked at again, seconds. Where a block's end
    /// makes the read before it quicker or slower, that is how they differ mostly.
    fn hardly_apart_s(&self, apart: f64) -> f64 {
        let all: Vec<f64> =
            self.samples.iter().map(|each| each.before.as_secs_f64() - each.after.as_secs_f64()).collect();
        let usually = median(&all.iter().map(|apart| apart.abs()).collect::<Vec<_>>()).unwrap_or(0.0);
        let one_way = median(&all).unwrap_or(0.0);
        let is_against =
            all.len() >= ONE_WAY_AFTER && one_way.abs() > usually * ONE_WAY && one_way * apart < 0.0;
        usually * if is_against { EDGE_TIMES_AGAINST } else { EDGE_TIMES }
    }

    /// Whether the device reads faster on one side of a boundary than on the other, as where what was written meets what never was:
    /// then the read across tells nothing. A boundary of the flash may show in the reads next to it, but not in those beyond.
    fn is_at_an_edge(
        &mut self,
        boundary: Bytes,
        (before, after): (Duration, Duration),
    ) -> Result<bool, Stop> {
        let (before, after) = (before.as_secs_f64(), after.as_secs_f64());
        let apart = before - after;
        let is_inside = boundary >= self.read * 2 && boundary + self.read * 2 <= self.capacity;
        if !is_inside
            || apart.abs() < before.min(after) * EDGE_SHARE
            || apart.abs() < self.hardly_apart_s(apart)
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
        Ok(beyond * apart > 0.0 && beyond.abs() > apart.abs() / 2.0)
    }
}

/// The reads before, across and after a boundary, in an order of their own; a time is missing if that read failed.
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
        turn: usize,
        boundary: Bytes,
        read: Bytes,
        session: &mut Session<'_>,
    ) -> Result<(), Stop> {
        let position = self.order[turn];
        let start = [boundary - read, boundary - read / 2, boundary][position];
        self.times[position] = session.read(range(start, read))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::contract::Silent;
    use flashscope_record::observation::Ended;

    #[test]
    fn every_boundary_answers_for_its_candidate_alone() {
        let mut device = MemoryDevice::new(Bytes::mib(64));
        let seen = Align::new(None, 3).measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        let Data::Align(data) = seen.data else { panic!("align saw something else") };
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

    #[test]
    fn no_boundary_is_read_twice_in_a_row() {
        let kept = |places: &[u64]| {
            let mut boundaries: Vec<_> =
                places.iter().map(|place| (Bytes::mib(1), Bytes::mib(*place))).collect();
            keep_apart(&mut boundaries);
            boundaries.into_iter().map(|(_, boundary)| boundary / Bytes::mib(1)).collect::<Vec<_>>()
        };
        assert_eq!(kept(&[1, 1, 1, 2, 3]), [1, 2, 1, 3, 1]);
        assert_eq!(kept(&[1, 2, 1, 3]), [1, 2, 1, 3]);
        assert_eq!(kept(&[4, 4, 5, 4, 4]), [4, 5, 4], "for the others there is nothing in between");
        assert!(kept(&[]).is_empty());
    }

    #[test]
    fn a_device_too_small_is_refused_in_words() {
        let mut device = MemoryDevice::new(Bytes::kib(2));
        let seen = Align::new(None, 3).measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert!(matches!(seen.ended, Ended::NotStarted { .. }));
    }
}
