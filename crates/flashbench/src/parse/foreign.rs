//! What a file is, when it is no log of flashbench: so that the error can say what was found and what to try.

use std::fmt;

use crate::parse::command_line;
use crate::parse::text::Line;

/// What was found instead of flashbench's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// No bytes, or only blanks.
    Empty,
    /// Not text.
    Binary,
    /// A flashscope run file.
    RunFile,
    /// A flashbench command, but not what it printed.
    CommandOnly,
    /// The output of another program, by its name.
    Program(&'static str),
    /// Some other text.
    Text,
}

impl fmt::Display for Foreign {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("it is empty; save the log again"),
            Self::Binary => formatter.write_str("it is no text; give the log as flashbench printed it, unpacked, as plain text"),
            Self::RunFile => formatter.write_str("it is a run file of flashscope; use 'flashscope report' with it"),
            Self::CommandOnly => formatter.write_str(
                "it has flashbench's command line, but not the table it printed; copy the rows that begin with 'align' or with a size such as '4MiB', too",
            ),
            Self::Program("fio") => formatter.write_str("it looks like fio's text output; let fio write JSON (--output-format=json)"),
            Self::Program("f3probe") => formatter.write_str(
                "it looks like the output of f3probe; 'flashscope verify' tests the capacity, and more kinds of fakes",
            ),
            Self::Program(name) => write!(
                formatter,
                "it looks like the output of {name}, which is not read, and does not show erase blocks; run 'flashscope check' on the device, \
                 or flashbench"
            ),
            Self::Text => formatter.write_str(
                "there are no rows such as 'align 8388608 pre 543µs on 819µs post 656µs diff 219µs' or '4MiB 10.3M/s'; give the log as \
                 flashbench printed it, fio's JSON, or the English output of f3write, f3read, KDiskMark or GNOME Disks",
            ),
        }
    }
}

/// Words that only one program's output has. All of a program's words must be there.
const SIGNS: [(&str, &[&str]); 16] = [
    ("iozone", &["kB", "reclen", "rewrite"]),
    ("iozone", &["Iozone:"]),
    ("hdparm", &["Timing ", " reads:"]),
    ("dd", &["records in", "records out"]),
    ("dd", &["copied, ", "/s"]),
    ("fio", &["IOPS=", "BW="]),
    ("fio", &[";fio-"]),
    ("fio", &["iops=", "bw=", "runt="]),
    ("f3probe", &["F3 probe"]),
    ("f3probe", &["Probe finished"]),
    ("ATTO Disk Benchmark", &["ATTO"]),
    ("Blackmagic Disk Speed Test", &["Blackmagic"]),
    ("bonnie++", &["Sequential Output", "Sequential Input"]),
    ("CrystalDiskMark", &["CrystalDiskMark"]),
    ("f3", &["Data OK:", "sectors"]),
    ("f3", &["Average writing speed"]),
];

/// Recognises a file that holds no row of flashbench.
pub(super) fn recognise(bytes: &[u8], lines: &[Line]) -> Foreign {
    if lines.iter().all(|line| line.text.trim().is_empty()) && !bytes.contains(&0) {
        return Foreign::Empty;
    }
    if is_binary(bytes, lines) {
        return Foreign::Binary;
    }
    let has = |sign: &str| lines.iter().any(|line| line.text.contains(sign));
    if has("\"flashscope\"") && has("\"observations\"") {
        return Foreign::RunFile;
    }
    if let Some((name, _)) = SIGNS.iter().find(|(_, words)| words.iter().all(|word| has(word))) {
        return Foreign::Program(name);
    }
    let has_command = (0..lines.len()).any(|at| command_line::read(&lines[at..]).is_some());
    if has_command { Foreign::CommandOnly } else { Foreign::Text }
}

/// More than one byte in twenty is none that text has. UTF-16 has become text by now.
pub(super) fn is_binary(bytes: &[u8], lines: &[Line]) -> bool {
    let readable = lines.iter().any(|line| line.text.chars().filter(char::is_ascii_alphanumeric).count() > 8);
    let odd = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b | 0x0c | 8);
    let sample = &bytes[..bytes.len().min(65_536)];
    let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    !(utf16 && readable) && sample.iter().filter(|byte| odd(byte)).count() * 20 > sample.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::text;

    fn recognised(bytes: &[u8]) -> Foreign {
        recognise(bytes, &text::lines(bytes))
    }

    #[test]
    fn other_programs_are_recognised() {
        assert_eq!(
            recognised(b" Timing buffered disk reads:  52 MB in  3.06 seconds"),
            Foreign::Program("hdparm")
        );
        assert_eq!(recognised(b"10+0 records in\n10+0 records out\n"), Foreign::Program("dd"));
        assert_eq!(recognised(b"  read: IOPS=1010, BW=4041KiB/s"), Foreign::Program("fio"));
        assert_eq!(recognised(b"kB  reclen    write  rewrite    read"), Foreign::Program("iozone"));
    }

    #[test]
    fn empty_binary_and_prose_files_are_distinguished() {
        assert_eq!(recognised(b""), Foreign::Empty);
        assert_eq!(recognised(b" \n\r\n"), Foreign::Empty);
        assert_eq!(recognised(&[0; 4096]), Foreign::Binary);
        assert_eq!(recognised(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0"), Foreign::Binary);
        assert_eq!(recognised("дорогой дневник".as_bytes()), Foreign::Text);
        assert_eq!(recognised(b"$ sudo ./flashbench /dev/sdb -a"), Foreign::CommandOnly);
        assert_eq!(recognised(br#"{"flashscope": "0.1.0", "observations": []}"#), Foreign::RunFile);
    }
}
