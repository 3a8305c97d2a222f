//! `flashscope bench files`: many small files against one large file, in a folder on the stick.

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::layer::{Cost, Interrupt};
use flashscope_device::{Bytes, Pattern};
use flashscope_infer::files::comparison::files_are_settled;
use flashscope_linux::{
    BenchDirectory, CacheDrop, DeviceTraffic, FileSetTimes, FilesError, FlushPolicy, scan_directory,
};
use flashscope_measure::workload::file_sizes;
use flashscope_record::observation::{
    Cause, ColdBy, Data, Ended, FilesData, FilesPart, FilesRound, FlushTime, StopReason, Traffic,
};
use flashscope_report::counted;

use crate::args::{BenchFiles, FlushName};
use crate::command::show;
use crate::exit::{Exit, Failure};
use crate::interrupt::on_interrupt;
use crate::printer::Printer;
use crate::target::{Plugged, folder_failure as failure, instead, plugged};
use crate::{duration, outputs};

/// So many files tell how long all of them will take.
const PILOT: usize = 32;
/// Where that seems to take longer than this, so many more are made.
const LONG_S: f64 = 10.0;
const PILOT_MORE: usize = 128;
/// Fewer files than these tell nothing of many.
const COUNT_MIN: u32 = 100;
/// Where nobody says how many rounds, there are so many at minimum: of fewer a single stall is the median; and so many at most.
const ROUNDS_LEAST: usize = 3;
const ROUNDS_MOST: u32 = 9;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a folder that cannot be used so, 3 if writing or reading fails.
pub fn run(arguments: &BenchFiles, printer: &Printer) -> Result<Exit, Failure> {
    outputs::permit(&arguments.output.files, Path::new(&arguments.folder))?;
    let place = open(&arguments.folder)?;
    let mut model = Model::of(arguments, printer)?;
    place.check_space(&model.sizes).map_err(failure)?;
    announce(arguments, &place, &model, printer);
    let mut rounds = Rounds { arguments, place: &place, interrupt: on_interrupt()?, generation: 0 };
    let plugged = plugged(Path::new(&place.backing_filesystem().source));
    let mut data = data(arguments, &place, &model, &plugged);
    let ended = rounds.adapt(&mut model, printer).and_then(|()| rounds.all(&model, &mut data, printer));
    let was_wrong = wrong(&data);
    show(arguments, data, plugged, &ended, printer)?;
    match ended {
        Err(FilesError::Interrupted) => Ok(Exit::Interrupted),
        Err(error) => Err(failure(error)),
        Ok(()) if was_wrong => Ok(Exit::Problem),
        Ok(()) => Ok(Exit::Fine),
    }
}

fn open(folder: &str) -> Result<BenchDirectory, Failure> {
    if let Some(stick) = folder.strip_prefix("sim:") {
        let error = anyhow!(
            "{folder} is a virtual stick without a filesystem; serve it as a disk (flashscope sim serve {stick} --loop), make a \
             filesystem on it, mount that, and name the folder"
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    BenchDirectory::open(Path::new(folder)).map_err(failure)
}

/// The files to be made.
struct Model {
    name: String,
    sizes: Vec<Bytes>,
    files_per_folder: u32,
}

impl Model {
    fn of(arguments: &BenchFiles, printer: &Printer) -> Result<Self, Failure> {
        match &arguments.like {
            Some(folder) => Self::like(folder, arguments, printer),
            None => Ok(Self::of_profile(arguments, arguments.count)),
        }
    }

    fn of_profile(arguments: &BenchFiles, count: Option<u32>) -> Self {
        let profile = arguments.profile.profile();
        Self {
            name: profile.name().to_owned(),
            sizes: profile.sizes(count.unwrap_or(profile.usual_count()), arguments.seed),
            files_per_folder: profile.files_per_folder(),
        }
    }

    fn like(folder: &Path, arguments: &BenchFiles, printer: &Printer) -> Result<Self, Failure> {
        let walked = scan_directory(folder).map_err(failure)?;
        let name = format!("like {}", folder.display());
        let found = u32::try_from(walked.sizes.len()).unwrap_or(u32::MAX);
        if walked.unreadable > 0 {
            printer.remark(format!("note: {} folders in it could not be looked into", walked.unreadable));
        }
        let count = arguments.count.unwrap_or(found.min(file_sizes::FileProfile::HelpPages.usual_count()));
        let files_per_folder = (found / walked.directories.max(1)).max(1);
        Ok(Self { name, sizes: file_sizes::like(&walked.sizes, count, arguments.seed), files_per_folder })
    }

    fn bytes(&self) -> Bytes {
        self.sizes.iter().fold(Bytes::ZERO, |sum, size| sum + *size)
    }

    /// The space they take.
    fn in_clusters(&self, cluster: Bytes) -> Bytes {
        in_clusters(&self.sizes, cluster)
    }

    /// The same of the files that tell at most how long all will take.
    fn tried_in_clusters(&self, cluster: Bytes) -> Bytes {
        let pilots = [PILOT, PILOT_MORE].into_iter().filter(|pilot| self.sizes.len() >= 2 * pilot);
        pilots.map(|pilot| in_clusters(&self.sizes[..pilot], cluster)).sum()
    }

    fn count(&self) -> u32 {
        u32::try_from(self.sizes.len()).unwrap_or(u32::MAX)
    }
}

fn in_clusters(sizes: &[Bytes], cluster: Bytes) -> Bytes {
    let cluster = cluster.max(Bytes::new(1));
    sizes.iter().fold(Bytes::ZERO, |sum, size| sum + size.round_up(cluster))
}

/// Says what is measured and what it will take before it begins.
fn announce(arguments: &BenchFiles, place: &BenchDirectory, model: &Model, printer: &Printer) {
    let folder = &arguments.folder;
    let ground = place.backing_filesystem();
    let on = if ground.source.is_empty() { String::new() } else { format!(" on {}", ground.source) };
    printer.remark(format!(
        "{folder}: {} with clusters of {}{on}, {}",
        if ground.filesystem.is_empty() { "an unknown filesystem" } else { &ground.filesystem },
        ground.cluster,
        ground.options
    ));
    for instead in &ground.non_stick {
        printer.remark(format!("note: {folder}: {}", crate::target::instead(*instead).text()));
    }
    for left in place.left_over() {
        printer.remark(format!(
            "note: {folder}/{left} was left behind by a measurement that was killed; remove it"
        ));
    }
    let bytes = model.bytes();
    let round = model.in_clusters(ground.cluster) + bytes.round_up(ground.cluster);
    let most = round * u64::from(most_rounds(arguments)) + model.tried_in_clusters(ground.cluster);
    printer.remark(format!(
        "{} ({}) of {bytes} in all, then one file of as much; {}, so at most {most} of clusters will be written, and folders and \
         tables beside them, in a folder of its own, which is removed. Small files may take minutes; after {} no new round begins",
        counted(model.count().into(), "file"),
        model.name,
        arguments.rounds.map_or_else(
            || format!("{ROUNDS_LEAST} to {ROUNDS_MOST} rounds, until they agree"),
            |rounds| format!("up to {}", counted(rounds.into(), "round"))
        ),
        duration::told(arguments.time_budget)
    ));
}

fn most_rounds(arguments: &BenchFiles) -> u32 {
    arguments.rounds.unwrap_or(ROUNDS_MOST)
}

/// Some files, made to see how long all will take.
#[derive(Debug, Clone, Copy)]
struct Pilot {
    files: usize,
    seconds: f64,
}

impl Pilot {
    /// What each further file takes, seconds: by the difference between two pilots, where there is one.
    fn rate(pilots: &[Self]) -> f64 {
        let Some((last, before)) = pilots.split_last() else { return 0.0 };
        let all = last.seconds / last.files as f64;
        let further = before.first().map(|first| {
            (last.seconds - first.seconds) / (last.files.saturating_sub(first.files).max(1)) as f64
        });
        further.filter(|further| *further > 0.0).map_or(all, |further| further.min(all))
    }
}

/// Rounds under way.
struct Rounds<'a> {
    arguments: &'a BenchFiles,
    place: &'a BenchDirectory,
    interrupt: Interrupt,
    generation: u32,
}

impl Rounds<'_> {
    /// Makes some files to see how long all will take, and says so; where nobody said how many, no more than there is time for.
    fn adapt(&mut self, model: &mut Model, printer: &Printer) -> Result<(), FilesError> {
        if model.sizes.len() < 2 * PILOT {
            return Ok(());
        }
        let mut pilots = vec![self.pilot(model, PILOT)?];
        let rate = |pilots: &[Pilot]| Pilot::rate(pilots).max(SECONDS_MIN);
        // What a flush costs by itself shows in few files only.
        if rate(&pilots) * f64::from(model.count()) > LONG_S && model.sizes.len() >= 2 * PILOT_MORE {
            pilots.push(self.pilot(model, PILOT_MORE)?);
        }
        let rate = rate(&pilots);
        let last = pilots.last().map_or((0.0, 0.0), |pilot| (pilot.files as f64, pilot.seconds));
        let expected = last.1 + rate * (f64::from(model.count()) - last.0);
        let told: Vec<String> =
            pilots.iter().map(|pilot| format!("{} files took {:.1} s", pilot.files, pilot.seconds)).collect();
        printer.remark(format!(
            "{}, so {} will take about {expected:.0} s",
            told.join(" and "),
            model.count()
        ));
        let budget = self.arguments.time_budget.as_secs_f64();
        if expected > budget && self.arguments.count.is_none() && model.count() > COUNT_MIN {
            let count = (((budget - last.1) / rate + last.0) as u32).clamp(COUNT_MIN, model.count());
            model.sizes.truncate(count as usize);
            printer.remark(format!(
                "that is more than {budget} s, so only {count} of them are made; --count or --time-budget sets it otherwise"
            ));
        }
        Ok(())
    }

    /// So many files, made as all will be.
    fn pilot(&mut self, model: &Model, files: usize) -> Result<Pilot, FilesError> {
        let part = self.part(&model.sizes[..files], model.files_per_folder)?;
        Ok(Pilot { files, seconds: took(&part).as_secs_f64() })
    }

    /// Rounds until there are as many as asked for, or they agree where nobody said how many, or the time is spent; one in any case.
    fn all(&mut self, model: &Model, data: &mut FilesData, printer: &Printer) -> Result<(), FilesError> {
        let budget = self.arguments.time_budget;
        let mut spent = Duration::ZERO;
        let most = most_rounds(self.arguments);
        for round in 1..=most {
            printer.detail(format!("round {round}"));
            let small = self.part(&model.sizes, model.files_per_folder)?;
            let large = self.part(&[model.bytes()], 1)?;
            data.cold = cold(small.cache_drop);
            spent += took(&small) + took(&large);
            data.rounds.push(FilesRound { small: part(&small), large: part(&large) });
            if self.arguments.rounds.is_none() && data.rounds.len() >= ROUNDS_LEAST && files_are_settled(data)
            {
                break;
            }
            // A round that would not fit is not begun.
            if spent + spent / round > budget && round < most {
                printer.remark(format!(
                    "{round} of {most} rounds: another would take longer than {} in all (--time-budget)",
                    duration::told(budget)
                ));
                break;
            }
        }
        Ok(())
    }

    /// Files with data that no file before held.
    fn part(&mut self, sizes: &[Bytes], files_per_folder: u32) -> Result<FileSetTimes, FilesError> {
        let pattern = Pattern { seed: self.arguments.seed, generation: self.generation };
        self.generation += 1;
        let flush = match self.arguments.flush {
            FlushName::End => FlushPolicy::AtEnd,
            FlushName::Each => FlushPolicy::EachFile,
        };
        self.place.run(sizes, files_per_folder, flush, pattern, &self.interrupt)
    }
}

/// All that files took.
fn took(part: &FileSetTimes) -> Duration {
    part.write + part.flush + part.read + part.remove
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

const fn cold(cold: CacheDrop) -> ColdBy {
    match cold {
        CacheDrop::Advised => ColdBy::Advice,
        CacheDrop::Dropped => ColdBy::Drop,
    }
}

/// Nothing takes no time at all, whatever a clock says.
const SECONDS_MIN: f64 = 1e-9;

fn part(part: &FileSetTimes) -> FilesPart {
    let seconds = |time: Duration| time.as_secs_f64().max(SECONDS_MIN);
    let traffic = |requests: DeviceTraffic| Traffic {
        requests: requests.requests,
        bytes: requests.bytes,
        busy_s: requests.busy.as_secs_f64(),
    };
    FilesPart {
        files: part.files,
        bytes: part.bytes,
        allocated: part.allocated,
        made_s: seconds(part.write),
        flush_s: part.flush.as_secs_f64(),
        read_s: seconds(part.read),
        removed_s: part.remove.as_secs_f64(),
        each_made_ns: part.write_each_ns.clone(),
        each_read_ns: part.read_each_ns.clone(),
        warm: part.cached_share,
        wrong: part.corrupt,
        writes: part.writes.map(traffic),
        reads: part.reads.map(traffic),
    }
}

/// What was measured, also where it ended early; nothing where an error says that no round came to its end.
fn show(
    arguments: &BenchFiles,
    data: FilesData,
    plugged: Plugged,
    ended: &Result<(), FilesError>,
    printer: &Printer,
) -> Result<(), Failure> {
    let ended = match ended {
        Ok(()) => Ended::Complete,
        Err(FilesError::Interrupted) => show::interrupted(data.rounds.len()),
        Err(_) if data.rounds.is_empty() => return Ok(()),
        Err(error) => {
            let reason = StopReason::Failed { error: error.to_string() };
            Ended::Early { reason, cause: Cause::Device }
        }
    };
    let cost = cost(&data);
    let seen = show::seen_by_bench(Data::Files(data), arguments.seed, ended);
    let run = show::run_of_bench(&arguments.folder, plugged, seen, cost);
    show::bench(&run, &arguments.output.files, printer)
}

/// What all rounds wrote and read, in the requests that the kernel counted, else in files.
fn cost(data: &FilesData) -> Cost {
    let mut cost = Cost::default();
    for part in data.rounds.iter().flat_map(|round| [&round.small, &round.large]) {
        cost.writes += part.writes.map_or(part.files.into(), |writes| writes.requests);
        cost.reads += part.reads.map_or(part.files.into(), |reads| reads.requests);
        // Where the kernel counts, folders, tables and whole blocks are in it.
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
    fn what_a_flush_costs_by_itself_is_not_expected_of_each_file() {
        let pilot = |files, seconds| Pilot { files, seconds };
        let rate = |pilots: &[Pilot]| (Pilot::rate(pilots) * 1e3).round();
        assert!((rate(&[pilot(32, 3.2)]) - 100.0).abs() < 1.0);
        assert!((rate(&[pilot(32, 3.2), pilot(128, 5.12)]) - 20.0).abs() < 1.0);
        // A stall in the first, or one in the second, says nothing better than all of the second.
        assert!((rate(&[pilot(32, 6.0), pilot(128, 5.12)]) - 40.0).abs() < 1.0);
        assert!((rate(&[pilot(32, 0.1), pilot(128, 12.8)]) - 100.0).abs() < 1.0);
    }
}
