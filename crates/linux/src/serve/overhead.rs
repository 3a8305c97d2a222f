//! What the host itself costs: measured before anything is served, and subtracted from then on.
//!
//! Between an answer and the next request of a program that does nothing but ask lie the answer's way back, the program's
//! next system call, and the request's way here: all that is the host's and not the device's. So the serving thread
//! watches, on a file of its own that no device stands behind, how long `dd` takes from each answer to its next request.
//! `dd` is another process because one that waits for a file it serves itself could not even be killed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::time::Duration;

use flashscope_device::{Bytes, Instant, OpKind};

use super::request::Message;

/// The kind of request with which the host was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Read or write.
    pub kind: OpKind,
    /// How long each request was.
    pub length: Bytes,
}

/// A short request, which costs what every one does, and one long enough to show what each byte costs. Both are short
/// enough that no layer of the kernel cuts them.
const SHORT: Bytes = Bytes::kib(4);
const LONG: Bytes = Bytes::kib(256);
/// Enough for a quantile that repeats to a few microseconds; all four series take some 0.1 s.
const REQUESTS: u64 = 200;
/// Which of the sorted gaps is what a request costs: one in so many from the smallest. A busy machine holds most of them up,
/// and what others do is not this path's cost: subtracting it would answer requests too early. On an idle machine the
/// smallest tenth and the median are a few microseconds apart.
const QUANTILE: usize = 10;

/// How large the file is that is measured with.
pub const CALIBRATION_FILE: Bytes = Bytes::mib(64);

/// Has the serving thread watch requests of each kind on `path`, its calibration file or a loop device over that. False
/// if `dd` cannot do it; then nothing is learned.
pub fn measure(path: &Path, serving: &Sender<Message>) -> bool {
    let samples = [OpKind::Read, OpKind::Write]
        .into_iter()
        .flat_map(|kind| [SHORT, LONG].map(|length| Sample { kind, length }));
    samples.into_iter().all(|sample| ask(path, sample) && serving.send(Message::Learn(sample)).is_ok())
}

fn ask(path: &Path, sample: Sample) -> bool {
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

/// What each request costs outside the device: so much, and so much per byte.
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
    /// What a request of this kind and length costs.
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

/// Watches how long it takes from each answer to the next request.
#[derive(Debug, Default)]
pub struct Watch {
    answered_at: Option<Instant>,
    gaps: Vec<Duration>,
}

impl Watch {
    /// A request arrived.
    pub fn asked(&mut self, arrived_at: Instant) {
        self.gaps.extend(self.answered_at.map(|answered_at| arrived_at.since(answered_at)));
    }

    /// It is being answered.
    pub const fn answered(&mut self, now: Instant) {
        self.answered_at = Some(now);
    }

    /// The series is over: its smallest tenth is what such a request costs.
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
    fn the_quick_gaps_of_each_series_are_the_cost_and_length_is_paid_by_the_byte() {
        let (mut watch, mut overhead) = (Watch::default(), Overhead::default());
        for (length, gaps) in [(SHORT, [900, 80, 7000]), (LONG, [207, 206, 9000])] {
            let mut now = Instant::ZERO;
            for gap in [0].into_iter().chain(gaps) {
                now += micros(gap);
                watch.asked(now);
                now += micros(33);
                watch.answered(now);
            }
            watch.learn(Sample { kind: OpKind::Read, length }, &mut overhead);
        }
        assert_eq!(overhead.of(OpKind::Read, SHORT), micros(80));
        assert_eq!(overhead.of(OpKind::Read, SHORT + Bytes::kib(126)), micros(143));
        assert_eq!(overhead.of(OpKind::Read, Bytes::new(512)), micros(80));
        assert_eq!(overhead.of(OpKind::Write, LONG), Duration::ZERO, "never measured");
        assert_eq!(overhead.of(OpKind::Flush, Bytes::ZERO), micros(80));
    }
}
