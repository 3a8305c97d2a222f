//! The screen of `watch`: a pure function of the state of one disk.

use flashscope_infer::activity::Interval;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph, Sparkline};

use super::facts::{Weight, facts};
use super::watched::Watched;
use crate::text::{activity, disk};

/// Lines of the throughput chart, with its frame.
const CHART_LINES: u16 = 6;

/// Draws the disk at index `shown`. `is_styled`: with colours.
pub fn draw(frame: &mut Frame<'_>, watched: &[Watched], shown: usize, is_styled: bool) {
    let Some(one) = watched.get(shown) else { return };
    let parts =
        [Constraint::Length(1), Constraint::Length(CHART_LINES), Constraint::Min(1), Constraint::Length(1)];
    let [title, chart, below, keys] = Layout::vertical(parts).areas(frame.area());
    frame.render_widget(Line::from(disk::headline(&one.disk)).bold(), title);
    frame.render_widget(throughput_chart(one, usize::from(chart.width), is_styled), chart);
    frame.render_widget(Paragraph::new(lines(one, usize::from(below.width), is_styled)), below);
    frame.render_widget(Line::from(help(watched.len(), shown)).dim(), keys);
}

fn help(disks: usize, shown: usize) -> String {
    if disks > 1 {
        return format!("disk {} of {disks}; Tab: next disk; q: quit", shown + 1);
    }
    "q: quit".to_owned()
}

/// Total throughput, one column an interval, the latest on the right.
fn throughput_chart(one: &Watched, columns: usize, is_styled: bool) -> Sparkline<'static> {
    let columns = columns.saturating_sub(2);
    let past: Vec<u64> = one.history.intervals().rev().take(columns).map(bytes_per_s).collect();
    let most = past.iter().copied().max().unwrap_or(0);
    let missing = std::iter::repeat_n(None, columns.saturating_sub(past.len()));
    let bars: Vec<Option<u64>> = missing.chain(past.into_iter().rev().map(Some)).collect();
    let title = format!(" read + write; top: {} ", activity::speed(most as f64));
    let color = if is_styled { Style::new().cyan() } else { Style::new() };
    Sparkline::default()
        .block(Block::bordered().title(title))
        .absent_value_symbol(" ")
        .data(bars)
        .style(color)
}

/// The chart needs integers.
fn bytes_per_s(interval: &Interval) -> u64 {
    (interval.written.bytes_per_s + interval.read.bytes_per_s).round() as u64
}

fn lines(one: &Watched, columns: usize, is_styled: bool) -> Vec<Line<'static>> {
    let Some(activity) = &one.activity else { return vec![Line::from("  measuring the first interval …")] };
    let styled = |weight: Weight| match weight {
        Weight::Strong => Style::new().bold(),
        Weight::Alarm if is_styled => Style::new().yellow(),
        Weight::Alarm | Weight::Ordinary => Style::new(),
    };
    let lines = facts(one, activity).into_iter().flat_map(|fact| {
        let style = styled(fact.weight);
        fact.lines(columns).into_iter().map(move |line| Line::styled(line, style))
    });
    lines.collect()
}
