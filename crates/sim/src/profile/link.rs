//! The numbers of the link. Where a profile says nothing, they are the bus's.

use flashscope_device::Bytes;
use serde::Deserialize;

use super::bounds::{ensure, size, time};
use super::{Basis, Bus, ProfileError, quantity};

// Linux' uas driver queues 32 commands below SuperSpeed; SD's command queue has 32 tasks (Physical Layer 6.0).
const QUEUE_DEPTH: u32 = 32;

// The driver's MAX_CMNDS.
const QUEUE_DEPTH_MAX: u32 = 256;

// The default of Linux' SCSI layer (1024 sectors), which its uas driver leaves as it is.
const UAS_COMMAND_MAX: Bytes = Bytes::kib(512);

/// The way from the host to the controller.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// How these numbers were found.
    pub basis: Basis,
    /// The bus; USB high speed if the profile names none.
    #[serde(default)]
    pub bus: Bus,
    /// Whether commands queue; [`Link::protocol`] if the profile does not say.
    pub protocol: Option<Protocol>,
    /// The most that one command carries; the host cuts larger requests.
    #[serde(default, deserialize_with = "quantity::optional_bytes")]
    pub max_command: Option<Bytes>,
    /// What a command costs before and after its data, us.
    pub command_us: Option<f64>,
    /// The rate of the data, 10^6 bytes per second.
    pub megabytes_per_s: Option<f64>,
    /// How many commands a protocol that queues has under way at a time.
    pub queue_depth: Option<u32>,
    /// The SD card behind it, where it is a card reader's.
    pub card: Option<CardLink>,
}

/// Whether one command must end before the next begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// USB bulk-only transport: one command at a time.
    BulkOnly,
    /// USB attached SCSI: commands queue.
    Uas,
    /// SD without a queue: one command at a time.
    Single,
    /// SD with a command queue, as A2 cards have it.
    CommandQueue,
}

/// The bus between a card reader and its card.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardLink {
    /// The card's bus.
    pub bus: Bus,
    /// What a command costs on it, us.
    pub command_us: Option<f64>,
    /// Its rate, 10^6 bytes per second.
    pub megabytes_per_s: Option<f64>,
}

/// What a link comes to, with the bus's figures where the profile has none and the card behind a reader added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkTiming {
    /// The most that one command carries.
    pub max_command: Bytes,
    /// What a command costs before and after its data, us.
    pub command_us: f64,
    /// The rate of the data, 10^6 bytes per second.
    pub megabytes_per_s: f64,
    /// How many commands are under way at a time; 1 where the next begins after the last.
    pub queue_depth: u32,
}

impl Protocol {
    const fn is_usb(self) -> bool {
        matches!(self, Self::BulkOnly | Self::Uas)
    }

    const fn queues(self) -> bool {
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
    /// The protocol: the profile's, or the one without a queue.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        let plain = if self.bus.is_usb() { Protocol::BulkOnly } else { Protocol::Single };
        self.protocol.unwrap_or(plain)
    }

    /// What the link comes to. Through a reader, the overheads add and the slower bus carries.
    #[must_use]
    pub fn timing(&self) -> LinkTiming {
        let bus = self.bus.figures();
        let host_cuts_at = if self.protocol() == Protocol::Uas { UAS_COMMAND_MAX } else { bus.max_command };
        let (card_us, card_rate) =
            self.card.as_ref().map_or((0.0, f64::INFINITY), |card| (card.command_us(), card.rate()));
        LinkTiming {
            max_command: self.max_command.unwrap_or(host_cuts_at),
            command_us: self.command_us.unwrap_or(bus.command_us) + card_us,
            megabytes_per_s: self.megabytes_per_s.unwrap_or(bus.megabytes_per_s).min(card_rate),
            queue_depth: if self.protocol().queues() { self.queue_depth.unwrap_or(QUEUE_DEPTH) } else { 1 },
        }
    }

    /// The same stick on another bus. Its own rate and overhead count where they are worse than those of a slower bus; of a
    /// faster one they say nothing. A reader keeps its card.
    #[must_use]
    pub fn on(&self, bus: Bus) -> Self {
        if bus == self.bus {
            return self.clone();
        }
        let other = bus.figures();
        let slower = other.ceiling_megabytes_per_s < self.bus.figures().ceiling_megabytes_per_s;
        Self {
            basis: Basis::Assumed,
            bus,
            protocol: self.protocol.filter(|protocol| protocol.is_usb() == bus.is_usb()),
            max_command: None,
            command_us: self.command_us.filter(|us| slower && *us > other.command_us),
            megabytes_per_s: self.megabytes_per_s.filter(|rate| slower && *rate < other.megabytes_per_s),
            queue_depth: self.queue_depth.filter(|_| self.protocol.is_some_and(Protocol::queues)),
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
        let fits = protocol.is_usb() == self.bus.is_usb();
        ensure(fits, "link.protocol", protocol.name(), format!("{allowed} on {}", self.bus))?;
        let Some(depth) = self.queue_depth else { return Ok(()) };
        let allowed = if protocol.queues() {
            format!("1 to {QUEUE_DEPTH_MAX}")
        } else {
            format!("{} has no queue", protocol.name())
        };
        let good = protocol.queues() && (1..=QUEUE_DEPTH_MAX).contains(&depth);
        ensure(good, "link.queue_depth", depth, allowed)
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
        let allowed = "a bus of SD behind a reader on USB";
        ensure(reader.is_usb() && !self.bus.is_usb(), "link.card.bus", self.bus, allowed)?;
        time("link.card.command_us", self.command_us())?;
        check_rate("link.card.megabytes_per_s", self.rate(), self.bus)
    }
}

fn check_rate(key: &'static str, rate: f64, bus: Bus) -> Result<(), ProfileError> {
    let ceiling = bus.figures().ceiling_megabytes_per_s;
    let allowed = format!("a number from 0.01 to {ceiling}, which is all that {bus} can carry");
    ensure((0.01..=ceiling).contains(&rate), key, rate, allowed)
}

impl LinkTiming {
    /// The most that reads and writes can reach over the link in a second, whatever the flash: commands of the largest
    /// size, one after another or, where they queue, side by side.
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
