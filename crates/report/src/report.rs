//! What a report is made from, and the few questions that words and charts ask of it.

use flashscope_device::Bytes;
use flashscope_infer::diagnosis::diagnose_run;
use flashscope_infer::objection_to;
use flashscope_record::diagnosis::{Diagnosis, DiagnosisReason};
use flashscope_record::finding::{Finding, FindingId, FtlClass, Value};
use flashscope_record::observation::Order;
use flashscope_record::run_file::RunFile;

use crate::words;
use crate::words::diagnosis::reason_text;

/// A run and what was inferred from it.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// What was seen, and how.
    pub run: &'a RunFile,
    /// What was concluded.
    pub findings: &'a [Finding],
}

impl Report<'_> {
    /// The finding about `id`, known or not; the surer one if there are several.
    #[must_use]
    pub fn finding(&self, id: FindingId) -> Option<&Finding> {
        let about = self.findings.iter().filter(|finding| finding.id == id);
        about.max_by(|a, b| a.confidence().get().total_cmp(&b.confidence().get()))
    }

    /// Whether it tells of memory alone: speeds of what lies in a filesystem in memory, so that nothing is to be concluded of any device.
    #[must_use]
    pub fn is_of_memory(&self) -> bool {
        let seen = &self.run.observations;
        self.run.attachment.in_memory && seen.iter().all(|seen| seen.data.is_of_speed())
    }

    /// The same without conclusions of a device where there is none.
    #[must_use]
    pub fn of_storage(self) -> Self {
        if self.is_of_memory() { Self { findings: &[], ..self } } else { self }
    }

    /// What speaks against every time that was measured, if something does: then nothing follows for who uses it.
    #[must_use]
    pub fn objection(&self) -> Option<String> {
        if self.run.attachment.in_memory {
            return Some(reason_text(&DiagnosisReason::InMemory));
        }
        if self.run.fails_often() {
            return Some("too many requests failed".to_owned());
        }
        objection_to(&self.run.observations, self.findings).as_ref().map(words::objection)
    }

    /// What holds the device back.
    #[must_use]
    pub fn diagnosis(&self) -> Diagnosis {
        diagnose_run(self.run, self.findings)
    }

    /// What the thing in the person's hand is called: an SD slot takes cards, anything under `/dev/sd` is a stick.
    #[must_use]
    pub fn noun(&self) -> &'static str {
        match self.run.target.as_str() {
            target if target.starts_with("/dev/mmcblk") => "card",
            target if target.starts_with("/dev/sd") || target.starts_with("sim:") => "stick",
            _ => "device",
        }
    }

    pub(crate) fn found(&self, id: FindingId) -> Option<&Finding> {
        self.finding(id).filter(|finding| finding.value().is_some())
    }

    /// A size that was found and is not zero.
    pub(crate) fn size(&self, id: FindingId) -> Option<Bytes> {
        self.found(id)?.bytes().filter(|bytes| !bytes.is_zero())
    }

    pub(crate) fn open_units(&self, order: Order) -> Option<u32> {
        let id = match order {
            Order::Linear => FindingId::OpenUnitsLinear,
            Order::Random => FindingId::OpenUnitsRandom,
        };
        self.found(id)?.count()
    }

    pub(crate) fn class(&self) -> Option<(FtlClass, Option<Bytes>)> {
        match self.found(FindingId::FtlClass)?.value()? {
            Value::Class { class, above } => Some((class, above)),
            _ => None,
        }
    }
}
