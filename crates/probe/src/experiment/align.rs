//! *align*: where are the boundaries of erase blocks and pages? Reads only.
//!
//! A small read that straddles a boundary of the controller's units takes longer than one beside it. For every
//! candidate size the experiment reads before, across and after boundaries that are multiples of this candidate and of
//! no other of its family, so that each boundary answers for one candidate alone. See docs/methods/align.md.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use super::session::{Session, Stop, not_started, range};
use super::{Estimate, Experiment, Observer};
use crate::observation::{AlignData, AlignSample, Data, Observations};

/// Odd factors of candidate sizes: TLC gives blocks of 3 x 2^n; 5 and 7 cost little and catch what nobody expects.
const ODD_FACTORS: [u64; 4] = [1, 3, 5, 7];
/// The largest candidate: four times the largest allocation unit of the SD status register (64 MiB).
const CANDIDATE_MAX: Bytes = Bytes::mib(256);
/// Boundaries per candidate. Eight samples put the standard error at a third of one read's jitter.
const ROUNDS: usize = 8;

/// The experiment *align*.
#[derive(Debug, Clone, Copy)]
pub struct Align {
    /// The size of each read; `None`: two logical blocks, at least 1 KiB.
    pub read: Option<Bytes>,
    /// The seed of positions and order.
    pub seed: u64,
}

impl Align {
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
        let count = candidates(self.read_size(device), device.capabilities().capacity).len() * ROUNDS * 3;
        Estimate { requests: count as u64, bytes_written: Bytes::ZERO }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let read = self.read_size(device);
        let capacity = device.capabilities().capacity;
        let mut data = AlignData { read: Some(read), samples: Vec::new() };
        let candidates = candidates(read, capacity);
        if candidates.is_empty() {
            let reason = format!("{capacity} are too few to hold a boundary between two reads of {read}");
            return not_started(device, self.seed, Data::Align(data), reason);
        }
        let estimate = self.estimate(device);
        let mut session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let boundaries = shuffled_boundaries(&mut session, &candidates, read, capacity);
        let result = read_all(&mut session, &boundaries, read, &mut data.samples);
        let (conditions, ended) = session.end(result);
        Observations { data: Data::Align(data), conditions, ended }
    }
}

/// All candidate sizes, ascending: {1, 3, 5, 7} x 2^n from twice the read to half the capacity.
fn candidates(read: Bytes, capacity: Bytes) -> Vec<Bytes> {
    let largest = CANDIDATE_MAX.min(capacity.saturating_sub(read) / 2);
    let mut sizes: Vec<Bytes> = ODD_FACTORS
        .into_iter()
        .flat_map(|odd| (0..40).map(move |shift| Bytes::new(odd << shift)))
        .filter(|size| *size >= read * 2 && *size <= largest && size.is_multiple_of(read / 2))
        .collect();
    sizes.sort_unstable();
    sizes
}

/// `(candidate, boundary)` pairs, [`ROUNDS`] per candidate, all in one shuffled order so that drift hits all alike.
fn shuffled_boundaries(
    session: &mut Session<'_>,
    candidates: &[Bytes],
    read: Bytes,
    capacity: Bytes,
) -> Vec<(Bytes, Bytes)> {
    let mut boundaries = Vec::with_capacity(candidates.len() * ROUNDS);
    for candidate in candidates {
        let multiples = (capacity.saturating_sub(read)) / *candidate;
        for _ in 0..ROUNDS {
            boundaries.push((*candidate, *candidate * own_multiple(session, multiples)));
        }
    }
    session.shuffle(&mut boundaries);
    boundaries
}

/// A random multiple up to `largest` that shares no factor with 2, 3, 5 or 7, so that the boundary is a multiple of no
/// larger candidate; 1 if none is found soon.
fn own_multiple(session: &mut Session<'_>, largest: u64) -> u64 {
    (0..32)
        .map(|_| session.draw(largest) + 1)
        .find(|multiple| [2, 3, 5, 7].iter().all(|factor| !multiple.is_multiple_of(*factor)))
        .unwrap_or(1)
}

fn read_all(
    session: &mut Session<'_>,
    boundaries: &[(Bytes, Bytes)],
    read: Bytes,
    samples: &mut Vec<AlignSample>,
) -> Result<(), Stop> {
    for (candidate, boundary) in boundaries {
        if let Some([before, across, after]) = read_triple(session, *boundary, read)? {
            let boundary = Some(*boundary);
            samples.push(AlignSample { candidate: *candidate, boundary, before, across, after });
        }
    }
    Ok(())
}

/// The three reads at one boundary, in shuffled order; `None` if one of them failed.
fn read_triple(
    session: &mut Session<'_>,
    boundary: Bytes,
    read: Bytes,
) -> Result<Option<[Duration; 3]>, Stop> {
    let starts = [boundary - read, boundary - read / 2, boundary];
    let mut order = [0, 1, 2];
    session.shuffle(&mut order);
    let mut times = [Duration::ZERO; 3];
    for position in order {
        match session.read(range(starts[position], read))? {
            Some(time) => times[position] = time,
            None => return Ok(None),
        }
    }
    Ok(Some(times))
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::experiment::Silent;
    use crate::observation::Ended;

    #[test]
    fn every_boundary_answers_for_its_candidate_alone() {
        let mut device = MemoryDevice::new(Bytes::mib(64));
        let seen = Align { read: None, seed: 3 }.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        let Data::Align(data) = seen.data else { panic!("align saw something else") };
        assert_eq!(seen.ended, Ended::Complete);
        let sizes = candidates(Bytes::kib(1), Bytes::mib(64));
        assert_eq!(data.samples.len(), sizes.len() * ROUNDS);
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
    fn a_device_too_small_is_refused_in_words() {
        let mut device = MemoryDevice::new(Bytes::kib(2));
        let seen = Align { read: None, seed: 3 }.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        assert!(matches!(seen.ended, Ended::NotStarted { .. }));
    }
}
