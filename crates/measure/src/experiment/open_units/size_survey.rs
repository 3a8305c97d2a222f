//! Which request sizes merge? Smaller and smaller requests into one block too many.

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::eviction::EvictionLaw;
use flashscope_infer::open_blocks::limits::SURVEY_ROUNDS_RANDOM;
use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_infer::thresholds::REPEATED;

use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::eviction_rule::NUMBER_MAX;
use crate::experiment::open_units::search::{Search, oldest_first};
use crate::limits::SMALL_REQUEST;
use crate::session::Stop;

/// Rounds without [`REPEATED`] slow writes, after which a size does not merge, under LRU eviction. One is
/// enough for many blocks.
const ROUNDS: u32 = 2;
/// Sizes from 64 KiB down to the smallest. More are seldom needed.
const SIZES: u32 = 4;

/// The most requests the survey takes.
pub(super) fn requests_max(units_max: u32) -> u64 {
    u64::from(SURVEY_ROUNDS_RANDOM * SIZES * (units_max + 1))
}

impl Search<'_, '_> {
    /// Writes into one block too many with smaller and smaller requests, down to a size that costs no merge,
    /// as controllers write small requests elsewhere.
    pub(super) fn survey_sizes(
        &mut self,
        pool: &mut BlockPool,
        too_many: u32,
        sequential: &Posterior,
    ) -> Result<(), Stop> {
        let classifier = sequential.classifier();
        let rounds = match too_many - 1 {
            _ if sequential.eviction_probability(EvictionLaw::Random) > 0.5 => SURVEY_ROUNDS_RANDOM,
            0..=NUMBER_MAX => ROUNDS,
            _ => 1,
        };
        // Under LRU eviction the closed block comes first: then each write merges, or none does.
        let mut oldest_first = oldest_first(pool, sequential, too_many as usize).into_iter().cycle();
        let halves = std::iter::successors(Some(self.request / 2), |size| Some(*size / 2));
        let searched = pool.request;
        let is_surveyed =
            |size: &Bytes| *size >= SMALL_REQUEST && size.is_multiple_of(SMALL_REQUEST) && *size != searched;
        for size in halves.take_while(is_surveyed) {
            pool.set_request(size);
            let mut slow = 0;
            for index in oldest_first.by_ref().take((rounds * too_many) as usize) {
                let Some(written) = self.write(pool, too_many, index)? else { return Ok(()) };
                slow += usize::from(written.latency.is_some_and(|latency| classifier.is_slow(latency)));
                if slow >= REPEATED {
                    break;
                }
            }
            if slow < REPEATED {
                return Ok(());
            }
        }
        Ok(())
    }
}
