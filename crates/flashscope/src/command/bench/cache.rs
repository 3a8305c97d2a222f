//! `flashscope bench cache`: the read speed of memory, page cache and device.

use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::Interrupt;
use flashscope_linux::{
    CacheSwitch, Identity, LayeredError, LayeredTarget, OpenError, Remark, Roots, WriteCache, identify,
};
use flashscope_measure::workload::Stopped;
use flashscope_measure::workload::cache::{CacheWorkload, LayerReadings, ReadLayer};
use flashscope_report::serve_command;
use flashscope_report::storage_layers::{Backing, LayerComparison, LayerSpeed, StorageLayer};

use crate::args::BenchCache;
use crate::document::BenchCacheDocument;
use crate::duration;
use crate::exit::{Exit, Failure};
use crate::interrupt::on_interrupt;
use crate::printer::Printer;
use crate::target;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a target that is not readable, 3 if reading fails.
pub fn run(arguments: &BenchCache, printer: &Printer) -> Result<Exit, Failure> {
    let name = &arguments.target;
    let interrupt = on_interrupt()?;
    let layers = open(name, &interrupt)?;
    let identity = identify(Path::new(name), &Roots::default());
    announce(arguments, &identity, printer);
    let mut reading = Reading { arguments, target: layers, interrupt, printer };
    let speeds = match reading.all(&identity) {
        Ok(speeds) => speeds,
        Err(Stopped::Interrupted) => {
            printer.remark("interrupted: no result");
            return Ok(Exit::Interrupted);
        }
        Err(Stopped::Host(LayeredError::Open(error))) => return Err(failed_to_open(error)),
        Err(Stopped::Host(error)) => return Err(Failure { exit: Exit::Failed, error: error.into() }),
    };
    if printer.json {
        printer.document(&BenchCacheDocument::new(name, &speeds))?;
    } else {
        printer.result(&speeds.text(printer.width(), printer.style()))?;
    }
    Ok(Exit::Fine)
}

fn open(name: &str, interrupt: &Interrupt) -> Result<LayeredTarget, Failure> {
    if let Some(stick) = name.strip_prefix("sim:") {
        let error = anyhow!(
            "{name} is a virtual stick in virtual time and has no page cache; serve it as a disk ({}), and name that disk",
            serve_command(stick)
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    LayeredTarget::open(Path::new(name), interrupt).map_err(failed_to_open)
}

fn announce(arguments: &BenchCache, identity: &Identity, printer: &Printer) {
    printer.remark(format!("{}: {}", arguments.target, identity.name));
    let layers = ReadLayer::ALL.len() as u32 + if arguments.switch_cache { 2 } else { 0 };
    printer.remark(format!(
        "read only: the data on it does not change; {} rounds of {layers} layers, {} each, about {} in total",
        arguments.rounds,
        duration::exact(arguments.seconds),
        duration::exact(arguments.seconds * arguments.rounds * layers)
    ));
}

/// Reads a target layer by layer.
struct Reading<'a> {
    arguments: &'a BenchCache,
    target: LayeredTarget,
    interrupt: Interrupt,
    printer: &'a Printer,
}

impl Reading<'_> {
    fn all(&mut self, identity: &Identity) -> Result<LayerComparison, Stopped<LayeredError>> {
        let mut observer = |round| self.printer.detail(format!("round {round}"));
        let mut readings = self.workload().measure(&mut self.target, &self.interrupt, &mut observer)?;
        let write_cache = self.write_cache(identity, &mut readings)?;
        let remarks = self.target.remarks();
        Ok(LayerComparison {
            speeds: readings.into_iter().map(speed).collect(),
            link: target::link(identity),
            write_cache,
            backing: backing(remarks),
            remarks: remarks.iter().map(ToString::to_string).collect(),
        })
    }

    const fn workload(&self) -> CacheWorkload {
        CacheWorkload { rounds: self.arguments.rounds, duration: self.arguments.seconds }
    }

    /// The state of the drive's write cache. With `--switch-cache`, also reads with the cache on and off.
    fn write_cache(
        &mut self,
        identity: &Identity,
        readings: &mut Vec<LayerReadings>,
    ) -> Result<String, Stopped<LayeredError>> {
        let state = identity.disk.as_ref().and_then(|disk| disk.queue.write_cache);
        let state = state.map_or("unknown", WriteCache::as_str);
        if !self.arguments.switch_cache {
            return Ok(format!("{state}; unchanged (--switch-cache tries both, as root)"));
        }
        let switch = match CacheSwitch::of(Path::new(&self.arguments.target), &Roots::default()) {
            Ok(switch) => switch,
            Err(error) => return Ok(format!("{state}; not switchable here: {error}")),
        };
        let workload = self.workload();
        let switched = workload.measure_switched(&mut self.target, &switch, readings, &self.interrupt)?;
        Ok(match switched {
            Ok(()) => format!("{}; measured on and off, then restored", switch.was()),
            Err(error) => format!("{state}; not switchable here: {error}"),
        })
    }
}

fn speed(readings: LayerReadings) -> LayerSpeed {
    LayerSpeed {
        layer: match readings.layer {
            ReadLayer::Memory => StorageLayer::Memory,
            ReadLayer::PageCache => StorageLayer::PageCache,
            ReadLayer::Device => StorageLayer::Device,
            ReadLayer::DeviceCacheOn => StorageLayer::CacheOn,
            ReadLayer::DeviceCacheOff => StorageLayer::CacheOff,
        },
        bytes_per_s: readings.bytes_per_s,
        bytes: readings.bytes,
        transferred: readings.device_bytes,
        holes: readings.holes,
        sampled: readings.probed,
        blank: readings.blank,
    }
}

fn backing(remarks: &[Remark]) -> Backing {
    if remarks.contains(&Remark::InMemory) {
        Backing::Memory
    } else if remarks.contains(&Remark::ImageFile) {
        Backing::File
    } else {
        Backing::Device
    }
}

fn failed_to_open(error: OpenError) -> Failure {
    let exit = match &error {
        OpenError::InUse { .. } => Exit::Refused,
        OpenError::Interrupted { .. } => Exit::Interrupted,
        _ => Exit::Usage,
    };
    Failure { exit, error: error.into() }
}
