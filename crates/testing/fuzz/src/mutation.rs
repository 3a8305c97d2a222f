//! Mutations of an input: flipped bits, cuts, repeats, splices, and numbers at the edges.

use crate::random::Random;

/// The most mutations of one input. Guess: more leave little of the sample's structure.
const MUTATIONS_MAX: usize = 6;
/// The longest input: what the limit of allocated memory is stated for.
pub const INPUT_BYTES_MAX: usize = 1 << 20;

/// Where half of the mutations fall. Guess: longer than the headers of all binary formats here.
const HEAD_BYTES: usize = 512;

/// Binary numbers at the edges of their types.
const NUMBERS: [u64; 10] =
    [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0xffff_ffff, 1 << 32, 1 << 40, i64::MAX as u64, u64::MAX];
/// The same as text, and some that are no integers.
const TEXTS: [&str; 14] = [
    "0",
    "1",
    "-1",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e999",
    "0.0000001",
    "NaN",
    "null",
    "\"\"",
    "[]",
];

/// A mutated copy of `sample`; some mutations take a part of `other`.
pub fn mutated(sample: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut input = sample.to_vec();
    for _ in 0..=random.below(MUTATIONS_MAX) {
        mutate(&mut input, other, random);
    }
    input.truncate(INPUT_BYTES_MAX);
    input
}

fn mutate(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    // Every second time near the start: headers decide most.
    let reach = if random.below(2) == 0 { HEAD_BYTES.min(input.len()) } else { input.len() };
    let at = random.below(reach);
    match random.below(9) {
        0 => flip(input, at, random),
        1 => input.truncate(at),
        2 => overwrite_number(input, at, random),
        3 => replace_digits(input, at, TEXTS[random.below(TEXTS.len())]),
        4 => drop(input.splice(at..at, part(other, random).iter().copied())),
        5 => drop(input.drain(at..at + random.below((input.len() - at).min(64)))),
        6 => {
            let repeated = part(input, random).repeat(1 + random.below(8));
            drop(input.splice(at..at, repeated));
        }
        7 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.next() as u8),
        _ => overwrite(input, at, part(other, random)),
    }
}

fn flip(input: &mut [u8], at: usize, random: &mut Random) {
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

/// Writes a number of 1, 2, 4 or 8 bytes, in either byte order.
fn overwrite_number(input: &mut [u8], at: usize, random: &mut Random) {
    let number = NUMBERS[random.below(NUMBERS.len())];
    let length = 1 << random.below(4);
    if random.below(2) == 0 {
        overwrite(input, at, &number.to_le_bytes()[..length]);
    } else {
        overwrite(input, at, &number.to_be_bytes()[8 - length..]);
    }
}

fn overwrite(input: &mut [u8], at: usize, bytes: &[u8]) {
    input.iter_mut().skip(at).zip(bytes).for_each(|(old, new)| *old = *new);
}

/// Replaces the first run of digits behind `at`.
fn replace_digits(input: &mut Vec<u8>, at: usize, text: &str) {
    let Some(start) = input.iter().skip(at).position(u8::is_ascii_digit).map(|skipped| at + skipped) else {
        return;
    };
    let length = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    drop(input.splice(start..start + length, text.bytes()));
}

/// A part of `bytes`, at most 256 of them.
fn part<'a>(bytes: &'a [u8], random: &mut Random) -> &'a [u8] {
    let start = random.below(bytes.len());
    let length = random.below((bytes.len() - start).min(256) + 1);
    &bytes[start..start + length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_take_any_input_and_depend_on_the_seed_only() {
        for seed in 0..2000 {
            for sample in [&b""[..], b"7", b"{\"size\": 4096, \"kind\": 1}"] {
                let once = mutated(sample, b"other", &mut Random::new(seed));
                assert_eq!(once, mutated(sample, b"other", &mut Random::new(seed)));
            }
        }
    }

    #[test]
    fn a_run_of_digits_becomes_a_huge_number() {
        let mut input = b"{\"size\": 4096}".to_vec();
        replace_digits(&mut input, 2, "18446744073709551615");
        assert_eq!(input, b"{\"size\": 18446744073709551615}");
    }
}
