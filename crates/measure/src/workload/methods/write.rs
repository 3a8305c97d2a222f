//! One write method: prepare, write all bytes, flush.

use std::time::Duration;

use flashscope_device::host::{ByteSource, WriteHost, WriteMode};
use flashscope_device::layer::Interrupt;
use flashscope_device::{Buffer, Bytes, Instant, Pattern};
use flashscope_record::observation::{MethodTiming, WriteMethod};

use crate::limits::LARGE_REQUEST;
use crate::workload::{Stopped, positive_seconds};

/// The seed of the data that is prepared in memory. No two blocks of a target are equal.
const SEED: u64 = 1;

/// The result of one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The method.
    pub method: WriteMethod,
    /// Bytes written.
    pub bytes: Bytes,
    /// The time this method reports to its user.
    pub reported: Duration,
    /// The time until a flush confirmed that the data is durable.
    pub durable: Duration,
    /// The time to generate as many bytes without writing them. `None` if they were prepared in memory.
    pub source: Option<Duration>,
    /// The whole time, including the preparation and what is not counted.
    pub total: Duration,
}

impl Written {
    /// The result as it is stored.
    pub fn timing(&self) -> MethodTiming {
        MethodTiming {
            method: self.method,
            bytes: self.bytes,
            reported_s: positive_seconds(self.reported),
            durable_s: positive_seconds(self.durable),
            source_s: self.source.map(positive_seconds),
        }
    }
}

/// Writes `bytes` with one method. `None` if the filesystem refuses that method.
pub fn write<H: WriteHost>(
    host: &mut H,
    method: WriteMethod,
    bytes: Bytes,
    interrupt: &Interrupt,
) -> Result<Option<Written>, Stopped<H::Error>> {
    let entered = host.now();
    host.prepare(bytes)?;
    let source = source(method);
    if !host.open(mode(method), source)? {
        return Ok(None);
    }
    let generation = source.map(|_| generation(host, bytes)).transpose()?;
    let started = host.now();
    let Some(uncounted) = write_all(host, source.is_some(), bytes, interrupt)? else { return Ok(None) };
    let stopped = host.now();
    host.flush()?;
    let flushed = host.now();
    let until = |end: Instant| end.since(started).saturating_sub(uncounted);
    let reported = if method == WriteMethod::FlushAtEnd { until(flushed) } else { until(stopped) };
    let (durable, total) = (until(flushed), flushed.since(entered));
    Ok(Some(Written { method, bytes, reported, durable, source: generation, total }))
}

/// The time to generate `bytes` from the opened source, without writing them.
fn generation<H: WriteHost>(host: &mut H, bytes: Bytes) -> Result<Duration, Stopped<H::Error>> {
    let mut chunk = Buffer::zeroed(LARGE_REQUEST);
    let started = host.now();
    for _ in 0..bytes / LARGE_REQUEST {
        host.generate(&mut chunk)?;
    }
    Ok(host.now().since(started))
}

/// Writes everything. Returns the time spent preparing data in memory, which does not count; `None` if the
/// filesystem refuses.
fn write_all<H: WriteHost>(
    host: &mut H,
    has_source: bool,
    bytes: Bytes,
    interrupt: &Interrupt,
) -> Result<Option<Duration>, Stopped<H::Error>> {
    let pattern = Pattern::new(SEED);
    let mut chunk = Buffer::zeroed(LARGE_REQUEST);
    let (mut offset, mut uncounted) = (Bytes::ZERO, Duration::ZERO);
    while offset < bytes {
        if interrupt.is_requested() {
            return Err(Stopped::Interrupted);
        }
        let length = LARGE_REQUEST.min(bytes - offset);
        let data = &mut chunk[..length.to_usize()];
        if has_source {
            host.generate(data)?;
        } else {
            let started = host.now();
            pattern.fill(offset.sectors(), data);
            uncounted += host.now().since(started);
        }
        if !host.write(offset, data)? {
            return Ok(None);
        }
        offset += length;
    }
    Ok(Some(uncounted))
}

const fn source(method: WriteMethod) -> Option<ByteSource> {
    match method {
        WriteMethod::Zeros => Some(ByteSource::Zeros),
        WriteMethod::Random => Some(ByteSource::Random),
        WriteMethod::FlushAtEnd | WriteMethod::FlushEach | WriteMethod::Direct => None,
    }
}

const fn mode(method: WriteMethod) -> WriteMode {
    match method {
        WriteMethod::Zeros | WriteMethod::Random | WriteMethod::FlushAtEnd => WriteMode::Buffered,
        WriteMethod::FlushEach => WriteMode::Synchronous,
        WriteMethod::Direct => WriteMode::Direct,
    }
}
