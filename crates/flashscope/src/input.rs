//! Input files: logs and run files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::anyhow;
use flashscope_layout::Plan;
use flashscope_record::run_file::RunFile;

use crate::document::FORMAT;
use crate::exit::{Exit, Failure, OrExit};
use crate::file_kind::{self, Kind};

/// The longest log that is read. The longest published log has 17 kB; a disk image named by mistake is
/// larger.
const LOG_BYTES_MAX: u64 = 16 << 20;

/// The file that is read for this name: `-` is standard input.
pub fn file(name: &Path) -> &Path {
    if name == Path::new("-") { Path::new("/dev/stdin") } else { name }
}

/// The bytes of a log.
///
/// # Errors
/// The error of the system.
pub fn read(name: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if name == Path::new("-") {
        std::io::stdin().take(LOG_BYTES_MAX).read_to_end(&mut bytes)?;
    } else {
        File::open(name)?.take(LOG_BYTES_MAX).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The longest plan that is read. A plan has a few kB.
const PLAN_BYTES_MAX: u64 = 1 << 20;

/// A plan file: the document of `plan --json`.
#[derive(Debug, serde::Deserialize)]
struct PlanFile {
    format: u32,
    #[serde(flatten)]
    plan: Plan,
}

/// The plan in a plan file; `-` is standard input.
///
/// # Errors
/// Exit code 2 if it is not a plan.
pub fn plan(name: &Path) -> Result<Plan, Failure> {
    file_kind::refuse_other(name, &[Kind::Plan])?;
    let shown = name.display().to_string();
    let mut text = String::new();
    let opened = File::open(file(name)).or_exit(Exit::Usage, format!("cannot read {shown}"))?;
    opened
        .take(PLAN_BYTES_MAX)
        .read_to_string(&mut text)
        .or_exit(Exit::Usage, format!("cannot read {shown}"))?;
    let no_plan = format!("{shown} is no plan of 'flashscope plan -o PLAN.json'");
    let read: PlanFile = serde_json::from_str(&text).or_exit(Exit::Usage, no_plan)?;
    if read.format != FORMAT {
        let error =
            anyhow!("{shown} has format {}, and this version reads {FORMAT}; make a new plan", read.format);
        return Err(Failure { exit: Exit::Usage, error });
    }
    Ok(read.plan)
}

/// The run in a run file.
///
/// # Errors
/// Exit code 2 if it is not a run file.
pub fn run_file(file: &Path) -> Result<RunFile, Failure> {
    file_kind::refuse_other(file, &[Kind::Run])?;
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).or_exit(Exit::Usage, format!("cannot read {name}"))?;
    RunFile::parse(&text).or_exit(Exit::Usage, name)
}
