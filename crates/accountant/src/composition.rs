//! One composition, all methods: the tightest valid answer wins.

use crate::contour::{self, total_count};
use crate::moments::{Moments, Term};
use crate::pair::Pair;
use crate::pld::{Composed, Grid};
use crate::{AccountantError, Method, gaussian, profile, rdp};
use pairdp_units::Delta;
use pairdp_units::directed::{larger, up_by};

/// Accuracy of the guess that the certificate starts from.
const GUESS: f64 = 1e-4;
/// Shifts beyond which sampling is not worth computing: the sampled record is recognised at sight.
const LARGEST_SHIFT: f64 = 60.0;
/// Tail for tilts, relative to δ/T: as the certificate cuts.
const TILT_CUT: f64 = 1e-5;

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
    gaussian::compose(
        terms.iter().filter_map(|term| Some(term.pair.without_sampling()? * (term.count as f64).sqrt())),
    )
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
    let renyi = rdp::epsilon(terms, delta).map_or(f64::INFINITY, |bound| bound.epsilon);
    if renyi < best.value {
        best = Bound { value: renyi, method: Method::Renyi };
    }
    if let Ok((value, _)) = certificate(terms, delta)
        && value < best.value
    {
        best = Bound { value, method: Method::PrivacyLoss };
    }
    if best.value.is_nan() { Err(AccountantError::NoConvergence("ε is not a number")) } else { Ok(best) }
}

/// ε by discretised losses, and the composed losses themselves.
pub(crate) fn certificate(terms: &[Term], delta: f64) -> Result<(f64, Composed), AccountantError> {
    let tail = larger(TILT_CUT * delta / total_count(terms), 1e-315);
    let (guess, order) = match contour::epsilon(terms, delta, GUESS) {
        Ok(value) => (value.epsilon, value.tilt),
        Err(_) => rdp::epsilon(terms, delta).map(|bound| (bound.epsilon, bound.order - 1.0))?,
    };
    if !guess.is_finite() {
        return Err(AccountantError::NoConvergence("no first guess of ε"));
    }
    let guess = larger(guess, 1e-12);
    let tilt = Moments::new(terms, tail, 0.0)?.saddle(guess, order);
    let composed = Composed::new(terms, tilt, guess, Grid::new(terms, guess, delta, tilt)?)?;
    Ok((composed.epsilon(delta, guess), composed))
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
    if !(shift >= 0.0) {
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
    let left = larger(epsilon - pure, 0.0);
    let mut best = Bound { value: gaussian::delta(left, shift)?, method: Method::WithoutSampling };
    if moderate(terms)
        && let Ok(composed) = near(terms, epsilon)
    {
        let value = composed.delta(epsilon);
        if value < best.value {
            best = Bound { value, method: Method::PrivacyLoss };
        }
    }
    Ok(best)
}

/// Composed losses tilted for ε.
fn near(terms: &[Term], epsilon: f64) -> Result<Composed, AccountantError> {
    let value = contour::delta(terms, epsilon)?;
    let target = larger(value.log_delta.exp(), 1e-300);
    let tail = larger(TILT_CUT * target / total_count(terms), 1e-315);
    let tilt = Moments::new(terms, tail, 0.0)?.saddle(epsilon, value.tilt);
    Composed::new(terms, tilt, epsilon, Grid::new(terms, epsilon, target, tilt)?)
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
    contour::epsilon(terms, delta, 1e-8).map_or(0.0, |value| value.epsilon * (1.0 - 1e-6))
}
