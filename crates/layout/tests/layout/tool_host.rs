//! The host of the tests: real tools in scratch files.

use flashscope_linux::ScratchFiles;

/// Real tools in a folder below the temporary one.
pub fn host() -> ScratchFiles {
    ScratchFiles::new(&std::env::temp_dir()).unwrap()
}

/// Whether all tools for `programs` are here; says which is missing, and fails where nothing may be skipped.
pub fn has_tools(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| flashscope_linux::tool(program).is_none());
    if let Some(missing) = missing {
        skip(missing);
    }
    missing.is_none()
}

/// Says that a test needs a tool that is missing. Fails where nothing may be skipped.
pub fn skip(missing: &str) {
    skip_because(&format!("{missing} is not installed"));
}

/// Says why a test does not run. Fails where nothing may be skipped.
pub fn skip_because(reason: &str) {
    let requires_all = std::env::var("FLASHSCOPE_REQUIRE_ALL").as_deref() == Ok("1");
    assert!(!requires_all, "{reason}");
    #[expect(clippy::print_stderr, reason = "a skipped test prints its reason")]
    {
        eprintln!("skipped: {reason}");
    }
}
