//! One specimen: a device that can be made repeatedly, and what is true of it.

use flashscope_device::Device;
use flashscope_sim::VirtualStick;

use crate::disturbance::Disturbance;
use crate::draw::Draw;
use crate::error::ZooError;
use crate::history::History;
use crate::outside::{self, OutsideKind};
use crate::scope::Scope;
use crate::stick::Stick;
use crate::truth::{Fact, Truth};
use crate::variant::{self, Law, Variant};

/// The share of specimens outside the hypothesis space.
const OUTSIDE_SHARE: f64 = 0.22;

/// Findings about flash, which a device without flash does not have. (Every device has a smallest efficient
/// write.)
const FLASH_FINDINGS: [&str; 7] = [
    "erase_block_bytes",
    "page_bytes",
    "open_units_linear",
    "open_units_random",
    "fat_area_bytes",
    "ftl_class",
    "merge_seconds",
];

/// Findings about visible effects, which apply to any device.
const EFFECT_FINDINGS: [&str; 2] = ["read_boundary_signal", "slc_cache_bytes"];

/// A device, and what is true of it. The same seed and index make the same one on every machine.
#[derive(Debug, Clone)]
pub struct Specimen {
    /// Its number in the zoo.
    pub index: u64,
    /// Inside or outside the hypothesis space.
    pub scope: Scope,
    /// What is true of it.
    pub truth: Truth,
    /// The seed to measure it with.
    pub survey_seed: u64,
    body: Body,
    disturbance: Disturbance,
    seed: u64,
}

/// The device behind a specimen.
#[derive(Debug, Clone)]
enum Body {
    /// A virtual stick and its write history.
    Stick(Box<Stick>, History),
    /// A device that consists only of its timing.
    Other(OutsideKind),
    /// A stick with a law outside the hypothesis space.
    Variant(Box<Variant>),
}

impl Body {
    fn sample(scope: Scope, draw: &mut Draw) -> Result<Self, ZooError> {
        match scope {
            Scope::Outside(kind) if !kind.has_stick() => Ok(Self::Other(kind)),
            _ => Ok(Self::Stick(Box::new(Stick::sample(draw)?), History::sample(draw))),
        }
    }

    /// Adds the truth about filling the stick, if the stick survives that.
    fn with_fill_truth(self, scope: Scope, disturbance: &Disturbance, seed: u64) -> Result<Self, ZooError> {
        Ok(match self {
            Self::Stick(stick, history) if scope == Scope::Inside => {
                Self::Stick(Box::new(stick.with_fill_truth(history, disturbance, seed)?), history)
            }
            other => other,
        })
    }

    fn truth(&self, scope: Scope) -> Truth {
        match (self, scope) {
            (
                Self::Stick(stick, _),
                Scope::Inside
                | Scope::Outside(OutsideKind::Erring | OutsideKind::Vanishing | OutsideKind::Dying),
            ) => stick.truth.clone(),
            (Self::Variant(variant), _) => variant.truth.clone(),
            (Self::Stick(..), _) => Truth::absent(&[&FLASH_FINDINGS[..], &EFFECT_FINDINGS].concat()),
            (Self::Other(_), _) => {
                let mut truth = Truth::absent(&FLASH_FINDINGS);
                // Without flash there are no read boundaries and no cache.
                truth.set("read_boundary_signal", Fact::OneOf(&["no"]));
                truth.set("slc_cache_bytes", Fact::Number(0.0));
                truth
            }
        }
    }
}

impl Specimen {
    /// The specimen with this number in the zoo of this seed.
    ///
    /// # Errors
    /// [`ZooError::Profile`] if a drawn profile is impossible.
    pub fn new(seed: u64, index: u64) -> Result<Self, ZooError> {
        let mut draw = Draw::new(seed, index);
        let is_outside = draw.bernoulli(OUTSIDE_SHARE);
        let scope = if is_outside { Scope::Outside(OutsideKind::sample(&mut draw)) } else { Scope::Inside };
        let body = Body::sample(scope, &mut draw)?;
        let disturbance = Disturbance::sample(scope, &mut draw);
        let (survey_seed, seed) = (draw.seed(), draw.seed());
        let body = body.with_fill_truth(scope, &disturbance, seed)?;
        Ok(Self { index, scope, truth: body.truth(scope), survey_seed, body, disturbance, seed })
    }

    /// The specimen with this number among the variants. Every law has its turn: the first is that of number
    /// 0, 10, 20 and so on.
    ///
    /// # Errors
    /// [`ZooError::Profile`] if a drawn profile is impossible.
    pub fn variant(seed: u64, index: u64) -> Result<Self, ZooError> {
        let law = Law::of_index(index);
        let mut draw = Draw::new(seed, index);
        let body = Body::Variant(Box::new(variant::sample(law, &mut draw)?));
        let scope = Scope::Variant(law);
        let (survey_seed, seed) = (draw.seed(), draw.seed());
        let disturbance = Disturbance::NONE;
        Ok(Self { index, scope, truth: body.truth(scope), survey_seed, body, disturbance, seed })
    }

    /// Makes the device in its state before the measurement.
    ///
    /// # Errors
    /// [`ZooError::Fault`] if its fault is impossible, [`ZooError::History`] if its history cannot be
    /// written.
    pub fn device(&self) -> Result<Box<dyn Device + Send>, ZooError> {
        let mut draw = Draw::new(self.seed, 0);
        let device: Box<dyn Device + Send> = match &self.body {
            Body::Other(kind) => outside::device(*kind, &mut draw),
            Body::Variant(variant) => variant.device(self.seed),
            Body::Stick(stick, history) => {
                let mut device = VirtualStick::new(&stick.profile, self.seed);
                history.apply(&mut device, &mut draw)?;
                Box::new(device)
            }
        };
        self.disturbance.inject(device, self.seed)
    }

    /// A description for people: comments, then the profile as TOML if it has one.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut lines = vec![match self.scope {
            Scope::Inside => format!("specimen {}: a stick", self.index),
            Scope::Outside(kind) => format!("specimen {}: {}", self.index, kind.as_str()),
            Scope::Variant(law) => format!("specimen {}: {}", self.index, law.as_str()),
        }];
        lines.push(match &self.body {
            Body::Stick(_, history) => format!("sim seed {}, {history}", self.seed),
            Body::Other(_) => format!("seed {}", self.seed),
            Body::Variant(variant) => format!("sim seed {}, {}", self.seed, variant.parts().1),
        });
        lines.extend(self.disturbance.lines());
        let comments: String = lines.iter().map(|line| format!("# {line}\n")).collect();
        let profile = match &self.body {
            Body::Stick(stick, _) => &stick.profile,
            Body::Variant(variant) => variant.parts().0,
            Body::Other(_) => return comments,
        };
        comments + &profile.to_toml().unwrap_or_else(|error| format!("# {error}\n"))
    }
}
