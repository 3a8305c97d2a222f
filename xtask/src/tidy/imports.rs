//! Which file of a crate imports which, outside tests.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::files::{File, Files};
use super::lexer::{line_of, product_code};
use super::paths::{self, UsedPath};

/// How many re-exports a name is followed through. Longer chains do not occur.
const REEXPORTS_MAX: usize = 8;

/// One import: file `to` is imported by file `from` on `line`. Files are indices of the crate's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    pub from: usize,
    pub to: usize,
    pub line: usize,
}

/// The files of one crate, and their imports of one another.
#[derive(Debug)]
pub struct Crate<'a> {
    pub files: Vec<&'a File>,
    /// The first import of each pair of files.
    pub imports: Vec<Import>,
    modules: Vec<Vec<String>>,
}

impl<'a> Crate<'a> {
    /// The crate in this folder.
    pub fn new(files: &'a Files, folder: &str) -> Self {
        let source = format!("{folder}/src/");
        let is_product = |file: &&File| file.path.starts_with(&source) && !file.is_test();
        let files: Vec<&File> = files.rust().filter(is_product).collect();
        let modules = files.iter().map(|file| module_of(&file.path[source.len()..])).collect();
        let mut this = Self { files, imports: Vec::new(), modules };
        this.imports = Resolver::new(&this).imports();
        this
    }

    /// The top-level module of a file; `None` for the root.
    pub fn top_module(&self, file: usize) -> Option<&str> {
        self.modules[file].first().map(String::as_str)
    }
}

/// The module of a file, from its path below `src/`.
fn module_of(path: &str) -> Vec<String> {
    let mut module: Vec<String> = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| last == "mod") || ["lib", "main"].contains(&module.join("/").as_str())
    {
        module.pop();
    }
    module
}

struct Resolver<'a> {
    of: &'a Crate<'a>,
    /// The file of each module.
    by_module: HashMap<&'a [String], usize>,
    code: Vec<String>,
    used: Vec<Vec<UsedPath>>,
}

impl<'a> Resolver<'a> {
    fn new(of: &'a Crate<'a>) -> Self {
        let by_module =
            of.modules.iter().enumerate().map(|(file, module)| (module.as_slice(), file)).collect();
        let code: Vec<String> =
            of.files.iter().map(|file| product_code(&file.text, &file.segments)).collect();
        let used = code.iter().map(|code| paths::used(code)).collect();
        Self { of, by_module, code, used }
    }

    fn imports(&self) -> Vec<Import> {
        let mut imports = BTreeMap::new();
        for (from, used) in self.used.iter().enumerate() {
            for path in used.iter().filter(|path| !self.is_listing(from, path)) {
                let Some(to) = self.resolve(&self.of.modules[from], &path.segments, 0) else { continue };
                if to != from {
                    let line = line_of(&self.code[from], path.position);
                    imports.entry((from, to)).or_insert(Import { from, to, line });
                }
            }
        }
        imports.into_values().collect()
    }

    /// Whether a path is a re-export of `mod.rs` or `lib.rs`, which lists what others may import.
    fn is_listing(&self, file: usize, path: &UsedPath) -> bool {
        let name = self.of.files[file].path.rsplit('/').next().unwrap_or_default();
        path.is_public && ["mod.rs", "lib.rs"].contains(&name)
    }

    /// The file that defines what `segments` name inside `module`; `None` outside this crate.
    fn resolve(&self, module: &[String], segments: &[String], depth: usize) -> Option<usize> {
        let (mut current, rest) = self.base(module, segments)?;
        for (index, name) in rest.iter().enumerate() {
            let child = [current.as_slice(), std::slice::from_ref(name)].concat();
            if self.by_module.contains_key(child.as_slice()) {
                current = child;
                continue;
            }
            let file = *self.by_module.get(current.as_slice())?;
            let is_last = index + 1 == rest.len();
            let found = if depth < REEXPORTS_MAX { self.reexported(file, name, depth) } else { None };
            return found.or((is_last || name != "*").then_some(file));
        }
        self.by_module.get(current.as_slice()).copied()
    }

    /// The module that a path starts from, and the rest of the path.
    fn base<'b>(&self, module: &[String], segments: &'b [String]) -> Option<(Vec<String>, &'b [String])> {
        let mut current = module.to_vec();
        let mut rest = segments;
        match rest.first()?.as_str() {
            "crate" => (current, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    current.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                let child = [module, &[first.to_owned()]].concat();
                self.by_module.get(child.as_slice())?;
            }
        }
        Some((current, rest))
    }

    /// The file that a module's own imports bring a name from.
    fn reexported(&self, file: usize, name: &str, depth: usize) -> Option<usize> {
        let module = &self.of.modules[file];
        let named = self.used[file].iter().find(|path| path.alias == name && name != "*");
        if let Some(path) = named {
            return self.resolve(module, &path.segments, depth + 1);
        }
        let globs = self.used[file].iter().filter(|path| path.alias == "*");
        let targets = globs.filter_map(|path| self.resolve(module, &path.segments, depth + 1));
        let defining: BTreeSet<usize> = targets.filter(|target| self.defines(*target, name)).collect();
        defining.first().copied()
    }

    fn defines(&self, file: usize, name: &str) -> bool {
        let code = &self.code[file];
        let is_whole =
            |at: usize| !code[at + name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let keywords = ["struct ", "enum ", "fn ", "const ", "static ", "trait ", "type ", "mod "];
        code.match_indices(name)
            .any(|(at, _)| is_whole(at) && keywords.iter().any(|keyword| code[..at].ends_with(keyword)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports<const COUNT: usize>(files: [(&str, &str); COUNT]) -> Vec<String> {
        let files = Files::of(files);
        let krate = Crate::new(&files, "crates/a");
        let name = |file: usize| krate.files[file].path["crates/a/src/".len()..].to_owned();
        krate.imports.iter().map(|import| format!("{} {}", name(import.from), name(import.to))).collect()
    }

    #[test]
    fn names_are_followed_through_reexports() {
        let found = imports([
            ("crates/a/src/lib.rs", "mod low;\npub mod high;\npub use low::Low;\n"),
            ("crates/a/src/low.rs", "pub struct Low;\n"),
            ("crates/a/src/high/mod.rs", "mod one;\nmod two;\npub use one::One;\npub use self::two::*;\n"),
            ("crates/a/src/high/one.rs", "use crate::Low;\nuse super::Two;\npub struct One;\n"),
            ("crates/a/src/high/two.rs", "pub struct Two;\nfn f() { crate::high::One }\n"),
        ]);
        assert_eq!(found, ["high/one.rs low.rs", "high/one.rs high/two.rs", "high/two.rs high/one.rs"]);
    }

    #[test]
    fn tests_and_other_crates_are_no_imports() {
        let found = imports([
            ("crates/a/src/lib.rs", "use std::fmt;\nuse serde::Serialize;\nmod b;\n"),
            ("crates/a/src/b.rs", "#[cfg(test)]\nmod tests {\n    use crate::c::C;\n}\n// use crate::c;\n"),
            ("crates/a/src/c.rs", "pub struct C;\n"),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }
}
