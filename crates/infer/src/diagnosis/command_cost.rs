//! The time of a command besides its data.

use flashscope_device::Bytes;

use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::size_sweep::{LINE_REQUEST_MIN, Line};

/// The largest command that usb-storage sends by itself on fast links: 2048 sectors (Linux,
/// drivers/usb/storage).
pub const COMMAND_MAX_DEFAULT: Bytes = Bytes::mib(1);

/// The latency of a write by commands and bytes. If commands are shorter than [`LINE_REQUEST_MIN`], it is
/// fitted to whole pages, of which a command must hold two.
pub fn command_line(inputs: &Inputs<'_>) -> Option<Line> {
    let Some(command_max) = inputs.command_max().filter(|command_max| *command_max < LINE_REQUEST_MIN) else {
        return inputs.sweep.line(inputs.command_max(), |size| size >= LINE_REQUEST_MIN);
    };
    let page = inputs.page()?;
    (page * 2 <= command_max)
        .then(|| inputs.sweep.line(Some(command_max), |size| size.is_multiple_of(page)))?
}
