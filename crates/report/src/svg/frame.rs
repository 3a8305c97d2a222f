//! The position of the plot in the picture.

use crate::chart::Chart;

/// The layout of a picture; the style sheet shows the one that fits the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// For a desk: 760 units wide.
    Wide,
    /// For a phone: 400 units wide, so that labels stay readable at that many pixels.
    Narrow,
}

impl Layout {
    pub const fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }

    pub const fn width(self) -> f64 {
        match self {
            Self::Wide => 760.0,
            Self::Narrow => 400.0,
        }
    }

    const fn plot_height(self) -> f64 {
        match self {
            Self::Wide => 290.0,
            Self::Narrow => 230.0,
        }
    }

    /// The most labels of the horizontal axis.
    pub const fn x_ticks_max(self) -> usize {
        match self {
            Self::Wide => 10,
            Self::Narrow => 5,
        }
    }
}

/// The height of a row of text.
pub const ROW: f64 = 20.0;
/// The left margin, for the labels of the vertical axis.
const LEFT: f64 = 58.0;
/// The right margin, for half a label of the horizontal axis.
const RIGHT: f64 = 24.0;

/// The position of the plot, in the picture's units; `y` grows downwards.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    pub layout: Layout,
    pub width: f64,
    pub height: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Frame {
    pub fn new(chart: &Chart, layout: Layout, legend_rows: usize) -> Self {
        let top = ROW * (1.3 + chart.annotations.len() as f64);
        let bottom = top + layout.plot_height();
        let height = bottom + ROW * (2.6 + legend_rows as f64);
        let width = layout.width();
        Self { layout, width, height, left: LEFT, right: width - RIGHT, top, bottom }
    }

    /// The horizontal coordinate of a position from 0 to 1.
    pub fn x(&self, position: f64) -> f64 {
        self.left + position * (self.right - self.left)
    }

    /// The vertical coordinate of a position from 0 to 1.
    pub fn y(&self, position: f64) -> f64 {
        self.bottom - position * (self.bottom - self.top)
    }

    /// The upper edge of the legend.
    pub fn legend_top(&self) -> f64 {
        self.bottom + ROW * 2.4
    }
}
