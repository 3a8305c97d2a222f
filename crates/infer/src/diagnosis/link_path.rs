//! The path of the data over a full link, and what a faster link would save.
//!
//! A write takes a time per command and a time per byte. The time per byte is that of the link or that of the
//! flash, whichever is longer. If the link is full, the flash behind it may be faster. Writes within one page
//! show how much: the link does not limit them.

use flashscope_device::Bytes;

use flashscope_record::attachment::Link;
use flashscope_record::finding::{Finding, FindingId};

use crate::diagnosis::command_cost::{COMMAND_MAX_DEFAULT, command_line};
use crate::diagnosis::gain::{DIFFERS, Range};
use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::long_stream::{stall_time_per_byte, time_per_byte, time_per_byte_before_slowdown};
use crate::diagnosis::size_sweep::commands;
use crate::diagnosis::workload::CopyPart;

/// A link is full from this share of the least that it carries. Guess: commands and gaps take the rest.
pub const FULL_MIN: f64 = 0.85;
/// Data above this share of the most that a link carries did not pass through it. Guess.
const FULL_MAX: f64 = 1.2;
/// The speed of the next USB generation over this one, at least (480 to 5000 Mbit/s). It is assumed where no
/// faster link is known.
const NEXT_GENERATION_RATIO: f64 = 10.0;
/// The largest command of usb-storage below `SuperSpeed`, 240 sectors (Linux, drivers/usb/storage). A smaller
/// limit was set for this device and holds at every port.
const COMMAND_MAX_HIGH_SPEED: Bytes = Bytes::kib(120);
/// The time of a partial page over that of a whole page in a stream: its rest is read first. Guess.
const PARTIAL_PAGE_RATIO: f64 = 1.2;
/// The factor within which that estimate of the flash's time per byte is known. Guess.
const FLASH_FACTOR: f64 = 1.5;
/// The program time of a page is usable if it is at least this share of the latency of small writes. Guess.
const PROGRAM_SHARE_MIN: f64 = 0.2;
/// The estimate of the flash's time per byte is unusable above this ratio to the measured time per byte: then
/// small writes are slow for another reason. Guess.
const FLASH_RATIO_MAX: f64 = 1.4;
/// A long stream is much slower than single writes above this ratio. Guess: gaps, and the commands of a
/// stream, explain less.
const SLOW_ALONE_RATIO: f64 = 1.6;
/// The share of the transfer time that a faster link saves while a cache is flushed. On some sticks both
/// overlap. Guess.
const SAVED_WHILE_FLUSHING: f64 = 0.9;
/// The largest share of the time of a command that a faster link saves. Guess.
const COMMAND_SAVED_MAX: f64 = 0.6;

/// Write times over a full link, seconds.
#[derive(Debug, Clone, Copy)]
pub struct LinkPath {
    /// The highest measured write speed, commands included, bytes per second.
    pub bytes_per_s: f64,
    per_byte: f64,
    per_command: f64,
    /// Whether only an SLC cache filled the link, before it was exhausted.
    is_cache_only: bool,
    /// The time per byte of the flash, if it is known.
    flash: Option<Range>,
}

impl LinkPath {
    /// `None` if the link is not full.
    pub fn full(inputs: &Inputs<'_>, link: &Link) -> Option<Self> {
        let (low, high) = link.bytes_per_s;
        let is_full = |per_byte: f64| (FULL_MIN * low..FULL_MAX * high).contains(&(1.0 / per_byte));
        // A write buffer takes single writes at the speed of the link, whatever the flash does.
        let min = inputs.sweep.time_per_byte_min();
        let is_full_in_long_run = min.is_none_or(is_full) && !is_slow_alone(inputs);
        let line = command_line(inputs);
        let cached = time_per_byte_before_slowdown(inputs).filter(|fast| is_full(*fast));
        let best = inputs.sweep.best_time_per_byte();
        let slope = line.map(|line| line.per_byte);
        let per_byte = match slope.filter(|slope| is_full_in_long_run && is_full(*slope)) {
            Some(slope) => slope,
            None => cached.or_else(|| Some(best).filter(|best| is_full_in_long_run && is_full(*best)))?,
        };
        let is_cache_only = cached.is_some();
        let flash = flash_time_per_byte(inputs);
        Some(Self {
            bytes_per_s: 1.0 / cached.unwrap_or(best.max(min.unwrap_or(0.0))),
            per_byte,
            per_command: line.map_or(0.0, |line| line.per_command),
            is_cache_only,
            flash: flash.filter(|flash| !is_cache_only && flash.likely < per_byte * FLASH_RATIO_MAX),
        })
    }

    /// The most that a faster link carries, bytes per second. If none is known, the next generation is
    /// assumed: a full link limits the device all the same. `None` if none is known and only a cache fills
    /// the link.
    pub fn faster_bytes_per_s(self, link: &Link) -> Option<f64> {
        let next_generation = (!self.is_cache_only).then_some(link.bytes_per_s.1 * NEXT_GENERATION_RATIO);
        link.faster_bytes_per_s().or(next_generation)
    }

    /// The time that each byte waits for the link, compared with a link of `faster_bytes_per_s`, seconds.
    fn wait_per_byte(self, faster_bytes_per_s: f64) -> Range {
        let now = self.per_byte;
        let all = now - 1.0 / faster_bytes_per_s;
        match self.flash {
            Some(Range { low, likely, high }) => Range {
                low: (now - high).clamp(0.0, all),
                likely: (now - likely).clamp(0.0, all),
                high: (now - low).clamp(0.0, all),
            },
            None if self.is_cache_only => Range { low: 0.0, likely: all * SAVED_WHILE_FLUSHING, high: all },
            // The flash may be anything between the two links, so the likely value is their geometric mean.
            None => {
                let likely = (now - (now / faster_bytes_per_s).sqrt()).clamp(0.0, all);
                Range { low: 0.0, likely, high: all }
            }
        }
    }

    /// The time per byte of a part that a link of `faster_bytes_per_s` saves, seconds; `None` if the link
    /// does not limit the part.
    pub fn saved_per_byte(
        self,
        inputs: &Inputs<'_>,
        part: CopyPart,
        faster_bytes_per_s: f64,
    ) -> Option<Range> {
        let request = part.request();
        if part == CopyPart::Small {
            let on_line = self.per_command + self.per_byte * request.as_f64();
            let latency = inputs.sweep.time_per_byte(request) * request.as_f64();
            let is_limited = latency < on_line * DIFFERS;
            return is_limited.then(|| self.wait_per_byte(faster_bytes_per_s).or_zero());
        }
        // A faster link also has larger commands.
        let command_max = inputs.command_max().unwrap_or(COMMAND_MAX_DEFAULT);
        let faster_command_max = if command_max < COMMAND_MAX_HIGH_SPEED {
            command_max
        } else {
            command_max.max(COMMAND_MAX_DEFAULT)
        };
        let commands = |command_max: Bytes| commands(request, command_max);
        let fewer =
            self.per_command * (commands(command_max) - commands(faster_command_max)) / request.as_f64();
        let shorter = COMMAND_SAVED_MAX * self.per_command * commands(faster_command_max) / request.as_f64();
        let wait = self.wait_per_byte(faster_bytes_per_s);
        Some(Range { low: wait.low, likely: wait.likely + fewer, high: wait.high + fewer + shorter })
    }
}

/// Whether a long stream is much slower than single writes, and neither stalls nor a full cache explain it:
/// then something takes single writes faster than the flash, such as a write buffer that was not looked for.
fn is_slow_alone(inputs: &Inputs<'_>) -> bool {
    let is_even = stall_time_per_byte(inputs) <= 0.0 && time_per_byte_before_slowdown(inputs).is_none();
    let single = inputs.sweep.best_time_per_byte();
    is_even && time_per_byte(inputs).is_ok_and(|long| long.seconds > single * SLOW_ALONE_RATIO)
}

/// The likely time that the flash is idle for each byte of a part while the link is full, seconds; 0 if it is
/// not full.
pub fn flash_idle_per_byte(inputs: &Inputs<'_>, part: CopyPart) -> f64 {
    let path = inputs.link().and_then(|link| LinkPath::full(inputs, link));
    let wait = path.filter(|_| part != CopyPart::Small).map(|path| path.wait_per_byte(f64::INFINITY));
    wait.map_or(0.0, |wait| wait.likely)
}

/// The time per byte of the flash, seconds, if the page size is known: the smallest writes program a whole
/// page, and take the time of a command besides. `None` with a write buffer, which absorbs small writes.
fn flash_time_per_byte(inputs: &Inputs<'_>) -> Option<Range> {
    let bytes = |id| inputs.finding(id).and_then(Finding::bytes);
    let page = bytes(FindingId::PageBytes)?.as_f64().max(1.0);
    if !inputs.write_buffer().is_zero() {
        return None;
    }
    let small = inputs.sweep.lowest_latency_s();
    let program = small - command_line(inputs)?.per_command;
    let likely = program / page / PARTIAL_PAGE_RATIO;
    (program > small * PROGRAM_SHARE_MIN).then(|| Range::within(likely, FLASH_FACTOR))
}
