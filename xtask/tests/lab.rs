//! `flashscope list` and `watch` on the device tree that a real kernel makes of real USB descriptors, in the lab.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Says why a test did not run. With `FLASHSCOPE_REQUIRE_ALL=1` that is a failure.
fn skip(reason: &str) {
    assert!(std::env::var("FLASHSCOPE_REQUIRE_ALL").as_deref() != Ok("1"), "not to be skipped: {reason}");
    #[expect(clippy::print_stderr, reason = "a test that did not run says so")]
    {
        eprintln!("skipped: {reason}");
    }
}

/// The program that the workspace's tests build anyway, beside this task.
fn program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("flashscope")
}

fn lab(arguments: &[&str]) -> Output {
    let lab =
        Command::new(env!("CARGO_BIN_EXE_xtask")).arg("lab").args(arguments).stdin(Stdio::null()).output();
    lab.unwrap()
}

/// What this command says in a machine with these sticks, or `None`, said aloud, where there is no lab.
fn results(sticks: &[&str], command: &[&str]) -> Option<Vec<Value>> {
    if !program().is_file() {
        skip("flashscope is not built; cargo test --workspace builds it");
        return None;
    }
    let program = program();
    let output = lab(&[sticks, &["--program", program.to_str().unwrap(), "--"], command].concat());
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    if talk.contains("the lab needs") {
        skip(&talk);
        return None;
    }
    assert!(output.status.success(), "{talk}");
    let documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    Some(documents.collect::<Result<_, _>>().unwrap())
}

fn link_of(disk: &Value) -> f64 {
    disk["usb"]["link_mbit_per_s"].as_f64().unwrap()
}

#[test]
fn sticks_are_seen_at_each_link_as_the_kernel_sees_them() {
    let sticks = ["--link", "5000", "--link", "480", "--link", "12"];
    let Some(documents) = results(&sticks, &["flashscope", "list", "--json"]) else { return };
    let mut disks = documents[0]["disks"].as_array().unwrap().clone();
    disks.sort_by(|one, other| link_of(other).total_cmp(&link_of(one)));
    let seen: Vec<(f64, Option<f64>, &str, u64)> = disks
        .iter()
        .map(|disk| {
            let usb = &disk["usb"];
            let most = disk["requests"]["max_bytes"].as_u64().unwrap();
            (link_of(disk), usb["could_mbit_per_s"].as_f64(), usb["could_status"].as_str().unwrap(), most)
        })
        .collect();
    // The emulated stick names USB 3.00 at 5000 and 2.00 below; usb-storage cuts requests at 120 KiB, on SuperSpeed at 1 MiB.
    let expected = [
        (5000.0, Some(5000.0), "known", 1 << 20),
        (480.0, Some(480.0), "known", 120 << 10),
        (12.0, Some(12.0), "at least", 120 << 10),
    ];
    assert_eq!(seen, expected);
    for disk in &disks {
        assert_eq!((disk["type"].as_str(), disk["capacity_bytes"].as_u64()), (Some("stick"), Some(64 << 20)));
        assert_eq!(
            (disk["usb"]["driver"].as_str(), disk["requests"]["depth"].as_u64()),
            (Some("usb-storage"), Some(1))
        );
        assert!(disk["serial"].as_str().unwrap().starts_with("LAB"), "{disk}");
    }
}

/// Lists the stick, and watches while `cp` writes to it and `sync` waits for it. The kernel is told to leave alone what waits until
/// then. What `cp` copies comes out of a pipe that stays open, so it is there to be seen; at the end the kernel goes through
/// its list of changed files, which it does by itself now and then.
const LIST_COPY_AND_WATCH: &str = "set -e
flashscope list --json
mkfs.vfat /dev/sda > /dev/null
mount /dev/sda /mnt
echo 0 > /proc/sys/vm/dirty_writeback_centisecs
echo 80 > /proc/sys/vm/dirty_background_ratio
mkfifo /run/source
{ head -c 16M /dev/zero; sleep 1000; } > /run/source &
cp /run/source /mnt/copy > /dev/null &
copy=$!
until [ $(stat -c %s /mnt/copy 2> /dev/null || echo 0) = 16777216 ]; do sleep 0.2; done
touch /run/looks
flashscope watch --json --interval 0.5 > /run/looks &
watch=$!
until [ $(wc -l < /run/looks) -ge 2 ]; do sleep 0.2; done
sync
echo 500 > /proc/sys/vm/dirty_writeback_centisecs
looks=$(wc -l < /run/looks)
until [ $(wc -l < /run/looks) -ge $((looks + 4)) ]; do sleep 0.2; done
kill -INT $watch
wait $watch
kill $copy
cat /run/looks";

#[test]
fn a_stick_with_uas_is_listed_and_a_copy_to_it_is_watched() {
    if Command::new("mkfs.vfat").arg("--help").output().is_err() {
        return skip("mkfs.vfat is not installed (Debian: dosfstools)");
    }
    // One machine for both: each takes its time to boot.
    let Some(documents) = results(&["--uas"], &[LIST_COPY_AND_WATCH]) else { return };
    let (list, looks) = documents.split_first().unwrap();
    takes_several_commands(list);
    sees_what_waits(looks);
}

fn takes_several_commands(list: &Value) {
    let disk = &list["disks"][0];
    assert!(list["disks"][1].is_null(), "one stick only: {list}");
    assert_eq!(
        (disk["usb"]["driver"].as_str(), disk["usb"]["offers_uas"].as_bool()),
        (Some("uas"), Some(true))
    );
    assert!(disk["requests"]["depth"].as_u64() > Some(1), "{disk}");
}

fn sees_what_waits(looks: &[Value]) {
    let disks: Vec<&Value> = looks.iter().map(|look| &look["disks"][0]).collect();
    for disk in &disks {
        assert_eq!((&disk["name"], &disk["mounts"][0]), (&"sda".into(), &"/mnt".into()), "{disk}");
        assert_eq!(disk["waiting"]["status"], "this disk", "{disk}");
    }
    let (first, last) = (disks[0], disks[disks.len() - 1]);
    assert!(first["waiting"]["bytes"].as_u64() >= Some(16 << 20), "{first}");
    assert_eq!(first["safe_to_unplug"]["status"], "unknown", "nothing was written so far: {first}");
    let writers = first["processes"].as_array().unwrap();
    let copies = |process: &Value| process["name"] == "cp" && process["files_to_write"] == 1;
    assert!(writers.iter().any(copies), "{first}");
    let written: u64 = disks.iter().filter_map(|disk| disk["write"]["bytes"].as_u64()).sum();
    assert!(written >= 16 << 20, "{looks:?}");
    assert_eq!((&last["waiting"]["bytes"], &last["write"]["bytes"]), (&0.into(), &0.into()), "{last}");
    assert_eq!(last["safe_to_unplug"]["status"], "nothing waits", "{last}");
}

/// Two sticks of which the first may go. `try` runs a command, and says how it ended, and whether it said what it should. The last
/// one waits for an answer while the stick is unplugged and plugged in again, as far as the kernel can tell.
const ERASE: &str = r#"
try() {
    says=$1
    shift
    "$@" > /run/out 2> /run/talk
    code=$?
    said=false
    if cat /run/out /run/talk | grep -q "$says"; then said=true; else cat /run/out /run/talk >&2; fi
    echo "{\"exit\": $code, \"said\": $said}"
}
sum() { md5sum "$1" | cut -d ' ' -f 1; }
stays() { if [ "$(sum "$1")" = "$2" ]; then echo true; else echo false; fi; }
bench="flashscope bench write --size 64KiB --order sequential --erase"
mkdir -p /dev/pts /dev/disk/by-id
mount -t devpts devpts /dev/pts
mkfs.vfat -n PHOTOS /dev/sda > /dev/null
mkfs.vfat -n OTHER /dev/sdb > /dev/null
first=$(sum /dev/sda)
second=$(sum /dev/sdb)
try 'standard input is no terminal' $bench /dev/sda
try 'it has no such name here' $bench --yes /dev/sda
ln -s ../../sda /dev/disk/by-id/usb-LAB
try 'name it /dev/disk/by-id/usb-LAB' $bench --yes /dev/sda
mount /dev/sda /mnt
try 'sda is mounted at /mnt; unmount it first' $bench --yes /dev/disk/by-id/usb-LAB
umount /mnt
echo yes > /run/answer
try 'vfat "PHOTOS"' script -qec "$bench /dev/sda" /dev/null < /run/answer
stays /dev/sda $first
mkfifo /run/fifo
script -qefc "$bench /dev/sda" /run/typescript < /run/fifo > /dev/null &
exec 3> /run/fifo
until grep -q 'Type sda' /run/typescript; do sleep 0.2; done
usb=$(basename "$(readlink -f /sys/block/sda | sed 's|\(/usb[0-9]*/[0-9-]*\)/.*|\1|')")
echo $usb > /sys/bus/usb/drivers/usb/unbind
echo $usb > /sys/bus/usb/drivers/usb/bind
until [ "$(cat /sys/block/sda/size)" -gt 0 ]; do sleep 0.2; done
echo sda >&3
wait $!
code=$?
try 'not the medium any more' sh -c "cat /run/typescript; exit $code"
exec 3>&-
stays /dev/sda $first
echo sda > /run/answer
try 'This stick writes' script -qec "$bench /dev/sda" /dev/null < /run/answer
stays /dev/sda $first
mkfs.vfat -n PHOTOS /dev/sda > /dev/null
first=$(sum /dev/sda)
try 'vfat "PHOTOS"' $bench --seed 2 --yes /dev/disk/by-id/usb-LAB
stays /dev/sda $first
stays /dev/sdb $second
"#;

#[test]
fn a_stick_is_erased_when_nothing_uses_it_and_the_person_means_it() {
    for (program, package) in [("mkfs.vfat", "dosfstools"), ("script", "bsdutils")] {
        if Command::new(program).arg("--help").output().is_err() {
            return skip(&format!("{program} is not installed (Debian: {package})"));
        }
    }
    let Some(documents) = results(&["--link", "5000", "--link", "480"], &[ERASE]) else { return };
    let refused = || serde_json::json!({ "exit": 4, "said": true });
    let done = || serde_json::json!({ "exit": 0, "said": true });
    let [is_left, is_erased] = [true, false].map(Value::from);
    let expected = [
        vec![refused(), refused(), refused(), refused(), refused(), is_left.clone()],
        vec![refused(), is_left.clone()],
        vec![done(), is_erased.clone()],
        vec![done(), is_erased, is_left],
    ];
    assert_eq!(documents, expected.concat());
}

#[test]
fn what_the_lab_cannot_do_is_refused_before_it_starts() {
    for (arguments, says) in [
        (&["--link", "11", "--", "true"][..], "5000, 480 or 12"),
        (&["--disk", "/nowhere.img", "--", "true"], "/nowhere.img"),
        (&["--disk", "/dev/null", "--", "true"], "never a disk of this host"),
        (&["--uas", "--link", "12", "--", "true"], "480 Mbit/s or more"),
        (&[], "<COMMAND>"),
    ] {
        let output = lab(arguments);
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && talk.contains(says), "{arguments:?}: {talk}");
    }
}

#[test]
fn a_check_of_a_stick_that_enumerates_again_ends_and_says_so() {
    let command = "(sleep 1; cd /sys/bus/usb/devices/1-1; echo 0 > authorized; sleep 0.05; echo 1 > authorized) & \
                   flashscope check /dev/sda --json > /run/check; echo $?; cat /run/check; sleep 4; \
                   flashscope list --json";
    let Some(documents) = results(&["--link", "480"], &[command]) else { return };
    let [exit, check, list] = documents.as_slice() else { panic!("{documents:?}") };
    assert_eq!(*exit, 3, "the measurement failed: {check}");
    assert!(check["ended"].to_string().contains("the device vanished"), "{check}");
    assert_eq!(list["disks"][0]["path"], "/dev/sda", "it is there again: {list}");
}
