//! A fit ignores held-out cells, is reproducible to the byte, and its profile matches the log.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use flashscope_flashbench::parse::parse;
use flashscope_sim::Profile;
use flashscope_twin::{Fit, FitError, Measured, Options, Split, fit, numbers_and_cells};

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

#[test]
fn held_out_cells_do_not_change_the_profile() {
    for text in [README, TOSHIBA, PQI] {
        let mut changed = measured(text);
        let split = Split::new(&changed, 0.5, 1);
        let mut held_out = 0;
        for (index, table) in changed.tables.iter_mut().enumerate() {
            for (at, cell) in table.cells.iter_mut().enumerate() {
                if split.is_held_out(index, at) {
                    cell.seconds *= 3.0;
                    held_out += 1;
                }
            }
        }
        assert!(held_out * 2 >= changed.cells().count());
        let refitted = fit(&changed, &options(1)).unwrap();
        assert_eq!(refitted.toml, fitted(text).toml);
        assert!(refitted.comparison.summary(true).median > 0.3, "the errors include the held-out cells");
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
fn log_with_too_few_cells_is_refused() {
    let text = b"$ flashbench -O --open-au-nr=2 --erasesize=$[4*1024*1024] /dev/x\n4MiB 5M/s\n2MiB 4M/s\n";
    let error = fit(&measured(text), &options(1)).unwrap_err();
    assert!(matches!(error, FitError::TooFewCells { cells: 1, cells_min: 5, .. }), "{error}");
}
