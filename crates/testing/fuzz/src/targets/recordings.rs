//! Recordings of filesystems: the index, and the compressed trace.

use flashscope_device::{Bytes, Checksum};
use flashscope_record::{TrialOperation, TrialWorkload, Writeback};
use flashscope_recording::{Index, Recording, decode};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::traces;
use crate::target::Target;

/// The requests that the index states: as many as the sample has.
const REQUESTS: u64 = 40;

pub fn targets() -> std::io::Result<Vec<Target>> {
    let file = compress_to_vec(traces::sample(None)?.as_slice(), CompressionLevel::Fastest);
    let index = INDEX.as_bytes().to_vec();
    Ok(vec![
        Target::new("recording", vec![file], |input| decode(&recording(input), input).is_ok()),
        Target::new("recordings-index", vec![index], |input| {
            std::str::from_utf8(input).is_ok_and(|text| Index::parse(text).is_ok())
        }),
    ])
}

/// The entry of a file.
fn recording(input: &[u8]) -> Recording {
    Recording {
        file: "sample.zst".to_owned(),
        variant: "ext4".to_owned(),
        workload: TrialWorkload::Small,
        operation: TrialOperation::Write,
        writeback: Writeback::Late,
        round: 1,
        files: 1,
        bytes: Bytes::mib(1),
        capacity: Bytes::mib(1),
        erase_block: None,
        request_max: Bytes::kib(120),
        mkfs: String::new(),
        mount: String::new(),
        memory: Bytes::gib(1),
        kernel: String::new(),
        tool: String::new(),
        requests: REQUESTS,
        size: Bytes::new(input.len() as u64),
        checksum: format!("{:016x}", Checksum::of(input)),
    }
}

/// An index with one recording.
const INDEX: &str = r#"[[recording]]
file = "ext4_small_write_late_1.zst"
variant = "ext4"
workload = "small"
operation = "write"
writeback = "late"
round = 1
files = 2000
bytes = 1729135
capacity = 1979711488
request_max = 122880
mkfs = "mkfs.ext4 -q -F"
mount = "rw"
memory = 2147483648
kernel = "6.1.0-56-amd64"
tool = "e2fsprogs 1.47.0"
requests = 135
size = 197
checksum = "6998bf53e5ff30dc"
"#;
