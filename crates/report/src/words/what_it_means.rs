//! What it means for the person: measured times and speeds, not advice.

use flashscope_device::Bytes;
use flashscope_infer::statistics::median;
use flashscope_record::finding::FindingId;
use flashscope_record::observation::{AlignSample, Order};

use super::hedge::hedged;
use super::sentence::Sentence;
use crate::figures::{BySize, Figures, align_samples};
use crate::rate::Rate;
use crate::wall::{LEAST_RATIO, Wall, wall};
use crate::{Report, quantity};

/// Fewer writes than this tell no order from another.
const SEVERAL: u64 = 4;

pub fn sentences(report: &Report<'_>, figures: &Figures) -> Vec<Sentence> {
    if let Some(objection) = report.objection() {
        return vec![Sentence::new(format!("nothing for its use: {objection}"))];
    }
    let writes = [small_writes(report, figures), streams(report, figures), random_order(report, figures)];
    let measured = writes.iter().flatten().next().is_none().then(|| measured_speeds(figures)).flatten();
    let parts = [alignment(report), measured].into_iter().chain(writes);
    let parts = parts.chain([unmeasured_page(report, figures), small_random_writes(report, figures)]);
    let parts = parts.chain([in_the_long_run(report)]);
    let known: Vec<Sentence> = parts.flatten().map(Sentence::new).collect();
    if known.is_empty() {
        return vec![Sentence::new("nothing was found that one could act on")];
    }
    known
}

/// `4.10 ms each (15.7 MB/s, mean of 128 writes)`.
fn with_basis(rate: &Rate) -> String {
    format!("{} each ({}, {})", quantity::seconds(rate.seconds), quantity::speed(rate.speed()), rate.basis())
}

fn alignment(report: &Report<'_>) -> Option<String> {
    let block = report.size(FindingId::EraseBlockBytes)?;
    let text = format!(
        "data that straddles a multiple of {block} costs work in two erase blocks, so partitions should start at one"
    );
    let Some((extra, samples)) = extra_time(report, |candidate| candidate.is_multiple_of(block)) else {
        return Some(text);
    };
    let edge = format!(
        "{text}; even a read across such an edge takes {} longer than one beside it",
        quantity::seconds(extra)
    );
    Some(match extra_time(report, |candidate| candidate < block) {
        Some((inside, others)) => format!(
            "{edge}, across boundaries inside a block {} (medians of {} and {})",
            quantity::seconds(inside),
            samples,
            quantity::counted(others as u64, "sample"),
        ),
        None => format!("{edge} (median of {})", quantity::counted(samples as u64, "sample")),
    })
}

/// The median extra time of reads across the boundaries of these candidates, seconds, and of how many samples; `None` if
/// it is not above zero.
fn extra_time(report: &Report<'_>, these: impl Fn(Bytes) -> bool) -> Option<(f64, usize)> {
    let samples = align_samples(report.run).filter(|sample| these(sample.candidate));
    let differences: Vec<f64> = samples.map(AlignSample::difference).collect();
    let median = median(&differences).filter(|median| *median > 0.0)?;
    Some((median, differences.len()))
}

/// Where the limits are not known: the fastest and the slowest writes that were measured.
fn measured_speeds(figures: &Figures) -> Option<String> {
    let open = figures.open_units.iter().map(|((order, count), rates)| (*order, *count, rates));
    let one_place = figures.write_size.iter().map(|(order, rates)| (*order, 1, rates));
    let rates = open
        .chain(one_place)
        .flat_map(|(order, count, rates)| rates.values().map(move |rate| (order, count, rate)));
    let rates: Vec<(Order, u32, &Rate)> = rates.collect();
    let by_speed =
        |(_, _, a): &&(Order, u32, &Rate), (_, _, b): &&(Order, u32, &Rate)| a.speed().total_cmp(&b.speed());
    let (fastest, slowest) = (rates.iter().max_by(by_speed)?, rates.iter().min_by(by_speed)?);
    let told = |(order, count, rate): &(Order, u32, &Rate)| {
        let open = quantity::counted(u64::from(*count), "open block");
        format!("{} writes of {} with {open}, {}", order.as_str(), rate.request, with_basis(rate))
    };
    Some(format!("the fastest writes measured were {}; the slowest were {}", told(fastest), told(slowest)))
}

/// The speed that lasts, and how long something faster does before.
fn in_the_long_run(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::SustainedWriteBytesPerS)?;
    let rate = hedged(finding)?;
    Some(match report.size(FindingId::SlcCacheBytes) {
        Some(cache) => {
            format!(
                "only about the first {cache} of a long copy are fast; what comes behind is written at {rate}"
            )
        }
        None => format!("a long copy is written at {rate}, however long it is"),
    })
}

/// Where the page is known from reads alone.
fn unmeasured_page(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let page = report.size(FindingId::PageBytes)?;
    figures.is_empty().then(|| {
        format!("writes smaller than {page} likely cost as much as a whole page; no write was measured")
    })
}

fn small_writes(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let page = report.size(FindingId::PageBytes)?;
    let open = figures.unhindered(Order::Linear, report.open_units(Order::Linear));
    let mut tables =
        figures.write_size.get(&Order::Linear).into_iter().chain(open.into_iter().map(|(_, rates)| rates));
    let (rates, whole, half) = tables.find_map(|rates| {
        let (_, half) = rates.range(..page).next_back()?;
        Some((rates, rates.get(&page)?, half))
    })?;
    let comparison = format!(
        "{} at a time take {}, {} at a time {}",
        half.request,
        with_basis(half),
        page,
        with_basis(whole)
    );
    let text = match half.seconds / whole.seconds {
        share if share >= 0.8 => {
            format!("a write smaller than {page} costs as much time as one of {page}: {comparison}")
        }
        _ => format!("writes smaller than {page} use the time less well: {comparison}"),
    };
    Some(match best(rates).filter(|best| best.request > page && best.speed() > 1.1 * whole.speed()) {
        Some(best) => format!("{text}; fastest are {} at a time, {}", best.request, with_basis(best)),
        None => text,
    })
}

fn best(rates: &BySize) -> Option<&Rate> {
    rates.values().max_by(|a, b| a.speed().total_cmp(&b.speed()))
}

fn streams(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let Some(linear) = wall(report, figures, Order::Linear) else {
        let random = wall(report, figures, Order::Random)?;
        return Some(format!("{}: {}", too_many(&random), across(&random, "random")));
    };
    let text = format!("{}: {}", too_many(&linear), across(&linear, "linear"));
    Some(match wall(report, figures, Order::Random) {
        Some(random) => format!("{text}; {}", across(&random, "random")),
        None => text,
    })
}

fn too_many(wall: &Wall) -> String {
    let places = quantity::counted(u64::from(wall.limit), "place");
    format!("writing to more than {places} at once, such as files copied side by side, costs it extra work")
}

fn across(wall: &Wall, order: &str) -> String {
    let Wall { within, beyond, fast, slow, .. } = wall;
    let open = quantity::counted(u64::from(*within), "open block");
    let (request, fast, slow) = (fast.request, with_basis(fast), with_basis(slow));
    format!("{order} writes of {request} take {fast} with {open}, but {slow} with {beyond}")
}

/// Random against linear order, at the number of open units and the size where they differ most. That order costs little is not said
/// where random order has less room, and what lies beyond it was not measured.
fn random_order(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let Orders { random, linear } = worst_order(report, figures)?;
    let ratio = random.1.seconds / linear.1.seconds;
    let told = |(count, rate): (u32, Rate), order: &str| {
        let open = quantity::counted(u64::from(count), "open block");
        format!("{} in {order} order with {open}", with_basis(&rate))
    };
    let comparison =
        format!("{} at a time take {}, {}", random.1.request, told(random, "random"), told(linear, "linear"));
    let limits = [Order::Random, Order::Linear].map(|order| report.open_units(order));
    let has_less_room = matches!(limits, [Some(random), Some(linear)] if random < linear);
    match ratio {
        ratio if ratio >= LEAST_RATIO => Some(format!(
            "random order costs {} times as much as linear order: {comparison}",
            quantity::ratio(ratio)
        )),
        _ => (!has_less_room).then(|| format!("order hardly matters: {comparison}")),
    }
}

/// The same requests in both orders, with how many open units.
struct Orders {
    random: (u32, Rate),
    linear: (u32, Rate),
}

/// Of all random writes into no more units than linear ones may go to, those that cost most beside linear ones into as many, or more.
fn worst_order(report: &Report<'_>, figures: &Figures) -> Option<Orders> {
    let linear = figures.unhindered(Order::Linear, report.open_units(Order::Linear));
    let most = linear.first().map(|(count, _)| *count)?;
    let mut randoms = figures.in_turn(Order::Random, most);
    randoms.extend(figures.write_size.get(&Order::Random).map(|rates| (1, rates)));
    let randoms = randoms.iter().flat_map(|(count, rates)| rates.values().map(|rate| (*count, *rate)));
    let pairs = randoms.filter(|(_, rate)| is_of_several(rate)).filter_map(|random| {
        let as_many = linear.iter().rev().filter(|(count, _)| *count >= random.0);
        let rates = as_many.filter_map(|(count, rates)| Some((*count, *rates.get(&random.1.request)?)));
        let linear = rates.into_iter().find(|(_, rate)| is_of_several(rate))?;
        Some(Orders { random, linear })
    });
    let ratio = |orders: &Orders| orders.random.1.seconds / orders.linear.1.seconds;
    pairs.max_by(|a, b| ratio(a).total_cmp(&ratio(b)))
}

/// A single write may have been held up by anything.
fn is_of_several(rate: &Rate) -> bool {
    rate.requests.is_none_or(|requests| requests >= SEVERAL)
}

fn small_random_writes(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let area = report.found(FindingId::FatAreaBytes)?.bytes()?;
    let (first, rates) = figures.fat_area.iter().find(|((order, _), _)| *order == Order::Random)?;
    let inside = rates.values().next()?;
    if area.is_zero() {
        return Some(format!(
            "small random writes are no faster at the start of the device than elsewhere: {} in its first block take {}",
            inside.request,
            with_basis(inside),
        ));
    }
    let (last, rates) = figures.fat_area.iter().rfind(|((order, _), _)| *order == Order::Random)?;
    let outside = rates.get(&inside.request).filter(|_| last != first)?;
    Some(format!(
        "small random writes are fast only where the file allocation table lies: {} take {} there, {} elsewhere",
        inside.request,
        with_basis(inside),
        with_basis(outside),
    ))
}
