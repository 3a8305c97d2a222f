//! Why an experiment ended early or could not start, in words.

use flashscope_record::finding::FindingId;
use flashscope_record::observation::{Refusal, Room, StopReason};

use crate::quantity::counted;
use crate::terms::finding_title;

/// What ended an experiment early.
#[must_use]
pub fn stop(reason: &StopReason) -> String {
    match reason {
        StopReason::Budget { limit } => format!("the budget allows no more: {limit}"),
        StopReason::Interrupted { rounds: None } => "interrupted".to_owned(),
        StopReason::Interrupted { rounds: Some(0) } => {
            "interrupted in the first round: no result is complete".to_owned()
        }
        StopReason::Interrupted { rounds: Some(rounds) } => {
            format!("interrupted after {}", counted(*rounds, "round"))
        }
        StopReason::RequestsFailed { number, last } => {
            format!("{number} requests failed one after another, the last: {last}")
        }
        StopReason::OthersWrite { left_out } => format!(
            "the filesystem or another program wrote to the device {} during the test",
            counted(u64::from(*left_out), "time")
        ),
        StopReason::Failed { error } => error.clone(),
        StopReason::LogInterrupted { row } => format!("interrupted after the row of {row}"),
        StopReason::LogCutShort { row, wanted } => {
            format!("the log ends at {row}; the command asked for rows down to {wanted}")
        }
        StopReason::Recorded(sentence) => sentence.clone(),
    }
}

/// Why an experiment could not start.
#[must_use]
pub fn refusal(reason: &Refusal) -> String {
    match reason {
        Refusal::ReadOnly => "the device was opened read-only, and this experiment writes".to_owned(),
        Refusal::TooSmall { capacity, room } => {
            format!("the device is too small: {capacity} do not hold {}", needed(*room))
        }
        Refusal::EraseBlockTooSmall { erase_block, least } => {
            format!("an erase block of {erase_block} is smaller than any known one ({least})")
        }
        Refusal::NoAdjacentBlocks => "no two erase blocks that may be written are adjacent".to_owned(),
        Refusal::NoBlocks => "it needs at least one erase block to write to".to_owned(),
        Refusal::InFile => "a file on a mounted filesystem does not reach the start of the device".to_owned(),
        Refusal::OffsetsUnknown => "where the file lies on the device is not known".to_owned(),
        Refusal::DependsOn { id: FindingId::OpenUnitsLinear } => {
            "the number of open blocks is unknown, so that no merge can be recognized".to_owned()
        }
        Refusal::DependsOn { id } => format!("the finding \"{}\" is not known", finding_title(*id)),
        Refusal::RequestOutOfRange { request, least, most } => {
            format!("requests of {request} are not possible here; they must lie between {least} and {most}")
        }
        Refusal::NotWhole { size, unit } => format!("{size} is no multiple of {unit}"),
        Refusal::Recorded(sentence) => sentence.clone(),
    }
}

fn needed(room: Room) -> String {
    match room {
        Room::Reads(size) => format!("a boundary between two reads of {size}"),
        Room::Requests(size) => format!("two requests of {size}"),
        Room::Samples(size) => format!("samples of {size}"),
        Room::EraseBlocks(size) => format!("two erase blocks of {size} that may be written"),
        Room::Bursts(size) => format!("bursts of {size}"),
        Room::Stream(size) => format!("a long stream of {size}"),
        Room::Blocks(number, size) => format!("{number} x {size}"),
        Room::End(end) => format!("writes up to {end}; use fewer open blocks"),
    }
}
