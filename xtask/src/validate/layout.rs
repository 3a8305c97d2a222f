//! `cargo xtask validate layout`: the tests of the layout crate with many more random cases.

use crate::process;

/// How many cases.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// How many times as many cases as `cargo test` tries; 42: 504 cuts while applying and while undoing, and
    /// 2688 filesystems made by the real tools.
    #[arg(long, value_name = "N", default_value_t = 42)]
    times: u64,
}

/// Runs the tests; they print what is missing.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut command = process::cargo();
    command.args(["test", "--package", "flashscope-layout", "--test", "layout", "--", "--nocapture"]);
    command.env("FLASHSCOPE_LAYOUT_SWEEP", arguments.times.to_string());
    command.env("FLASHSCOPE_REQUIRE_ALL", "1");
    process::run(&mut command)
}
