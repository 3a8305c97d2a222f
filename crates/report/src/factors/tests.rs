//! Sentences and tables of experiments with known effects.

use flashscope_infer::trials::factorial::{Factor, Row, factorial};

use super::*;

fn factor(name: &str, levels: [&str; 2], is_named_by_levels: bool) -> Factor {
    Factor { name: name.to_owned(), levels: levels.map(str::to_owned).to_vec(), is_named_by_levels }
}

fn alignment() -> Factor {
    factor("alignment", ["sector 63", "4 MiB"], false)
}

fn stripe() -> Factor {
    factor("stripe", ["none", "4 MiB"], false)
}

fn filesystem() -> Factor {
    factor("filesystem", ["vfat", "ext4"], true)
}

/// The times of four rounds: the second and fourth take 1 % longer, and every other cell another 1 % in them.
fn rows(cells: &[(&[usize], f64)]) -> Vec<Row> {
    let row = |block: u32, (index, (levels, seconds)): (usize, &(&[usize], f64))| {
        let factor = if block % 2 == 1 { 1.01 + 0.01 * (index % 2) as f64 } else { 1.0 };
        Row { levels: levels.to_vec(), block, seconds: seconds * factor }
    };
    (0..4).flat_map(|block| cells.iter().enumerate().map(move |cell| row(block, cell))).collect()
}

fn experiment(factors: &[Factor], cells: &[(&[usize], f64)], error: f64) -> Experiment {
    Experiment { name: "tree, write".to_owned(), factorial: factorial(factors, &rows(cells), error).unwrap() }
}

/// The answer for the times with neither, with alignment, with stripe, and with both.
fn answer_within(error: f64, [neither, aligned, striped, both]: [f64; 4]) -> String {
    let cells: [(&[usize], f64); 4] =
        [(&[0, 0], neither), (&[1, 0], aligned), (&[0, 1], striped), (&[1, 1], both)];
    let experiment = experiment(&[alignment(), stripe()], &cells, error);
    experiment.sentences()[0].as_str().to_owned()
}

fn answer(seconds: [f64; 4]) -> String {
    answer_within(0.05, seconds)
}

/// vfat, and ext4 with and without stripe, at both starts.
fn nested(error: f64) -> Experiment {
    let cells: [(&[usize], f64); 6] = [
        (&[0, 0, 0], 120.0),
        (&[1, 0, 0], 119.0),
        (&[0, 0, 1], 30.0),
        (&[1, 0, 1], 29.5),
        (&[0, 1, 1], 29.0),
        (&[1, 1, 1], 14.0),
    ];
    experiment(&[alignment(), stripe(), filesystem()], &cells, error)
}

#[test]
fn each_pattern_of_effects_has_its_sentence() {
    let cases = [
        [10.0, 10.1, 9.9, 10.0],
        [12.0, 8.0, 6.0, 4.0],
        [12.0, 10.0, 8.0, 4.0],
        [12.0, 8.0, 6.0, 5.5],
        [10.0, 10.1, 9.9, 5.0],
        [10.0, 5.0, 10.0, 5.0],
        [10.0, 5.0, 10.0, 3.0],
        [10.0, 5.0, 10.0, 7.0],
        [10.0, 12.5, 10.0, 12.6],
        [10.0, 12.5, 5.0, 6.0],
        [10.0, 12.5, 10.0, 5.0],
        [10.0, 12.5, 12.5, 15.0],
        [10.0, 12.5, 12.5, 5.0],
        [10.0, 10.1, 9.9, 15.0],
    ];
    let answers: Vec<String> = cases.into_iter().map(answer).collect();
    insta::assert_snapshot!(answers.join("\n"));
}

#[test]
fn a_wide_interval_around_1_decides_nothing() {
    let wide = answer_within(0.3, [10.0, 10.1, 9.9, 10.0]);
    assert!(wide.ends_with(": more rounds would decide."), "{wide}");
    let unknown_together = answer_within(0.3, [10.0, 5.0, 10.1, 9.0]);
    assert!(unknown_together.ends_with(": more rounds would decide."), "{unknown_together}");
    let unclear = answer_within(0.3, [10.0, 8.5, 8.5, 7.0]);
    assert!(unclear.ends_with("they pay together; the share of each is not clear."), "{unclear}");
    let sure_but_small = answer_within(0.01, [10.0, 9.4, 9.7, 8.8]);
    assert!(sure_but_small.ends_with("both 1.13x: neither matters."), "{sure_but_small}");
}

#[test]
fn effects_that_one_factor_limits_to_another_have_their_own_sentence() {
    insta::assert_snapshot!(text(&[nested(0.02)], 80, Style::Plain));
}

#[test]
fn one_factor_has_one_clause() {
    let cells: [(&[usize], f64); 2] = [(&[0], 41.0), (&[1], 10.0)];
    let one = experiment(&[filesystem()], &cells, 0.0);
    assert_eq!(one.sentences()[0].as_str(), "Vfat to ext4 4.1x.");
    assert_eq!(one.table().header, ["effect", "times as fast", "95 % interval"]);
}

#[test]
fn unknown_effects_say_why() {
    let together: [(&[usize], f64); 2] = [(&[0, 0], 10.0), (&[1, 1], 5.0)];
    let experiment = experiment(&[alignment(), stripe()], &together, 0.0);
    let why = "unknown (not every combination exists)";
    assert_eq!(experiment.sentences()[0].as_str(), format!("Alignment {why}; stripe {why}."));
    assert_eq!(experiment.chart("effects"), None);
}

#[test]
fn chart_has_one_interval_for_each_known_effect() {
    let chart = nested(0.02).chart("effects").unwrap();
    assert!(chart.is_telling());
    let known = nested(0.02).factorial.effects.iter().filter(|effect| effect.outcome.is_ok()).count();
    assert_eq!(chart.series.len(), known + 1, "and the line at 1");
    let within = |point: &crate::chart::Point| {
        let (low, high) = point.spread.unwrap_or((point.y, point.y));
        chart.y.low <= low && high <= chart.y.high && low <= point.y && point.y <= high
    };
    assert!(chart.series.iter().flat_map(|series| &series.points).all(within));
    // Twelve effects, each in the middle of its part of the axis.
    let line_at_1: Vec<f64> = chart.series[0].points.iter().map(|point| point.x).collect();
    assert_eq!((line_at_1, chart.x.low, chart.x.high), (vec![0.5, 12.5], 0.5, 12.5));
    let page = html_page("virtual stick: <b>", &[nested(0.02)], &[Sentence::new("a note")]);
    assert!(page.contains("they only pay together") && page.contains("virtual stick: &lt;b&gt;"), "{page}");
    assert!(page.contains("<svg") && page.contains("A note."));
}
