//! Writing and checking files of test data, compared with f3.
//!
//! Both write new files of 1 GiB into the same folder and read them back. f3's throughput is the one that it
//! reports. Ours is the bytes divided by device time, from the first submission to the last completion, with
//! a flush. CPU time is user time only: it generates and checks the data, while the copy in the kernel is the
//! same for both.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern, ReadInto, Success};
use flashscope_linux::{Access, LinuxDevice, OpenOptions, open};
use nix::sys::resource::{UsageWho, getrusage};

use super::own::Own;
use super::peer::{ROUNDS, run_peer};
use super::row::{Row, Sample, per_request};

/// The size of f3's files (f3write).
const FILE: Bytes = Bytes::gib(1);

/// Our request size: small enough to stay in the second-level cache while the kernel copies it.
const REQUEST: Bytes = Bytes::kib(256);

/// Where to write, and the number of bytes.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Parent of the temporary folder for the files; the default is in memory
    #[arg(long, default_value = "/dev/shm")]
    dir: PathBuf,
    /// Bytes that each side writes: a multiple of 1 GiB, the size of f3's files
    #[arg(long, default_value = "1GiB")]
    size: Bytes,
}

/// The rows of writing and of reading.
pub fn run(arguments: &Arguments) -> Result<Vec<Row>> {
    let size = arguments.size;
    ensure!(!size.is_zero() && size.is_multiple_of(FILE), "--size must be a multiple of {FILE}, f3's file");
    run_peer(Command::new("f3write").arg("--version"), "f3")?;
    let folder = tempfile::Builder::new().prefix("versus-f3-").tempdir_in(&arguments.dir);
    let folder = folder.with_context(|| format!("cannot write to {}", arguments.dir.display()))?;
    ensure_space(folder.path(), size)?;
    let files = Files { folder: folder.path(), size };
    // One uncounted run of each side, so that no side allocates fresh memory in a counted run.
    let _ = (files.theirs()?, files.ours()?);
    let rounds = (0..ROUNDS).map(|_| Ok((files.theirs()?, files.ours()?))).collect::<Result<Vec<_>>>()?;
    let row = |work: &str, pick: fn(&Turn) -> Sample| {
        let (peer, ours): (Vec<_>, Vec<_>) =
            rounds.iter().map(|(theirs, ours)| (pick(theirs), pick(ours))).unzip();
        Row::of(format!("{work} {size}, bytes/s"), &ours, &peer)
    };
    Ok(vec![row("write", |turn| turn.write), row("read and check", |turn| turn.read)])
}

fn ensure_space(folder: &Path, size: Bytes) -> Result<()> {
    let filesystem = rustix::fs::statvfs(folder)?;
    let free = Bytes::new(filesystem.f_bavail.saturating_mul(filesystem.f_frsize));
    ensure!(free >= size, "{} has {free} free; {size} is needed", folder.display());
    Ok(())
}

/// The samples of one side in one turn.
struct Turn {
    write: Sample,
    read: Sample,
}

/// The files of both sides. Only one side's files exist at a time.
struct Files<'a> {
    folder: &'a Path,
    size: Bytes,
}

impl Files<'_> {
    fn theirs(&self) -> Result<Turn> {
        let write = self.program("f3write", "Average writing speed:")?;
        let read = self.program("f3read", "Average reading speed:")?;
        self.remove()?;
        Ok(Turn { write, read })
    }

    fn program(&self, name: &str, label: &str) -> Result<Sample> {
        let before = user_time(UsageWho::RUSAGE_CHILDREN)?;
        let mut command = Command::new(name);
        command.arg("--start-at=1").arg(format!("--end-at={}", self.size / FILE)).arg(self.folder);
        let output = run_peer(&mut command, "f3")?;
        let user = user_time(UsageWho::RUSAGE_CHILDREN)?.saturating_sub(before);
        let text = String::from_utf8_lossy(&output.stdout);
        let speed = text.lines().find_map(|line| line.trim().strip_prefix(label));
        let rate = speed.and_then(parse_speed).with_context(|| format!("{name} reported no speed"))?;
        Ok(self.sample(rate, user))
    }

    fn ours(&self) -> Result<Turn> {
        let path = self.folder.join("ours.img");
        File::create(&path)?.set_len(self.size.get())?;
        let consent = Own::at(&path);
        let options = OpenOptions { access: Access::Erase(&consent), ..OpenOptions::default() };
        let pattern = Pattern::new(3);
        let write = self.requests(open(&path, &options)?, |range| Op::write(range, pattern))?;
        let into = ReadInto::Check(pattern);
        let read = self.requests(open(&path, &OpenOptions::default())?, |range| Op::Read {
            range,
            into: into.clone(),
        })?;
        self.remove()?;
        Ok(Turn { write, read })
    }

    /// Sequential requests over the whole file, at queue depth 1.
    fn requests(&self, mut device: LinuxDevice, op: impl Fn(ByteRange) -> Op) -> Result<Sample> {
        let before = user_time(UsageWho::RUSAGE_SELF)?;
        let started_at = device.now();
        for index in 0..self.size / REQUEST {
            let range = ByteRange::new(REQUEST * index, REQUEST);
            if let Success::Wrong(report) = device.run(op(range))?.outcome? {
                bail!("the data read differs from the data written: {report:?}");
            }
        }
        device.run(Op::Flush)?.outcome?;
        let elapsed = device.now().since(started_at);
        let user = user_time(UsageWho::RUSAGE_SELF)?.saturating_sub(before);
        Ok(self.sample(self.size.as_f64() / elapsed.as_secs_f64(), user))
    }

    fn sample(&self, rate: f64, user: Duration) -> Sample {
        Sample { rate, cpu: per_request(user, self.size.as_f64()) }
    }

    fn remove(&self) -> Result<()> {
        for entry in fs::read_dir(self.folder)? {
            fs::remove_file(entry?.path())?;
        }
        Ok(())
    }
}

fn user_time(who: UsageWho) -> Result<Duration> {
    let time = getrusage(who)?.user_time();
    let (seconds, microseconds) = (u64::try_from(time.tv_sec())?, u64::try_from(time.tv_usec())?);
    Ok(Duration::from_secs(seconds) + Duration::from_micros(microseconds))
}

/// Parses `527.29 MB/s` as bytes per second. f3's units are powers of two: 2 097 152 sectors are 1.00 GB.
fn parse_speed(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let unit: Bytes = format!("1{}iB", unit.strip_suffix("B/s")?).parse().ok()?;
    Some(number.parse::<f64>().ok()? * unit.as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_of_f3_are_parsed_with_binary_units() {
        assert_eq!(parse_speed(" 512.00 MB/s"), Some(536_870_912.0));
        assert_eq!(parse_speed("1.50 GB/s"), Some(1_610_612_736.0));
        assert_eq!(parse_speed("Inf"), None);
    }
}
