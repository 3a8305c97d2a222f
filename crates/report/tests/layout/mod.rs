//! The partitions and filesystems of a run, judged against its erase block.

use flashscope_device::Bytes;
use flashscope_record::attachment::{Attachment, Volume};
use flashscope_record::finding::Finding;
use flashscope_record::run_file::RunFile;
use flashscope_report::{Report, Style, advice, html, terminal, verdict};

use super::sample;

/// A FAT partition of the sample run, and its data area, by their offsets on the device.
fn fat_volume(start: Bytes, data: Bytes) -> Volume {
    Volume {
        name: "sdb1".to_owned(),
        start,
        data_start: Some(data - start),
        filesystem: Some("vfat".to_owned()),
        cluster: Some(Bytes::kib(32)),
        ..Volume::default()
    }
}

/// The sample run with this volume.
fn run_with_volume(volume: Volume) -> RunFile {
    let mut run = sample::run();
    run.attachment = Attachment { volumes: vec![volume], ..Attachment::default() };
    run
}

/// The sentences about this volume; the sample's erase block is 8 MiB, its page 32 KiB.
fn layout_sentences(volume: Volume) -> String {
    let (run, findings) = (run_with_volume(volume), sample::findings());
    let layout = verdict(&Report::new(&run, &findings)).layout;
    layout.iter().map(ToString::to_string).collect()
}

#[test]
fn a_partition_is_judged_against_the_erase_block() {
    let block = Bytes::mib(8);
    let sector_63 = Bytes::new(63 * 512);
    let aligned = layout_sentences(fat_volume(block, block * 2));
    assert_eq!(aligned, "Partition sdb1 (vfat) is aligned to 8 MiB. Clusters of 32 KiB.");
    let on_purpose = layout_sentences(fat_volume(sector_63, block));
    assert!(on_purpose.contains("starts at sector 63, inside an erase block on purpose"), "{on_purpose}");
    assert!(!on_purpose.contains("Moving") && !on_purpose.contains("misaligned"), "{on_purpose}");
    // Off the erase block, but not off the page: what it costs was not measured.
    let off = layout_sentences(fat_volume(block, block + Bytes::mib(1)));
    assert!(off.contains("is misaligned: its data area starts 1 MiB into an erase block of 8 MiB."), "{off}");
    assert!(!off.contains("Moving"), "{off}");
    let costly = layout_sentences(fat_volume(block, block + sector_63));
    assert!(costly.contains("Moving it would make an everyday copy 1."), "{costly}");
    let start_only = layout_sentences(Volume { start: sector_63, ..Volume::default() });
    assert!(start_only.contains("it starts at sector 63, 31.5 KiB into an erase block"), "{start_only}");
}

#[test]
fn stripe_journal_and_mount_options_are_named() {
    let ext4 = Volume {
        filesystem: Some("ext4".to_owned()),
        group: Some(Bytes::mib(126)),
        stripe: Some(Bytes::ZERO),
        has_journal: Some(true),
        mount_options: ["rw", "sync"].map(str::to_owned).to_vec(),
        ..fat_volume(Bytes::mib(8), Bytes::mib(8))
    };
    let text = layout_sentences(ext4);
    for part in ["(ext4)", "its groups of 126 MiB", "no stripe_width, with a journal", "mounted with sync"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_layout_is_in_the_text_and_on_the_page_if_the_erase_block_is_known() {
    let run = run_with_volume(fat_volume(Bytes::mib(8), Bytes::mib(16)));
    let findings = sample::findings();
    let texts = |findings: &[Finding]| {
        let report = Report::new(&run, findings);
        [terminal(&report, 80, Style::Plain), html(&report)]
    };
    for text in texts(&findings) {
        assert!(text.contains("Partitions and filesystems on it"), "{text}");
    }
    for text in texts(&[]) {
        assert!(!text.contains("Partitions and filesystems on it"), "{text}");
    }
}

#[test]
fn a_volume_with_a_hostile_name_is_printable() {
    let name = "\u{1b}[31m\u{202e}1".to_owned();
    let text = layout_sentences(Volume { name, ..fat_volume(Bytes::mib(8), Bytes::mib(16)) });
    assert!(!text.chars().any(char::is_control), "{text:?}");
}

#[test]
fn alignment_is_no_advice_where_everything_is_aligned() {
    let findings = sample::findings();
    let is_advised = |volume| {
        let run = run_with_volume(volume);
        advice(&Report::new(&run, &findings)).iter().any(|advice| advice.id == "align_partitions")
    };
    assert!(!is_advised(fat_volume(Bytes::new(63 * 512), Bytes::mib(8))));
    assert!(is_advised(fat_volume(Bytes::mib(1), Bytes::mib(2))));
}
