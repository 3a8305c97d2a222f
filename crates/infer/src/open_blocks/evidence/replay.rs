//! The posterior after all stored writes.

use flashscope_record::observation::Order;

use super::sequence::WriteSequence;
use crate::open_blocks::posterior::Posterior;
use crate::slow_classifier::SlowClassifier;

/// The posterior after all writes of these sequences, whose classifiers are changed in this way. In
/// sequential order a full unit may still be open, since its last write is left out. In random order it was
/// filled to its end, and is evicted like any other.
pub(super) fn replay(
    posterior: &Posterior,
    sequences: &[WriteSequence<'_>],
    classifier: impl Fn(&SlowClassifier) -> SlowClassifier,
) -> Posterior {
    let mut posterior = posterior.before_first_write();
    for sequence in sequences {
        posterior.continue_with(classifier(&sequence.classifier), sequence.request);
        let order = posterior.order();
        let mut full_units = sequence.full_units(order).filter(|_| order == Order::Linear).peekable();
        for (index, (_, unit, latency)) in sequence.writes(order).enumerate() {
            while let Some((_, full)) = full_units.next_if(|(after, _)| *after <= index) {
                posterior.retire(full);
            }
            posterior.write(unit, latency);
        }
        full_units.for_each(|(_, full)| posterior.retire(full));
        posterior.finish_pair();
    }
    posterior
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;
    use flashscope_record::observation::OpenUnitsCell;

    use super::*;
    use crate::open_blocks::prior::Prior;

    #[test]
    fn a_full_unit_is_retired_at_its_stored_position() {
        let fast = Duration::from_millis(2);
        let classifier = SlowClassifier::from_baseline(&[fast; 5]).unwrap();
        let request = Bytes::kib(16);
        let opened = |order| {
            let mut live = Posterior::new(order, classifier, Prior::Linear);
            live.continue_with(classifier, request);
            let mut cells = Vec::new();
            OpenUnitsCell::pass_over(&mut cells, order, 9);
            for (writes, full) in
                [(&[(1, 0), (2, 1), (3, 2), (3, 0), (3, 1)][..], 0), (&[(2, 2), (2, 1), (2, 2)], 1)]
            {
                for (number, unit) in writes {
                    live.write(*unit, fast);
                    OpenUnitsCell::keep(&mut cells, (order, *number, request), *unit, fast);
                }
                live.retire(full);
                OpenUnitsCell::pass_over(&mut cells, order, full);
            }
            let sequence = WriteSequence::new(&cells, classifier);
            assert_eq!(sequence.full_units(order).collect::<Vec<_>>(), [(5, 0), (8, 1)]);
            let again = replay(&live, &[sequence], SlowClassifier::clone);
            [live.writable_units(), again.writable_units()]
        };
        assert_eq!(opened(Order::Linear), [1, 1]);
        assert_eq!(opened(Order::Random), [1, 3], "it was evicted like others");
    }
}
