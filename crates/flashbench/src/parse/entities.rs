//! Character references of web pages: `&micro;`, `&#181;`, `&#xb5;`, also encoded several times.

/// The named references that tables and prompts hold, without their marks.
const NAMES: [(&str, &str); 13] = [
    ("micro", "µ"),
    ("mu", "µ"),
    ("gt", ">"),
    ("lt", "<"),
    ("nbsp", " "),
    ("quot", "\""),
    ("apos", "'"),
    ("ndash", "–"),
    ("mdash", "—"),
    ("minus", "−"),
    ("tab", "\t"),
    ("num", "#"),
    ("amp", "&"),
];

/// Text is encoded at most this many times. Seen: two. Guess.
const LAYERS_MAX: usize = 4;
/// A reference is no longer than this, in bytes.
const LONGEST: usize = 12;
/// What is left of `&amp;micro;` where a page decoded a reference without its semicolon, `&micro`.
const HALF_DECODED: &str = "µmicro;";

/// The text without character references.
pub(super) fn decode(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..LAYERS_MAX {
        if !text.contains('&') {
            break;
        }
        let decoded = once(&text);
        if decoded == text {
            break;
        }
        text = decoded;
    }
    if text.contains(HALF_DECODED) { text.replace(HALF_DECODED, "µ") } else { text }
}

fn once(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        match reference(rest) {
            Some((meaning, length)) => {
                decoded.push_str(&meaning);
                rest = &rest[length..];
            }
            None => {
                decoded.push('&');
                rest = &rest[1..];
            }
        }
    }
    decoded + rest
}

/// What the reference at the start of `text` means, and its length.
fn reference(text: &str) -> Option<(String, usize)> {
    let Some(end) = text.bytes().take(LONGEST).position(|byte| byte == b';') else {
        return without_end(text);
    };
    let name = text.get(1..end)?;
    let meaning = match name.strip_prefix('#') {
        Some(number) => character(number)?.to_string(),
        None => {
            let name = name.to_ascii_lowercase();
            match NAMES.iter().find(|(known, _)| *known == name) {
                Some((_, meaning)) => (*meaning).to_owned(),
                None => return without_end(text),
            }
        }
    };
    Some((meaning, end + 1))
}

/// `&micros`: browsers read this old name without its semicolon.
fn without_end(text: &str) -> Option<(String, usize)> {
    const MICRO: &str = "&micro";
    text.starts_with(MICRO).then(|| ("µ".to_owned(), MICRO.len()))
}

fn character(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    char::from_u32(code.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_reference_is_decoded() {
        for text in [
            "9&micro;s",
            "9&#181;s",
            "9&#956;s",
            "9&#xB5;s",
            "9&#x3bc;s",
            "9&mu;s",
            "9&micros",
            "9&amp;micro;s",
            "9&amp;amp;#181;s",
            "9µmicro;s",
            "9&microµmicro;s",
        ] {
            let decoded = decode(text);
            assert!(decoded.starts_with("9µ") || decoded.starts_with("9μ"), "{text}: {decoded}");
            assert!(decoded.ends_with('s') && !decoded.contains(['&', ';']), "{text}: {decoded}");
        }
        assert_eq!(decode("a &lt;b&gt;&nbsp;c &amp; d"), "a <b> c & d");
    }

    #[test]
    fn what_is_no_reference_stays() {
        for text in ["a && b", "x & y;", "&", "&;", "&#;", "&#x110000;", "&unknown;", "&é;µ"] {
            assert_eq!(decode(text), text);
        }
    }
}
