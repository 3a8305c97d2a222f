//! The cause in one short sentence, from the diagnosis alone.

use flashscope_record::diagnosis::{
    Bottleneck, Conclusion, Cost, DiagnosisEvidence, DiagnosisReason, StallCause,
};
use flashscope_record::figure::{speed, time};
use flashscope_record::observation::Direction;
use flashscope_record::run_file::RunFile;
use flashscope_record::verdict::{Mark, SpeedNumber, Verdict, VerdictState};

use super::cut_short::cut_short;
use crate::quantity;
use crate::speeds::rounded;
use crate::words::diagnosis::{bottleneck_title, evidence_text, link_name, reason_text};

/// The cause of the answer.
pub fn text(verdict: &Verdict, run: &RunFile) -> String {
    match &verdict.diagnosis.conclusion {
        Conclusion::Bottleneck(cost) if verdict.state == VerdictState::SlowSmallWrites => {
            format!("{}; for large files, {}", of_flash(verdict), of_cost(cost))
        }
        Conclusion::Bottleneck(cost) => with_slow_reads(verdict, of_cost(cost)),
        Conclusion::Flash(_) => with_slow_reads(verdict, of_flash(verdict)),
        Conclusion::Unknown { reason, .. } if let Some(slow) = slow_part(verdict) => match reason {
            DiagnosisReason::NotTested { bottleneck, .. } => {
                format!("it {slow}; not tested: {}", bottleneck_title(*bottleneck))
            }
            _ => format!("it {slow}; why is not known: {}", reason_text(reason)),
        },
        Conclusion::Unknown { reason: reason @ DiagnosisReason::HostDisk { .. }, .. } => reason_text(reason),
        Conclusion::Unknown { reason: DiagnosisReason::NoSizeSweep, .. } => {
            format!("{}, so what slows writes is not known", missing_writes(verdict, run))
        }
        Conclusion::Unknown { reason: DiagnosisReason::NotTested { bottleneck, .. }, .. } => {
            format!("no bottleneck was found, but one was not tested: {}", bottleneck_title(*bottleneck))
        }
        Conclusion::Unknown { reason, .. } => format!("the bottleneck is not known: {}", reason_text(reason)),
    }
}

/// What is missing where no sweep over write sizes was measured.
fn missing_writes(verdict: &Verdict, run: &RunFile) -> &'static str {
    let is_of_writes = |number: &SpeedNumber| number.direction == Direction::Write && number.speed.is_some();
    match (verdict.numbers.iter().any(is_of_writes), cut_short(run)) {
        (true, Some(_)) => "the run ended before small writes were measured",
        (true, None) => "only the speeds of writes were measured",
        (false, _) => "no write was measured",
    }
}

/// The flash itself, and what it is bad at.
fn of_flash(verdict: &Verdict) -> String {
    let small = verdict.diagnosis.small_files.as_ref().map(|cost| match cost.bottleneck {
        Bottleneck::OpenUnits => "; small files force merges",
        _ => "",
    });
    let small = small.unwrap_or_default();
    let [_, sequential, _, random] = &verdict.numbers;
    match (poor_speed(sequential), poor_iops(random)) {
        (Some(speed), _) => format!("its flash writes only {}{small}", quantity::speed(speed)),
        (None, Some(iops)) => format!("its flash reaches {iops} IOPS in random writes{small}"),
        (None, None) => match verdict.diagnosis.copy_max.map(rounded) {
            Some(copy_max) => {
                format!("as fast as its flash is, in a stream of {copy_max}; nothing else costs much{small}")
            }
            None => format!("as fast as its flash is; nothing else costs much{small}"),
        },
    }
}

/// The cause of its writes, after its reads if it is slow because of those.
fn with_slow_reads(verdict: &Verdict, of_writes: String) -> String {
    let [read, write, ..] = &verdict.numbers;
    let is_by_reads = verdict.state == VerdictState::Slow && write.mark() == Some(Mark::Good);
    match poor_speed(read).filter(|_| is_by_reads) {
        Some(speed) => format!("it reads only {}; in writing, {of_writes}", quantity::speed(speed)),
        None => of_writes,
    }
}

/// What makes a stick slow whose bottleneck is not known.
fn slow_part(verdict: &Verdict) -> Option<String> {
    let [_, write, _, random] = &verdict.numbers;
    let write = poor_speed(write).map(|speed| format!("writes only {}", quantity::speed(speed)));
    let random = || poor_iops(random).map(|iops| format!("reaches only {iops} IOPS in random writes"));
    match verdict.state {
        VerdictState::Slow => write.or_else(|| poor_read(verdict)).or_else(random),
        VerdictState::SlowSmallWrites => random(),
        _ => None,
    }
}

/// A poor speed of reads: that of large ones first.
fn poor_read(verdict: &Verdict) -> Option<String> {
    let [sequential, _, random, _] = &verdict.numbers;
    if let Some(speed) = poor_speed(sequential) {
        return Some(format!("reads only {}", quantity::speed(speed)));
    }
    poor_iops(random).map(|iops| format!("reaches only {iops} IOPS in random reads"))
}

/// The requests per second, with three digits, if they are poor.
fn poor_iops(number: &SpeedNumber) -> Option<String> {
    poor_speed(number).map(|speed| quantity::three_digits(speed / number.request.as_f64()))
}

/// The speed if it is poor, bytes per second.
fn poor_speed(number: &SpeedNumber) -> Option<f64> {
    number.speed.filter(|_| number.mark() == Some(Mark::Poor)).map(|speed| speed.bytes_per_s)
}

fn of_cost(cost: &Cost) -> String {
    match &cost.evidence {
        DiagnosisEvidence::Link { link, .. } => format!("the link, {}, is full", link_name(&link.kind)),
        DiagnosisEvidence::Driver { driver, command_max, .. } => {
            format!("{driver} splits requests at {command_max}, and each part costs time")
        }
        DiagnosisEvidence::SmallWrites { request, latency_s, bytes_per_s, .. } => {
            format!("small writes: {request} takes {}, which is {}", time(*latency_s), speed(*bytes_per_s))
        }
        DiagnosisEvidence::Alignment { volume, page, .. } => {
            format!("the data of {volume} begins inside a page of {page}")
        }
        DiagnosisEvidence::OpenUnits { open_units, streams, beyond_s, .. } => match open_units {
            Some(open) => format!(
                "only {} can be open; a write to one more takes {}",
                quantity::counted(u64::from(*open), "erase block"),
                time(*beyond_s)
            ),
            None => {
                format!("with {streams} erase blocks written round-robin, a write takes {}", time(*beyond_s))
            }
        },
        DiagnosisEvidence::Stalls { share, period, cause, .. } => {
            let percent = share * 100.0;
            match cause {
                StallCause::OpeningEraseBlock => {
                    format!("opening erase blocks of {period} takes {percent:.0} % of a long copy")
                }
                StallCause::GarbageCollection => {
                    format!("garbage collection takes {percent:.0} % of a long copy, once every {period}")
                }
                StallCause::Unknown => {
                    format!("stalls take {percent:.0} % of a long copy, one every {period}")
                }
            }
        }
        DiagnosisEvidence::Slowdown { before_bytes_per_s, after_bytes_per_s } => format!(
            "once its fast cache is full, {} become {}",
            speed(*before_bytes_per_s),
            speed(*after_bytes_per_s)
        ),
        DiagnosisEvidence::SlowLongCopy { single_bytes_per_s, long_bytes_per_s } => format!(
            "long copies reach {} where single writes reach {}",
            speed(*long_bytes_per_s),
            speed(*single_bytes_per_s)
        ),
        other => evidence_text(other),
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::diagnosis::{Decider, Diagnosis};
    use flashscope_record::observation::Order;
    use flashscope_record::verdict::{MeasuredSpeed, Yardstick};

    use super::*;

    /// The cause with these random reads and writes of 4 KiB per second, of which fewer than 500 are poor.
    fn cause(state: VerdictState, conclusion: Conclusion, [reads, writes]: [f64; 2]) -> String {
        let number =
            |direction, (order, request, bytes_per_s, poor_below): (Order, Bytes, f64, f64)| SpeedNumber {
                direction,
                order,
                request,
                speed: Some(MeasuredSpeed {
                    bytes_per_s,
                    low: bytes_per_s,
                    high: bytes_per_s,
                    is_cached: false,
                }),
                yardstick: Yardstick { poor_below, good_from: 2.0 * poor_below, name: "" },
            };
        let large = (Order::Linear, Bytes::mib(1), 40e6, 6e6);
        let small = |iops: f64| (Order::Random, Bytes::kib(4), iops * 4096.0, 500.0 * 4096.0);
        let numbers = [
            number(Direction::Read, large),
            number(Direction::Write, large),
            number(Direction::Read, small(reads)),
            number(Direction::Write, small(writes)),
        ];
        let verdict = Verdict { state, numbers, diagnosis: Diagnosis::new(conclusion), actions: Vec::new() };
        let run = r#"{"format": 2, "flashscope": "0", "target": "t", "observations": []}"#;
        text(&verdict, &RunFile::parse(run).unwrap())
    }

    #[test]
    fn poor_random_requests_are_counted_per_second() {
        let flash = DiagnosisEvidence::Flash { single_bytes_per_s: 1.0, long_bytes_per_s: 1.0 };
        let of_flash = cause(VerdictState::SlowSmallWrites, Conclusion::Flash(flash), [900.0, 25.0]);
        assert_eq!(of_flash, "its flash reaches 25.0 IOPS in random writes");
        let (reason, would_decide) = (DiagnosisReason::InMemory, Decider::WriteTests);
        let unknown = Conclusion::Unknown { reason, would_decide };
        for (state, iops, begins) in [
            (VerdictState::SlowSmallWrites, [900.0, 25.0], "it reaches only 25.0 IOPS in random writes; "),
            (VerdictState::Slow, [31.5, 900.0], "it reaches only 31.5 IOPS in random reads; "),
            (VerdictState::Slow, [900.0, 6.25], "it reaches only 6.25 IOPS in random writes; "),
        ] {
            let text = cause(state, unknown.clone(), iops);
            assert!(text.starts_with(begins), "{text}");
        }
    }
}
