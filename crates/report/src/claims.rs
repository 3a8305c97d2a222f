//! What ways of writing claim, held against when the data is really there: a table, and why they differ.

use flashscope_probe::inference::{cached, truth};
use flashscope_probe::observation::{Claim, MethodsData, Way};

use crate::chart::Table;
use crate::quantity;
use crate::tabled::Tabled;
use crate::words::Sentence;

/// A claim by this factor above the truth is worth a sentence, and so is one below it.
const RATIO: f64 = 1.15;
/// Zeros that are there so much faster than other data are treated in a way of their own.
const ZEROS_RATIO: f64 = 1.3;

/// Why a claim of these ways differs from the truth, a sentence each; none where it does not.
#[must_use]
pub fn reasons(data: &MethodsData, claim: &Claim, truth: f64) -> Vec<Sentence> {
    let fastest = fastest_other_data(data);
    let parts = [in_memory(claim, truth), zeros(claim, fastest), source(claim, truth), flushes(claim, truth)];
    parts.into_iter().flatten().map(Sentence::new).collect()
}

fn in_memory(claim: &Claim, truth: f64) -> Option<String> {
    let rest = claim.durable_s - claim.claimed_s;
    (claim.claimed() > truth * RATIO && rest > claim.claimed_s * (RATIO - 1.0)).then(|| {
        let (name, place) = match claim.way.may_end_in_page_cache() {
            true => ("page cache", "memory"),
            false => ("the device's own cache", "its memory, or that of the program that serves it"),
        };
        format!(
            "{name}: it claims {} times the truth, for the data was only in {place}; it took {} more until it was there",
            quantity::ratio(claim.claimed() / truth),
            quantity::seconds(rest)
        )
    })
}

/// What any way with random bytes reached, bytes per second: one stall makes a single way several times as slow, so zeros are
/// held against the fastest.
fn fastest_other_data(data: &MethodsData) -> Option<f64> {
    let others = data.claims.iter().filter(|claim| claim.way != Way::Zeros);
    others.map(Claim::durable).max_by(f64::total_cmp)
}

fn zeros(claim: &Claim, fastest: Option<f64>) -> Option<String> {
    let fastest = fastest.filter(|_| claim.way == Way::Zeros)?;
    (claim.durable() > fastest * ZEROS_RATIO).then(|| {
        format!(
            "zeros: they are there {} times as fast as other data, so the filesystem or the controller does not store them as such",
            quantity::ratio(claim.durable() / fastest)
        )
    })
}

/// A source that gives hardly more than what arrives is what was measured.
fn source(claim: &Claim, truth: f64) -> Option<String> {
    let source = claim.source()?;
    (source < truth * RATIO).then(|| {
        format!(
            "the source itself gives {} only: it holds the writing up, not the device",
            quantity::speed(source)
        )
    })
}

fn flushes(claim: &Claim, truth: f64) -> Option<String> {
    let slower = truth / claim.claimed();
    (claim.way == Way::FlushEach && slower > RATIO).then(|| {
        format!("a flush behind every MiB: {} times as slow as one at the end", quantity::ratio(slower))
    })
}

/// All of it: the true speed, every way, and why they differ.
#[must_use]
pub fn tabled(data: &MethodsData) -> Tabled {
    let truth = truth(data);
    let claims = &data.claims;
    let why = truth.map(|truth| claims.iter().flat_map(|claim| named(data, claim, truth)).collect());
    let cached: Vec<Sentence> = claims.iter().filter_map(|claim| marked(data, claim)).collect();
    let instead = data.instead.iter().map(|instead| Sentence::new(instead.text())).collect();
    Tabled {
        headline: Sentence::new(headline(data, truth)),
        title: "Ways to write",
        table: table(data),
        lists: vec![
            ("Why they differ", why.unwrap_or_default()),
            ("What counts for nothing", cached),
            ("How", instead),
        ],
    }
}

fn headline(data: &MethodsData, truth: Option<f64>) -> String {
    let flushed = data.claims.iter().find(|claim| claim.way == Way::FlushAtEnd);
    match (truth, flushed.and_then(|claim| cached(data, claim))) {
        (Some(truth), _) => format!("data is really written at {}", quantity::speed(truth)),
        (None, Some(reason)) => format!("unknown: what was said to be written cannot be there: {reason}"),
        (None, None) => "unknown: the way with a flush at the end could not be tried".to_owned(),
    }
}

fn marked(data: &MethodsData, claim: &Claim) -> Option<Sentence> {
    let reason = cached(data, claim)?;
    Some(Sentence::new(format!("{} is marked as cached: {reason}", claim.way.command())))
}

fn named(data: &MethodsData, claim: &Claim, truth: f64) -> Vec<Sentence> {
    let name =
        |reason: &Sentence| Sentence::new(format!("with {}: {}", claim.way.command(), reason.as_str()));
    reasons(data, claim, truth).iter().map(name).collect()
}

fn table(data: &MethodsData) -> Table {
    let header = ["as people do it", "claims", "really", "there after", "source alone"];
    let row = |claim: &Claim| {
        vec![
            claim.way.command().to_owned(),
            quantity::speed(claim.claimed()),
            quantity::speed(claim.durable()) + if cached(data, claim).is_some() { " (cached)" } else { "" },
            quantity::seconds(claim.durable_s),
            claim.source().map_or_else(|| "in memory".to_owned(), quantity::speed),
        ]
    };
    Table { header: header.map(str::to_owned).to_vec(), rows: data.claims.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_probe::observation::LinkLimit;

    use super::*;
    use crate::Style;

    fn claim(way: Way, claimed_s: f64, durable_s: f64, source_s: Option<f64>) -> Claim {
        Claim { way, bytes: Bytes::new(80_000_000), claimed_s, durable_s, source_s }
    }

    fn why(claim: &Claim) -> String {
        let data = MethodsData {
            claims: vec![*claim, self::claim(Way::FlushAtEnd, 10.0, 10.0, None)],
            ..MethodsData::default()
        };
        why_among(&data, claim)
    }

    fn why_among(data: &MethodsData, claim: &Claim) -> String {
        reasons(data, claim, 8e6).iter().map(Sentence::as_str).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_reason_is_named_where_it_holds_and_nowhere_else() {
        let cached = claim(Way::Zeros, 0.1, 10.0, Some(0.01));
        assert!(why(&cached).contains("100 times") && !why(&cached).contains("zeros:"), "{}", why(&cached));
        assert!(why(&claim(Way::Zeros, 0.1, 0.2, Some(0.01))).contains("50 times as fast"));
        assert!(why(&claim(Way::Random, 11.0, 11.5, Some(10.9))).contains("source"));
        assert!(why(&claim(Way::FlushEach, 20.0, 20.0, None)).contains("2.0 times as slow"));
        assert_eq!(why(&claim(Way::Direct, 10.0, 10.1, None)), "");
        let direct = why(&claim(Way::Direct, 5.0, 10.0, None));
        assert!(direct.contains("own cache") && !direct.contains("page cache"), "{direct}");
    }

    #[test]
    fn zeros_are_not_special_where_other_data_was_as_fast_in_another_way() {
        let zeros = claim(Way::Zeros, 0.1, 2.0, Some(0.01));
        let stalled = claim(Way::FlushAtEnd, 10.0, 10.0, None);
        let mut data = MethodsData { claims: vec![zeros, stalled], ..MethodsData::default() };
        assert!(why_among(&data, &zeros).contains("5.0 times as fast as other data"));
        data.claims.push(claim(Way::Direct, 1.9, 1.9, None));
        assert!(!why_among(&data, &zeros).contains("as other data"), "{}", why_among(&data, &zeros));
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
    }
}
