//! Run files, published logs, profiles and the names of virtual sticks.

use flashscope_record::run_file::RunFile;
use flashscope_sim::{Profile, VirtualStick};

use super::samples;
use crate::target::Target;

/// Names of virtual sticks with each kind of key.
const STICKS: [&str; 4] = [
    "generic-2g?seed=7&capacity=64MiB&erase_block=256KiB&page=4KiB&state=full",
    "patriot-xt-16g?open_units_linear=3&open_units_random=2&noise=0.5",
    "generic-2g?fault=unplug:after=5",
    "cheap-usb3-32g?capacity=1GiB",
];

pub fn targets() -> std::io::Result<Vec<Target>> {
    let profiles = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sim/profiles");
    let mut paths: Vec<_> = std::fs::read_dir(profiles)?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let profiles = paths.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    Ok(vec![
        Target::new("run file", samples("fuzz", ".json")?, run_file),
        Target::new(
            "flashbench log",
            [samples("published", ".txt")?, samples("import", ".txt")?].concat(),
            log,
        ),
        Target::new("output of other programs", other_programs()?, speeds),
        Target::new("profile", profiles, profile),
        Target::new("virtual stick", STICKS.map(|name| name.as_bytes().to_vec()).to_vec(), stick),
    ])
}

fn run_file(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    RunFile::parse(text).is_ok_and(|run| run.to_json().is_ok())
}

fn other_programs() -> std::io::Result<Vec<Vec<u8>>> {
    Ok([samples("other-programs", ".txt")?, samples("other-programs", ".json")?].concat())
}

fn speeds(input: &[u8]) -> bool {
    let text = String::from_utf8_lossy(input);
    let lines: Vec<&str> = text.lines().collect();
    flashscope_flashbench::speeds::read(&lines).is_ok_and(|speeds| speeds.is_some())
}

fn log(input: &[u8]) -> bool {
    flashscope_flashbench::parse::parse(input, "log.txt").is_ok()
}

/// Parses a profile, and builds the stick where it is small: its tables grow with its capacity.
fn profile(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    Profile::parse(text).is_ok()
}

/// Only the names of built-in profiles: a path would read files.
fn stick(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    let name = text.split('?').next().unwrap_or_default();
    if name.contains(['/', '.']) {
        return false;
    }
    let Ok(target) = flashscope_sim::Target::parse(text) else { return false };
    let _stick =
        (target.profile.capacity.get() <= 1 << 30).then(|| VirtualStick::new(&target.profile, target.seed));
    true
}
