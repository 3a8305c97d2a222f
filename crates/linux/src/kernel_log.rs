//! What the kernel's log says of a device since boot, as far as it still holds it.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::io::Errno;

/// The longest record of the log (`CONSOLE_EXT_LOG_MAX`, 8 KiB).
const RECORD_BYTES_MAX: usize = 8192;
/// The most bytes that are read of it. Guess: logs have 128 KiB to 16 MiB.
const LOG_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Events of a device in the kernel's log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KernelEvents {
    /// Resets of the device: after each, its commands were repeated.
    pub resets: u32,
    /// Transfers that arrived damaged: checksum errors on the bus of a card, or of a USB link.
    pub checksum_errors: u32,
}

/// The messages of the log, one text each; `None` if it may not or cannot be read.
pub fn read(path: &Path) -> Option<Vec<String>> {
    let mut file =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path).ok()?;
    let bytes = records(&mut file)?;
    Some(String::from_utf8_lossy(&bytes).lines().filter_map(message).collect())
}

/// Every record. Each read returns one record; a shorter buffer would be refused.
fn records(log: &mut impl Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut record = vec![0; RECORD_BYTES_MAX];
    while bytes.len() < LOG_BYTES_MAX {
        match log.read(&mut record) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(&record[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Records were overwritten meanwhile: the oldest one left is read next.
            Err(error) if error.raw_os_error() == Some(Errno::PIPE.raw_os_error()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(_) => return None,
        }
    }
    Some(bytes)
}

/// The text of a record `6,339,5140900,-;usb 2-1: reset …`. Lines of a record that give its device start with
/// a blank.
fn message(line: &str) -> Option<String> {
    let (prefix, text) = line.split_once(';')?;
    (prefix.starts_with(|c: char| c.is_ascii_digit())).then(|| text.to_owned())
}

impl KernelEvents {
    /// The events of the device with one of these names, e.g. `usb 2-1`, `mmc0` or `mmcblk0`.
    pub fn of(messages: &[String], names: &[String]) -> Self {
        let own = |message: &&String| names.iter().any(|name| begins_with_name(message, name));
        let mut events = Self::default();
        for message in messages.iter().filter(own) {
            let lower = message.to_ascii_lowercase();
            let is_checksum = ["crc", "error -84", "eilseq"].iter().any(|sign| lower.contains(sign));
            let is_reset = [": reset ", "card reset", "uas_eh_device_reset", "host reset"]
                .iter()
                .any(|sign| lower.contains(sign));
            events.checksum_errors += u32::from(is_checksum);
            events.resets += u32::from(is_reset && !is_checksum);
        }
        events
    }
}

/// Whether a message is about the device of this name: `usb 2-1:`, not `usb 2-1.4:`.
fn begins_with_name(message: &str, name: &str) -> bool {
    message.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "6,1,2,-;usb 2-1: reset SuperSpeed USB device number 5 using xhci_hcd\n SUBSYSTEM=usb\n\
        6,2,3,-;usb 2-1.4: reset high-speed USB device number 6 using xhci_hcd\n\
        6,3,4,-;usb 2-1: new SuperSpeed USB device number 5 using xhci_hcd\n\
        3,4,5,-;mmc0: error -84 whilst initialising SD card\n3,5,6,-;mmcblk0: recovery failed! CRC error\n\
        garbage\n;\n";

    fn of(names: &[&str]) -> KernelEvents {
        let messages: Vec<String> = LOG.lines().filter_map(message).collect();
        KernelEvents::of(&messages, &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn events_are_counted_for_their_own_device() {
        assert_eq!(of(&["usb 2-1"]), KernelEvents { resets: 1, checksum_errors: 0 });
        assert_eq!(of(&["usb 2-1.4"]), KernelEvents { resets: 1, checksum_errors: 0 });
        assert_eq!(of(&["mmc0", "mmcblk0"]), KernelEvents { resets: 0, checksum_errors: 2 });
        assert_eq!(of(&["usb 2"]), KernelEvents::default());
    }

    /// A log that answers each read with the next of these.
    struct Answers(std::vec::IntoIter<std::io::Result<&'static str>>);

    impl Read for Answers {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let record = self.0.next().unwrap()?;
            buffer[..record.len()].copy_from_slice(record.as_bytes());
            Ok(record.len())
        }
    }

    #[test]
    fn log_is_read_on_after_interruptions_and_lost_records_up_to_its_end() {
        let error = |number| Err(std::io::Error::from_raw_os_error(number));
        let read_until = |last| {
            let answers = vec![Ok("a\n"), error(libc::EINTR), Ok("b\n"), error(libc::EPIPE), Ok("e\n"), last];
            records(&mut Answers(answers.into_iter()))
        };
        assert_eq!(read_until(error(libc::EAGAIN)), Some(b"a\nb\ne\n".to_vec()));
        assert_eq!(read_until(error(libc::EIO)), None);
    }

    #[test]
    fn a_log_is_read_from_a_file_and_a_missing_one_is_unknown() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), LOG).unwrap();
        assert_eq!(read(file.path()).unwrap().len(), 5);
        assert_eq!(read(Path::new("/nowhere/kmsg")), None);
    }
}
