//! The speeds of a USB device from its binary device object store (BOS): the file `bos_descriptors` of
//! sysfs (Linux 6.10 and newer). Its contents do not depend on the link.
//!
//! USB 3.2 specification, section 9.6.2: a BOS descriptor, then device capabilities, each with its type
//! after length and descriptor type.

use super::descriptors::{Descriptor, each};

/// `bDescriptorType` of a BOS descriptor.
const BOS: u8 = 0x0f;
/// `bDescriptorType` of a device capability.
const CAPABILITY: u8 = 0x10;
/// `bDevCapabilityType` of SuperSpeed (5 Gbit/s, USB 3.0).
const SUPER_SPEED: u8 = 0x03;
/// `bDevCapabilityType` of SuperSpeedPlus (10 Gbit/s and more, USB 3.1).
const SUPER_SPEED_PLUS: u8 = 0x0a;

/// The bits of `wSpeedsSupported`, Mbit/s.
const SPEEDS: [(u16, f64); 4] = [(1, 1.5), (2, 12.0), (4, 480.0), (8, 5000.0)];

/// The highest speed of one lane in the BOS, Mbit/s: `Some(None)` for a device without SuperSpeed, `None`
/// if these bytes are not a BOS.
pub fn speed_max_mbit_per_s(bytes: &[u8]) -> Option<Option<f64>> {
    let mut all = each(bytes);
    let (BOS, [_, _, capabilities, ..]) = all.next()? else { return None };
    let mut speeds = Vec::new();
    let mut count = 0;
    for descriptor in all {
        count += 1;
        speeds.extend(speeds_of(descriptor));
    }
    (count == usize::from(*capabilities)).then(|| speeds.into_iter().reduce(f64::max))
}

fn speeds_of(descriptor: Descriptor<'_>) -> Vec<f64> {
    match descriptor {
        (CAPABILITY, [SUPER_SPEED, _attributes, low, high, ..]) => {
            let supported = u16::from_le_bytes([*low, *high]);
            SPEEDS.into_iter().filter(|(bit, _)| supported & bit != 0).map(|(_, speed)| speed).collect()
        }
        (CAPABILITY, [SUPER_SPEED_PLUS, _reserved, attributes, _, _, _, _, _, _, _, sublinks @ ..]) => {
            let count = usize::from(attributes & 0x1f) + 1;
            sublinks.as_chunks::<4>().0.iter().take(count).map(|bytes| sublink_mbit_per_s(*bytes)).collect()
        }
        _ => Vec::new(),
    }
}

/// `bmSublinkSpeedAttr`: bits 5:4 are the exponent of a thousand, bits 31:16 the mantissa, in bit/s.
fn sublink_mbit_per_s(bytes: [u8; 4]) -> f64 {
    let exponent = i32::from(bytes[0] >> 4 & 3);
    let mantissa = f64::from(u16::from_le_bytes([bytes[2], bytes[3]]));
    mantissa * 1000_f64.powi(exponent - 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The USB 2.0 extension: link power management, no speed.
    const EXTENSION: [u8; 7] = [7, 0x10, 2, 6, 0, 0, 0];
    const SUPER: [u8; 10] = [10, 0x10, 3, 0, 0x0e, 0, 1, 10, 0xff, 7];
    /// Two sublinks of 10 Gbit/s, one for each direction.
    const PLUS: [u8; 20] =
        [20, 0x10, 0x0a, 0, 1, 0, 0, 0, 0, 0x11, 0, 0, 0x30, 0x40, 10, 0, 0xb0, 0x40, 10, 0];

    fn speed(capabilities: &[&[u8]]) -> Option<Option<f64>> {
        let count = u8::try_from(capabilities.len()).unwrap();
        let length = u8::try_from(5 + capabilities.concat().len()).unwrap();
        speed_max_mbit_per_s(&[&[5, 0x0f, length, 0, count], capabilities.concat().as_slice()].concat())
    }

    #[test]
    fn highest_speed_is_found_in_either_capability() {
        assert_eq!(speed(&[&EXTENSION]), Some(None));
        assert_eq!(speed(&[&EXTENSION, &SUPER]), Some(Some(5000.0)));
        assert_eq!(speed(&[&EXTENSION, &SUPER, &PLUS]), Some(Some(10_000.0)));
    }

    #[test]
    fn malformed_or_truncated_bos_is_rejected() {
        for broken in [&[][..], &[5, 0x0f], &[5, 0x0f, 22, 0, 2, 7, 0x10, 2, 6, 0, 0, 0], &[18, 1, 0, 2, 0]] {
            assert_eq!(speed_max_mbit_per_s(broken), None, "{broken:?}");
        }
        let short_plus: &[u8] = &[6, 0x10, 0x0a, 0, 1, 0];
        assert_eq!(speed(&[short_plus]), Some(None));
    }
}
