//! A new recording beside those that the program already has: its bytes, and its time on one virtual stick.

use std::path::Path;

use anyhow::{anyhow, bail};
use flashscope_device::{Bytes, Pattern};
use flashscope_infer::statistics::median;
use flashscope_infer::trials::REPLAY_ERROR;
use flashscope_record::TrialOperation;
use flashscope_recording::{Choice, Fit, Place, Recording, Recordings, Wish, choose, try_out};
use flashscope_sim::target::Target;

use super::split;

/// The virtual stick of the times. It has room for a recording of 1888 MiB, and merges for scattered writes.
const STICK: &str = "generic-2g";

/// What one recording moves over the link, and its time on [`STICK`].
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cost {
    operation: TrialOperation,
    bytes: Bytes,
    seconds: f64,
}

/// A line for each direction of the round of `new`, which is in `folder`.
pub fn lines(folder: &Path, new: &Recording) -> anyhow::Result<Vec<String>> {
    compared(&Recordings::in_folder(folder)?, new, &Recordings::embedded()?)
}

/// Compares the round of `new`, which is one of `made`, with all of `kept` that have its conditions.
fn compared(made: &Recordings, new: &Recording, kept: &Recordings) -> anyhow::Result<Vec<String>> {
    let own = costs(made, new, |other| other.round == new.round)?;
    if own.is_empty() {
        bail!("{STICK} has no room for {} of {}", new.file, new.capacity);
    }
    let kept = costs(kept, new, |_| true)?;
    Ok(own.iter().map(|own| sentence(own, &kept)).collect())
}

/// The costs of the recordings with the conditions of `like` in those rounds that are wanted.
fn costs(
    recordings: &Recordings,
    like: &Recording,
    is_wanted: impl Fn(&Recording) -> bool,
) -> anyhow::Result<Vec<Cost>> {
    let target = Target::parse(STICK)?;
    let start = Bytes::mib(1).round_up(target.profile.ftl.erase_block);
    let fit = Fit {
        erase_block: like.erase_block.unwrap_or(target.profile.ftl.erase_block),
        request_max: like.request_max,
        room: target.profile.capacity.saturating_sub(start),
    };
    // A choice prefers other conditions if they fit the stick better.
    let alike = recordings.list().iter().filter(|other| other.has_conditions_of(like));
    let alike: Vec<Recording> = alike.cloned().collect();
    let wish = Wish { variants: vec![like.variant.clone()], workloads: vec![like.workload], rounds: None };
    let mut costs = Vec::new();
    for choice in choose(&alike, &wish, &fit) {
        if is_wanted(choice.write) {
            costs.extend(costs_of_round(recordings, &choice, &target, start)?);
        }
    }
    Ok(costs)
}

/// The costs of a write, and of the read behind it, on a fresh stick.
fn costs_of_round(
    recordings: &Recordings,
    choice: &Choice<'_>,
    target: &Target,
    start: Bytes,
) -> anyhow::Result<Vec<Cost>> {
    let seed = choice.stick_seed(target.seed);
    let mut stick = Target { seed, ..target.clone() }.device()?;
    let queue_depth = target.profile.link.timing().queue_depth;
    let place = Place { start, queue_depth, pattern: Pattern::new(seed) };
    let attempts = try_out(recordings, choice, &mut stick, place)?;
    let pair = [Some(choice.write), choice.read].into_iter().flatten();
    pair.zip(attempts)
        .map(|(recording, attempt)| {
            let trial =
                attempt.trial.map_err(|failure| anyhow!("{}: {:?}", recording.file, failure.reason))?;
            let bytes = split::bytes(&recordings.requests(recording)?, split::kind(trial.operation));
            Ok(Cost { operation: trial.operation, bytes, seconds: trial.seconds })
        })
        .collect()
}

/// The bytes compared with the median of those kept, and the time with their range. The range is widened by
/// the known error of a replay.
fn sentence(own: &Cost, kept: &[Cost]) -> String {
    let kept: Vec<&Cost> = kept.iter().filter(|other| other.operation == own.operation).collect();
    let name = own.operation.name();
    let bytes: Vec<f64> = kept.iter().map(|other| other.bytes.as_f64()).collect();
    let seconds = || kept.iter().map(|other| other.seconds);
    let (Some(usual), Some(shortest), Some(longest)) =
        (median(&bytes), seconds().reduce(f64::min), seconds().reduce(f64::max))
    else {
        return format!("{name}: the program has no recording with these conditions to compare");
    };
    let place = if own.seconds < shortest / (1.0 + REPLAY_ERROR) {
        "below"
    } else if own.seconds > longest * (1.0 + REPLAY_ERROR) {
        "above"
    } else {
        "within"
    };
    format!(
        "{name}: bytes {:+.2} % against the median of {} kept; on {STICK} {:.2} s, {place} their {shortest:.2} to \
         {longest:.2} s",
        (own.bytes.as_f64() / usual - 1.0) * 100.0,
        kept.len(),
        own.seconds
    )
}

#[cfg(test)]
mod tests {
    use flashscope_record::{TrialWorkload, Writeback};
    use flashscope_recording::Index;

    use super::*;
    use crate::process::repository;

    const fn written(mib: u64, seconds: f64) -> Cost {
        Cost { operation: TrialOperation::Write, bytes: Bytes::mib(mib), seconds }
    }

    #[test]
    fn bytes_are_compared_with_the_median_and_the_time_with_the_range_of_those_kept() {
        let read = Cost { operation: TrialOperation::Read, ..written(1, 1.0) };
        let kept = [written(100, 10.0), written(104, 12.0), written(98, 11.0), read];
        let said = |mib, seconds| sentence(&written(mib, seconds), &kept);
        assert_eq!(
            said(101, 11.5),
            "write: bytes +1.00 % against the median of 3 kept; on generic-2g 11.50 s, within their 10.00 to 12.00 s"
        );
        // 0.7 % is the error of a replay.
        assert!(said(100, 12.08).contains(" within ") && said(100, 12.1).contains(" above "));
        assert!(said(100, 9.94).contains(" within ") && said(100, 9.9).contains(" below "));
        assert!(said(50, 10.0).contains("-50.00 %"));
        assert!(sentence(&written(1, 1.0), &[read]).contains("no recording with these conditions"));
    }

    /// A new recording may be in the folder of those kept, and differ in the memory of the host only.
    #[test]
    fn a_recording_is_found_beside_the_same_of_another_host() {
        let kept = Recordings::embedded().unwrap();
        let is_first = |each: &&Recording| each.file.starts_with("ext4_small_") && each.round == 1;
        let first = kept.list().iter().filter(is_first);
        let is_late = |each: &&Recording| each.writeback == Writeback::Late;
        let mut recording: Vec<Recording> = first.filter(is_late).cloned().collect();
        let other_host = |each: &Recording| Recording {
            file: format!("512m_{}", each.file),
            memory: Bytes::mib(512),
            ..each.clone()
        };
        recording.extend(recording.iter().map(other_host).collect::<Vec<_>>());
        let new = recording[2].clone();
        let folder = tempfile::tempdir().unwrap();
        for each in &recording {
            let from = repository().join("testdata/traces").join(each.file.trim_start_matches("512m_"));
            std::fs::copy(from, folder.path().join(&each.file)).unwrap();
        }
        let index = toml::to_string(&Index { recording }).unwrap();
        std::fs::write(folder.path().join("recordings.toml"), index).unwrap();
        let lines = lines(folder.path(), &new).unwrap();
        let none = "the program has no recording with these conditions to compare";
        assert_eq!(lines, [format!("write: {none}"), format!("read: {none}")]);
    }

    #[test]
    fn each_round_of_small_files_on_vfat_is_like_the_others() {
        let kept = Recordings::embedded().unwrap();
        let of = |writeback| {
            let is_same = move |each: &&Recording| {
                (each.variant.as_str(), each.workload, each.writeback)
                    == ("vfat", TrialWorkload::Small, writeback)
                    && each.operation == TrialOperation::Write
            };
            kept.list().iter().filter(is_same)
        };
        assert!(of(Writeback::Late).count() > 1);
        for new in of(Writeback::Late) {
            let lines = compared(&kept, new, &kept).unwrap();
            assert_eq!(lines.len(), 2, "a write and a read");
            for line in lines {
                let percent: f64 = line.split_whitespace().nth(2).unwrap().parse().unwrap();
                assert!(percent.abs() < 1.0 && line.contains(" within "), "{line}");
            }
        }
        let early = of(Writeback::Early).next().unwrap();
        let other_host = Recording { memory: Bytes::mib(512), ..early.clone() };
        assert!(compared(&kept, &other_host, &kept).is_err(), "no recording has these conditions");
    }
}
