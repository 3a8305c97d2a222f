//! What serves a command behind the link.

use crate::controller::Controller;
use crate::noise::RequestNoise;

/// The controller, and the noise on its times.
#[derive(Debug)]
pub(super) struct Backend<'a> {
    pub(super) controller: &'a mut Controller,
    pub(super) noise: &'a mut RequestNoise,
}
