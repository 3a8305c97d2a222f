//! What a file is that was named where another kind belongs: so that the error can say what takes it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::journal;
use flashscope_flashbench::parse::parse;
use flashscope_layout::apply;
use flashscope_layout::steps::quoted_path;
use flashscope_report::printable;

use crate::exit::{Exit, Failure};

/// What is read of any file: enough to tell text from an image.
const START: u64 = 4096;
/// What is read of a text: no log is longer.
const TEXT_MAX: u64 = 16 << 20;

/// A file that a command of flashscope takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A run file.
    Run,
    /// A plan.
    Plan,
    /// An undo file.
    Undo,
    /// A journal of `--scratch`.
    Journal,
    /// A log of flashbench, or the output of another program that `import` reads.
    Log,
}

impl Kind {
    fn of(start: &[u8]) -> Option<Self> {
        let is_json = start.trim_ascii_start().starts_with(b"{");
        let has = |sign: &str| start.windows(sign.len()).any(|part| part == sign.as_bytes());
        if start.starts_with(apply::UNDO_MAGIC) {
            Some(Self::Undo)
        } else if start.starts_with(&journal::MAGIC) {
            Some(Self::Journal)
        } else if is_json && has("\"flashscope\"") && has("\"observations\"") {
            Some(Self::Run)
        } else if is_json && has("\"format\"") && has("\"medium\"") && has("\"partitions\"") {
            Some(Self::Plan)
        } else {
            let is_log = !start.contains(&0) && parse(start, "").is_ok();
            is_log.then_some(Self::Log)
        }
    }

    /// What it is, and the command that takes it.
    const fn words(self) -> [&'static str; 2] {
        match self {
            Self::Run => ["a run file", "report"],
            Self::Plan => ["a plan", "apply"],
            Self::Undo => ["an undo file", "undo"],
            Self::Journal => ["a journal of --scratch", "restore"],
            Self::Log => ["a log", "import"],
        }
    }
}

/// Refuses a file of another kind than those that are expected; none are where a stick or its image is.
///
/// # Errors
/// Exit code 2, with the command that takes the file.
pub fn refuse_other(path: &Path, expected: &[Kind]) -> Result<(), Failure> {
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let Some(start) = is_file.then(|| start(path).ok()).flatten() else { return Ok(()) };
    let Some(kind) = Kind::of(&start).filter(|kind| !expected.contains(kind)) else { return Ok(()) };
    let [what, command] = kind.words();
    let name = path.display().to_string();
    let error =
        anyhow!("{} is {what}; this reads it: flashscope {command} {}", printable(&name), quoted_path(&name));
    Err(Failure { exit: Exit::Usage, error })
}

/// All of a text; of another file its start.
fn start(path: &Path) -> std::io::Result<Vec<u8>> {
    let (mut file, mut start) = (File::open(path)?, Vec::new());
    file.by_ref().take(START).read_to_end(&mut start)?;
    if !start.contains(&0) {
        file.take(TEXT_MAX).read_to_end(&mut start)?;
    }
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_recognised_by_its_start() {
        let kinds: [(&[u8], Option<Kind>); 7] = [
            (b"FSUNDO1\nabc", Some(Kind::Undo)),
            (b"FSJOUR1\nabc", Some(Kind::Journal)),
            (br#"{"format": 1, "flashscope": "0.1.0", "observations": []}"#, Some(Kind::Run)),
            (br#"{"format": 1, "plan": {"medium": {}, "partitions": []}}"#, Some(Kind::Plan)),
            (b"align 8388608\tpre 543us\ton 819us\tpost 656us\tdiff 219us\n", Some(Kind::Log)),
            (b"Dear Ada,\nthe stick is slow.\n", None),
            (b"", None),
        ];
        for (start, kind) in kinds {
            assert_eq!(Kind::of(start), kind, "{}", String::from_utf8_lossy(start));
        }
    }
}
