//! Speeds in sentences: the one to remember, what start-ups and caches did, and how sure it is.

use flashscope_infer::streams::drift::Drift;
use flashscope_infer::streams::speed::{Speed, Unsettled};
use flashscope_record::observation::{Contents, Data, Direction, SpeedCase};

use super::cached::cached as because_cached;
use super::sentence::Sentence;
use crate::speeds::{about, here_and_there, in_flight, in_order, name, speeds};
use crate::{Report, quantity};

/// A start-up that differs by less is not worth a sentence.
const STARTUP_RATIO: f64 = 1.1;
/// Nor is one of fewer requests: a single one may have been held up, or found a block open.
const STARTUP_REQUESTS: u64 = 3;

/// The speeds of a report, for its sentences.
pub struct Words {
    speeds: Vec<(SpeedCase, Option<Speed>)>,
    /// What was read from places that hold nothing.
    blank: Option<Contents>,
    /// Whether writes went on until they had met what comes only every few gibibytes.
    is_thorough: bool,
}

impl Words {
    /// Those of a report that has any.
    pub fn of(report: &Report<'_>) -> Option<Self> {
        let speeds = speeds(report.run);
        (!speeds.is_empty()).then(|| Self { speeds, blank: blank(report), is_thorough: is_thorough(report) })
    }

    /// What to remember: large requests in order and small ones here and there. What is marked as cached is none of it.
    pub fn headline(&self) -> Option<String> {
        let parts: Vec<String> = [Direction::Read, Direction::Write]
            .into_iter()
            .filter_map(|direction| self.direction(direction))
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn direction(&self, direction: Direction) -> Option<String> {
        let large = in_order(&self.speeds, direction).filter(told);
        let small = here_and_there(&self.speeds, direction).filter(told);
        let verb = direction.as_str();
        let of = |speed: &Speed| {
            format!("{} {} {}", quantity::speed(speed.bytes_per_s), pieces(speed), between(speed))
        };
        let small_of = |speed: &Speed| {
            format!("{} a second {}", quantity::three_digits(speed.requests_per_s()), small_pieces(speed))
        };
        match (large, small) {
            (Some(large), Some(small)) => Some(format!("{verb}s {}, and {}", of(large), small_of(small))),
            (Some(large), None) => Some(format!("{verb}s {}", of(large))),
            (None, Some(small)) => Some(format!("{verb}s {}", small_of(small))),
            (None, None) => None,
        }
    }

    /// Start-ups that differ, and what cannot be.
    pub fn what_it_means(&self) -> Vec<Sentence> {
        let known = || self.speeds.iter().filter_map(|(_, speed)| speed.as_ref());
        let impossible: Vec<&Speed> = known().filter(|speed| speed.cached.is_some()).collect();
        let alike = impossible.chunk_by(|one, next| one.cached == next.cached);
        alike.filter_map(cached).chain(known().filter_map(startup)).map(Sentence::new).collect()
    }

    /// How sure the speeds are.
    pub fn how_sure(&self) -> Vec<Sentence> {
        let known = self.speeds.iter().find_map(|(_, speed)| speed.as_ref());
        let sure = known.map(|speed| {
            format!(
                "each speed lies between its two figures with a probability of {}, as long as the device goes on as it did",
                quantity::percent(speed.confidence)
            )
        });
        let in_order = in_order(&self.speeds, Direction::Write).filter(told);
        let beyond = in_order.map(|speed| beyond(speed, self.is_thorough));
        let left = (self.speeds.len() > 1).then(|| {
            "each kind of request met the device as those before it had left it; --order, --size and --queue-depth measure one \
             alone"
                .to_owned()
        });
        let few = self.speeds.iter().filter(|(_, speed)| speed.is_none()).map(|(case, _)| {
            format!(
                "unknown: the speed of {}; too few of them were made, or a single one took most of the time",
                name(*case)
            )
        });
        let blank = self.blank.map(|contents| {
            format!("{contents}: a controller may answer reads of such places without touching flash, and be slower elsewhere")
        });
        let unsettled = unsettled(&self.speeds);
        sure.into_iter()
            .chain(beyond)
            .chain(unsettled)
            .chain(left)
            .chain(few)
            .chain(blank)
            .map(Sentence::new)
            .collect()
    }
}

fn blank(report: &Report<'_>) -> Option<Contents> {
    report.run.observations.iter().find_map(|seen| match &seen.data {
        Data::Speed(data) if data.contents.mostly_blank() == Some(true) => Some(data.contents),
        _ => None,
    })
}

fn is_thorough(report: &Report<'_>) -> bool {
    let data = report.run.observations.iter().map(|seen| &seen.data);
    data.into_iter().any(|data| matches!(data, Data::Speed(data) if data.is_thorough))
}

/// What is marked as cached is no speed of the device.
fn told(speed: &&Speed) -> bool {
    speed.cached.is_none()
}

fn pieces(speed: &Speed) -> String {
    let (request, in_flight) = (speed.case.request, in_flight(speed.case.queue_depth));
    format!("in order in pieces of {request}{in_flight}, over {}", about(speed.transferred()))
}

/// What a row of writes cannot show, however even it is.
fn beyond(speed: &Speed, is_thorough: bool) -> String {
    let (name, over) = (name(speed.case), about(speed.transferred()));
    let longer = if is_thorough {
        "bench sustained goes on over more"
    } else {
        "bench sustained goes on over more, and so does bench write --thorough on a whole stick"
    };
    format!(
        "{name}: {over} were written at this speed; what comes later does not show here nor in other rows, such as the end of a cache that \
         holds more, or stalls that lie further apart ({longer})"
    )
}

/// Rows whose speed may be another one later, each reason once.
fn unsettled(speeds: &[(SpeedCase, Option<Speed>)]) -> Vec<String> {
    let known = speeds.iter().filter_map(|(_, speed)| speed.as_ref()).filter(told);
    let rows: Vec<(&Speed, Unsettled)> =
        known.filter_map(|speed| speed.unsettled.map(|why| (speed, why))).collect();
    let mut reasons: Vec<Unsettled> = Vec::new();
    for (_, why) in &rows {
        if !reasons.contains(why) {
            reasons.push(*why);
        }
    }
    let names = |why: Unsettled| {
        let of_it = rows.iter().filter(|(_, other)| *other == why);
        of_it.map(|(speed, _)| name(speed.case)).collect::<Vec<_>>().join("; ")
    };
    reasons.into_iter().map(|why| format!("{}: {}", names(why), because(why))).collect()
}

fn because(why: Unsettled) -> String {
    match why {
        Unsettled::Drifts(Drift::Faster) => {
            "still became faster when the row ended; the speed that lasts may be higher than this".to_owned()
        }
        Unsettled::Drifts(Drift::Slower) => {
            "still became slower when the row ended; the speed that lasts may be lower than this".to_owned()
        }
        Unsettled::BehindCache(cache) => format!(
            "less was written than the {} that a row before wrote into a cache; while the device works that off, this may be slower than what lasts",
            about(cache)
        ),
    }
}

fn small_pieces(speed: &Speed) -> String {
    format!("of {} here and there ({})", speed.case.request, quantity::speed(speed.bytes_per_s))
}

fn between(speed: &Speed) -> String {
    let megabytes = |bytes_per_s: f64| quantity::three_digits(bytes_per_s / 1e6);
    format!("({} to {})", megabytes(speed.bytes_per_s_low), megabytes(speed.bytes_per_s_high))
}

/// Rows one behind the other that are marked for one reason.
fn cached(speeds: &[&Speed]) -> Option<String> {
    let (first, others) = speeds.split_first()?;
    let why = because_cached(first.cached.as_ref()?);
    let all = match others.len() {
        0 => String::new(),
        1 => ", and so is the next row".to_owned(),
        more => format!(", and so are the next {more} rows"),
    };
    let it_counts = if others.is_empty() { "it counts" } else { "they count" };
    let speed = quantity::speed(first.bytes_per_s);
    Some(format!("{}: {speed} is cached{all}, for {why}; {it_counts} for nothing here", name(first.case)))
}

fn startup(speed: &Speed) -> Option<String> {
    let startup = speed.startup.filter(|_| speed.cached.is_none())?;
    let ratio = startup.bytes_per_s / speed.bytes_per_s;
    let differs = ratio >= STARTUP_RATIO || ratio <= 1.0 / STARTUP_RATIO;
    let lasts = startup.bytes >= speed.case.request * STARTUP_REQUESTS;
    (differs && lasts).then(|| {
        format!(
            "{}: the first {} went at {}; the speed is that of what followed",
            name(speed.case),
            about(startup.bytes),
            quantity::speed(startup.bytes_per_s)
        )
    })
}
