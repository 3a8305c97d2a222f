//! Why a finding is unknown, in words.

use flashscope_device::Bytes;
use flashscope_record::figure::{speed, time};
use flashscope_record::finding::{LogFault, Measurement, Objection, Reason, Sample, SharedCost};

use super::caveat::caveat;
use super::ended::{refusal, stop};
use super::evidence::evidence;
use super::would_decide::samples;
use crate::quantity::counted;
use crate::terms::{finding_title, order_name, value_text};

/// One sentence without its full stop. Several reasons are joined by semicolons.
#[must_use]
pub fn reason(reason: &Reason) -> String {
    of_judgement(reason)
        .or_else(|| of_reads(reason))
        .or_else(|| of_writes(reason))
        .or_else(|| of_blocks(reason))
        .or_else(|| of_streams(reason))
        .unwrap_or_else(|| FALLBACK.to_owned())
}

/// The sentence for a reason without one of its own. A test checks that every reason has one.
const FALLBACK: &str = "it is not known";

/// Reasons of any finding.
fn of_judgement(unknown: &Reason) -> Option<String> {
    Some(match unknown {
        Reason::NotMeasured(measurement) => not_measured(*measurement).to_owned(),
        Reason::NotStarted(why) => refusal(why),
        Reason::EndedEarly { stops, otherwise } => {
            let stops: Vec<String> = stops.iter().map(stop).collect();
            format!("{} (the measurement ended early: {})", reason(otherwise), stops.join("; "))
        }
        Reason::All(all) => all.iter().map(reason).collect::<Vec<_>>().join("; "),
        Reason::Objection(against) => objection(against),
        Reason::Log(fault) => log_fault(fault),
        Reason::TooFew { number: Some(number), sample } => {
            format!("only {number} {} were measured", plain_samples(*sample))
        }
        Reason::TooFew { number: None, sample } => {
            format!("too few {} were measured", plain_samples(*sample))
        }
        Reason::Likely { value: likely, confidence, because } => {
            let because =
                because.as_ref().map_or_else(String::new, |figures| format!(": {}", evidence(figures)));
            format!("{} is only {:.0} % likely{because}", value_text(*likely), confidence.get() * 100.0)
        }
        Reason::SeveralFit(sizes) => {
            format!("several sizes fit: {}", likely_sizes(sizes.iter().copied()).join(", "))
        }
        Reason::DependsOn(id) => {
            format!("it depends on \"{}\", which is not sure enough", finding_title(*id))
        }
        Reason::PageFromReads(figures) => {
            let figures = figures.as_ref().map_or_else(String::new, |figures| evidence(figures) + "; ");
            format!("{figures}writes may work in a multiple of this page, which was not tested")
        }
        Reason::IfAssumed { value: assumed, assumption } => {
            format!(
                "{}, but only if the assumed erase block is right: {}",
                value_text(*assumed),
                caveat(assumption)
            )
        }
        Reason::NoSignOfFlash => {
            "page-mapped, but only if it is flash: neither a page nor an erase block was found".to_owned()
        }
        Reason::SpeedChanged { first_s, last_s } => format!(
            "the same writes took {} at first and {} at the end: the device became {} meanwhile",
            time(*first_s),
            time(*last_s),
            if last_s > first_s { "slower" } else { "faster" }
        ),
        Reason::NoTime => "the writes took no time at all".to_owned(),
        _ => return None,
    })
}

/// Reasons from reads across boundaries.
fn of_reads(unknown: &Reason) -> Option<String> {
    Some(match unknown {
        Reason::MostlyBlank(contents) => {
            format!("{contents}; a controller may answer reads of blank data without touching flash")
        }
        Reason::NothingFits => "no size explains the reads".to_owned(),
        Reason::WithinNoise { boundaries_from: Some(size), noise_s, .. } => {
            format!(
                "reads across boundaries of at least {size} differ by no more than the noise ({})",
                time(*noise_s)
            )
        }
        Reason::WithinNoise { boundaries_from: None, read_s, noise_s } => {
            format!("reads of {} differ by no more than their noise of {}", time(*read_s), time(*noise_s))
        }
        Reason::SmallStep { read_s, step_s } => {
            format!("reads of {} have steps of at most {}", time(*read_s), time(*step_s))
        }
        Reason::UnlikelyBlock { size, extra_s, limit } => {
            let unlikely = if size > limit {
                format!("erase blocks above {limit} are rare: it may be a group of erase blocks")
            } else {
                format!("erase blocks below {limit} occur on smaller devices only: it may be a page")
            };
            format!("reads across multiples of {size} take {} longer, but {unlikely}", time(*extra_s))
        }
        Reason::SingleReadsDisagree { block: Some(block), slow: Some((at_multiples, elsewhere)) } => format!(
            "{block} would fit, but only {:.0} % of the reads across its multiples are slower, and {:.0} % of the others",
            at_multiples * 100.0,
            elsewhere * 100.0
        ),
        Reason::SingleReadsDisagree { .. } => "the medians differ, but single reads do not".to_owned(),
        Reason::NoPageInReads => "reads show no page boundary".to_owned(),
        Reason::TwoPlanes { half, extra_s } => {
            let page = *half * 2;
            format!(
                "reads across odd multiples of {half} take {} longer, those across multiples of {page} do not: \
                 two planes inside a page of at least {page}",
                time(*extra_s)
            )
        }
        _ => return None,
    })
}

/// Reasons from writes by size and across boundaries.
fn of_writes(unknown: &Reason) -> Option<String> {
    Some(match unknown {
        Reason::NoPageInWrites { boundaries } => format!(
            "small writes take as long across {boundaries} possible page boundaries as elsewhere: the link is too slow to show \
             pages, or there are none"
        ),
        Reason::NoFlatSizes => {
            "the write latency grows with every size; a page would show as a flat part".to_owned()
        }
        Reason::NothingMerged { offsets } => {
            format!("no write merged when blocks were opened at {offsets} offsets")
        }
        Reason::PairsDisagree { pairs } => {
            format!("{pairs} pairs of writes were tested; those that merged share no erase-block size")
        }
        Reason::SmallestIsFastest(size) => {
            format!("even the smallest request tried ({size}) reaches the best speed")
        }
        Reason::LargerMuchSlower(size) => {
            format!(
                "writes of {size} had two speeds, and the faster one exceeds that of all larger writes: a cache may have taken some"
            )
        }
        Reason::LargestStillFaster(size) => {
            format!("the largest request tried ({size}) is much faster than half of it")
        }
        Reason::NothingEvicted => "opening ordinary erase blocks did not evict others each time".to_owned(),
        Reason::FatAreaEndNotReached { blocks } => format!(
            "opening the first {} evicted no other block: the FAT area is larger",
            counted(u64::from(*blocks), "erase block")
        ),
        Reason::OpeningVaries(block) => {
            format!("opening erase block {block} was fast once and slow another time")
        }
        Reason::SmallWritesVary { factor } => format!(
            "small writes differ between erase blocks by a factor of {factor:.1}, but not in the pattern of a FAT area"
        ),
        _ => return None,
    })
}

/// Which numbers of blocks are as fast as the fewest, and which are slower by how much.
fn slows_gradually(
    (at_most, as_fast, fewest): (Option<u32>, u32, u32),
    (blocks, factor): (u32, f64),
    last: Option<(u32, f64)>,
) -> String {
    let begins = match at_most {
        Some(at_most) => format!("at most {at_most}, but writes"),
        None if as_fast > fewest => {
            format!("writing slows down gradually: {as_fast} blocks are as fast as {fewest}, but writes")
        }
        None => "writing slows down gradually: writes".to_owned(),
    };
    let slower =
        format!("{begins} into {blocks} blocks round-robin take {factor:.1} times as long as into {fewest}");
    match last {
        Some((blocks, factor)) => format!("{slower}, and into {blocks} {factor:.1} times"),
        None => slower,
    }
}

/// Reasons from round-robin writes into erase blocks.
fn of_blocks(unknown: &Reason) -> Option<String> {
    Some(match unknown {
        Reason::FewestMerge { blocks, merge_s, free_to } => {
            let blocks = counted(u64::from(*blocks), "open block");
            let is_one = blocks.starts_with("1 ");
            let merges = format!(
                "{blocks} {} already too many: a write takes about {} whatever its size",
                if is_one { "is" } else { "are" },
                time(*merge_s)
            );
            match free_to {
                Some(size) => format!("{merges}; writes of up to {size} are quick"),
                None => merges,
            }
        }
        Reason::SlowsGradually { at_most, as_fast, blocks, factor, fewest, last } => {
            slows_gradually((*at_most, *as_fast, *fewest), (*blocks, *factor), *last)
        }
        Reason::AtLeast(units) => {
            format!("at least {units}: up to this number no merges show, and more were not tested")
        }
        Reason::NoMergeUpTo(blocks) => format!(
            "no merge was seen while writing into up to {} round-robin",
            counted(u64::from(*blocks), "erase block")
        ),
        Reason::BetweenCounts { open_at_once, low, high } => {
            let were = if *open_at_once == 1 { "was" } else { "were" };
            let left = match (low, high) {
                _ if open_at_once > high => format!("but the merges suggest {}", range(*low, *high)),
                _ if low == high => format!("the writes suggest {low}, without proof"),
                _ => format!("the number may be any {}", range(*low, *high)),
            };
            format!("{open_at_once} {were} open at once; {left}")
        }
        Reason::NoUpperCount => "no tested number of erase blocks was too many".to_owned(),
        Reason::PaysEverywhere(cost) => shared_cost(*cost),
        Reason::OthersWrote => {
            "the filesystem or another program wrote to the device during each test of random writes"
                .to_owned()
        }
        Reason::StallsHideMerges => {
            "slow writes occur with any number of blocks: they are stalls, not merges".to_owned()
        }
        Reason::CostPerByte { fits } => {
            format!("beyond {fits} open blocks the time grows with the bytes: that is no merge")
        }
        Reason::BetweenRules { low, high, extra_s, every_switch } => {
            let odds = every_switch.map_or_else(
                || "whether every switch costs as much is undecided".to_owned(),
                |odds| format!("at every switch with a probability of {:.0} %", odds * 100.0),
            );
            format!(
                "beyond {} open blocks writes take {} longer; {odds}",
                counts(*low, *high),
                time(*extra_s)
            )
        }
        Reason::MergesDiffer(figures) => {
            format!("{}: they are not of one kind", evidence(figures))
        }
        _ => return None,
    })
}

/// Reasons from streams and bursts of writes.
fn of_streams(unknown: &Reason) -> Option<String> {
    let levels = |fast: Bytes, before: f64, after: f64| {
        format!("the first {fast} were written at {}, the rest at {}", speed(before), speed(after))
    };
    Some(match unknown {
        Reason::NotSettled { written, spread: None } => {
            format!("{written} were written without reaching the steady state")
        }
        Reason::NotSettled { spread: Some(spread), .. } => format!(
            "no steady state was reached: parts of the stream differ by {:.0} %",
            (spread * 100.0).max(1.0)
        ),
        Reason::StreamTooShort { written } => {
            format!(
                "the stream of large writes had only {written}, and a cache may hold up to a third of the capacity"
            )
        }
        Reason::StreamInFile { file } => {
            format!("a file of {file} was overwritten, which is no long copy to the whole device")
        }
        Reason::FileTooShort { size, file } => {
            format!("{size} would fit, but the file that was used holds only {file}")
        }
        Reason::FileOffAlignment { size, offset } => {
            format!("{size} would fit, but the file that was used begins at {offset}, no multiple of it")
        }
        Reason::OtherWrites { fast, other } if fast.is_zero() => {
            format!("{other} were written before the stream, which a cache may have taken")
        }
        Reason::OtherWrites { fast, other } => format!(
            "the first {fast} were fast, but a cache may have taken a part of the {other} that were written before"
        ),
        Reason::SpeedVaries { fast, before_bytes_per_s, after_bytes_per_s } => format!(
            "{}, but the normal variation of the speed is as large",
            levels(*fast, *before_bytes_per_s, *after_bytes_per_s)
        ),
        Reason::MayBeMemory { fast, before_bytes_per_s, after_bytes_per_s, buffer } => {
            let memory = buffer.map_or_else(
                || "a write buffer".to_owned(),
                |buffer| format!("a write buffer of up to {buffer}"),
            );
            let levels = levels(*fast, *before_bytes_per_s, *after_bytes_per_s);
            format!("{levels}, but {memory} may be the cause")
        }
        Reason::SomeBurstsFast { fast, bursts } => format!("{fast} of {bursts} bursts were fast at first"),
        Reason::BurstTooShort { writes, request, write_s, memory_max } => format!(
            "{writes} writes of {request} after a pause took {} each, but a write buffer may hold up to {memory_max}",
            time(*write_s)
        ),
        Reason::GrowsWithPause { short, long } => format!(
            "the bytes that are fast after a pause grow with the pause, from {short} to {long}: flash that was freed, not a write buffer"
        ),
        _ => return None,
    })
}

const fn not_measured(measurement: Measurement) -> &'static str {
    match measurement {
        Measurement::BoundaryReads => "no read across a boundary was measured",
        Measurement::WriteSizes => "no sequential writes of every size were measured",
        Measurement::RoundRobinWrites => "no round-robin writes into erase blocks were measured",
        Measurement::RandomWrites => "no random writes inside an erase block were measured",
        Measurement::FirstBlocks => "no writes into the first erase blocks were measured",
        Measurement::LongStream => "no long stream of writes was measured",
        Measurement::Bursts => "no writes after a pause were measured",
    }
}

/// What there are too few of, without the command that measures more.
fn plain_samples(sample: Sample) -> &'static str {
    let samples = samples(sample);
    samples.split_once(" (").map_or(samples, |(plain, _)| plain)
}

/// `4 MiB (63 %)` for each size.
pub fn likely_sizes(sizes: impl Iterator<Item = (Bytes, Option<f64>)>) -> Vec<String> {
    let likely = |(size, probability): (Bytes, Option<f64>)| match probability {
        Some(probability) => format!("{size} ({:.0} %)", probability * 100.0),
        None => size.to_string(),
    };
    sizes.map(likely).collect()
}

fn range(low: u32, high: u32) -> String {
    if low == high { low.to_string() } else { format!("between {low} and {high}") }
}

fn counts(low: u32, high: u32) -> String {
    if low == high { low.to_string() } else { format!("{low} to {high}") }
}

fn shared_cost(cost: SharedCost) -> String {
    match cost {
        SharedCost::SharedLogs => {
            "random writes go to log blocks that all blocks share: their cost depends on the data, not on the number of blocks".to_owned()
        }
        SharedCost::Log => "every random write goes to a log and is slower, with any number of blocks".to_owned(),
        SharedCost::Collection { every, extra_s } => format!(
            "one write in {every} takes {} longer, in any blocks: pages are mapped freely, and these writes wait for garbage collection",
            time(extra_s)
        ),
    }
}

/// An objection to all findings at once.
#[must_use]
pub fn objection(objection: &Objection) -> String {
    match objection {
        Objection::SeveralDevices(names) => {
            format!("the log is of several devices: {}", names.join(", and "))
        }
        Objection::ClockStandsStill { still, requests } => {
            format!("the clock stands still: {still} of {requests} requests took no time at all")
        }
        Objection::EverSlower { first_s, last_s } => format!(
            "it keeps getting slower: equal requests took {} at first and {} at the end",
            time(*first_s),
            time(*last_s)
        ),
        Objection::SizeDoesNotMatter { largest, large_s, small_max, small_s, .. } => format!(
            "not flash-like: writes of up to {largest} took {}, writes of {small_max} and less {}; their size does not matter",
            time(*large_s),
            time(*small_s)
        ),
        Objection::ReadsFromMemory { read_s } => format!(
            "not flash-like: a read takes {}, too fast for a stick or card; the data comes from memory",
            time(*read_s)
        ),
    }
}

fn log_fault(fault: &LogFault) -> String {
    match fault {
        LogFault::BlockCountMissing => {
            "the log does not state the number of open blocks: its speeds may include merges".to_owned()
        }
        LogFault::MeansOnly => "a table of means does not show single merges".to_owned(),
        LogFault::NoTable(order) => {
            format!("the log has no table of open blocks in {} order", order_name(*order))
        }
        LogFault::CutShort => "a table of the log is cut short".to_owned(),
        LogFault::TablesDisagree { id, least, most } => format!(
            "the log contradicts itself: {} {least} by one table, {most} by another",
            finding_title(*id)
        ),
        LogFault::TimesDisagree { request, blocks, fastest_s, slowest_s } => format!(
            "the log contradicts itself: writing {request} into {blocks} blocks took {} in one table, {} in another",
            time(*fastest_s),
            time(*slowest_s)
        ),
        LogFault::LargerCountIsFast { slow, fast, base } => {
            format!("the log contradicts itself: {slow} blocks are slow, and {fast} as fast as {base}")
        }
        LogFault::FastAfterSlowBlock { fast, slow } => format!(
            "the log contradicts itself: small writes are fast in erase block {fast}, but not in block {slow} before it"
        ),
        LogFault::WritesShowLargerPage { page, page_s, twice_s } => format!(
            "reads show pages of {page}, but a write of {} takes {}, no longer than one of {page} ({})",
            *page * 2,
            time(*twice_s),
            time(*page_s)
        ),
        LogFault::OutlierRows { block: Some(block) } => {
            format!("{block} is possible, but other rows of the table are as slow as those at its multiples")
        }
        LogFault::OutlierRows { block: None } => {
            "single rows of the table are slow; a boundary would make several rows slow".to_owned()
        }
        LogFault::TwoBoundaries { smaller, smaller_s, larger, larger_s } => format!(
            "reads across multiples of {smaller} take {} longer, of {larger} another {}: either may be the erase block",
            time(*smaller_s),
            time(*larger_s)
        ),
    }
}

#[cfg(test)]
mod tests {
    use flashscope_record::finding::{
        BlockEvidence, Caveat, Confidence, Evidence, FindingId, ReadEvidence, Value,
    };
    use flashscope_record::observation::{Contents, Order, Refusal, StopReason};

    use super::*;

    const SIZE: Bytes = Bytes::mib(4);
    const FIGURES: Evidence = Evidence::Reads(ReadEvidence::Slower { extra_s: 1e-3, read_s: 2e-3 });

    fn judgements() -> Vec<Reason> {
        let value = Value::Bytes(SIZE);
        let confidence = Confidence::new(0.7);
        let assumption = Caveat::AssumedEraseBlock { assumed: SIZE, found: None };
        vec![
            Reason::NotMeasured(Measurement::RoundRobinWrites),
            Reason::NotStarted(Refusal::ReadOnly),
            Reason::NoTime.ended_early(StopReason::Interrupted { rounds: None }),
            Reason::NoTime.and(Reason::NothingFits),
            Reason::Objection(Objection::ReadsFromMemory { read_s: 1e-6 }),
            Reason::Log(LogFault::NoTable(Order::Random)),
            Reason::TooFew { number: Some(2), sample: Sample::FirstBlocks },
            Reason::TooFew { number: None, sample: Sample::RepeatedBoundaries },
            Reason::Likely { value, confidence, because: None },
            Reason::SeveralFit(vec![(SIZE, Some(0.5)), (SIZE * 2, None)]),
            Reason::DependsOn(FindingId::OpenUnitsLinear),
            Reason::PageFromReads(None),
            Reason::IfAssumed { value, assumption },
            Reason::NoSignOfFlash,
            Reason::SpeedChanged { first_s: 1.0, last_s: 2.0 },
            Reason::NoTime,
        ]
    }

    fn reads_and_sizes() -> Vec<Reason> {
        vec![
            Reason::MostlyBlank(Contents { looked_at: 16, blank: 15 }),
            Reason::NothingFits,
            Reason::WithinNoise { boundaries_from: Some(SIZE), read_s: 1e-3, noise_s: 1e-4 },
            Reason::SmallStep { read_s: 1e-3, step_s: 1e-5 },
            Reason::SingleReadsDisagree { block: Some(SIZE), slow: Some((0.6, 0.5)) },
            Reason::SingleReadsDisagree { block: None, slow: None },
            Reason::UnlikelyBlock { size: SIZE, extra_s: 1e-4, limit: SIZE * 2 },
            Reason::NoPageInReads,
            Reason::TwoPlanes { half: SIZE, extra_s: 1e-4 },
            Reason::NoPageInWrites { boundaries: 12 },
            Reason::NoFlatSizes,
            Reason::NothingMerged { offsets: 12 },
            Reason::PairsDisagree { pairs: 12 },
            Reason::SmallestIsFastest(SIZE),
            Reason::LargestStillFaster(SIZE),
            Reason::LargerMuchSlower(SIZE),
        ]
    }

    fn blocks() -> Vec<Reason> {
        vec![
            Reason::FewestMerge { blocks: 2, merge_s: 0.2, free_to: Some(SIZE) },
            Reason::SlowsGradually {
                at_most: None,
                as_fast: 3,
                blocks: 4,
                factor: 1.8,
                fewest: 2,
                last: Some((9, 3.5)),
            },
            Reason::AtLeast(5),
            Reason::NoMergeUpTo(128),
            Reason::BetweenCounts { open_at_once: 3, low: 4, high: 6 },
            Reason::NoUpperCount,
            Reason::PaysEverywhere(SharedCost::Collection { every: SIZE, extra_s: 0.1 }),
            Reason::StallsHideMerges,
            Reason::OthersWrote,
            Reason::CostPerByte { fits: 4 },
            Reason::BetweenRules { low: 3, high: 4, extra_s: 0.1, every_switch: None },
            Reason::MergesDiffer(Evidence::Blocks(BlockEvidence::ShortMerge { extra_s: 0.1 })),
            Reason::NothingEvicted,
            Reason::FatAreaEndNotReached { blocks: 6 },
            Reason::OpeningVaries(2),
            Reason::SmallWritesVary { factor: 1.7 },
        ]
    }

    fn streams() -> Vec<Reason> {
        let (fast, before_bytes_per_s, after_bytes_per_s) = (SIZE, 2e7, 1e7);
        vec![
            Reason::NotSettled { written: SIZE, spread: None },
            Reason::NotSettled { written: SIZE, spread: Some(0.3) },
            Reason::StreamTooShort { written: SIZE },
            Reason::SpeedVaries { fast, before_bytes_per_s, after_bytes_per_s },
            Reason::OtherWrites { fast, other: SIZE },
            Reason::MayBeMemory { fast, before_bytes_per_s, after_bytes_per_s, buffer: None },
            Reason::SomeBurstsFast { fast: 2, bursts: 5 },
            Reason::BurstTooShort { writes: 64, request: SIZE, write_s: 1e-3, memory_max: SIZE },
            Reason::GrowsWithPause { short: SIZE, long: SIZE * 4 },
            Reason::StreamInFile { file: SIZE },
            Reason::FileTooShort { size: SIZE, file: SIZE * 4 },
            Reason::FileOffAlignment { size: SIZE, offset: SIZE },
        ]
    }

    #[test]
    fn every_reason_has_a_sentence_of_its_own() {
        let all = [judgements(), reads_and_sizes(), blocks(), streams()].concat();
        for unknown in all {
            let sentence = reason(&unknown);
            assert!(sentence.len() > 10 && sentence != FALLBACK, "{unknown:?}");
            let clauses = sentence.split([';', ':']).map(|clause| clause.split(' ').count());
            assert!(clauses.max().unwrap() <= 27, "{sentence}");
        }
        assert!(evidence(&FIGURES).starts_with("a read across"));
    }

    #[test]
    fn words_that_depend_on_figures_follow_them() {
        let changed = |first_s, last_s| reason(&Reason::SpeedChanged { first_s, last_s });
        let slower = "took 4.0 ms at first and 6.0 ms at the end: the device became slower meanwhile";
        assert!(changed(0.004, 0.006).ends_with(slower), "{}", changed(0.004, 0.006));
        let faster = "took 6.0 ms at first and 4.0 ms at the end: the device became faster meanwhile";
        assert!(changed(0.006, 0.004).ends_with(faster), "{}", changed(0.006, 0.004));
        let unlikely = |size, limit| reason(&Reason::UnlikelyBlock { size, extra_s: 1e-4, limit });
        assert!(unlikely(SIZE * 2, SIZE).contains("blocks above 4 MiB are rare: it may be a group"));
        assert!(unlikely(SIZE, SIZE * 2).contains("blocks below 8 MiB occur on smaller devices only"));
        let merge = |blocks| reason(&Reason::FewestMerge { blocks, merge_s: 0.2, free_to: None });
        assert!(merge(1).starts_with("1 open block is already too many"), "{}", merge(1));
        assert!(merge(2).starts_with("2 open blocks are already too many"), "{}", merge(2));
        let between = |open_at_once, low, high| reason(&Reason::BetweenCounts { open_at_once, low, high });
        assert_eq!(between(1, 1, 3), "1 was open at once; the number may be any between 1 and 3");
        assert_eq!(between(3, 3, 6), "3 were open at once; the number may be any between 3 and 6");
        assert_eq!(between(6, 3, 6), "6 were open at once; the number may be any between 3 and 6");
        assert_eq!(between(7, 3, 6), "7 were open at once; but the merges suggest between 3 and 6");
        assert_eq!(between(3, 4, 4), "3 were open at once; the writes suggest 4, without proof");
    }

    #[test]
    fn sizes_and_shares_follow_from_figures() {
        let planes = reason(&Reason::TwoPlanes { half: Bytes::kib(8), extra_s: 1e-4 });
        let odd = "reads across odd multiples of 8 KiB take 100 µs longer";
        assert!(planes.starts_with(odd) && planes.contains("multiples of 16 KiB do not"), "{planes}");
        assert!(planes.ends_with("two planes inside a page of at least 16 KiB"), "{planes}");
        let larger = LogFault::WritesShowLargerPage { page: Bytes::kib(16), page_s: 0.004, twice_s: 0.0041 };
        let shown = "a write of 32 KiB takes 4.1 ms, no longer than one of 16 KiB (4.0 ms)";
        assert_eq!(reason(&Reason::Log(larger)), format!("reads show pages of 16 KiB, but {shown}"));
        let single = reason(&Reason::SingleReadsDisagree { block: Some(SIZE), slow: Some((0.6, 0.25)) });
        let shares = "only 60 % of the reads across its multiples are slower, and 25 % of the others";
        assert_eq!(single, format!("4 MiB would fit, but {shares}"));
    }
}
