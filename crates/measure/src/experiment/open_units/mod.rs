//! *open-units*: how many erase blocks can be written round-robin before writes cost a merge?
//!
//! The controller keeps K erase blocks open. Round-robin writes to N blocks cost no merge while N <= K.
//! Beyond that they soon do. A posterior distribution over K
//! ([`Posterior`](flashscope_infer::open_blocks::posterior::Posterior)) is updated after every write. The
//! next write is the one with the most expected information per second, until one K is left. See
//! docs/methods/open-units.md.

mod adaptive;
mod eviction_rule;
mod freed_slots;
mod garbage_collection;
mod mapping_unit;
mod opening_cost;
mod parameters;
mod procedure;
mod random_continuation;
mod retry;
mod search;
mod size_survey;
mod smaller_requests;

pub use self::parameters::{OpenUnits, UNITS_MAX};

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};

use flashscope_record::finding::FindingId;
use flashscope_record::observation::{Data, Observations, OpenUnitsData};

use self::search::Search;
use crate::contract::{Estimate, Expected, Experiment, Observer};
use crate::experiment::erase_blocks::EraseBlocks;
use crate::experiment::registration::{Access, Registration, RequestOption};
use crate::limits::LARGE_REQUEST;
use crate::session::{Session, not_started};

/// The expected time: 90 MiB of writes, at most this long. Median of the virtual sticks; one in six takes far
/// longer.
const USUAL_COST: Bytes = Bytes::mib(90);
const USUAL_TIME: Duration = Duration::from_secs(20);

/// The entry in the table of all experiments.
pub(super) const REGISTRATION: Registration = Registration {
    name: "open-units",
    question: "Erase blocks that the controller keeps open",
    access: Access::Writes,
    options: &[RequestOption::EraseBlock, RequestOption::RequestSize, RequestOption::UnitsMax],
    findings: &[
        FindingId::OpenUnitsLinear,
        FindingId::OpenUnitsRandom,
        FindingId::FtlClass,
        FindingId::MergeSeconds,
    ],
    new: |request| {
        let units_max = request.units_max.unwrap_or(UNITS_MAX);
        let open_units = OpenUnits::new(request.erase_block_or_assumed(), request.request, request.seed);
        Box::new(OpenUnits { units_max, ..open_units })
    },
};

impl Experiment for OpenUnits {
    fn name(&self) -> &'static str {
        REGISTRATION.name
    }

    /// The sum of two undecided searches with smaller requests, one with the requests asked for, and all
    /// tests beside them. Nearly all runs end far below.
    fn estimate(&self, _device: &dyn Device) -> Estimate {
        // And one search above the cost of switching blocks.
        let searches = (2 + 2 * search::SMALLER_WRITES_FACTOR) as u64 * self.writes_max() as u64;
        let other_tests = eviction_rule::requests_max(self.units_max)
            + size_survey::requests_max(self.units_max)
            + mapping_unit::REQUESTS_MAX
            + opening_cost::REQUESTS_MAX
            + freed_slots::requests_max(self.units_max)
            + random_continuation::requests_max(self.units_max)
            + garbage_collection::REQUESTS_MAX;
        let requests = searches + other_tests + smaller_requests::REQUESTS_MAX + procedure::REQUESTS_MAX;
        let filled_blocks = opening_cost::BYTES_MAX / LARGE_REQUEST;
        let bytes_written = (self.request * requests).min(self.bytes_max + self.request * other_tests)
            + self.bytes_afterwards
            + opening_cost::BYTES_MAX
            + garbage_collection::BYTES_MAX;
        // A flush follows each write.
        let expected = Expected::time_or_writing(USUAL_TIME, USUAL_COST);
        Estimate { requests: (requests + filled_blocks) * 2, bytes_written, expected }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = OpenUnitsData { erase_block: self.erase_block, ..OpenUnitsData::default() };
        let blocks = match EraseBlocks::to_write(device, self.erase_block).map(EraseBlocks::with_reserve) {
            Ok(blocks) => blocks,
            Err(refusal) => return not_started(device, self.seed, Data::OpenUnits(data), refusal),
        };
        let estimate = self.estimate(device);
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let mut search = Search::new(*self, session, blocks, &mut data);
        let result = search.run();
        search.session.end(result, Data::OpenUnits(data))
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::SECTOR;
    use flashscope_device::memory::MemoryDevice;

    use super::*;

    /// Searches end at the bytes they may write. Tests beside them may write a few requests each, and whole
    /// blocks.
    #[test]
    fn estimate_holds_the_bytes_of_the_searches_and_of_all_tests_beside_them() {
        let experiment = OpenUnits::new(Bytes::mib(4), None, 1);
        let estimate =
            |request: Bytes| OpenUnits { request, ..experiment }.estimate(&MemoryDevice::new(Bytes::mib(1)));
        let beside = experiment.bytes_afterwards + Bytes::mib(72) + Bytes::mib(24);
        // Twice the request takes that much more, so this is what does not depend on it.
        let once = estimate(Bytes::kib(64)).bytes_written;
        let twice = estimate(Bytes::kib(128)).bytes_written;
        assert_eq!(once * 2 - twice, experiment.bytes_max + beside);
        let units_max = experiment.units_max;
        let tests = [
            eviction_rule::requests_max(units_max),
            size_survey::requests_max(units_max),
            mapping_unit::REQUESTS_MAX,
            opening_cost::REQUESTS_MAX,
            freed_slots::requests_max(units_max),
            random_continuation::requests_max(units_max),
            garbage_collection::REQUESTS_MAX,
        ];
        assert_eq!(twice - once, Bytes::kib(64) * tests.iter().sum::<u64>());
        // Small requests are spent before their bytes. A flush follows each, and each of the 72 large ones.
        let small = estimate(SECTOR);
        assert_eq!(small.bytes_written, SECTOR * (small.requests / 2 - 72) + beside);
        let searches = (experiment.writes_max() * (2 + 2 * search::SMALLER_WRITES_FACTOR)) as u64;
        assert!(small.requests >= 2 * searches, "{} for {searches} writes", small.requests);
    }

    #[test]
    fn search_for_one_block_is_estimated_and_more_blocks_may_take_more_requests() {
        let requests = |units_max| {
            let experiment = OpenUnits { units_max, ..OpenUnits::new(Bytes::mib(4), None, 1) };
            experiment.estimate(&MemoryDevice::new(Bytes::mib(1))).requests
        };
        let all = [1, 2, 4, 8, 64, UNITS_MAX].map(requests);
        assert!(all.is_sorted_by(|one, next| one < next), "{all:?}");
    }
}
