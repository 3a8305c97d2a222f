//! The forecast in sentences.

use flashscope_device::{Bytes, SECTOR};
use flashscope_infer::trials::Comparison;
use flashscope_infer::trials::forecast::{Best, Layout};
use flashscope_record::TrialWorkload;

use super::Outlook;
use crate::printable::printable;
use crate::quantity;
use crate::words::Sentence;

/// A start below this and not in whole KiB is given as the number of its sector.
const SECTORS_BELOW: Bytes = Bytes::mib(1);

/// Where a partition starts: `sector 63`, `4 MiB`.
pub fn place(start: Bytes) -> String {
    if start < SECTORS_BELOW || !start.is_multiple_of(Bytes::kib(1)) {
        format!("sector {}", start / SECTOR)
    } else {
        start.to_string()
    }
}

/// A filesystem and its place: `vfat at sector 63`.
pub fn layout(layout: &Layout) -> String {
    format!("{} at {}", printable(&layout.variant), place(layout.start))
}

/// The files of a workload.
pub const fn files(workload: TrialWorkload) -> &'static str {
    match workload {
        TrialWorkload::Tree => "A tree of 33,000 files",
        TrialWorkload::Large => "One file of 64 MiB",
        TrialWorkload::Small => "2,000 files of 2 KiB",
        TrialWorkload::Like => "Your files",
    }
}

/// Of what the twin is made, and the layout that gains count from.
pub fn introduction(outlook: &Outlook<'_>) -> Vec<Sentence> {
    let times = quantity::counted(outlook.fitted_times as u64, "measured time");
    let error = quantity::three_digits(outlook.fitted_error * 100.0);
    let speeds = outlook.repeats_within.map_or_else(String::new, |factor| {
        format!(", and the speeds of the check within a factor of {}", quantity::ratio(factor))
    });
    let now = if outlook.is_present_known { "Now" } else { "Taken as sold" };
    [
        format!(
            "Predicted on a virtual twin of {}: erase block {}; it repeats {times} with a median error of {error} %{speeds}.",
            printable(outlook.device),
            outlook.erase_block
        ),
        format!("{now}: {}.", layout(&outlook.forecast.baseline)),
    ]
    .map(Sentence::new)
    .into()
}

/// The best layout for one kind of files, with its gain.
pub fn best(best: &Best, baseline: &Layout) -> Sentence {
    let files = files(best.workload);
    let Some(gain) = best.gain else {
        let (layout, variant) = (layout(&best.layout), printable(&baseline.variant));
        return Sentence::new(format!(
            "{files}: {layout} writes fastest; there is no recording of {variant} to compare it with."
        ));
    };
    if !is_certain(gain) && gain.high > gain.low * UNKNOWN_MIN {
        return Sentence::new(format!("{files}: unknown; the prediction is too uncertain on this stick."));
    }
    if !is_certain(gain) {
        return Sentence::new(format!(
            "{files}: no gain is certain; predicted for {}: {}.",
            layout(&best.layout),
            ratio_and_interval(gain)
        ));
    }
    let times = ratio_and_interval(gain);
    let reads = best.read_gain.filter(|read| read.high < 1.0).map_or_else(String::new, |read| {
        format!(
            ", but reads take {} times as long ({} to {})",
            quantity::ratio(1.0 / read.ratio),
            quantity::ratio(1.0 / read.high),
            quantity::ratio(1.0 / read.low)
        )
    });
    Sentence::new(format!("{files}: {} writes {times}{reads}.", layout(&best.layout)))
}

/// The least lower end of a gain that is called one: less is printed as 1.0. Display.
const CERTAIN_MIN: f64 = 1.05;

/// The ratio of the ends of an interval that says nothing. Display.
const UNKNOWN_MIN: f64 = 100.0;

/// Whether a reader sees that it is a gain.
pub fn is_certain(gain: Comparison) -> bool {
    gain.is_shown() && gain.low >= CERTAIN_MIN
}

/// `2.4 times as fast (1.9 to 3.0)`.
fn ratio_and_interval(gain: Comparison) -> String {
    format!("{} times as fast ({})", quantity::ratio(gain.ratio), interval(gain))
}

/// `1.9 to 3.0`.
pub fn interval(gain: Comparison) -> String {
    format!("{} to {}", quantity::ratio(gain.low), quantity::ratio(gain.high))
}

/// What the intervals hold, and what they do not.
pub fn limits() -> Vec<Sentence> {
    [
        "Only layouts that plans make are recommended: their partitions start at erase blocks. Others are listed for comparison.",
        "Intervals are 95 % ones: the spread of the recordings, the error of twins of other sticks, and how far this twin is \
         from the speeds of the check.",
        "A full or worn stick may behave otherwise than its twin, which is new.",
        "The recordings were made with one kernel; another one orders its requests otherwise.",
    ]
    .map(Sentence::new)
    .into()
}

#[cfg(test)]
mod tests {
    use flashscope_record::finding::Confidence;

    use super::*;

    fn gain(ratio: f64, low: f64, high: f64) -> Comparison {
        Comparison { ratio, low, high, confidence: Confidence::new(0.9) }
    }

    /// What is said of nilfs2 at 4 MiB with these gains over a vfat as sold.
    fn said(gain: Option<Comparison>, read_gain: Option<Comparison>) -> String {
        let layout = |variant: &str, start| Layout { variant: variant.to_owned(), start };
        let nilfs2 = layout("nilfs2", Bytes::mib(4));
        let best_layout = Best { workload: TrialWorkload::Large, layout: nilfs2, gain, read_gain };
        best(&best_layout, &layout("vfat", Bytes::new(63 * 512))).as_str().to_owned()
    }

    #[test]
    fn reads_that_are_slower_for_certain_are_said_with_their_ratio_and_interval() {
        let faster = "One file of 64 MiB: nilfs2 at 4 MiB writes 2.4 times as fast (1.9 to 3.0)";
        let with_reads = |reads| said(Some(gain(2.4, 1.9, 3.0)), reads);
        let slower = "but reads take 2.0 times as long (1.6 to 2.5)";
        assert_eq!(with_reads(Some(gain(0.5, 0.4, 0.625))), format!("{faster}, {slower}."));
        assert_eq!(with_reads(Some(gain(0.5, 0.4, 1.1))), format!("{faster}."));
        assert_eq!(with_reads(None), format!("{faster}."));
    }

    #[test]
    fn gains_that_are_not_certain_are_not_promised() {
        let uncertain = said(Some(gain(1.2, 0.9, 1.5)), None);
        let predicted = "predicted for nilfs2 at 4 MiB: 1.2 times as fast (0.9 to 1.5).";
        assert_eq!(uncertain, format!("One file of 64 MiB: no gain is certain; {predicted}"));
        let unknown = said(Some(gain(1.2, 0.05, 20.0)), None);
        assert!(unknown.starts_with("One file of 64 MiB: unknown; "), "{unknown}");
        let least = said(Some(gain(1.2, 1.05, 1.5)), None);
        assert_eq!(least, "One file of 64 MiB: nilfs2 at 4 MiB writes 1.2 times as fast (1.1 to 1.5).");
        let less = said(Some(gain(1.2, 1.04, 1.5)), None);
        assert!(less.contains("no gain is certain"), "{less}");
        let alone = said(None, None);
        assert!(alone.contains("nilfs2 at 4 MiB writes fastest; there is no recording of vfat"), "{alone}");
    }
}
