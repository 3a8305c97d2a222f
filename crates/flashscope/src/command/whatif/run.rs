//! The run that a twin is fitted to: a run file, or the check of a virtual stick.

use std::path::Path;

use anyhow::anyhow;
use flashscope_layout::steps::quoted_path;
use flashscope_record::run_file::RunFile;

use crate::args::Whatif;
use crate::command::check;
use crate::exit::{Exit, Failure, OrExit};
use crate::file_kind::{self, Kind};
use crate::input;
use crate::printer::Printer;

/// The run of the target.
///
/// # Errors
/// Exit code 2 if it is neither a run file nor a virtual stick.
pub fn of(arguments: &Whatif, printer: &Printer) -> Result<RunFile, Failure> {
    let target = &arguments.target;
    if target.starts_with("sim:") {
        return check::of_virtual(target, arguments.seed, printer);
    }
    let path = Path::new(target);
    file_kind::refuse_other(path, &[Kind::Run])?;
    let metadata = path.metadata().or_exit(Exit::Usage, format!("cannot read {target}"))?;
    let measured = match metadata.is_dir() {
        true => quoted_path(target),
        false if metadata.is_file() && is_json(path) => return input::run_file(path),
        // A file is no stick.
        false if metadata.is_file() => "/dev/sdX --scratch".to_owned(),
        false => format!("{} --scratch", quoted_path(target)),
    };
    let error = anyhow!(
        "{target} is no run file, and reads alone do not show what a layout gains. Make a run file with \
         writes (all data is put back), then use that: flashscope check {measured} -o run.json"
    );
    Err(Failure { exit: Exit::Usage, error })
}

/// Whether a file begins as JSON does. An image of a stick begins with a boot sector or zeros.
fn is_json(path: &Path) -> bool {
    use std::io::Read;
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    read.is_ok() && start.trim_ascii_start().starts_with(b"{")
}
