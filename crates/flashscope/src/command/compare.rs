//! `flashscope report compare`: the write speed of several runs over one long stream.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_record::run_file::RunFile;
use flashscope_report::compare::{Compared, html_page, text};

use crate::args::ReportCompare;
use crate::destination::Destination;
use crate::document::{CompareDocument, ComparedDocument, RatioDocument};
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;
use crate::{input, outputs};

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a file that is not a run file or holds no long stream, 3 if the page cannot be written,
/// 4 if it would overwrite a disk.
pub fn run(arguments: &ReportCompare, printer: &Printer) -> Result<Exit, Failure> {
    if let Some(file) = named_twice(&arguments.runs) {
        printer.remark(format!("note: {} is named twice, and compared with itself", file.display()));
    }
    let pages = &arguments.output;
    for run in &arguments.runs {
        outputs::permit(pages, run)?;
    }
    let runs =
        arguments.runs.iter().map(|file| input::run_file(file)).collect::<Result<Vec<RunFile>, Failure>>()?;
    let names = names(&arguments.runs, &runs);
    let named = arguments.runs.iter().zip(&names).zip(&runs);
    let devices = named
        .map(|((file, name), run)| compared(file, name, run))
        .collect::<Result<Vec<Compared<'_>>, Failure>>()?;
    if printer.json {
        let runs = arguments.runs.iter().zip(&runs).zip(&devices);
        let compared = runs.map(|((file, run), device)| ComparedDocument::new(file, run, device)).collect();
        printer.document(&CompareDocument { compared, ratios: RatioDocument::all(&devices) })?;
    } else {
        printer.result(&text(&devices, printer.width(), printer.style()))?;
    }
    for page in pages {
        let cannot = format!("cannot write {}; check the free space and permissions", page.display());
        Destination::of(page)?.write(&html_page(&devices)).or_exit(Exit::Failed, cannot)?;
        printer.remark(format!("wrote {}", page.display()));
    }
    Ok(Exit::Fine)
}

/// The name of each run: its file name; for equal file names, also what distinguishes them.
fn names(files: &[PathBuf], runs: &[RunFile]) -> Vec<String> {
    let short: Vec<String> = files.iter().map(|file| short_name(file)).collect();
    let equal = |index: usize| (0..short.len()).filter(|other| short[*other] == short[index]).collect();
    let name = |index: usize| {
        let equal: Vec<usize> = equal(index);
        match equal.as_slice() {
            [_] => short[index].clone(),
            _ => format!("{} ({})", short[index], distinction(index, &equal, files, runs)),
        }
    };
    (0..short.len()).map(name).collect()
}

fn short_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    name.trim_end_matches(".json").trim_end_matches(".flashscope").to_owned()
}

/// A file that is named twice: compared with itself it shows no difference.
fn named_twice(files: &[PathBuf]) -> Option<&PathBuf> {
    let mut seen = BTreeSet::new();
    files.iter().find(|file| file.canonicalize().is_ok_and(|path| !seen.insert(path)))
}

/// What distinguishes a run from those with an equal name: its target, its device, its directory, or its
/// position.
fn distinction(index: usize, equal: &[usize], files: &[PathBuf], runs: &[RunFile]) -> String {
    let target = |index: usize| runs[index].target.clone();
    let device = |index: usize| runs[index].device_name.clone();
    let directory = |index: usize| {
        let directory = files[index].parent().and_then(Path::file_name);
        directory.map_or_else(String::new, |directory| directory.to_string_lossy().into_owned())
    };
    let properties: [&dyn Fn(usize) -> String; 3] = [&target, &device, &directory];
    let distinguishes = |property: &&&dyn Fn(usize) -> String| {
        let values: BTreeSet<String> = equal.iter().map(|each| property(*each)).collect();
        values.len() == equal.len() && !values.contains("")
    };
    match properties.iter().find(distinguishes) {
        Some(property) => property(index),
        None => (equal.iter().take_while(|each| **each != index).count() + 1).to_string(),
    }
}

/// The long stream of a run, under this name.
fn compared<'a>(file: &Path, name: &str, run: &'a RunFile) -> Result<Compared<'a>, Failure> {
    Compared::of(name, run).ok_or_else(|| {
        let error = anyhow!(
            "{} holds no long stream of writes; measure one with: flashscope bench sustained TARGET -o FILE",
            file.display()
        );
        Failure { exit: Exit::Usage, error }
    })
}
