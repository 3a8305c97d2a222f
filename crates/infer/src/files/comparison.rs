//! Why many small files take longer than one large file of the same bytes.
//!
//! The time until the data is durable is a product of three factors: the bytes that reach the device, the
//! device's busy time per byte, and the total time over the busy time. So the ratio of two such times is the
//! product of three ratios, and the largest of them is the cause.

use flashscope_device::Bytes;

use flashscope_record::finding::Cached;
use flashscope_record::observation::{FilesData, FilesPart, FilesRound, Traffic};

pub use crate::files::spread::Spread;
use crate::files::spread::{around_median, is_narrow};
use crate::streams::speed::impossible;
use crate::thresholds::CLEARLY_LONGER;

/// A cause is named if its factor is at least this, ... Guess.
const FACTOR_MIN: f64 = 1.3;
/// ... and at least this share of the logarithm of the whole. Guess.
const SHARE_MIN: f64 = 0.4;
/// Reads come from the device if at most this share of the pages was still in memory. Guess.
const WARM_MAX: f64 = 0.02;
/// The space that files take is reported above this many times their bytes. Guess.
const BLOAT_MIN: f64 = 1.5;

/// The speed of files of one kind, over all rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesSpeed {
    /// Seconds until the data was durable.
    pub durable_s: Spread,
    /// Files per second, until the data was durable.
    pub files_per_s: Spread,
    /// Bytes per second, until the data was durable.
    pub bytes_per_s: Spread,
    /// Bytes per second, read back.
    pub read_bytes_per_s: Spread,
    /// Files per second, read back.
    pub read_files_per_s: Spread,
    /// Why the data was not durable when a flush said so, where it cannot have been.
    pub write_cached: Option<Cached>,
    /// Why the reads did not come from the device, where they cannot have.
    pub read_cached: Option<Cached>,
    /// Bytes of space for each byte.
    pub bloat: f64,
    /// Mean traffic to the device per round; `None` if that was not counted.
    pub writes: Option<Traffic>,
    /// Seconds to remove them.
    pub removed_s: Spread,
}

/// The speed of the files that `of` picks from each round; `None` without rounds.
#[must_use]
pub fn files_speed(data: &FilesData, of: impl Fn(&FilesRound) -> &FilesPart) -> Option<FilesSpeed> {
    let parts: Vec<&FilesPart> = data.rounds.iter().map(of).collect();
    let over = |figure: fn(&FilesPart) -> f64| Spread::of(parts.iter().map(|part| figure(part)));
    Some(FilesSpeed {
        durable_s: over(FilesPart::durable_s)?,
        files_per_s: over(|part| f64::from(part.files) / part.durable_s())?,
        bytes_per_s: over(|part| part.bytes.as_f64() / part.durable_s())?,
        read_bytes_per_s: over(|part| part.bytes.as_f64() / part.read_s)?,
        read_files_per_s: over(|part| f64::from(part.files) / part.read_s)?,
        write_cached: parts.iter().find_map(|part| not_written(data, part)),
        read_cached: parts
            .iter()
            .find_map(|part| cached(part).or_else(|| not_carried(data, part.read_s, part))),
        bloat: over(FilesPart::bloat)?.median,
        writes: Mean::of(&parts).map(|mean| mean.traffic),
        removed_s: over(|part| part.removed_s)?,
    })
}

/// Why data cannot have been durable when a flush said so.
fn not_written(data: &FilesData, part: &FilesPart) -> Option<Cached> {
    not_carried(data, part.durable_s(), part)
}

/// Why the link cannot have carried these files in this time.
fn not_carried(data: &FilesData, seconds: f64, part: &FilesPart) -> Option<Cached> {
    data.link.as_ref().and_then(|link| impossible(part.bytes.as_f64() / seconds, link))
}

/// Why reads did not come from the device: the pages were in memory, or the device transferred less.
fn cached(part: &FilesPart) -> Option<Cached> {
    if let Some(share) = part.warm.filter(|warm| *warm > WARM_MAX) {
        return Some(Cached::InMemory { share });
    }
    let (carried, bytes) = (part.reads?.bytes, part.bytes);
    (carried.as_f64() < bytes.as_f64() * (1.0 - WARM_MAX)).then_some(Cached::PartlyRead { carried, bytes })
}

/// Why the small files take as long as they do.
#[derive(Debug, Clone, PartialEq)]
pub enum FilesCause {
    /// They take little longer than one large file.
    None,
    /// The device takes longer for each byte: its writes are small.
    SmallWrites {
        /// Mean traffic of the small files per round.
        small: Traffic,
        /// The same of the large file.
        large: Traffic,
        /// How many times as long a byte takes.
        factor: f64,
    },
    /// More bytes reach the device: the filesystem writes its tables as well, and whole blocks for parts.
    Tables {
        /// Mean traffic of the small files per round.
        small: Traffic,
        /// What they hold.
        bytes: Bytes,
        /// The same in whole blocks, as the system writes them.
        rounded: Bytes,
        /// How many times as many bytes.
        factor: f64,
    },
    /// The device waits: programs and the filesystem take the time.
    Host {
        /// The share of the time in which the device was busy.
        busy: f64,
        /// How many times as long it takes for the same busy time.
        factor: f64,
    },
    /// They were reported durable faster than the link carries anything: there is nothing to compare.
    Cached {
        /// Why they cannot have been durable.
        reason: Cached,
    },
    /// It is not known.
    Unknown {
        /// Why.
        reason: UnknownCause,
    },
}

/// Why the cause is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownCause {
    /// The kernel does not count requests of this filesystem.
    NotCounted,
    /// No single cause explains most of it.
    NoSingleCause,
}

/// Many small files compared with one large file.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesVerdict {
    /// How many times as long they take until they are durable.
    pub ratio: Spread,
    /// Why.
    pub cause: FilesCause,
    /// Bytes of space per byte, if above [`BLOAT_MIN`].
    pub bloat: Option<f64>,
}

/// The verdict over all rounds; `None` without one.
#[must_use]
pub fn files_verdict(data: &FilesData) -> Option<FilesVerdict> {
    let ratios = Spread::of(ratios(data))?;
    let bloat = files_speed(data, |round| &round.small)?.bloat;
    Some(FilesVerdict {
        ratio: ratios,
        cause: cause(data, ratios.median),
        bloat: (bloat > BLOAT_MIN).then_some(bloat),
    })
}

/// Whether the ratio is known well enough, so that further rounds change nothing.
#[must_use]
pub fn files_are_settled(data: &FilesData) -> bool {
    around_median(&ratios(data).collect::<Vec<_>>()).as_ref().is_some_and(is_narrow)
}

/// The ratio of the times of small files and large file, round by round.
fn ratios(data: &FilesData) -> impl Iterator<Item = f64> {
    data.rounds.iter().map(|round| round.small.durable_s() / round.large.durable_s())
}

fn cause(data: &FilesData, ratio: f64) -> FilesCause {
    let mut parts = data.rounds.iter().flat_map(|round| [&round.small, &round.large]);
    if let Some(reason) = parts.find_map(|part| not_written(data, part)) {
        return FilesCause::Cached { reason };
    }
    if ratio < CLEARLY_LONGER {
        return FilesCause::None;
    }
    let mean = |of: fn(&FilesRound) -> &FilesPart| {
        let parts: Vec<&FilesPart> = data.rounds.iter().map(of).collect();
        Mean::of(&parts).filter(Mean::is_seen)
    };
    match (mean(|round| &round.small), mean(|round| &round.large)) {
        (Some(small), Some(large)) => largest(&small, &large, data.cluster),
        _ => FilesCause::Unknown { reason: UnknownCause::NotCounted },
    }
}

/// The largest of the three factors, if it explains enough of the whole.
fn largest(small: &Mean, large: &Mean, cluster: Bytes) -> FilesCause {
    let tables = small.traffic.bytes.as_f64() / large.traffic.bytes.as_f64();
    let writes = small.busy_per_byte() / large.busy_per_byte();
    let host = small.waits() / large.waits();
    let whole = tables * writes * host;
    let names = |factor: f64| factor > FACTOR_MIN && factor.ln() > whole.ln() * SHARE_MIN;
    if names(writes) {
        FilesCause::SmallWrites { small: small.traffic, large: large.traffic, factor: writes }
    } else if names(tables) {
        let rounded = if is_written_whole(cluster) { small.allocated } else { small.bytes };
        FilesCause::Tables { small: small.traffic, bytes: small.bytes, rounded, factor: tables }
    } else if names(host) {
        FilesCause::Host { busy: small.traffic.busy_s / small.durable_s, factor: host }
    } else {
        FilesCause::Unknown { reason: UnknownCause::NoSingleCause }
    }
}

/// Whether the system writes a whole cluster of which a file fills a part: it writes pages.
#[must_use]
pub fn is_written_whole(cluster: Bytes) -> bool {
    cluster <= PAGE
}

/// The system's page: 4 KiB on x86-64 and on most ARM kernels.
const PAGE: Bytes = Bytes::kib(4);

/// The mean round of one kind.
struct Mean {
    traffic: Traffic,
    bytes: Bytes,
    allocated: Bytes,
    durable_s: f64,
}

impl Mean {
    /// `None` if something was not counted, or without rounds.
    fn of(parts: &[&FilesPart]) -> Option<Self> {
        let traffic = Traffic { requests: 0, bytes: Bytes::ZERO, busy_s: 0.0 };
        let mut sum = Self { traffic, bytes: Bytes::ZERO, allocated: Bytes::ZERO, durable_s: 0.0 };
        for part in parts {
            let writes = part.writes?;
            sum.traffic.requests = sum.traffic.requests.checked_add(writes.requests)?;
            sum.traffic.bytes = sum.traffic.bytes.checked_add(writes.bytes)?;
            sum.traffic.busy_s += writes.busy_s;
            sum.bytes = sum.bytes.checked_add(part.bytes)?;
            sum.allocated = sum.allocated.checked_add(part.allocated)?;
            sum.durable_s += part.durable_s();
        }
        (!parts.is_empty()).then(|| sum.over(parts.len() as u64))
    }

    fn over(self, rounds: u64) -> Self {
        let traffic = Traffic {
            requests: (self.traffic.requests + rounds / 2) / rounds,
            bytes: self.traffic.bytes / rounds,
            busy_s: self.traffic.busy_s / rounds as f64,
        };
        let (bytes, allocated) = (self.bytes / rounds, self.allocated / rounds);
        Self { traffic, bytes, allocated, durable_s: self.durable_s / rounds as f64 }
    }

    /// Whether there was any traffic.
    fn is_seen(&self) -> bool {
        let traffic = &self.traffic;
        traffic.requests > 0 && !traffic.bytes.is_zero() && traffic.busy_s > 0.0
    }

    fn busy_per_byte(&self) -> f64 {
        self.traffic.busy_s / self.traffic.bytes.as_f64()
    }

    /// The total time over the busy time.
    fn waits(&self) -> f64 {
        self.durable_s / self.traffic.busy_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_record::observation::{ColdBy, FlushTime, LinkLimit};

    /// 1000 files in 10 MB that take `seconds`, in `requests` of `megabytes` in all, while the device is busy
    /// for `busy`.
    fn part(seconds: f64, requests: u64, megabytes: f64, busy_s: f64) -> FilesPart {
        let traffic = Traffic { requests, bytes: Bytes::new((megabytes * 1e6) as u64), busy_s };
        FilesPart {
            files: 1000,
            bytes: Bytes::new(10_000_000),
            allocated: Bytes::new(40_000_000),
            made_s: seconds * 0.1,
            flush_s: seconds * 0.9,
            read_s: 2.0,
            removed_s: 0.0,
            each_made_ns: Vec::new(),
            each_read_ns: Vec::new(),
            warm: Some(0.0),
            wrong: 0,
            writes: Some(traffic),
            reads: Some(traffic),
        }
    }

    fn data(small: FilesPart, large: FilesPart) -> FilesData {
        FilesData {
            profile: "help-pages".to_owned(),
            flush: FlushTime::AtEnd,
            cluster: Bytes::kib(32),
            filesystem: "vfat".to_owned(),
            cold: ColdBy::Advice,
            instead: Vec::new(),
            link: None,
            rounds: vec![FilesRound { small, large }],
        }
    }

    #[test]
    fn rounds_are_settled_once_they_agree() {
        let settled = |seconds: &[f64]| {
            let round = |seconds: &f64| FilesRound {
                small: part(*seconds, 1000, 20.0, 1.0),
                large: part(1.0, 100, 10.0, 1.0),
            };
            let one = data(part(1.0, 1, 1.0, 1.0), part(1.0, 1, 1.0, 1.0));
            files_are_settled(&FilesData { rounds: seconds.iter().map(round).collect(), ..one })
        };
        assert!(settled(&[10.0, 10.5, 10.2]));
        assert!(!settled(&[]), "nothing is known");
        assert!(!settled(&[10.0, 10.5, 14.0]), "a stall, or not");
        let many = [10.0, 10.5, 14.0, 10.1, 10.2, 10.3, 10.4, 10.5];
        assert!(!settled(&many) && settled(&[&many[..], &[10.2]].concat()), "a value seen once is left out");
    }

    fn cause_of(small: FilesPart, large: FilesPart) -> FilesCause {
        files_verdict(&data(small, large)).unwrap().cause
    }

    #[test]
    fn the_largest_factor_names_the_cause() {
        let large = || part(2.0, 80, 10.0, 1.9);
        let small_writes = cause_of(part(40.0, 1000, 11.0, 39.0), large());
        assert!(
            matches!(small_writes, FilesCause::SmallWrites { factor, .. } if (17.0..20.0).contains(&factor))
        );
        let tables = |cluster| {
            let mut data = data(part(12.0, 1000, 50.0, 11.0), large());
            data.cluster = cluster;
            match files_verdict(&data).unwrap().cause {
                FilesCause::Tables { rounded, .. } => Some(rounded),
                _ => None,
            }
        };
        assert_eq!(
            tables(Bytes::kib(32)),
            Some(Bytes::new(10_000_000)),
            "the rest of a cluster is not written"
        );
        assert_eq!(tables(Bytes::kib(4)), Some(Bytes::new(40_000_000)), "the rest of a page is");
        let host = cause_of(part(40.0, 100, 10.0, 2.0), large());
        assert!(matches!(host, FilesCause::Host { busy, .. } if busy == 0.05), "{host:?}");
        assert_eq!(cause_of(part(2.5, 1000, 12.0, 2.4), large()), FilesCause::None);
    }

    #[test]
    fn uncounted_requests_and_several_causes_are_unknown() {
        let large = part(2.0, 80, 10.0, 1.9);
        let uncounted = FilesPart { writes: None, ..part(40.0, 0, 0.0, 0.0) };
        assert!(matches!(cause_of(uncounted, large.clone()), FilesCause::Unknown { .. }));
        let nothing_came = part(40.0, 0, 0.0, 0.0);
        assert!(matches!(cause_of(nothing_came, large.clone()), FilesCause::Unknown { .. }));
        let of_each_a_part = cause_of(part(16.0, 1000, 20.0, 7.6), large);
        assert!(matches!(of_each_a_part, FilesCause::Unknown { .. }), "{of_each_a_part:?}");
    }

    #[test]
    fn a_speed_above_the_link_gives_no_cause() {
        // 10 MB in 40 s and in 2 s.
        let link =
            |bytes_per_s| Some(LinkLimit { bytes_per_s: Bytes::new(bytes_per_s), name: "a link".to_owned() });
        let seen = data(part(40.0, 1000, 11.0, 39.0), part(2.0, 80, 10.0, 1.9));
        let slow = FilesData { link: link(1_216_000), ..seen.clone() };
        assert!(matches!(files_verdict(&slow).unwrap().cause, FilesCause::Cached { .. }));
        let [small, large] =
            [files_speed(&slow, |round| &round.small), files_speed(&slow, |round| &round.large)];
        assert_eq!((small.unwrap().write_cached, large.clone().unwrap().read_cached.is_some()), (None, true));
        let by_link = large.unwrap().write_cached;
        assert!(matches!(&by_link, Some(Cached::Link { name, .. }) if name == "a link"), "{by_link:?}");
        let fast = FilesData { link: link(42_000_000), ..seen };
        assert!(matches!(files_verdict(&fast).unwrap().cause, FilesCause::SmallWrites { .. }));
    }

    /// 1000 files in 10 MB are durable after 4 s, and read back in 2 s.
    #[test]
    fn speeds_of_writes_and_of_reads_are_over_their_own_times() {
        let seen = data(part(4.0, 1000, 10.0, 1.0), part(2.0, 80, 10.0, 1.9));
        let speed = files_speed(&seen, |round| &round.small).unwrap();
        let figures = [speed.files_per_s, speed.bytes_per_s, speed.read_files_per_s, speed.read_bytes_per_s];
        for (figure, truth) in figures.into_iter().zip([250.0, 2.5e6, 500.0, 5e6]) {
            assert!((figure.median / truth - 1.0).abs() < 1e-9, "{figure:?} instead of {truth}");
        }
    }

    #[test]
    fn reads_from_memory_are_marked_and_bloat_is_reported() {
        let seen = data(FilesPart { warm: Some(0.5), ..part(4.0, 9, 10.0, 1.0) }, part(2.0, 80, 2.0, 1.9));
        let small = files_speed(&seen, |round| &round.small).unwrap();
        assert_eq!((small.read_cached, small.bloat), (Some(Cached::InMemory { share: 0.5 }), 4.0));
        let large = files_speed(&seen, |round| &round.large).unwrap();
        assert!(matches!(large.read_cached, Some(Cached::PartlyRead { .. })));
        assert_eq!(files_verdict(&seen).unwrap().bloat, Some(4.0));
        assert!(files_verdict(&FilesData { rounds: Vec::new(), ..seen }).is_none());
    }
}
