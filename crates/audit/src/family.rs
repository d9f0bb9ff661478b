//! From how often an attacker is right to ε.

use crate::AuditError;
use crate::confidence::{log_ratio, normal_quantile};
use pairdp_accountant::{Event, Release, Sampling, delta_for, delta_value, epsilon_value, gaussian};
use pairdp_units::{Delta, Epsilon};

/// What is assumed about the mechanism when an accuracy is turned into ε.
///
/// An attacker who guesses between two tables that a coin chose from is right with probability at most (1 + TV)/2, TV the largest
/// total variation of neighbours. A mechanism that is (ε, δ)-private has TV ≤ (e^ε − 1 + 2δ)/(e^ε + 1), and that is all one may use
/// without an assumption. For a small δ it is far from what noise of a known shape allows: within the family of that shape, an accuracy
/// gives the level of the noise, and that gives ε at any δ.
#[derive(Debug, Clone, PartialEq)]
pub enum Family {
    /// Nothing is assumed.
    Any,
    /// Gaussian noise of unknown size, any number of adaptive releases: μ-GDP for some μ, and TV = 2Φ(μ/2) − 1
    /// (Dong, Roth and Su 2022).
    Gaussian,
    /// Gaussian noise of unknown size on secret samples as the event describes them.
    Sampled(Event),
}

impl Family {
    /// The family of an event.
    pub fn of(event: &Event) -> Self {
        match event.release() {
            Release::Gaussian { sampling: Sampling::None, .. } => Self::Gaussian,
            Release::Gaussian { .. } => Self::Sampled(event.clone()),
            _ => Self::Any,
        }
    }

    /// The assumption, in words.
    pub fn assumption(&self) -> &'static str {
        match self {
            Self::Any => "no assumption",
            Self::Gaussian => "if the noise is Gaussian, of whatever size",
            Self::Sampled(_) => "if the noise is Gaussian, of whatever size, on samples as stated",
        }
    }

    /// The least ε at δ of a mechanism of the family for which some attacker is right with probability `accuracy`.
    ///
    /// # Errors
    /// [`AuditError::Accountant`] when the accountant has no answer.
    pub fn epsilon(&self, accuracy: f64, delta: Delta) -> Result<f64, AuditError> {
        if accuracy.is_nan() || accuracy <= 0.5 {
            return Ok(0.0);
        }
        match self {
            // p ≤ (e^ε + δ)/(1 + e^ε).
            Self::Any => Ok(log_ratio(accuracy - delta.get(), 1.0 - accuracy)),
            Self::Gaussian => {
                let ratio = 2.0 * normal_quantile(accuracy);
                // The accountant rounds up; a lower bound must not.
                Ok(gaussian::epsilon(delta, ratio)?.get() * (1.0 - 1e-9))
            }
            Self::Sampled(event) => {
                let (mut low, mut high) = (-2.0_f64, 4.0_f64);
                // More noise makes attackers worse; the largest noise that still allows the accuracy, from above. Where the
                // accountant gives up there is too little noise by far.
                for _ in 0..16 {
                    let middle = 0.5 * (low + high);
                    let allowed =
                        variation(&event.scaled(middle.exp())?).map_or(1.0, |value| 0.5 + 0.5 * value);
                    if allowed >= accuracy { low = middle } else { high = middle }
                }
                Ok(epsilon_value(&event.scaled(high.exp())?, delta)? * (1.0 - 1e-6))
            }
        }
    }
}

/// The largest probability with which an attacker on the worst neighbours of an event is right.
///
/// # Errors
/// [`AuditError::Accountant`] when the accountant has no answer.
pub fn best_accuracy(event: &Event) -> Result<f64, AuditError> {
    let best = match *event.release() {
        Release::Gaussian { noise_multiplier, sampling: Sampling::None, times } => {
            gaussian::delta(0.0, (times as f64).sqrt() / noise_multiplier)?
        }
        // Laplace noise in one dimension: no noise of this kind in more dimensions, or spread over more releases, gives
        // attackers more.
        Release::Pure { epsilon, sampling: Sampling::None, times } => {
            -(-0.5 * epsilon * times as f64).exp_m1()
        }
        // A value where there is one, else a bound.
        _ => match variation(event) {
            Ok(value) => value,
            Err(_) => delta_for(event, Epsilon::new(NOTHING)?)?.0,
        },
    };
    Ok(0.5 + 0.5 * best)
}

/// An ε so small that δ there is the total variation: the curve is flat at 0.
const NOTHING: f64 = 1e-9;

fn variation(event: &Event) -> Result<f64, AuditError> {
    Ok(delta_value(event, Epsilon::new(NOTHING)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best accuracy of a mechanism gives its ε back, within its own family; without the assumption it gives less.
    #[test]
    fn the_best_attacker_reaches_the_claim() {
        let delta = Delta::new(1e-5).unwrap();
        for event in [
            Event::gaussian_steps(100, None, 7, 9.870).unwrap(),
            Event::gaussian_steps(100, Some(2), 50, 1.1).unwrap(),
        ] {
            let family = Family::of(&event);
            let accuracy = best_accuracy(&event).unwrap();
            let truth = epsilon_value(&event, delta).unwrap();
            let found = family.epsilon(accuracy, delta).unwrap();
            assert!(found <= truth && found > truth * (1.0 - 1e-3), "{found} {truth}");
            let plain = Family::Any.epsilon(accuracy, delta).unwrap();
            assert!(plain > 0.0 && plain < 0.5 * truth, "{plain} {truth}");
        }
    }

    #[test]
    fn a_coin_says_nothing() {
        let delta = Delta::new(1e-5).unwrap();
        for family in [Family::Any, Family::Gaussian] {
            assert!(family.epsilon(0.5, delta).unwrap() <= 0.0);
            assert!(family.epsilon(f64::NAN, delta).unwrap() <= 0.0);
        }
        // Randomised response: right with probability e/(1 + e).
        let right = std::f64::consts::E / (1.0 + std::f64::consts::E);
        assert!((Family::Any.epsilon(right, Delta::PURE).unwrap() - 1.0).abs() < 1e-12);
    }
}
