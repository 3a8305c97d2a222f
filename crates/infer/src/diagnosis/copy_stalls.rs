//! What stops a long copy beside its single writes: the stalls of the long stream, as a model needs them.

use flashscope_device::Bytes;
use flashscope_record::finding::Finding;
use flashscope_record::run_file::RunFile;

use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::long_stream::{
    bounded_sweep, slow_stream, slowdown, stalls_without_cache, stream, time_per_byte,
};
use crate::diagnosis::size_sweep::SizeSweep;
use crate::streams::stream_stalls::recur_to_the_end;

/// The stalls of a long copy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CopyStalls {
    /// The bytes written from one to the next.
    pub period: Bytes,
    /// The longest that the mean stall can be, seconds: it includes the write that stalled.
    pub seconds_max: f64,
    /// The time per byte of the stream, its stalls included, seconds.
    pub seconds_per_byte: f64,
}

impl CopyStalls {
    /// The stalls that the long stream of a run shows. `None` without a stream, without stalls, and where a
    /// cache or a write buffer explains the stream.
    ///
    /// A stream that is slower than single writes from its start to its end, with no stall among its writes,
    /// has one in each of them.
    #[must_use]
    pub fn of(run: &RunFile, findings: &[Finding]) -> Option<Self> {
        let sweep = SizeSweep::of(&run.observations)?;
        let inputs =
            Inputs { observations: &run.observations, findings, attachment: &run.attachment, sweep: &sweep };
        let sweep = bounded_sweep(&inputs);
        let inputs = Inputs { sweep: &sweep, ..inputs };
        let long = time_per_byte(&inputs).ok()?;
        let data = stream(&inputs)?;
        if let Some(stalls) = stalls_without_cache(&inputs, data) {
            let seconds_per_byte = stalls.seconds_per_byte;
            let seconds_max = stalls.share * seconds_per_byte * stalls.period.as_f64();
            let stalls = Self { period: stalls.period, seconds_max, seconds_per_byte };
            return recur_to_the_end(data).then_some(stalls);
        }
        let is_even = slowdown(&inputs, data).ok()?.is_none();
        slow_stream(&inputs, &long).filter(|_| is_even)?;
        let seconds_max = long.seconds * data.request.as_f64();
        Some(Self { period: data.request, seconds_max, seconds_per_byte: long.seconds })
    }
}
