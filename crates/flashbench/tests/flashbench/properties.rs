//! What holds for every input: reading never panics, and what is printed reads back as it was.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_flashbench::parse::parse;
use flashscope_flashbench::print::print;
use flashscope_record::observation::{
    AlignData, AlignSample, Conditions, Data, Ended, FatAreaCell, FatAreaData, Observations, OpenUnitsCell,
    OpenUnitsData, Order, Source, Times,
};
use proptest::prelude::*;

const PATRIOT: &str = include_str!("../../../../testdata/published/patriot-xporter-xt-boost-16gb.txt");

fn observations(data: Data) -> Observations {
    let conditions =
        Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 0 };
    Observations { data, conditions, ended: Ended::Complete }
}

/// A request size and its mean time, as three digits can say it.
fn times(request: Bytes, digits: u32, exponent: i32) -> Times {
    let speed = f64::from(digits) * 10_f64.powi(exponent);
    Times::Mean { per_request: Duration::from_secs_f64(request.as_f64() / speed), requests: None }
}

fn powers_of_two(count: usize) -> impl Iterator<Item = Bytes> {
    (0..count).map(|shift| Bytes::mib(8) / (1 << shift))
}

fn figures() -> impl Strategy<Value = Vec<(u32, i32)>> {
    prop::collection::vec((100_u32..=999, 1_i32..=6), 1..=12)
}

fn tables(text: &str) -> String {
    parse(text.as_bytes(), "printed")
        .unwrap()
        .entries
        .iter()
        .map(|entry| print(&entry.observations))
        .collect()
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..4096)) {
        let _ = parse(&bytes, "random");
    }

    #[test]
    fn no_pieces_of_a_log_make_the_reader_panic(
        pieces in prop::collection::vec((0..PATRIOT.len(), 0_usize..80, "[\\PC\n=>^C$\\[]{0,6}"), 0..40)
    ) {
        let bytes: Vec<u8> = pieces
            .iter()
            .flat_map(|(start, length, noise)| {
                let end = (start + length).min(PATRIOT.len());
                [&PATRIOT.as_bytes()[*start..end], noise.as_bytes()].concat()
            })
            .collect();
        if let Ok(log) = parse(&bytes, "pieces") {
            prop_assert!(!log.entries.is_empty());
        }
    }

    #[test]
    fn open_unit_tables_read_back(figures in figures(), units in 1_u32..64, random in any::<bool>()) {
        let order = if random { Order::Random } else { Order::Linear };
        let cells = powers_of_two(figures.len()).zip(&figures).map(|(request, &(digits, exponent))| {
            OpenUnitsCell::round_robin((order, units, request), times(request, digits, exponent))
        });
        let data = Data::OpenUnits(OpenUnitsData { erase_block: Bytes::mib(8), cells: cells.collect(), ..OpenUnitsData::default() });
        let table = print(&observations(data));
        let command = format!("$ flashbench --open-au --open-au-nr={units} {}\n", if random { "-r" } else { "" });
        prop_assert_eq!(tables(&(command + &table)), table);
    }

    #[test]
    fn fat_area_tables_read_back(figures in prop::collection::vec((100_u32..=999, 1_i32..=6), 24), units in 1_u32..=6) {
        let mut figures = figures.into_iter();
        let mut cells = Vec::new();
        for request in powers_of_two(4) {
            for unit in 0..units {
                let (digits, exponent) = figures.next().unwrap();
                cells.push(FatAreaCell { unit, order: Order::Linear, request, times: times(request, digits, exponent) });
            }
        }
        let table = print(&observations(Data::FatArea(FatAreaData { erase_block: Bytes::mib(8), cells, ..FatAreaData::default() })));
        let command = format!("$ flashbench --find-fat --fat-nr={units}\n");
        prop_assert_eq!(tables(&(command + &table)), table);
    }

    #[test]
    fn align_tables_read_back(
        nanoseconds in prop::collection::vec((100_u64..5_000_000, 100_u64..5_000_000, 100_u64..5_000_000), 1..=12)
    ) {
        let sample = |(candidate, &(before, across, after)): (Bytes, &(u64, u64, u64))| {
            let [before, across, after] = [before, across, after].map(Duration::from_nanos);
            AlignSample { candidate, boundary: None, before, across, after }
        };
        let samples: Vec<AlignSample> = powers_of_two(nanoseconds.len()).zip(&nanoseconds).map(sample).collect();
        let table = print(&observations(Data::Align(AlignData { samples, ..AlignData::default() })));
        let again = tables(&table);
        prop_assert_eq!(without_differences(&again), without_differences(&table));
    }
}

/// The difference is worked out from times that have three digits when they are read back, so its last digits
/// may differ.
fn without_differences(table: &str) -> Vec<&str> {
    table.lines().map(|line| line.split("\tdiff").next().unwrap_or(line)).collect()
}
