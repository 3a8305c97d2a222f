//! A fit ignores held-out cells, is reproducible to the byte, and its profile matches the log.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_flashbench::Command;
use flashscope_flashbench::parse::parse;
use flashscope_record::observation::{
    AlignData, AlignSample, Conditions, Data, Ended, Observations, OpenUnitsCell, OpenUnitsData, Order,
    Source, Times, WriteSizeCell, WriteSizeData,
};
use flashscope_record::run_file::RunFile;
use flashscope_sim::Profile;
use flashscope_sim::profile::Bus;
use flashscope_twin::{Fit, FitError, Key, Measured, Options, Side, Split, Table, fit, numbers_and_cells};

const README: &[u8] = include_bytes!("../../../testdata/published/readme-example-arnd.txt");
const TOSHIBA: &[u8] = include_bytes!("../../../testdata/published/olpc-toshiba-c4-4gb-B.txt");
const PQI: &[u8] = include_bytes!("../../../testdata/published/pqi-microsd-32gb-gentoo.txt");

fn measured(text: &[u8]) -> Measured {
    Measured::from_log("log", &parse(text, "log").unwrap(), text)
}

fn options(seed: u64) -> Options {
    Options { profile_name: "card".to_owned(), holdout: 0.5, seed }
}

fn fitted(text: &[u8]) -> Fit {
    fit(&measured(text), &options(1)).unwrap()
}

#[test]
fn same_log_and_seed_give_the_same_profile() {
    assert_eq!(fitted(README), fitted(README));
    let other = fit(&measured(README), &options(2)).unwrap();
    assert_ne!(fitted(README).toml, other.toml);
}

/// Every published log with enough cells, and the mean error of its fitted cells in each of three
/// holdouts, as a logarithm of the ratio: what the best round of the fit reaches, rounded up.
const LOGS: [(&str, [f64; 3]); 8] = [
    ("intel-600p-nvme-control", [0.0357, 0.0360, 0.0256]),
    ("olpc-high-perf-arnd", [0.1043, 0.1060, 0.0775]),
    ("olpc-toshiba-c4-4gb-B", [0.1097, 0.0261, 0.0867]),
    ("patriot-xporter-xt-boost-16gb", [0.0288, 0.0340, 0.0302]),
    ("pqi-microsd-32gb-gentoo", [0.0550, 0.0601, 0.0469]),
    ("readme-example-arnd", [0.0320, 0.0282, 0.0538]),
    ("samsung-1b-534d-johnlane", [0.0933, 0.0936, 0.1028]),
    ("sandisk-4gb-sdhc-simmonds", [0.0895, 0.0819, 0.0730]),
];
const HOLDOUTS: std::ops::Range<u64> = 1..4;

fn published(name: &str) -> Measured {
    let path = format!("{}/../../testdata/published/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    measured(&std::fs::read(path).unwrap())
}

/// Large changes, and small ones that an error bound does not hide.
#[test]
fn held_out_cells_do_not_change_the_profile() {
    for ((name, _), seed) in LOGS.iter().flat_map(|log| HOLDOUTS.map(move |seed| (log, seed))) {
        let original = published(name);
        let split = Split::new(&original, 0.5, seed);
        let fitted = fit(&original, &options(seed)).unwrap();
        for factors in [[3.0, 3.0], [1.1, 0.85]] {
            let mut changed = original.clone();
            let mut held_out = 0;
            for (index, table) in changed.tables.iter_mut().enumerate() {
                let cells = table.cells.iter_mut().enumerate();
                for (at, cell) in cells.filter(|(at, _)| split.is_held_out(index, *at)) {
                    cell.seconds *= factors[at % 2];
                    held_out += 1;
                }
            }
            assert!(held_out * 2 >= changed.cells().count());
            let refitted = fit(&changed, &options(seed)).unwrap();
            assert_eq!(refitted.toml, fitted.toml, "{name}");
            let errors = refitted.comparison.summary(true);
            assert!(factors[0] < 2.0 || errors.median > 0.3, "{name}: the errors include the held-out cells");
        }
    }
}

#[test]
fn fitted_cells_are_met_as_well_as_the_best_round_of_the_fit_does() {
    for (name, errors_max) in LOGS {
        let mean_error = |seed| {
            let cells = fit(&published(name), &options(seed)).unwrap().comparison.cells;
            let fitted: Vec<f64> = cells
                .iter()
                .filter(|cell| !cell.held_out)
                .map(|cell| (cell.simulated_s / cell.measured_s).ln().abs().min(0.5))
                .collect();
            fitted.iter().sum::<f64>() / fitted.len() as f64
        };
        for (seed, error_max) in HOLDOUTS.zip(errors_max) {
            let error = mean_error(seed);
            assert!(error <= error_max, "{name}, holdout {seed}: {error}");
        }
    }
}

#[test]
fn fitted_profile_parses_names_its_source_and_counts_its_numbers() {
    for text in [README, TOSHIBA, PQI] {
        let fitted = fitted(text);
        let profile = Profile::parse(&fitted.toml).unwrap();
        assert_eq!(profile, fitted.profile);
        assert!(profile.source[0].r#where.starts_with("http"), "{}", fitted.toml);
        assert_eq!(numbers_and_cells(&fitted.toml), Some((fitted.parameters, fitted.fitted_cells)));
        assert!(fitted.parameters * 5 <= fitted.fitted_cells, "{}", fitted.toml);
    }
}

#[test]
fn fitted_profiles_match_known_figures() {
    let readme = fitted(README).profile.truth();
    assert_eq!(readme.open_units_linear, Some(2));
    let pqi = fitted(PQI);
    assert!(pqi.comparison.summary(true).median < 0.07);
    assert!(pqi.toml.contains("[write]\nbasis = \"assumed\""), "a log of reads has no writes");
}

#[test]
fn bus_of_a_fitted_profile_carries_its_fastest_writes() {
    let mut log = measured(README);
    let bus = |log: &Measured| fit(log, &options(1)).unwrap().profile.link.bus;
    assert_eq!(bus(&log), Bus::SdHighSpeed);
    log.tables.iter_mut().flat_map(|table| &mut table.cells).for_each(|cell| cell.seconds /= 8.0);
    assert_eq!(bus(&log), Bus::SdSdr104);
}

#[test]
fn stick_of_a_log_without_a_capacity_holds_its_tables_and_its_boundaries() {
    let mut text = "$ flashbench -O --open-au-nr=64 --erasesize=$[8*1024*1024] \
                    --blocksize=$[512*1024] /dev/x\n"
        .to_owned();
    for (size, speed) in
        [("8MiB", "9.5M/s"), ("4MiB", "9.4M/s"), ("2MiB", "9.2M/s"), ("1MiB", "9M/s"), ("512KiB", "8.5M/s")]
    {
        text += &format!("{size} {speed}\n");
    }
    let everything = Options { holdout: 0.0, ..options(1) };
    let many = fit(&measured(text.as_bytes()), &everything).unwrap();
    assert_eq!(many.comparison.cells.len(), 5, "every row of 64 erase blocks is repeated");
    // Twelve erase blocks apart, from 16 MiB on.
    assert!(many.profile.capacity >= Bytes::mib(16) + Bytes::mib(8) * (12 * 63 + 1), "{}", many.toml);
    // Boundaries of up to 8 GiB were read on a card of 32 GB.
    let card = fitted(PQI).profile.capacity.get();
    assert!((31_000_000_000..32_500_000_000).contains(&card), "{card}");
}

#[test]
fn log_with_too_few_cells_is_refused() {
    let text = b"$ flashbench -O --open-au-nr=2 --erasesize=$[4*1024*1024] /dev/x\n4MiB 5M/s\n2MiB 4M/s\n";
    let error = fit(&measured(text), &options(1)).unwrap_err();
    assert!(matches!(error, FitError::TooFewCells { cells: 1, cells_min: 5, .. }), "{error}");
}

/// Anybody can write a log, with sizes of up to 64 bits.
#[test]
fn tables_of_too_many_or_too_large_erase_blocks_are_skipped() {
    let measured_by = |command: &str| {
        let rows = "8MiB 9M/s\n4MiB 9M/s\n2MiB 8M/s\n1MiB 8M/s\n512KiB 7M/s\n";
        measured(format!("$ flashbench {command} /dev/x\n{rows}").as_bytes())
    };
    let most = measured_by("--open-au --open-au-nr=256 --erasesize=8388608");
    assert!(most.remarks.is_empty(), "{:?}", most.remarks);
    let fitted = fit(&most, &Options { holdout: 0.0, ..options(1) }).unwrap();
    assert_eq!(fitted.fitted_cells, 5);
    for (command, why) in [
        (
            "--open-au --open-au-nr=257 --erasesize=8388608",
            "it writes to 257 erase blocks by turns, and the fit takes at most 256",
        ),
        (
            "--open-au --open-au-nr=2 --erasesize=1152921504606846976",
            "erase_block is 1048576 TiB; erase blocks have at most 1 TiB",
        ),
        (
            "--find-fat --fat-nr=1 --erasesize=1152921504606846976",
            "erase_block is 1048576 TiB; erase blocks have at most 1 TiB",
        ),
    ] {
        let skipped = measured_by(command);
        assert!(skipped.tables.is_empty());
        assert_eq!(skipped.remarks, [format!("the table at line 2 is skipped: {why}")], "{command}");
    }
}

#[test]
fn tables_of_too_many_erase_blocks_in_a_run_are_skipped() {
    let data = open_units(&[(Order::Linear, 256, &[5]), (Order::Linear, 257, &[5])]);
    let run = run(vec![data]);
    let measured = Measured::from_run("run", &run);
    assert_eq!(measured.tables.len(), 1);
    let why = "it writes to 257 erase blocks by turns, and the fit takes at most 256";
    assert_eq!(measured.remarks, [format!("a table is skipped: {why}")]);
}

#[test]
fn reads_at_boundaries_of_less_than_two_sectors_are_not_fitted() {
    let everything = Options { holdout: 0.0, ..options(1) };
    for (smallest, fitted_cells) in [(2048, 69), (1024, 69), (512, 66)] {
        let mut log = measured(PQI);
        for cell in log.tables.iter_mut().flat_map(|table| &mut table.cells) {
            if let Key::Read { candidate, .. } = &mut cell.key
                && *candidate == Bytes::kib(2)
            {
                *candidate = Bytes::new(smallest);
            }
        }
        assert_eq!(fit(&log, &everything).unwrap().fitted_cells, fitted_cells, "{smallest}");
    }
}

#[test]
fn tables_of_another_erase_block_are_not_fitted() {
    let mut two = measured(README);
    let alone = fit(&two, &options(1)).unwrap();
    let is_of_writes = |table: &&Table| matches!(table.command, Command::OpenUnits { .. });
    let mut other = two.tables.iter().find(is_of_writes).unwrap().clone();
    let Command::OpenUnits { erase_block, .. } = &mut other.command else { unreachable!() };
    *erase_block = Bytes::kib(512);
    two.tables.push(other);
    assert_eq!(fit(&two, &options(1)).unwrap().fitted_cells, alone.fitted_cells);
}

fn run(data: Vec<Data>) -> RunFile {
    let conditions =
        Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 1 };
    let observations = |data| Observations { data, conditions: conditions.clone(), ended: Ended::Complete };
    let text = r#"{"format": 2, "flashscope": "1", "target": "a", "observations": []}"#;
    RunFile { observations: data.into_iter().map(observations).collect(), ..RunFile::parse(text).unwrap() }
}

/// Every cell of a run: its key, and milliseconds.
fn milliseconds(data: Vec<Data>) -> Vec<(Key, f64)> {
    let measured = Measured::from_run("run", &run(data));
    measured.cells().map(|cell| (cell.key, (cell.seconds * 1e6).round() / 1e3)).collect()
}

fn open_units(cells: &[(Order, u32, &[u64])]) -> Data {
    let cell = |(order, units, milliseconds): &(Order, u32, &[u64])| {
        let times = milliseconds.iter().map(|each| Duration::from_millis(*each)).collect();
        OpenUnitsCell::round_robin((*order, *units, Bytes::kib(64)), Times::Each(times))
    };
    let cells = cells.iter().map(cell).collect();
    Data::OpenUnits(OpenUnitsData { erase_block: Bytes::mib(4), cells, ..OpenUnitsData::default() })
}

#[test]
fn writes_of_a_run_count_by_the_later_half_of_their_requests() {
    let key = |units| Key::OpenUnits { units, order: Order::Linear, request: Bytes::kib(64) };
    let cells: [(Order, u32, &[u64]); 2] =
        [(Order::Linear, 1, &[90, 4, 2, 6]), (Order::Linear, 3, &[7, 7, 7, 1, 2])];
    assert_eq!(milliseconds(vec![open_units(&cells)]), [(key(1), 4.0), (key(3), 3.333)]);
}

#[test]
fn random_writes_to_one_new_block_count_only_where_no_search_made_random_ones() {
    let cell = |kib| WriteSizeCell {
        order: Order::Random,
        request: Bytes::kib(kib),
        start: None,
        times: Times::Each(vec![Duration::from_millis(9); 2]),
    };
    let sizes = WriteSizeData { cells: vec![cell(64), cell(128)], ..WriteSizeData::default() };
    let counted = |search: Data| {
        let cells = milliseconds(vec![search, Data::WriteSize(sizes.clone())]);
        let is_single = |key: &Key| matches!(key, Key::OpenUnits { units: 1, order: Order::Random, .. });
        cells.iter().filter(|(key, _)| is_single(key)).count()
    };
    let linear: [(Order, u32, &[u64]); 2] = [(Order::Linear, 1, &[4, 4]), (Order::Linear, 3, &[5, 5])];
    assert_eq!(counted(open_units(&linear)), 2, "the only random writes");
    let random: [(Order, u32, &[u64]); 1] = [(Order::Random, 2, &[7, 7])];
    assert_eq!(counted(open_units(&random)), 0, "the rows of the search are longer");
}

#[test]
fn reads_of_a_run_count_by_the_fastest_at_each_boundary() {
    let sample = |candidate, boundary, across| AlignSample {
        candidate,
        boundary: Some(Bytes::mib(boundary)),
        before: Duration::from_millis(1),
        across: Duration::from_millis(across),
        after: Duration::from_millis(2),
    };
    let samples = vec![
        sample(Bytes::mib(4), 4, 30),
        sample(Bytes::mib(4), 4, 10),
        sample(Bytes::mib(4), 12, 20),
        sample(Bytes::kib(2), 1, 40),
        sample(Bytes::kib(1), 1, 50),
    ];
    let data = AlignData { read: Some(Bytes::kib(1)), samples, ..AlignData::default() };
    let times = |candidate, across| {
        let times = [(Side::Before, 1.0), (Side::Across, across), (Side::After, 2.0)];
        times.map(|(side, time)| (Key::Read { candidate, side }, time))
    };
    // A period of at least two reads.
    let expected = [times(Bytes::kib(2), 40.0), times(Bytes::mib(4), 15.0)].concat();
    assert_eq!(milliseconds(vec![Data::Align(data)]), expected);
}

/// As in a log: nothing is as fast as that, and no ratio to it can be fitted.
#[test]
fn times_of_zero_in_a_run_do_not_count() {
    let sample = AlignSample {
        candidate: Bytes::mib(4),
        boundary: None,
        before: Duration::ZERO,
        across: Duration::from_millis(3),
        after: Duration::ZERO,
    };
    let reads = AlignData { read: Some(Bytes::kib(1)), samples: vec![sample], ..AlignData::default() };
    let each: [(Order, u32, &[u64]); 2] = [(Order::Linear, 1, &[5, 0, 0]), (Order::Linear, 2, &[0, 2, 4])];
    let size = |kib, per_request| WriteSizeCell {
        order: Order::Linear,
        request: Bytes::kib(kib),
        start: None,
        times: Times::Mean { per_request, requests: None },
    };
    let cells = vec![size(128, Duration::ZERO), size(256, Duration::from_millis(9))];
    let sizes = WriteSizeData { cells, ..WriteSizeData::default() };
    let read = Key::Read { candidate: Bytes::mib(4), side: Side::Across };
    let write = |units, kib| Key::OpenUnits { units, order: Order::Linear, request: Bytes::kib(kib) };
    let counted = milliseconds(vec![Data::Align(reads), open_units(&each), Data::WriteSize(sizes)]);
    assert_eq!(counted, [(read, 3.0), (write(2, 64), 3.0), (write(1, 256), 9.0)]);
}

#[test]
fn writes_of_a_run_count_in_the_sizes_of_flashbench() {
    let sizes = [Bytes::kib(48), Bytes::kib(64), Bytes::mib(3), Bytes::mib(4), Bytes::mib(8)];
    let cell = |request| WriteSizeCell {
        order: Order::Linear,
        request,
        start: None,
        times: Times::Each(vec![Duration::from_millis(9); 2]),
    };
    let counted = |erase_block| -> Vec<Bytes> {
        let cells = sizes.map(cell).into();
        let data = WriteSizeData { erase_block: Some(erase_block), cells, ..WriteSizeData::default() };
        let request = |(key, _): &(Key, f64)| match key {
            Key::OpenUnits { request, .. } => *request,
            _ => panic!("{key}"),
        };
        milliseconds(vec![Data::WriteSize(data)]).iter().map(request).collect()
    };
    assert_eq!(counted(Bytes::mib(4)), [Bytes::kib(64), Bytes::mib(4)]);
    // Where the erase block is no power of two, its halves and powers of two below it.
    assert_eq!(counted(Bytes::mib(6)), sizes[..4]);
}
