//! Patients: sound sticks, sticks with one ailment, sticks with two; and how much faster the everyday copy gets on each where one
//! of its ailments is cured, measured by writing it. Nothing here shares anything with the diagnosis.

mod ailment;
mod build;
mod copy;
mod layer;

use flashscope_device::Bytes;
use flashscope_sim::VirtualStick;
use flashscope_sim::profile::Bus;

use self::build::Build;
use self::copy::Habit;
use crate::draw::Draw;
use crate::error::ZooError;

pub use self::ailment::Ailment;

/// A stick with known ailments. The same seed, index and number make the same one on every machine.
#[derive(Debug, Clone)]
pub struct Patient {
    /// Its number.
    pub index: u64,
    /// What is wrong with it, the worst first, and how many times as fast the everyday copy gets without.
    pub ailments: Vec<(Ailment, f64)>,
    /// The seed to measure it with.
    pub survey_seed: u64,
    /// Whether its host's driver cuts requests where it is told to.
    pub driver_can_be_told: bool,
    build: Build,
    seed: u64,
}

/// An ailment makes the copy at least this much slower,
const AILING_MIN: f64 = 1.4;
/// or this much beside another one;
const AILING_BESIDE_MIN: f64 = 1.25;
/// of two, one gains at least so many times as much as the other;
const WORSE_MIN: f64 = 1.1;
/// what is sound, no more than this.
const SOUND_MAX: f64 = 1.15;
/// So many draws that are neither, and other ailments are tried: not all can be ill beside each other.
const TRIES: u64 = 40;

impl Patient {
    /// The patient of this number with so many ailments: none, one or two.
    ///
    /// # Errors
    /// [`ZooError::Profile`] if a drawn profile is impossible, [`ZooError::Patient`] if none of many draws is ill enough.
    pub fn new(seed: u64, index: u64, ailments: usize) -> Result<Self, ZooError> {
        let mut draw = Draw::new(seed ^ (ailments as u64) << 32, index);
        for _ in 0..TRIES {
            let mut wanted = match ailments {
                0 => Vec::new(),
                1 => vec![Ailment::draw(&mut draw)],
                _ => Ailment::draw_two(&mut draw).to_vec(),
            };
            // What it is plugged into decides how fast its flash is, and so how bad the rest is.
            wanted.sort_unstable();
            let drawn = (0..TRIES).map(|_| Self::draw(index, &wanted, &mut draw));
            if let Some(patient) = drawn.filter_map(Result::transpose).next() {
                return patient;
            }
        }
        Err(ZooError::Patient)
    }

    /// One draw; `None` if it is not ill enough, or ill in another way.
    fn draw(index: u64, wanted: &[Ailment], draw: &mut Draw) -> Result<Option<Self>, ZooError> {
        let build = wanted.iter().fold(Build::sound(draw), |build, each| build.ailing(*each, draw));
        let (survey_seed, seed) = (draw.seed(), draw.seed());
        let mut patient =
            Self { index, ailments: Vec::new(), survey_seed, driver_can_be_told: false, build, seed };
        Ok(patient.is_as_wanted(wanted)?.then_some(patient))
    }

    /// Measures what each cure gains; whether that makes it the patient that was wanted.
    fn is_as_wanted(&mut self, wanted: &[Ailment]) -> Result<bool, ZooError> {
        let now = copy::seconds_per_byte(&self.build, Habit::default(), self.seed, copy::EVERYDAY)?;
        for ailment in wanted {
            self.ailments.push((*ailment, now / self.cured(*ailment, copy::EVERYDAY)?));
        }
        self.ailments.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let least = if wanted.len() == 1 { AILING_MIN } else { AILING_BESIDE_MIN };
        let is_one_worse = self.ailments.windows(2).all(|pair| pair[0].1 >= pair[1].1 * WORSE_MIN);
        let is_ill = is_one_worse && self.ailments.iter().all(|(_, gain)| *gain >= least);
        if !is_ill {
            return Ok(false);
        }
        // Small writes and commands cost something on every stick: only those are sound on which that is little. Where commands cost
        // more and shall not be what ails it, it hangs on a host whose driver cannot be told otherwise.
        let costs_little = |ailment| {
            let is_wanted = wanted.contains(&ailment);
            Ok::<_, ZooError>(is_wanted || now / self.cured(ailment, copy::EVERYDAY)? <= SOUND_MAX)
        };
        let (small, commands) =
            (costs_little(Ailment::DearSmallWrites)?, costs_little(Ailment::SmallCommands)?);
        self.driver_can_be_told = commands;
        Ok(small)
    }

    /// How many times as fast small files that are copied alone really get where a layer is cured, for each layer; the largest gain first.
    ///
    /// # Errors
    /// [`ZooError::Profile`] if a cured stick is impossible.
    pub fn gains_of_small_files(&self) -> Result<Vec<(&'static str, f64)>, ZooError> {
        let now = copy::seconds_per_byte(&self.build, Habit::default(), self.seed, copy::SMALL_FILES)?;
        let link = if self.is_card() { Ailment::SlowReader } else { Ailment::SlowPort };
        let collection = if self.build.stall.is_some() { Ailment::Collection } else { Ailment::FullCache };
        let layers = [
            link,
            Ailment::SmallCommands,
            Ailment::DearSmallWrites,
            Ailment::FewOpenUnits,
            collection,
            Ailment::Misaligned,
        ];
        let gain = |ailment: Ailment| Ok((ailment.layer(), now / self.cured(ailment, copy::SMALL_FILES)?));
        let mut gains: Vec<(&str, f64)> = layers.into_iter().map(gain).collect::<Result<_, ZooError>>()?;
        gains.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        Ok(gains)
    }

    /// Seconds for a byte of the copy without this ailment.
    fn cured(&self, ailment: Ailment, shares: [f64; 4]) -> Result<f64, ZooError> {
        let habit = Habit {
            packs: ailment == Ailment::DearSmallWrites,
            in_order: ailment == Ailment::FewOpenUnits,
            rested: ailment == Ailment::FullCache,
        };
        copy::seconds_per_byte(&self.build.cured(ailment), habit, self.seed, shares)
    }

    /// Makes the stick.
    ///
    /// # Errors
    /// [`ZooError::Profile`] if it is impossible.
    pub fn device(&self) -> Result<VirtualStick, ZooError> {
        Ok(VirtualStick::new(&self.build.profile()?, self.seed.rotate_left(17)))
    }

    /// What it is plugged into, and what it could do.
    #[must_use]
    pub const fn buses(&self) -> (Bus, Bus) {
        (self.build.bus, self.build.own_bus())
    }

    /// Where the driver cuts requests.
    #[must_use]
    pub fn request_max(&self) -> Bytes {
        self.build.request_max()
    }

    /// Whether it is a card in a reader.
    #[must_use]
    pub const fn is_card(&self) -> bool {
        self.build.is_card
    }

    /// Where its partition begins.
    #[must_use]
    pub const fn partition_start(&self) -> Bytes {
        self.build.partition_start
    }

    /// As a virtual stick of one's own (`flashscope check sim:FILE`), with what is wrong with it as a comment.
    #[must_use]
    pub fn describe(&self) -> String {
        let ailments = self.ailments.iter().map(|(ailment, gain)| {
            format!("# {}: the everyday copy is {gain:.2} times as fast without\n", ailment.words())
        });
        ailments.chain([self.build.toml()]).collect()
    }
}
