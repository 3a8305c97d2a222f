//! `flashscope plan`: the right partition and filesystem. Only reads.

use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::{Budget, Clip};
use flashscope_device::{Bytes, Device};
use flashscope_layout::apply::{HostError, version_of};
use flashscope_layout::filesystem::{self, Tool};
use flashscope_layout::plan::GainInterval;

use flashscope_layout::present::{Present, PresentVolume};
use flashscope_layout::steps::ShellNames;
use flashscope_layout::{
    Chs, EraseBlock, EraseBlockSource, Medium, Plan as Layout, Purpose, Version, Wish, steps,
};
use flashscope_linux::{Roots, identify, run_tool};
use flashscope_measure::survey::Survey;
use flashscope_record::finding::{Finding, FindingId, Value};
use flashscope_record::run_file::RunFile;
use flashscope_report::{plan as words, printable};

use super::{plan_gain, prediction, show};
use crate::args::Plan;
use crate::destination::Destination;
use crate::document::{Document, PlanDocument};
use crate::exit::{Exit, Failure, OrExit};
use crate::medium;
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};
use crate::{input, outputs, seed};

/// The seed of the measurement, as in `check`.
const SEED: u64 = 1;

/// Runs the command.
///
/// # Errors
/// As [`outputs::permit`] and [`target::open`]; exit code 2 if there is no plan for this target.
pub fn run(arguments: &Plan, printer: &Printer) -> Result<Exit, Failure> {
    refuse_options(arguments, printer)?;
    let outputs: Vec<_> = arguments.output.iter().cloned().collect();
    outputs::permit(&outputs, target::file(&arguments.target))?;
    let mut target = target::open(&arguments.target, None, Budget::UNLIMITED)?;
    refuse_partition(&arguments.target)?;
    printer.notes(&target.remarks);
    let present = medium::on_it(&mut target);
    if arguments.keeps_files {
        refuse_unknown_contents(&arguments.target, &present)?;
    }
    let known = findings(arguments, &mut target, printer)?;
    if target.interrupt.is_requested() {
        printer.remark("interrupted: no plan");
        return Ok(Exit::Interrupted);
    }
    let true_size = true_size(arguments, &target, known.as_ref().map(|(run, _)| run));
    let known_findings = known.as_ref().map(|(_, findings)| findings.as_slice());
    let medium = Medium { true_size, ..medium(&target, arguments.erase_block, known_findings) };
    let gain = known.as_ref().and_then(|(run, findings)| plan_gain::of_alignment(run, findings));
    let wish = wish(arguments, known.as_ref(), gain);
    let mut plan = flashscope_layout::plan(&medium, &wish).or_exit_bare(Exit::Usage)?;
    if let Some(misfit) = wish.misfit() {
        printer.remark(format!("warning: {misfit}"));
    }
    // ext4 without a journal was recorded without a stripe, so not as it is planned.
    let recorded = known.as_ref().filter(|_| !arguments.no_journal);
    plan.predicted =
        recorded.and_then(|(run, _)| plan_gain::predicted(run, &plan, || !target.interrupt.is_requested()));
    if target.interrupt.is_requested() {
        printer.remark("interrupted: no plan");
        return Ok(Exit::Interrupted);
    }
    let versions = versions(&plan, printer)?;
    let mut version = |tool: &Tool| {
        let of_it = versions.iter().find(|(program, _)| *program == tool.program);
        of_it.and_then(|(_, version)| *version)
    };
    let disk = disk(&arguments.target);
    let commands = steps::commands(&plan, &disk, &mut version).or_exit_bare(Exit::Usage)?;
    let image = Path::new(&arguments.target).is_file().then(|| steps::quoted_path(&arguments.target));
    let names = if image.is_some() { ShellNames::Image } else { ShellNames::Path(&disk) };
    let lines = steps::shell_lines(&plan, names, &mut version).or_exit_bare(Exit::Usage)?;
    if let Some(file) = &arguments.output {
        let body = PlanDocument { plan: plan.clone(), commands: commands.clone(), present: present.clone() };
        store(file, &body, printer)?;
    }
    if arguments.script {
        printer.result(&steps::script(&plan, &mut version).or_exit_bare(Exit::Usage)?)?;
    } else if printer.json {
        printer.document(&PlanDocument { plan, commands, present })?;
    } else {
        let page = words::Page {
            plan: &plan,
            present: &present,
            disk: &disk,
            options: &options(arguments),
            image,
            commands: &lines,
            plan_file: arguments.output.as_deref().map(|file| file.display().to_string()),
            keeps_files: arguments.keeps_files,
        };
        printer.result(&words::text(&page, printer.width()))?;
    }
    Ok(Exit::Fine)
}

/// Refuses what clap does not: two kinds of output, and no purpose.
fn refuse_options(arguments: &Plan, printer: &Printer) -> Result<(), Failure> {
    if arguments.script && printer.json {
        let error = anyhow!(
            "--script prints a shell script and --json a document; leave out one of them (-o FILE.json writes the document as well)"
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    if arguments.purpose.is_none() && !arguments.restore_factory {
        return Err(no_purpose(&arguments.target, printer));
    }
    Ok(())
}

/// Writes a plan file, for `apply`.
fn store(file: &Path, plan: &PlanDocument, printer: &Printer) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&Document::new(plan)).or_exit_bare(Exit::Failed)? + "\n";
    let cannot = format!("cannot write {}; check the free space and permissions", file.display());
    Destination::of(file)?.write(&text).or_exit(Exit::Failed, cannot)?;
    printer.remark(format!("wrote {}", file.display()));
    Ok(())
}

/// Lists the purposes, each with a few words.
fn no_purpose(target: &str, printer: &Printer) -> Failure {
    for purpose in Purpose::ALL {
        printer.remark(format!("{:<12}{}", purpose.as_str(), purpose.about()));
    }
    let error = anyhow!("what is {} for? Add --for with one of these purposes", printable(target));
    Failure { exit: Exit::Usage, error }
}

/// The options that make the same plan for another target, quoted for a shell, without those about output.
fn options(arguments: &Plan) -> String {
    let Plan { purpose, restore_factory, filesystem, label, cluster, no_journal, table, .. } = arguments;
    let Plan { chs, erase_block, true_size, run, seed, .. } = arguments;
    let bytes = |size: &Option<Bytes>| size.map(|size| size.get().to_string());
    let values = [
        ("--for", purpose.map(|purpose| purpose.to_string())),
        ("--fs", filesystem.map(|kind| kind.to_string())),
        ("--label", Some(label.clone()).filter(|label| !label.is_empty())),
        ("--cluster", bytes(cluster)),
        ("--table", table.map(|kind| kind.as_str().to_owned())),
        ("--chs", chs.map(|Chs { heads, sectors }| format!("{heads}/{sectors}"))),
        ("--erase-block", bytes(erase_block)),
        ("--true-size", bytes(true_size)),
        ("--run", run.as_ref().map(|file| steps::plain_path(&file.display().to_string()))),
        ("--seed", seed.map(|seed| seed.to_string())),
    ];
    let flags = [("--restore-factory", *restore_factory), ("--no-journal", *no_journal)];
    let flags = flags.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name.to_owned());
    let values = values.into_iter().filter_map(|(name, value)| {
        let value = value?;
        let separator = if value.starts_with('-') { '=' } else { ' ' };
        Some(format!("{name}{separator}{}", steps::quoted(&value)))
    });
    flags.chain(values).collect::<Vec<_>>().join(" ")
}

/// A partition table belongs on a whole disk.
fn refuse_partition(text: &str) -> Result<(), Failure> {
    let identity = identify(Path::new(text), &Roots::default());
    let Some(disk) = identity.disk.filter(|_| identity.partition.is_some()) else { return Ok(()) };
    let error = anyhow!("{text} is a partition; a plan is for the whole disk: {}", disk.path.display());
    Err(Failure { exit: Exit::Usage, error })
}

/// Files can be copied off only where every volume is known.
fn refuse_unknown_contents(target: &str, present: &Present) -> Result<(), Failure> {
    let is_disk = !target.starts_with("sim:") && !Path::new(target).is_file();
    let is_known = |volume: &PresentVolume| volume.head.is_some() && volume.signature.is_none();
    let reason = if !is_disk {
        "is no disk; --move prints commands for a disk"
    } else if present.volumes.is_empty() {
        "has no filesystem that is known; copy its contents off by hand"
    } else if !present.problems.is_empty() || !present.volumes.iter().all(is_known) {
        "has contents that are not known; copy them off by hand"
    } else {
        return Ok(());
    };
    Err(Failure { exit: Exit::Usage, error: anyhow!("{target} {reason}") })
}

/// The disk in printed commands: a virtual stick has no device file, and an image is attached as a loop
/// device.
fn disk(target: &str) -> String {
    if target.starts_with("sim:") {
        "/dev/sdX".to_owned()
    } else if Path::new(target).is_file() {
        "/dev/loop0".to_owned()
    } else {
        target.to_owned()
    }
}

/// A run and its findings: from a run file, or measured now; `None` where none are needed.
fn findings(
    arguments: &Plan,
    target: &mut Target,
    printer: &Printer,
) -> Result<Option<(RunFile, Vec<Finding>)>, Failure> {
    if let Some(file) = &arguments.run {
        let run = input::run_file(file)?;
        let capacity = target.device.capabilities().capacity;
        if let Some(measured) = run.announced_capacity().filter(|measured| *measured != capacity) {
            let (file, target) = (file.display(), &arguments.target);
            let error =
                anyhow!("{file} is of a device of {measured}, and {target} has {capacity}; measure this one");
            return Err(Failure { exit: Exit::Usage, error });
        }
        prediction::failing(&run).into_iter().for_each(|warning| printer.remark(warning));
        let findings = flashscope_infer::findings_of(&run);
        return Ok(Some((run, findings)));
    }
    if arguments.erase_block.is_some() || arguments.restore_factory {
        return Ok(None);
    }
    printer.remark(if target.is_virtual {
        "measuring the virtual stick (give --erase-block or --run to skip this)"
    } else {
        "measuring the erase block; this only reads (give --erase-block or --run to skip it)"
    });
    // Beyond the true size there is nothing to measure.
    let size = arguments.true_size.unwrap_or_else(|| target.device.capabilities().capacity);
    let (run, findings) = measured(target, size, printer);
    prediction::failing(&run).into_iter().for_each(|warning| printer.remark(warning));
    Ok(Some((run, findings)))
}

/// Measures the first `size` bytes of a target with reads, or a virtual stick with all tests.
fn measured(target: &mut Target, size: Bytes, printer: &Printer) -> (RunFile, Vec<Finding>) {
    let mut progress = Progress::new(printer);
    let survey = Survey::new(target.is_virtual, SEED);
    let observations = survey.run(&mut Clip::new(&mut target.device, size), &mut progress);
    target.note_failures(progress.failed_requests());
    let run = show::run_of(target, observations);
    let findings = flashscope_infer::findings_of(&run);
    (run, findings)
}

/// The medium of a target, with its erase block as it was given, or else measured with reads.
pub(super) fn medium_of(target: &mut Target, erase_block: Option<Bytes>, printer: &Printer) -> Medium {
    if erase_block.is_some() {
        return medium(target, erase_block, None);
    }
    printer.remark("measuring the erase block; this only reads (give --erase-block to skip it)");
    let size = target.device.capabilities().capacity;
    let (_, findings) = measured(target, size, printer);
    medium(target, None, Some(&findings))
}

/// The size that the device really stores, if it is known and less than the capacity.
fn true_size(arguments: &Plan, target: &Target, run: Option<&RunFile>) -> Option<Bytes> {
    let of_run = run.and_then(RunFile::false_capacity).and_then(|verdict| verdict.true_size);
    arguments.true_size.or(of_run).filter(|size| *size != target.device.capabilities().capacity)
}

fn find(findings: &[Finding], id: FindingId) -> Option<&Finding> {
    findings.iter().find(|finding| finding.id == id && finding.value().is_some())
}

fn medium(target: &Target, erase_block: Option<Bytes>, findings: Option<&[Finding]>) -> Medium {
    let capabilities = target.device.capabilities();
    let (capacity, logical_block) = (capabilities.capacity, capabilities.logical_block);
    let findings = findings.unwrap_or_default();
    let measured = find(findings, FindingId::EraseBlockBytes).and_then(|finding| {
        let source = EraseBlockSource::Measured { confidence: finding.confidence().get() };
        finding.bytes().map(|size| EraseBlock { size, source })
    });
    let given = erase_block.map(|size| EraseBlock { size, source: EraseBlockSource::Given });
    let boundary = || EraseBlock {
        size: medium::standard_boundary(capacity).max(logical_block),
        source: EraseBlockSource::StandardBoundary,
    };
    Medium {
        target: target.text.clone(),
        capacity,
        true_size: None,
        logical_block,
        erase_block: given.or(measured).unwrap_or_else(boundary),
        fat_area: find(findings, FindingId::FatAreaBytes).and_then(Finding::bytes),
        identity: medium::identity(target),
    }
}

fn wish(arguments: &Plan, known: Option<&(RunFile, Vec<Finding>)>, gain: Option<GainInterval>) -> Wish {
    let sustained = known.and_then(|(_, findings)| find(findings, FindingId::SustainedWriteBytesPerS));
    let sustained_write = match sustained.and_then(Finding::value) {
        Some(Value::BytesPerSecond(rate)) => Some(rate),
        _ => None,
    };
    let seed = arguments.seed.unwrap_or_else(seed::random);
    Wish {
        filesystem: arguments.filesystem,
        cluster: arguments.cluster,
        label: arguments.label.clone(),
        table: arguments.table,
        chs: arguments.chs,
        has_journal: !arguments.no_journal,
        gain,
        sustained_write,
        ..Wish::new(arguments.purpose.unwrap_or(Purpose::Camera), seed)
    }
}

/// The versions of the tools of a plan, by program; `None` where it is not known. A missing tool is said.
///
/// # Errors
/// Exit code 2 for a tool that is too old.
fn versions(plan: &Layout, printer: &Printer) -> Result<Vec<(&'static str, Option<Version>)>, Failure> {
    let mut found = Vec::new();
    for partition in &plan.partitions {
        let tool = filesystem::of_kind(partition.placement.filesystem).tool();
        let version = match version_of(&tool, &mut run_tool) {
            Err(error @ HostError::Missing { .. }) => {
                printer.remark(format!("'apply' will not work yet: {error}"));
                None
            }
            other => other.or_exit_bare(Exit::Usage)?,
        };
        found.push((tool.program, version));
    }
    Ok(found)
}
