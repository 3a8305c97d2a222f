//! `flashscope bench files`: many small files compared with one large file, in a directory on the stick.

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::Bytes;
use flashscope_device::host::FlushPolicy;
use flashscope_device::layer::Cost;
use flashscope_linux::{BenchDirectory, FilesError, scan_directory};
use flashscope_measure::workload::files::{FilesEvent, FilesWorkload, Pilot};
use flashscope_measure::workload::{ROUNDS_MAX, ROUNDS_MIN, Stopped, file_sizes};
use flashscope_record::observation::{Cause, ColdBy, Data, Ended, FilesData, FlushTime, StopReason};
use flashscope_report::files::not_a_stick;
use flashscope_report::{counted, serve_command};

use crate::args::{BenchFiles, FlushName};
use crate::command::show;
use crate::exit::{Exit, Failure};
use crate::interrupt::{INTERRUPTED, on_interrupt};
use crate::printer::Printer;
use crate::target::{Plugged, directory_failure as failure, instead, plugged, unreadable_remark};
use crate::{duration, outputs};

/// Runs the command.
///
/// # Errors
/// Exit code 2 if the directory cannot be used, 3 if writing or reading fails.
pub fn run(arguments: &BenchFiles, printer: &Printer) -> Result<Exit, Failure> {
    outputs::permit(&arguments.output.files, Path::new(&arguments.directory))?;
    let place = open(&arguments.directory)?;
    let model = Model::of(arguments, printer)?;
    place.check_space(&model.workload.sizes).map_err(failure)?;
    announce(arguments, &place, &model, printer);
    let interrupt = on_interrupt()?;
    let plugged = plugged(Path::new(&place.backing_filesystem().source));
    let mut data = data(arguments, &place, &model, &plugged);
    let mut observer = |event: FilesEvent<'_>| print(event, arguments, printer);
    let ended = model.workload.measure(&mut place.files(), &mut data, &interrupt, &mut observer);
    let was_wrong = wrong(&data);
    show(arguments, data, plugged, &ended, printer)?;
    match ended {
        Err(Stopped::Interrupted) => {
            printer.remark(INTERRUPTED);
            Ok(Exit::Interrupted)
        }
        Err(Stopped::Host(error)) => Err(failure(error)),
        Ok(()) if was_wrong => Ok(Exit::Problem),
        Ok(()) => Ok(Exit::Fine),
    }
}

fn open(directory: &str) -> Result<BenchDirectory, Failure> {
    if let Some(stick) = directory.strip_prefix("sim:") {
        let error = anyhow!(
            "{directory} is a virtual stick without a filesystem; serve it as a disk ({}), make \
             a filesystem on it, mount it, and name the directory",
            serve_command(stick)
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    BenchDirectory::open(Path::new(directory)).map_err(failure)
}

/// The files to write.
struct Model {
    name: String,
    workload: FilesWorkload,
}

impl Model {
    fn of(arguments: &BenchFiles, printer: &Printer) -> Result<Self, Failure> {
        match &arguments.like {
            Some(directory) => Self::like(directory, arguments, printer),
            None => Ok(Self::of_profile(arguments)),
        }
    }

    fn of_profile(arguments: &BenchFiles) -> Self {
        let profile = arguments.profile.profile();
        let sizes = profile.sizes(arguments.count.unwrap_or(profile.default_count()), arguments.seed);
        let workload = workload(arguments, sizes, profile.files_per_folder());
        Self { name: profile.name().to_owned(), workload }
    }

    fn like(directory: &Path, arguments: &BenchFiles, printer: &Printer) -> Result<Self, Failure> {
        let scan = scan_directory(directory).map_err(failure)?;
        let found = u32::try_from(scan.sizes.len()).unwrap_or(u32::MAX);
        unreadable_remark(scan.unreadable).into_iter().for_each(|remark| printer.remark(remark));
        let count = arguments.count.unwrap_or(found.min(file_sizes::FileProfile::HelpPages.default_count()));
        let files_per_directory = (found / scan.directories.max(1)).max(1);
        let sizes = file_sizes::like(&scan.sizes, count, arguments.seed);
        let name = format!("like {}", directory.display());
        Ok(Self { name, workload: workload(arguments, sizes, files_per_directory) })
    }
}

const fn workload(arguments: &BenchFiles, sizes: Vec<Bytes>, files_per_directory: u32) -> FilesWorkload {
    FilesWorkload {
        sizes,
        files_per_directory,
        flush: match arguments.flush {
            FlushName::End => FlushPolicy::AtEnd,
            FlushName::Each => FlushPolicy::EachFile,
        },
        seed: arguments.seed,
        rounds: arguments.rounds,
        time_budget: arguments.time_budget,
        may_reduce_count: arguments.count.is_none(),
    }
}

/// The space that files of these sizes take.
fn in_clusters(sizes: &[Bytes], cluster: Bytes) -> Bytes {
    let cluster = cluster.max(Bytes::new(1));
    sizes.iter().fold(Bytes::ZERO, |sum, size| sum + size.round_up(cluster))
}

/// The most that is written without metadata, in whole clusters: all rounds, and the files of the pilots.
fn most_written(workload: &FilesWorkload, cluster: Bytes) -> Bytes {
    let round = in_clusters(&workload.sizes, cluster) + workload.bytes().round_up(cluster);
    let pilots: Bytes = workload.pilots().map(|sizes| in_clusters(sizes, cluster)).sum();
    round * u64::from(workload.rounds_max()) + pilots
}

/// Prints what will be measured and written.
fn announce(arguments: &BenchFiles, place: &BenchDirectory, model: &Model, printer: &Printer) {
    let directory = &arguments.directory;
    let ground = place.backing_filesystem();
    let on = if ground.source.is_empty() { String::new() } else { format!(" on {}", ground.source) };
    printer.remark(format!(
        "{directory}: {} with {} clusters{on}, {}",
        if ground.filesystem.is_empty() { "an unknown filesystem" } else { &ground.filesystem },
        ground.cluster,
        ground.options
    ));
    for instead in &ground.non_stick {
        printer.remark(format!("note: {directory}: {}", not_a_stick(crate::target::instead(*instead))));
    }
    for left in place.left_over() {
        printer.remark(format!(
            "note: {directory}/{left} was left behind by a measurement that was killed; remove it"
        ));
    }
    let workload = &model.workload;
    let (bytes, most) = (workload.bytes(), most_written(workload, ground.cluster));
    printer.remark(format!(
        "{} ({}), {bytes} in total, then one file of the same size; {}. At most {most} of clusters will be written, plus metadata, \
         in a new directory, which is removed. Small files may take minutes. No round starts after {} (--time-budget)",
        counted(workload.count().into(), "file"),
        model.name,
        arguments.rounds.map_or_else(
            || format!("{ROUNDS_MIN} to {ROUNDS_MAX} rounds, until they agree"),
            |rounds| format!("up to {}", counted(rounds.into(), "round"))
        ),
        duration::exact(arguments.time_budget)
    ));
}

/// Prints what happens while the workload runs.
fn print(event: FilesEvent<'_>, arguments: &BenchFiles, printer: &Printer) {
    match event {
        FilesEvent::Estimated { pilots, count, expected_s } => {
            let took = |pilot: &Pilot| format!("{} files took {:.1} s", pilot.files, pilot.seconds);
            let pilots: Vec<String> = pilots.iter().map(took).collect();
            printer.remark(format!("{}, so {count} will take about {expected_s:.0} s", pilots.join(" and ")));
        }
        FilesEvent::CountReduced { count } => printer.remark(format!(
            "that exceeds {} s, so only {count} files are written; change it with --count or --time-budget",
            arguments.time_budget.as_secs_f64()
        )),
        FilesEvent::Round(number) => printer.detail(format!("round {number}")),
        FilesEvent::BudgetSpent { rounds, rounds_max } => printer.remark(format!(
            "{rounds} of {rounds_max} rounds: another would exceed {} in total (--time-budget)",
            duration::exact(arguments.time_budget)
        )),
    }
}

fn wrong(data: &FilesData) -> bool {
    data.rounds.iter().any(|round| round.small.wrong + round.large.wrong > 0)
}

fn data(arguments: &BenchFiles, place: &BenchDirectory, model: &Model, plugged: &Plugged) -> FilesData {
    let ground = place.backing_filesystem();
    FilesData {
        profile: model.name.clone(),
        flush: match arguments.flush {
            FlushName::End => FlushTime::AtEnd,
            FlushName::Each => FlushTime::EachFile,
        },
        cluster: ground.cluster,
        filesystem: ground.filesystem.clone(),
        cold: ColdBy::Advice,
        instead: ground.non_stick.iter().copied().map(instead).collect(),
        link: Some(plugged.link.clone()),
        rounds: Vec::new(),
    }
}

/// Prints and stores the completed rounds. After an error without a completed round, the error alone is
/// reported.
fn show(
    arguments: &BenchFiles,
    data: FilesData,
    plugged: Plugged,
    ended: &Result<(), Stopped<FilesError>>,
    printer: &Printer,
) -> Result<(), Failure> {
    let ended = match ended {
        Ok(()) => Ended::Complete,
        Err(Stopped::Interrupted) => show::interrupted(data.rounds.len()),
        Err(_) if data.rounds.is_empty() => return Ok(()),
        Err(Stopped::Host(error)) => {
            Ended::Early { reason: StopReason::Failed { error: error.to_string() }, cause: Cause::Device }
        }
    };
    let cost = cost(&data);
    let seen = show::bench_observations(Data::Files(data), arguments.seed, ended);
    let run = show::run_of_bench(&arguments.directory, plugged, seen, cost);
    show::bench(&run, &arguments.output.files, printer)
}

/// The cost of all rounds: in requests, or in files if the kernel does not count requests.
fn cost(data: &FilesData) -> Cost {
    let mut cost = Cost::default();
    for part in data.rounds.iter().flat_map(|round| [&round.small, &round.large]) {
        cost.writes += part.writes.map_or(part.files.into(), |writes| writes.requests);
        cost.reads += part.reads.map_or(part.files.into(), |reads| reads.requests);
        // The kernel's counters include metadata and whole blocks.
        cost.bytes_written += part.writes.map_or(part.allocated, |writes| writes.bytes).max(part.bytes);
        cost.bytes_read += part.reads.map_or(part.bytes, |reads| reads.bytes).max(part.bytes);
        cost.device_time += Duration::from_secs_f64(part.durable_s() + part.read_s + part.removed_s);
    }
    cost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_that_is_written_is_all_rounds_and_the_pilots_in_whole_clusters() {
        // The small files have 1000 bytes each. The large one takes 16 clusters of 4 KiB, or 63.
        for (files, rounds, clusters) in [
            (63, Some(1), 63 + 16),
            (64, Some(1), 64 + 16 + 32),
            (64, None, 9 * (64 + 16) + 32),
            (256, Some(2), 2 * (256 + 63) + 32 + 128),
        ] {
            let workload = FilesWorkload {
                sizes: vec![Bytes::new(1000); files],
                files_per_directory: 10,
                flush: FlushPolicy::AtEnd,
                seed: 1,
                rounds,
                time_budget: Duration::from_secs(60),
                may_reduce_count: true,
            };
            let most = most_written(&workload, Bytes::kib(4));
            assert_eq!(most, Bytes::kib(4) * clusters, "{files} files, {rounds:?} rounds");
        }
    }
}
