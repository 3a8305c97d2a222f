//! Requests and replies without a kernel: their contents, their order, and that every request gets a reply.

use std::sync::mpsc::{Receiver, Sender, channel};

use flashscope_device::layer::{FaultSpec, Faulty};
use flashscope_device::memory::MemoryDevice;

use super::super::request::Reply;
use super::*;

type ReplyQueue = Receiver<Result<Vec<u8>, Errno>>;

fn request(operation: Operation) -> (Message, ReplyQueue) {
    let (sender, reply) = channel();
    (Message::Request(Request { arrived_at: Instant::ZERO, operation, reply: Reply::Test(sender) }), reply)
}

fn range(offset: u64, length: u64) -> ByteRange {
    ByteRange::new(Bytes::new(offset), Bytes::new(length))
}

fn write(offset: u64, data: &[u8]) -> Operation {
    Operation::Write { offset: Bytes::new(offset), data: Buffer::from(data), flush_after: false }
}

/// Sends `operations` to a server of `device` before it starts, and returns the replies. The senders live
/// until all replies have arrived, because the server starts no operation for a disconnected sender.
fn serve<D: Device + Send>(
    device: D,
    speed: ServeSpeed,
    operations: Vec<Operation>,
) -> (Vec<Result<Vec<u8>, Errno>>, Ended<D>) {
    let (sender, messages): (Sender<Message>, _) = channel();
    let waiting: Vec<ReplyQueue> = operations
        .into_iter()
        .map(|operation| {
            let (message, reply) = request(operation);
            sender.send(message).unwrap();
            reply
        })
        .collect();
    std::thread::scope(|scope| {
        let server = scope.spawn(move || Server::new(device, speed, Clock::start()).run(&messages));
        let replies = waiting.iter().map(|reply| reply.recv().unwrap()).collect();
        drop(sender);
        (replies, server.join().unwrap())
    })
}

#[test]
fn reads_and_writes_need_not_be_block_aligned() {
    let operations = vec![
        write(0, &[1; 2048]),
        write(500, &[2; 100]),
        write(1023, &[3]),
        Operation::Read(range(499, 102)),
        Operation::Read(range(1022, 3)),
        Operation::Discard(range(512, 512)),
        Operation::Read(range(511, 514)),
    ];
    let (replies, ended) = serve(MemoryDevice::new(Bytes::mib(1)), ServeSpeed::Immediate, operations);
    assert_eq!(replies[3], Ok([vec![1], vec![2; 100], vec![1]].concat()));
    assert_eq!(replies[4], Ok(vec![1, 3, 1]));
    assert_eq!(replies[6], Ok([vec![2], vec![0; 512], vec![1]].concat()));
    let statistics = ended.statistics;
    assert_eq!((statistics.reads, statistics.writes, statistics.discards, statistics.failed), (3, 3, 1, 0));
    assert_eq!((statistics.bytes_read, statistics.bytes_written), (Bytes::new(619), Bytes::new(2149)));
    assert_eq!(statistics.error, None);
}

#[test]
fn more_requests_than_the_queue_depth_are_all_answered() {
    let operations = (0..100).map(|index| Operation::Read(range(index * 512, 512))).collect();
    let (replies, ended) = serve(MemoryDevice::new(Bytes::mib(1)), ServeSpeed::Factor(50.0), operations);
    assert!(replies.iter().all(|reply| reply.as_ref().is_ok_and(|data| data.len() == 512)));
    assert_eq!(ended.statistics.requests(), 100);
    let error = ended.statistics.error.unwrap();
    assert!(error.median <= error.percentile_99 && error.percentile_99 <= error.max);
    assert!(ended.device.now() >= Instant::from_nanos(100 * 100_000), "each took its 100 us of device time");
}

/// A device that records its operations.
struct Recording<D>(D, Vec<Op>);

impl<D: Device> Device for Recording<D> {
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

fn noted(operations: Vec<Message>, overhead: Overhead, speed: ServeSpeed) -> Vec<Op> {
    let (sender, messages) = channel();
    operations.into_iter().for_each(|operation| sender.send(operation).unwrap());
    drop(sender);
    let device = Recording(MemoryDevice::new(Bytes::mib(1)), Vec::new());
    let mut server = Server::new(device, speed, Clock::start());
    server.overhead = overhead;
    server.run(&messages).device.1
}

/// A device that keeps the highest number of requests that it had at a time.
struct Counting {
    device: MemoryDevice,
    requests: usize,
    most: usize,
}

impl Device for Counting {
    fn capabilities(&self) -> flashscope_device::Capabilities {
        self.device.capabilities()
    }
    fn now(&self) -> Instant {
        self.device.now()
    }
    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        self.requests += 1;
        self.most = self.most.max(self.requests);
        self.device.submit(tag, op)
    }
    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let completion = self.device.wait()?;
        self.requests -= usize::from(completion.is_some());
        Ok(completion)
    }
}

/// A device with a queue is faster if it sees the queue. A write of part of a block reads that block first.
#[test]
fn whole_writes_are_on_the_device_together_and_partial_ones_one_at_a_time() {
    let most = |length: usize| {
        let (sender, messages) = channel();
        let mut replies = Vec::new();
        for index in 0..3 {
            let (message, reply) = request(write(index * 512, &[1; 512][..length]));
            sender.send(message).unwrap();
            replies.push(reply);
        }
        drop(sender);
        let device = Counting { device: MemoryDevice::new(Bytes::mib(1)), requests: 0, most: 0 };
        let ended = Server::new(device, ServeSpeed::Immediate, Clock::start()).run(&messages);
        assert!(replies.iter().all(|reply| reply.recv().unwrap().is_ok()));
        ended.device.most
    };
    assert_eq!((most(512), most(100)), (3, 1));
}

#[test]
fn synchronous_write_is_answered_after_its_flush() {
    let operation =
        Operation::Write { offset: Bytes::ZERO, data: Buffer::zeroed(Bytes::kib(4)), flush_after: true };
    let (message, reply) = request(operation);
    let ops = noted(vec![message], Overhead::default(), ServeSpeed::Immediate);
    assert!(matches!(ops[..], [Op::Write { .. }, Op::Flush]), "{ops:?}");
    assert_eq!(reply.recv().unwrap(), Ok(vec![]));
}

#[test]
fn idle_host_time_passes_on_the_device() {
    let (mut message, _answer) = request(Operation::Flush);
    let Message::Request(request) = &mut message else { unreachable!() };
    // A minute after the start.
    request.arrived_at = Instant::from_nanos(60_000_000_000);
    let ops = noted(vec![message], Overhead::default(), ServeSpeed::Factor(1000.0));
    let [Op::Pause { duration }, Op::Flush] = ops[..] else { panic!("{ops:?}") };
    let seconds = duration.as_secs_f64();
    assert!((59_000.0..=60_000.0).contains(&seconds), "{seconds} s at a thousand times the speed");
}

#[test]
fn removed_device_answers_all_requests_with_an_error() {
    let unplug: FaultSpec = "unplug:after=2".parse().unwrap();
    let device = Faulty::new(MemoryDevice::new(Bytes::mib(1)), &[unplug], 1).unwrap();
    let operations = (0..80).map(|index| Operation::Read(range(index * 512, 512))).collect();
    let (replies, ended) = serve(device, ServeSpeed::Immediate, operations);
    assert!(replies[79] == Err(Errno::IO), "{:?}", replies[79]);
    let failed = replies.iter().filter(|reply| reply.is_err()).count() as u64;
    assert_eq!((ended.statistics.failed, ended.statistics.requests()), (failed, 80));
    assert!(matches!(ended.failure, Some(DeviceError::Gone { .. })));
}

#[test]
fn failed_request_returns_an_error_and_the_next_is_served() {
    let bad: FaultSpec = "read-errors:range=4KiB+4KiB".parse().unwrap();
    let device = Faulty::new(MemoryDevice::new(Bytes::mib(1)), &[bad], 1).unwrap();
    // The partial write reads the bytes it keeps, which fails.
    let operations =
        vec![Operation::Read(range(4096, 512)), write(4100, &[1; 10]), Operation::Read(range(0, 3))];
    let (replies, ended) = serve(device, ServeSpeed::Immediate, operations);
    assert_eq!(replies, [Err(Errno::IO), Err(Errno::IO), Ok(vec![0; 3])]);
    assert_eq!((ended.statistics.failed, ended.failure), (2, None));
}

#[test]
fn stop_refuses_requests_that_have_not_started() {
    let (sender, messages) = channel();
    let (message, reply) = request(Operation::Read(range(0, 512)));
    sender.send(Message::Stop).unwrap();
    sender.send(message).unwrap();
    let ended =
        Server::new(MemoryDevice::new(Bytes::mib(1)), ServeSpeed::Immediate, Clock::start()).run(&messages);
    assert_eq!(ended.statistics.requests(), 0);
    drop(messages);
    assert!(reply.recv().is_err(), "the reply was dropped, which the kernel sees as EIO");
}
