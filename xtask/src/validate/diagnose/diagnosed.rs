//! One test case, checked as `flashscope check --erase --sustained` does, and its diagnosis.

use std::fmt::Write as _;

use flashscope_infer::diagnose;
use flashscope_infer::infer;
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::attachment::{Attachment, Driver, Link, Volume};
use flashscope_record::diagnosis::{Conclusion, Cost, Diagnosis};
use flashscope_zoo::{Case, Fault, ZooError};

/// A test case and its diagnosis.
#[derive(Debug)]
pub struct DiagnosedCase {
    pub case: Case,
    pub diagnosis: Diagnosis,
    /// The true gain for small files alone of each repaired bottleneck, largest first.
    pub small_files: Vec<(&'static str, f64)>,
}

/// Two bottlenecks count as equal for small files if their gains differ by at most this factor. Guess.
const EQUAL_GAIN_FACTOR: f64 = 1.1;
/// A gain for small files that need not be reported. Guess.
const IGNORED_GAIN_MAX: f64 = 1.5;

/// A fault, its true gain and its predicted gain.
#[derive(Debug, Clone, Copy)]
pub struct Prediction {
    pub fault: Fault,
    /// The true speed-up of the copy without the fault.
    pub gain: f64,
    /// The predicted interval of the speed-up; `None` without a prediction.
    pub predicted: Option<(f64, f64)>,
}

impl Prediction {
    pub fn is_covered(&self) -> bool {
        self.predicted.is_some_and(|(low, high)| (low..=high).contains(&self.gain))
    }
}

impl DiagnosedCase {
    pub fn of(case: Case) -> Result<Self, ZooError> {
        let mut device = case.device()?;
        let survey = Survey::new(true, case.survey_seed);
        let mut observations = survey.fill(&mut device, &mut Silent);
        observations.extend(survey.run(&mut device, &mut Silent));
        let diagnosis = diagnose(&observations, &infer(&observations), &attachment(&case));
        let small_files = case.small_file_gains()?;
        Ok(Self { case, diagnosis, small_files })
    }

    /// The prediction for small files alone, and the true gain; `None` without a prediction.
    pub fn small_files_prediction(&self) -> Option<(&Cost, f64)> {
        let prediction = self.diagnosis.small_files.as_ref()?;
        let (_, gain) =
            self.small_files.iter().find(|(layer, _)| *layer == prediction.bottleneck.as_str())?;
        Some((prediction, *gain))
    }

    /// Whether the reported bottleneck of small files has the largest true gain; without a report, whether no
    /// gain is large.
    pub fn is_small_files_bottleneck_correct(&self) -> bool {
        let most = self.small_files.first().map_or(1.0, |(_, gain)| *gain);
        self.small_files_prediction()
            .map_or(most <= IGNORED_GAIN_MAX, |(_, gain)| gain * EQUAL_GAIN_FACTOR >= most)
    }

    /// Whether the predicted interval for small files holds the true gain; `None` without a prediction.
    pub fn is_small_files_gain_covered(&self) -> Option<bool> {
        self.small_files_prediction().map(|(cost, gain)| (cost.gain.low..=cost.gain.high).contains(&gain))
    }

    /// Whether the reported bottleneck is that of the largest fault; without a fault, the flash itself.
    pub fn is_correct(&self) -> bool {
        let truth = self.case.faults.first().map_or("flash", |(fault, _)| fault.bottleneck());
        self.diagnosis.bottleneck().is_some_and(|bottleneck| bottleneck.as_str() == truth)
    }

    /// Every fault with its true and predicted gain.
    pub fn predictions(&self) -> impl Iterator<Item = Prediction> + '_ {
        self.case.faults.iter().map(|(fault, gain)| {
            let of_layer = |cost: &&Cost| cost.bottleneck.as_str() == fault.bottleneck();
            let cost = self.diagnosis.costs.iter().find(of_layer);
            let predicted = cost.map(|cost| (cost.gain.low, cost.gain.high));
            Prediction { fault: *fault, gain: *gain, predicted }
        })
    }

    /// A line of text if the diagnosis or a predicted gain is wrong.
    pub fn miss(&self) -> Option<String> {
        let is_fine = self.is_correct() && self.predictions().all(|each| each.is_covered());
        let of_small_files =
            self.is_small_files_bottleneck_correct() && self.is_small_files_gain_covered() != Some(false);
        (!is_fine || !of_small_files).then(|| {
            let right = if self.is_correct() { "right" } else { "WRONG" };
            let small = if of_small_files { String::new() } else { format!("; {}", self.small_files_text()) };
            format!(
                "{:>5} {right}: {}; {}{small}\n",
                self.case.index,
                self.faults_text(),
                self.diagnosis_text()
            )
        })
    }

    fn faults_text(&self) -> String {
        let each = self.predictions().map(|Prediction { fault, gain, predicted }| {
            let predicted =
                predicted.map_or("nothing".to_owned(), |(low, high)| format!("{low:.2} to {high:.2}"));
            format!("{} {gain:.2} (predicted {predicted})", fault.as_str())
        });
        let all: Vec<String> = each.collect();
        if all.is_empty() { "no fault".to_owned() } else { all.join(", ") }
    }

    fn diagnosis_text(&self) -> String {
        let first = match &self.diagnosis.conclusion {
            Conclusion::Unknown { reason, .. } => {
                format!("reported unknown: {}", flashscope_report::words::diagnosis::reason_text(reason))
            }
            Conclusion::Bottleneck(cost) => format!("reported {}", cost.bottleneck.as_str()),
            Conclusion::Flash(_) => "reported flash".to_owned(),
        };
        let likely = self
            .diagnosis
            .costs
            .iter()
            .map(|cost| format!("{} {:.2}", cost.bottleneck.as_str(), cost.gain.likely));
        format!("{first} ({})", likely.collect::<Vec<_>>().join(", "))
    }

    fn small_files_text(&self) -> String {
        let gains: Vec<String> =
            self.small_files.iter().map(|(layer, gain)| format!("{layer} {gain:.2}")).collect();
        let prediction = self.diagnosis.small_files.as_ref().map_or("nothing".to_owned(), |cost| {
            format!("{} {:.2} to {:.2}", cost.bottleneck.as_str(), cost.gain.low, cost.gain.high)
        });
        format!("small files: reported {prediction}, true gains {}", gains.join(", "))
    }

    /// The profile of the case, followed by its diagnosis as comments.
    pub fn explain(&self) -> String {
        let mut text = self.case.describe();
        let (now, own) = self.case.buses();
        let _ = writeln!(
            text,
            "\n# plugged into {now}, made for {own}; its partition starts at {}",
            self.case.partition_start()
        );
        let _ = writeln!(text, "# {}; {}", self.faults_text(), self.diagnosis_text());
        for Cost { bottleneck, gain, evidence } in &self.diagnosis.costs {
            let _ = writeln!(
                text,
                "# {}: {:.2} to {:.2}, likely {:.2}: {}",
                bottleneck.as_str(),
                gain.low,
                gain.high,
                gain.likely,
                flashscope_report::words::diagnosis::evidence_text(evidence)
            );
        }
        let _ = writeln!(text, "# {}", self.small_files_text());
        for untested in &self.diagnosis.untested {
            let _ = writeln!(
                text,
                "# not tested: {}: {}",
                untested.bottleneck.as_str(),
                flashscope_report::words::diagnosis::reason_text(&untested.reason)
            );
        }
        text
    }
}

/// The host's facts about a test case. Of a card the host sees only the reader.
pub fn attachment(case: &Case) -> Attachment {
    let (now, own) = case.buses();
    let could = if case.is_card() { None } else { own.usb_mbit_per_s() };
    let link = now.usb_mbit_per_s().and_then(|now| Link::usb(now, could));
    let link = link.map(|link| Link { is_card_reader: case.is_card(), ..link });
    let partition = Volume { name: "sdx1".to_owned(), start: case.partition_start(), ..Volume::default() };
    let usb_storage = Driver { name: "usb-storage".to_owned(), is_uas_unused: false };
    let driver = case.has_adjustable_driver.then_some(usb_storage);
    Attachment {
        link,
        request_max: Some(case.request_max()),
        driver,
        volumes: vec![partition],
        ..Attachment::default()
    }
}
