//! The inverse questions: how much noise, how many steps, which errors an attacker must make.
//!
//! Roots are found with the contour engine and then *certified*: what is returned satisfies the budget when
//! [`account()`](crate::account()) recomputes it.

use crate::AccountantError;
use crate::account::{delta_for, epsilon_for};
use crate::composition;
use crate::event::Event;
use crate::gaussian;
use crate::moments::Term;
use crate::pair::Pair;
use crate::plan::alternatives;
use crate::pld::{COARSE, FINE};
use pairdp_units::directed::{larger, smaller, up_by};
use pairdp_units::{Budget, Delta, Epsilon};

/// The factor by which to scale every Gaussian noise of `event` so that it satisfies `budget`, rounded up.
///
/// When the event has multiplier 1 throughout, the factor *is* the noise multiplier.
///
/// # Errors
/// [`AccountantError::PureGaussian`] when δ = 0, [`AccountantError::NotBracketed`] when no finite noise suffices, for
/// example because pure releases alone exceed the budget, and the errors of [`account()`](crate::account()).
pub fn noise_multiplier(event: &Event, budget: Budget) -> Result<f64, AccountantError> {
    if budget.delta.get() <= 0.0 {
        return Err(AccountantError::PureGaussian);
    }
    let unit = alternatives(event)?;
    if unit.iter().all(|alternative| alternative.upper.is_empty()) {
        return Ok(0.0);
    }
    let mut shift = 0.0;
    for alternative in &unit {
        if let [Term { pair: Pair::Gaussian { shift: one }, count: 1 }] = alternative.upper[..] {
            shift = larger(shift, one);
        } else if !alternative.upper.is_empty() {
            shift = f64::NAN;
        }
    }
    let mut factor = if shift.is_nan() {
        search_worst(event, budget)?
    } else {
        up_by(shift / gaussian::largest_ratio(budget)?, 8.0)
    };
    certify(event, budget, &mut factor)?;
    Ok(factor)
}

/// Raises `factor` until the certified ε is within the budget.
fn certify(event: &Event, budget: Budget, factor: &mut f64) -> Result<(), AccountantError> {
    let target = budget.epsilon.get();
    // log ε falls with log noise at a rate that the first two certificates tell; 1 is a safe start.
    let mut rate = 1.0;
    let mut previous: Option<(f64, f64)> = None;
    for _ in 0..60 {
        let (epsilon, _) = epsilon_for(&event.scaled(*factor)?, budget.delta)?;
        let log_epsilon = epsilon.get().ln();
        if epsilon.get() <= target {
            return Ok(());
        }
        if epsilon.get() > 1.01 * target {
            // Where δ hardly falls with ε, an ε is far off that is a touch short of noise; δ at the budget's ε says by how much.
            let (delta, _) = delta_for(&event.scaled(*factor)?, budget.epsilon)?;
            if delta <= budget.delta.get() {
                return Ok(());
            }
            if delta < 1.1 * budget.delta.get() {
                *factor *= larger(delta / budget.delta.get(), 1.0 + 1e-9);
                continue;
            }
        }
        if let Some((old_factor, old_log)) = previous {
            let measured = (old_log - log_epsilon) / (factor.ln() - old_factor);
            if measured.is_finite() && measured > 0.3 {
                rate = smaller(measured, 20.0);
            } else {
                rate = larger(0.3, rate * 0.5);
            }
        }
        previous = Some((factor.ln(), log_epsilon));
        let excess = log_epsilon - target.ln();
        *factor *= larger((1.02 * smaller(excess, 5.0) / rate).exp(), 1.0 + 1e-9);
    }
    Err(AccountantError::NotBracketed(budget))
}

/// The factor at which δ meets the budget for every alternative: for the first one, and again for others that it does not suffice
/// for.
fn search_worst(event: &Event, budget: Budget) -> Result<f64, AccountantError> {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let mut factor = 0.0;
    for (which, alternative) in alternatives(event)?.iter().enumerate() {
        // What does not depend on noise is left to the certificate.
        if alternative.upper.iter().all(|term| term.pair.without_sampling().is_none()) {
            continue;
        }
        let met = factor > 0.0 && {
            let scaled = alternatives(&event.scaled(factor)?)?;
            composition::surely_within(&scaled[which].upper, epsilon, delta)
        };
        if !met {
            factor = larger(factor, search(event, which, budget)?);
        }
    }
    if factor > 0.0 { Ok(factor) } else { Err(AccountantError::NotBracketed(budget)) }
}

/// The factor at which δ meets the budget for one of the alternatives, on a grid of the given coarseness.
///
/// log δ falls with log noise: a bracket first, then regula falsi with the Illinois rule.
fn search(event: &Event, which: usize, budget: Budget) -> Result<f64, AccountantError> {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let gap = |log_factor: f64, excess: f64| -> Result<f64, AccountantError> {
        let alternative = &alternatives(&event.scaled(log_factor.exp())?)?[which];
        // Where the engine gives up there is too little noise by far.
        let value = composition::log_delta(&alternative.upper, epsilon, delta, excess)
            .ok()
            .filter(|value| !value.is_nan())
            .unwrap_or(0.0);
        Ok(value - delta.ln())
    };
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut at_low, mut at_high) = (0.0, 0.0);
    let mut here = start(event, budget)?;
    for _ in 0..80 {
        let value = gap(here, 4.0 * COARSE)?;
        let stride = if value.abs() < 3.0 { 0.1 } else { 0.4 };
        if value > 0.0 {
            (low, at_low) = (here, value);
            here += stride;
        } else {
            (high, at_high) = (here, value);
            here -= stride;
        }
        if low.is_finite() && high.is_finite() {
            break;
        }
    }
    let bracketed = high - low < 1.0;
    if !bracketed {
        return Err(AccountantError::NotBracketed(budget));
    }
    for _ in 0..40 {
        let middle = smaller(larger(high - at_high * (high - low) / (at_high - at_low), low), high);
        let value = gap(middle, COARSE)?;
        if value.abs() < 0.1 || high - low < 1e-7 {
            // A fine grid adds less to δ than a coarse one; the local slope turns the difference into noise.
            let slope = (gap(middle + 2e-3, COARSE)? - value) / 2e-3;
            let mut best = middle - value / slope;
            let mut left = gap(best, FINE)?;
            best -= left / slope;
            if left.abs() > 0.15 {
                // Too long a step for one slope.
                left = gap(best, FINE)?;
                best -= left / slope;
            }
            // A touch more than needed saves a second certificate.
            return Ok(best.exp() * (1.0 + 3e-5));
        }
        if value > 0.0 {
            (low, at_low) = (middle, value);
            at_high *= 0.5;
        } else {
            (high, at_high) = (middle, value);
            at_low *= 0.5;
        }
    }
    Ok(high.exp())
}

/// log of a factor to start from: the central-limit noise when it is large, else about 1/2.
fn start(event: &Event, budget: Budget) -> Result<f64, AccountantError> {
    let ratio = gaussian::largest_ratio(budget)?;
    let mut square = 0.0;
    for alternative in alternatives(event)? {
        let here: f64 =
            alternative.upper.iter().map(|term| limit_variance(term.pair) * term.count as f64).sum();
        square = larger(square, here);
    }
    let limit = square.sqrt() / ratio;
    let largest = alternatives(event)?
        .iter()
        .flat_map(|alternative| &alternative.upper)
        .filter_map(|term| match term.pair {
            Pair::PlusMinus { radius, .. } | Pair::PoissonPairs { radius, .. } => Some(2.0 * radius),
            pair => pair.without_sampling(),
        })
        .fold(0.0, larger);
    Ok(larger(limit, 0.5 * largest).ln())
}

/// The variance of one step's loss for much noise.
fn limit_variance(pair: Pair) -> f64 {
    match pair {
        Pair::Gaussian { shift } => shift * shift,
        Pair::Remove { rate, shift } | Pair::Add { rate, shift } | Pair::Symmetric { rate, shift } => {
            (rate * shift).powi(2)
        }
        Pair::PlusMinus { rate, radius } => (2.0 * rate * radius).powi(2),
        Pair::PoissonPairs { partners, rate, radius } => (2.0 * rate * partners as f64 * radius).powi(2),
        Pair::RandomisedResponse { epsilon } => epsilon * epsilon,
    }
}

/// How often `event` may be repeated within `budget`: the largest certified number of repetitions, 0 if none.
///
/// # Errors
/// The errors of [`account()`](crate::account()); [`AccountantError::NotBracketed`] when any number of repetitions is free.
pub fn steps(event: &Event, budget: Budget) -> Result<u64, AccountantError> {
    let within = |times: u64| -> Result<bool, AccountantError> {
        Ok(epsilon_for(&event.repeated(times)?, budget.delta)?.0.get() <= budget.epsilon.get())
    };
    let (mut low, mut high) = (0, 1);
    while within(high)? {
        low = high;
        high = if high < 1 << 40 { high * 8 } else { return Err(AccountantError::NotBracketed(budget)) };
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if within(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

/// A point of a trade-off curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TradeOff {
    /// The attacker's false-positive rate.
    pub false_positive: f64,
    /// A lower bound on his false-negative rate.
    pub false_negative: f64,
}

/// A lower bound on the errors of any test between neighbours, at the given false-positive rates.
///
/// Every certified (ε, δ) gives two lines below the curve, 1 − δ − e^ε·α and e^{−ε}(1 − δ − α); the bound is the
/// largest of them over a grid of ε.
///
/// # Errors
/// The errors of [`account()`](crate::account()); [`AccountantError::Invalid`] for a rate outside [0, 1].
pub fn trade_off(event: &Event, false_positives: &[f64]) -> Result<Vec<TradeOff>, AccountantError> {
    let middle = epsilon_for(event, Delta::new(1e-3).map_err(|_| AccountantError::Ratio(1e-3))?)?.0.get();
    let mut lines = vec![(0.0, 1.0)];
    if middle.is_finite() {
        for k in 0..=24 {
            let value = larger(middle, 1e-6) * f64::from(k) / 12.0 + 1e-9;
            let epsilon = Epsilon::new(value).map_err(|_| AccountantError::Ratio(value))?;
            lines.push((value, delta_for(event, epsilon)?.0));
        }
    }
    false_positives
        .iter()
        .map(|&rate| {
            crate::event::accept("false_positive", rate, (0.0..=1.0).contains(&rate))?;
            let best = lines.iter().fold(0.0, |best, &(epsilon, delta)| {
                let steep = 1.0 - delta - epsilon.exp() * rate;
                let flat = (-epsilon).exp() * (1.0 - delta - rate);
                larger(best, larger(steep, flat))
            });
            Ok(TradeOff { false_positive: rate, false_negative: larger(best - 1e-14, 0.0) })
        })
        .collect()
}
