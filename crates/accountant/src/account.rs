//! The questions a user asks, each one call.
//!
//! | question | call |
//! |---|---|
//! | ε of an event at δ | [`account`] |
//! | δ of an event at ε | [`delta_for`] |
//! | noise for a budget | [`crate::calibrate::noise_multiplier`] |
//! | steps for a budget | [`crate::calibrate::steps`] |
//! | false positives against false negatives | [`crate::calibrate::trade_off`] |
//!
//! # Guarantee
//! `epsilon` and `delta` are upper bounds for every pair of neighbours; `lower_bound` is an ε that some neighbours
//! of some query attain, so that the user sees how much is left to gain. [`account`] knows a tighter bound for many steps of
//! fixed-size samples (`proofs/triangles.md`) than the other questions, which rest on one pair per step.

use crate::AccountantError;
use crate::composition::{self, Bound};
use crate::contour::{self, AGREEMENT};
use crate::event::Event;
use crate::moments::Term;
use crate::pair::Pair;
use crate::plan::{Alternative, alternatives};
use crate::{profile, triangles};
use pairdp_units::directed::larger;
use pairdp_units::{Delta, Epsilon, EpsilonBound};
use serde::Serialize;
use std::fmt;

/// Which bound was the tightest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Nothing was released, or nothing can be promised.
    Nothing,
    /// The exact curve of Gaussian noise.
    Gaussian,
    /// The exact profile of a single step.
    OneStep,
    /// Discretised privacy losses with their rounding budget.
    PrivacyLoss,
    /// Steps of fixed-size samples by the equilateral triangle, which is nearly the worst over many of them.
    Triangles,
    /// Truncated Rényi accounting.
    Renyi,
    /// The exact Gaussian curve, forgoing amplification by sampling.
    WithoutSampling,
    /// Pure ε simply added.
    Pure,
}

impl Method {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Gaussian => "gaussian",
            Self::OneStep => "one-step",
            Self::PrivacyLoss => "privacy-loss",
            Self::Triangles => "triangles",
            Self::Renyi => "renyi",
            Self::WithoutSampling => "without-sampling",
            Self::Pure => "pure",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an event costs at a δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// An upper bound, infinite when nothing can be promised.
    pub epsilon: EpsilonBound,
    /// What some neighbours attain.
    pub lower_bound: f64,
    /// How `epsilon` was found.
    pub method: Method,
}

/// ε of an event at δ, with the attained lower bound.
///
/// # Errors
/// [`AccountantError::Unsupported`] for events without a proved pair, [`AccountantError::NoConvergence`] when engines
/// disagree.
pub fn account(event: &Event, delta: Delta) -> Result<Answer, AccountantError> {
    let alternatives = alternatives(event)?;
    let bound = by_triangles(&alternatives, delta, worst_epsilon(&alternatives, delta)?);
    // Any attained composition gives a lower bound; the later ones are only worth a try when the first fails.
    let attained = alternatives.iter().map(|alternative| {
        let mut bounds = alternative.lower.iter().map(|terms| composition::attained_epsilon(terms, delta));
        bounds.find(|bound| *bound > 0.0).unwrap_or(0.0)
    });
    let lower_bound = attained.fold(0.0, larger);
    if lower_bound.is_nan() || lower_bound > bound.value * (1.0 + 1e-6) {
        return Err(AccountantError::NoConvergence("the lower bound exceeds the upper one"));
    }
    Ok(Answer { epsilon: bounded(bound.value)?, lower_bound, method: bound.method })
}

/// ε of an event at δ by one dominating pair per step: what budgets are booked and certificates verified with.
///
/// # Errors
/// As [`account`].
pub fn epsilon_for(event: &Event, delta: Delta) -> Result<(EpsilonBound, Method), AccountantError> {
    let bound = worst_epsilon(&alternatives(event)?, delta)?;
    Ok((bounded(bound.value)?, bound.method))
}

/// An upper bound on δ of an event at ε; at most 1.
///
/// # Errors
/// As [`account`].
pub fn delta_for(event: &Event, epsilon: Epsilon) -> Result<(f64, Method), AccountantError> {
    let bound = worst(
        &alternatives(event)?,
        |terms| composition::delta(terms, epsilon.get()),
        |terms, delta| composition::surely_within(terms, epsilon.get(), delta),
    )?;
    Ok((bound.value, bound.method))
}

/// ε of an event at δ > 0 as a value, to about 10⁻⁸, by the contour engine: for comparisons and plots, not for claims.
///
/// # Errors
/// [`AccountantError::NoConvergence`] where the engine does not settle; otherwise as [`account`].
pub fn epsilon_value(event: &Event, delta: Delta) -> Result<f64, AccountantError> {
    let mut worst = 0.0;
    for Alternative { upper, .. } in alternatives(event)? {
        worst = match upper[..] {
            [] => worst,
            // The contour settles slowly for one step, whose curve is known.
            [Term { pair, count: 1 }] => larger(worst, profile::epsilon(pair, delta.get())?),
            _ => larger(worst, contour::epsilon(&upper, delta.get(), AGREEMENT)?.epsilon),
        };
    }
    Ok(worst)
}

/// δ of an event at ε as a value, like [`epsilon_value`].
///
/// # Errors
/// As [`epsilon_value`].
pub fn delta_value(event: &Event, epsilon: Epsilon) -> Result<f64, AccountantError> {
    let mut worst = 0.0;
    for Alternative { upper, .. } in alternatives(event)? {
        worst = match upper[..] {
            [] => worst,
            [Term { pair, count: 1 }] => larger(worst, profile::delta(pair, epsilon.get())?),
            _ => larger(worst, contour::delta(&upper, epsilon.get())?.log_delta.exp()),
        };
    }
    Ok(worst)
}

/// The bound, or a smaller one for steps of one kind on fixed-size samples. Noise, budgets and certificates do without it: a
/// verifier would have to redo it.
fn by_triangles(alternatives: &[Alternative], delta: Delta, bound: Bound) -> Bound {
    let [Alternative { upper, .. }] = alternatives else { return bound };
    let [Term { pair: Pair::Symmetric { rate, shift }, count }] = upper[..] else { return bound };
    match triangles::epsilon(rate, shift, count, delta.get(), bound.value) {
        Some(value) if value < bound.value => Bound { value, method: Method::Triangles },
        _ => bound,
    }
}

/// The largest ε over the alternatives.
fn worst_epsilon(alternatives: &[Alternative], delta: Delta) -> Result<Bound, AccountantError> {
    let within = |terms: &[Term], epsilon| composition::surely_within(terms, epsilon, delta.get());
    worst(alternatives, |terms| composition::epsilon(terms, delta), within)
}

/// The largest bound over the alternatives. One that a quick look shows to be within the worst so far is not computed: of the
/// two directions of add-or-remove that is nearly always the second.
fn worst(
    alternatives: &[Alternative],
    bound: impl Fn(&[Term]) -> Result<Bound, AccountantError>,
    surely_within: impl Fn(&[Term], f64) -> bool,
) -> Result<Bound, AccountantError> {
    let mut worst = Bound { value: 0.0, method: Method::Nothing };
    for alternative in alternatives {
        if worst.value > 0.0 && surely_within(&alternative.upper, worst.value) {
            continue;
        }
        let one = bound(&alternative.upper)?;
        if one.value.is_nan() {
            return Err(AccountantError::NoConvergence("a bound is not a number"));
        }
        if one.value > worst.value {
            worst = one;
        }
    }
    Ok(worst)
}

fn bounded(value: f64) -> Result<EpsilonBound, AccountantError> {
    EpsilonBound::new(value).map_err(|_| AccountantError::NoConvergence("ε is not a number"))
}
