//! `flashscope watch DISK --limit`: advice for the limit of the data that waits in memory for a disk.

use std::path::Path;

use anyhow::anyhow;
use flashscope_infer::activity::writeback_limit;
use flashscope_infer::classes_of;
use flashscope_linux::Disk;
use flashscope_linux::activity::WritebackLimits;
use flashscope_report::{printable, wrapped};

use super::session::{Session, Waited};
use crate::args::Watch;
use crate::document::{SpeedSource, WritebackLimitDocument, WritebackScope};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::roots::roots;
use crate::{duration, input};

/// The file of the udev rule.
const RULE_FILE: &str = "/etc/udev/rules.d/90-flashscope-writeback.rules";
/// The file of the global limit.
const SYSCTL_FILE: &str = "/etc/sysctl.d/90-flashscope-writeback.conf";

/// Prints the advice.
///
/// # Errors
/// Exit code 2 if the disk was not busy with writes in the interval, or the run file holds no sequential
/// writes.
pub fn run(arguments: &Watch, session: &mut Session, printer: &Printer) -> Result<Exit, Failure> {
    let usage = |text: String| Failure { exit: Exit::Usage, error: anyhow!(text) };
    let (bytes_per_s, source) = match &arguments.run {
        Some(file) => (of_run(file)?, SpeedSource::RunFile),
        None => {
            printer.remark(format!("watching for {}", duration::exact(arguments.interval)));
            if session.wait()? == Waited::Ended {
                return Ok(Exit::Interrupted);
            }
            let activity = session.watched.first().and_then(|one| one.activity.as_ref());
            let interval = activity.map(|activity| &activity.interval);
            let shown = interval.filter(|interval| interval.shows_write_throughput());
            (shown.map_or(0.0, |interval| interval.written.bytes_per_s), SpeedSource::Watched)
        }
    };
    let Some(one) = session.watched.first() else { return Ok(Exit::Failed) };
    if bytes_per_s <= 0.0 {
        return Err(usage(format!(
            "{} was not busy with writes, so its speed did not show: start a copy first, or name a run file with its speed: \
             --run FILE.json",
            one.disk.path.display()
        )));
    }
    let limits = WritebackLimits::read(&one.disk, &roots(&arguments.source)?);
    let advice = advice(&one.disk, &limits, bytes_per_s, source);
    if printer.json {
        printer.document(&advice)?;
    } else {
        printer.result(&text(&advice, printer.width()))?;
    }
    Ok(Exit::Fine)
}

/// The sequential write speed of a run, its slow units included.
fn of_run(file: &Path) -> Result<f64, Failure> {
    let units = classes_of(&input::run_file(file)?).units;
    units.map(|units| units.mean()).ok_or_else(|| {
        let file = file.display();
        let error =
            anyhow!("{file} holds no sequential writes; measure them with check --scratch or bench write");
        Failure { exit: Exit::Usage, error }
    })
}

/// The advice for this disk and speed.
pub fn advice(
    disk: &Disk,
    limits: &WritebackLimits,
    bytes_per_s: f64,
    source: SpeedSource,
) -> WritebackLimitDocument {
    let limit = writeback_limit(bytes_per_s).get();
    let seconds = |bytes: u64| bytes as f64 / bytes_per_s;
    let lowered = match &limits.disk {
        Some(own) if own.is_strict => Some(own.bytes_max.get()),
        _ => limits.global.map(flashscope_device::Bytes::get),
    };
    let is_own = limits.disk.is_some();
    let (file, lines, undo) = match &limits.disk {
        Some(own) => (RULE_FILE, rule(disk, limit), undo_rule(&own.number)),
        None => (SYSCTL_FILE, sysctl(limit), undo_sysctl(limits)),
    };
    WritebackLimitDocument {
        path: disk.path.display().to_string(),
        bytes_per_s,
        speed_source: source,
        scope: if is_own { WritebackScope::Disk } else { WritebackScope::AllDisks },
        bytes_now: lowered,
        seconds_now: lowered.map(seconds),
        bytes_max: limit,
        seconds_max: seconds(limit),
        file: file.to_owned(),
        lines,
        undo,
    }
}

/// The rule that sets the limit each time the disk is plugged in. It names the stick by its USB ids, and by
/// its serial number if that has no character with a meaning in rules.
fn rule(disk: &Disk, limit: u64) -> Vec<String> {
    let is_plain = |text: &&str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let of_card = || {
        let card = disk.card.as_ref()?.identification.as_ref()?;
        Some(format!("SUBSYSTEMS==\"mmc\", ATTRS{{serial}}==\"{:#010x}\"", card.serial))
    };
    let of_usb = || {
        let usb = disk.usb.as_ref()?;
        let serial = disk.serial.as_deref().filter(is_plain);
        let serial = serial.map_or_else(String::new, |serial| format!(", ATTRS{{serial}}==\"{serial}\""));
        Some(format!(
            "ATTRS{{idVendor}}==\"{:04x}\", ATTRS{{idProduct}}==\"{:04x}\"{serial}",
            usb.vendor_id, usb.product_id
        ))
    };
    let device = of_card().or_else(of_usb).unwrap_or_else(|| format!("KERNEL==\"{}\"", disk.name));
    vec![format!(
        "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", {device}, \
         ATTR{{bdi/max_bytes}}=\"{limit}\", ATTR{{bdi/strict_limit}}=\"1\""
    )]
}

/// A full ratio is the kernel's default (mm/backing-dev.c).
fn undo_rule(number: &str) -> Vec<String> {
    vec![
        format!("sudo rm {RULE_FILE} && sudo udevadm control --reload"),
        format!("echo 0 | sudo tee /sys/class/bdi/{number}/strict_limit"),
        format!("echo 100 | sudo tee /sys/class/bdi/{number}/max_ratio"),
    ]
}

/// The kernel starts writing at a quarter, so that programs seldom stop. Guess.
fn sysctl(limit: u64) -> Vec<String> {
    vec![format!("vm.dirty_bytes = {limit}"), format!("vm.dirty_background_bytes = {}", limit / 4)]
}

/// The values as they are now; one of bytes excludes one of per cent.
fn undo_sysctl(limits: &WritebackLimits) -> Vec<String> {
    let names = ["vm.dirty", "vm.dirty_background"];
    let values = names.iter().zip(limits.ratios).zip(limits.bytes).map(|((name, ratio), bytes)| {
        if bytes.is_zero() {
            format!("{name}_ratio={ratio}")
        } else {
            format!("{name}_bytes={}", bytes.get())
        }
    });
    let values: Vec<String> = values.collect();
    vec![format!("sudo rm {SYSCTL_FILE} && sudo sysctl {}", values.join(" "))]
}

/// The advice as text. The lines to paste are never wrapped.
fn text(advice: &WritebackLimitDocument, width: usize) -> String {
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    let speed = advice.bytes_per_s / 1e6;
    let source = match advice.speed_source {
        SpeedSource::RunFile => "measured in the run file",
        SpeedSource::Watched => "watched just now",
    };
    let now = match (advice.bytes_now, advice.seconds_now) {
        (Some(bytes), Some(seconds)) => {
            format!("Now up to {} may wait in memory: {seconds:.0} s until it is safe to unplug.", mib(bytes))
        }
        _ => "How much may wait in memory now cannot be read.".to_owned(),
    };
    let limited = format!(
        "With a limit of {} it is at most about {:.0} s; programs that write then wait for the stick instead.",
        mib(advice.bytes_max),
        advice.seconds_max
    );
    let scope = match advice.scope {
        WritebackScope::Disk => format!(
            "The limit is that of this disk alone (the kernel keeps it about). Put into {}:",
            advice.file
        ),
        WritebackScope::AllDisks => format!(
            "This kernel has no limit for one disk (Linux 6.2 has). The limit below is that of all disks, the internal one as well, and may slow it. Put into {}:",
            advice.file
        ),
    };
    let load = match advice.scope {
        WritebackScope::Disk => "Then: sudo udevadm control --reload; plug the stick in again.".to_owned(),
        WritebackScope::AllDisks => format!("Then: sudo sysctl -p {}", advice.file),
    };
    let path = printable(&advice.path);
    let intro = format!("{path} writes {speed:.1} MB/s ({source}). {now} {limited}");
    let mut lines = wrapped(&intro, width);
    lines.extend(wrapped(&scope, width));
    lines.extend(advice.lines.iter().map(|line| format!("\n  {}", printable(line))));
    lines.push(format!("\n{load}\nTo take it back:"));
    lines.extend(advice.undo.iter().map(|line| format!("  {line}")));
    lines.join("\n") + "\n"
}
