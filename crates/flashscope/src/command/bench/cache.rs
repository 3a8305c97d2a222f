//! `flashscope bench cache`: memory, page cache and device, compared.

use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::Interrupt;
use flashscope_linux::{
    CacheSwitch, Identity, LayeredTarget, OpenError, Remark, Roots, SystemError, WriteCache, identify,
};
use flashscope_measure::workload::Stopped;
use flashscope_measure::workload::cache::{CacheWorkload, LayerReadings, ReadLayer};
use flashscope_report::storage_layers::{Backing, LayerComparison, LayerSpeed, StorageLayer};
use serde_json::{Value, json};

use crate::args::BenchCache;
use crate::duration;
use crate::exit::{Exit, Failure};
use crate::interrupt::on_interrupt;
use crate::json;
use crate::printer::Printer;
use crate::target;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a target that cannot be read so, 3 if reading fails.
pub fn run(arguments: &BenchCache, printer: &Printer) -> Result<Exit, Failure> {
    let name = &arguments.target;
    let layers = open(name)?;
    let identity = identify(Path::new(name), &Roots::default());
    announce(arguments, &identity, printer);
    let mut reading = Reading { arguments, target: layers, interrupt: on_interrupt()?, printer };
    let comparison = match reading.all(&identity) {
        Ok(comparison) => comparison,
        Err(Stopped::Interrupted) => return Ok(Exit::Interrupted),
        Err(Stopped::Host(error)) => return Err(Failure { exit: Exit::Failed, error: error.into() }),
    };
    if printer.json {
        printer.document(&document(name, &comparison))?;
    } else {
        printer.result(&comparison.text(printer.width(), printer.style()))?;
    }
    Ok(Exit::Fine)
}

fn open(name: &str) -> Result<LayeredTarget, Failure> {
    if let Some(stick) = name.strip_prefix("sim:") {
        let error = anyhow!(
            "{name} is a virtual stick in virtual time: no page cache lies before it; serve it as a disk (flashscope sim serve \
             {stick} --loop), and name that"
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    LayeredTarget::open(Path::new(name)).map_err(failed_to_open)
}

fn announce(arguments: &BenchCache, identity: &Identity, printer: &Printer) {
    printer.remark(format!("{}: {}", arguments.target, identity.name));
    let layers = ReadLayer::ALL.len() as u32 + if arguments.switch_cache { 2 } else { 0 };
    printer.remark(format!(
        "reading only: nothing on it changes; {} rounds of {layers} layers, {} each, about {}",
        arguments.rounds,
        duration::told(arguments.seconds),
        duration::told(arguments.seconds * arguments.rounds * layers)
    ));
}

/// A target being read.
struct Reading<'a> {
    arguments: &'a BenchCache,
    target: LayeredTarget,
    interrupt: Interrupt,
    printer: &'a Printer,
}

impl Reading<'_> {
    fn all(&mut self, identity: &Identity) -> Result<LayerComparison, Stopped<SystemError>> {
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

    /// What the drive reports of its write cache. On request, the device is read with the cache on and off.
    fn write_cache(
        &mut self,
        identity: &Identity,
        readings: &mut Vec<LayerReadings>,
    ) -> Result<String, Stopped<SystemError>> {
        let state = identity.disk.as_ref().and_then(|disk| disk.queue.write_cache);
        let state = state.map_or("unknown", WriteCache::as_str);
        if !self.arguments.switch_cache {
            return Ok(format!("{state}; left as it is (--switch-cache tries both, as root)"));
        }
        let switch = match CacheSwitch::of(Path::new(&self.arguments.target), &Roots::default()) {
            Ok(switch) => switch,
            Err(error) => return Ok(format!("{state}; not switchable here: {error}")),
        };
        let workload = self.workload();
        let switched = workload.measure_switched(&mut self.target, &switch, readings, &self.interrupt)?;
        Ok(match switched {
            Ok(()) => format!("{}; tried on and off, and put back", switch.was()),
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

fn document(target: &str, comparison: &LayerComparison) -> Value {
    let layer = |speed: &LayerSpeed| {
        let spread = speed.spread();
        json!({
            "layer": speed.layer.id(),
            "status": if spread.is_some() { "found" } else { "unknown" },
            "bytes_per_s": spread.map(|spread| spread.median),
            "low": spread.map(|spread| spread.low),
            "high": spread.map(|spread| spread.high),
            "bytes": speed.bytes,
            "carried_bytes": speed.transferred,
            "holes_bytes": speed.holes,
            "looked": speed.sampled,
            "blank": speed.blank,
            "cached": comparison.cached(speed),
        })
    };
    json::document(json!({
        "target": target,
        "verdict": comparison.headline(),
        "device_bytes_per_s": comparison.device().map(|device| device.median),
        "layers": comparison.speeds.iter().map(layer).collect::<Vec<_>>(),
        "write_cache": comparison.write_cache,
        "why": comparison.reasons(),
        "remarks": comparison.remarks,
    }))
}

fn failed_to_open(error: OpenError) -> Failure {
    let exit = if matches!(error, OpenError::InUse { .. }) { Exit::Refused } else { Exit::Usage };
    Failure { exit, error: error.into() }
}
