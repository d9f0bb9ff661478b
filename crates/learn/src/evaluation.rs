//! How good a model is on private records: AUC, accuracy and curves with noise of proved sensitivity.
//!
//! The same division as in training: an [`Evaluation`] says, before a record is read, what will be released and with how
//! much noise; it takes the table in and hands out noisy shares and nothing else. AUC is computed from those.

mod curves;
#[cfg(test)]
mod tests;

pub use curves::{Calibrated, Histogram, Threshold};

use pairdp_accountant::Price;
use pairdp_accountant::event::Adjacency;
use pairdp_certificate::NoiseKind;
use pairdp_data::Table;
use pairdp_model::{Predictor, Task};
use pairdp_noise::lattice::{self, Lattice};
use pairdp_noise::{Claimed, Source, delta_share};
use pairdp_pairwise::score_cells::{self, COUNTS, CellCounts};
use pairdp_pairwise::{Labels, Neighbours, Norm, Scored, Shares, Strata, Unit};
use pairdp_release::{Law as _, LearnError, persons, plain_event};
use pairdp_units::directed::{down_by, larger, smaller, up_by};
use pairdp_units::{Budget, Delta};
use serde::Serialize;

/// One noisy release about a table of public size.
///
/// Without δ the noise is Laplace, of which two or three shares need least. With δ it is Gaussian: more noise at the same ε,
/// but together with other Gaussian runs it costs less.
///
/// # Guarantee
/// What [`Evaluation::release`] returns is within the budget for replacing a record, or a person: `proofs/private_evaluation.md`,
/// `proofs/persons.md`, and for the histogram of curves `proofs/calibration.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    shares: Shares,
    unit: Unit,
    /// Records, or persons.
    size: usize,
    law: NoiseKind,
    ratio: f64,
    sampler_delta: Delta,
    scale: f64,
    lattice_bits: u32,
    /// Of a histogram beside the shares, if there is one.
    cells: Option<CellNoise>,
}

/// The noise of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CellNoise {
    ratio: f64,
    scale: f64,
    lattice_bits: u32,
}

/// The part of the budget (of μ², or of ε for δ = 0) that measures have where curves have the rest: AUC needs much less for the same
/// accuracy.
const MEASURES_SHARE: f64 = 0.3;

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
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Measured {
    /// The share of pairs of a positive and a negative record in the right order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<Estimate>,
    /// The share of records whose class was predicted; for classifiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<Estimate>,
    /// The share of positive records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positives: Option<Estimate>,
    /// Harrell's C: the share of pairs in the right order, of those of which it is known who failed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concordance: Option<Estimate>,
    /// The share of those among all pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparable: Option<Estimate>,
}

impl Measured {
    /// What it says, by the names that ledgers have for it.
    pub fn named(&self) -> [(&'static str, Option<Estimate>); 5] {
        [
            ("concordance", self.concordance),
            ("auc", self.auc),
            ("accuracy", self.accuracy),
            ("positives", self.positives),
            ("comparable", self.comparable),
        ]
    }

    /// From what a ledger has by these names.
    pub fn from_named(find: impl Fn(&str) -> Option<Estimate>) -> Self {
        Self {
            concordance: find("concordance"),
            auc: find("auc"),
            accuracy: find("accuracy"),
            positives: find("positives"),
            comparable: find("comparable"),
        }
    }
}

impl Evaluation {
    /// The noise for a table of so many records, or of so many persons with any number of records each.
    ///
    /// # Errors
    /// [`LearnError::NoPrivateMeasure`] for tasks without a proved measure, otherwise as calibration; only public facts
    /// decide.
    pub fn calibrate(task: Task, unit: Unit, size: usize, budget: Budget) -> Result<Self, LearnError> {
        Self::calibrate_for(task, unit, size, budget, false)
    }

    /// The same with curves, which take most of the budget: for rankers and classifiers.
    ///
    /// # Errors
    /// As [`Evaluation::calibrate`].
    pub fn with_curves(task: Task, unit: Unit, size: usize, budget: Budget) -> Result<Self, LearnError> {
        if !matches!(task, Task::Ranking | Task::Classification) {
            return Err(LearnError::NoPrivateMeasure {
                task: task.name(),
                because: "curves are of scores of two classes",
            });
        }
        Self::calibrate_for(task, unit, size, budget, true)
    }

    fn calibrate_for(
        task: Task,
        unit: Unit,
        size: usize,
        budget: Budget,
        curves: bool,
    ) -> Result<Self, LearnError> {
        let shares = match task {
            Task::Ranking => Shares::Ranking,
            Task::Classification => Shares::Classification,
            Task::Survival => Shares::Survival,
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
        let law = if budget.delta == Delta::PURE { NoiseKind::Laplace } else { NoiseKind::Gaussian };
        let count = shares.count();
        // What the law makes of a distance in its own norm.
        let sensitivity = up_by(shares.sensitivity(norm(law), size)?.get() / law.reach(count), 4.0);
        let counts = if curves { COUNTS } else { 0 };
        let sampler_delta = Delta::new(delta_share(budget.epsilon.get(), law.samples(count + counts)))?;
        let left = match law {
            NoiseKind::Laplace => Ok(Delta::PURE),
            _ => Delta::new(down_by(budget.delta.get() - sampler_delta.get(), 1.0)),
        };
        let delta = left.map_err(|_| LearnError::DeltaTooSmall(budget))?;
        let whole = law.ratio(Budget { epsilon: budget.epsilon, delta }, 1.0)?;
        let part = |share: f64| down_by(whole * law.part(share), 4.0);
        let ratio = if curves { part(MEASURES_SHARE) } else { whole };
        // Shares are at most 1; in units of the noise's scale that is the ratio over the sensitivity.
        let lattice_bits = lattice::bits_for(up_by(ratio / (law.reach(count) * sensitivity), 8.0))?;
        let scale = law.scale(sensitivity, ratio, count, lattice_bits);
        let scale = scale.ok_or(LearnError::DeltaTooSmall(budget))?;
        let cells = curves.then(|| cell_noise(law, part(1.0 - MEASURES_SHARE), size, budget)).transpose()?;
        Ok(Self { shares, unit, size, law, ratio, sampler_delta, scale, lattice_bits, cells })
    }

    /// What it costs whoever pays for it.
    ///
    /// # Errors
    /// [`LearnError::Accountant`], which no calibrated evaluation meets.
    pub fn price(&self, claim: Budget) -> Result<Price, LearnError> {
        let adjacency = Adjacency::of(Neighbours::ReplaceOne, Labels::Private, self.unit);
        let ratio = match (self.cells, self.law) {
            (None, _) => self.ratio,
            // Ratios of Gaussian noise compose by their squares, others add up.
            (Some(cells), NoiseKind::Gaussian) => up_by(self.ratio.hypot(cells.ratio), 4.0),
            (Some(cells), _) => up_by(self.ratio + cells.ratio, 2.0),
        };
        let event = plain_event(adjacency, self.law, ratio, 1)?;
        Ok(Price { event, sampler_delta: self.sampler_delta, claim, label: "evaluate".into() })
    }

    /// Scale of the noise on each share.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Scores the records, takes the shares, and releases them with noise. The table is dropped. Only a secure source will do:
    ///
    /// ```compile_fail
    /// # fn f(e: pairdp_learn::Evaluation, p: &pairdp_model::Predictor, t: pairdp_data::Table, mut s: pairdp_noise::Replay) {
    /// let _ = e.release(p, t, &mut s);
    /// # }
    /// ```
    /// ```
    /// # fn f(e: pairdp_learn::Evaluation, p: &pairdp_model::Predictor, t: pairdp_data::Table, mut s: pairdp_noise::Secure) {
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
    ) -> Result<(Measured, Option<Histogram>), LearnError> {
        self.answer(predictor, table, source)
    }

    /// [`Evaluation::release`] from any source.
    fn answer<S: Source>(
        &self,
        predictor: &Predictor,
        mut table: Table,
        source: &mut S,
    ) -> Result<(Measured, Option<Histogram>), LearnError> {
        let features = predictor.encoding.dimension();
        let found = table.size();
        let (table, strata) = match (self.unit, table.owners.take()) {
            (Unit::Record, None) => {
                let strata = Strata::plain(table.rows);
                (table, strata)
            }
            (Unit::Person, Some(owners)) => persons::weighed(table, &owners, self.size)?,
            (Unit::Record, Some(_)) => return Err(LearnError::Persons),
            (Unit::Person, None) => return Err(LearnError::NoPersons),
        };
        if found != self.size || table.targets.len() != table.rows || table.columns != features {
            return Err(match self.unit {
                Unit::Person => LearnError::WrongNumberOfPersons { expected: self.size, found },
                Unit::Record => LearnError::WrongTable {
                    expected: self.size,
                    expected_features: features,
                    found,
                    found_features: table.columns,
                },
            });
        }
        let lattice = Lattice::new(self.scale, self.lattice_bits)?;
        // Drawn before the records are touched, so that the time it takes says nothing about them.
        let noise = self.law.draw(&lattice, source, self.shares.count());
        let cells = match (self.cells, predictor.stretch()) {
            (Some(cells), Some(stretch)) => {
                let lattice = Lattice::new(cells.scale, cells.lattice_bits)?;
                let noise = self.law.draw(&lattice, source, COUNTS);
                Some((stretch, lattice, noise, cells.scale * self.law.spread(1)))
            }
            _ => None,
        };
        let scores = predictor.scores(&table);
        let cut = predictor.cut();
        let scored = Scored { scores: &scores, targets: &table.targets, strata: &strata, cut };
        let shares = self.shares.of(norm(self.law), scored);
        let measured = self.conclude(&lattice.release(&shares, &noise), lattice.step());
        let Some((stretch, lattice, noise, deviation)) = cells else { return Ok((measured, None)) };
        let counts = CellCounts::of_scores(stretch, &scores, &table.targets, &strata).query()?;
        let released = lattice.release(&counts, &noise);
        let line = predictor.log_odds();
        let histogram = Histogram::new(stretch, released, (deviation, self.law), self.size, line.as_ref());
        Ok((measured, Some(histogram)))
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
        let (n, scale) = (self.size as f64, Shares::second_scale(norm(self.law)));
        let (k, second) = (noisy[0], noisy[1] / scale);
        let wider = |reach: f64| up_by(reach / scale, 4.0);
        if self.shares == Shares::Survival {
            // A table in which it is known of a pair who failed first has a share of such pairs; persons' may weigh little.
            let least = if self.unit == Unit::Person { 1e-3 / (n * n) } else { 2.0 / (n * n) };
            let known = |share: f64| larger(least, smaller(share, 1.0));
            let (fewest, most) = (known(second - wider(both)), known(second + wider(both)));
            let concordance = |k: f64, known: f64| unit(0.5 + k / known);
            let corner =
                |k: f64, choose: fn(f64, f64) -> f64| choose(concordance(k, fewest), concordance(k, most));
            let (low, high) = (corner(k - both, smaller), corner(k + both, larger));
            return Measured {
                concordance: Some(Estimate { value: concordance(k, known(second)), low, high }),
                comparable: Some(around(second, wider(alone))),
                ..Measured::default()
            };
        }
        let positives = second;
        // Of all ordered pairs; two records of one person are a pair, too.
        let pairs = if self.unit == Unit::Person { 1.0 } else { (n - 1.0) / n };
        // A table with a pair has a record of each class; of a person's records only some need be.
        let least = if self.unit == Unit::Person { 1e-3 / n } else { 1.0 / n };
        let inside = |share: f64| larger(least, smaller(share, 1.0 - least));
        let spread = |share: f64| share * (1.0 - share);
        let auc = |k: f64, spread: f64| unit(0.5 + k * pairs / spread);
        let (fewest, most) = (inside(positives - wider(both)), inside(positives + wider(both)));
        let (at_fewest, at_most) = (spread(fewest), spread(most));
        let widest = if fewest <= 0.5 && most >= 0.5 { 0.25 } else { larger(at_fewest, at_most) };
        let narrowest = smaller(at_fewest, at_most);
        let (lowest, highest) = (k - both, k + both);
        Measured {
            auc: Some(Estimate {
                value: auc(k, spread(inside(positives))),
                low: smaller(auc(lowest, widest), auc(lowest, narrowest)),
                high: larger(auc(highest, widest), auc(highest, narrowest)),
            }),
            accuracy: noisy.get(2).map(|share| around(*share, alone)),
            positives: Some(around(positives, wider(alone))),
            ..Measured::default()
        }
    }
}

/// The noise of a histogram at a ratio: `proofs/calibration.md`.
fn cell_noise(law: NoiseKind, ratio: f64, size: usize, budget: Budget) -> Result<CellNoise, LearnError> {
    let sensitivity = match law {
        NoiseKind::Laplace => score_cells::sensitivity_l1(false),
        NoiseKind::Gaussian | NoiseKind::Euclidean => score_cells::sensitivity(false),
    };
    let error = law.reach(COUNTS) * score_cells::error_bound(size);
    let distance = up_by(sensitivity + 2.0 * error, 2.0);
    let lattice_bits = lattice::bits_for(up_by(size as f64 * ratio / distance, 8.0))?;
    let left = down_by(ratio - law.rounding(COUNTS, lattice_bits), 2.0);
    let scale = up_by(distance / left, 4.0);
    if !(left > 0.0 && scale.is_finite()) {
        return Err(LearnError::DeltaTooSmall(budget));
    }
    Ok(CellNoise { ratio, scale, lattice_bits })
}

/// The distance that a law's noise hides.
fn norm(law: NoiseKind) -> Norm {
    match law {
        NoiseKind::Laplace => Norm::Sum,
        NoiseKind::Gaussian | NoiseKind::Euclidean => Norm::Euclid,
    }
}

fn unit(value: f64) -> f64 {
    larger(0.0, smaller(value, 1.0))
}

fn around(share: f64, reach: f64) -> Estimate {
    Estimate { value: unit(share), low: unit(share - reach), high: unit(share + reach) }
}
