//! Open units, page and class from published tables: means per row, whatever numbers of units somebody tried.

use std::collections::BTreeMap;

use flashscope_device::Bytes;

use flashscope_record::figure::time;
use flashscope_record::finding::{Confidence, Finding, FindingId, FtlClass, Value};
use flashscope_record::observation::{OpenUnitsData, Order};

use crate::size_sweep::write_unit::SweepPoint;
use crate::statistics::{median, quantile};
use crate::thresholds::SURE_ENOUGH;

/// Time per request, by number of units and request size.
type Table = BTreeMap<u32, BTreeMap<Bytes, f64>>;

/// From one number of units to the next, the upper quartile of request sizes slows down at least so much where the open
/// units end; what differs by less is a device's ordinary wobble. The sharpest such step is taken.
const JUMP: f64 = 2.5;
/// A number of units that slows down by less than this beside the fewest is as quick as they are.
const QUICK: f64 = 1.6;
/// A request escapes the merge if it slows down by less than this where others slow down by [`JUMP`].
const ESCAPE: f64 = 1.6;
/// Extra time per request, as a share of writing a whole erase block: above, every request pays a merge.
const WHOLE_MERGE: f64 = 0.35;
/// Between two numbers of units that are both too many, a cost that grows by less is the merge law's plateau.
const PLATEAU: f64 = 1.2;
/// One that grows by more is a log's.
const GROWING: f64 = 1.4;
/// From this power of its size on, what a request costs more is a cost per byte.
const PER_BYTE: f64 = 0.75;
/// Below, only some do.
const PART_MERGE: f64 = 0.2;

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

impl std::fmt::Display for Contradiction {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { units, request, .. } = self;
        let (fastest, slowest) = (time(self.fastest), time(self.slowest));
        write!(
            formatter,
            "the log contradicts itself: writing {request} into {units} blocks in turn took {fastest} a request in one \
             table, {slowest} in another"
        )
    }
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

    /// By how much requests slow down from one row to another: the upper quartile over the small sizes both have.
    fn slowdown(&self, from: &BTreeMap<Bytes, f64>, to: &BTreeMap<Bytes, f64>) -> Option<f64> {
        quantile(&self.slowdowns(from, to), 0.75)
    }

    /// By how much requests of each small size that both rows have slow down.
    fn slowdowns(&self, from: &BTreeMap<Bytes, f64>, to: &BTreeMap<Bytes, f64>) -> Vec<f64> {
        let small = |size: &Bytes| *size * 4 <= self.erase_block;
        to.iter()
            .filter(|(size, _)| small(size))
            .filter_map(|(size, seconds)| Some(seconds / from.get(size)?))
            .collect()
    }

    /// Whether a row has half of another's small sizes at least: one that was stopped early may have none.
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

    /// The first number of units, up to `most`, that slows down so much beside the fewest, at half of the small sizes or more; and by how much,
    /// and beside how many. One block alone is not compared where more were tried: it is written in one run, with no change between blocks.
    fn slow_already(&self, order: Order, most: u32, by: f64) -> Option<(u32, f64, u32)> {
        let table = self.table(order);
        let (fewest, base) = table.range(2..).next().or_else(|| table.first_key_value())?;
        let slowed = |(units, row): (&u32, &BTreeMap<Bytes, f64>)| {
            Some((*units, median(&self.slowdowns(base, row))?, *fewest))
        };
        table.range(..=most).filter_map(slowed).find(|(units, slowdown, _)| units > fewest && *slowdown >= by)
    }

    /// Whether more blocks are as quick again as those that fit, behind a number that was too many: in one sentence.
    fn quick_beyond(&self, order: Order) -> Option<String> {
        let rows: Vec<(&u32, &BTreeMap<Bytes, f64>)> = self.table(order).iter().collect();
        let compared = |from: usize, to: usize| self.slowdown(rows[from].1, rows[to].1);
        let is_slow = |base: usize, row: usize| compared(base, row).is_some_and(|slowdown| slowdown >= JUMP);
        let is_quick = |base: usize, row: usize| compared(base, row).is_some_and(|slowdown| slowdown < QUICK);
        let all = 0..rows.len();
        let slow = all
            .clone()
            .find_map(|base| (base + 1..rows.len()).find(|row| is_slow(base, *row)).map(|row| (base, row)));
        let (base, slow) = slow?;
        let quick = all.rev().find(|row| *row > slow && is_quick(base, *row))?;
        Some(format!(
            "the log contradicts itself: {} blocks in turn are slow, and {} as quick as {}",
            rows[slow].0, rows[quick].0, rows[base].0
        ))
    }

    /// How many units can be open in this order.
    #[must_use]
    pub fn open_units(&self, order: Order) -> Finding {
        let id = match order {
            Order::Linear => FindingId::OpenUnitsLinear,
            Order::Random => FindingId::OpenUnitsRandom,
        };
        let table = self.table(order);
        let (Some((fewest, first)), Some((most, _))) = (table.first_key_value(), table.last_key_value())
        else {
            let reason = format!("the log has no table of open units in {} order", order.as_str());
            return Finding::unknown(id, reason, "flashbench --open-au, or write tests (--erase)");
        };
        if let Some(found) = self.contradiction(order) {
            return Finding::unknown(id, found.to_string(), "the tables once more, of one card in one state");
        }
        if let Some(reason) = self.quick_beyond(order) {
            return Finding::unknown(id, reason, "the tables once more, of one card in one state");
        }
        if self.is_merging(first) {
            let reason =
                format!("{fewest} are already too many: a request takes the same time whatever its size");
            return Finding::unknown(id, reason, "fewer units");
        }
        let Some(end) = self.end(order) else {
            let reason = match self.slow_already(order, *most, JUMP) {
                Some((units, by, fewest)) => {
                    format!(
                        "it slows down little by little: {units} blocks in turn take {by:.1} times as long as {fewest}"
                    )
                }
                None => format!(
                    "at least {}: up to there nothing slows down, and more were not tried",
                    self.most_compared(order).unwrap_or(*most)
                ),
            };
            return Finding::unknown(id, reason, "more units");
        };
        if let Some((units, by, fewest)) = self.slow_already(order, end.fits, QUICK) {
            let reason = format!(
                "{} at most, but {units} blocks in turn already take {by:.1} times as long as {fewest}",
                end.fits
            );
            return Finding::unknown(id, reason, "the tables once more");
        }
        let confidence = match end.slowdown / JUMP {
            sharp if sharp >= 2.0 => 0.97,
            clear if clear >= 1.4 => 0.85,
            _ => 0.7,
        };
        Finding::exact(id, Value::Count(end.fits), Confidence::new(confidence), self.evidence(order, &end))
            .within(Value::Count(end.fits), Value::Count(end.too_many - 1))
    }
    /// Whether even the fewest units tried merge at every request: time hardly depends on the size, and small requests
    /// crawl.
    fn is_merging(&self, row: &BTreeMap<Bytes, f64>) -> bool {
        let (Some((small, small_seconds)), Some((large, large_seconds))) =
            (row.iter().find(|(size, _)| **size >= Bytes::kib(16)), row.last_key_value())
        else {
            return false;
        };
        large.get() >= small.get() * 16 && *large_seconds < small_seconds * 3.0
    }

    fn evidence(&self, order: Order, end: &End) -> String {
        let table = self.table(order);
        let slowest = table[&end.too_many]
            .iter()
            .filter_map(|(size, seconds)| Some((size, seconds, table[&end.fits].get(size)?)))
            .max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
        slowest.map_or_else(String::new, |(size, slow, fast)| {
            format!(
                "writing {size} into {} blocks in turn took {} a request, into {} only {}",
                end.too_many,
                time(*slow),
                end.fits,
                time(*fast)
            )
        })
    }

    /// The times of requests of every size while all units fit: the ladder for page and write unit.
    #[must_use]
    pub fn ladder(&self) -> Vec<SweepPoint> {
        let row = match self.end(Order::Linear) {
            Some(end) => self.linear.get(&end.fits),
            None => self.linear.values().find(|row| !self.is_merging(row)),
        };
        let fewest = self.linear.values().find(|row| !self.is_merging(row));
        // The row with the most sizes tells the most.
        let row = [row, fewest].into_iter().flatten().max_by_key(|row| row.len());
        let rung = |(size, seconds): (&Bytes, &f64)| SweepPoint {
            size: *size,
            seconds: *seconds,
            relative_error: 0.03,
        };
        row.map(|row| row.iter().map(rung).collect()).unwrap_or_default()
    }

    /// The class of the translation layer.
    #[must_use]
    pub fn ftl_class(&self) -> Finding {
        let id = FindingId::FtlClass;
        if let Some(found) = self.contradiction(Order::Linear) {
            return Finding::unknown(id, found.to_string(), "the tables once more, of one card in one state");
        }
        if let Some(reason) = self.quick_beyond(Order::Linear) {
            return Finding::unknown(id, reason, "the tables once more, of one card in one state");
        }
        let Some(end) = self.end(Order::Linear) else {
            return Finding::unknown(
                id,
                "no table shows where the open units end",
                "tables for more numbers of units",
            );
        };
        if self.open_units(Order::Linear).confidence().get() < SURE_ENOUGH {
            let reason = "how many units stay open is not sure enough, and so is what lies beyond them";
            return Finding::unknown(id, reason, "what decides the open units");
        }
        let (fits, beyond) = (&self.linear[&end.fits], &self.linear[&end.too_many]);
        let extra: Vec<f64> = beyond
            .iter()
            .filter_map(|(size, seconds)| Some((seconds, fits.get(size)?)))
            .filter(|(slow, fast)| **slow > **fast * JUMP)
            .map(|(slow, fast)| slow - fast)
            .collect();
        let block = fits.iter().map(|(size, seconds)| seconds / size.as_f64()).reduce(f64::min);
        let (Some(extra), Some(per_byte)) = (median(&extra), block) else {
            return Finding::unknown(id, "the table beyond the open units is cut short", "a complete table");
        };
        if self.extra_grows(&end).is_some_and(|exponent| exponent > PER_BYTE) {
            let reason = format!("beyond {} units every byte takes longer: that is no merge", end.fits);
            return Finding::unknown(id, reason, "the tables once more, on a device that has cooled down");
        }
        let whole = per_byte * self.erase_block.as_f64();
        let class = match (self.growth(&end), extra / whole) {
            (Some(growth), _) if growth < PLATEAU => FtlClass::OpenBlock,
            (Some(growth), _) if growth > GROWING => FtlClass::LogStructured,
            (None, share) if share >= WHOLE_MERGE => FtlClass::OpenBlock,
            (None, share) if share <= PART_MERGE => FtlClass::LogStructured,
            _ => {
                let reason =
                    format!("a request beyond the open units costs {} more: between the laws", time(extra));
                return Finding::unknown(id, reason, "tables for more numbers of units");
            }
        };
        let above = self.escaping_request(&end);
        let escape = above.map_or_else(String::new, |size| format!("; requests up to {size} pay nothing"));
        let evidence = format!(
            "beyond {} open blocks a request costs {} more, {} the {} of writing an erase block{escape}",
            end.fits,
            time(extra),
            if class == FtlClass::OpenBlock { "of the order of" } else { "far less than" },
            time(whole)
        );
        Finding::exact(id, Value::Class { class, above }, Confidence::new(0.9), evidence)
            .with_caveat("from means: single merges are not visible in the table")
    }

    /// With which power of its size the extra cost of a request grows beyond the open units: with none where each pays a merge, with the first
    /// where the device has become slower. The median over pairs of sizes up to an eighth of the erase block (H. Theil, 1950).
    fn extra_grows(&self, end: &End) -> Option<f64> {
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

    /// By how much the cost of a request still grows between the two largest numbers of units, both too many; `None` if
    /// only one was tried. The merge law says: not at all.
    fn growth(&self, end: &End) -> Option<f64> {
        let rows: Vec<_> = self.linear.range(end.too_many..).map(|(_, row)| row).collect();
        let [.., before, last] = rows[..] else { return None };
        let small = |size: &Bytes| *size * 8 <= self.erase_block && Some(*size) > self.escaping_request(end);
        let ratios: Vec<f64> = last
            .iter()
            .filter(|(size, _)| small(size))
            .filter_map(|(size, seconds)| Some(seconds / before.get(size)?))
            .collect();
        median(&ratios)
    }

    /// The largest request that is not slowed down where larger ones are.
    fn escaping_request(&self, end: &End) -> Option<Bytes> {
        let beyond = &self.linear[&end.too_many];
        let base = |size: &Bytes| self.linear.range(..=end.fits).rev().find_map(|(_, row)| row.get(size));
        let escapes =
            |(size, seconds): &(&Bytes, &f64)| base(size).is_some_and(|base| **seconds < *base * ESCAPE);
        let escaping: Vec<Bytes> = beyond.iter().take_while(escapes).map(|(size, _)| *size).collect();
        escaping.last().copied().filter(|_| escaping.len() < beyond.len())
    }
}

/// Where tables of the same order and number of units differ so much in half of their sizes that one of them would be taken
/// for beyond the open units; of each, the size that differs most.
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
