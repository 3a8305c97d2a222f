//! `flashscope list`, `watch`, `bench` and `check` in the lab: a real kernel with emulated USB sticks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Prints why a test was skipped. With `FLASHSCOPE_REQUIRE_ALL=1` the test fails.
fn skip(reason: &str) {
    assert!(std::env::var("FLASHSCOPE_REQUIRE_ALL").as_deref() != Ok("1"), "must not be skipped: {reason}");
    #[expect(clippy::print_stderr, reason = "a skipped test prints the reason")]
    {
        eprintln!("skipped: {reason}");
    }
}

/// The flashscope that the tests of the workspace have built.
fn program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("flashscope")
}

fn lab(arguments: &[&str]) -> Output {
    let lab =
        Command::new(env!("CARGO_BIN_EXE_xtask")).arg("lab").args(arguments).stdin(Stdio::null()).output();
    lab.unwrap()
}

/// The JSON documents that this command prints in a machine with these sticks; `None` without a lab.
fn results(sticks: &[&str], command: &[&str]) -> Option<Vec<Value>> {
    if !program().is_file() {
        skip("flashscope is not built; cargo test --workspace builds it");
        return None;
    }
    let program = program();
    let output = lab(&[sticks, &["--program", program.to_str().unwrap(), "--"], command].concat());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("the lab needs") {
        skip(&stderr);
        return None;
    }
    assert!(output.status.success(), "{stderr}");
    let documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    Some(documents.collect::<Result<_, _>>().unwrap())
}

fn link_of(disk: &Value) -> f64 {
    disk["usb"]["link_mbit_per_s"].as_f64().unwrap()
}

#[test]
fn sticks_are_listed_with_their_link_speed() {
    let sticks = ["--link", "5000", "--link", "480", "--link", "12"];
    let Some(documents) = results(&sticks, &["flashscope", "list", "--json"]) else { return };
    let mut disks = documents[0]["disks"].as_array().unwrap().clone();
    disks.sort_by(|one, other| link_of(other).total_cmp(&link_of(one)));
    let found: Vec<(f64, Option<f64>, &str, u64)> = disks
        .iter()
        .map(|disk| {
            let usb = &disk["usb"];
            let max_bytes = disk["requests"]["max_bytes"].as_u64().unwrap();
            (
                link_of(disk),
                usb["could_mbit_per_s"].as_f64(),
                usb["could_status"].as_str().unwrap(),
                max_bytes,
            )
        })
        .collect();
    // The emulated stick reports USB 3.00 at 5000 Mbit/s and 2.00 below. usb-storage splits requests at 120
    // KiB, with SuperSpeed at 1 MiB.
    let expected = [
        (5000.0, Some(5000.0), "known", 1 << 20),
        (480.0, Some(480.0), "known", 120 << 10),
        (12.0, Some(12.0), "at least", 120 << 10),
    ];
    assert_eq!(found, expected);
    for disk in &disks {
        assert_eq!((disk["type"].as_str(), disk["capacity_bytes"].as_u64()), (Some("stick"), Some(64 << 20)));
        assert_eq!(
            (disk["usb"]["driver"].as_str(), disk["requests"]["depth"].as_u64()),
            (Some("usb-storage"), Some(1))
        );
        assert!(disk["serial"].as_str().unwrap().starts_with("LAB"), "{disk}");
    }
}

/// Lists the stick, and watches it while `cp` writes to it and `sync` flushes. Writeback is off until `sync`.
/// `cp` reads from a pipe that stays open, so that it still runs during the watch. At the end periodic
/// writeback is on again.
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
touch /run/samples
flashscope watch --json --interval 0.5 > /run/samples &
watch=$!
until [ $(wc -l < /run/samples) -ge 2 ]; do sleep 0.2; done
sync
echo 500 > /proc/sys/vm/dirty_writeback_centisecs
samples=$(wc -l < /run/samples)
until [ $(wc -l < /run/samples) -ge $((samples + 4)) ]; do sleep 0.2; done
kill -INT $watch
wait $watch
kill $copy
cat /run/samples";

#[test]
fn a_stick_with_uas_is_listed_and_a_copy_to_it_is_watched() {
    if Command::new("mkfs.vfat").arg("--help").output().is_err() {
        return skip("mkfs.vfat is not installed (Debian: dosfstools)");
    }
    // One machine for both, because booting takes up to 30 s.
    let Some(documents) = results(&["--uas"], &[LIST_COPY_AND_WATCH]) else { return };
    let (list, samples) = documents.split_first().unwrap();
    check_queue_depth(list);
    check_watch(samples);
}

fn check_queue_depth(list: &Value) {
    let disk = &list["disks"][0];
    assert!(list["disks"][1].is_null(), "exactly one stick: {list}");
    assert_eq!(
        (disk["usb"]["driver"].as_str(), disk["usb"]["offers_uas"].as_bool()),
        (Some("uas"), Some(true))
    );
    assert!(disk["requests"]["depth"].as_u64() > Some(1), "{disk}");
}

fn check_watch(samples: &[Value]) {
    let disks: Vec<&Value> = samples.iter().map(|sample| &sample["disks"][0]).collect();
    for disk in &disks {
        assert_eq!((&disk["name"], &disk["mounts"][0]), (&"sda".into(), &"/mnt".into()), "{disk}");
        assert_eq!(disk["waiting"]["status"], "this disk", "{disk}");
    }
    let (first, last) = (disks[0], disks[disks.len() - 1]);
    assert!(first["waiting"]["bytes"].as_u64() >= Some(16 << 20), "{first}");
    assert_eq!(first["safe_to_unplug"]["status"], "unknown", "nothing was written yet: {first}");
    let writers = first["processes"].as_array().unwrap();
    let copies = |process: &Value| process["name"] == "cp" && process["files_to_write"] == 1;
    assert!(writers.iter().any(copies), "{first}");
    let written: u64 = disks.iter().filter_map(|disk| disk["write"]["bytes"].as_u64()).sum();
    assert!(written >= 16 << 20, "{samples:?}");
    assert_eq!((&last["waiting"]["bytes"], &last["write"]["bytes"]), (&0.into(), &0.into()), "{last}");
    assert_eq!(last["safe_to_unplug"]["status"], "nothing waits", "{last}");
}

/// Two sticks, of which the first is erased. `try` runs a command and prints its exit code, and whether it
/// printed the expected text. One command waits for an answer while the kernel unbinds and rebinds the stick,
/// as after replugging.
const ERASE: &str = r#"
try() {
    expected=$1
    shift
    "$@" > /run/out 2> /run/stderr
    code=$?
    found=false
    if cat /run/out /run/stderr | grep -q "$expected"; then found=true; else cat /run/out /run/stderr >&2; fi
    echo "{\"exit\": $code, \"found\": $found}"
}
sum() { md5sum "$1" | cut -d ' ' -f 1; }
unchanged() { if [ "$(sum "$1")" = "$2" ]; then echo true; else echo false; fi; }
bench="flashscope bench write --size 64KiB --order sequential --erase"
mkdir -p /dev/pts /dev/disk/by-id
mount -t devpts devpts /dev/pts
mkfs.vfat -n PHOTOS /dev/sda > /dev/null
mkfs.vfat -n OTHER /dev/sdb > /dev/null
first=$(sum /dev/sda)
second=$(sum /dev/sdb)
try 'standard input is not a terminal' $bench /dev/sda
try 'it has no persistent name here' $bench --yes /dev/sda
ln -s ../../sda /dev/disk/by-id/usb-LAB
try 'use /dev/disk/by-id/usb-LAB' $bench --yes /dev/sda
mount /dev/sda /mnt
try 'sda is mounted at /mnt; unmount it first' $bench --yes /dev/disk/by-id/usb-LAB
umount /mnt
echo yes > /run/answer
try 'vfat "PHOTOS"' script -qec "$bench /dev/sda" /dev/null < /run/answer
unchanged /dev/sda $first
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
try 'no longer the medium' sh -c "cat /run/typescript; exit $code"
exec 3>&-
unchanged /dev/sda $first
echo sda > /run/answer
try 'Sequential write ' script -qec "$bench /dev/sda" /dev/null < /run/answer
unchanged /dev/sda $first
mkfs.vfat -n PHOTOS /dev/sda > /dev/null
first=$(sum /dev/sda)
try 'vfat "PHOTOS"' $bench --seed 2 --yes /dev/disk/by-id/usb-LAB
unchanged /dev/sda $first
unchanged /dev/sdb $second
"#;

#[test]
fn a_stick_is_erased_only_if_it_is_unused_and_the_person_confirms() {
    for (program, package) in [("mkfs.vfat", "dosfstools"), ("script", "bsdutils")] {
        if Command::new(program).arg("--help").output().is_err() {
            return skip(&format!("{program} is not installed (Debian: {package})"));
        }
    }
    let Some(documents) = results(&["--link", "5000", "--link", "480"], &[ERASE]) else { return };
    let refused = || serde_json::json!({ "exit": 4, "found": true });
    let done = || serde_json::json!({ "exit": 0, "found": true });
    let [is_unchanged, is_erased] = [true, false].map(Value::from);
    let expected = [
        vec![refused(), refused(), refused(), refused(), refused(), is_unchanged.clone()],
        vec![refused(), is_unchanged.clone()],
        vec![done(), is_erased.clone()],
        vec![done(), is_erased, is_unchanged],
    ];
    assert_eq!(documents, expected.concat());
}

/// Five sticks, each with a plan, an undo file and the journal of a killed measurement. Then one holds the
/// root of the commands (flashscope runs in it), one is mounted, one is swap space, one is under a volume of
/// device mapper and one in a RAID. Every command that writes is tried on each: one document for each, with
/// its exit code and messages. Then one stick is free, and gets what belongs to another one, a test before
/// its data is back, and what is its own. At the end: the sticks that were written before that, and the files
/// that were left.
const REFUSE: &str = r#"
export FLASHSCOPE_JOURNALS=/run/none
cd /run
mkdir -p /dev/disk/by-id root
users='root mounted swap volume raid'
set -- a b c d e
for user in $users; do
    name=/dev/disk/by-id/usb-$user
    ln -s ../../sd$1 $name
    flashscope plan $name --for share --fs vfat --erase-block 4MiB -q -o $user.json > /dev/null
    flashscope apply $user.json --yes --undo-file $user.undo -q > /dev/null
    FLASHSCOPE_JOURNALS=/run/$user flashscope bench write --scratch --yes -q $name > /dev/null 2>&1 &
    until [ -n "$(cat $user/*.journal 2> /dev/null | head -c 100)" ] || ! kill -0 $!; do sleep 0.1; done
    kill -9 $!
    wait $! 2> /dev/null
    shift
done
until mount /dev/sda1 root; do sleep 0.1; done 2> /dev/null
for folder in bin etc lib lib64 usr tmp proc sys dev run $(command -v flashscope | cut -d / -f 2); do
    mkdir -p root/$folder
    mount --bind /$folder root/$folder
done
until mount /dev/sdb1 /mnt; do sleep 0.1; done 2> /dev/null
until mkswap /dev/sdc1 && swapon /dev/sdc1; do sleep 0.1; done > /dev/null 2>&1
until echo "0 $(cat /sys/block/sdd/sdd1/size) linear /dev/sdd1 0" | dmsetup create --noudevsync files; do sleep 0.1; done 2> /dev/null
echo md0 > /sys/module/md_mod/parameters/new_array
cd /sys/block/md0/md
echo none > metadata_version
echo raid1 > level
echo 1 > raid_disks
until cat /sys/block/sde/sde1/dev > new_dev; do sleep 0.1; done 2> /dev/null
echo 0 > dev-sde1/slot
echo active > array_state
cd /run
sums() { sync; echo 3 > /proc/sys/vm/drop_caches; md5sum /dev/sd[a-e] | cut -d ' ' -f 1; }
sums > before
try() {
    case=$1
    shift
    in=
    if [ $case = root ]; then in='chroot /run/root'; fi
    $in "$@" > out 2>&1
    code=$?
    message=$(sed 's/["\\]/\\&/g' out | tr '\n\t' '  ')
    echo "{\"case\": \"$case\", \"command\": \"$*\", \"exit\": $code, \"message\": \"$message\"}"
}
for user in $users; do
    name=/dev/disk/by-id/usb-$user
    try $user flashscope check --erase --yes -q $name
    try $user flashscope check --erase --yes -q $(readlink -f $name)1
    try $user flashscope check --scratch --yes -q $name
    try $user flashscope bench write --erase --yes -q $name
    try $user flashscope verify --scratch --yes -q $name
    try $user flashscope verify --full --erase --yes -q $name
    try $user flashscope apply /run/$user.json --yes --undo-file /run/new.undo -q
    try $user flashscope undo /run/$user.undo --force --yes -q
    try $user env FLASHSCOPE_JOURNALS=/run/$user flashscope restore --force --yes -q
done
sums > after
# This writes to the stick: FAT notes that it was unmounted.
umount /mnt
sums > freed
free=/dev/disk/by-id/usb-mounted
try plan flashscope apply volume.json --target $free --yes --undo-file new.undo -q
try undo flashscope undo volume.undo --target $free --force --yes -q
try journal env FLASHSCOPE_JOURNALS=/run/volume flashscope restore --target $free --yes -q
try unfinished env FLASHSCOPE_JOURNALS=/run/mounted flashscope check --erase --yes -q $free
sums > refused
try restored env FLASHSCOPE_JOURNALS=/run/mounted flashscope restore --force --yes -q
try undone flashscope undo mounted.undo --yes -q
echo "\"written: $(diff before after | tr '\n' ' ')$(diff freed refused | tr '\n' ' ')\""
echo "\"left: $(ls new.undo none 2> /dev/null | tr '\n' ' ')\""
"#;

/// What each case is called, how often it is tried, its exit code, and what the message says.
const CASES: [(&str, usize, u32, &str); 11] = [
    ("root", 9, 4, "the running system lies on it; to test such a disk, start from another one"),
    ("mounted", 9, 4, "sdb1 is mounted at /mnt; unmount it first (umount /dev/sdb1)"),
    ("swap", 9, 4, "sdc1 is swap space; turn it off first (swapoff /dev/sdc1)"),
    (
        "volume",
        9,
        4,
        "dm-0 is using sdd1 (the volume files); unmount what is on it, then close it (dmsetup remove files)",
    ),
    (
        "raid",
        9,
        4,
        "md0 is using sde1 (a RAID); unmount what is on it, then close it (mdadm --stop /dev/md0)",
    ),
    ("plan", 1, 4, "; make a new plan"),
    ("undo", 1, 4, "; name the right one (--target)"),
    ("journal", 1, 4, "; nothing was written (--force restores anyway)"),
    ("unfinished", 1, 4, "has not put its data back; run: sudo flashscope restore /run/mounted/"),
    ("restored", 1, 0, "written back and compared"),
    ("undone", 1, 0, "What 'apply' overwrote holds its old contents"),
];

#[test]
fn a_stick_in_use_or_of_another_plan_is_refused_by_every_command_that_writes() {
    for (program, package) in
        [("mkfs.vfat", "dosfstools"), ("sfdisk", "fdisk"), ("mkswap", "util-linux"), ("dmsetup", "dmsetup")]
    {
        if Command::new(program).arg("--version").output().is_err() {
            return skip(&format!("{program} is not installed (Debian: {package})"));
        }
    }
    // Seventy starts of flashscope on an emulated processor, which other tests may slow down.
    let sticks = [&["--link", "480"].repeat(5)[..], &["--time-limit", "1800"]].concat();
    let Some(documents) = results(&sticks, &[REFUSE]) else { return };
    let (tried, end) = documents.split_at(documents.len() - 2);
    for (case, times, exit, words) in CASES {
        let of_case: Vec<&Value> = tried.iter().filter(|one| one["case"] == case).collect();
        assert_eq!(of_case.len(), times, "{case}: {tried:?}");
        for one in of_case {
            assert_eq!(one["exit"], exit, "{one}");
            assert!(one["message"].as_str().unwrap().contains(words), "{one}");
        }
    }
    assert_eq!(end, ["written: ", "left: "], "no stick was written, and no undo file or journal is left");
}

#[test]
fn invalid_arguments_are_refused_before_the_machine_starts() {
    for (arguments, expected) in [
        (&["--link", "11", "--", "true"][..], "5000, 480 or 12"),
        (&["--disk", "/nowhere.img", "--", "true"], "/nowhere.img"),
        (&["--disk", "/dev/null", "--", "true"], "never a disk of this host"),
        (&["--uas", "--link", "12", "--", "true"], "at least 480 Mbit/s"),
        (&[], "<COMMAND>"),
    ] {
        let output = lab(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_check_ends_with_an_error_if_the_stick_enumerates_again() {
    let command = "(sleep 1; cd /sys/bus/usb/devices/1-1; echo 0 > authorized; sleep 0.05; echo 1 > authorized) & \
                   flashscope check /dev/sda --json > /run/check; echo $?; cat /run/check; sleep 4; \
                   flashscope list --json";
    let Some(documents) = results(&["--link", "480"], &[command]) else { return };
    let [exit, check, list] = documents.as_slice() else { panic!("{documents:?}") };
    assert_eq!(*exit, 3, "the measurement failed: {check}");
    assert!(check["ended"].to_string().contains("the device vanished"), "{check}");
    assert_eq!(list["disks"][0]["path"], "/dev/sda", "it is listed again: {list}");
}

/// In the machine: FAT and exFAT are planned, applied, checked, mounted, filled and undone on a stick.
const LAYOUT: &str = r#"
export TMPDIR=/run
stick=/dev/disk/by-id/usb-LAB
mkdir -p /dev/disk/by-id
ln -s ../../sda $stick
cd /run
for kind in vfat exfat; do
    flashscope plan $stick --for share --fs $kind --erase-block 4MiB -q -o $kind.json > /dev/null
    flashscope apply $kind.json --yes --undo-file $kind.undo --json -q
    until [ -b /dev/sda1 ]; do sleep 0.1; done
    fsck.$kind -n /dev/sda1 >&2
    fsck=$?
    mount -t $kind /dev/sda1 /mnt && cp -r /etc/apt /mnt/ && umount /mnt
    mount -t $kind /dev/sda1 /mnt
    diff -r /etc/apt /mnt/apt >&2
    diff=$?
    flashscope undo $kind.undo --yes >&2
    mounted=$?
    umount /mnt
    flashscope undo $kind.undo --yes --json -q
    gone=true
    [ -b /dev/sda1 ] && gone=false
    echo "{\"fsck\": $fsck, \"diff\": $diff, \"mounted\": $mounted, \"gone\": $gone}"
done
"#;

#[test]
fn a_stick_is_formatted_as_planned_mounted_by_the_kernel_and_undone() {
    for (program, package) in [("mkfs.vfat", "dosfstools"), ("mkfs.exfat", "exfatprogs"), ("sfdisk", "fdisk")]
    {
        if Command::new(program).arg("--help").output().is_err() {
            return skip(&format!("{program} is not installed (Debian: {package})"));
        }
    }
    let Some(documents) = results(&["--link", "480"], &[LAYOUT]) else { return };
    let [vfat, vfat_undo, vfat_seen, exfat, exfat_undo, exfat_seen] = documents.as_slice() else {
        panic!("{documents:?}")
    };
    for applied in [vfat, exfat] {
        assert!(applied["bytes_written"].as_u64().unwrap() > 1 << 20, "{applied}");
    }
    for undone in [vfat_undo, exfat_undo] {
        assert!(undone["ranges_written"].as_u64().unwrap() > 0, "{undone}");
    }
    let expected = serde_json::json!({ "fsck": 0, "diff": 0, "mounted": 4, "gone": true });
    assert_eq!([vfat_seen, exfat_seen], [&expected; 2]);
}

/// In the machine: FAT and exFAT are checked in a file of their own, by root and by a user, on a stick that
/// holds another file.
const CHECK_DIRECTORY: &str = r#"
state() { md5sum < /mnt/holiday; df --output=avail /mnt; ls -a /mnt; }
for kind in vfat exfat; do
    mkfs.$kind /dev/sda > /dev/null
    mount -t $kind -o umask=000 /dev/sda /mnt
    head -c 3000000 /dev/urandom > /mnt/holiday
    sync
    before=$(state)
    flashscope check /mnt --json -q --write-budget 512MiB --time-budget 40
    setpriv --reuid 65534 --regid 65534 --clear-groups flashscope check /mnt --json -q --write-budget 64MiB --time-budget 10
    [ $kind = exfat ] || flashscope check /mnt --class --json -q --time-budget 40
    same=true
    [ "$before" = "$(state)" ] || same=false
    umount /mnt
    fsck.$kind -n /dev/sda >&2
    echo "{\"fsck\": $?, \"same\": $same}"
done
"#;

#[test]
fn a_directory_on_fat_is_checked_at_its_place_on_the_stick_and_nothing_is_left() {
    for (program, package) in
        [("mkfs.vfat", "dosfstools"), ("mkfs.exfat", "exfatprogs"), ("setpriv", "util-linux")]
    {
        if Command::new(program).arg("--help").output().is_err() {
            return skip(&format!("{program} is not installed (Debian: {package})"));
        }
    }
    let image = tempfile::NamedTempFile::new().unwrap();
    image.as_file().set_len(1 << 30).unwrap();
    let stick = ["--link", "480", "--disk", image.path().to_str().unwrap()];
    let Some(documents) = results(&stick, &[CHECK_DIRECTORY]) else { return };
    let [vfat, vfat_user, classes, vfat_state, exfat, exfat_user, exfat_state] = documents.as_slice() else {
        panic!("{documents:?}")
    };
    for (kind, root, user, state) in
        [("vfat", vfat, vfat_user, vfat_state), ("exfat", exfat, exfat_user, exfat_state)]
    {
        for check in [root, user] {
            let identity = &check["identity"];
            assert_eq!(
                (&identity["kind"], &identity["filesystem"]),
                (&"folder".into(), &kind.into()),
                "{check}"
            );
        }
        assert!(root["remarks"].to_string().contains("where the file lies on the device"), "{root}");
        assert!(root["verdict"]["numbers"][1]["bytes_per_s"].as_f64() > Some(0.0), "it writes: {root}");
        assert!(user["remarks"].to_string().contains("tells only root where a file lies"), "{user}");
        assert_eq!(*state, serde_json::json!({ "fsck": 0, "same": true }), "{kind}");
    }
    assert!(classes["classes"]["units"]["count"].as_u64() > Some(0), "{classes}");
}
