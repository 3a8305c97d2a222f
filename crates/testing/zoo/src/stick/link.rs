//! The way from the host to the controller: a bus, as fast as it is in practice or slower.

use std::fmt::Write as _;

use super::geometry::Age;
use crate::draw::Draw;

/// A bus with its rate in practice (10^6 bytes per second) and the time of a command (us), as `docs/simulator.md` has them.
type Bus = (&'static str, f64, f64);

const USB_FULL: Bus = ("usb-full", 1.0, 1000.0);
const USB_HIGH: Bus = ("usb-high", 38.0, 125.0);
const USB_SUPER: Bus = ("usb-super-5", 425.0, 30.0);
const SD_DEFAULT: Bus = ("sd-default", 11.5, 34.0);
const SD_HIGH_SPEED: Bus = ("sd-high-speed", 23.0, 27.0);
const SD_SDR50: Bus = ("sd-sdr50", 46.0, 23.5);
const SD_SDR104: Bus = ("sd-sdr104", 95.7, 21.7);

/// The buses of an age, by how common they are.
fn bus(age: Age, draw: &mut Draw) -> Bus {
    match age {
        Age::Old => draw.weighted(&[(0.1, USB_FULL), (0.75, USB_HIGH), (0.15, SD_DEFAULT)]),
        Age::Middle => {
            draw.weighted(&[(0.03, USB_FULL), (0.77, USB_HIGH), (0.1, SD_HIGH_SPEED), (0.1, SD_SDR50)])
        }
        Age::Late | Age::Odd => draw.weighted(&[
            (0.4, USB_HIGH),
            (0.3, USB_SUPER),
            (0.1, SD_HIGH_SPEED),
            (0.1, SD_SDR50),
            (0.1, SD_SDR104),
        ]),
    }
}

/// The table of a drawn link: a stick, a card in its slot, or a card in a reader.
pub(super) fn toml(age: Age, draw: &mut Draw) -> String {
    let (name, rate, command_us) = bus(age, draw);
    let mut text = format!("\n[link]\nbasis = \"assumed\"\nbus = \"{name}\"\n");
    let _ = writeln!(text, "command_us = {:.1}", command_us * draw.log_between(0.9, 3.0));
    let _ = writeln!(text, "megabytes_per_s = {:.2}", rate * draw.between(0.6, 1.0));
    if name == USB_HIGH.0 && draw.chance(0.2) {
        let _ = writeln!(text, "max_command = \"64KiB\"");
    }
    if name == USB_SUPER.0 && draw.chance(0.25) {
        let _ = writeln!(text, "protocol = \"uas\"");
    }
    if name == USB_HIGH.0 && draw.chance(0.2) {
        let card = draw.weighted(&[(0.3, SD_DEFAULT), (0.7, SD_HIGH_SPEED)]);
        let _ = writeln!(text, "\n[link.card]\nbus = \"{}\"", card.0);
    }
    text
}
