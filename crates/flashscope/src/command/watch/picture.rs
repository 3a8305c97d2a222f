//! The screen of `watch`: one disk, drawn from its state alone.

use flashscope_infer::activity::Interval;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph, Sparkline};

use super::facts::{Weight, facts};
use super::watched::Watched;
use super::words;
use crate::command::list;

/// Lines of the curve of speed, with its frame.
const CURVE_LINES: u16 = 6;

/// Draws the disk at `shown`. `is_styled`: whether colours are wanted.
pub fn draw(frame: &mut Frame<'_>, watched: &[Watched], shown: usize, is_styled: bool) {
    let Some(one) = watched.get(shown) else { return };
    let parts =
        [Constraint::Length(1), Constraint::Length(CURVE_LINES), Constraint::Min(1), Constraint::Length(1)];
    let [title, curve, below, keys] = Layout::vertical(parts).areas(frame.area());
    frame.render_widget(Line::from(list::words::headline(&one.disk)).bold(), title);
    frame.render_widget(speed_curve(one, usize::from(curve.width), is_styled), curve);
    frame.render_widget(Paragraph::new(lines(one, usize::from(below.width), is_styled)), below);
    frame.render_widget(Line::from(help(watched.len(), shown)).dim(), keys);
}

fn help(disks: usize, shown: usize) -> String {
    if disks > 1 {
        return format!("disk {} of {disks}, Tab shows the next; q or Ctrl-C ends", shown + 1);
    }
    "q or Ctrl-C ends".to_owned()
}

/// Speed of writing and reading together, one column an interval, the latest on the right.
fn speed_curve(one: &Watched, columns: usize, is_styled: bool) -> Sparkline<'static> {
    let columns = columns.saturating_sub(2);
    let past: Vec<u64> = one.history.intervals().rev().take(columns).map(bytes_per_s).collect();
    let most = past.iter().copied().max().unwrap_or(0);
    let missing = std::iter::repeat_n(None, columns.saturating_sub(past.len()));
    let bars: Vec<Option<u64>> = missing.chain(past.into_iter().rev().map(Some)).collect();
    let title = format!(" written and read; the top is {} ", words::speed(most as f64));
    let color = if is_styled { Style::new().cyan() } else { Style::new() };
    Sparkline::default()
        .block(Block::bordered().title(title))
        .absent_value_symbol(" ")
        .data(bars)
        .style(color)
}

/// The curve takes whole numbers.
fn bytes_per_s(interval: &Interval) -> u64 {
    (interval.written.bytes_per_s + interval.read.bytes_per_s).round() as u64
}

fn lines(one: &Watched, columns: usize, is_styled: bool) -> Vec<Line<'static>> {
    let Some(activity) = &one.activity else { return vec![Line::from("  looking for one interval …")] };
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
