//! One specimen: a device that can be made again and again, and what is true of it.

use flashscope_device::Device;
use flashscope_sim::VirtualStick;

use crate::draw::Draw;
use crate::error::ZooError;
use crate::history::History;
use crate::mishap::Mishap;
use crate::outside::{self, Kind};
use crate::stick::Stick;
use crate::truth::{Fact, Truth};

/// This share of the specimens is outside the space of hypotheses.
const OUTSIDE_SHARE: f64 = 0.22;

/// What no finding about the flash can be, where there is none. (A smallest efficient write exists on any device.)
const FLASH_FINDINGS: [&str; 7] = [
    "erase_block_bytes",
    "page_bytes",
    "open_units_linear",
    "open_units_random",
    "fat_area_bytes",
    "ftl_class",
    "merge_seconds",
];

/// What a device shows or does not, whatever it is made of.
const SHOWN: [&str; 2] = ["read_boundary_signal", "slc_cache_bytes"];

/// Where a specimen belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habitat {
    /// A stick inside the space of hypotheses.
    Inside,
    /// Something else.
    Outside(Kind),
}

/// A device, and what is true of it. The same seed and index make the same one on every machine.
#[derive(Debug, Clone)]
pub struct Specimen {
    /// Its number in the zoo.
    pub index: u64,
    /// Where it belongs.
    pub habitat: Habitat,
    /// What is true of it.
    pub truth: Truth,
    /// The seed to measure it with.
    pub survey_seed: u64,
    body: Body,
    mishap: Mishap,
    seed: u64,
}

/// What a specimen is made of.
#[derive(Debug, Clone)]
enum Body {
    /// A virtual stick, and what it has been through.
    Stick(Box<Stick>, History),
    /// A device that is nothing but its times.
    Other(Kind),
}

impl Body {
    fn draw(habitat: Habitat, draw: &mut Draw) -> Result<Self, ZooError> {
        match habitat {
            Habitat::Outside(kind) if !kind.has_stick() => Ok(Self::Other(kind)),
            _ => Ok(Self::Stick(Box::new(Stick::draw(draw)?), History::draw(draw))),
        }
    }

    /// With what is true once it was filled, where it lives long enough for that.
    fn filled(self, habitat: Habitat, mishap: &Mishap, seed: u64) -> Result<Self, ZooError> {
        Ok(match self {
            Self::Stick(stick, history) if habitat == Habitat::Inside => {
                Self::Stick(Box::new(stick.filled(history, mishap, seed)?), history)
            }
            other => other,
        })
    }

    fn truth(&self, habitat: Habitat) -> Truth {
        match (self, habitat) {
            (
                Self::Stick(stick, _),
                Habitat::Inside | Habitat::Outside(Kind::Erring | Kind::Vanishing | Kind::Dying),
            ) => stick.truth.clone(),
            (Self::Stick(..), _) => Truth::nothing(&[&FLASH_FINDINGS[..], &SHOWN].concat()),
            (Self::Other(_), _) => {
                let mut truth = Truth::nothing(&FLASH_FINDINGS);
                // That nothing shows is true of what has no flash.
                truth.set("read_boundary_signal", Fact::OneOf(&["no"]));
                truth.set("slc_cache_bytes", Fact::Number(0.0));
                truth
            }
        }
    }
}

impl Specimen {
    /// The specimen of this number in the zoo of this seed.
    ///
    /// # Errors
    /// [`ZooError::Profile`] if a drawn profile is impossible.
    pub fn new(seed: u64, index: u64) -> Result<Self, ZooError> {
        let mut draw = Draw::new(seed, index);
        let outside = draw.chance(OUTSIDE_SHARE);
        let habitat = if outside { Habitat::Outside(Kind::draw(&mut draw)) } else { Habitat::Inside };
        let body = Body::draw(habitat, &mut draw)?;
        let mishap = Mishap::draw(habitat, &mut draw);
        let (survey_seed, seed) = (draw.seed(), draw.seed());
        let body = body.filled(habitat, &mishap, seed)?;
        Ok(Self { index, habitat, truth: body.truth(habitat), survey_seed, body, mishap, seed })
    }

    /// Makes the device, as it is before anybody measures it.
    ///
    /// # Errors
    /// [`ZooError::Fault`] if its fault cannot be, [`ZooError::History`] if it could not go through what it has been through.
    pub fn device(&self) -> Result<Box<dyn Device + Send>, ZooError> {
        let mut draw = Draw::new(self.seed, 0);
        let device: Box<dyn Device + Send> = match &self.body {
            Body::Other(kind) => outside::device(*kind, &mut draw),
            Body::Stick(stick, history) => {
                let mut device = VirtualStick::new(&stick.profile, self.seed);
                history.replay(&mut device, &mut draw)?;
                Box::new(device)
            }
        };
        self.mishap.befall(device, self.seed)
    }

    /// What it is, for people: the profile as TOML where it has one, with everything else as comments.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut lines = vec![match self.habitat {
            Habitat::Inside => format!("specimen {}: a stick", self.index),
            Habitat::Outside(kind) => format!("specimen {}: {}", self.index, kind.as_str()),
        }];
        lines.push(match &self.body {
            Body::Stick(_, history) => format!("sim seed {}, {}", self.seed, history.words()),
            Body::Other(_) => format!("seed {}", self.seed),
        });
        lines.extend(self.mishap.words());
        let comments: String = lines.iter().map(|line| format!("# {line}\n")).collect();
        match &self.body {
            Body::Stick(stick, _) => comments + &stick.toml,
            Body::Other(_) => comments,
        }
    }
}
