//! One patient, checked as `flashscope check --erase --sustained` does, and its diagnosis.

use std::fmt::Write as _;

use flashscope_infer::{diagnose, infer};
use flashscope_measure::Silent;
use flashscope_measure::survey::Survey;
use flashscope_record::attachment::{Attachment, Driver, Link, Volume};
use flashscope_record::diagnosis::{Bottleneck, Cost, Diagnosis};
use flashscope_zoo::{Ailment, Patient, ZooError};

/// A patient, and what it was told.
#[derive(Debug)]
pub struct Examined {
    pub patient: Patient,
    pub diagnosis: Diagnosis,
    /// What is really gained of small files alone where a layer is cured, the most first.
    pub small_files: Vec<(&'static str, f64)>,
}

/// Of small files one layer is as good as another that gains no more than so many times as much.
const AS_GOOD: f64 = 1.1;
/// What gains no more needs no word.
const SMALL_GAIN: f64 = 1.5;

/// An ailment beside what was predicted of it.
#[derive(Debug, Clone, Copy)]
pub struct Predicted {
    pub ailment: Ailment,
    /// How many times as fast the copy really gets without.
    pub gain: f64,
    /// From how much to how much that was predicted; `None` if nothing was.
    pub predicted: Option<(f64, f64)>,
}

impl Predicted {
    pub fn is_covered(&self) -> bool {
        self.predicted.is_some_and(|(low, high)| (low..=high).contains(&self.gain))
    }
}

impl Examined {
    pub fn of(patient: Patient) -> Result<Self, ZooError> {
        let mut device = patient.device()?;
        let survey = Survey::new(true, patient.survey_seed);
        let mut seen = survey.fill(&mut device, &mut Silent);
        seen.extend(survey.run(&mut device, &mut Silent));
        let diagnosis = diagnose(&seen, &infer(&seen), &attachment(&patient));
        let small_files = patient.gains_of_small_files()?;
        Ok(Self { patient, diagnosis, small_files })
    }

    /// What was predicted of small files alone, and what is really gained; `None` where nothing was.
    pub fn predicted_of_small_files(&self) -> Option<(&Cost, f64)> {
        let told = self.diagnosis.small_files.as_ref()?;
        let (_, gain) = self.small_files.iter().find(|(layer, _)| *layer == told.layer.as_str())?;
        Some((told, *gain))
    }

    /// Whether no layer gains small files more than the one that is named; where none is, whether none gains much.
    pub fn is_right_of_small_files(&self) -> bool {
        let most = self.small_files.first().map_or(1.0, |(_, gain)| *gain);
        self.predicted_of_small_files().map_or(most <= SMALL_GAIN, |(_, gain)| gain * AS_GOOD >= most)
    }

    /// Whether the gain that is predicted of small files holds the real one; `None` where none is predicted.
    pub fn is_covered_of_small_files(&self) -> Option<bool> {
        self.predicted_of_small_files().map(|(told, gain)| (told.gain.low..=told.gain.high).contains(&gain))
    }

    /// Whether the layer that is named is the one of the worst ailment; without an ailment, the flash itself.
    pub fn is_right(&self) -> bool {
        let truth = self.patient.ailments.first().map_or("flash", |(ailment, _)| ailment.layer());
        self.diagnosis.layer().is_some_and(|layer| layer.as_str() == truth)
    }

    /// Every ailment with its prediction.
    pub fn predicted(&self) -> impl Iterator<Item = Predicted> + '_ {
        self.patient.ailments.iter().map(|(ailment, gain)| {
            let of_layer = |cost: &&Cost| cost.layer.as_str() == ailment.layer();
            let cost = self.diagnosis.costs.iter().find(of_layer);
            let predicted = cost.map(|cost| (cost.gain.low, cost.gain.high));
            Predicted { ailment: *ailment, gain: *gain, predicted }
        })
    }

    /// A line, if something is not as it should be.
    pub fn miss(&self) -> Option<String> {
        let is_fine = self.is_right() && self.predicted().all(|each| each.is_covered());
        let of_small_files =
            self.is_right_of_small_files() && self.is_covered_of_small_files() != Some(false);
        (!is_fine || !of_small_files).then(|| {
            let right = if self.is_right() { "right" } else { "WRONG" };
            let small =
                if of_small_files { String::new() } else { format!("; {}", self.told_of_small_files()) };
            format!("{:>5} {right}: {}; {}{small}\n", self.patient.index, self.ailments(), self.told())
        })
    }

    fn ailments(&self) -> String {
        let each = self.predicted().map(|Predicted { ailment, gain, predicted }| {
            let predicted =
                predicted.map_or("nothing".to_owned(), |(low, high)| format!("{low:.2} to {high:.2}"));
            format!("{} {gain:.2} (predicted {predicted})", ailment.words())
        });
        let all: Vec<String> = each.collect();
        if all.is_empty() { "sound".to_owned() } else { all.join(", ") }
    }

    fn told(&self) -> String {
        let first = match &self.diagnosis.bottleneck {
            Bottleneck::Unknown { reason, .. } => format!("told unknown: {reason}"),
            Bottleneck::Layer(cost) => format!("told {}", cost.layer.as_str()),
            Bottleneck::Flash { .. } => "told flash".to_owned(),
        };
        let likely = self
            .diagnosis
            .costs
            .iter()
            .map(|cost| format!("{} {:.2}", cost.layer.as_str(), cost.gain.likely));
        format!("{first} ({})", likely.collect::<Vec<_>>().join(", "))
    }

    fn told_of_small_files(&self) -> String {
        let gains: Vec<String> =
            self.small_files.iter().map(|(layer, gain)| format!("{layer} {gain:.2}")).collect();
        let told = self.diagnosis.small_files.as_ref().map_or("nothing".to_owned(), |told| {
            format!("{} {:.2} to {:.2}", told.layer.as_str(), told.gain.low, told.gain.high)
        });
        format!("small files: told {told}, really {}", gains.join(", "))
    }

    /// The patient's profile, and its whole diagnosis as comments.
    pub fn explain(&self) -> String {
        let mut text = self.patient.describe();
        let (now, own) = self.patient.buses();
        let _ = writeln!(
            text,
            "\n# plugged into {now}, made for {own}; its partition begins at {}",
            self.patient.partition_start()
        );
        let _ = writeln!(text, "# {}; {}", self.ailments(), self.told());
        for Cost { layer, gain, evidence } in &self.diagnosis.costs {
            let _ = writeln!(
                text,
                "# {}: {:.2} to {:.2}, likely {:.2}: {evidence}",
                layer.as_str(),
                gain.low,
                gain.high,
                gain.likely
            );
        }
        let _ = writeln!(text, "# {}", self.told_of_small_files());
        for unweighed in &self.diagnosis.unweighed {
            let _ = writeln!(text, "# not weighed: {}: {}", unweighed.layer.as_str(), unweighed.reason);
        }
        text
    }
}

/// What a host knows of a patient. Of a card it sees the reader.
fn attachment(patient: &Patient) -> Attachment {
    let (now, own) = patient.buses();
    let could = if patient.is_card() { None } else { own.usb_mbit_per_s() };
    let link = now.usb_mbit_per_s().and_then(|now| Link::usb(now, could));
    let link = link.map(|link| Link { is_readers: patient.is_card(), ..link });
    let partition = Volume { name: "sdx1".to_owned(), start: patient.partition_start(), data_start: None };
    let usb_storage = Driver { name: "usb-storage".to_owned(), leaves_uas: false };
    let driver = patient.driver_can_be_told.then_some(usb_storage);
    Attachment {
        link,
        request_max: Some(patient.request_max()),
        driver,
        volumes: vec![partition],
        in_memory: false,
    }
}
