//! How fast a stick writes when nothing helps any more: measured on the model itself.

use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};

use crate::profile::{Background, Profile, Stall};
use crate::stick::VirtualStick;

// As large as requests come from a host, and small enough to end soon after a cache is full.
const REQUEST: Bytes = Bytes::mib(1);

// A few erase blocks of any size, and the most that patience takes: a hundred thousand requests.
const WINDOW_MIN: Bytes = Bytes::gib(1);
const WINDOW_MAX: Bytes = Bytes::gib(96);

impl Profile {
    /// What a perfect measurement of endless writing in sequence, in requests of 1 MiB, would find, in bytes per second: caches and
    /// buffers are full, collection stalls as it must, and the stick is as hot as it gets. What holds single requests up counts: it
    /// never makes one shorter. Every stall takes the mean of all, or a window of some stalls would be as far off as they differ.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and no link carries 2^53 bytes per second"
    )]
    pub fn sustained_write_per_s(&self) -> Bytes {
        let mut even = self.clone();
        even.background
            .iter_mut()
            .filter_map(|background| background.stall.as_mut())
            .for_each(Stall::even_out);
        let mut stick = VirtualStick::new(&even, 1);
        let (begin, end) = (self.settles_after(), self.settles_after() + self.window());
        write(&mut stick, Bytes::ZERO, begin);
        let before = stick.now();
        write(&mut stick, begin, end);
        Bytes::new(((end - begin).as_f64() / stick.now().since(before).as_secs_f64()) as u64)
    }

    /// After how much all that is fast at first has ended.
    fn settles_after(&self) -> Bytes {
        let cache = self.slc_cache.as_ref().map_or(Bytes::ZERO, |cache| cache.from_empty(self.capacity));
        let buffer = self.write_buffer.as_ref().map_or(Bytes::ZERO, |buffer| buffer.size);
        let heat = self.thermal.as_ref().map_or(Bytes::ZERO, |thermal| thermal.limit * 2);
        (cache + buffer + heat + self.capacity.min(WINDOW_MIN)).min(WINDOW_MAX).round_up(REQUEST)
    }

    /// How much tells the speed: whole periods of whatever comes and goes.
    fn window(&self) -> Bytes {
        let stall = self.background.as_ref().and_then(|Background { stall, .. }| stall.as_ref());
        let stalls = stall.map_or(Bytes::ZERO, |stall| stall.every * 32);
        let heat = self.thermal.as_ref().map_or(Bytes::ZERO, |thermal| thermal.limit * 16);
        WINDOW_MIN.max(stalls).max(heat).min(WINDOW_MAX).round_up(REQUEST)
    }
}

/// Writes from one place to another in an endless row over the stick; both are multiples of the request.
fn write(stick: &mut VirtualStick, begin: Bytes, end: Bytes) {
    let places = stick.capabilities().capacity / REQUEST;
    for index in begin / REQUEST..end / REQUEST {
        let offset = REQUEST * (index % places.max(1));
        let length = REQUEST.min(stick.capabilities().capacity);
        // A stick whose writes fail takes its time for them as well.
        let _completion = stick.run(Op::write(ByteRange::new(offset, length), Pattern::new(1)));
    }
}
