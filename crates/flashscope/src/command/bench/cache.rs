//! `flashscope bench cache`: memory, page cache and device, told apart.

use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::Interrupt;
use flashscope_linux::{
    CacheSwitch, Identity, LayerError, LayeredTarget, OpenError, Remark, Roots, StorageLayer, WriteCache,
    identify,
};
use flashscope_report::layers::{Below, Kind, LayerSpeed, Layers as Told};
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
    let reading = Reading { arguments, layers, interrupt: on_interrupt()?, printer };
    let told = match reading.all(&identity) {
        Err(LayerError::Interrupted) => return Ok(Exit::Interrupted),
        told => told.map_err(failure)?,
    };
    if printer.json {
        printer.document(&document(name, &told))?;
    } else {
        printer.result(&told.text(printer.width(), printer.style()))?;
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
    LayeredTarget::open(Path::new(name)).map_err(|error| failure(error.into()))
}

fn announce(arguments: &BenchCache, identity: &Identity, printer: &Printer) {
    printer.remark(format!("{}: {}", arguments.target, identity.name));
    let layers = StorageLayer::ALL.len() as u32 + if arguments.switch_cache { 2 } else { 0 };
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
    layers: LayeredTarget,
    interrupt: Interrupt,
    printer: &'a Printer,
}

impl Reading<'_> {
    fn all(&self, identity: &Identity) -> Result<Told, LayerError> {
        let kinds = [Kind::Memory, Kind::PageCache, Kind::Device];
        let mut speeds: Vec<LayerSpeed> = kinds.into_iter().map(LayerSpeed::none).collect();
        // In turns, so that what disturbs one layer disturbs the others.
        for round in 1..=self.arguments.rounds {
            self.printer.detail(format!("round {round}"));
            for (layer, speed) in StorageLayer::ALL.into_iter().zip(&mut speeds) {
                self.read(layer, speed)?;
            }
        }
        let write_cache = self.write_cache(identity, &mut speeds)?;
        let remarks = self.layers.remarks();
        Ok(Told {
            speeds,
            link: target::link(identity),
            write_cache,
            below: below(remarks),
            remarks: remarks.iter().map(ToString::to_string).collect(),
        })
    }

    fn read(&self, layer: StorageLayer, speed: &mut LayerSpeed) -> Result<(), LayerError> {
        let duration = self.arguments.seconds;
        let Some(read) = self.layers.read(layer, duration, &self.interrupt)? else { return Ok(()) };
        let is_first = speed.bytes_per_s.is_empty();
        speed.bytes_per_s.push(read.bytes.as_f64() / read.elapsed.as_secs_f64().max(1e-9));
        speed.bytes += read.bytes;
        speed.holes += read.holes;
        speed.looked += read.probed;
        speed.blank += read.blank;
        speed.carried = if is_first {
            read.device_bytes
        } else {
            speed.carried.zip(read.device_bytes).map(|(sum, more)| sum + more)
        };
        Ok(())
    }

    /// What the drive says of its write cache; where that was asked for and can be, reads with the cache on and off.
    fn write_cache(&self, identity: &Identity, speeds: &mut Vec<LayerSpeed>) -> Result<String, LayerError> {
        let state = identity.disk.as_ref().and_then(|disk| disk.queue.write_cache);
        let state = state.map_or("unknown", WriteCache::as_str);
        if !self.arguments.switch_cache {
            return Ok(format!("{state}; left as it is (--switch-cache tries both, as root)"));
        }
        let switch = match CacheSwitch::of(Path::new(&self.arguments.target), &Roots::default()) {
            Ok(switch) => switch,
            Err(error) => return Ok(format!("{state}; not switchable here: {error}")),
        };
        for (kind, to) in [(Kind::CacheOn, WriteCache::WriteBack), (Kind::CacheOff, WriteCache::WriteThrough)]
        {
            if let Err(error) = switch.switch(to) {
                return Ok(format!("{state}; not switchable here: {error}"));
            }
            let mut speed = LayerSpeed::none(kind);
            for _ in 0..self.arguments.rounds {
                self.read(StorageLayer::Device, &mut speed)?;
            }
            speeds.push(speed);
        }
        Ok(format!("{}; tried on and off, and put back", switch.was()))
    }
}

fn below(remarks: &[Remark]) -> Below {
    if remarks.contains(&Remark::InMemory) {
        Below::Memory
    } else if remarks.contains(&Remark::ImageFile) {
        Below::File
    } else {
        Below::Device
    }
}

fn document(target: &str, told: &Told) -> Value {
    let layer = |speed: &LayerSpeed| {
        let spread = speed.spread();
        json!({
            "layer": speed.kind.id(),
            "status": if spread.is_some() { "found" } else { "unknown" },
            "bytes_per_s": spread.map(|spread| spread.median),
            "low": spread.map(|spread| spread.low),
            "high": spread.map(|spread| spread.high),
            "bytes": speed.bytes,
            "carried_bytes": speed.carried,
            "holes_bytes": speed.holes,
            "looked": speed.looked,
            "blank": speed.blank,
            "cached": told.cached(speed),
        })
    };
    json::document(json!({
        "target": target,
        "verdict": told.headline(),
        "device_bytes_per_s": told.device().map(|device| device.median),
        "layers": told.speeds.iter().map(layer).collect::<Vec<_>>(),
        "write_cache": told.write_cache,
        "why": told.because(),
        "remarks": told.remarks,
    }))
}

fn failure(error: LayerError) -> Failure {
    let exit = match &error {
        LayerError::Open(OpenError::InUse { .. }) => Exit::Refused,
        LayerError::Open(_) => Exit::Usage,
        _ => Exit::Failed,
    };
    Failure { exit, error: error.into() }
}
