//! Actions in words: what to do, the command to paste, the gain, and what it costs.

use flashscope_device::Bytes;
use flashscope_device::layer::Limit;
use flashscope_layout::filesystem::FilesystemKind;
use flashscope_layout::steps::quoted_path;
use flashscope_layout::{Purpose, keeping};
use flashscope_record::diagnosis::Gain;
use flashscope_record::observation::{Ended, StopReason, is_in_file};
use flashscope_record::run_file::RunFile;
use flashscope_record::verdict::{Action, ActionKind, GainScope};

use super::cut_short::{CutShort, cut_short};
use crate::Report;
use crate::commands::{plan_and_apply, use_true_size};
use crate::words::diagnosis::slow_cause_text;

/// An action in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionText {
    /// The gain: `2.1x (1.9 to 2.4)`; empty without one.
    pub gain: String,
    /// What to do, and what it costs or risks.
    pub text: String,
    /// The commands to paste; empty if there is none.
    pub commands: Vec<String>,
}

/// An action in words.
pub fn text(action: &Action, report: &Report<'_>) -> ActionText {
    let scope = match action.scope {
        GainScope::Everyday => "",
        GainScope::SmallFiles => ", small files",
    };
    ActionText {
        gain: action.gain.map_or_else(String::new, |gain| format!("{}{scope}", gain_text(gain))),
        text: crate::printable(&what(action.kind, report)),
        commands: commands(action.kind, report).iter().map(|command| crate::printable(command)).collect(),
    }
}

/// `2.1x (1.9 to 2.4)`.
fn gain_text(gain: Gain) -> String {
    let number = |ratio: f64| if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") };
    format!("{}x ({} to {})", number(gain.likely), number(gain.low), number(gain.high))
}

fn what(kind: ActionKind, report: &Report<'_>) -> String {
    let noun = report.noun();
    match kind {
        ActionKind::UseTrueSize(size) => {
            format!("return it; or use only the first {size}, which it stores (erases it)")
        }
        ActionKind::Return => "return it: what it stores is too little to be of use".to_owned(),
        ActionKind::VerifyCapacity => format!("find out what this {noun} really stores"),
        ActionKind::BackUp => format!("copy the data off this {noun} now"),
        ActionKind::KeepNoData => format!("keep no data on this {noun} that you have nowhere else"),
        ActionKind::FasterPort => {
            let link = report.run.attachment.link.as_ref();
            let cause = link
                .and_then(|link| link.slow_cause.as_ref().map(|cause| slow_cause_text(cause, &link.kind)));
            match cause {
                Some(cause) => format!("plug it into a faster port: {cause}"),
                None => "plug it into a faster port".to_owned(),
            }
        }
        ActionKind::FasterReader => "use a faster card reader".to_owned(),
        ActionKind::LargerCommands => "let the kernel send larger commands, until it is unplugged".to_owned(),
        ActionKind::Realign => format!("align partition and filesystem; erases the {noun}, undo restores it"),
        ActionKind::UseExt4 => {
            format!("format it with ext4, for Linux only (predicted); erases the {noun}, undo restores it")
        }
        ActionKind::Archive => "copy folders of small files as one archive".to_owned(),
        ActionKind::RestBetweenCopies(cache) => {
            format!("keep each copy below {cache}, and pause between copies")
        }
        ActionKind::NameStick => "name the stick or card itself; this shows what is plugged in".to_owned(),
        ActionKind::MeasureWrites if wrote(report) => match cut_short(report.run) {
            Some(CutShort::Budget) => {
                "repeat the check with a larger budget, to measure small writes as well"
            }
            Some(CutShort::Interrupt | CutShort::Device) => {
                "repeat the check to its end, to measure small writes as well"
            }
            None if is_in_file(&report.run.observations) => {
                "unmount it and measure it as a whole; all data is put back at the end"
            }
            None if report.run.is_of_a_virtual_stick() => "measure small writes as well",
            None => "measure small writes as well; all data is put back at the end",
        }
        .to_owned(),
        ActionKind::MeasureWrites if mount_point(report).is_some() => {
            "measure writing, in a file of its own; nothing is erased".to_owned()
        }
        ActionKind::MeasureWrites if report.run.is_of_a_virtual_stick() => "measure writing".to_owned(),
        ActionKind::MeasureWrites => "measure writing; all data is put back at the end".to_owned(),
        ActionKind::MeasureLongStream => "measure a long stream of writes, which takes minutes".to_owned(),
    }
}

fn commands(kind: ActionKind, report: &Report<'_>) -> Vec<String> {
    let run = report.run;
    let target = quoted_path(&run.target);
    let is_in_file = is_in_file(&run.observations);
    let sudo = if run.target.starts_with("/dev/") { "sudo " } else { "" };
    match kind {
        ActionKind::UseTrueSize(size) => use_true_size(&run.target, size),
        ActionKind::VerifyCapacity => vec![format!("{sudo}flashscope verify {target} --scratch")],
        ActionKind::Return
        | ActionKind::BackUp
        | ActionKind::KeepNoData
        | ActionKind::FasterPort
        | ActionKind::FasterReader
        | ActionKind::RestBetweenCopies(_) => Vec::new(),
        ActionKind::LargerCommands => kernel_name(&run.target)
            .map(|name| format!("echo 2048 | sudo tee /sys/block/{name}/device/max_sectors"))
            .into_iter()
            .collect(),
        ActionKind::Realign | ActionKind::UseExt4 => {
            let (purpose, filesystem) = match kind {
                ActionKind::Realign => keeping_its_filesystem(run),
                _ => (Purpose::LinuxData, None),
            };
            let filesystem = filesystem.map_or_else(String::new, |kind| format!(" --fs {kind}"));
            let disk = if is_in_file { "/dev/sdX" } else { run.target.as_str() };
            plan_and_apply(disk, &format!("--for {purpose}{filesystem}"))
        }
        ActionKind::Archive => vec!["tar --create --file /media/STICK/folder.tar folder/".to_owned()],
        ActionKind::NameStick => vec!["flashscope list".to_owned()],
        ActionKind::MeasureWrites if is_in_file && cut_short(run).is_none() => {
            vec!["sudo flashscope check /dev/sdX --scratch".to_owned()]
        }
        ActionKind::MeasureWrites if is_in_file || run.is_of_a_virtual_stick() => {
            vec![format!("flashscope check {target}{}", larger_budget(run))]
        }
        ActionKind::MeasureWrites => vec![match mount_point(report) {
            Some(path) if !wrote(report) => format!("flashscope check {}", quoted_path(path)),
            _ => format!("{sudo}flashscope check {target} --scratch{}", larger_budget(run)),
        }],
        ActionKind::MeasureLongStream if is_in_file => vec![format!("flashscope bench sustained {target}")],
        ActionKind::MeasureLongStream if run.is_of_a_virtual_stick() => {
            vec![format!("flashscope check {target} --sustained")]
        }
        ActionKind::MeasureLongStream => {
            vec![format!("{sudo}flashscope check {target} --erase --sustained")]
        }
    }
}

/// The option for twice the bytes that were allowed, if the run's limit may be the usual one: without it, the
/// same command ends where this run did.
fn larger_budget(run: &RunFile) -> String {
    let limit = run.observations.iter().find_map(|seen| match seen.ended {
        Ended::Early { reason: StopReason::Budget { limit: Limit::Written { limit, .. } }, .. } => {
            Some(limit)
        }
        _ => None,
    });
    let larger =
        limit.filter(|limit| *limit >= USUAL_LIMIT_MIN).map(|limit| (limit * 2).round_up(Bytes::gib(1)));
    larger.map_or_else(String::new, |larger| format!(" --write-budget {}GiB", larger / Bytes::gib(1)))
}

/// A limit from this size on may be the usual one, 2 GiB. A smaller one was given, and the usual one
/// suffices.
const USUAL_LIMIT_MIN: Bytes = Bytes::gib(2);

/// What to ask of `plan`, if the filesystem stays what it is.
fn keeping_its_filesystem(run: &RunFile) -> (Purpose, Option<FilesystemKind>) {
    let largest = run.attachment.largest_volume();
    let filesystem = largest.and_then(|volume| volume.filesystem.as_deref()).unwrap_or_default();
    keeping(filesystem, run.announced_capacity().unwrap_or_default())
}

/// Whether the tests wrote to the device.
const fn wrote(report: &Report<'_>) -> bool {
    !report.run.cost.bytes_written.is_zero()
}

/// Where a volume of the device is mounted for writing.
fn mount_point<'a>(report: &'a Report<'_>) -> Option<&'a str> {
    report.run.attachment.volumes.iter().find_map(|volume| volume.mount_point.as_deref())
}

/// The kernel's name of a disk: `sdb` of `/dev/sdb1`.
fn kernel_name(target: &str) -> Option<&str> {
    let name = target.strip_prefix("/dev/")?;
    let is_sd = name.starts_with("sd") && name.chars().all(|c| c.is_ascii_alphanumeric());
    is_sd.then(|| name.trim_end_matches(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use flashscope_record::attachment::Volume;
    use flashscope_record::observation::{Cause, Conditions, Data, Observations, Source, SustainedData};

    use super::*;

    #[test]
    fn writes_are_measured_in_the_mounted_directory_unless_that_was_done() {
        let empty = r#"{"format": 2, "flashscope": "0", "target": "/dev/sdb", "observations": []}"#;
        let mut run = RunFile::parse(empty).unwrap();
        let command = |run: &RunFile| commands(ActionKind::MeasureWrites, &Report::new(run, &[])).join("");
        let scratch = "sudo flashscope check /dev/sdb --scratch";
        assert_eq!(command(&run), scratch, "not mounted");
        run.attachment.volumes.push(Volume { mount_point: Some("/media/STICK".into()), ..Volume::default() });
        assert_eq!(command(&run), "flashscope check /media/STICK");
        run.cost.bytes_written = Bytes::mib(1);
        assert_eq!(command(&run), scratch, "it was written");
    }

    #[test]
    fn repeated_check_has_a_larger_budget_than_the_one_that_ended() {
        let of = |limit| {
            let empty = r#"{"format": 2, "flashscope": "0", "target": "t", "observations": []}"#;
            let mut run = RunFile::parse(empty).unwrap();
            let limit = Limit::Written { limit, left: Bytes::ZERO, write: Bytes::mib(1) };
            let ended = Ended::Early { reason: StopReason::Budget { limit }, cause: Cause::Budget };
            let source = Source::Measured;
            let conditions = Conditions { source, capacity: None, region: None, is_in_file: false, seed: 1 };
            let data = Data::Sustained(SustainedData::default());
            run.observations.push(Observations { data, conditions, ended });
            larger_budget(&run)
        };
        assert_eq!(of(Bytes::ZERO), "", "the usual budget is larger");
        assert_eq!(of(Bytes::gib(2)), " --write-budget 4GiB");
        assert_eq!(of(Bytes::mib(2500)), " --write-budget 5GiB");
    }

    #[test]
    fn gains_below_ten_have_one_decimal_and_larger_ones_none() {
        let text = |likely: f64| gain_text(Gain { low: 1.96, likely, high: 12.4 });
        let ends = "(2.0 to 12)";
        let expected = ["2.1x", "9.9x", "10x", "10x"].map(|gain| format!("{gain} {ends}"));
        assert_eq!([2.14, 9.94, 9.95, 10.4].map(text), expected);
    }
}
