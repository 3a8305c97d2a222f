//! Guards of the commands: what confirms, what is restored, where outputs go.

use super::Mutant;

/// What confirms, and where outputs go.
const CONFIRM: &[&str] = &["--package", "flashscope", "--bin", "flashscope", "::tests::"];
/// The whole program, on a pseudo-terminal.
const CLI: &[&str] = &["--package", "flashscope", "--test", "cli", "confirmations"];
/// Full capacity tests, on images and mounts.
const FULL: &[&str] = &["--package", "flashscope", "--test", "cli", "full_verifies"];
/// Disks that udisks2 opens.
const UDISKS: &[&str] = &["--package", "flashscope", "--test", "cli", "udisks::"];
/// Journals of killed measurements, on images.
const SCRATCH: &[&str] = &["--package", "flashscope", "--test", "cli", "scratch::"];

const CONFIRMING: &str = "crates/flashscope/src/confirm.rs";
const DESTINATION: &str = "crates/flashscope/src/destination.rs";

/// Ctrl-C at a question.
const INTERRUPTS: &[&str] = &["--package", "flashscope", "--test", "cli", "interrupts::"];

/// The guards.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "identities always match",
        file: "crates/layout/src/medium.rs",
        from: "        self == other\n",
        to: "        self.capacity == other.capacity\n",
        test: CONFIRM,
    },
    Mutant {
        name: "undo of another stick",
        file: "crates/flashscope/src/command/undo.rs",
        from: "if header.identity.matches(found) {",
        to: "if header.identity.matches(found) || true {",
        test: CONFIRM,
    },
    Mutant {
        name: "a plan for another stick is applied",
        file: "crates/flashscope/src/command/apply.rs",
        from: "if expected.matches(found) {",
        to: "if expected.matches(found) || true {",
        test: CONFIRM,
    },
    Mutant {
        name: "--yes alone erases what a loop device is attached to",
        file: CONFIRMING,
        from: "        Yes::Plain => anyhow!(\n            \"{target} may be attached",
        to: "        Yes::Plain if !option.is_empty() => return Ok(()),\n        Yes::Plain => anyhow!(\n            \"{target} may be attached",
        test: CONFIRM,
    },
    Mutant {
        name: "--yes=PATH takes any path for a loop device",
        file: CONFIRMING,
        from: "id(one).is_some() && id(one) == id(other)",
        to: "id(one).is_some()",
        test: CONFIRM,
    },
    Mutant {
        name: "the beginning of the name confirms",
        file: CONFIRMING,
        from: "Some(typed) if answers.contains(&typed) =>",
        to: "Some(typed) if answers.iter().any(|answer| answer.starts_with(&typed)) =>",
        test: CONFIRM,
    },
    Mutant {
        name: "a name that begins like the disk's confirms",
        file: CONFIRMING,
        from: "Some(typed) if answers.contains(&typed) =>",
        to: "Some(typed) if answers.iter().any(|answer| typed.starts_with(answer)) =>",
        test: CONFIRM,
    },
    Mutant {
        name: "any answer confirms",
        file: CONFIRMING,
        from: "Some(typed) if answers.contains(&typed) =>",
        to: "Some(_) =>",
        test: CONFIRM,
    },
    Mutant {
        name: "--yes takes the name of two sticks",
        file: CONFIRMING,
        from: ".and_then(|disk| twin(disk, roots)) else {",
        to: ".and_then(|disk| twin(disk, roots)).filter(|_| false) else {",
        test: CONFIRM,
    },
    Mutant {
        name: "--yes takes any name of a disk",
        file: CONFIRMING,
        from: "permit_without_asking(self.target, disk, self.roots)?",
        to: "()",
        test: CONFIRM,
    },
    Mutant {
        name: "consent does not name the medium",
        file: CONFIRMING,
        from: "medium: self.disk.map(|disk| disk.medium.clone()),",
        to: "medium: None,",
        test: CONFIRM,
    },
    Mutant {
        name: "an output replaces a disk",
        file: DESTINATION,
        from: "Ok(metadata) if metadata.is_file() => fs::canonicalize",
        to: "Ok(metadata) if !metadata.is_dir() => fs::canonicalize",
        test: CONFIRM,
    },
    Mutant {
        name: "an output goes to a character device with data",
        file: DESTINATION,
        from: "1 => NULL_ZERO_FULL.contains(&minor(device)),",
        to: "1 => true,",
        test: CONFIRM,
    },
    Mutant {
        name: "a stream that became a file is written",
        file: DESTINATION,
        from: "if !is_stream(&stream.metadata()?) {",
        to: "if false && !is_stream(&stream.metadata()?) {",
        test: CONFIRM,
    },
    Mutant {
        name: "an undo file replaces another one",
        file: "crates/flashscope/src/undo_file.rs",
        from: "partial.persist_noclobber(&self.path)",
        to: "partial.persist(&self.path)",
        test: CONFIRM,
    },
    Mutant {
        name: "an answer from a pipe confirms",
        file: "crates/flashscope/src/printer.rs",
        from: "if !io::stdin().is_terminal() {\n            return Ok(None);",
        to: "if false {\n            return Ok(None);",
        test: CLI,
    },
    Mutant {
        name: "a full test continues on a medium that was used since",
        file: "crates/flashscope/src/full_state.rs",
        from: "            if holds_stamps(device, &state.stored.progress).or_exit_bare(Exit::Failed)? {\n                return",
        to: "            if true {\n                return",
        test: FULL,
    },
    Mutant {
        name: "a directory that lies on no stick is filled",
        file: "crates/flashscope/src/command/verify_free_space.rs",
        from: "ground.non_stick.first() {",
        to: "ground.non_stick.first().filter(|_| false) {",
        test: FULL,
    },
    Mutant {
        name: "what udisks2 opened is not compared with the disk",
        file: "crates/linux/src/udisks/mod.rs",
        from: "if !is_as_requested(&file, device, flags).map_err(failed)? {",
        to: "if false {",
        test: UDISKS,
    },
    Mutant {
        name: "a stick whose data is not back is written",
        file: "crates/flashscope/src/target/open.rs",
        from: "            if consent.is_some() {\n                scratch",
        to: "            if consent.is_some() && queue_depth == 0 {\n                scratch",
        test: SCRATCH,
    },
    Mutant {
        name: "bench methods writes to a stick whose data is not back",
        file: "crates/flashscope/src/command/bench/methods.rs",
        from: "drop(target::open(name, Some(&consent), Budget::UNLIMITED)?);",
        to: "let _ = Budget::UNLIMITED;",
        test: SCRATCH,
    },
    Mutant {
        name: "restore writes to another stick",
        file: "crates/flashscope/src/command/restore.rs",
        from: "if recognition.is_same() || force {",
        to: "if true || recognition.is_same() || force {",
        test: SCRATCH,
    },
    Mutant {
        name: "what udisks2 opened is not compared with the requested access",
        file: "crates/linux/src/udisks/mod.rs",
        from: "Ok(is_disk && found & compared == flags & compared)",
        to: "Ok(is_disk)",
        test: UDISKS,
    },
    Mutant {
        name: "what udisks2 opened may be any disk",
        file: "crates/linux/src/udisks/mod.rs",
        from: "== FileType::BlockDevice && stat.st_rdev == device;",
        to: "== FileType::BlockDevice && (stat.st_rdev == device || device > 0);",
        test: UDISKS,
    },
    Mutant {
        name: "an interrupt at a question is not noticed",
        file: "crates/flashscope/src/interrupt.rs",
        from: "Ok((!interrupt.is_requested()).then(",
        to: "Ok(true.then(",
        test: INTERRUPTS,
    },
    Mutant {
        name: "a journal that cannot be read is ignored",
        file: "crates/flashscope/src/scratch/unfinished.rs",
        from: "header(&path).map_err(refused)?;",
        to: "header(&path).unwrap_or_default();",
        test: SCRATCH,
    },
    Mutant {
        name: "an unfinished journal is ignored",
        file: "crates/flashscope/src/scratch/unfinished.rs",
        from: "if header.is_some_and(|header| is_of(&header, target)) {",
        to: "if header.is_some_and(|header| is_of(&header, target)) && false {",
        test: SCRATCH,
    },
    Mutant {
        name: "only the own folder of journals is searched",
        file: "crates/flashscope/src/scratch/folder.rs",
        from: "[self.named.clone(), self.own(), self.other()]",
        to: "[self.named.clone(), self.own(), None]",
        test: SCRATCH,
    },
];
