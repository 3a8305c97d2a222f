//! The requests that reached a block device between two readings of the kernel's counters.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_record::activity::{Counters, RequestCounters};

use crate::sysfs::Node;

/// The requests that reached a device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceTraffic {
    /// The number of requests.
    pub requests: u64,
    /// Bytes transferred.
    pub bytes: Bytes,
    /// The time the device was busy with any request, to a tick of the kernel (1 to 10 ms).
    pub busy: Duration,
}

/// The counters of a disk or partition; `None` if the kernel does not count.
pub fn counters(node: &Node) -> Option<Counters> {
    Counters::parse(&node.text("stat")?)
}

/// The requests of one kind between two readings. `None` if counters decreased: they belong to another
/// device.
pub fn between(
    before: &Counters,
    after: &Counters,
    kind: fn(&Counters) -> RequestCounters,
) -> Option<DeviceTraffic> {
    let (first, last) = (kind(before), kind(after));
    Some(DeviceTraffic {
        requests: last.requests.checked_sub(first.requests)?,
        bytes: Bytes::new(last.bytes.get().checked_sub(first.bytes.get())?),
        busy: Duration::from_millis(after.busy_ms.checked_sub(before.busy_ms)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_are_counted_separately_and_never_decrease() {
        let of = |text| Counters::parse(text).unwrap();
        let before = of("     100  5  800 10   200 6 1600 20   0  3000  30 0 0 0 0 0 0");
        let after = of("110 5 816 10 300 6 3648 20 0 3500 30");
        let wrote = DeviceTraffic { requests: 100, bytes: Bytes::mib(1), busy: Duration::from_millis(500) };
        assert_eq!(between(&before, &after, |counters| counters.writes), Some(wrote));
        assert_eq!(between(&before, &after, |counters| counters.reads).unwrap().bytes, Bytes::kib(8));
        assert_eq!(between(&after, &before, |counters| counters.writes), None);
    }
}
