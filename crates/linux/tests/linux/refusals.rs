//! A kernel that takes no more requests, or fails to. A seccomp filter plays it, in a thread of its own: it answers
//! every `io_uring_enter` that hands over requests, and lets those pass that only wait.

use std::fs;
use std::mem::offset_of;
use std::thread;

use flashscope_device::{Bytes, Device, DeviceError, Op, Success, Tag};
use flashscope_linux::Engine;

use crate::support::{Image, PATTERN, check, range, run, skip};

const SIZE: Bytes = Bytes::mib(1);

/// Where the filter finds the low half of `to_submit`, the second argument of `io_uring_enter`.
const TO_SUBMIT: usize =
    offset_of!(libc::seccomp_data, args) + 8 + if cfg!(target_endian = "big") { 4 } else { 0 };

/// Makes the kernel answer this thread with `errno` whenever it hands requests over, for the rest of its life; false
/// where filters are not to be had.
fn refuse_requests(errno: i32) -> bool {
    let (load, equals, answer) = (
        (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
        (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        (libc::BPF_RET | libc::BPF_K) as u16,
    );
    let step = |code, k: u32, jt, jf| libc::sock_filter { code, jt, jf, k };
    let mut steps = [
        step(load, offset_of!(libc::seccomp_data, nr) as u32, 0, 0),
        step(equals, libc::SYS_io_uring_enter as u32, 0, 3),
        step(load, TO_SUBMIT as u32, 0, 0),
        step(equals, 0, 1, 0),
        step(answer, libc::SECCOMP_RET_ERRNO | errno.cast_unsigned(), 0, 0),
        step(answer, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: takes plain numbers and changes this thread only.
    let is_bound = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
    // SAFETY: the program and its steps outlive the call, which copies them.
    is_bound
        && unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) } == 0
}

/// What `work` returns under such a kernel; `None`, said aloud, where it cannot be played.
fn refusing<T: Send>(errno: i32, work: impl FnOnce() -> T + Send) -> Option<T> {
    let done = thread::scope(|scope| scope.spawn(|| refuse_requests(errno).then(work)).join().unwrap());
    if done.is_none() {
        skip("no seccomp filters here");
    }
    done
}

fn submit(device: &mut impl Device, tag: u64, op: impl Fn(u64) -> Op) {
    device.submit(Tag(tag), op(tag)).unwrap();
}

/// The next two completions' tags, in order.
fn two_tags(device: &mut impl Device) -> [u64; 2] {
    let mut tags = [(); 2].map(|()| {
        let completion = device.wait().unwrap().unwrap();
        assert_eq!(completion.outcome, Ok(Success::AllRight));
        completion.tag.0
    });
    tags.sort_unstable();
    tags
}

/// EAGAIN and EBUSY: "wait for some completions and try again" (`io_uring_enter(2)`).
#[test]
fn what_the_kernel_has_no_room_for_waits_until_it_has() {
    for errno in [libc::EAGAIN, libc::EBUSY] {
        let image = Image::of(SIZE);
        run(&mut image.erasable(Engine::Sync, 1), Op::write(range(0, 1024), PATTERN));
        let mut device = image.readable(Engine::Ring, 4);
        let read = |tag| check(range(tag * 64, 64));
        // An eighth of a queue: handed over at once.
        submit(&mut device, 0, read);
        submit(&mut device, 1, read);
        let first = refusing(errno, || {
            submit(&mut device, 2, read);
            submit(&mut device, 3, read);
            two_tags(&mut device)
        });
        let Some(first) = first else { return };
        assert_eq!((first, two_tags(&mut device)), ([0, 1], [2, 3]));
        assert!(device.wait().unwrap().is_none());
    }
}

#[test]
fn nothing_is_written_after_an_error_was_reported() {
    for errno in [libc::EAGAIN, libc::EPERM] {
        let image = Image::of(SIZE);
        // One request is less than an eighth of the queue: it is handed over by the wait.
        let mut device = image.erasable(Engine::Ring, 16);
        let write = |tag| Op::write(range(tag * 4, 4), PATTERN);
        let failed = refusing(errno, || {
            submit(&mut device, 0, write);
            device.wait().unwrap_err()
        });
        let Some(failed) = failed else { return };
        assert_eq!(failed, DeviceError::System { during: "io_uring".to_owned(), errno });
        // The kernel would take it now.
        assert_eq!(device.wait().unwrap_err(), failed);
        assert_eq!(device.submit(Tag(1), write(1)), Err(failed));
        drop(device);
        assert!(fs::read(&image.path).unwrap().iter().all(|byte| *byte == 0), "written after error {errno}");
    }
}
