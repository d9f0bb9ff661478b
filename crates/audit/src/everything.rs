//! Everything that a plan accepts, attacked: the worst neighbours that a search finds, and the δ that they really have.
//!
//! Audits estimate; this computes. Tables are small enough that the answers to a mechanism's queries are known without noise, so
//! that two neighbouring tables give a privacy loss in closed form:
//!
//! - *gradients, moments, arrivals* come from the curator itself, opened on both tables with the same replayed noise, which cancels
//!   in the difference of what is released: rows are clipped, capped, rounded and added up as in training;
//! - *results of descents* come from the descent itself;
//! - *secret samples* are enumerated, which gives both outputs' laws as mixtures of normals, and δ by integrating their difference;
//!   where a release has more than one coordinate, δ of its part in one direction, which is a bound from below;
//! - *counts* that find ranges are those of both tables, cut off at the cap.
//!
//! Whatever code drives a curator may choose the parameters, so the search does, too. Neighbours are those of the adjacency that
//! the certificate *names*: a guarantee for whole records has to survive that labels change.

mod cases;
mod mixture;
mod tables;
#[cfg(test)]
mod tests;

pub use cases::{Case, cases};

use crate::AuditError;
use crate::answers::Facts;
use mixture::{COARSE, FINE, Mixture};
use pairdp_accountant::quadrature::gaussian_delta;
use pairdp_certificate::{NoiseKind, Stage};
use pairdp_data::Encoding;
use pairdp_noise::Replay;
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::knots::{Block, KnotSums, Layout, Spacing};
use pairdp_pairwise::score_cells::{CellCounts, Stretch};
use pairdp_pairwise::{Domain, Objective, Strata};
use pairdp_release::{Curator, LearnError, Mechanism};
use pairdp_units::{Adjacency, Budget};
use tables::{Attack, Shape};

/// Features of a record. In one dimension rows are cut off and labels flipped in every way that matters for most constants; in two
/// there are angles between records, matrices that are packed, and cones of them.
const FEATURES: [usize; 2] = [1, 2];
/// Records of a table, or the cap on them.
const RECORDS: usize = 6;
/// Records of a table whose pairs are kept independently: of all sets of its 6 pairs, the law is known.
const KEPT: usize = 4;
/// Records of a table from which a pair or a record is drawn in secret: a few distinct ones, many times each.
const SAMPLED: usize = 1000;
/// What is left of a claim for the rounding of this computation.
const ROUNDING: f64 = 1e-9;

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// For whom the guarantee is said to be.
    pub adjacency: Adjacency,
    /// What is claimed.
    pub claim: Budget,
    /// The δ that the worst neighbours have at the claimed ε. For pure noise, 0 as long as ε holds.
    pub delta: f64,
    /// How much of the claim they reach: of its μ for Gaussian noise, of ε for pure noise, of δ for secret samples.
    pub reached: f64,
}

impl Found {
    /// Whether the claim survived.
    pub fn holds(&self) -> bool {
        self.reached <= 1.0 + ROUNDING
    }
}

/// Searches for neighbours that break a case's claim; `None` if its plan is refused.
///
/// # Errors
/// [`AuditError`] when a mechanism that was accepted does not answer.
pub fn attack(case: &Case, tries: u32, seed: u64) -> Result<Option<Found>, AuditError> {
    attack_with(case, 1.0, tries, seed)
}

/// What the search finds where a mend is taken back: the combinations of version 0.1 whose claims did not hold, with the noise that
/// they had.
///
/// # Errors
/// As [`attack`].
pub fn reverted(tries: u32, seed: u64) -> Result<Vec<(&'static str, Found)>, AuditError> {
    let mut all = Vec::new();
    for features in FEATURES {
        for (what, case, noise) in cases::former(features)? {
            if let Some(found) = attack_with(&case, noise, tries, seed)? {
                all.push((what, found));
            }
        }
    }
    Ok(all)
}

/// The same for a share of the noise that there should be: what a wrong constant does.
fn attack_with(case: &Case, noise: f64, tries: u32, seed: u64) -> Result<Option<Found>, AuditError> {
    let (claim, records) = (case.budget, case.records());
    let features = case.features;
    let Ok(spec) = case.settings.prepare(records, &Encoding::unscaled(features), claim) else {
        return Ok(None);
    };
    let (problem, plan, columns, budget) = (spec.problem(), spec.plan(), spec.columns(), spec.budget());
    let (row_bound, constant) = spec.row_bound();
    // Ranks make rows of their own: then the search is over those.
    let features =
        if plan.representation().is_some() { columns - usize::from(constant.is_some()) } else { features };
    let shape = Shape { problem, features, row_bound, constant };
    let facts = Facts::new(problem, plan, spec.mechanism().clone(), records);
    let target = Target { facts, noise, records, claim: budget };
    let mut worst = 0.0;
    // Every start climbs on its own; the best of all counts.
    let mut source = Replay::from_seed(seed);
    for start in 0..4 {
        let mut attack = Attack::new(shape, case.distinct(), start % 2 == 0, &mut source);
        let mut best = target.reached(&attack, COARSE)?;
        for _ in 0..tries / 4 {
            let changed = attack.changed(&mut source);
            let reached = target.reached(&changed, COARSE)?;
            if reached >= best {
                (attack, best) = (changed, reached);
            }
        }
        let best = target.reached(&attack, FINE)?;
        worst = if best > worst { best } else { worst };
    }
    let delta = target.delta(worst)?;
    Ok(Some(Found { adjacency: problem.adjacency(), claim: budget, delta, reached: worst }))
}

/// How far apart the weights of knots can be, really: those of two records at opposite ends of every column, with other labels, or
/// of one that is there and not there; squared, or for Laplace noise as it is, over the scale of the noise.
fn knots_apart(stage: Stage, attack: &Attack, law: NoiseKind) -> f64 {
    let Stage::Knots { numbers, counts_records, noise, .. } = stage else {
        return cells_apart(stage, attack, law);
    };
    let layout = Layout::new(Spacing::Coarse, (0..numbers).map(|at| Block::Number { at }).collect());
    let sums = |value: f64, targets: &[f64]| {
        let rows = vec![value; numbers * targets.len()];
        let sums =
            KnotSums::new(&layout, &rows, numbers, targets, &Strata::plain(targets.len()), Par::Sequential);
        sums.query(&layout, counts_records).unwrap_or_default()
    };
    let other = if attack.replaces() { sums(1.0, &[-1.0]) } else { sums(1.0, &[]) };
    let differences = sums(-1.0, &[1.0]).into_iter().zip(other).map(|(a, b)| (a - b).abs());
    match law {
        NoiseKind::Laplace => differences.sum::<f64>() / noise.sigma,
        NoiseKind::Gaussian | NoiseKind::Euclidean => {
            differences.map(|v| v * v).sum::<f64>() / (noise.sigma * noise.sigma)
        }
    }
}

/// The same for labels by cells of the score: of two records in different cells, or of one that is there and not there.
fn cells_apart(stage: Stage, attack: &Attack, law: NoiseKind) -> f64 {
    let stretch = Stretch { low: -1.0, high: 1.0 };
    let counts = |scores: &[f64], targets: &[f64]| {
        let counts = CellCounts::of_scores(stretch, scores, targets, &Strata::plain(targets.len()));
        counts.query().unwrap_or_default()
    };
    let other = if attack.replaces() { counts(&[-0.9], &[-1.0]) } else { counts(&[], &[]) };
    let differences = counts(&[0.9], &[1.0]).into_iter().zip(other).map(|(a, b)| (a - b).abs());
    let sigma = stage.noise().sigma;
    match law {
        NoiseKind::Laplace => differences.sum::<f64>() / sigma,
        NoiseKind::Gaussian | NoiseKind::Euclidean => {
            differences.map(|v| v * v).sum::<f64>() / (sigma * sigma)
        }
    }
}

/// A mechanism under attack.
struct Target {
    facts: Facts,
    /// The share of its noise that there is.
    noise: f64,
    records: usize,
    claim: Budget,
}

impl Target {
    /// How much of the claim two tables use up.
    fn reached(&self, attack: &Attack, grid: f64) -> Result<f64, AuditError> {
        Ok(match self.facts.mechanism {
            Mechanism::Samples(_) => {
                let direction = self.direction(attack)?;
                let (first, second) =
                    (self.mixture(attack, 0, &direction)?, self.mixture(attack, 1, &direction)?);
                first.delta(&second, self.claim.epsilon.get(), grid) / self.claim.delta.get()
            }
            _ => self.separation(attack)? / self.noise,
        })
    }

    /// How far apart two tables are in all releases, as a share of what the claim allows.
    fn separation(&self, attack: &Attack) -> Result<f64, AuditError> {
        let Facts { problem, plan, mechanism, .. } = &self.facts;
        let law = plan.law();
        let counts = mechanism.stages().iter().map(|stage| knots_apart(*stage, attack, law)).sum::<f64>();
        let squared = match mechanism {
            Mechanism::Samples(_) => return Err(AuditError::Learn(LearnError::WrongQuery("samples"))),
            Mechanism::Gradients(gradients) => {
                let release = gradients.release_at(problem.norm_at(&attack.at))?;
                let one = self.released_apart(attack, |curator| curator.noisy_gradient(&attack.at))?
                    / release.sigma;
                if law != NoiseKind::Gaussian {
                    return Ok((counts + f64::from(gradients.steps()) * one) / self.claim.epsilon.get());
                }
                f64::from(gradients.steps()) * one * one
            }
            Mechanism::Moments(moments) => {
                let one = self.released_apart(attack, Curator::noisy_moments)? / moments.sigma();
                if law != NoiseKind::Gaussian {
                    return Ok((counts + one) / self.claim.epsilon.get());
                }
                one * one
            }
            Mechanism::Arrivals(online) => {
                let mut curators = self.curators(attack)?;
                let mut sum = 0.0;
                for _ in 0..online.steps() {
                    let mut answers = curators.iter_mut().map(|curator| curator.noisy_arrival(&attack.at));
                    let (a, b) = (answers.next().transpose()?, answers.next().transpose()?);
                    let one = self.distance(&a.unwrap_or_default(), &b.unwrap_or_default()) / online.sigma();
                    sum += one * one;
                }
                sum
            }
            Mechanism::Results(output) => {
                let (first, second) =
                    (self.facts.know(&attack.table(0))?, self.facts.know(&attack.table(1))?);
                // A descent without a bound starts at 0.
                let start = if problem.domain() == Domain::Whole {
                    vec![0.0; attack.at.len()]
                } else {
                    attack.at.clone()
                };
                let mut sum = 0.0;
                for (t, phase) in output.phases().iter().enumerate() {
                    let (a, b) =
                        (self.facts.answer(&first, t, &start), self.facts.answer(&second, t, &start));
                    let one = self.distance(&a, &b) / phase.sigma;
                    sum += one * one;
                }
                if law != NoiseKind::Gaussian {
                    return Ok(sum.sqrt() / self.claim.epsilon.get());
                }
                sum
            }
        };
        Ok((squared + counts).sqrt() / self.claimed_ratio()?)
    }

    /// μ of the claim.
    fn claimed_ratio(&self) -> Result<f64, AuditError> {
        Ok(pairdp_accountant::gaussian::largest_ratio(self.claim).map_err(LearnError::from)?)
    }

    /// The δ at the claimed ε that a share of the claim amounts to.
    fn delta(&self, reached: f64) -> Result<f64, AuditError> {
        Ok(match (&self.facts.mechanism, self.facts.plan.law()) {
            (Mechanism::Samples(_), _) => reached * self.claim.delta.get(),
            (_, NoiseKind::Gaussian) => {
                gaussian_delta(self.claim.epsilon.get(), reached * self.claimed_ratio()?)
                    .map_err(LearnError::from)?
            }
            _ if reached <= 1.0 + ROUNDING => 0.0,
            // Two outcomes whose chances differ by e^ε′ for ε′ above ε.
            _ => {
                let (true_epsilon, epsilon) = (reached * self.claim.epsilon.get(), self.claim.epsilon.get());
                (true_epsilon.exp() - epsilon.exp()) / (true_epsilon.exp() + 1.0)
            }
        })
    }

    /// How far apart one release is, with the same noise on both tables.
    fn released_apart(
        &self,
        attack: &Attack,
        ask: impl Fn(&mut Curator<Replay>) -> Result<Vec<f64>, LearnError>,
    ) -> Result<f64, AuditError> {
        let [first, second] = &mut self.curators(attack)?;
        Ok(self.distance(&ask(first)?, &ask(second)?))
    }

    fn curators(&self, attack: &Attack) -> Result<[Curator<Replay>; 2], AuditError> {
        let bound = self.facts.problem.feature_bound();
        let open = |which: usize| -> Result<Curator<Replay>, AuditError> {
            let records = attack.table(which).records(bound)?;
            Ok(Curator::open(records, self.facts.mechanism.clone(), Replay::from_seed(7))?)
        };
        Ok([open(0)?, open(1)?])
    }

    /// In the norm that the noise is for: a symmetric matrix is released as its upper half, with √2 off the diagonal.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let differences = a.iter().zip(b).map(|(a, b)| a - b);
        if self.facts.plan.law() != NoiseKind::Laplace {
            return differences.map(|value| value * value).sum::<f64>().sqrt();
        }
        let d = a.len().isqrt();
        let matrix = matches!(self.facts.problem.objective(), Objective::Metric { .. });
        let weight =
            |k: usize| if matrix && !k.is_multiple_of(d + 1) { std::f64::consts::FRAC_1_SQRT_2 } else { 1.0 };
        differences.enumerate().map(|(k, value)| weight(k) * value.abs()).sum()
    }

    /// The direction in which a sample with the exchanged record moves, of length 1. Matrices are released by their upper half with
    /// √2 off the diagonal, or by their diagonal: in either case their inner products are those of what is released.
    fn direction(&self, attack: &Attack) -> Result<Vec<f64>, AuditError> {
        let (here, other) = attack.looked_at();
        let at = attack.at.as_slice();
        let gradient = |which: usize| -> Result<Vec<f64>, AuditError> {
            let known = self.facts.know(&attack.table(which))?;
            Ok(match self.facts.problem.objective() {
                Objective::Pointwise { .. } => self.facts.record(&known, here, at),
                _ => self.facts.pair(&known, here, other, at),
            })
        };
        let (before, after) = (gradient(0)?, gradient(1)?);
        let difference: Vec<f64> = before.iter().zip(&after).map(|(a, b)| a - b).collect();
        let unit = |mut vector: Vec<f64>| {
            if let Domain::PsdDiagonal { .. } = self.facts.problem.domain() {
                let d = vector.len().isqrt();
                let off = |k: &usize| !k.is_multiple_of(d + 1);
                (0..vector.len()).filter(off).for_each(|k| vector[k] = 0.0);
            }
            let norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
            vector.iter_mut().for_each(|value| *value /= norm);
            (norm > 0.0).then_some(vector)
        };
        let axis = || (0..at.len()).map(|k| if k == 0 { 1.0 } else { 0.0 }).collect();
        Ok(unit(difference).or_else(|| unit(before)).or_else(|| unit(after)).unwrap_or_else(axis))
    }

    /// The law of one secret sample's noisy gradient in a direction, in units of the noise.
    fn mixture(&self, attack: &Attack, which: usize, direction: &[f64]) -> Result<Mixture, AuditError> {
        let (table, at) = (attack.table(which), attack.at.as_slice());
        let known = self.facts.know(&table)?;
        let scale = self.facts.scale(0, at)? * self.noise;
        let part = |gradient: Vec<f64>| {
            gradient.iter().zip(direction).map(|(value, along)| value * along).sum::<f64>() / scale
        };
        let term = |i: usize, j: usize| part(self.facts.pair(&known, i, j, at));
        let distinct = table.targets.len();
        let pairs = (0..distinct).flat_map(|i| (0..i).map(move |j| (i, j)));
        if let Some(expected) = self.facts.plan.expected_pairs() {
            // The mean over as many pairs as are expected.
            let terms: Vec<f64> = pairs.map(|(i, j)| term(i, j) / expected).collect();
            return Ok(Mixture::of_subsets(&terms, expected / terms.len() as f64));
        }
        let copies = attack.copies(which, self.records);
        if matches!(self.facts.problem.objective(), Objective::Pointwise { .. }) {
            let parts = (0..distinct).map(|i| (part(self.facts.record(&known, i, at)), copies[i]));
            return Ok(Mixture::new(parts.collect()));
        }
        // Pairs of two copies of one record have no gradient.
        let among_copies = copies.iter().map(|m| 0.5 * m * (m - 1.0)).sum();
        let parts = pairs.map(|(i, j)| (term(i, j), copies[i] * copies[j]));
        Ok(Mixture::new(parts.chain([(0.0, among_copies)]).collect()))
    }
}
