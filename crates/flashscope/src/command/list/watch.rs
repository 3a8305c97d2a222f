//! `flashscope list --watch`: what is plugged in, taken out, or changes.

use std::io;

use flashscope_linux::{Disk, Listing, Roots, WakeReason, Watch};
use serde_json::json;

use super::{layout, read, say_what_is_missing, words};
use crate::args::List;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::{interrupt, json, wall_clock};

/// What happened to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// It was there at the beginning.
    Present,
    /// It was plugged in.
    Added,
    /// It was taken out.
    Removed,
    /// It is the same, but not as it was: a card was put in, something was mounted.
    Changed,
}

impl Event {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// Goes on from `listing` until Ctrl-C, or until nobody reads any more.
///
/// # Errors
/// As [`super::run`].
pub fn run(listing: Listing, roots: &Roots, arguments: &List, printer: &Printer) -> Result<Exit, Failure> {
    let interrupt = interrupt::on_interrupt()?;
    let watch = Watch::start(roots);
    for disk in &listing.disks {
        say(Event::Present, disk, printer)?;
    }
    if !printer.json {
        say_what_is_missing(&listing, roots, arguments, printer);
    }
    printer.remark("watching; Ctrl-C ends it");
    // Read again at once: something may have come before the watch began.
    let (mut before, mut woken) = (listing.disks, WakeReason::Changed);
    while woken != WakeReason::ReaderGone && !interrupt.is_requested() {
        if woken == WakeReason::Changed {
            let now = read(roots, arguments)?.disks;
            for (event, disk) in events(&before, &now) {
                say(event, disk, printer)?;
            }
            before = now;
        }
        woken = watch.wait(io::stdout());
    }
    Ok(Exit::Fine)
}

/// What happened between two lists: first what went, then what came or changed.
fn events<'a>(before: &'a [Disk], now: &'a [Disk]) -> Vec<(Event, &'a Disk)> {
    let is_in = |disk: &Disk, disks: &[Disk]| disks.iter().any(|other| is_same(disk, other));
    let removed = before.iter().filter(|disk| !is_in(disk, now)).map(|disk| (Event::Removed, disk));
    let of_now = now.iter().filter_map(|disk| match before.iter().find(|old| is_same(disk, old)) {
        None => Some((Event::Added, disk)),
        Some(old) => (old != disk).then_some((Event::Changed, disk)),
    });
    removed.chain(of_now).collect()
}

/// Whether it is the same device, and was there all the time: one that is plugged in again has another number.
fn is_same(one: &Disk, other: &Disk) -> bool {
    let way = |disk: &Disk| disk.usb.as_ref().map(|usb| (usb.path.name.clone(), usb.path.number));
    (&one.name, &one.serial, way(one)) == (&other.name, &other.serial, way(other))
}

fn say(event: Event, disk: &Disk, printer: &Printer) -> io::Result<()> {
    if printer.json {
        let fields = json!({ "event": event.as_str(), "at": wall_clock::now(), "disk": json::disk(disk) });
        return printer.result(&format!("{}\n", json::document(fields)));
    }
    printer.result(&match event {
        Event::Present => layout::disk(disk, printer.width()) + "\n",
        Event::Removed => format!("removed: {}\n\n", words::headline(disk)),
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
    fn what_comes_goes_and_changes_is_told_apart() {
        let (all, told) = (disks(), |before: &[Disk], now: &[Disk]| {
            events(before, now)
                .into_iter()
                .map(|(event, disk)| (event, disk.name.clone()))
                .collect::<Vec<_>>()
        });
        let name = all[0].name.clone();
        assert_eq!(told(&all, &all), []);
        assert_eq!(told(&all, &all[1..]), [(Event::Removed, name.clone())]);
        assert_eq!(told(&all[1..], &all), [(Event::Added, name.clone())]);
        let mut locked = all.clone();
        locked[0].is_read_only = true;
        assert_eq!(told(&all, &locked), [(Event::Changed, name)]);
    }

    #[test]
    fn a_stick_that_enumerates_again_went_and_came() {
        let before: Vec<Disk> = disks().into_iter().filter(|disk| disk.usb.is_some()).take(1).collect();
        let mut now = before.clone();
        now[0].usb.as_mut().unwrap().path.number = Some(99);
        let kinds: Vec<Event> = events(&before, &now).into_iter().map(|(event, _)| event).collect();
        assert_eq!(kinds, [Event::Removed, Event::Added]);
    }
}
