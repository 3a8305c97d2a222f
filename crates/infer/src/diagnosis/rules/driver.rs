//! Rule *driver*: the cost of splitting requests into more commands than the device needs.
//!
//! Each command takes a time besides its data. usb-storage splits at 240 sectors, and at 2048 from
//! `SuperSpeed` on. For devices with the quirks `MAX_SECTORS_64` and `MAX_SECTORS_MIN` it splits at 64 or 8
//! (Linux, drivers/usb/storage). The limit can be changed while the device is plugged in.

use flashscope_device::Bytes;

use flashscope_record::diagnosis::{
    Bottleneck, DiagnosisEvidence, DiagnosisReason, GAIN_REPORTED_MIN, Untested,
};

use crate::diagnosis::command_cost::{COMMAND_MAX_DEFAULT, command_line};
use crate::diagnosis::gain::{Counterfactual, LEFT_MIN, Range};
use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::partial_pages::{Misalignment, misalignment_with};
use crate::diagnosis::size_sweep::{LINE_REQUEST_MIN, Line, commands};
use crate::diagnosis::workload::{CopyPart, EVERYDAY, Workload};

/// The driver whose limit can be changed: `max_sectors` is an attribute of usb-storage (Linux,
/// drivers/usb/storage/scsiglue.c).
const ADJUSTABLE: &str = "usb-storage";
/// The factor within which the time of a command is known: it includes a partial page if the command ends
/// inside one. Guess.
const COMMAND_FACTOR: f64 = 1.25;

pub fn counterfactual(inputs: &Inputs<'_>, workload: &Workload) -> Result<Option<Counterfactual>, Untested> {
    let Some(command_max) = inputs.command_max().filter(|command_max| *command_max < COMMAND_MAX_DEFAULT)
    else {
        return Ok(None);
    };
    let untested = |reason| Err(Untested { bottleneck: Bottleneck::Driver, reason });
    let is_adjustable = inputs.attachment.driver.as_ref().is_some_and(|driver| driver.name == ADJUSTABLE);
    let Some(Line { per_command, .. }) = command_line(inputs) else {
        let matters = command_max < LINE_REQUEST_MIN || is_adjustable;
        return if matters { untested(DiagnosisReason::PageNearCommand { command_max }) } else { Ok(None) };
    };
    let counterfactual = Counterfactual {
        bottleneck: Bottleneck::Driver,
        without: without_splitting(inputs, workload, command_max, per_command),
        evidence: DiagnosisEvidence::Driver {
            driver: ADJUSTABLE.to_owned(),
            command_max,
            per_command_s: per_command,
            request: COMMAND_MAX_DEFAULT,
            commands: commands(COMMAND_MAX_DEFAULT, command_max),
        },
    };
    if is_adjustable {
        return Ok(Some(counterfactual));
    }
    match counterfactual.cost(workload, &EVERYDAY).filter(|cost| cost.gain.likely >= GAIN_REPORTED_MIN) {
        Some(_) => untested(DiagnosisReason::CommandLimitUnknown { command_max, per_command_s: per_command }),
        None => Ok(None),
    }
}

/// The time per byte of each part if commands were as large as requests.
fn without_splitting(
    inputs: &Inputs<'_>,
    workload: &Workload,
    command_max: Bytes,
    per_command: f64,
) -> [Option<Range>; 4] {
    let misalignment = |command_max| misalignment_with(inputs, Some(command_max));
    let misalignments = [command_max, COMMAND_MAX_DEFAULT].map(misalignment);
    CopyPart::ALL.map(|part| {
        let (request, now) = (part.request(), workload.time_per_byte(part).seconds);
        // On a misaligned volume, every command ends in partial pages.
        let partial_pages =
            |extra: &Option<Misalignment<'_>>| extra.as_ref().map_or(0.0, |extra| extra.visible(part));
        let [partial_now, partial_then] = misalignments.each_ref().map(partial_pages);
        let fewer = commands(request, command_max) - commands(request, COMMAND_MAX_DEFAULT);
        let saved = per_command * fewer / request.as_f64() + (partial_now - partial_then).max(0.0);
        (saved > 0.0).then(|| Range::without(now, saved, COMMAND_FACTOR, LEFT_MIN))
    })
}
