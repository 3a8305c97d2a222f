//! A kernel that refuses or fails to take requests. A seccomp filter simulates it in a thread of its own.
//! It refuses every `io_uring_enter` that submits one request, and passes those that submit several or only
//! wait.

#![expect(unsafe_code, reason = "a seccomp filter is set with prctl, which libc alone has")]

use std::fs;
use std::mem::offset_of;
use std::thread;

use flashscope_device::{Bytes, Device, DeviceError, Op, Success, Tag};
use flashscope_linux::Engine;

use crate::support::{Image, PATTERN, check, range, run, skip};

const SIZE: Bytes = Bytes::mib(1);

/// The offset of the low half of `to_submit`, the second argument of `io_uring_enter`.
const TO_SUBMIT: usize =
    offset_of!(libc::seccomp_data, args) + 8 + if cfg!(target_endian = "big") { 4 } else { 0 };

/// Makes the kernel return `errno` whenever this thread submits one request, until the thread ends. False
/// where filters are not available.
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
        step(equals, 1, 0, 1),
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

/// The result of `work` under such a kernel, on the value of `ready` from before. `None`, with a message,
/// where filters are not available.
fn refusing<D, T: Send>(
    errno: i32,
    ready: impl FnOnce() -> D + Send,
    work: impl FnOnce(D) -> T + Send,
) -> Option<T> {
    let played = || {
        let ready = ready();
        refuse_requests(errno).then(|| work(ready))
    };
    let done = thread::scope(|scope| scope.spawn(played).join().unwrap());
    if done.is_none() {
        skip("no seccomp filters here");
    }
    done
}

fn submit(device: &mut impl Device, tag: u64, op: impl Fn(u64) -> Op) {
    device.submit(Tag(tag), op(tag)).unwrap();
}

/// The tags of the next two completions, sorted.
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
fn request_refused_for_lack_of_space_is_submitted_later() {
    for errno in [libc::EAGAIN, libc::EBUSY] {
        let image = Image::of(SIZE);
        run(&mut image.erasable(Engine::Sync, 1), Op::write(range(0, 1024), PATTERN));
        let read = |tag| check(range(tag * 64, 64));
        // More than an eighth of the queue: submitted at once.
        let ready = || {
            let mut device = image.readable(Engine::Ring, 4);
            submit(&mut device, 0, read);
            submit(&mut device, 1, read);
            device
        };
        let tags = refusing(errno, ready, |mut device| {
            submit(&mut device, 2, read);
            let first = two_tags(&mut device);
            submit(&mut device, 3, read);
            let second = two_tags(&mut device);
            assert!(device.wait().unwrap().is_none());
            (first, second)
        });
        let Some(tags) = tags else { return };
        assert_eq!(tags, ([0, 1], [2, 3]));
    }
}

#[test]
fn nothing_is_written_after_an_error_was_reported() {
    for errno in [libc::EAGAIN, libc::EPERM] {
        let image = Image::of(SIZE);
        let write = |tag| Op::write(range(tag * 4, 4), PATTERN);
        // One request is less than an eighth of the queue: the wait submits it.
        let ready = || image.erasable(Engine::Ring, 16);
        let failed = refusing(errno, ready, |mut device| {
            submit(&mut device, 0, write);
            let failed = device.wait().unwrap_err();
            // The kernel would take two.
            assert_eq!(device.submit(Tag(1), write(1)), Err(failed.clone()));
            assert_eq!(device.wait().unwrap_err(), failed);
            failed
        });
        let Some(failed) = failed else { return };
        assert_eq!(failed, DeviceError::System { during: "io_uring".to_owned(), errno });
        assert!(fs::read(&image.path).unwrap().iter().all(|byte| *byte == 0), "written after error {errno}");
    }
}
