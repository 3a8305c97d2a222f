//! Options of the tools: which there are, and which values they take. An edited plan can use no others.

/// An option that a placement uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownOption {
    /// The option, e.g. `-b`.
    pub flag: &'static str,
    /// What follows it.
    pub value: OptionValue,
}

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionValue {
    /// Nothing.
    None,
    /// A number, with K for KiB.
    Number,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Words with commas between them: one of these alone, or with `=` and a number.
    Keys(&'static [&'static str]),
}

impl OptionValue {
    fn allows(self, text: &str) -> bool {
        let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        match self {
            Self::None => false,
            Self::Number => is_number(text.strip_suffix('K').unwrap_or(text)),
            Self::OneOf(words) => words.contains(&text),
            Self::Keys(keys) => text.split(',').all(|word| match word.split_once('=') {
                Some((key, number)) => keys.contains(&key) && is_number(number.trim_end_matches('k')),
                None => keys.contains(&word),
            }),
        }
    }
}

/// The first word of `options` that is not known there; `None` if all are.
#[must_use]
pub fn unknown<'a>(options: &'a [String], known: &[KnownOption]) -> Option<&'a str> {
    let mut words = options.iter();
    while let Some(word) = words.next() {
        let Some(option) = known.iter().find(|option| option.flag == word) else { return Some(word) };
        if option.value == OptionValue::None {
            continue;
        }
        match words.next() {
            Some(value) if option.value.allows(value) => {}
            Some(value) => return Some(value),
            None => return Some(word),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_name_files_or_devices_are_unknown() {
        let known = [
            KnownOption { flag: "-l", value: OptionValue::Keys(&["su"]) },
            KnownOption { flag: "-b", value: OptionValue::Number },
            KnownOption { flag: "-a", value: OptionValue::None },
        ];
        let found = |options: &[&str]| {
            let options: Vec<String> = options.iter().map(|word| (*word).to_owned()).collect();
            unknown(&options, &known).map(str::to_owned)
        };
        assert_eq!(found(&["-a", "-b", "4096K", "-l", "su=32k"]), None);
        for bad in ["logdev=dev/loop0", "file=1,name=x", "su=/etc", "su", "su=1,name=2", ""] {
            assert_eq!(found(&["-l", bad]), (bad != "su").then(|| bad.to_owned()), "{bad}");
        }
        assert_eq!(found(&["-b"]), Some("-b".to_owned()));
        assert_eq!(found(&["-b", "../x"]), Some("../x".to_owned()));
        assert_eq!(found(&["--offset=5"]), Some("--offset=5".to_owned()));
    }
}
