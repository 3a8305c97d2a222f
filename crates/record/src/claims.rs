//! What a device claims about its speed: the marks of the SD Association, and "up to N MB/s".

use std::fmt::{self, Display};
use std::str::FromStr;

use flashscope_device::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The speed classes: sequential write, MB/s.
pub const SPEED_CLASSES: [u8; 4] = [2, 4, 6, 10];
/// The UHS speed grades.
pub const UHS_GRADES: [u8; 2] = [1, 3];
/// The video speed classes: sequential write, MB/s.
pub const VIDEO_CLASSES: [u8; 5] = [6, 10, 30, 60, 90];
/// The application performance classes.
pub const APPLICATION_CLASSES: [u8; 2] = [1, 2];

/// The highest speed that may be claimed, MB/s. Guess: no stick or card claims a tenth of it.
const CLAIMED_MB_PER_S_MAX: f64 = 1e5;

/// One claim.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum SpeedMark {
    /// Speed class: `C10`.
    SpeedClass(u8),
    /// UHS speed grade: `U3`.
    UhsGrade(u8),
    /// Video speed class: `V30`.
    VideoClass(u8),
    /// Application performance class: `A1`.
    ApplicationClass(u8),
    /// "Up to" this speed, MB/s (10^6 bytes per second): `90MB/s`.
    UpTo(f64),
}

/// A text that is no claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a mark (C2 to C10, U1, U3, V6 to V90, A1, A2) or a speed such as 90MB/s is needed")]
pub struct NoMark;

/// Why a class cannot be tested here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Untestable {
    /// Nothing was written.
    ReadOnly,
    /// It was not measured, or too briefly.
    NotMeasured,
    /// The link carries less, or no more than was measured.
    Link,
    /// The commands of the link take the part of each request that decides.
    LinkLatency,
    /// A cache answered.
    PageCache,
    /// The filesystem refuses direct I/O, so that the page cache answers.
    NoDirectIo,
    /// The class is tested with a command queue that is not used here.
    CommandQueue,
    /// Random requests went all over the device.
    WideRange,
}

impl SpeedMark {
    /// Every class of the standard, lowest first within its kind.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let speed = SPEED_CLASSES.into_iter().map(Self::SpeedClass);
        let uhs = UHS_GRADES.into_iter().map(Self::UhsGrade);
        let video = VIDEO_CLASSES.into_iter().map(Self::VideoClass);
        let application = APPLICATION_CLASSES.into_iter().map(Self::ApplicationClass);
        speed.chain(uhs).chain(video).chain(application).collect()
    }

    /// The claim, if it is one of the standard's classes or a possible speed.
    fn checked(self) -> Option<Self> {
        let is_known = match self {
            Self::UpTo(speed) => speed > 0.0 && speed <= CLAIMED_MB_PER_S_MAX,
            mark => Self::all().contains(&mark),
        };
        is_known.then_some(self)
    }
}

impl Display for SpeedMark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SpeedClass(class) => write!(formatter, "C{class}"),
            Self::UhsGrade(grade) => write!(formatter, "U{grade}"),
            Self::VideoClass(class) => write!(formatter, "V{class}"),
            Self::ApplicationClass(class) => write!(formatter, "A{class}"),
            Self::UpTo(speed) => write!(formatter, "{speed}MB/s"),
        }
    }
}

impl FromStr for SpeedMark {
    type Err = NoMark;

    /// Parses `C10`, `class 10`, `u3`, `V30`, `A1`, `90` or `90MB/s`.
    fn from_str(text: &str) -> Result<Self, NoMark> {
        let text = text.trim().to_ascii_uppercase();
        let in_words = text.strip_prefix("CLASS").and_then(|number| number.trim().parse::<u8>().ok());
        let class = |letter: char| text.strip_prefix(letter).and_then(|number| number.parse::<u8>().ok());
        let number = text.strip_suffix("MB/S").unwrap_or(&text).trim();
        let speed = || number.parse::<f64>().ok().map(Self::UpTo);
        in_words
            .or_else(|| class('C'))
            .map(Self::SpeedClass)
            .or_else(|| class('U').map(Self::UhsGrade))
            .or_else(|| class('V').map(Self::VideoClass))
            .or_else(|| class('A').map(Self::ApplicationClass))
            .or_else(speed)
            .and_then(Self::checked)
            .ok_or(NoMark)
    }
}

impl TryFrom<String> for SpeedMark {
    type Error = NoMark;

    fn try_from(text: String) -> Result<Self, NoMark> {
        text.parse()
    }
}

impl From<SpeedMark> for String {
    fn from(mark: SpeedMark) -> Self {
        mark.to_string()
    }
}

/// What a device claims, and what its registers say of how to test it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claims {
    /// The claims of the registers, or those that the user read on the card.
    #[serde(default)]
    pub marks: Vec<SpeedMark>,
    /// The allocation unit that the registers report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation_unit: Option<Bytes>,
    /// Whether a USB reader hides the registers of a card.
    #[serde(default)]
    pub registers_hidden: bool,
    /// Whether the host uses the card's command queue.
    #[serde(default)]
    pub has_command_queue: bool,
}

impl Claims {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_parsed_as_printed_on_cards() {
        for (text, mark) in [
            ("C10", SpeedMark::SpeedClass(10)),
            ("class 4", SpeedMark::SpeedClass(4)),
            ("Class10", SpeedMark::SpeedClass(10)),
            ("u3", SpeedMark::UhsGrade(3)),
            ("V30", SpeedMark::VideoClass(30)),
            ("A2", SpeedMark::ApplicationClass(2)),
            ("90", SpeedMark::UpTo(90.0)),
            ("90MB/s", SpeedMark::UpTo(90.0)),
            ("12.5 mb/s", SpeedMark::UpTo(12.5)),
        ] {
            assert_eq!(text.parse(), Ok(mark), "{text}");
            assert_eq!(mark.to_string().parse(), Ok(mark), "{mark}");
        }
        for text in
            ["", "C3", "U2", "V31", "A3", "A", "0", "-1", "NaN", "inf", "1e9", "90MiB/s", "C 10 U3", "class"]
        {
            assert_eq!(text.parse::<SpeedMark>(), Err(NoMark), "{text}");
        }
    }

    #[test]
    fn claims_of_a_run_file_read_back_as_they_were_written() {
        let marks = vec![SpeedMark::UhsGrade(3), SpeedMark::UpTo(90.0)];
        let claims = Claims { marks, allocation_unit: Some(Bytes::mib(4)), ..Claims::default() };
        let text = serde_json::to_string(&claims).unwrap();
        assert_eq!(serde_json::from_str::<Claims>(&text).unwrap(), claims, "{text}");
        assert!(serde_json::from_str::<Claims>(r#"{"marks": ["Z9"]}"#).is_err());
        assert!(Claims::default().is_empty() && !claims.is_empty());
    }
}
