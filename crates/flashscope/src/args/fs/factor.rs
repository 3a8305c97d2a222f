//! The factors of `fs compare --factors`.

/// A factor of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactorChoice {
    /// The start of the filesystem: sector 63, or an erase block.
    Alignment,
    /// The options that name the erase block: none, or those of `NAME-stripe`.
    Stripe,
    /// The filesystem.
    Filesystem {
        /// The one to compare with.
        from: String,
        /// The other one.
        to: String,
    },
}

/// A factor as it is typed: `alignment`, `stripe`, `filesystem` or `filesystem=vfat:ext4`.
pub fn factor(text: &str) -> Result<FactorChoice, String> {
    let needed = || {
        "alignment, stripe, filesystem, or two filesystems such as filesystem=vfat:ext4 are needed".to_owned()
    };
    match text.split_once('=') {
        None if text == "alignment" => Ok(FactorChoice::Alignment),
        None if text == "stripe" => Ok(FactorChoice::Stripe),
        None if text == "filesystem" => {
            Ok(FactorChoice::Filesystem { from: "vfat".to_owned(), to: "ext4".to_owned() })
        }
        Some(("filesystem", pair)) => {
            let (from, to) = pair.split_once(':').ok_or_else(needed)?;
            let is_pair = !from.is_empty() && !to.is_empty() && from != to;
            let filesystems = || FactorChoice::Filesystem { from: from.to_owned(), to: to.to_owned() };
            is_pair.then(filesystems).ok_or_else(needed)
        }
        _ => Err(needed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_filesystems_has_two_names() {
        let pair = FactorChoice::Filesystem { from: "ext2".to_owned(), to: "f2fs".to_owned() };
        assert_eq!(factor("filesystem=ext2:f2fs"), Ok(pair));
        for wrong in
            ["filesystem=", "filesystem=a", "filesystem=a:", "filesystem=a:a", "stripe=a:b", "size", ""]
        {
            assert!(factor(wrong).is_err(), "{wrong}");
        }
    }
}
