//! A write buffer in the controller's memory: a write completes when its data has arrived, and waits only for
//! room.

use std::collections::VecDeque;

use crate::arithmetic::nanoseconds;
use crate::arithmetic::share;
use crate::profile::Profile;

/// Writes in the buffer, in order of arrival. Instants are device time.
#[derive(Debug, Clone)]
pub(crate) struct WriteBuffer {
    size_bytes: u64,
    accept_ns: u64,
    held_bytes: u64,
    held: VecDeque<Held>,
    flash_busy_until_ns: u64,
    /// The delay of buffered writes by reads; not included in `Held::done_ns`.
    read_delay_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    done_ns: u64,
    bytes: u64,
}

/// A write that arrives: `transfer_ns` on the link, then `flash_ns` from memory to flash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) at_ns: u64,
    pub(crate) bytes: u64,
    pub(crate) transfer_ns: u64,
    pub(crate) flash_ns: u64,
}

impl WriteBuffer {
    pub(crate) fn new(profile: &Profile) -> Option<Self> {
        let buffer = profile.write_buffer.as_ref()?;
        Some(Self {
            size_bytes: buffer.size.get(),
            accept_ns: nanoseconds(buffer.accept_us),
            held_bytes: 0,
            held: VecDeque::new(),
            flash_busy_until_ns: 0,
            read_delay_ns: 0,
        })
    }

    /// Accepts a write, and returns the time from its arrival to its completion. Its transfer starts when
    /// there is room.
    pub(crate) fn accept(&mut self, arrival: Arrival) -> u64 {
        let Arrival { at_ns, bytes, transfer_ns, flash_ns } = arrival;
        let start_ns = self.room_at_ns(at_ns, bytes);
        let arrived_ns = start_ns.saturating_add(self.accept_ns + transfer_ns);
        let done_ns = self.flash_busy_until_ns.max(start_ns).saturating_add(flash_ns).max(arrived_ns);
        self.flash_busy_until_ns = done_ns;
        self.held_bytes += bytes;
        self.held.push_back(Held { done_ns: done_ns - self.read_delay_ns, bytes });
        arrived_ns - at_ns + self.overflow_ns(bytes, flash_ns)
    }

    /// The time until the buffer is empty.
    pub(crate) const fn drain_ns(&self, at_ns: u64) -> u64 {
        self.flash_busy_until_ns.saturating_sub(at_ns)
    }

    /// Delays all buffered writes by a read, which has priority.
    pub(crate) const fn delay(&mut self, at_ns: u64, ns: u64) {
        if self.flash_busy_until_ns > at_ns {
            self.read_delay_ns += ns;
            self.flash_busy_until_ns += ns;
        }
    }

    /// The time at which there is room for `bytes`, at least `at_ns`. A write larger than the buffer waits
    /// until it is empty. Removes completed writes.
    fn room_at_ns(&mut self, at_ns: u64, bytes: u64) -> u64 {
        let mut ready_ns = at_ns;
        while let Some(first) = self.held.front() {
            let done_ns = first.done_ns + self.read_delay_ns;
            let fits = self.held_bytes + bytes <= self.size_bytes;
            if done_ns > at_ns && fits {
                break;
            }
            ready_ns = ready_ns.max(done_ns);
            self.held_bytes -= first.bytes;
            self.held.pop_front();
        }
        ready_ns
    }

    /// The wait of a write larger than the buffer: the part without room is programmed first.
    const fn overflow_ns(&self, bytes: u64, flash_ns: u64) -> u64 {
        share(flash_ns, bytes.saturating_sub(self.size_bytes), bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer of 100 bytes.
    fn buffer() -> WriteBuffer {
        let text = Profile::text("generic-2g").unwrap().to_owned()
            + "\n[write_buffer]\nbasis = \"assumed\"\nsize = 512\naccept_us = 0.003";
        let mut buffer = WriteBuffer::new(&Profile::parse(&text).unwrap()).unwrap();
        buffer.size_bytes = 100;
        buffer
    }

    fn take(buffer: &mut WriteBuffer, at_ns: u64, bytes: u64) -> u64 {
        buffer.accept(Arrival { at_ns, bytes, transfer_ns: 7, flash_ns: 500 })
    }

    #[test]
    fn write_waits_only_for_room() {
        let mut buffer = buffer();
        assert_eq!([take(&mut buffer, 0, 50), take(&mut buffer, 10, 50)], [10, 10]);
        // The first is programmed at 500, the second at 1000: the third waits for the first.
        assert_eq!(take(&mut buffer, 20, 10), 480 + 10);
        assert_eq!(buffer.drain_ns(600), 900);
        // The next needs the whole buffer.
        assert_eq!(take(&mut buffer, 600, 100), 900 + 10);
        assert_eq!(buffer.drain_ns(1500), 500);
    }

    #[test]
    fn read_delays_buffered_writes() {
        let mut buffer = buffer();
        take(&mut buffer, 0, 100);
        buffer.delay(100, 30);
        assert_eq!(take(&mut buffer, 100, 100), 430 + 10);
        buffer.delay(5000, 30);
        assert_eq!(buffer.drain_ns(5000), 0);
    }

    #[test]
    fn write_larger_than_the_buffer_waits_for_the_overflow() {
        assert_eq!(take(&mut buffer(), 0, 200), 10 + 250);
    }
}
