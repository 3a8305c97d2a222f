//! Whether the device changed its speed during the search.

use flashscope_record::finding::Reason;
use flashscope_record::observation::OpenUnitsData;

use crate::slow_classifier::SlowClassifier;

/// The change, if the same writes took another time at the end than at the start.
pub fn drift(data: &OpenUnitsData, classifier: SlowClassifier) -> Option<Reason> {
    let last_s = data.controls.iter().find_map(|control| classifier.changed(control.each()))?;
    Some(Reason::SpeedChanged { first_s: classifier.typical_seconds(), last_s })
}
