//! What another layout would gain on one stick: the best for each kind of files, then all times.

mod page;
mod screen;
mod words;

use flashscope_device::Bytes;
use flashscope_infer::trials::forecast::Forecast;

pub use page::html_page;
pub use screen::text;

/// A forecast and where it comes from.
#[derive(Debug)]
pub struct Outlook<'a> {
    /// The target as it was typed.
    pub target: &'a str,
    /// The device in one line.
    pub device: &'a str,
    /// The erase block of the twin.
    pub erase_block: Bytes,
    /// The number of measured times that the twin was fitted to.
    pub fitted_times: usize,
    /// The median error of the twin for them.
    pub fitted_error: f64,
    /// The factor within which the twin repeats the speeds of the check; `None` if they were not measured.
    pub repeats_within: Option<f64>,
    /// Whether the run knows the present layout; else the baseline is that of sticks as they are sold.
    pub is_present_known: bool,
    /// The predictions.
    pub forecast: &'a Forecast,
    /// What a reader should know about the conditions.
    pub notes: &'a [String],
}
