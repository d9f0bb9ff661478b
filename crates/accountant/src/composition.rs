//! One composition, all methods: the tightest valid answer wins.

use crate::contour::{self, total_count};
use crate::moments::{Moments, Term};
use crate::pair::Pair;
use crate::pld::{COARSE, Composed, FINE, Grid};
use crate::rdp::RenyiBound;
use crate::{AccountantError, Method, gaussian, profile, rdp};
use pairdp_units::Delta;
use pairdp_units::directed::{larger, smaller, up_by};

/// The smallest ε that is told from 0.
const SMALLEST: f64 = 1e-12;
/// Shifts beyond which sampling is not worth computing: the sampled record is recognised at sight.
const LARGEST_SHIFT: f64 = 60.0;
/// Tail for tilts, relative to δ/T: as the certificate cuts.
const TILT_CUT: f64 = 3e-4;

/// FINE where δ is asked: errors in it are the answer's own.
const FINE_FOR_DELTA: f64 = 3e-4;
/// A guess of ε is good enough to lay a fine grid when a coarse one moves it by at most this share.
const SETTLED: f64 = 0.3;

/// An upper bound and how it was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bound {
    pub(crate) value: f64,
    pub(crate) method: Method,
}

/// Splits plain Gaussian noise from the rest: (shift, others).
fn gaussian_part(terms: &[Term]) -> Option<f64> {
    match terms {
        [Term { pair: Pair::Gaussian { shift }, count: 1 }] => Some(*shift),
        _ => None,
    }
}

fn pure_sum(terms: &[Term]) -> f64 {
    let pure = terms.iter().map(|term| match term.pair {
        Pair::RandomisedResponse { epsilon } => epsilon * term.count as f64,
        _ => 0.0,
    });
    up_by(pure.sum(), 2.0 + terms.len() as f64)
}

/// The shift of all Gaussian releases together if nothing had been sampled.
fn unsampled_shift(terms: &[Term]) -> f64 {
    let shifts =
        || terms.iter().filter_map(|term| Some(term.pair.without_sampling()? * (term.count as f64).sqrt()));
    if shifts().all(|shift| shift <= 0.0) { 0.0 } else { gaussian::compose(shifts()) }
}

/// Whether the numeric engines apply.
fn moderate(terms: &[Term]) -> bool {
    terms.iter().all(|term| match term.pair {
        Pair::RandomisedResponse { epsilon } => epsilon < 500.0,
        Pair::PoissonPairs { radius, .. } => radius < LARGEST_SHIFT,
        pair => pair.without_sampling().is_some_and(|shift| shift < LARGEST_SHIFT),
    })
}

/// An upper bound on ε at δ.
pub(crate) fn epsilon(terms: &[Term], target: Delta) -> Result<Bound, AccountantError> {
    let bound = |value: f64, method: Method| Ok(Bound { value, method });
    if terms.is_empty() {
        return bound(0.0, Method::Nothing);
    }
    let shift = unsampled_shift(terms);
    if shift.is_nan() {
        return Err(AccountantError::Ratio(shift));
    }
    if let Some(shift) = gaussian_part(terms) {
        return bound(gaussian::epsilon(target, shift)?.get(), Method::Gaussian);
    }
    let pure = pure_sum(terms);
    if shift <= 0.0 && target.get() <= 0.0 {
        return bound(pure, Method::Pure);
    }
    if target.get() <= 0.0 || shift.is_infinite() {
        return bound(f64::INFINITY, Method::Nothing);
    }
    let delta = target.get();
    if let [Term { pair, count: 1 }] = terms
        && moderate(terms)
    {
        return bound(profile::epsilon(*pair, delta)?, Method::OneStep);
    }
    // Valid whatever happens below: no amplification, and pure parts simply added.
    let plain = if shift > 0.0 { gaussian::epsilon(target, shift)?.get() } else { 0.0 };
    let mut best = Bound {
        value: up_by(plain + pure, 2.0),
        method: if shift > 0.0 { Method::WithoutSampling } else { Method::Pure },
    };
    if !moderate(terms) {
        return Ok(best);
    }
    if let Ok(moments) = rdp::moments(terms, delta) {
        let renyi = rdp::epsilon(&moments, delta);
        if renyi.epsilon < best.value {
            best = Bound { value: renyi.epsilon, method: Method::Renyi };
        }
        if let Ok(value) = certificate(terms, delta, &moments, renyi)
            && value < best.value
        {
            best = Bound { value, method: Method::PrivacyLoss };
        }
    }
    if best.value.is_nan() { Err(AccountantError::NoConvergence("ε is not a number")) } else { Ok(best) }
}

/// ε by discretised losses.
///
/// Rényi accounting gave a first guess and moments for the tilts, coarse grids improve the guess, a fine one certifies.
pub(crate) fn certificate(
    terms: &[Term],
    delta: f64,
    moments: &Moments,
    first: RenyiBound,
) -> Result<f64, AccountantError> {
    if !first.epsilon.is_finite() {
        return Err(AccountantError::NoConvergence("no first guess of ε"));
    }
    let (mut guess, mut saddle) = (larger(first.epsilon, SMALLEST), first.order - 1.0);
    // How much smaller a tilt than the saddle's coarse grids took, and how fast log δ falls there.
    let (mut calm, mut slope) = (1.0, 0.0);
    for _ in 0..12 {
        saddle = moments.saddle(guess, saddle);
        let grid = Grid::new(terms, guess, delta, larger(saddle, slope), 3.0 * COARSE)?;
        let coarse = Composed::new(terms, calm * saddle, guess, grid)?;
        let next = coarse.epsilon(delta, guess);
        if next <= 0.0 {
            // A coarse grid's bound is a bound as well.
            return Ok(0.0);
        }
        if !next.is_finite() {
            return Err(AccountantError::NoConvergence("the search for ε left its range"));
        }
        calm = coarse.tilt() / saddle;
        slope = (coarse.delta(next) / coarse.delta(1.02 * next)).ln() / (0.02 * next);
        let next = larger(next, SMALLEST);
        let settled = (next - guess).abs() <= SETTLED * next;
        guess = next;
        if settled {
            break;
        }
    }
    let mut best = f64::INFINITY;
    for _ in 0..4 {
        saddle = moments.saddle(guess, saddle);
        // How far the grid moves ε depends on the slope of log δ, which the coarse grid knows better than the saddle.
        let grid =
            Grid::new(terms, guess, delta, larger(saddle, slope), FINE)?.spending(terms, guess * slope);
        let fine = Composed::new(terms, calm * saddle, guess, grid)?;
        let value = fine.epsilon(delta, guess);
        best = smaller(best, value);
        if value <= 0.0 || !value.is_finite() || fine.reaches(value) && value > 0.5 * guess {
            break;
        }
        // A period made for another ε gives a bound that holds, but is loose.
        guess = value;
    }
    Ok(best)
}

/// Whether δ at ε is at most this: Rényi accounting or else a coarse grid says yes, or nothing is known.
pub(crate) fn surely_within(terms: &[Term], epsilon: f64, delta: f64) -> bool {
    if terms.is_empty() || !moderate(terms) || !(epsilon > 0.0 && epsilon.is_finite() && delta > 0.0) {
        return false;
    }
    rdp::moments(terms, delta).is_ok_and(|moments| rdp::epsilon(&moments, delta).epsilon <= epsilon)
        || log_delta(terms, epsilon, delta, COARSE).is_ok_and(|log| log <= delta.ln())
}

/// An upper bound on log δ at ε, accurate for δ near `delta`: what a search needs.
pub(crate) fn log_delta(
    terms: &[Term],
    epsilon: f64,
    delta: f64,
    excess: f64,
) -> Result<f64, AccountantError> {
    log_delta_on(terms, epsilon, delta, |tilt| Grid::new(terms, epsilon, delta, tilt, excess))
}

/// The same on a grid that is made for a tilt.
fn log_delta_on(
    terms: &[Term],
    epsilon: f64,
    delta: f64,
    grid: impl Fn(f64) -> Result<Grid, AccountantError>,
) -> Result<f64, AccountantError> {
    let tail = larger(TILT_CUT * delta / total_count(terms), 1e-315);
    let tilt = Moments::new(terms, tail, 0.0)?.saddle(epsilon, 1.0);
    Ok(Composed::new(terms, tilt, epsilon, grid(tilt)?)?.delta(epsilon).ln())
}

/// An upper bound on δ at ε > 0.
pub(crate) fn delta(terms: &[Term], epsilon: f64) -> Result<Bound, AccountantError> {
    let bound = |value: f64, method: Method| Ok(Bound { value, method });
    if terms.is_empty() {
        return bound(0.0, Method::Nothing);
    }
    let shift = unsampled_shift(terms);
    if let Some(shift) = gaussian_part(terms) {
        return bound(gaussian::delta(epsilon, shift)?, Method::Gaussian);
    }
    if shift.is_nan() {
        return Err(AccountantError::Ratio(shift));
    }
    let pure = pure_sum(terms);
    if shift <= 0.0 && pure <= epsilon {
        return bound(0.0, Method::Pure);
    }
    if shift.is_infinite() {
        return bound(1.0, Method::Nothing);
    }
    if let [Term { pair, count: 1 }] = terms
        && moderate(terms)
    {
        return bound(up_by(profile::delta(*pair, epsilon)?, 4096.0), Method::OneStep);
    }
    // Without amplification, the pure parts taking their share of ε; if they take more, nothing is known yet.
    let left = (epsilon - pure).next_down();
    let mut best = if left >= 0.0 {
        Bound { value: gaussian::delta(left, shift)?, method: Method::WithoutSampling }
    } else {
        Bound { value: 1.0, method: Method::Nothing }
    };
    if moderate(terms)
        && let Ok(value) = certified_delta(terms, epsilon)
        && value < best.value
    {
        best = Bound { value, method: Method::PrivacyLoss };
    }
    Ok(best)
}

/// δ at ε by discretised losses, finding the order of magnitude of δ first.
fn certified_delta(terms: &[Term], epsilon: f64) -> Result<f64, AccountantError> {
    let mut guess = 1e-6;
    for _ in 0..30 {
        let log = log_delta(terms, epsilon, guess, COARSE)?;
        let next = larger(log.exp(), 1e-300);
        let settled = (next.ln() - guess.ln()).abs() < 1.0;
        guess = next;
        if settled || guess <= 1e-300 {
            break;
        }
    }
    // Errors of δ are those of the answer here, so a tenth of what an ε may spend.
    let grid = |tilt| Ok(Grid::new(terms, epsilon, guess, tilt, FINE_FOR_DELTA)?.spending(terms, 0.1));
    Ok(log_delta_on(terms, epsilon, guess, grid)?.exp())
}

/// A lower bound on what the attained pairs `terms` cost: their value less the engine's error.
pub(crate) fn attained_epsilon(terms: &[Term], target: Delta) -> f64 {
    let delta = target.get();
    let shift = unsampled_shift(terms);
    if terms.is_empty() || shift <= 0.0 {
        return 0.0;
    }
    if delta <= 0.0 {
        return f64::INFINITY;
    }
    if let Some(shift) = gaussian_part(terms) {
        return gaussian::epsilon(target, shift).map_or(0.0, |epsilon| epsilon.get() * (1.0 - 1e-9));
    }
    if !moderate(terms) {
        return 0.0;
    }
    if let [Term { pair, count: 1 }] = terms {
        return profile::epsilon(*pair, delta).map_or(0.0, |epsilon| epsilon * (1.0 - 1e-9));
    }
    contour::epsilon(terms, delta, 1e-6).map_or(0.0, |value| value.epsilon * (1.0 - 1e-5))
}
