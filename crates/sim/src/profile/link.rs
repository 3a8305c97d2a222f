//! Parameters of the link. A missing one defaults to the figure of its bus.

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use super::bounds::{ensure, size, time};
use super::{Basis, Bus, ProfileError, quantity};

// Linux' uas driver queues 32 commands below SuperSpeed; the SD command queue has 32 tasks (Physical Layer
// 6.0).
const QUEUE_DEPTH: u32 = 32;

// MAX_CMNDS of Linux' uas driver.
const QUEUE_DEPTH_MAX: u32 = 256;

// The default of Linux' SCSI layer: 1024 sectors. The uas driver does not change it.
const UAS_COMMAND_MAX: Bytes = Bytes::kib(512);

/// The link between host and controller.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// How these numbers were found.
    pub basis: Basis,
    /// The bus; USB high speed if the profile names none.
    #[serde(default)]
    pub bus: Bus,
    /// The protocol; default: [`Link::protocol`].
    pub protocol: Option<Protocol>,
    /// The largest command; the host splits larger requests.
    #[serde(default, with = "quantity::optional")]
    pub max_command: Option<Bytes>,
    /// Overhead of a command before and after its data, us.
    pub command_us: Option<f64>,
    /// The data rate, 10^6 bytes per second.
    pub megabytes_per_s: Option<f64>,
    /// The queue depth of a protocol with command queueing.
    pub queue_depth: Option<u32>,
    /// The SD card behind the link, if the link is that of a card reader.
    pub card: Option<CardLink>,
}

/// A command protocol: with or without command queueing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// USB bulk-only transport: one command at a time.
    BulkOnly,
    /// USB attached SCSI: command queueing.
    Uas,
    /// SD without a queue: one command at a time.
    Single,
    /// SD with a command queue, as in A2 cards.
    CommandQueue,
}

/// The link between a card reader and its card.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CardLink {
    /// The card's bus.
    pub bus: Bus,
    /// Overhead of a command on that bus, us.
    pub command_us: Option<f64>,
    /// The data rate of that bus, 10^6 bytes per second.
    pub megabytes_per_s: Option<f64>,
}

/// The effective figures of a link: bus defaults filled in, and the card behind a reader added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkTiming {
    /// The largest command.
    pub max_command: Bytes,
    /// Overhead of a command before and after its data, us.
    pub command_us: f64,
    /// The data rate, 10^6 bytes per second.
    pub megabytes_per_s: f64,
    /// The queue depth; 1 without command queueing.
    pub queue_depth: u32,
}

impl Protocol {
    const fn is_usb(self) -> bool {
        matches!(self, Self::BulkOnly | Self::Uas)
    }

    const fn has_queue(self) -> bool {
        matches!(self, Self::Uas | Self::CommandQueue)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::BulkOnly => "bulk-only",
            Self::Uas => "uas",
            Self::Single => "single",
            Self::CommandQueue => "command-queue",
        }
    }
}

impl Link {
    /// The protocol of the profile, or the one without a queue.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        let default = if self.bus.is_usb() { Protocol::BulkOnly } else { Protocol::Single };
        self.protocol.unwrap_or(default)
    }

    /// The effective figures. Through a reader the overheads add up and the slower bus limits the rate.
    #[must_use]
    pub fn timing(&self) -> LinkTiming {
        let bus = self.bus.figures();
        let host_max_command =
            if self.protocol() == Protocol::Uas { UAS_COMMAND_MAX } else { bus.max_command };
        let (card_us, card_rate) =
            self.card.as_ref().map_or((0.0, f64::INFINITY), |card| (card.command_us(), card.rate()));
        LinkTiming {
            max_command: self.max_command.unwrap_or(host_max_command),
            command_us: self.command_us.unwrap_or(bus.command_us) + card_us,
            megabytes_per_s: self.megabytes_per_s.unwrap_or(bus.megabytes_per_s).min(card_rate),
            queue_depth: if self.protocol().has_queue() {
                self.queue_depth.unwrap_or(QUEUE_DEPTH)
            } else {
                1
            },
        }
    }

    /// The same stick on another bus. On a slower bus its own rate and overhead apply where they are worse
    /// than the bus's. On a faster bus the bus's figures apply, as the old ones say nothing about it. A
    /// reader keeps its card.
    #[must_use]
    pub fn on(&self, bus: Bus) -> Self {
        if bus == self.bus {
            return self.clone();
        }
        let figures = bus.figures();
        let is_slower = figures.ceiling_megabytes_per_s < self.bus.figures().ceiling_megabytes_per_s;
        Self {
            basis: Basis::Assumed,
            bus,
            protocol: self.protocol.filter(|protocol| protocol.is_usb() == bus.is_usb()),
            max_command: None,
            command_us: self.command_us.filter(|us| is_slower && *us > figures.command_us),
            megabytes_per_s: self.megabytes_per_s.filter(|rate| is_slower && *rate < figures.megabytes_per_s),
            queue_depth: self.queue_depth.filter(|_| self.protocol.is_some_and(Protocol::has_queue)),
            card: self.card.clone().filter(|_| bus.is_usb()),
        }
    }

    pub(super) fn check(&self) -> Result<(), ProfileError> {
        self.check_protocol()?;
        let timing = self.timing();
        size("link.max_command", timing.max_command, Bytes::kib(4), Bytes::mib(32))?;
        self.command_us.map_or(Ok(()), |us| time("link.command_us", us))?;
        self.megabytes_per_s.map_or(Ok(()), |rate| check_rate("link.megabytes_per_s", rate, self.bus))?;
        self.card.as_ref().map_or(Ok(()), |card| card.check(self.bus))
    }

    fn check_protocol(&self) -> Result<(), ProfileError> {
        let protocol = self.protocol();
        let allowed = if self.bus.is_usb() { "bulk-only or uas" } else { "single or command-queue" };
        let is_good = protocol.is_usb() == self.bus.is_usb();
        ensure(is_good, "link.protocol", protocol.name(), format!("{allowed} on {}", self.bus))?;
        let Some(depth) = self.queue_depth else { return Ok(()) };
        let allowed = if protocol.has_queue() {
            format!("1 to {QUEUE_DEPTH_MAX}")
        } else {
            format!("{} has no queue", protocol.name())
        };
        let is_good = protocol.has_queue() && (1..=QUEUE_DEPTH_MAX).contains(&depth);
        ensure(is_good, "link.queue_depth", depth, allowed)
    }
}

impl CardLink {
    fn command_us(&self) -> f64 {
        self.command_us.unwrap_or(self.bus.figures().command_us)
    }

    fn rate(&self) -> f64 {
        self.megabytes_per_s.unwrap_or(self.bus.figures().megabytes_per_s)
    }

    fn check(&self, reader: Bus) -> Result<(), ProfileError> {
        let allowed = "an SD bus, behind a reader on USB";
        ensure(reader.is_usb() && !self.bus.is_usb(), "link.card.bus", self.bus, allowed)?;
        time("link.card.command_us", self.command_us())?;
        check_rate("link.card.megabytes_per_s", self.rate(), self.bus)
    }
}

fn check_rate(key: &'static str, rate: f64, bus: Bus) -> Result<(), ProfileError> {
    let ceiling = bus.figures().ceiling_megabytes_per_s;
    let allowed = format!("a number from 0.01 to {ceiling}, the ceiling of {bus}");
    ensure((0.01..=ceiling).contains(&rate), key, rate, allowed)
}

impl LinkTiming {
    /// The throughput ceiling of the link, bytes per second, with infinitely fast flash: commands of the
    /// largest size, back to back or, with command queueing, overlapped.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the profile bounds rate and size"
    )]
    pub fn ceiling_per_s(&self) -> Bytes {
        let data_s = self.max_command.as_f64() / (self.megabytes_per_s * 1e6);
        let command_s = self.command_us * 1e-6;
        let each_s = if self.queue_depth == 1 { command_s + data_s } else { data_s.max(command_s) };
        Bytes::new((self.max_command.as_f64() / each_s).ceil() as u64)
    }
}
