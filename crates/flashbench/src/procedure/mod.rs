//! Runs flashbench's procedures on any device: the same requests in the same sequence, for line-by-line
//! comparison.
//!
//! The procedures are known from flashbench's documentation, its author's mails and its output. Two choices
//! are ours: one seeded shuffle per row, the same for all units, and a new generation of the data pattern per
//! row.

mod align;
mod plan;
mod session;
mod writes;

use flashscope_device::Device;

use flashscope_measure::{Estimate, Event, Observer};
use flashscope_record::observation::{
    AlignData, Conditions, Data, Ended, FatAreaData, Observations, OpenUnitsData, Source,
};

use crate::command::Command;
use crate::procedure::session::Session;

/// Runs one flashbench command and returns its observations.
///
/// Align: one sample per candidate size; each time is the minimum over 8 rounds and the mean over at most 7
/// boundaries. Open units and find-fat: one cell per row and unit, with the mean time per request. An
/// unfinished row or candidate is omitted, and an early end carries its reason. `seed` determines shuffles
/// and data.
pub fn run(
    command: &Command,
    device: &mut dyn Device,
    seed: u64,
    observer: &mut dyn Observer,
) -> Observations {
    let capabilities = device.capabilities();
    let name = plan::name(command);
    let mut conditions = Conditions {
        source: Source::Measured,
        capacity: Some(capabilities.capacity),
        region: None,
        is_in_file: false,
        seed,
    };
    if let Err(reason) = plan::feasible(command, &capabilities) {
        observer.event(Event::Begin { name, estimate: Estimate::default() });
        observer.event(Event::End);
        return Observations {
            data: empty_data(command),
            conditions,
            ended: Ended::NotStarted { reason, would_decide: Vec::new() },
        };
    }
    conditions.region = Some(plan::region(command, &capabilities));
    observer.event(Event::Begin { name, estimate: plan::estimate(command, &capabilities) });
    let (data, ended) = measure(command, &mut Session::new(device, observer, seed));
    observer.event(Event::End);
    Observations { data, conditions, ended }
}

fn measure(command: &Command, session: &mut Session<'_>) -> (Data, Ended) {
    let mut data = empty_data(command);
    let outcome = match (&mut data, *command) {
        (Data::Align(data), Command::Align { read }) => align::measure(session, read, data),
        (Data::OpenUnits(data), Command::OpenUnits { open_units, smallest, order, .. }) => {
            writes::measure_open_units(session, open_units, smallest, order, data)
        }
        (Data::FatArea(data), Command::FindFat { units, smallest, order, .. }) => {
            writes::measure_fat_area(session, units, smallest, order, data)
        }
        _ => Ok(()),
    };
    let ended = match outcome {
        Ok(()) => Ended::Complete,
        Err(stop) => Ended::Early { reason: stop.reason(), cause: stop.cause() },
    };
    (data, ended)
}

/// The data of a command before its first request.
fn empty_data(command: &Command) -> Data {
    match *command {
        Command::Align { read } => Data::Align(AlignData { read: Some(read), ..AlignData::default() }),
        Command::OpenUnits { erase_block, .. } => {
            Data::OpenUnits(OpenUnitsData { erase_block, ..OpenUnitsData::default() })
        }
        Command::FindFat { erase_block, .. } => {
            Data::FatArea(FatAreaData { erase_block, ..FatAreaData::default() })
        }
    }
}
