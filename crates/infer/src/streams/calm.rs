//! A stream of writes without its stalls, whose time hides where the stream becomes slow.

use flashscope_device::Bytes;

use flashscope_record::observation::{LONG_WRITES_MAX, Piece, SustainedData};

use crate::streams::slowdown::Stretch;
use crate::streams::stalls::brief;

/// The pieces of a stream without its stalls, with the bytes of all their writes; `None` if not all long
/// writes were kept. A piece that is only a stall gets the speed of the piece before it. So does a single
/// write after it, which may wait for the rest of the stall.
#[must_use]
pub fn calm(data: &SustainedData) -> Option<Vec<Stretch>> {
    if data.long.len() >= LONG_WRITES_MAX {
        return None;
    }
    let request = data.request.as_f64();
    let stalls = brief(&data.long, data.request);
    let (mut stalls, mut written) = (stalls.into_iter().peekable(), Bytes::ZERO);
    let mut is_after_stall = false;
    let mut calm: Vec<Stretch> = Vec::with_capacity(data.pieces.len());
    for Piece { requests, time } in data.pieces.iter().filter(|piece| piece.requests > 0) {
        written += data.request * u64::from(*requests);
        let (mut left, mut seconds) = (*requests, time.as_secs_f64());
        while let Some(stall) = stalls.next_if(|stall| stall.written <= written) {
            (left, seconds) = (left.saturating_sub(1), seconds - stall.took.as_secs_f64());
        }
        let waits = std::mem::replace(&mut is_after_stall, left == 0) && *requests == 1;
        let before = calm.last().map(|before| before.seconds_per_byte);
        let left = if waits { 0 } else { left };
        let seconds_per_byte = match (left, before) {
            (0, Some(before)) => before,
            (0, None) => time.as_secs_f64() / (request * f64::from(*requests)),
            _ => seconds.max(0.0) / (request * f64::from(left)),
        };
        calm.push(Stretch { bytes: request * f64::from(*requests), seconds_per_byte });
    }
    Some(calm)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use flashscope_record::observation::LongWrite;

    /// Writes of 1 MiB that took these milliseconds, in pieces of `together` writes. Writes of at least
    /// 500 ms are long.
    fn data(milliseconds: &[u64], together: usize) -> SustainedData {
        let mut data = SustainedData { request: Bytes::mib(1), ..SustainedData::default() };
        let mut ended = Duration::ZERO;
        for (index, took) in (1..).zip(milliseconds.iter().map(|each| Duration::from_millis(*each))) {
            ended += took;
            if took >= Duration::from_millis(500) {
                data.long.push(LongWrite { written: Bytes::mib(index), took, ended });
            }
        }
        for chunk in milliseconds.chunks(together) {
            let requests = u32::try_from(chunk.len()).unwrap();
            data.pieces.push(Piece { requests, time: Duration::from_millis(chunk.iter().sum()) });
        }
        data
    }

    fn milliseconds(data: &SustainedData) -> Vec<u32> {
        let each = |stretch: &Stretch| {
            (0..1000)
                .find(|each| f64::from(*each) + 0.5 > stretch.seconds_per_byte * 1e3 * Bytes::mib(1).as_f64())
        };
        calm(data).unwrap().iter().filter_map(each).collect()
    }

    #[test]
    fn stalls_are_removed_but_their_bytes_are_kept() {
        let writes = [20, 20, 900, 60, 30, 30, 600, 700];
        assert_eq!(milliseconds(&data(&writes, 1)), [20, 20, 20, 20, 30, 30, 30, 30]);
        let writes = [20, 20, 900, 20, 30, 30, 600, 700];
        assert_eq!(milliseconds(&data(&writes, 4)), [20, 30]);
        let bytes: f64 = calm(&data(&writes, 4)).unwrap().iter().map(|stretch| stretch.bytes).sum();
        assert!((bytes - Bytes::mib(8).as_f64()).abs() < 1.0);
    }

    #[test]
    fn a_lasting_slowdown_is_no_stall() {
        assert_eq!(milliseconds(&data(&[20, 20, 600, 610, 620], 1)), [20, 20, 600, 610, 620]);
    }
}
