//! The numbers of a case: a baseline stick without faults, and what each fault changes.

use flashscope_device::Bytes;
use flashscope_sim::profile::{
    Background, Basis, Boundary, Bus, Ftl, Link, Noise, ReadPath, SlcCache, Stall, State, WhenFull, WritePath,
};
use flashscope_sim::{Profile, ProfileError};

use super::fault::Fault;
use super::layer::Layer;
use crate::draw::Draw;
use crate::rounding::rounded;

/// The numbers of a stick; times in us, not rounded.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Build {
    pub(super) bus: Bus,
    own_bus: Bus,
    pub(super) is_card: bool,
    access: f64,
    across_block: f64,
    across_page: f64,
    overhead: f64,
    page_program: f64,
    partial_page: f64,
    erase_block: Bytes,
    page: Bytes,
    layer: Layer,
    /// The largest command, if it differs from that of the bus.
    request_max: Option<Bytes>,
    pub(super) cache: Option<Cache>,
    pub(super) stall: Option<CollectionStall>,
    pub(super) partition_start: Bytes,
    jitter: f64,
    outliers_per_million: f64,
    outlier: f64,
}

/// An SLC cache that is `speed_ratio` times as fast as the flash behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cache {
    pub(super) size: Bytes,
    speed_ratio: f64,
    folds: bool,
}

/// A periodic garbage-collection stall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CollectionStall {
    pub(super) every: Bytes,
    duration: f64,
    spread: f64,
}

/// The capacity of every case.
pub(super) const CAPACITY: Bytes = Bytes::gib(2);
/// The write throughput of the fastest sticks, and of the fastest UHS-I cards, 10^6 bytes per second.
/// Guesses.
const STICK_MAX: f64 = 250.0;
const CARD_MAX: f64 = 90.0;
/// The largest request that the kernel allows if it is configured to.
const REQUEST_MAX: Bytes = Bytes::mib(1);
/// Sector 63: the usual start of a partition before 2010.
const SECTOR_63: Bytes = Bytes::new(63 * 512);

impl Build {
    /// A stick of 2005 to 2025 without faults.
    pub(super) fn baseline(draw: &mut Draw) -> Self {
        let page = Bytes::kib(draw.weighted(&[(0.2, 8), (0.35, 16), (0.3, 32), (0.15, 64)]));
        let megabytes_per_s = draw.log_uniform(6.0, 90.0);
        let page_program = page.as_f64() / megabytes_per_s;
        let access = draw.log_uniform(150.0, 800.0);
        let own_bus = if megabytes_per_s > 24.0 {
            Bus::UsbSuper5
        } else {
            draw.weighted(&[(0.5, Bus::UsbHigh), (0.5, Bus::UsbSuper5)])
        };
        Self {
            bus: own_bus,
            own_bus,
            is_card: false,
            access,
            across_block: access * draw.uniform(0.25, 0.6),
            across_page: access * draw.uniform(0.1, 0.2),
            overhead: draw.log_uniform(30.0, 200.0),
            page_program,
            partial_page: page_program * draw.uniform(1.0, 1.4),
            erase_block: Bytes::mib(draw.weighted(&[(0.2, 1), (0.2, 2), (0.4, 4), (0.2, 8)])),
            page,
            layer: Layer::baseline(page_program, draw),
            request_max: None,
            cache: None,
            stall: None,
            partition_start: Bytes::mib(draw.weighted(&[(0.3, 4), (0.7, 8)])),
            jitter: draw.log_uniform(0.003, 0.05),
            outliers_per_million: draw.log_uniform(1.0, 1500.0),
            outlier: draw.log_uniform(2e3, 3e4),
        }
    }

    /// With a fault of random severity.
    pub(super) fn with_fault(self, fault: Fault, draw: &mut Draw) -> Self {
        match fault {
            Fault::SlowPort => self.in_slow_port(STICK_MAX, draw),
            Fault::SlowReader => Self { is_card: true, ..self.in_slow_port(CARD_MAX, draw) },
            Fault::SmallCommands => self.with_small_commands(draw),
            Fault::SlowSmallWrites => {
                // Each write waits for the controller, but for less than the time of a large request.
                let large = 1_048_576.0 / self.page.as_f64() * self.page_program;
                let overhead = draw.log_uniform(1e3, (large * 0.3).max(2e3));
                Self { overhead, partial_page: self.partial_page * draw.uniform(1.0, 1.3), ..self }
            }
            Fault::FewOpenUnits => Self { layer: self.layer.with_few_units(draw), ..self },
            Fault::ExhaustedSlcCache => Self { cache: Some(Cache::sample(draw)), ..self },
            Fault::GarbageCollection => Self { stall: Some(CollectionStall::sample(&self, draw)), ..self },
            Fault::Misaligned => {
                let partial_page = self.page_program * draw.uniform(1.5, 4.0);
                let half_page = self.page / 2 + self.partition_start;
                Self {
                    partial_page: partial_page.max(self.partial_page),
                    partition_start: draw.weighted(&[(0.7, SECTOR_63), (0.3, half_page)]),
                    ..self
                }
            }
        }
    }

    /// With commands of 32 KiB, as Linux uses for devices on its quirk list, and a large overhead for each.
    fn with_small_commands(self, draw: &mut Draw) -> Self {
        let request_max = Bytes::kib(32);
        let page = self.page.min(request_max / 2);
        let scale = page.as_f64() / self.page.as_f64();
        let (page_program, partial_page) = (self.page_program * scale, self.partial_page * scale);
        let overhead = page_program * request_max.as_f64() / page.as_f64() * draw.log_uniform(0.5, 3.0);
        Self { request_max: Some(request_max), page, page_program, partial_page, overhead, ..self }
    }

    /// A USB high-speed stick at full speed, a `SuperSpeed` stick at high speed.
    fn in_slow_port(self, megabytes_per_s_max: f64, draw: &mut Draw) -> Self {
        if self.own_bus == Bus::UsbHigh {
            return Self { bus: Bus::UsbFull, ..self };
        }
        let page_program = self.page.as_f64() / draw.log_uniform(45.0, megabytes_per_s_max);
        let partial_page = self.partial_page / self.page_program * page_program;
        Self { bus: Bus::UsbHigh, page_program, partial_page, ..self }
    }

    /// The counterfactual: without one of its faults.
    pub(super) fn without_fault(&self, fault: Fault) -> Self {
        let build = self.clone();
        match fault {
            Fault::SlowPort | Fault::SlowReader => Self { bus: self.own_bus, ..build },
            Fault::SmallCommands => Self { request_max: Some(REQUEST_MAX), ..build },
            Fault::GarbageCollection => Self { stall: None, ..build },
            Fault::Misaligned => Self { partition_start: Bytes::ZERO, ..build },
            // Another way of copying avoids these, not another stick.
            Fault::SlowSmallWrites | Fault::FewOpenUnits | Fault::ExhaustedSlcCache => build,
        }
    }

    /// The largest command of the driver.
    pub(super) fn request_max(&self) -> Bytes {
        self.request_max.unwrap_or(self.bus.figures().max_command)
    }

    pub(super) const fn own_bus(&self) -> Bus {
        self.own_bus
    }

    /// The profile of the stick, checked.
    pub(super) fn profile(&self) -> Result<Profile, ProfileError> {
        let profile = self.unchecked_profile();
        profile.check()?;
        Ok(profile)
    }

    fn unchecked_profile(&self) -> Profile {
        Profile {
            name: "case".to_owned(),
            description: "a random stick".to_owned(),
            capacity: CAPACITY,
            fault: Vec::new(),
            source: Vec::new(),
            link: self.link(),
            read: self.read(),
            write: self.write(),
            small_writes: None,
            ftl: Ftl {
                basis: Basis::Assumed,
                erase_block: self.erase_block,
                page: self.page,
                fat_area: Bytes::ZERO,
            },
            policy: self.layer.policy(self.page),
            state: State::New,
            slc_cache: self.cache.map(|cache| cache.section(self)),
            write_buffer: None,
            states: None,
            background: self.stall.map(CollectionStall::section),
            region: Vec::new(),
            wear: None,
            thermal: None,
            noise: Noise {
                basis: Basis::Assumed,
                jitter: rounded(self.jitter, 4),
                outliers_per_million: rounded(self.outliers_per_million, 1),
                outlier_us: rounded(self.outlier, 0),
            },
        }
    }

    fn link(&self) -> Link {
        Link {
            basis: Basis::Assumed,
            bus: self.bus,
            protocol: None,
            max_command: Some(self.request_max()),
            command_us: None,
            megabytes_per_s: None,
            queue_depth: None,
            card: None,
        }
    }

    fn read(&self) -> ReadPath {
        let boundary = |period, across_us| Boundary {
            period,
            phase: Bytes::ZERO,
            across_us: rounded(across_us, 1),
            before_us: 0.0,
            after_us: None,
        };
        ReadPath {
            basis: Basis::Assumed,
            access_us: rounded(self.access, 1),
            read_ahead_saves_us: 0.0,
            never_written_factor: 1.0,
            channels: 1,
            boundary: vec![
                boundary(self.erase_block, self.across_block),
                boundary(self.page, self.across_page),
            ],
            cache: Vec::new(),
        }
    }

    fn write(&self) -> WritePath {
        WritePath {
            basis: Basis::Assumed,
            overhead_us: Some(rounded(self.overhead, 1)),
            page_program_us: Some(rounded(self.page_program, 1)),
            partial_page_us: Some(rounded(self.partial_page, 1)),
            curve: None,
        }
    }
}

impl Cache {
    fn sample(draw: &mut Draw) -> Self {
        Self {
            size: Bytes::mib(draw.log_uniform_integer(96.0, 400.0)),
            speed_ratio: draw.log_uniform(2.0, 8.0),
            folds: draw.bernoulli(0.5),
        }
    }

    /// The section of a profile. The stick's own page time is that of the dense cells.
    fn section(self, build: &Build) -> SlcCache {
        let fold = build.page.as_f64() / (build.page_program * self.speed_ratio);
        SlcCache {
            basis: Basis::Assumed,
            size: self.size,
            free_share: 0.0,
            overhead_us: rounded(build.overhead, 1),
            page_program_us: rounded(build.page_program / self.speed_ratio, 1),
            fold_megabytes_per_s: rounded(fold, 3),
            when_full: if self.folds { WhenFull::Fold } else { WhenFull::Direct },
        }
    }
}

impl CollectionStall {
    /// Half to nine tenths of the time of a long copy.
    fn sample(build: &Build, draw: &mut Draw) -> Self {
        let every = Bytes::mib(draw.log_uniform_integer(8.0, 32.0));
        let write = every.as_f64() / build.page.as_f64() * build.page_program;
        let spread = draw.uniform(1.0, 2.5);
        Self { every, duration: write * draw.log_uniform(1.0, 8.0) / f64::midpoint(spread, 1.0), spread }
    }

    /// The section of a profile.
    fn section(self) -> Background {
        let Self { every, duration, spread } = self;
        let (duration_us, duration_max_us) = (rounded(duration, 0), rounded(duration * spread, 0));
        Background {
            basis: Basis::Assumed,
            idle_after_us: 2e6,
            unit_us: 0.0,
            stall: Some(Stall { every, duration_us, duration_max_us: Some(duration_max_us) }),
        }
    }
}
