//! Man pages and shell completions, as packages install them.

use super::bad_input::assert_refused;
use super::{flashscope, stdout};

fn generated(name: &str) -> String {
    let output = flashscope(&["generate", name]);
    assert!(output.status.success(), "{name}");
    stdout(&output)
}

#[test]
fn man_pages_exist_for_commands_of_the_help_alone() {
    let names = stdout(&flashscope(&["generate"]));
    for page in ["flashscope.1", "flashscope-check.1", "flashscope-bench-write.1", "flashscope-sim-serve.1"] {
        assert!(names.lines().any(|name| name == page), "{page} is missing: {names}");
        assert!(generated(page).contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(!names.contains("schema"), "{names}");
    assert!(!names.contains("generate"), "{names}");
}

#[test]
fn man_page_of_a_command_shows_its_options() {
    let page = generated("flashscope-check.1");
    assert!(page.contains("\\-\\-scratch"), "{page}");
    assert!(page.contains("\\-\\-json"), "options of every command are missing: {page}");
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let text = generated(shell);
        assert!(text.contains("verify") && text.contains("sustained"), "{shell}");
    }
}

#[test]
fn unknown_name_is_refused() {
    assert_refused(&["generate", "flashscope-chekc.1"], 2, &["flashscope-chekc.1", "'flashscope generate'"]);
}
