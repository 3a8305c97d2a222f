//! One command on the link.

/// The bytes of a command, and the time of their transfer. The controller overlaps its own work with the
/// transfer where it can.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    /// The device time at which the command reaches the controller, before its data.
    pub(crate) at_ns: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) transfer_ns: u64,
}
