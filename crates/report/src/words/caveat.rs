//! What may make a finding wrong, in words.

use flashscope_record::finding::Caveat;

use super::reason::likely_sizes;

/// One sentence without its full stop.
#[must_use]
pub fn caveat(caveat: &Caveat) -> String {
    let text = match caveat {
        Caveat::AssumedEraseBlock { assumed, found: None } => {
            return format!("measured with an assumed erase block of {assumed}");
        }
        Caveat::AssumedEraseBlock { assumed, found: Some(found) } => {
            return format!("measured with an erase block of {assumed}, not the {found} found here");
        }
        Caveat::ReadsSuggest(size) => return format!("reads suggest {size}"),
        Caveat::LessLikely(sizes) => {
            let sizes = sizes.iter().map(|(size, probability)| (*size, Some(*probability)));
            return format!("less likely: {}", likely_sizes(sizes).join(", "));
        }
        Caveat::MayBeMemory => {
            "memory in the controller of this size would look the same (measure write-buffer)"
        }
        Caveat::OtherWritesCounted(bytes) => {
            return format!("{bytes} that the same run wrote besides the stream are counted");
        }
        Caveat::CacheMayBePartlyUsed => "earlier writes may have used up a part of the cache",
        Caveat::PageFromReads => "from reads alone; writes may work in a multiple of it",
        Caveat::MeansHideMerges => "from means, which hide single merges",
        Caveat::WholeBlocksOnly => "known to whole erase blocks only",
        Caveat::LogLooksTheSame => "with one open block, a log looks the same",
    };
    text.to_owned()
}
