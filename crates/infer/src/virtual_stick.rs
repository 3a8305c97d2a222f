//! What would decide on a virtual stick: it lives in no machine that could be quieter, and hangs at no port.

use flashscope_record::finding::{Finding, Outcome};

/// What is advised of a device, and what a virtual stick has instead. The longer ones come first.
const INSTEAD: [(&str, &str); 3] = [
    ("on a quieter machine", "with another seed of the stick (seed=N) or less noise (noise=0)"),
    ("a quieter machine", "another seed of the stick (seed=N) or less noise (noise=0)"),
    ("a faster port or reader", "a faster link of the stick (link=NAME)"),
];

/// The same findings, of a virtual stick.
pub fn of_a_virtual_stick(mut findings: Vec<Finding>) -> Vec<Finding> {
    for finding in &mut findings {
        if let Outcome::Unknown { would_decide, .. } = &mut finding.outcome {
            *would_decide = on_a_virtual_stick(would_decide);
        }
    }
    findings
}

/// What would decide there.
pub fn on_a_virtual_stick(would_decide: &str) -> String {
    INSTEAD.iter().fold(would_decide.to_owned(), |text, (machine, stick)| text.replace(machine, stick))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_machine_is_spoken_of() {
        let told = on_a_virtual_stick("a quieter machine, or a faster port or reader");
        assert_eq!(
            told,
            "another seed of the stick (seed=N) or less noise (noise=0), or a faster link of the stick (link=NAME)"
        );
        let told = on_a_virtual_stick("more writes, on a quieter machine");
        assert_eq!(told, "more writes, with another seed of the stick (seed=N) or less noise (noise=0)");
        assert_eq!(on_a_virtual_stick("a larger budget"), "a larger budget");
    }
}
