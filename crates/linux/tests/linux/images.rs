//! Image files, with every engine.

use std::fs;
use std::path::Path;
use std::time::Duration;

use flashscope_device::host::{LayerHost, ReadPath};
use flashscope_device::layer::Interrupt;
use flashscope_device::{
    BlockState, Buffer, Bytes, Capabilities, Device, DeviceError, DeviceExt, FailureCause, Lba, Op, Payload,
    Success, Tag,
};
use flashscope_linux::{Engine, LayeredTarget, OpenOptions, Remark, open};

use crate::support::{ENGINES, Image, PATTERN, check, range, run, run_all, skip};

const SIZE: Bytes = Bytes::mib(8);

#[test]
fn writes_reach_the_file() {
    for (engine, queue_depth) in ENGINES {
        let image = Image::of(SIZE);
        let mut device = image.erasable(engine, queue_depth);
        let own = Payload::Bytes(Buffer::from(&[0xa5; 4096][..]));
        let written = run(&mut device, Op::Write { range: range(4, 4), payload: own });
        assert_eq!(written.outcome, Ok(Success::Done));
        assert_eq!(written.buffer.map(|buffer| buffer.length()), Some(Bytes::kib(4)));
        // One request in registered memory, and one too large for it.
        for tested in [range(64, 16), range(1024, 1024)] {
            assert_eq!(run(&mut device, Op::write(tested, PATTERN)).outcome, Ok(Success::Done));
        }
        assert_eq!(run(&mut device, Op::Flush).outcome, Ok(Success::Done));
        let bytes = fs::read(&image.path).unwrap();
        assert!(bytes[..4096].iter().chain(&bytes[8192..65536]).all(|byte| *byte == 0));
        assert!(bytes[4096..8192].iter().all(|byte| *byte == 0xa5));
        assert!(PATTERN.check(Bytes::kib(64).sectors(), &bytes[64 << 10..80 << 10]).is_right());
        assert!(PATTERN.check(Bytes::mib(1).sectors(), &bytes[1 << 20..2 << 20]).is_right());
    }
}

#[test]
fn every_engine_reads_the_same_bytes() {
    let image = Image::of(SIZE);
    run(&mut image.erasable(Engine::Sync, 1), Op::write(range(0, 8192), PATTERN));
    for (engine, queue_depth) in ENGINES {
        let mut device = image.readable(engine, queue_depth);
        for tested in [range(0, 4), range(12, 64), range(64, 68), range(4096, 4096)] {
            let bytes = device.read_bytes(tested).unwrap().unwrap();
            assert_eq!(bytes.length(), tested.length);
            assert!(PATTERN.check(tested.offset.sectors(), &bytes).is_right(), "{engine:?}: {tested}");
        }
    }
}

#[test]
fn full_queue_of_checked_reads_finds_the_corrupt_block() {
    let image = Image::of(SIZE);
    run(&mut image.erasable(Engine::Sync, 1), Op::write(range(0, 8192), PATTERN));
    let mut bytes = fs::read(&image.path).unwrap();
    bytes[777 * 512 + 100] ^= 1;
    fs::write(&image.path, bytes).unwrap();
    for (engine, queue_depth) in ENGINES {
        let mut device = image.readable(engine, queue_depth);
        let ops = (0..2048).map(|index| check(range(index * 4, 4))).collect();
        let completions = run_all(&mut device, ops);
        let mut tags: Vec<u64> = completions.iter().map(|completion| completion.tag.0).collect();
        tags.sort_unstable();
        assert_eq!(tags, (0..2048).collect::<Vec<_>>());
        for completion in completions {
            assert!(completion.completed_at > completion.submitted_at);
            match completion.outcome.unwrap() {
                Success::Wrong(report) if completion.tag == Tag(777 / 8) => {
                    assert_eq!(report.first_wrong, Some((Lba(777), BlockState::Corrupt)));
                    assert_eq!((report.right, report.corrupt), (7, 1));
                }
                other => assert_eq!(other, Success::AllRight, "{:?}", completion.tag),
            }
        }
    }
}

#[test]
fn invalid_requests_are_refused_and_the_queue_depth_is_limited() {
    let image = Image::of(SIZE);
    for (engine, queue_depth) in ENGINES {
        let mut device = image.readable(engine, queue_depth);
        let mut cause = |op| run(&mut device, op).outcome.unwrap_err().cause;
        assert_eq!(cause(Op::read(range(8188, 8))), FailureCause::OutOfRange { capacity: SIZE });
        assert_eq!(cause(Op::write(range(0, 4), PATTERN)), FailureCause::ReadOnly);
        assert_eq!(cause(Op::Discard { range: range(0, 4) }), FailureCause::ReadOnly);
        for tag in 0..queue_depth {
            device.submit(Tag(tag.into()), Op::read(range(0, 4))).unwrap();
        }
        let overflow = device.submit(Tag(99), Op::read(range(0, 4)));
        assert_eq!(overflow, Err(DeviceError::QueueFull { queue_depth }));
        assert_eq!(run_all(&mut device, Vec::new()).len(), queue_depth as usize);
        assert!(device.wait().unwrap().is_none());
    }
}

#[test]
fn truncated_file_fails_reads_beyond_its_end_only() {
    for (engine, queue_depth) in ENGINES {
        let image = Image::of(SIZE);
        let mut device = image.readable(engine, queue_depth);
        image.resize(Bytes::mib(1));
        assert_eq!(run(&mut device, Op::read(range(1020, 4))).outcome, Ok(Success::Done));
        for beyond_end in [range(1020, 8), range(4096, 4)] {
            let error = run(&mut device, Op::read(beyond_end)).outcome.unwrap_err();
            assert_eq!(error.cause, FailureCause::OutOfRange { capacity: Bytes::mib(1) });
        }
    }
}

/// Direct I/O continues at whole blocks only, so the file's last incomplete block counts as not read.
#[test]
fn read_ends_at_an_incomplete_last_block() {
    let end = Bytes::mib(1) + Bytes::new(700);
    for (engine, queue_depth) in ENGINES {
        let image = Image::of(SIZE);
        let mut device = image.readable(engine, queue_depth);
        image.resize(end);
        for across in [range(1020, 8), range(1024, 4), range(960, 128)] {
            let error = run(&mut device, Op::read(across)).outcome.unwrap_err();
            assert_eq!(error.cause, FailureCause::OutOfRange { capacity: end }, "{engine:?}: {across}");
        }
    }
}

#[test]
fn pauses_flushes_and_discards_are_served() {
    for (engine, queue_depth) in ENGINES {
        let image = Image::of(SIZE);
        let mut device = image.erasable(engine, queue_depth);
        run(&mut device, Op::write(range(0, 64), PATTERN));
        assert_eq!(run(&mut device, Op::Flush).outcome, Ok(Success::Done));
        device.pause(Duration::from_micros(10)).unwrap();
        match run(&mut device, Op::Discard { range: range(16, 16) }).outcome {
            Ok(_) => {
                assert!(fs::read(&image.path).unwrap()[16 << 10..32 << 10].iter().all(|byte| *byte == 0))
            }
            // Not every filesystem can punch holes.
            Err(error) => assert_eq!(error.cause, FailureCause::Unsupported),
        }
        assert_eq!(run(&mut device, check(range(32, 32))).outcome, Ok(Success::AllRight));
    }
}

#[test]
fn device_can_be_dropped_with_requests_in_flight() {
    let image = Image::of(SIZE);
    for (engine, queue_depth) in ENGINES {
        let mut device = image.readable(engine, queue_depth);
        for tag in 0..queue_depth {
            device.submit(Tag(tag.into()), Op::read(range(u64::from(tag) * 128, 128))).unwrap();
        }
        drop(device);
    }
}

#[test]
fn odd_size_is_rounded_down_with_a_remark() {
    let image = Image::of(SIZE + Bytes::new(700));
    let device = image.readable(Engine::Sync, 1);
    let Capabilities { capacity, logical_block, .. } = device.capabilities();
    assert_eq!(capacity, (SIZE + Bytes::new(700)).round_down(logical_block));
    let remark = Remark::OddSize { size: SIZE + Bytes::new(700), logical_block };
    assert!(device.remarks().contains(&remark));
    assert!(device.remarks().contains(&Remark::ImageFile));
}

/// That a stick needs a new partition table is no advice for an image.
#[test]
fn written_image_has_no_remark_about_lost_contents() {
    for device in [Image::of(SIZE).erasable(Engine::Sync, 1), Image::of(SIZE).readable(Engine::Sync, 1)] {
        assert!(!device.remarks().contains(&Remark::Erased), "{:?}", device.remarks());
    }
}

#[test]
fn file_in_memory_works_with_a_remark() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else { return skip("no /dev/shm to write to") };
    let image = Image { path: directory.path().join("stick.img"), directory };
    fs::write(&image.path, vec![0; 1 << 20]).unwrap();
    for (engine, queue_depth) in ENGINES {
        let mut device = image.erasable(engine, queue_depth);
        assert!(device.remarks().contains(&Remark::InMemory), "{:?}", device.remarks());
        run(&mut device, Op::write(range(0, 1024), PATTERN));
        assert_eq!(run(&mut device, check(range(0, 1024))).outcome, Ok(Success::AllRight));
    }
}

/// Files of sysfs are regular files that refuse direct I/O, on every machine and for every user.
#[test]
fn refused_direct_io_falls_back_to_the_page_cache_with_a_remark() {
    let path = Path::new("/sys/kernel/btf/vmlinux");
    let Ok(bytes) = fs::read(path) else { return skip("this kernel shows no /sys/kernel/btf/vmlinux") };
    for (engine, queue_depth) in ENGINES {
        let options = OpenOptions { engine, queue_depth, ..OpenOptions::default() };
        let mut device = open(path, &options).unwrap();
        assert!(device.remarks().contains(&Remark::Buffered), "{:?}", device.remarks());
        // Its reads block, so a queue needs threads.
        let is_queued = engine != Engine::Sync;
        assert_eq!(device.remarks().contains(&Remark::ServedByThreads), is_queued, "{engine:?}");
        assert!(!device.remarks().contains(&Remark::ServedSequentially), "{engine:?}");
        let read = device.read_bytes(range(0, 128)).unwrap().unwrap();
        assert_eq!(read[..], bytes[..128 << 10]);
    }
}

/// Otherwise the page cache would be measured in place of the device.
#[test]
fn layer_of_the_device_is_not_there_where_direct_io_is_refused() {
    let path = Path::new("/sys/kernel/btf/vmlinux");
    let Ok(bytes) = fs::read(path) else { return skip("this kernel shows no /sys/kernel/btf/vmlinux") };
    let mut target = LayeredTarget::open(path, &Interrupt::default()).unwrap();
    assert!(!LayerHost::open(&mut target, ReadPath::Direct).unwrap());
    assert!(LayerHost::open(&mut target, ReadPath::PageCache).unwrap());
    let mut read = Buffer::zeroed(Bytes::kib(128));
    target.read(Bytes::ZERO, &mut read).unwrap();
    assert_eq!(read[..], bytes[..128 << 10]);
}
