//! Commands to paste, one per line. Each starts with its first word and is never wrapped.

use flashscope_device::Bytes;
use flashscope_layout::steps::{quoted, quoted_path};

/// The name of virtual sticks in targets.
const VIRTUAL: &str = "sim:";

/// Serves a virtual stick, named without `sim:`, as a disk.
#[must_use]
pub fn serve(stick: &str) -> String {
    format!("flashscope sim serve {} --loop", quoted(stick))
}

/// A plan for a target with these options, and how to apply it. A virtual stick ends with its command, so it
/// is served as a disk first.
pub fn plan_and_apply(target: &str, options: &str) -> Vec<String> {
    if let Some(stick) = target.strip_prefix(VIRTUAL) {
        return vec![
            format!("sudo {}", serve(stick)),
            format!("sudo flashscope plan /dev/loopN {options} -o plan.json"),
            "sudo flashscope apply plan.json".to_owned(),
        ];
    }
    let sudo = sudo(target);
    vec![
        format!("{sudo}flashscope plan {} {options} -o plan.json", quoted_path(target)),
        format!("{sudo}flashscope apply plan.json"),
    ]
}

/// A partition on the part of a fake that stores data.
pub fn use_true_size(target: &str, true_size: Bytes) -> Vec<String> {
    plan_and_apply(target, &format!("--true-size {} --for share", true_size.get()))
}

/// The commands of a target that is a disk need root.
pub fn sudo(target: &str) -> &'static str {
    if target.starts_with("/dev/") { "sudo " } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_applied_to_a_disk_and_never_to_a_virtual_stick() {
        let of = |target| use_true_size(target, Bytes::gib(1)).join("\n");
        let disk = of("/dev/sdb");
        assert!(
            disk.starts_with("sudo flashscope plan /dev/sdb --true-size 1073741824 --for share"),
            "{disk}"
        );
        let image = of("-a b.img");
        assert!(image.starts_with("flashscope plan './-a b.img' --true-size"), "{image}");
        let stick = of("sim:generic-2g?fault=wrap:real=1GiB&seed=4");
        assert!(
            stick.starts_with("sudo flashscope sim serve 'generic-2g?fault=wrap:real=1GiB&seed=4' --loop\n")
        );
        assert!(stick.contains("plan /dev/loopN") && !stick.contains("plan sim:"), "{stick}");
    }
}
