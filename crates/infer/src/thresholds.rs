//! Thresholds that several stages share, each with its reason.

/// A value below this confidence is reported as unknown: one wrong answer in five would misplace a
/// filesystem. Guess.
pub const SURE_ENOUGH: f64 = 0.8;

/// A finding with at least this confidence may decide how other measurements are made or read: one in twenty
/// may be wrong, as for the 95 % intervals.
pub const SURE: f64 = 0.95;

/// The probability that an interval holds the true value.
pub const COVERED: f64 = 0.95;

/// A search takes what has this probability for granted, and does not look for it again. Guess: with 0.95,
/// one in a hundred counts of open units of the zoo (seed 9301) became wrong or unknown.
pub const GRANTED: f64 = 0.98;

/// A search ends once its answer has this probability: at 99.8 % further requests rarely change it
/// (docs/methods/align.md). Guess.
pub const DECIDED: f64 = 0.998;

/// The most confidence in an answer if a rarer cause looks the same, such as a controller's other law, or
/// data that were assumed. Guess.
pub const LIKELY: f64 = 0.9;

/// The probability that a model itself is wrong, which its posterior does not know. Guess.
pub const MODEL_ERROR: f64 = 0.01;

/// The probability that a model is wrong whose answer also depends on what nothing shows, such as how full a
/// block was. Guess.
pub const ROUGH_MODEL_ERROR: f64 = 0.06;

/// A difference of this many standard errors is not chance, even if many sizes are tried. Guess.
pub const CLEAR: f64 = 5.0;

/// One slow request may be a stall; this many are not.
pub const REPEATED: usize = 2;

/// This many of a kind are no noise: one or two may be, or they are stalls. Guess.
pub const NOT_NOISE: usize = 3;

/// The fewest slow requests, or other values, with a usable typical size. Guess: fewer may be chance.
pub const SEVERAL: usize = 4;

/// A probability or a share below this does not count. Guess.
pub const LITTLE: f64 = 0.02;

/// At least this share is most of something. Guess: one half may be chance.
pub const MOST: f64 = 0.75;

/// At least this share is nearly all of something: a few stalls or failed requests do not matter. Guess.
pub const NEARLY_ALL: f64 = 0.9;

/// What nothing decides is as likely as not.
pub const AS_LIKELY_AS_NOT: f64 = 0.5;

/// The prior weight of what few or no known controllers do. Guess.
pub const UNUSUAL: f64 = 0.02;

/// Times or distances that differ by at most this share are alike. Guess.
pub const ALIKE: f64 = 0.2;

/// With more than this share of stalls, other events may be taken for merges. Guess.
pub const STALLS_MAX: f64 = 0.25;

/// What takes this many times as long as usual has a cause of its own. Guess.
pub const CLEARLY_LONGER: f64 = 1.5;

/// A delay of at least this share of a typical one is of the same kind. Guess: the block may be partly copied
/// already.
pub const OF_THE_SAME_KIND: f64 = 0.5;

/// Iterations of a fit whose parts depend on each other: it limits the work. Guess: they settle within eight.
pub const ITERATIONS: usize = 8;

/// What happens in more than this share of cases is the rule.
pub const THE_RULE: f64 = 0.5;

/// The search goes on as if it were not so below this probability. Guess.
pub const UNLIKELY: f64 = 0.1;

/// A row of slow requests is no row of stalls if stalls give it with at most this probability. Guess.
pub const BY_STALLS_MAX: f64 = 0.002;

/// Explanations less probable than the best by e to this power, 10^-11, are left out. Guess: no confidence is
/// stated as finely.
pub const NEGLIGIBLE_NATS: f64 = 25.0;

/// What takes this many times the median, or the fastest, is an outlier. Guess.
pub const OUTLIER_RATIO: f64 = 2.5;

/// Times that differ by at most this factor make no difference to a person. Guess.
pub const NO_DIFFERENCE: f64 = 1.1;

/// A gain or a loss of at least this factor is worth a sentence. Guess: less is not noticed.
pub const NOTICED: f64 = 1.2;

/// The largest relative standard error of a usable throughput. Guess.
pub const ERROR_MAX: f64 = 0.1;

/// The first writes or stretches may open erase blocks, and do not count. Guess.
pub const OPENING_WRITES: usize = 2;
