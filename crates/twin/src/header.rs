//! The header comment of a fitted profile: how the fit was made, and what each section rests on.

use std::fmt::Write as _;

use flashscope_device::Bytes;
use flashscope_sim::profile::Basis;

use crate::profile::{FitInput, page_of_reads, page_of_run};
use crate::write_model::WriteModel;

/// The start of the line with the number of parameters and cells.
const FITTED: &str = "# Fitted: ";

/// The number of fitted parameters and of cells, from the header of a fitted profile.
#[must_use]
pub fn numbers_and_cells(profile: &str) -> Option<(usize, usize)> {
    let line = profile.lines().find_map(|line| line.strip_prefix(FITTED))?;
    let mut counts = line.split_whitespace().filter_map(|word| word.parse().ok());
    Some((counts.next()?, counts.next()?))
}

/// The header of the profile that was fitted from `input`.
pub(crate) fn header(input: &FitInput<'_>, model: Option<&WriteModel>) -> String {
    let numbers = input.reads.parameters() + model.map_or(0, WriteModel::parameters);
    let cells = input.reads.cells + model.map_or(0, |model| model.cells);
    let options = input.options;
    let mut text = format!(
        "# Fitted by flashscope sim fit --holdout {} --seed {}. Times in microseconds.\n\
         {FITTED}{numbers} numbers from {cells} cells.\n",
        options.holdout, options.seed
    );
    let notes = [("capacity", capacity(input)), ("link", LINK.to_owned()), ("read", read(input))];
    let notes = notes.into_iter().chain(write(input, model)).chain(geometry(input, model.is_some()));
    let notes = notes.chain(policy(input, model)).chain([("noise", NOISE.to_owned())]);
    for (key, note) in notes {
        // Writing to a string does not fail.
        let _ = writeln!(text, "# {key}: {note}.");
    }
    text + "\n"
}

const FOUND: &str = "found in the run";
const LINK: &str = "assumed; its time is part of the measured times, which are those of whole requests";
const NOISE: &str = "assumed; repeated rows of such logs agree within 2 %";

/// What the tables come from.
const fn origin(input: &FitInput<'_>) -> &'static str {
    if input.measured.known.is_some() { "run" } else { "log" }
}

fn capacity(input: &FitInput<'_>) -> String {
    let origin = origin(input);
    match input.measured.capacity {
        Some(_) => format!("from the {origin}"),
        None => format!("assumed, as the {origin} does not give it"),
    }
}

fn read(input: &FitInput<'_>) -> String {
    if input.reads.cells == 0 {
        return format!("typical of SD cards, as the {} has no reads", origin(input));
    }
    let request = Bytes::new(input.read_request());
    let reads = if input.measured.known.is_some() { "reads at boundaries" } else { "flashbench -a" };
    format!("medians over {} cells of {reads}, reads of {request}", input.reads.cells)
}

fn no_writes(input: &FitInput<'_>) -> String {
    format!("typical of SD cards, as the {} has no writes", origin(input))
}

fn write(input: &FitInput<'_>, model: Option<&WriteModel>) -> Vec<(&'static str, String)> {
    let Some(model) = model else { return vec![("write", no_writes(input))] };
    let method = match model.basis() {
        Basis::Measured => "medians by request size".to_owned(),
        _ => format!("a typical card's times, scaled where the {} has enough cells", origin(input)),
    };
    let mut notes = vec![("write", format!("{method}, from {} cells", model.cells))];
    if model.small.is_some() {
        let note = "the same time in 1 and in several erase blocks, so without merges";
        notes.push(("small_writes", note.to_owned()));
    }
    notes
}

fn geometry(input: &FitInput<'_>, has_writes: bool) -> Vec<(&'static str, String)> {
    let is_run = input.measured.known.is_some();
    let erase_block = match (input.reads_show_erase_block(), has_writes) {
        (true, _) => "reads across its boundary are slower",
        _ if is_run => "that of the write tests of the run; reads do not show it",
        (false, true) => "the erase block given to flashbench; reads do not show it",
        (false, false) => "assumed, flashbench's default; reads do not show it",
    };
    let page = match (page_of_run(input), page_of_reads(input)) {
        (Some(_), _) => FOUND,
        (None, Some(_)) => "reads show its boundary",
        (None, None) => "typical",
    };
    let mut notes = vec![("ftl.erase_block", erase_block.to_owned()), ("ftl.page", page.to_owned())];
    if !input.measured.fat_area.is_zero() {
        notes.push(("ftl.fat_area", "small random writes are fast there".to_owned()));
    }
    notes
}

fn policy(input: &FitInput<'_>, model: Option<&WriteModel>) -> Vec<(&'static str, String)> {
    let Some(model) = model else { return vec![("policy", no_writes(input))] };
    let known = input.measured.known.unwrap_or_default();
    let limit = |found: Option<u32>, is_seen: bool| {
        let note = match (found, is_seen) {
            (Some(_), _) => FOUND,
            (None, true) => "one more costs merges",
            (None, false) => "assumed: no merges up to this number",
        };
        note.to_owned()
    };
    let mut notes = vec![
        ("open_units_linear", limit(known.open_units_linear, model.limits_seen[0])),
        ("open_units_random", limit(known.open_units_random, model.limits_seen[1])),
    ];
    if known.merge_s.is_some() {
        notes.push(("merge_us", FOUND.to_owned()));
    }
    if model.merge.0.is_empty() && model.random_merge.0.is_empty() {
        notes.push(("merge_us", "assumed".to_owned()));
    }
    if model.open_s > 0.0 {
        notes.push(("open_us", "from find-fat, which writes the same erase block repeatedly".to_owned()));
    }
    notes.push(("completes_broken_runs", "random writes inside an erase block are in jump_us".to_owned()));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::{Known, Measured};
    use crate::options::Options;
    use crate::reads::Reads;
    use crate::write_model::TimeCurve;

    /// The header of a profile, by the FAT area, what else was found, and the model of writes.
    fn header_of(fat_area: Bytes, known: Option<Known>, model: Option<&WriteModel>) -> String {
        let measured = Measured { fat_area, known, ..Measured::of_tables(Vec::new()) };
        let options = Options { profile_name: String::new(), holdout: 0.5, seed: 1 };
        let reads = Reads::default();
        let input = FitInput { measured: &measured, options: &options, erase_block: 4 << 20, reads: &reads };
        header(&input, model)
    }

    /// The same with merges.
    fn header_with(fat_area: Bytes, known: Option<Known>) -> String {
        let model = WriteModel { merge: TimeCurve(vec![(512, 0.2)]), ..WriteModel::default() };
        header_of(fat_area, known, Some(&model))
    }

    #[test]
    fn only_what_was_found_is_said_to_be_found() {
        let nothing = Some(Known::default());
        let merge = Some(Known { merge_s: Some(0.2), ..Known::default() });
        let limits =
            Some(Known { open_units_linear: Some(5), open_units_random: Some(2), ..Known::default() });
        let notes = [
            ("# ftl.fat_area: small random writes are fast there.", Bytes::mib(4), nothing),
            ("# merge_us: found in the run.", Bytes::ZERO, merge),
            ("# open_units_linear: found in the run.", Bytes::ZERO, limits),
            ("# open_units_random: found in the run.", Bytes::ZERO, limits),
        ];
        for (note, fat_area, known) in notes {
            let with = header_with(fat_area, known);
            assert!(with.lines().any(|line| line == note), "{note}: {with}");
            for known in [nothing, None] {
                let without = header_with(Bytes::ZERO, known);
                assert!(without.lines().all(|line| line != note), "{note}: {without}");
            }
        }
    }

    #[test]
    fn erase_block_that_reads_do_not_show_is_assumed_or_that_of_the_writes() {
        let (writes, run) = (WriteModel::default(), Some(Known::default()));
        for (known, model, note) in [
            (None, None, "assumed, flashbench's default"),
            (None, Some(&writes), "the erase block given to flashbench"),
            (run, None, "that of the write tests of the run"),
            (run, Some(&writes), "that of the write tests of the run"),
        ] {
            let header = header_of(Bytes::ZERO, known, model);
            let line = format!("# ftl.erase_block: {note}; reads do not show it.\n");
            assert!(header.contains(&line), "{line}: {header}");
        }
    }

    #[test]
    fn notes_name_the_log_or_the_run_that_they_rest_on() {
        let typical = WriteModel { assumed: 10, cells: 6, ..WriteModel::default() };
        for (origin, known) in [("log", None), ("run", Some(Known::default()))] {
            let without = header_of(Bytes::ZERO, known, None);
            for note in [
                format!("# capacity: assumed, as the {origin} does not give it."),
                format!("# read: typical of SD cards, as the {origin} has no reads."),
                format!("# write: typical of SD cards, as the {origin} has no writes."),
                format!("# policy: typical of SD cards, as the {origin} has no writes."),
            ] {
                assert!(without.lines().any(|line| line == note), "{note}: {without}");
            }
            let scaled = format!("scaled where the {origin} has enough cells, from 6 cells.");
            let few = header_of(Bytes::ZERO, known, Some(&typical));
            assert!(few.contains(&format!("# write: a typical card's times, {scaled}\n")), "{few}");
            let many = header_with(Bytes::ZERO, known);
            assert!(many.contains("# write: medians by request size, from 0 cells.\n"), "{many}");
        }
    }
}
