//! The host of the tests: real tools in scratch files.

use flashscope_linux::ScratchFiles;

/// Real tools in a folder below the temporary one.
pub fn host() -> ScratchFiles {
    ScratchFiles::new(&std::env::temp_dir()).unwrap()
}

/// Whether all tools for `programs` are here; says which is missing, and fails where nothing may be skipped.
pub fn has_tools(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| flashscope_linux::tool(program).is_none());
    let Some(missing) = missing else { return true };
    assert!(std::env::var_os("FLASHSCOPE_REQUIRE_ALL").is_none(), "{missing} is not installed");
    eprintln!("skipped: {missing} is not installed");
    false
}
