//! What `plan` refuses, and what it warns of.

use serde_json::Value;

use crate::{flashscope, stderr, stdout};

const STICK: &str = "sim:transcend-8g";

fn plan(options: &[&str]) -> std::process::Output {
    flashscope(&[&["plan", STICK, "--erase-block", "4MiB", "--seed", "1"], options].concat())
}

#[test]
fn without_a_purpose_all_are_listed() {
    let output = plan(&[]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    for purpose in ["share", "linux-data", "linux-root", "camera", "board-boot", "backup"] {
        let line = text.lines().find(|line| line.trim_start().starts_with(purpose));
        assert!(line.is_some_and(|line| line.trim_start().len() > purpose.len() + 10), "{purpose}: {text}");
    }
}

#[test]
fn a_choice_that_the_filesystem_lacks_is_refused() {
    for (options, has_it) in [
        (&["--for", "linux-data", "--cluster", "32KiB"][..], "vfat, exfat and ntfs"),
        (&["--for", "share", "--no-journal"][..], "ext4"),
    ] {
        let output = plan(options);
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        let text = stderr(&output);
        assert!(text.contains(&format!("is for {has_it}")) && text.contains("--fs"), "{text}");
    }
    let board = plan(&["--for", "board-boot", "--cluster", "4KiB", "--no-journal"]);
    assert_eq!(board.status.code(), Some(0), "{}", stderr(&board));
}

#[test]
fn a_filesystem_that_does_not_suit_is_refused_or_warned_of() {
    for (purpose, filesystem, code, words) in [
        ("camera", "ext4", 2, "cameras read vfat and exfat only"),
        ("linux-root", "vfat", 2, "Linux cannot have its root there"),
        ("share", "ext4", 0, "do not read ext4"),
        ("linux-data", "exfat", 0, "owners and permissions"),
        ("backup", "vfat", 0, "4 GiB"),
    ] {
        let output = plan(&["--for", purpose, "--fs", filesystem]);
        assert_eq!(output.status.code(), Some(code), "{filesystem} for {purpose}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert_eq!(stderr(&output).contains("warning:"), code == 0, "{}", stderr(&output));
    }
    let suits = plan(&["--for", "share", "--fs", "exfat"]);
    assert!(!stderr(&suits).contains("warning:"), "{}", stderr(&suits));
}

/// The tools make the root folder that of root.
#[test]
fn folder_of_a_person_is_made_theirs() {
    let has = |purpose| stdout(&plan(&["--for", purpose])).contains("sudo chown $USER: /mnt/stick1\n");
    assert!(has("linux-data") && has("backup"));
    assert!(!has("share") && !has("linux-root") && !has("camera"));
}

/// What the predictions recommend is what `plan` makes.
#[test]
fn recommended_filesystems_are_those_of_plans() {
    use flashscope_layout::filesystem::FilesystemKind;
    let mut kinds = FilesystemKind::ALL.map(FilesystemKind::as_str);
    let mut planned = flashscope_infer::trials::PLANNED;
    kinds.sort_unstable();
    planned.sort_unstable();
    assert_eq!(kinds, planned);
}

/// On these sticks a filesystem that no plan makes was predicted to be the fastest.
#[test]
fn best_layouts_are_shown_and_can_be_planned() {
    for stick in ["sim:generic-2g", "sim:linuxplanet-noname-2g", "sim:cheap-usb3-32g", STICK] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("predicted.json");
        let text = stdout(&flashscope(&["whatif", stick, "-o", file.to_str().unwrap()]));
        let predicted: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        for best in predicted["best"].as_array().unwrap() {
            let (variant, start) =
                (best["layout"]["variant"].as_str().unwrap(), best["layout"]["start"].as_u64().unwrap());
            let row = format!("{variant} at {} MiB ", start >> 20);
            assert!(text.lines().any(|line| line.starts_with(&row)), "{row}: {text}");
            let filesystem = variant.split('-').next().unwrap();
            let plan =
                crate::document(&["plan", stick, "--for", "linux-data", "--fs", filesystem, "--seed", "1"]);
            let made = plan["partitions"][0]["placement"]["start"].as_u64().unwrap();
            // FAT and exFAT begin where their data area starts with an erase block.
            let is_fat = matches!(filesystem, "vfat" | "exfat");
            let block = predicted["twin"]["erase_block"].as_u64().unwrap();
            assert!(
                start.is_multiple_of(block) && (is_fat || made.is_multiple_of(block)),
                "{stick}, {variant}: {start}, {made}"
            );
        }
        let make = text.lines().find_map(|line| line.strip_prefix("  flashscope plan /dev/sdX ")).unwrap();
        let options: Vec<&str> = make.split(' ').collect();
        let plan = flashscope(&[&["plan", stick, "--seed", "1"], &options[..]].concat());
        assert_eq!(plan.status.code(), Some(0), "{make}: {}", stderr(&plan));
    }
}

#[test]
fn a_plan_for_a_stick_whose_requests_fail_warns() {
    let of = |stick| flashscope(&["plan", stick, "--for", "share", "--seed", "1"]);
    let failing = of("sim:transcend-8g?fault=read-errors:share=0.02");
    assert!(
        stderr(&failing).contains("warning: ") && stderr(&failing).contains("failed in the run"),
        "{}",
        stderr(&failing)
    );
    let sound = stderr(&of(STICK));
    assert!(!sound.contains("warning"), "{sound}");
    assert!(sound.contains("measuring the virtual stick") && !sound.contains("only reads"), "{sound}");
}
