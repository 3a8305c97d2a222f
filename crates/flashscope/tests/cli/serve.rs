//! `sim serve`: files and filesystems on a served stick, and cleaning up.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use flashscope_device::OpKind;
use flashscope_device::trace::TraceReader;
use rustix::process::Signal;

use crate::served::{Mounted, Served, has, mounts_and_loops, run};
use crate::{flashscope, stderr};

/// Larger than the smallest filesystem of xfs (300 MiB).
const STICK: &str = "patriot-xt-16g?capacity=512MiB";

/// A source tree to copy: this program's own.
const TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn opened(path: &Path) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

#[test]
fn served_file_behaves_like_a_disk_and_is_removed() {
    let Some(served) = Served::start(&[STICK, "--instant"]) else { return };
    let file = opened(&served.file);
    file.write_all_at(b"across a sector's end", 1020).unwrap();
    file.sync_all().unwrap();
    let mut read = [0xff; 25];
    file.read_exact_at(&mut read, 1018).unwrap();
    assert_eq!(&read, b"\0\0across a sector's end\0\0");
    // Its size is fixed.
    file.set_len(7).unwrap();
    assert_eq!(fs::metadata(&served.file).unwrap().len(), 512 << 20);
    assert_eq!(file.write_at(&[1; 1024], (512 << 20) - 512).unwrap(), 512);
    assert_eq!(file.write_at(&[1; 512], 512 << 20).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(file.read_at(&mut read, 512 << 20).unwrap(), 0);
    rustix::fs::fallocate(
        &file,
        rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE,
        1024,
        512,
    )
    .unwrap();
    file.read_exact_at(&mut read, 1018).unwrap();
    assert_eq!(&read, b"\0\0acro\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    drop(file);
    let folder = served.file.parent().unwrap().to_owned();
    let (account, _) = served.stop();
    assert_eq!((&account["served"]["writes"], &account["served"]["discards"]), (&2.into(), &1.into()));
    assert!(!folder.exists() && !mounts_and_loops().contains(folder.to_str().unwrap()));
}

#[test]
fn random_writes_to_the_block_device_read_back_unchanged() {
    let Some(served) = Served::start(&[STICK, "--instant", "--loop"]) else { return };
    if !has("fio") {
        return;
    }
    let file = format!("--filename={}", served.block_device());
    let job = ["--name=verify", "--rw=randwrite", "--bsrange=512-128k", "--size=24m", "--direct=1"];
    let queue =
        ["--ioengine=libaio", "--iodepth=16", "--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0"];
    run("fio", &[&job[..], &queue, &[&file]].concat());
}

/// Makes a filesystem, copies a source tree in and out, and runs the filesystem's checker.
fn filesystem(make: &[&str], check: &[&str]) {
    let Some(served) = Served::start(&[STICK, "--instant", "--loop"]) else { return };
    if !has(make[0]) || !has(check[0]) {
        return;
    }
    let device = served.block_device();
    run(make[0], &[&make[1..], &[device]].concat());
    run("cp", &["-r", TREE, Mounted::from(device).path().join("tree").to_str().unwrap()]);
    run("diff", &["-r", TREE, Mounted::from(device).path().join("tree").to_str().unwrap()]);
    run(check[0], &[&check[1..], &[device]].concat());
}

#[test]
fn ext4_holds_a_source_tree() {
    filesystem(&["mkfs.ext4", "-q"], &["e2fsck", "-f", "-n"]);
}

#[test]
fn xfs_holds_a_source_tree() {
    filesystem(&["mkfs.xfs", "-q"], &["xfs_repair", "-n"]);
}

#[test]
fn btrfs_holds_a_source_tree() {
    filesystem(&["mkfs.btrfs", "-q"], &["btrfs", "check"]);
}

#[test]
fn killed_server_is_cleaned_up_by_the_next_one() {
    let Some(other) = Served::start(&[STICK, "--instant", "--loop"]) else { return };
    let Some(killed) = Served::start(&[STICK, "--instant", "--loop"]) else { return };
    let folder = killed.file.parent().unwrap().to_owned();
    killed.kill();
    assert!(mounts_and_loops().contains(folder.to_str().unwrap()), "not yet cleaned up");
    // Another test's server may clean up, so only the final state is checked.
    let Some(next) = Served::start(&[STICK, "--instant"]) else { return };
    assert!(!mounts_and_loops().contains(folder.to_str().unwrap()) && !folder.exists());
    next.stop();
    let mut sector = [1; 512];
    opened(other.block_device.as_ref().unwrap()).read_exact(&mut sector).unwrap();
    assert_eq!(sector, [0; 512], "the other server is still running");
}

#[test]
fn server_stopped_while_mounted_prints_a_warning() {
    let Some(served) = Served::start(&[STICK, "--instant", "--loop"]) else { return };
    if !has("mkfs.ext4") {
        return;
    }
    let device = served.block_device().to_owned();
    run("mkfs.ext4", &["-q", &device]);
    let mounted = Mounted::from(&device);
    let folder = served.file.parent().unwrap().to_owned();
    let (_, messages) = served.stop();
    assert!(messages.contains("is still mounted on") && messages.contains("umount"), "{messages}");
    assert!(!folder.exists());
    drop(mounted);
    assert!(!mounts_and_loops().contains(&format!("{device} ")), "unmounted, it is detached");
}

#[test]
fn unplug_fault_fails_a_running_copy() {
    let stick = [STICK, "--instant", "--fault", "unplug:after=20,cache=2MiB"];
    let Some(served) = Served::start(&stick) else { return };
    let mut file = opened(&served.file);
    let failed = (0..100).find_map(|_| file.write_all(&[7; 65536]).err()).unwrap();
    assert_eq!(failed.raw_os_error(), Some(rustix::io::Errno::IO.raw_os_error()));
    assert!(file.read_at(&mut [0; 512], 0).is_err(), "and it stays unplugged");
    drop(file);
    let (account, _) = served.stop();
    let fault = &account["faults"][0];
    assert_eq!(fault["is_gone"], true);
    assert!(fault["lost_writes"].as_u64().unwrap() > 0 && fault["lost_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn backing_file_keeps_contents_and_trace_records_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (backing, trace) = (path("contents"), path("trace"));
    let arguments = [STICK, "--instant", "--backing", &backing, "-o", &trace];
    let Some(served) = Served::start(&arguments) else { return };
    opened(&served.file).write_all_at(b"kept", 12345).unwrap();
    served.stop();
    let Some(again) = Served::start(&[STICK, "--instant", "--backing", &backing]) else { return };
    let mut read = [0; 4];
    opened(&again.file).read_exact_at(&mut read, 12345).unwrap();
    assert_eq!(&read, b"kept");
    again.stop();

    let records: Vec<_> = TraceReader::new(BufReader::new(File::open(&trace).unwrap()))
        .unwrap()
        .map(|record| record.unwrap())
        .collect();
    let kinds: Vec<OpKind> = records.iter().map(|record| record.kind).collect();
    assert_eq!(kinds, [OpKind::Read, OpKind::Write], "a part of a sector is read before it is written");
    let refused = flashscope(&["sim", "serve", "patriot-xt-16g", "--backing", &backing]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("536870912 bytes, but the stick 16005464064"));
}

#[test]
fn ctrl_c_stops_serving_with_exit_code_0() {
    let Some(served) = Served::start(&[STICK, "--instant"]) else { return };
    served.signal(Signal::INT);
    let (account, messages) = served.stop();
    assert!(messages.contains("stopping") && account["served"]["reads"] == 0, "{messages}");
}

#[test]
fn invalid_serve_options_are_refused_with_a_reason() {
    let full = tempfile::tempdir().unwrap();
    fs::write(full.path().join("file"), "").unwrap();
    let full = full.path().to_str().unwrap();
    for (arguments, word) in [
        (&["no-such-stick"][..], "no profile"),
        (&[STICK, "--speed", "0"], "0.001"),
        (&[STICK, "--speed", "2", "--instant"], "cannot be used with"),
        (&[STICK, "--fault", "gremlins"], "unknown fault 'gremlins'"),
        (&[STICK, "--backing", "/dev/null"], "never on a disk"),
        (&[STICK, "--backing", full], "never on a disk"),
        (
            &[STICK, "--instant", "--mount", full],
            if Path::new("/dev/fuse").exists() { "is not empty" } else { "/dev/fuse" },
        ),
    ] {
        let refused = flashscope(&[&["sim", "serve"], arguments].concat());
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&refused).contains(word), "{arguments:?}: {}", stderr(&refused));
    }
}

/// Attaches every file but the one for measuring the host's overhead.
const LOSETUP: &str = r#"#!/bin/sh
case "$*" in *.calibration) exit 1 ;; esac
PATH=${PATH#*:}
exec losetup "$@"
"#;
const DD: &str = "#!/bin/sh\nexit 1\n";

/// Either program is needed to measure the overhead of a block device.
#[test]
fn overhead_that_cannot_be_measured_is_noted() {
    for (name, script) in [("losetup", LOSETUP), ("dd", DD)] {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(name);
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        let Some(served) = Served::start_with(&[STICK, "--loop"], &[("PATH", &path)]) else { return };
        assert!(served.block_device.is_some(), "{name}");
        let (_, messages) = served.stop();
        assert!(messages.contains("the host's overhead could not be measured"), "{name}: {messages}");
    }
}

/// The stick may not work a second time.
#[test]
fn a_measurement_of_a_stick_that_vanishes_is_kept() {
    let Some(served) = Served::start(&["generic-2g?fault=unplug:after=100", "--instant", "--loop"]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_flashscope"))
        .args(["check", served.block_device()])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let kept: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1, "{}", stderr(&output));
    let name = kept[0].file_name().into_string().unwrap();
    assert!(name.ends_with("-interrupted.flashscope.json"), "{name}");
    let again = flashscope(&["report", kept[0].path().to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
}
