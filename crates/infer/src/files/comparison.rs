//! Why many small files take longer than one large file of the same bytes.
//!
//! The time until the data is there is a product: bytes that reach the device, times how long the device is busy with a byte, times
//! how much longer all of it takes than the device is busy. So the ratio of two such times is the product of three ratios, and the
//! largest of them names the cause.

use flashscope_device::Bytes;

use flashscope_record::observation::{FilesData, FilesPart, FilesRound, Traffic};

use crate::files::write_methods::{around_median, is_narrow};
use crate::statistics::median;
use crate::streams::speed::impossible;

/// Small files that take no longer than this many times as long cost nothing worth a cause.
const RATIO_MIN: f64 = 1.5;
/// A cause is named if its factor is as large, and holds this share of the logarithm of the whole.
const FACTOR_MIN: f64 = 1.3;
const SHARE_MIN: f64 = 0.4;
/// Reads of files of which more than this share was still in memory are no reads of the device.
const WARM_MAX: f64 = 0.02;
/// Space above this many times the bytes is worth a sentence.
const BLOAT_MIN: f64 = 1.5;

/// A figure of each round: the middle, and what it lies between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The median of the rounds.
    pub median: f64,
    /// The least, or the lower end of an interval.
    pub low: f64,
    /// The most, or the upper end.
    pub high: f64,
}

impl Spread {
    /// Of the figures of all rounds; `None` without one.
    #[must_use]
    pub fn of(figures: impl Iterator<Item = f64>) -> Option<Self> {
        let figures: Vec<f64> = figures.filter(|figure| figure.is_finite()).collect();
        let median = median(&figures)?;
        let low = figures.iter().copied().fold(f64::INFINITY, f64::min);
        let high = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Self { median, low, high })
    }
}

/// How fast files of one kind were, over all rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesSpeed {
    /// Seconds until the data was there.
    pub durable_s: Spread,
    /// Files a second, until the data was there.
    pub files_per_s: Spread,
    /// Bytes a second, until the data was there.
    pub bytes_per_s: Spread,
    /// Bytes a second, read back.
    pub read_bytes_per_s: Spread,
    /// Files a second, read back.
    pub read_files_per_s: Spread,
    /// Why the data cannot have been there when a flush said so, where it cannot.
    pub write_cached: Option<String>,
    /// Why the reads are none of the device, where they cannot be.
    pub read_cached: Option<String>,
    /// Bytes of space for each byte.
    pub bloat: f64,
    /// What reached the device in a round, in the mean of all; `None` where that was not counted.
    pub writes: Option<Traffic>,
    /// Seconds until they were gone again.
    pub removed_s: Spread,
}

/// How fast files were that `of` picks from each round; `None` without rounds.
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

/// Why data cannot have been on the device when a flush said so.
fn not_written(data: &FilesData, part: &FilesPart) -> Option<String> {
    not_carried(data, part.durable_s(), part)
}

/// Why what files hold cannot have come through in so many seconds.
fn not_carried(data: &FilesData, seconds: f64, part: &FilesPart) -> Option<String> {
    data.link.as_ref().and_then(|link| impossible(part.bytes.as_f64() / seconds, link))
}

/// Why reads were none of the device: what was in memory needs no device, and what a device did not carry it did not read.
fn cached(part: &FilesPart) -> Option<String> {
    if let Some(warm) = part.warm.filter(|warm| *warm > WARM_MAX) {
        return Some(format!("{:.0} % of the pages were still in memory", warm * 100.0));
    }
    let carried = part.reads?.bytes;
    (carried.as_f64() < part.bytes.as_f64() * (1.0 - WARM_MAX))
        .then(|| format!("only {carried} of {} came from the device", part.bytes))
}

/// Why the small files take as long as they do.
#[derive(Debug, Clone, PartialEq)]
pub enum FilesCause {
    /// They take hardly longer than one large file.
    None,
    /// The device takes longer for each byte: its writes are small, and cost more than their bytes.
    SmallWrites {
        /// What the small files sent to it in a round, in the mean of all.
        small: Traffic,
        /// The same of the large file.
        large: Traffic,
        /// How many times as long a byte takes.
        factor: f64,
    },
    /// More bytes reach the device: the filesystem writes its tables along, and whole blocks for parts.
    Tables {
        /// What the small files sent to it in a round, in the mean of all.
        small: Traffic,
        /// What they hold.
        bytes: Bytes,
        /// The same in whole blocks, as the system writes it.
        rounded: Bytes,
        /// How many times as many bytes.
        factor: f64,
    },
    /// The device waits: programs and the filesystem take the time.
    Host {
        /// The share of the time in which the device was busy.
        busy: f64,
        /// How many times as long it takes for the same business.
        factor: f64,
    },
    /// They were said to be there faster than anything reaches the device: there is nothing to compare.
    Cached {
        /// What does not carry as much.
        reason: String,
    },
    /// It is not known.
    Unknown {
        /// Why.
        reason: &'static str,
    },
}

/// What many small files cost beside one large file.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesVerdict {
    /// How many times as long they take until they are there.
    pub ratio: Spread,
    /// Why.
    pub cause: FilesCause,
    /// Bytes of space for each byte, where that is worth a word.
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

/// Whether it is known well enough how many times as long small files take, so that further rounds tell nothing more.
#[must_use]
pub fn files_are_settled(data: &FilesData) -> bool {
    around_median(&ratios(data).collect::<Vec<_>>()).as_ref().is_some_and(is_narrow)
}

/// How many times as long the small files of each round took.
fn ratios(data: &FilesData) -> impl Iterator<Item = f64> {
    data.rounds.iter().map(|round| round.small.durable_s() / round.large.durable_s())
}

fn cause(data: &FilesData, ratio: f64) -> FilesCause {
    let mut parts = data.rounds.iter().flat_map(|round| [&round.small, &round.large]);
    if let Some(reason) = parts.find_map(|part| not_written(data, part)) {
        return FilesCause::Cached { reason };
    }
    if ratio < RATIO_MIN {
        return FilesCause::None;
    }
    let mean = |of: fn(&FilesRound) -> &FilesPart| {
        let parts: Vec<&FilesPart> = data.rounds.iter().map(of).collect();
        Mean::of(&parts).filter(Mean::is_seen)
    };
    match (mean(|round| &round.small), mean(|round| &round.large)) {
        (Some(small), Some(large)) => largest(&small, &large, data.cluster),
        _ => FilesCause::Unknown { reason: "the kernel does not count the requests of what it lies on" },
    }
}

/// The largest of the three factors, if it says most of the whole.
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
        FilesCause::Unknown { reason: "no single cause says most of it" }
    }
}

/// Whether the system writes the whole of a cluster of which a file fills a part: it writes pages, of which it writes nothing twice.
#[must_use]
pub fn is_written_whole(cluster: Bytes) -> bool {
    cluster <= PAGE
}

/// The system's page, on nearly all machines.
const PAGE: Bytes = Bytes::kib(4);

/// A round of one kind, in the mean of all.
struct Mean {
    traffic: Traffic,
    bytes: Bytes,
    allocated: Bytes,
    durable_s: f64,
}

impl Mean {
    /// `None` where something was not counted, or without a round.
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

    /// Whether anything came of it.
    fn is_seen(&self) -> bool {
        let traffic = &self.traffic;
        traffic.requests > 0 && !traffic.bytes.is_zero() && traffic.busy_s > 0.0
    }

    fn busy_per_byte(&self) -> f64 {
        self.traffic.busy_s / self.traffic.bytes.as_f64()
    }

    /// How much longer all of it took than the device was busy.
    fn waits(&self) -> f64 {
        self.durable_s / self.traffic.busy_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_record::observation::{ColdBy, FlushTime, LinkLimit};

    /// 1000 files in 10 MB that take `seconds`, in `requests` of `megabytes` in all, while the device is busy for `busy`.
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
    fn rounds_are_enough_once_they_agree() {
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
        assert!(!settled(&many) && settled(&[&many[..], &[10.2]].concat()), "what was seen once is left out");
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
    fn what_nobody_counted_and_what_has_no_single_cause_is_unknown() {
        let large = part(2.0, 80, 10.0, 1.9);
        let uncounted = FilesPart { writes: None, ..part(40.0, 0, 0.0, 0.0) };
        assert!(matches!(cause_of(uncounted, large.clone()), FilesCause::Unknown { .. }));
        let nothing_came = part(40.0, 0, 0.0, 0.0);
        assert!(matches!(cause_of(nothing_came, large.clone()), FilesCause::Unknown { .. }));
        let of_each_a_part = cause_of(part(16.0, 1000, 20.0, 7.6), large);
        assert!(matches!(of_each_a_part, FilesCause::Unknown { .. }), "{of_each_a_part:?}");
    }

    #[test]
    fn what_the_link_cannot_carry_is_no_verdict() {
        // 10 MB in 40 s and in 2 s.
        let link =
            |bytes_per_s| Some(LinkLimit { bytes_per_s: Bytes::new(bytes_per_s), name: "a link".to_owned() });
        let seen = data(part(40.0, 1000, 11.0, 39.0), part(2.0, 80, 10.0, 1.9));
        let slow = FilesData { link: link(1_216_000), ..seen.clone() };
        assert!(matches!(files_verdict(&slow).unwrap().cause, FilesCause::Cached { .. }));
        let [small, large] =
            [files_speed(&slow, |round| &round.small), files_speed(&slow, |round| &round.large)];
        assert_eq!((small.unwrap().write_cached, large.clone().unwrap().read_cached.is_some()), (None, true));
        assert!(large.unwrap().write_cached.unwrap().contains("a link carries"));
        let fast = FilesData { link: link(42_000_000), ..seen };
        assert!(matches!(files_verdict(&fast).unwrap().cause, FilesCause::SmallWrites { .. }));
    }

    #[test]
    fn reads_out_of_memory_are_marked_and_space_is_told() {
        let seen = data(FilesPart { warm: Some(0.5), ..part(4.0, 9, 10.0, 1.0) }, part(2.0, 80, 2.0, 1.9));
        let small = files_speed(&seen, |round| &round.small).unwrap();
        assert!(small.read_cached.unwrap().contains("50 %") && small.bloat == 4.0);
        let large = files_speed(&seen, |round| &round.large).unwrap();
        assert!(large.read_cached.unwrap().contains("came from the device"));
        assert_eq!(files_verdict(&seen).unwrap().bloat, Some(4.0));
        assert!(files_verdict(&FilesData { rounds: Vec::new(), ..seen }).is_none());
    }
}
