//! Ctrl-C at the question of every command that writes: nothing is written, whatever is typed afterwards.

use std::fs;
use std::io::Write;
use std::process::Command;

use flashscope_device::{Lba, Pattern};
use rustix::process::{Pid, Signal, kill_process};

use super::confirmations::at_question;
use super::scratch::Place;
use super::served::has;
use super::{flashscope, stderr};

/// An image full of data.
fn image_of_data(folder: &tempfile::TempDir, mebibytes: usize) -> String {
    let path = folder.path().join("stick.img");
    let mut bytes = vec![0; mebibytes << 20];
    Pattern::new(7).fill(Lba(0), &mut bytes);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Presses Ctrl-C at the question, and then types the answer all the same.
fn interrupted(command: Command, image: &str) {
    let before = fs::read(image).unwrap();
    let named = format!("{command:?}");
    let (code, messages) = at_question(command, |child, person| {
        kill_process(Pid::from_child(child), Signal::INT).unwrap();
        // A program that does not notice the signal takes this answer.
        writeln!(person, "yes").unwrap();
    });
    assert_eq!(code, Some(130), "{named}: {messages}");
    assert!(messages.contains("interrupted; nothing was written"), "{named}: {messages}");
    assert!(fs::read(image).unwrap() == before, "{named}: {messages}");
}

fn command(folder: &tempfile::TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope"));
    command.args(arguments).current_dir(folder.path());
    command.env("FLASHSCOPE_JOURNALS", folder.path().join("journals"));
    command
}

#[test]
fn interrupt_at_the_question_of_a_measurement_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let image = image_of_data(&folder, 32);
    for arguments in [
        &["check", &image, "--erase"][..],
        &["check", &image, "--scratch"],
        &["bench", &image, "--erase"],
        &["bench", "methods", &image, "--erase"],
        &["measure", "write-size", &image, "--erase"],
        &["verify", &image, "--erase"],
        &["verify", &image, "--full", "--erase"],
    ] {
        interrupted(command(&folder, arguments), &image);
    }
}

/// Both read the image before they ask, so that the handler of that reading got the signal.
#[test]
fn interrupt_at_the_question_of_apply_and_undo_writes_nothing() {
    if !has("sfdisk") || !has("mkfs.ext4") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let image = image_of_data(&folder, 128);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (plan, undo) = (path("plan.json"), path("stick.undo"));
    let wish = ["--for", "linux-data", "--erase-block", "4MiB", "-o", &plan];
    let planned = flashscope(&[&["plan", &image][..], &wish].concat());
    assert_eq!(planned.status.code(), Some(0), "{}", stderr(&planned));
    let apply = ["apply", &plan, "--undo-file", &undo];
    interrupted(command(&folder, &apply), &image);
    assert!(!fs::exists(&undo).unwrap(), "no undo file is left");
    let applied = flashscope(&[&apply[..], &["--yes"]].concat());
    assert_eq!(applied.status.code(), Some(0), "{}", stderr(&applied));
    interrupted(command(&folder, &["undo", &undo]), &image);
}

#[test]
fn interrupt_at_the_question_of_restore_writes_nothing_and_keeps_the_journal() {
    let place = Place::new(24);
    place.killed_while_writing();
    // The lock of a killed process lasts for a moment longer.
    while stderr(&place.run(&["check", place.image(), "--erase", "--yes"])).contains("is in use") {}
    interrupted(place.command(&["restore"]), place.image());
    assert!(place.journal().is_some());
}
