//! The descriptors that a USB device sent when it was plugged in: the file `descriptors` of sysfs.
//!
//! The device descriptor, then each configuration followed by its interfaces and endpoints. Each starts
//! with its length and its type (USB 2.0 specification, section 9.6).

/// `bDescriptorType` of a device descriptor.
const DEVICE: u8 = 1;
/// `bDescriptorType` of an interface descriptor.
const INTERFACE: u8 = 4;
/// `bInterfaceClass` of mass storage.
const MASS_STORAGE: u8 = 8;
/// `bInterfaceProtocol` of USB attached SCSI (the bulk-only transport has 0x50).
const UAS: u8 = 0x62;

/// A descriptor: its type, and the bytes after length and type.
pub type Descriptor<'a> = (u8, &'a [u8]);

/// The descriptors in `bytes`, until the end or an invalid length.
pub fn each(bytes: &[u8]) -> impl Iterator<Item = Descriptor<'_>> {
    let mut remaining = bytes;
    std::iter::from_fn(move || {
        let length = usize::from(*remaining.first()?);
        let (descriptor, after) = remaining.split_at_checked(length).filter(|_| length >= 2)?;
        remaining = after;
        Some((descriptor[1], &descriptor[2..]))
    })
}

/// `bcdUSB` of the device descriptor: 0x0210 is USB 2.10. `None` if the bytes start with another
/// descriptor.
pub fn version(bytes: &[u8]) -> Option<u16> {
    match each(bytes).next()? {
        (DEVICE, [low, high, ..]) => Some(u16::from_le_bytes([*low, *high])),
        _ => None,
    }
}

/// The mass storage protocols of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transports {
    /// Whether it supports UAS, which queues commands.
    pub uas: bool,
}

impl Transports {
    /// Parses descriptors. `None` without a mass storage interface.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let protocols = each(bytes).filter_map(storage_protocol);
        protocols.fold(None, |offers, protocol| {
            let uas = protocol == UAS || offers.is_some_and(|offers: Self| offers.uas);
            Some(Self { uas })
        })
    }
}

/// `bInterfaceProtocol` of a mass storage interface. The bytes are number, alternate setting, endpoints,
/// class, subclass, protocol.
fn storage_protocol(descriptor: Descriptor<'_>) -> Option<u8> {
    match descriptor {
        (INTERFACE, [_, _, _, MASS_STORAGE, _, protocol, ..]) => Some(*protocol),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE_210: [u8; 18] = [18, 1, 0x10, 2, 0, 0, 0, 64, 0x81, 7, 0x67, 0x55, 0, 1, 1, 2, 3, 1];
    const BULK_ONLY: [u8; 9] = [9, 4, 0, 0, 2, 8, 6, 0x50, 0];
    const ATTACHED: [u8; 9] = [9, 4, 0, 1, 4, 8, 6, 0x62, 0];

    #[test]
    fn version_and_protocols_are_parsed() {
        assert_eq!(version(&DEVICE_210), Some(0x0210));
        let offers = |parts: &[&[u8]]| Transports::parse(&parts.concat()).map(|offers| offers.uas);
        assert_eq!(offers(&[&DEVICE_210, &BULK_ONLY]), Some(false));
        assert_eq!(offers(&[&DEVICE_210, &BULK_ONLY, &[7, 5, 0x81, 2, 0, 2, 0], &ATTACHED]), Some(true));
        assert_eq!(offers(&[&DEVICE_210]), None);
    }

    #[test]
    fn malformed_descriptors_end_the_parsing() {
        for broken in [&[][..], &[0], &[1, 1], &[18, 1, 0x10], &[9, 4, 0], &[0; 64], &[2, 1]] {
            assert_eq!((version(broken), Transports::parse(broken)), (None, None), "{broken:?}");
        }
    }
}
