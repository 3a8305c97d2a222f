//! Helpers of the tests: running the program, reading its output, and served sticks.

pub mod schema;
pub mod served;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs flashscope without a terminal and returns its output.
pub fn flashscope(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flashscope")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs flashscope with this standard input.
pub fn flashscope_reading(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_flashscope"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may end without reading everything.
    let _closed = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The one JSON document on standard output. It starts with the common fields and matches its schema.
pub fn document(arguments: &[&str]) -> Value {
    let output = flashscope(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("{\n  \"format\": 1,\n  \"flashscope\": \""), "{arguments:?}: {text}");
    let document = serde_json::from_str(&text).unwrap();
    schema::assert_valid(schema::name_of(arguments, &document), &document);
    document
}

pub fn finding<'a>(document: &'a Value, id: &str) -> &'a Value {
    document["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == id).unwrap()
}

/// A published log in the repository.
pub fn published(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/published").join(name)
}

/// Prints why a test did not run. With `FLASHSCOPE_REQUIRE_ALL=1`, fails.
pub fn skip(reason: &str) {
    assert!(std::env::var("FLASHSCOPE_REQUIRE_ALL").as_deref() != Ok("1"), "not to be skipped: {reason}");
    #[expect(clippy::print_stderr, reason = "a skipped test prints its reason")]
    {
        eprintln!("skipped: {reason}");
    }
}

/// An image file of zeros.
pub fn image(folder: &tempfile::TempDir, mebibytes: u64) -> String {
    let path = folder.path().join("stick.img");
    std::fs::File::create(&path).unwrap().set_len(mebibytes << 20).unwrap();
    path.to_str().unwrap().to_owned()
}
