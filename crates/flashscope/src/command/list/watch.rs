//! `flashscope list --watch`: prints what is plugged in, unplugged or changed.

use std::io;

use flashscope_linux::{Disk, Listing, Roots, WakeReason, Watch};

use super::found::{print_hints, read};
use super::layout;
use crate::args::List;
use crate::document::{EventKind as Event, ListEventDocument};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::{interrupt, text};

/// Prints `listing` and then each event, until Ctrl-C or until the reader of standard output is gone.
///
/// # Errors
/// Exit code 2 for a directory that is not a copy of /sys, 3 if the system has no list of disks.
pub fn run(listing: Listing, roots: &Roots, arguments: &List, printer: &Printer) -> Result<Exit, Failure> {
    let interrupt = interrupt::on_interrupt()?;
    let watch = Watch::start(roots);
    for disk in &listing.disks {
        print(Event::Present, disk, printer)?;
    }
    if !printer.json {
        print_hints(&listing, roots, arguments, printer);
    }
    printer.remark("watching; stop with Ctrl-C");
    // Reads again at once: a disk may have been plugged in before the watch started.
    let (mut before, mut wake) = (listing.disks, WakeReason::Changed);
    while wake != WakeReason::ReaderGone && !interrupt.is_requested() {
        if wake == WakeReason::Changed {
            let now = read(roots, arguments)?.disks;
            for (event, disk) in events(&before, &now) {
                print(event, disk, printer)?;
            }
            before = now;
        }
        wake = watch.wait(io::stdout());
    }
    Ok(Exit::Fine)
}

/// The events between two lists: first removed disks, then added and changed ones.
fn events<'a>(before: &'a [Disk], now: &'a [Disk]) -> Vec<(Event, &'a Disk)> {
    let is_in = |disk: &Disk, disks: &[Disk]| disks.iter().any(|other| is_same(disk, other));
    let removed = before.iter().filter(|disk| !is_in(disk, now)).map(|disk| (Event::Removed, disk));
    let of_now = now.iter().filter_map(|disk| match before.iter().find(|old| is_same(disk, old)) {
        None => Some((Event::Added, disk)),
        Some(old) => (old != disk).then_some((Event::Changed, disk)),
    });
    removed.chain(of_now).collect()
}

/// Whether two entries are the same device, plugged in all the time: one that is plugged in again has
/// another number.
fn is_same(one: &Disk, other: &Disk) -> bool {
    let usb_path = |disk: &Disk| disk.usb.as_ref().map(|usb| (usb.path.name.clone(), usb.path.number));
    (&one.name, &one.serial, usb_path(one)) == (&other.name, &other.serial, usb_path(other))
}

fn print(event: Event, disk: &Disk, printer: &Printer) -> io::Result<()> {
    if printer.json {
        return printer.document_line(&ListEventDocument::now(event, disk));
    }
    printer.result(&match event {
        Event::Present => layout::disk(disk, printer.width()) + "\n",
        Event::Removed => format!("removed: {}\n\n", text::disk::headline(disk)),
        Event::Added | Event::Changed => {
            format!("{}: {}\n", event.as_str(), layout::disk(disk, printer.width()))
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use flashscope_linux::list;

    use super::*;

    fn disks() -> Vec<Disk> {
        let copy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs/desktop");
        list(&Roots::copy(&copy)).unwrap().disks
    }

    #[test]
    fn added_removed_and_changed_disks_are_distinguished() {
        let (all, events_between) = (disks(), |before: &[Disk], now: &[Disk]| {
            events(before, now)
                .into_iter()
                .map(|(event, disk)| (event, disk.name.clone()))
                .collect::<Vec<_>>()
        });
        let name = all[0].name.clone();
        assert_eq!(events_between(&all, &all), []);
        assert_eq!(events_between(&all, &all[1..]), [(Event::Removed, name.clone())]);
        assert_eq!(events_between(&all[1..], &all), [(Event::Added, name.clone())]);
        let mut locked = all.clone();
        locked[0].is_read_only = true;
        assert_eq!(events_between(&all, &locked), [(Event::Changed, name)]);
    }

    #[test]
    fn a_stick_that_enumerates_again_is_removed_and_added() {
        let before: Vec<Disk> = disks().into_iter().filter(|disk| disk.usb.is_some()).take(1).collect();
        let mut now = before.clone();
        now[0].usb.as_mut().unwrap().path.number = Some(99);
        let kinds: Vec<Event> = events(&before, &now).into_iter().map(|(event, _)| event).collect();
        assert_eq!(kinds, [Event::Removed, Event::Added]);
    }
}
