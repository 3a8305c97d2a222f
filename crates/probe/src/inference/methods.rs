//! How fast bytes are really written, from the ways in which people write them.

use super::speed::impossible;
use crate::observation::{Claim, MethodsData, Way};

/// Why the data of a claim cannot have been on the device when it was said to be; `None` if it can.
#[must_use]
pub fn cached(data: &MethodsData, claim: &Claim) -> Option<String> {
    data.link.as_ref().and_then(|link| impossible(claim.durable(), link))
}

/// The true speed, bytes per second: of data that nothing can guess, until one flush at the end says that it is there. `None` without
/// that way, and where it is faster than the way to the device lets anything through.
#[must_use]
pub fn truth(data: &MethodsData) -> Option<f64> {
    let flushed = data.claims.iter().find(|claim| claim.way == Way::FlushAtEnd)?;
    cached(data, flushed).is_none().then(|| flushed.durable())
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;
    use crate::observation::LinkLimit;

    #[test]
    fn the_truth_is_that_of_the_flush_at_the_end_unless_the_link_carries_less() {
        let claim = |way, durable_s| Claim {
            way,
            bytes: Bytes::new(80_000_000),
            claimed_s: 0.1,
            durable_s,
            source_s: None,
        };
        let claims = vec![claim(Way::Zeros, 0.2), claim(Way::FlushAtEnd, 10.0)];
        let mut data = MethodsData { claims, ..MethodsData::default() };
        assert_eq!(truth(&data), Some(8e6));
        data.link =
            Some(LinkLimit { bytes_per_s: Bytes::new(1_216_000), name: "USB at 12 Mbit/s".to_owned() });
        assert_eq!(truth(&data), None);
        assert!(cached(&data, &data.claims[1]).unwrap().contains("12 Mbit/s"));
        data.claims.truncate(1);
        data.link = None;
        assert_eq!((truth(&data), cached(&data, &data.claims[0])), (None, None));
    }
}
