//! Many small files compared with one large file of the same bytes: a verdict, a table, and the cause.

use flashscope_infer::files::comparison::{
    FilesCause, FilesSpeed, FilesVerdict, Spread, UnknownCause, files_speed, files_verdict, is_written_whole,
};
use flashscope_infer::statistics::quantile;
use flashscope_record::observation::{ColdBy, FilesData, FilesPart, FilesRound, FlushTime, Instead, Traffic};

use crate::bench_report::BenchReport;
use crate::chart::Table;
use crate::words::{IN_MEMORY, NO_ROUND, Sentence};
use crate::{quantity, words};

/// The least ratio between the rounds' highest and lowest figure at which the range is shown. Guess: 20 %.
const ROUNDS_RATIO_MIN: f64 = 1.2;

/// The verdict in one sentence; `unknown` without a complete round.
#[must_use]
pub fn headline(data: &FilesData) -> Sentence {
    let text = match (files_verdict(data), data.rounds.first()) {
        _ if data.instead.contains(&Instead::Memory) => IN_MEMORY.to_owned(),
        (Some(FilesVerdict { cause: FilesCause::Cached { reason }, .. }), _) => {
            format!("unknown: the writes were cached, not durable ({})", words::cached(&reason))
        }
        (Some(verdict), Some(round)) => {
            format!("{}{}", comparison(&verdict, round, data), cause(&verdict, data))
        }
        _ => NO_ROUND.to_owned(),
    };
    Sentence::new(text)
}

fn comparison(verdict: &FilesVerdict, round: &FilesRound, data: &FilesData) -> String {
    let many = quantity::counted(round.small.files.into(), "file");
    let take = if round.small.files == 1 { "takes" } else { "take" };
    let durable = |of: fn(&FilesRound) -> &FilesPart| {
        files_speed(data, of).map_or_else(String::new, |speed| quantity::seconds(speed.durable_s.median))
    };
    let (small, large) = (durable(|round| &round.small), durable(|round| &round.large));
    if verdict.cause == FilesCause::None {
        return format!("{many} {take} about as long as one file of the same size: {small} and {large}");
    }
    let ratio = ratio(verdict.ratio);
    format!("{many} {take} {ratio} as long as one file of the same size, {small} instead of {large}")
}

/// `16 times`; with the range where rounds differ: the median of their ratios is not the ratio of their
/// medians.
fn ratio(ratio: Spread) -> String {
    let [median, low, high] = [ratio.median, ratio.low, ratio.high].map(quantity::ratio);
    if ratio.high < ratio.low * ROUNDS_RATIO_MIN {
        return format!("{median} times");
    }
    format!("{median} times (rounds: {low} to {high})")
}

fn cause(verdict: &FilesVerdict, data: &FilesData) -> String {
    match &verdict.cause {
        FilesCause::SmallWrites { .. } if data.instead.iter().any(|instead| is_not_removable(*instead)) => {
            ": small writes are slow there; this is not a removable device".to_owned()
        }
        FilesCause::None | FilesCause::Cached { .. } => String::new(),
        FilesCause::SmallWrites { .. } => ": small writes are slow on this controller".to_owned(),
        FilesCause::Tables { bytes, rounded, factor, .. }
            if rounded.as_f64() / bytes.as_f64() > factor.sqrt() =>
        {
            ": each file is written in whole blocks".to_owned()
        }
        FilesCause::Tables { .. } => ": writing filesystem metadata takes the time".to_owned(),
        FilesCause::Host { .. } => {
            ": the device is idle most of the time, waiting for programs and the filesystem".to_owned()
        }
        FilesCause::Unknown { reason: UnknownCause::NotCounted } => {
            "; cause unknown: the kernel does not count requests to this storage".to_owned()
        }
        FilesCause::Unknown { reason: UnknownCause::NoSingleCause } => {
            "; cause unknown: no single cause explains most of the difference".to_owned()
        }
    }
}

/// What is measured where the directory is not on a stick.
#[must_use]
pub const fn not_a_stick(instead: Instead) -> &'static str {
    match instead {
        Instead::Memory => "the directory is in memory (tmpfs): this measures memory, not a stick",
        Instead::Network => {
            "the directory is on another machine: this measures the network and that machine, not a stick"
        }
        Instead::Overlay => {
            "the directory is on an overlay: this measures the overlay and the filesystem below it"
        }
        Instead::UserSpace => {
            "the filesystem is a program (FUSE): this measures that program and the storage below it"
        }
        Instead::SystemDisk => {
            "the directory is on the system disk: this measures that disk and its other users"
        }
    }
}

/// Whether the files were not on a removable device.
const fn is_not_removable(instead: Instead) -> bool {
    matches!(instead, Instead::Memory | Instead::Network | Instead::SystemDisk)
}

/// The evidence for the verdict, the space used, damaged files, and figures that are not counted.
#[must_use]
pub fn reasons(data: &FilesData) -> Vec<Sentence> {
    let verdict = files_verdict(data);
    let [small, large] = speeds(data);
    let cached =
        [("the small files", small), ("the one file", large)].into_iter().filter_map(|(name, speed)| {
            let reason = words::cached(&speed?.read_cached?);
            Some(format!("reading {name} back is cached ({reason}); not counted"))
        });
    let parts = [
        verdict.as_ref().and_then(|verdict| evidence(verdict, data)),
        verdict.as_ref().and_then(|verdict| space(verdict, data)),
        damaged(data),
    ];
    parts.into_iter().flatten().chain(cached).map(Sentence::new).collect()
}

fn evidence(verdict: &FilesVerdict, data: &FilesData) -> Option<String> {
    let round = if data.rounds.len() > 1 { " (mean of all rounds)" } else { "" };
    match &verdict.cause {
        FilesCause::SmallWrites { small, large, factor } => Some(format!(
            "small files: {}; one file: {}{round}. A byte takes {} times as long in the small writes",
            writes(small),
            writes(large),
            quantity::ratio(*factor)
        )),
        FilesCause::Tables { small, bytes, rounded, factor } => Some(format!(
            "{} written to the device for {bytes} of files{}{round}, {} times as much as for one file: the rest is directories and metadata",
            small.bytes,
            if rounded > bytes { format!(", {rounded} in whole blocks") } else { String::new() },
            quantity::ratio(*factor)
        )),
        FilesCause::Host { busy, factor } => Some(format!(
            "the device was busy for {:.0} % of the time; the files took {} times as long as one file",
            busy * 100.0,
            quantity::ratio(*factor)
        )),
        FilesCause::None | FilesCause::Cached { .. } | FilesCause::Unknown { .. } => None,
    }
}

/// `2,105 writes of 7.60 KiB, 98.4 ms each`. Busy time below one kernel tick is not shown.
fn writes(traffic: &Traffic) -> String {
    let each = traffic.requests.max(1) as f64;
    let size = quantity::three_digits(traffic.bytes.as_f64() / each / 1024.0);
    let time = if traffic.busy_s > 0.0 {
        format!(", {} each", quantity::seconds(traffic.busy_s / each))
    } else {
        String::new()
    };
    format!("{} of {size} KiB{time}", quantity::counted(traffic.requests, "write"))
}

fn space(verdict: &FilesVerdict, data: &FilesData) -> Option<String> {
    let small = &data.rounds.first()?.small;
    let times = quantity::three_digits(verdict.bloat?);
    let costs = if is_written_whole(data.cluster) {
        "clusters are written whole, which costs space and time"
    } else {
        "only their used bytes are written, which costs space but hardly time"
    };
    Some(format!(
        "space: {} for {} of files ({times} times), in clusters of {}; {costs}",
        small.allocated, small.bytes, data.cluster
    ))
}

fn damaged(data: &FilesData) -> Option<String> {
    let damaged: u32 = data.rounds.iter().map(|round| round.small.wrong + round.large.wrong).sum();
    let files = quantity::counted(damaged.into(), "file");
    (damaged > 0).then(|| {
        format!("{files} read back with wrong contents. Back up the data of this stick, and do not use it any more")
    })
}

/// How it was measured.
#[must_use]
pub fn conditions(data: &FilesData) -> Vec<Sentence> {
    let filesystem = if data.filesystem.is_empty() { "unknown" } else { &data.filesystem };
    let flush = match data.flush {
        FlushTime::AtEnd => "once, after all files were closed (syncfs)",
        FlushTime::EachFile => "after every file (fsync), and once at the end (syncfs)",
    };
    let cold = match data.cold {
        ColdBy::Drop => {
            "each file was dropped from the page cache (posix_fadvise), and the kernel dropped its caches (drop_caches)"
        }
        ColdBy::Advice => {
            "each file was dropped from the page cache (posix_fadvise). Directories and metadata may have stayed in memory: only root can drop them"
        }
    };
    let rounds = match data.rounds.len() {
        0 => "no round was completed".to_owned(),
        1 => "one round, so the spread is unknown".to_owned(),
        rounds => format!("{rounds} rounds: medians with their ranges; device writes are means"),
    };
    let texts = [
        format!("files: {}", data.profile),
        format!("filesystem: {filesystem}, clusters of {}", data.cluster),
        format!("flushed {flush}; times include the flush"),
        format!("read back cold: {cold}"),
        rounds,
    ];
    let instead = data.instead.iter().map(|instead| not_a_stick(*instead).to_owned());
    texts.into_iter().chain(instead).map(Sentence::new).collect()
}

/// The speeds of the small files, and of the one file.
#[must_use]
pub fn speeds(data: &FilesData) -> [Option<FilesSpeed>; 2] {
    [files_speed(data, |round| &round.small), files_speed(data, |round| &round.large)]
}

/// The report: verdict, table, cause and conditions.
#[must_use]
pub fn bench_report(data: &FilesData) -> BenchReport {
    BenchReport {
        headline: headline(data),
        title: "Files",
        table: table(data),
        lists: vec![("Why", reasons(data)), ("How it was measured", conditions(data))],
    }
}

fn table(data: &FilesData) -> Table {
    let header = ["", "small files", "one file"].map(str::to_owned).to_vec();
    let ([Some(small), Some(large)], Some(round)) = (speeds(data), data.rounds.first()) else {
        return Table { header, rows: Vec::new() };
    };
    let speeds = [&small, &large];
    let parts = [&round.small, &round.large];
    let row = |name: &str, [small, large]: [String; 2]| vec![name.to_owned(), small, large];
    let rows = vec![
        row("files", parts.map(|part| quantity::integer(part.files.into()))),
        row("size", parts.map(|part| part.bytes.to_string())),
        row("durable after", speeds.map(|speed| spread(speed.durable_s, quantity::seconds))),
        row("files per second", speeds.map(|speed| spread(speed.files_per_s, quantity::three_digits))),
        row("write speed", speeds.map(written)),
        row("read speed", speeds.map(read)),
        row(
            "read time per file",
            [each_read(data, |round| &round.small), each_read(data, |round| &round.large)],
        ),
        row("space used", parts.map(|part| part.allocated.to_string())),
        row(
            "writes to the device",
            speeds.map(|speed| speed.writes.as_ref().map_or_else(|| "unknown".to_owned(), writes)),
        ),
        row("deleted in", speeds.map(|speed| spread(speed.removed_s, quantity::seconds))),
    ];
    Table { header, rows }
}

/// The median and the 99th percentile over all files of all rounds.
fn each_read(data: &FilesData, of: fn(&FilesRound) -> &FilesPart) -> String {
    let all = data.rounds.iter().map(of).flat_map(|part| &part.each_read_ns);
    let times: Vec<f64> = all.map(|each| *each as f64 / 1e9).collect();
    match (quantile(&times, 0.5), quantile(&times, 0.99)) {
        (Some(median), Some(high)) => {
            format!("{}, 99 % within {}", quantity::seconds(median), quantity::seconds(high))
        }
        _ => "unknown".to_owned(),
    }
}

fn written(speed: &FilesSpeed) -> String {
    let mark = if speed.write_cached.is_some() { " (cached)" } else { "" };
    format!("{}{mark}", spread(speed.bytes_per_s, quantity::speed))
}

fn read(speed: &FilesSpeed) -> String {
    let mark = if speed.read_cached.is_some() { " (cached)" } else { "" };
    format!("{}{mark}", spread(speed.read_bytes_per_s, quantity::speed))
}

/// `210 s (205 to 214 s)`; one figure where all rounds are equal.
fn spread(spread: Spread, shown: fn(f64) -> String) -> String {
    let [median, low, high] = [spread.median, spread.low, spread.high].map(shown);
    if low == high { median } else { format!("{median} ({})", quantity::range(&low, &high)) }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::observation::{Instead, LinkLimit};

    use super::*;
    use crate::{Style, terminal};

    fn text(data: &FilesData, width: usize, style: Style) -> String {
        terminal::bench_text(&bench_report(data), width, style)
    }

    fn part(files: u32, made_s: f64, requests: u64) -> FilesPart {
        FilesPart {
            files,
            bytes: Bytes::mib(16),
            allocated: if files == 1 { Bytes::mib(16) } else { Bytes::mib(64) },
            made_s,
            flush_s: 0.0,
            read_s: 4.0,
            removed_s: 1.0,
            each_made_ns: Vec::new(),
            each_read_ns: vec![2_000_000; 10],
            warm: Some(0.0),
            wrong: 0,
            writes: Some(Traffic { requests, bytes: Bytes::mib(17), busy_s: made_s }),
            reads: None,
        }
    }

    fn sample(small_s: f64) -> FilesData {
        let round = FilesRound { small: part(2000, small_s, 2100), large: part(1, 10.0, 140) };
        FilesData {
            profile: "help-pages".to_owned(),
            flush: FlushTime::AtEnd,
            cluster: Bytes::kib(32),
            filesystem: "vfat".to_owned(),
            cold: ColdBy::Drop,
            instead: Vec::new(),
            link: None,
            rounds: vec![round],
        }
    }

    #[test]
    fn the_verdict_names_small_writes_and_the_space_used() {
        let text = text(&sample(160.0), 100, Style::Plain);
        let start = "2,000 files take 16 times as long as one file of the same size, 160 s instead of 10.0 s: small writes";
        assert!(text.replace('\n', " ").starts_with(start), "{text}");
        for words in [
            "2,100 writes of 8.29 KiB, 76.2 ms each",
            "64 MiB for 16 MiB of files (4.00 times)",
            "clusters of 32 KiB",
            "drop_caches",
        ] {
            assert!(text.replace("\n   ", "").contains(words), "{words}: {text}");
        }
    }

    #[test]
    fn device_writes_are_equal_in_table_and_evidence() {
        let mut data = sample(160.0);
        data.rounds.push(FilesRound { small: part(2000, 150.0, 1900), large: part(1, 9.0, 120) });
        let report = text(&data, 200, Style::Plain);
        for writes in ["2,000 writes of 8.70 KiB, 77.5 ms each", "130 writes of 134 KiB, 73.1 ms each"] {
            assert_eq!(report.matches(writes).count(), 2, "{writes}: {report}");
        }
        assert!(report.contains("(mean of all rounds). A byte"), "{report}");
        data.rounds.push(FilesRound { small: part(2000, 150.0, 1900), large: part(1, 5.0, 120) });
        let report = headline(&data);
        let differ =
            "take 17 times (rounds: 16 to 30) as long as one file of the same size, 150 s instead of 9.00 s";
        assert!(report.as_str().contains(differ), "{report:?}");
    }

    #[test]
    fn time_to_read_a_file_is_the_median_of_all_rounds_and_what_99_per_cent_need() {
        let milliseconds = |range: std::ops::RangeInclusive<u64>| -> Vec<u64> {
            range.map(|milliseconds| milliseconds * 1_000_000).collect()
        };
        let mut data = sample(160.0);
        data.rounds.push(data.rounds[0].clone());
        data.rounds[0].small.each_read_ns = milliseconds(1..=50);
        data.rounds[1].small.each_read_ns = milliseconds(51..=101);
        let report = text(&data, 200, Style::Plain);
        for time in ["51.0 ms, 99 % within 100 ms", "2.00 ms, 99 % within 2.00 ms"] {
            assert!(report.contains(time), "{time}: {report}");
        }
        data.rounds.iter_mut().for_each(|round| round.large.each_read_ns.clear());
        assert_eq!(each_read(&data, |round| &round.large), "unknown");
    }

    #[test]
    fn whole_blocks_are_not_reported_as_metadata() {
        let mut data = sample(44.0);
        data.cluster = Bytes::kib(4);
        let small = &mut data.rounds[0].small;
        small.writes = Some(Traffic { requests: 560, bytes: Bytes::mib(70), busy_s: 44.0 });
        assert!(
            headline(&data).as_str().contains("each file is written in whole blocks"),
            "{:?}",
            headline(&data)
        );
        let report = format!("{:?}", reasons(&data));
        assert!(
            report.contains("16 MiB of files, 64 MiB in whole blocks") && report.contains("space and time"),
            "{report}"
        );
        data.cluster = Bytes::kib(32);
        assert!(headline(&data).as_str().contains("filesystem metadata takes the time"));
    }

    #[test]
    fn equal_times_other_storage_and_cached_reads_are_reported() {
        assert!(headline(&sample(12.0)).as_str().starts_with("2,000 files take about as long"));
        let mut data = sample(160.0);
        assert!(headline(&data).as_str().contains("on this controller"));
        data.instead.push(Instead::SystemDisk);
        assert!(headline(&data).as_str().contains("this is not a removable device"));
        data.rounds[0].small.warm = Some(0.7);
        data.rounds[0].small.wrong = 3;
        let report = format!("{:?}{:?}", reasons(&data), conditions(&data));
        for words in ["on the system disk", "70 % of the pages", "3 files read back with wrong contents"] {
            assert!(report.contains(words), "{words}: {report}");
        }
        data.rounds[0].small.writes = None;
        assert!(headline(&data).as_str().contains("cause unknown"));
        // 16 MiB in 10 s are more than USB full speed carries.
        data.link =
            Some(LinkLimit { bytes_per_s: Bytes::new(1_216_000), name: "USB at 12 Mbit/s".to_owned() });
        let report = text(&data, 80, Style::Plain);
        assert!(
            report.starts_with("Unknown: the writes were cached") && report.contains("(cached)"),
            "{report}"
        );
        data.rounds.clear();
        assert!(text(&data, 80, Style::Plain).starts_with("Unknown: no round"));
    }
}
