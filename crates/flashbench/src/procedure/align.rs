//! `-a`: reads before, across and after boundaries of every candidate size.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, Capabilities};

use flashscope_record::observation::{AlignData, AlignSample, Refusal};

use crate::procedure::session::{Session, Stop};

// flashbench's numbers, as its documentation gives them.
const POSITIONS_MAX: u64 = 7;
const ROUNDS: u64 = 8;
const READS_PER_BOUNDARY: u64 = 3;

/// The three reads at one boundary: before, across, after.
type Times = [Duration; 3];

/// Measures every candidate size in descending order.
pub(super) fn measure(session: &mut Session<'_>, read: Bytes, data: &mut AlignData) -> Result<(), Stop> {
    let capabilities = session.device.capabilities();
    for candidate in candidates(read, &capabilities) {
        let sample = measure_candidate(session, read, candidate, &capabilities)?;
        data.samples.push(sample);
    }
    Ok(())
}

fn measure_candidate(
    session: &mut Session<'_>,
    read: Bytes,
    candidate: Bytes,
    capabilities: &Capabilities,
) -> Result<AlignSample, Stop> {
    let boundaries: Vec<Bytes> = boundaries(read, candidate, capabilities).collect();
    let mut fastest = vec![[Duration::MAX; 3]; boundaries.len()];
    for _ in 0..ROUNDS {
        for (boundary, fastest) in boundaries.iter().zip(&mut fastest) {
            let times = read_around(session, read, *boundary)?;
            *fastest = [0, 1, 2].map(|index| fastest[index].min(times[index]));
        }
    }
    let [before, across, after] = [0, 1, 2].map(|index| mean(fastest.iter().map(|times| times[index])));
    Ok(AlignSample { candidate, boundary: None, before, across, after })
}

fn read_around(session: &mut Session<'_>, read: Bytes, boundary: Bytes) -> Result<Times, Stop> {
    let mut at = |offset| session.read(ByteRange::new(offset, read));
    Ok([at(boundary - read)?, at(boundary - read / 2)?, at(boundary)?])
}

fn mean(times: impl ExactSizeIterator<Item = Duration>) -> Duration {
    let count = u32::try_from(times.len()).unwrap_or(u32::MAX).max(1);
    times.sum::<Duration>() / count
}

/// Powers of two, and 1.5 times each, from half the capacity down to twice the read size.
fn candidates(read: Bytes, capabilities: &Capabilities) -> impl Iterator<Item = Bytes> {
    let (largest, smallest, block) = (capabilities.capacity / 2, read * 2, capabilities.logical_block);
    (1..u64::BITS - 1)
        .rev()
        .flat_map(|exponent| [Bytes::new(3 << (exponent - 1)), Bytes::new(1 << exponent)])
        .filter(move |candidate| (smallest..=largest).contains(candidate) && candidate.is_multiple_of(block))
}

/// The first odd multiples of a candidate, as far as the reads fit on the device.
fn boundaries(read: Bytes, candidate: Bytes, capabilities: &Capabilities) -> impl Iterator<Item = Bytes> {
    let end = capabilities.capacity;
    (0..POSITIONS_MAX)
        .map(move |index| candidate * (2 * index + 1))
        .take_while(move |boundary| *boundary + read <= end)
}

/// The number of reads.
pub(super) fn requests(read: Bytes, capabilities: &Capabilities) -> u64 {
    let boundaries = |candidate| boundaries(read, candidate, capabilities).count() as u64;
    candidates(read, capabilities).map(boundaries).sum::<u64>() * ROUNDS * READS_PER_BOUNDARY
}

/// Checks that it can run: the straddling read is shifted by half its length.
///
/// # Errors
/// One sentence that says why not.
pub(super) fn feasible(read: Bytes, capabilities: &Capabilities) -> Result<(), Refusal> {
    let step = capabilities.logical_block * 2;
    if !read.is_multiple_of(step) || read.is_zero() {
        return Err(Refusal::NotWhole { size: read, unit: step });
    }
    if read > capabilities.max_request || read > capabilities.capacity / 4 {
        let most = capabilities.max_request.min(capabilities.capacity / 4);
        return Err(Refusal::RequestOutOfRange { request: read, least: step, most });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flashscope_device::Device;
    use flashscope_device::memory::MemoryDevice;

    use super::*;

    #[test]
    fn the_last_boundary_leaves_room_for_a_whole_read_behind_it() {
        let offsets = |capacity: Bytes| -> Vec<Bytes> {
            let capabilities = MemoryDevice::new(capacity).capabilities();
            boundaries(Bytes::kib(1), Bytes::kib(3), &capabilities).collect()
        };
        assert_eq!(
            offsets(Bytes::kib(10)),
            [3, 9].map(Bytes::kib),
            "the last read ends where the device does"
        );
        assert_eq!(offsets(Bytes::kib(10) - Bytes::new(512)), [Bytes::kib(3)]);
        assert_eq!(offsets(Bytes::mib(1)), [3, 9, 15, 21, 27, 33, 39].map(Bytes::kib), "seven at most");
    }
}
