//! The filesystems that are tried: those whose program and driver are there, and which fit.

use anyhow::anyhow;
use flashscope_device::Bytes;
use flashscope_layout::Plan;
use flashscope_layout::trial::Variant;
use flashscope_linux::{MountType, has_driver, has_mount_program, tool};
use flashscope_measure::workload::trials::{Candidate, LeftOut};

use super::place::Place;
use crate::exit::{Exit, Failure};

/// ntfs-3g in user space, as desktops mount NTFS.
const NTFS_PROGRAM: &str = "mount.ntfs-3g";

/// A filesystem with its plan on this medium.
#[derive(Debug, Clone)]
pub(super) struct Planable {
    pub variant: Variant,
    pub plan: Plan,
    pub mount: MountType,
}

impl Planable {
    /// Where the filesystem starts on the medium.
    pub fn start(&self) -> Bytes {
        self.plan.partitions.first().map(|partition| partition.placement.start).unwrap_or_default()
    }
}

/// The filesystems that are tried, and those that cannot be.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub plans: Vec<Planable>,
    pub left_out: Vec<LeftOut>,
}

impl Planned {
    pub fn candidates(&self) -> Vec<Candidate> {
        let candidate =
            |each: &Planable| Candidate { variant: each.variant.name().to_owned(), start: each.start() };
        self.plans.iter().map(candidate).collect()
    }

    /// The first byte of the filesystem that starts first.
    pub fn start(&self) -> Bytes {
        self.plans.iter().map(Planable::start).min().unwrap_or_default()
    }

    pub fn of_name(&self, name: &str) -> Option<&Planable> {
        self.plans.iter().find(|each| each.variant.name() == name)
    }
}

/// What this system can make and mount.
#[derive(Debug)]
pub(super) struct Variants {
    available: Vec<(Variant, MountType)>,
    missing: Vec<LeftOut>,
}

/// The filesystems that were asked for, or all.
///
/// # Errors
/// Exit code 2 for a name that does not exist, for one that was asked for and is missing here, and if nothing
/// is left.
pub(super) fn variants(asked: &[String]) -> Result<Variants, Failure> {
    let usage = |error| Failure { exit: Exit::Usage, error };
    let mut variants = Variants { available: Vec::new(), missing: Vec::new() };
    let all = Variant::ALL.map(|variant| variant.name().to_owned());
    for name in if asked.is_empty() { all.as_slice() } else { asked } {
        let Some(variant) = Variant::of_name(name) else {
            return Err(usage(anyhow!("'{name}' is no filesystem that is compared; use {}", all.join(", "))));
        };
        match mount_type(variant) {
            Ok(mount) => variants.available.push((variant, mount)),
            Err(reason) if !asked.is_empty() => {
                return Err(usage(anyhow!("{name} cannot be compared here: {reason}")));
            }
            Err(reason) => {
                variants.missing.push(LeftOut { variant: Some(name.clone()), workload: None, reason });
            }
        }
    }
    if variants.available.is_empty() {
        let reasons: Vec<&str> = variants.missing.iter().map(|each| each.reason.as_str()).collect();
        return Err(usage(anyhow!("no filesystem can be compared here: {}", reasons.join("; "))));
    }
    variants.available.dedup_by_key(|(variant, _)| *variant);
    Ok(variants)
}

/// How a filesystem is mounted, or what is missing.
fn mount_type(variant: Variant) -> Result<MountType, String> {
    let make = variant.tool();
    if tool(make.program).is_none() {
        return Err(format!("{} is not installed; install the package {}", make.program, make.package));
    }
    if variant == Variant::Ntfs && has_mount_program(NTFS_PROGRAM) {
        return Ok(MountType::Program { program: NTFS_PROGRAM });
    }
    let filesystem = variant.driver();
    if has_driver(filesystem) {
        return Ok(MountType::Kernel { filesystem, data: variant.mount_data() });
    }
    Err(format!("this kernel has no driver for {filesystem}"))
}

/// A plan of each. Those that do not fit the medium are left out.
///
/// # Errors
/// Exit code 2 if none fits.
pub(super) fn planned(variants: &Variants, place: &Place, seed: u64) -> Result<Planned, Failure> {
    let mut planned = Planned { plans: Vec::new(), left_out: variants.missing.clone() };
    for (variant, mount) in &variants.available {
        let plan = match place.partition {
            Some((start, size)) => variant.plan_in_partition(&place.medium, start, size, seed),
            None => variant.plan(&place.medium, place.start, seed),
        };
        match plan {
            Ok(plan) => planned.plans.push(Planable { variant: *variant, plan, mount: mount.clone() }),
            Err(error) => {
                let (variant, reason) = (Some(variant.name().to_owned()), error.to_string());
                planned.left_out.push(LeftOut { variant, workload: None, reason });
            }
        }
    }
    if planned.plans.is_empty() {
        let reason = planned.left_out.last().map_or("", |left_out| left_out.reason.as_str());
        return Err(Failure { exit: Exit::Usage, error: anyhow!("no filesystem fits there: {reason}") });
    }
    Ok(planned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_name_lists_those_that_there_are() {
        let error = variants(&["ext5".to_owned()]).unwrap_err();
        let message = error.error.to_string();
        assert!(error.exit == Exit::Usage && message.contains("ext5") && message.contains("ext4-nojournal"));
    }

    #[test]
    fn missing_filesystem_is_an_error_if_it_was_asked_for_and_left_out_otherwise() {
        let missing = Variant::ALL.into_iter().find(|variant| mount_type(*variant).is_err());
        let Some(missing) = missing else { return };
        let asked = variants(&[missing.name().to_owned()]).unwrap_err();
        assert!(asked.exit == Exit::Usage && asked.error.to_string().contains("cannot be compared here"));
        if let Ok(all) = variants(&[]) {
            assert!(all.missing.iter().any(|each| each.variant.as_deref() == Some(missing.name())));
            assert!(all.available.iter().all(|(variant, _)| *variant != missing));
        }
    }

    #[test]
    fn comparison_is_possible_where_one_filesystem_is_there() {
        let is_there = |variant: &Variant| mount_type(*variant).is_ok();
        assert_eq!(variants(&[]).is_ok(), Variant::ALL.iter().any(is_there));
        if let Some(there) = Variant::ALL.into_iter().find(is_there) {
            let asked = variants(&[there.name().to_owned()]).unwrap();
            assert_eq!(asked.available.len(), 1);
            assert!(asked.missing.is_empty());
        }
    }

    #[test]
    fn only_ntfs_is_mounted_by_a_program_where_that_is_installed() {
        for variant in Variant::ALL {
            let by_program = matches!(mount_type(variant), Ok(MountType::Program { program: NTFS_PROGRAM }));
            let is_installed = has_mount_program(NTFS_PROGRAM) && tool(variant.tool().program).is_some();
            assert_eq!(by_program, variant == Variant::Ntfs && is_installed, "{variant:?}");
        }
    }
}
