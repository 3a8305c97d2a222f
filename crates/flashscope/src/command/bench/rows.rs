//! `flashscope bench read`, `bench write`, and both: rows of equal requests.

use anyhow::anyhow;
use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};
use flashscope_linux::FileSize;
use flashscope_measure::Experiment;
use flashscope_measure::experiment::Speed;
use flashscope_record::observation::{Direction, LinkLimit, Order, SpeedCase};

use super::folder;
use crate::args::{Erase, Extent, OrderName, Rows};
use crate::command::check::budget;
use crate::command::show;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Measured, Target};
use crate::{confirm, duration, outputs};

/// As many requests as the usual rows have in flight at most.
const QUEUE_DEPTH_USUAL: u32 = 32;

/// In a folder, a file of this size is read and written: as much as most rows transfer. It takes half a minute to fill at 8 MB/s.
const FILE: Bytes = Bytes::mib(256);
/// A smaller one lies in the stick's own memory.
const FILE_MIN: Bytes = Bytes::mib(16);

/// Rows that may be asked to write.
#[derive(Debug, Clone, Copy)]
pub struct Writes<'a> {
    erase: &'a Erase,
    is_thorough: bool,
}

impl<'a> Writes<'a> {
    /// With this permission, and going so far.
    pub const fn of(erase: &'a Erase, extent: &Extent) -> Self {
        Self { erase, is_thorough: extent.thorough }
    }
}

/// Runs the rows of these directions; without permission to write, the reads alone if there are any.
///
/// # Errors
/// As [`outputs::permit`], [`target::open_queued`], [`target::open_in_folder`] and [`show::measurement`].
pub fn run(
    name: &str,
    rows: &Rows,
    writes: Option<Writes<'_>>,
    directions: &[Direction],
    printer: &Printer,
) -> Result<Exit, Failure> {
    let is_thorough = writes.is_some_and(|writes| writes.is_thorough);
    outputs::permit(&rows.output.files, target::file(name))?;
    let mut target = open(name, rows, writes, directions, printer)?;
    let directions = permitted(&target, directions)?;
    if is_thorough && !directions.contains(&Direction::Write) {
        let error = anyhow!("--thorough is for writes, which {} takes only with --erase", target.text);
        return Err(Failure { exit: Exit::Refused, error });
    }
    announce(&target, printer);
    let mut progress = Progress::new(printer);
    let mut observations = Vec::new();
    let link = target.link.clone().unwrap_or_else(target::memory);
    for direction in directions {
        let mut experiment = experiment(rows, direction, &link, &target);
        experiment.is_thorough = is_thorough && direction == Direction::Write;
        refuse_what_cannot_be(&experiment, &target)?;
        if fits(&mut experiment, &target, printer) {
            say_cost(&experiment, direction, &target.device, printer);
        }
        observations.push(experiment.measure(&mut target.device, &Budget::UNLIMITED, &mut progress));
    }
    target.note_failures(progress.failed_requests());
    let run = show::run_of(&target, observations);
    let shown = show::measurement(&target, &run, &[], &rows.output.files, printer);
    folder::say_gone(&target, &run, printer);
    shown
}

/// The target itself; of a folder, a file of our own in it.
fn open(
    name: &str,
    rows: &Rows,
    writes: Option<Writes<'_>>,
    directions: &[Direction],
    printer: &Printer,
) -> Result<Target, Failure> {
    let erase = writes.map(|writes| writes.erase);
    let queue_depth = rows.queue_depths.iter().copied().max().unwrap_or(QUEUE_DEPTH_USUAL);
    let budget = budget(&rows.budgets, None);
    if folder::is_folder(name, erase)? {
        if writes.is_some_and(|writes| writes.is_thorough) {
            let error = anyhow!(
                "--thorough writes many GiB, more than a file in {name} holds; `bench sustained {name}` goes on for as long as there is room"
            );
            return Err(Failure { exit: Exit::Usage, error });
        }
        let largest = rows.sizes.iter().copied().max().unwrap_or_default();
        let (wanted, least) = (FILE.max(largest * 8), FILE_MIN.max(largest * 4));
        // Rows of writes need as much again.
        let share = if directions.contains(&Direction::Write) { 2 } else { 1 };
        let size = folder::within(&budget, FileSize { wanted, minimum: least }, share)?;
        return folder::filled(name, size, budget, queue_depth, printer);
    }
    let consent = erase.map(|erase| confirm::erase(name, erase, printer)).transpose()?.flatten();
    target::open_queued(name, consent.as_ref(), budget, queue_depth)
}

/// The directions that this target may be asked in.
fn permitted(target: &Target, directions: &[Direction]) -> Result<Vec<Direction>, Failure> {
    let may = |direction: &&Direction| target.writable || **direction == Direction::Read;
    let permitted: Vec<Direction> = directions.iter().filter(may).copied().collect();
    if permitted.is_empty() {
        let error = anyhow!("this writes to {}; allow it with --erase", target.text);
        return Err(Failure { exit: Exit::Refused, error });
    }
    Ok(permitted)
}

fn experiment(rows: &Rows, direction: Direction, link: &LinkLimit, target: &Target) -> Speed {
    Speed {
        cases: cases(rows, direction),
        link: Some(link.clone()),
        is_buffered: target.is_buffered,
        is_thorough: false,
        seed: rows.seed,
    }
}

/// The usual kinds of request, of the orders that were named; or those of every order, size and depth, where sizes or depths were.
fn cases(rows: &Rows, direction: Direction) -> Vec<SpeedCase> {
    let is_named =
        |order: Order| rows.orders.is_empty() || rows.orders.iter().any(|named| order == (*named).into());
    if rows.sizes.is_empty() && rows.queue_depths.is_empty() {
        return Speed::usual_cases(direction).into_iter().filter(|case| is_named(case.order)).collect();
    }
    let or =
        |named: &[Bytes], usual: &[Bytes]| if named.is_empty() { usual.to_vec() } else { named.to_vec() };
    let sizes = or(&rows.sizes, &[Bytes::mib(1), Bytes::kib(64), Bytes::kib(4)]);
    let depths = if rows.queue_depths.is_empty() { vec![1] } else { rows.queue_depths.clone() };
    let orders = if rows.orders.is_empty() { OrderName::ALL.to_vec() } else { rows.orders.clone() };
    let mut cases = Vec::new();
    for order in orders.into_iter().map(Order::from) {
        for request in &sizes {
            let case = |queue_depth: &u32| SpeedCase {
                direction,
                order,
                request: *request,
                queue_depth: *queue_depth,
            };
            cases.extend(depths.iter().map(case));
        }
    }
    cases
}

/// A size that the device does not take is a mistake of the person.
fn refuse_what_cannot_be(experiment: &Speed, target: &Target) -> Result<(), Failure> {
    let block = target.device.capabilities().logical_block;
    let odd = experiment.cases.iter().find(|case| !case.request.is_multiple_of(block));
    odd.map_or(Ok(()), |case| {
        let text = format!("--size {}: {} takes multiples of {block} only", case.request, target.text);
        Err(Failure { exit: Exit::Usage, error: anyhow!(text) })
    })
}

/// Whether any row fits on the target; those that are too large for it are left out. Where all are, the measurement itself says so.
fn fits(experiment: &mut Speed, target: &Target, printer: &Printer) -> bool {
    let fitting = experiment.cases_that_fit(&target.device);
    if fitting.is_empty() {
        return false;
    }
    let left_out = experiment.cases.iter().filter(|case| !fitting.contains(case));
    if let Some(least) = left_out.map(|case| case.request).min() {
        let capacity = target.device.capabilities().capacity;
        printer
            .remark(format!("{capacity} are too few for requests of {least} and more: those are left out"));
    }
    experiment.cases = fitting;
    true
}

fn announce(target: &Target, printer: &Printer) {
    printer.remark(format!("{}: {}", target.text, target.name));
    for remark in &target.remarks {
        printer.remark(format!("note: {remark}"));
    }
    if !target.writable {
        printer.remark("reading only: nothing on it changes");
    }
}

/// Says what it will take before it begins: no more than is left of what the person allows.
fn say_cost(experiment: &Speed, direction: Direction, device: &Measured, printer: &Printer) {
    let left = device.left();
    let most = experiment.bytes_written_max(device.capabilities().capacity);
    let written = match left.bytes_written.map_or(most, |left| left.min(most)) {
        Bytes::ZERO => String::new(),
        most => format!(" and {most} written"),
    };
    let most = experiment.time_max();
    let most = left.device_time.map_or(most, |left| left.min(most));
    let (thorough, usual) = if experiment.is_thorough {
        (", until stalls that come every few GiB and what a spent cache owes are a part of them", "")
    } else {
        ("", ", usually far less")
    };
    printer.remark(format!(
        "{}s: {}{thorough}; at most {}{written}{usual}",
        direction.as_str(),
        rows(experiment.cases.len()),
        duration::about(most)
    ));
}

fn rows(count: usize) -> String {
    if count == 1 {
        "1 row of requests".to_owned()
    } else {
        format!("{count} rows of requests, one after the other")
    }
}
