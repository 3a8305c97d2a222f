//! What a person has to type before an image is overwritten, on a pseudo-terminal and without one.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::layouts::{Loop, has_loops};
use super::{flashscope, flashscope_reading, image, stderr};

/// Runs flashscope on a pseudo-terminal on which `typed` and the enter key are typed. Its exit code.
fn answered(arguments: &[&str], typed: &str) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope"));
    command.args(arguments);
    at_question(command, |_, person| writeln!(person, "{typed}").unwrap()).0
}

/// A new pseudo-terminal: the end of the person, and that of the program.
pub fn pseudo_terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let name = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())).to_owned();
    let terminal = File::options().read(true).write(true).open(name).unwrap();
    (File::from(person), terminal)
}

/// Runs a command on a pseudo-terminal until it asks. Then a person acts on the process, or types. Its exit
/// code and messages.
pub fn at_question(mut command: Command, act: impl FnOnce(&Child, &mut File)) -> (Option<i32>, String) {
    let (mut person, terminal) = pseudo_terminal();
    let mut child = command
        .stdin(terminal.try_clone().unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut messages = child.stderr.take().unwrap();
    let mut text = Vec::new();
    let mut byte = [0];
    // The question ends without a new line.
    while !text.ends_with(b"to continue: ") && messages.read(&mut byte).unwrap() == 1 {
        text.push(byte[0]);
    }
    act(&child, &mut person);
    messages.read_to_end(&mut text).unwrap();
    drop(terminal);
    (child.wait().unwrap().code(), String::from_utf8_lossy(&text).into_owned())
}

fn is_untouched(image: &str) -> bool {
    std::fs::read(image).unwrap().iter().all(|byte| *byte == 0)
}

#[test]
fn only_the_whole_word_confirms_on_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 32);
    let arguments = ["check", "--erase", "--time-budget", "1", &image];
    for typed in ["", "y", "ye", "yess", "no", "s"] {
        assert_eq!(answered(&arguments, typed), Some(4), "'{typed}'");
        assert!(is_untouched(&image), "'{typed}'");
    }
    assert_eq!(answered(&arguments, "yes"), Some(0));
    assert!(!is_untouched(&image));
}

/// A script that pipes "yes" has to say --yes.
#[test]
fn an_answer_from_a_pipe_does_not_confirm() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 32);
    let output = flashscope_reading(&["check", "--erase", &image], b"yes\n");
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("not a terminal"));
    assert!(is_untouched(&image));
}

/// Another file may be attached to the same loop device tomorrow.
#[test]
fn a_loop_device_is_erased_only_if_its_file_is_confirmed() {
    if !has_loops() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let image = image(&folder, 32);
    let disk = Loop::over(&image);
    let budget = ["--write-budget", "1MiB", "--time-budget", "1"];
    let check = |yes: &str| flashscope(&[&["check", "--erase", yes, &disk.0][..], &budget].concat());
    for yes in ["--yes", "--yes=", "--yes=/dev/zero", &format!("--yes={}", disk.0)] {
        let refused = check(yes);
        assert_eq!(refused.status.code(), Some(4), "{yes}: {}", stderr(&refused));
        assert!(stderr(&refused).contains(&format!("--yes={image}")), "{}", stderr(&refused));
    }
    let arguments = [&["check", "--erase", &disk.0][..], &budget].concat();
    for typed in ["yes", "loop0", &disk.0] {
        assert_eq!(answered(&arguments, typed), Some(4), "{typed}");
    }
    assert!(is_untouched(&image));
    assert_eq!(answered(&arguments, "stick.img"), Some(0));
    assert_eq!(answered(&arguments, &image), Some(0));
    let erased = check(&format!("--yes={image}"));
    assert_eq!(erased.status.code(), Some(0), "{}", stderr(&erased));
    assert!(!is_untouched(&image));
}

#[test]
fn a_file_that_is_no_image_is_erased_only_with_force_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (text, odd) = (path("letter.txt"), path("odd.img"));
    let letter = "Dear Ada, here are the photos.\n".repeat(1 << 20);
    std::fs::write(&text, &letter).unwrap();
    File::create(&odd).unwrap().set_len((32 << 20) + 700).unwrap();
    for (file, why) in [(&text, "it begins with text"), (&odd, "33555132 bytes are not whole sectors")] {
        for permission in ["--erase", "--scratch"] {
            let refused = flashscope(&["check", permission, "--yes", file]);
            assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
            let message = stderr(&refused);
            assert!(message.contains(why) && message.contains("add --force-image"), "{message}");
        }
    }
    assert_eq!(std::fs::read_to_string(&text).unwrap(), letter);
    let read = flashscope(&["check", &text, "--time-budget", "1"]);
    assert_eq!(read.status.code(), Some(0), "it may be read: {}", stderr(&read));
    for file in [&text, &odd] {
        let budget = ["--write-budget", "1MiB", "--time-budget", "1"];
        let forced = [&["check", "--erase", "--yes", "--force-image", file][..], &budget].concat();
        let erased = flashscope(&forced);
        assert_eq!(erased.status.code(), Some(0), "{}", stderr(&erased));
    }
    assert_ne!(std::fs::read(&text).unwrap(), letter.as_bytes());
    let alone = flashscope(&["check", "--force-image", &text]);
    assert_eq!(alone.status.code(), Some(2), "it needs a permission: {}", stderr(&alone));
}

/// Nothing is lost with a virtual stick.
#[test]
fn virtual_stick_is_erased_without_a_question() {
    for command in [&["verify"][..], &["measure", "align"]] {
        let output = flashscope(&[command, &["--erase", "sim:generic-2g"]].concat());
        assert_eq!(output.status.code(), Some(0), "{command:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("confirmation"), "{}", stderr(&output));
    }
}
