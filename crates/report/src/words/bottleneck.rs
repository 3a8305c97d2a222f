//! Which layer holds the device back, and what it would give to lift it.

use flashscope_record::diagnosis::{Bottleneck, Cost, Diagnosis, Gain, LITTLE, Layer, Unweighed, Why};

use super::reason::reason;
use super::sentence::Sentence;
use super::would_decide::would_decide;

pub fn sentences(diagnosis: &Diagnosis) -> Vec<Sentence> {
    let is_open = matches!(diagnosis.bottleneck, Bottleneck::Unknown { .. });
    if is_open && diagnosis.costs.is_empty() && diagnosis.unweighed.is_empty() {
        // Nothing was written; that is said where it is told how sure all this is.
        return Vec::new();
    }
    let first = match &diagnosis.bottleneck {
        Bottleneck::Layer(cost) => format!(
            "{}; an everyday copy (large files, some small ones, several at once) would be {} without it",
            told(cost),
            times(cost.gain)
        ),
        Bottleneck::Flash { evidence } => format!("{}: {evidence}", Layer::Flash.title()),
        Bottleneck::Unknown { reason, would_decide: decides } => {
            format!("unknown: {}; what would tell: {}", why(reason), would_decide(decides))
        }
    };
    let others = diagnosis.costs.iter().skip(1).filter(|cost| cost.gain.likely >= LITTLE);
    let others = others.map(|cost| format!("then {}: {} without it", told(cost), times(cost.gain)));
    let small = diagnosis.small_files.as_ref().filter(|cost| diagnosis.layer() != Some(cost.layer));
    let small = small.map(|cost| {
        format!(
            "small files alone are held back by {}; they would be {} without it",
            told(cost),
            times(cost.gain)
        )
    });
    let open = diagnosis.unweighed.iter().filter(|unweighed| !is_open && unweighed.layer != Layer::Alignment);
    let open = open.map(|Unweighed { layer, reason }| {
        format!("not weighed: {}, because {}", layer.title(), why(reason))
    });
    std::iter::once(first).chain(others).chain(small).chain(open).map(Sentence::new).collect()
}

/// Why a layer could not be weighed, or no layer can be named.
#[must_use]
pub fn why(unknown: &Why) -> String {
    match unknown {
        Why::Said(sentence) => sentence.clone(),
        Why::Finding(of_finding) => reason(of_finding),
        Why::NotWeighed(layer, because) => {
            format!("nothing that was weighed costs much, but {} was not: {}", layer.title(), why(because))
        }
    }
}

fn told(cost: &Cost) -> String {
    format!("{}: {}", cost.layer.title(), cost.evidence)
}

/// `1.4 to 2.1 times as fast`.
pub fn times(gain: Gain) -> String {
    let number = |ratio: f64| if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") };
    let (low, high) = (number(gain.low), number(gain.high));
    match low.as_str() {
        "1.0" => format!("up to {high} times as fast"),
        _ => format!("{low} to {high} times as fast"),
    }
}
