//! An open target.

use flashscope_device::Bytes;
use flashscope_device::layer::{Budget, Interrupt, Interruptible, Meter};
use flashscope_record::SpeedMark;
use flashscope_record::attachment::Attachment;
use flashscope_record::observation::LinkLimit;
use flashscope_report::counted;

use super::base::Base;
use crate::document::Identity;
use crate::stall;

/// A device in its layers: metered, limited, interruptible.
pub type Measured = Meter<Interruptible<Base>>;

/// An open target.
pub struct Target {
    /// As typed.
    pub text: String,
    /// One line for people.
    pub name: String,
    /// What it is, for `--json`.
    pub identity: Identity,
    /// How it is attached, and its volumes, as far as known.
    pub attachment: Attachment,
    /// How it was opened.
    pub remarks: Vec<String>,
    /// Whether write tests may run.
    pub writable: bool,
    /// Whether all data on it may be lost: a person permitted that, or it is a virtual stick without a
    /// journal.
    pub is_erased: bool,
    /// Whether it is a virtual stick.
    pub is_virtual: bool,
    /// Requested by Ctrl-C.
    pub interrupt: Interrupt,
    /// The speed limit of the path to it, if known.
    pub link: Option<LinkLimit>,
    /// For a file in a directory: the capacity of the filesystem around it.
    pub filesystem_capacity: Option<Bytes>,
    /// Whether its requests go through the page cache.
    pub is_buffered: bool,
    /// How many of its requests failed.
    pub failed_requests: u64,
    /// The device.
    pub device: Measured,
}

impl Target {
    /// Whether it is a file of flashscope's own in a directory.
    pub const fn is_own_file(&self) -> bool {
        self.filesystem_capacity.is_some()
    }

    /// Adds what the user read on the card or stick to what its registers claim.
    pub fn add_claims(&mut self, claimed: &[SpeedMark]) {
        let marks = &mut self.attachment.claims.marks;
        for mark in claimed {
            if !marks.contains(mark) {
                marks.push(*mark);
            }
        }
    }

    /// Adds failed requests, which decide the exit code, and a stall. Both are stored with the run.
    pub fn note_failures(&mut self, failed: u64) {
        self.failed_requests += failed;
        if failed > 0 {
            self.remarks.push(format!("left out {} that failed", counted(failed, "request")));
        }
        let longest = stall::pending().longest();
        if longest >= stall::STALL_MIN {
            self.remarks.push(format!("the longest request took {} s", longest.as_secs()));
        }
    }
}

/// A device in its layers.
pub fn layered(device: Base, interrupt: &Interrupt, budget: Budget) -> Measured {
    Meter::new(Interruptible::new(device, interrupt.clone()), budget)
}
