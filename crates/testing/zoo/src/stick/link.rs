//! The link between host and controller: a bus with its rate in practice, or slower.

use flashscope_device::Bytes;
use flashscope_sim::profile::{Basis, Bus, CardLink, Link, Protocol};

use super::era::Era;
use crate::draw::Draw;
use crate::rounding::rounded;

/// The buses of an era, weighted by how common they are. The weights are guesses.
fn bus(era: Era, draw: &mut Draw) -> Bus {
    match era {
        Era::Early => draw.weighted(&[(0.1, Bus::UsbFull), (0.75, Bus::UsbHigh), (0.15, Bus::SdDefault)]),
        Era::Middle => draw.weighted(&[
            (0.03, Bus::UsbFull),
            (0.77, Bus::UsbHigh),
            (0.1, Bus::SdHighSpeed),
            (0.1, Bus::SdSdr50),
        ]),
        Era::Late | Era::Unusual => draw.weighted(&[
            (0.4, Bus::UsbHigh),
            (0.3, Bus::UsbSuper5),
            (0.1, Bus::SdHighSpeed),
            (0.1, Bus::SdSdr50),
            (0.1, Bus::SdSdr104),
        ]),
    }
}

/// The link of a stick, a card in a slot, or a card in a reader.
pub(super) fn sample(era: Era, draw: &mut Draw) -> Link {
    let bus = bus(era, draw);
    let figures = bus.figures();
    Link {
        basis: Basis::Assumed,
        bus,
        command_us: Some(rounded(figures.command_us * draw.log_uniform(0.9, 3.0), 1)),
        megabytes_per_s: Some(rounded(figures.megabytes_per_s * draw.uniform(0.6, 1.0), 2)),
        max_command: (bus == Bus::UsbHigh && draw.bernoulli(0.2)).then_some(Bytes::kib(64)),
        protocol: (bus == Bus::UsbSuper5 && draw.bernoulli(0.25)).then_some(Protocol::Uas),
        queue_depth: None,
        card: (bus == Bus::UsbHigh && draw.bernoulli(0.2)).then(|| CardLink {
            bus: draw.weighted(&[(0.3, Bus::SdDefault), (0.7, Bus::SdHighSpeed)]),
            command_us: None,
            megabytes_per_s: None,
        }),
    }
}
