//! What ways of writing claim, held against when the data is really there: a table, and why they differ.

use flashscope_device::Bytes;

use crate::chart::Table;
use crate::words::Sentence;
use crate::{Style, quantity, terminal};

/// A claim by this factor above the truth is worth a sentence, and so is one below it.
const RATIO: f64 = 1.15;
/// Zeros that are there so much faster than other data are treated in a way of their own.
const ZEROS_RATIO: f64 = 1.3;

/// How bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Zeros through the page cache.
    Zeros,
    /// Random bytes of the kernel's through the page cache.
    Random,
    /// With one flush at the end, which counts.
    FlushAtEnd,
    /// With a flush behind every write.
    FlushEach,
    /// Past the page cache.
    Direct,
}

impl Kind {
    /// A short name that does not change between versions.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Zeros => "buffered_zeros",
            Self::Random => "buffered_random",
            Self::FlushAtEnd => "fdatasync_at_end",
            Self::FlushEach => "o_sync",
            Self::Direct => "o_direct",
        }
    }

    /// As people type it.
    #[must_use]
    pub const fn command(self) -> &'static str {
        match self {
            Self::Zeros => "dd if=/dev/zero bs=1M",
            Self::Random => "dd if=/dev/urandom bs=1M",
            Self::FlushAtEnd => "dd bs=1M conv=fdatasync",
            Self::FlushEach => "dd bs=1M oflag=sync",
            Self::Direct => "dd bs=1M oflag=direct",
        }
    }
}

/// What one way of writing claims. Times in seconds, above zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// The way.
    pub kind: Kind,
    /// How much was written.
    pub bytes: Bytes,
    /// Until whoever writes like this would stop the clock.
    pub claimed_s: f64,
    /// Until the data was really there.
    pub durable_s: f64,
    /// What making the bytes takes without writing them, where it takes time.
    pub source_s: Option<f64>,
}

impl Claim {
    /// The speed it claims, bytes per second.
    #[must_use]
    pub fn claimed(&self) -> f64 {
        self.bytes.as_f64() / self.claimed_s
    }

    /// The speed until the data was there.
    #[must_use]
    pub fn durable(&self) -> f64 {
        self.bytes.as_f64() / self.durable_s
    }

    /// The speed of the source.
    #[must_use]
    pub fn source(&self) -> Option<f64> {
        self.source_s.map(|seconds| self.bytes.as_f64() / seconds)
    }
}

/// The true speed: of data that nothing can guess, until one flush at the end says that it is there. `None` without that way.
#[must_use]
pub fn truth(claims: &[Claim]) -> Option<f64> {
    claims.iter().find(|claim| claim.kind == Kind::FlushAtEnd).map(Claim::durable)
}

/// Why a claim differs from the truth, a sentence each; none where it does not.
#[must_use]
pub fn reasons(claim: &Claim, truth: f64) -> Vec<Sentence> {
    let parts = [in_memory(claim, truth), zeros(claim, truth), source(claim, truth), flushes(claim, truth)];
    parts.into_iter().flatten().map(Sentence::new).collect()
}

fn in_memory(claim: &Claim, truth: f64) -> Option<String> {
    let rest = claim.durable_s - claim.claimed_s;
    (claim.claimed() > truth * RATIO && rest > claim.claimed_s * (RATIO - 1.0)).then(|| {
        format!(
            "page cache: it claims {} times the truth, for the data was only in memory; it took {} more until it was there",
            quantity::ratio(claim.claimed() / truth),
            quantity::seconds(rest)
        )
    })
}

fn zeros(claim: &Claim, truth: f64) -> Option<String> {
    let is_special = claim.kind == Kind::Zeros && claim.durable() > truth * ZEROS_RATIO;
    is_special.then(|| {
        format!(
            "zeros: they are there {} times as fast as other data, so the filesystem or the controller does not store them as such",
            quantity::ratio(claim.durable() / truth)
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
    (claim.kind == Kind::FlushEach && slower > RATIO).then(|| {
        format!("a flush behind every MiB: {} times as slow as one at the end", quantity::ratio(slower))
    })
}

/// All of it as text, lines at most `width` columns wide.
#[must_use]
pub fn text(claims: &[Claim], width: usize, style: Style) -> String {
    let truth = truth(claims);
    let headline = truth.map_or_else(
        || "unknown: the way with a flush at the end could not be tried".to_owned(),
        |truth| format!("data is really written at {}", quantity::speed(truth)),
    );
    let why: Option<Vec<Sentence>> =
        truth.map(|truth| claims.iter().flat_map(|claim| named(claim, truth)).collect());
    let why = [("Why they differ", why.unwrap_or_default())];
    terminal::tabled(&Sentence::new(headline), ("Ways to write", &table(claims)), &why, width, style)
}

fn named(claim: &Claim, truth: f64) -> Vec<Sentence> {
    let name = |reason: &Sentence| Sentence::new(format!("{}: {}", claim.kind.command(), reason.as_str()));
    reasons(claim, truth).iter().map(name).collect()
}

fn table(claims: &[Claim]) -> Table {
    let header = ["as people do it", "claims", "really", "there after", "source alone"];
    let row = |claim: &Claim| {
        vec![
            claim.kind.command().to_owned(),
            quantity::speed(claim.claimed()),
            quantity::speed(claim.durable()),
            quantity::seconds(claim.durable_s),
            claim.source().map_or_else(|| "in memory".to_owned(), quantity::speed),
        ]
    };
    Table { header: header.map(str::to_owned).to_vec(), rows: claims.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(kind: Kind, claimed_s: f64, durable_s: f64, source_s: Option<f64>) -> Claim {
        Claim { kind, bytes: Bytes::new(80_000_000), claimed_s, durable_s, source_s }
    }

    fn why(claim: &Claim) -> String {
        reasons(claim, 8e6).iter().map(Sentence::as_str).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_reason_is_named_where_it_holds_and_nowhere_else() {
        let cached = claim(Kind::Zeros, 0.1, 10.0, Some(0.01));
        assert!(why(&cached).contains("100 times") && !why(&cached).contains("zeros:"), "{}", why(&cached));
        assert!(why(&claim(Kind::Zeros, 0.1, 0.2, Some(0.01))).contains("50 times as fast"));
        assert!(why(&claim(Kind::Random, 11.0, 11.5, Some(10.9))).contains("source"));
        assert!(why(&claim(Kind::FlushEach, 20.0, 20.0, None)).contains("2.0 times as slow"));
        assert_eq!(why(&claim(Kind::Direct, 10.0, 10.1, None)), "");
    }

    #[test]
    fn the_truth_is_that_of_the_flush_at_the_end() {
        let claims = [claim(Kind::Zeros, 0.1, 0.2, None), claim(Kind::FlushAtEnd, 10.0, 10.0, None)];
        assert_eq!(truth(&claims), Some(8e6));
        assert_eq!(truth(&claims[..1]), None);
        let text = text(&claims, 80, Style::Plain);
        assert!(text.starts_with("Data is really written at 8.00 MB/s.") && text.contains("Why"), "{text}");
    }
}
