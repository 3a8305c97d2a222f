//! Many small files beside one large file: a verdict, a table, and why.

use flashscope_infer::files::comparison::{
    FilesCause, FilesSpeed, FilesVerdict, Spread, UnknownCause, files_speed, files_verdict, is_written_whole,
};
use flashscope_infer::statistics::quantile;
use flashscope_record::observation::{ColdBy, FilesData, FilesPart, FilesRound, FlushTime, Instead, Traffic};

use crate::chart::Table;
use crate::tabled::Tabled;
use crate::words::{IN_MEMORY, NO_ROUND, Sentence};
use crate::{quantity, words};

/// Ratios of rounds that are further apart are told with how far.
const ROUNDS_DIFFER: f64 = 1.2;

/// The verdict in one sentence; without a round, that there is none.
#[must_use]
pub fn headline(data: &FilesData) -> Sentence {
    let text = match (files_verdict(data), data.rounds.first()) {
        _ if data.instead.contains(&Instead::Memory) => IN_MEMORY.to_owned(),
        (Some(FilesVerdict { cause: FilesCause::Cached { reason }, .. }), _) => {
            format!("unknown: what was said to be written cannot be there: {}", words::cached(&reason))
        }
        (Some(verdict), Some(round)) => {
            format!("{}{}", how_much(&verdict, round, data), cause(&verdict, data))
        }
        _ => NO_ROUND.to_owned(),
    };
    Sentence::new(text)
}

fn how_much(verdict: &FilesVerdict, round: &FilesRound, data: &FilesData) -> String {
    let many = quantity::counted(round.small.files.into(), "file");
    let take = if round.small.files == 1 { "takes" } else { "take" };
    let of = |of: fn(&FilesRound) -> &FilesPart| {
        files_speed(data, of).map_or_else(String::new, |speed| quantity::seconds(speed.durable_s.median))
    };
    let (small, large) = (of(|round| &round.small), of(|round| &round.large));
    if verdict.cause == FilesCause::None {
        return format!("{many} {take} about as long as one file of the same bytes: {small}, and {large}");
    }
    let ratio = ratio(verdict.ratio);
    format!("{many} {take} {ratio} as long as one file of the same bytes, {small} instead of {large}")
}

/// `16 times`; where rounds differ, from how much to how much: the median of their ratios is not the ratio of their medians.
fn ratio(ratio: Spread) -> String {
    let [median, low, high] = [ratio.median, ratio.low, ratio.high].map(quantity::ratio);
    if ratio.high < ratio.low * ROUNDS_DIFFER {
        return format!("{median} times");
    }
    format!("{median} times ({low} to {high} from round to round)")
}

fn cause(verdict: &FilesVerdict, data: &FilesData) -> String {
    match &verdict.cause {
        FilesCause::SmallWrites { .. } if data.instead.iter().any(|instead| is_no_stick(*instead)) => {
            ": small writes are what costs there, on no stick".to_owned()
        }
        FilesCause::None | FilesCause::Cached { .. } => String::new(),
        FilesCause::SmallWrites { .. } => ": small writes on this controller are what costs".to_owned(),
        FilesCause::Tables { bytes, rounded, factor, .. }
            if rounded.as_f64() / bytes.as_f64() > factor.sqrt() =>
        {
            ": each file is written in whole blocks, which is what costs".to_owned()
        }
        FilesCause::Tables { .. } => ": the filesystem's own tables are what costs".to_owned(),
        FilesCause::Host { .. } => {
            ": the device waits most of that time; programs and the filesystem take it".to_owned()
        }
        FilesCause::Unknown { reason: UnknownCause::NotCounted } => {
            "; the cause is unknown: the kernel does not count the requests of what it lies on".to_owned()
        }
        FilesCause::Unknown { reason: UnknownCause::NoSingleCause } => {
            "; the cause is unknown: no single cause explains most of it".to_owned()
        }
    }
}

/// Whether none of what was measured is a stick's.
const fn is_no_stick(instead: Instead) -> bool {
    matches!(instead, Instead::Memory | Instead::Network | Instead::SystemDisk)
}

/// What the verdict rests on, what the files take in space, and what of it is no speed of the device.
#[must_use]
pub fn because(data: &FilesData) -> Vec<Sentence> {
    let verdict = files_verdict(data);
    let [small, large] = both(data);
    let cached =
        [("the small files", small), ("the one file", large)].into_iter().filter_map(|(name, speed)| {
            let reason = speed?.read_cached?;
            let reason = words::cached(&reason);
            Some(format!("reading {name} back is marked as cached and counts for nothing: {reason}"))
        });
    let parts = [
        verdict.as_ref().and_then(|verdict| evidence(verdict, data)),
        verdict.as_ref().and_then(|verdict| space(verdict, data)),
        wrong(data),
    ];
    parts.into_iter().flatten().chain(cached).map(Sentence::new).collect()
}

fn evidence(verdict: &FilesVerdict, data: &FilesData) -> Option<String> {
    let round = if data.rounds.len() > 1 { ", in the mean of all rounds" } else { "" };
    match &verdict.cause {
        FilesCause::SmallWrites { small, large, factor } => Some(format!(
            "of the small files, {} reached the device; of the one file, {}{round}: each byte takes {} times as long in small writes",
            writes(small),
            writes(large),
            quantity::ratio(*factor)
        )),
        FilesCause::Tables { small, bytes, rounded, factor } => Some(format!(
            "{} reached the device for {bytes} of files{}{round}, {} times what one file takes: folders and tables are written along",
            small.bytes,
            if rounded > bytes { format!(", {rounded} in whole blocks") } else { String::new() },
            quantity::ratio(*factor)
        )),
        FilesCause::Host { busy, factor } => Some(format!(
            "the device was busy for {:.0} % of the time, and all of it took {} times as long as for one file",
            busy * 100.0,
            quantity::ratio(*factor)
        )),
        FilesCause::None | FilesCause::Cached { .. } | FilesCause::Unknown { .. } => None,
    }
}

/// `2105 writes of 7.6 KiB, 98.4 ms each`. What took less than a tick of the kernel has no time.
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
        "the system writes each of them whole, so that costs room and time"
    } else {
        "the system writes the bytes and not the rest of the cluster, so that costs room, hardly time"
    };
    Some(format!(
        "space: {times}x bloat, {} for {} of files, in clusters of {}; {costs}",
        small.allocated, small.bytes, data.cluster
    ))
}

fn wrong(data: &FilesData) -> Option<String> {
    let wrong: u32 = data.rounds.iter().map(|round| round.small.wrong + round.large.wrong).sum();
    let files = quantity::counted(wrong.into(), "file");
    (wrong > 0).then(|| {
        format!("{files} did not hold what had been written: save what this stick holds, and trust it with nothing")
    })
}

/// How it was measured.
#[must_use]
pub fn conditions(data: &FilesData) -> Vec<Sentence> {
    let filesystem = if data.filesystem.is_empty() { "unknown" } else { &data.filesystem };
    let flush = match data.flush {
        FlushTime::AtEnd => "once when all files were closed (syncfs)",
        FlushTime::EachFile => "behind every file (fsync), and once at the end (syncfs)",
    };
    let cold = match data.cold {
        ColdBy::Drop => {
            "every file was given up (posix_fadvise) and the kernel dropped its caches (drop_caches)"
        }
        ColdBy::Advice => {
            "every file was given up (posix_fadvise); folders and tables may have stayed in memory, which only root can change"
        }
    };
    let rounds = match data.rounds.len() {
        0 => "no round came to its end, so there is no figure".to_owned(),
        1 => "one round, so there is no spread".to_owned(),
        rounds => format!(
            "{rounds} rounds; the middle one, and the least and the most; of what reached the device, the mean"
        ),
    };
    let texts = [
        format!("files: {}", data.profile),
        format!("filesystem: {filesystem}, clusters of {}", data.cluster),
        format!("flushed {flush}; the times are those until then"),
        format!("read back cold: {cold}"),
        rounds,
    ];
    let instead = data.instead.iter().map(|instead| instead.text().to_owned());
    texts.into_iter().chain(instead).map(Sentence::new).collect()
}

/// The small files, and the one.
#[must_use]
pub fn both(data: &FilesData) -> [Option<FilesSpeed>; 2] {
    [files_speed(data, |round| &round.small), files_speed(data, |round| &round.large)]
}

/// All of it: the verdict, the figures, why, and how.
#[must_use]
pub fn tabled(data: &FilesData) -> Tabled {
    Tabled {
        headline: headline(data),
        title: "Files",
        table: table(data),
        lists: vec![("Why", because(data)), ("How", conditions(data))],
    }
}

fn table(data: &FilesData) -> Table {
    let header = ["", "small files", "one file"].map(str::to_owned).to_vec();
    let ([Some(small), Some(large)], Some(round)) = (both(data), data.rounds.first()) else {
        return Table { header, rows: Vec::new() };
    };
    let speeds = [&small, &large];
    let parts = [&round.small, &round.large];
    let row = |name: &str, [small, large]: [String; 2]| vec![name.to_owned(), small, large];
    let rows = vec![
        row("files", parts.map(|part| part.files.to_string())),
        row("bytes", parts.map(|part| part.bytes.to_string())),
        row("there after", speeds.map(|speed| spread(speed.durable_s, quantity::seconds))),
        row("files a second", speeds.map(|speed| spread(speed.files_per_s, quantity::three_digits))),
        row("written", speeds.map(written)),
        row("read back", speeds.map(read)),
        row("each one read", [each_read(data, |round| &round.small), each_read(data, |round| &round.large)]),
        row("space", parts.map(|part| part.allocated.to_string())),
        row(
            "reached the device",
            speeds.map(|speed| speed.writes.as_ref().map_or_else(|| "unknown".to_owned(), writes)),
        ),
        row("removed in", speeds.map(|speed| spread(speed.removed_s, quantity::seconds))),
    ];
    Table { header, rows }
}

/// The median and the 99th percentile of all files of all rounds.
fn each_read(data: &FilesData, of: fn(&FilesRound) -> &FilesPart) -> String {
    let all = data.rounds.iter().map(of).flat_map(|part| &part.each_read_ns);
    let times: Vec<f64> = all.map(|each| *each as f64 / 1e9).collect();
    match (quantile(&times, 0.5), quantile(&times, 0.99)) {
        (Some(median), Some(high)) => {
            format!("{}, 99 % in {}", quantity::seconds(median), quantity::seconds(high))
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

/// `210 s (205 s to 214 s)`; one figure where all rounds gave it.
fn spread(spread: Spread, shown: fn(f64) -> String) -> String {
    let [median, low, high] = [spread.median, spread.low, spread.high].map(shown);
    if low == high { median } else { format!("{median} ({low} to {high})") }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::observation::{Instead, LinkLimit};

    use super::*;
    use crate::Style;

    fn text(data: &FilesData, width: usize, style: Style) -> String {
        tabled(data).text(width, style)
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

    fn data(small_s: f64) -> FilesData {
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
    fn the_verdict_names_small_writes_and_the_bloat() {
        let text = text(&data(160.0), 100, Style::Plain);
        let start = "2000 files take 16 times as long as one file of the same bytes, 160 s instead of 10.0 s: small writes";
        assert!(text.replace('\n', " ").starts_with(start), "{text}");
        for words in [
            "2100 writes of 8.29 KiB, 76.2 ms each",
            "4.00x bloat, 64 MiB for 16 MiB",
            "clusters of 32 KiB",
            "drop_caches",
        ] {
            assert!(text.replace("\n   ", "").contains(words), "{words}: {text}");
        }
    }

    #[test]
    fn what_reached_the_device_is_the_same_in_the_table_and_in_the_reason() {
        let mut seen = data(160.0);
        seen.rounds.push(FilesRound { small: part(2000, 150.0, 1900), large: part(1, 9.0, 120) });
        let told = text(&seen, 200, Style::Plain);
        for writes in ["2000 writes of 8.70 KiB, 77.5 ms each", "130 writes of 134 KiB, 73.1 ms each"] {
            assert_eq!(told.matches(writes).count(), 2, "{writes}: {told}");
        }
        assert!(told.contains("in the mean of all rounds: each byte"), "{told}");
        seen.rounds.push(FilesRound { small: part(2000, 150.0, 1900), large: part(1, 5.0, 120) });
        let told = headline(&seen);
        let differ = "take 17 times (16 to 30 from round to round) as long as one file of the same bytes, 150 s instead of 9.00 s";
        assert!(told.as_str().contains(differ), "{told:?}");
    }

    #[test]
    fn what_is_written_in_whole_blocks_is_not_laid_on_tables() {
        let mut seen = data(44.0);
        seen.cluster = Bytes::kib(4);
        let small = &mut seen.rounds[0].small;
        small.writes = Some(Traffic { requests: 560, bytes: Bytes::mib(70), busy_s: 44.0 });
        assert!(
            headline(&seen).as_str().contains("whole blocks, which is what costs"),
            "{:?}",
            headline(&seen)
        );
        let told = format!("{:?}", because(&seen));
        assert!(
            told.contains("16 MiB of files, 64 MiB in whole blocks") && told.contains("room and time"),
            "{told}"
        );
        seen.cluster = Bytes::kib(32);
        assert!(headline(&seen).as_str().contains("own tables are what costs"));
    }

    #[test]
    fn what_is_no_difference_no_stick_or_no_read_is_said() {
        assert!(headline(&data(12.0)).as_str().starts_with("2000 files take about as long"));
        let mut seen = data(160.0);
        assert!(headline(&seen).as_str().contains("on this controller"));
        seen.instead.push(Instead::SystemDisk);
        assert!(headline(&seen).as_str().contains("small writes are what costs there, on no stick"));
        seen.rounds[0].small.warm = Some(0.7);
        seen.rounds[0].small.wrong = 3;
        let told = format!("{:?}{:?}", because(&seen), conditions(&seen));
        for words in ["system runs from", "70 % of the pages", "3 files did not hold"] {
            assert!(told.contains(words), "{words}: {told}");
        }
        seen.rounds[0].small.writes = None;
        assert!(headline(&seen).as_str().contains("the cause is unknown"));
        // 16 MiB in 10 s are more than full speed carries.
        seen.link =
            Some(LinkLimit { bytes_per_s: Bytes::new(1_216_000), name: "USB at 12 Mbit/s".to_owned() });
        let told = text(&seen, 80, Style::Plain);
        assert!(
            told.starts_with("Unknown: what was said to be written") && told.contains("(cached)"),
            "{told}"
        );
        seen.rounds.clear();
        assert!(text(&seen, 80, Style::Plain).starts_with("Unknown: no round"));
    }
}
