//! The CHS fields of an MBR for a pretended geometry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A CHS field has 10 bits for the cylinder.
const CYLINDER_MAX: u64 = 1023;

/// A pretended geometry: cylinders of `heads` x `sectors` sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Chs {
    /// Heads, 1 to 255.
    pub heads: u8,
    /// Sectors a track, 1 to 63.
    pub sectors: u8,
}

/// A geometry that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no geometry; give HEADS/SECTORS, 1 to 255 heads and 1 to 63 sectors, such as 224/56")]
pub struct NoGeometry(String);

impl std::str::FromStr for Chs {
    type Err = NoGeometry;

    fn from_str(text: &str) -> Result<Self, NoGeometry> {
        let parse = || {
            let (heads, sectors) = text.split_once('/')?;
            let (heads, sectors) = (heads.parse().ok()?, sectors.parse().ok()?);
            (heads >= 1 && (1..=63).contains(&sectors)).then_some(Self { heads, sectors })
        };
        parse().ok_or_else(|| NoGeometry(text.to_owned()))
    }
}

/// The three bytes of a CHS address; the largest one for a sector beyond cylinder 1023.
pub(crate) fn field(lba: u64, chs: Chs) -> [u8; 3] {
    let (heads, sectors) = (u64::from(chs.heads.max(1)), u64::from(chs.sectors.clamp(1, 63)));
    let cylinder = lba / (heads * sectors);
    let (cylinder, head, sector) = if cylinder > CYLINDER_MAX {
        (CYLINDER_MAX, heads - 1, sectors)
    } else {
        (cylinder, lba / sectors % heads, lba % sectors + 1)
    };
    let byte = |number: u64| u8::try_from(number & 0xff).unwrap_or(u8::MAX);
    [byte(head), byte(sector | cylinder >> 8 << 6), byte(cylinder)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_recipe_gives_cylinders_of_49_times_128_kib() {
        let chs: Chs = "224/56".parse().unwrap();
        assert_eq!(u64::from(chs.heads) * u64::from(chs.sectors) * 512, 49 * 128 * 1024);
        assert_eq!(field(256, chs), [4, 33, 0]);
        assert_eq!(field(u64::from(u32::MAX), chs), [223, 56 | 3 << 6, 0xff]);
    }

    #[test]
    fn impossible_geometries_are_refused() {
        for text in ["", "224", "0/56", "224/0", "224/64", "256/63", "a/b", "-1/1"] {
            assert!(text.parse::<Chs>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_least_and_the_largest_geometry_are_taken_up_to_the_last_cylinder() {
        for (heads, sectors) in [(1, 1), (1, 63), (255, 1), (255, 63)] {
            assert_eq!(format!("{heads}/{sectors}").parse::<Chs>(), Ok(Chs { heads, sectors }));
        }
        let (least, largest) = (Chs { heads: 1, sectors: 1 }, Chs { heads: 255, sectors: 63 });
        assert_eq!((field(0, least), field(5, least)), ([0, 1, 0], [0, 1, 5]));
        assert_eq!(field(255 * 63, largest), [0, 1, 1]);
        // The first and the last sector of cylinder 1023; what lies behind has the address of the last one.
        assert_eq!(field(1023 * 255 * 63, largest), [0, 1 | 3 << 6, 0xff]);
        let last = 1024 * 255 * 63 - 1;
        assert_eq!([field(last, largest), field(last + 1, largest)], [[254, 63 | 3 << 6, 0xff]; 2]);
    }
}
