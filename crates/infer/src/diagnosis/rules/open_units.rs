//! Rule *open units*: the cost of round-robin writes into more erase blocks than can be open.

use flashscope_record::diagnosis::{Bottleneck, Untested};

use crate::diagnosis::block_switch::BlockSwitch;
use crate::diagnosis::gain::{Counterfactual, Range};
use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::workload::{CopyPart, TimePerByte, Workload};

/// `None` as well if the latencies are not known: the baseline reports that.
pub fn counterfactual(inputs: &Inputs<'_>, _workload: &Workload) -> Result<Option<Counterfactual>, Untested> {
    let Some(switch) = BlockSwitch::of(inputs).ok().filter(|switch| switch.extra_s() > 0.0) else {
        return Ok(None);
    };
    let sequential = TimePerByte::of_one_run(inputs.sweep.time_per_byte(CopyPart::Interleaved.request()));
    let without = Range::within(sequential.seconds, sequential.factor);
    Ok(Some(Counterfactual {
        bottleneck: Bottleneck::OpenUnits,
        without: [None, None, None, Some(without)],
        evidence: switch.evidence(),
    }))
}
