//! The texts of a diagnosis: evidence, reasons, and what would decide. None begins with a capital letter or
//! ends with a full stop.

use flashscope_record::attachment::{LinkKind, LinkRange, SlowLinkCause};
use flashscope_record::diagnosis::{
    Bottleneck, Cost, Decider, DiagnosisEvidence, DiagnosisReason, LinkUse, StallCause,
};
use flashscope_record::figure::{speed, time};

use super::reason;
use super::would_decide::would_decide;

/// The name of a bottleneck for people.
#[must_use]
pub const fn bottleneck_title(bottleneck: Bottleneck) -> &'static str {
    match bottleneck {
        Bottleneck::Link => "link speed",
        Bottleneck::Reader => "card reader",
        Bottleneck::Driver => "driver",
        Bottleneck::SmallWrites => "small writes",
        Bottleneck::Alignment => "partition alignment",
        Bottleneck::Filesystem => "filesystem alignment",
        Bottleneck::OpenUnits => "too many open erase blocks",
        Bottleneck::SlcCache => "SLC cache exhausted, or stalls in long copies",
        Bottleneck::DataSource => "data source",
        Bottleneck::PageCache => "page cache",
        Bottleneck::Flash => "flash",
    }
}

/// The name of a bottleneck by its evidence.
#[must_use]
pub const fn cost_title(cost: &Cost) -> &'static str {
    match &cost.evidence {
        DiagnosisEvidence::Slowdown { .. } => "SLC cache exhausted",
        DiagnosisEvidence::Stalls { cause: StallCause::Unknown, .. } => "stalls in long copies",
        DiagnosisEvidence::Stalls { cause, .. } => stall_name(*cause),
        _ => bottleneck_title(cost.bottleneck),
    }
}

/// The name of a stall by its cause.
#[must_use]
pub const fn stall_name(cause: StallCause) -> &'static str {
    match cause {
        StallCause::OpeningEraseBlock => "opening erase blocks",
        StallCause::GarbageCollection => "garbage collection",
        StallCause::Unknown => "stalls",
    }
}

/// The measured figures behind a bottleneck.
#[must_use]
pub fn evidence_text(evidence: &DiagnosisEvidence) -> String {
    match evidence {
        DiagnosisEvidence::Link { bytes_per_s, link_use, link, device_fastest } => {
            link_text(*bytes_per_s, *link_use, link, device_fastest.as_ref())
        }
        DiagnosisEvidence::Driver { driver, command_max, per_command_s, request, commands } => format!(
            "{driver} splits requests at {command_max}, and each command takes {} besides its data: {request} needs {commands} \
             commands",
            time(*per_command_s)
        ),
        DiagnosisEvidence::SmallWrites { request, latency_s, bytes_per_s, large_bytes_per_s } => format!(
            "a write of {request} takes {}, which is {}; large writes reach {}",
            time(*latency_s),
            speed(*bytes_per_s),
            speed(*large_bytes_per_s)
        ),
        DiagnosisEvidence::Alignment { volume, data_start, page, partial_page_s } => format!(
            "the data of {volume} begins at sector {}, inside a page of {page}: each request writes a partial page ({}) at \
             either end",
            data_start.sectors().0,
            time(*partial_page_s)
        ),
        DiagnosisEvidence::OpenUnits { open_units, streams, request, within_s, beyond_s } => {
            let latencies =
                format!("a write of {request} takes {} instead of {}", time(*beyond_s), time(*within_s));
            match open_units {
                Some(1) => open_units_text("1 erase block", &latencies),
                Some(count) => open_units_text(&format!("{count} erase blocks"), &latencies),
                None => format!("with {streams} erase blocks written round-robin, {latencies}"),
            }
        }
        DiagnosisEvidence::Stalls { share, period, cause, bytes_per_s } => format!(
            "stalls take {:.0} % of the time of a long copy, one every {period}, and leave {}{}",
            share * 100.0,
            speed(*bytes_per_s),
            stall_cause_text(*cause)
        ),
        DiagnosisEvidence::Slowdown { before_bytes_per_s, after_bytes_per_s } => {
            format!("a long copy slows from {} to {}", speed(*before_bytes_per_s), speed(*after_bytes_per_s))
        }
        DiagnosisEvidence::SlowLongCopy { single_bytes_per_s, long_bytes_per_s } => format!(
            "single large writes reach {}, a long copy only {}",
            speed(*single_bytes_per_s),
            speed(*long_bytes_per_s)
        ),
        DiagnosisEvidence::DataSource { .. } | DiagnosisEvidence::PageCache { .. } => method_text(evidence),
        DiagnosisEvidence::Flash { single_bytes_per_s, long_bytes_per_s } => format!(
            "single large writes reach {} and long copies {}; no other bottleneck costs much of that",
            speed(*single_bytes_per_s),
            speed(*long_bytes_per_s)
        ),
    }
}

/// Why the stalls have this cause.
const fn stall_cause_text(cause: StallCause) -> &'static str {
    match cause {
        StallCause::OpeningEraseBlock => ": one in each erase block, so that opening it costs this time",
        StallCause::GarbageCollection => {
            ": the translation layer maps into any free space, which garbage collection makes"
        }
        StallCause::Unknown => "",
    }
}

fn link_text(
    bytes_per_s: f64,
    link_use: LinkUse,
    link: &LinkRange,
    device_fastest: Option<&LinkKind>,
) -> String {
    let (low, high) = link.bytes_per_s;
    let position = match link_use {
        LinkUse::Within => "within the",
        LinkUse::Close => "close to the",
        LinkUse::WithoutCommands => "and, apart from the overhead of each command, the",
    };
    let fastest = match device_fastest {
        Some(fastest) => format!("the device supports {}", link_name(fastest)),
        None => "no faster link is known for the device".to_owned(),
    };
    format!(
        "writes reach {}, {position} {} to {} that {} carries; {fastest}",
        speed(bytes_per_s),
        speed(low),
        speed(high),
        link_name(&link.kind)
    )
}

fn open_units_text(blocks: &str, latencies: &str) -> String {
    format!(
        "only {blocks} can be open: with more written round-robin, {latencies}; small files write data, directory and \
         allocation table round-robin"
    )
}

/// The evidence of *bench methods*; empty for any other.
fn method_text(evidence: &DiagnosisEvidence) -> String {
    match evidence {
        DiagnosisEvidence::DataSource {
            method,
            source_bytes_per_s,
            durable_bytes_per_s,
            other_bytes_per_s,
        } => format!(
            "{}: the source alone delivers {}, and the device writes {}; other data is written at {}",
            method.command(),
            speed(*source_bytes_per_s),
            speed(*durable_bytes_per_s),
            speed(*other_bytes_per_s)
        ),
        DiagnosisEvidence::PageCache { method, reported_bytes_per_s, durable_bytes_per_s } => format!(
            "{} reports {}, but the data was only in memory; it is written at {}",
            method.command(),
            speed(*reported_bytes_per_s),
            speed(*durable_bytes_per_s)
        ),
        _ => String::new(),
    }
}

/// Why a bottleneck is not known, or was not tested.
#[must_use]
pub fn reason_text(reason: &DiagnosisReason) -> String {
    let text = match reason {
        DiagnosisReason::RequestsFailed { failed, requests } => {
            return format!(
                "{failed} of {requests} requests failed, so the latencies of the others prove nothing"
            );
        }
        DiagnosisReason::Finding(of_finding) => return reason::reason(of_finding),
        DiagnosisReason::NotTested { bottleneck, reason } => {
            return format!(
                "no bottleneck found, but one was not tested: {} ({})",
                bottleneck_title(*bottleneck),
                reason_text(reason)
            );
        }
        DiagnosisReason::PageNearCommand { command_max } => {
            return format!(
                "a page is hardly smaller than a command of {command_max}, so their times cannot be separated"
            );
        }
        DiagnosisReason::CommandLimitUnknown { command_max, per_command_s } => {
            return format!(
                "requests are split at {command_max}, each command takes {} besides its data, and what splits them is unknown",
                time(*per_command_s)
            );
        }
        DiagnosisReason::CacheOrWriteBuffer { fast } => {
            return format!("the first {fast} are fast, in an SLC cache or in a write buffer");
        }
        DiagnosisReason::HostDisk { name } => {
            return format!("this measured {name}, a disk of this machine, not a stick or card");
        }
        DiagnosisReason::InMemory => "the target lies in memory (tmpfs), not on a device",
        DiagnosisReason::OnlyWriteMethods => {
            "only write methods were compared: they show the true speed, not where the device spends the time"
        }
        DiagnosisReason::NoSizeSweep => "no sweep over write sizes was measured",
        DiagnosisReason::NoLink => "the link is not known",
        DiagnosisReason::NoPartition => "no partition is known",
        DiagnosisReason::NoPageSize => "the page size is not known",
        DiagnosisReason::WriteBuffer => {
            "the write buffer absorbs small writes, which hides what they cost the flash"
        }
        DiagnosisReason::NoLongStream => "no long write stream was measured",
        DiagnosisReason::NoOpenUnits => "the open erase blocks were not measured",
        DiagnosisReason::NoWritesWithinOpenUnits => "no single write within the open erase blocks was timed",
        DiagnosisReason::NoWritesBeyondOpenUnits => "no single write beyond the open erase blocks was timed",
    };
    text.to_owned()
}

/// The measurement that would decide an unknown bottleneck.
#[must_use]
pub fn decider_text(decider: &Decider) -> String {
    let text = match decider {
        Decider::Finding(deciders) => return would_decide(deciders),
        Decider::AnotherPort => "the device at another port or reader, if it still responds there",
        Decider::Device => "the same tests on a stick or card",
        Decider::WriteTests => "the write tests (check --erase, which destroys all data on the device)",
        Decider::WriteTestsOnQuietMachine => "the write tests on a quieter machine",
        Decider::WriteTestsWithAnotherSeed => {
            "the write tests with another random seed of the stick (seed=N) or less noise (noise=0)"
        }
        Decider::LongStream => "a long write stream (check --erase --sustained)",
        Decider::LargerCommands => {
            "the same tests with larger commands (/sys/block/NAME/device/max_sectors, or another port, reader or driver)"
        }
        Decider::KnownLink => "the device on a USB port, or in a card reader whose speed the kernel reports",
    };
    text.to_owned()
}

/// The name of a link: `USB at 480 Mbit/s`.
#[must_use]
pub fn link_name(kind: &LinkKind) -> String {
    match kind {
        LinkKind::Usb { mbit_per_s } => format!("USB at {mbit_per_s} Mbit/s"),
        LinkKind::CardBus { mode } => format!("the card's bus ({mode})"),
        LinkKind::Named(name) => name.clone(),
    }
}

/// Why a link of this kind is slower than the device, and what to try.
#[must_use]
pub fn slow_cause_text(cause: &SlowLinkCause, link: &LinkKind) -> String {
    let usb = usb_generation(link);
    match cause {
        SlowLinkCause::Hub { name, product } => {
            let product = product.as_ref().map_or_else(String::new, |product| format!(" ({product})"));
            format!("plugged into {usb} hub {name}{product}; plug it in without the hub")
        }
        SlowLinkCause::Port => {
            format!("plugged into {usb} port, or with such a cable; another port or cable may be faster")
        }
        SlowLinkCause::Contact => {
            "the port is faster, but the link did not come up at its full speed: plug it in again, swiftly and to the stop, or try \
             another cable or port"
                .to_owned()
        }
        SlowLinkCause::PortOrHub => format!("plugged into {usb} port or hub"),
        SlowLinkCause::Text(text) => text.clone(),
    }
}

const fn usb_generation(link: &LinkKind) -> &'static str {
    match link {
        LinkKind::Usb { mbit_per_s } if *mbit_per_s <= 12.0 => "a USB 1",
        LinkKind::Usb { mbit_per_s } if *mbit_per_s <= 480.0 => "a USB 2",
        LinkKind::Usb { .. } => "a slower USB 3",
        LinkKind::CardBus { .. } | LinkKind::Named(_) => "a slower",
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::attachment::Link;

    use super::*;

    #[test]
    fn link_evidence_states_the_measured_speed_and_the_range_of_the_link() {
        let of = |bytes_per_s, link_use, device: Option<f64>| {
            let link = Link::usb(480.0, device).unwrap();
            let device_fastest = link.device_fastest.as_ref().map(|range| range.kind.clone());
            evidence_text(&DiagnosisEvidence::Link {
                bytes_per_s,
                link_use,
                link: link.range(),
                device_fastest,
            })
        };
        assert_eq!(
            of(36e6, LinkUse::Within, Some(5000.0)),
            "writes reach 36 MB/s, within the 30 MB/s to 42 MB/s that USB at 480 Mbit/s carries; the device supports USB at 5000 \
             Mbit/s"
        );
        assert!(of(26e6, LinkUse::Close, None).contains("26 MB/s, close to the 30 MB/s"));
        let commands = of(20e6, LinkUse::WithoutCommands, None);
        assert!(commands.contains("apart from the overhead of each command, the 30 MB/s"), "{commands}");
        assert!(commands.ends_with("no faster link is known for the device"), "{commands}");
    }

    #[test]
    fn driver_evidence_states_how_many_commands_a_request_needs() {
        let text = evidence_text(&DiagnosisEvidence::Driver {
            driver: "usb-storage".to_owned(),
            command_max: Bytes::kib(32),
            per_command_s: 5e-4,
            request: Bytes::mib(1),
            commands: 32.0,
        });
        assert!(
            text.contains("splits requests at 32 KiB") && text.ends_with("1 MiB needs 32 commands"),
            "{text}"
        );
    }
}
