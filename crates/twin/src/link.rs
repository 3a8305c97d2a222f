//! The link of a virtual stick as a host sees it.

use flashscope_record::attachment::{Link, LinkKind, LinkRange};
use flashscope_sim::profile::Link as SimLink;

/// The link `now` of a stick whose own link is `own`. For USB, as little is known as for a real stick.
#[must_use]
pub fn link_of(now: &SimLink, own: &SimLink) -> Link {
    let usb = now.bus.usb_mbit_per_s().and_then(|mbit| Link::usb(mbit, own.bus.usb_mbit_per_s()));
    let link = usb.unwrap_or_else(|| exact(now, own));
    Link { is_card_reader: now.card.is_some(), ..link }
}

fn exact(now: &SimLink, own: &SimLink) -> Link {
    let carries =
        |link: &SimLink| (link.timing().ceiling_per_s().as_f64(), link.timing().ceiling_per_s().as_f64());
    let range = |link: &SimLink| LinkRange {
        kind: LinkKind::Named(link.bus.to_string()),
        bytes_per_s: carries(link),
    };
    let LinkRange { kind, bytes_per_s } = range(now);
    let device_fastest = (carries(own) > carries(now)).then(|| range(own));
    Link { kind, bytes_per_s, device_fastest, slow_cause: None, is_card_reader: false }
}
