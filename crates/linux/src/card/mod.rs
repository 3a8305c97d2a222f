//! The registers of an SD or MMC card. Only a native card reader (`mmc_host`) passes them on; USB readers
//! do not.

mod bus_mode;
mod configuration;
mod identification;
mod maker;
mod register;
mod sd_status;
mod specific_data;

use flashscope_device::Bytes;

pub use bus_mode::BusMode;
pub use configuration::Configuration;
pub use identification::Identification;
pub use sd_status::SdStatus;
pub use specific_data::SpecificData;

use crate::sysfs::Node;

/// The two families of cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardKind {
    /// SD, SDHC, SDXC, SDUC.
    Sd,
    /// MMC cards and eMMC chips.
    Mmc,
}

/// The registers of a card. A register that is unreadable or malformed is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// `SD` or `MMC`, from the kernel.
    pub kind: Option<String>,
    /// The manufacturer's number.
    pub manufacturer_id: Option<u32>,
    /// The manufacturer, if the number is a known one.
    pub maker: Option<&'static str>,
    /// The date of manufacture, as `month/year`.
    pub date: Option<String>,
    /// The preferred erase size; for an SD card the allocation unit it reports.
    pub preferred_erase: Option<Bytes>,
    /// CID.
    pub identification: Option<Identification>,
    /// CSD, of an SD card.
    pub specific_data: Option<SpecificData>,
    /// SCR, of an SD card.
    pub configuration: Option<Configuration>,
    /// SSR, of an SD card.
    pub status: Option<SdStatus>,
    /// The current bus mode.
    pub bus_mode: Option<BusMode>,
    /// The used lifetime of an eMMC chip, in tenths, of its SLC and its MLC areas (1 to 11).
    pub life_used: Option<(u8, u8)>,
    /// How many of its reserved blocks an eMMC chip has used.
    pub reserve: Option<Reserve>,
    /// Whether the command queue is on, if the kernel says.
    pub has_command_queue: Option<bool>,
}

/// The state of an eMMC chip's reserved blocks (JESD84-B51, EXT_CSD 267).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserve {
    /// Less than 80 % are used.
    Normal,
    /// 80 % are used.
    Warning,
    /// 90 % are used.
    Urgent,
}

impl Reserve {
    /// Parses `pre_eol_info`; zero is "not defined".
    const fn of(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Normal),
            2 => Some(Self::Warning),
            3 => Some(Self::Urgent),
            _ => None,
        }
    }
}

impl Card {
    /// Reads the card at `device`; `debug` is the debugfs directory of its host.
    pub fn read(device: &Node, debug: Option<&Node>) -> Self {
        let kind = device.text("type");
        let family = if kind.as_deref() == Some("SD") { CardKind::Sd } else { CardKind::Mmc };
        let identification = register(device, "cid").and_then(|text| Identification::parse(&text, family));
        let of_cid = identification.as_ref().map(|cid| u32::from(cid.manufacturer_id));
        let manufacturer_id = device.hexadecimal("manfid").or(of_cid);
        let of_sd = |attribute| register(device, attribute).filter(|_| family == CardKind::Sd);
        Self {
            manufacturer_id,
            maker: manufacturer_id.and_then(|number| maker::maker(family, number)),
            date: device.text("date").filter(|date| is_date(date)).or_else(|| date(identification.as_ref()?)),
            preferred_erase: size(device, "preferred_erase_size"),
            identification,
            specific_data: of_sd("csd").and_then(|text| SpecificData::parse(&text)),
            configuration: of_sd("scr").and_then(|text| Configuration::parse(&text)),
            status: of_sd("ssr").and_then(|text| SdStatus::parse(&text)),
            bus_mode: debug.and_then(BusMode::of),
            life_used: life(&device.text("life_time").unwrap_or_default()),
            reserve: device.hexadecimal("pre_eol_info").and_then(Reserve::of),
            has_command_queue: device.number("cmdq_en").map(|enabled: u32| enabled != 0),
            kind,
        }
    }

    /// The allocation unit that the card reports in its status register, else the kernel's preferred erase
    /// size.
    #[must_use]
    pub fn allocation_unit(&self) -> Option<Bytes> {
        let status = self.status.as_ref();
        status
            .and_then(|status| status.allocation_unit.or(status.uhs_allocation_unit))
            .or(self.preferred_erase)
    }
}

fn size(device: &Node, attribute: &str) -> Option<Bytes> {
    device.number(attribute).map(Bytes::new).filter(|bytes| !bytes.is_zero())
}

fn register(device: &Node, attribute: &str) -> Option<String> {
    Some(String::from_utf8(device.bytes(attribute)?).ok()?.trim().to_owned())
}

/// `month/year`, in digits.
fn is_date(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('/').is_some_and(|(month, year)| is_number(month) && is_number(year))
}

fn date(identification: &Identification) -> Option<String> {
    identification.made.map(|(year, month)| format!("{month:02}/{year}"))
}

/// Parses `0x01 0x02`; zero is "not defined" (JESD84-B51, EXT_CSD 268 and 269).
fn life(text: &str) -> Option<(u8, u8)> {
    let tenths = |text: &str| {
        u8::from_str_radix(text.trim_start_matches("0x"), 16).ok().filter(|used| (1..=11).contains(used))
    };
    let (single, multiple) = text.split_once(' ')?;
    Some((tenths(single)?, tenths(multiple)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_lifetime_is_known_from_one_to_eleven_tenths() {
        assert_eq!(life("0x01 0x0b"), Some((1, 11)));
        for unknown in ["0x00 0x01", "0x01 0x00", "0x01 0x0c", "0x0c 0x01", "0x01", "", "x y"] {
            assert_eq!(life(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn allocation_unit_is_that_of_the_present_mode_first() {
        let unit = |own: Option<u64>, uhs: Option<u64>, preferred: Option<u64>| {
            let mib = |mib: Option<u64>| mib.map(Bytes::mib);
            // Byte 0 of the register: a bus of four bits.
            let status = SdStatus::parse(&format!("80{}", "00".repeat(63))).unwrap();
            let status = SdStatus { allocation_unit: mib(own), uhs_allocation_unit: mib(uhs), ..status };
            let card = Card {
                kind: None,
                manufacturer_id: None,
                maker: None,
                date: None,
                preferred_erase: mib(preferred),
                identification: None,
                specific_data: None,
                configuration: None,
                status: Some(status),
                bus_mode: None,
                life_used: None,
                reserve: None,
                has_command_queue: None,
            };
            card.allocation_unit()
        };
        assert_eq!(unit(Some(4), Some(16), Some(8)), Some(Bytes::mib(4)));
        assert_eq!(unit(None, Some(16), Some(8)), Some(Bytes::mib(16)));
        assert_eq!(unit(None, None, Some(8)), Some(Bytes::mib(8)));
        assert_eq!(unit(None, None, None), None);
    }
}
