//! The stick that is served: the model, its backing file, its faults and its trace.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::{FaultLog, Faulty, RecordSink, Trace, TraceFile, TraceRecord};
use flashscope_device::trace::{ClockKind, TraceHeader, TraceWriter};
use flashscope_device::{Capabilities, Device};
use flashscope_linux::serve::FileBacked;
use flashscope_sim::VirtualStick;
use flashscope_sim::target::Target;

use crate::args::SimServe;
use crate::destination::Destination;
use crate::exit::{Exit, Failure, OrExit};

/// A stick in its layers. The trace is outermost: it records what programs requested, and when it completed.
pub type Stick = Trace<Faulty<'static>, Sink>;

/// The trace file, if any.
#[derive(Debug)]
pub struct Sink(Option<TraceFile<BufWriter<File>>>);

impl RecordSink for Sink {
    fn take(&mut self, record: TraceRecord) {
        if let Some(file) = &mut self.0 {
            file.take(record);
        }
    }
}

impl Sink {
    /// Finishes the trace.
    pub fn finish(self) -> io::Result<()> {
        self.0.map_or(Ok(()), |file| file.finish()?.flush())
    }
}

/// Makes the stick that `arguments` describe, and the log of its faults.
///
/// # Errors
/// Exit code 2 for an invalid fault or a file that cannot be used, 4 for a file that is a disk.
pub fn make(arguments: &SimServe, target: &Target) -> Result<(Stick, FaultLog), Failure> {
    let stick = VirtualStick::new(&target.profile, target.seed);
    let capabilities = stick.capabilities();
    let stick: Box<dyn Device + Send> = match &arguments.backing {
        Some(file) => Box::new(FileBacked::open(stick, file).or_exit_bare(Exit::Usage)?),
        None => Box::new(stick),
    };
    let faults = [&target.faults[..], &arguments.faults].concat();
    let faulty = Faulty::new(stick, &faults, target.seed).or_exit_bare(Exit::Usage)?;
    let log = faulty.log();
    let trace = arguments.trace.as_deref().map(|file| trace(file, arguments, target, capabilities));
    Ok((Trace::into_sink(faulty, Sink(trace.transpose()?)), log))
}

/// Starts the trace. It is written continuously, so that it is readable even if the process is killed.
fn trace(
    file: &Path,
    arguments: &SimServe,
    target: &Target,
    capabilities: Capabilities,
) -> Result<TraceFile<BufWriter<File>>, Failure> {
    let destination = Destination::of(file)?;
    let profile = crate::target::file(&arguments.stick);
    if [Some(profile), arguments.backing.as_deref()]
        .into_iter()
        .flatten()
        .any(|input| destination.replaces(input))
    {
        let error = anyhow!("the trace would replace {}; give it another name", file.display());
        return Err(Failure { exit: Exit::Usage, error });
    }
    let (Destination::File(path) | Destination::Stream(path)) = destination;
    let header = TraceHeader {
        capabilities,
        clock: ClockKind::Virtual,
        seed: Some(target.seed),
        label: target.profile.description.clone(),
        profile: String::new(),
    };
    File::create(path)
        .and_then(|file| TraceWriter::new(BufWriter::new(file), &header))
        .map(TraceFile::new)
        .or_exit(Exit::Usage, format!("cannot write {}", file.display()))
}
