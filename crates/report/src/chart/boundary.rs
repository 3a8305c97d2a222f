//! The read penalty at boundaries: the extra latency of a read across a boundary, by boundary size.

use std::collections::BTreeMap;

use flashscope_device::Bytes;
use flashscope_infer::statistics::{median, quantile};
use flashscope_record::finding::FindingId;

use super::{Annotation, Axis, Chart, Colour, Marker, Point, Scale, Series, SeriesStyle, Table, Unit};
use crate::figures::align_samples;
use crate::terms::finding_title;
use crate::{Report, quantity};

/// The read penalty at boundaries of one size: median and quartiles, seconds.
#[derive(Debug, Clone, Copy)]
struct Penalty {
    candidate: Bytes,
    median: f64,
    quartiles: (f64, f64),
    samples: usize,
}

pub fn chart(report: &Report<'_>) -> Option<Chart> {
    let penalties = penalties(report);
    let erase_block = report.size(FindingId::EraseBlockBytes);
    let series = match erase_block {
        Some(erase_block) => split(&penalties, erase_block),
        None => vec![series("all boundaries", Colour::Blue, Marker::Circle, penalties.iter())],
    };
    let series: Vec<Series> = series.into_iter().filter(|series| !series.points.is_empty()).collect();
    let heights =
        penalties.iter().flat_map(|penalty| [penalty.quartiles.0, penalty.quartiles.1]).chain([0.0]);
    let sizes = penalties.iter().map(|penalty| penalty.candidate.as_f64());
    Some(Chart {
        id: "boundary",
        title: "Read penalty at boundaries".to_owned(),
        description: describe(&penalties, erase_block)?,
        x: Axis::around("boundary at odd multiples of", Unit::Bytes, Scale::Log2, sizes)?,
        y: Axis::around("extra latency", Unit::Seconds, Scale::Linear, heights)?,
        series,
        annotations: annotations(report),
        table: table(&penalties),
    })
}

fn penalties(report: &Report<'_>) -> Vec<Penalty> {
    let mut by_candidate: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    for sample in align_samples(report.run).filter(|sample| !sample.candidate.is_zero()) {
        by_candidate.entry(sample.candidate).or_default().push(sample.difference());
    }
    by_candidate
        .into_iter()
        .filter_map(|(candidate, differences)| penalty_of(candidate, &differences))
        .collect()
}

fn penalty_of(candidate: Bytes, differences: &[f64]) -> Option<Penalty> {
    let quartiles = (quantile(differences, 0.25)?, quantile(differences, 0.75)?);
    Some(Penalty { candidate, median: median(differences)?, quartiles, samples: differences.len() })
}

fn split(penalties: &[Penalty], erase_block: Bytes) -> Vec<Series> {
    let at_boundary = |penalty: &&Penalty| penalty.candidate.is_multiple_of(erase_block);
    vec![
        series(
            "inside an erase block",
            Colour::Blue,
            Marker::Circle,
            penalties.iter().filter(|penalty| !at_boundary(penalty)),
        ),
        series(
            "at an erase-block boundary",
            Colour::Red,
            Marker::Diamond,
            penalties.iter().filter(at_boundary),
        ),
    ]
}

fn series<'a>(
    name: &str,
    colour: Colour,
    marker: Marker,
    penalties: impl Iterator<Item = &'a Penalty>,
) -> Series {
    let point = |penalty: &Penalty| {
        Point::new(penalty.candidate.as_f64(), penalty.median)
            .within(penalty.quartiles.0, penalty.quartiles.1)
    };
    Series {
        name: name.to_owned(),
        colour,
        marker,
        style: SeriesStyle::Stems,
        points: penalties.map(point).collect(),
    }
}

fn annotations(report: &Report<'_>) -> Vec<Annotation> {
    let ids = [FindingId::PageBytes, FindingId::EraseBlockBytes];
    let sizes = ids.into_iter().filter_map(|id| Some((id, report.size(id)?)));
    sizes
        .map(|(id, size)| Annotation { x: size.as_f64(), label: format!("{} {size}", finding_title(id)) })
        .collect()
}

fn describe(penalties: &[Penalty], erase_block: Option<Bytes>) -> Option<String> {
    let (first, last) = (penalties.first()?, penalties.last()?);
    let range =
        format!("Boundaries of {} sizes from {} to {}.", penalties.len(), first.candidate, last.candidate);
    let spread = if penalties.iter().any(|penalty| penalty.samples > 1) {
        " Points are medians; bars span the quartiles."
    } else {
        ""
    };
    let Some(erase_block) = erase_block else { return Some(range + spread) };
    let median_penalty = |at_boundary: bool| {
        let medians: Vec<f64> = penalties
            .iter()
            .filter(|penalty| penalty.candidate.is_multiple_of(erase_block) == at_boundary)
            .map(|penalty| penalty.median)
            .collect();
        median(&medians).map_or_else(|| "not measured".to_owned(), quantity::seconds)
    };
    let (edge, inside) = (median_penalty(true), median_penalty(false));
    Some(format!(
        "{range} Median extra latency at {erase_block} erase-block boundaries: {edge}; elsewhere: {inside}.{spread}"
    ))
}

fn table(penalties: &[Penalty]) -> Table {
    let header =
        ["boundary size", "extra latency, median", "quartiles", "samples"].map(str::to_owned).to_vec();
    let row = |penalty: &Penalty| {
        let (lower, upper) = penalty.quartiles;
        let spread = quantity::range(&quantity::seconds(lower), &quantity::seconds(upper));
        let spread = if penalty.samples > 1 { spread } else { "one sample".to_owned() };
        vec![
            penalty.candidate.to_string(),
            quantity::seconds(penalty.median),
            spread,
            penalty.samples.to_string(),
        ]
    };
    Table { header, rows: penalties.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Penalties inside erase blocks of 4 MiB, at their boundaries, and at every second one.
    fn three() -> [Penalty; 3] {
        let penalty = |kib: u64, microseconds: [f64; 3]| {
            penalty_of(Bytes::kib(kib), &microseconds.map(|each| each * 1e-6)).unwrap()
        };
        [
            penalty(16, [10.0, 20.0, 30.0]),
            penalty(4096, [190.0, 200.0, 210.0]),
            penalty(8192, [230.0, 240.0, 250.0]),
        ]
    }

    #[test]
    fn caption_and_series_tell_boundaries_of_erase_blocks_from_others() {
        let (penalties, erase_block) = (three(), Bytes::mib(4));
        let range = "Boundaries of 3 sizes from 16 KiB to 8 MiB.";
        let spread = "Points are medians; bars span the quartiles.";
        let medians = "Median extra latency at 4 MiB erase-block boundaries: 220 µs; elsewhere: 20.0 µs.";
        assert_eq!(describe(&penalties, Some(erase_block)), Some(format!("{range} {medians} {spread}")));
        assert_eq!(describe(&penalties, None), Some(format!("{range} {spread}")));
        let sizes = |series: &Series| series.points.iter().map(|point| point.x).collect::<Vec<f64>>();
        let [inside, edge]: [Series; 2] = split(&penalties, erase_block).try_into().unwrap();
        assert_eq!(inside.name, "inside an erase block");
        assert_eq!(sizes(&inside), [Bytes::kib(16).as_f64()]);
        assert_eq!(edge.name, "at an erase-block boundary");
        assert_eq!(sizes(&edge), [Bytes::mib(4).as_f64(), Bytes::mib(8).as_f64()]);
    }

    #[test]
    fn table_has_the_median_and_the_quartiles_of_each_size() {
        let rows = table(&three()).rows;
        assert_eq!(rows[0], ["16 KiB", "20.0 µs", "15.0 to 25.0 µs", "3"]);
        assert_eq!(rows[2], ["8 MiB", "240 µs", "235 to 245 µs", "3"]);
        let single = penalty_of(Bytes::kib(64), &[2e-5]).unwrap();
        assert_eq!(table(&[single]).rows[0], ["64 KiB", "20.0 µs", "one sample", "1"]);
    }
}
