//! `sim:` may be left out where nothing else has the name.

use std::path::Path;

use flashscope_sim::Profile;

/// The virtual stick that `text` means without `sim:`: a built-in profile, with or without options. A file or
/// device of that name comes first, and a path is never a virtual stick.
pub fn virtual_stick(text: &str) -> Option<String> {
    let name = name(text);
    let is_profile = Profile::builtin_names().any(|known| known == name);
    let is_there = [Path::new(text), Path::new(name), &Path::new("/dev").join(name)]
        .into_iter()
        .any(|path| path.symlink_metadata().is_ok());
    (is_profile && !is_there).then(|| format!("sim:{text}"))
}

/// The virtual stick with a similar name, for a target that does not exist.
pub fn similar_stick(text: &str) -> Option<String> {
    let similar = Profile::similar_builtin(name(text)).filter(|_| !text.contains('/'))?;
    Some(format!("sim:{similar}"))
}

fn name(text: &str) -> &str {
    text.split('?').next().unwrap_or(text)
}
