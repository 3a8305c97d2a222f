//! Times that do not depend on the request: pure noise, or a constant.

use flashscope_device::{Instant, Op};

use super::timed::Timing;
use crate::draw::Draw;

/// Times from one distribution, for every request.
#[derive(Debug)]
pub(super) struct Noise {
    shape: Shape,
    scale_s: f64,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    /// From 0 to twice the scale.
    Uniform,
    /// Exponential with the scale as its mean.
    Exponential,
    /// The scale times the exponential of a normal variable with this standard deviation.
    LogNormal(f64),
    /// The scale times a Pareto variable with this exponent: rare times are hundreds of times longer.
    Pareto(f64),
    /// One of two times with a ratio of 100; the longer one with this probability.
    Bimodal(f64),
}

impl Noise {
    pub(super) fn sample(draw: &mut Draw) -> Self {
        let shape = match draw.uniform_integer(0, 4) {
            0 => Shape::Uniform,
            1 => Shape::Exponential,
            2 => Shape::LogNormal(draw.uniform(0.3, 2.0)),
            3 => Shape::Pareto(draw.uniform(0.8, 2.5)),
            _ => Shape::Bimodal(draw.log_uniform(0.01, 0.5)),
        };
        Self { shape, scale_s: draw.log_uniform(1e-4, 1e-2) }
    }
}

impl Timing for Noise {
    fn seconds(&mut self, _op: &Op, _now: Instant, draw: &mut Draw) -> f64 {
        let factor = match self.shape {
            Shape::Uniform => 2.0 * draw.unit(),
            Shape::Exponential => draw.exponential(),
            Shape::LogNormal(deviation) => (deviation * draw.normal()).exp(),
            Shape::Pareto(exponent) => (draw.exponential() / exponent).exp().min(1e4),
            Shape::Bimodal(share) if draw.bernoulli(share) => 100.0,
            Shape::Bimodal(_) => 1.0,
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
    pub(super) fn sample(draw: &mut Draw) -> Self {
        Self { seconds: draw.log_uniform(1e-6, 1e-2) }
    }
}

impl Timing for Constant {
    fn seconds(&mut self, _op: &Op, _now: Instant, _draw: &mut Draw) -> f64 {
        self.seconds
    }
}
