//! Parsers of option values. Each error is one sentence.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use flashscope_device::{Bytes, SECTOR};
use flashscope_infer::streams::sustained::SAMPLES_MIN;
use flashscope_measure::capacity::CACHE_BOUND_MAX;
use flashscope_record::TrialWorkload;

use super::shared::Yes;

/// The largest number of samples. Guess: with 10 MiB each, a day at 1 MB/s.
const SAMPLES_MAX: u32 = 10_000;

/// `--yes` with or without a path.
pub fn yes() -> impl TypedValueParser<Value = Yes> {
    OsStringValueParser::new()
        .map(|path| if path.is_empty() { Yes::Plain } else { Yes::Backing(path.into()) })
}

/// A factor of the stick's speed. Guess: beyond these limits a served stick is either unusable or as fast
/// as `--instant`.
pub fn speed_factor(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "a number is needed, such as 10 or 0.5".to_owned())?;
    if (1e-3..=1e6).contains(&speed) {
        Ok(speed)
    } else {
        Err("a speed from 0.001 to 1000000 is needed".to_owned())
    }
}

/// A file that ends in .toml.
pub fn profile_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let toml = path.extension().is_some_and(|extension| extension == "toml");
    if toml { Ok(path) } else { Err("the name must end in .toml".to_owned()) }
}

/// The share of cells that are held out.
pub fn holdout_share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=0.9).contains(share))
        .ok_or_else(|| "a share from 0 to 0.9 is needed".to_owned())
}

/// A file that ends in .html or .json.
pub fn output_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm" | "json") => Ok(path),
        _ => Err("the name must end in .html (a page) or .json (a run file)".to_owned()),
    }
}

/// A file that ends in .html or .json, which holds the document of `--json`.
pub fn page_or_document(text: &str) -> Result<PathBuf, String> {
    output_file(text).map_err(|_| "the name must end in .html (a page) or .json (the document)".to_owned())
}

/// A file that ends in .json.
pub fn plan_file(text: &str) -> Result<PathBuf, String> {
    output_file(text)
        .ok()
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .ok_or_else(|| "the name must end in .json".to_owned())
}

/// A file that ends in .html.
pub fn html_file(text: &str) -> Result<PathBuf, String> {
    output_file(text)
        .ok()
        .filter(|path| path.extension().is_some_and(|extension| extension != "json"))
        .ok_or_else(|| "the name must end in .html".to_owned())
}

/// An erase block. NAND flash with 512-byte pages already erased 16 KiB at a time (data sheet of Samsung's
/// K9F2808Q0B, page 9). The experiments write multiples of 4 KiB.
pub fn erase_block(text: &str) -> Result<Bytes, String> {
    size(text, Bytes::kib(16), Bytes::kib(4))
}

/// The size of a request of an experiment.
pub fn block_size(text: &str) -> Result<Bytes, String> {
    size(text, Bytes::new(512), Bytes::new(512))
}

/// A size from `least` to 1 GiB, a multiple of `step`.
fn size(text: &str, least: Bytes, step: Bytes) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if size < least || size > Bytes::gib(1) || !size.is_multiple_of(step) {
        return Err(format!("a multiple of {step} from {least} to 1 GiB is needed"));
    }
    Ok(size)
}

/// The number and size of samples, such as `1000x10MiB`.
pub fn samples(text: &str) -> Result<(u32, Bytes), String> {
    let needed =
        || format!("a number from {SAMPLES_MIN} to {SAMPLES_MAX} and a size are needed, such as 1000x10MiB");
    let (count, size) = text.split_once('x').ok_or_else(needed)?;
    let in_range = |count: &u32| (SAMPLES_MIN..=SAMPLES_MAX.into()).contains(&u64::from(*count));
    let count = count.parse().ok().filter(in_range).ok_or_else(needed)?;
    Ok((count, request_size(size)?))
}

/// The size of a request of a speed test. 64 MiB is the largest request that a target accepts.
pub fn request_size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if size < Bytes::new(512) || size > Bytes::mib(64) || !size.is_multiple_of(Bytes::new(512)) {
        return Err("a multiple of 512 B from 512 B to 64 MiB is needed".to_owned());
    }
    Ok(size)
}

/// A whole number of MiB: the methods write 1 MiB at a time.
pub fn whole_mebibytes(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    let fits = size >= Bytes::mib(1) && size <= Bytes::gib(64) && size.is_multiple_of(Bytes::mib(1));
    fits.then_some(size).ok_or_else(|| "whole MiB from 1 MiB to 64 GiB are needed".to_owned())
}

/// A bound on the cache that could hide a false capacity.
pub fn cache_bound(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    let fits = (Bytes::mib(1)..=CACHE_BOUND_MAX).contains(&size) && size.is_multiple_of(Bytes::mib(1));
    fits.then_some(size).ok_or_else(|| format!("whole MiB from 1 MiB to {CACHE_BOUND_MAX} are needed"))
}

/// A workload with recordings.
pub fn workload(text: &str) -> Result<TrialWorkload, String> {
    let found = TrialWorkload::STANDARD.into_iter().find(|workload| workload.name() == text);
    found.ok_or_else(|| {
        format!("one of {} is needed", TrialWorkload::STANDARD.map(TrialWorkload::name).join(", "))
    })
}

/// The first byte of a partition: a size, or a number of sectors such as `63s`.
pub fn partition_start(text: &str) -> Result<Bytes, String> {
    let needed =
        || "a size in whole sectors such as 4MiB, or a number of sectors such as 63s, is needed".to_owned();
    let start = match text.strip_suffix('s') {
        Some(sectors) => {
            sectors.parse().ok().and_then(|sectors: u64| sectors.checked_mul(SECTOR.get())).map(Bytes::new)
        }
        None => text.parse().ok(),
    };
    start.filter(|start| start.is_multiple_of(SECTOR)).ok_or_else(needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_their_range_or_between_its_steps_are_refused() {
        type Parser = fn(&str) -> Result<Bytes, String>;
        let cases: [(Parser, Bytes, Bytes, Bytes); 5] = [
            (whole_mebibytes, Bytes::mib(1), Bytes::gib(64), Bytes::mib(1)),
            (cache_bound, Bytes::mib(1), CACHE_BOUND_MAX, Bytes::mib(1)),
            (request_size, SECTOR, Bytes::mib(64), SECTOR),
            (block_size, SECTOR, Bytes::gib(1), SECTOR),
            (erase_block, Bytes::kib(16), Bytes::gib(1), Bytes::kib(4)),
        ];
        for (parse, least, most, step) in cases {
            let of = |size: Bytes| parse(&size.get().to_string());
            for size in [least, least + step, most - step, most] {
                assert_eq!(of(size), Ok(size), "from {least} to {most}");
            }
            for size in [Bytes::ZERO, least - step, least + step / 2, most - step / 2, most + step] {
                assert!(of(size).is_err(), "{size}, from {least} to {most}");
            }
        }
    }
}
