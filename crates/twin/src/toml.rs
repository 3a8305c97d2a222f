//! A fitted profile as TOML, with a comment for each group of numbers.

use std::fmt::Write as _;

use flashscope_device::Bytes;

use crate::draft::{Draft, Line};
use crate::fitting::Options;
use crate::measured::{Key, Measured};
use crate::reads::Reads;

/// What a profile is written from, beside the numbers of its writes.
pub(crate) struct Document<'a> {
    pub(crate) measured: &'a Measured,
    pub(crate) options: &'a Options,
    pub(crate) erase_block: u64,
    pub(crate) reads: &'a Reads,
}

/// The page where no boundary says otherwise: two planes of 8 KiB.
pub(crate) const PAGE: u64 = 16 << 10;

/// SD high speed leaves so much in practice; a card that was seen faster has a faster bus.
const HIGH_SPEED_MB_PER_S: f64 = 22.0;

/// How a fitted profile says how many numbers were chosen.
const FITTED: &str = "# Fitted: ";

/// How many numbers were chosen, and from how many cells, as a fitted profile's text says it.
#[must_use]
pub fn numbers_and_cells(profile: &str) -> Option<(usize, usize)> {
    let line = profile.lines().find_map(|line| line.strip_prefix(FITTED))?;
    let mut counts = line.split_whitespace().filter_map(|word| word.parse().ok());
    Some((counts.next()?, counts.next()?))
}

/// Writes a profile.
pub(crate) fn write_profile(document: &Document<'_>, draft: Option<&Draft>) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let numbers = document.reads.parameters() + draft.map_or(0, Draft::parameters);
    let cells = document.reads.cells + draft.map_or(0, |draft| draft.cells);
    let _ = head(&mut text, document, numbers, cells);
    let rate = link(&mut text, document, draft);
    let _ = reads(&mut text, document, rate);
    let _ = writes(&mut text, draft);
    let _ = geometry(&mut text, document, draft.is_some());
    let _ = policy(&mut text, document, draft);
    text
}

type Written = Result<(), std::fmt::Error>;

fn head(text: &mut String, document: &Document<'_>, numbers: usize, cells: usize) -> Written {
    let Document { measured, options, .. } = document;
    let described =
        if measured.device_name.is_empty() { "a stick known from one log" } else { &measured.device_name };
    writeln!(
        text,
        "# Fitted by flashscope sim fit --holdout {} --seed {}. Times in microseconds.",
        options.holdout, options.seed
    )?;
    writeln!(text, "{FITTED}{numbers} numbers from {cells} cells.")?;
    writeln!(text, "name = {}", quoted(&options.profile_name))?;
    writeln!(text, "description = {}", quoted(described))?;
    let (capacity, known) = capacity(document);
    writeln!(text, "capacity = {}    # {known}\n", capacity.get())?;
    let place = if measured.source.is_empty() { &measured.name } else { &measured.source };
    writeln!(text, "[[source]]\nwhat = \"flashbench's tables\"\nwhere = {}\n", quoted(place))
}

/// The capacity that the log says, or one that its tables fit on.
fn capacity(document: &Document<'_>) -> (Bytes, &'static str) {
    if let Some(capacity) = document.measured.capacity {
        return (capacity, "from the log");
    }
    let candidates = document.measured.cells().filter_map(|cell| match cell.key {
        Key::Read { candidate, .. } => Some(candidate.get()),
        _ => None,
    });
    let block = document.erase_block;
    // Half the capacity is the largest boundary that flashbench reads at; sold sizes lie below powers of two.
    let by_reads = candidates.max().map(|largest| largest.saturating_mul(37) / 10);
    // 16 MiB and twelve erase blocks for each of up to 64 units.
    let room = (16 << 20) + block * 12 * 64;
    let bytes = by_reads.map_or(room.max(3_900 << 20), |bytes| bytes.max(room));
    (Bytes::new(bytes / block * block), "assumed: the log does not say")
}

/// The link, which a log shows only together with the card; returns its rate in 10^6 bytes per second.
fn link(text: &mut String, document: &Document<'_>, draft: Option<&Draft>) -> f64 {
    let fastest = draft.map_or(0.0, |draft| {
        let rate = |point: &(u64, f64)| crate::draft::bytes_f64(point.0) / point.1 / 1e6;
        draft.append.0.iter().chain(&draft.switch.0).chain(&draft.jump.0).map(rate).fold(0.0, f64::max)
    });
    let (bus, rate) = if fastest < HIGH_SPEED_MB_PER_S {
        ("sd-high-speed", HIGH_SPEED_MB_PER_S)
    } else {
        ("sd-sdr104", 90.0)
    };
    let whole = Bytes::new(document.erase_block.clamp(64 << 10, 32 << 20));
    let _ = writeln!(
        text,
        "[link]\nbasis = \"assumed\"    # its time is part of the times below, which are those of whole requests"
    );
    let _ = writeln!(
        text,
        "bus = \"{bus}\"\nmax_command = {}\ncommand_us = 0\nmegabytes_per_s = {rate}\n",
        size(whole.get())
    );
    rate
}

fn reads(text: &mut String, document: &Document<'_>, rate: f64) -> Written {
    let reads = document.reads;
    let request = document.measured.cells().find_map(|_| read_request(document)).unwrap_or(1024);
    let transfer_us = crate::draft::bytes_f64(request) / rate;
    if reads.cells == 0 {
        writeln!(
            text,
            "[read]\nbasis = \"assumed\"    # the log has no reads; typical of SD cards\naccess_us = 600\n"
        )?;
        return Ok(());
    }
    writeln!(
        text,
        "[read]\nbasis = \"measured\"    # medians over {} cells of flashbench -a, reads of {}",
        reads.cells,
        Bytes::new(request)
    )?;
    writeln!(text, "access_us = {}\n", us((reads.base_s - transfer_us / 1e6).max(1e-6)))?;
    for level in reads.levels.iter().rev() {
        let [before, across, after] = level.adds_s.map(us);
        writeln!(text, "[[read.boundary]]\nperiod = {}", size(level.period))?;
        writeln!(text, "across_us = {across}\nbefore_us = {before}\nafter_us = {after}\n")?;
    }
    Ok(())
}

fn read_request(document: &Document<'_>) -> Option<u64> {
    document.measured.tables.iter().find_map(|table| match table.command {
        flashscope_flashbench::Command::Align { read } => Some(read.get()),
        _ => None,
    })
}

fn writes(text: &mut String, draft: Option<&Draft>) -> Written {
    let Some(draft) = draft else {
        return writeln!(
            text,
            "[write]\nbasis = \"assumed\"    # the log has no writes; typical of SD cards\noverhead_us = 1500\npage_program_us = 1600\npartial_page_us = 1600\n"
        );
    };
    let basis = if draft.assumed > 0 { "fitted" } else { "measured" };
    let how = if draft.assumed > 0 {
        "a typical card's times, scaled where the log has cells enough"
    } else {
        "medians by size"
    };
    writeln!(
        text,
        "[write]\nbasis = \"{basis}\"    # {how}; {} cells of writes\n\n[write.curve]",
        draft.cells
    )?;
    writeln!(text, "# alone in its erase block, from start to end\nappend_us = {}", points(&draft.append))?;
    if !draft.switch.0.is_empty() {
        writeln!(
            text,
            "# in turn with other erase blocks that are open\nswitch_us = {}",
            points(&draft.switch)
        )?;
    }
    if !draft.jump.0.is_empty() {
        writeln!(text, "# out of order\njump_us = {}", points(&draft.jump))?;
    }
    writeln!(text)?;
    if let Some(small) = draft.small {
        writeln!(
            text,
            "# as slow in few erase blocks as in many: no merge is in it\n[small_writes]\nbasis = \"fitted\""
        )?;
        // The link's own time is added to this path.
        writeln!(
            text,
            "up_to = {}\nwrite_us = {}\nper_kib_us = {}\n",
            size(small.up_to),
            us(small.write_s),
            us(small.per_byte_s * 1024.0)
        )?;
    }
    Ok(())
}

fn geometry(text: &mut String, document: &Document<'_>, told: bool) -> Written {
    let periods = || document.reads.levels.iter().map(|level| level.period);
    let block = document.erase_block;
    let seen = periods().any(|period| period == block);
    let basis = if seen { "measured" } else { "assumed" };
    let how = match (seen, told) {
        (true, _) => "reads across its boundary take longer",
        (false, true) => "what flashbench was told; reads do not show it",
        (false, false) => "flashbench's default; the log does not say",
    };
    let page = periods().rfind(|period| (4096..=65_536).contains(period) && block.is_multiple_of(*period));
    let page_how = if page.is_some() { "a boundary of reads" } else { "typical" };
    writeln!(text, "[ftl]\nbasis = \"{basis}\"")?;
    writeln!(text, "erase_block = {}    # {how}", size(block))?;
    writeln!(text, "page = {}    # {page_how}", size(page.unwrap_or(PAGE.min(block))))?;
    let fat_area = document.measured.fat_area;
    if !fat_area.is_zero() {
        writeln!(text, "fat_area = {}    # small writes in any order are fast there", size(fat_area.get()))?;
    }
    writeln!(text)
}

fn policy(text: &mut String, document: &Document<'_>, draft: Option<&Draft>) -> Written {
    let Some(draft) = draft else {
        writeln!(
            text,
            "[policy.open_blocks]\nbasis = \"assumed\"    # the log has no writes\nopen_units_linear = 5\nopen_units_random = 2\nvictim = \"lru\"\nmerge_us = 300000\n"
        )?;
        return noise(text);
    };
    let basis = if draft.walls == [false, false] && draft.merge.0.is_empty() { "assumed" } else { "fitted" };
    writeln!(text, "[policy.open_blocks]\nbasis = \"{basis}\"")?;
    let wall =
        |seen: bool| if seen { "one more costs merges" } else { "assumed: no wall was seen up to here" };
    writeln!(text, "open_units_linear = {}    # {}", draft.open_linear, wall(draft.walls[0]))?;
    writeln!(text, "open_units_random = {}    # {}", draft.open_random, wall(draft.walls[1]))?;
    writeln!(text, "victim = \"{}\"", if draft.random_victim { "random" } else { "lru" })?;
    let typical = Line(vec![(512, 0.3)]);
    let merge = [&draft.merge, &draft.random_merge, &typical]
        .into_iter()
        .find(|line| !line.0.is_empty())
        .unwrap_or(&typical);
    let how = if draft.merge.0.is_empty() && draft.random_merge.0.is_empty() { "    # assumed" } else { "" };
    writeln!(text, "merge_us = {}{how}", points(merge))?;
    if !draft.random_merge.0.is_empty() {
        writeln!(text, "random_merge_us = {}", points(&draft.random_merge))?;
    }
    if draft.open_s > 0.0 {
        writeln!(
            text,
            "open_us = {}    # find-fat against the same erase block again and again",
            us(draft.open_s)
        )?;
    }
    writeln!(
        text,
        "# what happens in an erase block is part of the times of jumps\ncompletes_broken_runs = false"
    )?;
    writeln!(text, "random_log = {}", size(draft.erase_block * 64))?;
    places(text, document, draft)?;
    noise(text)
}

fn places(text: &mut String, document: &Document<'_>, draft: &Draft) -> Written {
    let block = draft.erase_block;
    let end = capacity(document).0.get() / block;
    for place in &draft.places {
        let length = place.end.min(end).saturating_sub(place.first);
        writeln!(
            text,
            "\n[[policy.open_blocks.opening]]\nstart = {}\nlength = {}\nopen_us = {}",
            size(place.first * block),
            size(length * block),
            us(place.open_s)
        )?;
    }
    for slow in &draft.slow {
        let length = slow.end.min(end).saturating_sub(slow.first);
        writeln!(
            text,
            "\n[[region]]\nbasis = \"fitted\"\nstart = {}\nlength = {}\nwrite_factor = {:.3}",
            size(slow.first * block),
            size(length * block),
            slow.factor
        )?;
    }
    writeln!(text)
}

fn noise(text: &mut String) -> Written {
    writeln!(
        text,
        "[noise]\nbasis = \"assumed\"    # repeated rows of such logs agree within 2 %\njitter = 0.015"
    )
}

fn points(line: &Line) -> String {
    if let [(512, s)] = line.0.as_slice() {
        return us(*s);
    }
    let points: Vec<String> =
        line.0.iter().map(|(bytes, s)| format!("[{}, {}]", size(*bytes), us(*s))).collect();
    format!("[{}]", points.join(", "))
}

/// Seconds as microseconds, four digits.
fn us(seconds: f64) -> String {
    let us = seconds * 1e6;
    if us == 0.0 {
        return "0".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent of ten")]
    let digits = (3 - us.abs().log10().floor() as i32).clamp(-9, 9);
    let unit = 10_f64.powi(digits);
    format!("{}", (us * unit).round() / unit)
}

/// A size as text where that is exact.
fn size(bytes: u64) -> String {
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if bytes >= 1 << shift && bytes.is_multiple_of(1 << shift) {
            return format!("\"{}{unit}\"", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// A TOML string of one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars().filter(|c| !c.is_control()) {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}
