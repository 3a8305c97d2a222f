//! Unmodified flashbench on the block device of a served stick, compared with `measure`.

use std::process::{Command, Stdio};

use flashscope_device::Bytes;
use flashscope_flashbench::parse::parse;
use flashscope_record::observation::{AlignData, Data, OpenUnitsData};

use crate::support::served::{Served, has};
use crate::support::{flashscope, stderr, stdout};
use crate::turn;

/// Runs flashbench on a disk and parses its table.
fn flashbench(device: &str, arguments: &[&str]) -> Data {
    // Without `-o`, flashbench opens its standard input for writing.
    let mut command = Command::new("flashbench");
    command.arg("-o").arg("/dev/null").args(arguments).arg(device).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    data(&stdout(&output), arguments)
}

/// Runs flashbench's procedure with flashscope, and parses its table as that of `flashbench` with `theirs`.
fn measure(device: &str, arguments: &[&str], theirs: &[&str]) -> Data {
    let output = flashscope(&[&["measure"], arguments, &["--format", "flashbench", device]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    data(&stdout(&output), theirs)
}

/// Parses a table below its command, as in a log.
fn data(table: &str, arguments: &[&str]) -> Data {
    let log = format!("flashbench {}\n{table}", arguments.join(" "));
    let mut entries = parse(log.as_bytes(), "table").unwrap().entries;
    entries.remove(0).observations.data
}

/// The time that an erase-block boundary adds to a read (lower quartile), and a smaller boundary (upper
/// quartile), seconds.
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
    // The machine may delay some rows; quartiles ignore them.
    (at[at.len() / 4], below[below.len() * 3 / 4])
}

/// Fails if a served stick disagrees at all of these speeds. At half the speed, differences are twice as
/// long, but the machine's noise is not.
fn agrees_at_one_of(speeds: &[&str], stick: &str, objection: impl Fn(&Served) -> Option<String>) {
    let mut objections = Vec::new();
    for speed in speeds {
        let Some(served) = Served::start(&[stick, "--loop", "--speed", speed]) else { return };
        match objection(&served) {
            None => return,
            Some(messages) => objections.push(messages),
        }
    }
    assert_eq!(objections, Vec::<String>::new());
}

#[test]
fn flashbench_and_measure_find_the_erase_block() {
    let _turn = turn();
    if !has("flashbench") {
        return;
    }
    let theirs = ["--align", "--blocksize=1024"];
    let ours = ["align", "--block-size", "1KiB"];
    agrees_at_one_of(&["1", "0.5", "0.25"], "patriot-xt-16g?noise=0", |served| {
        let device = served.block_device();
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

/// Times of round-robin writes to `units` erase blocks: flashbench's and flashscope's.
fn both(served: &Served, units: u32) -> [Vec<f64>; 2] {
    let (device, yes) = (served.block_device(), served.yes());
    let (units, number) = (units.to_string(), format!("--open-au-nr={units}"));
    let theirs = ["--open-au", "--erasesize=1048576", "--blocksize=65536", &number];
    let ours = ["open-units", "--erase", &yes, "--erase-block", "1MiB", "--block-size", "64KiB"];
    let ours = [&ours[..], &["--open-units", &units]].concat();
    [times(&flashbench(device, &theirs)), times(&measure(device, &ours, &theirs))]
}

/// The times, if flashbench and flashscope disagree.
fn disagreement(served: &Served) -> Option<String> {
    let [[eight_theirs, eight_ours], [nine_theirs, nine_ours]] = [8, 9].map(|units| both(served, units));
    assert_eq!((eight_theirs.len(), eight_ours.len()), (5, 5), "1 MiB to 64 KiB");
    let ratio = median(eight_theirs.iter().zip(&eight_ours).map(|(theirs, ours)| ours / theirs).collect());
    // With nine units, the number of merges is random: both slow down, but not equally in each cell.
    let is_slow = |fits: &[f64], wall: &[f64]| wall[4] > 2.0 * fits[4];
    let agree = (0.9..1.1).contains(&ratio)
        && is_slow(&eight_theirs, &nine_theirs)
        && is_slow(&eight_ours, &nine_ours);
    (!agree).then(|| format!("{eight_theirs:?} {eight_ours:?} {nine_theirs:?} {nine_ours:?}"))
}

#[test]
fn flashbench_and_measure_slow_down_at_nine_open_units() {
    let _turn = turn();
    if !has("flashbench") {
        return;
    }
    agrees_at_one_of(&["4", "1", "0.5", "0.25"], "patriot-xt-16g?noise=0&erase_block=1MiB", disagreement);
}
