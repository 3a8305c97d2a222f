//! Whether the device changed its speed during the search.

use std::time::Duration;

use flashscope_record::finding::Reason;
use flashscope_record::observation::OpenUnitsData;

use crate::open_blocks::posterior::Posterior;
use crate::slow_classifier::SlowClassifier;
use crate::statistics::lower_quartile;
use crate::thresholds::OF_THE_SAME_KIND;

/// The change, if the same writes took another time at the end than at the start.
pub fn drift(data: &OpenUnitsData, classifier: SlowClassifier) -> Option<Reason> {
    data.controls.iter().find_map(|control| Some(changed(classifier, classifier.changed(control.each())?)))
}

/// The change, if all but the fastest quarter of the same writes changed by as much as a merge takes.
pub fn drift_like_merges(
    data: &OpenUnitsData,
    linear: &Posterior,
    at_start: SlowClassifier,
) -> Option<Reason> {
    let are_the_same = data.larger.is_empty();
    let merge_seconds = linear.merge_seconds().filter(|_| are_the_same)?;
    data.controls.iter().find_map(|control| {
        let seconds: Vec<f64> = control.each().iter().map(Duration::as_secs_f64).collect();
        let fast_quartile_s = lower_quartile(&seconds)?;
        (fast_quartile_s - at_start.typical_seconds() > merge_seconds * OF_THE_SAME_KIND)
            .then(|| changed(at_start, fast_quartile_s))
    })
}

fn changed(at_start: SlowClassifier, last_s: f64) -> Reason {
    Reason::SpeedChanged { first_s: at_start.typical_seconds(), last_s }
}
