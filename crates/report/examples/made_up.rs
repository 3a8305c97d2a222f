//! Writes the reports of a synthetic run: `cargo run -p flashscope-report --example made_up -- DIRECTORY`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::path::PathBuf;

use flashscope_report::{Report, Style, html, terminal};

fn main() -> std::io::Result<()> {
    let directory = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    let findings = sample::findings();
    for (name, run) in [("measured", sample::run()), ("published", sample::published())] {
        let report = Report::new(&run, &findings);
        std::fs::write(directory.join(name).with_extension("html"), html(&report))?;
        std::fs::write(directory.join(name).with_extension("txt"), terminal(&report, 80, Style::Ansi))?;
    }
    Ok(())
}
