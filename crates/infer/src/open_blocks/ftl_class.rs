//! The class of the translation layer, from our own measurements.

use flashscope_device::Bytes;

use flashscope_record::figure::time;
use flashscope_record::finding::{Confidence, Finding, FindingId, FtlClass, Value};
use flashscope_record::observation::{OpenUnitsData, Order};

use crate::open_blocks::laws::Law;
use crate::open_blocks::open_units::{
    BY_SHARED_LOGS, Kind, Search, beginnings, evidence, one_run_confidence, puts_aside_shortly,
};
use crate::open_blocks::posterior;
use crate::statistics::count;
use crate::thresholds::SURE_ENOUGH;

const ID: FindingId = FindingId::FtlClass;
/// What the laws can be wrong about that their posterior does not know.
const MODEL_DOUBT: f64 = 0.01;
/// Small requests may take longer by themselves than those of the search, without a merge.
const SMALL_TAKE_LONGER: f64 = 1.5;

/// The class of the translation layer.
#[must_use]
pub fn ftl_class(data: &OpenUnitsData, search: &Result<Search<'_>, (String, String)>) -> Finding {
    let search = match search {
        Ok(search) => search,
        Err((reason, would_decide)) => return Finding::unknown(ID, reason, would_decide),
    };
    if search.kind == Kind::OneRun {
        let class = if puts_aside_shortly(search) { FtlClass::LogStructured } else { FtlClass::HybridLog };
        let value = Value::Class { class, above: None };
        return Finding::exact(ID, value, one_run_confidence(search), beginnings(search));
    }
    if let Kind::SharedLogs(logs) = search.kind {
        let value = Value::Class { class: FtlClass::HybridLog, above: None };
        return Finding::exact(ID, value, Confidence::new(BY_SHARED_LOGS), logs.text_of_logs());
    }
    if search.kind == Kind::Log {
        let value = Value::Class { class: FtlClass::LogStructured, above: None };
        let confidence = match (search.is_over_data(), data.groups.is_empty()) {
            (_, false) => BY_GROUPS,
            (true, true) => OVER_DATA,
            (false, true) => BY_SHORT_MERGES,
        };
        return Finding::exact(ID, value, Confidence::new(confidence), log(search));
    }
    if let Kind::Completed(seconds) = search.kind {
        let value = Value::Class { class: FtlClass::LogStructured, above: None };
        let text = format!(
            "out of order a write into one block takes only {} longer, far less than copying an erase block: a log completes what it maps at once",
            time(seconds)
        );
        return Finding::exact(ID, value, Confidence::new(BY_SHORT_MERGES), text);
    }
    if let Kind::Whole(free) = search.kind {
        let value = Value::Class { class: FtlClass::LogStructured, above: None };
        let text = format!(
            "requests of {free} cost nothing more into however many blocks, smaller ones do: they leave nothing to complete of what a log maps at once"
        );
        return Finding::exact(ID, value, Confidence::new(BY_FREE_REQUESTS), text);
    }
    if let Kind::Collected(collection) = search.kind {
        let value = Value::Class { class: FtlClass::PageMapped, above: None };
        return Finding::exact(ID, value, Confidence::new(BY_COLLECTION), collection.text());
    }
    let Some(linear) = search.fits(Order::Linear) else { return without_number(search) };
    let above = escaping_request(data, search, linear);
    if search.fits(Order::Random) == Some(0) {
        return linear_only(search, above);
    }
    if search.kind == Kind::Blocks && !search.is_tried(Order::Random) {
        let reason = "nothing was written out of order: whether that merges even in one block is not known";
        return Finding::unknown(ID, reason, "the whole search");
    }
    by_law(search, linear, above)
}

/// The class where the number of open units is not known: whether all switches merge or some shows from any number that is
/// surely too many.
fn without_number(search: &Search<'_>) -> Finding {
    if search.kind == Kind::Blocks && search.fits(Order::Random) == Some(0) {
        return linear_only(search, None);
    }
    if let Some(finding) = by_random_order(search) {
        return finding;
    }
    let posterior::Verdict { low, high, .. } = search.linear.verdict();
    if search.kind != Kind::Blocks || !search.shows_merges(Order::Linear) || high > posterior::OPEN_MAX {
        return Finding::unknown(ID, "no number of erase blocks was found that is too many", "more units");
    }
    let takes_linear_only = search.random.numbers()[0];
    let (class, probability) = law(search);
    let probability = probability * (1.0 - takes_linear_only);
    let seconds = search.merge(Order::Linear, low).map_or(0.0, |(seconds, _)| seconds);
    let merge = time(seconds);
    if probability < SURE_ENOUGH {
        let reason = format!(
            "beyond {low} to {high} open blocks writes pay merges of {merge}; what every switch costs is open"
        );
        return Finding::unknown(ID, reason, "more rounds");
    }
    let how = match class {
        FtlClass::LogStructured => "only some of the writes pay",
        _ => "every switch pays",
    };
    let text = format!("beyond {low} to {high} open blocks {how} a merge of {merge}");
    let value = Value::Class { class, above: None };
    Finding::exact(ID, value, Confidence::new(probability.min(WITHOUT_NUMBER)), text)
}

/// The class where nothing merges in order, as on a new stick that has nothing to copy, and every switch does out of order.
fn by_random_order(search: &Search<'_>) -> Option<Finding> {
    let random = search.fits(Order::Random).filter(|_| search.kind == Kind::Blocks)?;
    let every = search.random.law(Law::LeastRecent);
    if every < SURE_ENOUGH {
        return None;
    }
    let seconds = search.random.merge_seconds()?;
    let text = format!(
        "nothing merges in order; out of order, beyond {random} open blocks, every switch pays a merge of {}",
        time(seconds)
    );
    let value = Value::Class { class: FtlClass::OpenBlock, above: None };
    Some(Finding::exact(ID, value, Confidence::new(every.min(WITHOUT_NUMBER)), text))
}

/// How sure a class can be where the writes do not leave one number of open units: they follow the laws badly.
const WITHOUT_NUMBER: f64 = 0.93;

/// Whether the block written longest ago goes, or any, with how probable that is.
fn law(search: &Search<'_>) -> (FtlClass, f64) {
    let every = search.linear.law(Law::LeastRecent);
    if every >= 0.5 { (FtlClass::OpenBlock, every) } else { (FtlClass::LogStructured, 1.0 - every) }
}

/// Even one block out of order merges.
fn linear_only(search: &Search<'_>, above: Option<Bytes>) -> Finding {
    let doubt = MODEL_DOUBT + search.doubt_of_merges(Order::Random);
    let confidence = Confidence::new(search.random.verdict().probability * (1.0 - doubt));
    let value = Value::Class { class: FtlClass::LinearOnly, above };
    Finding::exact(ID, value, confidence, evidence(search, Order::Random, 0))
}

/// How sure it is that a log was seen over data: blocks that take nothing out of order and copy inside much faster than they write look like a log.
const OVER_DATA: f64 = 0.93;
/// How sure it is that single pages are mapped where space is collected evenly: a log of many streams does the same.
const BY_COLLECTION: f64 = 0.9;
/// The same where groups of pages out of order cost nothing more.
const BY_GROUPS: f64 = 0.94;
/// The same where larger requests pay no merge at all.
const BY_FREE_REQUESTS: f64 = 0.94;
/// And where only the length of merges tells a log from blocks that take nothing out of order.
const BY_SHORT_MERGES: f64 = 0.9;

fn log(search: &Search<'_>) -> String {
    let merge = search
        .merge(Order::Linear, search.fits(Order::Linear).unwrap_or(0))
        .map_or(0.0, |(seconds, _)| seconds);
    format!(
        "over data, a switch between blocks costs {} only, far less than an erase block: a log completes what it maps at once",
        time(merge)
    )
}

/// Whether every switch merges with one block too many, or only some do.
fn by_law(search: &Search<'_>, linear: u32, above: Option<Bytes>) -> Finding {
    let (class, probability) = law(search);
    let merge = search.merge(Order::Linear, linear);
    let merge_seconds = time(merge.map_or(0.0, |(seconds, _)| seconds));
    let law = match class {
        FtlClass::LogStructured => format!(
            "beyond {linear} open blocks only some of the writes pay a merge of {merge_seconds}: the cost grows step by step"
        ),
        _ => format!("beyond {linear} open blocks every switch pays a merge of {merge_seconds}"),
    };
    if linear == 1 {
        let value = Value::Class { class: FtlClass::OpenBlock, above };
        let confidence = Confidence::new(ONE_BLOCK);
        return Finding::exact(ID, value, confidence, law)
            .with_caveat("with one open block a log looks the same");
    }
    if probability < SURE_ENOUGH {
        let reason = format!(
            "beyond {linear} open blocks writes pay merges of {merge_seconds}, at every switch with {:.0} % probability",
            search.linear.law(Law::LeastRecent) * 100.0
        );
        return Finding::unknown(ID, reason, "more rounds");
    }
    let escape = above
        .map_or_else(String::new, |size| format!("; requests up to {size} take another path and pay none"));
    let value = Value::Class { class, above };
    let doubt = MODEL_DOUBT + search.doubt_of_merges(Order::Linear);
    Finding::exact(ID, value, Confidence::new(probability * (1.0 - doubt)), law + &escape)
}

/// How sure the class is where both laws say the same: logs with a single open block are rare.
const ONE_BLOCK: f64 = 0.85;

/// The largest request that pays no merge where larger ones do, with one unit too many.
fn escaping_request(data: &OpenUnitsData, search: &Search<'_>, linear: u32) -> Option<Bytes> {
    let search_began = if data.led { data.larger.first() } else { data.cells.first() };
    let request = search_began?.request;
    let slowness = search.slowness.scaled(SMALL_TAKE_LONGER);
    // A merge that is shorter would not show in a small request.
    search.merge(Order::Linear, linear).filter(|(seconds, _)| *seconds > slowness.limit_seconds())?;
    let surveyed = data.cells.iter().filter(|cell| {
        cell.order == Order::Linear && cell.open_units == linear + 1 && cell.request < request
    });
    let escapes = surveyed.filter(|cell| {
        let slow = cell.writes().filter(|(_, latency)| slowness.is_slow(*latency)).count();
        count(slow) <= 0.02 * count(cell.writes().count())
    });
    escapes.map(|cell| cell.request).max()
}
