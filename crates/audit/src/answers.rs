//! What a mechanism would answer without noise, computed by the auditor from tables of his own.

use crate::table_pair::TablePair;
use crate::{AuditError, Table};
use pairdp_learn::baseline::phase_result;
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Constants, Objective, Problem, RankingForm, Records, moments};
use pairdp_release::{Mechanism, Plan, PublicIndices as _};
use pairdp_units::signed_time;

/// One table, and all that exact answers about it need.
pub(crate) struct Known {
    records: Records,
    /// The parts of phases, in order; empty where every query is about the whole table.
    parts: Vec<Records>,
}

/// The public facts of a mechanism, as an auditor looks at them.
pub(crate) struct Facts {
    pub(crate) problem: Problem,
    pub(crate) plan: Plan,
    pub(crate) mechanism: Mechanism,
    constants: Constants,
    order: Vec<u32>,
}

impl Facts {
    pub(crate) fn new(problem: Problem, plan: Plan, mechanism: Mechanism, n: usize) -> Self {
        let order = if plan.algorithm().has_order() { plan.order().permutation(n) } else { Vec::new() };
        Self { problem, plan, mechanism, constants: problem.constants(), order }
    }

    pub(crate) fn know(&self, table: &Table) -> Result<Known, AuditError> {
        let records = table.records(self.problem.feature_bound())?;
        let mut parts = Vec::new();
        if let Mechanism::Results(output) = &self.mechanism
            && output.phases().len() > 1
        {
            let mut before = 0;
            for phase in output.phases() {
                parts.push(records.select(&self.order[before..before + phase.records]));
                before += phase.records;
            }
        }
        Ok(Known { records, parts })
    }

    /// Scale of the noise of release t at public parameters.
    pub(crate) fn scale(&self, t: usize, at: &[f64]) -> Result<f64, AuditError> {
        Ok(match &self.mechanism {
            Mechanism::Gradients(gradients) => gradients.release_at(self.problem.norm_at(at))?.sigma,
            Mechanism::Samples(sampled) => sampled.sigma() / self.plan.expected_pairs().unwrap_or(1.0),
            Mechanism::Arrivals(online) => online.sigma(),
            Mechanism::Results(output) => output.phases()[t].sigma,
            Mechanism::Moments(moments) => moments.sigma(),
        })
    }

    /// How many releases there are.
    pub(crate) fn releases(&self) -> usize {
        match &self.mechanism {
            Mechanism::Results(output) => output.phases().len(),
            _ => self.plan.steps() as usize,
        }
    }

    /// The exact answer to query t; of sampled gradients, their mean over samples.
    pub(crate) fn answer(&self, known: &Known, t: usize, at: &[f64]) -> Vec<f64> {
        match &self.mechanism {
            Mechanism::Gradients(_) => kernel::gradient(self.problem, &known.records, at, Par::Sequential),
            Mechanism::Samples(_) => {
                let both = if self.takes_either_order() { 2.0 } else { 1.0 };
                let mut mean = kernel::gradient(self.problem, &known.records, at, Par::Sequential);
                mean.iter_mut().for_each(|value| *value *= both);
                mean
            }
            Mechanism::Arrivals(_) => {
                let (before, rest) = self.order.split_at(t + 1);
                let mut sum = vec![0.0; at.len()];
                for &other in before {
                    let term = self.pair(known, rest[0] as usize, other as usize, at);
                    sum.iter_mut().zip(term).for_each(|(sum, value)| *sum += value);
                }
                sum.iter_mut().for_each(|value| *value /= before.len() as f64);
                sum
            }
            Mechanism::Results(output) => {
                let part = known.parts.get(t).unwrap_or(&known.records);
                phase_result(self.problem, self.plan, &output.phases()[t], part, at)
            }
            Mechanism::Moments(m) => {
                let kappa = self.problem.feature_bound();
                let size = known.records.size();
                moments::query(m.weights(), kappa, m.target(), &known.records, size, Par::Sequential)
            }
        }
    }

    /// The gradient of an unordered pair, as stochastic steps take it.
    pub(crate) fn pair(&self, known: &Known, i: usize, j: usize, at: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; at.len()];
        let (first, second) = (known.records.targets()[i], known.records.targets()[j]);
        let turned = match self.problem.objective() {
            Objective::Ranking { form: RankingForm::Indicator, .. } => first < 0.0,
            Objective::Ranking { form: RankingForm::Comparable, .. } => signed_time::is_before(second, first),
            _ => false,
        };
        let pair = if turned { (j, i) } else { (i, j) };
        kernel::pair_gradient(self.problem, &self.constants, &known.records, pair, at, &mut out);
        out
    }

    /// The gradient of a record alone.
    pub(crate) fn record(&self, known: &Known, i: usize, at: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; at.len()];
        kernel::record_gradient(self.problem, &self.constants, &known.records, i, at, &mut out);
        out
    }

    /// The indicator form, and times, have a loss in one order of a pair only, and steps take that one.
    fn takes_either_order(&self) -> bool {
        let Objective::Ranking { form, .. } = self.problem.objective() else { return false };
        matches!(form, RankingForm::Indicator | RankingForm::Comparable)
    }

    /// How far apart the two tables are in all releases together, in units of the noise, along the path that the first table's
    /// answers take without noise.
    pub(crate) fn separation(&self, neighbours: &TablePair) -> Result<f64, AuditError> {
        let (first, second) = (self.know(&neighbours.first)?, self.know(&neighbours.second)?);
        let mut at = pairdp_release::start_of(self.problem, neighbours.first.columns);
        let mut sum = 0.0;
        for t in 0..self.releases() {
            let (a, b) = (self.answer(&first, t, &at), self.answer(&second, t, &at));
            let scale = self.scale(t, &at)?;
            sum += a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / (scale * scale);
            match &self.mechanism {
                Mechanism::Results(_) => at = a,
                Mechanism::Moments(_) => {}
                _ => {
                    for (value, slope) in at.iter_mut().zip(&a) {
                        *value -= self.plan.step_size() * (slope + self.problem.ridge() * *value);
                    }
                    self.problem.project(&mut at);
                }
            }
        }
        Ok(sum.sqrt())
    }
}
