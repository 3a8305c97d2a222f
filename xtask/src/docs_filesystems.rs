//! The page `docs/filesystems.md`: which filesystem on which kind of stick, from the recordings.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use serde::Deserialize;

use crate::process;

/// The page, relative to the repository.
pub const PAGE: &str = "docs/filesystems.md";

/// A virtual stick of the tables, and what it stands for.
const STICKS: [(&str, &str); 6] = [
    ("generic-2g", "an old stick: one open unit, small erase blocks"),
    ("linuxplanet-class10-sd", "a card of 2010 with erase blocks of 4 MiB"),
    ("transcend-8g", "a stick with few open units and erase blocks of 4 MiB"),
    ("cheap-usb3-32g", "a cheap USB 3 stick"),
    ("a1-card-64g", "a card that keeps 64 blocks open"),
    ("patriot-xt-16g", "a fast stick with a log"),
];

/// The article's times of the kernel tree, seconds. Source: `LinuxPlanet`, "What's The Fastest Linux
/// Filesystem On Cheap Flash Media?", 2010-10-26.
const PUBLISHED: [(&str, &str, f64); 8] = [
    ("linuxplanet-class10-sd", "ext4", 125.0),
    ("linuxplanet-class10-sd", "ext2", 368.0),
    ("linuxplanet-class10-sd", "ext3", 501.0),
    ("linuxplanet-class10-sd", "vfat", 518.0),
    ("linuxplanet-noname-2g", "ext4", 156.0),
    ("linuxplanet-noname-2g", "ext3", 361.0),
    ("linuxplanet-noname-2g", "ext2", 434.0),
    ("linuxplanet-noname-2g", "vfat", 564.0),
];

/// The share of early writeback on the article's host, in log time. Fitted to the article: the order of ext2
/// and ext3 on the card.
const ARTICLE_EARLY_SHARE: f64 = 0.75;

/// The answer of `fs compare --json`, as far as the page needs it.
#[derive(Debug, Deserialize)]
struct Answer {
    times: Vec<Time>,
}

#[derive(Debug, Deserialize)]
struct Time {
    variant: String,
    workload: String,
    operation: String,
    seconds: f64,
    low: f64,
    high: f64,
    by_writeback: std::collections::BTreeMap<String, f64>,
}

/// The text of the page, from the answers of `binary`.
pub fn page(binary: &Path) -> anyhow::Result<String> {
    let mut page = INTRODUCTION.to_owned();
    for (workload, heading) in [
        ("tree", "A source tree: 33,000 files, 442 MB"),
        ("small", "2,000 files of at most 2 KiB"),
        ("large", "One file of 64 MiB"),
    ] {
        table(binary, workload, heading, &mut page)?;
    }
    article(binary, &mut page)?;
    Ok(page)
}

/// One table: a row a filesystem, a column a stick, the time to write and flush.
fn table(binary: &Path, workload: &str, heading: &str, page: &mut String) -> anyhow::Result<()> {
    let mut answers = Vec::new();
    for (stick, _) in STICKS {
        answers.push(answer(binary, stick, &["--workloads", workload])?);
    }
    let mut variants: Vec<&str> = Vec::new();
    for time in answers.iter().flat_map(|answer| &answer.times) {
        if !variants.contains(&time.variant.as_str()) {
            variants.push(&time.variant);
        }
    }
    let times = |variant: &str| -> Vec<Option<&Time>> {
        answers.iter().map(|answer| written(answer, variant, workload)).collect()
    };
    let mean = |variant: &&str| {
        let logs: Vec<f64> = times(variant).into_iter().flatten().map(|time| time.seconds.ln()).collect();
        logs.iter().sum::<f64>() / logs.len().max(1) as f64
    };
    variants.sort_by(|one, other| mean(one).total_cmp(&mean(other)));
    let names: Vec<String> = STICKS.iter().map(|(stick, _)| format!("`{stick}`")).collect();
    writeln!(page, "\n## {heading}\n\n| filesystem | {} |", names.join(" | "))?;
    writeln!(page, "|---|{}", "--:|".repeat(STICKS.len()))?;
    for variant in variants {
        let cells: Vec<String> =
            times(variant).into_iter().map(|time| time.map_or_else(dash, cell)).collect();
        writeln!(page, "| {variant} | {} |", cells.join(" | "))?;
    }
    Ok(())
}

fn dash() -> String {
    "–".to_owned()
}

/// A time with its interval, seconds.
fn cell(time: &Time) -> String {
    format!("{} ({} to {})", figure(time.seconds), figure(time.low), figure(time.high))
}

/// Two or three digits.
fn figure(seconds: f64) -> String {
    match seconds {
        seconds if seconds >= 100.0 => format!("{:.0}", (seconds / 10.0).round() * 10.0),
        seconds if seconds >= 10.0 => format!("{seconds:.0}"),
        seconds => format!("{seconds:.1}"),
    }
}

/// The article's times beside the replayed ones.
fn article(binary: &Path, page: &mut String) -> anyhow::Result<()> {
    page.push_str(ARTICLE);
    let mut errors = Vec::new();
    for stick in ["linuxplanet-class10-sd", "linuxplanet-noname-2g"] {
        let answer = answer(binary, stick, &["--workloads", "tree"])?;
        for (_, variant, published) in PUBLISHED.iter().filter(|(of, ..)| *of == stick) {
            let time = written(&answer, variant, "tree")
                .with_context(|| format!("no time of {variant} on {stick}"))?;
            let of = |writeback: &str| {
                let time = time.by_writeback.get(writeback);
                time.copied()
                    .with_context(|| format!("{variant} has no recording with {writeback} writeback"))
            };
            let (late, early) = (of("late")?, of("early")?);
            let replayed = early.powf(ARTICLE_EARLY_SHARE) * late.powf(1.0 - ARTICLE_EARLY_SHARE);
            let error = 100.0 * (replayed / published - 1.0);
            errors.push(error.abs());
            writeln!(
                page,
                "| `{stick}` | {variant} | {published:.0} | {replayed:.0} | {error:+.0} % | {late:.0} | {early:.0} |"
            )?;
        }
    }
    errors.sort_by(f64::total_cmp);
    let middle = errors.len() / 2;
    let median = (errors[middle - 1] + errors[middle]) / 2.0;
    let worst = errors[errors.len() - 1];
    writeln!(page, "\nThe median error is {median:.0} %, the worst {worst:.0} %.")?;
    page.push_str(CAVEATS);
    Ok(())
}

fn written<'a>(answer: &'a Answer, variant: &str, workload: &str) -> Option<&'a Time> {
    answer.times.iter().find(|time| {
        (time.variant.as_str(), time.workload.as_str(), time.operation.as_str())
            == (variant, workload, "write")
    })
}

fn answer(binary: &Path, stick: &str, options: &[&str]) -> anyhow::Result<Answer> {
    let mut command = Command::new(binary);
    command.args(["--json", "--quiet", "fs", "compare", &format!("sim:{stick}")]).args(options);
    let text = process::output(&mut command)?;
    serde_json::from_str(&text).with_context(|| format!("fs compare of {stick} printed an unknown document"))
}

const INTRODUCTION: &str = "\
# Which filesystem on which stick

`cargo xtask docs` makes this page. Its times come from recordings of Debian's kernel, replayed on virtual sticks
([method](methods/filesystems.md)). Compare filesystems for your own kind of stick, or on the stick itself:

    flashscope fs compare sim:transcend-8g
    flashscope fs compare sim:transcend-8g --factors alignment,stripe,filesystem
    sudo flashscope fs compare /dev/sdX               # all data on it is lost

- Small files decide. One large file takes nearly the same time on every filesystem.
- vfat and exfat, which sticks are sold with, are the slowest with many files on sticks with few open units.
- ext4 with the stripe of the erase block is among the fastest with many files where erase blocks have 4 MiB.
- The option `flush`, with which desktops mount vfat, makes small files slower still: each takes at least 0.1 s.

Times are seconds until everything is durable, with a 95 % interval. The partition starts on an erase block. `ext4-stripe`
is ext4 with the stripe of 4 MiB. `vfat-flush` is vfat as desktops mount it. A dash: not recorded yet.

| virtual stick | stands for |
|---|---|
| `generic-2g` | an old stick: one open unit, small erase blocks |
| `linuxplanet-class10-sd` | a card of 2010 with erase blocks of 4 MiB |
| `transcend-8g` | a stick with few open units and erase blocks of 4 MiB |
| `cheap-usb3-32g` | a cheap USB 3 stick |
| `a1-card-64g` | a card that keeps 64 blocks open |
| `patriot-xt-16g` | a fast stick with a log |
";

const ARTICLE: &str = "
## Compared with a published test

LinuxPlanet wrote a kernel tree to two devices in 2010 (\"What's The Fastest Linux Filesystem On Cheap Flash Media?\",
2010-10-26). Three of its times were used to fit the two virtual sticks: vfat on the card, ext4 and vfat on the stick.
One parameter is the host's: how early its page cache was written, three quarters of the distance from late to early in
log time.

| stick | filesystem | published, s | replayed, s | error | late writeback, s | early, s |
|---|---|--:|--:|--:|--:|--:|
";

const CAVEATS: &str = "
Today's kernel serves ext2 and ext3 by the ext4 driver, which did not exist as such in 2010. With late writeback it
flushes the files of ext3 in reverse order, which is slow on a stick without random mode. So the order of ext2 and ext3
on the stick is not the published one.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_two_or_three_digits_and_the_sticks_are_described() {
        assert_eq!([1234.0, 123.4, 45.6, 7.89].map(figure), ["1230", "120", "46", "7.9"]);
        for (stick, stands_for) in STICKS {
            assert!(INTRODUCTION.contains(&format!("| `{stick}` | {stands_for} |")), "{stick}");
        }
    }
}
