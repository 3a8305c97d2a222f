//! A profile's curve in nanoseconds: linear interpolation between points.

use crate::arithmetic::nanoseconds;
use crate::profile;

/// Points in ascending order of size, at least one.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    knots: Vec<Knot>,
    /// Whether the last line is extrapolated beyond the last point. Otherwise the last time holds.
    extrapolates: bool,
}

#[derive(Debug, Clone, Copy)]
struct Knot {
    bytes: u64,
    ns: u64,
}

impl Curve {
    /// A curve that is extrapolated linearly beyond its last point: a larger request takes longer.
    pub(crate) fn rising(curve: &profile::Curve) -> Self {
        Self { extrapolates: matches!(curve, profile::Curve::Knots(_)), ..Self::level(curve) }
    }

    /// A curve that is constant beyond its last point.
    pub(crate) fn level(curve: &profile::Curve) -> Self {
        let knots =
            curve.knots().iter().map(|knot| Knot { bytes: knot.0.get(), ns: nanoseconds(knot.1) }).collect();
        Self { knots, extrapolates: false }
    }

    /// The same curve, multiplied by `factor`.
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

    /// The time of a size. Below the first point the first time holds.
    pub(crate) fn ns(&self, bytes: u64) -> u64 {
        let above = self.knots.partition_point(|knot| knot.bytes < bytes);
        match *self.knots.as_slice() {
            [] => 0,
            [only] if self.extrapolates => only.ns * bytes.max(only.bytes) / only.bytes,
            [only] => only.ns,
            [first, ..] if above == 0 => first.ns,
            [.., last] if above == self.knots.len() && !self.extrapolates => last.ns,
            ref knots => {
                between(knots[above.min(knots.len() - 1) - 1], knots[above.min(knots.len() - 1)], bytes)
            }
        }
    }
}

/// Interpolates on the line through two points; at least zero.
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
    fn points_are_interpolated_and_extrapolated() {
        let points = curve(&[(4, 100.0), (8, 300.0), (16, 400.0)]);
        assert_eq!(
            us(&Curve::rising(&points), &[1, 4, 6, 8, 12, 16, 32]),
            [100, 100, 200, 300, 350, 400, 600]
        );
        assert_eq!(us(&Curve::level(&points), &[4, 16, 1024]), [100, 400, 400]);
    }

    #[test]
    fn constant_is_flat_and_single_point_is_proportional() {
        assert_eq!(us(&Curve::rising(&profile::Curve::Constant(70.0)), &[1, 4096]), [70, 70]);
        assert_eq!(us(&Curve::level(&profile::Curve::Constant(70.0)), &[1, 4096]), [70, 70]);
        assert_eq!(us(&Curve::rising(&curve(&[(4, 100.0)])), &[2, 4, 8]), [100, 100, 200]);
    }

    #[test]
    fn falling_curve_is_never_negative() {
        assert_eq!(us(&Curve::rising(&curve(&[(4, 300.0), (8, 100.0)])), &[8, 16]), [100, 0]);
    }
}
