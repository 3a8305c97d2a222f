//! What no stick can be. Each refusal names the key, its value and what is allowed.

use std::fmt::Display;

use flashscope_device::{Bytes, SECTOR};

use super::{Boundary, Profile, ProfileError};

// The most that an SDXC card may hold. Maps are sized by the capacity: a typing error shall not take all memory.
const CAPACITY_MAX: Bytes = Bytes::gib(2 << 10);

const UNIT_MIN: Bytes = Bytes::kib(16);
const UNIT_MAX: Bytes = Bytes::gib(1);

// A controller's memory bounds its open blocks; the most that was seen is "64 and more".
const OPEN_UNITS_MAX: u32 = 1024;

// A step of more than 100 s is a dead stick, not a slow one.
const TIME_MAX_US: f64 = 1e8;

impl Profile {
    /// Checks every value, alone and against the others.
    ///
    /// # Errors
    /// [`ProfileError::Impossible`] for the first value that cannot be.
    pub fn check(&self) -> Result<(), ProfileError> {
        self.check_names()?;
        self.check_sizes()?;
        self.check_open_units()?;
        self.check_rates_and_factors()?;
        self.check_times()?;
        self.read.boundary.iter().try_for_each(|boundary| self.check_boundary(boundary))
    }

    fn check_names(&self) -> Result<(), ProfileError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let good = (1..=64).contains(&self.name.len()) && self.name.chars().all(plain);
        ensure(good, "name", self.name.escape_debug(), "1 to 64 small letters, digits and hyphens")?;
        let one_line = !self.description.chars().any(char::is_control);
        ensure(
            one_line,
            "description",
            self.description.escape_debug(),
            "one line without control characters",
        )
    }

    fn check_sizes(&self) -> Result<(), ProfileError> {
        let ftl = &self.ftl;
        size("ftl.erase_block", ftl.erase_block, UNIT_MIN, UNIT_MAX)?;
        size("ftl.page", ftl.page, SECTOR, ftl.erase_block)?;
        let whole_pages = ftl.erase_block.is_multiple_of(ftl.page);
        ensure(
            whole_pages,
            "ftl.page",
            ftl.page,
            format!("erase_block ({}) must be a multiple of it", ftl.erase_block),
        )?;
        size("capacity", self.capacity, ftl.erase_block, CAPACITY_MAX)?;
        size("link.max_command", self.link.max_command, Bytes::kib(4), Bytes::mib(32))?;
        if let Some(log) = ftl.random_log {
            size("ftl.random_log", log, ftl.page, ftl.erase_block * 64)?;
        }
        let whole_blocks = ftl.fat_area.is_zero() || ftl.fat_area.is_multiple_of(ftl.erase_block);
        let allowed = format!(
            "0, or a multiple of erase_block ({}) up to the capacity ({})",
            ftl.erase_block, self.capacity
        );
        ensure(whole_blocks && ftl.fat_area <= self.capacity, "ftl.fat_area", ftl.fat_area, allowed)?;
        self.small_writes
            .as_ref()
            .map_or(Ok(()), |small| size("small_writes.up_to", small.up_to, SECTOR, ftl.erase_block))
    }

    fn check_open_units(&self) -> Result<(), ProfileError> {
        let (linear, random) = (self.ftl.open_units_linear, self.ftl.open_units_random);
        let allowed = format!("1 to {OPEN_UNITS_MAX}");
        ensure((1..=OPEN_UNITS_MAX).contains(&linear), "ftl.open_units_linear", linear, allowed)?;
        ensure(
            random <= linear,
            "ftl.open_units_random",
            random,
            format!("0 to open_units_linear ({linear})"),
        )
    }

    fn check_rates_and_factors(&self) -> Result<(), ProfileError> {
        number("link.megabytes_per_s", self.link.megabytes_per_s, 0.01, 100_000.0)?;
        number("read.never_written_factor", self.read.never_written_factor, 0.01, 100.0)?;
        number("ftl.random_merge_copies", self.ftl.random_merge_copies, 0.0, 10.0)?;
        number("noise.jitter", self.noise.jitter, 0.0, 1.0)?;
        number("noise.outliers_per_million", self.noise.outliers_per_million, 0.0, 1e6)
    }

    fn check_times(&self) -> Result<(), ProfileError> {
        let small = self.small_writes.as_ref();
        let times = [
            ("link.command_us", self.link.command_us),
            ("read.access_us", self.read.access_us),
            ("write.overhead_us", self.write.overhead_us),
            ("write.page_program_us", self.write.page_program_us),
            ("write.partial_page_us", self.write.partial_page_us),
            ("small_writes.write_us", small.map_or(0.0, |small| small.write_us)),
            ("small_writes.per_kib_us", small.map_or(0.0, |small| small.per_kib_us)),
            ("ftl.merge_us", self.ftl.merge_us),
            ("noise.outlier_us", self.noise.outlier_us),
        ];
        times.into_iter().try_for_each(|(key, time)| number(key, time, 0.0, TIME_MAX_US))?;
        number("read.read_ahead_saves_us", self.read.read_ahead_saves_us, 0.0, self.read.access_us)
    }

    fn check_boundary(&self, boundary: &Boundary) -> Result<(), ProfileError> {
        size("read.boundary.period", boundary.period, SECTOR * 2, CAPACITY_MAX)?;
        let inside = boundary.phase < boundary.period && boundary.phase.is_multiple_of(SECTOR);
        let allowed = format!("a multiple of 512 B below the period ({})", boundary.period);
        ensure(inside, "read.boundary.phase", boundary.phase, allowed)?;
        number("read.boundary.across_us", boundary.across_us, 0.0, TIME_MAX_US)?;
        number("read.boundary.before_us", boundary.before_us, -self.read.access_us, TIME_MAX_US)
    }
}

fn ensure(
    holds: bool,
    key: &'static str,
    value: impl Display,
    allowed: impl Into<String>,
) -> Result<(), ProfileError> {
    if holds {
        return Ok(());
    }
    Err(ProfileError::Impossible { key, value: value.to_string(), allowed: allowed.into() })
}

fn size(key: &'static str, value: Bytes, low: Bytes, high: Bytes) -> Result<(), ProfileError> {
    let good = (low..=high).contains(&value) && value.is_multiple_of(SECTOR);
    ensure(good, key, value, format!("a multiple of 512 B from {low} to {high}"))
}

fn number(key: &'static str, value: f64, low: f64, high: f64) -> Result<(), ProfileError> {
    ensure((low..=high).contains(&value), key, value, format!("a number from {low} to {high}"))
}
