//! Sentences about speeds: the headline, warm-ups, cached figures, and confidence.

use flashscope_device::Bytes;
use flashscope_infer::streams::drift::Drift;
use flashscope_infer::streams::speed::{Speed, Unsettled};
use flashscope_record::observation::{Contents, Data, Direction, SpeedCase};

use super::cached::cached as because_cached;
use super::sentence::Sentence;
use crate::speeds::{case_name, large_sequential, rounded, small_random, speeds};
use crate::{Report, quantity};

/// Programs copy files in requests of this size, or larger ones that the kernel splits. Guess.
const LARGE: Bytes = Bytes::kib(128);
/// The least ratio between warm-up and steady state that is reported. Guess: 10 % is below what a user
/// notices.
const WARM_UP_RATIO_MIN: f64 = 1.1;
/// The fewest requests of a warm-up that is reported: one or two requests may have met a stall or an open
/// block.
const WARM_UP_REQUESTS_MIN: u64 = 3;

/// The speeds of a report, for its sentences.
pub struct SpeedSentences {
    speeds: Vec<(SpeedCase, Option<Speed>)>,
    /// The contents of the region read, if most of it was blank.
    blank: Option<Contents>,
    /// Whether the writes continued until rare stalls and cache ends would have shown.
    is_thorough: bool,
}

impl SpeedSentences {
    /// The speeds of a report; `None` if it has none.
    pub fn of(report: &Report<'_>) -> Option<Self> {
        let speeds = speeds(report.run);
        (!speeds.is_empty()).then(|| Self { speeds, blank: blank(report), is_thorough: is_thorough(report) })
    }

    /// Large sequential and small random requests, read and write; without cached figures.
    pub fn headline(&self) -> Option<String> {
        let parts: Vec<String> = [Direction::Read, Direction::Write]
            .into_iter()
            .flat_map(|direction| [self.sequential(direction), self.random(direction)])
            .flatten()
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// `sequential read 198 MB/s`; with size and queue depth if they are not those of a copy.
    fn sequential(&self, direction: Direction) -> Option<String> {
        let speed = large_sequential(&self.speeds, direction).filter(is_not_cached)?;
        let SpeedCase { request, queue_depth, .. } = speed.case;
        let size = (request < LARGE).then(|| request.to_string());
        let queue_depth = (queue_depth > 1).then(|| format!("queue depth {queue_depth}"));
        let details: Vec<String> = size.into_iter().chain(queue_depth).collect();
        let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
        Some(format!("sequential {} {}{details}", direction.as_str(), quantity::speed(speed.bytes_per_s)))
    }

    /// `random read 2,976 IOPS (4 KiB, queue depth 1)`.
    fn random(&self, direction: Direction) -> Option<String> {
        let speed = small_random(&self.speeds, direction).filter(is_not_cached)?;
        let iops = quantity::three_digits(speed.requests_per_s());
        let SpeedCase { request, queue_depth, .. } = speed.case;
        Some(format!("random {} {iops} IOPS ({request}, queue depth {queue_depth})", direction.as_str()))
    }

    /// Cached figures, and warm-ups that differ from the steady state.
    pub fn consequences(&self) -> Vec<Sentence> {
        let known = || self.speeds.iter().filter_map(|(_, speed)| speed.as_ref());
        let cached: Vec<&Speed> = known().filter(|speed| speed.cached.is_some()).collect();
        let same_reason = cached.chunk_by(|one, next| one.cached == next.cached);
        same_reason.filter_map(cached_text).chain(known().filter_map(warm_up)).map(Sentence::new).collect()
    }

    /// The confidence of the speeds, and what they do not cover.
    pub fn confidence(&self) -> Vec<Sentence> {
        let known = self.speeds.iter().find_map(|(_, speed)| speed.as_ref());
        let interval = known.map(|speed| {
            let probability = quantity::percent(speed.confidence);
            format!("each speed lies within its interval with a probability of {probability}, if the device keeps its behaviour")
        });
        let written = large_sequential(&self.speeds, Direction::Write).filter(is_not_cached);
        let not_covered = written.map(|speed| not_covered(speed, self.is_thorough));
        let back_to_back = (self.speeds.len() > 1).then(|| {
            "tests run back to back; each starts in the state the previous one left. \
             To run one alone: --order, --size, --queue-depth"
                .to_owned()
        });
        let too_few = self.speeds.iter().filter(|(_, speed)| speed.is_none()).map(|(case, _)| {
            let name = case_name(*case);
            format!("unknown: {name}; it had too few requests, or one request took most of the time")
        });
        let blank = self.blank.map(|contents| {
            format!("{contents}. A controller may answer reads of blank areas without reading flash: written areas may be slower")
        });
        let unsettled = unsettled(&self.speeds);
        interval
            .into_iter()
            .chain(not_covered)
            .chain(unsettled)
            .chain(back_to_back)
            .chain(too_few)
            .chain(blank)
            .map(Sentence::new)
            .collect()
    }
}

fn blank(report: &Report<'_>) -> Option<Contents> {
    report.run.observations.iter().find_map(|observations| match &observations.data {
        Data::Speed(data) if data.contents.mostly_blank() == Some(true) => Some(data.contents),
        _ => None,
    })
}

fn is_thorough(report: &Report<'_>) -> bool {
    let mut data = report.run.observations.iter().map(|observations| &observations.data);
    data.any(|data| matches!(data, Data::Speed(data) if data.is_thorough))
}

/// A cached figure is no speed of the device.
fn is_not_cached(speed: &&Speed) -> bool {
    speed.cached.is_none()
}

/// What a write test of this length cannot show.
fn not_covered(speed: &Speed, is_thorough: bool) -> String {
    let (name, written) = (case_name(speed.case), rounded(speed.transferred()));
    let command = if is_thorough {
        "bench sustained"
    } else {
        "bench sustained, or bench write --thorough on a whole stick"
    };
    format!(
        "{name}: measured over {written}. The end of a larger SLC cache, or rarer stalls, would not show. Run: {command}"
    )
}

/// The request kinds whose steady-state speed may differ, one sentence a reason.
fn unsettled(speeds: &[(SpeedCase, Option<Speed>)]) -> Vec<String> {
    let known = speeds.iter().filter_map(|(_, speed)| speed.as_ref()).filter(is_not_cached);
    let unsettled: Vec<(&Speed, Unsettled)> =
        known.filter_map(|speed| speed.unsettled.map(|reason| (speed, reason))).collect();
    let mut reasons: Vec<Unsettled> = Vec::new();
    for (_, reason) in &unsettled {
        if !reasons.contains(reason) {
            reasons.push(*reason);
        }
    }
    let names = |reason: Unsettled| {
        let same_reason = unsettled.iter().filter(|(_, other)| *other == reason);
        same_reason.map(|(speed, _)| case_name(speed.case)).collect::<Vec<_>>().join("; ")
    };
    reasons.into_iter().map(|reason| format!("{}: {}", names(reason), unsettled_text(reason))).collect()
}

fn unsettled_text(reason: Unsettled) -> String {
    match reason {
        Unsettled::Drifts(Drift::Faster) => {
            "the speed still rose when the test ended; the steady state may be faster".to_owned()
        }
        Unsettled::Drifts(Drift::Slower) => {
            "the speed still fell when the test ended; the steady state may be slower".to_owned()
        }
        Unsettled::AfterExhaustedCache(cache) => format!(
            "a previous test left {} in the SLC cache, more than this test wrote. While the device folds it, this speed \
             may be below the steady state",
            rounded(cache)
        ),
    }
}

/// Consecutive request kinds that are cached for the same reason.
fn cached_text(speeds: &[&Speed]) -> Option<String> {
    let (first, others) = speeds.split_first()?;
    let reason = because_cached(first.cached.as_ref()?);
    let others = match others.len() {
        0 => String::new(),
        1 => ", and the next row".to_owned(),
        more => format!(", and the next {more} rows"),
    };
    let speed = quantity::speed(first.bytes_per_s);
    Some(format!("{}: {speed} is cached ({reason}). Not counted: this figure{others}", case_name(first.case)))
}

fn warm_up(speed: &Speed) -> Option<String> {
    let warm_up = speed.startup.filter(|_| speed.cached.is_none())?;
    let ratio = warm_up.bytes_per_s / speed.bytes_per_s;
    let differs = ratio >= WARM_UP_RATIO_MIN || ratio <= 1.0 / WARM_UP_RATIO_MIN;
    let is_long = warm_up.bytes >= speed.case.request * WARM_UP_REQUESTS_MIN;
    (differs && is_long).then(|| {
        format!(
            "{}: warm-up over the first {} at {}, excluded from the speed",
            case_name(speed.case),
            rounded(warm_up.bytes),
            quantity::speed(warm_up.bytes_per_s)
        )
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;
    use flashscope_infer::streams::speed::speed;
    use flashscope_record::finding::Cached;
    use flashscope_record::observation::{Order, SpeedCell};

    use super::*;

    /// Requests of which every second one takes 10 % longer, after some of another latency.
    fn row(direction: Direction, order: Order, request: Bytes, start: (u64, u64)) -> Speed {
        let mut cell = SpeedCell::new(SpeedCase { direction, order, request, queue_depth: 1 });
        let mut ended = Duration::ZERO;
        for index in 0..400 {
            let took = Duration::from_millis(if index < start.0 { start.1 } else { 10 + index % 2 });
            ended += took;
            cell.keep(took, ended);
        }
        speed(&cell, None).unwrap()
    }

    fn sentences(speeds: impl IntoIterator<Item = Speed>) -> SpeedSentences {
        let speeds = speeds.into_iter().map(|speed| (speed.case, Some(speed))).collect();
        SpeedSentences { speeds, blank: None, is_thorough: false }
    }

    #[test]
    fn the_headline_has_no_cached_figure() {
        let rows = [
            row(Direction::Read, Order::Linear, Bytes::mib(1), (0, 0)),
            row(Direction::Read, Order::Random, Bytes::kib(4), (0, 0)),
            row(Direction::Write, Order::Linear, Bytes::mib(1), (0, 0)),
            row(Direction::Write, Order::Random, Bytes::kib(4), (0, 0)),
        ];
        let headline = |cached: Option<usize>| {
            let mut rows = rows.clone();
            cached.into_iter().for_each(|index| rows[index].cached = Some(Cached::PageCache));
            sentences(rows).headline().unwrap()
        };
        let parts = [
            "sequential read 99.9 MB/s",
            "random read 95.2 IOPS (4 KiB, queue depth 1)",
            "sequential write 99.9 MB/s",
            "random write 95.2 IOPS (4 KiB, queue depth 1)",
        ];
        assert_eq!(headline(None), parts.join("; "));
        for cached in 0..4 {
            let rest: Vec<&str> = (0..4).filter(|index| *index != cached).map(|index| parts[index]).collect();
            assert_eq!(headline(Some(cached)), rest.join("; "));
        }
    }

    #[test]
    fn a_thorough_test_is_not_advised_after_one() {
        let row = row(Direction::Write, Order::Linear, Bytes::mib(1), (0, 0));
        assert!(not_covered(&row, true).ends_with("Run: bench sustained"));
        assert!(not_covered(&row, false).contains("bench write --thorough"));
    }

    #[test]
    fn each_reason_names_its_own_rows() {
        let drifts = |drift: Drift, order| {
            let mut row = row(Direction::Write, order, Bytes::kib(4), (0, 0));
            row.unsettled = Some(Unsettled::Drifts(drift));
            (row.case, Some(row))
        };
        let rows = [drifts(Drift::Faster, Order::Linear), drifts(Drift::Slower, Order::Random)];
        let [faster, slower] = &unsettled(&rows)[..] else { panic!("two reasons") };
        assert!(faster.starts_with(&format!("{}: the speed still rose", case_name(rows[0].0))), "{faster}");
        assert!(slower.starts_with(&format!("{}: the speed still fell", case_name(rows[1].0))), "{slower}");
    }

    #[test]
    fn a_warm_up_is_reported_if_it_differs_and_is_long() {
        let is_reported = |start| {
            let row = row(Direction::Write, Order::Linear, Bytes::mib(1), start);
            let texts = sentences([row]).consequences();
            texts.iter().any(|text| text.as_str().contains("warm-up"))
        };
        assert!(is_reported((40, 30)) && is_reported((40, 2)), "slower and faster");
        assert!(!is_reported((0, 0)) && !is_reported((40, 10)), "no warm-up");
        let mut cached = row(Direction::Write, Order::Linear, Bytes::mib(1), (40, 30));
        cached.cached = Some(Cached::PageCache);
        let texts = sentences([cached]).consequences();
        assert!(texts.iter().all(|text| !text.as_str().contains("warm-up")), "{texts:?}");
    }
}
