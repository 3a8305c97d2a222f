//! fio with `--output-format=json`: one row for each job and direction.

use flashscope_device::Bytes;
use flashscope_record::observation::{Direction, Order, PublishedSpeed, ReadBack};
use serde_json::{Map, Value};

use super::Speeds;

/// fio's request size where none is given, by its manual.
const DEFAULT_BLOCK: Bytes = Bytes::kib(4);

/// fio rounds both figures, and a job may end within a request. Guess: sizes of a mixture differ by more.
const MEAN_TOLERANCE: f64 = 0.1;

/// A JSON document of fio that gives no speed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FioError {
    /// It is no whole JSON document.
    #[error("the JSON of fio is broken ({0}); save the whole output of fio --output-format=json")]
    Broken(String),
    /// No job transferred anything.
    #[error("no job of fio has a speed: all failed, or transferred nothing")]
    NoSpeed,
}

pub(super) fn read(lines: &[&str]) -> Result<Option<Speeds>, FioError> {
    let Some(text) = document(lines) else { return Ok(None) };
    let document: Value = serde_json::from_str(&text).map_err(|error| FioError::Broken(error.to_string()))?;
    let version = document["fio version"].as_str().unwrap_or("fio").replace("fio-", "fio ");
    let global = options(&document["global options"]);
    let jobs = document["jobs"].as_array().map_or(&[][..], Vec::as_slice);
    let rows: Vec<PublishedSpeed> = clones(jobs, &global)
        .into_iter()
        .flat_map(|jobs| together(jobs.iter().map(|job| rows_of(job, &global))))
        .collect();
    if rows.is_empty() {
        return Err(FioError::NoSpeed);
    }
    let failed = jobs.iter().filter(|job| is_failed(job)).count();
    let mut remarks: Vec<String> = jobs.iter().flat_map(|job| remarks(job, &global)).collect();
    remarks.dedup();
    let jobs = if failed == 1 { "job" } else { "jobs" };
    remarks.extend((failed > 0).then(|| format!("left out {failed} {jobs} of fio that ended with an error")));
    Ok(Some(Speeds { program: version, rows, read_back: ReadBack::default(), remarks }))
}

/// The JSON among the lines: fio prints warnings before and after it. `None` if it is none of fio.
fn document(lines: &[&str]) -> Option<String> {
    let start = lines.iter().position(|line| line.trim_start().starts_with('{'))?;
    let is_of_fio = |line: &&str| line.contains("\"fio version\"");
    if !lines[start..].iter().any(is_of_fio) {
        return None;
    }
    let end = lines.iter().rposition(|line| line.trim_end().ends_with('}')).filter(|end| *end >= start);
    Some(lines[start..=end.unwrap_or(lines.len() - 1)].join("\n"))
}

fn options(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn is_failed(job: &Value) -> bool {
    job["error"].as_i64().is_some_and(|error| error != 0)
}

/// The entries in groups: the processes of one job (`numjobs`) have an entry each, if fio was not asked to
/// report them together.
fn clones<'a>(jobs: &'a [Value], global: &Map<String, Value>) -> Vec<&'a [Value]> {
    let count = |job| option_of(job, global, &["numjobs"]).and_then(|text| text.parse::<usize>().ok());
    let mut groups = Vec::new();
    let mut rest = jobs;
    while let Some(first) = rest.first() {
        let is_same = |job: &&Value| ["jobname", "job options"].iter().all(|key| job[*key] == first[*key]);
        let same = rest.iter().take_while(is_same).count();
        let wanted = count(first)
            .filter(|count| same.is_multiple_of(*count) && rest[..same].iter().all(|job| !is_failed(job)));
        let (group, others) = rest.split_at(wanted.unwrap_or(1));
        groups.push(group);
        rest = others;
    }
    groups
}

/// The rows of processes that ran at once: their speeds add up.
fn together(of_each: impl Iterator<Item = Vec<PublishedSpeed>>) -> Vec<PublishedSpeed> {
    let mut sums: Vec<PublishedSpeed> = Vec::new();
    for row in of_each.flatten() {
        let Some(sum) = sums.iter_mut().find(|sum| sum.direction == row.direction) else {
            sums.push(row);
            continue;
        };
        sum.bytes_per_s += row.bytes_per_s;
        sum.requests_per_s = sum.requests_per_s.zip(row.requests_per_s).map(|(a, b)| a + b);
    }
    sums.retain(PublishedSpeed::is_possible);
    sums
}

/// An option of a job, by any of its names: its own, or that of all jobs.
fn option_of(job: &Value, global: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let of = |options: &Map<String, Value>| names.iter().find_map(|name| options.get(*name).cloned());
    let own = of(&options(&job["job options"])).or_else(|| of(global));
    own.and_then(|value| value.as_str().map(str::to_owned))
}

/// Options that make a job wait: its speed is not the device's.
const LIMITS: [&str; 3] = ["rate", "rate_iops", "thinktime"];

/// Why the speeds of a job are not those of the device.
fn remarks(job: &Value, global: &Map<String, Value>) -> Vec<String> {
    let name: String = job["jobname"].as_str().unwrap_or_default().chars().take(100).collect();
    // For reads, writes and trims; 0 is no limit.
    let limits = |value: String| value.split(',').any(|part| !matches!(part.trim(), "" | "0"));
    let limit = LIMITS.iter().find(|limit| option_of(job, global, &[**limit]).is_some_and(limits));
    let limited = limit.map(|limit| format!("the option {limit} of job '{name}' slows it down by intent"));
    let mode = option_of(job, global, &["rw", "readwrite"]).unwrap_or_default();
    let mixed = is_mixed(&mode)
        .then(|| format!("job '{name}' mixes reads and writes: neither speed is reached alone"));
    let skips = mode
        .contains(':')
        .then(|| format!("job '{name}' ({mode}) leaves gaps or repeats places between its requests"));
    let trims = is_trimming(&mode).then(|| format!("job '{name}' trims each place before it writes there"));
    [limited, mixed, skips, trims].into_iter().flatten().collect()
}

/// Whether a job of this mode mixes reads and writes.
fn is_mixed(mode: &str) -> bool {
    let mode = mode.split(':').next().unwrap_or_default();
    matches!(mode, "rw" | "readwrite" | "randrw")
}

/// Whether a job of this mode trims what it writes next.
fn is_trimming(mode: &str) -> bool {
    matches!(mode.split(':').next(), Some("trimwrite" | "randtrimwrite"))
}

fn rows_of(job: &Value, global: &Map<String, Value>) -> Vec<PublishedSpeed> {
    // fio 2.2 and older print no options, and then nothing is known of them.
    let has_options = !options(&job["job options"]).is_empty() || !global.is_empty();
    let option = |names: &[&str]| option_of(job, global, names);
    let mode = option(&["rw", "readwrite"]).unwrap_or_else(|| "read".to_owned());
    let order = match mode.as_str() {
        mode if mode.starts_with("rand") => Some(Order::Random),
        // Requests of the other direction, or gaps, lie between sequential ones.
        mode if is_mixed(mode) || is_trimming(mode) || mode.contains(':') => None,
        _ => Some(Order::Linear),
    };
    let has_sizes = option(&["bsrange", "blocksize_range", "bssplit"]).is_some();
    let count = |name: &str| match option(&[name]) {
        Some(text) => text.parse().ok(),
        None => has_options.then_some(1),
    };
    let is_direct = option(&["direct"]).map_or(has_options.then_some(false), |text| flag(&text));
    // Synchronous engines have one request in flight, whatever the option says.
    let was_alone = job["iodepth_level"]["1"].as_f64().is_some_and(|percent| percent > 99.0);
    let depth = if was_alone { Some(1) } else { count("iodepth") };
    let blocks = option(&["bs", "blocksize"]);
    let row = |(key, direction): (&str, Direction)| {
        let of = |name: &str| job[key][name].as_f64().filter(|figure| figure.is_finite() && *figure > 0.0);
        let bytes_per_s = of("bw_bytes").or_else(|| of("bw").map(|kibibytes| kibibytes * 1024.0))?;
        Some(PublishedSpeed {
            name: job["jobname"].as_str().unwrap_or_default().chars().take(100).collect(),
            order: order.filter(|_| has_options),
            request: blocks
                .as_ref()
                .map_or(has_options.then_some(DEFAULT_BLOCK), |text| block(text, direction))
                .filter(|_| !has_sizes)
                .filter(|request| of("iops").is_none_or(|iops| is_mean(*request, bytes_per_s / iops))),
            queue_depth: depth.filter(|depth| (1..=1 << 20).contains(depth)),
            threads: count("numjobs").filter(|threads| (1..=1 << 20).contains(threads)),
            is_direct,
            requests_per_s: of("iops"),
            ..PublishedSpeed::new(direction, bytes_per_s)
        })
    };
    if is_failed(job) {
        return Vec::new();
    }
    [("read", Direction::Read), ("write", Direction::Write)].into_iter().filter_map(row).collect()
}

/// Whether requests of this size have this mean: those of several sizes have not.
fn is_mean(request: Bytes, mean: f64) -> bool {
    (mean / request.as_f64() - 1.0).abs() < MEAN_TOLERANCE
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "1" | "" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

/// `4k`, `1M`, `4096`, `4k,64k` for reads and writes. A range is not one size.
fn block(text: &str, direction: Direction) -> Option<Bytes> {
    let mut sizes = text.split(',');
    let first = sizes.next()?;
    let own = if direction == Direction::Write { sizes.next().unwrap_or(first) } else { first };
    let lower = own.trim().to_ascii_lowercase();
    let number = lower.trim_end_matches(char::is_alphabetic);
    let scale = match &lower[number.len()..] {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    let bytes = number.parse::<u64>().ok()?.checked_mul(scale)?;
    (1..=1 << 40).contains(&bytes).then(|| Bytes::new(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::{sample, speeds_of};
    use super::*;

    #[test]
    fn a_job_becomes_a_row_with_its_options() {
        let speeds = speeds_of(&sample("fio-sequential-write.json")).unwrap();
        assert_eq!((speeds.program.as_str(), speeds.rows.len()), ("fio 3.33", 1));
        let row = &speeds.rows[0];
        assert_eq!(
            (row.name.as_str(), row.direction, row.order),
            ("seq", Direction::Write, Some(Order::Linear))
        );
        assert_eq!((row.request, row.queue_depth, row.is_direct), (Some(Bytes::mib(1)), Some(1), Some(true)));
        assert!(row.bytes_per_s > 1e6 && row.requests_per_s.is_some());
    }

    #[test]
    fn a_mixed_job_has_a_row_for_each_direction() {
        let speeds = speeds_of(&sample("fio-random-mixed.json")).unwrap();
        let kinds: Vec<_> =
            speeds.rows.iter().map(|row| (row.direction, row.order, row.queue_depth)).collect();
        let random = Some(Order::Random);
        assert_eq!(kinds, [(Direction::Read, random, Some(8)), (Direction::Write, random, Some(8))]);
    }

    #[test]
    fn warnings_around_the_document_and_defaults_are_read() {
        let text = sample("fio-sequential-write.json")
            .replace("\"bs\" : \"1M\",", "")
            .replace("\"direct\" : \"1\",", "");
        let speeds =
            speeds_of(&format!("note: both iodepth >= 1 and synchronous I/O engine\n{text}\nbye\n")).unwrap();
        assert_eq!(
            (speeds.rows[0].request, speeds.rows[0].is_direct),
            (None, Some(false)),
            "the mean is 1 MiB"
        );
    }

    #[test]
    fn a_document_without_options_says_nothing_of_them() {
        let read = r#""read": {"bw": 5720, "iops": 1430.0}"#;
        let text =
            |more: &str| format!("{{\n\"fio version\": \"fio-2.2.10\",\n\"jobs\": [{{{more}{read}}}]\n}}");
        let row = |more: &str| speeds_of(&text(more)).unwrap().rows.remove(0);
        let old = row("");
        assert_eq!((old.order, old.request, old.queue_depth, old.is_direct), (None, None, None, None));
        assert_eq!(old.requests_per_s, Some(1430.0));
        let options =
            |bs: &str| format!(r#""job options": {{"rw": "randread", "bs": "{bs}", "iodepth": "64"}}, "#);
        assert_eq!(row(&options("4k")).request, Some(Bytes::kib(4)));
        assert_eq!(row(&options("64k")).request, None, "the mean is 4 KiB");
        let alone = format!(r#"{}"iodepth_level": {{"1": 100.0}}, "#, options("4k"));
        assert_eq!((row(&options("4k")).queue_depth, row(&alone).queue_depth), (Some(64), Some(1)));
    }

    #[test]
    fn a_document_in_one_line_is_read() {
        let line = sample("fio-sequential-write.json").replace('\n', " ");
        assert_eq!(speeds_of(&line).unwrap().rows.len(), 1);
    }

    /// A document with these jobs: options, and what follows them.
    fn document_of(jobs: &[(&str, &str)]) -> String {
        let job = |(options, rest): &(&str, &str)| {
            format!(r#"{{"jobname": "w", "job options": {{{options}}}, {rest}}}"#)
        };
        let jobs: Vec<String> = jobs.iter().map(job).collect();
        format!("{{\n\"fio version\": \"fio-3.33\",\n\"jobs\": [{}]\n}}", jobs.join(", "))
    }

    #[test]
    fn processes_of_one_job_are_one_row() {
        let write = r#""write": {"bw_bytes": 90000, "iops": 22.0}"#;
        let clone = (r#""rw": "randwrite", "bs": "4k", "numjobs": "3""#, write);
        let all = speeds_of(&document_of(&[clone; 3])).unwrap().rows;
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].bytes_per_s, all[0].requests_per_s, all[0].threads), (270e3, Some(66.0), Some(3)));
        assert_eq!(speeds_of(&document_of(&[clone; 2])).unwrap().rows.len(), 2, "one is missing");
        let twice = speeds_of(&document_of(&[clone; 6])).unwrap().rows;
        assert_eq!(twice.iter().map(|row| row.bytes_per_s).collect::<Vec<_>>(), [270e3; 2], "two runs");
        let of_all = document_of(&[(r#""rw": "randwrite", "bs": "4k""#, write); 3])
            .replace("\"jobs\"", "\"global options\": {\"numjobs\": \"3\"}, \"jobs\"");
        assert_eq!(speeds_of(&of_all).unwrap().rows.len(), 1, "the option of all jobs");
        let huge = (clone.0, r#""write": {"bw_bytes": 1e308, "iops": 22.0}"#);
        let huge = document_of(&[huge; 3]);
        assert_eq!(read(&huge.lines().collect::<Vec<_>>()), Err(FioError::NoSpeed), "the sum is no number");
        let failed = (clone.0, r#""error": 5"#);
        assert_eq!(speeds_of(&document_of(&[clone, clone, failed])).unwrap().rows.len(), 2);
    }

    #[test]
    fn jobs_that_are_no_plain_stream_are_not_called_one() {
        let both = r#""read": {"bw_bytes": 8e6, "iops": 1953}, "write": {"bw_bytes": 8e6, "iops": 1953}"#;
        let of = |options: &str| speeds_of(&document_of(&[(options, both)])).unwrap();
        let mixed = of(r#""rw": "rw", "bs": "4k""#);
        assert_eq!(mixed.rows[0].order, None);
        assert!(mixed.remarks[0].contains("mixes reads and writes"), "{:?}", mixed.remarks);
        let gaps = of(r#""rw": "write:64k", "bs": "4k""#);
        assert!(gaps.rows[1].order.is_none() && gaps.remarks[0].contains("write:64k"), "{gaps:?}");
        let limited = of(r#""rw": "write", "bs": "4k", "rate": "5m""#);
        assert!(limited.remarks[0].contains("slows it down"), "{:?}", limited.remarks);
        assert!(of(r#""rw": "write", "bs": "4k", "rate": "0", "thinktime": "0""#).remarks.is_empty());
        let trims = of(r#""rw": "trimwrite", "bs": "4k""#);
        assert!(trims.rows[1].order.is_none() && trims.remarks[0].contains("trims"), "{trims:?}");
        let sizes = of(r#""rw": "write", "bsrange": "4k-1M""#);
        assert_eq!(sizes.rows[0].request, None);
        assert!(of(r#""rw": "write", "bs": "4k""#).remarks.is_empty());
    }

    #[test]
    fn broken_and_failed_documents_are_refused() {
        let whole = sample("fio-sequential-write.json");
        let read = |text: &str| read(&text.lines().collect::<Vec<_>>());
        assert!(matches!(read(&whole[..whole.len() / 2]), Err(FioError::Broken(_))));
        assert_eq!(read(&whole.replace("\"error\" : 0", "\"error\" : 5")), Err(FioError::NoSpeed));
        assert_eq!(read("{\n\"fio version\" : \"fio-3\"\n}"), Err(FioError::NoSpeed));
        assert_eq!(read("{\n\"other\" : 1\n}"), Ok(None));
    }

    #[test]
    fn block_sizes_are_read_as_fio_takes_them() {
        let both = |text| [Direction::Read, Direction::Write].map(|direction| block(text, direction));
        assert_eq!(both("4k"), [Some(Bytes::kib(4)); 2]);
        assert_eq!(both("4096"), [Some(Bytes::kib(4)); 2]);
        assert_eq!(both("4k,64KiB"), [Some(Bytes::kib(4)), Some(Bytes::kib(64))]);
        for text in ["4k-64k", "", "k", "0", "99999999999999999999", "4x"] {
            assert_eq!(both(text), [None; 2], "{text}");
        }
    }
}
