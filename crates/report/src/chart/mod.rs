//! Charts as data: built once from observations, drawn by the terminal and the page.
//!
//! A [`Chart`] holds axes, series, annotations and a table of its figures. Its axes are finite; points that
//! an axis cannot show are not drawn.

mod axis;
mod bars;
mod boundary;
mod charts;
mod fat_area;
mod latency;
mod model;
mod offset;
mod open_units;
mod request_size;
mod selection;
mod sustained;
mod ticks;

pub use axis::{Axis, Scale, Unit};
pub use bars::{Bar, BarChart};
pub use charts::charts;
pub use model::{Annotation, Chart, Colour, Marker, Point, Series, SeriesStyle, Table};
pub use ticks::Tick;
