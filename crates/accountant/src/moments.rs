//! Exponential moments of privacy losses, E_P[exp(sL)], for real and complex s.
//!
//! A pair becomes a finite list of losses ℓⱼ with P-masses pⱼ: Gauss–Legendre nodes on its sides, and its atoms.
//! The largest losses are cut off at a mass far below δ/T; without that cut the moments of a rarely sampled step
//! grow like q^s·exp(s²d²/2), which is why Rényi accounting fails there.
//!
//! # No cancellation
//! Losses are often of order 10⁻⁸ with means of order 10⁻¹⁶. Since P and Q both have mass 1, E_P[1 − e^{−L}] = 0,
//! hence
//!
//! M(s) − 1 = E_P[expm1(sL) + s·expm1(−L)] = E_P[E₂(sL) + s·E₂(−L)],   E₂(a) = eᵃ − 1 − a,
//!
//! a sum of non-negative terms for real s ≥ 0: every digit of M(s) − 1 survives.

use crate::AccountantError;
use crate::pair::Pair;
use crate::quadrature::legendre;
use crate::side::Side;
use pairdp_units::directed::{larger, smaller};

/// Nodes on a panel.
const ORDER: usize = 16;
/// Panel width in units of the scale on which integrands change.
const PANEL: f64 = 0.6;
/// The most panels on a side; beyond, the shift is so large that sampling hardly matters.
const MOST_PANELS: usize = 4_000;

/// A pair repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Term {
    pub(crate) pair: Pair,
    /// How many times.
    pub(crate) count: u64,
}

/// Losses and log-masses of one pair, or the closed form of a Gaussian one.
pub(crate) enum Losses {
    /// K(s) = s(s+1)d²/2.
    Gaussian {
        shift: f64,
    },
    Nodes(Vec<Node>),
}

/// One loss ℓ with its P-mass p, and what the moments at every order need of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) loss: f64,
    pub(crate) log_mass: f64,
    mass: f64,
    /// p·E₂(−ℓ).
    reversed: f64,
}

impl Node {
    fn new(loss: f64, log_mass: f64) -> Self {
        let mass = log_mass.exp();
        Self { loss, log_mass, mass, reversed: mass * second_order(-loss) }
    }
}

/// log M and its first two derivatives at a real point.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cumulants {
    pub(crate) value: f64,
    pub(crate) slope: f64,
    pub(crate) curvature: f64,
}

impl Losses {
    /// Nodes of `pair`, dropping at most `tail` of mass, fine enough for exp(itL) up to t = `frequency`.
    pub(crate) fn new(pair: Pair, tail: f64, frequency: f64) -> Result<Self, AccountantError> {
        if let Some(shift) = pair.as_gaussian() {
            return Ok(Self::Gaussian { shift });
        }
        let parts = pair.parts(tail);
        let atoms = parts.atoms.iter().filter(|atom| atom.0 != 0.0);
        let mut nodes: Vec<Node> = atoms.map(|&(loss, mass)| Node::new(loss, mass.ln())).collect();
        let mut seen: Option<(Side, Vec<Point>)> = None;
        for (side, direct) in parts.sides {
            if seen.as_ref().is_none_or(|(known, _)| *known != side) {
                let points = points(&side, tail, frequency)?;
                seen = Some((side, points));
            }
            for &(loss, numerator, denominator) in seen.iter().flat_map(|(_, points)| points) {
                nodes.push(if direct { Node::new(loss, numerator) } else { Node::new(-loss, denominator) });
            }
        }
        Ok(Self::Nodes(nodes))
    }

    /// log M(s) and derivatives for real s > 0; the value is infinite where it overflows.
    pub(crate) fn cumulants(&self, s: f64) -> Cumulants {
        match self {
            Self::Gaussian { shift } => {
                let square = shift * shift;
                Cumulants {
                    value: 0.5 * s * (s + 1.0) * square,
                    slope: (s + 0.5) * square,
                    curvature: square,
                }
            }
            Self::Nodes(nodes) => {
                let (mut excess, mut first, mut second) = (0.0, 0.0, 0.0);
                for &Node { loss, log_mass, mass, reversed } in nodes {
                    let a = s * loss;
                    let tilted = if a.abs() > SMALL {
                        let tilted = (log_mass + a).exp();
                        excess +=
                            if a.abs() < 600.0 { tilted - mass * (1.0 + a) + s * reversed } else { tilted };
                        tilted
                    } else {
                        let beyond = second_order(a);
                        excess += mass * beyond + s * reversed;
                        mass * (1.0 + a + beyond)
                    };
                    first += loss * tilted;
                    second += loss * loss * tilted;
                }
                let total = 1.0 + excess;
                let slope = first / total;
                Cumulants {
                    value: excess.ln_1p(),
                    slope,
                    curvature: larger(second / total - slope * slope, 0.0),
                }
            }
        }
    }
}

/// (L, log mass under the numerator, log mass under the denominator).
type Point = (f64, f64, f64);

/// Up to here eᵃ − 1 − a is summed up as a series.
const SMALL: f64 = 0.25;

/// eᵃ − 1 − a without cancellation.
fn second_order(a: f64) -> f64 {
    if a.abs() > SMALL {
        return a.exp_m1() - a;
    }
    // Horner on a²/2·(1 + a/3·(1 + a/4·(…))).
    let mut sum = 1.0;
    for inverse in INVERSES {
        sum = 1.0 + a * inverse * sum;
    }
    0.5 * a * a * sum
}

/// 1/14 to 1/3.
const INVERSES: [f64; 12] = {
    let mut inverses = [0.0; 12];
    let mut k = 0;
    while k < 12 {
        inverses[k] = 1.0 / (14 - k) as f64;
        k += 1;
    }
    inverses
};

/// Gauss–Legendre nodes of a side.
fn points(side: &Side, tail: f64, frequency: f64) -> Result<Vec<Point>, AccountantError> {
    let end = side.cut(tail);
    let widest = PANEL * side.scale();
    let rule = legendre(ORDER);
    let log_normal = 0.5 * (2.0 * std::f64::consts::PI).ln();
    let mut points = Vec::new();
    let mut low = side.start;
    while low < end {
        if points.len() >= MOST_PANELS * ORDER {
            return Err(AccountantError::NoConvergence("the losses of one step span too wide a range"));
        }
        // A panel may hold about a radian per node of exp(itL) besides the integrand's own variation.
        let fastest = frequency * side.slope(smaller(low + widest, end));
        let width = smaller(smaller(widest, ORDER as f64 / larger(fastest, 1e-300)), end - low);
        let half = 0.5 * width;
        for &(node, weight) in &rule {
            let x = low + half + half * node;
            let (log_numerator, log_denominator) = (side.numerator.log(x), side.denominator.log(x));
            let log_base = (weight * half).ln() - 0.5 * x * x - log_normal;
            let loss = larger(log_numerator - log_denominator, 0.0);
            points.push((loss, log_base + log_numerator, log_base + log_denominator));
        }
        low += width;
    }
    Ok(points)
}

/// A composition ready for evaluation: several pairs, each repeated.
pub(crate) struct Moments {
    pub(crate) terms: Vec<(Losses, f64)>,
}

impl Moments {
    /// `tail` is the mass that one step may drop.
    pub(crate) fn new(terms: &[Term], tail: f64, frequency: f64) -> Result<Self, AccountantError> {
        let terms = terms
            .iter()
            .map(|term| Ok((Losses::new(term.pair, tail, frequency)?, term.count as f64)))
            .collect::<Result<_, AccountantError>>()?;
        Ok(Self { terms })
    }

    /// Σ T log M and derivatives at real s > 0.
    pub(crate) fn cumulants(&self, s: f64) -> Cumulants {
        self.terms.iter().fold(Cumulants::default(), |sum, (losses, count)| {
            let one = losses.cumulants(s);
            Cumulants {
                value: sum.value + count * one.value,
                slope: sum.slope + count * one.slope,
                curvature: sum.curvature + count * one.curvature,
            }
        })
    }

    /// The order c > 0 that minimises ΣT·K(c) − cε − log c − log(1+c): where the contour crosses the real line.
    ///
    /// The function is convex, so its derivative has one zero: Newton in log c inside a bracket.
    pub(crate) fn saddle(&self, epsilon: f64, start: f64) -> f64 {
        let slope = |c: f64| {
            let k = self.cumulants(c);
            let value = k.slope - epsilon - 1.0 / c - 1.0 / (1.0 + c);
            let curvature = k.curvature + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c));
            if value.is_nan() || k.value.is_infinite() { (f64::INFINITY, 1.0) } else { (value, curvature) }
        };
        let (mut low, mut high) = (1e-9, 1e12);
        let mut c = start;
        for _ in 0..200 {
            let (value, curvature) = slope(c);
            if value > 0.0 {
                high = c;
            } else {
                low = c;
            }
            let newton = c * (-value / (curvature * c)).exp();
            let next = if value.is_finite() && newton > low && newton < high {
                newton
            } else {
                // Probe by factors while one end is unknown, then bisect the logarithm.
                let middle = (low * high).sqrt();
                if value > 0.0 { larger(middle, c / 8.0) } else { smaller(middle, c * 8.0) }
            };
            if (next / c - 1.0).abs() < 1e-6 {
                return next;
            }
            c = next;
        }
        c
    }
}
