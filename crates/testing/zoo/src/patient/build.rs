//! What a patient is made of: a sound stick, and what each ailment changes of it.

use std::fmt::Write as _;

use flashscope_device::Bytes;
use flashscope_sim::profile::Bus;
use flashscope_sim::{Profile, ProfileError};

use super::ailment::Ailment;
use super::layer::Layer;
use crate::draw::Draw;

/// The numbers of a stick; times in us.
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
    /// Where the driver cuts requests, if not where the bus's usual one does.
    request_max: Option<Bytes>,
    pub(super) cache: Option<Cache>,
    pub(super) stall: Option<Stall>,
    pub(super) partition_start: Bytes,
    jitter: f64,
    outliers_per_million: f64,
    outlier: f64,
}

/// A cache in single-level cells: writes go there `times` as fast as behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cache {
    pub(super) size: Bytes,
    times: f64,
    folds: bool,
}

/// Collection after every so many bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stall {
    pub(super) every: Bytes,
    duration: f64,
    spread: f64,
}

/// Flash that writes so many megabytes a second is in the best of sticks, and of cards for UHS-I.
const STICK_MAX: f64 = 250.0;
const CARD_MAX: f64 = 90.0;
/// As long as the kernel lets requests be where it is told to.
const REQUEST_MAX: Bytes = Bytes::mib(1);
/// Sector 63, where partitions began before 2010.
const SECTOR_63: Bytes = Bytes::new(63 * 512);

impl Build {
    /// A stick of 2005 to 2025 that lacks nothing.
    pub(super) fn sound(draw: &mut Draw) -> Self {
        let page = Bytes::kib(draw.weighted(&[(0.2, 8), (0.35, 16), (0.3, 32), (0.15, 64)]));
        let megabytes_per_s = draw.log_between(6.0, 90.0);
        let page_program = page.as_f64() / megabytes_per_s;
        let access = draw.log_between(150.0, 800.0);
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
            across_block: access * draw.between(0.25, 0.6),
            across_page: access * draw.between(0.1, 0.2),
            overhead: draw.log_between(30.0, 200.0),
            page_program,
            partial_page: page_program * draw.between(1.0, 1.4),
            erase_block: Bytes::mib(draw.weighted(&[(0.2, 1), (0.2, 2), (0.4, 4), (0.2, 8)])),
            page,
            layer: Layer::sound(page_program, draw),
            request_max: None,
            cache: None,
            stall: None,
            partition_start: Bytes::mib(draw.weighted(&[(0.3, 4), (0.7, 8)])),
            jitter: draw.log_between(0.003, 0.05),
            outliers_per_million: draw.log_between(1.0, 1500.0),
            outlier: draw.log_between(2e3, 3e4),
        }
    }

    /// With an ailment, as bad as it happens to be.
    pub(super) fn ailing(self, ailment: Ailment, draw: &mut Draw) -> Self {
        match ailment {
            Ailment::SlowPort => self.in_a_slow_port(STICK_MAX, draw),
            Ailment::SlowReader => Self { is_card: true, ..self.in_a_slow_port(CARD_MAX, draw) },
            Ailment::SmallCommands => self.cut_short(draw),
            Ailment::DearSmallWrites => {
                // Each write waits for the controller, but for less than what large requests take in all.
                let large = 1_048_576.0 / self.page.as_f64() * self.page_program;
                let overhead = draw.log_between(1e3, (large * 0.3).max(2e3));
                Self { overhead, partial_page: self.partial_page * draw.between(1.0, 1.3), ..self }
            }
            Ailment::FewOpenUnits => Self { layer: self.layer.with_few_units(draw), ..self },
            Ailment::FullCache => Self { cache: Some(Cache::draw(draw)), ..self },
            Ailment::Collection => Self { stall: Some(Stall::draw(&self, draw)), ..self },
            Ailment::Misaligned => {
                let partial_page = self.page_program * draw.between(1.5, 4.0);
                let odd = self.page / 2 + self.partition_start;
                Self {
                    partial_page: partial_page.max(self.partial_page),
                    partition_start: draw.weighted(&[(0.7, SECTOR_63), (0.3, odd)]),
                    ..self
                }
            }
        }
    }

    /// With commands of 32 KiB, as Linux makes them for devices that it knows as faulty, and a controller that is slow with each.
    fn cut_short(self, draw: &mut Draw) -> Self {
        let request_max = Bytes::kib(32);
        let page = self.page.min(request_max / 2);
        let scale = page.as_f64() / self.page.as_f64();
        let (page_program, partial_page) = (self.page_program * scale, self.partial_page * scale);
        let overhead = page_program * request_max.as_f64() / page.as_f64() * draw.log_between(0.5, 3.0);
        Self { request_max: Some(request_max), page, page_program, partial_page, overhead, ..self }
    }

    /// At full speed for what is made for high speed, at high speed for the rest.
    fn in_a_slow_port(self, most: f64, draw: &mut Draw) -> Self {
        if self.own_bus == Bus::UsbHigh {
            return Self { bus: Bus::UsbFull, ..self };
        }
        let page_program = self.page.as_f64() / draw.log_between(45.0, most);
        let partial_page = self.partial_page / self.page_program * page_program;
        Self { bus: Bus::UsbHigh, page_program, partial_page, ..self }
    }

    /// Without an ailment that it has.
    pub(super) fn cured(&self, ailment: Ailment) -> Self {
        let cured = self.clone();
        match ailment {
            Ailment::SlowPort | Ailment::SlowReader => Self { bus: self.own_bus, ..cured },
            Ailment::SmallCommands => Self { request_max: Some(REQUEST_MAX), ..cured },
            Ailment::Collection => Self { stall: None, ..cured },
            Ailment::Misaligned => Self { partition_start: Bytes::ZERO, ..cured },
            // What helps is how it is used.
            Ailment::DearSmallWrites | Ailment::FewOpenUnits | Ailment::FullCache => cured,
        }
    }

    /// Where requests are cut.
    pub(super) fn request_max(&self) -> Bytes {
        self.request_max.unwrap_or(self.bus.figures().max_command)
    }

    pub(super) const fn own_bus(&self) -> Bus {
        self.own_bus
    }

    pub(super) fn profile(&self) -> Result<Profile, ProfileError> {
        Profile::parse(&self.toml())
    }

    /// As a virtual stick of one's own: `flashscope check sim:FILE`.
    pub(super) fn toml(&self) -> String {
        let mut text = format!(
            "name = \"patient\"\ndescription = \"a random stick\"\ncapacity = \"2GiB\"\n\n[link]\nbasis = \"assumed\"\nbus = \"{}\"\n\
             max_command = {}\n",
            self.bus,
            self.request_max().get()
        );
        let _ = write!(
            text,
            "\n[read]\nbasis = \"assumed\"\naccess_us = {:.1}\n\n[[read.boundary]]\nperiod = {}\nacross_us = {:.1}\n\n\
             [[read.boundary]]\nperiod = {}\nacross_us = {:.1}\n",
            self.access,
            self.erase_block.get(),
            self.across_block,
            self.page.get(),
            self.across_page
        );
        text += &self.writes();
        let _ = write!(
            text,
            "\n[noise]\nbasis = \"assumed\"\njitter = {:.4}\noutliers_per_million = {:.1}\noutlier_us = {:.0}\n",
            self.jitter, self.outliers_per_million, self.outlier
        );
        text
    }

    fn writes(&self) -> String {
        let mut text = format!(
            "\n[write]\nbasis = \"assumed\"\noverhead_us = {:.1}\npage_program_us = {:.1}\npartial_page_us = {:.1}\n\n\
             [ftl]\nbasis = \"assumed\"\nerase_block = {}\npage = {}\n\n{}",
            self.overhead,
            self.page_program,
            self.partial_page,
            self.erase_block.get(),
            self.page.get(),
            self.layer.toml(self.page)
        );
        if let Some(cache) = self.cache {
            text += &cache.toml(self);
        }
        if let Some(Stall { every, duration, spread }) = self.stall {
            let _ = write!(
                text,
                "\n[background]\nbasis = \"assumed\"\nidle_after_us = 2e6\n\n[background.stall]\nevery = {}\nduration_us = {duration:.0}\n\
                 duration_max_us = {:.0}\n",
                every.get(),
                duration * spread
            );
        }
        text
    }
}

impl Cache {
    fn draw(draw: &mut Draw) -> Self {
        Self {
            size: Bytes::mib(draw.log_whole(96.0, 400.0)),
            times: draw.log_between(2.0, 8.0),
            folds: draw.chance(0.5),
        }
    }

    /// The cells behind it are what makes it slow: they take `times` as long as the stick's own number.
    fn toml(self, build: &Build) -> String {
        let fold = build.page.as_f64() / (build.page_program * self.times);
        format!(
            "\n[slc_cache]\nbasis = \"assumed\"\nsize = {}\noverhead_us = {:.1}\npage_program_us = {:.1}\nfold_megabytes_per_s = {fold:.3}\n\
             when_full = \"{}\"\n",
            self.size.get(),
            build.overhead,
            build.page_program / self.times,
            if self.folds { "fold" } else { "direct" }
        )
    }
}

impl Stall {
    /// Half to nine tenths of the time of a long copy.
    fn draw(build: &Build, draw: &mut Draw) -> Self {
        let every = Bytes::mib(draw.log_whole(8.0, 32.0));
        let quick = every.as_f64() / build.page.as_f64() * build.page_program;
        let spread = draw.between(1.0, 2.5);
        Self { every, duration: quick * draw.log_between(1.0, 8.0) / f64::midpoint(spread, 1.0), spread }
    }
}
