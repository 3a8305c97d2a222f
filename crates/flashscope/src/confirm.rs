//! The only step that makes a [`Consent`]: a person permits erasing a target.

use std::path::Path;

use anyhow::anyhow;
use flashscope_device::Consent;
use flashscope_linux::{
    Disk, Erasable, Filesystem, Partition, Roots, erasable, is_persistent_name, persistent_name,
};
use flashscope_report::printable;

use crate::args::Erase;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Asks whether `target` may be erased, unless `--yes` says so. `None` without `--erase`.
///
/// First prints what is on the stick or card; the person then types its name. `--yes` needs a persistent
/// name, which no other disk gets.
///
/// # Errors
/// Exit code 4 for a disk that must not be erased or is in use, if the answer is no, or without a terminal.
pub fn erase(target: &str, erase: &Erase, printer: &Printer) -> Result<Option<Consent>, Failure> {
    if !erase.erase {
        return Ok(None);
    }
    overwrite(target, "All data on it will be lost.", erase.yes, printer).map(Some)
}

/// Asks whether `target` may be overwritten, unless `yes`. `loss` says what that costs.
///
/// # Errors
/// As [`erase`].
pub fn overwrite(target: &str, lost: &str, yes: bool, printer: &Printer) -> Result<Consent, Failure> {
    let roots = Roots::default();
    let disk = erasable(Path::new(target), &roots).map_err(|error| refused(error.into()))?;
    let (loss, answer) = match &disk {
        Some(disk) => (loss(target, disk, lost), disk.name.as_str()),
        None => (format!("{} is an image file or a loop device.\n{lost}", printable(target)), "yes"),
    };
    let consent = Consent::to_erase(target);
    let consent = match &disk {
        Some(disk) => consent.of_medium(&disk.medium),
        None => consent,
    };
    if yes {
        if disk.is_some() {
            permit_without_asking(target, &roots)?;
            loss.lines().for_each(|line| printer.remark(line));
        }
        return Ok(consent);
    }
    match printer.ask(&format!("{loss} Type {answer} to continue: ")) {
        Some(typed) if typed == answer => Ok(consent),
        Some(_) => Err(refused(anyhow!("not confirmed; {target} is unchanged"))),
        None => Err(refused(anyhow!(
            "erasing {target} needs a confirmation, and standard input is not a terminal; add --yes if you are sure"
        ))),
    }
}

const fn refused(error: anyhow::Error) -> Failure {
    Failure { exit: Exit::Refused, error }
}

/// `--yes` refuses names such as `/dev/sdb`, which may be another disk tomorrow.
fn permit_without_asking(target: &str, roots: &Roots) -> Result<(), Failure> {
    let path = Path::new(target);
    if is_persistent_name(path, roots) {
        return Ok(());
    }
    let instead = match persistent_name(path, roots) {
        Some(name) => format!("use {}", printable(&name.to_string_lossy())),
        None => "it has no persistent name here (/dev/disk/by-id)".to_owned(),
    };
    Err(refused(anyhow!(
        "{target} may be another disk tomorrow, so --yes needs a persistent name: {instead}, or leave out --yes and answer the \
         question"
    )))
}

/// What will be lost: one line for the disk and one for each partition.
fn loss(target: &str, erasable: &Erasable, lost: &str) -> String {
    let identity = &erasable.identity;
    let disk = identity.disk.as_ref();
    let serial = disk.and_then(|disk| disk.serial.as_ref());
    let serial = serial.map_or_else(String::new, |serial| format!(", serial number {serial}"));
    let contents: Vec<String> = match (&identity.partition, disk) {
        (Some(partition), _) => vec![partition_line(partition)],
        (None, Some(disk)) => disk_lines(disk),
        (None, None) => Vec::new(),
    };
    let contents: String = contents.iter().map(|line| format!("\n  {line}")).collect();
    format!("{} is {}{serial}{contents}\n{lost}", printable(target), identity.name)
}

fn disk_lines(disk: &Disk) -> Vec<String> {
    if disk.partitions.is_empty() {
        return vec![disk.filesystem.as_ref().map_or_else(|| "no partitions".to_owned(), filesystem)];
    }
    disk.partitions.iter().map(partition_line).collect()
}

fn partition_line(partition: &Partition) -> String {
    let found = partition.filesystem.as_ref().map_or_else(|| "no known filesystem".to_owned(), filesystem);
    format!("{}: {}, {found}", partition.name, partition.length)
}

fn filesystem(found: &Filesystem) -> String {
    let label = found.label.as_ref().map_or_else(String::new, |label| format!(" \"{label}\""));
    format!("{}{label}", found.kind)
}
