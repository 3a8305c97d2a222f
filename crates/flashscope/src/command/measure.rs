//! `flashscope measure`: one experiment, in our form or in flashbench's.

use anyhow::anyhow;
use flashscope_device::Bytes;
use flashscope_device::layer::Budget;
use flashscope_flashbench as flashbench;
use flashscope_flashbench::{print, procedure};
use flashscope_infer::findings::{infer, merges};
use flashscope_measure::Experiment;
use flashscope_measure::experiment::{
    Align, BlockEnds, FatArea, OpenUnits, Sustained, UNITS_MAX, WriteBuffer, WriteSize,
};
use flashscope_measure::survey::ASSUMED_ERASE_BLOCK;
use flashscope_record::finding::{Finding, FindingId};
use flashscope_record::observation::{Ended, Merges, Observations, Order};
use flashscope_report::words;

use super::check::{WRITE_BUDGET, budget};
use super::show;
use crate::args::{ExperimentName, Format, Measure};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};
use crate::{confirm, outputs};

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
    // flashbench's procedure writes what it always writes, and says so; ours ends at the budget.
    let ends = arguments.format == Format::Flashscope && arguments.experiment != ExperimentName::Sustained;
    let budget = budget(&arguments.budgets, ends.then_some(WRITE_BUDGET));
    let mut target = target::open(&arguments.target, consent.as_ref(), budget)?;
    if !arguments.experiment.reads_only() && !target.writable {
        let error = anyhow!("this experiment writes to {}; allow it with --erase", arguments.target);
        return Err(Failure { exit: Exit::Refused, error });
    }
    for remark in &target.remarks {
        printer.remark(format!("note: {remark}"));
    }
    match arguments.format {
        Format::Flashbench => as_flashbench(arguments, &mut target, printer),
        Format::Flashscope => as_flashscope(arguments, &mut target, printer),
    }
}

/// An option that would do nothing is a mistake of the person, or of ours.
fn refuse_idle_options(arguments: &Measure) -> Result<(), Failure> {
    let flashbench = arguments.format == Format::Flashbench;
    let is = |name| arguments.experiment == name;
    let idle = [
        (
            arguments.random && (!flashbench || is(ExperimentName::Align)),
            "--random belongs to --format flashbench with open-units or fat-area",
        ),
        (
            arguments.open_units.is_some()
                && (is(ExperimentName::Align)
                    || is(ExperimentName::WriteSize)
                    || is(ExperimentName::BlockEnds)),
            "--open-units belongs to open-units and fat-area",
        ),
        (
            arguments.open_units.is_some() && is(ExperimentName::FatArea) && !flashbench,
            "--open-units with fat-area needs --format flashbench",
        ),
        (arguments.erase_block.is_some() && is(ExperimentName::Align), "--erase-block: align measures it"),
        (
            arguments.erase_block.is_some() && is(ExperimentName::BlockEnds),
            "--erase-block: block-ends measures it",
        ),
        (
            arguments.block_size.is_some() && is(ExperimentName::BlockEnds),
            "--block-size: block-ends chooses its own streams and writes",
        ),
        (
            arguments.block_size.is_some() && is(ExperimentName::WriteSize),
            "--block-size: write-size tries every size",
        ),
        (
            flashbench && !arguments.experiment.is_of_flashbench(),
            "flashbench has no such table; leave out --format flashbench",
        ),
        (
            arguments.experiment.is_stream()
                && (arguments.erase_block.is_some()
                    || arguments.block_size.is_some()
                    || arguments.open_units.is_some()),
            "--erase-block, --block-size, --open-units: sustained and write-buffer write one stream of their own",
        ),
    ];
    match idle.into_iter().find(|(is_idle, _)| *is_idle) {
        Some((_, text)) => Err(Failure { exit: Exit::Usage, error: anyhow!(text) }),
        None => Ok(()),
    }
}

/// The erase block, as far as it is known before anything is measured.
fn given_erase_block(arguments: &Measure) -> Option<Bytes> {
    let flashbench = arguments.format == Format::Flashbench;
    arguments.erase_block.or(flashbench.then_some(flashbench::Command::DEFAULT_ERASE_BLOCK))
}

/// Writes are as large as asked for, or there are none.
fn refuse_impossible_writes(arguments: &Measure, erase_block: Bytes) -> Result<(), Failure> {
    let Some(asked) = arguments.block_size else { return Ok(()) };
    let nearest = match (arguments.experiment, arguments.format) {
        (ExperimentName::Align, _) if !asked.get().is_power_of_two() => {
            let (below, above) = (1_u64 << asked.get().ilog2(), asked.get().next_power_of_two());
            let error = anyhow!(
                "--block-size {asked}: reads across a boundary take half of it on either side, which tells pages only for powers of two; \
                 give {} or {}",
                Bytes::new(below),
                Bytes::new(above)
            );
            return Err(Failure { exit: Exit::Usage, error });
        }
        (ExperimentName::Align | ExperimentName::WriteSize, _) => return Ok(()),
        (ExperimentName::BlockEnds | ExperimentName::Sustained | ExperimentName::WriteBuffer, _) => {
            return Ok(());
        }
        (_, Format::Flashbench) => asked.min(erase_block),
        (ExperimentName::OpenUnits, Format::Flashscope) => {
            OpenUnits::new(erase_block, Some(asked), arguments.seed).request
        }
        (ExperimentName::FatArea, Format::Flashscope) => {
            FatArea::new(erase_block, Some(asked), None, arguments.seed).request
        }
    };
    if nearest == asked {
        return Ok(());
    }
    let error = anyhow!(
        "--block-size {asked} does not go with erase blocks of {erase_block}; the nearest size that does is {nearest}"
    );
    Err(Failure { exit: Exit::Usage, error })
}

fn as_flashbench(arguments: &Measure, target: &mut Target, printer: &Printer) -> Result<Exit, Failure> {
    let mut progress = Progress::new(printer).announcing();
    let command = flashbench_command(arguments);
    let observations = procedure::run(&command, &mut target.device, arguments.seed, &mut progress);
    if let Ended::NotStarted { reason, .. } = &observations.ended {
        let error = anyhow!("{}: {}", arguments.target, words::refusal(reason));
        return Err(Failure { exit: Exit::Failed, error });
    }
    target.note_failures(progress.failed_requests());
    let table = print::print(&observations);
    let run = show::run_of(target, vec![observations]);
    let findings = concerned(arguments.experiment, flashscope_infer::findings_of(&run));
    if printer.json {
        return show::measurement(target, &run, &findings, &arguments.output.files, printer);
    }
    printer.result(&table)?;
    outputs::write(&arguments.output.files, &run, &findings, printer)?;
    show::end(target, &run, &arguments.output.files, printer)
}

fn flashbench_command(arguments: &Measure) -> flashbench::Command {
    let erase_block = arguments.erase_block.unwrap_or(flashbench::Command::DEFAULT_ERASE_BLOCK);
    let smallest = arguments.block_size.unwrap_or(flashbench::Command::DEFAULT_BLOCK);
    let order = if arguments.random { Order::Random } else { Order::Linear };
    match arguments.experiment {
        ExperimentName::Align => {
            flashbench::Command::Align { read: arguments.block_size.unwrap_or(Bytes::kib(1)) }
        }
        ExperimentName::FatArea => flashbench::Command::FindFat {
            erase_block,
            units: arguments.open_units.unwrap_or(6),
            smallest,
            order,
        },
        // The others have no table of flashbench's, and were refused.
        _ => flashbench::Command::OpenUnits {
            erase_block,
            open_units: arguments.open_units.unwrap_or(2),
            smallest,
            order,
        },
    }
}

fn as_flashscope(arguments: &Measure, target: &mut Target, printer: &Printer) -> Result<Exit, Failure> {
    let mut progress = Progress::new(printer);
    let mut observations = Vec::new();
    let erase_block = erase_block(arguments, target, &mut progress, &mut observations, printer);
    refuse_impossible_writes(arguments, erase_block.unwrap_or(ASSUMED_ERASE_BLOCK))?;
    announce(arguments, target, printer);
    if arguments.experiment == ExperimentName::FatArea {
        observations.push(open_units(arguments, erase_block, target, &mut progress));
    }
    let experiment = experiment(arguments, erase_block, merges(&observations));
    observations.push(experiment.measure(&mut target.device, &Budget::UNLIMITED, &mut progress));
    target.note_failures(progress.failed_requests());
    let run = show::run_of(target, observations);
    let findings = concerned(arguments.experiment, flashscope_infer::findings_of(&run));
    show::measurement(target, &run, &findings, &arguments.output.files, printer)
}

/// Says what will be written before it is.
fn announce(arguments: &Measure, target: &Target, printer: &Printer) {
    if arguments.experiment == ExperimentName::Align {
        return;
    }
    let sustained = Sustained { seed: arguments.seed, is_thorough: false };
    let most = match arguments.experiment {
        ExperimentName::Sustained => sustained.estimate(&target.device).bytes_written,
        _ => WRITE_BUDGET,
    };
    // The person may allow more than is usual, but a stream is never longer.
    let most = match (arguments.budgets.write_budget, arguments.experiment) {
        (Some(allowed), ExperimentName::Sustained) => allowed.min(most),
        (Some(allowed), _) => allowed,
        (None, _) => most,
    };
    printer.remark(format!("at most {most} will be written, usually far less"));
}

/// The erase block as given, or as reads show it, or the usual one. `None`: the experiment needs none.
fn erase_block(
    arguments: &Measure,
    target: &mut Target,
    progress: &mut Progress<'_>,
    observations: &mut Vec<Observations>,
    printer: &Printer,
) -> Option<Bytes> {
    if !arguments.experiment.needs_erase_block() || arguments.erase_block.is_some() {
        return arguments.erase_block;
    }
    let align = Align::new(None, arguments.seed);
    observations.push(align.measure(&mut target.device, &Budget::UNLIMITED, progress));
    let found = infer(observations)
        .iter()
        .find(|finding| finding.id == FindingId::EraseBlockBytes)
        .and_then(Finding::bytes);
    match found {
        Some(found) => printer.remark(format!("erase block: {found}, from reads; --erase-block skips this")),
        None => printer.remark(format!("erase block: not known from reads, taken as {ASSUMED_ERASE_BLOCK}")),
    }
    found
}

/// What is known of merges: nothing else tells one in the first erase blocks.
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

fn experiment(arguments: &Measure, known: Option<Bytes>, merges: Option<Merges>) -> Box<dyn Experiment> {
    let erase_block = known.unwrap_or(ASSUMED_ERASE_BLOCK);
    let seed = arguments.seed;
    match arguments.experiment {
        ExperimentName::Align => Box::new(Align::new(arguments.block_size, seed)),
        ExperimentName::WriteSize => {
            Box::new(WriteSize { erase_block, erase_block_is_known: known.is_some(), seed })
        }
        ExperimentName::OpenUnits => {
            let units_max = arguments.open_units.unwrap_or(UNITS_MAX);
            Box::new(OpenUnits { units_max, ..OpenUnits::new(erase_block, arguments.block_size, seed) })
        }
        ExperimentName::FatArea => Box::new(FatArea::new(erase_block, arguments.block_size, merges, seed)),
        ExperimentName::BlockEnds => Box::new(BlockEnds::new(None, Vec::new(), seed)),
        ExperimentName::Sustained => Box::new(Sustained { seed, is_thorough: false }),
        ExperimentName::WriteBuffer => Box::new(WriteBuffer { seed }),
    }
}

/// The findings that this experiment can make.
fn concerned(experiment: ExperimentName, findings: Vec<Finding>) -> Vec<Finding> {
    let ids: &[FindingId] = match experiment {
        ExperimentName::Align => {
            &[FindingId::EraseBlockBytes, FindingId::PageBytes, FindingId::ReadBoundarySignal]
        }
        ExperimentName::WriteSize => &[FindingId::PageBytes, FindingId::WriteUnitBytes],
        ExperimentName::OpenUnits => {
            const OF_MERGES: [FindingId; 4] = [
                FindingId::OpenUnitsLinear,
                FindingId::OpenUnitsRandom,
                FindingId::FtlClass,
                FindingId::MergeSeconds,
            ];
            &OF_MERGES
        }
        ExperimentName::FatArea => &[FindingId::FatAreaBytes],
        ExperimentName::BlockEnds => &[FindingId::EraseBlockBytes],
        ExperimentName::Sustained => &[FindingId::SlcCacheBytes, FindingId::SustainedWriteBytesPerS],
        ExperimentName::WriteBuffer => &[FindingId::WriteBufferBytes],
    };
    findings.into_iter().filter(|finding| ids.contains(&finding.id)).collect()
}
