//! Colours of the terminal's own palette: whoever chose a light or a dark scheme chose shades that read on it.

use anstyle::{AnsiColor, Effects, Style as Ansi};

use crate::chart::Colour;

/// Whether text carries terminal escapes. The binary decides (`--color`, `NO_COLOR`, whether stdout is a terminal).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// No escapes at all.
    Plain,
    /// Colours and weights by ANSI escapes.
    Ansi,
}

/// What a piece of text is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// As everything else.
    Normal,
    /// What to read first.
    Strong,
    /// What need not be read: axes, notes.
    Faint,
    /// A series of a chart.
    Series(Colour),
}

impl Style {
    /// `text` in this ink.
    pub fn paint(self, text: &str, ink: Ink) -> String {
        let ansi = ink.ansi();
        if self == Self::Plain || text.is_empty() || ansi.is_plain() {
            return text.to_owned();
        }
        format!("{ansi}{text}{ansi:#}")
    }
}

impl Ink {
    fn ansi(self) -> Ansi {
        match self {
            Self::Normal => Ansi::new(),
            Self::Strong => Ansi::new().effects(Effects::BOLD),
            Self::Faint => Ansi::new().effects(Effects::DIMMED),
            Self::Series(colour) => ansi_colour(colour).map_or_else(Ansi::new, AnsiColor::on_default),
        }
    }
}

/// Yellow and white are left out, which vanish on a light background, and black, which vanishes on a dark one.
const fn ansi_colour(colour: Colour) -> Option<AnsiColor> {
    Some(match colour {
        Colour::Blue => AnsiColor::Blue,
        Colour::Teal => AnsiColor::Cyan,
        Colour::Green => AnsiColor::Green,
        Colour::Violet => AnsiColor::BrightBlue,
        Colour::Red => AnsiColor::Red,
        Colour::Orange => AnsiColor::BrightRed,
        Colour::Pink => AnsiColor::Magenta,
        Colour::Grey => return None,
    })
}
