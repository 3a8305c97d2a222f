//! *speed*: how fast are reads or writes of each size, in order and out of order, with one or several in flight?
//!
//! Each kind of request goes on until its speed is clear, or its patience ends. See docs/methods/speed.md.

mod thorough;

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{ByteRange, Bytes, Capabilities, Device, Instant};

use flashscope_infer::streams::speed::{CLEAR_AFTER, Expected, is_changing, is_clear, is_vague};
use flashscope_record::finding::{Quantity, WouldDecide};
use flashscope_record::observation::{Data, Observations, Order, Refusal, Room};
use flashscope_record::observation::{Direction, LinkLimit, SpeedCase, SpeedCell, SpeedData};

use crate::contract::{Estimate, Experiment, Observer};
use crate::experiment::dealt::Dealt;
use crate::experiment::speed::thorough::ToMeet;
use crate::session::{Refused, Session, Stop, not_started, range, to_write};

/// Left alone at the start of the device, where it is large enough: partition table, FAT area, and what is managed otherwise, which
/// reaches as far as this on cards whose logs were published (wirenboard no. 8).
const START: Bytes = Bytes::mib(32);
/// A row of large requests shows stalls and collection only over much data.
const LARGE: Bytes = Bytes::mib(1);
/// How long one kind of request goes on at most, and over how much.
const PATIENCE: Duration = Duration::from_secs(10);
const BYTES_MAX: Bytes = Bytes::gib(1);
/// The same for a row of large writes, which goes on over so much at least: the start of a device may be managed otherwise.
const BYTES_MIN_LARGE: Bytes = Bytes::mib(64);
const PATIENCE_LARGE: Duration = Duration::from_secs(600);
const BYTES_MAX_LARGE: Bytes = Bytes::gib(4);
/// The first of them goes on for a minute at least, so that a cache of many gigabytes is spent where it can be: over this share of the
/// device, and no more than so much.
const LEAST_LARGE: Duration = Duration::from_secs(60);
const SHARE_MAX_FIRST: u64 = 8;
const BYTES_MAX_FIRST: Bytes = Bytes::gib(16);
/// Writes go on for so long at least: places for what is scattered, and logs, take them for a while before they show what they cost, and
/// single ones that are held up come once in hundreds.
const LEAST_OF_WRITES: Duration = Duration::from_secs(10);
/// More requests of one kind tell nothing more, and would fill the run file.
const REQUESTS_MAX: usize = 16_384;
/// Small writes and writes here and there whose speed still changes may have so many times as many requests and bytes, but for the bytes no
/// more than this share of the device: what caches and logs owe is worked off over gigabytes.
const TIMES_WHILE_CHANGING: usize = 8;
const SHARE_WHILE_CHANGING: u64 = 8;
/// The row that has to find out whether there are stalls may have more.
const REQUESTS_MAX_FIRST: usize = 2 * REQUESTS_MAX;
/// Fewer tell no spread: the slowest requests get this much time for them, and so do writes whose speed is still vague.
const REQUESTS_MIN: usize = 24;
const PATIENCE_FOR_FEW: Duration = Duration::from_secs(60);
/// Writes whose speed is still vague get so much, and so do those that will meet stalls which rows before them met.
const PATIENCE_FOR_WRITES: Duration = Duration::from_secs(240);
/// So many places are looked at, of this size, before reads.
const PLACES_LOOKED_AT: usize = 16;
const LOOK: Bytes = Bytes::kib(4);
/// The first places of each row of writes here and there are read when all rows are done, for so long at most; of a thorough row in order, which
/// may go beyond what a stick really holds, so many and up to twice as many all over it.
const PLACES_READ_BACK: usize = 16;
const PATIENCE_TO_READ_BACK: Duration = Duration::from_secs(10);
/// A row looks back at itself each time it has become longer by this share: looking takes time, which the device would idle
/// away.
const LOOK_AFTER_SHARE: u32 = 16;

/// The experiment *speed*.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// The kinds of request, in the order in which they are made.
    pub cases: Vec<SpeedCase>,
    /// The most that the way to the device lets through, for the inference.
    pub link: Option<LinkLimit>,
    /// Whether requests go through the page cache, for the inference.
    pub is_buffered: bool,
    /// Whether rows of writes go on until they have met stalls, and what a spent cache owes, that come only every few gibibytes.
    pub is_thorough: bool,
    /// The seed of data and places.
    pub seed: u64,
}

impl Speed {
    /// The usual kinds: large and small requests in order, small and large ones here and there, and small ones with several
    /// in flight.
    #[must_use]
    pub fn usual_cases(direction: Direction) -> Vec<SpeedCase> {
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

    /// The kinds of request, and the most of each on a device of this capacity.
    fn requests(&self, capacity: Bytes) -> impl Iterator<Item = (&SpeedCase, u64)> {
        self.cases.iter().enumerate().map(move |(index, case)| {
            let before = self.cases[..index].iter().copied();
            let is_first = is_first(*case, before, self.is_thorough);
            (case, requests_at_most(*case, is_first, self.is_thorough, capacity) as u64)
        })
    }

    fn direction(&self) -> Option<Direction> {
        self.cases.first().map(|case| case.direction)
    }

    /// What is written at most on a device of this capacity.
    #[must_use]
    pub fn bytes_written_max(&self, capacity: Bytes) -> Bytes {
        let bytes = |(case, requests): (&SpeedCase, u64)| case.request * requests;
        let writes = self.requests(capacity).filter(|(case, _)| case.direction == Direction::Write);
        writes.map(bytes).sum()
    }

    /// How long all of it takes at most, but for the requests that are in flight when a row ends: where a device is so slow that each row
    /// has few requests.
    #[must_use]
    pub fn time_max(&self) -> Duration {
        let most = |case: &SpeedCase| match case.direction {
            Direction::Write if self.is_thorough => patience_at_most(*case).max(thorough::PATIENCE),
            _ => patience_at_most(*case),
        };
        self.cases.iter().map(most).sum()
    }

    /// The kinds of request that fit on `device`: the others are left out.
    #[must_use]
    pub fn cases_that_fit(&self, device: &dyn Device) -> Vec<SpeedCase> {
        let fits = |case: &&SpeedCase| Course::of(device, case.request).length >= case.request * 2;
        self.cases.iter().filter(fits).copied().collect()
    }

    /// Whether this can be measured on `device`.
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

/// The part of the device that is used.
#[derive(Debug, Clone, Copy)]
struct Course {
    start: Bytes,
    length: Bytes,
}

impl Course {
    fn of(device: &dyn Device, request: Bytes) -> Self {
        let capacity = device.capabilities().capacity;
        let start = START.min(capacity / 8).round_down(request);
        Self { start, length: capacity.saturating_sub(start).round_down(request) }
    }
}

impl Experiment for Speed {
    fn name(&self) -> &'static str {
        self.direction().map_or("speed", Direction::as_str)
    }

    /// Until the patience ends in all of them; most end far earlier.
    fn estimate(&self, device: &dyn Device) -> Estimate {
        let capacity = device.capabilities().capacity;
        let requests = self.requests(capacity).map(|(_, requests)| requests).sum();
        Estimate { requests, bytes_written: self.bytes_written_max(capacity) }
    }

    fn measure(&self, device: &mut dyn Device, budget: &Budget, observer: &mut dyn Observer) -> Observations {
        let mut data = SpeedData {
            link: self.link.clone(),
            is_buffered: self.is_buffered,
            is_thorough: self.is_thorough,
            ..SpeedData::default()
        };
        if let Err(refusal) = self.permit(device) {
            return not_started(device, self.seed, Data::Speed(data), refusal);
        }
        let Capabilities { capacity, queue_depth: queue_depth_max, .. } = device.capabilities();
        let fitting = Self { cases: self.cases_that_fit(device), ..self.clone() };
        let (estimate, courses) = (fitting.estimate(device), fitting.courses(device));
        let session = Session::begin(self.name(), estimate, device, budget, observer, self.seed);
        let (written, places) = (Bytes::ZERO, Vec::new());
        let mut rows = Rows { session, capacity, written, places, stride: 1, data: &mut data };
        let mut result = rows.look(self.direction(), &courses);
        for (case, course) in fitting.cases.iter().zip(courses) {
            // What a device cannot keep in flight would be another kind of request.
            if case.queue_depth <= queue_depth_max && result.is_ok() {
                result = rows.row(*case, course);
            }
        }
        if result.is_ok() {
            rows.read_back();
        }
        rows.session.end(result, Data::Speed(data))
    }
}

impl Speed {
    fn courses(&self, device: &dyn Device) -> Vec<Course> {
        self.cases.iter().map(|case| Course::of(device, case.request)).collect()
    }
}

/// The state of one run.
struct Rows<'a, 'b> {
    session: Session<'a>,
    capacity: Bytes,
    /// By requests in order: where the next row goes on.
    written: Bytes,
    /// Some that were written, each with the index of its row.
    places: Vec<(usize, ByteRange)>,
    /// Of a row in order, every so many are remembered.
    stride: usize,
    data: &'b mut SpeedData,
}

impl Rows<'_, '_> {
    /// Whether there is anything to read.
    fn look(&mut self, direction: Option<Direction>, courses: &[Course]) -> Result<(), Stop> {
        let Some(course) = courses.first().filter(|_| direction == Some(Direction::Read)) else {
            return Ok(());
        };
        for _ in 0..PLACES_LOOKED_AT {
            let block = self.session.draw(course.length / LOOK);
            if let Some(is_blank) = self.session.is_blank(range(course.start + LOOK * block, LOOK))? {
                self.data.contents.looked_at += 1;
                self.data.contents.blank += u32::from(is_blank);
            }
        }
        Ok(())
    }

    /// Requests of one kind, kept also when they are cut short.
    fn row(&mut self, case: SpeedCase, course: Course) -> Result<(), Stop> {
        let mut cell = SpeedCell::new(case);
        self.written = self.written.round_up(case.request);
        self.stride = 1;
        let result = self.requests(case, course, &mut cell).and_then(|()| self.flush(case, &mut cell));
        if !cell.took_ns.is_empty() {
            self.data.cells.push(cell);
        }
        result
    }

    fn requests(&mut self, case: SpeedCase, course: Course, cell: &mut SpeedCell) -> Result<(), Stop> {
        let began = self.session.now();
        let result = self.keep_in_flight(case, course, cell, began);
        if result.is_err() {
            // What was in flight then belongs to the row all the same.
            while let Ok(Some((ended, took))) = self.session.wait() {
                took.into_iter().for_each(|took| cell.keep(took, ended.since(began)));
            }
            self.session.drain();
        }
        result
    }

    fn keep_in_flight(
        &mut self,
        case: SpeedCase,
        course: Course,
        cell: &mut SpeedCell,
        began: Instant,
    ) -> Result<(), Stop> {
        let mut made = 0;
        let mut goes_on = true;
        let mut looks = Looks::of(case, self.data, self.capacity);
        let mut dealt = Dealt::new(course.length / case.request, case.request);
        let mut most = requests_max(case, looks.is_first, self.capacity);
        let at_most = requests_at_most(case, looks.is_first, self.data.is_thorough, self.capacity);
        loop {
            if goes_on && made >= most && most < at_most && looks.needs_more(cell) {
                most = (2 * most).min(at_most);
            }
            while goes_on && made < most && in_flight(made, cell) < case.queue_depth {
                self.submit(case, course, &mut dealt, made)?;
                made += 1;
            }
            let Some((ended, took)) = self.session.wait()? else { return Ok(()) };
            let ended = ended.since(began);
            match took {
                Some(took) => cell.keep(took, ended),
                // One that failed counts as made, and is not in flight any more.
                None => made -= 1,
            }
            goes_on = goes_on && !looks.is_enough(cell, ended);
        }
    }

    fn submit(
        &mut self,
        case: SpeedCase,
        course: Course,
        dealt: &mut Dealt,
        made: usize,
    ) -> Result<(), Stop> {
        let offset = match case.order {
            Order::Linear => Bytes::new(self.written.get() % course.length.get()),
            Order::Random => case.request * dealt.next(&mut self.session),
        };
        if case.order == Order::Linear {
            self.written += case.request;
        }
        let place = range(course.start + offset, case.request);
        match case.direction {
            Direction::Read => self.session.submit_read(place),
            Direction::Write => {
                self.remember(case, place, made);
                self.session.submit_write(place)
            }
        }
    }

    fn remember(&mut self, case: SpeedCase, place: ByteRange, made: usize) {
        let row = self.data.cells.len();
        let seen = self.places.iter().rev().take_while(|(other, _)| *other == row).count();
        let is_wanted = match case.order {
            Order::Random => seen < PLACES_READ_BACK,
            Order::Linear => self.data.is_thorough && made.is_multiple_of(self.stride),
        };
        if !is_wanted {
            return;
        }
        if seen == 2 * PLACES_READ_BACK {
            let mut index = 0;
            self.places.retain(|(other, _)| {
                index += 1;
                *other != row || index % 2 == 0
            });
            self.stride *= 2;
        }
        self.places.push((row, range(place.offset, LOOK.min(place.length))));
    }

    /// Whether what was written is where it was written. Nothing depends on it but what the rows mean, so what ends it early
    /// leaves them as they are.
    fn read_back(&mut self) {
        let began = self.session.now();
        for (row, place) in std::mem::take(&mut self.places) {
            if self.session.now().since(began) >= PATIENCE_TO_READ_BACK {
                return;
            }
            let Some(cell) = self.data.cells.get_mut(row) else { return };
            let is_lost = match cell.case.order {
                Order::Random => self.session.is_kept(place).map(|kept| kept.map(|is_kept| !is_kept)),
                // What others overwrite, as on a stick that counts its places from the start again, was written all the same.
                Order::Linear => self.session.is_dropped(place),
            };
            let Ok(is_lost) = is_lost else { return };
            if let Some(is_lost) = is_lost {
                cell.read_back.places += 1;
                cell.read_back.lost += u32::from(is_lost);
            }
        }
    }

    /// What writes left in memory belongs to them.
    fn flush(&mut self, case: SpeedCase, cell: &mut SpeedCell) -> Result<(), Stop> {
        if case.direction == Direction::Write {
            cell.flush = self.session.flush()?;
        }
        Ok(())
    }
}

/// When a row looks back at itself.
#[derive(Debug)]
struct Looks {
    next: Duration,
    /// Stalls that it will meet.
    expected: Option<Expected>,
    /// No row went before it that would tell whether there are stalls.
    is_first: bool,
    /// Of the first row of large writes: so much is written before it may end within a minute.
    least_within_a_minute: Bytes,
    /// What a thorough row has to meet.
    to_meet: Option<ToMeet>,
}

impl Looks {
    /// Nothing is clear before [`CLEAR_AFTER`]; a row of large writes is long enough to meet its own stalls.
    fn of(case: SpeedCase, data: &SpeedData, capacity: Bytes) -> Self {
        let before = &data.cells;
        let expected = Expected::of(case, before).filter(|_| !is_large_row(case));
        let expected = if data.is_thorough { expected.map(Expected::in_few_periods) } else { expected };
        let is_first = is_first(case, before.iter().map(|cell| cell.case), data.is_thorough);
        let least_within_a_minute =
            if is_first && is_large_row(case) { spent_on_first(capacity) } else { Bytes::ZERO };
        let to_meet = data.is_thorough.then(|| ToMeet::of(case, is_first, before, capacity)).flatten();
        Self { next: CLEAR_AFTER, expected, is_first, least_within_a_minute, to_meet }
    }

    /// Whether a row that has made as many requests as are usual gets more.
    fn needs_more(&mut self, cell: &SpeedCell) -> bool {
        let lasted = cell.ended_ns.last().map_or(Duration::ZERO, |ended| Duration::from_nanos(*ended));
        let stalls = self.to_meet.is_some() && self.worth_waiting(cell, lasted).is_some();
        stalls || self.is_left(cell, lasted) || is_changing(cell)
    }

    /// The stalls that a row will meet, where they take a part of its time, and enough of them will come while patience lasts.
    fn worth_waiting(&self, cell: &SpeedCell, lasted: Duration) -> Option<Expected> {
        let lasted = lasted.as_secs_f64();
        self.expected.filter(|expected| {
            expected.is_worth_it(cell, lasted)
                && expected.seconds_until_enough(cell, lasted) <= self.patience_for_stalls().as_secs_f64()
        })
    }

    const fn patience_for_stalls(&self) -> Duration {
        if self.to_meet.is_some() { thorough::PATIENCE } else { PATIENCE_FOR_WRITES }
    }

    /// Whether a row that has lasted so long tells enough.
    fn is_enough(&mut self, cell: &SpeedCell, lasted: Duration) -> bool {
        let few = cell.took_ns.len() < REQUESTS_MIN;
        if let Some(expected) = self.worth_waiting(cell, lasted).filter(|_| !few) {
            return lasted >= self.patience_for_stalls() || self.tells_stalls(&expected, cell, lasted);
        }
        match &mut self.to_meet {
            // What it looks for alone is also what ends it.
            Some(to_meet) if self.is_first => {
                lasted >= thorough::PATIENCE || !few && !to_meet.is_left(cell, lasted)
            }
            Some(_) => self.is_enough_usually(cell, lasted, few) && !self.is_left(cell, lasted),
            None => self.is_enough_usually(cell, lasted, few),
        }
    }

    fn is_left(&mut self, cell: &SpeedCell, lasted: Duration) -> bool {
        self.to_meet.as_mut().is_some_and(|to_meet| to_meet.is_left(cell, lasted))
    }

    fn is_enough_usually(&mut self, cell: &SpeedCell, lasted: Duration, few: bool) -> bool {
        let patience = patience(cell.case);
        let may_go_on = few || cell.case.direction == Direction::Write;
        if lasted >= if may_go_on { patience_at_most(cell.case) } else { patience } {
            return true;
        }
        if few || self.is_short(cell, lasted) || lasted < self.next {
            return false;
        }
        self.next = lasted + lasted / LOOK_AFTER_SHARE;
        is_clear(cell) || lasted >= patience && !self.is_first && !is_open(cell)
    }

    /// Whether a row that will meet stalls has met enough of them. Out of order nothing says where they come, unless they came in each period
    /// so far: then one more or less must not matter.
    fn tells_stalls(&mut self, expected: &Expected, cell: &SpeedCell, lasted: Duration) -> bool {
        let is_random = cell.case.order == Order::Random;
        if is_random && lasted < LEAST_OF_WRITES {
            return false;
        }
        if lasted >= self.next && expected.is_at_end_of_one(cell) {
            self.next = lasted + lasted / LOOK_AFTER_SHARE;
            if expected.is_clear(cell) {
                return true;
            }
        }
        is_random && expected.is_small_beside(lasted) && is_clear(cell)
    }

    /// Whether what comes later may well be of another speed, however clear it is so far.
    fn is_short(&self, cell: &SpeedCell, lasted: Duration) -> bool {
        let written = cell.transferred();
        let in_order = (self.is_first || is_large_row(cell.case)) && written < BYTES_MIN_LARGE;
        let in_cache = lasted < LEAST_LARGE && written < self.least_within_a_minute;
        in_order || in_cache || cell.case.direction == Direction::Write && lasted < LEAST_OF_WRITES
    }
}

/// Whether a row is worth more time than most: its speed is vague, or it writes and still becomes faster or slower.
fn is_open(cell: &SpeedCell) -> bool {
    is_vague(cell) || cell.case.direction == Direction::Write && is_changing(cell)
}

fn in_flight(made: usize, cell: &SpeedCell) -> u32 {
    made.saturating_sub(cell.took_ns.len()).try_into().unwrap_or(u32::MAX)
}

fn is_written_in_order(case: SpeedCase) -> bool {
    (case.direction, case.order) == (Direction::Write, Order::Linear)
}

/// Whether these are writes that have to find out for themselves whether there are stalls: no writes in order went before them; those of a
/// thorough row here and there have to as well, if no writes went before them at all.
fn is_first(case: SpeedCase, mut before: impl Iterator<Item = SpeedCase>, is_thorough: bool) -> bool {
    let is_written = |case: SpeedCase| case.direction == Direction::Write;
    match case.order {
        Order::Linear => is_written(case) && !before.any(is_written_in_order),
        Order::Random => is_thorough && is_written(case) && !before.any(is_written),
    }
}

/// A row of large writes, which stalls and collection are a part of.
fn is_large_row(case: SpeedCase) -> bool {
    is_written_in_order(case) && case.request >= LARGE
}

fn patience(case: SpeedCase) -> Duration {
    if is_large_row(case) { PATIENCE_LARGE } else { PATIENCE }
}

/// What a kind of request gets where it has told too little by then.
fn patience_at_most(case: SpeedCase) -> Duration {
    patience(case).max(match case.direction {
        Direction::Read => PATIENCE_FOR_FEW,
        Direction::Write => PATIENCE_FOR_WRITES,
    })
}

/// What the first row of large writes may take to see behind a cache.
fn spent_on_first(capacity: Bytes) -> Bytes {
    (capacity / SHARE_MAX_FIRST).min(BYTES_MAX_FIRST)
}

/// The most requests of this kind on a device of this capacity.
fn requests_max(case: SpeedCase, is_first: bool, capacity: Bytes) -> usize {
    let bytes = match (is_first, is_large_row(case)) {
        (true, true) => BYTES_MAX_LARGE.max(spent_on_first(capacity)),
        (true, false) | (false, true) => BYTES_MAX_LARGE,
        (false, false) => BYTES_MAX,
    };
    let most = if is_first { REQUESTS_MAX_FIRST } else { REQUESTS_MAX };
    usize::try_from(bytes / case.request).unwrap_or(most).clamp(32, most)
}

/// The same where its speed still changes.
fn requests_while_changing(case: SpeedCase, is_first: bool, capacity: Bytes) -> usize {
    let usual = requests_max(case, is_first, capacity);
    if case.direction == Direction::Read || is_first || is_large_row(case) {
        return usual;
    }
    let share = usize::try_from(capacity / SHARE_WHILE_CHANGING / case.request).unwrap_or(usual);
    usual.max((usual * TIMES_WHILE_CHANGING).min(share))
}

/// The most requests of this kind in any case.
fn requests_at_most(case: SpeedCase, is_first: bool, is_thorough: bool, capacity: Bytes) -> usize {
    let usual = requests_while_changing(case, is_first, capacity);
    if is_thorough && case.direction == Direction::Write {
        usual.max(thorough::requests_max(case, capacity))
    } else {
        usual
    }
}
