//! What it means: measured latencies and speeds, and their consequences for use.

use flashscope_device::Bytes;
use flashscope_infer::statistics::median;
use flashscope_record::finding::{Evidence, FindingId, SizeEvidence};
use flashscope_record::observation::{AlignSample, Order};

use super::confidence::with_confidence;
use super::sentence::Sentence;
use super::timing_objection::timing_objection;
use crate::eviction_cost::{EvictionCost, SLOWDOWN_RATIO_MIN, eviction_cost};
use crate::figures::{Figures, RatesBySize, align_samples};
use crate::rate::Rate;
use crate::terms::order_name;
use crate::{Report, quantity};

/// The fewest writes of a rate that is compared between orders. Guess: a stall in one of four changes the
/// median little.
const WRITES_MIN: u64 = 4;
/// A write below the page costs as much as a page if it takes at least this share of a page's latency, ...
/// Guess: 0.8 allows for noise.
const PAGE_LATENCY_SHARE_MIN: f64 = 0.8;
/// ... and at most this: the same allowance on the other side.
const PAGE_LATENCY_SHARE_MAX: f64 = 1.25;
/// The least gain in throughput over page-sized writes that is reported. Guess: 10 %.
const BEST_SIZE_RATIO_MIN: f64 = 1.1;

pub fn sentences(report: &Report<'_>, figures: &Figures) -> Vec<Sentence> {
    if let Some(objection) = timing_objection(report) {
        return vec![Sentence::new(format!("no conclusion for its use: {objection}"))];
    }
    let writes = [small_writes(report, figures), open_blocks(report, figures), random_order(report, figures)];
    let measured = writes.iter().flatten().next().is_none().then(|| measured_speeds(figures)).flatten();
    let parts = [alignment(report), measured].into_iter().chain(writes);
    let parts = parts.chain([page_without_writes(report, figures), small_random_writes(report, figures)]);
    let parts = parts.chain([long_copies(report)]);
    let known: Vec<Sentence> = parts.flatten().map(Sentence::new).collect();
    if known.is_empty() && report.run.false_capacity().is_some() {
        return vec![Sentence::new(
            "data beyond the true size is lost; how fast the rest is does not matter then",
        )];
    }
    if known.is_empty() {
        return vec![Sentence::new("no finding calls for action")];
    }
    known
}

fn alignment(report: &Report<'_>) -> Option<String> {
    let block = report.size(FindingId::EraseBlockBytes)?;
    let text = format!(
        "partitions should start at a multiple of {block}: data across such a boundary costs work in two erase blocks"
    );
    let Some((penalty, samples)) = read_penalty(report, |candidate| candidate.is_multiple_of(block)) else {
        return Some(text);
    };
    let penalty =
        format!("{text}. A read across one takes {} longer than beside it", quantity::seconds(penalty));
    Some(match read_penalty(report, |candidate| candidate < block) {
        Some((inside, others)) => format!(
            "{penalty}; across other multiples inside a block: {} (medians of {} and {})",
            quantity::seconds(inside),
            samples,
            quantity::counted(others as u64, "sample"),
        ),
        None => format!("{penalty} (median of {})", quantity::counted(samples as u64, "sample")),
    })
}

/// The median extra latency of reads across boundaries of the selected candidates, seconds, and the number of
/// samples; `None` if it is not above zero.
fn read_penalty(report: &Report<'_>, is_selected: impl Fn(Bytes) -> bool) -> Option<(f64, usize)> {
    let samples = align_samples(report.run).filter(|sample| is_selected(sample.candidate));
    let differences: Vec<f64> = samples.map(AlignSample::difference).collect();
    let median = median(&differences).filter(|median| *median > 0.0)?;
    Some((median, differences.len()))
}

/// The fastest and the slowest writes measured, where nothing more specific is known.
fn measured_speeds(figures: &Figures) -> Option<String> {
    let open = figures.open_units.iter().map(|((order, count), rates)| (*order, *count, rates));
    let single_stream = figures.write_size.iter().map(|(order, rates)| (*order, 1, rates));
    let rates = open
        .chain(single_stream)
        .flat_map(|(order, count, rates)| rates.values().map(move |rate| (order, count, rate)));
    let rates: Vec<(Order, u32, &Rate)> = rates.collect();
    let by_speed = |(_, _, a): &&(Order, u32, &Rate), (_, _, b): &&(Order, u32, &Rate)| {
        a.bytes_per_s().total_cmp(&b.bytes_per_s())
    };
    let (fastest, slowest) = (rates.iter().max_by(by_speed)?, rates.iter().min_by(by_speed)?);
    let text = |(order, count, rate): &(Order, u32, &Rate)| {
        let open = quantity::counted(u64::from(*count), "open block");
        format!("{} {} with {open}, {}", order_name(*order), rate.request, rate.to_text())
    };
    Some(format!("fastest writes measured: {}. Slowest: {}", text(fastest), text(slowest)))
}

/// The sustained speed, and the size of the faster start.
fn long_copies(report: &Report<'_>) -> Option<String> {
    let rate = with_confidence(report.found(FindingId::SustainedWriteBytesPerS)?)?;
    Some(match report.size(FindingId::SlcCacheBytes) {
        Some(cache) => {
            format!("only the first {cache} of a long copy are fast; the rest is written at {rate}")
        }
        None => format!("a long copy is written at {rate} throughout"),
    })
}

/// The cost of small writes where the page is known from reads alone.
fn page_without_writes(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let page = report.size(FindingId::PageBytes)?;
    figures.is_empty().then(|| {
        format!("writes smaller than {page} likely take as long as a whole page; no write was measured")
    })
}

fn small_writes(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let page = report.size(FindingId::PageBytes)?;
    let open = figures.merge_free(Order::Linear, report.open_units(Order::Linear));
    let mut tables =
        figures.write_size.get(&Order::Linear).into_iter().chain(open.into_iter().map(|(_, rates)| rates));
    let (rates, whole, half) = tables.find_map(|rates| {
        let (_, half) = rates.range(..page).next_back()?;
        Some((rates, rates.get(&page)?, half))
    })?;
    let comparison = format!("{}: {}. {page}: {}", half.request, half.to_text(), whole.to_text());
    let effect = small_write_effect(half, whole);
    let text = format!("{effect}. {comparison}");
    let best = best(report, rates)
        .filter(|best| best.request > page && best.bytes_per_s() > BEST_SIZE_RATIO_MIN * whole.bytes_per_s());
    Some(match best {
        Some(best) => format!("{text}. The fastest size is {}: {}", best.request, best.to_text()),
        None => text,
    })
}

/// Throughputs differ from this ratio on. Guess: repeated rows of a stick agree within 2 %.
const THROUGHPUT_RATIO_MIN: f64 = 1.05;

/// A write below the page compared with one of a page.
fn small_write_effect(small: &Rate, page: &Rate) -> String {
    let size = page.request;
    let share = small.seconds / page.seconds;
    if share > PAGE_LATENCY_SHARE_MAX {
        format!("a write smaller than {size} takes longer than one of {size}")
    } else if share >= PAGE_LATENCY_SHARE_MIN {
        format!("a write smaller than {size} takes about as long as one of {size}")
    } else if small.bytes_per_s() < page.bytes_per_s() / THROUGHPUT_RATIO_MIN {
        format!("writes smaller than {size} have a lower throughput")
    } else if small.bytes_per_s() > page.bytes_per_s() * THROUGHPUT_RATIO_MIN {
        format!("writes smaller than {size} can have a higher throughput")
    } else {
        format!("writes smaller than {size} have about the same throughput")
    }
}

/// The fastest size: that of the finding if there is one, as its evidence names it too.
fn best<'a>(report: &Report<'_>, rates: &'a RatesBySize) -> Option<&'a Rate> {
    match report.found(FindingId::WriteUnitBytes).and_then(|finding| finding.evidence.as_ref()) {
        Some(Evidence::Sizes(SizeEvidence::WriteUnit { best: (size, _), .. })) => rates.get(size),
        _ => fastest(rates),
    }
}

fn fastest(rates: &RatesBySize) -> Option<&Rate> {
    rates.values().max_by(|a, b| a.bytes_per_s().total_cmp(&b.bytes_per_s()))
}

/// The cost of more open blocks than the controller keeps.
fn open_blocks(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let [sequential, random] = [Order::Linear, Order::Random]
        .map(|order| eviction_cost(report, figures, order).map(|cost| (order, cost)));
    let (_, first) = sequential.as_ref().or(random.as_ref())?;
    let limit = quantity::counted(u64::from(first.open_units_max), "erase block");
    let costs: Vec<String> = [sequential, random].into_iter().flatten().map(eviction_text).collect();
    Some(format!(
        "writing to more than {limit} at a time forces merges, for example when several files are copied at once. {}",
        costs.join(". ")
    ))
}

fn eviction_text((order, cost): (Order, EvictionCost)) -> String {
    let order = Sentence::new(order_name(order));
    let open = quantity::counted(u64::from(cost.open_units_within), "open block");
    let (within, beyond) = (cost.rate_within, cost.rate_beyond);
    format!(
        "{} {} writes: {} with {open}; {} with {}",
        order.as_str().trim_end_matches('.'),
        within.request,
        within.to_text(),
        beyond.to_text(),
        cost.open_units_beyond
    )
}

/// Random against sequential writes, at the number of open blocks and the size where they differ most.
///
/// "No difference" is not reported where fewer blocks stay open with random writes and more were not tried.
fn random_order(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let OrderPair { random, sequential } = worst_order_pair(report, figures)?;
    let ratio = random.1.seconds / sequential.1.seconds;
    let text = |name: &str, (count, rate): (u32, Rate)| {
        let open = quantity::counted(u64::from(count), "open block");
        format!("{name}, {open}: {}", rate.to_text())
    };
    let comparison = format!("{}. {}", text("Random", random), text("Sequential", sequential));
    let request = random.1.request;
    let limits = [Order::Random, Order::Linear].map(|order| report.open_units(order));
    let keeps_fewer_open = matches!(limits, [Some(random), Some(sequential)] if random < sequential);
    match ratio {
        ratio if ratio >= SLOWDOWN_RATIO_MIN => Some(format!(
            "random {request} writes take {} times as long as sequential ones. {comparison}",
            quantity::ratio(ratio)
        )),
        _ => (!keeps_fewer_open)
            .then(|| format!("random {request} writes are about as fast as sequential ones. {comparison}")),
    }
}

/// The same requests in both orders, each with its number of open blocks.
struct OrderPair {
    random: (u32, Rate),
    sequential: (u32, Rate),
}

/// The pair of highest cost: random writes into at most as many blocks as stay open with sequential writes,
/// each compared with sequential writes into at least as many.
fn worst_order_pair(report: &Report<'_>, figures: &Figures) -> Option<OrderPair> {
    let sequential = figures.merge_free(Order::Linear, report.open_units(Order::Linear));
    let most = sequential.first().map(|(count, _)| *count)?;
    let mut randoms = figures.round_robin(Order::Random, most);
    randoms.extend(figures.write_size.get(&Order::Random).map(|rates| (1, rates)));
    let randoms = randoms.iter().flat_map(|(count, rates)| rates.values().map(|rate| (*count, *rate)));
    let pairs = randoms.filter(|(_, rate)| has_enough_writes(rate)).filter_map(|random| {
        let at_least_as_many = sequential.iter().rev().filter(|(count, _)| *count >= random.0);
        let mut rates =
            at_least_as_many.filter_map(|(count, rates)| Some((*count, *rates.get(&random.1.request)?)));
        let sequential = rates.find(|(_, rate)| has_enough_writes(rate))?;
        Some(OrderPair { random, sequential })
    });
    let ratio = |pair: &OrderPair| pair.random.1.seconds / pair.sequential.1.seconds;
    pairs.max_by(|a, b| ratio(a).total_cmp(&ratio(b)))
}

fn has_enough_writes(rate: &Rate) -> bool {
    rate.requests.is_none_or(|requests| requests >= WRITES_MIN)
}

fn small_random_writes(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let area = report.found(FindingId::FatAreaBytes)?.bytes()?;
    let (first, rates) = figures.fat_area.iter().find(|((order, _), _)| *order == Order::Random)?;
    let inside = rates.values().next()?;
    if area.is_zero() {
        return Some(format!(
            "small random writes are no faster at the start of the device. {} in the first erase block: {}",
            inside.request,
            inside.to_text(),
        ));
    }
    let (last, rates) = figures.fat_area.iter().rfind(|((order, _), _)| *order == Order::Random)?;
    let outside = rates.get(&inside.request).filter(|_| last != first)?;
    Some(format!(
        "small random writes are fast only in the FAT area. {} there: {}; elsewhere: {}",
        inside.request,
        inside.to_text(),
        outside.to_text(),
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_small_write_is_compared_with_a_page_in_both_directions() {
        let rate = |kib: u64, us: u64| Rate::median(Bytes::kib(kib), &[Duration::from_micros(us)]).unwrap();
        let effect = |small_us: u64| small_write_effect(&rate(24, small_us), &rate(32, 1_830));
        assert_eq!(effect(2_920), "a write smaller than 32 KiB takes longer than one of 32 KiB");
        assert_eq!(effect(1_700), "a write smaller than 32 KiB takes about as long as one of 32 KiB");
        assert_eq!(effect(1_450), "writes smaller than 32 KiB have a lower throughput");
        assert_eq!(effect(1_400), "writes smaller than 32 KiB have about the same throughput");
        assert_eq!(effect(1_000), "writes smaller than 32 KiB can have a higher throughput");
    }
}
