//! Write methods compared: the speed each reports, the speed at which data became durable, and why they
//! differ.

use flashscope_infer::files::comparison::Spread;
use flashscope_infer::files::write_methods::{MethodSpeed, cached, method_speeds, truth};
use flashscope_record::observation::{Instead, MethodsData, WriteMethod};

use crate::bench_report::BenchReport;
use crate::chart::Table;
use crate::files::not_a_stick;
use crate::words::{IN_MEMORY, NO_ROUND, Sentence};
use crate::{quantity, words};

/// The least ratio between reported and durable speed, either way, that is explained. Guess: 15 % is above
/// the noise.
const RATIO_MIN: f64 = 1.15;
/// The least ratio by which zeros are faster than other data that is explained. Guess: 30 % is above the
/// noise.
const ZEROS_RATIO_MIN: f64 = 1.3;

/// Why a method differs from the others, one sentence a reason; none where it does not differ by more than
/// the rounds do.
#[must_use]
pub fn reasons(methods: &[MethodSpeed], method: &MethodSpeed, truth: &Spread) -> Vec<Sentence> {
    let reasons = [page_cache(method), zeros(method, methods), source(method, truth), flushes(method, truth)];
    reasons.into_iter().flatten().map(Sentence::new).collect()
}

/// The reported speed is compared with the method's own durable speed: another method may have met a stall.
fn page_cache(method: &MethodSpeed) -> Option<String> {
    (method.reported_ratio.low > RATIO_MIN).then(|| {
        let cache = match method.method.may_end_in_page_cache() {
            true => "the page cache, in memory",
            false => "the device's own cache, or that of the program that serves it",
        };
        format!(
            "reports {} times the durable speed: the data was only in {cache}. It was durable {} later",
            quantity::ratio(method.reported_ratio.median),
            quantity::seconds(method.after_s)
        )
    })
}

fn zeros(method: &MethodSpeed, methods: &[MethodSpeed]) -> Option<String> {
    let others = || methods.iter().filter(|other| other.method != WriteMethod::Zeros);
    let most = others().map(|other| other.durable.high).max_by(f64::total_cmp)?;
    let fastest = others().map(|other| other.durable.median).max_by(f64::total_cmp)?;
    let is_faster = method.durable.low > most && method.durable.median > fastest * ZEROS_RATIO_MIN;
    (method.method == WriteMethod::Zeros && is_faster).then(|| {
        format!(
            "zeros are written {} times as fast as other data: the filesystem or the controller does not store them as such",
            quantity::ratio(method.durable.median / fastest)
        )
    })
}

fn source(method: &MethodSpeed, truth: &Spread) -> Option<String> {
    let source = method.source.filter(|_| method.is_limited_by_its_source(truth))?;
    Some(format!(
        "the data source delivers only {}: it is the bottleneck, not the device",
        quantity::speed(source.median)
    ))
}

fn flushes(method: &MethodSpeed, truth: &Spread) -> Option<String> {
    let slowdown = truth.median / method.reported.median;
    (method.method == WriteMethod::FlushEach && method.reported.high < truth.low && slowdown > RATIO_MIN)
        .then(|| {
            format!(
                "a flush after every MiB is {} times as slow as one flush at the end",
                quantity::ratio(slowdown)
            )
        })
}

/// The report: the durable speed, every method, and why they differ.
#[must_use]
pub fn bench_report(data: &MethodsData) -> BenchReport {
    let (truth, methods) = (truth(data), method_speeds(data));
    let why = truth.map(|truth| methods.iter().flat_map(|method| named(&methods, method, &truth)).collect());
    let cached: Vec<Sentence> = methods.iter().filter_map(|method| cached_text(data, method)).collect();
    let instead = data.instead.iter().map(|instead| not_a_stick(*instead).to_owned());
    let conditions = instead.chain(rounds(&methods)).map(Sentence::new).collect();
    BenchReport {
        headline: Sentence::new(headline(data, &methods, truth)),
        title: "Write methods",
        table: table(data, &methods),
        lists: vec![
            ("Why they differ", why.unwrap_or_default()),
            ("Not counted", cached),
            ("How it was measured", conditions),
        ],
    }
}

fn headline(data: &MethodsData, methods: &[MethodSpeed], truth: Option<Spread>) -> String {
    if data.instead.contains(&Instead::Memory) {
        return IN_MEMORY.to_owned();
    }
    let flushed = methods.iter().find(|method| method.method == WriteMethod::FlushAtEnd);
    match (truth, flushed.and_then(|method| cached(data, method))) {
        (Some(truth), _) => format!("durable write speed {}", with_interval(&truth)),
        _ if methods.is_empty() => NO_ROUND.to_owned(),
        (None, Some(reason)) => {
            format!("unknown: the writes were cached, not durable ({})", words::cached(&reason))
        }
        (None, None) => "unknown: the method with one flush at the end did not run".to_owned(),
    }
}

/// The number of rounds, and what follows from it.
fn rounds(methods: &[MethodSpeed]) -> Option<String> {
    match methods.iter().map(|method| method.rounds).min()? {
        1 => Some(
            "one round: a single stall may explain a difference. For more rounds: --rounds, --time-budget"
                .to_owned(),
        ),
        rounds => Some(format!(
            "{rounds} rounds of all methods, round-robin. Figures are medians with their intervals; \
             methods whose intervals overlap are not compared"
        )),
    }
}

fn with_interval(spread: &Spread) -> String {
    let median = quantity::speed(spread.median);
    if spread.low >= spread.high {
        return median;
    }
    format!("{median} ({})", quantity::speed_interval(spread.low, spread.high))
}

fn cached_text(data: &MethodsData, method: &MethodSpeed) -> Option<Sentence> {
    let reason = cached(data, method)?;
    Some(Sentence::new(format!("{}: cached ({})", method.method.command(), words::cached(&reason))))
}

fn named(methods: &[MethodSpeed], method: &MethodSpeed, truth: &Spread) -> Vec<Sentence> {
    let with_command =
        |reason: &Sentence| Sentence::new(format!("with {}: {}", method.method.command(), reason.as_str()));
    reasons(methods, method, truth).iter().map(with_command).collect()
}

fn table(data: &MethodsData, methods: &[MethodSpeed]) -> Table {
    let header = ["command", "reported", "durable", "interval", "source alone"];
    let row = |method: &MethodSpeed| {
        let mark = if cached(data, method).is_some() { " (cached)" } else { "" };
        vec![
            method.method.command().to_owned(),
            quantity::speed(method.reported.median),
            format!("{}{mark}", quantity::speed(method.durable.median)),
            interval(method),
            method.source.map_or_else(|| "in memory".to_owned(), |source| quantity::speed(source.median)),
        ]
    };
    Table { header: header.map(str::to_owned).to_vec(), rows: methods.iter().map(row).collect() }
}

fn interval(method: &MethodSpeed) -> String {
    match method.rounds {
        1 => "one round".to_owned(),
        _ => quantity::speed_interval(method.durable.low, method.durable.high),
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::observation::LinkLimit;
    use flashscope_record::observation::MethodTiming;

    use super::*;
    use crate::{Style, terminal};

    fn timing(method: WriteMethod, reported_s: f64, durable_s: f64, source_s: Option<f64>) -> MethodTiming {
        MethodTiming { method, bytes: Bytes::new(80_000_000), reported_s, durable_s, source_s }
    }

    /// The reasons for these rounds of one method, compared with rounds with a flush at the end.
    fn reasons_for(rounds: &[MethodTiming], flushed_s: &[f64]) -> String {
        let flushed =
            flushed_s.iter().map(|seconds| timing(WriteMethod::FlushAtEnd, *seconds, *seconds, None));
        let timings = rounds.iter().copied().chain(flushed).collect();
        first_reasons(&MethodsData { timings, ..MethodsData::default() })
    }

    /// The reasons for the first method.
    fn first_reasons(data: &MethodsData) -> String {
        let method_speeds = method_speeds(data);
        let reasons = reasons(&method_speeds, &method_speeds[0], &truth(data).unwrap());
        reasons.iter().map(Sentence::as_str).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_reason_is_given_only_where_it_holds() {
        let of = |timing| reasons_for(&[timing], &[10.0]);
        let cached = of(timing(WriteMethod::Zeros, 0.1, 10.0, Some(0.01)));
        assert!(cached.contains("100 times") && !cached.contains("zeros:"), "{cached}");
        assert!(of(timing(WriteMethod::Zeros, 0.1, 0.2, Some(0.01))).contains("50 times as fast"));
        assert!(of(timing(WriteMethod::Random, 11.0, 11.5, Some(10.9))).contains("source"));
        assert!(of(timing(WriteMethod::FlushEach, 20.0, 20.0, None)).contains("2.0 times as slow"));
        assert_eq!(of(timing(WriteMethod::Direct, 10.0, 10.1, None)), "");
        let slightly = of(timing(WriteMethod::Direct, 10.0, 12.0, None));
        assert!(slightly.contains("1.2 times the durable speed"), "{slightly}");
        assert_eq!(of(timing(WriteMethod::Direct, 10.0, 11.0, None)), "", "10 % are little");
        let direct = of(timing(WriteMethod::Direct, 5.0, 10.0, None));
        assert!(direct.contains("own cache") && !direct.contains("page cache"), "{direct}");
    }

    #[test]
    fn a_stall_in_one_round_gives_no_reason() {
        let each = |seconds: f64| timing(WriteMethod::FlushEach, seconds, seconds, None);
        let steady = [10.0, 10.1, 9.9, 10.0, 10.2];
        assert_eq!(reasons_for(&[10.0, 10.1, 40.0, 9.9, 10.0].map(each), &steady), "");
        assert!(
            reasons_for(&[20.0, 20.3, 40.0, 19.9, 20.0].map(each), &steady).contains("2.0 times as slow")
        );
        // The flush at the end stalled once: no other method is fast because of that.
        assert_eq!(reasons_for(&[10.0, 10.1, 10.0, 9.9, 10.0].map(each), &[10.0, 40.0, 10.0, 9.9, 10.1]), "");
        // The source alone is slower, and the durable speed varies.
        let random = |seconds: f64| timing(WriteMethod::Random, seconds, seconds, Some(10.9));
        assert_eq!(reasons_for(&[11.0, 9.0, 11.0, 11.0, 11.0].map(random), &steady), "");
        // A method is compared with its own durable speed: another method took longer.
        let own = |seconds: f64| timing(WriteMethod::Direct, seconds, seconds, None);
        assert_eq!(reasons_for(&[1.0, 1.0, 1.0].map(own), &[10.0, 10.0, 10.0]), "");
    }

    #[test]
    fn zeros_get_no_reason_where_other_data_is_as_fast() {
        let zeros = timing(WriteMethod::Zeros, 0.1, 2.0, Some(0.01));
        let stalled = timing(WriteMethod::FlushAtEnd, 10.0, 10.0, None);
        let mut data = MethodsData { timings: vec![zeros, stalled], ..MethodsData::default() };
        assert!(first_reasons(&data).contains("5.0 times as fast as other data"));
        data.timings.push(timing(WriteMethod::Direct, 1.9, 1.9, None));
        assert!(!first_reasons(&data).contains("as other data"), "{}", first_reasons(&data));
        let written_in = |seconds| reasons_for(&[timing(WriteMethod::Zeros, 0.1, seconds, None)], &[10.0]);
        assert!(written_in(7.0).contains("1.4 times as fast as other data"), "{}", written_in(7.0));
        assert!(!written_in(9.0).contains("as other data"), "11 % are little: {}", written_in(9.0));
    }

    #[test]
    fn the_durable_speed_has_its_interval_and_rounds() {
        let timings =
            [10.0, 8.0, 12.5].map(|seconds| timing(WriteMethod::FlushAtEnd, seconds, seconds, None)).to_vec();
        let mut data = MethodsData { timings, ..MethodsData::default() };
        let text = |data: &MethodsData| terminal::bench_text(&bench_report(data), 200, Style::Plain);
        let report = text(&data);
        assert!(report.starts_with("Durable write speed 8.00 MB/s (6.40 to 10.0 MB/s)."), "{report}");
        assert!(report.contains("3 rounds"), "{report}");
        data.timings.truncate(1);
        assert!(text(&data).contains("One round: a single stall"), "{}", text(&data));
    }

    #[test]
    fn the_verdict_is_the_durable_speed_or_why_it_is_unknown() {
        let timings = vec![
            timing(WriteMethod::Zeros, 0.1, 0.2, None),
            timing(WriteMethod::FlushAtEnd, 10.0, 10.0, None),
        ];
        let mut data = MethodsData { timings, ..MethodsData::default() };
        let text = |data: &MethodsData| terminal::bench_text(&bench_report(data), 80, Style::Plain);
        assert!(text(&data).starts_with("Durable write speed 8.00 MB/s."), "{}", text(&data));
        assert!(text(&data).contains("Why they differ") && !text(&data).contains("(cached)"));
        let link = LinkLimit { bytes_per_s: Bytes::new(1_216_000), name: "USB at 12 Mbit/s".to_owned() };
        data.link = Some(link);
        assert!(text(&data).starts_with("Unknown: the writes were cached"), "{}", text(&data));
        assert_eq!(text(&data).matches("(cached)").count(), 2);
        data.timings.truncate(1);
        assert!(text(&data).contains("did not run"));
        data.timings.clear();
        assert_eq!(text(&data), "Unknown: no round was completed.\n");
    }
}
