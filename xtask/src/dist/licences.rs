//! The licences of the crates that are linked into the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;

use crate::process;

/// How the names of licence files begin, in capitals.
const FILES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// What cargo reports about the crates of a build.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    /// Where the crate comes from; none for those of this tree.
    source: Option<String>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

/// A kind of dependency; none for a normal one.
#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Package {
    /// A crate that runs in the compiler is no part of the program.
    fn is_macro(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
    }

    /// The texts of its licence files, ordered by name.
    fn texts(&self) -> anyhow::Result<Vec<String>> {
        let folder = self.manifest_path.parent().unwrap_or(Path::new("."));
        let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        let mut files: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        files.retain(|path| {
            path.is_file() && path.file_name().is_some_and(|name| is_licence(&name.to_string_lossy()))
        });
        files.sort();
        files
            .iter()
            .map(|path| fs::read_to_string(path).with_context(|| path.display().to_string()))
            .collect()
    }
}

fn is_licence(name: &str) -> bool {
    let name = name.to_uppercase();
    FILES.iter().any(|start| name.starts_with(start))
}

/// One text: the crates linked for `target` with their licences, then each licence text once.
///
/// Fails if cargo cannot tell the crates, or if a crate names no licence.
pub fn of_linked_crates(target: &str) -> anyhow::Result<String> {
    let mut cargo = process::cargo();
    cargo.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", target]);
    let metadata: Metadata = serde_json::from_str(&process::output(&mut cargo)?)?;
    text(&linked(&metadata, "flashscope")?)
}

/// The foreign crates that are linked into the program of `package`, by name.
fn linked<'a>(metadata: &'a Metadata, package: &str) -> anyhow::Result<Vec<&'a Package>> {
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let nodes: BTreeMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let root =
        metadata.packages.iter().find(|each| each.name == package).context("cargo knows no package")?;
    let (mut seen, mut left) = (BTreeSet::new(), vec![root.id.as_str()]);
    let mut linked = Vec::new();
    while let Some(id) = left.pop() {
        let package = packages.get(id).with_context(|| format!("cargo does not describe {id}"))?;
        if package.is_macro() || !seen.insert(id) {
            continue;
        }
        if package.source.is_some() {
            linked.push(*package);
        }
        let node = nodes.get(id).with_context(|| format!("cargo does not tell what {id} needs"))?;
        let normal = |dependency: &&Dependency| dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
        left.extend(node.deps.iter().filter(normal).map(|dependency| dependency.pkg.as_str()));
    }
    linked.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(linked)
}

fn text(crates: &[&Package]) -> anyhow::Result<String> {
    let mut list = String::from(
        "flashscope contains these crates, and the standard library of Rust (MIT or Apache-2.0).\n\
         The texts of their licences follow, each with the crates that bring it.\n\n",
    );
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for each in crates {
        let title = format!("{} {}", each.name, each.version);
        let licence = each.license.as_deref().with_context(|| format!("{title} names no licence"))?;
        let own = each.texts()?;
        let lack = if own.is_empty() { "; its package holds no text" } else { "" };
        list += &format!("{title}: {licence}{lack}\n");
        for text in own {
            let text = text.replace("\r\n", "\n").trim().to_owned();
            texts.entry(text).or_default().push(title.clone());
        }
    }
    let mut texts: Vec<(String, Vec<String>)> =
        texts.into_iter().map(|(text, titles)| (titles.join(", "), vec![text])).collect();
    texts.sort();
    for (titles, text) in texts {
        list += &format!("\n{}\n{titles}\n\n{}\n", "-".repeat(80), text.concat());
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program, a library of this tree, a foreign crate with a macro and a build script's crate.
    fn metadata(folder: &Path) -> Metadata {
        let package = |name: &str, source: Option<&str>, kind: &str| {
            fs::create_dir_all(folder.join(name)).unwrap();
            serde_json::json!({
                "id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": source,
                "manifest_path": folder.join(name).join("Cargo.toml"), "targets": [{"kind": [kind]}],
            })
        };
        let node = |name: &str, needs: &[(&str, Option<&str>)]| {
            let deps: Vec<_> = needs
                .iter()
                .map(|(name, kind)| serde_json::json!({"pkg": name, "dep_kinds": [{"kind": kind}]}))
                .collect();
            serde_json::json!({"id": name, "deps": deps})
        };
        let registry = Some("registry");
        serde_json::from_value(serde_json::json!({
            "packages": [
                package("flashscope", None, "bin"), package("own", None, "lib"),
                package("foreign", registry, "lib"), package("other", registry, "lib"),
                package("derive", registry, "proc-macro"), package("script", registry, "lib"),
                package("test", registry, "lib"),
            ],
            "resolve": {"nodes": [
                node("flashscope", &[("own", None), ("test", Some("dev"))]),
                node("own", &[("foreign", None), ("script", Some("build"))]),
                node("foreign", &[("derive", None), ("other", None)]),
                node("other", &[]), node("derive", &[("script", None)]), node("script", &[]), node("test", &[]),
            ]},
        }))
        .unwrap()
    }

    #[test]
    fn crates_of_the_compiler_and_of_tests_are_not_linked() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = metadata(folder.path());
        let names: Vec<&str> =
            linked(&metadata, "flashscope").unwrap().iter().map(|each| each.name.as_str()).collect();
        assert_eq!(names, ["foreign", "other"]);
    }

    #[test]
    fn text_that_two_crates_share_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = metadata(folder.path());
        fs::write(folder.path().join("foreign/LICENSE-MIT"), "Permission is granted\r\n").unwrap();
        fs::write(folder.path().join("foreign/README"), "not a licence\n").unwrap();
        fs::write(folder.path().join("other/license.txt"), "Permission is granted\n").unwrap();
        let written = text(&linked(&metadata, "flashscope").unwrap()).unwrap();
        assert_eq!(written.matches("Permission is granted").count(), 1, "{written}");
        assert!(written.contains("\nforeign 1.0.0, other 1.0.0\n\nPermission is granted\n"), "{written}");
        assert!(!written.contains("not a licence"), "{written}");
        fs::remove_file(folder.path().join("other/license.txt")).unwrap();
        let written = text(&linked(&metadata, "flashscope").unwrap()).unwrap();
        assert!(written.contains("other 1.0.0: MIT; its package holds no text\n"), "{written}");
    }
}
