//! flashbench, unmodified, on a served stick's block device: it sees what the stick is, and what `measure` sees.

use std::process::{Command, Stdio};

use flashscope_device::Bytes;
use flashscope_flashbench::parse::parse;
use flashscope_record::observation::{AlignData, Data, OpenUnitsData};

use crate::support::served::{Served, has};
use crate::support::{flashscope, stderr, stdout};
use crate::turn;

/// Runs flashbench on a disk; what its table says.
fn flashbench(device: &str, arguments: &[&str]) -> Data {
    // `-o`, because without it flashbench opens its standard input for writing; what it is for is little of the output.
    let mut command = Command::new("flashbench");
    command.arg("-o").arg("/dev/null").args(arguments).arg(device).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    data(&stdout(&output), arguments)
}

/// Has flashscope run flashbench's procedure, as `flashbench` runs it with `theirs`; what its table says.
fn measure(device: &str, arguments: &[&str], theirs: &[&str]) -> Data {
    let output = flashscope(&[&["measure"], arguments, &["--format", "flashbench", device]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    data(&stdout(&output), theirs)
}

/// A table as a log has it, below its command.
fn data(table: &str, arguments: &[&str]) -> Data {
    let log = format!("flashbench {}\n{table}", arguments.join(" "));
    let mut entries = parse(log.as_bytes(), "table").unwrap().entries;
    entries.remove(0).observations.data
}

/// The least that a boundary of at least an erase block adds to a read, and the most that a smaller one adds, seconds.
fn step(data: &Data, erase_block: Bytes) -> (f64, f64) {
    let Data::Align(AlignData { samples, .. }) = data else { unreachable!("{data:?}") };
    let (at, below): (Vec<_>, Vec<_>) =
        samples.iter().partition(|sample| sample.candidate.is_multiple_of(erase_block));
    let differences = |samples: Vec<&_>| -> Vec<f64> {
        let mut all: Vec<f64> =
            samples.into_iter().map(flashscope_record::observation::AlignSample::difference).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let (at, below) = (differences(at), differences(below));
    // The machine may hold up a row; most of them tell.
    (at[at.len() / 4], below[below.len() * 3 / 4])
}

/// Whether, at one of these speeds, a served stick gives no reason to object. A busy machine can hold up any row: on a stick that
/// is half as fast, what differs takes twice as long, and what the machine adds does not.
fn at_one_of(speeds: &[&str], stick: &str, objection: impl Fn(&str) -> Option<String>) {
    let mut objections = Vec::new();
    for speed in speeds {
        let Some(served) = Served::start(&[stick, "--loop", "--speed", speed]) else { return };
        match objection(served.block_device()) {
            None => return,
            Some(said) => objections.push(said),
        }
    }
    assert_eq!(objections, Vec::<String>::new());
}

#[test]
fn flashbench_sees_the_erase_block_and_so_does_measure() {
    let _turn = turn();
    if !has("flashbench") {
        return;
    }
    let theirs = ["--align", "--blocksize=1024"];
    let ours = ["align", "--block-size", "1KiB"];
    at_one_of(&["1", "0.5", "0.25"], "patriot-xt-16g?noise=0", |device| {
        let tables = [flashbench(device, &theirs), measure(device, &ours, &theirs)];
        let steps = tables.map(|table| step(&table, Bytes::mib(8)));
        let is_faint = |(at, below): &(f64, f64)| *at <= below + 60e-6;
        steps.iter().any(is_faint).then(|| format!("s at 8 MiB and above, and below: {steps:?}"))
    });
}

/// The time of a request of each size, seconds; the largest size first.
fn times(data: &Data) -> Vec<f64> {
    let Data::OpenUnits(OpenUnitsData { cells, .. }) = data else { unreachable!("{data:?}") };
    cells.iter().map(|cell| cell.times.mean_seconds().unwrap()).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Times in `units` erase blocks in turn: flashbench's, and ours.
fn both(device: &str, units: u32) -> [Vec<f64>; 2] {
    let (units, number) = (units.to_string(), format!("--open-au-nr={units}"));
    let theirs = ["--open-au", "--erasesize=1048576", "--blocksize=65536", &number];
    let ours = ["open-units", "--erase", "--yes", "--erase-block", "1MiB", "--block-size", "64KiB"];
    let ours = [&ours[..], &["--open-units", &units]].concat();
    [times(&flashbench(device, &theirs)), times(&measure(device, &ours, &theirs))]
}

/// What they disagree about; `None` if nothing.
fn disagreement(device: &str) -> Option<String> {
    let [[fits_theirs, fits_ours], [wall_theirs, wall_ours]] = [8, 9].map(|units| both(device, units));
    assert_eq!((fits_theirs.len(), fits_ours.len()), (5, 5), "1 MiB to 64 KiB");
    let ratio = median(fits_theirs.iter().zip(&fits_ours).map(|(theirs, ours)| ours / theirs).collect());
    // With nine, chance decides how many of the writes pay a merge: the two agree on the wall, not on each cell.
    let is_wall = |fits: &[f64], wall: &[f64]| wall[4] > 2.0 * fits[4];
    let agree =
        (0.9..1.1).contains(&ratio) && is_wall(&fits_theirs, &wall_theirs) && is_wall(&fits_ours, &wall_ours);
    (!agree).then(|| format!("{fits_theirs:?} {fits_ours:?} {wall_theirs:?} {wall_ours:?}"))
}

#[test]
fn flashbench_runs_into_the_wall_at_nine_open_units_and_so_does_measure() {
    let _turn = turn();
    if !has("flashbench") {
        return;
    }
    at_one_of(&["4", "1", "0.5", "0.25"], "patriot-xt-16g?noise=0&erase_block=1MiB", disagreement);
}
