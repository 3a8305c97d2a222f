//! The profile of a fit: the sections of a stick from the fitted reads and writes.

use flashscope_device::Bytes;
use flashscope_flashbench::Command;
use flashscope_sim::Profile;
use flashscope_sim::profile::{
    Basis, Boundary, Bus, Curve, Ftl, Knot, Link, Noise, OpenBlocks, OpeningCost, Policy, ReadPath, Region,
    SmallWrites, Source, State, Victim, WriteCurve, WritePath,
};

use crate::measured::{Key, Measured};
use crate::options::Options;
use crate::reads::Reads;
use crate::write_model::{SlowRange, TimeCurve, WriteModel, bytes_f64};

/// Everything that a profile is built from, except the model of writes.
pub(crate) struct FitInput<'a> {
    pub(crate) measured: &'a Measured,
    pub(crate) options: &'a Options,
    pub(crate) erase_block: u64,
    pub(crate) reads: &'a Reads,
}

/// The page if no read boundary shows another one: two planes of 8 KiB.
pub(crate) const PAGE: u64 = 16 << 10;

/// The rate of SD high speed in practice. A card with a higher write throughput has a faster bus.
const HIGH_SPEED_MB_PER_S: f64 = 22.0;
/// The assumed rate of faster cards: SDR104 in practice.
const SDR104_MB_PER_S: f64 = 90.0;

impl FitInput<'_> {
    /// The length of the log's reads, bytes; 1 KiB, flashbench's default, if there are none.
    pub(crate) fn read_request(&self) -> u64 {
        let read = self.measured.tables.iter().find_map(|table| match table.command {
            Command::Align { read } => Some(read.get()),
            _ => None,
        });
        read.unwrap_or(1024)
    }

    /// True if reads are slower across erase-block boundaries.
    pub(crate) fn reads_show_erase_block(&self) -> bool {
        self.reads.levels.iter().any(|level| level.period == self.erase_block)
    }

    /// The capacity of the log, or one that its tables fit on.
    fn capacity(&self) -> Bytes {
        if let Some(capacity) = self.measured.capacity {
            return capacity;
        }
        let candidates = self.measured.cells().filter_map(|cell| match cell.key {
            Key::Read { candidate, .. } => Some(candidate.get()),
            _ => None,
        });
        let block = self.erase_block;
        // flashbench reads at boundaries up to half of the capacity, and capacities lie just below powers of
        // two: so the capacity is just below 4 times the largest boundary.
        let by_reads = candidates.max().map(|largest| largest.saturating_mul(37) / 10);
        // 16 MiB, and 12 erase blocks for each of up to 64 units.
        let room = (16 << 20) + block * 12 * 64;
        let bytes = by_reads.map_or(room.max(3_900 << 20), |bytes| bytes.max(room));
        Bytes::new(bytes / block * block)
    }
}

/// The largest page that reads show and that divides the erase block, from 4 to 64 KiB.
pub(crate) fn page_of_reads(input: &FitInput<'_>) -> Option<u64> {
    let is_page =
        |period: &u64| (4096..=65_536).contains(period) && input.erase_block.is_multiple_of(*period);
    input.reads.levels.iter().map(|level| level.period).rfind(is_page)
}

/// The page that was found in a run, if it divides the erase block.
pub(crate) fn page_of_run(input: &FitInput<'_>) -> Option<u64> {
    let page = input.measured.known?.page?.get();
    (page > 0 && input.erase_block.is_multiple_of(page)).then_some(page)
}

/// The profile of the fitted reads and the model of writes. The caller checks it.
pub(crate) fn fitted_profile(input: &FitInput<'_>, model: Option<&WriteModel>) -> Profile {
    let FitInput { measured, options, .. } = input;
    let has_name = !measured.device_name.is_empty();
    let description = if has_name { &measured.device_name } else { "a stick known from one log" };
    let origin = if measured.source.is_empty() { &measured.name } else { &measured.source };
    let link = link(input, model);
    let what = if measured.known.is_some() { "measurements of flashscope" } else { "flashbench's tables" };
    Profile {
        name: printable(&options.profile_name),
        description: printable(description),
        capacity: input.capacity(),
        fault: Vec::new(),
        source: vec![Source { what: what.to_owned(), r#where: printable(origin) }],
        read: read(input, link.megabytes_per_s.unwrap_or(HIGH_SPEED_MB_PER_S)),
        link,
        write: write(model),
        small_writes: model.and_then(small_writes),
        ftl: ftl(input),
        policy: Policy::OpenBlocks(model.map_or_else(typical_policy, |model| policy(input, model))),
        state: State::New,
        slc_cache: None,
        write_buffer: None,
        states: None,
        background: None,
        region: model.map_or_else(Vec::new, |model| regions(input, model)),
        wear: None,
        thermal: None,
        noise: Noise { basis: Basis::Assumed, jitter: 0.015, outliers_per_million: 0.0, outlier_us: 0.0 },
    }
}

/// The link. A log shows it only together with the card, so its command time is 0.
fn link(input: &FitInput<'_>, model: Option<&WriteModel>) -> Link {
    let fastest = model.map_or(0.0, |model| {
        let rate = |point: &(u64, f64)| bytes_f64(point.0) / point.1 / 1e6;
        model.append.0.iter().chain(&model.switch.0).chain(&model.jump.0).map(rate).fold(0.0, f64::max)
    });
    let (bus, rate) = if fastest < HIGH_SPEED_MB_PER_S {
        (Bus::SdHighSpeed, HIGH_SPEED_MB_PER_S)
    } else {
        (Bus::SdSdr104, SDR104_MB_PER_S)
    };
    Link {
        basis: Basis::Assumed,
        bus,
        protocol: None,
        max_command: Some(Bytes::new(input.erase_block.clamp(64 << 10, 32 << 20))),
        command_us: Some(0.0),
        megabytes_per_s: Some(rate),
        queue_depth: None,
        card: None,
    }
}

fn read(input: &FitInput<'_>, megabytes_per_s: f64) -> ReadPath {
    let reads = input.reads;
    let transfer_us = bytes_f64(input.read_request()) / megabytes_per_s;
    let (basis, access_us) = if reads.cells == 0 {
        (Basis::Assumed, 600.0)
    } else {
        (Basis::Measured, microseconds((reads.base_s - transfer_us / 1e6).max(1e-6)))
    };
    let boundary = reads.levels.iter().rev().map(|level| {
        let [before_us, across_us, after_us] = level.extra_s.map(microseconds);
        Boundary {
            period: Bytes::new(level.period),
            phase: Bytes::ZERO,
            across_us,
            before_us,
            after_us: Some(after_us),
        }
    });
    ReadPath {
        basis,
        access_us,
        read_ahead_saves_us: 0.0,
        never_written_factor: 1.0,
        channels: 1,
        boundary: boundary.collect(),
        cache: Vec::new(),
    }
}

fn write(model: Option<&WriteModel>) -> WritePath {
    let Some(model) = model else {
        return WritePath {
            basis: Basis::Assumed,
            overhead_us: Some(1500.0),
            page_program_us: Some(1600.0),
            partial_page_us: Some(1600.0),
            curve: None,
        };
    };
    let optional = |times: &TimeCurve| (!times.0.is_empty()).then(|| curve(times));
    WritePath {
        basis: model.basis(),
        overhead_us: None,
        page_program_us: None,
        partial_page_us: None,
        curve: Some(WriteCurve {
            append_us: curve(&model.append),
            switch_us: optional(&model.switch),
            jump_us: optional(&model.jump),
        }),
    }
}

fn small_writes(model: &WriteModel) -> Option<SmallWrites> {
    let small = model.small?;
    Some(SmallWrites {
        basis: Basis::Fitted,
        up_to: Bytes::new(small.up_to),
        write_us: microseconds(small.write_s),
        per_kib_us: microseconds(small.per_byte_s * 1024.0),
    })
}

fn ftl(input: &FitInput<'_>) -> Ftl {
    Ftl {
        basis: if input.reads_show_erase_block() { Basis::Measured } else { Basis::Assumed },
        erase_block: Bytes::new(input.erase_block),
        page: Bytes::new(
            page_of_run(input).or_else(|| page_of_reads(input)).unwrap_or(PAGE.min(input.erase_block)),
        ),
        fat_area: input.measured.fat_area,
    }
}

/// Open blocks without a measurement: typical of SD cards of 2010 to 2015.
fn typical_policy() -> OpenBlocks {
    OpenBlocks {
        basis: Basis::Assumed,
        open_units_linear: 5,
        open_units_random: 2,
        victim: Victim::Lru,
        merge_us: Curve::Constant(TYPICAL_MERGE_US),
        random_merge_us: None,
        open_us: 0.0,
        opening: Vec::new(),
        random_merge_copies: 1.0,
        completes_broken_runs: true,
        fills_gaps: false,
        random_log: None,
    }
}

const TYPICAL_MERGE_US: f64 = 300_000.0;

fn policy(input: &FitInput<'_>, model: &WriteModel) -> OpenBlocks {
    let is_assumed = model.limits_seen == [false, false] && model.merge.0.is_empty();
    let merge = [&model.merge, &model.random_merge].into_iter().find(|times| !times.0.is_empty());
    let end = input.capacity().get() / model.erase_block;
    let opening = model.openings.iter().map(|opening| OpeningCost {
        start: Bytes::new(opening.first * model.erase_block),
        length: Bytes::new(opening.end.min(end).saturating_sub(opening.first) * model.erase_block),
        open_us: microseconds(opening.open_s),
    });
    OpenBlocks {
        basis: if is_assumed { Basis::Assumed } else { Basis::Fitted },
        open_units_linear: model.open_linear,
        open_units_random: model.open_random,
        victim: if model.random_victim { Victim::Random } else { Victim::Lru },
        merge_us: merge.map_or(Curve::Constant(TYPICAL_MERGE_US), curve),
        random_merge_us: (!model.random_merge.0.is_empty()).then(|| curve(&model.random_merge)),
        open_us: microseconds(model.open_s),
        opening: opening.collect(),
        random_merge_copies: 1.0,
        completes_broken_runs: false,
        fills_gaps: false,
        random_log: Some(Bytes::new(model.erase_block * 64)),
    }
}

fn regions(input: &FitInput<'_>, model: &WriteModel) -> Vec<Region> {
    let end = input.capacity().get() / model.erase_block;
    let region = |range: &SlowRange| Region {
        basis: Basis::Fitted,
        start: Bytes::new(range.first * model.erase_block),
        length: Bytes::new(range.end.min(end).saturating_sub(range.first) * model.erase_block),
        read_factor: 1.0,
        write_factor: (range.factor * 1e3).round() / 1e3,
        fails: None,
    };
    model.slow_ranges.iter().map(region).collect()
}

/// A curve of a profile. A single point at the sector is a constant.
fn curve(times: &TimeCurve) -> Curve {
    match times.0.as_slice() {
        [(512, seconds)] => Curve::Constant(microseconds(*seconds)),
        points => Curve::Knots(
            points.iter().map(|(bytes, seconds)| Knot(Bytes::new(*bytes), microseconds(*seconds))).collect(),
        ),
    }
}

/// Seconds as microseconds, rounded to four significant digits.
fn microseconds(seconds: f64) -> f64 {
    let us = seconds * 1e6;
    if us == 0.0 {
        return 0.0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent of ten")]
    let digits = (3 - us.abs().log10().floor() as i32).clamp(-9, 9);
    let unit = 10_f64.powi(digits);
    (us * unit).round() / unit
}

/// Text of a log without its control characters.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_model::OpeningRange;

    /// A log of a stick of 64 MiB, without a table.
    fn measured() -> Measured {
        Measured { capacity: Some(Bytes::mib(64)), ..Measured::of_tables(Vec::new()) }
    }

    #[test]
    fn limits_and_merges_are_assumed_only_if_writes_show_none_of_them() {
        let (measured, reads) = (measured(), Reads::default());
        let options = Options { profile_name: String::new(), holdout: 0.0, seed: 1 };
        let input = FitInput { measured: &measured, options: &options, erase_block: 4 << 20, reads: &reads };
        let basis = |limits_seen: [bool; 2], merge: &[(u64, f64)]| {
            let merge = TimeCurve(merge.to_vec());
            policy(&input, &WriteModel { erase_block: 4 << 20, limits_seen, merge, ..WriteModel::default() })
                .basis
        };
        assert_eq!(basis([false, false], &[]), Basis::Assumed);
        assert_eq!(basis([true, false], &[]), Basis::Fitted);
        assert_eq!(basis([false, true], &[]), Basis::Fitted);
        assert_eq!(basis([false, false], &[(512, 0.2)]), Basis::Fitted);
    }

    #[test]
    fn ranges_of_erase_blocks_become_bytes_and_end_with_the_device() {
        let (measured, reads) = (measured(), Reads::default());
        let options = Options { profile_name: String::new(), holdout: 0.0, seed: 1 };
        let input = FitInput { measured: &measured, options: &options, erase_block: 4 << 20, reads: &reads };
        let opening = |first, end, open_s| OpeningRange { first, end, open_s };
        let slow = |first, end, factor| SlowRange { first, end, factor };
        let model = WriteModel {
            erase_block: 4 << 20,
            openings: vec![opening(2, 5, 0.003), opening(10, u64::MAX, 0.001)],
            slow_ranges: vec![slow(1, 3, 2.0), slow(14, 40, 0.5)],
            ..WriteModel::default()
        };
        let openings = policy(&input, &model).opening;
        let openings: Vec<(Bytes, Bytes, f64)> =
            openings.iter().map(|each| (each.start, each.length, each.open_us)).collect();
        let mib = Bytes::mib;
        assert_eq!(openings, [(mib(8), mib(12), 3000.0), (mib(40), mib(24), 1000.0)]);
        let regions = regions(&input, &model);
        let regions: Vec<(Bytes, Bytes, f64)> =
            regions.iter().map(|each| (each.start, each.length, each.write_factor)).collect();
        assert_eq!(regions, [(mib(4), mib(8), 2.0), (mib(56), mib(8), 0.5)]);
    }
}
