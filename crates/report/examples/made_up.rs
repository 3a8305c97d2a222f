//! Writes the reports of a made-up run, to look at them: `cargo run -p flashscope-report --example made_up -- FOLDER`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::path::PathBuf;

use flashscope_report::{Report, Style, html, terminal};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    let findings = sample::findings();
    for (name, run) in [("measured", sample::run()), ("published", sample::published())] {
        let report = Report { run: &run, findings: &findings };
        std::fs::write(folder.join(name).with_extension("html"), html(&report))?;
        std::fs::write(folder.join(name).with_extension("txt"), terminal(&report, 80, Style::Ansi))?;
    }
    Ok(())
}
