//! One shard: its own stick, and random requests with power cuts.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use flashscope_device::layer::fault::{CutSpec, Survivors, Trigger};
use flashscope_device::layer::{FaultSpec, Faulty};
use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern, ReadInto, SECTOR, Success};
use flashscope_sim::{Profile, VirtualStick};

use super::layers::Layer;
use super::model::Model;
use super::ranges::Ranges;
use super::tally::Tally;

// Guesses. Between two power cuts, at most 4000 requests go to the stick itself and at most 100 through the
// power-cut layer, which is slow because it stores the old data. An audit follows every 64 power cuts.
const DIRECT_REQUESTS_MAX: u64 = 4000;
const CUT_REQUESTS_MAX: u64 = 100;
const CUTS_PER_AUDIT: u64 = 64;
const PATTERN_SEED: u64 = 7;

/// A stick and its host.
#[derive(Debug)]
pub struct Shard {
    stick: VirtualStick,
    host: Host,
}

/// The host: it submits requests and checks the results.
#[derive(Debug)]
struct Host {
    model: Model,
    ranges: Ranges,
    generation: u32,
    latency_max: Duration,
    tally: Tally,
}

impl Shard {
    pub fn new(layer: &Layer, shard: u64) -> anyhow::Result<Self> {
        let profile = layer.profile(shard)?;
        let host = Host {
            model: Model::new(profile.capacity.sectors().0),
            ranges: Ranges::new(shard, profile.capacity, profile.ftl.page),
            generation: 0,
            latency_max: latency_max(&profile),
            tally: Tally::default(),
        };
        Ok(Self { stick: VirtualStick::new(&profile, shard), host })
    }

    /// Runs this number of operations and returns the counts.
    pub fn run(mut self, operations: u64) -> anyhow::Result<Tally> {
        let mut rounds = 0;
        while self.host.tally.operations < operations {
            let remaining = operations - self.host.tally.operations;
            self.round(remaining).with_context(|| format!("operation {}", self.host.tally.operations))?;
            rounds += 1;
            if rounds % CUTS_PER_AUDIT == 0 || self.host.tally.operations >= operations {
                self.audit()?;
            }
        }
        self.host.tally.count_inside(&self.stick);
        Ok(self.host.tally)
    }

    fn audit(&mut self) -> anyhow::Result<()> {
        self.host.tally.audits += 1;
        let statistics = self.stick.statistics();
        ensure!(statistics.pages_copied <= statistics.page_programs, "more pages copied than programmed");
        Ok(self.stick.audit()?)
    }

    /// Requests to the stick itself, then requests until a power cut.
    fn round(&mut self, remaining: u64) -> anyhow::Result<()> {
        let direct = (1 + self.host.ranges.below(DIRECT_REQUESTS_MAX)).min(remaining);
        for _ in 0..direct {
            self.host.step(&mut self.stick)?;
        }
        self.host.run(&mut self.stick, Op::Flush)?;
        let cut_after = (1 + self.host.ranges.below(CUT_REQUESTS_MAX)).min(remaining - direct);
        let cut = CutSpec {
            trigger: Trigger::Requests(cut_after),
            cache: Bytes::kib(64 << self.host.ranges.below(4)),
            survivors: Survivors::Some,
        };
        let seed = self.host.ranges.seed();
        let mut device = Faulty::new(&mut self.stick, &[FaultSpec::PowerCut(cut)], seed)?;
        self.host.run_until_power_cut(&mut device, cut_after)?;
        ensure!(device.log().events().len() == 1, "the power was not cut");
        Ok(())
    }
}

impl Host {
    fn run_until_power_cut(&mut self, device: &mut impl Device, requests: u64) -> anyhow::Result<()> {
        self.model.start_recording();
        for _ in 0..requests {
            self.step(device)?;
        }
        let unflushed = self.model.stop_recording();
        // This request exceeds the limit: the power is cut before it.
        self.run(device, Op::Flush)?;
        self.tally.power_cuts += 1;
        for (lba, before) in unflushed {
            let bytes = device.read_bytes(ByteRange::new(SECTOR * lba, SECTOR))??;
            let (blocks, _) = bytes.as_chunks::<512>();
            let pattern = self.pattern();
            let kept = self.model.settle(lba, &before, pattern, &blocks[0])?;
            self.tally.sectors_settled += 1;
            self.tally.sectors_lost += u64::from(!kept);
        }
        Ok(())
    }

    const fn pattern(&self) -> Pattern {
        Pattern { seed: PATTERN_SEED, generation: self.generation }
    }

    /// One random operation.
    fn step(&mut self, device: &mut impl Device) -> anyhow::Result<()> {
        self.tally.operations += 1;
        match self.ranges.below(100) {
            0..45 => self.write(device),
            45..85 => self.check(device),
            85..90 => self.discard(device),
            90..95 => {
                self.run(device, Op::Flush)?;
                self.model.flushed();
                Ok(())
            }
            _ => {
                let duration = Duration::from_millis(self.ranges.below(2000));
                self.run(device, Op::Pause { duration }).map(drop)
            }
        }
    }

    fn write(&mut self, device: &mut impl Device) -> anyhow::Result<()> {
        let range = self.ranges.range();
        self.generation += 1;
        self.run(device, Op::write(range, self.pattern()))?;
        self.model.set(range, self.generation);
        Ok(())
    }

    fn discard(&mut self, device: &mut impl Device) -> anyhow::Result<()> {
        let range = self.ranges.range();
        self.run(device, Op::Discard { range })?;
        self.model.set(range, 0);
        Ok(())
    }

    /// Reads a range and compares every sector with the model.
    fn check(&mut self, device: &mut impl Device) -> anyhow::Result<()> {
        let range = self.ranges.range();
        let generation = self.model.first(range).max(1);
        let into = ReadInto::Check(Pattern { seed: PATTERN_SEED, generation });
        let found = self.run(device, Op::Read { range, into })?;
        let expected = Success::of_check(self.model.expected(range, generation));
        ensure!(found == expected, "read of {range}: {found:?} instead of {expected:?}");
        self.tally.sectors_checked += range.length.sectors().0;
        Ok(())
    }

    /// Runs a request that must succeed within the latency limit.
    fn run(&mut self, device: &mut impl Device, op: Op) -> anyhow::Result<Success> {
        let (kind, range, pause) = (op.kind(), op.range(), matches!(op, Op::Pause { .. }));
        let completion = device.run(op)?;
        let latency = completion.latency();
        let Ok(success) = completion.outcome else { bail!("{kind} failed: {:?}", completion.outcome) };
        if !pause {
            ensure!(
                !latency.is_zero() && latency <= self.latency_max,
                "{kind} of {range:?} took {latency:?}"
            );
            self.tally.longest_s = self.tally.longest_s.max(latency.as_secs_f64());
        }
        Ok(success)
    }
}

/// The longest allowed latency: four copies of the whole stick at 10 ms per page, plus one minute. Guess: far
/// above any correct request.
fn latency_max(profile: &Profile) -> Duration {
    let pages = profile.capacity / profile.ftl.page;
    Duration::from_millis(pages * 4 * 10) + Duration::from_secs(60)
}

#[cfg(test)]
mod tests {
    use super::super::layers;
    use super::*;

    fn shard() -> Shard {
        Shard::new(&layers::ALL[7], 1).unwrap()
    }

    #[test]
    fn a_missing_write_is_detected() {
        let Shard { mut stick, mut host } = shard();
        for _ in 0..200 {
            host.step(&mut stick).unwrap();
        }
        let whole = ByteRange::new(Bytes::ZERO, stick.capabilities().capacity);
        host.model.set(whole, host.generation + 1);
        assert!((0..50).any(|_| host.check(&mut stick).is_err()));
    }

    #[test]
    fn an_impossible_sector_after_a_power_cut_is_detected() {
        let mut model = Model::new(8);
        let mut block = [0; 512];
        let pattern = Pattern { seed: PATTERN_SEED, generation: 3 };
        pattern.fill(flashscope_device::Lba(5), &mut block);
        model.set(ByteRange::new(SECTOR * 5, SECTOR), 2);
        assert!(model.settle(5, &[0, 1], pattern, &block).is_err());
        assert!(!model.settle(5, &[0, 3], pattern, &block).unwrap());
        block[100] ^= 1;
        assert!(model.settle(5, &[0, 3], pattern, &block).is_err());
    }

    #[test]
    fn a_latency_above_the_limit_is_detected() {
        let Shard { mut stick, mut host } = shard();
        host.latency_max = Duration::from_micros(1);
        assert!(host.write(&mut stick).is_err());
    }
}
