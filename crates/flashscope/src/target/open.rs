//! Opens disks, partitions, image files and virtual sticks.

use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::{Budget, Fence, Interrupt, ReadOnly};
use flashscope_device::{Consent, Device};
use flashscope_linux::{Access, OpenError, OpenOptions, Remark, Roots, host_disk, identify};
use flashscope_record::attachment::Attachment;
use flashscope_record::observation::LinkLimit;
use flashscope_sim::target::Target as SimTarget;

use super::base::Base;
use super::describe::describe;
use super::opened::{Target, layered};
use super::virtual_name::similar_stick;
use super::{attachment, link::link, volumes};
use crate::confirm::Agreed;
use crate::document::Identity;
use crate::exit::{Exit, Failure, OrExit};
use crate::full_state::StateFile;
use crate::{file_kind, interrupt, scratch};

/// The file behind a target: the disk or image file, or the profile of a virtual stick.
pub fn file(text: &str) -> &Path {
    let profile = text.strip_prefix("sim:").map(|name| name.split('?').next().unwrap_or(name));
    Path::new(profile.unwrap_or(text))
}

/// Opens a target for one request at a time.
///
/// # Errors
/// Exit code 2 if it is missing or not a target, 4 if it must not be written.
pub fn open(text: &str, consent: Option<&Agreed>, budget: Budget) -> Result<Target, Failure> {
    open_queued(text, consent, budget, 1)
}

/// Opens a target whose data is put back from a journal.
///
/// # Errors
/// As [`open`].
pub fn open_to_restore(text: &str, consent: &Agreed, budget: Budget) -> Result<Target, Failure> {
    let options = OpenOptions { access: Access::Erase(consent), ..OpenOptions::default() };
    open_real(text, &options, budget, interrupt::on_interrupt()?)
}

/// Opens a target for the full test, which may continue one that was interrupted.
///
/// # Errors
/// As [`open`].
pub fn open_for_full_test(text: &str, consent: Option<&Agreed>, queue_depth: u32) -> Result<Target, Failure> {
    open_kept(text, consent, Budget::UNLIMITED, queue_depth)
}

/// Opens a target for up to `queue_depth` requests at a time. A full test of it that was interrupted is
/// forgotten if its data may be lost: places that are overwritten now would look as if the device lost them.
///
/// # Errors
/// As [`open`]. Exit code 4 also for writing to a stick whose data is not back yet.
pub fn open_queued(
    text: &str,
    consent: Option<&Agreed>,
    budget: Budget,
    queue_depth: u32,
) -> Result<Target, Failure> {
    let mut target = open_kept(text, consent, budget, queue_depth)?;
    if consent.is_some_and(Consent::loses_data) && !target.is_virtual {
        StateFile::remove_all(&mut target)?;
    }
    Ok(target)
}

/// Opens a target, and keeps the state of a full test.
fn open_kept(
    text: &str,
    consent: Option<&Agreed>,
    budget: Budget,
    queue_depth: u32,
) -> Result<Target, Failure> {
    let interrupt = interrupt::on_interrupt()?;
    match text.strip_prefix("sim:") {
        Some(name) => open_virtual(text, name, budget, interrupt),
        None => {
            let access = consent.map_or(Access::ReadOnly, |consent| Access::Erase(consent));
            let options = OpenOptions { access, queue_depth, ..OpenOptions::default() };
            let mut target = open_real(text, &options, budget, interrupt)?;
            if consent.is_some() {
                scratch::refuse_unfinished(&mut target)?;
            } else if let Some(remark) = scratch::unfinished_remark(&mut target) {
                target.remarks.push(remark);
            }
            Ok(target)
        }
    }
}

fn open_virtual(text: &str, name: &str, budget: Budget, interrupt: Interrupt) -> Result<Target, Failure> {
    let target = SimTarget::parse(name).or_exit_bare(Exit::Usage)?;
    let stick = target.device().or_exit_bare(Exit::Usage)?;
    let faults: Vec<String> = target.faults.iter().map(ToString::to_string).collect();
    let identity = Identity::VirtualStick {
        name: target.profile.name.clone(),
        description: target.profile.description.clone(),
        capacity_bytes: stick.capabilities().capacity.get(),
        seed: target.seed,
        faults: faults.clone(),
    };
    let mut remarks = vec![format!(
        "a virtual stick in virtual time (profile {}, seed {}): no hardware was measured",
        target.profile.name, target.seed
    )];
    remarks.extend(faults.iter().map(|fault| format!("fault: {fault}")));
    let link = LinkLimit {
        bytes_per_s: target.profile.truth().link_bytes_per_s,
        name: "the virtual stick's link".to_owned(),
    };
    Ok(Target {
        text: text.to_owned(),
        link: Some(link),
        filesystem_capacity: None,
        is_buffered: false,
        name: format!("virtual stick: {}", target.profile.description),
        identity,
        attachment: attachment::of_virtual(&target),
        remarks,
        writable: true,
        is_erased: true,
        is_virtual: true,
        failed_requests: 0,
        device: layered(Base::watched(stick), &interrupt, budget),
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
    file_kind::refuse_other(path, &[])?;
    let may_write = matches!(options.access, Access::Erase(_));
    let opened = flashscope_linux::open(path, &OpenOptions { interrupt: Some(&interrupt), ..*options });
    let exit = match &opened {
        Err(error) if error.is_for_safety() => Exit::Refused,
        Err(OpenError::Interrupted { .. }) => Exit::Interrupted,
        _ => Exit::Usage,
    };
    let similar = matches!(opened, Err(OpenError::Missing { .. })).then(|| similar_stick(text)).flatten();
    let device = opened
        .map_err(|error| match similar {
            Some(stick) => anyhow!("{error}; did you mean {stick}?"),
            None => error.into(),
        })
        .or_exit_bare(exit)?;
    let is_buffered = device.remarks().contains(&Remark::Buffered);
    let in_memory = device.remarks().contains(&Remark::InMemory);
    let remarks = device.remarks().iter().map(ToString::to_string).collect();
    let whole = device.capabilities().whole();
    let writable = device.capabilities().writable;
    let fenced = Fence::new(device, whole);
    let mut device: Box<dyn Device> =
        if may_write { Box::new(fenced) } else { Box::new(ReadOnly::new(fenced)) };
    let identity = identify(path, &Roots::default());
    let host_disk = host_disk(path, &Roots::default());
    let mut attachment = Attachment { in_memory, host_disk, ..attachment::of_real(&identity) };
    if attachment.volumes.is_empty() && identity.partition.is_none() {
        // Before it is metered: these reads are no part of what is measured.
        attachment.volumes = volumes::on_device(device.as_mut(), path);
    }
    Ok(Target {
        text: text.to_owned(),
        name: identity.name.clone(),
        identity: describe(&identity, whole.length.get()),
        link: link(&identity),
        filesystem_capacity: None,
        is_buffered,
        attachment,
        remarks,
        writable: writable && may_write,
        is_erased: matches!(options.access, Access::Erase(consent) if consent.loses_data()),
        is_virtual: false,
        failed_requests: 0,
        device: layered(Base::watched(device), &interrupt, budget),
        interrupt,
    })
}
