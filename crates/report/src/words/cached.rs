//! Why a measured speed cannot be the device's, in words.

use flashscope_record::finding::Cached;

/// One clause, to follow "is cached, for".
#[must_use]
pub fn cached(cached: &Cached) -> String {
    match cached {
        Cached::Link { name, bytes_per_s } => {
            format!("{name} carries no more than {} MB/s", bytes_per_s.get() / 1_000_000)
        }
        Cached::PageCache => "the requests went through the page cache, which reads ahead".to_owned(),
        Cached::FasterThanFlash { request, flash_s, is_blank } => format!(
            "no flash reads {request} at a random offset in less than {:.0} us{}",
            flash_s * 1e6,
            if *is_blank { "; the device is blank there, so that no flash was read" } else { "" }
        ),
        Cached::NotKept { lost, checked } => format!(
            "{lost} of {checked} offsets returned other data than was written, as on a counterfeit that reports more capacity than \
             it has"
        ),
        Cached::InMemory { share } => {
            format!("{:.0} % of the pages were still in memory", share * 100.0)
        }
        Cached::PartlyRead { carried, bytes } => {
            format!("only {carried} of {bytes} came from the device")
        }
    }
}
