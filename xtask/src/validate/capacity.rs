//! `cargo xtask validate capacity`: the verdicts of `verify` on counterfeits, bad, genuine and on-demand
//! devices, compared with their true capacity.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::bail;
use flashscope_device::{Bytes, SECTOR};
use flashscope_measure::Silent;
use flashscope_measure::capacity::{CACHE_BOUND_DEFAULT, Settings, verify};
use flashscope_record::capacity::{CapacityKind, CapacityVerdict};
use flashscope_zoo::{CapacityCase, CapacityClass};

use crate::output::print;
use crate::threads;
use crate::validate::median::median;

/// How many devices.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Counterfeits and bad devices; as many genuine ones, and a tenth that map on demand
    #[arg(long, value_name = "N", default_value_t = 300)]
    count: u64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// One device and its verdict.
struct Row {
    case: CapacityCase,
    verdict: CapacityVerdict,
}

/// The units below the true size that may all be bad, so that the boundary seems lower: with 20 % bad ones,
/// chance makes 8 in a row in 3 of a million cases.
const BAD_IN_A_ROW: u64 = 8;

impl Row {
    /// Whether a device that maps on demand was not suspected, or another one was. No quick test can be sure,
    /// and neither is an alarm.
    const fn is_unsure(&self) -> bool {
        matches!(
            (self.case.class, self.verdict.kind),
            (CapacityClass::OnDemand, CapacityKind::NoSign)
                | (CapacityClass::Genuine, CapacityKind::Undecided)
        )
    }

    /// Exact, except where the places right below the boundary may be bad too.
    fn is_size_right(&self) -> bool {
        let (found, size) = (self.verdict.stored(), self.case.true_size);
        if self.case.class != CapacityClass::Mixed {
            return found == size;
        }
        let (found, size) = (found.unwrap_or_default(), size.unwrap_or_default());
        found <= size && size - found <= SECTOR * BAD_IN_A_ROW
    }

    fn is_right(&self) -> bool {
        let kind = match self.case.class {
            CapacityClass::Genuine => CapacityKind::NoSign,
            CapacityClass::OnDemand => CapacityKind::Undecided,
            CapacityClass::Mixed => CapacityKind::Mixed,
            CapacityClass::Wrap => CapacityKind::Wrap,
            CapacityClass::Limbo | CapacityClass::LimboCache => CapacityKind::Dropped,
            CapacityClass::Chain => CapacityKind::Chain,
            CapacityClass::Errors => CapacityKind::Errors,
            CapacityClass::BadBlocks => CapacityKind::Scattered,
        };
        self.verdict.kind == kind && self.is_size_right()
    }
}

/// Prints a table and every wrong verdict. Fails if one is wrong, but for unsure ones.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (count, seed) = (arguments.count, arguments.seed);
    let mappers = count.div_ceil(10);
    let rows = threads::each(count * 2 + mappers, |index| {
        let case = match index.checked_sub(count) {
            None => CapacityCase::counterfeit(seed, index)?,
            Some(index) if index < count => CapacityCase::of_class(CapacityClass::Genuine, seed, index)?,
            Some(index) => CapacityCase::of_class(CapacityClass::OnDemand, seed, index)?,
        };
        let settings = Settings { cache_bound: CACHE_BOUND_DEFAULT, seed: seed.wrapping_add(index) };
        let verdict = verify(&mut case.device()?, settings, &mut Silent)?;
        Ok(Row { case, verdict })
    })?;
    print(&table(&rows))?;
    let wrong = rows.iter().filter(|row| !row.is_right() && !row.is_unsure()).count();
    if wrong > 0 {
        bail!("{wrong} of {} verdicts are wrong", rows.len());
    }
    Ok(())
}

fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<12} {:>5} {:>5} {:>16} {:>16}\n",
        "kind", "count", "right", "written, median", "time, median"
    );
    let classes = [CapacityClass::Genuine, CapacityClass::OnDemand].into_iter().chain(CapacityClass::VISIBLE);
    for class in classes {
        let of_class: Vec<&Row> = rows.iter().filter(|row| row.case.class == class).collect();
        let right = of_class.iter().filter(|row| row.is_right()).count();
        let mut written: Vec<Bytes> = of_class.iter().map(|row| row.verdict.cost.bytes_written).collect();
        let mut times: Vec<Duration> = of_class.iter().map(|row| row.verdict.cost.device_time).collect();
        let _ = writeln!(
            text,
            "{:<12} {:>5} {right:>5} {:>16} {:>14.1} s",
            format!("{class:?}"),
            of_class.len(),
            median(&mut written).to_string(),
            median(&mut times).as_secs_f64()
        );
    }
    for row in rows.iter().filter(|row| !row.is_right()) {
        let Row { case, verdict } = row;
        let _ = writeln!(
            text,
            "wrong: {}\n  true {:?}, found {:?} {:?} {:?}",
            case.text, case.true_size, verdict.kind, verdict.true_size, verdict.bad
        );
    }
    text
}
