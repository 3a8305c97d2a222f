//! A virtual stick held against a log: it runs the log's own commands, in their order, from new.

use flashscope_flashbench::procedure;
use flashscope_measure::Silent;
use flashscope_sim::{Profile, VirtualStick};

use crate::measured::{Key, Measured, cells};
use crate::split::Split;
use crate::summary::Summary;

/// One cell, measured and simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// Its table.
    pub table: usize,
    /// What it measures.
    pub key: Key,
    /// The measured time of a request, seconds.
    pub measured_s: f64,
    /// The simulated time, seconds.
    pub simulated_s: f64,
    /// Whether the fit did not see it.
    pub held_out: bool,
}

impl Compared {
    /// The absolute relative error of the figure as the log has it: a time of reads, a speed of writes.
    #[must_use]
    pub fn error(&self) -> f64 {
        let ratio = if self.key.is_read() {
            self.simulated_s / self.measured_s
        } else {
            self.measured_s / self.simulated_s
        };
        (ratio - 1.0).abs()
    }
}

/// All cells of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Each cell, in the log's order.
    pub cells: Vec<Compared>,
}

impl Comparison {
    /// The errors of the cells that were fitted, or of those that were held out.
    #[must_use]
    pub fn summary(&self, held_out: bool) -> Summary {
        Summary::of(self.cells.iter().filter(|cell| cell.held_out == held_out).map(Compared::error))
    }
}

/// Runs a log's commands on a virtual stick without noise. `seed` decides shuffles and victims. A table that does not fit on the stick
/// has no cells.
#[must_use]
pub fn compare(profile: &Profile, measured: &Measured, split: &Split, seed: u64) -> Comparison {
    let mut ideal = profile.clone();
    ideal.noise.jitter = 0.0;
    ideal.noise.outliers_per_million = 0.0;
    let mut stick = VirtualStick::new(&ideal, seed);
    let mut compared = Vec::new();
    for (index, table) in measured.tables.iter().enumerate() {
        let seen = procedure::run(&table.command, &mut stick, seed, &mut Silent);
        let simulated = cells(&seen.data);
        for (at, cell) in table.cells.iter().enumerate() {
            let Some(twin) = simulated.iter().find(|twin| twin.key == cell.key) else { continue };
            compared.push(Compared {
                table: index,
                key: cell.key,
                measured_s: cell.seconds,
                simulated_s: twin.seconds,
                held_out: split.is_held_out(index, at),
            });
        }
    }
    Comparison { cells: compared }
}
