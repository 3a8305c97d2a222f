//! `flashscope watch --limit`, on a copy of sysfs.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{document, flashscope, stderr, stdout};

/// The desktop with the kernel's limits of writeback; its stick is 8:16.
fn machine(folder: &tempfile::TempDir, has_disk_limit: bool) -> PathBuf {
    let desktop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs/desktop");
    assert!(Command::new("cp").arg("-a").arg(desktop).arg(folder.path()).status().unwrap().success());
    let tree = folder.path().join("desktop");
    let write = |name: &str, text: &str| {
        let path = tree.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("sys/block/sdb/stat", "1 0 8 1 900 0 7200 900 1 900 900\n");
    write("proc/meminfo", "MemAvailable: 8388608 kB\nDirty: 2048 kB\nWriteback: 0 kB\n");
    for (name, text) in
        [("ratio", "20"), ("background_ratio", "10"), ("bytes", "0"), ("background_bytes", "0")]
    {
        write(&format!("proc/sys/vm/dirty_{name}"), text);
    }
    if has_disk_limit {
        write("sys/class/bdi/8:16/max_bytes", "1717986918\n");
        write("sys/class/bdi/8:16/strict_limit", "0\n");
    }
    tree
}

/// A run file of a stick of 10 MB/s.
fn run_file(folder: &tempfile::TempDir) -> String {
    let path = folder.path().join("run.flashscope.json").to_str().unwrap().to_owned();
    let command =
        ["bench", "write", "sim:generic-2g", "--size", "1MiB", "--order", "sequential", "-o", &path];
    let output = flashscope(&command);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    path
}

#[test]
fn limit_is_a_udev_rule_where_the_kernel_has_one_for_each_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (tree, run) = (machine(&folder, true), run_file(&folder));
    let arguments = ["watch", "sdb", "--limit", "--run", &run, "--sysfs", tree.to_str().unwrap()];
    let advice = document(&arguments);
    let (speed, limit) = (advice["bytes_per_s"].as_f64().unwrap(), advice["bytes_max"].as_u64().unwrap());
    assert_eq!((&advice["scope"], &advice["speed_source"]), (&"disk".into(), &"run_file".into()));
    assert!((speed * 4.0..=speed * 5.0).contains(&(limit as f64)), "{advice:#}");
    // A fifth of 8 GiB.
    assert!(advice["bytes_now"].as_u64() > Some(1_700_000_000), "{advice:#}");
    assert!(advice["seconds_max"].as_f64() <= Some(5.0), "{advice:#}");
    let rule = advice["lines"][0].as_str().unwrap();
    assert!(
        rule.contains(&format!("ATTR{{bdi/max_bytes}}=\"{limit}\", ATTR{{bdi/strict_limit}}=\"1\"")),
        "{rule}"
    );
    assert!(rule.contains("ATTRS{idVendor}==\"") && rule.contains("ATTRS{idProduct}==\""), "{rule}");
    assert!(
        advice["undo"]
            .as_array()
            .unwrap()
            .iter()
            .any(|line| line == "echo 0 | sudo tee /sys/class/bdi/8:16/strict_limit")
    );
    let text = stdout(&flashscope(&arguments));
    assert!(text.contains(rule) && text.contains("To take it back:"), "{text}");
}

#[test]
fn limit_is_global_on_older_kernels_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (tree, run) = (machine(&folder, false), run_file(&folder));
    let arguments = ["watch", "sdb", "--limit", "--run", &run, "--sysfs", tree.to_str().unwrap()];
    let advice = document(&arguments);
    assert_eq!(advice["scope"], "all_disks");
    assert!(advice["lines"][0].as_str().unwrap().starts_with("vm.dirty_bytes = "), "{advice:#}");
    assert!(
        advice["undo"][0]
            .as_str()
            .unwrap()
            .ends_with("sysctl vm.dirty_ratio=20 vm.dirty_background_ratio=10")
    );
    let text = stdout(&flashscope(&arguments));
    assert!(text.contains("no limit for one disk") && text.contains("all disks"), "{text}");
}

#[test]
fn limit_without_a_speed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let tree = machine(&folder, true);
    let tree = tree.to_str().unwrap();
    let idle = flashscope(&["watch", "sdb", "--limit", "--interval", "0.1", "--sysfs", tree]);
    assert_eq!(idle.status.code(), Some(2));
    assert!(stderr(&idle).contains("start a copy first"), "{}", stderr(&idle));
    let unnamed = flashscope(&["watch", "--limit", "--sysfs", tree]);
    assert_eq!(unnamed.status.code(), Some(2));
}
