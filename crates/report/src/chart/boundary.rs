//! The boundary staircase: how much longer a read takes across a boundary than beside it, by candidate size.

use std::collections::BTreeMap;

use flashscope_device::Bytes;
use flashscope_infer::statistics::{median, quantile};
use flashscope_record::finding::FindingId;

use super::{Axis, Chart, Colour, Drawn, Marker, Note, Point, Scale, Series, Table, Unit};
use crate::figures::align_samples;
use crate::words::finding_title;
use crate::{Report, quantity};

/// Median and quartiles of the extra time at one candidate size, seconds.
#[derive(Debug, Clone, Copy)]
struct Step {
    candidate: Bytes,
    median: f64,
    quartiles: (f64, f64),
    samples: usize,
}

pub fn chart(report: &Report<'_>) -> Option<Chart> {
    let steps = steps(report);
    let erase_block = report.size(FindingId::EraseBlockBytes);
    let series = match erase_block {
        Some(erase_block) => split(&steps, erase_block),
        None => vec![series("every candidate", Colour::Blue, Marker::Circle, steps.iter())],
    };
    let series: Vec<Series> = series.into_iter().filter(|series| !series.points.is_empty()).collect();
    let heights = steps.iter().flat_map(|step| [step.quartiles.0, step.quartiles.1]).chain([0.0]);
    let sizes = steps.iter().map(|step| step.candidate.as_f64());
    Some(Chart {
        id: "boundary",
        title: "Extra time of a read across a boundary".to_owned(),
        description: describe(&steps, erase_block)?,
        x: Axis::around("boundary at odd multiples of", Unit::Bytes, Scale::Log2, sizes)?,
        y: Axis::around("extra time", Unit::Seconds, Scale::Linear, heights)?,
        series,
        notes: notes(report),
        table: table(&steps),
    })
}

fn steps(report: &Report<'_>) -> Vec<Step> {
    let mut by_candidate: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    for sample in align_samples(report.run).filter(|sample| !sample.candidate.is_zero()) {
        by_candidate.entry(sample.candidate).or_default().push(sample.difference());
    }
    by_candidate.into_iter().filter_map(|(candidate, differences)| step(candidate, &differences)).collect()
}

fn step(candidate: Bytes, differences: &[f64]) -> Option<Step> {
    let quartiles = (quantile(differences, 0.25)?, quantile(differences, 0.75)?);
    Some(Step { candidate, median: median(differences)?, quartiles, samples: differences.len() })
}

fn split(steps: &[Step], erase_block: Bytes) -> Vec<Series> {
    let at_edge = |step: &&Step| step.candidate.is_multiple_of(erase_block);
    vec![
        series(
            "inside an erase block",
            Colour::Blue,
            Marker::Circle,
            steps.iter().filter(|step| !at_edge(step)),
        ),
        series("at an erase block's edge", Colour::Red, Marker::Diamond, steps.iter().filter(at_edge)),
    ]
}

fn series<'a>(name: &str, colour: Colour, marker: Marker, steps: impl Iterator<Item = &'a Step>) -> Series {
    let point = |step: &Step| {
        Point::new(step.candidate.as_f64(), step.median).within(step.quartiles.0, step.quartiles.1)
    };
    Series { name: name.to_owned(), colour, marker, drawn: Drawn::Stems, points: steps.map(point).collect() }
}

fn notes(report: &Report<'_>) -> Vec<Note> {
    let ids = [FindingId::PageBytes, FindingId::EraseBlockBytes];
    let sizes = ids.into_iter().filter_map(|id| Some((id, report.size(id)?)));
    sizes
        .map(|(id, size)| Note { at: size.as_f64(), label: format!("{} {size}", finding_title(id)) })
        .collect()
}

fn describe(steps: &[Step], erase_block: Option<Bytes>) -> Option<String> {
    let (first, last) = (steps.first()?, steps.last()?);
    let range =
        format!("Boundaries of {} sizes from {} to {}.", steps.len(), first.candidate, last.candidate);
    let spread = if steps.iter().any(|step| step.samples > 1) {
        " Each point is a median; its bar holds the middle half of the samples."
    } else {
        ""
    };
    let Some(erase_block) = erase_block else { return Some(range + spread) };
    let typical = |at_edge: bool| {
        let medians: Vec<f64> = steps
            .iter()
            .filter(|step| step.candidate.is_multiple_of(erase_block) == at_edge)
            .map(|step| step.median)
            .collect();
        median(&medians).map_or_else(|| "not measured".to_owned(), quantity::seconds)
    };
    let (edge, inside) = (typical(true), typical(false));
    Some(format!(
        "{range} Typical extra time at the edges of {erase_block} blocks: {edge}; elsewhere: {inside}.{spread}"
    ))
}

fn table(steps: &[Step]) -> Table {
    let header = ["boundary size", "median extra time", "middle half", "samples"].map(str::to_owned).to_vec();
    let row = |step: &Step| {
        let spread =
            format!("{} to {}", quantity::seconds(step.quartiles.0), quantity::seconds(step.quartiles.1));
        let spread = if step.samples > 1 { spread } else { "one figure only".to_owned() };
        vec![step.candidate.to_string(), quantity::seconds(step.median), spread, step.samples.to_string()]
    };
    Table { header, rows: steps.iter().map(row).collect() }
}
