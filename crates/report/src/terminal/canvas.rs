//! A grid of characters: lines in braille, two by four dots to a character, and shapes above them.

use super::style::{Ink, Style};

/// The dots of a braille character, by row and column, as bits above U+2800 (Unicode, block Braille Patterns).
const BRAILLE: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// One character.
#[derive(Debug, Clone, Copy)]
struct Cell {
    dots: u8,
    shape: Option<char>,
    ink: Ink,
}

/// A drawing. Coordinates are dots, from the upper left; what lies outside is not drawn.
#[derive(Debug)]
pub struct Canvas {
    columns: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    pub fn new(columns: usize, rows: usize) -> Self {
        let empty = Cell { dots: 0, shape: None, ink: Ink::Faint };
        Self { columns, cells: vec![empty; columns * rows] }
    }

    fn cell(&mut self, x: i64, y: i64) -> Option<&mut Cell> {
        let (column, row) = (usize::try_from(x / 2).ok()?, usize::try_from(y / 4).ok()?);
        if column >= self.columns || x < 0 || y < 0 {
            return None;
        }
        self.cells.get_mut(row * self.columns + column)
    }

    /// One dot.
    pub fn dot(&mut self, (x, y): (i64, i64), ink: Ink) {
        if let Some(cell) = self.cell(x, y) {
            cell.dots |= BRAILLE[(y % 4) as usize][(x % 2) as usize];
            cell.ink = ink;
        }
    }

    /// A straight line of dots.
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

    /// A shape in the middle of its character; it covers what is below.
    pub fn shape(&mut self, (x, y): (i64, i64), shape: char, ink: Ink) {
        if let Some(cell) = self.cell(x, y) {
            (cell.shape, cell.ink) = (Some(shape), ink);
        }
    }

    /// A dashed vertical line in what is still empty.
    pub fn dashes(&mut self, x: i64) {
        for row in 0..self.cells.len() / self.columns.max(1) {
            if let Some(cell) =
                self.cell(x, row as i64 * 4).filter(|cell| cell.dots == 0 && cell.shape.is_none())
            {
                (cell.shape, cell.ink) = (Some('┊'), Ink::Faint);
            }
        }
    }

    /// The drawing by lines.
    pub fn lines(&self, style: Style) -> impl Iterator<Item = String> {
        self.cells.chunks(self.columns.max(1)).map(move |row| painted(row, style))
    }
}

/// A row, with one escape per run of equal ink.
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
    match (cell.shape, cell.dots) {
        (Some(shape), _) => shape,
        (None, 0) => ' ',
        (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagonal_and_a_shape() {
        let mut canvas = Canvas::new(3, 1);
        canvas.line((0, 3), (3, 0), Ink::Normal);
        canvas.shape((4, 0), '●', Ink::Normal);
        canvas.dot((-1, -1), Ink::Normal);
        canvas.dot((99, 99), Ink::Normal);
        assert_eq!(canvas.lines(Style::Plain).collect::<Vec<_>>(), ["⡠⠊●"]);
    }
}
