//! Faults as text: `NAME:key=value,key=value`. The text of a fault parses to the same fault.

use std::fmt;
use std::str::FromStr;

use super::error::FaultError;
use super::quantity;
use super::spec::{
    CounterfeitSpec, CutSpec, DroppedDataCache, DroppedReads, DyingSpec, ErrorSpec, FaultSpec, Lookup,
    Survivors, Trigger, WrongReadSpec,
};
use crate::units::{Bytes, SECTOR};

const COUNTERFEIT_KEYS: &[&str] = &["real", "wrap", "fake", "reads", "cache", "lookup", "block"];
const ERROR_KEYS: &[&str] = &["share", "range"];
const WRONG_KEYS: &[&str] = &["share", "range", "times"];
const CUT_KEYS: &[&str] = &["after", "at", "cache", "survivors"];
const DYING_KEYS: &[&str] = &["after", "over", "errors", "delay"];

/// The largest capacity: the limit of 48-bit sector addresses.
const SIZE_MAX: Bytes = Bytes::gib(128 << 20);

/// The largest volatile cache. Guess: far more than a controller has; the simulation keeps it in the host's
/// memory.
const CACHE_MAX: Bytes = Bytes::gib(1);

/// The default volatile cache. Guess: the pages of a few open erase blocks.
const CACHE_DEFAULT: Bytes = Bytes::mib(2);

impl FromStr for FaultSpec {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let (name, values) = text.split_once(':').unwrap_or((text, ""));
        let Some(fault) = Self::NAMES.into_iter().find(|known| *known == name) else {
            return Err(FaultError::Unknown { name: short(name), known: Self::NAMES.join(", ") });
        };
        match fault {
            "wrap" | "limbo" | "chain" => counterfeit(fault, values).map(Self::Counterfeit),
            "read-errors" => errors(fault, values).map(Self::ReadErrors),
            "write-errors" => errors(fault, values).map(Self::WriteErrors),
            "wrong-reads" => wrong_reads(fault, values).map(Self::WrongReads),
            "unplug" => cut(fault, values, Bytes::ZERO).map(Self::Unplug),
            "power-cut" => cut(fault, values, CACHE_DEFAULT).map(Self::PowerCut),
            _ => dying(fault, values).map(Self::Dying),
        }
    }
}

impl TryFrom<String> for FaultSpec {
    type Error = FaultError;

    fn try_from(text: String) -> Result<Self, FaultError> {
        text.parse()
    }
}

impl From<FaultSpec> for String {
    fn from(fault: FaultSpec) -> Self {
        fault.to_string()
    }
}

fn counterfeit(fault: &'static str, text: &str) -> Result<CounterfeitSpec, FaultError> {
    let mut values = Values::read(fault, text, COUNTERFEIT_KEYS)?;
    if fault != "chain" {
        values.without("wrap")?;
    }
    let example = if fault == "chain" { "wrap=4GiB,real=2GiB" } else { "real=2GiB" };
    let least = if fault == "wrap" { SECTOR } else { Bytes::ZERO };
    let real = values.size("real", least, SIZE_MAX)?.ok_or(values.missing("real", example))?;
    let wrap = match fault {
        "wrap" => Some(real),
        "limbo" => None,
        _ => Some(values.size("wrap", real.max(SECTOR), SIZE_MAX)?.ok_or(values.missing("wrap", example))?),
    };
    let block = values.size("block", SECTOR, Bytes::mib(1))?;
    Ok(CounterfeitSpec {
        real,
        wrap,
        fake: values.size("fake", real.max(SECTOR), SIZE_MAX)?,
        reads: values
            .choice(
                "reads",
                &[
                    ("zeros", DroppedReads::Zeros),
                    ("ones", DroppedReads::Ones),
                    ("garbage", DroppedReads::Garbage),
                ],
            )?
            .unwrap_or(DroppedReads::Zeros),
        cache: dropped_data_cache(&mut values, block.unwrap_or(SECTOR))?,
        block,
    })
}

fn dropped_data_cache(values: &mut Values, least: Bytes) -> Result<Option<DroppedDataCache>, FaultError> {
    let size = values.size("cache", least, CACHE_MAX)?;
    let lookup = values.choice("lookup", &[("strict", Lookup::Strict), ("loose", Lookup::Loose)])?;
    match (size, lookup) {
        (None, Some(_)) => Err(values.missing("cache", "real=2GiB,cache=256MiB,lookup=loose")),
        (size, lookup) => {
            Ok(size.map(|size| DroppedDataCache { size, lookup: lookup.unwrap_or(Lookup::Strict) }))
        }
    }
}

fn errors(fault: &'static str, text: &str) -> Result<ErrorSpec, FaultError> {
    let mut values = Values::read(fault, text, ERROR_KEYS)?;
    let share = values.number("share", f64::MIN_POSITIVE, 1.0, "above 0 and up to 1")?;
    let range = values.parsed("range", "OFFSET+LENGTH, such as 1GiB+64MiB", quantity::parse_range)?;
    if share.is_none() && range.is_none() {
        return Err(values.missing("share or range", "share=0.001,range=1GiB+64MiB"));
    }
    Ok(ErrorSpec { share: share.unwrap_or(1.0), range })
}

fn wrong_reads(fault: &'static str, text: &str) -> Result<WrongReadSpec, FaultError> {
    let mut values = Values::read(fault, text, WRONG_KEYS)?;
    let share = values.number("share", f64::MIN_POSITIVE, 1.0, "above 0 and up to 1")?;
    let range = values.parsed("range", "OFFSET+LENGTH, such as 1GiB+64MiB", quantity::parse_range)?;
    if share.is_none() && range.is_none() {
        return Err(values.missing("share or range", "share=0.001,times=1"));
    }
    let positive = |times: &u32| *times > 0;
    let times =
        values.parsed("times", "a number of reads, at least 1", |text| text.parse().ok().filter(positive))?;
    Ok(WrongReadSpec { share: share.unwrap_or(1.0), range, times })
}

fn cut(fault: &'static str, text: &str, cache: Bytes) -> Result<CutSpec, FaultError> {
    let mut values = Values::read(fault, text, CUT_KEYS)?;
    let after = values.parsed("after", "a number of requests, or a size with its unit", trigger)?;
    let at = values.parsed("at", "a device time, such as 12.5s", quantity::parse_time)?;
    let trigger = match (after, at.map(Trigger::At)) {
        (Some(_), Some(_)) => return Err(FaultError::Twice { fault, key: "after or at".to_owned() }),
        (after, at) => after.or(at).ok_or(values.missing("after or at", "after=10000"))?,
    };
    let survivors = values.choice("survivors", &[("none", Survivors::None), ("some", Survivors::Some)])?;
    Ok(CutSpec {
        trigger,
        cache: values.size("cache", Bytes::ZERO, CACHE_MAX)?.unwrap_or(cache),
        survivors: survivors.unwrap_or(Survivors::Some),
    })
}

fn trigger(text: &str) -> Option<Trigger> {
    match text.parse() {
        Ok(requests) => Some(Trigger::Requests(requests)),
        Err(_) => text.parse().ok().map(Trigger::Transferred),
    }
}

fn dying(fault: &'static str, text: &str) -> Result<DyingSpec, FaultError> {
    let mut values = Values::read(fault, text, DYING_KEYS)?;
    let over =
        values.size("over", SECTOR, SIZE_MAX)?.ok_or(values.missing("over", "over=1GiB,errors=0.1"))?;
    let errors = values.number("errors", 0.0, 1.0, "a share from 0 to 1")?;
    let delay = values.parsed("delay", "a time, such as 200ms", quantity::parse_time)?;
    if errors.is_none() && delay.is_none() {
        return Err(values.missing("errors or delay", "over=1GiB,errors=0.1,delay=200ms"));
    }
    Ok(DyingSpec {
        after: values.size("after", Bytes::ZERO, SIZE_MAX)?.unwrap_or(Bytes::ZERO),
        over,
        errors: errors.unwrap_or(0.0),
        delay: delay.unwrap_or_default(),
    })
}

/// The keys and values of one fault. Each key occurs once.
struct Values {
    fault: &'static str,
    pairs: Vec<(&'static str, String)>,
}

impl Values {
    fn read(fault: &'static str, text: &str, known: &'static [&'static str]) -> Result<Self, FaultError> {
        let mut pairs: Vec<(&'static str, String)> = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let Some(key) = known.iter().copied().find(|one| *one == key) else {
                return Err(FaultError::UnknownKey { fault, key: short(key), known: known.join(", ") });
            };
            if pairs.iter().any(|(seen, _)| *seen == key) {
                return Err(FaultError::Twice { fault, key: key.to_owned() });
            }
            pairs.push((key, value.to_owned()));
        }
        Ok(Self { fault, pairs })
    }

    fn missing(&self, key: &'static str, example: &'static str) -> FaultError {
        FaultError::Missing { fault: self.fault, key, example }
    }

    fn without(&self, key: &str) -> Result<(), FaultError> {
        if self.pairs.iter().all(|(seen, _)| *seen != key) {
            return Ok(());
        }
        let known: Vec<&str> = COUNTERFEIT_KEYS.iter().copied().filter(|known| *known != key).collect();
        Err(FaultError::UnknownKey { fault: self.fault, key: key.to_owned(), known: known.join(", ") })
    }

    /// The value of `key` as parsed by `read`; `None` without the key.
    fn parsed<T>(
        &mut self,
        key: &'static str,
        allowed: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, FaultError> {
        let Some((_, value)) = self.pairs.iter().find(|(seen, _)| *seen == key) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| FaultError::Value {
            fault: self.fault,
            key,
            value: short(value),
            allowed: allowed.to_owned(),
        })
    }

    fn size(&mut self, key: &'static str, low: Bytes, high: Bytes) -> Result<Option<Bytes>, FaultError> {
        let fits = |size: &Bytes| (low..=high).contains(size) && size.is_multiple_of(SECTOR);
        let allowed = format!("a multiple of 512 B from {low} to {high}");
        self.parsed(key, &allowed, |value| value.parse().ok().filter(fits))
    }

    fn number(
        &mut self,
        key: &'static str,
        low: f64,
        high: f64,
        allowed: &str,
    ) -> Result<Option<f64>, FaultError> {
        let fits = |number: &f64| (low..=high).contains(number);
        self.parsed(key, allowed, |value| value.parse().ok().filter(fits))
    }

    fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, FaultError> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let chosen = |value: &str| choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice);
        self.parsed(key, &format!("one of {}", names.join(", ")), chosen)
    }
}

/// The first 40 characters: enough to recognise the text.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

impl fmt::Display for FaultSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = match self {
            Self::Counterfeit(spec) => show_counterfeit(self.name(), spec),
            Self::ReadErrors(spec) | Self::WriteErrors(spec) => show_errors(spec),
            Self::WrongReads(spec) => show_wrong_reads(spec),
            Self::Unplug(spec) | Self::PowerCut(spec) => show_cut(spec),
            Self::Dying(spec) => show_dying(spec),
        };
        write!(formatter, "{}:{}", self.name(), values.join(","))
    }
}

fn show_counterfeit(name: &str, spec: &CounterfeitSpec) -> Vec<String> {
    let optional =
        |key: &str, value: Option<Bytes>| value.map(|value| format!("{key}={}", quantity::size(value)));
    let reads = match spec.reads {
        DroppedReads::Zeros => None,
        DroppedReads::Ones => Some("reads=ones".to_owned()),
        DroppedReads::Garbage => Some("reads=garbage".to_owned()),
    };
    let loose = spec.cache.filter(|cache| cache.lookup == Lookup::Loose);
    [
        optional("wrap", spec.wrap.filter(|_| name == "chain")),
        optional("real", Some(spec.real)),
        optional("fake", spec.fake),
        reads,
        optional("cache", spec.cache.map(|cache| cache.size)),
        loose.map(|_| "lookup=loose".to_owned()),
        optional("block", spec.block),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn show_errors(spec: &ErrorSpec) -> Vec<String> {
    let share = Some(format!("share={}", spec.share));
    let range = spec.range.map(|range| format!("range={}", quantity::range(range)));
    [share, range].into_iter().flatten().collect()
}

fn show_wrong_reads(spec: &WrongReadSpec) -> Vec<String> {
    let mut values = show_errors(&ErrorSpec { share: spec.share, range: spec.range });
    values.extend(spec.times.map(|times| format!("times={times}")));
    values
}

fn show_cut(spec: &CutSpec) -> Vec<String> {
    let when = match spec.trigger {
        Trigger::Requests(requests) => format!("after={requests}"),
        Trigger::Transferred(bytes) => format!("after={}", quantity::size(bytes)),
        Trigger::At(time) => format!("at={}", quantity::time(time)),
    };
    let survivors = match spec.survivors {
        Survivors::None => "survivors=none",
        Survivors::Some => "survivors=some",
    };
    vec![when, format!("cache={}", quantity::size(spec.cache)), survivors.to_owned()]
}

fn show_dying(spec: &DyingSpec) -> Vec<String> {
    vec![
        format!("after={}", quantity::size(spec.after)),
        format!("over={}", quantity::size(spec.over)),
        format!("errors={}", spec.errors),
        format!("delay={}", quantity::time(spec.delay)),
    ]
}
