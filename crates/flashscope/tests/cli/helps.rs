//! The help: it fits a terminal, and its examples run.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{flashscope, published, stderr, stdout};

/// A terminal as large as most consoles after boot.
const LINES: usize = 24;
const COLUMNS: usize = 80;

/// The words of every command of the help, from the names of the man pages. No name has a hyphen.
fn commands() -> Vec<Vec<String>> {
    let names = stdout(&flashscope(&["generate"]));
    let pages = names.lines().filter_map(|name| name.strip_suffix(".1"));
    pages.map(|page| page.split('-').skip(1).map(str::to_owned).collect()).collect()
}

/// The help of a command on a terminal.
fn help(command: &[String], option: &str) -> String {
    help_of_width(command, option, COLUMNS)
}

fn help_of_width(command: &[String], option: &str, columns: usize) -> String {
    let mut process = Command::new(env!("CARGO_BIN_EXE_flashscope"));
    process.args(command).arg(option).env("COLUMNS", columns.to_string());
    stdout(&process.output().unwrap())
}

#[test]
fn short_help_of_every_command_fits_one_screen() {
    let commands = commands();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        let help = help(&command, "-h");
        let widest = help.lines().map(|line| line.chars().count()).max().unwrap();
        let lines = help.lines().count();
        assert!(lines <= LINES && widest <= COLUMNS, "{command:?}: {lines} x {widest}\n{help}");
    }
}

#[test]
fn long_help_of_every_command_shows_more_than_the_short_one_and_has_examples() {
    for command in commands() {
        let (short, long) = (help(&command, "-h"), help(&command, "--help"));
        assert!(long.lines().count() > short.lines().count(), "{command:?}");
        assert!(!short.contains("\nExamples:\n"), "{command:?}");
        assert!(!examples(&long).is_empty(), "{command:?}: {long}");
    }
}

/// The examples of a help, without their comments.
fn examples(help: &str) -> Vec<String> {
    let section = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let lines = section.take_while(|line| line.starts_with("  ")).map(str::trim_start);
    lines.map(|line| line.split_once("  ").map_or(line, |(command, _)| command).to_owned()).collect()
}

/// What an example contains that is not run here: it needs a disk, a mounted stick, an image with data,
/// or the trace or run file of another stick; it writes to a disk, serves until it is stopped, or shows this
/// machine. That its options exist is a test of the definitions.
const NOT_RUN: [&str; 11] = [
    "/dev/sdX",
    "/media/",
    "stick.img",
    "copy.trace",
    "whatif run.json",
    " apply ",
    " undo ",
    " restore",
    "sim serve",
    "pe watch",
    "pe list",
];

/// Runs an example in this directory, through a shell as a person does.
fn run(example: &str, directory: &Path) -> Output {
    let programs = Path::new(env!("CARGO_BIN_EXE_flashscope")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", example]).current_dir(directory).env("PATH", path).stdin(Stdio::null());
    shell.output().unwrap()
}

#[test]
fn examples_that_need_no_hardware_run() {
    let mut count = 0;
    for command in commands() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["flashbench.log", "align.log", "open-au.log"] {
            let log = published("patriot-xporter-xt-boost-16gb.txt");
            std::fs::copy(log, folder.path().join(name)).unwrap();
        }
        let fio = published("../other-programs/fio-sequential-write.json");
        std::fs::copy(fio, folder.path().join("fio.json")).unwrap();
        for example in examples(&help_of_width(&command, "--help", 200)) {
            if NOT_RUN.iter().any(|text| example.contains(text)) {
                continue;
            }
            let output = run(&example, folder.path());
            let expected = if example.contains("counterfeit") { 1 } else { 0 };
            assert_eq!(output.status.code(), Some(expected), "{example}: {}", stderr(&output));
            assert!(!output.stdout.is_empty() || example.contains(" > "), "{example}");
            count += 1;
        }
    }
    assert!(count >= 20, "only {count} examples were run");
}

#[test]
fn stick_without_its_prefix_is_found_and_said() {
    let output =
        flashscope(&["bench", "read", "generic-2g?seed=3", "--size", "1MiB", "--order", "sequential"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("the virtual stick sim:generic-2g?seed=3"), "{}", stderr(&output));
}

#[test]
fn file_with_the_name_of_a_stick_is_taken_for_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("generic-2g"), [0; 512]).unwrap();
    let output = run("flashscope check generic-2g", folder.path());
    assert!(!stderr(&output).contains("sim:"), "{}", stderr(&output));
    assert!(stdout(&output).contains("image file generic-2g"), "{}", stdout(&output));
}

#[test]
fn path_is_never_taken_for_a_virtual_stick() {
    for path in ["/dev/generic-2g", "./generic-2g"] {
        let output = flashscope(&["check", path]);
        assert_eq!(output.status.code(), Some(2), "{path}");
        assert!(!stderr(&output).contains("sim:"), "{}", stderr(&output));
    }
}

#[test]
fn mistyped_names_are_answered_with_similar_ones() {
    let cases: [(&[&str], &str); 8] = [
        (&["chekc", "sim:generic-2g"], "'check'"),
        (&["check", "--scrath", "sim:generic-2g"], "'--scratch'"),
        (&["check", "sim:generic-2h"], "did you mean generic-2g?"),
        (&["check", "generic-2h"], "did you mean sim:generic-2g?"),
        (&["bench", "raed", "sim:generic-2g"], "did you mean 'bench read'?"),
        (&["bench", "raed"], "did you mean 'bench read'?"),
        (&["sim", "show", "samsung-fit"], "did you mean samsung-fit-plus?"),
        (&["bench", "sim:generic-2g", "--order", "sequental"], "'sequential'"),
    ];
    for (arguments, meant) in cases {
        let output = flashscope(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(meant), "{arguments:?}: {}", stderr(&output));
    }
    let far = flashscope(&["check", "sim:my-stick"]);
    assert!(!stderr(&far).contains("did you mean"), "{}", stderr(&far));
}
