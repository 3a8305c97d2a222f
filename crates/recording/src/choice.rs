//! Chooses the recordings that fit a stick and a wish.

use std::collections::BTreeMap;

use flashscope_device::Bytes;
use flashscope_record::{TrialOperation, TrialWorkload, Writeback};

use crate::index::Recording;

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// The filesystems with their options; empty: all.
    pub variants: Vec<String>,
    /// The workloads; empty: all.
    pub workloads: Vec<TrialWorkload>,
    /// The most rounds of each; none: all.
    pub rounds: Option<u32>,
}

/// What the recordings have to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// The erase block of the stick.
    pub erase_block: Bytes,
    /// The largest request that the host sends to it.
    pub request_max: Bytes,
    /// The space for the filesystem.
    pub room: Bytes,
}

/// The recordings of one round: the files are written, then read.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// The requests that write the files.
    pub write: &'a Recording,
    /// The requests that read them back, if they were recorded.
    pub read: Option<&'a Recording>,
}

impl Choice<'_> {
    /// The seed of the fresh virtual stick that this round is replayed on; the first round has `first`.
    #[must_use]
    pub fn stick_seed(&self, first: u64) -> u64 {
        first.wrapping_add(u64::from(self.write.round) - 1)
    }
}

/// What makes a round.
type Round<'a> = (TrialWorkload, &'a str, Writeback, u32);

/// The recordings that were asked for and fit, by workload, filesystem, writeback and round. Where several
/// differ in conditions only, the one with the nearest erase block is taken, then that with the nearest
/// largest request.
#[must_use]
pub fn choose<'a>(recordings: &'a [Recording], wish: &Wish, fit: &Fit) -> Vec<Choice<'a>> {
    let asked = |recording: &&Recording| {
        (wish.variants.is_empty() || wish.variants.contains(&recording.variant))
            && (wish.workloads.is_empty() || wish.workloads.contains(&recording.workload))
            && wish.rounds.is_none_or(|rounds| recording.round <= rounds)
            && recording.capacity <= fit.room
    };
    let mut rounds: BTreeMap<Round<'_>, Vec<&Recording>> = BTreeMap::new();
    for recording in recordings.iter().filter(asked) {
        let key = (recording.workload, recording.variant.as_str(), recording.writeback, recording.round);
        rounds.entry(key).or_default().push(recording);
    }
    rounds.into_values().filter_map(|candidates| pair(&candidates, fit)).collect()
}

/// The write that fits best, and the read of the same conditions.
fn pair<'a>(candidates: &[&'a Recording], fit: &Fit) -> Option<Choice<'a>> {
    let of = |operation| candidates.iter().copied().filter(move |each| each.operation == operation);
    let write = of(TrialOperation::Write).min_by(|one, other| {
        let [one, other] = [one, other].map(|each| misfit(each, fit));
        one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.cmp(&other.2))
    })?;
    let is_same = |read: &&Recording| read.has_conditions_of(write);
    Some(Choice { write, read: of(TrialOperation::Read).find(is_same) })
}

/// How far erase block and largest request are from those of the stick, as logarithms; then the capacity, as
/// a larger filesystem is nearer to one that fills the stick.
fn misfit(recording: &Recording, fit: &Fit) -> (f64, f64, std::cmp::Reverse<Bytes>) {
    let distance = |one: Bytes, other: Bytes| (one.as_f64().max(1.0) / other.as_f64().max(1.0)).ln().abs();
    let erase_block = recording.erase_block.map_or(0.0, |erase_block| distance(erase_block, fit.erase_block));
    (erase_block, distance(recording.request_max, fit.request_max), std::cmp::Reverse(recording.capacity))
}
