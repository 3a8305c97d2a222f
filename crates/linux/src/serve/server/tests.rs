//! Requests in, answers out, without a kernel between: what they hold, in what order they come, and that every one is answered.

use std::sync::mpsc::{Receiver, Sender, channel};

use flashscope_device::layer::{FaultSpec, Faulty};
use flashscope_device::memory::MemoryDevice;

use super::super::request::Reply;
use super::*;

type Answers = Receiver<Result<Vec<u8>, Errno>>;

fn request(ask: Ask) -> (Message, Answers) {
    let (sender, answer) = channel();
    (Message::Request(Request { arrived_at: Instant::ZERO, ask, reply: Reply::Test(sender) }), answer)
}

fn range(offset: u64, length: u64) -> ByteRange {
    ByteRange::new(Bytes::new(offset), Bytes::new(length))
}

fn write(offset: u64, data: &[u8]) -> Ask {
    Ask::Write { offset: Bytes::new(offset), data: Buffer::from(data), then_flush: false }
}

/// Sends `asks` to a server of `device`, all before it looks, and returns what it answers. Whoever asked is there until all is
/// answered: nothing is begun for one who is gone.
fn serve<D: Device + Send>(device: D, pace: Pace, asks: Vec<Ask>) -> (Vec<Result<Vec<u8>, Errno>>, Ended<D>) {
    let (sender, messages): (Sender<Message>, _) = channel();
    let waiting: Vec<Answers> = asks
        .into_iter()
        .map(|ask| {
            let (message, answer) = request(ask);
            sender.send(message).unwrap();
            answer
        })
        .collect();
    std::thread::scope(|scope| {
        let server = scope.spawn(move || Server::new(device, pace, Clock::start()).run(&messages));
        let answers = waiting.iter().map(|answer| answer.recv().unwrap()).collect();
        drop(sender);
        (answers, server.join().unwrap())
    })
}

#[test]
fn reads_and_writes_may_begin_and_end_within_a_block() {
    let asks = vec![
        write(0, &[1; 2048]),
        write(500, &[2; 100]),
        write(1023, &[3]),
        Ask::Read(range(499, 102)),
        Ask::Read(range(1022, 3)),
        Ask::Discard(range(512, 512)),
        Ask::Read(range(511, 514)),
    ];
    let (answers, ended) = serve(MemoryDevice::new(Bytes::mib(1)), Pace::AtOnce, asks);
    assert_eq!(answers[3], Ok([vec![1], vec![2; 100], vec![1]].concat()));
    assert_eq!(answers[4], Ok(vec![1, 3, 1]));
    assert_eq!(answers[6], Ok([vec![2], vec![0; 512], vec![1]].concat()));
    let served = ended.served;
    assert_eq!((served.reads, served.writes, served.discards, served.failed), (3, 3, 1, 0));
    assert_eq!((served.bytes_read, served.bytes_written), (Bytes::new(619), Bytes::new(2149)));
    assert_eq!(served.error, None);
}

#[test]
fn more_requests_than_the_queue_takes_are_all_answered_in_time() {
    let asks = (0..100).map(|index| Ask::Read(range(index * 512, 512))).collect();
    let (answers, ended) = serve(MemoryDevice::new(Bytes::mib(1)), Pace::Speed(50.0), asks);
    assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|data| data.len() == 512)));
    assert_eq!(ended.served.requests(), 100);
    let error = ended.served.error.unwrap();
    assert!(error.median <= error.percentile_99 && error.percentile_99 <= error.max);
    assert!(ended.device.now() >= Instant::from_nanos(100 * 100_000), "each took its 100 us of device time");
}

/// A device that notes what it was asked.
struct Noting<D>(D, Vec<Op>);

impl<D: Device> Device for Noting<D> {
    fn capabilities(&self) -> flashscope_device::Capabilities {
        self.0.capabilities()
    }
    fn now(&self) -> Instant {
        self.0.now()
    }
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        self.1.push(op.clone());
        self.0.submit(tag, op)
    }
    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.0.wait()
    }
}

fn noted(asks: Vec<Message>, overhead: Overhead, pace: Pace) -> Vec<Op> {
    let (sender, messages) = channel();
    asks.into_iter().for_each(|ask| sender.send(ask).unwrap());
    drop(sender);
    let device = Noting(MemoryDevice::new(Bytes::mib(1)), Vec::new());
    let mut server = Server::new(device, pace, Clock::start());
    server.overhead = overhead;
    server.run(&messages).device.1
}

#[test]
fn a_synchronous_write_is_answered_after_its_flush() {
    let ask = Ask::Write { offset: Bytes::ZERO, data: Buffer::zeroed(Bytes::kib(4)), then_flush: true };
    let (message, answer) = request(ask);
    let ops = noted(vec![message], Overhead::default(), Pace::AtOnce);
    assert!(matches!(ops[..], [Op::Write { .. }, Op::Flush]), "{ops:?}");
    assert_eq!(answer.recv().unwrap(), Ok(vec![]));
}

#[test]
fn time_without_requests_passes_on_the_device_as_well() {
    let (mut message, _answer) = request(Ask::Flush);
    let Message::Request(request) = &mut message else { unreachable!() };
    // A minute after the start, whenever that was.
    request.arrived_at = Instant::from_nanos(60_000_000_000);
    let ops = noted(vec![message], Overhead::default(), Pace::Speed(1000.0));
    let [Op::Pause { duration }, Op::Flush] = ops[..] else { panic!("{ops:?}") };
    let seconds = duration.as_secs_f64();
    assert!((59_000.0..=60_000.0).contains(&seconds), "{seconds} s at a thousand times the speed");
}

#[test]
fn nobody_waits_for_a_device_that_is_gone() {
    let unplug: FaultSpec = "unplug:after=2".parse().unwrap();
    let device = Faulty::new(MemoryDevice::new(Bytes::mib(1)), &[unplug], 1).unwrap();
    let asks = (0..80).map(|index| Ask::Read(range(index * 512, 512))).collect();
    let (answers, ended) = serve(device, Pace::AtOnce, asks);
    assert!(answers[79] == Err(Errno::IO), "{:?}", answers[79]);
    let failed = answers.iter().filter(|answer| answer.is_err()).count() as u64;
    assert_eq!((ended.served.failed, ended.served.requests()), (failed, 80));
    assert!(matches!(ended.failure, Some(DeviceError::Gone { .. })));
}

#[test]
fn a_failed_request_says_so_and_the_next_is_served() {
    let bad: FaultSpec = "read-errors:range=4KiB+4KiB".parse().unwrap();
    let device = Faulty::new(MemoryDevice::new(Bytes::mib(1)), &[bad], 1).unwrap();
    // The partial write reads what it leaves as it was, and cannot.
    let asks = vec![Ask::Read(range(4096, 512)), write(4100, &[1; 10]), Ask::Read(range(0, 3))];
    let (answers, ended) = serve(device, Pace::AtOnce, asks);
    assert_eq!(answers, [Err(Errno::IO), Err(Errno::IO), Ok(vec![0; 3])]);
    assert_eq!((ended.served.failed, ended.failure), (2, None));
}

#[test]
fn told_to_stop_it_refuses_what_it_has_not_begun() {
    let (sender, messages) = channel();
    let (message, answer) = request(Ask::Read(range(0, 512)));
    sender.send(Message::Stop).unwrap();
    sender.send(message).unwrap();
    let ended = Server::new(MemoryDevice::new(Bytes::mib(1)), Pace::AtOnce, Clock::start()).run(&messages);
    assert_eq!(ended.served.requests(), 0);
    drop(messages);
    assert!(answer.recv().is_err(), "dropped, which the kernel is told as EIO");
}
