//! How the fields of a profile stand in TOML: sizes as text, defaults left out.

use flashscope_device::Bytes;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

// Largest first: a size is written in the largest unit that divides it.
const UNITS: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Written {
    Number(u64),
    Text(String),
}

/// Reads `"8MiB"` or a plain number of bytes.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    match Written::deserialize(deserializer) {
        Ok(Written::Number(bytes)) => Ok(Bytes::new(bytes)),
        Ok(Written::Text(text)) => text.parse().map_err(D::Error::custom),
        Err(_) => Err(D::Error::custom(
            "expected a size from 0 B to 16 EiB, such as \"8MiB\", or a whole number of bytes",
        )),
    }
}

/// Writes a size as text where a unit divides it, else as a number of bytes: the value is always exact.
pub(super) fn serialize<S: Serializer>(size: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    let divides = |(_, unit): &&(&str, u64)| !size.is_zero() && size.get().is_multiple_of(*unit);
    match UNITS.iter().find(divides) {
        Some((suffix, unit)) => serializer.collect_str(&format_args!("{}{suffix}", size.get() / unit)),
        None => serializer.serialize_u64(size.get()),
    }
}

/// The same for a key that may be missing.
pub(super) mod optional {
    use flashscope_device::Bytes;
    use serde::{Deserializer, Serializer};

    pub(in crate::profile) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Bytes>, D::Error> {
        super::deserialize(deserializer).map(Some)
    }

    #[expect(clippy::ref_option, reason = "the signature that serde calls")]
    pub(in crate::profile) fn serialize<S: Serializer>(
        size: &Option<Bytes>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match size {
            Some(size) => super::serialize(size, serializer),
            None => serializer.serialize_none(),
        }
    }
}

/// The default of a factor.
pub(super) const fn one() -> f64 {
    1.0
}

/// The default of a switch that is on.
pub(super) const fn yes() -> bool {
    true
}

/// True for a value that need not be written.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// True for a factor that need not be written.
#[expect(clippy::float_cmp, reason = "exactly the default, or it is written")]
pub(super) fn is_one(factor: &f64) -> bool {
    *factor == one()
}
