//! From what was typed as TARGET to a device that can be measured.

mod attachment;

pub use attachment::slow_cause;
mod folder;

use std::path::Path;

use flashscope_device::layer::{Budget, Fence, Interrupt, Interruptible, Meter, ReadOnly};
use flashscope_device::{Bytes, Consent, Device};
use flashscope_linux::{Access, Identity, OpenOptions, Remark, Roots, copy_speed, identify};
use flashscope_record::attachment::Attachment;
use flashscope_record::observation::LinkLimit;
use flashscope_sim::target::Target as SimTarget;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure, OrExit};
use crate::interrupt;

pub use folder::{failure as folder_failure, instead, open_in_folder};

/// A device behind its layers: counted, limited, interruptible.
pub type Measured = Meter<Interruptible<Box<dyn Device>>>;

/// An open target.
pub struct Target {
    /// As it was typed.
    pub text: String,
    /// One line for people.
    pub name: String,
    /// What it says of itself, for `--json`.
    pub identity: Value,
    /// How it is plugged in, and what lies on it, as far as that is known.
    pub attachment: Attachment,
    /// How it had to be opened.
    pub remarks: Vec<String>,
    /// Whether writing tests may run.
    pub writable: bool,
    /// True if there is no hardware behind it.
    pub is_virtual: bool,
    /// Stops the measurement when the person presses Ctrl-C.
    pub interrupt: Interrupt,
    /// The most that the way to it lets through, if that is known.
    pub link: Option<LinkLimit>,
    /// Of a file of our own: what the filesystem around it holds.
    pub around: Option<Bytes>,
    /// Whether its requests go through the page cache.
    pub is_buffered: bool,
    /// How many of its requests failed.
    pub failed_requests: u64,
    /// The device.
    pub device: Measured,
}

impl Target {
    /// Whether it is a file of our own in a folder.
    pub const fn is_own_file(&self) -> bool {
        self.around.is_some()
    }

    /// Failed requests belong to the conditions of a run, and to how it ends.
    pub fn note_failures(&mut self, failed: u64) {
        self.failed_requests += failed;
        if failed > 0 {
            self.remarks.push(format!("{failed} requests failed and were left out"));
        }
    }
}

/// The file that a target is or comes from: the disk or image, or a virtual stick's profile.
pub fn file(text: &str) -> &Path {
    let profile = text.strip_prefix("sim:").map(|name| name.split('?').next().unwrap_or(name));
    Path::new(profile.unwrap_or(text))
}

/// Opens what `text` names.
///
/// # Errors
/// Exit code 2 for a target that is not there or not one, 4 for one that may not be written.
pub fn open(text: &str, consent: Option<&Consent>, budget: Budget) -> Result<Target, Failure> {
    open_queued(text, consent, budget, 1)
}

/// The same, where so many requests may be in flight.
///
/// # Errors
/// As [`open`].
pub fn open_queued(
    text: &str,
    consent: Option<&Consent>,
    budget: Budget,
    queue_depth: u32,
) -> Result<Target, Failure> {
    let interrupt = interrupt::on_interrupt()?;
    match text.strip_prefix("sim:") {
        Some(name) => open_virtual(text, name, budget, interrupt),
        None => {
            let access = consent.map_or(Access::ReadOnly, Access::Erase);
            let options = OpenOptions { access, queue_depth, ..OpenOptions::default() };
            open_real(text, &options, budget, interrupt)
        }
    }
}

fn layered(device: Box<dyn Device>, interrupt: &Interrupt, budget: Budget) -> Measured {
    Meter::new(Interruptible::new(device, interrupt.clone()), budget)
}

fn open_virtual(text: &str, name: &str, budget: Budget, interrupt: Interrupt) -> Result<Target, Failure> {
    let target = SimTarget::parse(name).or_exit_bare(Exit::Usage)?;
    let stick = target.device().or_exit_bare(Exit::Usage)?;
    let faults: Vec<String> = target.faults.iter().map(ToString::to_string).collect();
    let identity = json!({
        "kind": "virtual stick",
        "name": target.profile.name,
        "description": target.profile.description,
        "capacity_bytes": stick.capabilities().capacity,
        "seed": target.seed,
        "faults": faults,
    });
    let mut remarks = vec![format!(
        "a virtual stick in virtual time (profile {}, seed {}): no hardware was measured",
        target.profile.name, target.seed
    )];
    remarks.extend(faults.iter().map(|fault| format!("it has the fault {fault}")));
    let link = LinkLimit {
        bytes_per_s: target.profile.truth().link_bytes_per_s,
        name: "the virtual stick's link".to_owned(),
    };
    Ok(Target {
        text: text.to_owned(),
        link: Some(link),
        around: None,
        is_buffered: false,
        name: format!("virtual stick: {}", target.profile.description),
        identity,
        attachment: attachment::of_virtual(&target),
        remarks,
        writable: true,
        is_virtual: true,
        failed_requests: 0,
        device: layered(Box::new(stick), &interrupt, budget),
        interrupt,
    })
}

fn open_real(
    text: &str,
    options: &OpenOptions<'_>,
    budget: Budget,
    interrupt: Interrupt,
) -> Result<Target, Failure> {
    let path = Path::new(text);
    let may_write = matches!(options.access, Access::Erase(_));
    let opened = flashscope_linux::open(path, options);
    let exit = match &opened {
        Err(error) if error.is_for_safety() => Exit::Refused,
        _ => Exit::Usage,
    };
    let device = opened.or_exit_bare(exit)?;
    let is_buffered = device.remarks().contains(&Remark::Buffered);
    let in_memory = device.remarks().contains(&Remark::InMemory);
    let remarks = device.remarks().iter().map(ToString::to_string).collect();
    let whole = device.capabilities().whole();
    let writable = device.capabilities().writable;
    let fenced = Fence::new(device, whole);
    let device: Box<dyn Device> = if may_write { Box::new(fenced) } else { Box::new(ReadOnly::new(fenced)) };
    let identity = identify(path, &Roots::default());
    Ok(Target {
        text: text.to_owned(),
        name: identity.name.clone(),
        identity: describe(&identity, whole.length.get()),
        link: link(&identity),
        around: None,
        is_buffered,
        attachment: Attachment { in_memory, ..attachment::of_real(&identity) },
        remarks,
        writable: writable && may_write,
        is_virtual: false,
        failed_requests: 0,
        device: layered(device, &interrupt, budget),
        interrupt,
    })
}

/// How something that is measured without a device of its own is plugged in.
pub struct Plugged {
    /// One line for people; empty if nothing is known.
    pub name: String,
    /// How it hangs on the machine, as far as that is known.
    pub attachment: Attachment,
    /// The most that the way to it lets through.
    pub link: LinkLimit,
}

/// How the disk, the partition or the image file at `path` is plugged in; of anything else, nothing is known.
pub fn plugged(path: &Path) -> Plugged {
    let identity = identify(path, &Roots::default());
    let is_known = identity.disk.is_some() || path.is_file();
    Plugged {
        attachment: attachment::of_real(&identity),
        link: link(&identity).unwrap_or_else(memory),
        name: if is_known { identity.name } else { String::new() },
    }
}

/// The most that the link of what was identified carries, where that is known.
pub fn link(identity: &Identity) -> Option<LinkLimit> {
    let usb = identity.disk.as_ref()?.usb.as_ref()?;
    let name = format!("USB at {} Mbit/s", usb.link_mbit_per_s?);
    Some(LinkLimit { bytes_per_s: usb.carries_per_s()?, name })
}

/// Whatever lies between, nothing reaches a program faster than this machine copies memory, which is tried here and takes some
/// milliseconds.
pub fn memory() -> LinkLimit {
    LinkLimit { bytes_per_s: copy_speed(), name: "this machine's memory".to_owned() }
}

fn describe(identity: &Identity, capacity_bytes: u64) -> Value {
    let Some(disk) = &identity.disk else {
        return json!({ "kind": "image file", "name": identity.name, "capacity_bytes": capacity_bytes });
    };
    let mut description = crate::json::disk(disk);
    description["kind"] = json!(if identity.partition.is_some() { "partition" } else { "disk" });
    description["name"] = json!(identity.name);
    description["capacity_bytes"] = json!(capacity_bytes);
    description
}
