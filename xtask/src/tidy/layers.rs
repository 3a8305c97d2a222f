//! Inside a crate, imports run down: a module imports only modules that stand before it in its crate's list.

use super::files::Files;
use super::imports::Crate;
use super::violation::Violation;

/// The top-level modules of a crate from bottom to top. A crate without an entry has no declared order yet.
const ORDERS: [(&str, &[&str]); 8] = [
    (
        "crates/device",
        &[
            "units",
            "duration_ns",
            "limit",
            "time",
            "buffer",
            "checksum",
            "consent",
            "file_extent",
            "pattern",
            "request",
            "contract",
            "transfer",
            "memory",
            "trace",
            "layer",
            "host",
        ],
    ),
    (
        "crates/record",
        &[
            "figure",
            "limits",
            "activity",
            "claims",
            "attachment",
            "capacity",
            "full_capacity",
            "measurement",
            "trial",
            "finding_id",
            "would_decide",
            "observation",
            "finding",
            "diagnosis",
            "verdict",
            "run_file",
        ],
    ),
    (
        "crates/layout",
        &[
            "version",
            "purpose",
            "reason",
            "table_kind",
            "ext_version",
            "standard",
            "ids",
            "chs",
            "filesystem",
            "misfit",
            "medium",
            "writeback",
            "plan",
            "planner",
            "steps",
            "head",
            "present",
            "volume",
            "apply",
            "trial",
        ],
    ),
    (
        "crates/linux",
        &[
            "clock",
            "failure",
            "disk_kind",
            "reader_ids",
            "kernel_log",
            "printable",
            "testing",
            "users",
            "remark",
            "roots",
            "large_memory",
            "memory",
            "resident",
            "scratch",
            "extents",
            "scratch_files",
            "loop_backing",
            "sysfs",
            "other_writes",
            "journal",
            "target",
            "udisks",
            "watch",
            "card",
            "geometry",
            "mounts",
            "queue",
            "slot",
            "usb",
            "missing_disk",
            "volume",
            "disk",
            "classify",
            "cache_switch",
            "ring",
            "serve",
            "sync",
            "engine",
            "describe",
            "error",
            "activity",
            "agreed",
            "identify",
            "list",
            "swap",
            "holder",
            "erasable",
            "device",
            "image_file",
            "open",
            "files",
            "host_disk",
            "trial_mount",
            "reopened",
            "layered_target",
            "write_target",
        ],
    ),
    (
        "crates/infer",
        &[
            "statistics",
            "thresholds",
            "sizes",
            "method",
            "slow_classifier",
            "copying",
            "streams",
            "geometry",
            "size_sweep",
            "open_blocks",
            "files",
            "trials",
            "published",
            "sanity",
            "findings",
            "classes",
            "diagnosis",
            "verdict",
            "activity",
        ],
    ),
    (
        "crates/measure",
        &[
            "limits",
            "contract",
            "session",
            "forecast",
            "file_place",
            "capacity",
            "workload",
            "experiment",
            "survey",
            "class_tests",
        ],
    ),
    ("crates/flashbench", &["command", "print", "speeds", "parse", "procedure"]),
    (
        "xtask",
        &[
            "process",
            "output",
            "threads",
            "crash",
            "dist",
            "docs_filesystems",
            "docs",
            "fuzz",
            "lab",
            "tidy",
            "mutants",
            "speed",
            "validate",
            "versus",
            "ci",
        ],
    ),
];

/// Every import of a higher module, and every module that its crate's list lacks.
pub fn check(files: &Files) -> Vec<Violation> {
    ORDERS.iter().flat_map(|(folder, order)| check_crate(&Crate::new(files, folder), order)).collect()
}

fn check_crate(krate: &Crate<'_>, order: &[&str]) -> Vec<Violation> {
    let rank = |file: usize| {
        let module = krate.top_module(file)?;
        order.iter().position(|known| *known == module)
    };
    let upward = krate.imports.iter().filter_map(|import| {
        let is_upward = rank(import.from)? < rank(import.to)?;
        let (from, to) = (krate.top_module(import.from)?, krate.top_module(import.to)?);
        let message = format!("'{from}' is below '{to}' and must not import it");
        is_upward.then(|| Violation::new(&krate.files[import.from].path, import.line, message))
    });
    let unknown = (0..krate.files.len()).filter_map(|file| {
        let module = krate.top_module(file)?;
        let message = format!("module '{module}' has no place in ORDERS of xtask/src/tidy/layers.rs");
        rank(file).is_none().then(|| Violation::new(&krate.files[file].path, 0, message))
    });
    upward.chain(unknown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(low: &str, high: &str) -> Vec<String> {
        let files = Files::of([
            ("crates/x/src/lib.rs", "mod low;\nmod high;\n"),
            ("crates/x/src/low.rs", low),
            ("crates/x/src/high/mod.rs", high),
        ]);
        let violations = check_crate(&Crate::new(&files, "crates/x"), &["low", "high"]);
        violations.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_import_of_a_higher_module_is_reported() {
        let lines = found("\nuse crate::high::High;\n", "");
        assert_eq!(lines, ["crates/x/src/low.rs:2: 'low' is below 'high' and must not import it"]);
    }

    #[test]
    fn an_import_of_a_lower_module_is_not_reported() {
        assert_eq!(found("", "use crate::low::Low;\n"), Vec::<String>::new());
    }

    #[test]
    fn a_module_without_a_place_is_reported() {
        let files = Files::of([("crates/x/src/new.rs", "")]);
        let violations = check_crate(&Crate::new(&files, "crates/x"), &["low"]);
        assert!(violations[0].to_string().contains("no place in ORDERS"));
    }
}
