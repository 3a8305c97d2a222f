//! A virtual stick compared with a log: a new stick runs the log's own commands in their order.

use flashscope_flashbench::procedure;
use flashscope_measure::Silent;
use flashscope_sim::{Profile, VirtualStick};

use crate::measured::{Key, Measured, cells};
use crate::split::Split;
use crate::summary::Summary;

/// One cell, measured and simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// The index of its table.
    pub table: usize,
    /// What it measures.
    pub key: Key,
    /// The measured time of a request, seconds.
    pub measured_s: f64,
    /// The simulated time, seconds.
    pub simulated_s: f64,
    /// Whether it was held out from the fit.
    pub held_out: bool,
}

impl Compared {
    /// The absolute relative error of the figure in the log: the time of reads, the throughput of writes.
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

/// The largest median error of a profile that describes a device. A guess: the published logs are met within
/// 15 %, and a factor of two is what a wrong limit of open erase blocks costs.
const MEDIAN_MAX: f64 = 0.5;

impl Comparison {
    /// The errors of the fitted cells, or of the held-out ones.
    #[must_use]
    pub fn summary(&self, held_out: bool) -> Summary {
        Summary::of(self.cells.iter().filter(|cell| cell.held_out == held_out).map(Compared::error))
    }

    /// What is said of a profile whose times are far from the measured ones: the fitted or the held-out ones.
    #[must_use]
    pub fn warning(&self, held_out: bool) -> Option<String> {
        let median = self.summary(held_out).median;
        (median > MEDIAN_MAX).then(|| {
            let percent = median * 100.0;
            format!("half of the times differ by {percent:.0} % or more, so the virtual stick is not like the device")
        })
    }
}

/// Runs a log's commands on a virtual stick without noise. `seed` determines shuffles and evictions. A table
/// that does not fit on the stick has no cells.
#[must_use]
pub fn compare(profile: &Profile, measured: &Measured, split: &Split, seed: u64) -> Comparison {
    let mut noiseless = profile.clone();
    noiseless.noise.jitter = 0.0;
    noiseless.noise.outliers_per_million = 0.0;
    let mut stick = VirtualStick::new(&noiseless, seed);
    let mut compared = Vec::new();
    for (index, table) in measured.tables.iter().enumerate() {
        let observed = procedure::run(&table.command, &mut stick, seed, &mut Silent);
        let simulated = cells(&observed.data);
        for (at, cell) in table.cells.iter().enumerate() {
            let Some(same) = simulated.iter().find(|other| other.key == cell.key) else { continue };
            compared.push(Compared {
                table: index,
                key: cell.key,
                measured_s: cell.seconds,
                simulated_s: same.seconds,
                held_out: split.is_held_out(index, at),
            });
        }
    }
    Comparison { cells: compared }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::observation::Order;

    use super::*;
    use crate::measured::Side;

    /// A read of twice its time differs by 100 %, and a write of twice its time, at half its speed, by 50 %.
    #[test]
    fn fitted_and_held_out_cells_are_called_poor_with_their_own_median() {
        let read = Key::Read { candidate: Bytes::mib(4), side: Side::Across };
        let write = Key::OpenUnits { units: 1, order: Order::Linear, request: Bytes::kib(64) };
        let cell =
            |key, simulated_s, held_out| Compared { table: 0, key, measured_s: 1.0, simulated_s, held_out };
        let cells = vec![
            cell(read, 1.75, false),
            cell(write, 4.0, false),
            cell(read, 2.0, true),
            cell(write, 2.0, true),
            cell(write, 2.0, true),
        ];
        let comparison = Comparison { cells };
        let text = "half of the times differ by 75 % or more, so the virtual stick is not like the device";
        assert_eq!(comparison.warning(false), Some(text.to_owned()));
        assert_eq!(comparison.warning(true), None, "50 % is not more than allowed");
    }
}
