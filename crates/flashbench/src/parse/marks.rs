//! The marks of web pages (HTML) and of forums (BBCode) in a line: which break it, which are gaps between
//! cells, which stand for nothing.

/// A mark longer than this is none: the text only has a bracket.
const LONGEST: usize = 300;

/// Tags that start a new line.
const BREAKS: [&str; 13] =
    ["br", "p", "div", "tr", "li", "pre", "hr", "table", "blockquote", "h1", "h2", "h3", "h4"];
/// Marks of a table's cells.
const CELLS: [&str; 2] = ["td", "th"];
/// Marks that a reader does not see.
const UNSEEN: [&str; 27] = [
    "a", "b", "body", "code", "color", "em", "font", "head", "html", "i", "img", "ol", "quote", "size",
    "small", "span", "strong", "sub", "sup", "tbody", "thead", "tt", "u", "ul", "url", "samp", "kbd",
];

/// What a mark does to the line it stands in.
enum Mark {
    /// A new line begins.
    Break,
    /// A cell begins.
    Cell,
    /// Nothing that a reader sees.
    Unseen,
}

/// The lines that a line with such marks shows; none of them empty, unless the line shows nothing.
pub(super) fn lines(text: &str) -> Vec<String> {
    if !text.contains(['<', '[']) {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::with_capacity(text.len())];
    let mut rest = text;
    while let Some(at) = rest.find(['<', '[']) {
        push(&mut lines, &rest[..at]);
        let Some((mark, length)) = mark(&rest[at..]) else {
            push(&mut lines, &rest[at..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        match mark {
            Mark::Break => lines.push(String::new()),
            Mark::Cell if lines.last().is_some_and(|line| !line.trim().is_empty()) => push(&mut lines, " | "),
            Mark::Cell | Mark::Unseen => {}
        }
        rest = &rest[at + length..];
    }
    push(&mut lines, rest);
    let shown: Vec<String> = lines.into_iter().filter(|line| !line.trim().is_empty()).collect();
    if shown.is_empty() { vec![String::new()] } else { shown }
}

fn push(lines: &mut [String], text: &str) {
    if let Some(line) = lines.last_mut() {
        line.push_str(text);
    }
}

/// What the mark that `text` begins with does, and the mark's length; `None` for a bracket of another use,
/// such as `<device>` or `$[4*1024]`.
fn mark(text: &str) -> Option<(Mark, usize)> {
    let close = if text.starts_with('<') { '>' } else { ']' };
    let end = text.char_indices().take(LONGEST).find(|(_, c)| *c == close)?.0;
    let inside = &text[1..end];
    let name = inside.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let is_one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let mark = if is_one_of(&BREAKS) {
        Mark::Break
    } else if is_one_of(&CELLS) && !inside.starts_with('/') {
        Mark::Cell
    } else if is_one_of(&CELLS) || is_one_of(&UNSEEN) {
        Mark::Unseen
    } else {
        return None;
    };
    Some((mark, end + 1))
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn tags_break_lines_separate_cells_or_vanish() {
        assert_eq!(lines("4MiB 5M/s<br>2MiB 4M/s<BR />1MiB 3M/s"), ["4MiB 5M/s", "2MiB 4M/s", "1MiB 3M/s"]);
        assert_eq!(lines("<tr><td>4MiB</td><td class=\"x\">5M/s</td></tr>"), ["4MiB | 5M/s"]);
        assert_eq!(lines("<div><span style='a'>543</span>µs</div>"), ["543µs"]);
        assert_eq!(lines("[font=Courier New]diff 686µs[/font]"), ["diff 686µs"]);
        assert_eq!(lines("<br>"), [""]);
    }

    #[test]
    fn other_brackets_are_kept() {
        for text in ["flashbench -a <device>", "-e $[4*1024]", "a < b", "12:01 <bradfa> [123]: x", "pre <5"] {
            assert_eq!(lines(text), [text]);
        }
    }
}
