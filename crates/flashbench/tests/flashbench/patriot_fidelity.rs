//! The virtual Patriot stick against the published log of the real one: every command of the log in order, on
//! one stick.

use flashscope_flashbench::{Command, parse, procedure};
use flashscope_measure::Silent;
use flashscope_record::observation::{Data, Times};
use flashscope_sim::{Profile, VirtualStick};

const LOG: &[u8] = include_bytes!("../../../../testdata/published/patriot-xporter-xt-boost-16gb.txt");
const SEEDS: [u64; 4] = [1, 2, 3, 2010];

#[derive(Debug, Clone)]
struct Cell {
    name: String,
    /// Microseconds of a read, or MB/s of writes.
    published: f64,
    simulated: f64,
}

impl Cell {
    fn error(&self) -> f64 {
        (self.simulated / self.published - 1.0).abs()
    }
}

/// All cells of one kind of table.
#[derive(Debug, Default)]
struct Cells(Vec<Cell>);

impl Cells {
    /// The error that this many percent of the cells do not exceed.
    fn percentile(&self, percent: usize) -> f64 {
        let mut errors: Vec<f64> = self.0.iter().map(Cell::error).collect();
        errors.sort_by(f64::total_cmp);
        errors[((errors.len() - 1) * percent).div_ceil(100)]
    }

    /// Pairs that differ by more than half in the log and are reversed on the virtual stick.
    fn inversions(&self) -> Vec<(&str, &str)> {
        let pairs = self.0.iter().flat_map(|a| self.0.iter().map(move |b| (a, b)));
        let inverted = pairs.filter(|(a, b)| a.published > 1.5 * b.published && a.simulated <= b.simulated);
        inverted.map(|(a, b)| (a.name.as_str(), b.name.as_str())).collect()
    }
}

/// Every number of an observation, with its cell in the table.
fn numbers(data: &Data) -> Vec<(String, f64)> {
    match data {
        Data::Align(align) => {
            let columns = align.samples.iter().flat_map(|sample| {
                [("before", sample.before), ("across", sample.across), ("after", sample.after)].map(
                    |(column, time)| (format!("{} {column}", sample.candidate), time.as_secs_f64() * 1e6),
                )
            });
            columns.collect()
        }
        Data::OpenUnits(open) => {
            let cells = open.cells.iter();
            let name = |order, units, request| format!("{units} units {order:?} {request}");
            cells
                .map(|c| (name(c.order, c.open_units, c.request), rate(&c.times, c.request.as_f64())))
                .collect()
        }
        Data::FatArea(fat) => {
            let cells = fat.cells.iter();
            cells
                .map(|c| (format!("unit {} {}", c.unit, c.request), rate(&c.times, c.request.as_f64())))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// MB/s.
fn rate(times: &Times, bytes: f64) -> f64 {
    bytes / times.mean_seconds().unwrap() / 1e6
}

/// The command as it ran: one table was interrupted, another goes on below the block size of its command
/// line.
fn as_it_ran(mut command: Command, data: &Data) -> Command {
    if let (Command::OpenUnits { smallest, .. }, Data::OpenUnits(open)) = (&mut command, data) {
        *smallest = open.cells.iter().map(|cell| cell.request).min().unwrap();
    }
    command
}

/// Runs the whole log on one stick; the cells of its align, open-units and find-fat tables.
fn replay(seed: u64) -> [Cells; 3] {
    let mut stick = VirtualStick::new(&Profile::builtin("patriot-xt-16g").unwrap(), seed);
    let mut tables = [Cells::default(), Cells::default(), Cells::default()];
    for entry in parse::parse(LOG, "patriot").unwrap().entries {
        let command = as_it_ran(entry.command.unwrap(), &entry.observations.data);
        let simulated = procedure::run(&command, &mut stick, seed, &mut Silent);
        let simulated = numbers(&simulated.data);
        let table = match entry.observations.data {
            Data::Align(_) => &mut tables[0],
            Data::OpenUnits(_) => &mut tables[1],
            _ => &mut tables[2],
        };
        for (name, published) in numbers(&entry.observations.data) {
            let simulated = simulated.iter().find(|cell| cell.0 == name).unwrap().1;
            table.0.push(Cell { name, published, simulated });
        }
    }
    tables
}

#[test]
fn the_virtual_patriot_reproduces_its_log() {
    for seed in SEEDS {
        let [align, open, fat] = replay(seed);
        assert_eq!([align.0.len(), open.0.len(), fat.0.len()], [120, 82, 48]);
        assert!(align.percentile(50) <= 0.05, "seed {seed}: align {:.3}", align.percentile(50));
        for (name, cells) in [("open units", open), ("find-fat", fat)] {
            let (median, p90) = (cells.percentile(50), cells.percentile(90));
            assert!(median <= 0.10 && p90 <= 0.25, "seed {seed}: {name} {median:.3} {p90:.3}");
        }
    }
}

#[test]
fn clearly_different_cells_keep_their_rank() {
    for seed in SEEDS {
        for cells in replay(seed) {
            assert_eq!(cells.inversions(), [], "seed {seed}");
        }
    }
}
