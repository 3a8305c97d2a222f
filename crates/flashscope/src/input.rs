//! Logs that are read: a file, or `-` for standard input.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest log that is read: the longest published one has 17 kB; a disk image given by mistake has more.
const LOG_MAX: u64 = 16 << 20;

/// The file behind the name.
pub fn file(name: &Path) -> &Path {
    if name == Path::new("-") { Path::new("/dev/stdin") } else { name }
}

/// Its bytes.
pub fn read(name: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if name == Path::new("-") {
        std::io::stdin().take(LOG_MAX).read_to_end(&mut bytes)?;
    } else {
        File::open(name)?.take(LOG_MAX).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
