//! The verdict and the cost of one side, and how it compares with the other.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_device::layer::Cost;
use serde::Serialize;

use super::stick::Stick;

/// What one side says of a stick.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The kind of the counterfeit; `None`: genuine.
    pub kind: Option<String>,
    /// What it stores.
    pub size: Bytes,
}

/// Whether a verdict is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Truth {
    /// Genuine or fake, and the size to the sector.
    Right,
    /// Fake, with another size.
    WrongSize,
    /// A fake is called genuine, or a genuine stick fake.
    Wrong,
}

impl Truth {
    pub const fn text(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::WrongSize => "wrong size",
            Self::Wrong => "WRONG",
        }
    }
}

/// The verdict and the cost of one side.
#[derive(Debug, Clone, Serialize)]
pub struct Side {
    pub verdict: Verdict,
    /// The requests that the stick served, and their time on its clock.
    pub cost: Cost,
}

impl Side {
    pub fn truth(&self, stick: &Stick) -> Truth {
        match &self.verdict.kind {
            kind if kind.is_some() == stick.is_genuine() => Truth::Wrong,
            _ if self.verdict.size != stick.true_size => Truth::WrongSize,
            _ => Truth::Right,
        }
    }

    /// Bytes written and read.
    pub fn bytes(&self) -> Bytes {
        self.cost.bytes_written + self.cost.bytes_read
    }

    pub const fn time(&self) -> Duration {
        self.cost.device_time
    }
}
