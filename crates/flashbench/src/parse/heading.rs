//! Headings that scripts print between tables: `AU=3, linear access`, `======= find FAT: 1 =======`.

use flashscope_device::Bytes;

use flashscope_record::observation::Order;

use crate::parse::options::number;
use crate::parse::stated::{Stated, TableKind};

/// What a line is, if it is no row and no command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Heading {
    /// It states parameters of the tables that follow.
    Parameters(Stated),
    /// It begins a section about something else.
    OtherSection,
}

/// Reads a heading; `None` if the line is none.
pub(super) fn read(text: &str) -> Option<Heading> {
    let mut stated = parameters(text)?;
    stated.text = text.trim_matches(['=', ' ']).to_owned();
    let empty = Stated { text: stated.text.clone(), ..Stated::default() };
    if stated != empty {
        return Some(Heading::Parameters(stated));
    }
    text.trim_start().starts_with("===").then_some(Heading::OtherSection)
}

fn parameters(text: &str) -> Option<Stated> {
    if is_olpc_wrapper(text) {
        return Some(olpc_wrapper());
    }
    let lower = text.to_ascii_lowercase();
    let title = lower.trim_matches(['=', ' ', '#']);
    let kind = kind_of(title);
    if kind.is_none() && !text.trim_start().starts_with("===") {
        return None;
    }
    Some(Stated {
        kind,
        order: order_of(title).filter(|_| kind.is_some() || title.ends_with("access")),
        open_units: value_of(title, "au")
            .and_then(|units| u32::try_from(units).ok())
            .filter(|&units| units > 0),
        block: kind.and_then(|_| value_of(title, "blocksize")).filter(|&size| size > 0).map(Bytes::new),
        erase_block: kind.and_then(|_| value_of(title, "erasesize")).filter(|&size| size > 0).map(Bytes::new),
        ..Stated::default()
    })
}

fn kind_of(title: &str) -> Option<TableKind> {
    if value_of(title, "au").is_some() {
        return Some(TableKind::OpenUnits);
    }
    let begins = |words: &[&str]| words.iter().any(|word| title.starts_with(word));
    if begins(&["align test"]) {
        Some(TableKind::Align)
    } else if begins(&["find fat", "find-fat", "findfat"]) {
        Some(TableKind::FindFat)
    } else {
        None
    }
}

fn order_of(title: &str) -> Option<Order> {
    match (title.contains("random"), title.contains("linear")) {
        (true, false) => Some(Order::Random),
        (false, true) => Some(Order::Linear),
        _ => None,
    }
}

/// The number after `key=` or `key =`, where the key is a whole word.
fn value_of(title: &str, key: &str) -> Option<u64> {
    title.match_indices(key).find_map(|(at, _)| {
        let free = !title[..at].ends_with(|c: char| c.is_alphanumeric());
        let value = title[at + key.len()..].trim_start().strip_prefix('=')?.trim_start();
        let digits = value.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
        number(digits).filter(|_| free)
    })
}

/// The line that the run_test.sh wrapper of the OLPC project prints before its only command
/// (wiki.laptop.org/go/SDCard_Testing).
fn is_olpc_wrapper(text: &str) -> bool {
    text.trim() == "Running flashbench"
}

/// That command: `--open-au --open-au-nr=5 --random --blocksize=4096`, the erase size being the card's own
/// claim.
fn olpc_wrapper() -> Stated {
    Stated {
        kind: Some(TableKind::OpenUnits),
        open_units: Some(5),
        order: Some(Order::Random),
        block: Some(Bytes::kib(4)),
        ..Stated::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(text: &str) -> Stated {
        match read(text) {
            Some(Heading::Parameters(stated)) => stated,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn headings_of_published_scripts_are_read() {
        let linear = stated("AU=3, linear access");
        assert_eq!(
            (linear.kind, linear.open_units, linear.order),
            (Some(TableKind::OpenUnits), Some(3), Some(Order::Linear))
        );
        let random = stated("======= AU=6, random access =======");
        assert_eq!((random.open_units, random.order), (Some(6), Some(Order::Random)));
        assert_eq!(stated("======= find FAT: 1 =======").kind, Some(TableKind::FindFat));
        assert_eq!(stated("======= Align test: 2 =======").kind, Some(TableKind::Align));
        let loop_script = stated("BLOCKSIZE = 1024 ERASESIZE = 2097152 AU = 4");
        assert_eq!((loop_script.block, loop_script.erase_block), (Some(Bytes::kib(1)), Some(Bytes::mib(2))));
    }

    #[test]
    fn other_sections_and_prose_are_distinguished() {
        assert_eq!(
            read("============== Linear write speed (dd, 4M block) ============"),
            Some(Heading::OtherSection)
        );
        assert_eq!(stated("============== Random access============").order, Some(Order::Random));
        for prose in ["six erase blocks is still fine", "align 4096 pre 1ms", "beau=3", "random thoughts", ""]
        {
            assert_eq!(read(prose), None, "{prose}");
        }
    }
}
