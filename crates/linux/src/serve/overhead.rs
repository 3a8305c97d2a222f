//! The host's own overhead for a request: measured before anything is served, and subtracted from then on.
//!
//! For a program that only makes requests, the gap between a reply and the next request is overhead of the
//! host: the reply's way back, the next system call, and the request's way here. So the serving thread
//! measures these gaps while `dd` uses a calibration file without a device. `dd` is a separate process,
//! because a process that waits for a file it serves itself cannot be killed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::time::Duration;

use flashscope_device::{Bytes, Instant, OpKind};

use super::request::Message;

/// The kind of request of a calibration series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Read or write.
    pub kind: OpKind,
    /// The request size.
    pub length: Bytes,
}

/// The request sizes: the short one for the fixed cost, the long one for the cost per byte. Both are too
/// short for the kernel to split.
const SHORT: Bytes = Bytes::kib(4);
const LONG: Bytes = Bytes::kib(256);
/// The requests of a series: enough for a quantile that repeats within a few microseconds. All four series
/// take about 0.1 s.
const REQUESTS: u64 = 200;
/// The quantile of the sorted gaps that is the overhead: one tenth from the smallest. On a busy machine
/// most gaps are longer, but load of other programs must not be subtracted. On an idle machine the tenth
/// and the median differ by a few microseconds.
const QUANTILE: usize = 10;

/// The size of the calibration file.
pub const CALIBRATION_FILE: Bytes = Bytes::mib(64);

/// Measures requests of each kind on `path`, the calibration file or a loop device over it. False if `dd`
/// fails; the overhead then stays zero.
pub fn measure(path: &Path, serving: &Sender<Message>) -> bool {
    let samples = [OpKind::Read, OpKind::Write]
        .into_iter()
        .flat_map(|kind| [SHORT, LONG].map(|length| Sample { kind, length }));
    samples
        .into_iter()
        .all(|sample| operation(path, sample) && serving.send(Message::CalibrationDone(sample)).is_ok())
}

fn operation(path: &Path, sample: Sample) -> bool {
    let mut dd = Command::new("dd");
    let file = |key: &str| {
        let mut argument = std::ffi::OsString::from(key);
        argument.push(path);
        argument
    };
    if sample.kind == OpKind::Read {
        dd.arg(file("if=")).args(["of=/dev/null", "iflag=direct"]);
    } else {
        dd.arg("if=/dev/zero").arg(file("of=")).args(["oflag=direct", "conv=notrunc"]);
    }
    dd.arg(format!("bs={}", sample.length.get())).arg(format!("count={REQUESTS}"));
    let quietly = dd.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quietly.status().is_ok_and(|status| status.success())
}

/// The overhead of a request: a fixed part and a part per byte.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Overhead {
    read: Line,
    write: Line,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Line {
    short: Duration,
    long: Duration,
}

impl Line {
    fn at(self, length: Bytes) -> Duration {
        let per_byte = self.long.saturating_sub(self.short).as_secs_f64() / (LONG - SHORT).as_f64();
        self.short + Duration::from_secs_f64(per_byte * length.saturating_sub(SHORT).as_f64())
    }
}

impl Overhead {
    /// The overhead of a request of this kind and length.
    pub fn of(&self, kind: OpKind, length: Bytes) -> Duration {
        match kind {
            OpKind::Read => self.read.at(length),
            OpKind::Write => self.write.at(length),
            OpKind::Flush | OpKind::Discard | OpKind::Pause => self.read.short,
        }
    }

    fn learn(&mut self, sample: Sample, cost: Duration) {
        let line = if sample.kind == OpKind::Read { &mut self.read } else { &mut self.write };
        *(if sample.length == SHORT { &mut line.short } else { &mut line.long }) = cost;
    }
}

/// Measures the gap between each reply and the next request.
#[derive(Debug, Default)]
pub struct GapMeter {
    answered_at: Option<Instant>,
    gaps: Vec<Duration>,
}

impl GapMeter {
    /// A request arrived.
    pub fn request_arrived(&mut self, arrived_at: Instant) {
        self.gaps.extend(self.answered_at.map(|answered_at| arrived_at.since(answered_at)));
    }

    /// Its reply is being sent.
    pub const fn reply_sent(&mut self, now: Instant) {
        self.answered_at = Some(now);
    }

    /// Ends a series: its lower tenth is the overhead of such a request.
    pub fn learn(&mut self, sample: Sample, overhead: &mut Overhead) {
        self.gaps.sort_unstable();
        if let Some(gap) = self.gaps.get(self.gaps.len() / QUANTILE) {
            overhead.learn(sample, *gap);
        }
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn micros(microseconds: u64) -> Duration {
        Duration::from_micros(microseconds)
    }

    #[test]
    fn overhead_is_the_lower_tenth_and_grows_linearly_with_length() {
        let (mut gap_meter, mut overhead) = (GapMeter::default(), Overhead::default());
        for (length, gaps) in [(SHORT, [900, 80, 7000]), (LONG, [207, 206, 9000])] {
            let mut now = Instant::ZERO;
            for gap in [0].into_iter().chain(gaps) {
                now += micros(gap);
                gap_meter.request_arrived(now);
                now += micros(33);
                gap_meter.reply_sent(now);
            }
            gap_meter.learn(Sample { kind: OpKind::Read, length }, &mut overhead);
        }
        assert_eq!(overhead.of(OpKind::Read, SHORT), micros(80));
        assert_eq!(overhead.of(OpKind::Read, SHORT + Bytes::kib(126)), micros(143));
        assert_eq!(overhead.of(OpKind::Read, Bytes::new(512)), micros(80));
        assert_eq!(overhead.of(OpKind::Write, LONG), Duration::ZERO, "never measured");
        assert_eq!(overhead.of(OpKind::Flush, Bytes::ZERO), micros(80));
    }
}
