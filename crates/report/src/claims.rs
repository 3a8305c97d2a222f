//! What ways of writing claim, held against when the data is really there: a table, and why they differ.

use flashscope_infer::files::comparison::Spread;
use flashscope_infer::files::write_methods::{WaySpeed, cached, truth, ways};
use flashscope_record::observation::{Instead, MethodsData, Way};

use crate::chart::Table;
use crate::tabled::Tabled;
use crate::words::{IN_MEMORY, NO_ROUND, Sentence};
use crate::{quantity, words};

/// A claim by this factor above the truth is worth a sentence, and so is one below it.
const RATIO: f64 = 1.15;
/// Zeros that are there so much faster than other data are treated in a way of their own.
const ZEROS_RATIO: f64 = 1.3;

/// Why the figures of one of these ways differ from the others, a sentence each; none where they do not, or where the rounds differ as much.
#[must_use]
pub fn reasons(ways: &[WaySpeed], way: &WaySpeed, truth: &Spread) -> Vec<Sentence> {
    let parts = [in_memory(way), zeros(way, ways), source(way, truth), flushes(way, truth)];
    parts.into_iter().flatten().map(Sentence::new).collect()
}

/// A claim is held against when its own data was there: another way may have met a stall.
fn in_memory(way: &WaySpeed) -> Option<String> {
    (way.times.low > RATIO).then(|| {
        let (name, place) = match way.way.may_end_in_page_cache() {
            true => ("page cache", "memory"),
            false => ("the device's own cache", "its memory, or that of the program that serves it"),
        };
        format!(
            "{name}: it claims {} times what is really written, for the data was only in {place}; it took {} more until it was there",
            quantity::ratio(way.times.median),
            quantity::seconds(way.after_s)
        )
    })
}

fn zeros(way: &WaySpeed, ways: &[WaySpeed]) -> Option<String> {
    let others = || ways.iter().filter(|other| other.way != Way::Zeros);
    let most = others().map(|other| other.durable.high).max_by(f64::total_cmp)?;
    let fastest = others().map(|other| other.durable.median).max_by(f64::total_cmp)?;
    (way.way == Way::Zeros && way.durable.low > most && way.durable.median > fastest * ZEROS_RATIO).then(|| {
        format!(
            "zeros: they are there {} times as fast as other data, so the filesystem or the controller does not store them as such",
            quantity::ratio(way.durable.median / fastest)
        )
    })
}

fn source(way: &WaySpeed, truth: &Spread) -> Option<String> {
    let source = way.source.filter(|_| way.is_limited_by_its_source(truth))?;
    Some(format!(
        "the source itself gives {} only: it holds the writing up, not the device",
        quantity::speed(source.median)
    ))
}

fn flushes(way: &WaySpeed, truth: &Spread) -> Option<String> {
    let slower = truth.median / way.claimed.median;
    (way.way == Way::FlushEach && way.claimed.high < truth.low && slower > RATIO).then(|| {
        format!("a flush behind every MiB: {} times as slow as one at the end", quantity::ratio(slower))
    })
}

/// All of it: the true speed, every way, and why they differ.
#[must_use]
pub fn tabled(data: &MethodsData) -> Tabled {
    let (truth, ways) = (truth(data), ways(data));
    let why = truth.map(|truth| ways.iter().flat_map(|way| named(&ways, way, &truth)).collect());
    let cached: Vec<Sentence> = ways.iter().filter_map(|way| marked(data, way)).collect();
    let instead = data.instead.iter().map(|instead| instead.text().to_owned());
    let how = instead.chain(rounds(&ways)).map(Sentence::new).collect();
    Tabled {
        headline: Sentence::new(headline(data, &ways, truth)),
        title: "Ways to write",
        table: table(data, &ways),
        lists: vec![
            ("Why they differ", why.unwrap_or_default()),
            ("What counts for nothing", cached),
            ("How", how),
        ],
    }
}

fn headline(data: &MethodsData, ways: &[WaySpeed], truth: Option<Spread>) -> String {
    if data.instead.contains(&Instead::Memory) {
        return IN_MEMORY.to_owned();
    }
    let flushed = ways.iter().find(|way| way.way == Way::FlushAtEnd);
    match (truth, flushed.and_then(|way| cached(data, way))) {
        (Some(truth), _) => format!("data is really written at {}", with_interval(&truth)),
        _ if ways.is_empty() => NO_ROUND.to_owned(),
        (None, Some(reason)) => {
            format!("unknown: what was said to be written cannot be there: {}", words::cached(&reason))
        }
        (None, None) => "unknown: the way with a flush at the end could not be tried".to_owned(),
    }
}

/// What rests on how many rounds.
fn rounds(ways: &[WaySpeed]) -> Option<String> {
    match ways.iter().map(|way| way.rounds).min()? {
        1 => Some(
            "each way was tried once only, so a single stall may be all that sets one apart; more rounds tell (--rounds, --time-budget)"
                .to_owned(),
        ),
        rounds => Some(format!(
            "{rounds} rounds of all ways in turns: each figure is the median, with the interval in which it lies; where intervals \
             overlap, nothing is said"
        )),
    }
}

fn with_interval(spread: &Spread) -> String {
    let median = quantity::speed(spread.median);
    if spread.low >= spread.high {
        return median;
    }
    let [low, high] = quantity::apart(spread.low / 1e6, spread.high / 1e6);
    format!("{median} (between {low} MB/s and {high} MB/s)")
}

fn marked(data: &MethodsData, way: &WaySpeed) -> Option<Sentence> {
    let reason = cached(data, way)?;
    Some(Sentence::new(format!("{} is marked as cached: {}", way.way.command(), words::cached(&reason))))
}

fn named(ways: &[WaySpeed], way: &WaySpeed, truth: &Spread) -> Vec<Sentence> {
    let name = |reason: &Sentence| Sentence::new(format!("with {}: {}", way.way.command(), reason.as_str()));
    reasons(ways, way, truth).iter().map(name).collect()
}

fn table(data: &MethodsData, ways: &[WaySpeed]) -> Table {
    let header = ["as people do it", "claims", "really", "between", "source alone"];
    let row = |way: &WaySpeed| {
        vec![
            way.way.command().to_owned(),
            quantity::speed(way.claimed.median),
            quantity::speed(way.durable.median) + if cached(data, way).is_some() { " (cached)" } else { "" },
            between(way),
            way.source.map_or_else(|| "in memory".to_owned(), |source| quantity::speed(source.median)),
        ]
    };
    Table { header: header.map(str::to_owned).to_vec(), rows: ways.iter().map(row).collect() }
}

/// The interval, its unit once.
fn between(way: &WaySpeed) -> String {
    if way.rounds == 1 {
        return "measured once".to_owned();
    }
    let [low, high] = quantity::apart(way.durable.low / 1e6, way.durable.high / 1e6);
    format!("{low} to {high} MB/s")
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::observation::{Claim, LinkLimit};

    use super::*;
    use crate::Style;

    fn claim(way: Way, claimed_s: f64, durable_s: f64, source_s: Option<f64>) -> Claim {
        Claim { way, bytes: Bytes::new(80_000_000), claimed_s, durable_s, source_s }
    }

    /// These rounds of one way, beside others with a flush at the end.
    fn why(rounds: &[Claim], flushed_s: &[f64]) -> String {
        let flushed = flushed_s.iter().map(|seconds| claim(Way::FlushAtEnd, *seconds, *seconds, None));
        let claims = rounds.iter().copied().chain(flushed).collect();
        why_among(&MethodsData { claims, ..MethodsData::default() })
    }

    /// What is said of the first way.
    fn why_among(data: &MethodsData) -> String {
        let ways = ways(data);
        let said = reasons(&ways, &ways[0], &truth(data).unwrap());
        said.iter().map(Sentence::as_str).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_reason_is_named_where_it_holds_and_nowhere_else() {
        let of = |claim| why(&[claim], &[10.0]);
        let cached = of(claim(Way::Zeros, 0.1, 10.0, Some(0.01)));
        assert!(cached.contains("100 times") && !cached.contains("zeros:"), "{cached}");
        assert!(of(claim(Way::Zeros, 0.1, 0.2, Some(0.01))).contains("50 times as fast"));
        assert!(of(claim(Way::Random, 11.0, 11.5, Some(10.9))).contains("source"));
        assert!(of(claim(Way::FlushEach, 20.0, 20.0, None)).contains("2.0 times as slow"));
        assert_eq!(of(claim(Way::Direct, 10.0, 10.1, None)), "");
        let direct = of(claim(Way::Direct, 5.0, 10.0, None));
        assert!(direct.contains("own cache") && !direct.contains("page cache"), "{direct}");
    }

    #[test]
    fn a_stall_in_one_round_makes_no_reason() {
        let each = |seconds: f64| claim(Way::FlushEach, seconds, seconds, None);
        let steady = [10.0, 10.1, 9.9, 10.0, 10.2];
        assert_eq!(why(&[10.0, 10.1, 40.0, 9.9, 10.0].map(each), &steady), "");
        assert!(why(&[20.0, 20.3, 40.0, 19.9, 20.0].map(each), &steady).contains("2.0 times as slow"));
        // The flush at the end stalled once: no other way is fast because of that.
        assert_eq!(why(&[10.0, 10.1, 10.0, 9.9, 10.0].map(each), &[10.0, 40.0, 10.0, 9.9, 10.1]), "");
        // The source alone is slower, and what arrives comes and goes.
        let random = |seconds: f64| claim(Way::Random, seconds, seconds, Some(10.9));
        assert_eq!(why(&[11.0, 9.0, 11.0, 11.0, 11.0].map(random), &steady), "");
        // A claim is held against its own data: that of another way was there later.
        let own = |seconds: f64| claim(Way::Direct, seconds, seconds, None);
        assert_eq!(why(&[1.0, 1.0, 1.0].map(own), &[10.0, 10.0, 10.0]), "");
    }

    #[test]
    fn zeros_are_not_special_where_other_data_was_as_fast_in_another_way() {
        let zeros = claim(Way::Zeros, 0.1, 2.0, Some(0.01));
        let stalled = claim(Way::FlushAtEnd, 10.0, 10.0, None);
        let mut data = MethodsData { claims: vec![zeros, stalled], ..MethodsData::default() };
        assert!(why_among(&data).contains("5.0 times as fast as other data"));
        data.claims.push(claim(Way::Direct, 1.9, 1.9, None));
        assert!(!why_among(&data).contains("as other data"), "{}", why_among(&data));
    }

    #[test]
    fn a_figure_has_its_interval_and_rounds_are_told() {
        let claims = [10.0, 8.0, 12.5].map(|seconds| claim(Way::FlushAtEnd, seconds, seconds, None)).to_vec();
        let mut data = MethodsData { claims, ..MethodsData::default() };
        let text = |data: &MethodsData| tabled(data).text(200, Style::Plain);
        let told = text(&data);
        assert!(
            told.starts_with("Data is really written at 8.00 MB/s (between 6.40 MB/s and 10.0 MB/s)."),
            "{told}"
        );
        assert!(told.contains("3 rounds"), "{told}");
        data.claims.truncate(1);
        assert!(text(&data).contains("once only"), "{}", text(&data));
    }

    #[test]
    fn the_verdict_is_the_truth_or_why_there_is_none() {
        let claims = vec![claim(Way::Zeros, 0.1, 0.2, None), claim(Way::FlushAtEnd, 10.0, 10.0, None)];
        let mut data = MethodsData { claims, ..MethodsData::default() };
        let text = |data: &MethodsData| tabled(data).text(80, Style::Plain);
        assert!(text(&data).starts_with("Data is really written at 8.00 MB/s."), "{}", text(&data));
        assert!(text(&data).contains("Why they differ") && !text(&data).contains("(cached)"));
        let link = LinkLimit { bytes_per_s: Bytes::new(1_216_000), name: "USB at 12 Mbit/s".to_owned() };
        data.link = Some(link);
        assert!(text(&data).starts_with("Unknown: what was said to be written"), "{}", text(&data));
        assert_eq!(text(&data).matches("(cached)").count(), 2);
        data.claims.truncate(1);
        assert!(text(&data).contains("could not be tried"));
        data.claims.clear();
        assert_eq!(text(&data), "Unknown: no round came to its end.\n");
    }
}
