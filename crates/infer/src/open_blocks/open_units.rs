//! Open units in linear and in random order, from our own measurements, write by write.

use std::borrow::Cow;
use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::figure::time;
use flashscope_record::finding::{Confidence, Finding, FindingId, Value};
use flashscope_record::observation::{Merges, OpenUnitsCell, OpenUnitsData, Order};

use crate::open_blocks::evidence::Part;
use crate::open_blocks::laws::Law;
use crate::open_blocks::posterior::Belief;
use crate::open_blocks::{collection, evidence, posterior};
use crate::slow_classifier::Slowness;
use crate::statistics::{count, median, quickest_quarter};

/// Where more writes over data than this are slow whatever the number of blocks, nothing can be said.
const STALLS_OVER_DATA_MAX: f64 = 0.2;
/// What the laws can be wrong about that their posterior does not know.
const MODEL_DOUBT: f64 = 0.005;
/// And more where any block may have to go, or where some merges must have been hidden.
const VAGUE_DOUBT: f64 = 0.05;
/// No NAND erases a block in less: data sheets give 1.5 to 5 ms.
const ERASE_SECONDS: f64 = 1.5e-3;
/// Merges that take less are something else one time in ten.
const SHORTER_THAN_ERASING: f64 = 0.1;
/// So are those out of order that copy so many times as fast as the stick writes: copying programs the same pages, several dies at once at most.
const COPIES_QUICKLY: f64 = 4.0;

/// What the tests beside the search show of the layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Nothing but blocks that are open or not.
    Blocks,
    /// A log that maps less than an erase block at once.
    Log,
    /// The same, seen by what a write out of order takes longer: so many seconds complete less than an erase block.
    Completed(f64),
    /// The same, seen by requests as large as this, which cost nothing more into however many blocks: they leave nothing to complete.
    Whole(Bytes),
    /// One run in order; what else is written waits in logs.
    OneRun,
    /// The same, seen by merges that come once for each erase block that is written, whatever the blocks, and never in one run.
    SharedLogs(Collection),
    /// Pages go wherever there is space, and space is collected once for every so many bytes.
    Collected(Collection),
}

impl Kind {
    /// Whether it is a log: what is written out of order pays there, into however many blocks.
    const fn is_log(self) -> bool {
        matches!(self, Self::Log | Self::Completed(_) | Self::Whole(_))
    }
}

/// How space is collected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collection {
    /// After how many bytes.
    every: Bytes,
    /// How long it takes, seconds.
    seconds: f64,
}

/// So many of the last turns are looked at where any block has to go.
const SETTLING_TURNS: usize = 4;
/// And more than this share of them was quick.
const QUICK_AMONG_MERGES: f64 = 0.12;
/// A number that is as likely as this need not have been seen open at once: one in so many may be lacking, or one.
const SURE_UNSEEN: f64 = 0.97;
const UNSEEN: u32 = 10;
/// Where any block has to go, a number out of order that lies so near below the one in order, as one in so many, may be the same, unless
/// as many were seen open at once: blocks that are full keep their places for a while.
const NEAR: u32 = 10;
/// A number is surely too many if it fits with less than this probability, and as many merges were seen.
const BEYOND_MAX: f64 = 0.02;
const MERGES_MIN: usize = 4;
/// Where more of the writes are slow for other reasons, they may be all that was seen.
const FEW_STALLS: f64 = 0.02;

/// What a log maps at once is completed in fewer writes than this; what costs more is another thing: a cache that is emptied,
/// say.
const COMPLETED_MOST: f64 = 7.0;
/// Below this share of a write it has to be alike each time: the middle half differs by no more than this share.
const SMALL_STEP: f64 = 0.5;
const ALIKE: f64 = 0.1;
const MOST_ALIKE: f64 = 0.75;
/// What costs something out of order alone is no merge this often.
const NOTHING_IN_ORDER: f64 = 0.06;
/// Switches between two blocks that cost less than copying one are no merges this often.
const MAY_BE_SWITCHES: f64 = 0.05;
/// Fewer places than this in a block make the search less sure.
const FEW_PLACES: f64 = 24.0;

/// What both orders' writes say, or why nothing can be said.
pub struct Search<'a> {
    data: &'a OpenUnitsData,
    /// The writes in linear order that tell: the search's by the size of their requests, or those over data.
    parts: Vec<Part<'a>>,
    is_over_data: bool,
    /// Units out of order of which none wanted for a place but those that are too many, if they tell how many fit.
    without_want: Option<&'a [OpenUnitsCell]>,
    /// What a slow write is.
    pub slowness: Slowness,
    /// What the layer is like.
    pub kind: Kind,
    /// In linear order.
    pub linear: Belief,
    /// In random order.
    pub random: Belief,
}

impl<'a> Search<'a> {
    /// Weighs every write of the experiment.
    ///
    /// # Errors
    /// Why it says nothing, and what would decide it.
    pub fn new(data: &'a OpenUnitsData) -> Result<Self, (String, String)> {
        let Some(linear) = evidence::linear(data) else {
            return Err((NOTHING.to_owned(), "write tests (--erase)".to_owned()));
        };
        let linear = evidence::with_whole_requests(linear, data);
        let parts = evidence::parts(data);
        let slowness = linear.slowness();
        let at_start = parts.first().map_or(slowness, |part| part.slowness.as_firm_as(slowness));
        let as_much_as_a_merge = || drift_like_merges(data, &linear, parts.first()?.slowness);
        if let Some(reason) = drift(data, at_start).or_else(as_much_as_a_merge) {
            return Err((reason, "a stick whose cache is full, or empty, throughout".to_owned()));
        }
        let most = most_in_turn(&parts, Order::Linear);
        let without_want = [&data.gone_on, &data.given_back].into_iter().find_map(|cells| {
            evidence::given_back_tells(cells, &linear, most).map(|random| (cells.as_slice(), random))
        });
        let (without_want, random) = match without_want {
            Some((cells, random)) => (Some(cells), random),
            None => (None, evidence::random(&data.cells, &linear, most)),
        };
        let is_no_log = evidence::is_no_log(data, &linear);
        let is_log = evidence::is_slow_over_data(data, slowness) && !is_no_log;
        let kind = if is_log { Kind::Log } else { Kind::Blocks };
        let is_one_run = evidence::shows_one_run(data, slowness);
        let search = Self { data, parts, is_over_data: false, without_want, slowness, kind, linear, random };
        // Over data blocks of a round may hold their places from one before, which a log does not know of: then fewer seem to fit.
        let are_more_out_of_order = |log: &Self| {
            let in_order = log.fits(Order::Linear);
            in_order
                .zip(search.fits(Order::Random))
                .is_some_and(|(in_order, out_of_order)| in_order < out_of_order)
        };
        if let Some(log) = search.over_data().filter(|log| !is_no_log && !are_more_out_of_order(log)) {
            return Ok(log);
        }
        let special = if is_one_run { Some(Kind::OneRun) } else { search.independent_of_blocks() };
        let whole = || search.free_request().map(Kind::Whole);
        let completed = || search.completion_out_of_order().map(Kind::Completed);
        Ok(Self { kind: special.or_else(whole).or_else(completed).unwrap_or(kind), ..search })
    }

    /// The smallest request that was free into however many blocks, where smaller ones are not.
    fn free_request(&self) -> Option<Bytes> {
        let free = self.data.free.last()?.request;
        self.fits(Order::Linear).map(|_| free)
    }

    /// The same with the search over data instead, if that found a number.
    fn over_data(&self) -> Option<Self> {
        let (data, cells) = (self.data, &self.data.rewritten);
        let slowness = evidence::unmerged(cells)?;
        let linear = evidence::over_data(cells, slowness);
        let slowness = linear.slowness();
        let over = Self {
            data,
            parts: vec![Part::new(cells, slowness)],
            is_over_data: true,
            without_want: self.without_want,
            slowness,
            kind: Kind::Log,
            linear,
            random: self.random.clone(),
        };
        let fits = over.fits(Order::Linear).filter(|_| over.linear.stalls() <= STALLS_OVER_DATA_MAX)?;
        let (seconds, _) = over.merge(Order::Linear, fits)?;
        let typical = slowness.typical_seconds();
        // A log completes as much each time; a head that has to move takes longer, too, but now more, now less.
        let is_told = seconds > typical * SMALL_STEP
            || (over.merges_are_alike(fits) && !evidence::wavers(&over.seconds_in_order()));
        (seconds < typical * COMPLETED_MOST && is_told).then_some(over)
    }

    /// Whether most merges beyond so many units take alike, or twice as long: what is left may be completed as well as what is begun.
    fn merges_are_alike(&self, fits: u32) -> bool {
        let seconds = self.merges_s(Order::Linear, fits);
        let Some(usual) = median(&seconds) else { return false };
        let is_alike =
            |own: &&f64| [0.5, 1.0, 2.0].iter().any(|times| (**own / (usual * times) - 1.0).abs() < ALIKE);
        count(seconds.iter().filter(is_alike).count()) >= count(seconds.len()) * MOST_ALIKE
    }

    /// Whether the number was found over data only.
    pub const fn is_over_data(&self) -> bool {
        self.is_over_data
    }

    /// Whether the last round into as many units as fit was quick, after one into more had been slow: else a cache filled up
    /// in between, say, and another number would be found now. Where any block has to go, writes into one too many are quick
    /// now and then, which they would not be any more.
    fn is_quick_again(&self, fits: u32) -> bool {
        let any_goes = self.linear.law(Law::Any) > 0.5;
        let writes = self.judged(Order::Linear).into_iter();
        let judged = writes.map(|(open_units, merge)| (open_units, merge.is_some()));
        let behind = judged.skip_while(|(open_units, is_slow)| *open_units <= fits || !is_slow);
        let again: Vec<bool> = behind
            .filter(|(open_units, is_slow)| any_goes || *open_units <= fits || !is_slow)
            .map(|(_, is_slow)| is_slow)
            .collect();
        let (turns, enough) = if any_goes { (SETTLING_TURNS, QUICK_AMONG_MERGES) } else { (1, 0.5) };
        let last = &again[again.len().saturating_sub(fits as usize * turns)..];
        let quick = last.iter().filter(|is_slow| !**is_slow).count();
        last.len() >= fits as usize && count(quick) > count(last.len()) * enough
    }

    /// Whether the layer maps less than an erase block at once. In blocks of another size one that keeps a single block open seems to
    /// do that as well.
    pub fn maps_less(&self) -> bool {
        match self.kind {
            Kind::Log | Kind::Whole(_) => self.fits(Order::Linear).is_some_and(|fits| fits > 1),
            Kind::Collected(_) => true,
            _ => false,
        }
    }

    /// What a write out of order takes longer even in one block, seconds, where that is too short to copy an erase block: it
    /// completes something smaller.
    fn completion_out_of_order(&self) -> Option<f64> {
        if self.fits(Order::Random)? > 0 {
            return None;
        }
        let (seconds, _) = self.merge(Order::Random, 0)?;
        let request = self.data.cells.first()?.request;
        evidence::copies_less(seconds, self.slowness, request, self.data.erase_block).then_some(seconds)
    }

    /// The writes themselves.
    pub const fn data(&self) -> &'a OpenUnitsData {
        self.data
    }

    /// The belief in one order.
    pub const fn belief(&self, order: Order) -> &Belief {
        match order {
            Order::Linear => &self.linear,
            Order::Random => &self.random,
        }
    }

    /// The number of units that fit, if one was found.
    pub fn fits(&self, order: Order) -> Option<u32> {
        match (self.kind, order) {
            (Kind::OneRun | Kind::SharedLogs(_), Order::Linear) => return Some(1),
            (Kind::OneRun | Kind::SharedLogs(_), Order::Random) | (Kind::Collected(_), _) => return None,
            (kind, Order::Random) if kind.is_log() => return None,
            _ => {}
        }
        let belief = self.belief(order);
        let verdict = belief.verdict();
        // No more fit out of order than in order, so that there it need not be tried.
        let most = match order {
            Order::Linear => self.most(order),
            Order::Random => match (self.most(order), self.fits(Order::Linear)) {
                (tried, Some(linear)) if tried >= linear => tried.max(linear + 1),
                (tried, _) => tried,
            },
        };
        // Where the block written longest ago has to go, each write decides for itself. Where any has to, the belief follows
        // the controller on the average only, and as many must have been seen open at once, or nearly as many where it is sure.
        let is_seen = belief.is_seen_open()
            || (order == Order::Random && (self.without_want.is_some() || self.agrees_with_order(verdict)))
            || (order == Order::Linear && self.is_found_out_of_order(verdict))
            || (verdict.probability > SURE_UNSEEN
                && verdict.number - belief.most_proven().min(verdict.number)
                    <= (verdict.number / UNSEEN).max(1));
        // Merges that come now and then are told from stalls by what was found in order only, and no more fit than in order. Where none fits
        // each write merges, whichever block has to go.
        let in_order = || self.fits(Order::Linear).or(self.between(Order::Linear).map(|(low, _)| low));
        let is_clear = order == Order::Linear
            || in_order().or(self.open_in_order()).map_or(
                verdict.number == 0 || belief.law(Law::Any) < 0.5,
                |linear| {
                    let is_near = (1..=linear / NEAR).contains(&(linear - verdict.number.min(linear)));
                    let is_vague =
                        is_near && belief.law(Law::Any) > 0.5 && belief.most_proven() < verdict.number;
                    verdict.number <= linear && (self.without_want.is_some() || !is_vague)
                },
            );
        // What hides merges out of order hides them in order.
        let fits_in_order = || self.fits(Order::Linear);
        let is_plain = order == Order::Linear
            || !belief.hides_many()
            || fits_in_order().is_some_and(|linear| self.linear.hides_many() || linear == verdict.number);
        let is_found = verdict.tells(most) && is_seen && is_clear && is_plain;
        (is_found && (order == Order::Random || self.is_quick_again(verdict.number)))
            .then_some(verdict.number)
    }

    /// Whether as many are sure out of order as were found in order, where the same law holds: two counts that agree.
    fn agrees_with_order(&self, random: posterior::Verdict) -> bool {
        random.probability > SURE_UNSEEN && self.fits(Order::Linear) == Some(random.number)
    }

    /// Whether as many are sure in order as were told out of order by blocks that were seen open, or each write for itself.
    fn is_found_out_of_order(&self, linear: posterior::Verdict) -> bool {
        let random = self.random.verdict();
        [linear, random].iter().all(|verdict| verdict.probability > SURE_UNSEEN)
            && random.number == linear.number
            && self.random.is_seen_open()
    }

    /// How many were seen open at once in order, where the search was too short to find how many fit, and yet merges show out of order.
    fn open_in_order(&self) -> Option<u32> {
        let is_short = !self.linear.is_beyond(posterior::OPEN_MAX + 1) && self.linear.stalls() <= FEW_STALLS;
        (is_short && self.shows_merges(Order::Random)).then(|| self.linear.most_proven())
    }

    /// Between which numbers the number of units that fit lies, where it is not one, but some number is surely too many and
    /// was tried in both orders.
    pub fn between(&self, order: Order) -> Option<(u32, u32)> {
        let belief = self.belief(order);
        let verdict = belief.verdict();
        let beyond: f64 = belief.numbers().iter().skip(self.most(order) as usize).sum();
        (beyond < BEYOND_MAX && self.shows_merges(order)).then_some((verdict.low, verdict.high))
    }

    /// What it is if slow writes have nothing to do with the blocks that are written.
    fn independent_of_blocks(&self) -> Option<Kind> {
        let data = self.data;
        if let Some(collection) = collected_in_one_run(data) {
            return Some(Kind::Collected(collection));
        }
        let part = self.parts.last()?;
        let each = collection::slow_each(part, self.slowness_in_order())?;
        let every = part.request * each;
        let (seconds, _) = self.merge(Order::Linear, 0)?;
        if data.one_run.is_empty() {
            return (every <= data.erase_block).then_some(Kind::Collected(Collection { every, seconds }));
        }
        let fills_logs = |every: &Bytes| {
            let blocks = every.as_f64() / data.erase_block.as_f64();
            (1.0..=LOGS_MAX).contains(&blocks.round()) && (blocks - blocks.round()).abs() < FILLS_A_BLOCK
        };
        // A request of less than a page takes as much of a log as one; those at the start have pages.
        let largest = self.parts.first().map_or(part.request, |first| first.request);
        let every = [every, largest * each].into_iter().find(fills_logs)?;
        let is_long = seconds > self.slowness_in_order().typical_seconds() * COPIES_MUCH;
        let expected = written_in(&data.one_run).as_f64() / every.as_f64();
        let is_free_in_one_run = count(collection::collections(&data.one_run).len()) < expected * BY_STALLS;
        (is_long && is_free_in_one_run).then_some(Kind::SharedLogs(Collection { every, seconds }))
    }

    /// Whether merges are clearly seen, whatever the number of units that fit, and both orders were tried.
    pub fn shows_merges(&self, order: Order) -> bool {
        let belief = self.belief(order);
        let merges = self.merge(order, belief.verdict().low).map_or(0, |(_, merges)| merges);
        // Where every write merges, those in order tell how many stall.
        let stalls = if belief.verdict().number == 0 { self.linear.stalls() } else { belief.stalls() };
        merges >= MERGES_MIN && stalls <= FEW_STALLS && self.is_tried(Order::Random)
    }

    /// What the posterior does not know of: where any block goes, the belief follows the controller on the average only; and
    /// in blocks of few places merges of nearly full ones do not show.
    fn doubt(&self, order: Order) -> f64 {
        let request = self.parts.last().map_or(1.0, |part| part.request.as_f64());
        let places = self.data.erase_block.as_f64() / request;
        let few = if places < FEW_PLACES { 1.0 / places } else { 0.0 };
        let vague = if self.hides_merges() { 1.0 } else { self.belief(order).law(Law::Any) };
        MODEL_DOUBT
            + VAGUE_DOUBT * vague
            + few
            + self.doubt_of_merges(order)
            + self.doubt_of_switches()
            + self.doubt_of_order(order)
    }

    /// Where nothing merges in order, what costs something out of order may be a cache that fills up.
    fn doubt_of_order(&self, order: Order) -> f64 {
        let is_beyond = order == Order::Random && self.linear.is_beyond(posterior::OPEN_MAX + 1);
        if is_beyond { NOTHING_IN_ORDER } else { 0.0 }
    }

    /// Whether what is taken for merges between two blocks can be what any switch costs, where each is shorter than copying a block.
    fn doubt_of_switches(&self) -> f64 {
        let one = self.fits(Order::Linear).filter(|fits| *fits == 1 && !self.is_over_data);
        let seconds = one.and_then(|fits| self.merge(Order::Linear, fits)).map(|(seconds, _)| seconds);
        let request = self.parts.last().map_or(Bytes::ZERO, |part| part.request);
        let is_short =
            |seconds| evidence::hardly_copies(seconds, self.slowness, request, self.data.erase_block);
        if seconds.is_some_and(is_short) { MAY_BE_SWITCHES } else { 0.0 }
    }

    /// Whether more blocks were written in turn without a merge that showed than fit, in linear order: then some hide.
    fn hides_merges(&self) -> bool {
        !self.is_over_data && self.linear.most_proven() > self.linear.verdict().number
    }

    /// Whether what is taken for merges can be any: each erases a block; and out of order, where every write merges, it copies one, or else a
    /// log completes as much as it maps at once.
    pub fn doubt_of_merges(&self, order: Order) -> f64 {
        let fits = self.fits(order);
        let Some((seconds, _)) = fits.and_then(|fits| self.merge(order, fits)) else { return 0.0 };
        let request = self.data.cells.first().map_or(0.0, |cell| cell.request.as_f64());
        let writes = request / self.slowness.typical_seconds();
        let is_quick = self.data.erase_block.as_f64() > seconds * writes * COPIES_QUICKLY;
        if seconds < ERASE_SECONDS || (order == Order::Random && fits == Some(0) && is_quick) {
            SHORTER_THAN_ERASING
        } else {
            0.0
        }
    }

    /// The most units that were written in turn.
    fn most(&self, order: Order) -> u32 {
        most_in_turn(&self.of(order), order)
    }

    /// What a slow write is with the last requests of the search in linear order.
    pub fn slowness_in_order(&self) -> Slowness {
        let last = self.parts.last().filter(|_| self.data.led);
        last.map_or(self.slowness, |part| part.slowness.for_any_merges(self.linear.merge_seconds()))
    }

    /// The parts of the search in this order.
    fn of(&self, order: Order) -> Cow<'_, [Part<'a>]> {
        match order {
            Order::Linear => Cow::Borrowed(&self.parts),
            Order::Random => {
                let cells = self.without_want.unwrap_or(&self.data.cells);
                Cow::Owned(vec![Part::new(cells, self.slowness)])
            }
        }
    }

    /// All writes of the search: the number of units of their round, and what each merge among them takes by itself, seconds.
    fn judged(&self, order: Order) -> Vec<(u32, Option<f64>)> {
        let of_part = |part: &Part<'a>| {
            let slowness = part.slowness.as_firm_as(self.slowness);
            let merge = move |latency: Duration| {
                slowness.is_slow(latency).then(|| latency.as_secs_f64() - slowness.typical_seconds())
            };
            part.writes(order).map(move |(open_units, _, latency)| (open_units, merge(latency)))
        };
        self.of(order).iter().flat_map(of_part).collect()
    }

    /// The last writes of the search, of one size, with the number of units of their round.
    fn searched(&self, order: Order) -> impl Iterator<Item = (u32, Duration)> + '_ {
        let last = self.of(order).last().copied();
        last.into_iter().flat_map(move |part| part.writes(order)).map(|(units, _, latency)| (units, latency))
    }

    /// What each of them took in linear order, seconds.
    fn seconds_in_order(&self) -> Vec<f64> {
        self.searched(Order::Linear).map(|(_, latency)| latency.as_secs_f64()).collect()
    }

    /// Whether anything was written in this order.
    pub fn is_tried(&self, order: Order) -> bool {
        self.searched(order).next().is_some()
    }

    /// The typical time of a merge by itself, seconds, and how many were seen with more units than fit.
    pub fn merge(&self, order: Order, fits: u32) -> Option<(f64, usize)> {
        let slow = self.merges_s(order, fits);
        median(&slow).map(|seconds| (seconds, slow.len()))
    }

    /// What each merge takes by itself, with more units than fit, seconds.
    fn merges_s(&self, order: Order, fits: u32) -> Vec<f64> {
        let beyond = self.judged(order).into_iter().filter(|(open_units, _)| *open_units > fits);
        beyond.filter_map(|(_, merge)| merge).collect()
    }

    /// What is known of merges.
    pub fn merges(&self) -> Merges {
        let linear = self.fits(Order::Linear);
        let seconds = match linear {
            Some(fits) => self.merge(Order::Linear, fits).map(|(seconds, _)| seconds),
            None => self.linear.merge_seconds(),
        };
        Merges {
            every_switch: self.linear.law(Law::LeastRecent),
            takes: seconds.filter(|seconds| *seconds > 0.0).map(Duration::from_secs_f64),
            is_one_run: matches!(self.kind, Kind::OneRun | Kind::SharedLogs(_)),
            too_many: linear.or(self.between(Order::Linear).map(|(_, high)| high)).map(|fits| fits + 1),
        }
    }

    /// What writes into as many units as fit take, and into more, on the average, seconds.
    fn contrast(&self, order: Order, fits: u32) -> (Option<f64>, Option<f64>) {
        let seconds = |wanted: &dyn Fn(u32) -> bool| -> Vec<f64> {
            let of = self.searched(order).filter(|(open_units, _)| wanted(*open_units));
            of.map(|(_, latency)| latency.as_secs_f64()).collect()
        };
        let within = median(&seconds(&|open_units| open_units <= fits));
        let beyond = seconds(&|open_units| open_units == fits + 1);
        let beyond = if beyond.is_empty() { seconds(&|open_units| open_units > fits) } else { beyond };
        (within, (!beyond.is_empty()).then(|| beyond.iter().sum::<f64>() / count(beyond.len())))
    }
}

/// How space is collected, if that is seen while nothing but one block is written from start to end, takes as long each time, and pages
/// out of order cost nothing.
fn collected_in_one_run(data: &OpenUnitsData) -> Option<Collection> {
    let own = collection::collections(&data.one_run);
    let seconds = median(&own).filter(|_| own.len() >= COLLECTED_MIN)?;
    // One request may wait for two.
    let is_alike =
        |own: &&f64| [1.0, 2.0].iter().any(|times| (**own / (seconds * times) - 1.0).abs() < ALIKE_COLLECTED);
    let alike = own.iter().filter(is_alike).count();
    if collection::unevenness(&data.one_run).is_some_and(|unevenness| unevenness > UNEVEN) {
        return None;
    }
    let scattered: Vec<f64> = data.scattered.iter().map(Duration::as_secs_f64).collect();
    let in_order: Vec<f64> =
        data.one_run.first()?.writes().map(|(_, latency)| latency.as_secs_f64()).collect();
    let is_free = quickest_quarter(&scattered)? < quickest_quarter(&in_order)? * SCATTERED_FREE;
    let every = written_in(&data.one_run) / u64::try_from(own.len()).ok()?;
    (is_free && count(alike) >= count(own.len()) * COLLECTED_SHARE).then_some(Collection { every, seconds })
}

/// How much was written by these.
fn written_in(cells: &[OpenUnitsCell]) -> Bytes {
    cells.iter().flat_map(|cell| cell.writes().map(|_| cell.request)).sum()
}

/// A log block is full after an erase block, give or take this share of it, and giving it up takes more than so many writes. Where the
/// same data are written again and again, nothing in most logs is wanted any more: one in so many at most has to be merged.
const FILLS_A_BLOCK: f64 = 0.06;
const LOGS_MAX: f64 = 6.0;
/// So many of what would be expected in one run may be stalls.
const BY_STALLS: f64 = 0.2;
const COPIES_MUCH: f64 = 8.0;
/// So many collections tell, of which so many take as long as is usual, or twice as long, within this share. Stalls for other reasons
/// differ by their own length.
const COLLECTED_MIN: usize = 4;
const COLLECTED_SHARE: f64 = 0.75;
const ALIKE_COLLECTED: f64 = 0.2;
/// The middle half of what lies between them differs by this share of its median: by chance by 1.6 of it.
const UNEVEN: f64 = 0.8;
/// Pages out of order take less than so many times as long as in order.
const SCATTERED_FREE: f64 = 1.25;

/// The most units that were written in turn.
fn most_in_turn(parts: &[Part<'_>], order: Order) -> u32 {
    parts.iter().flat_map(|part| part.writes(order)).map(|(open_units, ..)| open_units).max().unwrap_or(0)
}

const NOTHING: &str = "no writes into erase blocks in turn were measured";
const STALLS: &str = "slow writes come now and then whatever the number of blocks: they are no merges";

/// How many erase blocks can be written in turn, in this order inside each.
#[must_use]
pub fn open_units(search: &Result<Search<'_>, (String, String)>, order: Order) -> Finding {
    let id = match order {
        Order::Linear => FindingId::OpenUnitsLinear,
        Order::Random => FindingId::OpenUnitsRandom,
    };
    let search = match search {
        Ok(search) => search,
        Err((reason, would_decide)) => return Finding::unknown(id, reason, would_decide),
    };
    match (search.kind, order) {
        (Kind::OneRun, Order::Linear) => return one_run(search),
        (Kind::OneRun | Kind::SharedLogs(_), Order::Random) => return Finding::unknown(id, SHARED_LOGS, ""),
        (Kind::SharedLogs(logs), Order::Linear) => {
            return Finding::exact(id, Value::Count(1), Confidence::new(BY_SHARED_LOGS), logs.text_of_logs());
        }
        (kind, Order::Random) if kind.is_log() => return Finding::unknown(id, LOG, ""),
        (Kind::Collected(collection), _) => return Finding::unknown(id, collection.text(), ""),
        _ => {}
    }
    let belief = search.belief(order);
    if !search.is_tried(order) {
        return Finding::unknown(id, NOTHING, "write tests (--erase)");
    }
    if belief.stalls_too_often() {
        return Finding::unknown(id, STALLS, "a quieter machine, or a stick left alone for a while");
    }
    let verdict = belief.verdict();
    if search.fits(order).is_none() {
        return undecided(id, belief, search.most(order));
    }
    let confidence = Confidence::new(verdict.probability * (1.0 - search.doubt(order)));
    Finding::exact(id, Value::Count(verdict.number), confidence, evidence(search, order, verdict.number))
        .within(Value::Count(verdict.low), Value::Count(verdict.high))
}

const SHARED_LOGS: &str = "what is written out of order waits in logs that all blocks share: the cost grows with the data, not with the blocks";
const LOG: &str =
    "a log takes each write where it stands: out of order every write pays, into however many blocks";

/// How sure it is that all blocks share logs beside one run in order.
pub const BY_SHARED_LOGS: f64 = 0.9;

impl Collection {
    /// One sentence with the figures of logs that fill up.
    pub fn text_of_logs(self) -> String {
        format!(
            "one write in {}, about an erase block, takes {} longer, into whatever blocks and never in one run: what is written elsewhere fills logs that all blocks share",
            self.every,
            time(self.seconds)
        )
    }

    /// One sentence with its figures.
    pub fn text(self) -> String {
        format!(
            "one write in {} takes {} longer, into whatever blocks: pages go wherever there is space, and space is collected",
            self.every,
            time(self.seconds)
        )
    }
}

/// How sure it is that only one run is taken in order, after several pairs and after one: that a cache was emptied just then
/// looks the same.
const ONE_RUN: f64 = 0.98;
const ONE_RUN_BY_ONE_PAIR: f64 = 0.93;
/// The same by what it costs to begin blocks in order, and out of order between them.
const ONE_RUN_APART: f64 = 0.96;

/// How sure it is that only one run is taken in order.
pub fn one_run_confidence(search: &Search<'_>) -> Confidence {
    let probability = match search.data.beginnings.len() {
        _ if !search.data.apart.is_empty() => ONE_RUN_APART,
        0 | 1 => ONE_RUN_BY_ONE_PAIR,
        _ => ONE_RUN,
    };
    Confidence::new(probability - if puts_aside_shortly(search) { SHORTER_THAN_ERASING } else { 0.0 })
}

/// Whether putting one block aside for another takes less than erasing one: then a log completes what it maps at once.
pub fn puts_aside_shortly(search: &Search<'_>) -> bool {
    let (free, costly) = begun(search);
    free.zip(costly).is_some_and(|(free, costly)| costly - free < ERASE_SECONDS)
}

fn one_run(search: &Search<'_>) -> Finding {
    let (evidence, confidence) = (beginnings(search), one_run_confidence(search));
    Finding::exact(FindingId::OpenUnitsLinear, Value::Count(1), confidence, evidence)
}

/// What it took to begin a block that has none to put aside, and one that has, seconds.
fn begun(search: &Search<'_>) -> (Option<f64>, Option<f64>) {
    let typical = |times: &mut dyn Iterator<Item = Duration>| {
        median(&times.map(|latency| latency.as_secs_f64()).collect::<Vec<_>>())
    };
    let pairs = &search.data.beginnings;
    let apart = &search.data.apart;
    if !apart.is_empty() {
        return (
            typical(&mut apart.iter().map(|pair| pair.apart)),
            typical(&mut apart.iter().map(|pair| pair.in_order)),
        );
    }
    (typical(&mut pairs.iter().map(|pair| pair.alone)), typical(&mut pairs.iter().map(|pair| pair.behind)))
}

/// One sentence with the times of blocks that were begun one after the other.
pub fn beginnings(search: &Search<'_>) -> String {
    let (free, costly) = begun(search);
    let (free, costly) = (time(free.unwrap_or(0.0)), time(costly.unwrap_or(0.0)));
    if !search.data.apart.is_empty() {
        return format!(
            "beginning a block at its start took {costly}, in its middle {free}; going on in either cost nothing"
        );
    }
    format!(
        "beginning a block took {free}, beginning another before the first was full {costly}; going on in either cost nothing"
    )
}

fn undecided(id: FindingId, belief: &Belief, most: u32) -> Finding {
    let verdict = belief.verdict();
    let proven = belief.most_proven();
    if verdict.number >= most {
        let reason = format!("no merge was seen while writing into up to {} in turn", erase_blocks(proven));
        return Finding::unknown(id, reason, "more units, on a larger device or with another erase block");
    }
    let were = if proven == 1 { "was" } else { "were" };
    let leaves = match verdict {
        posterior::Verdict { low, high, .. } if proven > high => {
            format!("and yet merges fit {} best: they contradict each other", numbers(low, high))
        }
        posterior::Verdict { low, high, .. } if low == high => {
            format!("the writes fit {low} best, which is not shown")
        }
        posterior::Verdict { low, high, .. } => format!("the writes leave it {}", numbers(low, high)),
    };
    let reason = format!("{proven} {were} open at once; {leaves}");
    Finding::unknown(id, reason, "a larger budget, or a quieter machine")
}

fn numbers(low: u32, high: u32) -> String {
    if low == high { low.to_string() } else { format!("between {low} and {high}") }
}

/// A number of erase blocks in words.
pub fn erase_blocks(number: u32) -> String {
    format!("{number} erase block{}", if number == 1 { "" } else { "s" })
}

/// Why nothing can be said: the same writes took another time at the end than at the start.
fn drift(data: &OpenUnitsData, slowness: Slowness) -> Option<String> {
    data.controls.iter().find_map(|control| Some(drifted(slowness, slowness.changed(control.each())?)))
}

/// The same where they changed by as much as what is taken for merges takes, all but a few of them.
fn drift_like_merges(data: &OpenUnitsData, linear: &Belief, at_start: Slowness) -> Option<String> {
    let are_the_same = data.larger.is_empty() && data.free.is_empty();
    let merge_seconds = linear.merge_seconds().filter(|_| are_the_same)?;
    data.controls.iter().find_map(|control| {
        let seconds: Vec<f64> = control.each().iter().map(Duration::as_secs_f64).collect();
        let least = quickest_quarter(&seconds)?;
        (least - at_start.typical_seconds() > merge_seconds * LIKE_A_MERGE).then(|| drifted(at_start, least))
    })
}

/// What takes so much of a merge longer is like one.
const LIKE_A_MERGE: f64 = 0.6;

fn drifted(at_start: Slowness, now: f64) -> String {
    format!(
        "the same writes took {} at first and {} later: a cache filled up or was emptied",
        time(at_start.typical_seconds()),
        time(now)
    )
}

/// One sentence with the figures of one block too many.
pub fn evidence(search: &Search<'_>, order: Order, fits: u32) -> String {
    let how = match order {
        Order::Linear => "",
        Order::Random => ", each in random order,",
    };
    let (within, beyond) = search.contrast(order, fits);
    let beyond = time(beyond.unwrap_or(0.0));
    match within.filter(|_| fits > 0) {
        Some(within) => format!(
            "writing into more than {fits} blocks in turn{how} took {beyond} a request, into {fits} only {}",
            time(within)
        ),
        None => format!(
            "even one block in {} order took {beyond} a request, in linear order {}",
            order.as_str(),
            time(search.slowness.typical_seconds())
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_record::observation::{Beginnings, Times};

    /// Any number of blocks is quick in order, and every write out of order takes 27 ms longer.
    fn slow_out_of_order(erase_block: Bytes) -> OpenUnitsData {
        let (quick, slow) = (Duration::from_micros(14_200), Duration::from_micros(41_200));
        let mut cells = Vec::new();
        let mut write = |order, number, unit, latency| {
            OpenUnitsCell::keep(&mut cells, (order, number, Bytes::kib(64)), unit, latency);
        };
        (0..12).for_each(|_| write(Order::Linear, 1, 0, quick));
        (1..128).for_each(|unit| write(Order::Linear, unit + 1, unit, quick));
        (0..256).for_each(|index| write(Order::Linear, 128, index % 128, quick));
        (0..12).for_each(|_| write(Order::Random, 1, 0, slow));
        OpenUnitsData { erase_block, cells, ..OpenUnitsData::default() }
    }

    #[test]
    fn an_undecided_number_is_worded_as_it_is() {
        let quick = Slowness::beyond(&[Duration::from_millis(2); 5]).unwrap();
        let belief = Belief::new(Order::Linear, quick, crate::open_blocks::prior::Prior::Linear);
        let reason = |most| match undecided(FindingId::OpenUnitsLinear, &belief, most).outcome {
            flashscope_record::finding::Outcome::Unknown { reason, .. } => reason,
            flashscope_record::finding::Outcome::Found { .. } => String::new(),
        };
        assert_eq!(reason(0), "no merge was seen while writing into up to 0 erase blocks in turn");
        assert!(reason(129).starts_with("0 were open at once; the writes leave it between 1 and "));
        assert_eq!([erase_blocks(1), erase_blocks(2)], ["1 erase block", "2 erase blocks"]);
        assert_eq!([numbers(2, 2), numbers(2, 4)], ["2", "between 2 and 4"]);
    }

    #[test]
    fn a_drift_as_long_as_a_merge_leaves_nothing_to_tell() {
        let milliseconds = Duration::from_millis;
        let is_told = |control: u64| {
            let mut data = OpenUnitsData { erase_block: Bytes::mib(20), ..OpenUnitsData::default() };
            let mut write = |number, unit, latency| {
                let kept = (Order::Linear, number, Bytes::kib(32));
                OpenUnitsCell::keep(&mut data.cells, kept, unit, milliseconds(latency));
            };
            (0..12).for_each(|_| write(1, 0, 40));
            (1..8).for_each(|unit| write(unit + 1, unit, 41));
            (8..60).for_each(|unit| write(9, unit % 9, 62));
            data.controls = vec![Times::Each(vec![milliseconds(control); 7])];
            Search::new(&data).is_ok()
        };
        assert!(is_told(41));
        assert!(!is_told(60), "a third less than twice as long");
    }

    #[test]
    fn what_is_too_short_for_an_erase_block_completes_less() {
        let kind = |erase_block| Search::new(&slow_out_of_order(erase_block)).ok().map(|search| search.kind);
        assert!(
            matches!(kind(Bytes::mib(32)), Some(Kind::Completed(seconds)) if (0.026..0.028).contains(&seconds))
        );
        assert_eq!(kind(Bytes::mib(8)), Some(Kind::Blocks), "300 MB/s would be fast, but not impossible");
    }

    #[test]
    fn what_large_requests_saw_counts_where_smaller_ones_were_interrupted() {
        let all = slow_out_of_order(Bytes::mib(32));
        let begun = all.cells.iter().take(1).map(|cell| OpenUnitsCell {
            request: Bytes::kib(4),
            times: Times::Each(vec![Duration::from_millis(2)]),
            units: vec![0],
            ..cell.clone()
        });
        let cut = OpenUnitsData { cells: begun.collect(), larger: all.cells, ..all };
        let Ok(search) = Search::new(&cut) else { panic!("nothing is known") };
        assert!(search.linear.most_proven() >= 128);
    }

    /// Writes over data into so many blocks in turn, each of which takes one of these times, one after the other.
    fn over_data(rounds: &[(u32, &[f64])]) -> OpenUnitsData {
        let mut all = slow_out_of_order(Bytes::mib(32));
        for (number, milliseconds) in rounds {
            for unit in 0..*number {
                let each = milliseconds[unit as usize % milliseconds.len()];
                let kept = (Order::Linear, *number, Bytes::kib(8));
                OpenUnitsCell::keep(&mut all.rewritten, kept, unit, Duration::from_secs_f64(each / 1e3));
            }
        }
        all
    }

    #[test]
    fn a_log_completes_what_it_leaves_and_what_it_begins() {
        let (alone, fits): (&[f64], &[f64]) = (&[13.5], &[13.5, 13.6, 13.4]);
        let number = |beyond| {
            let turns = [
                (4, fits),
                (4, fits),
                (5, beyond),
                (5, beyond),
                (5, beyond),
                (4, beyond),
                (4, fits),
                (4, fits),
            ];
            let rounds: Vec<(u32, &[f64])> = [(1, alone); 6].into_iter().chain(turns).collect();
            let data = over_data(&rounds);
            let search = Search::new(&data).ok()?;
            search.is_over_data().then(|| search.fits(Order::Linear)).flatten()
        };
        assert_eq!(number(&[15.6, 17.7, 17.8, 15.6, 17.7]), Some(4));
        assert_eq!(
            number(&[15.4, 17.9, 16.3, 16.9, 18.6]),
            None,
            "a head that moves takes now more, now less"
        );
    }

    #[test]
    fn a_block_that_is_put_aside_tells_one_run_whatever_takes_far_longer() {
        let (quick, merge, rare) =
            (Duration::from_millis(8), Duration::from_millis(240), Duration::from_secs(4));
        let mut cells = Vec::new();
        let mut write = |number, unit, latency| {
            OpenUnitsCell::keep(&mut cells, (Order::Linear, number, Bytes::kib(32)), unit, latency);
        };
        (0..12).for_each(|_| write(1, 0, quick));
        (1..30).for_each(|unit| write(unit + 1, unit, merge));
        (0..300).for_each(|index| write(30, index % 30, if index % 13 == 12 { rare } else { quick }));
        let pair = Beginnings { alone: quick, behind: merge };
        let kind = |beginnings| {
            let (erase_block, cells) = (Bytes::mib(1), cells.clone());
            let data = OpenUnitsData { erase_block, cells, beginnings, ..OpenUnitsData::default() };
            Search::new(&data).ok().map(|search| search.kind)
        };
        assert_eq!(kind(vec![pair; 3]), Some(Kind::OneRun));
        assert_ne!(kind(vec![Beginnings { alone: merge, ..pair }; 3]), Some(Kind::OneRun));
    }
}
