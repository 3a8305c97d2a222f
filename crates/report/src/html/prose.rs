//! Sentences of a page.

use maud::{Markup, html};

use crate::no_break::join_units;

/// `text` with no break inside `8 MiB` or `--option`: browsers break lines after a hyphen.
pub fn prose(text: &str) -> Markup {
    let text = join_units(text);
    html! {
        @for (index, word) in text.split(' ').enumerate() {
            @if index > 0 { " " }
            @if is_option(word) { span class="option" { (word) } } @else { (word) }
        }
    }
}

/// The longest word that is kept on one line: longer ones, from outside, could exceed a phone's width. Guess:
/// 32 bytes.
const OPTION_BYTES_MAX: usize = 32;

fn is_option(word: &str) -> bool {
    word.contains("--") && word.len() <= OPTION_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_do_not_break_and_markup_is_escaped() {
        assert_eq!(
            prose("at 8 MiB (check --erase) <b>").into_string(),
            "at 8\u{a0}MiB (check <span class=\"option\">--erase)</span> &lt;b&gt;"
        );
    }
}
