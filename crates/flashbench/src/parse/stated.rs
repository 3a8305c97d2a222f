//! The parameters of a table, as the lines before it state them: all in a command line, some in a heading.

use flashscope_device::Bytes;

use flashscope_record::observation::Order;

use crate::command::Command;

/// Which of flashbench's three tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableKind {
    Align,
    OpenUnits,
    FindFat,
}

/// The parameters of a table, as far as they are stated. `None`: not stated, or not readable.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Stated {
    pub kind: Option<TableKind>,
    pub erase_block: Option<Bytes>,
    pub block: Option<Bytes>,
    pub open_units: Option<u32>,
    pub fat_units: Option<u32>,
    pub order: Option<Order>,
    /// The line it was read from.
    pub text: String,
}

impl Stated {
    /// These parameters, completed from `other`.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            kind: self.kind.or(other.kind),
            erase_block: self.erase_block.or(other.erase_block),
            block: self.block.or(other.block),
            open_units: self.open_units.or(other.open_units),
            fat_units: self.fat_units.or(other.fat_units),
            order: self.order.or(other.order),
            text: if self.text.is_empty() { other.text } else { self.text },
        }
    }

    /// The command, if every parameter of its kind is stated.
    pub(super) fn command(&self) -> Option<Command> {
        let (erase_block, smallest, order) = (self.erase_block, self.block, self.order);
        Some(match self.kind? {
            TableKind::Align => Command::Align { read: self.block? },
            TableKind::OpenUnits => Command::OpenUnits {
                erase_block: erase_block?,
                open_units: self.open_units?,
                smallest: smallest?,
                order: order?,
            },
            TableKind::FindFat => Command::FindFat {
                erase_block: erase_block?,
                units: self.fat_units?,
                smallest: smallest?,
                order: order?,
            },
        })
    }
}
