//! Sizes in TOML: `"8MiB"` as text, or a plain number of bytes.

use flashscope_device::Bytes;
use serde::de::{Deserialize, Deserializer, Error};

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Written {
    Number(u64),
    Text(String),
}

pub(super) fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    match Written::deserialize(deserializer) {
        Ok(Written::Number(bytes)) => Ok(Bytes::new(bytes)),
        Ok(Written::Text(text)) => text.parse().map_err(D::Error::custom),
        Err(_) => Err(D::Error::custom(
            "expected a size from 0 B to 16 EiB, such as \"8MiB\", or a whole number of bytes",
        )),
    }
}

/// The same, where the key may be missing.
pub(super) fn optional_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Bytes>, D::Error> {
    bytes(deserializer).map(Some)
}

/// The factor that changes nothing.
pub(super) const fn one() -> f64 {
    1.0
}

/// What is so unless a profile says otherwise.
pub(super) const fn yes() -> bool {
    true
}
