//! The document of `bench files`.

use flashscope_infer::files::comparison::{FilesCause, FilesSpeed, files_verdict};
use flashscope_infer::statistics::quantile;
use flashscope_record::observation::{ColdBy, FilesData, FilesPart, FilesRound, FlushTime, Instead, Traffic};
use flashscope_record::observation::{Ended, Observations};
use flashscope_record::run_file::RunFile;
use flashscope_report::files::{conditions, headline, reasons, speeds};
use flashscope_report::words;
use schemars::JsonSchema;
use serde::Serialize;

use super::backing::LinkLimitDocument;
use super::body::Body;
use super::ended::EndedDocument;
use super::spread::SpreadDocument;

/// Many small files compared with one large file of the same total size.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BenchFilesDocument {
    /// The directory.
    pub target: String,
    /// When it was measured (UTC, RFC 3339).
    pub measured_at: String,
    /// The random seed of sizes and data.
    pub seed: u64,
    /// The profile of the files, or the directory they are modelled on.
    pub profile: String,
    /// The filesystem, for example `vfat`; empty if unknown.
    pub filesystem: String,
    /// The cluster size of the filesystem.
    pub cluster_bytes: u64,
    /// When data was flushed.
    pub flush: FlushDocument,
    /// How the page cache was emptied before reads.
    pub cold: ColdDocument,
    /// What was measured instead of a removable device; empty for a removable device.
    pub instead: Vec<Instead>,
    /// The speed limit of the path to the device; null if unknown.
    pub link: Option<LinkLimitDocument>,
    /// How many rounds were completed.
    pub rounds: usize,
    /// The result in one sentence.
    pub verdict: String,
    /// Why small files are slow; null without a round.
    pub cause: Option<FilesCauseDocument>,
    /// The time of the small files divided by the time of the large file.
    pub ratio: Option<SpreadDocument>,
    /// The reasons, one sentence each.
    pub why: Vec<String>,
    /// The conditions, one sentence each.
    pub how: Vec<String>,
    /// The small files; null without a round.
    pub small: Option<FilesPartDocument>,
    /// The large file; null without a round.
    pub large: Option<FilesPartDocument>,
    /// How the measurement ended.
    pub ended: [EndedDocument; 1],
}

/// When data was flushed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlushDocument {
    /// Once, after the last file (syncfs).
    AtEnd,
    /// After each file as well (fsync).
    EachFile,
}

/// How the page cache was emptied before reads.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColdDocument {
    /// By advice for each file; directories may have stayed in memory.
    Advice,
    /// Completely, as root.
    Drop,
}

/// Why small files are slow.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilesCauseDocument {
    /// They are hardly slower than one large file.
    None,
    /// The device takes longer for each byte, because its writes are small.
    SmallWrites,
    /// The filesystem writes more bytes: metadata and partly filled clusters.
    Filesystem,
    /// The host takes the time, not the device.
    Host,
    /// The speed is a cache's.
    Cached,
    /// Unknown.
    Unknown,
}

/// Files that were written, read back and removed. Lists have one element a round.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FilesPartDocument {
    /// How many files.
    pub files: u32,
    /// Their total size.
    pub bytes: u64,
    /// The space allocated for them.
    pub allocated_bytes: u64,
    /// Allocated bytes per byte.
    pub bloat: f64,
    /// The time until all data was durable.
    pub durable_seconds: SpreadDocument,
    /// The time until the last file was closed, by round.
    pub closed_seconds: Vec<f64>,
    /// The time of the final flush, by round.
    pub flush_seconds: Vec<f64>,
    /// The time to read them back, by round.
    pub read_seconds: Vec<f64>,
    /// The time to remove them, with a flush, by round.
    pub removed_seconds: Vec<f64>,
    /// Files per second until durable.
    pub files_per_s: SpreadDocument,
    /// Bytes per second until durable.
    pub bytes_per_s: SpreadDocument,
    /// Bytes per second read.
    pub read_bytes_per_s: SpreadDocument,
    /// Files per second read.
    pub read_files_per_s: SpreadDocument,
    /// Why the read speed is a cache's; null if it is not.
    pub cached: Option<String>,
    /// Why the write speed is a cache's; null if it is not.
    pub write_cached: Option<String>,
    /// The time to write and close one file, seconds; null if not measured.
    pub each_closed_s: Option<PercentilesDocument>,
    /// The time to read one file, seconds; null if not measured.
    pub each_read_s: Option<PercentilesDocument>,
    /// The share of pages still in memory when reading started, from 0 to 1, by round; null if unknown.
    pub warm: Vec<Option<f64>>,
    /// Requests that reached the device while writing, by round; null if not counted.
    pub writes: Vec<Option<TrafficDocument>>,
    /// Requests that reached the device while reading, by round; null if not counted.
    pub reads: Vec<Option<TrafficDocument>>,
    /// How many files did not hold what was written to them.
    pub wrong_files: u32,
}

/// Percentiles.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PercentilesDocument {
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
}

/// Requests that reached a device.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrafficDocument {
    /// How many.
    pub requests: u64,
    /// How many bytes they carried.
    pub bytes: u64,
    /// How long the device was busy, seconds.
    pub busy_s: f64,
}

impl Body for BenchFilesDocument {
    const NAME: &'static str = "bench-files";
    const COMMANDS: &'static str = "bench files, and report for its run files";
}

impl BenchFilesDocument {
    /// The document of `data`, which `seen` holds.
    pub fn new(run: &RunFile, seen: &Observations, data: &FilesData) -> Self {
        let verdict = files_verdict(data);
        let [small, large] = speeds(data);
        let ended: &Ended = &seen.ended;
        Self {
            target: run.target.clone(),
            measured_at: run.measured_at.clone(),
            seed: seen.conditions.seed,
            profile: data.profile.clone(),
            filesystem: data.filesystem.clone(),
            cluster_bytes: data.cluster.get(),
            flush: match data.flush {
                FlushTime::AtEnd => FlushDocument::AtEnd,
                FlushTime::EachFile => FlushDocument::EachFile,
            },
            cold: match data.cold {
                ColdBy::Advice => ColdDocument::Advice,
                ColdBy::Drop => ColdDocument::Drop,
            },
            instead: data.instead.clone(),
            link: data.link.as_ref().map(LinkLimitDocument::from),
            rounds: data.rounds.len(),
            verdict: headline(data).to_string(),
            cause: verdict.as_ref().map(|verdict| FilesCauseDocument::from(&verdict.cause)),
            ratio: verdict.as_ref().map(|verdict| SpreadDocument::from(verdict.ratio)),
            why: reasons(data).iter().map(ToString::to_string).collect(),
            how: conditions(data).iter().map(ToString::to_string).collect(),
            small: FilesPartDocument::new(data, small.as_ref(), |round| &round.small),
            large: FilesPartDocument::new(data, large.as_ref(), |round| &round.large),
            ended: [EndedDocument::from(ended)],
        }
    }
}

impl From<&FilesCause> for FilesCauseDocument {
    fn from(cause: &FilesCause) -> Self {
        match cause {
            FilesCause::None => Self::None,
            FilesCause::SmallWrites { .. } => Self::SmallWrites,
            FilesCause::Tables { .. } => Self::Filesystem,
            FilesCause::Host { .. } => Self::Host,
            FilesCause::Cached { .. } => Self::Cached,
            FilesCause::Unknown { .. } => Self::Unknown,
        }
    }
}

impl FilesPartDocument {
    fn new(
        data: &FilesData,
        speed: Option<&FilesSpeed>,
        part_of: fn(&FilesRound) -> &FilesPart,
    ) -> Option<Self> {
        let (speed, first) = (speed?, data.rounds.first().map(part_of)?);
        let parts = || data.rounds.iter().map(part_of);
        let by_round = |seconds: fn(&FilesPart) -> f64| parts().map(seconds).collect();
        let percentiles = |times_ns: fn(&FilesPart) -> &Vec<u64>| {
            let seconds: Vec<f64> = parts().flat_map(times_ns).map(|each| *each as f64 / 1e9).collect();
            PercentilesDocument::of(&seconds)
        };
        let traffic = |traffic: Option<Traffic>| traffic.map(TrafficDocument::from);
        Some(Self {
            files: first.files,
            bytes: first.bytes.get(),
            allocated_bytes: first.allocated.get(),
            bloat: speed.bloat,
            durable_seconds: speed.durable_s.into(),
            closed_seconds: by_round(|part| part.made_s),
            flush_seconds: by_round(|part| part.flush_s),
            read_seconds: by_round(|part| part.read_s),
            removed_seconds: by_round(|part| part.removed_s),
            files_per_s: speed.files_per_s.into(),
            bytes_per_s: speed.bytes_per_s.into(),
            read_bytes_per_s: speed.read_bytes_per_s.into(),
            read_files_per_s: speed.read_files_per_s.into(),
            cached: speed.read_cached.as_ref().map(words::cached),
            write_cached: speed.write_cached.as_ref().map(words::cached),
            each_closed_s: percentiles(|part| &part.each_made_ns),
            each_read_s: percentiles(|part| &part.each_read_ns),
            warm: parts().map(|part| part.warm).collect(),
            writes: parts().map(|part| traffic(part.writes)).collect(),
            reads: parts().map(|part| traffic(part.reads)).collect(),
            wrong_files: parts().map(|part| part.wrong).sum(),
        })
    }
}

impl PercentilesDocument {
    /// `None` without values.
    fn of(values: &[f64]) -> Option<Self> {
        let at = |share| quantile(values, share);
        Some(Self { p50: at(0.5)?, p90: at(0.9), p99: at(0.99), max: at(1.0) })
    }
}

impl From<Traffic> for TrafficDocument {
    fn from(traffic: Traffic) -> Self {
        Self { requests: traffic.requests, bytes: traffic.bytes.get(), busy_s: traffic.busy_s }
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;

    /// Files that were made and read in these times, nanoseconds.
    fn part(each_made_ns: &[u64], each_read_ns: &[u64]) -> FilesPart {
        FilesPart {
            files: 2,
            bytes: Bytes::mib(1),
            allocated: Bytes::mib(2),
            made_s: 3.0,
            flush_s: 1.0,
            read_s: 4.0,
            removed_s: 1.0,
            each_made_ns: each_made_ns.to_vec(),
            each_read_ns: each_read_ns.to_vec(),
            warm: None,
            wrong: 0,
            writes: None,
            reads: None,
        }
    }

    #[test]
    fn times_of_single_files_are_in_seconds_over_all_rounds() {
        let round = |small| FilesRound { small, large: part(&[], &[]) };
        let data = FilesData {
            profile: "help-pages".to_owned(),
            flush: FlushTime::AtEnd,
            cluster: Bytes::kib(32),
            filesystem: "vfat".to_owned(),
            cold: ColdBy::Drop,
            instead: Vec::new(),
            link: None,
            rounds: vec![
                round(part(&[250_000_000, 1_500_000_000], &[2_000_000_000, 500_000_000])),
                round(part(&[500_000_000], &[1_000_000_000])),
            ],
        };
        let [small, large] = speeds(&data);
        let small = FilesPartDocument::new(&data, small.as_ref(), |round| &round.small).unwrap();
        let shown = |times: Option<PercentilesDocument>| times.map(|times| (times.p50, times.max));
        assert_eq!(shown(small.each_closed_s), Some((0.5, Some(1.5))));
        assert_eq!(shown(small.each_read_s), Some((1.0, Some(2.0))));
        let large = FilesPartDocument::new(&data, large.as_ref(), |round| &round.large).unwrap();
        assert_eq!((shown(large.each_closed_s), shown(large.each_read_s)), (None, None));
    }
}
