//! `flashscope measure`: one experiment, with flashscope's or flashbench's procedure.

use anyhow::anyhow;
use flashscope_device::Bytes;
use flashscope_device::layer::Budget;
use flashscope_flashbench as flashbench;
use flashscope_flashbench::{print, procedure};
use flashscope_infer::findings::{infer, merges};
use flashscope_measure::Experiment;
use flashscope_measure::experiment::{
    ASSUMED_ERASE_BLOCK, Access, Align, FatArea, OpenUnits, Request, RequestOption,
};
use flashscope_record::finding::{Finding, FindingId};
use flashscope_record::observation::{Ended, Merges, Observations, Order};
use flashscope_report::words;

use super::concluded::Concluded;
use super::show;
use crate::args::{ExperimentName, Format, Measure};
use crate::budget::{WRITE_BUDGET, budget};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};
use crate::{confirm, outputs, scratch};

/// Runs the command.
///
/// # Errors
/// As [`outputs::permit`], [`target::open`] and [`show::measurement`].
pub fn run(arguments: &Measure, printer: &Printer) -> Result<Exit, Failure> {
    refuse_idle_options(arguments)?;
    if let Some(erase_block) = given_erase_block(arguments) {
        refuse_impossible_writes(arguments, erase_block)?;
    }
    outputs::permit(&arguments.output.files, target::file(&arguments.target))?;
    let consent = confirm::erase(&arguments.target, &arguments.erase, printer)?;
    // flashbench's procedure and the sustained stream have no default write budget: they print what they
    // write.
    let has_default = arguments.format == Format::Flashscope && access(arguments) != Access::WritesEstimate;
    let budget = budget(&arguments.budgets, has_default.then_some(WRITE_BUDGET));
    let target = target::open(&arguments.target, consent.as_ref(), budget)?;
    if access(arguments) != Access::Reads && !target.writable {
        let error = anyhow!(
            "this experiment writes to {}; allow it with --scratch (all data is put back) or --erase",
            arguments.target
        );
        return Err(Failure { exit: Exit::Refused, error });
    }
    printer.notes(&target.remarks);
    let mut target = match access(arguments) {
        Access::Reads => target,
        Access::Writes | Access::WritesEstimate => scratch::start(target, &arguments.erase, printer)?,
    };
    let measured = match arguments.format {
        Format::Flashbench => as_flashbench(arguments, &mut target, printer),
        Format::Flashscope => as_flashscope(arguments, &mut target, printer),
    };
    let restored = scratch::finish(&mut target, printer);
    let shown = show(arguments, &target, measured?, printer);
    restored.and(shown)
}

/// Prints and stores the observations: flashbench's table, or findings.
fn show(
    arguments: &Measure,
    target: &Target,
    observations: Vec<Observations>,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let table = match arguments.format {
        Format::Flashbench if !printer.json => {
            Some(observations.iter().map(print::print).collect::<String>())
        }
        _ => None,
    };
    let run = show::run_of(target, observations);
    let findings = findings_of(arguments.experiment, flashscope_infer::findings_of(&run));
    let concluded = Concluded::from_findings(findings);
    let Some(table) = table else {
        return show::measurement(target, &run, &concluded, &arguments.output.files, printer);
    };
    printer.result(&table)?;
    outputs::write(&arguments.output.files, &concluded.report(&run), printer)?;
    show::end(target, &run, &arguments.output.files, printer)
}

/// Refuses combinations of options that have no effect.
fn refuse_idle_options(arguments: &Measure) -> Result<(), Failure> {
    let flashbench = arguments.format == Format::Flashbench;
    let is = |name| arguments.experiment == name;
    let unused = [
        (
            arguments.random && (!flashbench || is("align")),
            "--random needs --format flashbench with open-units or fat-area",
        ),
        (
            arguments.open_units.is_some() && (is("align") || is("write-size") || is("block-ends")),
            "--open-units needs open-units or fat-area",
        ),
        (
            arguments.open_units.is_some() && is("fat-area") && !flashbench,
            "--open-units with fat-area needs --format flashbench",
        ),
        (
            arguments.erase_block.is_some() && is("align"),
            "--erase-block: align measures the erase block itself",
        ),
        (
            arguments.erase_block.is_some() && is("block-ends"),
            "--erase-block: block-ends measures the erase block itself",
        ),
        (
            arguments.block_size.is_some() && is("block-ends"),
            "--block-size: block-ends uses block sizes of its own",
        ),
        (
            arguments.block_size.is_some() && is("write-size"),
            "--block-size: write-size sweeps over all sizes",
        ),
        (
            flashbench && !arguments.experiment.is_in_flashbench(),
            "flashbench has no such table; leave out --format flashbench",
        ),
    ];
    match unused.into_iter().find(|(is_unused, _)| *is_unused) {
        Some((_, text)) => Err(Failure { exit: Exit::Usage, error: anyhow!(text) }),
        None if flashbench => Ok(()),
        None => refuse_unused_options(arguments),
    }
}

/// Refuses options without an effect on this experiment.
fn refuse_unused_options(arguments: &Measure) -> Result<(), Failure> {
    let given = [
        ("--erase-block", arguments.erase_block.is_some(), RequestOption::EraseBlock),
        ("--block-size", arguments.block_size.is_some(), RequestOption::RequestSize),
        ("--open-units", arguments.open_units.is_some(), RequestOption::UnitsMax),
    ];
    let experiment = arguments.experiment.0;
    match given.into_iter().find(|(_, is_given, option)| *is_given && !experiment.has_option(*option)) {
        Some((name, ..)) => {
            let error = anyhow!("{name} has no effect on {}", experiment.name);
            Err(Failure { exit: Exit::Usage, error })
        }
        None => Ok(()),
    }
}

const fn access(arguments: &Measure) -> Access {
    arguments.experiment.0.access
}

/// The erase block, if it is known before measuring.
fn given_erase_block(arguments: &Measure) -> Option<Bytes> {
    let flashbench = arguments.format == Format::Flashbench;
    arguments.erase_block.or(flashbench.then_some(flashbench::Command::DEFAULT_ERASE_BLOCK))
}

/// Refuses block sizes that do not fit the erase block.
fn refuse_impossible_writes(arguments: &Measure, erase_block: Bytes) -> Result<(), Failure> {
    let Some(wanted) = arguments.block_size else { return Ok(()) };
    let nearest = match (arguments.experiment.0.name, arguments.format) {
        ("align", _) if !wanted.get().is_power_of_two() => {
            let (below, above) = (1_u64 << wanted.get().ilog2(), wanted.get().next_power_of_two());
            let error = anyhow!(
                "--block-size {wanted}: align needs a power of two; use {} or {}",
                Bytes::new(below),
                Bytes::new(above)
            );
            return Err(Failure { exit: Exit::Usage, error });
        }
        ("open-units" | "fat-area", Format::Flashbench) => wanted.min(erase_block),
        ("open-units", Format::Flashscope) => {
            OpenUnits::new(erase_block, Some(wanted), arguments.seed).request
        }
        ("fat-area", Format::Flashscope) => {
            FatArea::new(erase_block, Some(wanted), None, arguments.seed).request
        }
        _ => return Ok(()),
    };
    if nearest == wanted {
        return Ok(());
    }
    let error = anyhow!(
        "--block-size {wanted} does not fit erase blocks of {erase_block}; the nearest size that fits is {nearest}"
    );
    Err(Failure { exit: Exit::Usage, error })
}

fn as_flashbench(
    arguments: &Measure,
    target: &mut Target,
    printer: &Printer,
) -> Result<Vec<Observations>, Failure> {
    let mut progress = Progress::new(printer).announcing();
    let command = flashbench_command(arguments);
    let observations = procedure::run(&command, &mut target.device, arguments.seed, &mut progress);
    if let Ended::NotStarted { reason, .. } = &observations.ended {
        let error = anyhow!("{}: {}", arguments.target, words::refusal(reason));
        return Err(Failure { exit: Exit::Failed, error });
    }
    target.note_failures(progress.failed_requests());
    Ok(vec![observations])
}

fn flashbench_command(arguments: &Measure) -> flashbench::Command {
    let erase_block = arguments.erase_block.unwrap_or(flashbench::Command::DEFAULT_ERASE_BLOCK);
    let smallest = arguments.block_size.unwrap_or(flashbench::Command::DEFAULT_BLOCK);
    let order = if arguments.random { Order::Random } else { Order::Linear };
    match arguments.experiment.0.name {
        "align" => flashbench::Command::Align { read: arguments.block_size.unwrap_or(Bytes::kib(1)) },
        "fat-area" => flashbench::Command::FindFat {
            erase_block,
            units: arguments.open_units.unwrap_or(6),
            smallest,
            order,
        },
        // The others are not in flashbench and were refused.
        _ => flashbench::Command::OpenUnits {
            erase_block,
            open_units: arguments.open_units.unwrap_or(2),
            smallest,
            order,
        },
    }
}

fn as_flashscope(
    arguments: &Measure,
    target: &mut Target,
    printer: &Printer,
) -> Result<Vec<Observations>, Failure> {
    let mut progress = Progress::new(printer);
    let mut observations = Vec::new();
    let erase_block = erase_block(arguments, target, &mut progress, &mut observations, printer);
    refuse_impossible_writes(arguments, erase_block.unwrap_or(ASSUMED_ERASE_BLOCK))?;
    announce(arguments, target, printer);
    if arguments.experiment == "fat-area" {
        observations.push(open_units(arguments, erase_block, target, &mut progress));
    }
    let experiment = experiment(arguments, erase_block, merges(&observations));
    observations.push(experiment.measure(&mut target.device, &Budget::UNLIMITED, &mut progress));
    target.note_failures(progress.failed_requests());
    Ok(observations)
}

/// Prints how much will be written.
fn announce(arguments: &Measure, target: &Target, printer: &Printer) {
    // A larger write budget does not make the stream longer.
    let allowed = arguments.budgets.write_budget;
    let most = match access(arguments) {
        Access::Reads => return,
        Access::Writes => allowed.unwrap_or(WRITE_BUDGET),
        Access::WritesEstimate => {
            let most = experiment(arguments, None, None).estimate(&target.device).bytes_written;
            allowed.map_or(most, |allowed| allowed.min(most))
        }
    };
    printer.remark(format!("at most {most} will be written, usually far less"));
}

/// The erase block: given, or measured by reads. `None` if unknown, or if the experiment does not need it.
fn erase_block(
    arguments: &Measure,
    target: &mut Target,
    progress: &mut Progress<'_>,
    observations: &mut Vec<Observations>,
    printer: &Printer,
) -> Option<Bytes> {
    if !arguments.experiment.0.has_option(RequestOption::EraseBlock) || arguments.erase_block.is_some() {
        return arguments.erase_block;
    }
    let align = Align::new(None, arguments.seed);
    observations.push(align.measure(&mut target.device, &Budget::UNLIMITED, progress));
    let found = infer(observations)
        .iter()
        .find(|finding| finding.id == FindingId::EraseBlockBytes)
        .and_then(Finding::bytes);
    match found {
        Some(found) => {
            printer.remark(format!("erase block: {found}, measured by reads (--erase-block skips this)"))
        }
        None => {
            printer.remark(format!("erase block: not found by reads, assumed to be {ASSUMED_ERASE_BLOCK}"))
        }
    }
    found
}

/// Measures the merge time, which the FAT-area experiment needs to recognise merges in the first erase
/// blocks.
fn open_units(
    arguments: &Measure,
    known: Option<Bytes>,
    target: &mut Target,
    progress: &mut Progress<'_>,
) -> Observations {
    let erase_block = known.unwrap_or(ASSUMED_ERASE_BLOCK);
    let open_units = OpenUnits::new(erase_block, arguments.block_size, arguments.seed);
    open_units.measure(&mut target.device, &Budget::UNLIMITED, progress)
}

fn experiment(
    arguments: &Measure,
    erase_block: Option<Bytes>,
    merges: Option<Merges>,
) -> Box<dyn Experiment> {
    let (seed, request, units_max) = (arguments.seed, arguments.block_size, arguments.open_units);
    (arguments.experiment.0.new)(&Request { seed, erase_block, request, units_max, merges })
}

/// The findings of this experiment.
fn findings_of(experiment: ExperimentName, findings: Vec<Finding>) -> Vec<Finding> {
    findings.into_iter().filter(|finding| experiment.0.findings.contains(&finding.id)).collect()
}
