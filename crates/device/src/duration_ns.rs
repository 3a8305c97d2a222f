//! Durations in stored files, as whole nanoseconds. Reads the older form `{"secs": …, "nanos": …}` as well.
//!
//! For `#[serde(with = "…::duration_ns")]`, with one submodule for each container.

use std::fmt;
use std::time::Duration;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration whose stored form is a number of nanoseconds; above 2^64 ns (584 years) it is clamped.
struct Nanoseconds(Duration);

impl Serialize for Nanoseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl<'de> Deserialize<'de> for Nanoseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StoredForm).map(Self)
    }
}

struct StoredForm;

impl<'de> Visitor<'de> for StoredForm {
    type Value = Duration;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("nanoseconds, or an object with secs and nanos")
    }

    fn visit_u64<E: Error>(self, nanoseconds: u64) -> Result<Duration, E> {
        Ok(Duration::from_nanos(nanoseconds))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Duration, A::Error> {
        let (mut seconds, mut nanoseconds) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "secs" => seconds = Some(map.next_value::<u64>()?),
                "nanos" => nanoseconds = Some(map.next_value::<u32>()?),
                _ => {}
            }
        }
        let seconds = seconds.ok_or_else(|| A::Error::missing_field("secs"))?;
        let nanoseconds = nanoseconds.ok_or_else(|| A::Error::missing_field("nanos"))?;
        Duration::from_secs(seconds)
            .checked_add(Duration::from_nanos(u64::from(nanoseconds)))
            .ok_or_else(|| A::Error::custom("a duration of more than 2^64 seconds"))
    }
}

/// Writes one duration.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    Nanoseconds(*duration).serialize(serializer)
}

/// Reads one duration.
///
/// # Errors
/// If it is neither a number of nanoseconds nor the older form.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    Nanoseconds::deserialize(deserializer).map(|stored| stored.0)
}

/// For `Option<Duration>`.
pub mod option {
    use super::{Deserialize, Deserializer, Duration, Nanoseconds, Serialize, Serializer};

    /// Writes a duration, or null.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        duration.map(Nanoseconds).serialize(serializer)
    }

    /// Reads a duration, or null.
    ///
    /// # Errors
    /// If it is neither null nor a duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<Nanoseconds>::deserialize(deserializer)?.map(|stored| stored.0))
    }
}

/// For `Vec<Duration>`.
pub mod list {
    use super::{Deserialize, Deserializer, Duration, Nanoseconds, Serializer};

    /// Writes a list of durations.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(durations: &[Duration], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(durations.iter().map(|duration| Nanoseconds(*duration)))
    }

    /// Reads a list of durations.
    ///
    /// # Errors
    /// If it is no list of durations.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Duration>, D::Error> {
        let stored = Vec::<Nanoseconds>::deserialize(deserializer)?;
        Ok(stored.into_iter().map(|stored| stored.0).collect())
    }
}

/// For `Vec<Vec<Duration>>`.
pub mod lists {
    use super::{Deserialize, Deserializer, Duration, Nanoseconds, Serializer};

    /// Writes lists of durations.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(lists: &[Vec<Duration>], serializer: S) -> Result<S::Ok, S::Error> {
        let stored = |list: &Vec<Duration>| list.iter().copied().map(Nanoseconds).collect::<Vec<_>>();
        serializer.collect_seq(lists.iter().map(stored))
    }

    /// Reads lists of durations.
    ///
    /// # Errors
    /// If they are no lists of durations.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<Duration>>, D::Error> {
        let stored = Vec::<Vec<Nanoseconds>>::deserialize(deserializer)?;
        Ok(stored.into_iter().map(|list| list.into_iter().map(|stored| stored.0).collect()).collect())
    }
}
