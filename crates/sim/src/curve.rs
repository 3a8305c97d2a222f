//! A profile's curve in nanoseconds: straight lines between points.

use crate::link::nanoseconds;
use crate::profile;

/// Points in order of size, at least one.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    knots: Vec<Knot>,
    /// Beyond the last point the last line goes on; without it the last time stays.
    goes_on: bool,
}

#[derive(Debug, Clone, Copy)]
struct Knot {
    bytes: u64,
    ns: u64,
}

impl Curve {
    /// A curve that goes on beyond its last point as its last line does: a larger request takes longer.
    pub(crate) fn rising(curve: &profile::Curve) -> Self {
        Self { goes_on: matches!(curve, profile::Curve::Knots(_)), ..Self::level(curve) }
    }

    /// A curve that stays at its last time.
    pub(crate) fn level(curve: &profile::Curve) -> Self {
        let knots =
            curve.knots().iter().map(|knot| Knot { bytes: knot.0.get(), ns: nanoseconds(knot.1) }).collect();
        Self { knots, goes_on: false }
    }

    /// The same curve, so many times as high.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the profile bounds times and factors"
    )]
    pub(crate) fn times(mut self, factor: f64) -> Self {
        for knot in &mut self.knots {
            knot.ns = (knot.ns as f64 * factor).round() as u64;
        }
        self
    }

    /// The time of so many bytes. Below the first point its time holds.
    pub(crate) fn ns(&self, bytes: u64) -> u64 {
        let above = self.knots.partition_point(|knot| knot.bytes < bytes);
        match *self.knots.as_slice() {
            [] => 0,
            [only] if self.goes_on => only.ns * bytes.max(only.bytes) / only.bytes,
            [only] => only.ns,
            [first, ..] if above == 0 => first.ns,
            [.., last] if above == self.knots.len() && !self.goes_on => last.ns,
            ref knots => {
                between(knots[above.min(knots.len() - 1) - 1], knots[above.min(knots.len() - 1)], bytes)
            }
        }
    }
}

/// On the line through two points; never below zero.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "below 2^53 ns"
)]
fn between(low: Knot, high: Knot, bytes: u64) -> u64 {
    let slope = (high.ns as f64 - low.ns as f64) / (high.bytes - low.bytes) as f64;
    (bytes as f64 - low.bytes as f64).mul_add(slope, low.ns as f64).round().max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;

    fn curve(points: &[(u64, f64)]) -> profile::Curve {
        profile::Curve::Knots(points.iter().map(|(kib, us)| profile::Knot(Bytes::kib(*kib), *us)).collect())
    }

    fn us(curve: &Curve, sizes: &[u64]) -> Vec<u64> {
        sizes.iter().map(|kib| curve.ns(kib << 10) / 1000).collect()
    }

    #[test]
    fn lines_lead_from_point_to_point() {
        let points = curve(&[(4, 100.0), (8, 300.0), (16, 400.0)]);
        assert_eq!(
            us(&Curve::rising(&points), &[1, 4, 6, 8, 12, 16, 32]),
            [100, 100, 200, 300, 350, 400, 600]
        );
        assert_eq!(us(&Curve::level(&points), &[4, 16, 1024]), [100, 400, 400]);
    }

    #[test]
    fn a_number_stays_and_a_single_point_rises_in_proportion() {
        assert_eq!(us(&Curve::rising(&profile::Curve::Constant(70.0)), &[1, 4096]), [70, 70]);
        assert_eq!(us(&Curve::level(&profile::Curve::Constant(70.0)), &[1, 4096]), [70, 70]);
        assert_eq!(us(&Curve::rising(&curve(&[(4, 100.0)])), &[2, 4, 8]), [100, 100, 200]);
    }

    #[test]
    fn a_falling_curve_never_takes_less_than_nothing() {
        assert_eq!(us(&Curve::rising(&curve(&[(4, 300.0), (8, 100.0)])), &[8, 16]), [100, 0]);
    }
}
