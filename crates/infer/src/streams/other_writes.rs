//! What the same run wrote besides a long stream, and its part of the SLC cache.

use flashscope_device::Bytes;
use flashscope_record::finding::{Caveat, Finding, Outcome, Reason, Value, WouldDecide};
use flashscope_record::observation::SustainedData;

use crate::streams::fill::rounded;
use crate::streams::slowdown::Slowdown;

/// The same cache, with what the same run wrote besides before it was full. Without idle time all of that is
/// in it; its lower end allows for idle time. Unknown if most of it is not the stream.
pub fn with_other_writes(mut cache: Finding, slowdown: &Slowdown, data: &SustainedData) -> Finding {
    let (fast, other) = (rounded(slowdown.bytes), data.other_before(rounded(slowdown.bytes_high)));
    if other.is_zero() || cache.value().is_none() {
        return cache;
    }
    if other > fast {
        let reason = Reason::OtherWrites { fast, other };
        return Finding::unknown(cache.id, reason, [WouldDecide::Rest]);
    }
    if let Outcome::Found { value: Value::Bytes(value), high: Value::Bytes(high), .. } = &mut cache.outcome {
        *value += other;
        *high += other;
    }
    cache.with_caveat(Caveat::OtherWritesCounted(other))
}

/// No cache, unless the same run wrote before the stream: it may have used up the cache.
pub fn unless_used_before(none: Finding, data: &SustainedData) -> Finding {
    let other = data.other_before(Bytes::ZERO);
    if other.is_zero() {
        return none;
    }
    Finding::unknown(none.id, Reason::OtherWrites { fast: Bytes::ZERO, other }, [WouldDecide::Rest])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_record::observation::{OtherWrites, Piece};

    use super::*;
    use crate::streams::sustained::sustained;

    #[test]
    fn what_the_same_run_wrote_before_is_counted() {
        let of = |fast: u64, other: &[(u64, u64)]| {
            let time = |index| Duration::from_millis(if index < fast { 20 } else { 300 });
            let pieces = (0..600).map(|index| Piece { requests: 1, time: time(index) }).collect();
            let mut data = SustainedData { request: Bytes::mib(1), pieces, ..SustainedData::default() };
            let writes = |(after, bytes): &(u64, u64)| OtherWrites {
                after: Bytes::mib(*after),
                bytes: Bytes::mib(*bytes),
            };
            data.other = other.iter().map(writes).collect();
            let [cache, _] = sustained(Some(&data), Some(Bytes::mib(900)), None);
            cache
        };
        let within = |finding: &Finding| match finding.outcome {
            Outcome::Found { low: Value::Bytes(low), high: Value::Bytes(high), .. } => (low, high),
            _ => panic!("{finding:?}"),
        };
        let cache = of(128, &[(100, 64), (300, 500)]);
        assert_eq!(cache.bytes(), Some(Bytes::mib(192)));
        let (low, high) = within(&cache);
        assert!(low < Bytes::mib(128) && high > Bytes::mib(192), "{cache:?}");
        let unknown = |fast: u64, other| matches!(of(fast, other).reason(), Some(Reason::OtherWrites { fast: seen, .. }) if *seen == Bytes::mib(fast));
        assert!(unknown(80, &[(0, 81)]), "most of it is not the stream");
        assert!(unknown(0, &[(0, 64)]), "all of the cache may have been used");
        assert_eq!(of(0, &[(200, 64)]).bytes(), Some(Bytes::ZERO), "the stream came first");
    }
}
