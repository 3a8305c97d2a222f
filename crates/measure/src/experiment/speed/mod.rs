//! *speed*: the throughput and latency of sequential and random reads or writes of each size and queue depth.
//!
//! A row of requests of one kind goes on until its speed is clear, or its time ends. See
//! docs/methods/speed.md.

mod limits;
mod rows;
mod stopping;
mod thorough;

use flashscope_record::finding::{Quantity, WouldDecide};
use flashscope_record::observation::{Refusal, Room};
use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Capabilities, Device};

use flashscope_record::observation::{Data, Direction, LinkLimit, Observations, Order, SpeedCase, SpeedData};

use self::limits::{BRIEF_TIME_MAX, is_first, requests_max, time_max};
use self::rows::{Region, Rows};
use crate::contract::{Estimate, Expected, Experiment, Extent, Observer};
use crate::session::{Refused, Session, not_started, to_write};

/// The experiment *speed*.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// The kinds of request, in the order in which they are made.
    pub cases: Vec<SpeedCase>,
    /// The limit of the link to the device, for the inference.
    pub link: Option<LinkLimit>,
    /// Whether requests go through the page cache, for the inference.
    pub is_buffered: bool,
    /// How long each row goes on.
    pub extent: Extent,
    /// The random seed of data and offsets.
    pub seed: u64,
}

impl Speed {
    /// The usual kinds: large and small sequential requests, small and large random ones, and small random
    /// ones with several in flight.
    #[must_use]
    pub fn default_cases(direction: Direction) -> Vec<SpeedCase> {
        let case = |order, request, queue_depth| SpeedCase { direction, order, request, queue_depth };
        vec![
            case(Order::Linear, Bytes::mib(1), 1),
            case(Order::Linear, Bytes::kib(64), 1),
            case(Order::Linear, Bytes::kib(4), 1),
            case(Order::Random, Bytes::mib(1), 1),
            case(Order::Random, Bytes::kib(64), 1),
            case(Order::Random, Bytes::kib(4), 1),
            case(Order::Random, Bytes::kib(4), 8),
            case(Order::Random, Bytes::kib(4), 32),
        ]
    }

    /// The kinds of request, and the most requests of each on a device of this capacity.
    fn requests(&self, capacity: Bytes) -> impl Iterator<Item = (&SpeedCase, u64)> {
        self.cases.iter().enumerate().map(move |(index, case)| {
            let before = self.cases[..index].iter().copied();
            let is_thorough = self.extent.is_thorough();
            let is_first = is_first(*case, before, is_thorough);
            (case, requests_max(*case, is_first, is_thorough, capacity) as u64)
        })
    }

    fn direction(&self) -> Option<Direction> {
        self.cases.first().map(|case| case.direction)
    }

    /// The most bytes written on a device of this capacity.
    #[must_use]
    pub fn bytes_written_max(&self, capacity: Bytes) -> Bytes {
        let bytes = |(case, requests): (&SpeedCase, u64)| case.request * requests;
        let writes = self.requests(capacity).filter(|(case, _)| case.direction == Direction::Write);
        writes.map(bytes).sum()
    }

    /// The most time on a slow device, without the requests that are in flight at the end of a row.
    #[must_use]
    pub fn time_max(&self) -> Duration {
        let most = |case: &SpeedCase| match case.direction {
            _ if self.extent == Extent::Brief => BRIEF_TIME_MAX,
            Direction::Write if self.extent.is_thorough() => time_max(*case).max(thorough::TIME_MAX),
            _ => time_max(*case),
        };
        self.cases.iter().map(most).sum()
    }

    /// The kinds of request that fit on `device`: the others are left out.
    #[must_use]
    pub fn cases_that_fit(&self, device: &dyn Device) -> Vec<SpeedCase> {
        let fits = |case: &&SpeedCase| Region::new(device, case.request).length >= case.request * 2;
        self.cases.iter().filter(fits).copied().collect()
    }

    /// The reason why this cannot be measured on `device`, if there is one.
    fn permit(&self, device: &dyn Device) -> Result<(), Refused> {
        if self.direction() == Some(Direction::Write) {
            to_write(device)?;
        }
        if self.cases_that_fit(device).is_empty() {
            let least = self.cases.iter().map(|case| case.request).min().unwrap_or_default();
            let (capacity, room) = (device.capabilities().capacity, Room::Requests(least));
            let would_decide =
                [WouldDecide::Smaller(Quantity::Requests), WouldDecide::Larger(Quantity::Device)];
            return Err(Refused::new(Refusal::TooSmall { capacity, room }, would_decide));
        }
        Ok(())
    }
}

impl Experiment for Speed {
    fn name(&self) -> &'static str {
        self.direction().map_or("speed", Direction::as_str)
    }

    /// Every row with the most requests. Most rows end far earlier.
    fn estimate(&self, device: &dyn Device) -> Estimate {
        let capacity = device.capabilities().capacity;
        let requests = self.requests(capacity).map(|(_, requests)| requests).sum();
        let expected =
            Expected::time(self.cases.iter().map(|case| limits::time_usual(*case, self.extent)).sum());
        Estimate { requests, bytes_written: self.bytes_written_max(capacity), expected }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = SpeedData {
            link: self.link.clone(),
            is_buffered: self.is_buffered,
            is_thorough: self.extent.is_thorough(),
            ..SpeedData::default()
        };
        if let Err(refusal) = self.permit(device) {
            return not_started(device, self.seed, Data::Speed(data), refusal);
        }
        let Capabilities { capacity, queue_depth: queue_depth_max, .. } = device.capabilities();
        let fitting = Self { cases: self.cases_that_fit(device), ..self.clone() };
        let regions: Vec<Region> =
            fitting.cases.iter().map(|case| Region::new(device, case.request)).collect();
        let estimate = fitting.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut rows = Rows::new(session, capacity, self.extent, &mut data);
        let reads = self.direction() == Some(Direction::Read);
        let mut result =
            regions.first().filter(|_| reads).map_or(Ok(()), |region| rows.read_contents(*region));
        for (index, (case, region)) in fitting.cases.iter().zip(regions).enumerate() {
            let left = fitting.cases.iter().skip(index);
            let usual = left.map(|case| limits::time_usual(*case, self.extent)).sum();
            rows.session.expect(Expected::time(usual));
            // A device with a smaller queue would receive another kind of request.
            if case.queue_depth <= queue_depth_max && result.is_ok() {
                result = rows.row(*case, region);
            }
        }
        if result.is_ok() {
            rows.read_back();
        }
        rows.session.end(result, Data::Speed(data))
    }
}
