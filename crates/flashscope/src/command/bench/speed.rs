//! `flashscope bench read`, `bench write`, and both: tests of equal requests.

use anyhow::anyhow;
use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};
use flashscope_linux::FileSize;
use flashscope_measure::experiment::Speed;
use flashscope_measure::{Experiment, Extent};
use flashscope_record::observation::{Direction, LinkLimit, Observations, Order, SpeedCase};

use super::directory;
use crate::args::{Erase, OrderName, SpeedTests, Thorough};
use crate::budget::{WRITE_BUDGET, budget};
use crate::command::concluded::Concluded;
use crate::command::show;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Measured, Target};
use crate::{confirm, duration, outputs, scratch};

/// The largest queue depth of the default tests.
const QUEUE_DEPTH_DEFAULT_MAX: u32 = 32;

/// The size of the file in a directory: what most tests transfer. Filling it takes half a minute at 8 MB/s.
const FILE_SIZE: Bytes = Bytes::mib(256);
/// The smallest file in a directory. Guess: a smaller one may fit into the controller's write buffer.
const FILE_SIZE_MIN: Bytes = Bytes::mib(16);

/// Permission and options of write tests.
#[derive(Debug, Clone, Copy)]
pub struct Writes<'a> {
    erase: &'a Erase,
    is_thorough: bool,
}

impl<'a> Writes<'a> {
    /// Write tests with these options.
    pub const fn new(erase: &'a Erase, thorough: &Thorough) -> Self {
        Self { erase, is_thorough: thorough.thorough }
    }
}

/// Runs the tests of these directions. Without permission to write, runs the read tests, if any.
///
/// # Errors
/// As [`outputs::permit`], [`target::open_queued`], [`target::open_in_directory`] and [`show::measurement`].
pub fn run(
    name: &str,
    tests: &SpeedTests,
    writes: Option<Writes<'_>>,
    directions: &[Direction],
    printer: &Printer,
) -> Result<Exit, Failure> {
    let is_thorough = writes.is_some_and(|writes| writes.is_thorough);
    outputs::permit(&tests.output.files, target::file(name))?;
    let target = open(name, tests, writes, directions, printer)?;
    let directions = permitted(&target, directions)?;
    if is_thorough && !directions.contains(&Direction::Write) {
        let error =
            anyhow!("--thorough is for write tests; writing to {} needs --scratch or --erase", target.text);
        return Err(Failure { exit: Exit::Refused, error });
    }
    announce(&target, printer);
    let mut target = match writes {
        Some(writes) => scratch::start(target, writes.erase, printer)?,
        None => target,
    };
    let measured = measure(tests, &directions, is_thorough, &mut target, printer);
    let restored = scratch::finish(&mut target, printer);
    let run = show::run_of(&target, measured?);
    let shown = show::measurement(&target, &run, &Concluded::default(), &tests.output.files, printer);
    directory::print_removed(&target, &run, printer);
    restored.and(shown)
}

fn measure(
    tests: &SpeedTests,
    directions: &[Direction],
    is_thorough: bool,
    target: &mut Target,
    printer: &Printer,
) -> Result<Vec<Observations>, Failure> {
    let mut progress = Progress::new(printer);
    let mut observations = Vec::new();
    let link = target.link.clone().unwrap_or_else(target::memory);
    for direction in directions.iter().copied() {
        let mut experiment = experiment(tests, direction, &link, target);
        experiment.extent = Extent::thorough_if(is_thorough && direction == Direction::Write);
        refuse_odd_sizes(&experiment, target)?;
        if keep_fitting(&mut experiment, target, printer) {
            print_cost(&experiment, direction, &target.device, printer);
        }
        observations.push(experiment.measure(&mut target.device, &Budget::UNLIMITED, &mut progress));
    }
    target.note_failures(progress.failed_requests());
    Ok(observations)
}

/// The target itself, or a file of its own in a directory.
fn open(
    name: &str,
    tests: &SpeedTests,
    writes: Option<Writes<'_>>,
    directions: &[Direction],
    printer: &Printer,
) -> Result<Target, Failure> {
    let erase = writes.map(|writes| writes.erase);
    let queue_depth = tests.queue_depths.iter().copied().max().unwrap_or(QUEUE_DEPTH_DEFAULT_MAX);
    // The journal needs space on the host, so that it must have a limit.
    let default = erase.is_some_and(|erase| erase.scratch).then_some(WRITE_BUDGET);
    let budget = budget(&tests.budgets, default);
    if directory::is_directory(name, erase)? {
        if writes.is_some_and(|writes| writes.is_thorough) {
            let error = anyhow!(
                "--thorough writes more than a file in {name} holds; use `bench sustained {name}`, which fills the free space"
            );
            return Err(Failure { exit: Exit::Usage, error });
        }
        let largest = tests.sizes.iter().copied().max().unwrap_or_default();
        let (wanted, least) = (FILE_SIZE.max(largest * 8), FILE_SIZE_MIN.max(largest * 4));
        // Write tests write the file once more.
        let passes = if directions.contains(&Direction::Write) { 2 } else { 1 };
        let size = directory::within(&budget, FileSize { wanted, minimum: least }, passes)?;
        return directory::filled(name, size, budget, queue_depth, printer);
    }
    let consent = erase.map(|erase| confirm::erase(name, erase, printer)).transpose()?.flatten();
    target::open_queued(name, consent.as_ref(), budget, queue_depth)
}

/// The directions that the target permits.
fn permitted(target: &Target, directions: &[Direction]) -> Result<Vec<Direction>, Failure> {
    let may = |direction: &&Direction| target.writable || **direction == Direction::Read;
    let permitted: Vec<Direction> = directions.iter().filter(may).copied().collect();
    if permitted.is_empty() {
        let error = anyhow!(
            "this writes to {}; allow it with --scratch (all data is put back) or --erase",
            target.text
        );
        return Err(Failure { exit: Exit::Refused, error });
    }
    Ok(permitted)
}

fn experiment(tests: &SpeedTests, direction: Direction, link: &LinkLimit, target: &Target) -> Speed {
    Speed {
        cases: cases(tests, direction),
        link: Some(link.clone()),
        is_buffered: target.is_buffered,
        extent: Extent::Usual,
        seed: tests.seed,
    }
}

/// The default tests of the named orders. With `--size` or `--queue-depth`, one test for each combination.
fn cases(tests: &SpeedTests, direction: Direction) -> Vec<SpeedCase> {
    let is_named =
        |order: Order| tests.orders.is_empty() || tests.orders.iter().any(|named| order == (*named).into());
    if tests.sizes.is_empty() && tests.queue_depths.is_empty() {
        return Speed::default_cases(direction).into_iter().filter(|case| is_named(case.order)).collect();
    }
    let or =
        |named: &[Bytes], default: &[Bytes]| if named.is_empty() { default.to_vec() } else { named.to_vec() };
    let sizes = or(&tests.sizes, &[Bytes::mib(1), Bytes::kib(64), Bytes::kib(4)]);
    let depths = if tests.queue_depths.is_empty() { vec![1] } else { tests.queue_depths.clone() };
    let orders = if tests.orders.is_empty() { OrderName::ALL.to_vec() } else { tests.orders.clone() };
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

/// Refuses request sizes that are not a multiple of the device's block.
fn refuse_odd_sizes(experiment: &Speed, target: &Target) -> Result<(), Failure> {
    let block = target.device.capabilities().logical_block;
    let odd = experiment.cases.iter().find(|case| !case.request.is_multiple_of(block));
    odd.map_or(Ok(()), |case| {
        let text = format!("--size {}: {} accepts only multiples of {block}", case.request, target.text);
        Err(Failure { exit: Exit::Usage, error: anyhow!(text) })
    })
}

/// Drops tests that are too large for the target; false if none is left, which the measurement reports
/// itself.
fn keep_fitting(experiment: &mut Speed, target: &Target, printer: &Printer) -> bool {
    let fitting = experiment.cases_that_fit(&target.device);
    if fitting.is_empty() {
        return false;
    }
    let left_out = experiment.cases.iter().filter(|case| !fitting.contains(case));
    if let Some(least) = left_out.map(|case| case.request).min() {
        let capacity = target.device.capabilities().capacity;
        printer.remark(format!(
            "the target has only {capacity}: tests of {least} and larger requests are left out"
        ));
    }
    experiment.cases = fitting;
    true
}

fn announce(target: &Target, printer: &Printer) {
    printer.remark(format!("{}: {}", target.text, target.name));
    printer.notes(&target.remarks);
    if !target.writable {
        printer.remark("read only: the data on it does not change");
    }
}

/// Prints the longest time and the largest amount written, within the budgets.
fn print_cost(experiment: &Speed, direction: Direction, device: &Measured, printer: &Printer) {
    let left = device.left();
    let most = experiment.bytes_written_max(device.capabilities().capacity);
    let written = match left.bytes_written.map_or(most, |left| left.min(most)) {
        Bytes::ZERO => String::new(),
        most => format!(" and {most} written"),
    };
    let most = experiment.time_max();
    let most = left.device_time.map_or(most, |left| left.min(most));
    let (thorough, usual) = if experiment.extent.is_thorough() {
        (", including rare stalls and SLC cache folding", "")
    } else {
        ("", ", usually far less")
    };
    printer.remark(format!(
        "{} {}{thorough}: at most {}{written}{usual}",
        direction.as_str(),
        tests(experiment.cases.len()),
        duration::about(most)
    ));
}

fn tests(count: usize) -> String {
    if count == 1 { "1 test".to_owned() } else { format!("{count} tests") }
}
