//! Which crate of the workspace may depend on which. A crate exists because something must not be reachable
//! from it.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::Deserialize;

use super::files::Files;
use super::violation::Violation;

/// Every crate, and the crates of the workspace that its product code may use. Tests may use others. `device`
/// also holds the units, so data crates may use it; only measure takes a `Device`.
const ALLOWED: [(&str, &[&str]); 16] = [
    ("device", &[]),
    ("sim", &["device"]),
    ("record", &["device"]),
    ("layout", &["device", "record"]),
    ("linux", &["device", "record", "layout"]),
    ("infer", &["device", "record"]),
    ("measure", &["device", "record", "infer"]),
    ("flashbench", &["device", "record", "infer", "measure"]),
    ("recording", &["device", "record"]),
    ("twin", &["device", "sim", "record", "infer", "measure", "flashbench", "recording"]),
    ("report", &["device", "record", "infer", "layout"]),
    ("store", &["record"]),
    ("zoo", &["device", "sim"]),
    ("fuzz", &["device", "sim", "layout", "linux", "record", "recording", "flashbench"]),
    (
        "flashscope",
        &[
            "device",
            "sim",
            "linux",
            "record",
            "infer",
            "measure",
            "flashbench",
            "twin",
            "layout",
            "recording",
            "report",
            "store",
        ],
    ),
    (
        "xtask",
        &[
            "device",
            "sim",
            "linux",
            "record",
            "infer",
            "measure",
            "flashbench",
            "twin",
            "layout",
            "recording",
            "report",
            "fuzz",
            "zoo",
        ],
    ),
];

#[derive(Debug, Deserialize)]
struct Manifest {
    #[serde(default)]
    dependencies: BTreeMap<String, toml::Value>,
}

/// Every dependency that the table does not allow, and every crate that it does not know.
pub fn check(files: &Files) -> anyhow::Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for folder in files.crates() {
        let path = format!("{folder}/Cargo.toml");
        let name = folder.rsplit('/').next().unwrap_or(folder);
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            let message = format!("unknown crate '{name}': add it to ALLOWED in xtask/src/tidy/crates.rs");
            violations.push(Violation::new(&path, 0, message));
            continue;
        };
        let manifest: Manifest = toml::from_str(files.text(&path)).with_context(|| path.clone())?;
        let used = manifest.dependencies.keys().filter_map(|key| key.strip_prefix("flashscope-"));
        let refused = used.filter(|used| !allowed.contains(used));
        violations
            .extend(refused.map(|used| Violation::new(&path, 0, format!("{name} may not depend on {used}"))));
    }
    Ok(violations)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(folder: &str, manifest: &str) -> Vec<String> {
        let files = Files::of([(format!("{folder}/Cargo.toml").as_str(), manifest)]);
        check(&files).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_dependency_that_runs_up_is_reported() {
        let manifest =
            "[dependencies]\nflashscope-record.workspace = true\nflashscope-linux.workspace = true\n";
        assert_eq!(
            found("crates/report", manifest),
            ["crates/report/Cargo.toml: report may not depend on linux"]
        );
    }

    #[test]
    fn allowed_and_test_dependencies_are_not_reported() {
        let manifest = "[dependencies]\nserde = \"1\"\nflashscope-device.workspace = true\n\n[dev-dependencies]\nflashscope-sim.workspace = true\n";
        assert!(found("crates/measure", manifest).is_empty());
    }

    #[test]
    fn an_unknown_crate_is_reported_with_what_to_do() {
        assert!(found("crates/new", "")[0].contains("add it to ALLOWED"));
    }

    #[test]
    fn the_table_has_no_cycle_and_names_only_its_own_crates() {
        for (index, (name, allowed)) in ALLOWED.iter().enumerate() {
            for used in *allowed {
                let position = ALLOWED.iter().position(|(known, _)| known == used);
                let is_lower = position.is_some_and(|position| position < index);
                assert!(is_lower, "{name} uses {used}");
            }
        }
    }
}
