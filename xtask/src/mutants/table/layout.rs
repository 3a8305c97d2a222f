//! Guards of `apply` and `undo`.

use super::Mutant;

/// Plans and undo files, on devices in memory.
const LAYOUT: &[&str] = &["--package", "flashscope-layout", "--test", "layout", "undo"];

const CHECK: &str = "crates/layout/src/apply/check.rs";
const UNDO: &str = "crates/layout/src/apply/undo.rs";

/// Scripts of plans, with stand-ins for all programs.
const SCRIPTS: &[&str] = &["--package", "flashscope-layout", "--test", "layout", "scripts"];
const STEPS: &str = "crates/layout/src/steps.rs";

/// The guards.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "a plan for another size is applied",
        file: CHECK,
        from: "if capabilities.capacity != plan.medium.capacity {",
        to: "if false {",
        test: LAYOUT,
    },
    Mutant {
        name: "a plan for other logical blocks is applied",
        file: CHECK,
        from: "if block != plan.medium.logical_block {",
        to: "if false {",
        test: LAYOUT,
    },
    Mutant {
        name: "partitions may overlap and lie on the table",
        file: CHECK,
        from: "placement.start >= end && ",
        to: "",
        test: LAYOUT,
    },
    Mutant {
        name: "partitions may lie beyond the end",
        file: CHECK,
        from: "if fits && is_whole",
        to: "if is_whole",
        test: LAYOUT,
    },
    Mutant {
        name: "partitions may lie between blocks",
        file: CHECK,
        from: "if fits && is_whole &&",
        to: "if fits &&",
        test: LAYOUT,
    },
    Mutant {
        name: "options of an edited plan reach the tools",
        file: CHECK,
        from: "option::unknown(&placement.options, filesystem.options())",
        to: "option::unknown(&[], filesystem.options())",
        test: LAYOUT,
    },
    Mutant {
        name: "mount options of an edited plan are printed",
        file: CHECK,
        from: "!filesystem.mount_options().contains(&word.as_str())",
        to: "filesystem.mount_options().is_empty() && word.is_empty()",
        test: LAYOUT,
    },
    Mutant {
        name: "the partition type of an edited plan reaches sfdisk",
        file: CHECK,
        from: "if partition.type_code != filesystem.type_code(placement, table) {",
        to: "if partition.type_code.is_empty() {",
        test: LAYOUT,
    },
    Mutant {
        name: "identifiers of an edited plan reach the tools",
        file: CHECK,
        from: "if !is_identifier(text) {",
        to: "if false && !is_identifier(text) {",
        test: LAYOUT,
    },
    Mutant {
        name: "the table's identifier of an edited plan reaches the tools",
        file: CHECK,
        from: "if !is_identifier(&plan.table.id) {",
        to: "if false && !is_identifier(&plan.table.id) {",
        test: LAYOUT,
    },
    Mutant {
        name: "labels of an edited plan reach the tools",
        file: CHECK,
        from: "    filesystem.check_label(&partition.label).map_err(|error| impossible(error.to_string()))?;\n",
        to: "",
        test: LAYOUT,
    },
    Mutant {
        name: "apply writes before the undo file is durable",
        file: "crates/layout/src/apply/run.rs",
        from: "    undo.make_durable().map_err(UndoError::from)?;\n",
        to: "",
        test: LAYOUT,
    },
    Mutant {
        name: "a damaged undo file is restored",
        file: UNDO,
        from: "if read_number(file, &saved.range().to_string())? != sum.get().checksum {",
        to: r#"if false && read_number(file, "")? != sum.get().checksum {"#,
        test: LAYOUT,
    },
    Mutant {
        name: "undo of a medium of another size",
        file: UNDO,
        from: "if capacity != header.identity.capacity {",
        to: "if false {",
        test: LAYOUT,
    },
    Mutant {
        name: "undo of a medium on which nothing is recognised",
        file: UNDO,
        from: "self.recognised > 0 || (self.was_blank && self.fingerprint_changed == 0)",
        to: "self.recognised > 0 || self.was_blank || self.fingerprint_changed > 0",
        test: LAYOUT,
    },
    Mutant {
        name: "a plan reaches beyond the true size",
        file: "crates/layout/src/medium.rs",
        from: "self.true_size.map_or(self.capacity, |size| size.min(self.capacity))",
        to: "self.capacity",
        test: LAYOUT,
    },
    Mutant {
        name: "a GPT ends beyond the true size",
        file: CHECK,
        from: "if !is_true || plan.medium.true_size.is_some() && plan.table.kind != TableKind::Mbr {",
        to: "if !is_true {",
        test: LAYOUT,
    },
    Mutant {
        name: "a script writes where lsblk fails",
        file: STEPS,
        from: r#" || fail "lsblk cannot tell whether it is mounted""#,
        to: " || true",
        test: SCRIPTS,
    },
];
