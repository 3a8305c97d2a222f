//! The paths that Rust code uses: in `use` declarations, and inline behind `crate::` and `super::`.

/// A path that code uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedPath {
    /// Its segments: `crate`, `a`, `B`. The last may be `*`.
    pub segments: Vec<String>,
    /// The name by which the file knows it; empty for an inline path.
    pub alias: String,
    /// Whether it is re-exported: `pub use`.
    pub is_public: bool,
    /// In bytes of the code.
    pub position: usize,
}

/// Every path of `code`, which holds no comments and no strings.
pub fn used(code: &str) -> Vec<UsedPath> {
    let mut paths = Vec::new();
    let mut inline = code.to_owned();
    for (start, end) in declarations(code) {
        let is_public = is_public(&code[..start]);
        let tree = &code[start + "use ".len()..end];
        add_tree(tree, &[], &mut |segments, alias| {
            paths.push(UsedPath { segments, alias, is_public, position: start });
        });
        inline.replace_range(start..end, &" ".repeat(end - start));
    }
    paths.extend(inline_paths(&inline));
    paths
}

/// Start and end of each `use` declaration, without its semicolon.
fn declarations(code: &str) -> Vec<(usize, usize)> {
    let starts = code.match_indices("use ").map(|(at, _)| at);
    let begins = |at: &usize| {
        let before = code[..*at].trim_end_matches([' ', '\n']);
        let is_word = code[..*at].ends_with(is_in_name);
        !is_word
            && (before.is_empty() || before.ends_with([';', '{', '}', ')', ']']) || before.ends_with("pub"))
    };
    starts.filter(begins).filter_map(|at| Some((at, at + code[at..].find(';')?))).collect()
}

fn is_public(before: &str) -> bool {
    let before = before.trim_end();
    before.ends_with("pub")
        || before.rsplit_once('(').is_some_and(|(pub_word, rest)| {
            pub_word.ends_with("pub") && rest.ends_with(')') && !rest[..rest.len() - 1].contains(')')
        })
}

/// Calls `add` with the segments and the alias of each path of a `use` tree.
fn add_tree(tree: &str, prefix: &[String], add: &mut impl FnMut(Vec<String>, String)) {
    let tree = tree.trim();
    if let Some((path, list)) = tree.split_once('{') {
        let prefix = [prefix, &segments(path)].concat();
        let list = list.trim_end().strip_suffix('}').unwrap_or(list);
        split_list(list).into_iter().for_each(|item| add_tree(item, &prefix, add));
        return;
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
    let mut path = [prefix, &segments(path)].concat();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let Some(last) = path.last() else { return };
    let alias = alias.map_or_else(|| last.clone(), |alias| alias.trim().to_owned());
    add(path, alias);
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(str::trim).filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

/// The items of a list, split at the commas outside braces.
fn split_list(list: &str) -> Vec<&str> {
    let (mut items, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&list[start..]);
    items.into_iter().filter(|item| !item.trim().is_empty()).collect()
}

/// Paths such as `crate::a::b()` outside `use` declarations.
fn inline_paths(code: &str) -> Vec<UsedPath> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::"].iter().flat_map(|root| code.match_indices(root).map(|(at, _)| at)) {
        let is_inside = code[..start].ends_with(|c: char| is_in_name(c) || c == ':' || c == '$');
        if is_inside {
            continue;
        }
        let path: String = code[start..].chars().take_while(|c| is_in_name(*c) || *c == ':').collect();
        let segments = segments(&path);
        paths.push(UsedPath { segments, alias: String::new(), is_public: false, position: start });
    }
    paths
}

fn is_in_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(code: &str) -> Vec<String> {
        used(code).iter().map(|path| path.segments.join("::")).collect()
    }

    #[test]
    fn nested_declarations_are_expanded() {
        let code = "use crate::a::{self, b::{C, D as E}, f};\npub(crate) use super::*;\nuse std::fmt;\n";
        let expected =
            ["crate::a", "crate::a::b::C", "crate::a::b::D", "crate::a::f", "super::*", "std::fmt"];
        assert_eq!(paths(code), expected);
        let aliases: Vec<(String, bool)> =
            used(code).into_iter().map(|path| (path.alias, path.is_public)).collect();
        assert_eq!(aliases[2], ("E".to_owned(), false));
        assert_eq!(aliases[4], ("*".to_owned(), true));
    }

    #[test]
    fn inline_paths_are_found_and_other_words_are_not() {
        assert_eq!(
            paths("fn f() { crate::a::g(super::H::new()); because::x(); }"),
            ["crate::a::g", "super::H::new"]
        );
        assert_eq!(paths("let reuse = 1; f(reuse );"), Vec::<String>::new());
    }
}
