//! Guards in the layers around every device, and in journals.

use super::Mutant;

/// The layers around every device.
const LAYERS: &[&str] = &["--package", "flashscope-device", "--test", "device", "layers"];
/// Journals of original data, on devices in memory.
const JOURNAL: &[&str] = &["--package", "flashscope-device", "--test", "device", "journal"];

const RESTORE: &str = "crates/device/src/layer/journal/restore.rs";
const RECOGNISE: &str = "crates/device/src/layer/journal/recognise.rs";

/// The guards.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "the layer for reading passes writes",
        file: "crates/device/src/layer/read_only.rs",
        from: "if !op.modifies() {",
        to: "if true || !op.modifies() {",
        test: LAYERS,
    },
    Mutant {
        name: "the fence passes every request",
        file: "crates/device/src/layer/fence.rs",
        from: "op.range().is_none_or(|range| self.fence.contains(range))",
        to: "op.range().is_none_or(|range| self.fence.overlaps(range))",
        test: LAYERS,
    },
    Mutant {
        name: "a part of a device passes requests beyond it",
        file: "crates/device/src/layer/window.rs",
        from: "if !whole.contains(*range) {",
        to: "if false {",
        test: &["--package", "flashscope-device", "--lib", "window"],
    },
    Mutant {
        name: "a clipped device passes requests beyond its end",
        file: "crates/device/src/layer/clip.rs",
        from: "range.end() <= self.capacity)",
        to: "range.offset <= self.capacity)",
        test: LAYERS,
    },
    Mutant {
        name: "a range is overwritten before its data is saved",
        file: "crates/device/src/layer/journal/journaled.rs",
        from: "if self.save_before(&op)? {",
        to: "if true || self.save_before(&op)? {",
        test: JOURNAL,
    },
    Mutant {
        name: "a range is overwritten that could not be saved",
        file: "crates/device/src/layer/journal/journaled.rs",
        from: "Err(JournalError::Request(_)) => Ok(false),",
        to: "Err(JournalError::Request(_)) => Ok(true),",
        test: JOURNAL,
    },
    Mutant {
        name: "a range is overwritten before its saved data is durable",
        file: "crates/device/src/layer/journal/journaled.rs",
        from: "            self.store.make_durable()?;\n            self.records",
        to: "            self.records",
        test: JOURNAL,
    },
    Mutant {
        name: "data that was put back is not compared",
        file: RESTORE,
        from: "Ok(found) if found == original => {}",
        to: "Ok(_) => {}",
        test: JOURNAL,
    },
    Mutant {
        name: "data that is not back counts as restored",
        file: RESTORE,
        from: "if let Some(first) = left.first() {",
        to: "if let Some(first) = left.first().filter(|_| false) {",
        test: JOURNAL,
    },
    Mutant {
        name: "what differs although it was not changed is not put back",
        file: RESTORE,
        from: "if !different.is_empty() {",
        to: "if false {",
        test: JOURNAL,
    },
    Mutant {
        name: "what a shared block held first is not put back last",
        file: RESTORE,
        from: "Sequence::LastSavedFirst => contents.originals_backward(store, &mut write)?,",
        to: "Sequence::LastSavedFirst => contents.originals(store, &mut write)?,",
        test: JOURNAL,
    },
    Mutant {
        name: "every place that differs counts as one that shares its block",
        file: "crates/device/src/layer/journal/shared_blocks.rs",
        from: "if !is_there {",
        to: "if false {",
        test: JOURNAL,
    },
    Mutant {
        name: "a journal restores a medium of another size",
        file: RECOGNISE,
        from: "if found.capacity != expected.capacity {",
        to: "if false {",
        test: JOURNAL,
    },
    Mutant {
        name: "a journal restores a medium with another serial number",
        file: RECOGNISE,
        from: "let is_identical = (&found.model, &found.serial) == (&expected.model, &expected.serial);",
        to: "let is_identical = found.model == expected.model;",
        test: JOURNAL,
    },
    Mutant {
        name: "a journal restores a medium that was written since",
        file: RECOGNISE,
        from: "self.is_identical && self.changed.is_empty() &&",
        to: "self.is_identical &&",
        test: JOURNAL,
    },
    Mutant {
        name: "a journal restores a medium that nothing shows",
        file: RECOGNISE,
        from: " && (self.has_serial || self.compared > 0)",
        to: "",
        test: JOURNAL,
    },
];
