//! Traces in files: every request with its times, in a few bytes each. The format is described in `docs/trace.md`.
//!
//! [`TraceWriter`] writes while requests complete and holds none of them; [`TraceReader`] gives them back one by one and
//! says whether the file is whole; [`Playback`] asks them of another device.

mod byte_source;
mod checksum;
mod error;
mod header;
mod playback;
mod reader;
mod record;
mod varint;
mod writer;

pub use error::TraceError;
pub use header::{ClockKind, TraceHeader};
pub use playback::{Pace, Playback, Played};
pub use reader::{Ending, TraceReader};
pub use record::TraceRecord;
pub use writer::TraceWriter;

/// The first bytes of a trace. As in PNG (RFC 2083, 12.11), a byte above 127 and two kinds of line end show what a
/// transfer as text has done.
const MAGIC: [u8; 8] = *b"\x89FST\r\n\x1a\n";

/// The version of the format written here.
const VERSION: u64 = 1;
