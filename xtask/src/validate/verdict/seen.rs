//! A virtual stick, checked as `flashscope check` does, and its first screen.

use std::time::Duration;

use anyhow::Context;
use flashscope_device::layer::{Budget, Meter};
use flashscope_device::{Bytes, Device};
use flashscope_infer::findings_of;
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::Finding;
use flashscope_record::attachment::{Attachment, Volume};
use flashscope_record::diagnosis::Conclusion;
use flashscope_record::run_file::{FORMAT, RunFile};
use flashscope_report::first_screen::{FirstScreen, first_screen};
use flashscope_report::{Report, Style, first_screen_text, terminal};
use flashscope_sim::{Profile, VirtualStick};
use flashscope_twin::link_of;
use flashscope_twin::whatif::{StickTwin, gains_of_actions};
use flashscope_zoo::Case;

use super::carried_out::CarriedOut;
use super::check;
use crate::validate::diagnose::attachment;

/// A stick and its first screen.
pub struct Seen {
    pub name: String,
    pub screen: FirstScreen,
    /// The first screen as text.
    pub text: String,
    /// The whole report as text.
    pub details: String,
    pub run: RunFile,
    pub findings: Vec<Finding>,
    pub time: Duration,
    pub written: Bytes,
    /// The actions that state a gain, carried out; none where the stick is no case.
    pub carried_out: Vec<CarriedOut>,
}

impl Seen {
    /// A random stick, its first screen, what its actions gained, and its twin.
    pub fn explained(seed: u64, index: u64) -> anyhow::Result<String> {
        let case = Case::new(seed, index, faults_of(index)?)?;
        let seen = Self::of_case(seed, index)?;
        let actions: String = seen.carried_out.iter().map(|each| format!("# {}\n", each.text())).collect();
        let twin = match StickTwin::of(&seen.run) {
            Ok(twin) => twin.profile.to_toml()?,
            Err(error) => format!("# {error}\n"),
        };
        Ok(format!("{}\n{}\n{actions}# its twin\n{twin}", case.describe(), seen.text))
    }

    /// A random stick with no, one or two faults.
    pub fn of_case(seed: u64, index: u64) -> anyhow::Result<Self> {
        let faults = faults_of(index)?;
        let case = Case::new(seed, index, faults).with_context(|| format!("case {index}"))?;
        let name = format!("case {index} of seed {seed} with {faults} faults");
        let attachment = with_files(attachment(&case), index / 3);
        let mut seen = Self::of(name, &mut case.device()?, case.survey_seed, attachment)?;
        for action in &seen.screen.verdict.actions {
            seen.carried_out.extend(CarriedOut::of(&case, &seen.run, &seen.findings, action)?);
        }
        Ok(seen)
    }

    /// A built-in profile.
    pub fn of_profile(name: &str, seed: u64) -> anyhow::Result<Self> {
        let profile = Profile::builtin(name)?;
        let attachment =
            Attachment { link: Some(link_of(&profile.link, &profile.link)), ..Attachment::default() };
        Self::of(name.to_owned(), &mut VirtualStick::new(&profile, seed), seed, attachment)
    }

    fn of(name: String, stick: &mut dyn Device, seed: u64, attachment: Attachment) -> anyhow::Result<Self> {
        let mut device = Meter::new(stick, Budget::UNLIMITED);
        let survey = Survey::new(true, seed);
        let mut observations = vec![survey.fill_briefly(&mut device, &mut Silent)];
        observations.extend(survey.run(&mut device, &mut Silent));
        observations.extend(survey.speeds(&mut device, None, &mut Silent));
        let cost = device.cost();
        let run = RunFile {
            format: FORMAT,
            flashscope: String::new(),
            target: "sim:x".to_owned(),
            device_name: name.clone(),
            attachment,
            measured_at: String::new(),
            is_erased: true,
            observations,
            cost,
            capacity: None,
            failed_requests: 0,
            remarks: Vec::new(),
        };
        let findings = findings_of(&run);
        let predicted = gains_of_actions(&run, || true).unwrap_or_default();
        let report = Report { predicted, ..Report::new(&run, &findings) };
        let screen = first_screen(&report).context("no first screen")?;
        let text = first_screen_text(&report, 80, Style::Plain).context("no first screen")?;
        let details = terminal(&report, 100, Style::Plain);
        let (time, written) = (cost.device_time, cost.bytes_written);
        Ok(Self { name, screen, text, details, run, findings, time, written, carried_out: Vec::new() })
    }

    pub fn state(&self) -> &'static str {
        self.screen.verdict.state.as_str()
    }

    /// Whether a cause is named, or all is the flash's own.
    pub fn is_named(&self) -> bool {
        !matches!(self.screen.verdict.diagnosis.conclusion, Conclusion::Unknown { .. })
    }

    pub fn contradictions(&self) -> Vec<String> {
        check::contradictions(self).into_iter().map(|text| format!("{}: {text}", self.name)).collect()
    }

    pub fn line(&self) -> String {
        format!("{}: {}", self.name, self.screen.headline)
    }
}

/// The number of faults of a case.
fn faults_of(index: u64) -> anyhow::Result<usize> {
    Ok(usize::try_from(index % 3)?)
}

/// The filesystems of sticks, with the options that desktops mount them with.
const FILESYSTEMS: [(&str, &[&str]); 4] =
    [("vfat", &[]), ("vfat", &["flush"]), ("exfat", &[]), ("ext4", &[])];

/// The partition of the stick with one of the filesystems.
fn with_files(attachment: Attachment, index: u64) -> Attachment {
    let (filesystem, options) = FILESYSTEMS[(index % FILESYSTEMS.len() as u64) as usize];
    let made = |volume| Volume {
        filesystem: Some(filesystem.to_owned()),
        mount_options: options.iter().map(|option| (*option).to_owned()).collect(),
        ..volume
    };
    Attachment { volumes: attachment.volumes.into_iter().map(made).collect(), ..attachment }
}
