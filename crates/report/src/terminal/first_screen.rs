//! The first screen as text: at most 20 lines of 80 columns.

use flashscope_record::diagnosis::Bottleneck;
use flashscope_record::verdict::Mark;
use unicode_width::UnicodeWidthStr;

use super::style::{Ink, Style};
use super::wrap::wrapped;
use crate::chart::Colour;
use crate::first_screen::{ActionText, FirstScreen, NumberText, TimePart};
use crate::no_break::NO_BREAK_SPACE;

/// The most columns: a wider screen is harder to read.
const WIDTH_MAX: usize = 80;
/// The most lines: they fit a terminal of 24 lines with the prompt and the command.
const LINES_MAX: usize = 20;
/// The most columns of the bar of times.
const BAR_MAX: usize = 60;

/// The first screen, lines at most `width` columns wide. If it has more than [`LINES_MAX`] lines, it loses
/// its blank lines, then the failed claim, then its last actions, but not the first.
pub fn draw(screen: &FirstScreen, width: usize, style: Style) -> String {
    let all = screen.actions.len();
    let claim = screen.failed_claim.as_deref().filter(|claim| claim.width() + 2 <= width.min(WIDTH_MAX));
    let fewer = (all.min(1)..=all).rev().map(|actions| (actions, false, None));
    let layouts = [(all, true, claim), (all, false, claim)].into_iter().chain(fewer);
    let mut text = String::new();
    for (actions, is_airy, claim) in layouts {
        text = drawn(screen, (&screen.actions[..actions], claim), is_airy, (width, style));
        if text.lines().count() <= LINES_MAX {
            break;
        }
    }
    text
}

fn drawn(
    screen: &FirstScreen,
    (shown, claim): (&[ActionText], Option<&str>),
    is_airy: bool,
    (width, style): (usize, Style),
) -> String {
    let width = width.min(WIDTH_MAX);
    let mut page = Lines { text: String::new(), width, style, is_airy };
    page.line(&shortened(&screen.identity.join("  "), width - 1), Ink::Normal);
    let ink = if screen.verdict.state.is_alarm() { Ink::Series(Colour::Red) } else { Ink::Strong };
    page.wrapped(&screen.headline, 1, ink);
    page.blank();
    numbers(&mut page, &screen.numbers);
    if let Some(claim) = claim {
        page.line(&format!(" {claim}"), Ink::Strong);
    }
    time(&mut page, &screen.time);
    actions(&mut page, shown, screen.limit.as_deref());
    page.blank();
    if let Some(scope) = &screen.scope {
        page.wrapped(scope, 1, Ink::Faint);
    }
    page.line(" Details: --details   Page: -o report.html", Ink::Faint);
    page.text
}

/// The columns of the numbers beside name, value and mark.
#[derive(Debug, Clone, Copy)]
struct Columns {
    interval: bool,
    yardstick: bool,
    /// The spaces between columns.
    gap: usize,
}

/// From all columns to the fewest: one that does not fit is left out of all lines, and none is cut.
const COLUMNS: [Columns; 4] = [
    Columns { interval: true, yardstick: true, gap: 2 },
    Columns { interval: true, yardstick: false, gap: 2 },
    Columns { interval: false, yardstick: false, gap: 2 },
    Columns { interval: false, yardstick: false, gap: 1 },
];

fn numbers(page: &mut Lines, numbers: &[NumberText]) {
    let lines = COLUMNS.map(|columns| number_lines(numbers, columns));
    let fits = |lines: &&Vec<String>| lines.iter().all(|line| line.width() < page.width);
    let Some(lines) = lines.iter().find(fits).or(lines.last()) else { return };
    for (number, line) in numbers.iter().zip(lines) {
        let ink = match number.mark {
            Some(Mark::Poor) => Ink::Series(Colour::Red),
            Some(Mark::Good) => Ink::Series(Colour::Green),
            Some(Mark::Usual) => Ink::Normal,
            None => Ink::Faint,
        };
        page.line(&shortened(line, page.width), ink);
    }
}

/// A line for each number. One without a mark has no yardstick, as nothing is compared with it.
fn number_lines(numbers: &[NumberText], columns: Columns) -> Vec<String> {
    let most = |of: fn(&NumberText) -> usize| numbers.iter().map(of).max().unwrap_or(0);
    let name = most(|number| number.name.width());
    let whole = most(|number| whole_part(&number.value));
    let decimals = most(|number| number.value.len() - whole_part(&number.value));
    let interval = if columns.interval { most(|number| number.interval.width()) } else { 0 };
    let mark = most(|number| if number.mark.is_some() { number.mark_text.width() } else { 0 });
    let gap = " ".repeat(columns.gap);
    let line = |number: &NumberText| {
        let indent = " ".repeat(whole - whole_part(&number.value));
        let figure = format!("{:<width$}", format!("{indent}{}", number.value), width = whole + decimals);
        let unit = if number.value.is_empty() { "    " } else { number.unit };
        if number.value.is_empty() && !columns.interval {
            return format!("{gap}{:<name$}{gap}{}", number.name, number.mark_text);
        }
        let mut text = format!("{gap}{:<name$}{gap}{figure} {unit}{gap}", number.name);
        if columns.interval {
            text.push_str(&format!("{:<interval$}{gap}", number.interval));
        }
        text.push_str(&format!("{:<mark$}", number.mark_text));
        if columns.yardstick && number.mark.is_some() {
            text.push_str(&format!("{gap}{}", number.yardstick));
        }
        text.trim_end().to_owned()
    };
    numbers.iter().map(line).collect()
}

/// The columns before the decimal point.
fn whole_part(value: &str) -> usize {
    value.find('.').unwrap_or(value.len())
}

fn time(page: &mut Lines, parts: &[TimePart]) {
    if parts.is_empty() {
        return;
    }
    page.blank();
    page.line(" Where the time of an everyday copy goes", Ink::Strong);
    let columns = BAR_MAX.min(page.width - 2);
    let mut bar = String::from("  ");
    let mut legend = Vec::new();
    let (mut sum, mut drawn) = (0, 0);
    for (index, part) in parts.iter().enumerate() {
        let glyph = glyph(index, part.bottleneck);
        sum += part.percent;
        let end = (sum as usize * columns).div_ceil(100).min(columns);
        let cells = glyph.to_string().repeat(end - drawn);
        bar.push_str(&page.style.paint(&cells, Ink::Series(colour(index, part.bottleneck))));
        drawn = end;
        let name = part.name.replace(' ', &NO_BREAK_SPACE.to_string());
        legend
            .push(format!("{glyph}{NO_BREAK_SPACE}{name}{NO_BREAK_SPACE}{}{NO_BREAK_SPACE}%", part.percent));
    }
    page.text.push_str(&bar);
    page.text.push('\n');
    page.wrapped(&legend.join("  "), 2, Ink::Normal);
}

/// The mark of a part: the flash itself is the lightest.
const fn glyph(index: usize, bottleneck: Bottleneck) -> char {
    match (bottleneck, index) {
        (Bottleneck::Flash, _) => '░',
        (_, 0) => '█',
        (_, 1) => '▓',
        _ => '▒',
    }
}

/// The colour of a part.
const fn colour(index: usize, bottleneck: Bottleneck) -> Colour {
    match (bottleneck, index) {
        (Bottleneck::Flash, _) => Colour::Grey,
        (_, 0) => Colour::Red,
        (_, 1) => Colour::Orange,
        _ => Colour::Violet,
    }
}

fn actions(page: &mut Lines, actions: &[ActionText], limit: Option<&str>) {
    page.blank();
    page.line(" What to do", Ink::Strong);
    for action in actions {
        let text = match action.gain.as_str() {
            "" => action.text.clone(),
            gain => format!("{gain}: {}", action.text),
        };
        page.wrapped(&text, 2, Ink::Normal);
        for command in &action.commands {
            page.line(&format!("    {command}"), Ink::Normal);
        }
    }
    match limit {
        Some(limit) => page.wrapped(&format!("{limit}."), 2, Ink::Normal),
        None if actions.is_empty() => page.line("  Nothing that is known.", Ink::Normal),
        None => {}
    }
}

/// `text` in at most `width` columns.
fn shortened(text: &str, width: usize) -> String {
    let text = format!(" {}", text.trim_end());
    if text.width() <= width {
        return text;
    }
    let mut short = String::new();
    for character in text.chars() {
        if short.width() + 1 >= width {
            break;
        }
        short.push(character);
    }
    format!("{}…", short.trim_end())
}

struct Lines {
    text: String,
    width: usize,
    style: Style,
    is_airy: bool,
}

impl Lines {
    fn blank(&mut self) {
        if self.is_airy {
            self.text.push('\n');
        }
    }

    fn line(&mut self, line: &str, ink: Ink) {
        self.text.push_str(&self.style.paint(line.trim_end(), ink));
        self.text.push('\n');
    }

    /// Text in lines, indented; the first less than the others.
    fn wrapped(&mut self, text: &str, indent: usize, ink: Ink) {
        let lines = wrapped(text, self.width.saturating_sub(indent + 2).max(18));
        for (index, line) in lines.iter().enumerate() {
            let indent = " ".repeat(if index == 0 { indent } else { indent + 2 });
            self.line(&format!("{indent}{line}"), ink);
        }
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::diagnosis::{Conclusion, Diagnosis, DiagnosisEvidence};
    use flashscope_record::observation::{Direction, Order};
    use flashscope_record::verdict::{SpeedNumber, Verdict, VerdictState, Yardstick};

    use super::*;

    fn number(name: &str, interval: &str, mark: Option<Mark>, mark_text: &'static str) -> NumberText {
        NumberText {
            name: name.to_owned(),
            value: if interval.is_empty() { String::new() } else { "1,986.5".to_owned() },
            unit: "MB/s",
            interval: interval.to_owned(),
            mark,
            mark_text,
            yardstick: "10 is good",
        }
    }

    /// The lines of the numbers at this width.
    fn drawn_at(width: usize) -> String {
        let all = [
            number("sequential read", "1,873 to 2,106", None, "page cache"),
            number("sequential write", "1,873 to 2,106", Some(Mark::Poor), "poor"),
            number("random read 4 KiB", "", None, "not measured"),
        ];
        let mut page = Lines { text: String::new(), width, style: Style::Plain, is_airy: false };
        numbers(&mut page, &all);
        page.text
    }

    #[test]
    fn columns_are_left_out_whole_and_none_is_cut() {
        for width in 44..=80 {
            let text = drawn_at(width);
            assert!(text.lines().all(|line| line.width() <= width) && !text.contains('…'), "{width}: {text}");
            assert!(text.contains("page cache") && text.contains("not measured"), "{width}: {text}");
        }
        assert_eq!(drawn_at(80).matches("10 is good").count(), 1, "{}", drawn_at(80));
        assert_eq!(drawn_at(44).matches("2,106").count(), 0, "{}", drawn_at(44));
    }

    #[test]
    fn yardsticks_stand_in_one_column_beside_the_marks() {
        let all = [
            number("sequential write", "1,873 to 2,106", Some(Mark::Poor), "poor"),
            number("sequential read", "1,873 to 2,106", Some(Mark::Usual), "usual"),
            number("random read 4 KiB", "", None, "not measured"),
        ];
        // As wide as the longest mark needs, not the longest reason why there is none.
        let mut page = Lines { text: String::new(), width: 69, style: Style::Plain, is_airy: false };
        numbers(&mut page, &all);
        let columns: Vec<usize> = page.text.lines().filter_map(|line| line.find("10 is good")).collect();
        assert_eq!(columns, [59, 59], "{}", page.text);
    }

    /// A screen with one speed, a claim that failed, and this number of actions.
    fn screen(actions: usize) -> FirstScreen {
        let yardstick = Yardstick { poor_below: 6e6, good_from: 10e6, name: "10 is good" };
        let numbers = std::array::from_fn(|_| SpeedNumber {
            direction: Direction::Write,
            order: Order::Linear,
            request: Bytes::mib(1),
            speed: None,
            yardstick,
        });
        let evidence = DiagnosisEvidence::Flash { single_bytes_per_s: 1e7, long_bytes_per_s: 1e7 };
        let diagnosis = Diagnosis::new(Conclusion::Flash(evidence));
        let action = |number: usize| ActionText {
            gain: String::new(),
            text: format!("action {number}"),
            commands: Vec::new(),
        };
        FirstScreen {
            verdict: Verdict { state: VerdictState::Usual, numbers, diagnosis, actions: Vec::new() },
            identity: vec!["a stick".to_owned()],
            headline: "OK: it writes 10 MB/s.".to_owned(),
            numbers: vec![number("sequential write", "1,873 to 2,106", Some(Mark::Usual), "usual")],
            time: Vec::new(),
            actions: (1..=actions).map(action).collect(),
            limit: None,
            scope: None,
            failed_claim: Some("Fails its mark A1.".to_owned()),
        }
    }

    #[test]
    fn full_screen_loses_its_blank_lines_then_the_claim_then_the_last_actions() {
        // The actions, and what is drawn: blank lines, the claim, and actions.
        for (actions, blank, has_claim, kept) in [
            (3, 3, true, 3),
            (11, 3, true, 11),
            (12, 0, true, 12),
            (14, 0, true, 14),
            (15, 0, false, 15),
            (20, 0, false, 15),
        ] {
            let text = draw(&screen(actions), 80, Style::Plain);
            let count = |is: fn(&&str) -> bool| text.lines().filter(is).count();
            let seen = (count(|line| line.is_empty()), count(|line| line.contains("action ")));
            assert_eq!(seen, (blank, kept), "{actions} actions: {text}");
            assert_eq!(text.contains("Fails its mark A1."), has_claim, "{actions} actions: {text}");
        }
    }

    #[test]
    fn text_that_is_too_wide_ends_with_an_ellipsis_inside_its_columns() {
        for (text, shown) in [("abcd", " abcd"), ("abcde", " abc…"), ("ab defgh", " ab…")] {
            assert_eq!(shortened(text, 5), shown);
        }
    }

    #[test]
    fn bar_of_times_fits_the_screen_and_has_at_most_60_columns() {
        // The columns of the screen, and of the two parts.
        for (width, writes, flash) in [(40, 29, 9), (62, 45, 15), (80, 45, 15)] {
            let parts = [(Bottleneck::SmallWrites, 75), (Bottleneck::Flash, 25)];
            let parts = parts.map(|(bottleneck, percent)| TimePart { name: "part", bottleneck, percent });
            let mut page = Lines { text: String::new(), width, style: Style::Plain, is_airy: false };
            time(&mut page, &parts);
            let bar = format!("  {}{}", "█".repeat(writes), "░".repeat(flash));
            assert_eq!(page.text.lines().nth(1), Some(bar.as_str()), "{width}: {}", page.text);
        }
    }
}
