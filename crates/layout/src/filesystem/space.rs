//! Where a partition may start and end.

use flashscope_device::Bytes;

use super::contract::{Cannot, Request};

/// `n x SIZE`, the arithmetic of an offset on an edge.
pub(crate) fn whole_blocks(offset: Bytes, erase_block: Bytes) -> String {
    format!("{} x {erase_block}", offset / erase_block)
}

/// The first start on an edge of `unit`, and the size down to the last edge of an erase block.
///
/// # Errors
/// [`Cannot::FewEraseBlocks`] if nothing is left.
pub(crate) fn edge_start(request: &Request, unit: Bytes) -> Result<(Bytes, Bytes), Cannot> {
    let start = request.space.first.round_up(unit).round_up(request.logical_block);
    Ok((start, size_from(request, start)?))
}

/// The size of a partition that starts at `start`: down to the last edge of an erase block, so that it ends
/// with a whole one.
///
/// # Errors
/// [`Cannot::FewEraseBlocks`] if nothing is left.
pub(crate) fn size_from(request: &Request, start: Bytes) -> Result<Bytes, Cannot> {
    let end = request.space.end.round_down(request.erase_block).round_down(request.logical_block);
    if end <= start {
        let available = request.space.end.saturating_sub(request.space.first);
        return Err(Cannot::FewEraseBlocks { available, erase_block: request.erase_block });
    }
    Ok(end - start)
}
