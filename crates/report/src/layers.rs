//! Memory, page cache and device beside one another: which figure is the stick's.

use flashscope_device::Bytes;
use flashscope_infer::files::comparison::Spread;
use flashscope_infer::streams::speed::exceeds;
use flashscope_record::observation::LinkLimit;

use crate::chart::Table;
use crate::words::Sentence;
use crate::{Style, Tabled, quantity};

/// A layer that gives this many times what the device does is worth a sentence.
const RATIO: f64 = 1.15;
/// Of what was read, the device carries nearly all, or it was not read from there.
const CARRIED_MIN: f64 = 0.98;
/// Holes of a file may be as much of what was read.
const HOLES_MAX: f64 = 0.02;

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The same pages again and again.
    Memory,
    /// In order through the page cache.
    PageCache,
    /// In order past it.
    Device,
    /// The same with the drive's own cache switched on.
    CacheOn,
    /// The same with the drive's own cache switched off.
    CacheOff,
}

impl Kind {
    /// A short name that does not change between versions.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::PageCache => "page_cache",
            Self::Device => "device",
            Self::CacheOn => "device_cache_on",
            Self::CacheOff => "device_cache_off",
        }
    }

    /// As people measure it.
    const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory (hdparm -T)",
            Self::PageCache => "page cache (hdparm -t)",
            Self::Device => "device (O_DIRECT)",
            Self::CacheOn => "device, its cache on (-W1)",
            Self::CacheOff => "device, its cache off (-W0)",
        }
    }
}

/// What reading one layer gave.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerSpeed {
    /// Which.
    pub kind: Kind,
    /// Bytes a second of each round.
    pub bytes_per_s: Vec<f64>,
    /// How much was read in all.
    pub bytes: Bytes,
    /// How much of it the device carried, where that was counted.
    pub carried: Option<Bytes>,
    /// How much of it lies in holes of a file.
    pub holes: Bytes,
    /// At how many places of it somebody looked.
    pub looked: u32,
    /// How many of those hold one byte throughout.
    pub blank: u32,
}

impl LayerSpeed {
    /// A layer that nothing was read from yet.
    #[must_use]
    pub const fn none(kind: Kind) -> Self {
        Self {
            kind,
            bytes_per_s: Vec::new(),
            bytes: Bytes::ZERO,
            carried: None,
            holes: Bytes::ZERO,
            looked: 0,
            blank: 0,
        }
    }

    /// Over all rounds; `None` without one.
    #[must_use]
    pub fn spread(&self) -> Option<Spread> {
        Spread::of(self.bytes_per_s.iter().copied())
    }

    /// Why it was not read off the medium, by what is known of this layer alone.
    fn not_read(&self) -> Option<String> {
        let carried = self.carried.filter(|carried| carried.as_f64() < self.bytes.as_f64() * CARRIED_MIN);
        if let Some(carried) = carried {
            return Some(format!("only {carried} of {} came from the device", self.bytes));
        }
        if self.holes.as_f64() > self.bytes.as_f64() * HOLES_MAX {
            return Some(format!(
                "{} of the {} that were read are holes of the file, where nothing was ever written",
                self.holes, self.bytes
            ));
        }
        None
    }
}

/// What was read, and what is known of the drive's own cache.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    /// Each layer.
    pub speeds: Vec<LayerSpeed>,
    /// The most that the way to the device lets through, if that is known.
    pub link: Option<LinkLimit>,
    /// What the drive says of its own write cache, in words.
    pub write_cache: String,
    /// What lies between the figures and a stick.
    pub below: Below,
    /// What the person should know of how the target was opened.
    pub remarks: Vec<String>,
}

/// What lies below the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// A device of its own.
    Device,
    /// A file: its filesystem, and the disk below that.
    File,
    /// A file in memory: no storage at all.
    Memory,
}

impl Layers {
    /// Why a layer's figure is no speed of the device, where it claims to be one and cannot be.
    #[must_use]
    pub fn cached(&self, speed: &LayerSpeed) -> Option<String> {
        if speed.kind == Kind::Memory {
            return Some("it never leaves memory".to_owned());
        }
        if self.below == Below::Memory {
            return Some("the file lies in memory".to_owned());
        }
        speed.not_read().or_else(|| self.impossible(speed.spread()?.median))
    }

    /// Why nothing that is read off a device arrives so fast.
    fn impossible(&self, bytes_per_s: f64) -> Option<String> {
        if let Some(link) = self.link.as_ref().filter(|link| exceeds(bytes_per_s, link)) {
            let most = quantity::speed(link.bytes_per_s.as_f64());
            return Some(format!("{} carries no more than {most}", link.name));
        }
        let memory = self.speeds.iter().find(|speed| speed.kind == Kind::Memory)?.spread()?;
        (bytes_per_s * RATIO >= memory.median).then(|| {
            let memory = quantity::speed(memory.median);
            format!("it is as fast as reading what lies in memory ({memory}), which no device is")
        })
    }

    /// The speed of the device, if what was measured is one.
    #[must_use]
    pub fn device(&self) -> Option<Spread> {
        let plain = self.speeds.iter().find(|speed| speed.kind == Kind::Device)?;
        plain.spread().filter(|_| self.cached(plain).is_none())
    }

    /// The figure to remember.
    #[must_use]
    pub fn headline(&self) -> Sentence {
        let text = match (self.device(), self.below) {
            (Some(device), Below::Device) => {
                format!("the device itself reads {}", quantity::speed(device.median))
            }
            (Some(device), _) => format!(
                "past the page cache this file reads {}: its filesystem and the disk below, no stick of its own",
                quantity::speed(device.median)
            ),
            (None, _) => "unknown: what was read did not come from the device alone".to_owned(),
        };
        Sentence::new(text)
    }

    /// What the other figures are.
    #[must_use]
    pub fn because(&self) -> Vec<Sentence> {
        let each = self.speeds.iter().filter_map(|speed| self.why(speed));
        let cache = format!("the drive's own write cache: {}", self.write_cache);
        each.chain(self.partly_blank()).chain([cache]).map(Sentence::new).collect()
    }

    /// Where some of what counts was never written, the medium is slower than it seems.
    fn partly_blank(&self) -> Option<String> {
        let plain = self.speeds.iter().find(|speed| speed.kind == Kind::Device)?;
        (self.device().is_some() && plain.blank > 0).then(|| {
            format!(
                "{} of {} places that were looked at are blank: what was never written may be answered faster than what was",
                plain.blank, plain.looked
            )
        })
    }

    fn why(&self, speed: &LayerSpeed) -> Option<String> {
        let (name, median) = (speed.kind.name(), speed.spread()?.median);
        let times = self.device().map(|device| median / device.median);
        if speed.kind == Kind::Memory {
            let times = times
                .map_or_else(String::new, |times| format!(", {} times the device", quantity::ratio(times)));
            return Some(format!(
                "{name}: {} is how fast the kernel copies what it has{times}; it says nothing of the stick",
                quantity::speed(median)
            ));
        }
        if let Some(why) = self.cached(speed) {
            return Some(format!(
                "{name}: {} is cached, for {why}; it counts for nothing",
                quantity::speed(median)
            ));
        }
        let times = times.filter(|_| speed.kind == Kind::PageCache)?;
        if times > RATIO {
            Some(format!(
                "{name}: {} times the device alone, for the kernel asks ahead while the program copies",
                quantity::ratio(times)
            ))
        } else if times < 1.0 / RATIO {
            Some(format!(
                "{name}: the device alone gives {} times as much; reading ahead is too short for it, or copying too slow",
                quantity::ratio(1.0 / times)
            ))
        } else {
            None
        }
    }

    /// All of it as text, lines at most `width` columns wide.
    #[must_use]
    pub fn text(&self, width: usize, style: Style) -> String {
        let header = ["read from", "speed", "between"].map(str::to_owned).to_vec();
        let rows = self.speeds.iter().filter_map(|speed| self.row(speed)).collect();
        let table = Table { header, rows };
        let remarks = self.remarks.iter().map(Sentence::new).collect();
        let lists = vec![("Why", self.because()), ("How", remarks)];
        Tabled { headline: self.headline(), title: "Layers", table, lists }.text(width, style)
    }

    fn row(&self, speed: &LayerSpeed) -> Option<Vec<String>> {
        let spread = speed.spread()?;
        let is_cached = speed.kind != Kind::Memory && self.cached(speed).is_some();
        let mark = if is_cached { " (cached)" } else { "" };
        Some(vec![
            speed.kind.name().to_owned(),
            format!("{}{mark}", quantity::speed(spread.median)),
            between(&spread, speed.bytes_per_s.len()),
        ])
    }
}

/// The slowest and the fastest of so many rounds.
fn between(spread: &Spread, rounds: usize) -> String {
    if rounds < 2 {
        return "one round, no spread".to_owned();
    }
    let [low, high] = quantity::apart(spread.low / 1e6, spread.high / 1e6);
    format!("{low} MB/s and {high} MB/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(device: f64, carried: u64) -> Layers {
        let speed = |kind, megabytes: f64, carried| LayerSpeed {
            kind,
            bytes_per_s: vec![megabytes * 0.9e6, megabytes * 1e6, megabytes * 1.1e6],
            bytes: Bytes::mib(100),
            carried,
            looked: 16,
            ..LayerSpeed::none(kind)
        };
        let speeds = vec![
            speed(Kind::Memory, 12_800.0, Some(Bytes::ZERO)),
            speed(Kind::PageCache, 40.0, Some(Bytes::mib(101))),
            speed(Kind::Device, device, Some(Bytes::mib(carried))),
        ];
        let link = LinkLimit { bytes_per_s: Bytes::new(53_248_000), name: "USB at 480 Mbit/s".to_owned() };
        Layers {
            speeds,
            link: Some(link),
            write_cache: "write through".to_owned(),
            below: Below::Device,
            remarks: Vec::new(),
        }
    }

    #[test]
    fn one_round_has_no_spread() {
        let mut layers = layers(30.0, 100);
        assert!(layers.text(100, Style::Plain).contains("27.0 MB/s and 33.0 MB/s"));
        layers.speeds.iter_mut().for_each(|speed| speed.bytes_per_s.truncate(1));
        let text = layers.text(100, Style::Plain);
        assert_eq!(text.matches("one round, no spread").count(), 3, "{text}");
    }

    #[test]
    fn the_devices_figure_is_the_one_to_remember() {
        let text = layers(30.0, 100).text(100, Style::Plain);
        assert!(text.starts_with("The device itself reads 30.0 MB/s."), "{text}");
        let text = text.replace("\n    ", " ");
        for words in ["427 times the device", "1.3 times the device alone", "write through", "12800 MB/s"] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }

    #[test]
    fn what_the_link_or_the_device_did_not_carry_is_no_speed_of_it() {
        for (told, words) in [(layers(400.0, 100), "480 Mbit/s"), (layers(30.0, 50), "50 MiB of 100 MiB")] {
            let text = told.text(100, Style::Plain).replace("\n    ", " ");
            assert!(
                text.starts_with("Unknown") && text.contains("(cached)") && text.contains(words),
                "{text}"
            );
        }
    }

    #[test]
    fn what_was_never_written_or_comes_as_fast_as_from_memory_is_no_speed_of_the_device() {
        let plain = |change: fn(&mut LayerSpeed)| {
            let mut told = Layers { link: None, ..layers(30.0, 100) };
            told.speeds[2].carried = None;
            change(&mut told.speeds[2]);
            told
        };
        let cases = [
            (plain(|speed| speed.holes = Bytes::mib(60)), "60 MiB of the 100 MiB that were read are holes"),
            (plain(|speed| speed.bytes_per_s = vec![12_500e6]), "as fast as reading what lies in memory"),
            (plain(|speed| speed.bytes_per_s = vec![45_797e6]), "as fast as reading what lies in memory"),
            (Layers { below: Below::Memory, ..plain(|_| ()) }, "the file lies in memory"),
        ];
        for (told, words) in cases {
            let text = told.text(200, Style::Plain);
            assert!(text.starts_with("Unknown") && text.contains(words), "{words}: {text}");
            assert!(text.contains("(cached)") && told.device().is_none(), "{words}: {text}");
        }
        for (blank, words) in
            [(plain(|speed| speed.blank = 3), "3 of 16"), (plain(|speed| speed.blank = 16), "16 of 16")]
        {
            let some = blank.text(200, Style::Plain);
            assert!(
                some.contains("itself reads 30.0 MB/s") && some.contains(&format!("{words} places")),
                "{some}"
            );
        }
    }

    #[test]
    fn a_file_is_not_called_a_device_and_remarks_are_printed() {
        let remarks = vec!["this is a file: what is measured is its filesystem".to_owned()];
        let told = Layers { below: Below::File, remarks, ..layers(30.0, 100) };
        let text = told.text(200, Style::Plain);
        assert!(text.starts_with("Past the page cache this file reads 30.0 MB/s"), "{text}");
        assert!(text.contains("This is a file") && !text.contains("The device itself"), "{text}");
    }
}
