//! A rule for udev that limits how much data waits in memory for a stick.

use crate::medium::Identity;

/// This many seconds of writing may wait. More makes unmounting slow; less makes small writes wait. Policy.
const SECONDS: f64 = 2.0;
/// The least that is allowed to wait, so that requests can still be merged: 4 MiB. Policy.
const BYTES_MIN: f64 = 4_194_304.0;

/// The rule for a medium with this sustained write speed, bytes per second; `None` without a serial number,
/// or for a speed that is no number.
///
/// `max_bytes` needs Linux 6.2, and binds early only with `strict_limit`
/// (Documentation/ABI/testing/sysfs-class-bdi).
#[must_use]
pub fn udev_rule(identity: &Identity, bytes_per_second: f64) -> Option<String> {
    let serial = identity.serial.as_deref().filter(|serial| is_plain(serial))?;
    if !bytes_per_second.is_finite() || bytes_per_second <= 0.0 {
        return None;
    }
    let bytes = (bytes_per_second * SECONDS).max(BYTES_MIN).round();
    Some(format!(
        "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", \
         ENV{{ID_SERIAL_SHORT}}==\"{serial}\", ATTR{{bdi/strict_limit}}=\"1\", ATTR{{bdi/max_bytes}}=\"{bytes:.0}\""
    ))
}

/// Whether a serial number can stand in a rule: udev reads quotes, brackets and stars as its own.
fn is_plain(serial: &str) -> bool {
    !serial.is_empty() && serial.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_two_seconds_of_writing() {
        let identity = Identity { serial: Some("4C53".to_owned()), ..Identity::default() };
        let rule = udev_rule(&identity, 7e6).unwrap();
        assert!(rule.contains("ENV{ID_SERIAL_SHORT}==\"4C53\"") && rule.ends_with("\"14000000\""), "{rule}");
        assert!(udev_rule(&identity, 1.0).unwrap().ends_with("\"4194304\""));
    }

    #[test]
    fn hostile_serial_numbers_make_no_rule() {
        for serial in ["", "a\", RUN+=\"rm", "*", "a b"] {
            let identity = Identity { serial: Some(serial.to_owned()), ..Identity::default() };
            assert_eq!(udev_rule(&identity, 1e6), None, "{serial}");
        }
        let identity = Identity { serial: Some("1".to_owned()), ..Identity::default() };
        assert_eq!(udev_rule(&identity, f64::NAN), None);
    }
}
