//! What the speed test of a run says about the stick: the rate of its link, and the path of small writes.

use flashscope_device::Bytes;
use flashscope_record::observation::{Data, Direction, Order, SpeedCell};
use flashscope_record::run_file::RunFile;
use flashscope_sim::Profile;
use flashscope_sim::profile::{Basis, Bus, SmallWrites};

use crate::summary::median;

/// The fewest requests of a kind whose median counts. Guess.
const REQUESTS_MIN: usize = 8;
/// The least share of a read that is its transfer: of less, the rate is not seen. Guess.
const TRANSFER_MIN: f64 = 0.3;
/// The buses that a twin may have, the slowest first.
const BUSES: [Bus; 4] = [Bus::SdHighSpeed, Bus::SdSdr104, Bus::UsbSuper5, Bus::UsbSuper10];

/// The rows of the speed test that were measured without a queue and without the page cache.
#[derive(Debug)]
pub struct Speeds<'a>(Vec<&'a SpeedCell>);

impl<'a> Speeds<'a> {
    /// Those of a run.
    pub fn of(run: &'a RunFile) -> Self {
        let cells = run.observations.iter().filter_map(|seen| match &seen.data {
            Data::Speed(data) if !data.is_buffered => Some(&data.cells),
            _ => None,
        });
        let counts = |cell: &&SpeedCell| cell.case.queue_depth == 1 && cell.took_ns.len() >= REQUESTS_MIN;
        Self(cells.flatten().filter(counts).collect())
    }

    /// `profile` with the rate of the link that sequential reads show; as it was without them.
    pub fn with_link(&self, profile: &Profile) -> Profile {
        let largest = self.rows(Direction::Read, Order::Linear).max_by_key(|cell| cell.case.request);
        let Some((request, seconds)) = largest.and_then(typical) else { return profile.clone() };
        let transfer_s = seconds - profile.read.access_us / 1e6;
        let rate = request.as_f64() / transfer_s / 1e6;
        let mut twin = profile.clone();
        let bus = BUSES.into_iter().find(|bus| rate <= bus.figures().ceiling_megabytes_per_s);
        if let Some(bus) = bus.filter(|_| transfer_s >= TRANSFER_MIN * seconds) {
            twin.link.bus = bus;
            twin.link.megabytes_per_s = Some(rate);
        }
        if twin.check().is_ok() { twin } else { profile.clone() }
    }

    /// `profile` with a path of its own for writes up to this size, which take what random ones took; as it
    /// was if none were measured.
    pub fn with_small_writes(&self, profile: Profile, up_to: Bytes) -> Profile {
        let smallest = self.rows(Direction::Write, Order::Random).min_by_key(|cell| cell.case.request);
        let small = smallest.filter(|cell| cell.case.request <= up_to).and_then(typical);
        let Some((request, seconds)) = small else { return profile };
        let transfer_us = request.as_f64() / profile.link.timing().megabytes_per_s;
        let write_us = seconds.mul_add(1e6, -transfer_us).max(0.0);
        let small = SmallWrites { basis: Basis::Measured, up_to, write_us, per_kib_us: 0.0 };
        let twin = Profile { small_writes: Some(small), ..profile.clone() };
        if twin.check().is_ok() { twin } else { profile }
    }

    fn rows(&self, direction: Direction, order: Order) -> impl Iterator<Item = &'a SpeedCell> {
        let is_asked = move |cell: &&SpeedCell| (cell.case.direction, cell.case.order) == (direction, order);
        self.0.iter().copied().filter(is_asked)
    }
}

/// The request and its median time, seconds.
fn typical(cell: &SpeedCell) -> Option<(Bytes, f64)> {
    #[expect(clippy::cast_precision_loss, reason = "a request takes less than 2^53 ns")]
    let seconds = median(cell.took_ns.iter().map(|ns| *ns as f64 / 1e9))?;
    Some((cell.case.request, seconds))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_record::observation::SpeedCase;

    use super::*;

    fn cell(direction: Direction, order: Order, request: Bytes, us: u64) -> SpeedCell {
        let mut cell = SpeedCell::new(SpeedCase { direction, order, request, queue_depth: 1 });
        for number in 1..=9 {
            cell.keep(Duration::from_micros(us), Duration::from_micros(us * number));
        }
        cell
    }

    #[test]
    fn link_has_the_rate_of_the_largest_sequential_reads() {
        let profile = Profile::builtin("transcend-8g").unwrap();
        let access_us = profile.read.access_us;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few ms")]
        let at = |rate: f64| (access_us + 1_048_576.0 / rate) as u64;
        for (rate, bus) in [
            (12.0, Bus::SdHighSpeed),
            (40.0, Bus::SdSdr104),
            (200.0, Bus::UsbSuper5),
            (860.0, Bus::UsbSuper10),
        ] {
            let large = cell(Direction::Read, Order::Linear, Bytes::mib(1), at(rate));
            let small = cell(Direction::Read, Order::Linear, Bytes::kib(4), 9000);
            let link = Speeds(vec![&small, &large]).with_link(&profile).link;
            let seen = link.megabytes_per_s.unwrap();
            assert!((seen / rate - 1.0).abs() < 0.01 && link.bus == bus, "{seen} {}", link.bus);
        }
        assert_eq!(Speeds(Vec::new()).with_link(&profile), profile);
    }

    #[test]
    fn small_writes_take_what_random_ones_took_up_to_the_size_of_their_path() {
        let profile = Profile::builtin("transcend-8g").unwrap();
        let rate = profile.link.timing().megabytes_per_s;
        let random = cell(Direction::Write, Order::Random, Bytes::kib(4), 2500);
        let speeds = Speeds(vec![&random]);
        let small = speeds.with_small_writes(profile.clone(), Bytes::kib(8)).small_writes.unwrap();
        assert_eq!(small.up_to, Bytes::kib(8));
        assert!((small.write_us - (2500.0 - 4096.0 / rate)).abs() < 1.0, "{small:?}");
        assert_eq!(speeds.with_small_writes(profile.clone(), Bytes::kib(2)), profile);
    }
}
