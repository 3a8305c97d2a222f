//! Names of card manufacturers.

use super::CardKind;

/// Manufacturers of SD cards, as owners read them from their cards (cameramemoryspeed.com, "Internal SD
/// card information"). The SD Association publishes no list, and the brand printed on a card may differ.
const OF_SD: [(u32, &str); 12] = [
    (0x01, "Panasonic"),
    (0x02, "Toshiba"),
    (0x03, "SanDisk"),
    (0x1b, "Samsung"),
    (0x1d, "ADATA"),
    (0x27, "Phison"),
    (0x28, "Lexar"),
    (0x31, "Silicon Power"),
    (0x41, "Kingston"),
    (0x74, "Transcend"),
    (0x82, "Sony"),
    (0x9f, "Kingston"),
];

/// Manufacturers of eMMC chips, as Linux names them where it works around their faults
/// (`drivers/mmc/core/quirks.h`).
const OF_MMC: [(u32, &str); 6] = [
    (0x02, "SanDisk"),
    (0x11, "Toshiba"),
    (0x13, "Micron"),
    (0x15, "Samsung"),
    (0x70, "Kingston"),
    (0x90, "Hynix"),
];

/// The manufacturer with this number, if it is a known one.
pub fn maker(kind: CardKind, number: u32) -> Option<&'static str> {
    let makers: &[(u32, &str)] = if kind == CardKind::Sd { &OF_SD } else { &OF_MMC };
    makers.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}
