//! Trace files: every request with its times, in 6 to 7 bytes. `docs/trace.md` describes the format.
//!
//! [`TraceWriter`] writes each request when it completes and keeps none in memory. [`TraceReader`] returns
//! them one by one and reports whether the file is complete. [`Playback`] replays them on another device.

mod byte_source;
mod error;
mod header;
mod playback;
mod reader;
mod record;
mod varint;
mod writer;

pub use error::TraceError;
pub use header::{ClockKind, TraceHeader};
pub use playback::{Playback, PlaybackOptions, Played};
pub use reader::{Ending, TraceReader};
pub use record::TraceRecord;
pub use writer::TraceWriter;

/// The first bytes of a trace. As in PNG (RFC 2083, 12.11), a byte above 127 and two kinds of line end reveal
/// that a transfer changed the file as text.
const MAGIC: [u8; 8] = *b"\x89FST\r\n\x1a\n";

/// The version of the format written here.
const VERSION: u64 = 1;
