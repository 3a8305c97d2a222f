//! Published logs are read completely, also after quoting, wrapping, re-encoding and other damage.

use crate::support;
use flashscope_device::Bytes;
use flashscope_flashbench::Command;
use flashscope_flashbench::parse::{Entry, Foreign, Log, ParseLogError, parse};
use flashscope_record::observation::{Cause, Data, Ended, Observations, Order, Source, StopReason, Times};

fn published(name: &str) -> (Vec<u8>, Log) {
    let bytes = std::fs::read(support::published().join(name)).unwrap();
    let log = parse(&bytes, name).unwrap();
    (bytes, log)
}

fn patriot() -> (Vec<u8>, Log) {
    published("patriot-xporter-xt-boost-16gb.txt")
}

fn data(log: &Log) -> Vec<&Data> {
    log.entries.iter().map(|entry| &entry.observations.data).collect()
}

/// How many figures an entry holds.
fn cells(entry: &Entry) -> usize {
    match &entry.observations.data {
        Data::Align(data) => data.samples.len() * 3,
        data => data.facts().records(),
    }
}

fn speed(times: &Times, request: Bytes) -> f64 {
    request.as_f64() / times.mean_seconds().unwrap()
}

#[test]
fn the_patriot_log_is_read_completely() {
    let (_, log) = patriot();
    assert_eq!(log.problems, []);
    assert_eq!(log.device_name, "Patriot Xporter XT Boost 16 GB USB stick, 13fe:3100");
    assert_eq!(
        log.entries.iter().map(cells).collect::<Vec<_>>(),
        [120, 12, 10, 5, 2, 2, 4, 9, 12, 2, 12, 12, 48]
    );
    assert_eq!(log.entries[0].command, Some(Command::Align { read: Bytes::kib(1) }));
    let open_units = |open_units, smallest, order| {
        Some(Command::OpenUnits { erase_block: Bytes::mib(8), open_units, smallest, order })
    };
    assert_eq!(log.entries[1].command, open_units(3, Bytes::kib(4), Order::Linear));
    assert_eq!(log.entries[3].command, open_units(10, Bytes::kib(16), Order::Linear));
    assert_eq!(log.entries[11].command, open_units(9, Bytes::kib(4), Order::Random));
    let fat = Command::FindFat {
        erase_block: Bytes::mib(8),
        units: 4,
        smallest: Bytes::kib(4),
        order: Order::Random,
    };
    assert_eq!(log.entries[12].command, Some(fat));
    assert!(log.entries.iter().all(|entry| entry.remarks.is_empty()));
}

#[test]
fn figures_keep_their_units() {
    let (_, log) = patriot();
    let [Data::Align(align), Data::OpenUnits(three), .., Data::FatArea(fat)] = data(&log)[..] else {
        panic!()
    };
    let at_8_mib = align.samples.iter().find(|sample| sample.candidate == Bytes::mib(8)).unwrap();
    let times = [at_8_mib.before, at_8_mib.across, at_8_mib.after].map(|time| time.as_micros());
    assert_eq!((times, align.read), ([543, 819, 656], Some(Bytes::kib(1))));
    let smallest = three.cells.last().unwrap();
    assert!((speed(&smallest.times, smallest.request) - 861e3).abs() < 1.0);
    assert_eq!(smallest.request, Bytes::kib(4));
    assert!(matches!(smallest.times, Times::Mean { requests: Some(6144), .. }));
    let third = &fat.cells[2];
    assert_eq!((third.unit, third.request, third.order), (2, Bytes::mib(8), Order::Random));
    assert!((speed(&third.times, third.request) - 14.3e6).abs() < 1e3);
}

#[test]
fn an_interrupted_table_is_marked() {
    let (_, log) = patriot();
    let early: Vec<usize> =
        (0..log.entries.len()).filter(|&at| log.entries[at].observations.ended != Ended::Complete).collect();
    assert_eq!(early, [3], "only the run of ten units was stopped");
}

#[test]
fn all_tables_of_every_published_log_are_read() {
    let expected = [
        ("intel-600p-nvme-control.txt", vec![63]),
        ("olpc-high-perf-arnd.txt", vec![11]),
        ("olpc-toshiba-c4-4gb-B.txt", vec![11]),
        ("patriot-xporter-xt-boost-16gb.txt", vec![120, 12, 10, 5, 2, 2, 4, 9, 12, 2, 12, 12, 48]),
        ("pqi-microsd-32gb-gentoo.txt", vec![69]),
        ("readme-example-arnd.txt", vec![51, 5, 5]),
        ("samsung-1b-534d-johnlane.txt", vec![63, 11]),
        ("sandisk-4gb-sdhc-simmonds.txt", vec![57]),
    ];
    let found: Vec<(String, Vec<usize>)> = support::logs(&support::published())
        .into_iter()
        .map(|(name, bytes)| {
            let log = parse(&bytes, &name).unwrap();
            assert_eq!(log.problems, [], "{name}");
            (name, log.entries.iter().map(cells).collect())
        })
        .collect();
    assert_eq!(found, expected.map(|(name, cells)| (name.to_owned(), cells)));
}

#[test]
fn commands_wrapped_by_a_backslash_and_scripts_are_understood() {
    let (_, readme) = published("readme-example-arnd.txt");
    let units = |entry: &Entry| match entry.command {
        Some(Command::OpenUnits { open_units, smallest, .. }) => (open_units, smallest),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [units(&readme.entries[1]), units(&readme.entries[2])],
        [(2, Bytes::kib(256)), (3, Bytes::kib(256))]
    );
    let (_, samsung) = published("samsung-1b-534d-johnlane.txt");
    assert_eq!(units(&samsung.entries[1]), (5, Bytes::kib(4)));
    assert_eq!(samsung.entries[1].remarks.len(), 1, "the card's own erase size is not in the log");
    assert_eq!(
        samsung.device_name,
        "unnamed SD card, manfid=0x00001b oemid=0x534d name=00000 hwrev=0x1 fwrev=0x0 (author does not name i…"
    );
}

#[test]
fn an_unstated_read_size_is_taken_from_the_last_row_and_remarked() {
    let (_, log) = published("pqi-microsd-32gb-gentoo.txt");
    assert_eq!(log.entries[0].command, Some(Command::Align { read: Bytes::kib(1) }));
    assert_eq!(log.entries[0].remarks.len(), 1);
}

/// What transport may change: line numbers, and the text of commands.
fn figures(log: &Log) -> Vec<(Option<Command>, Observations)> {
    log.entries.iter().map(|entry| (entry.command, entry.observations.clone())).collect()
}

fn quoted_printable(text: &str) -> String {
    let mut encoded = String::new();
    for line in text.lines() {
        let mut column = 0;
        for byte in line.bytes() {
            let piece = if byte == b'=' || byte >= 0x80 {
                format!("={byte:02X}")
            } else {
                char::from(byte).to_string()
            };
            if column + piece.len() > 75 {
                encoded.push_str("=\r\n");
                column = 0;
            }
            column += piece.len();
            encoded.push_str(&piece);
        }
        encoded.push_str("\r\n");
    }
    encoded
}

#[test]
fn a_log_is_read_after_transport_damage() {
    for (name, bytes) in support::logs(&support::published()) {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let whole = figures(&parse(&bytes, &name).unwrap());
        let utf16: Vec<u8> =
            [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        let latin1: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
        let journeys: Vec<(&str, Vec<u8>)> = vec![
            ("CRLF", text.replace('\n', "\r\n").into_bytes()),
            ("UTF-16", utf16),
            ("Latin-1", latin1),
            ("UTF-8 read as Latin-1", text.replace('µ', "Âµ").into_bytes()),
            ("Greek mu", text.replace('µ', "μ").into_bytes()),
            ("ASCII u", text.replace('µ', "u").into_bytes()),
            ("question mark", text.replace('µ', "?").into_bytes()),
            ("replacement character", text.replace('µ', "\u{fffd}").into_bytes()),
            ("nothing", text.replace('µ', "").into_bytes()),
            ("quoted-printable", quoted_printable(&text).into_bytes()),
            (
                "mail quoting",
                text.lines().map(|line| format!("> > {line}\n")).collect::<String>().into_bytes(),
            ),
            ("no-break spaces", text.replace('\t', "\u{a0}").into_bytes()),
            (
                "indentation",
                text.lines().map(|line| format!("    {line}\n")).collect::<String>().into_bytes(),
            ),
            ("colours", text.replace("diff", "\u{1b}[1;31mdiff\u{1b}[0m").into_bytes()),
            ("HTML", text.replace('µ', "&micro;").replace('\n', "<br>\n").into_bytes()),
            ("a paragraph of HTML", format!("<p>{}</p>", text.replace('\n', "<br>")).into_bytes()),
            (
                "a table of HTML",
                text.lines()
                    .map(|line| format!("<tr><td>{}</td></tr>", line.replace('\t', "</td><td>")))
                    .collect::<String>()
                    .into_bytes(),
            ),
            (
                "marks of forums",
                text.lines()
                    .map(|line| format!("[font=Courier New]{line}[/font]\n"))
                    .collect::<String>()
                    .into_bytes(),
            ),
            ("a table of a wiki", rows_with(&text, |row| format!("|| {} ||", row.join(" || ")))),
            ("a table of Markdown", rows_with(&text, |row| format!("|{}|", row.join("|")))),
            ("semicolons", rows_with(&text, |row| row.join(";"))),
            ("commas", rows_with(&text, |row| row.join(","))),
            ("decimal commas", rows_with(&text, |row| row.join(" ").replace('.', ","))),
            ("short sizes", rows_with(&text, |row| row.join("\t").replace("iB", ""))),
            (
                "blanks before units",
                rows_with(&text, |row| row.join("\t").replace("M/s", " M/s").replace("K/s", " K/s")),
            ),
            ("wrapped rows", text.replace("post ", "\npost ").replace(" post", "\npost").into_bytes()),
        ];
        for (journey, bytes) in journeys {
            let log = parse(&bytes, &name).unwrap();
            assert_eq!(log.problems, [], "{name} after {journey}");
            assert_eq!(figures(&log), whole, "{name} after {journey}");
        }
    }
}

/// A log whose rows were written again, each out of its words.
fn rows_with(text: &str, row: impl Fn(&[&str]) -> String) -> Vec<u8> {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_row = words.len() > 1 && (words[0] == "align" && words.len() > 8 || words[1].ends_with("/s"));
        if is_row { row(&words) } else { line.to_owned() }
    };
    text.lines().map(|text| line(text) + "\n").collect::<String>().into_bytes()
}

#[test]
fn other_programs_tables_are_not_taken_for_flashbenchs() {
    for text in ["4K 5.1 MB/s 6.2 MB/s\n", "512K 35.1MiB/s\n4K 5.1MiB/s\n", "4 MiB 6.45 M/s\n"] {
        assert!(parse(text.as_bytes(), "other").is_err(), "{text}");
    }
}

#[test]
fn a_garbled_row_is_reported_and_the_rest_is_read() {
    let (bytes, whole) = patriot();
    let text = String::from_utf8(bytes).unwrap();
    let garbled = text
        .replace("align 8388608 pre 543µs on 819µs post 656µs diff 219µs", "align 8388608 pre 543µs on 8");
    let log = parse(garbled.as_bytes(), "garbled").unwrap();
    let line = text.lines().position(|line| line.starts_with("align 8388608")).unwrap() + 1;
    assert_eq!(log.problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [line]);
    assert_eq!(cells(&log.entries[0]), cells(&whole.entries[0]) - 3);
    assert_eq!(log.entries[1..].len(), whole.entries[1..].len());
    let absurd =
        text.replace("pre 543µs on 819µs post 656µs diff 219µs", "pre 543µs on 819ms post 656µs diff 219µs");
    assert_eq!(parse(absurd.as_bytes(), "absurd").unwrap().problems.len(), 1);
}

#[test]
fn a_log_cut_anywhere_is_read_up_to_there() {
    let (bytes, _) = patriot();
    for end in (300..bytes.len()).step_by(37) {
        match parse(&bytes[..end], "cut") {
            Ok(log) => assert!(log.problems.len() <= 1, "{end}: {:?}", log.problems),
            Err(error) => assert!(end < 400, "{end}: {error}"),
        }
    }
}

#[test]
fn files_that_are_not_logs_are_identified() {
    let found = |bytes: &[u8]| match parse(bytes, "x") {
        Err(ParseLogError::NoTable { found, .. }) => found,
        other => panic!("{other:?}"),
    };
    assert_eq!(found(b""), Foreign::Empty);
    assert_eq!(found(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3, 4]), Foreign::Binary);
    let mut program = b"align 8388608 pre 543us on 819us post 656us diff 219us\n".to_vec();
    program.extend([0; 64]);
    assert_eq!(found(&program), Foreign::Binary, "a program that holds a row");
    assert_eq!(found(b" Timing cached reads: 2 MB in 2 seconds"), Foreign::Program("hdparm"));
    let error = parse(b"align 8388608 pre 543us on 8", "x\u{1b}[2J").unwrap_err().to_string();
    assert!(error.contains("line 1") && !error.contains('\u{1b}'), "{error}");
}

#[test]
fn a_log_flattened_into_one_line_is_read() {
    let flat = "$ sudo apt install flashbench $ sudo flashbench -a /dev/x --blocksize=1024 align 8192 pre 1.33ms on 1.65ms \
                post 1.35ms diff 308s align 4096 pre 1.34ms on 1.34ms post 1.34ms diff 2.1s $ flashbench -O --open-au-nr=2 \
                -b 2097152 /dev/x 4MiB 8.8M/s 2MiB 7.4M/s";
    let log = parse(flat.as_bytes(), "flat").unwrap();
    assert_eq!(log.problems, []);
    assert_eq!(log.entries.iter().map(cells).collect::<Vec<_>>(), [6, 2]);
    assert!(matches!(log.entries[1].command, Some(Command::OpenUnits { open_units: 2, .. })));
}

#[test]
fn negative_differences_without_a_unit_are_ignored() {
    let rows = "align 16384\tpre 986µs\ton 1.01ms\tpost 1.87ms\tdiff -412331\nalign 8192\tpre 690µs\ton 1.01ms\tpost 1.44ms\tdiff -49389n\n";
    let log = parse(rows.as_bytes(), "negative").unwrap();
    assert_eq!((log.problems.len(), cells(&log.entries[0])), (0, 6));
}

#[test]
fn sentences_between_tables_are_neither_rows_nor_commands() {
    let log = parse(
        "# note: the test script = flashbench -a -b 1024 -c 50 (x3); flashbench -f --fat-nr=2 -b 2097152\n\
         # The erase block is clearly 8 MiB; align 32768. is odd, and 64KiB is best\n\
         align 8192 pre 1ms on 1ms post 1ms diff 0ns\n\
         -- \nfind FAT: 1\n4MiB 5M/s 5M/s\n2MiB 5M/s 5M/s\n"
            .as_bytes(),
        "sentences",
    )
    .unwrap();
    assert_eq!(log.problems, []);
    let fat = Command::FindFat {
        erase_block: Bytes::mib(4),
        units: 2,
        smallest: Bytes::mib(2),
        order: Order::Linear,
    };
    let commands: Vec<Option<Command>> = log.entries.iter().map(|entry| entry.command).collect();
    assert_eq!(commands, [Some(Command::Align { read: Bytes::kib(1) }), Some(fat)]);
}

#[test]
fn a_table_without_a_command_stays_unknown() {
    let log = parse(b"4MiB 8.86M/s\n2MiB 6.3M/s\n", "bare").unwrap();
    assert_eq!(log.entries[0].command, None);
    assert!(
        matches!(&log.entries[0].observations.data, Data::WriteSize(data) if data.erase_block == Some(Bytes::mib(4)))
    );
    assert_eq!(log.entries[0].remarks.len(), 3, "units, erase block and order are not stated");
}

#[test]
fn the_wirenboard_logs_are_read() {
    let Some(folder) = support::wirenboard() else { return };
    for (name, bytes) in support::logs(&folder) {
        let log = parse(&bytes, &name).unwrap();
        assert_eq!(log.problems, [], "{name}");
        let text = String::from_utf8_lossy(&bytes);
        let count = |sign: &str| text.lines().filter(|line| line.starts_with(sign)).count();
        let kinds = |wanted: fn(&Data) -> bool| data(&log).into_iter().filter(|data| wanted(data)).count();
        let tops: Vec<usize> = text
            .lines()
            .filter(|line| line.starts_with("4MiB"))
            .map(|line| line.split_whitespace().count())
            .collect();
        let single = tops.iter().filter(|words| **words == 2).count();
        assert_eq!(kinds(|data| matches!(data, Data::OpenUnits(_))), single, "{name}");
        assert_eq!(kinds(|data| matches!(data, Data::FatArea(_))), tops.len() - single, "{name}");
        let rows = log.entries.iter().map(|entry| match &entry.observations.data {
            Data::Align(data) => data.samples.len(),
            _ => 0,
        });
        assert_eq!(rows.sum::<usize>(), count("align "), "{name}");
    }
}

#[test]
fn a_command_directly_above_a_table_belongs_to_it_with_any_prompt() {
    let prompts = [
        "[12:01:07] root@host:~# ",
        "(base) joe@box:~$ sudo ",
        "\u{279c}  flashbench git:(dev) x sudo ",
        "$ LANG=C ",
        "$ sudo chrt -f 99 ",
        "$ cd flashbench && ",
        "Command: ",
        "12:01 < bradfa> root@host:~# ./",
    ];
    for prompt in prompts {
        for between in ["", "\n", "```console\n"] {
            let text = format!(
                "{prompt}flashbench -O --open-au-nr=3 -e 8M -b 2M /dev/x\n{between}8MiB 5M/s\n4MiB 4M/s\n"
            );
            let log = parse(text.as_bytes(), "prompt").unwrap();
            let command = Command::OpenUnits {
                erase_block: Bytes::mib(8),
                open_units: 3,
                smallest: Bytes::mib(2),
                order: Order::Linear,
            };
            assert_eq!(log.entries[0].command, Some(command), "{text}");
        }
    }
    let apart = "see flashbench -O --open-au-nr=3 -e 8M\nanother device:\n8MiB 5M/s\n4MiB 4M/s\n";
    assert_eq!(parse(apart.as_bytes(), "apart").unwrap().entries[0].command, None);
}

#[test]
fn a_log_of_several_devices_is_reported() {
    let table = |node: &str, units: u32| {
        format!("$ flashbench -O --open-au-nr={units} -e 4M /dev/{node}\n4MiB 5M/s\n2MiB 5M/s\n\n")
    };
    let log = |text: &str| parse(text.as_bytes(), "several").unwrap();
    let is_of_several = |log: &Log| {
        let of = |entry: &Entry| matches!(&entry.observations.conditions.source, Source::Published { devices, .. } if devices.len() == 2);
        log.entries.iter().all(of)
    };
    let signs = [
        ("man:0x03 oem:0x5344 name:SU04G serial:0x11", "man:0x03 oem:0x5344 name:SU04G serial:0x22"),
        ("# Card 1: SanDisk", "# Card 2: noname"),
        ("Bus 001 Device 023: ID 13fe:3100 Kingston", "Bus 001 Device 024: ID 0781:5567 SanDisk"),
        ("Disk /dev/sdb: 7902 MB, 7902068736 bytes", "Disk /dev/sdc: 3965 MB, 3965190144 bytes"),
        ("manfid 0x000003", "manfid 0x00001b"),
    ];
    for (one, other) in signs {
        let two = log(&format!("{one}\n{}{other}\n{}", table("sdb", 1), table("sdb", 2)));
        assert!(
            is_of_several(&two) && two.remarks[0].contains("several devices"),
            "{one}: {:?}",
            two.remarks
        );
        let same = log(&format!("{one}\n{}{one}\n{}", table("sdb", 1), table("sdb", 2)));
        assert!(!is_of_several(&same) && same.remarks.is_empty(), "{one}: {:?}", same.remarks);
    }
    let listed = log(&format!("{}\n{}\n{}", signs[2].0, signs[2].1, table("sdb", 1)));
    assert!(!is_of_several(&listed), "lsusb lists whatever is plugged in");
    let nodes = log(&(table("sdb", 1) + &table("sdc", 2)));
    assert!(!is_of_several(&nodes) && nodes.remarks[0].contains("/dev/sdb, /dev/sdc"), "{:?}", nodes.remarks);
}

#[test]
fn a_log_may_state_any_block_size() {
    let (bytes, log) = published("samsung-1b-534d-johnlane.txt");
    let text = String::from_utf8(bytes).unwrap();
    let stated = "--blocksize=1024";
    assert!(text.contains(stated), "{text}");
    for size in ["0", "18446744073709551615", "9223372036854775808", "99999999999999999999999"] {
        let hostile = text.replace(stated, &format!("--blocksize={size}"));
        let found = parse(hostile.as_bytes(), "hostile.txt").unwrap();
        assert_eq!(found.entries.len(), log.entries.len(), "{size}");
    }
}

/// The log in the README with another first or second table.
fn readme_with(first_rows: usize, second: &str) -> Log {
    let text = String::from_utf8(published("readme-example-arnd.txt").0).unwrap();
    let (head, rest) = text.split_once("\nalign ").unwrap();
    let (align, writes) = rest.split_once("\n\n").unwrap();
    let align: Vec<String> =
        align.split("\nalign ").take(first_rows).map(|row| format!("align {row}")).collect();
    let second = if second.is_empty() { writes } else { second };
    parse(format!("{head}\n{}\n\n{second}", align.join("\n")).as_bytes(), "log").unwrap()
}

#[test]
fn a_table_is_complete_only_if_it_ends_where_its_command_does() {
    let cut = |row, wanted| {
        let reason = StopReason::LogCutShort { row: Bytes::new(row), wanted: Bytes::new(wanted) };
        Ended::Early { reason, cause: Cause::Log }
    };
    // Rows from 128 MiB down to twice the read of 1 KiB.
    for rows in 1..=17 {
        let ended = &readme_with(rows, "").entries[0].observations.ended;
        let expected = if rows == 17 { Ended::Complete } else { cut((128 << 20) >> (rows - 1), 2048) };
        assert_eq!(*ended, expected, "{rows} rows");
    }
    // Rows from 4 MiB down to the block size of 256 KiB.
    let command = "$ flashbench -O --erasesize=4194304 --blocksize=262144 /dev/x --open-au-nr=2\n";
    let rows = ["4MiB 8M/s", "2MiB 7M/s", "1MiB 6M/s", "512KiB 6M/s", "256KiB 6M/s"];
    for count in 1..=5 {
        let ended =
            &readme_with(17, &(command.to_owned() + &rows[..count].join("\n"))).entries[1].observations.ended;
        let expected = if count == 5 { Ended::Complete } else { cut((4 << 20) >> (count - 1), 256 << 10) };
        assert_eq!(*ended, expected, "{count} rows");
    }
}

#[test]
fn an_impossible_option_is_replaced_by_what_the_table_shows() {
    let table = |options: &str| {
        let rows = "4MiB 8M/s\n2MiB 7M/s\n1MiB 6M/s\n";
        readme_with(17, &format!("$ flashbench -O {options} --blocksize=1048576 /dev/x\n{rows}"))
            .entries
            .remove(1)
    };
    let erase_block = |entry: &Entry| entry.observations.data.facts().erase_block();
    let small = table("--erasesize=1048576 --open-au-nr=2");
    assert_eq!(erase_block(&small), Some(Bytes::mib(4)), "requests of 4 MiB do not fit into 1 MiB");
    assert_eq!(small.remarks.len(), 1, "{:?}", small.remarks);
    let large = table("--erasesize=8388608 --open-au-nr=2");
    assert_eq!((erase_block(&large), large.remarks.len()), (Some(Bytes::mib(8)), 0));
    let counted = |entry: &Entry| matches!(entry.observations.data, Data::OpenUnits(_));
    assert!(counted(&large));
    assert!(!counted(&table("--erasesize=4194304 --open-au-nr=0")), "no writes go into no block");
}
