//! The limits of the numbers in a run file. Anybody can write one, and inference and reports compute with its
//! numbers: sizes beyond 64 bits, or rounds without a write, cannot be computed with.

use std::time::Duration;

use flashscope_device::Bytes;

use crate::observation::{
    AlignSample, Burst, Claim, Conditions, Crossing, Data, FilesPart, LinkLimit, LongWrite, Observations,
    OpenUnitsCell, OpenUnitsData, Opening, PageEdge, Piece, SpeedCell, Times, Traffic,
};
use crate::run_file::RunFile;

/// A number that no measurement gives.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this run file cannot be right: {path} is {found}; {allowed}")]
pub struct Impossible {
    /// Where it stands in the JSON, e.g. `observations[2].data.cells[0].open_units`.
    pub path: String,
    /// The number as it would be shown.
    pub found: String,
    /// What is allowed there.
    pub allowed: &'static str,
}

type Checked = Result<(), Impossible>;

/// The limit of sizes, bytes. Sixteen times as much, the largest product of any size, still has 64 bits.
const SIZE_END: Bytes = Bytes::new(1 << 60);
/// The largest erase block or request, many of which are added up: far above the largest allocation unit of
/// SD cards, 64 MiB.
const BLOCK_MAX: Bytes = Bytes::gib(1024);
/// The most erase blocks: those of the largest card with the smallest blocks.
const UNITS_MAX: u32 = 1 << 27;
/// The most writes that are timed together: far more than any experiment has.
const REQUESTS_MAX: u32 = 1 << 20;
/// The longest time that device clocks count, 584 years. A clock that was set during a request makes it take
/// years; everything else is kept.
const TIME_MAX: Duration = Duration::from_nanos(u64::MAX);

/// Checks every number of a run.
///
/// # Errors
/// The first number outside its limits.
pub fn check(run: &RunFile) -> Checked {
    let cost = &run.cost;
    size("bytes_read", cost.bytes_read)
        .and_then(|()| size("bytes_written", cost.bytes_written))
        .and_then(|()| time("device_time", cost.device_time))
        .map_err(|error| error.inside("cost"))?;
    size("attachment.request_max", run.attachment.request_max.unwrap_or_default())?;
    each("attachment.volumes", &run.attachment.volumes, |volume| {
        size("start", volume.start)?;
        size("data_start", volume.data_start.unwrap_or_default())
    })?;
    each("observations", &run.observations, observations)
}

fn observations(seen: &Observations) -> Checked {
    conditions(&seen.conditions).map_err(|error| error.inside("conditions"))?;
    data(&seen.data).map_err(|error| error.inside("data"))
}

fn conditions(conditions: &Conditions) -> Checked {
    size("capacity", conditions.capacity.unwrap_or_default())?;
    let region = conditions.region;
    size("region.offset", region.map_or(Bytes::ZERO, |region| region.offset))?;
    size("region.length", region.map_or(Bytes::ZERO, |region| region.length))
}

fn data(data: &Data) -> Checked {
    match data {
        Data::Align(data) => {
            data.read.map_or(Ok(()), |read| block("read", read))?;
            each("samples", &data.samples, sample)
        }
        Data::OpenUnits(data) => open_units_data(data),
        Data::WriteSize(data) => {
            erase_block(data.erase_block.unwrap_or_default())?;
            each("edges", &data.edges, edge)?;
            each("cells", &data.cells, |cell| request(cell.request, &cell.times))?;
            each("control", data.control.as_slice(), |cell| request(cell.request, &cell.times))
        }
        Data::BlockEnds(data) => {
            block("request", data.request)?;
            size("page", data.page.unwrap_or_default())?;
            each("openings", &data.openings, opening)?;
            each("crossings", &data.crossings, crossing)
        }
        Data::FatArea(data) => {
            erase_block(data.erase_block)?;
            data.baseline.as_ref().map_or(Ok(()), times).map_err(|error| error.inside("baseline"))?;
            data.control.as_ref().map_or(Ok(()), times).map_err(|error| error.inside("control"))?;
            data.merges
                .and_then(|merges| merges.takes)
                .map_or(Ok(()), |takes| time("merges.takes", takes))?;
            each("begun", &data.begun, |block| {
                count("unit", block.unit.unwrap_or(0), 0)?;
                time("time", block.time)
            })?;
            each("beginnings", &data.beginnings, |block| each("", block, |latency| time("", *latency)))?;
            each("cells", &data.cells, |cell| {
                count("unit", cell.unit, 0)?;
                request(cell.request, &cell.times)
            })
        }
        Data::Sustained(data) => {
            block("request", data.request)?;
            each("pieces", &data.pieces, piece)?;
            each("long", &data.long, long_write)?;
            each("resumed", &data.resumed, |resumed| {
                time("pause", resumed.pause)?;
                each("pieces", &resumed.pieces, piece)
            })
        }
        Data::WriteBuffer(data) => {
            block("request", data.request)?;
            each("bursts", &data.bursts, burst)
        }
        Data::Speed(data) => {
            link(data.link.as_ref())?;
            each("cells", &data.cells, speed)
        }
        Data::Files(data) => {
            size("cluster", data.cluster)?;
            link(data.link.as_ref())?;
            each("rounds", &data.rounds, |round| {
                files(&round.small).map_err(|error| error.inside("small"))?;
                files(&round.large).map_err(|error| error.inside("large"))
            })
        }
        Data::Methods(data) => {
            link(data.link.as_ref())?;
            each("claims", &data.claims, claim)
        }
    }
}

fn open_units_data(data: &OpenUnitsData) -> Checked {
    erase_block(data.erase_block)?;
    each("cells", &data.cells, open_units)?;
    each("controls", &data.controls, times)?;
    each("free", &data.free, open_units)?;
    each("appended", &data.appended, open_units)?;
    each("apart", &data.apart, |pair| {
        time("apart", pair.apart)?;
        time("in_order", pair.in_order)
    })?;
    each("larger", &data.larger, open_units)?;
    each("rewritten", &data.rewritten, open_units)?;
    each("out_of_order", &data.out_of_order, |latency| time("", *latency))?;
    each("groups", &data.groups, |group| {
        time("in_order", group.in_order)?;
        time("backward", group.backward)
    })?;
    each("one_run", &data.one_run, open_units)?;
    each("outgrown", &data.outgrown, open_units)?;
    each("given_back", &data.given_back, open_units)?;
    each("gone_on", &data.gone_on, open_units)?;
    each("scattered", &data.scattered, |latency| time("", *latency))?;
    each("beginnings", &data.beginnings, |pair| {
        time("alone", pair.alone)?;
        time("behind", pair.behind)
    })
}

fn link(link: Option<&LinkLimit>) -> Checked {
    size("link.bytes_per_s", link.map_or(Bytes::ZERO, |link| link.bytes_per_s))
}

fn files(part: &FilesPart) -> Checked {
    size("bytes", part.bytes)?;
    size("allocated", part.allocated)?;
    positive("made_s", part.made_s)?;
    positive("read_s", part.read_s)?;
    seconds("flush_s", part.flush_s)?;
    seconds("removed_s", part.removed_s)?;
    seconds("warm", part.warm.unwrap_or(0.0))?;
    each("each_made_ns", &part.each_made_ns, |took| time("", Duration::from_nanos(*took)))?;
    each("each_read_ns", &part.each_read_ns, |took| time("", Duration::from_nanos(*took)))?;
    traffic(part.writes.as_ref()).map_err(|error| error.inside("writes"))?;
    traffic(part.reads.as_ref()).map_err(|error| error.inside("reads"))
}

fn traffic(traffic: Option<&Traffic>) -> Checked {
    let Some(traffic) = traffic else { return Ok(()) };
    size("bytes", traffic.bytes)?;
    size("requests", Bytes::new(traffic.requests))?;
    seconds("busy_s", traffic.busy_s)
}

fn claim(claim: &Claim) -> Checked {
    size("bytes", claim.bytes)?;
    positive("claimed_s", claim.claimed_s)?;
    positive("durable_s", claim.durable_s)?;
    claim.source_s.map_or(Ok(()), |source| positive("source_s", source))
}

fn speed(cell: &SpeedCell) -> Checked {
    block("request", cell.case.request)?;
    let (depth, requests) = (cell.case.queue_depth, cell.ended_ns.len());
    permit((1..=REQUESTS_MAX).contains(&depth), "queue_depth", depth, "it must lie between 1 and 2^20")?;
    permit(cell.took_ns.len() == requests, "ended_ns", requests, "it has one for each of took_ns")?;
    let in_order = cell.ended_ns.is_sorted();
    permit(in_order, "ended_ns", "out of order", "requests are kept in the order in which they ended")?;
    time("flush", cell.flush.unwrap_or_default())?;
    let lost = cell.read_back.lost;
    permit(lost <= cell.read_back.places, "lost", lost, "no more offsets are lost than were read back")?;
    each("took_ns", &cell.took_ns, |took| time("", Duration::from_nanos(*took)))?;
    each("ended_ns", &cell.ended_ns, |ended| time("", Duration::from_nanos(*ended)))
}

fn piece(piece: &Piece) -> Checked {
    permit(piece.requests <= REQUESTS_MAX, "requests", piece.requests, "there are at most 2^20 in a piece")?;
    time("time", piece.time)
}

fn long_write(long: &LongWrite) -> Checked {
    size("written", long.written)?;
    time("took", long.took)?;
    time("ended", long.ended)
}

fn burst(burst: &Burst) -> Checked {
    time("pause", burst.pause)?;
    each("each", &burst.each, |latency| time("", *latency))
}

fn opening(opening: &Opening) -> Checked {
    size("offset", opening.offset)?;
    time("first", opening.first)?;
    time("second", opening.second)
}

fn crossing(crossing: &Crossing) -> Checked {
    size("offset", crossing.offset)?;
    time("before", crossing.before)?;
    time("after", crossing.after)
}

fn sample(sample: &AlignSample) -> Checked {
    let candidate = sample.candidate;
    permit(!candidate.is_zero(), "candidate", candidate, "it must be at least 1 byte")?;
    size("candidate", candidate)?;
    size("boundary", sample.boundary.unwrap_or_default())?;
    around(sample.before, sample.across, sample.after)
}

fn edge(edge: &PageEdge) -> Checked {
    size("edge", edge.edge)?;
    block("write", edge.write)?;
    around(edge.before, edge.across, edge.after)
}

/// Three requests at a boundary.
fn around(before: Duration, across: Duration, after: Duration) -> Checked {
    time("before", before)?;
    time("across", across)?;
    time("after", after)
}

fn open_units(cell: &OpenUnitsCell) -> Checked {
    count("open_units", cell.open_units, 1)?;
    request(cell.request, &cell.times)
}

fn request(request: Bytes, its_times: &Times) -> Checked {
    block("request", request)?;
    times(its_times).map_err(|error| error.inside("times"))
}

fn times(times: &Times) -> Checked {
    match times {
        Times::Each(each_time) => each("each", each_time, |latency| time("", *latency)),
        Times::Mean { per_request, .. } => {
            // A time of zero would be an infinite speed.
            permit(!per_request.is_zero(), "mean.per_request", "0 s", "it must lie above 0")?;
            time("mean.per_request", *per_request)
        }
    }
}

fn size(name: &str, size: Bytes) -> Checked {
    permit(size < SIZE_END, name, size, "sizes lie below 2^60 bytes")
}

/// The size of a request.
fn block(name: &str, size: Bytes) -> Checked {
    permit(!size.is_zero() && size <= BLOCK_MAX, name, size, "it must lie between 1 byte and 1 TiB")
}

/// Zero if a log does not give it.
fn erase_block(size: Bytes) -> Checked {
    permit(size <= BLOCK_MAX, "erase_block", size, "erase blocks have at most 1 TiB")
}

fn count(name: &str, number: u32, least: u32) -> Checked {
    let allowed =
        if least == 0 { "there are at most 2^27 erase blocks" } else { "it must lie between 1 and 2^27" };
    permit((least..=UNITS_MAX).contains(&number), name, number, allowed)
}

fn time(name: &str, time: Duration) -> Checked {
    permit(time <= TIME_MAX, name, format!("{} s", time.as_secs()), "times have at most 2^64 ns")
}

fn seconds(name: &str, seconds: f64) -> Checked {
    let is_time = (0.0..=TIME_MAX.as_secs_f64()).contains(&seconds);
    permit(is_time, name, seconds, "it must lie between 0 and 2^64 ns")
}

fn positive(name: &str, seconds: f64) -> Checked {
    let is_time = seconds > 0.0 && seconds <= TIME_MAX.as_secs_f64();
    permit(is_time, name, seconds, "it must lie above 0, and be at most 2^64 ns")
}

fn permit(is_allowed: bool, name: &str, found: impl ToString, allowed: &'static str) -> Checked {
    if is_allowed {
        return Ok(());
    }
    Err(Impossible { path: name.to_owned(), found: found.to_string(), allowed })
}

fn each<T>(name: &str, items: &[T], check: impl Fn(&T) -> Checked) -> Checked {
    items
        .iter()
        .enumerate()
        .try_for_each(|(index, item)| check(item).map_err(|error| error.inside(&format!("{name}[{index}]"))))
}

impl Impossible {
    fn inside(mut self, parent: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        self.path = format!("{parent}{dot}{}", self.path);
        self
    }
}
