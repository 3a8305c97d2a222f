//! Times that say nothing of the request: pure noise, or always the same.

use flashscope_device::{Instant, Op};

use super::timed::Timing;
use crate::draw::Draw;

/// Times drawn from one distribution, whatever is asked.
#[derive(Debug)]
pub(super) struct Noise {
    shape: Shape,
    scale_s: f64,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    /// From nothing to twice the scale.
    Uniform,
    /// Exponential with the scale as its mean.
    Exponential,
    /// The scale times the exponential of a normal variable of this deviation.
    LogNormal(f64),
    /// The scale times a Pareto variable of this exponent: now and then hundreds of times as long.
    Pareto(f64),
    /// One of two times, a hundredfold apart, the longer with this probability.
    TwoTimes(f64),
}

impl Noise {
    pub(super) fn draw(draw: &mut Draw) -> Self {
        let shape = match draw.whole(0, 4) {
            0 => Shape::Uniform,
            1 => Shape::Exponential,
            2 => Shape::LogNormal(draw.between(0.3, 2.0)),
            3 => Shape::Pareto(draw.between(0.8, 2.5)),
            _ => Shape::TwoTimes(draw.log_between(0.01, 0.5)),
        };
        Self { shape, scale_s: draw.log_between(1e-4, 1e-2) }
    }
}

impl Timing for Noise {
    fn seconds(&mut self, _op: &Op, _now: Instant, draw: &mut Draw) -> f64 {
        let factor = match self.shape {
            Shape::Uniform => 2.0 * draw.unit(),
            Shape::Exponential => draw.exponential(),
            Shape::LogNormal(deviation) => (deviation * draw.normal()).exp(),
            Shape::Pareto(exponent) => (draw.exponential() / exponent).exp().min(1e4),
            Shape::TwoTimes(share) if draw.chance(share) => 100.0,
            Shape::TwoTimes(_) => 1.0,
        };
        self.scale_s * factor
    }
}

/// The same time for every request.
#[derive(Debug)]
pub(super) struct Constant {
    seconds: f64,
}

impl Constant {
    pub(super) fn draw(draw: &mut Draw) -> Self {
        Self { seconds: draw.log_between(1e-6, 1e-2) }
    }
}

impl Timing for Constant {
    fn seconds(&mut self, _op: &Op, _now: Instant, _draw: &mut Draw) -> f64 {
        self.seconds
    }
}
