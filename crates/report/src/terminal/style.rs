//! Colours from the terminal's palette, which suits its light or dark background.

use anstyle::{AnsiColor, Effects, Style as Ansi};

use crate::chart::Colour;

/// Whether text has terminal escapes. The binary decides by `--color`, `NO_COLOR` and whether stdout is a
/// terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without escapes.
    Plain,
    /// With ANSI escapes for colour and weight.
    Ansi,
}

/// The colour or weight of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The default.
    Normal,
    /// Bold: headlines and headings.
    Strong,
    /// Dimmed: axes and annotations.
    Faint,
    /// The colour of a series.
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

/// Without yellow and white, unreadable on a light background, and black, unreadable on a dark one.
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
