//! What would decide an unknown, in words.

use flashscope_record::finding::{FindingId, Measurement, Quantity, Sample, WouldDecide};

use crate::terms::finding_title;

/// Everything that would decide, joined by "or"; empty if nothing we can do.
#[must_use]
pub fn would_decide(would_decide: &[WouldDecide]) -> String {
    would_decide.iter().map(one).collect::<Vec<_>>().join(", or ")
}

fn one(would_decide: &WouldDecide) -> String {
    let text = match would_decide {
        WouldDecide::WriteTests => "write tests (--erase)",
        WouldDecide::Measure(measurement) => measure(*measurement),
        WouldDecide::More(sample) => return format!("more {}", samples(*sample)),
        WouldDecide::Larger(quantity) => larger(*quantity),
        WouldDecide::Smaller(quantity) => smaller(*quantity),
        WouldDecide::Finding(FindingId::EraseBlockBytes) => "the erase block (measure --erase-block)",
        WouldDecide::Finding(id) => return format!("the finding \"{}\"", finding_title(*id)),
        WouldDecide::Fill => "a fill of the device before reading",
        WouldDecide::QuieterMachine => "a quieter machine",
        WouldDecide::FasterPort => "a faster port or reader",
        WouldDecide::OtherPort => "the device at another port or reader, if it still answers there",
        WouldDecide::WholeDevice => "a check of the whole device (--scratch or --erase)",
        WouldDecide::WholeMeasurement => "the whole measurement, without an interruption",
        WouldDecide::Rest => "the same measurement after 10 minutes idle",
        WouldDecide::CoolDown => "the same measurement after the device cooled down",
        WouldDecide::RunningClock => {
            "the same measurement on another machine, as this one has no working clock"
        }
        WouldDecide::DeviceAlone => {
            "a measurement of the device itself, without a cache or program in between"
        }
        WouldDecide::TablesAgain => "new tables of one card in one state",
        WouldDecide::CompleteLog => "a complete log",
        WouldDecide::LogOfEachDevice => "a log of each device",
        WouldDecide::BlockCountOfLog => "the number of open blocks (flashbench --open-au-nr)",
        WouldDecide::LargerCommands => {
            "larger commands (/sys/block/NAME/device/max_sectors, or another port, reader or driver)"
        }
        WouldDecide::KnownLink => "a USB port, or a card reader whose speed the kernel knows",
        WouldDecide::RealStick => "the same on a stick",
        WouldDecide::OtherSeed => "another seed of the stick (seed=N) or less noise (noise=0)",
        WouldDecide::FasterVirtualLink => "a faster link of the stick (link=NAME)",
        WouldDecide::Recorded(sentence) => sentence,
    };
    text.to_owned()
}

const fn measure(measurement: Measurement) -> &'static str {
    match measurement {
        Measurement::BoundaryReads => "reads across boundaries (check, or measure align)",
        Measurement::WriteSizes
        | Measurement::RoundRobinWrites
        | Measurement::RandomWrites
        | Measurement::FirstBlocks => "write tests (--erase)",
        Measurement::LongStream => {
            "a long stream of writes (measure sustained, or check --erase --sustained)"
        }
        Measurement::Bursts => "bursts of writes after pauses (measure write-buffer, or check --sustained)",
    }
}

/// What there are too few of.
pub const fn samples(sample: Sample) -> &'static str {
    match sample {
        Sample::Measurements => "measurements",
        Sample::Reads => "reads across boundaries (check, or measure align)",
        Sample::Writes => "writes",
        Sample::WritesBeyond => "writes into one erase block too many",
        Sample::Rounds => "rounds",
        Sample::RepeatedBoundaries => "boundaries that were read twice",
        Sample::Boundaries => "boundaries",
        Sample::Candidates => "candidate sizes",
        Sample::Blocks => "erase blocks",
        Sample::FirstBlocks => "erase blocks at the start",
        Sample::Bursts => "bursts",
        Sample::StreamSamples => "samples",
        Sample::Tables => "tables, for more numbers of open blocks (flashbench --open-au)",
    }
}

const fn larger(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Device => "a larger device",
        Quantity::Budget => "a larger budget (--write-budget, --time-budget)",
        Quantity::EraseBlock => "a larger erase block (measure --erase-block)",
        Quantity::Requests => "larger requests",
        Quantity::Samples => "larger samples (--samples)",
        Quantity::BlockCount => "more open blocks",
        Quantity::Bursts => "longer bursts",
        Quantity::Pauses => "longer pauses",
        Quantity::Stream => "a longer stream (check --sustained, or larger budgets)",
    }
}

const fn smaller(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Device => "a smaller device",
        Quantity::Budget => "a smaller budget",
        Quantity::EraseBlock => "a smaller erase block (measure --erase-block)",
        Quantity::Requests => "smaller requests (--size)",
        Quantity::Samples => "smaller samples (--samples)",
        Quantity::BlockCount => "fewer open blocks",
        Quantity::Bursts => "shorter bursts",
        Quantity::Pauses => "shorter pauses",
        Quantity::Stream => "a shorter stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_joined_by_or_and_none_is_empty() {
        let both = [WouldDecide::WriteTests, WouldDecide::Fill];
        assert_eq!(would_decide(&both), "write tests (--erase), or a fill of the device before reading");
        assert_eq!(would_decide(&[]), "");
    }
}
