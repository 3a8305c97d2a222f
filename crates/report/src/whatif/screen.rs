//! The forecast as text: the best layouts and one table on the first screen, then every prediction.

use flashscope_device::Bytes;
use flashscope_infer::trials::AS_SOLD;
use flashscope_infer::trials::forecast::{Layout, Prediction};
use flashscope_record::{TrialOperation, TrialWorkload};
use unicode_width::UnicodeWidthStr;

use super::Outlook;
use super::words::{best, interval, introduction, is_certain, layout, limits};
use crate::chart::Table;
use crate::printable::printable;
use crate::quantity;
use crate::terminal;
use crate::words::Sentence;

/// The size of the first screen.
const LINES_MAX: usize = 24;
const SCREEN_WIDTH: usize = 80;
/// The columns of a time and of a gain in the table.
const TIME_WIDTH: usize = 9;
const GAIN_WIDTH: usize = 7;

/// The forecast as text, lines at most `width` columns wide: the first screen, and with `details` every
/// prediction with its interval.
#[must_use]
pub fn text(outlook: &Outlook<'_>, width: usize, details: bool) -> String {
    let narrow = width.min(SCREEN_WIDTH);
    let forecast = outlook.forecast;
    let mut lines: Vec<String> = Vec::new();
    let mut sentences = introduction(outlook);
    sentences.extend(forecast.best.iter().map(|each| best(each, &forecast.baseline)));
    for sentence in &sentences {
        lines.extend(terminal::wrapped(sentence.as_str(), narrow));
    }
    lines.push(String::new());
    let end = ending(outlook, details, narrow);
    let rows_max = LINES_MAX.saturating_sub(lines.len() + 2 + end.len());
    lines.extend(short_table(outlook, rows_max));
    lines.extend(end);
    if details {
        lines.push(String::new());
        lines.extend(terminal::table_lines(&table(outlook), width));
        for sentence in limits().iter().chain(&notes(outlook)) {
            lines.extend(terminal::wrapped(sentence.as_str(), width));
        }
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The last lines of the first screen: what to type.
fn ending(outlook: &Outlook<'_>, details: bool, width: usize) -> Vec<String> {
    let best = outlook.forecast.best.iter().find(|best| best.gain.is_some_and(is_certain));
    let make = best.map(|best| format!("To make {}:", layout(&best.layout)));
    let command = best.map(|best| format!("  {}", plan(&best.layout.variant, outlook.erase_block)));
    let more =
        (!details).then(|| "Every layout, reads and intervals: --details, or -o page.html.".to_owned());
    let gain = "Times are medians, and gains means over the recordings: their ratios differ.".to_owned();
    let wrapped = |line: Option<String>| line.map_or_else(Vec::new, |line| terminal::wrapped(&line, width));
    // A command stays on its line, to be pasted.
    [wrapped(Some(gain)), wrapped(make), Vec::from_iter(command), wrapped(more)].concat()
}

/// The command that plans a filesystem.
fn plan(variant: &str, erase_block: Bytes) -> String {
    let name = variant.split('-').next().unwrap_or(variant);
    let purpose = if AS_SOLD.contains(&name) { "share" } else { "linux-data" };
    let more = if variant.ends_with("-nojournal") { " --no-journal" } else { "" };
    printable(&format!(
        "flashscope plan /dev/sdX --for {purpose} --fs {name}{more} --erase-block {}",
        erase_block.get()
    ))
}

/// Notes as sentences.
pub fn notes(outlook: &Outlook<'_>) -> Vec<Sentence> {
    outlook.notes.iter().map(Sentence::new).collect()
}

/// Times to write and gains: the baseline, then each filesystem as plans make it. At most `rows_max` rows.
fn short_table(outlook: &Outlook<'_>, rows_max: usize) -> Vec<String> {
    let workloads: Vec<TrialWorkload> = outlook.forecast.best.iter().map(|best| best.workload).collect();
    let layouts = short_layouts(outlook, &workloads);
    let all = layouts.len();
    let shown = if all <= rows_max { layouts } else { cut(outlook, layouts, rows_max.saturating_sub(1)) };
    let left_out = all - shown.len();
    let title = "writes";
    let names = shown.iter().map(|each| layout(each).width()).max().unwrap_or(0).max(title.width());
    let group = |workload: &TrialWorkload| format!("{:>1$}", workload.name(), TIME_WIDTH + GAIN_WIDTH);
    let columns = format!("{:>TIME_WIDTH$}{:>GAIN_WIDTH$}", "time", "gain");
    let mut lines = vec![
        format!("{:names$}{}", "", workloads.iter().map(group).collect::<String>()),
        format!("{title:names$}{}", columns.repeat(workloads.len())),
    ];
    lines.extend(shown.iter().map(|each| {
        let cells = workloads.iter().map(|workload| cell(outlook, each, *workload));
        format!("{:names$}{}", layout(each), cells.collect::<String>())
    }));
    if left_out > 0 {
        lines.push(format!("and {left_out} more: --details"));
    }
    lines
}

/// Whether it is the best layout for some files.
fn is_best(outlook: &Outlook<'_>, layout: &Layout) -> bool {
    outlook.forecast.best.iter().any(|best| best.layout == *layout)
}

/// The first `rows_max` layouts; instead of the last ones the best that would be cut off.
fn cut(outlook: &Outlook<'_>, mut layouts: Vec<Layout>, rows_max: usize) -> Vec<Layout> {
    let can_go = |layout: &Layout| *layout != outlook.forecast.baseline && !is_best(outlook, layout);
    while layouts.len() > rows_max
        && let Some(last) = layouts.iter().rposition(can_go)
    {
        layouts.remove(last);
    }
    layouts
}

/// The baseline, then the best layout for each kind of files, and of each other filesystem that plans make
/// the best place for the first kind of files it was tried with.
fn short_layouts(outlook: &Outlook<'_>, workloads: &[TrialWorkload]) -> Vec<Layout> {
    let forecast = outlook.forecast;
    let mut layouts = vec![forecast.baseline.clone()];
    let mut seen: Vec<&str> = Vec::new();
    let writes = |workload: TrialWorkload| {
        forecast.predictions.iter().filter(move |each| each.is(workload, TrialOperation::Write))
    };
    let planned = |each: &&Prediction| each.layout.is_planned(outlook.erase_block);
    for prediction in workloads.iter().flat_map(|workload| writes(*workload)).filter(planned) {
        let Prediction { layout, .. } = prediction;
        let is_first = !seen.contains(&layout.variant.as_str());
        seen.push(&layout.variant);
        // A filesystem that is best somewhere has the row of that place alone.
        let has_best = forecast.best.iter().any(|best| best.layout.variant == layout.variant);
        let is_shown = if has_best { is_best(outlook, layout) } else { is_first };
        if is_shown && !layouts.contains(layout) {
            layouts.push(layout.clone());
        }
    }
    layouts
}

fn cell(outlook: &Outlook<'_>, layout: &Layout, workload: TrialWorkload) -> String {
    let Some(found) = outlook.forecast.prediction(layout, workload, TrialOperation::Write) else {
        return format!("{:>TIME_WIDTH$}{:>GAIN_WIDTH$}", "-", "-");
    };
    let gain = found.gain.map_or_else(|| "-".to_owned(), |gain| quantity::ratio(gain.ratio));
    format!("{:>TIME_WIDTH$}{gain:>GAIN_WIDTH$}", quantity::seconds(found.estimate.seconds))
}

/// Every prediction with its intervals.
pub fn table(outlook: &Outlook<'_>) -> Table {
    // The deciding column comes first: narrow screens show no more.
    let header = ["files", "layout", "times as fast", "95 % interval", "time", "95 % interval"];
    let row = |each: &Prediction| {
        let (low, high) = (quantity::seconds(each.low), quantity::seconds(each.high));
        vec![
            format!("{}, {}", each.workload.name(), each.operation.name()),
            layout(&each.layout),
            each.gain.map_or_else(String::new, |gain| quantity::ratio(gain.ratio)),
            each.gain.map_or_else(String::new, interval),
            quantity::seconds(each.estimate.seconds),
            quantity::range(&low, &high),
        ]
    };
    Table {
        header: header.map(str::to_owned).to_vec(),
        rows: outlook.forecast.predictions.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use flashscope_infer::trials::forecast::Forecast;
    use flashscope_infer::trials::twin_error::{Misfit, TwinFit, TwinModel};
    use flashscope_record::{Trial, Writeback};

    use super::*;

    /// The first screen about a stick as sold, and this number of ways to make ext4 on its first erase block.
    fn screen(device: &str, count: u32) -> String {
        let trial = |variant: String, start, seconds| Trial {
            variant,
            workload: TrialWorkload::Small,
            operation: TrialOperation::Write,
            start,
            round: 1,
            writeback: Writeback::Late,
            seconds,
        };
        let sold = Bytes::new(63 * 512);
        let made = |index: u32| trial(format!("ext4-{index}"), Bytes::mib(4), 10.0 + f64::from(index));
        let first = std::iter::once(trial("vfat".to_owned(), sold, 100.0));
        let trials: Vec<Trial> = first.chain((0..count).map(made)).collect();
        let baseline = Layout { variant: "vfat".to_owned(), start: sold };
        let fit = TwinFit { model: TwinModel::Pages, misfit: Misfit::default() };
        let outlook = Outlook {
            target: "sim:x",
            device,
            erase_block: Bytes::mib(4),
            fitted_times: 60,
            fitted_error: 0.02,
            repeats_within: None,
            is_present_known: false,
            forecast: &Forecast::of(&trials, &baseline, fit, Bytes::mib(4)),
            notes: &[],
        };
        text(&outlook, 200, false)
    }

    #[test]
    fn first_screen_of_many_layouts_has_24_lines_and_counts_the_others() {
        for count in [3, 30] {
            let screen = screen("a stick", count);
            assert!(screen.lines().all(|line| line.width() <= 80), "{screen}");
            let is_row = |line: &&str| line.starts_with("ext4-") || line.starts_with("vfat at");
            let rows = screen.lines().filter(is_row).count();
            let others = screen.lines().find_map(|line| {
                line.strip_prefix("and ")?.strip_suffix(" more: --details")?.parse::<usize>().ok()
            });
            assert_eq!(rows + others.unwrap_or(0), count as usize + 1, "{screen}");
            assert_eq!(screen.lines().count() == LINES_MAX, others.is_some(), "{screen}");
            assert!(screen.lines().count() <= LINES_MAX, "{screen}");
        }
    }

    /// In 81 columns the first line would end with the name.
    #[test]
    fn name_that_needs_81_columns_begins_a_line_of_the_first_screen() {
        let screen = screen(&"n".repeat(49), 3);
        assert!(screen.starts_with("Predicted on a virtual twin of\nnnn"), "{screen}");
    }
}
