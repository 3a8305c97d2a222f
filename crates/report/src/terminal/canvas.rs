//! A grid of characters: lines in braille, two by four dots a character, with markers above them.

use super::style::{Ink, Style};

/// The dots of a braille character, by row and column, as bits above U+2800 (Unicode, block Braille
/// Patterns).
const BRAILLE: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// A character of the grid.
#[derive(Debug, Clone, Copy)]
struct Cell {
    dots: u8,
    marker: Option<char>,
    ink: Ink,
}

/// A canvas. Coordinates are dots from the upper left; dots outside are not drawn.
#[derive(Debug)]
pub struct Canvas {
    columns: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    pub fn new(columns: usize, rows: usize) -> Self {
        let empty = Cell { dots: 0, marker: None, ink: Ink::Faint };
        Self { columns, cells: vec![empty; columns * rows] }
    }

    fn cell(&mut self, x: i64, y: i64) -> Option<&mut Cell> {
        let (column, row) = (usize::try_from(x / 2).ok()?, usize::try_from(y / 4).ok()?);
        if column >= self.columns || x < 0 || y < 0 {
            return None;
        }
        self.cells.get_mut(row * self.columns + column)
    }

    /// Draws a dot.
    pub fn dot(&mut self, (x, y): (i64, i64), ink: Ink) {
        if let Some(cell) = self.cell(x, y) {
            cell.dots |= BRAILLE[(y % 4) as usize][(x % 2) as usize];
            cell.ink = ink;
        }
    }

    /// Draws a straight line of dots.
    pub fn line(&mut self, from: (i64, i64), to: (i64, i64), ink: Ink) {
        let (width, height) = (to.0 - from.0, to.1 - from.1);
        let steps = width.abs().max(height.abs()).max(1);
        for step in 0..=steps {
            let along = |start: i64, length: i64| {
                start + (length * step + steps.signum() * length.signum() * steps / 2) / steps
            };
            self.dot((along(from.0, width), along(from.1, height)), ink);
        }
    }

    /// Draws a marker, which replaces the dots of its character.
    pub fn marker(&mut self, (x, y): (i64, i64), marker: char, ink: Ink) {
        if let Some(cell) = self.cell(x, y) {
            (cell.marker, cell.ink) = (Some(marker), ink);
        }
    }

    /// Draws a dashed vertical line through the empty characters.
    pub fn dashes(&mut self, x: i64) {
        for row in 0..self.cells.len() / self.columns.max(1) {
            if let Some(cell) =
                self.cell(x, row as i64 * 4).filter(|cell| cell.dots == 0 && cell.marker.is_none())
            {
                (cell.marker, cell.ink) = (Some('┊'), Ink::Faint);
            }
        }
    }

    /// The lines of the canvas.
    pub fn lines(&self, style: Style) -> impl Iterator<Item = String> {
        self.cells.chunks(self.columns.max(1)).map(move |row| painted(row, style))
    }
}

/// A row, with one escape sequence per run of equal ink.
fn painted(row: &[Cell], style: Style) -> String {
    row.chunk_by(|left, right| left.ink == right.ink)
        .map(|run| {
            let text: String = run.iter().map(character).collect();
            let blank = text.trim().is_empty();
            if blank { text } else { style.paint(&text, run[0].ink) }
        })
        .collect()
}

fn character(cell: &Cell) -> char {
    match (cell.marker, cell.dots) {
        (Some(marker), _) => marker,
        (None, 0) => ' ',
        (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagonal_and_a_marker() {
        let mut canvas = Canvas::new(3, 1);
        canvas.line((0, 3), (3, 0), Ink::Normal);
        canvas.marker((4, 0), '●', Ink::Normal);
        canvas.dot((-1, -1), Ink::Normal);
        canvas.dot((99, 99), Ink::Normal);
        assert_eq!(canvas.lines(Style::Plain).collect::<Vec<_>>(), ["⡠⠊●"]);
    }
}
