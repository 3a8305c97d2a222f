//! Sticks with single reported figures: the model reproduces them. (`cargo xtask fidelity` validates
//! published tables.)

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern, ReadInto, Success};
use flashscope_sim::{Target, VirtualStick, target};

/// A built-in stick without noise.
fn quiet(name: &str) -> VirtualStick {
    target::open(&format!("{name}?noise=0")).unwrap()
}

fn run(stick: &mut VirtualStick, op: Op) {
    stick.run(op).unwrap().outcome.unwrap();
}

fn read(stick: &mut VirtualStick, offset: Bytes, length: Bytes) {
    run(stick, Op::read(ByteRange::new(offset, length)));
}

fn write(stick: &mut VirtualStick, offset: Bytes, length: Bytes) {
    run(stick, Op::write(ByteRange::new(offset, length), Pattern::new(1)));
}

/// The seconds of `work` on a stick.
fn seconds(stick: &mut VirtualStick, work: impl FnOnce(&mut VirtualStick)) -> f64 {
    let before = stick.now();
    work(stick);
    stick.now().since(before).as_secs_f64()
}

/// 10^6 bytes per second of `count` sequential requests from 96 MiB on: the start of an erase block on every
/// stick here.
fn rate(name: &str, op: fn(&mut VirtualStick, Bytes, Bytes), length: Bytes, count: u64) -> f64 {
    let mut stick = quiet(name);
    let taken = seconds(&mut stick, |stick| {
        (0..count).for_each(|step| op(stick, Bytes::mib(96) + length * step, length));
    });
    (length * count).as_f64() / taken / 1e6
}

/// 10^6 bytes per second of random requests inside 16 MiB, none of them at an erase-block boundary.
fn random_rate(name: &str, op: fn(&mut VirtualStick, Bytes, Bytes), length: Bytes) -> f64 {
    let mut stick = quiet(name);
    let slots = Bytes::mib(16) / length;
    let offsets: Vec<Bytes> = (0..slots.min(2000))
        .map(|step| length * (step * 7919 % slots))
        .filter(|offset| (1..7).contains(&(*offset / Bytes::kib(512) % 8)))
        .collect();
    let taken = seconds(&mut stick, |stick| {
        offsets.iter().for_each(|offset| op(stick, Bytes::mib(96) + *offset, length));
    });
    (length * offsets.len() as u64).as_f64() / taken / 1e6
}

#[track_caller]
fn assert_about(figure: f64, reported: f64, tolerance: f64) {
    let error = figure / reported - 1.0;
    assert!(error.abs() <= tolerance, "{figure:.3} instead of {reported}: {:+.1} %", error * 100.0);
}

/// The weblog's Transcend 8 GB: hdparm -t; dd in large synchronous writes; dd into a filesystem that was not
/// aligned, and aligned.
#[test]
fn transcend_8g() {
    assert_about(rate("transcend-8g", read, Bytes::kib(512), 200), 33.4, 0.03);
    assert_about(rate("transcend-8g", write, Bytes::mib(1), 200), 14.2, 0.05);
    // Writes of one filesystem cluster are slower than large ones and faster than random ones.
    let small = rate("transcend-8g", write, Bytes::kib(4), 1000);
    assert!((1.0..6.2).contains(&small), "{small}");
}

/// ZDNet's generic 2 GB stick: 2 000 files in 16 minutes, 10 small-write IOPS; 16 MB in under a minute;
/// a factor of 15.
#[test]
fn generic_2g() {
    let mut stick = quiet("generic-2g");
    let small = seconds(&mut stick, |stick| {
        (0..600).for_each(|step| write(stick, Bytes::kib(2) * (step * 7919 % 100_000), Bytes::kib(2)));
    });
    assert_about(600.0 / small, 10.0, 0.1);
    // A file takes about five writes: data, directory entry, and both copies of the table.
    assert_about(2000.0 * 5.0 * small / 600.0, 16.0 * 60.0, 0.15);
    let large = seconds(&mut stick, |stick| {
        (0..128).for_each(|step| write(stick, Bytes::mib(512) + Bytes::kib(128) * step, Bytes::kib(128)));
    });
    assert!((2.0..60.0).contains(&large), "{large}");
    // Also if the system combines writes, so that each file costs one write, as Linux does on FAT with
    // clusters of 32 KiB.
    let offset = |file: u64| Bytes::mib(512) + Bytes::kib(32) * file;
    let combined = seconds(&mut stick, |stick| {
        (0..2000).for_each(|file| write(stick, offset(file), Bytes::kib(8)));
    });
    assert!((14.0..18.0).contains(&(combined / large)), "{combined} s for {large} s");
}

/// dd with oflag=sync: 10 MB in requests of 1 MiB, each flushed.
fn ten_synchronous_megabytes(name: &str) -> f64 {
    let mut stick = quiet(name);
    seconds(&mut stick, |stick| {
        for step in 0..10 {
            write(stick, Bytes::mib(64 + step), Bytes::mib(1));
            run(stick, Op::Flush);
        }
    })
}

/// 1 GB of raw writes in samples of 10 MiB, spread over the stick.
fn hundred_samples(name: &str) -> f64 {
    let mut stick = quiet(name);
    let stride = (stick.capabilities().capacity / 100).round_down(Bytes::mib(1));
    seconds(&mut stick, |stick| {
        for sample in 0..100 {
            (0..10).for_each(|step| write(stick, stride * sample + Bytes::mib(step), Bytes::mib(1)));
        }
        run(stick, Op::Flush);
    })
}

/// ADMIN's three sticks: over 10 MB the Samsung is almost twice as fast as the cheap one and the `SanDisk`
/// last; over 1 GB the Samsung is four times, the `SanDisk` almost twice as fast as the cheap one.
#[test]
fn three_sticks_of_admin() {
    let names = ["cheap-usb3-32g", "sandisk-cruzer-fit", "samsung-fit-plus"];
    let [cheap, sandisk, samsung] = names.map(ten_synchronous_megabytes);
    assert_about(cheap / samsung, 1.9, 0.1);
    assert!(sandisk > cheap * 1.1, "{sandisk} {cheap}");
    let [cheap, sandisk, samsung] = names.map(hundred_samples);
    assert_about(cheap / samsung, 4.0, 0.1);
    assert_about(cheap / sandisk, 1.85, 0.1);
}

/// The seconds of 33 000 files of 12 KiB in a given order.
fn kernel_tree(name: &str, op: fn(&mut VirtualStick, Bytes, Bytes), order: impl Fn(u64) -> u64) -> f64 {
    let mut stick = quiet(name);
    let file = Bytes::kib(12);
    seconds(&mut stick, |stick| {
        (0..33_000).for_each(|step| op(stick, Bytes::mib(64) + file * order(step), file));
    })
}

/// The bounds of a filesystem that writes the tree: 400 MB sequentially at best, each file at a random offset
/// at worst.
fn bounds(name: &str) -> (f64, f64) {
    (400.0 / rate(name, write, Bytes::kib(120), 3000), kernel_tree(name, write, |step| step * 7919 % 50_000))
}

/// `LinuxPlanet`'s Class 10 card: one file of 66.7 MB, and a kernel tree of 33 000 small files under six
/// filesystems.
#[test]
fn linuxplanet_class_10_card() {
    let name = "linuxplanet-class10-sd";
    assert_about(66.7 / rate(name, write, Bytes::kib(120), 500), 8.36, 0.04);
    assert_about(66.7 / rate(name, read, Bytes::kib(120), 500), 4.55, 0.04);
    assert_about(kernel_tree(name, read, |step| step * 2), 53.0, 0.1);
    let (best, worst) = bounds(name);
    assert!(best < 125.0 && worst > 582.0, "{best} {worst}");
}

/// `LinuxPlanet`'s stick without a name: the kernel tree alone.
#[test]
fn linuxplanet_stick_without_a_name() {
    let name = "linuxplanet-noname-2g";
    assert_about(kernel_tree(name, read, |step| step * 2), 50.0, 0.1);
    let (best, worst) = bounds(name);
    assert!(best < 156.0 && worst > 750.0, "{best} {worst}");
}

/// The review of the `SanDisk` Ultra 64 GB.
#[test]
fn a1_card() {
    let name = "a1-card-64g";
    assert_about(rate(name, write, Bytes::kib(64), 1000), 15.9, 0.03);
    assert_about(rate(name, write, Bytes::kib(120), 1000), 19.6, 0.03);
    for (kib, reported) in [(4, 2.18), (16, 6.20), (64, 13.5), (512, 18.2)] {
        assert_about(random_rate(name, write, Bytes::kib(kib)), reported, 0.06);
    }
    assert_about(0.001 / random_rate(name, read, Bytes::kib(1)) * 1.024, 0.85e-3, 0.05);
}

/// The review of the Lexar 633x, with garbage-collection stalls of minutes.
#[test]
fn lexar_633x() {
    let name = "lexar-633x-16g";
    assert_about(rate(name, read, Bytes::kib(120), 500), 20.4, 0.02);
    assert_about(rate(name, write, Bytes::kib(64), 1000), 11.2, 0.03);
    for (kib, reported) in [(4, 1.20), (16, 4.54), (64, 8.78), (512, 12.07)] {
        assert_about(random_rate(name, write, Bytes::kib(kib)), reported, 0.06);
    }
    let mut stick = quiet(name);
    let longest =
        (0..5000).map(|step| seconds(&mut stick, |stick| write(stick, Bytes::mib(step), Bytes::mib(1))));
    assert!(longest.fold(0.0, f64::max) > 60.0);
}

/// All numbers of the modern stick are assumed. It must show the known behaviour of such sticks.
#[test]
fn modern_ssd_stick() {
    let name = "modern-ssd-stick-128g";
    let fast = rate(name, write, Bytes::mib(1), 1000);
    let sustained = quiet(name).profile().sustained_write_per_s().as_f64() / 1e6;
    assert!(fast > 300.0 && (30.0..120.0).contains(&sustained), "{fast} {sustained}");
    let mut stick = quiet(name);
    let cache = stick.profile().truth().slc_cache.unwrap();
    let slow = (0..20_000).find(|step| {
        let taken = seconds(&mut stick, |stick| {
            (0..4).for_each(|part| write(stick, Bytes::mib(step * 4 + part), Bytes::mib(1)));
        });
        taken > Bytes::mib(4).as_f64() / 200e6
    });
    assert_about((Bytes::mib(4) * slow.unwrap()).as_f64(), cache.as_f64(), 0.01);
}

/// The review of the Lexar S75: sequential throughput, and IOPS at 4 KiB.
#[test]
fn lexar_s75() {
    let name = "lexar-s75-128g";
    assert_about(rate(name, read, Bytes::mib(1), 500), 136.0, 0.02);
    assert_about(rate(name, write, Bytes::mib(1), 500), 98.0, 0.02);
    assert_about(random_rate(name, read, Bytes::kib(4)) / 4096e-6, 1010.0, 0.03);
    assert_about(random_rate(name, write, Bytes::kib(4)) / 4096e-6, 141.0, 0.03);
}

/// Writes 4 MiB at the start and 4 MiB at `offset` of a counterfeit, and returns whether each is right
/// afterwards.
fn kept(name: &str, offset: Bytes) -> (bool, bool) {
    let mut stick = Target::parse(&format!("{name}?noise=0")).unwrap().device().unwrap();
    let pattern = Pattern::new(1);
    for start in [Bytes::ZERO, offset] {
        stick.run(Op::write(ByteRange::new(start, Bytes::mib(4)), pattern)).unwrap().outcome.unwrap();
    }
    let mut is_right = |start| {
        let range = ByteRange::new(start, Bytes::kib(4));
        let check = stick.run(Op::Read { range, into: ReadInto::Check(pattern) }).unwrap();
        check.outcome.unwrap() == Success::AllRight
    };
    (is_right(Bytes::ZERO), is_right(offset))
}

#[test]
fn counterfeits_lose_data_beyond_their_real_size() {
    assert_eq!(kept("counterfeit-64g-wrap", Bytes::mib(7680)), (false, true), "the start is overwritten");
    assert_eq!(kept("counterfeit-64g-wrap", Bytes::mib(7000)), (true, true));
    assert_eq!(
        kept("counterfeit-128g-limbo", Bytes::mib(15360)),
        (true, false),
        "data beyond the real size is dropped"
    );
    assert_eq!(kept("counterfeit-128g-limbo", Bytes::mib(15000)), (true, true));
}
