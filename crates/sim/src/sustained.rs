//! Sustained write throughput, measured on the model.

use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};

use crate::profile::{Background, Profile, Stall};
use crate::stick::VirtualStick;

// A large host request, small enough to end soon after a cache is exhausted.
const REQUEST: Bytes = Bytes::mib(1);

// At least several erase blocks of any size; at most 100,000 requests. Both are guesses.
const WINDOW_MIN: Bytes = Bytes::gib(1);
const WINDOW_MAX: Bytes = Bytes::gib(96);

impl Profile {
    /// The steady-state throughput of endless sequential writes of 1 MiB, in bytes per second: caches and
    /// buffers exhausted, garbage-collection stalls included, the stick as hot as it gets. Noise counts, as
    /// it only lengthens requests. Every stall has the mean duration: else the spread of the stalls in the
    /// window would be an error of the result.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and no link carries 2^53 bytes per second"
    )]
    pub fn sustained_write_per_s(&self) -> Bytes {
        let mut profile = self.clone();
        profile
            .background
            .iter_mut()
            .filter_map(|background| background.stall.as_mut())
            .for_each(Stall::use_mean_duration);
        let mut stick = VirtualStick::new(&profile, 1);
        let (begin, end) = (self.warm_up_bytes(), self.warm_up_bytes() + self.window_bytes());
        write(&mut stick, Bytes::ZERO, begin);
        let before = stick.now();
        write(&mut stick, begin, end);
        Bytes::new(((end - begin).as_f64() / stick.now().since(before).as_secs_f64()) as u64)
    }

    /// The bytes to write before the steady state.
    fn warm_up_bytes(&self) -> Bytes {
        let cache = self.slc_cache.as_ref().map_or(Bytes::ZERO, |cache| cache.from_empty(self.capacity));
        let buffer = self.write_buffer.as_ref().map_or(Bytes::ZERO, |buffer| buffer.size);
        let heat = self.thermal.as_ref().map_or(Bytes::ZERO, |thermal| thermal.limit * 2);
        (cache + buffer + heat + self.capacity.min(WINDOW_MIN)).min(WINDOW_MAX).round_up(REQUEST)
    }

    /// The bytes to measure over: whole periods of stalls and throttling.
    fn window_bytes(&self) -> Bytes {
        let stall = self.background.as_ref().and_then(|Background { stall, .. }| stall.as_ref());
        let stalls = stall.map_or(Bytes::ZERO, |stall| stall.every * 32);
        let heat = self.thermal.as_ref().map_or(Bytes::ZERO, |thermal| thermal.limit * 16);
        WINDOW_MIN.max(stalls).max(heat).min(WINDOW_MAX).round_up(REQUEST)
    }
}

/// Writes sequentially from byte `begin` to `end`, wrapping around at the capacity. Both are multiples of the
/// request.
fn write(stick: &mut VirtualStick, begin: Bytes, end: Bytes) {
    let requests = stick.capabilities().capacity / REQUEST;
    for index in begin / REQUEST..end / REQUEST {
        let offset = REQUEST * (index % requests.max(1));
        let length = REQUEST.min(stick.capabilities().capacity);
        // Failing writes take time as well.
        let _completion = stick.run(Op::write(ByteRange::new(offset, length), Pattern::new(1)));
    }
}
