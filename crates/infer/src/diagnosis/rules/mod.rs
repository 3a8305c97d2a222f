//! The registry of rules. Each rule tests one bottleneck on the everyday copy.

mod alignment;
mod driver;
mod link;
mod open_units;
mod slc_cache;
mod small_writes;

use flashscope_record::diagnosis::{Bottleneck, Decider, Untested};

use crate::diagnosis::gain::Counterfactual;
use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::workload::Workload;

/// A rule.
pub struct Rule {
    /// The bottleneck that it tests. It may report a more specific one instead.
    pub bottleneck: Bottleneck,
    /// The copy without the bottleneck; `None` if the bottleneck costs nothing.
    pub counterfactual: fn(&Inputs<'_>, &Workload) -> Result<Option<Counterfactual>, Untested>,
    /// The measurement that would test it, for a rule without which the flash is not reported as the
    /// bottleneck.
    pub would_decide: Option<fn(&Inputs<'_>) -> Decider>,
}

/// Every rule. If several rules with `would_decide` were not applied, the conclusion names the last of them.
pub const RULES: [Rule; 6] = [
    Rule {
        bottleneck: Bottleneck::Link,
        counterfactual: link::counterfactual,
        would_decide: Some(|_| Decider::KnownLink),
    },
    Rule {
        bottleneck: Bottleneck::Driver,
        counterfactual: driver::counterfactual,
        would_decide: Some(|_| Decider::LargerCommands),
    },
    Rule {
        bottleneck: Bottleneck::SmallWrites,
        counterfactual: small_writes::counterfactual,
        would_decide: None,
    },
    Rule { bottleneck: Bottleneck::Alignment, counterfactual: alignment::counterfactual, would_decide: None },
    Rule {
        bottleneck: Bottleneck::OpenUnits,
        counterfactual: open_units::counterfactual,
        would_decide: Some(|_| Decider::WriteTestsOnQuietMachine),
    },
    Rule {
        bottleneck: Bottleneck::SlcCache,
        counterfactual: slc_cache::counterfactual,
        would_decide: Some(slc_cache::would_decide),
    },
];
