//! How far apart descents on neighbouring tables really get, beside the bounds.
//!
//! Two runs with the same public indices on tables that differ in one record: their distance after the last step is measured for every
//! pair of extreme tables and for a table of no special shape, and the largest is kept. For stochastic descents the mean over several
//! sequences of indices is shown, as the papers bound the expectation; the bound for the very indices drawn is checked sequence by
//! sequence.
//!
//! A third loss is the construction of [`pairdp_stability::lower_bound`], on which descents are as unstable as theory says they can be.

use crate::AuditError;
use crate::table_pair::{TablePair, extremes, typical};
use pairdp_certificate::{Algorithm, Average, Order, Shuffle};
use pairdp_learn::baseline::{Baseline, descend};
use pairdp_pairwise::{Domain, MarginLoss, Objective, PointLoss, Problem, RankingForm, Regularity};
use pairdp_release::{Plan, PublicIndices as _};
use pairdp_stability::bounds::Setting;
use pairdp_stability::bounds::stability::{
    Form, fixed_permutation, full_batch_pairwise, full_batch_pointwise, history_expected, pair_sgd_expected,
    sgd_expected,
};
use pairdp_stability::{Geometry, Output, Rates, lower_bound, realised};
use pairdp_units::directed::larger;
use rayon::prelude::*;
use serde::Serialize;

/// Which descent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Over all records.
    Gd,
    /// One uniform record a step.
    Sgd,
    /// One record a step, in a fixed order over and over.
    SgdFixedPermutation,
    /// Over all pairs.
    PairGd,
    /// Each drawn record against all drawn before it.
    PairHistory,
    /// One uniform pair a step.
    PairSgd,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Gd, Self::Sgd, Self::SgdFixedPermutation, Self::PairGd, Self::PairHistory, Self::PairSgd];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gd => "gd",
            Self::Sgd => "sgd",
            Self::SgdFixedPermutation => "sgd-fixed-permutation",
            Self::PairGd => "pair-gd",
            Self::PairHistory => "pair-history",
            Self::PairSgd => "pair-sgd",
        }
    }

    fn pairwise(self) -> bool {
        matches!(self, Self::PairGd | Self::PairHistory | Self::PairSgd)
    }

    fn random(self) -> bool {
        !matches!(self, Self::Gd | Self::PairGd)
    }
}

/// Which loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Smooth.
    Logistic,
    /// With a kink.
    Hinge,
    /// The one on which descents are least stable.
    Construction,
}

impl Loss {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Logistic, Self::Hinge, Self::Construction];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Hinge => "hinge",
            Self::Construction => "construction",
        }
    }
}

/// A descent to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Descent {
    /// Which.
    pub method: Method,
    /// On which loss.
    pub loss: Loss,
    /// n.
    pub records: usize,
    /// T.
    pub steps: u32,
    /// η.
    pub step_size: f64,
}

/// What was measured, and what bounds it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// What was run.
    #[serde(flatten)]
    pub descent: Descent,
    /// The largest distance of two runs; of stochastic descents, the mean over sequences of the largest of each.
    pub measured: f64,
    /// Our bound for the very indices; its mean over sequences.
    pub bound: f64,
    /// The formula for any indices, in expectation: the papers' where they have one.
    pub formula: f64,
    /// η√T + ηT/n times the Lipschitz constant.
    pub scale: f64,
    /// Whether every single measurement was within its bound.
    pub within: bool,
}

/// Sequences of indices for each stochastic descent.
const SEQUENCES: u64 = 8;

/// Measures one descent.
///
/// # Errors
/// [`AuditError`] for numbers that make no descent.
pub fn measure(descent: Descent) -> Result<Cell, AuditError> {
    let sequences = if descent.method.random() { SEQUENCES } else { 1 };
    let drawn: Result<Vec<(f64, f64)>, AuditError> =
        (0..sequences).into_par_iter().map(|seed| descent.one_sequence(seed)).collect();
    let drawn = drawn?;
    let mean = |pick: fn(&(f64, f64)) -> f64| drawn.iter().map(pick).sum::<f64>() / drawn.len() as f64;
    let (measured, bound) = (mean(|d| d.0), mean(|d| d.1));
    let formula = descent.formula()?;
    let (steps, n) = (f64::from(descent.steps), descent.records as f64);
    let scale = descent.lipschitz()? * descent.step_size * (steps.sqrt() + steps / n);
    // Rounding of the parameters themselves.
    let allowed = |bound: f64| bound * (1.0 + 1e-9) + 1e-12;
    let within = drawn.iter().all(|d| d.0 <= allowed(d.1)) && measured <= allowed(formula);
    Ok(Cell { descent, measured, bound, formula, scale, within })
}

impl Descent {
    /// The largest distance over neighbours for one sequence of indices, and our bound for that sequence.
    fn one_sequence(&self, seed: u64) -> Result<(f64, f64), AuditError> {
        let order = Order { shuffle: self.shuffle(), seed };
        let bound = self.bound(order)?;
        if self.loss == Loss::Construction {
            return Ok((self.construction(order)?, bound));
        }
        let problem = self.problem()?;
        let plan = Plan::new(Algorithm::NoisyGd, self.steps, self.step_size, Average::Last)?;
        let baseline = match self.method {
            Method::Gd | Method::PairGd => Baseline::Gd,
            Method::PairHistory => Baseline::SgdHistory(order),
            _ => Baseline::Sgd(order),
        };
        let mut most = 0.0;
        for neighbours in self.neighbours(problem) {
            let result = |table: &crate::Table| -> Result<Vec<f64>, AuditError> {
                Ok(descend(baseline, problem, plan, &table.records(problem.feature_bound())?)?)
            };
            let (a, b) = (result(&neighbours.first)?, result(&neighbours.second)?);
            let apart = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            most = larger(most, apart);
        }
        Ok((most, bound))
    }

    fn shuffle(&self) -> Shuffle {
        match self.method {
            Method::SgdFixedPermutation => Shuffle::FixedPermutation,
            _ => Shuffle::WithReplacement,
        }
    }

    fn problem(&self) -> Result<Problem, AuditError> {
        let loss = if self.loss == Loss::Hinge { MarginLoss::Hinge } else { MarginLoss::Logistic };
        let objective = if self.method.pairwise() {
            Objective::Ranking { form: RankingForm::Indicator, loss }
        } else {
            Objective::Pointwise { loss: PointLoss::Margin(loss) }
        };
        Ok(Problem::new(objective, Domain::Ball { radius: 10.0 }, 1.0)?)
    }

    fn lipschitz(&self) -> Result<f64, AuditError> {
        Ok(if self.loss == Loss::Construction { 1.0 } else { self.problem()?.constants().gradient_bound })
    }

    /// Extreme tables that differ in the first record, and a table of no special shape. Which record it is must not follow the
    /// indices, or bounds in expectation would not be about it.
    fn neighbours(&self, problem: Problem) -> Vec<TablePair> {
        let mut all = extremes(problem, self.records, 2, 0);
        all.push(typical(problem, self.records, 2));
        all
    }

    fn geometry(&self) -> Result<Geometry, AuditError> {
        if self.loss == Loss::Construction {
            return Ok(Geometry::lipschitz(1.0, pairdp_stability::Regularity::Jumps)?);
        }
        let problem = self.problem()?;
        let constants = problem.constants();
        let regularity = match constants.regularity {
            Regularity::Smooth { constant } => pairdp_stability::Regularity::Smooth { constant },
            Regularity::Hoelder { exponent, constant } => {
                pairdp_stability::Regularity::Hoelder { exponent, constant }
            }
            Regularity::Jumps => pairdp_stability::Regularity::Jumps,
        };
        Ok(Geometry::new(
            constants.pair_difference,
            constants.symmetric_difference,
            constants.same_term_difference,
            regularity,
        )?
        .with_self_pairs(0.0, 0.0)?
        .with_diameter(problem.domain().diameter())?)
    }

    /// Our bound for given indices, the largest over records.
    fn bound(&self, order: Order) -> Result<f64, AuditError> {
        let geometry = self.geometry()?;
        let (n, t) = (self.records, self.steps as usize);
        let (rates, last) = (Rates::Constant(self.step_size), Output::Last);
        Ok(match self.method {
            Method::Gd => realised::full_batch_records(&geometry, n, t, rates, last)?.sensitivity,
            Method::PairGd => realised::full_batch_pairs(&geometry, n, t, rates, last)?.sensitivity,
            Method::Sgd | Method::SgdFixedPermutation => {
                realised::record_path(&geometry, &order.indices(n, t), n, rates, last)?.sensitivity()
            }
            Method::PairHistory => {
                realised::history_path(&geometry, &order.indices(n, t + 1), n, rates, last)?.sensitivity()
            }
            Method::PairSgd => {
                realised::pair_path(&geometry, &order.pairs(n, t), n, rates, last)?.sensitivity()
            }
        })
    }

    /// Bounds for whatever indices come, the papers' where they have one.
    fn formula(&self) -> Result<f64, AuditError> {
        let setting = Setting::new(self.lipschitz()?, self.step_size, self.steps as usize, self.records)?;
        let radius = if self.loss == Loss::Construction { f64::INFINITY } else { 10.0 };
        let geometry = self.geometry()?;
        // Without kinks only what was replaced moves the runs apart, and at one parameter.
        let (same_term, both_orders, replaced) = if self.loss == Loss::Logistic {
            (0.0, geometry.both_orders(), geometry.replaced())
        } else {
            (geometry.same_term(), geometry.both_orders_apart(), geometry.replaced_apart())
        };
        Ok(match self.method {
            Method::Gd => full_batch_pointwise(&setting, Form::Printed),
            Method::Sgd => sgd_expected(&setting, radius, Form::Printed),
            Method::SgdFixedPermutation => fixed_permutation(&setting),
            Method::PairGd => full_batch_pairwise(&setting, same_term, both_orders, 0.0),
            Method::PairHistory => history_expected(&setting),
            Method::PairSgd => pair_sgd_expected(&setting, same_term, replaced, false),
        })
    }

    /// The distance on the construction.
    fn construction(&self, order: Order) -> Result<f64, AuditError> {
        let (n, t, rate) = (self.records, self.steps as usize, self.step_size);
        let drift = match self.method {
            Method::Gd => lower_bound::gradient_descent(n, t, rate)?,
            Method::PairGd => lower_bound::pairwise_gradient_descent(n, t, rate)?,
            Method::Sgd | Method::SgdFixedPermutation => {
                lower_bound::stochastic_descent(n, &order.indices(n, t), rate)?
            }
            Method::PairHistory => lower_bound::history_descent(n, &order.indices(n, t + 1), rate)?,
            Method::PairSgd => lower_bound::pair_descent(n, &order.pairs(n, t), rate)?,
        };
        Ok(drift.last)
    }
}

/// A row of Table 1 of Bassily, Feldman, Guzmán and Talwar (2020) with numbers in it: 1-Lipschitz losses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableRow {
    /// Which descent.
    pub method: Method,
    /// n.
    pub records: usize,
    /// T.
    pub steps: u32,
    /// η.
    pub step_size: f64,
    /// Their upper bound in expectation.
    pub upper: f64,
    /// Ours for the indices drawn; its mean.
    pub ours: f64,
    /// What the construction reaches.
    pub measured: f64,
    /// What is inside their Ω in the lower bound.
    pub lower: f64,
}

/// Table 1 with the measured distance on the construction between the two bounds.
///
/// # Errors
/// [`AuditError`] for numbers that make no descent.
pub fn table_one(records: usize, steps: u32, step_size: f64) -> Result<Vec<TableRow>, AuditError> {
    let (t, n) = (f64::from(steps), records as f64);
    let drawn = if t < n { t / n } else { 1.0 };
    let (root, linear) = (step_size * t.sqrt(), step_size * t / n);
    [
        (Method::Gd, 4.0 * (root + linear), root + linear),
        (Method::Sgd, drawn * 3.0 * root + 4.0 * linear, drawn * root + linear),
        (Method::SgdFixedPermutation, drawn * 2.0 * root + 4.0 * linear, drawn * root + linear),
    ]
    .into_iter()
    .map(|(method, upper, lower)| {
        let cell = measure(Descent { method, loss: Loss::Construction, records, steps, step_size })?;
        Ok(TableRow {
            method,
            records,
            steps,
            step_size,
            upper,
            ours: cell.bound,
            measured: cell.measured,
            lower,
        })
    })
    .collect()
}
