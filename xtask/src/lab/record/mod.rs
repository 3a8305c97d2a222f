//! `cargo xtask lab record`: the requests of filesystems at work, recorded with a real kernel.
//!
//! A virtual stick that answers at once records every request of the machine: while files are copied to a
//! filesystem and flushed, and while they are read back with cold caches.

mod comparison;
mod guest;
mod source;
mod split;
mod variants;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};
use flashscope_device::Bytes;
use flashscope_device::checksum::Checksum;
use flashscope_record::{TrialOperation, TrialWorkload, Writeback};
use flashscope_recording::{Index, Recording};
use rustix::process::{Pid, Signal, kill_process};

use self::source::Source;
use self::split::Phases;
use self::variants::Variant;
use super::machine::{Disks, Machine};
use super::sticks::{self, Link};
use super::{guest as machine_guest, initramfs, kernel};
use crate::process;

/// What to record.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Filesystem with its options, such as ext4-stripe; repeat for more; default: all
    #[arg(long = "fs", value_name = "NAME")]
    filesystems: Vec<String>,
    /// Workload: tree, large or small; repeat for more; default: all
    #[arg(long = "workload", value_name = "NAME")]
    workloads: Vec<String>,
    /// When the page cache is written: late or early; default: both
    #[arg(long, value_name = "WHEN")]
    writeback: Vec<String>,
    /// Recordings of each kind
    #[arg(long, value_name = "N", default_value_t = 1)]
    rounds: u32,
    /// Folder of the recordings and their index
    #[arg(long, value_name = "DIR", default_value = "testdata/traces")]
    folder: PathBuf,
    /// Memory of the machine, MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    memory: u64,
    /// Size of the stick and its filesystem, MiB
    #[arg(long, value_name = "MIB", default_value_t = 1888)]
    capacity: u64,
    /// Link speed of the stick, Mbit/s: 5000 or 480
    #[arg(long, value_name = "MBIT_PER_S", default_value = "480")]
    link: Link,
    /// The flashscope that serves the stick; default: build it
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Time limit of one recording, seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1800)]
    time_limit: u32,
}

/// One recording to be made.
#[derive(Debug, Clone, Copy)]
struct Job {
    variant: &'static Variant,
    workload: TrialWorkload,
    writeback: Writeback,
}

/// The index in a folder of recordings.
const INDEX: &str = "recordings.toml";

/// Records everything that was asked for. A recording that fails does not stop the others.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let jobs = jobs(arguments)?;
    let program = match &arguments.program {
        Some(program) => {
            program.canonicalize().with_context(|| format!("cannot find {}", program.display()))?
        }
        None => process::built_binary("flashscope", &["--release"])?,
    };
    fs::create_dir_all(&arguments.folder)?;
    let mut failures = Vec::new();
    for round in 0..arguments.rounds {
        for job in &jobs {
            if let Err(error) = record(arguments, &program, job) {
                let Job { variant, workload, writeback } = job;
                let what = format!("{} {} {}", variant.name, workload.name(), writeback.name());
                crate::output::progress(&format!("{what}, round {}: {error:#}", round + 1));
                failures.push(what);
            }
        }
    }
    if !failures.is_empty() {
        bail!("{} recordings failed: {}", failures.len(), failures.join(", "));
    }
    Ok(())
}

fn jobs(arguments: &Arguments) -> anyhow::Result<Vec<Job>> {
    let all: Vec<String> = variants::ALL.iter().map(|variant| variant.name.to_owned()).collect();
    let names = if arguments.filesystems.is_empty() { &all } else { &arguments.filesystems };
    let variant = |name: &String| {
        Variant::of_name(name)
            .with_context(|| format!("no filesystem '{name}'; there are {}", all.join(", ")))
    };
    let variants = names.iter().map(variant).collect::<anyhow::Result<Vec<_>>>()?;
    let workloads = chosen(&arguments.workloads, &TrialWorkload::STANDARD, TrialWorkload::name)?;
    let writebacks = chosen(&arguments.writeback, &[Writeback::Late, Writeback::Early], Writeback::name)?;
    let mut jobs = Vec::new();
    for workload in workloads {
        for &writeback in &writebacks {
            jobs.extend(variants.iter().map(|&variant| Job { variant, workload, writeback }));
        }
    }
    Ok(jobs)
}

/// The values with the given names; all without any.
fn chosen<T: Copy>(names: &[String], all: &[T], name_of: fn(T) -> &'static str) -> anyhow::Result<Vec<T>> {
    if names.is_empty() {
        return Ok(all.to_vec());
    }
    let known = || all.iter().map(|value| name_of(*value)).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        let found = all.iter().copied().find(|value| name_of(*value) == name);
        found.with_context(|| format!("'{name}' is none of {}", known()))
    };
    names.iter().map(find).collect()
}

/// Makes one recording, and adds it to the index.
fn record(arguments: &Arguments, program: &Path, job: &Job) -> anyhow::Result<()> {
    let store = process::target_folder().join("lab");
    let kernel = kernel::of_debian(&store)?;
    let source = Source::of(job.workload)?;
    let image = source.image(&store, job.workload)?;
    let folder = tempfile::tempdir_in(&store).context("cannot create a folder for the machine")?;
    let capacity = Bytes::mib(arguments.capacity);
    let trace = folder.path().join("trace");
    let stick = Stick::serve(program, capacity, &trace, folder.path())?;
    let script = guest::script(job.variant, job.writeback, capacity);
    let script = machine_guest::script(&[script], program, Path::new("/"))?;
    let modules: Vec<&str> = ["virtio_blk"].iter().chain(job.variant.modules).copied().collect();
    let archive = initramfs::build(&kernel, &modules, &machine_guest::init(1), &script)?;
    let initramfs = folder.path().join("initramfs");
    fs::write(&initramfs, archive)?;
    let machine = Machine {
        kernel: &kernel.image,
        initramfs: &initramfs,
        disks: Disks {
            sticks: sticks::arguments(&[arguments.link], false, &[stick.file()])?,
            source: Some(&image),
        },
        memory_mib: arguments.memory,
        time_limit_s: arguments.time_limit,
        folder: folder.path(),
    };
    let code = machine.run()?;
    stick.end()?;
    if code != 0 {
        bail!("the commands in the machine ended with exit code {code}");
    }
    let phases = split::phases(&trace)?;
    check(&phases, source.bytes())?;
    let write = keep(arguments, job, &source, &kernel, &phases, TrialOperation::Write)?;
    keep(arguments, job, &source, &kernel, &phases, TrialOperation::Read)?;
    report(&arguments.folder, &write);
    Ok(())
}

/// Prints how a new round differs from those of the program. It is kept in any case.
fn report(folder: &Path, write: &Recording) {
    match comparison::lines(folder, write) {
        Ok(lines) => lines.iter().for_each(|line| crate::output::progress(line)),
        Err(error) => crate::output::progress(&format!("not compared: {error:#}")),
    }
}

/// The least share of the files' bytes that must pass the link. Guess: small files can stand in metadata.
const SHARE_MIN: f64 = 0.5;

/// Refuses a recording that cannot have copied the files, or that read them from the page cache.
fn check(phases: &Phases, bytes: Bytes) -> anyhow::Result<()> {
    let moved = [
        ("written", split::bytes(&phases.written, split::kind(TrialOperation::Write))),
        ("read", split::bytes(&phases.read, split::kind(TrialOperation::Read))),
    ];
    for (what, moved) in moved {
        if moved.as_f64() < bytes.as_f64() * SHARE_MIN {
            bail!("only {moved} of {bytes} were {what}");
        }
    }
    Ok(())
}

/// Stores one phase, and adds it to the index.
fn keep(
    arguments: &Arguments,
    job: &Job,
    source: &Source,
    kernel: &kernel::Kernel,
    phases: &Phases,
    operation: TrialOperation,
) -> anyhow::Result<Recording> {
    let path = arguments.folder.join(INDEX);
    let mut index: Index = match fs::read_to_string(&path) {
        Ok(text) => toml::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?,
        Err(_) => Index::default(),
    };
    let is_same = |other: &&Recording| {
        let key = (other.variant.as_str(), other.workload, other.writeback, other.operation);
        key == (job.variant.name, job.workload, job.writeback, operation)
    };
    let round = index.recording.iter().filter(is_same).map(|other| other.round).max().unwrap_or(0) + 1;
    let names = [job.variant.name, job.workload.name(), operation.name(), job.writeback.name()].join("_");
    let records = match operation {
        TrialOperation::Write => &phases.written,
        TrialOperation::Read => &phases.read,
    };
    let bytes = split::encode(&phases.header, &names, records)?;
    let compressed = process::zstd(bytes)?.context("recordings need the program zstd (package zstd)")?;
    let file = format!("{names}_{round}.zst");
    fs::write(arguments.folder.join(&file), &compressed)?;
    crate::output::progress(&format!(
        "{file}: {} requests, {} {}, {} compressed",
        records.len(),
        split::bytes(records, split::kind(operation)),
        operation.name(),
        Bytes::new(compressed.len() as u64)
    ));
    let recording = Recording {
        file,
        variant: job.variant.name.to_owned(),
        workload: job.workload,
        operation,
        writeback: job.writeback,
        round,
        files: source.count(),
        bytes: source.bytes(),
        capacity: Bytes::mib(arguments.capacity),
        erase_block: job.variant.erase_block_mib.map(Bytes::mib),
        request_max: arguments.link.request_max(),
        mkfs: job.variant.mkfs_command(),
        mount: job.variant.mount.to_owned(),
        memory: Bytes::mib(arguments.memory),
        kernel: kernel.release()?,
        tool: tool(job.variant.package)?,
        requests: records.len() as u64,
        size: Bytes::new(compressed.len() as u64),
        checksum: format!("{:016x}", Checksum::of(&compressed)),
    };
    index.recording.push(recording.clone());
    let unfinished = path.with_extension("toml.new");
    fs::write(&unfinished, toml::to_string(&index)?)?;
    fs::rename(unfinished, path)?;
    Ok(recording)
}

/// The package with its version.
fn tool(package: &str) -> anyhow::Result<String> {
    let version = process::output(Command::new("dpkg-query").args(["-W", "-f=${Version}", package]))?;
    Ok(format!("{package} {}", version.trim()))
}

/// A virtual stick that answers at once, and records.
#[derive(Debug)]
struct Stick {
    server: Child,
    mount: PathBuf,
}

impl Stick {
    fn serve(program: &Path, capacity: Bytes, trace: &Path, folder: &Path) -> anyhow::Result<Self> {
        let mount = folder.join("served");
        fs::create_dir(&mount)?;
        let mut command = Command::new(program);
        command
            .args(["sim", "serve", "--instant", "--json", "--trace"])
            .arg(trace)
            .arg("--backing")
            .arg(folder.join("contents"))
            .arg("--mount")
            .arg(&mount)
            .arg(format!("generic-2g?capacity={}MiB", capacity.get() >> 20))
            .stdout(Stdio::piped());
        let mut server = command.spawn().context("cannot start flashscope sim serve")?;
        // Its first line says that the stick is there.
        let output = server.stdout.take().context("the server has no output")?;
        BufReader::new(output).lines().next().context("the virtual stick could not be served")??;
        Ok(Self { server, mount })
    }

    fn file(&self) -> PathBuf {
        self.mount.join("stick.img")
    }

    /// Unmounts the stick; the server ends the trace.
    fn end(mut self) -> anyhow::Result<()> {
        kill_process(Pid::from_child(&self.server), Signal::TERM)?;
        self.server.wait()?;
        Ok(())
    }
}

impl Drop for Stick {
    fn drop(&mut self) {
        // After `end` the process is gone.
        if let Ok(None) = self.server.try_wait() {
            let _gone = kill_process(Pid::from_child(&self.server), Signal::TERM);
            drop(self.server.wait());
        }
    }
}
