//! `flashscope report compare`: the long streams of several runs, one over the other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_record::run_file::RunFile;
use flashscope_report::compare::{Compared, FIRST_BYTES, html_page, text};
use serde_json::{Value, json};

use super::report::read;
use crate::args::ReportCompare;
use crate::destination::Destination;
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;
use crate::{json, outputs};

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a file that is no run file or holds no long stream, 3 if the page cannot be written, 4 if it would
/// overwrite a disk.
pub fn run(arguments: &ReportCompare, printer: &Printer) -> Result<Exit, Failure> {
    let pages: Vec<PathBuf> = arguments.html.iter().chain(&arguments.output).cloned().collect();
    for run in &arguments.runs {
        outputs::permit(&pages, run)?;
    }
    let runs = arguments.runs.iter().map(|file| read(file)).collect::<Result<Vec<RunFile>, Failure>>()?;
    let names = names(&arguments.runs, &runs);
    let named = arguments.runs.iter().zip(&names).zip(&runs);
    let devices = named
        .map(|((file, name), run)| compared(file, name, run))
        .collect::<Result<Vec<Compared<'_>>, Failure>>()?;
    if printer.json {
        printer.document(&document(&arguments.runs, &runs, &devices))?;
    } else if arguments.html.is_none() {
        printer.result(&text(&devices, printer.width(), printer.style()))?;
    }
    for page in &pages {
        let cannot = format!("cannot write {}; is there space, and may you write there?", page.display());
        Destination::of(page)?.write(&html_page(&devices)).or_exit(Exit::Failed, cannot)?;
        printer.remark(format!("wrote {}", page.display()));
    }
    Ok(Exit::Fine)
}

/// What each run is called: its file's name, and where several have the same, what tells these apart: the target, the device, the folder,
/// or else which of them it is.
fn names(files: &[PathBuf], runs: &[RunFile]) -> Vec<String> {
    let short: Vec<String> = files.iter().map(|file| short_name(file)).collect();
    let alike = |index: usize| (0..short.len()).filter(|other| short[*other] == short[index]).collect();
    let name = |index: usize| {
        let alike: Vec<usize> = alike(index);
        match alike.as_slice() {
            [_] => short[index].clone(),
            _ => format!("{} ({})", short[index], told_apart(index, &alike, files, runs)),
        }
    };
    (0..short.len()).map(name).collect()
}

fn short_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    name.trim_end_matches(".json").trim_end_matches(".flashscope").to_owned()
}

/// What sets one run apart from all those that are called alike.
fn told_apart(index: usize, alike: &[usize], files: &[PathBuf], runs: &[RunFile]) -> String {
    let target = |index: usize| runs[index].target.clone();
    let device = |index: usize| runs[index].device_name.clone();
    let folder = |index: usize| {
        let folder = files[index].parent().and_then(Path::file_name);
        folder.map_or_else(String::new, |folder| folder.to_string_lossy().into_owned())
    };
    let ways: [&dyn Fn(usize) -> String; 3] = [&target, &device, &folder];
    let tells_apart = |way: &&&dyn Fn(usize) -> String| {
        let all: BTreeSet<String> = alike.iter().map(|each| way(*each)).collect();
        all.len() == alike.len() && !all.contains("")
    };
    match ways.iter().find(tells_apart) {
        Some(way) => way(index),
        None => (alike.iter().take_while(|each| **each != index).count() + 1).to_string(),
    }
}

/// The device of a run, under this name.
fn compared<'a>(file: &Path, name: &str, run: &'a RunFile) -> Result<Compared<'a>, Failure> {
    Compared::of(name, run).ok_or_else(|| {
        let error = anyhow!(
            "{} holds no long stream of writes; measure one (bench sustained TARGET -o FILE)",
            file.display()
        );
        Failure { exit: Exit::Usage, error }
    })
}

fn document(files: &[PathBuf], runs: &[RunFile], devices: &[Compared<'_>]) -> Value {
    let each = files.iter().zip(runs).zip(devices).map(|((file, run), device)| {
        let mut object = json!({
            "run": file,
            "name": device.name,
            "target": run.target,
            "sustained": device.sustained.as_ref().map(json::FindingDocument::of),
            "so_far": json::so_far_document(device.so_far()),
        });
        for (key, bytes) in FIRST_BYTES {
            object[key] = json!(device.speed_of_first(bytes.as_f64()));
        }
        object
    });
    json::document(json!({ "compared": each.collect::<Vec<_>>() }))
}
