//! Which shared libraries a program needs, as the packages of Debian that hold them.

/// The package of the C library, and the versions of its symbols that a program names.
const C_LIBRARY: (&str, &str) = ("libc6", "GLIBC_");

/// The package of the library that unwinds the stack after a panic, its file, and the version that all
/// supported releases have. Source: the symbols file of libgcc-s1 in Debian 12 for `_Unwind_*`.
const UNWINDER: (&str, &str, &str) = ("libgcc-s1", "libgcc_s.so.1", "4.2");

/// The field `Depends` of a program, empty for a static one.
pub fn depends(program: &[u8]) -> String {
    let mut packages = Vec::new();
    let (package, prefix) = C_LIBRARY;
    if let Some((major, minor)) = versions(program, prefix).max() {
        packages.push(format!("{package} (>= {major}.{minor})"));
    }
    let (package, file, version) = UNWINDER;
    if texts(program, file).any(|rest| rest.first() == Some(&0)) {
        packages.push(format!("{package} (>= {version})"));
    }
    packages.join(", ")
}

/// The versions `MAJOR.MINOR` that stand after `prefix` in the dynamic string table.
fn versions<'a>(program: &'a [u8], prefix: &'a str) -> impl Iterator<Item = (u32, u32)> + 'a {
    texts(program, prefix).filter_map(|rest| {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (major, minor) = std::str::from_utf8(&rest[..end]).ok()?.split_once('.')?;
        // A third number, as in 2.2.5, never decides: two numbers are older than any release that still gets
        // updates.
        let minor = minor.split('.').next()?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    })
}

/// What follows each string that starts with `prefix`.
fn texts<'a>(program: &'a [u8], prefix: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
    let prefix = prefix.as_bytes();
    let starts = program.windows(prefix.len() + 1).enumerate();
    starts.filter_map(move |(index, window)| {
        let rest = window.strip_prefix(b"\0")?.starts_with(prefix).then_some(index + 1 + prefix.len())?;
        program.get(rest..)
    })
}
