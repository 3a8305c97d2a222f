//! Read speeds of memory, page cache and device compared: which of them is the device's.

use flashscope_device::Bytes;
use flashscope_infer::files::comparison::Spread;
use flashscope_infer::streams::speed::exceeds;
use flashscope_record::observation::LinkLimit;

use crate::chart::Table;
use crate::words::Sentence;
use crate::{BenchReport, Style, quantity, terminal};

/// The least ratio between a layer and the device that is explained. Guess: 15 % is above the noise.
const RATIO_MIN: f64 = 1.15;
/// The least share of the bytes read that the device must have transferred. Guess: 2 % for requests at the
/// edges.
const TRANSFERRED_SHARE_MIN: f64 = 0.98;
/// The largest share of the bytes read that may lie in holes of a file. Guess: as much as may be missing
/// above.
const HOLE_SHARE_MAX: f64 = 0.02;

/// A layer of the storage stack that is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageLayer {
    /// The same cached pages, repeatedly.
    Memory,
    /// Sequential reads through the page cache.
    PageCache,
    /// Sequential reads that bypass the page cache.
    Device,
    /// The same with the drive's write cache switched on.
    CacheOn,
    /// The same with the drive's write cache switched off.
    CacheOff,
}

impl StorageLayer {
    /// A stable name.
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

    /// The layer and the command that measures it.
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

/// The read speed of one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerSpeed {
    /// The layer.
    pub layer: StorageLayer,
    /// Bytes per second of each round.
    pub bytes_per_s: Vec<f64>,
    /// The bytes read in all rounds.
    pub bytes: Bytes,
    /// The bytes that the device transferred, where they were counted.
    pub transferred: Option<Bytes>,
    /// The bytes that lie in holes of a file.
    pub holes: Bytes,
    /// The number of blocks whose contents were sampled.
    pub sampled: u32,
    /// The number of sampled blocks that hold one byte value throughout.
    pub blank: u32,
}

impl LayerSpeed {
    /// A layer without a read.
    #[must_use]
    pub const fn none(layer: StorageLayer) -> Self {
        Self {
            layer,
            bytes_per_s: Vec::new(),
            bytes: Bytes::ZERO,
            transferred: None,
            holes: Bytes::ZERO,
            sampled: 0,
            blank: 0,
        }
    }

    /// Median and range over all rounds; `None` without a round.
    #[must_use]
    pub fn spread(&self) -> Option<Spread> {
        Spread::of(self.bytes_per_s.iter().copied())
    }

    /// Why the data did not come from the medium, judged by this layer alone.
    fn not_read(&self) -> Option<String> {
        let transferred = self
            .transferred
            .filter(|transferred| transferred.as_f64() < self.bytes.as_f64() * TRANSFERRED_SHARE_MIN);
        if let Some(transferred) = transferred {
            return Some(format!("only {transferred} of {} came from the device", self.bytes));
        }
        if self.holes.as_f64() > self.bytes.as_f64() * HOLE_SHARE_MAX {
            return Some(format!(
                "{} of the {} read are holes of the file, never written",
                self.holes, self.bytes
            ));
        }
        None
    }
}

/// The read speeds of all layers, and the state of the drive's write cache.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerComparison {
    /// The read speed of each layer.
    pub speeds: Vec<LayerSpeed>,
    /// The highest throughput of the link to the device, if known.
    pub link: Option<LinkLimit>,
    /// The state of the drive's write cache, as text.
    pub write_cache: String,
    /// The storage behind the target.
    pub backing: Backing,
    /// Remarks about how the target was opened.
    pub remarks: Vec<String>,
}

/// The storage behind a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// A device of its own.
    Device,
    /// A file: a filesystem and its disk.
    File,
    /// A file in memory (tmpfs).
    Memory,
}

impl LayerComparison {
    /// Why a layer's speed is not that of the device, if it is not.
    #[must_use]
    pub fn cached(&self, speed: &LayerSpeed) -> Option<String> {
        if speed.layer == StorageLayer::Memory {
            return Some("it is read from memory".to_owned());
        }
        if self.backing == Backing::Memory {
            return Some("the file lies in memory".to_owned());
        }
        speed.not_read().or_else(|| self.impossible(speed.spread()?.median))
    }

    /// Why no device can be this fast, if so.
    fn impossible(&self, bytes_per_s: f64) -> Option<String> {
        if let Some(link) = self.link.as_ref().filter(|link| exceeds(bytes_per_s, link)) {
            let most = quantity::speed(link.bytes_per_s.as_f64());
            return Some(format!("{} carries no more than {most}", link.name));
        }
        let memory = self.speeds.iter().find(|speed| speed.layer == StorageLayer::Memory)?.spread()?;
        (bytes_per_s * RATIO_MIN >= memory.median).then(|| {
            let memory = quantity::speed(memory.median);
            format!("it is as fast as memory ({memory})")
        })
    }

    /// The speed of the device, if it was measured.
    #[must_use]
    pub fn device(&self) -> Option<Spread> {
        let plain = self.speeds.iter().find(|speed| speed.layer == StorageLayer::Device)?;
        plain.spread().filter(|_| self.cached(plain).is_none())
    }

    /// The device's speed in one sentence.
    #[must_use]
    pub fn headline(&self) -> Sentence {
        let text = match (self.device(), self.backing) {
            (Some(device), Backing::Device) => {
                format!("the device reads {}", quantity::speed(device.median))
            }
            (Some(device), _) => format!(
                "with O_DIRECT this file reads {}: the speed of its filesystem and disk, not of a stick",
                quantity::speed(device.median)
            ),
            (None, _) => "unknown: the data did not come from the device alone".to_owned(),
        };
        Sentence::new(text)
    }

    /// What the other layers' speeds mean.
    #[must_use]
    pub fn reasons(&self) -> Vec<Sentence> {
        let layers = self.speeds.iter().filter_map(|speed| self.explanation(speed));
        let cache = format!("drive write cache: {}", self.write_cache);
        layers.chain(self.partly_blank()).chain([cache]).map(Sentence::new).collect()
    }

    /// A warning where some of the device's speed comes from blank areas.
    fn partly_blank(&self) -> Option<String> {
        let plain = self.speeds.iter().find(|speed| speed.layer == StorageLayer::Device)?;
        (self.device().is_some() && plain.blank > 0).then(|| {
            format!(
                "{} of {} sampled blocks are blank; blank areas may read faster than written ones",
                plain.blank, plain.sampled
            )
        })
    }

    fn explanation(&self, speed: &LayerSpeed) -> Option<String> {
        let (name, median) = (speed.layer.name(), speed.spread()?.median);
        let times = self.device().map(|device| median / device.median);
        if speed.layer == StorageLayer::Memory {
            let times = times
                .map_or_else(String::new, |times| format!(", {} times the device", quantity::ratio(times)));
            return Some(format!(
                "{name}: {} is the kernel's copy speed{times}; it says nothing about the stick",
                quantity::speed(median)
            ));
        }
        if let Some(reason) = self.cached(speed) {
            return Some(format!("{name}: {} is cached ({reason}); not counted", quantity::speed(median)));
        }
        let times = times.filter(|_| speed.layer == StorageLayer::PageCache)?;
        if times > RATIO_MIN {
            Some(format!(
                "{name}: {} times the device alone, because the kernel reads ahead while the program copies",
                quantity::ratio(times)
            ))
        } else if times < 1.0 / RATIO_MIN {
            Some(format!(
                "{name}: the device alone is {} times as fast; read-ahead is too short for it, or copying too slow",
                quantity::ratio(1.0 / times)
            ))
        } else {
            None
        }
    }

    /// The comparison as text, lines at most `width` columns wide.
    #[must_use]
    pub fn text(&self, width: usize, style: Style) -> String {
        let header = ["read from", "speed", "range"].map(str::to_owned).to_vec();
        let rows = self.speeds.iter().filter_map(|speed| self.row(speed)).collect();
        let table = Table { header, rows };
        let remarks = self.remarks.iter().map(Sentence::new).collect();
        let lists = vec![("Why", self.reasons()), ("How it was measured", remarks)];
        let bench = BenchReport { headline: self.headline(), title: "Read speeds", table, lists };
        terminal::bench_text(&bench, width, style)
    }

    fn row(&self, speed: &LayerSpeed) -> Option<Vec<String>> {
        let spread = speed.spread()?;
        let is_cached = speed.layer != StorageLayer::Memory && self.cached(speed).is_some();
        let mark = if is_cached { " (cached)" } else { "" };
        Some(vec![
            speed.layer.name().to_owned(),
            format!("{}{mark}", quantity::speed(spread.median)),
            range(&spread, speed.bytes_per_s.len()),
        ])
    }
}

/// The slowest and the fastest round.
fn range(spread: &Spread, rounds: usize) -> String {
    match rounds {
        0 | 1 => "one round".to_owned(),
        _ => quantity::speed_interval(spread.low, spread.high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(device: f64, transferred_mib: u64) -> LayerComparison {
        let speed = |layer, megabytes: f64, transferred| LayerSpeed {
            layer,
            bytes_per_s: vec![megabytes * 0.9e6, megabytes * 1e6, megabytes * 1.1e6],
            bytes: Bytes::mib(100),
            transferred,
            sampled: 16,
            ..LayerSpeed::none(layer)
        };
        let speeds = vec![
            speed(StorageLayer::Memory, 12_800.0, Some(Bytes::ZERO)),
            speed(StorageLayer::PageCache, 40.0, Some(Bytes::mib(101))),
            speed(StorageLayer::Device, device, Some(Bytes::mib(transferred_mib))),
        ];
        let link = LinkLimit { bytes_per_s: Bytes::new(53_248_000), name: "USB at 480 Mbit/s".to_owned() };
        LayerComparison {
            speeds,
            link: Some(link),
            write_cache: "write through".to_owned(),
            backing: Backing::Device,
            remarks: Vec::new(),
        }
    }

    #[test]
    fn one_round_has_no_range() {
        let mut layers = layers(30.0, 100);
        assert!(layers.text(100, Style::Plain).contains("27.0 to 33.0 MB/s"));
        layers.speeds.iter_mut().for_each(|speed| speed.bytes_per_s.truncate(1));
        let text = layers.text(100, Style::Plain);
        assert_eq!(text.matches("one round").count(), 3, "{text}");
    }

    #[test]
    fn the_headline_is_the_speed_of_the_device() {
        let text = layers(30.0, 100).text(100, Style::Plain);
        assert!(text.starts_with("The device reads 30.0 MB/s."), "{text}");
        let text = text.replace("\n    ", " ");
        for words in ["427 times the device", "1.3 times the device alone", "write through", "12,800 MB/s"] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }

    #[test]
    fn speeds_above_the_link_and_untransferred_bytes_are_cached() {
        for (comparison, words) in
            [(layers(400.0, 100), "480 Mbit/s"), (layers(30.0, 50), "50 MiB of 100 MiB")]
        {
            let text = comparison.text(100, Style::Plain).replace("\n    ", " ");
            assert!(
                text.starts_with("Unknown") && text.contains("(cached)") && text.contains(words),
                "{text}"
            );
        }
    }

    #[test]
    fn a_page_cache_slower_than_the_device_is_explained_and_one_as_fast_is_not() {
        let text = |megabytes| layers(megabytes, 100).text(200, Style::Plain);
        let slower = text(48.0);
        assert!(slower.contains("the device alone is 1.2 times as fast"), "{slower}");
        let alike = text(40.0);
        assert!(!alike.contains("the device alone"), "{alike}");
    }

    #[test]
    fn holes_and_speeds_of_memory_are_not_the_devices_speed() {
        let plain = |change: fn(&mut LayerSpeed)| {
            let mut comparison = LayerComparison { link: None, ..layers(30.0, 100) };
            comparison.speeds[2].transferred = None;
            change(&mut comparison.speeds[2]);
            comparison
        };
        let cases = [
            (plain(|speed| speed.holes = Bytes::mib(60)), "60 MiB of the 100 MiB read are holes"),
            (plain(|speed| speed.bytes_per_s = vec![12_500e6]), "as fast as memory"),
            (plain(|speed| speed.bytes_per_s = vec![45_797e6]), "as fast as memory"),
            (LayerComparison { backing: Backing::Memory, ..plain(|_| ()) }, "the file lies in memory"),
        ];
        for (comparison, words) in cases {
            let text = comparison.text(200, Style::Plain);
            assert!(text.starts_with("Unknown") && text.contains(words), "{words}: {text}");
            assert!(text.contains("(cached)") && comparison.device().is_none(), "{words}: {text}");
        }
        for (blank, words) in
            [(plain(|speed| speed.blank = 3), "3 of 16"), (plain(|speed| speed.blank = 16), "16 of 16")]
        {
            let some = blank.text(200, Style::Plain);
            assert!(
                some.contains("device reads 30.0 MB/s") && some.contains(&format!("{words} sampled blocks")),
                "{some}"
            );
        }
        let few = plain(|speed| speed.holes = Bytes::mib(2));
        assert!(few.device().is_some(), "2 % of what was read may lie in holes");
        assert!(plain(|speed| speed.holes = Bytes::mib(3)).device().is_none());
    }

    #[test]
    fn a_file_is_not_called_a_device_and_its_remarks_are_printed() {
        let remarks = vec!["this is a file: what is measured is its filesystem".to_owned()];
        let comparison = LayerComparison { backing: Backing::File, remarks, ..layers(30.0, 100) };
        let text = comparison.text(200, Style::Plain);
        assert!(text.starts_with("With O_DIRECT this file reads 30.0 MB/s"), "{text}");
        assert!(text.contains("This is a file") && !text.contains("The device reads"), "{text}");
    }
}
