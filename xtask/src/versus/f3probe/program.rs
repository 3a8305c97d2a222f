//! Runs f3probe on a served stick, and reads its verdict.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use flashscope_device::layer::{Budget, Cost, Meter};
use flashscope_device::{Device, SECTOR};
use flashscope_linux::serve::{ServeOptions, ServeSpeed, Serving};

use super::side::{Side, Verdict};

/// f3probe's reset method "none": the block device is no USB disk.
const RESET_NONE: &str = "--reset-type=2";

/// Serves `device` as a block device that replies immediately, and runs f3probe on it.
///
/// # Errors
/// If the stick cannot be served, or f3probe is missing or gives no verdict.
pub fn probe(device: Box<dyn Device + Send>) -> Result<Side> {
    let options = ServeOptions { mount: None, block_device: true, speed: ServeSpeed::Immediate };
    let serving = Serving::start(Meter::new(device, Budget::UNLIMITED), &options, || {})?;
    let path = serving.block_device().context("no block device is served")?;
    let text = run(path);
    let stopped = serving.stop();
    if let Some(failure) = stopped.failure {
        bail!("the served stick failed: {failure}");
    }
    let cost: Cost = stopped.device.context("the served stick is gone")?.cost();
    Ok(Side { verdict: parse(&text?)?, cost })
}

fn run(device: &Path) -> Result<String> {
    let mut command = Command::new("f3probe");
    command.args(["--destructive", "--time-ops", RESET_NONE]).arg(device).stdin(Stdio::null());
    let output = match command.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("f3probe is not installed; get it with: apt-get install f3")
        }
        output => output.context("cannot start f3probe")?,
    };
    // It exits with 100 and more for a counterfeit.
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        text.contains(" news: "),
        "f3probe ended with {}: {text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(text)
}

/// f3probe's verdict: `Good news`, or the kind of the counterfeit and the number of usable blocks.
fn parse(text: &str) -> Result<Verdict> {
    let blocks = |line: &str| line.split_once('(')?.1.split_once(" blocks)")?.0.parse::<u64>().ok();
    let usable = text.lines().find(|line| line.contains("*Usable* size:")).and_then(blocks);
    let usable = usable.context("f3probe reported no usable size")?;
    let bad = text.lines().find(|line| line.starts_with("Bad news:"));
    let kind = bad.map(|line| line.rsplit(' ').next().unwrap_or(line).to_owned());
    Ok(Verdict { kind, size: SECTOR * usable })
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;

    const GOOD: &str = "\
Good news: The device `/dev/loop0' is the real thing

Device geometry:
\t         *Usable* size: 2.00 GB (4194304 blocks)
\t        Announced size: 2.00 GB (4194304 blocks)
\t                Module: 2.00 GB (2^31 Bytes)
";
    const BAD: &str = "\
Bad news: The device `/dev/loop0' is a counterfeit of type limbo

Device geometry:
\t         *Usable* size: 512.00 MB (1048576 blocks)
\t        Announced size: 2.00 GB (4194304 blocks)
";

    #[test]
    fn verdicts_of_f3probe_are_parsed() {
        assert_eq!(parse(GOOD).unwrap(), Verdict { kind: None, size: Bytes::gib(2) });
        let fake = Verdict { kind: Some("limbo".to_owned()), size: Bytes::mib(512) };
        assert_eq!(parse(BAD).unwrap(), fake);
        assert!(parse("Good news: nothing more").is_err());
    }
}
