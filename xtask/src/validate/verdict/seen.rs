//! A virtual stick, checked as `flashscope check` does, and its first screen.

use std::time::Duration;

use anyhow::Context;
use flashscope_device::layer::{Budget, Meter};
use flashscope_device::{Bytes, Device};
use flashscope_infer::findings_of;
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::Finding;
use flashscope_record::attachment::Attachment;
use flashscope_record::diagnosis::Conclusion;
use flashscope_record::run_file::{FORMAT, RunFile};
use flashscope_record::verdict::{ActionKind, GainScope};
use flashscope_report::first_screen::{FirstScreen, first_screen};
use flashscope_report::{Report, Style, first_screen_text, terminal};
use flashscope_sim::{Profile, VirtualStick};
use flashscope_twin::link_of;
use flashscope_zoo::Case;

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
    /// The true gain of an archive, for everyday copies and for small files alone.
    archive: Option<[f64; 2]>,
}

impl Seen {
    /// A random stick with no, one or two faults.
    pub fn of_case(seed: u64, index: u64) -> anyhow::Result<Self> {
        let faults = usize::try_from(index % 3)?;
        let case = Case::new(seed, index, faults).with_context(|| format!("case {index}"))?;
        let name = format!("case {index} of seed {seed} with {faults} faults");
        let seen = Self::of(name, &mut case.device()?, case.survey_seed, attachment(&case))?;
        Ok(Self { archive: Some(case.archive_gains()?), ..seen })
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
        let report = Report::new(&run, &findings);
        let screen = first_screen(&report).context("no first screen")?;
        let text = first_screen_text(&report, 80, Style::Plain).context("no first screen")?;
        let details = terminal(&report, 100, Style::Plain);
        let (time, written) = (cost.device_time, cost.bytes_written);
        Ok(Self { name, screen, text, details, run, findings, time, written, archive: None })
    }

    pub fn state(&self) -> &'static str {
        self.screen.verdict.state.as_str()
    }

    /// Whether a cause is named, or all is the flash's own.
    pub fn is_named(&self) -> bool {
        !matches!(self.screen.verdict.diagnosis.conclusion, Conclusion::Unknown { .. })
    }

    /// Whether the gain of an archive lies in its interval; `None` if none is advised, or the truth is not
    /// known.
    pub fn archive_is_covered(&self) -> Option<bool> {
        let action = self.screen.verdict.actions.iter().find(|action| action.kind == ActionKind::Archive)?;
        let [everyday, small_files] = self.archive?;
        let truth = if action.scope == GainScope::Everyday { everyday } else { small_files };
        action.gain.map(|gain| (gain.low..=gain.high).contains(&truth))
    }

    pub fn contradictions(&self) -> Vec<String> {
        check::contradictions(self).into_iter().map(|text| format!("{}: {text}", self.name)).collect()
    }

    pub fn line(&self) -> String {
        let gains: Vec<String> = self.screen.actions.iter().map(|action| action.gain.clone()).collect();
        format!("{}: {} {gains:?}, archive {:?}", self.name, self.screen.headline, self.archive)
    }
}
