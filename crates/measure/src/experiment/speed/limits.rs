//! How many requests and how much time each kind of request of *speed* gets.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::{Direction, Order, SpeedCase};

use crate::contract::Extent;
use crate::experiment::speed::thorough;
use crate::limits::LARGE_REQUEST;

/// The default time of a row. Guess.
const TIME: Duration = Duration::from_secs(10);
/// The most bytes of a row. Guess.
const BYTES_MAX: Bytes = Bytes::gib(1);
/// The most time of a row of large writes. Guess.
const LARGE_TIME: Duration = Duration::from_secs(600);
/// The most bytes of a row of large writes. Guess.
const LARGE_BYTES_MAX: Bytes = Bytes::gib(4);
/// The first row of large writes may exceed that up to an eighth of the device, to exhaust a cache of many
/// gigabytes,
const FIRST_SHARE: u64 = 8;
/// but not this much.
const FIRST_BYTES_MAX: Bytes = Bytes::gib(16);
/// The most requests of a row. Guess: more narrow the interval little, and fill the run file.
const REQUESTS_MAX: usize = 16_384;
/// The most requests of the first row of writes, which must find out whether there are stalls.
const FIRST_REQUESTS_MAX: usize = 2 * REQUESTS_MAX;
/// Other rows of writes may have eight times as many requests and bytes while their speed changes: gigabytes
/// may pass until caches and logs are in a steady state.
const CHANGING_FACTOR: usize = 8;
/// Their bytes are at most an eighth of the device.
const CHANGING_SHARE: u64 = 8;
/// The most time of a row of reads with too few requests for an interval. Guess.
const FEW_TIME: Duration = Duration::from_secs(60);
/// The most time of a row of writes whose speed is vague, or that waits for known stalls. Guess.
pub(super) const WRITE_TIME_MAX: Duration = Duration::from_secs(240);

/// The usual time of a brief row. Guess: its interval is a few per cent wide.
pub(super) const BRIEF_TIME: Duration = Duration::from_secs(3);
/// The most time of a brief row with too few requests for an interval, or with one stall that takes most of
/// it. Guess.
pub(super) const BRIEF_TIME_MAX: Duration = Duration::from_secs(12);

/// The usual time of a brief row of writes. Guess: most virtual sticks take 3 to 13 s.
const BRIEF_WRITE_TIME: Duration = Duration::from_secs(6);
/// The usual time of a row of writes that waits for caches and stalls. Guess.
const LARGE_TIME_USUAL: Duration = Duration::from_secs(60);

/// The time that a row is expected to take.
pub(super) fn time_usual(case: SpeedCase, extent: Extent) -> Duration {
    match (extent, case.direction) {
        (Extent::Brief, Direction::Read) => BRIEF_TIME,
        (Extent::Brief, Direction::Write) => BRIEF_WRITE_TIME,
        (Extent::Thorough, Direction::Write) => WRITE_TIME_MAX,
        _ if is_large(case) => LARGE_TIME_USUAL,
        _ => TIME,
    }
}

fn is_sequential_write(case: SpeedCase) -> bool {
    (case.direction, case.order) == (Direction::Write, Order::Linear)
}

/// Whether these are the first writes, which must find out whether there are stalls: no sequential writes
/// come before them. Random writes of a thorough row are first if no writes at all come before them.
pub(super) fn is_first(
    case: SpeedCase,
    mut before: impl Iterator<Item = SpeedCase>,
    is_thorough: bool,
) -> bool {
    let is_write = |case: SpeedCase| case.direction == Direction::Write;
    match case.order {
        Order::Linear => is_write(case) && !before.any(is_sequential_write),
        Order::Random => is_thorough && is_write(case) && !before.any(is_write),
    }
}

/// Whether these are large sequential writes, whose speed includes stalls and garbage collection.
pub(super) fn is_large(case: SpeedCase) -> bool {
    is_sequential_write(case) && case.request >= LARGE_REQUEST
}

/// The usual time of a row.
pub(super) fn time(case: SpeedCase) -> Duration {
    if is_large(case) { LARGE_TIME } else { TIME }
}

/// The most time of a row that is not clear by then.
pub(super) fn time_max(case: SpeedCase) -> Duration {
    time(case).max(match case.direction {
        Direction::Read => FEW_TIME,
        Direction::Write => WRITE_TIME_MAX,
    })
}

/// The most bytes of the first row of large writes, enough to exhaust most caches.
pub(super) fn first_bytes(capacity: Bytes) -> Bytes {
    (capacity / FIRST_SHARE).min(FIRST_BYTES_MAX)
}

/// The usual number of requests on a device of this capacity.
pub(super) fn requests(case: SpeedCase, is_first: bool, capacity: Bytes) -> usize {
    let bytes = match (is_first, is_large(case)) {
        (true, true) => LARGE_BYTES_MAX.max(first_bytes(capacity)),
        (true, false) | (false, true) => LARGE_BYTES_MAX,
        (false, false) => BYTES_MAX,
    };
    let most = if is_first { FIRST_REQUESTS_MAX } else { REQUESTS_MAX };
    usize::try_from(bytes / case.request).unwrap_or(most).clamp(32, most)
}

/// The most requests while the speed changes.
fn requests_while_changing(case: SpeedCase, is_first: bool, capacity: Bytes) -> usize {
    let usual = requests(case, is_first, capacity);
    if case.direction == Direction::Read || is_first || is_large(case) {
        return usual;
    }
    let share = usize::try_from(capacity / CHANGING_SHARE / case.request).unwrap_or(usual);
    usual.max((usual * CHANGING_FACTOR).min(share))
}

/// The most requests.
pub(super) fn requests_max(case: SpeedCase, is_first: bool, is_thorough: bool, capacity: Bytes) -> usize {
    let usual = requests_while_changing(case, is_first, capacity);
    if is_thorough && case.direction == Direction::Write {
        usual.max(thorough::requests_max(case, capacity))
    } else {
        usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_writes_go_on_for_eight_times_as_long_while_their_speed_changes() {
        let most = |direction, request, capacity| {
            let case = SpeedCase { direction, order: Order::Random, request, queue_depth: 1 };
            requests_max(case, false, false, capacity)
        };
        let (small, large) = (Bytes::kib(64), Bytes::gib(128));
        assert_eq!(most(Direction::Write, small, large), 8 * 16_384);
        assert_eq!(most(Direction::Write, Bytes::mib(1), large), 8 * 1024, "1 GiB is usual");
        assert_eq!(most(Direction::Write, small, Bytes::gib(16)), 2 * 16_384, "an eighth of the device");
        assert_eq!(most(Direction::Write, small, Bytes::gib(4)), 16_384, "no fewer than usual");
        assert_eq!(most(Direction::Read, small, large), 16_384, "reads");
    }
}
