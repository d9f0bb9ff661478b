//! How good a model is on private records: AUC and accuracy with noise of proved sensitivity.
//!
//! The same division as in training: an [`Evaluation`] says, before a record is read, what will be released and with how
//! much noise; it takes the table in and hands out noisy shares and nothing else. AUC is computed from those.

#[cfg(test)]
mod tests;

use crate::release::event::plain as plain_event;
use crate::{LearnError, NoiseKind, Predictor, Task};
use pairdp_accountant::Price;
use pairdp_accountant::event::Adjacency;
use pairdp_data::Table;
use pairdp_noise::lattice::{self, Lattice};
use pairdp_noise::{Claimed, Source, delta_share};
use pairdp_pairwise::Shares;
use pairdp_units::directed::{down_by, larger, smaller, up_by};
use pairdp_units::{Budget, Delta};
use serde::Serialize;

/// One noisy release about a table of public size.
///
/// Without δ the noise is Laplace, of which two or three shares need least. With δ it is Gaussian: more noise at the same ε,
/// but together with other Gaussian runs it costs less.
///
/// # Guarantee
/// What [`Evaluation::release`] returns is within the budget under replace-one adjacency: `proofs/private_evaluation.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    shares: Shares,
    records: usize,
    law: NoiseKind,
    ratio: f64,
    sampler_delta: Delta,
    scale: f64,
    lattice_bits: u32,
}

/// A number and the interval that holds the exact one 95 times in 100, over the noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// What was released, or follows from it.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What an evaluation says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// The share of pairs of a positive and a negative record in the right order.
    pub auc: Estimate,
    /// The share of records whose class was predicted; for classifiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<Estimate>,
    /// The share of positive records.
    pub positives: Estimate,
}

impl Evaluation {
    /// The noise for a table of so many records.
    ///
    /// # Errors
    /// [`LearnError::NoPrivateMeasure`] for tasks without a proved measure, otherwise as calibration; only public facts
    /// decide.
    pub fn calibrate(task: Task, records: usize, budget: Budget) -> Result<Self, LearnError> {
        let shares = match task {
            Task::Ranking => Shares::Ranking,
            Task::Classification => Shares::Classification,
            Task::Metric => {
                return Err(LearnError::NoPrivateMeasure {
                    task: task.name(),
                    because: "one record can be among the nearest of all others, and change every vote",
                });
            }
            Task::Regression => {
                return Err(LearnError::NoPrivateMeasure {
                    task: task.name(),
                    because: "there is no proved bound on how far one record moves its error",
                });
            }
        };
        let sensitivity = shares.sensitivity(records)?.get();
        let law = if budget.delta == Delta::PURE { NoiseKind::Laplace } else { NoiseKind::Gaussian };
        let count = shares.count();
        let sampler_delta = Delta::new(delta_share(budget.epsilon.get(), law.samples(count)))?;
        let left = match law {
            NoiseKind::Laplace => Ok(Delta::PURE),
            _ => Delta::new(down_by(budget.delta.get() - sampler_delta.get(), 1.0)),
        };
        let delta = left.map_err(|_| LearnError::DeltaTooSmall(budget))?;
        let ratio = law.ratio(Budget { epsilon: budget.epsilon, delta }, 1.0)?;
        // Shares are at most 1; in units of the noise's scale that is the ratio over the sensitivity.
        let lattice_bits = lattice::bits_for(up_by(ratio / (law.reach(count) * sensitivity), 8.0))?;
        let scale = law.scale(sensitivity, ratio, count, lattice_bits);
        let scale = scale.ok_or(LearnError::DeltaTooSmall(budget))?;
        Ok(Self { shares, records, law, ratio, sampler_delta, scale, lattice_bits })
    }

    /// What it costs whoever pays for it.
    ///
    /// # Errors
    /// [`LearnError::Accountant`], which no calibrated evaluation meets.
    pub fn price(&self, claim: Budget) -> Result<Price, LearnError> {
        let event = plain_event(Adjacency::ReplaceOne, self.law, self.ratio, 1)?;
        Ok(Price { event, sampler_delta: self.sampler_delta, claim, label: "evaluate".into() })
    }

    /// Scale of the noise on each share.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Scores the records, takes the shares, and releases them with noise. The table is dropped. Only a secure source will do:
    ///
    /// ```compile_fail
    /// # fn f(e: pairdp_learn::Evaluation, p: &pairdp_learn::Predictor, t: pairdp_data::Table, mut s: pairdp_noise::Replay) {
    /// let _ = e.release(p, t, &mut s);
    /// # }
    /// ```
    /// ```
    /// # fn f(e: pairdp_learn::Evaluation, p: &pairdp_learn::Predictor, t: pairdp_data::Table, mut s: pairdp_noise::Secure) {
    /// let _ = e.release(p, t, &mut s);
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LearnError::WrongTable`] for a table of another size or without labels.
    pub fn release<S: Source<Claim = Claimed>>(
        &self,
        predictor: &Predictor,
        table: Table,
        source: &mut S,
    ) -> Result<Measured, LearnError> {
        self.answer(predictor, table, source)
    }

    /// [`Evaluation::release`] from any source.
    #[expect(clippy::needless_pass_by_value, reason = "the records end here")]
    fn answer<S: Source>(
        &self,
        predictor: &Predictor,
        table: Table,
        source: &mut S,
    ) -> Result<Measured, LearnError> {
        let features = predictor.encoding.dimension();
        if table.rows != self.records || table.targets.len() != self.records || table.columns != features {
            return Err(LearnError::WrongTable {
                expected: self.records,
                expected_features: features,
                found: table.rows,
                found_features: table.columns,
            });
        }
        let lattice = Lattice::new(self.scale, self.lattice_bits)?;
        // Drawn before the records are touched, so that the time it takes says nothing about them.
        let noise = self.law.draw(&lattice, source, self.shares.count());
        let shares = self.shares.of(&predictor.scores(&table), &table.positive());
        Ok(self.conclude(&lattice.release(&shares, &noise), lattice.step()))
    }

    /// What noisy shares say. Post-processing.
    fn conclude(&self, noisy: &[f64], step: f64) -> Measured {
        // Noise that misses once in 20, and once in 40, in units of its scale, rounded up: two shares are both inside if
        // neither misses half as often. Rounding to the lattice adds less than two steps.
        let (once_in_20, once_in_40) = match self.law {
            NoiseKind::Gaussian => (1.96, 2.2415),
            _ => (20_f64.ln(), 40_f64.ln()),
        };
        let reach = |scales: f64| up_by(self.scale * scales + 2.0 * step, 8.0);
        let (alone, both) = (reach(once_in_20), reach(once_in_40));
        let n = self.records as f64;
        let (pairs, positives) = (noisy[0], noisy[1]);
        // A table with a pair has a record of each class.
        let inside = |share: f64| larger(1.0 / n, smaller(share, 1.0 - 1.0 / n));
        let spread = |share: f64| share * (1.0 - share);
        let auc = |pairs: f64, spread: f64| unit(pairs * (n - 1.0) / (n * spread));
        let (fewest, most) = (inside(positives - both), inside(positives + both));
        let (at_fewest, at_most) = (spread(fewest), spread(most));
        let widest = if fewest <= 0.5 && most >= 0.5 { 0.25 } else { larger(at_fewest, at_most) };
        Measured {
            auc: Estimate {
                value: auc(pairs, spread(inside(positives))),
                low: auc(pairs - both, widest),
                high: auc(pairs + both, smaller(at_fewest, at_most)),
            },
            accuracy: noisy.get(2).map(|share| around(*share, alone)),
            positives: around(positives, alone),
        }
    }
}

fn unit(value: f64) -> f64 {
    larger(0.0, smaller(value, 1.0))
}

fn around(share: f64, reach: f64) -> Estimate {
    Estimate { value: unit(share), low: unit(share - reach), high: unit(share + reach) }
}
