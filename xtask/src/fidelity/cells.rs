//! Cells of two tables, matched and compared.

use std::fmt;

use flashscope_device::Bytes;
use flashscope_probe::flashbench::Command;
use flashscope_probe::observation::{AlignData, Data, FatAreaData, OpenUnitsData, Times};

/// What a cell measures. Only cells of one quantity are compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// The time of a read before, across or after a boundary.
    Read,
    /// Speed with several open units.
    OpenUnits,
    /// Speed in the first units.
    FindFat,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::OpenUnits, Self::FindFat];

    /// For tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "align",
            Self::OpenUnits => "open-units",
            Self::FindFat => "find-fat",
        }
    }

    /// The largest relative error allowed: in the median, and for nine cells of ten.
    pub const fn bounds(self) -> (f64, f64) {
        match self {
            Self::Read => (0.05, 0.25),
            Self::OpenUnits | Self::FindFat => (0.10, 0.25),
        }
    }
}

/// One figure, published and simulated: seconds or bytes per second.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// What it measures.
    pub quantity: Quantity,
    /// Which cell it is.
    pub name: String,
    /// The published figure.
    pub published: f64,
    /// The simulated figure.
    pub simulated: f64,
}

impl Cell {
    /// The absolute relative error, as a fraction of the published figure.
    pub fn error(&self) -> f64 {
        (self.simulated - self.published).abs() / self.published
    }
}

/// Two cells of which the log says clearly that the first is larger.
#[derive(Debug)]
pub struct Pair<'a> {
    larger: &'a Cell,
    smaller: &'a Cell,
}

impl<'a> Pair<'a> {
    /// Published figures that differ by more than this factor must keep their order; repeated rows of the logs differ by
    /// less.
    const CLEAR: f64 = 1.5;

    /// All pairs whose published figures differ clearly.
    pub fn all(cells: impl Iterator<Item = &'a Cell>) -> Vec<Self> {
        let cells: Vec<&Cell> = cells.collect();
        let below = |larger: &'a Cell| {
            let clear = move |smaller: &&&Cell| larger.published > Self::CLEAR * smaller.published;
            cells
                .iter()
                .filter(clear)
                .copied()
                .map(move |smaller| Self { larger, smaller })
                .collect::<Vec<_>>()
        };
        cells.iter().flat_map(|larger| below(larger)).collect()
    }

    /// Whether the simulated figures have the published order.
    pub fn order_is_kept(&self) -> bool {
        self.larger.simulated > self.smaller.simulated
    }
}

impl fmt::Display for Pair<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} is no longer above {}", self.larger.name, self.smaller.name)
    }
}

/// The cells that both tables have; `None` if a published cell was not simulated.
pub fn compare(published: &Data, simulated: &Data) -> Option<Vec<Cell>> {
    let simulated = figures(simulated);
    let matched = figures(published).into_iter().map(|(quantity, name, published)| {
        let (_, _, simulated) = *simulated.iter().find(|(_, other, _)| *other == name)?;
        Some(Cell { quantity, name, published, simulated })
    });
    matched.collect()
}

type Figure = (Quantity, String, f64);

fn figures(data: &Data) -> Vec<Figure> {
    match data {
        Data::Align(data) => align(data),
        Data::OpenUnits(data) => open_units(data),
        Data::FatArea(data) => fat_area(data),
        Data::WriteSize(_) => Vec::new(),
    }
}

fn align(data: &AlignData) -> Vec<Figure> {
    let of = |sample: &flashscope_probe::observation::AlignSample| {
        [("before", sample.before), ("across", sample.across), ("after", sample.after)]
            .map(|(side, time)| (Quantity::Read, format!("{side} {}", sample.candidate), time.as_secs_f64()))
    };
    data.samples.iter().flat_map(of).collect()
}

fn open_units(data: &OpenUnitsData) -> Vec<Figure> {
    let of = |cell: &flashscope_probe::observation::OpenUnitsCell| {
        let name = format!("{} in {} units, {}", cell.request, cell.open_units, cell.order.as_str());
        Some((Quantity::OpenUnits, name, speed(cell.request, &cell.times)?))
    };
    data.cells.iter().filter_map(of).collect()
}

fn fat_area(data: &FatAreaData) -> Vec<Figure> {
    let of = |cell: &flashscope_probe::observation::FatAreaCell| {
        let name = format!("{} in unit {}, {}", cell.request, cell.unit, cell.order.as_str());
        Some((Quantity::FindFat, name, speed(cell.request, &cell.times)?))
    };
    data.cells.iter().filter_map(of).collect()
}

fn speed(request: Bytes, times: &Times) -> Option<f64> {
    times.mean_seconds().map(|seconds| request.as_f64() / seconds)
}

/// The size of a table's last row; `None` for an empty table.
pub fn smallest_row(data: &Data) -> Option<Bytes> {
    match data {
        Data::Align(data) => data.samples.iter().map(|sample| sample.candidate).min(),
        Data::OpenUnits(data) => data.cells.iter().map(|cell| cell.request).min(),
        Data::WriteSize(data) => data.cells.iter().map(|cell| cell.request).min(),
        Data::FatArea(data) => data.cells.iter().map(|cell| cell.request).min(),
    }
}

/// What a command measures, in words.
pub fn title(command: &Command) -> String {
    match command {
        Command::Align { .. } => "align".to_owned(),
        Command::OpenUnits { open_units, order, .. } => {
            format!("{open_units} open units, {}", order.as_str())
        }
        Command::FindFat { units, order, .. } => format!("first {units} units, {}", order.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(published: f64, simulated: f64) -> Cell {
        Cell { quantity: Quantity::Read, name: String::new(), published, simulated }
    }

    #[test]
    fn only_clear_pairs_count_and_only_swapped_ones_are_lost() {
        let cells = [cell(1.0, 1.0), cell(1.4, 0.9), cell(2.0, 0.95)];
        let pairs = Pair::all(cells.iter());
        assert_eq!(pairs.len(), 1, "only 2.0 is clearly above 1.0");
        assert!(!pairs[0].order_is_kept());
    }

    #[test]
    fn errors_are_fractions_of_the_published_figure() {
        assert!((cell(2.0, 1.5).error() - 0.25).abs() < 1e-12);
    }
}
