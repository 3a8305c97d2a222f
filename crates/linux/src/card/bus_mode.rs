//! The bus mode of a card: the file `ios` of debugfs, which only root may read.

use crate::sysfs::Node;

/// The current mode of the bus between host and card.
#[derive(Debug, Clone, PartialEq)]
pub struct BusMode {
    /// The kernel's name of the mode, e.g. `sd uhs SDR104`.
    pub name: String,
    /// The clock, MHz.
    pub clock_mhz: f64,
    /// The number of data lines in use.
    pub lines: u32,
}

impl BusMode {
    /// Reads the mode from the debugfs directory of the card's host; `None` where that cannot be read.
    pub fn of(debug: &Node) -> Option<Self> {
        Self::parse(&String::from_utf8_lossy(&debug.bytes("ios")?))
    }

    /// Parses lines such as `clock:  50000000 Hz`, `bus width:  2 (4 bits)`, `timing spec:  2 (sd
    /// high-speed)`.
    fn parse(text: &str) -> Option<Self> {
        let after = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let in_brackets =
            |name: &str| after(name)?.split_once('(')?.1.split_once(')').map(|(inside, _)| inside.trim());
        let number = |text: &str| text.split_whitespace().next()?.parse::<f64>().ok();
        let clock = after("actual clock").or_else(|| after("clock")).and_then(number);
        Some(Self {
            name: crate::printable(in_brackets("timing spec")?),
            clock_mhz: clock? / 1e6,
            lines: in_brackets("bus width")?.split_whitespace().next()?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_text_is_parsed() {
        let text = "clock:\t\t50000000 Hz\nactual clock:\t41666667 Hz\nvdd:\t\t21 (3.3 ~ 3.4 V)\nbus mode:\t2 (push-pull)\n\
                    bus width:\t2 (4 bits)\ntiming spec:\t2 (sd high-speed)\n";
        let mode = BusMode::parse(text).unwrap();
        assert_eq!((mode.name.as_str(), mode.lines), ("sd high-speed", 4));
        assert!((mode.clock_mhz - 41.667).abs() < 0.001);
        assert_eq!(BusMode::parse("clock: fast"), None);
    }
}
