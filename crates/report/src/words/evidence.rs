//! The measured figures behind a finding, in words.

use flashscope_record::figure::{speed, time};
use flashscope_record::finding::{
    BlockEvidence, Evidence, FatEvidence, ReadEvidence, SizeEvidence, StallShare, StreamEvidence,
};
use flashscope_record::observation::Order;

use crate::quantity::counted;
use crate::terms::order_name;

/// One sentence without its full stop.
#[must_use]
pub fn evidence(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Reads(figures) => reads(*figures),
        Evidence::Sizes(figures) => sizes(*figures),
        Evidence::Blocks(figures) => blocks(*figures),
        Evidence::FirstBlocks(figures) => first_blocks(*figures),
        Evidence::Stream(figures) => stream(*figures),
    }
}

fn reads(figures: ReadEvidence) -> String {
    match figures {
        ReadEvidence::EraseBlock { size, extra_s, noise_s, others_to } => {
            let others = others_to.map_or_else(String::new, |others| {
                format!(" than one across other boundaries up to {others}")
            });
            let (extra, noise) = (time(extra_s), time(noise_s));
            format!("a read across a multiple of {size} takes {extra} longer{others} (noise {noise})")
        }
        ReadEvidence::Page { size, extra_s, planes } => {
            let planes = planes.map_or_else(String::new, |planes| {
                format!(", and longer still across multiples of {planes}: several planes' pages together")
            });
            format!("a read across a multiple of {size} takes {} longer{planes}", time(extra_s))
        }
        ReadEvidence::Slower { extra_s, read_s } => {
            format!("a read across a boundary takes {} longer than {}", time(extra_s), time(read_s))
        }
        ReadEvidence::Alike { read_s, noise_s } => format!(
            "reads take {} across every boundary; the differences are within the noise of {}",
            time(read_s),
            time(noise_s)
        ),
    }
}

/// A time, or that it was not measured.
fn known(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "not tested".to_owned(), time)
}

fn sizes(figures: SizeEvidence) -> String {
    match figures {
        SizeEvidence::BlockEnds { size, at_end_s, elsewhere_s } => format!(
            "with all slots for open erase blocks taken, two adjacent writes took {} at multiples of {size}, elsewhere {}",
            known(at_end_s),
            known(elsewhere_s)
        ),
        SizeEvidence::PageEdges { page, write, is_flushed, across_s, elsewhere_s, boundaries } => format!(
            "a write of {write}{} across a multiple of {page} takes {}, elsewhere {} ({boundaries} boundaries)",
            if is_flushed { " with a flush" } else { "" },
            known(across_s),
            known(elsewhere_s)
        ),
        SizeEvidence::PageSweep { smaller, page, larger } => {
            let compared =
                if smaller.1 > page.1 * CLEARLY_LONGER { "even longer than" } else { "as long as" };
            format!(
                "a write of {} takes {}, {compared} one of {} ({}); only larger ones take more time ({}: {})",
                smaller.0,
                time(smaller.1),
                page.0,
                time(page.1),
                larger.0,
                time(larger.1)
            )
        }
        SizeEvidence::WriteUnit { unit, below, best } => format!(
            "requests of {} reach {}, those of {} only {}; the best was {} at {}",
            unit.0,
            speed(unit.1),
            below.0,
            speed(below.1),
            speed(best.1),
            best.0
        ),
    }
}

/// The least ratio of two latencies that is called longer. Guess: repeated writes differ by less than 15 %.
const CLEARLY_LONGER: f64 = 1.15;

/// A clause for random order; sequential order is not named.
const fn in_random_order(order: Order) -> &'static str {
    match order {
        Order::Linear => "",
        Order::Random => ", each in random order,",
    }
}

fn blocks(figures: BlockEvidence) -> String {
    match figures {
        BlockEvidence::TooMany { order, request, fits, too_many, within_s, beyond_s } => {
            let request = request.map_or_else(String::new, |request| format!("{request} "));
            let (within, beyond, order) = (time(within_s), time(beyond_s), in_random_order(order));
            format!(
                "writing {request}round-robin into {too_many} blocks{order} took {beyond} a request, into {fits} only {within}"
            )
        }
        BlockEvidence::OneIsSlow { order, write_s, sequential_s } => format!(
            "in one block, a request in {} order took {}, in sequential order {}",
            order_name(order),
            time(write_s),
            time(sequential_s)
        ),
        BlockEvidence::Openings { free_s, closing_s } => format!(
            "opening a block took {}, opening another before the first was full {}; the next writes took no longer",
            time(free_s),
            time(closing_s)
        ),
        figures => logs(figures).or_else(|| merges(figures)).unwrap_or_default(),
    }
}

/// Figures of layers that do not keep a number of blocks open.
fn logs(figures: BlockEvidence) -> Option<String> {
    Some(match figures {
        BlockEvidence::Collection { every, extra_s } => format!(
            "one write in {every} takes {} longer, in any blocks: pages are mapped freely, and these writes wait for garbage collection",
            time(extra_s)
        ),
        BlockEvidence::ShortMerge { extra_s } => format!(
            "a switch between blocks over data takes only {} longer, far less than copying an erase block: the log merges a smaller unit",
            time(extra_s)
        ),
        _ => return None,
    })
}

/// Figures of merges.
fn merges(figures: BlockEvidence) -> Option<String> {
    Some(match figures {
        BlockEvidence::RandomOrderMerges { fits, merge_s } => format!(
            "nothing merges in sequential order; in random order, beyond {fits} open blocks, every switch costs a merge of {}",
            time(merge_s)
        ),
        BlockEvidence::Merges { low, high, every_switch, merge_s, free_to } => {
            let fits = if low == high { low.to_string() } else { format!("{low} to {high}") };
            let costs = if every_switch { "every switch costs" } else { "only some of the writes cost" };
            let merge = time(merge_s);
            format!("beyond {fits} open blocks {costs} a merge of {merge}{}", free_requests(free_to))
        }
        BlockEvidence::ExtraCost { fits, extra_s, block_s, is_far_less, free_to } => {
            let like = if is_far_less { "far less than" } else { "of the order of" };
            let (extra, block, free) = (time(extra_s), time(block_s), free_requests(free_to));
            format!(
                "beyond {fits} open blocks a request takes {extra} longer, {like} the {block} of writing an erase block{free}"
            )
        }
        BlockEvidence::MergeTimes { merges, fits, typical_s, write_s, p10_s, p90_s } => format!(
            "{merges} writes with more than {fits} blocks open took {} longer than the {} of a write without a merge \
             (most {} to {})",
            time(typical_s),
            time(write_s),
            time(p10_s),
            time(p90_s)
        ),
        _ => return None,
    })
}

fn free_requests(free_to: Option<flashscope_device::Bytes>) -> String {
    free_to.map_or_else(String::new, |size| format!("; requests up to {size} take no longer"))
}

fn first_blocks(figures: FatEvidence) -> String {
    let several = |blocks: u32| match blocks {
        1 => "erase block".to_owned(),
        blocks => counted(u64::from(blocks), "erase block"),
    };
    match figures {
        FatEvidence::Evicts { block, opening_s, write_s } => format!(
            "opening erase block {block} evicted another ({}; a write takes {} otherwise): it is an ordinary block",
            time(opening_s),
            time(write_s)
        ),
        FatEvidence::UsesNoSlot { blocks, opening_s, next_s } => format!(
            "the first {} used no slot: opening took {}, opening the next {}",
            several(blocks),
            time(opening_s),
            time(next_s)
        ),
        FatEvidence::Alike { blocks, factor } => format!(
            "small writes are as fast in the first {} as in the others, within a factor of {factor:.2}",
            several(blocks)
        ),
        FatEvidence::Faster { blocks, factor } => {
            format!(
                "small writes into the first {} are {factor:.1} times as fast as elsewhere",
                several(blocks)
            )
        }
    }
}

fn stream(figures: StreamEvidence) -> String {
    match figures {
        StreamEvidence::CacheEnd { fast, before_bytes_per_s, after_bytes_per_s, with_stalls_bytes_per_s } => {
            let with_stalls = with_stalls_bytes_per_s
                .map_or_else(String::new, |rate| format!(" ({} with all stalls)", speed(rate)));
            let [before, after] = [before_bytes_per_s, after_bytes_per_s].map(speed);
            format!("the first {fast} were written at {before}, everything after at {after}{with_stalls}")
        }
        StreamEvidence::MoreThanACache { written, bytes_per_s } => {
            format!("{written} were written at {}: more than a cache could hold", speed(bytes_per_s))
        }
        StreamEvidence::NoSlowdown { written, sample, bytes_per_s, stalls } => {
            let how = sample.map_or_else(
                || "sequentially".to_owned(),
                |sample| format!("in samples of {sample}, each flushed,"),
            );
            format!("{written} were written {how} at {}{}", speed(bytes_per_s), or_stalls(stalls))
        }
        StreamEvidence::OverParts { written, seconds, after, spread } => {
            let after = after.map_or_else(String::new, |after| format!(" after the first {after}"));
            format!(
                "{written} were written in {}{after}; parts of them differ by {} on average",
                time(seconds),
                share(spread)
            )
        }
        StreamEvidence::OverStalls { written, seconds, stalls, period } => format!(
            "{written} were written in {}; the speed is that from the first of {stalls} stalls to the last, {period} apart",
            time(seconds)
        ),
        StreamEvidence::BufferFills { request, fast_s, held, slow_s, bursts } => format!(
            "after a pause, writes of {request} took {} each until {held} were in the buffer, then {} ({bursts} bursts)",
            time(fast_s),
            time(slow_s)
        ),
        StreamEvidence::BurstsAlike { writes, request, write_s } => format!(
            "after a pause, {writes} writes of {request} took {} each, the first like the last",
            time(write_s)
        ),
    }
}

fn or_stalls(stalls: Option<StallShare>) -> String {
    stalls.map_or_else(
        || " without a slowdown".to_owned(),
        |StallShare { share, is_over_periods }| {
            let from = if is_over_periods { "the first stall to the last" } else { "start to end" };
            format!(" on average from {from}; stalls took {:.0} % of the time", share * 100.0)
        },
    )
}

/// A share to a tenth of a per cent.
fn share(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 0.05 { "less than 0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_below_a_tenth_of_a_per_cent_are_called_so() {
        assert_eq!([0.0004, 0.0312].map(share), ["less than 0.1 %", "3.1 %"]);
    }
}
