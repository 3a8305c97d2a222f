//! Open units, page and class from published tables: means per row, for whichever numbers of units were
//! tried.

use std::collections::BTreeMap;

use flashscope_device::Bytes;

use flashscope_record::finding::{
    BlockEvidence, Caveat, Confidence, Evidence, Finding, FindingId, FtlClass, LogFault, Quantity, Reason,
    Sample, Value, WouldDecide,
};
use flashscope_record::observation::{OpenUnitsData, Order};

use crate::size_sweep::sweep::PUBLISHED_ERROR;
use crate::size_sweep::write_unit::SweepPoint;
use crate::statistics::{median, quantile};
use crate::thresholds::{LIKELY, SURE_ENOUGH};

/// Time per request, by number of units and request size.
type Table = BTreeMap<u32, BTreeMap<Bytes, f64>>;

/// Where the open units end, the upper quartile of request sizes slows down at least by this factor; ordinary
/// variation stays below it. The sharpest such step counts. Guess.
const JUMP: f64 = 2.5;
/// A number of units is as fast as the fewest if it slows down by less than this factor. So
/// does a request that escapes the merge, and a larger request of those that pay it. Guess.
const FAST: f64 = 1.6;
/// With one unit too many, every request pays a merge if the extra time is at least this share of writing an
/// erase block, ... Guess.
const WHOLE_MERGE: f64 = 0.35;
/// ... and only some do if it is at most this share: no controller copies a block twenty times as fast as it
/// writes one. Guess.
const PART_MERGE: f64 = 0.05;
/// Copying a block takes at most about this many times as long as writing one. Guess.
const COPY_MAX: f64 = 0.95;
/// From the first number of units that is too many to more of them, the cost of a request grows by less than
/// this factor if every switch pays a merge at once, ... Guess.
const PLATEAU: f64 = 1.2;
/// ... and by more than this one if only a part of them did. Guess.
const GROWING: f64 = 1.4;
/// The extra cost is one per byte if it grows with at least this power of the request size. Guess.
const PER_BYTE: f64 = 0.75;
/// Merges show in sizes of which the largest is at least this many times the smallest. Guess: no page
/// is as large in what reaches up to an eighth of an erase block.
const FLAT_SPAN: u64 = 8;
/// Each of them takes at least this share of writing an erase block. Guess.
const MERGE_SHARE: f64 = 0.1;

/// Everything published about open units of one device.
pub struct Published {
    erase_block: Bytes,
    linear: Table,
    random: Table,
    contradictions: Vec<Contradiction>,
}

/// Two tables of the same thing that cannot both be true of one device.
struct Contradiction {
    order: Order,
    units: u32,
    request: Bytes,
    fastest: f64,
    slowest: f64,
}

impl Contradiction {
    fn finding(&self, id: FindingId) -> Finding {
        let fault = LogFault::TimesDisagree {
            request: self.request,
            blocks: self.units,
            fastest_s: self.fastest,
            slowest_s: self.slowest,
        };
        Finding::unknown(id, Reason::Log(fault), [WouldDecide::TablesAgain])
    }
}

/// Requests that pay a merge each.
struct Merging {
    /// The median time of a request, seconds.
    seconds: f64,
    /// The largest request that pays none, if smaller ones do not.
    free_to: Option<Bytes>,
}

/// Where the open units end in one order.
struct End {
    fits: u32,
    too_many: u32,
    slowdown: f64,
}

impl Published {
    /// Collects tables of open units.
    #[must_use]
    pub fn new(tables: &[&OpenUnitsData]) -> Self {
        let mut sums: BTreeMap<(Order, u32, Bytes), Vec<f64>> = BTreeMap::new();
        let open = tables
            .iter()
            .flat_map(|table| &table.cells)
            .map(|cell| (cell.order, cell.open_units, cell.request, cell.times.mean_seconds()));

        for (order, units, request, seconds) in open {
            sums.entry((order, units, request)).or_default().extend(seconds);
        }
        let table = |order: Order| {
            let mut table = Table::new();
            for ((_, units, request), seconds) in sums.iter().filter(|((o, ..), _)| *o == order) {
                if let Some(seconds) = median(seconds) {
                    table.entry(*units).or_default().insert(*request, seconds);
                }
            }
            table
        };
        let erase_block = tables.iter().map(|table| table.erase_block).max();
        let contradictions = contradictions(&sums);
        Self {
            contradictions,
            erase_block: erase_block.unwrap_or_default(),
            linear: table(Order::Linear),
            random: table(Order::Random),
        }
    }

    fn contradiction(&self, order: Order) -> Option<&Contradiction> {
        self.contradictions.iter().find(|found| found.order == order)
    }

    fn table(&self, order: Order) -> &Table {
        match order {
            Order::Linear => &self.linear,
            Order::Random => &self.random,
        }
    }

    /// The slowdown from one row to another: the upper quartile over the small sizes that both have.
    fn slowdown(&self, from: &BTreeMap<Bytes, f64>, to: &BTreeMap<Bytes, f64>) -> Option<f64> {
        quantile(&self.slowdowns(from, to), 0.75)
    }

    /// The slowdown of each small size that both rows have.
    fn slowdowns(&self, from: &BTreeMap<Bytes, f64>, to: &BTreeMap<Bytes, f64>) -> Vec<f64> {
        let small = |size: &Bytes| *size * 4 <= self.erase_block;
        to.iter()
            .filter(|(size, _)| small(size))
            .filter_map(|(size, seconds)| Some(seconds / from.get(size)?))
            .collect()
    }

    /// Whether a row has at least half of another's small sizes: one that was stopped early may have none.
    fn can_be_compared(&self, from: &BTreeMap<Bytes, f64>, to: &BTreeMap<Bytes, f64>) -> bool {
        let small = || to.keys().filter(|size| **size * 4 <= self.erase_block);
        let shared = small().filter(|size| from.contains_key(size)).count();
        shared > 0 && shared * 2 >= small().count()
    }

    fn end(&self, order: Order) -> Option<End> {
        let rows: Vec<(&u32, &BTreeMap<Bytes, f64>)> = self.table(order).iter().collect();
        let ends = (1..rows.len()).filter_map(|at| {
            let before = (0..at).rev().find(|before| self.can_be_compared(rows[*before].1, rows[at].1))?;
            let slowdown = self.slowdown(rows[before].1, rows[at].1)?;
            (slowdown >= JUMP).then_some(End { fits: *rows[before].0, too_many: *rows[at].0, slowdown })
        });
        ends.max_by(|a, b| a.slowdown.total_cmp(&b.slowdown))
    }

    /// The largest number of units whose row reaches down to small sizes.
    fn most_compared(&self, order: Order) -> Option<u32> {
        let (_, fewest) = self.table(order).first_key_value()?;
        let mut rows = self.table(order).iter().rev();
        rows.find(|(_, row)| self.can_be_compared(fewest, row)).map(|(units, _)| *units)
    }

    /// The first number of units up to `most` whose median slowdown from the fewest is at least [`FAST`];
    /// that slowdown, and the fewest.
    fn slow_already(&self, order: Order, most: u32) -> Option<(u32, f64, u32)> {
        let (fewest, base) = self.fewest(order)?;
        let slowed = |(units, row): (&u32, &BTreeMap<Bytes, f64>)| {
            Some((*units, median(&self.slowdowns(base, row))?, fewest))
        };
        let mut slowed = self.table(order).range(..=most).filter_map(slowed);
        slowed.find(|(units, slowdown, _)| *units > fewest && *slowdown >= FAST)
    }

    /// The fewest units that more are compared with. A single block is not compared if more were tried: it is
    /// written in one run, with no switch between blocks.
    fn fewest(&self, order: Order) -> Option<(u32, &BTreeMap<Bytes, f64>)> {
        let table = self.table(order);
        let (units, row) = table.range(2..).next().or_else(|| table.first_key_value())?;
        Some((*units, row))
    }

    /// What a table says without a sharp end: the numbers of units that are as fast as the fewest, and those
    /// that are slower. Small requests that take another path do not hide the larger ones: the upper quartile
    /// counts. `None` if nothing slows down.
    fn slows_gradually(&self, order: Order) -> Option<Reason> {
        let (fewest, base) = self.fewest(order)?;
        let more = self.table(order).range(fewest + 1..);
        let compared: Vec<(u32, f64)> = more
            .filter(|(_, row)| self.can_be_compared(base, row))
            .filter_map(|(units, row)| Some((*units, self.slowdown(base, row)?)))
            .collect();
        let at = compared.iter().position(|(_, factor)| *factor >= FAST)?;
        let (blocks, factor) = compared[at];
        let as_fast = compared[..at].last().map_or(fewest, |(units, _)| *units);
        let last = compared[at + 1..].last().copied();
        Some(Reason::SlowsGradually { at_most: None, as_fast, blocks, factor, fewest, last })
    }

    /// That no unit stays open in random order: a single one pays a merge at every request, and sequential
    /// requests of the same size do not.
    fn none_open(&self, order: Order, merging: &Merging) -> Option<Finding> {
        let random = (order == Order::Random).then(|| self.random.get(&1)).flatten()?;
        let (_, sequential) = self.linear.iter().find(|(_, row)| self.merging(row).is_none())?;
        let pays = random.iter().filter(|(size, _)| Some(**size) > merging.free_to);
        let (request, write_s, sequential_s) = pays
            .filter_map(|(size, seconds)| Some((size, *seconds, *sequential.get(size)?)))
            .max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)))?;
        let is_clear = write_s >= sequential_s * JUMP && *request * 8 <= self.erase_block;
        let evidence = Evidence::Blocks(BlockEvidence::OneIsSlow { order, write_s, sequential_s });
        let finding =
            Finding::exact(FindingId::OpenUnitsRandom, Value::Count(0), Confidence::new(LIKELY), evidence);
        is_clear.then_some(finding)
    }

    /// The fault of a log in which more blocks are as fast as those that fit, after a number that was too
    /// many.
    fn fast_beyond(&self, order: Order) -> Option<LogFault> {
        let rows: Vec<(&u32, &BTreeMap<Bytes, f64>)> = self.table(order).iter().collect();
        let compared = |from: usize, to: usize| self.slowdown(rows[from].1, rows[to].1);
        let is_slow = |base: usize, row: usize| compared(base, row).is_some_and(|slowdown| slowdown >= JUMP);
        let is_fast = |base: usize, row: usize| compared(base, row).is_some_and(|slowdown| slowdown < FAST);
        let all = 0..rows.len();
        let slow = all
            .clone()
            .find_map(|base| (base + 1..rows.len()).find(|row| is_slow(base, *row)).map(|row| (base, row)));
        let (base, slow) = slow?;
        let fast = all.rev().find(|row| *row > slow && is_fast(base, *row))?;
        Some(LogFault::LargerCountIsFast { slow: *rows[slow].0, fast: *rows[fast].0, base: *rows[base].0 })
    }

    /// The number of open units in this order.
    #[must_use]
    pub fn open_units(&self, order: Order) -> Finding {
        let id = match order {
            Order::Linear => FindingId::OpenUnitsLinear,
            Order::Random => FindingId::OpenUnitsRandom,
        };
        let table = self.table(order);
        let (Some((fewest, first)), Some((most, _))) = (table.first_key_value(), table.last_key_value())
        else {
            let reason = Reason::Log(LogFault::NoTable(order));
            return Finding::unknown(
                id,
                reason,
                [WouldDecide::More(Sample::Tables), WouldDecide::WriteTests],
            );
        };
        if let Some(found) = self.contradiction(order) {
            return found.finding(id);
        }
        if let Some(fault) = self.fast_beyond(order) {
            return Finding::unknown(id, Reason::Log(fault), [WouldDecide::TablesAgain]);
        }
        if let Some(merging) = self.merging(first) {
            return self.none_open(order, &merging).unwrap_or_else(|| {
                let Merging { seconds, free_to } = merging;
                let reason = Reason::FewestMerge { blocks: *fewest, merge_s: seconds, free_to };
                Finding::unknown(id, reason, [WouldDecide::Smaller(Quantity::BlockCount)])
            });
        }
        let Some(end) = self.end(order) else {
            let at_least = || Reason::AtLeast(self.most_compared(order).unwrap_or(*most));
            let reason = self.slows_gradually(order).unwrap_or_else(at_least);
            return Finding::unknown(id, reason, [WouldDecide::Larger(Quantity::BlockCount)]);
        };
        if let Some((blocks, factor, fewest)) = self.slow_already(order, end.fits) {
            let as_fast = self.table(order).range(..blocks).next_back().map_or(fewest, |(units, _)| *units);
            let at_most = Some(end.fits);
            let reason = Reason::SlowsGradually { at_most, as_fast, blocks, factor, fewest, last: None };
            return Finding::unknown(id, reason, [WouldDecide::TablesAgain]);
        }
        let confidence = match end.slowdown / JUMP {
            sharp if sharp >= 2.0 => 0.97,
            clear if clear >= 1.4 => 0.85,
            _ => 0.7,
        };
        Finding::exact(id, Value::Count(end.fits), Confidence::new(confidence), self.evidence(order, &end))
            .within(Value::Count(end.fits), Value::Count(end.too_many - 1))
    }

    /// Whether requests of this row pay a merge each. From the smallest that does up to an eighth of the
    /// erase block, a request then takes no longer than a smaller one. No page explains it: the sizes reach
    /// further than any page, and each request costs a large share of an erase block.
    fn merging(&self, row: &BTreeMap<Bytes, f64>) -> Option<Merging> {
        let whole = self.block_seconds(row)?;
        let small: Vec<(Bytes, f64)> =
            row.iter().filter(|(size, _)| **size * 8 <= self.erase_block).map(|(s, t)| (*s, *t)).collect();
        let is_flat = |from: usize| {
            let (first, last) = (small[from].0, small[small.len() - 1].0);
            let pairs = || (from..small.len()).flat_map(|one| (one..small.len()).map(move |two| (one, two)));
            last >= first * FLAT_SPAN && pairs().all(|(one, two)| small[two].1 <= small[one].1 * FAST)
        };
        let from = (0..small.len()).find(|from| is_flat(*from)).or_else(|| merges_whole(row, &small))?;
        let seconds = median(&small[from..].iter().map(|(_, seconds)| *seconds).collect::<Vec<_>>())?;
        let free = small[..from].iter().rev().find(|(_, time)| *time * JUMP <= seconds);
        (seconds >= whole * MERGE_SHARE).then_some(Merging { seconds, free_to: free.map(|(size, _)| *size) })
    }

    /// The time that an erase block takes at the best throughput of this row, seconds.
    fn block_seconds(&self, row: &BTreeMap<Bytes, f64>) -> Option<f64> {
        let per_byte = row.iter().map(|(size, seconds)| seconds / size.as_f64()).reduce(f64::min)?;
        Some(per_byte * self.erase_block.as_f64())
    }

    /// The size that slows down most from the blocks that fit to too many.
    fn evidence(&self, order: Order, end: &End) -> Evidence {
        let table = self.table(order);
        let slowest = table[&end.too_many]
            .iter()
            .filter_map(|(size, seconds)| Some((size, seconds, table[&end.fits].get(size)?)))
            .max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
        Evidence::Blocks(BlockEvidence::TooMany {
            order,
            request: slowest.map(|(size, ..)| *size),
            fits: end.fits,
            too_many: end.too_many,
            within_s: slowest.map_or(0.0, |(_, _, fast)| *fast),
            beyond_s: slowest.map_or(0.0, |(_, slow, _)| *slow),
        })
    }

    /// The times of requests of every size while all units fit: the size sweep for page and write unit. Of
    /// several rows each size has its usual time, since a stall lengthens one figure of one row.
    #[must_use]
    pub fn size_sweep(&self) -> Vec<SweepPoint> {
        let fits = self.end(Order::Linear).map(|end| end.fits);
        let fewest = self.linear.values().find(|row| self.merging(row).is_none());
        let row = fits.map_or(fewest, |fits| self.linear.get(&fits));
        // Of both, the row with more sizes.
        let row = [row, fewest].into_iter().flatten().max_by_key(|row| row.len());
        let up_to = self.linear.range(..=fits.unwrap_or(u32::MAX)).map(|(_, row)| row);
        let rows: Vec<_> = up_to.filter(|row| self.merging(row).is_none()).collect();
        let point = |(size, seconds): (&Bytes, &f64)| SweepPoint {
            size: *size,
            seconds: usual(rows.iter().filter_map(|row| row.get(size))).unwrap_or(*seconds),
            relative_error: PUBLISHED_ERROR,
            outliers: 0.0,
        };
        row.map(|row| row.iter().map(point).collect()).unwrap_or_default()
    }

    /// The class of the translation layer.
    #[must_use]
    pub fn ftl_class(&self) -> Finding {
        let id = FindingId::FtlClass;
        if let Some(found) = self.contradiction(Order::Linear) {
            return found.finding(id);
        }
        if let Some(fault) = self.fast_beyond(Order::Linear) {
            return Finding::unknown(id, Reason::Log(fault), [WouldDecide::TablesAgain]);
        }
        if let Some(finding) = self.linear_only() {
            return finding;
        }
        let Some(end) = self.end(Order::Linear) else {
            return Finding::unknown(id, Reason::NoUpperCount, [WouldDecide::More(Sample::Tables)]);
        };
        if self.open_units(Order::Linear).confidence().get() < SURE_ENOUGH {
            let reason = Reason::DependsOn(FindingId::OpenUnitsLinear);
            return Finding::unknown(id, reason, [WouldDecide::Finding(FindingId::OpenUnitsLinear)]);
        }
        let (fits, beyond) = (&self.linear[&end.fits], &self.linear[&end.too_many]);
        let extra: Vec<f64> = beyond
            .iter()
            .filter_map(|(size, seconds)| Some((seconds, fits.get(size)?)))
            .filter(|(slow, fast)| **slow > **fast * JUMP)
            .map(|(slow, fast)| slow - fast)
            .collect();
        let (Some(extra), Some(whole)) = (median(&extra), self.block_seconds(fits)) else {
            return Finding::unknown(id, Reason::Log(LogFault::CutShort), [WouldDecide::CompleteLog]);
        };
        if self.growth_exponent(&end).is_some_and(|exponent| exponent > PER_BYTE) {
            let reason = Reason::CostPerByte { fits: end.fits };
            return Finding::unknown(id, reason, [WouldDecide::TablesAgain, WouldDecide::CoolDown]);
        }
        let Some(class) = self.class_by_cost(&end, extra / whole) else {
            let (low, high) = (end.fits, end.too_many - 1);
            let reason = Reason::BetweenRules { low, high, extra_s: extra, every_switch: None };
            return Finding::unknown(id, reason, [WouldDecide::More(Sample::Tables)]);
        };
        let above = self.escaping_request(&end);
        let evidence = Evidence::Blocks(BlockEvidence::ExtraCost {
            fits: end.fits,
            extra_s: extra,
            block_s: whole,
            is_far_less: class != FtlClass::OpenBlock,
            free_to: above,
        });
        Finding::exact(id, Value::Class { class, above }, Confidence::new(LIKELY), evidence)
            .with_caveat(Caveat::MeansHideMerges)
    }

    /// The power of its size with which the extra cost of a request grows beyond the open units: 0 for
    /// merges, 1 on a device that became slower. The median over pairs of sizes up to an eighth of the erase
    /// block (H. Theil, 1950).
    fn growth_exponent(&self, end: &End) -> Option<f64> {
        let (fits, beyond) = (&self.linear[&end.fits], &self.linear[&end.too_many]);
        let small = |size: &Bytes| *size * 8 <= self.erase_block;
        let extra: Vec<(f64, f64)> = beyond
            .iter()
            .filter_map(|(size, slow)| Some((size, slow - fits.get(size)?)).filter(|(size, _)| small(size)))
            .filter(|(_, extra)| *extra > 0.0)
            .map(|(size, extra)| (size.as_f64().ln(), extra.ln()))
            .collect();
        let pairs =
            extra.iter().enumerate().flat_map(|(at, one)| extra[..at].iter().map(move |two| (one, two)));
        median(&pairs.map(|(one, two)| (one.1 - two.1) / (one.0 - two.0)).collect::<Vec<_>>())
    }

    /// The class by how the cost of a request depends on the number of units beyond the open ones. `share` is
    /// its extra time with the first number that is too many, as a share of writing an erase block.
    ///
    /// With one unit too many, LRU eviction merges at every switch, random eviction at a part of them, and
    /// with more units at more of them. So what counts is how far the cost rises from the first number that
    /// is too many; further tables beyond never turn the answer. If that number is more than one too many,
    /// the cost may have risen before it.
    fn class_by_cost(&self, end: &End, share: f64) -> Option<FtlClass> {
        let is_next = end.too_many == end.fits + 1;
        let at_once = WHOLE_MERGE.max(COPY_MAX * random_eviction_share(end.fits));
        match self.rise(end) {
            Some(rise) if rise > GROWING => Some(FtlClass::LogStructured),
            Some(rise) if rise < PLATEAU && is_next => Some(FtlClass::OpenBlock),
            None if share >= at_once && is_next => Some(FtlClass::OpenBlock),
            None if share <= PART_MERGE => Some(FtlClass::LogStructured),
            _ => None,
        }
    }

    /// How many times as long requests take with any number of units beyond the first that is too many, at
    /// most; `None` if no more were tried.
    fn rise(&self, end: &End) -> Option<f64> {
        let escaping = self.escaping_request(end);
        let first = &self.linear[&end.too_many];
        let is_used = |size: &Bytes| *size * 8 <= self.erase_block && Some(*size) > escaping;
        let ratios = |row: &BTreeMap<Bytes, f64>| -> Vec<f64> {
            let sizes = row.iter().filter(|(size, _)| is_used(size));
            sizes.filter_map(|(size, seconds)| Some(seconds / first.get(size)?)).collect()
        };
        let more = self.linear.range(end.too_many + 1..);
        more.filter_map(|(_, row)| median(&ratios(row))).reduce(f64::max)
    }

    /// The class if no unit stays open in random order, and sequential writes merge nothing.
    fn linear_only(&self) -> Option<Finding> {
        let random = self.open_units(Order::Random);
        if random.count() != Some(0) {
            return None;
        }
        let value = Value::Class { class: FtlClass::LinearOnly, above: None };
        let evidence = random.evidence?;
        Some(
            Finding::exact(FindingId::FtlClass, value, random.confidence(), evidence)
                .with_caveat(Caveat::MeansHideMerges),
        )
    }

    /// A request that takes no longer than one of half its size, which reads take for a page: both sizes with
    /// their times, seconds. Writes of two pages take longer than of one.
    #[must_use]
    pub fn larger_page(&self, page: Bytes) -> Option<[(Bytes, f64); 2]> {
        let rows = [&self.random, &self.linear].into_iter().filter_map(|table| table.values().next());
        rows.filter(|row| self.merging(row).is_none()).find_map(|row| {
            let (one, two) = (*row.get(&page)?, *row.get(&(page * 2))?);
            (two <= one * (1.0 + PUBLISHED_ERROR)).then_some([(page, one), (page * 2, two)])
        })
    }

    /// The largest request that does not slow down, if larger ones do.
    fn escaping_request(&self, end: &End) -> Option<Bytes> {
        let beyond = &self.linear[&end.too_many];
        let base = |size: &Bytes| self.linear.range(..=end.fits).rev().find_map(|(_, row)| row.get(size));
        let escapes =
            |(size, seconds): &(&Bytes, &f64)| base(size).is_some_and(|base| **seconds < *base * FAST);
        let escaping: Vec<Bytes> = beyond.iter().take_while(escapes).map(|(size, _)| *size).collect();
        escaping.last().copied().filter(|_| escaping.len() < beyond.len())
    }
}

/// The median of several times, the shorter of two.
fn usual<'a>(times: impl Iterator<Item = &'a f64>) -> Option<f64> {
    let mut times: Vec<f64> = times.copied().collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len().saturating_sub(1) / 2).copied()
}

/// The smallest of the `small` requests from 16 KiB on, if it takes a large share of the time of the largest
/// request in the row: in a table of few sizes, that shows merges.
fn merges_whole(row: &BTreeMap<Bytes, f64>, small: &[(Bytes, f64)]) -> Option<usize> {
    let at = small.iter().position(|(size, _)| *size >= Bytes::kib(16))?;
    let (large, large_seconds) = row.last_key_value()?;
    let (size, seconds) = small[at];
    (*large >= size * 16 && *large_seconds < seconds * 3.0).then_some(at)
}

/// The share of switches that merge under random eviction, with `open` units open and one more written
/// round-robin: a unit survives each of the other merges with probability 1 - 1/K (a cache with random
/// replacement under a cyclic access pattern).
fn random_eviction_share(open: u32) -> f64 {
    const STEPS: u32 = 64;
    let open = f64::from(open.max(1));
    (0..STEPS).fold(1.0, |share: f64, _| 1.0 - (1.0 - 1.0 / open).powf(open * share))
}

/// Tables of the same order and number of units that differ by [`JUMP`] in half of their sizes; of each, the
/// size that differs most.
fn contradictions(times: &BTreeMap<(Order, u32, Bytes), Vec<f64>>) -> Vec<Contradiction> {
    let mut rows: BTreeMap<(Order, u32), Vec<Contradiction>> = BTreeMap::new();
    for ((order, units, request), seconds) in times {
        let fastest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let slowest = seconds.iter().copied().fold(0.0, f64::max);
        let row = rows.entry((*order, *units)).or_default();
        row.push(Contradiction { order: *order, units: *units, request: *request, fastest, slowest });
    }
    let ratio = |cell: &Contradiction| cell.slowest / cell.fastest;
    let contradict = |row: &Vec<Contradiction>| {
        median(&row.iter().map(ratio).collect::<Vec<_>>()).is_some_and(|ratio| ratio >= JUMP)
    };
    let worst = |row: Vec<Contradiction>| row.into_iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    rows.into_values().filter(contradict).filter_map(worst).collect()
}
