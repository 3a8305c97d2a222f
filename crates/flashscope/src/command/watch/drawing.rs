//! The screen as SVG for the docs.

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// The width and height of a cell.
const CELL: (f64, f64) = (8.4, 18.0);

/// The margin around the cells.
const MARGIN: f64 = 14.0;

/// The background and the text colour.
const BACKGROUND: &str = "#16191d";
const FOREGROUND: &str = "#d6dae0";

/// `buffer` as SVG, described by `title`.
pub fn svg(buffer: &Buffer, title: &str) -> String {
    let area = buffer.area;
    let (width, height) =
        (f64::from(area.width) * CELL.0 + 2.0 * MARGIN, f64::from(area.height) * CELL.1 + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\" shape-rendering=\"crispEdges\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"14\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" shape-rendering=\"auto\" \
         fill=\"{BACKGROUND}\"/>\n",
        escaped(title)
    );
    for row in 0..area.height {
        let cells: Vec<&Cell> = (0..area.width).map(|column| &buffer[(column, row)]).collect();
        draw_row(&mut svg, &cells, f64::from(row));
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws runs of equal cells as one element.
fn draw_row(svg: &mut String, cells: &[&Cell], row: f64) {
    let mut column = 0;
    for run in cells.chunk_by(|one, other| appearance(one) == appearance(other)) {
        let text: String = run.iter().map(|cell| cell.symbol()).collect();
        let position = (MARGIN + column as f64 * CELL.0, MARGIN + row * CELL.1);
        let boxes = text.chars().next().map_or_else(Vec::new, boxes);
        if boxes.is_empty() && !text.trim().is_empty() {
            draw_text(svg, run, position, &text);
        }
        for rectangle in boxes {
            draw_box(svg, run, position, rectangle);
        }
        column += run.len();
    }
}

/// What must be equal within a run: colour, weight, and the symbol if it is drawn as boxes.
fn appearance(cell: &Cell) -> (Color, Modifier, Option<&str>) {
    let is_drawn = cell.symbol().chars().next().is_some_and(|symbol| !boxes(symbol).is_empty());
    (cell.fg, cell.modifier, is_drawn.then_some(cell.symbol()))
}

/// A rectangle in a cell: left, top, width and height, each from 0 to 1.
type Rectangle = [f64; 4];

/// The rectangles of a block or frame character. Drawn, because fonts leave gaps between them.
fn boxes(symbol: char) -> Vec<Rectangle> {
    let [left, right]: [Rectangle; 2] = [[0.0, 0.47, 0.5, 0.06], [0.5, 0.47, 0.5, 0.06]];
    let [upper, lower]: [Rectangle; 2] = [[0.44, 0.0, 0.12, 0.5], [0.44, 0.5, 0.12, 0.5]];
    match symbol {
        '─' => vec![[0.0, 0.47, 1.0, 0.06]],
        '│' => vec![upper, lower],
        '┌' => vec![right, lower],
        '┐' => vec![left, lower],
        '└' => vec![right, upper],
        '┘' => vec![left, upper],
        '▁'..='█' => {
            let height = f64::from(u32::from(symbol) - 0x2580) / 8.0;
            vec![[0.0, 1.0 - height, 1.0, height]]
        }
        _ => Vec::new(),
    }
}

fn draw_box(svg: &mut String, run: &[&Cell], (x, y): (f64, f64), [left, top, wide, high]: Rectangle) {
    let (x, y, color) = (x + left * CELL.0, y + top * CELL.1, color(run[0]));
    let (width, height) = ((run.len() as f64 - 1.0 + wide) * CELL.0, high * CELL.1);
    writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.2}\" width=\"{width:.1}\" height=\"{height:.2}\" fill=\"{color}\"/>"
    )
    .unwrap();
}

/// `textLength` keeps the columns aligned in any font.
fn draw_text(svg: &mut String, run: &[&Cell], (x, y): (f64, f64), text: &str) {
    let (width, baseline, color) = (run.len() as f64 * CELL.0, y + CELL.1 * 0.74, color(run[0]));
    let has = |modifier| run[0].modifier.contains(modifier);
    let weight = if has(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let faint = if has(Modifier::DIM) { " opacity=\"0.6\"" } else { "" };
    writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{baseline:.1}\" textLength=\"{width:.1}\" fill=\"{color}\"{weight}{faint}>{}</text>",
        escaped(text)
    )
    .unwrap();
}

fn color(cell: &Cell) -> &'static str {
    match cell.fg {
        Color::Cyan => "#35b8c8",
        Color::Yellow => "#e5c07b",
        _ => FOREGROUND,
    }
}

/// Non-breaking spaces, because XML drops spaces at the ends of a text.
fn escaped(text: &str) -> String {
    [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), (' ', "\u{a0}")]
        .into_iter()
        .fold(text.to_owned(), |text, (character, entity)| text.replace(character, entity))
}

#[test]
fn bars_and_text_are_separate_elements_and_escaped() {
    let mut buffer = Buffer::with_lines(["<a & b>  ▄▄█"]);
    buffer[(0, 0)].set_fg(Color::Yellow);
    let drawn = svg(&buffer, "A <title>");
    assert!(
        drawn.contains("<title>A\u{a0}&lt;title&gt;</title>")
            && drawn.contains("fill=\"#e5c07b\">&lt;</text>")
    );
    assert_eq!(drawn.matches("<rect").count(), 3, "background, half bars, full bar: {drawn}");
    assert!(drawn.contains("a\u{a0}&amp;\u{a0}b&gt;") && !drawn.contains("<a"));
}
