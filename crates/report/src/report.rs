//! The input of every report, and the questions that words and charts ask of it.

use flashscope_device::Bytes;
use flashscope_infer::diagnosis::diagnose_run;
use flashscope_record::diagnosis::Diagnosis;
use flashscope_record::finding::{Finding, FindingId, FtlClass, Value};
use flashscope_record::observation::Order;
use flashscope_record::run_file::RunFile;
use flashscope_record::verdict::PredictedGains;

/// A run and its findings.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The observations and their conditions.
    pub run: &'a RunFile,
    /// The findings inferred from them.
    pub findings: &'a [Finding],
    /// What other layouts gain, predicted on the twin of the run.
    pub predicted: PredictedGains,
}

impl<'a> Report<'a> {
    /// A run and its findings, without predictions.
    #[must_use]
    pub fn new(run: &'a RunFile, findings: &'a [Finding]) -> Self {
        Self { run, findings, predicted: PredictedGains::default() }
    }
}

impl Report<'_> {
    /// The finding about `id`, known or unknown; with several, the one of highest confidence.
    #[must_use]
    pub fn finding(&self, id: FindingId) -> Option<&Finding> {
        let about = self.findings.iter().filter(|finding| finding.id == id);
        about.max_by(|a, b| a.confidence().get().total_cmp(&b.confidence().get()))
    }

    /// Whether the run holds only speeds of a filesystem in memory, from which nothing follows about a
    /// device.
    #[must_use]
    pub fn is_memory_only(&self) -> bool {
        let observations = &self.run.observations;
        self.run.attachment.in_memory && observations.iter().all(|each| each.data.is_of_speed())
    }

    /// The same report; without findings if only memory was measured.
    #[must_use]
    pub fn without_memory_findings(self) -> Self {
        if self.is_memory_only() { Self { findings: &[], ..self } } else { self }
    }

    /// The diagnosis of the run: its bottleneck and what removing it would gain.
    #[must_use]
    pub fn diagnosis(&self) -> Diagnosis {
        diagnose_run(self.run, self.findings)
    }

    /// The noun for the device: `card` in an SD slot, `stick` under `/dev/sd` and for virtual sticks, else
    /// `device`.
    #[must_use]
    pub fn noun(&self) -> &'static str {
        match self.run.target.as_str() {
            target if target.starts_with("/dev/mmcblk") => "card",
            target if target.starts_with("/dev/sd") || target.starts_with("sim:") => "stick",
            _ => "device",
        }
    }

    /// The finding about `id`, if it has a value.
    pub(crate) fn found(&self, id: FindingId) -> Option<&Finding> {
        self.finding(id).filter(|finding| finding.value().is_some())
    }

    /// A size that was found and is above zero.
    pub(crate) fn size(&self, id: FindingId) -> Option<Bytes> {
        self.found(id)?.bytes().filter(|bytes| !bytes.is_zero())
    }

    /// The most erase blocks the controller keeps open.
    pub(crate) fn open_units(&self, order: Order) -> Option<u32> {
        let id = match order {
            Order::Linear => FindingId::OpenUnitsLinear,
            Order::Random => FindingId::OpenUnitsRandom,
        };
        self.found(id)?.count()
    }

    /// The class of the flash translation layer, and the request size above which it holds.
    pub(crate) fn class(&self) -> Option<(FtlClass, Option<Bytes>)> {
        match self.found(FindingId::FtlClass)?.value()? {
            Value::Class { class, above } => Some((class, above)),
            _ => None,
        }
    }
}
