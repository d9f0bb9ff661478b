//! Dominating pairs: two distributions at least as easy to tell apart as the outputs on any two neighbours.
//!
//! (P, Q) *dominates* a mechanism when the hockey-stick divergence H_α(P‖Q) = ∫(p − αq)₊ is at least that of its
//! outputs for every α ≥ 0 and all neighbours, in both orders. Products of dominating pairs dominate adaptive
//! compositions (Zhu, Dong and Wang 2022, Theorem 10; Dong, Roth and Su 2022, Theorem 3.2), so a pair per step is
//! all that composition needs to know. Domination for α ≥ 1 alone would not be enough.
//!
//! # Guarantee
//! | pair | dominates | proof |
//! |---|---|---|
//! | [`Pair::Gaussian`] | Gaussian noise, no sampling; exact | `proofs/gaussian.md` |
//! | [`Pair::Symmetric`] | fixed-size samples, replace-one; exact for one step | `proofs/sym.md` |
//! | [`Pair::PlusMinus`], [`Pair::PoissonPairs`] | Poisson samples, replace-one; exact | `proofs/poisson_pairs.md` |
//! | [`Pair::Remove`], [`Pair::Add`] | Poisson samples, one direction of add-or-remove each; exact | `proofs/poisson_pairs.md` |
//! | [`Pair::RandomisedResponse`] | anything ε-private; exact for randomised response | `proofs/randomised_response.md` |

use crate::side::Side;
use pairdp_units::directed::larger;

/// A dominating pair in units of the noise: all normals have variance 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pair {
    /// N(d, 1) against N(0, 1).
    Gaussian {
        /// d: sensitivity over noise.
        shift: f64,
    },
    /// (1−q)N(0,1) + qN(d,1) against N(0,1): a Poisson-sampled record is removed.
    Remove {
        /// q: the probability that the record is sampled.
        rate: f64,
        /// d: its largest contribution over the noise.
        shift: f64,
    },
    /// The same, swapped: the record is added.
    Add {
        /// q: the probability that the record is sampled.
        rate: f64,
        /// d: its largest contribution over the noise.
        shift: f64,
    },
    /// The pair whose profile is the larger of `Remove` and `Add` at every α: a record in fixed-size samples is
    /// replaced.
    Symmetric {
        /// q: the probability that the record is sampled.
        rate: f64,
        /// d: the replace-one sensitivity of the sampled query over the noise.
        shift: f64,
    },
    /// (1−q)N(0,1) + qN(r,1) against (1−q)N(0,1) + qN(−r,1): a Poisson-sampled record is replaced.
    PlusMinus {
        /// q: the probability that the record is sampled.
        rate: f64,
        /// r: the largest norm of one contribution over the noise.
        radius: f64,
    },
    /// Σₖ Bin(n−1, p)(k)·N(kr,1) against Σₖ Bin(n−1, p)(k)·N(−kr,1): Poisson over pairs of records.
    PoissonPairs {
        /// n − 1: how many pairs contain the record.
        partners: u64,
        /// p: the probability that a pair is kept.
        rate: f64,
        /// r: the largest norm of one pair's contribution over the noise.
        radius: f64,
    },
    /// {ε with probability e^ε/(1 + e^ε), else −ε} as losses.
    RandomisedResponse {
        /// ε of the release.
        epsilon: f64,
    },
}

/// A pair taken apart into its losses under P: halves, atoms and what cannot be bounded.
pub(crate) struct Parts {
    /// Sides whose outcomes keep their sign (`true`) or are mirrored: loss −L with the masses swapped.
    pub(crate) sides: Vec<(Side, bool)>,
    /// (loss, P-mass).
    pub(crate) atoms: Vec<(f64, f64)>,
    /// P-mass to be counted as an infinite loss.
    pub(crate) infinite: f64,
}

impl Pair {
    /// The pair as seen by the other hypothesis; only `Remove` and `Add` change.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Remove { rate, shift } => Self::Add { rate, shift },
            Self::Add { rate, shift } => Self::Remove { rate, shift },
            other => other,
        }
    }

    /// d when the pair is that of plain Gaussian noise, possibly in disguise (everything is sampled).
    pub(crate) fn as_gaussian(self) -> Option<f64> {
        match self {
            Self::Gaussian { shift } => Some(shift),
            Self::Remove { rate, shift } | Self::Add { rate, shift } | Self::Symmetric { rate, shift }
                if rate >= 1.0 =>
            {
                Some(shift)
            }
            Self::PlusMinus { rate, radius } if rate >= 1.0 => Some(2.0 * radius),
            Self::PoissonPairs { partners, rate, radius } if rate >= 1.0 => {
                Some(2.0 * radius * partners as f64)
            }
            _ => None,
        }
    }

    /// The shift of the plain Gaussian pair that dominates this one: what sampling can only improve on.
    pub(crate) fn without_sampling(self) -> Option<f64> {
        match self {
            Self::Gaussian { shift }
            | Self::Remove { shift, .. }
            | Self::Add { shift, .. }
            | Self::Symmetric { shift, .. } => Some(shift),
            Self::PlusMinus { radius, .. } => Some(2.0 * radius),
            Self::PoissonPairs { partners, radius, .. } => Some(2.0 * radius * partners as f64),
            Self::RandomisedResponse { .. } => None,
        }
    }

    /// The losses under P, giving up at most `tail` of mass where the pair itself has infinitely many terms.
    pub(crate) fn parts(self, tail: f64) -> Parts {
        let plain = |sides, atoms| Parts { sides, atoms, infinite: 0.0 };
        match self {
            Self::Gaussian { shift } => {
                let side = Side::sampled(1.0, shift);
                plain(vec![(side.clone(), true), (side, false)], Vec::new())
            }
            Self::Remove { rate, shift } => plain(
                vec![(Side::sampled(rate, shift), true), (Side::bounded(rate, shift), false)],
                Vec::new(),
            ),
            Self::Add { rate, shift } => plain(
                vec![(Side::sampled(rate, shift), false), (Side::bounded(rate, shift), true)],
                Vec::new(),
            ),
            Self::Symmetric { rate, shift } => {
                let side = Side::sampled(rate, shift);
                // 2Φ(d/2) − 1, of which the share 1 − q carries no information.
                let silent = (1.0 - rate) * libm::erf(0.5 * shift * std::f64::consts::FRAC_1_SQRT_2);
                plain(vec![(side.clone(), true), (side, false)], vec![(0.0, silent)])
            }
            Self::PlusMinus { rate, radius } => {
                let side = Side::opposed(&[1.0 - rate, rate], radius);
                plain(vec![(side.clone(), true), (side, false)], Vec::new())
            }
            Self::PoissonPairs { partners, rate, radius } => {
                let (weights, rest) = binomial_weights(partners, rate, tail);
                let side = Side::opposed(&weights, radius);
                // The kept weights are scaled to sum to 1, which only enlarges the masses.
                Parts { sides: vec![(side.clone(), true), (side, false)], atoms: Vec::new(), infinite: rest }
            }
            Self::RandomisedResponse { epsilon } => {
                let lie = (-epsilon).exp() / (1.0 + (-epsilon).exp());
                plain(Vec::new(), vec![(epsilon, 1.0 / (1.0 + (-epsilon).exp())), (-epsilon, lie)])
            }
        }
    }
}

/// Bin(trials, rate) up to the point where at most `tail` is left, and an upper bound on what is left.
///
/// Beyond the mode the ratio of neighbouring weights decreases, so the rest is below a geometric series.
fn binomial_weights(trials: u64, rate: f64, tail: f64) -> (Vec<f64>, f64) {
    let count = trials as f64;
    let odds = rate / (1.0 - rate);
    let mut log_weight = count * (-rate).ln_1p();
    let mut weight = log_weight.exp();
    let mut weights = vec![weight];
    for k in 0..trials {
        let ratio = (count - k as f64) / (k as f64 + 1.0) * odds;
        log_weight += ratio.ln();
        // The product is the more accurate, the logarithm survives underflow.
        weight = if weight > 1e-250 { weight * ratio } else { log_weight.exp() };
        let following = (count - k as f64 - 1.0) / (k as f64 + 2.0) * odds;
        let rest = weight / larger(1.0 - following, 0.0);
        if ratio < 0.5 && rest <= tail {
            return (weights, rest);
        }
        weights.push(weight);
    }
    (weights, 0.0)
}
