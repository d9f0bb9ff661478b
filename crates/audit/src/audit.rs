//! Audits of our own mechanisms.

use crate::answers::Facts;
use crate::family::best_accuracy;
use crate::likelihood::Likelihood;
use crate::report::{Numbers, Report, report};
use crate::table_pair::{TablePair, extremes, typical};
use crate::{AuditError, Family, Run, Table};
use pairdp_noise::Source;
use pairdp_pairwise::Problem;
use pairdp_release::{Checkpointer, Curator, Exchange, Mechanism, Plan, run};
use pairdp_units::Budget;
use serde::{Deserialize, Serialize};

/// Which neighbouring tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pair {
    /// Those that the mechanism separates best.
    #[default]
    Worst,
    /// A table of no special shape.
    Typical,
}

/// What the attacker sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// Every release: what the guarantee is about.
    #[default]
    Releases,
    /// The model alone.
    Model,
}

/// A mechanism, a claim about it, and two tables.
pub struct Audit {
    claim: Budget,
    problem: Problem,
    mechanism: Mechanism,
    neighbours: TablePair,
    view: View,
    likelihood: Likelihood,
    family: Family,
    best_accuracy: Option<f64>,
    separation: f64,
}

impl Audit {
    /// Prepares the audit of a plan at the budget it is calibrated to.
    ///
    /// # Errors
    /// [`AuditError`] where there is no such mechanism.
    pub fn of_plan(
        problem: Problem,
        plan: Plan,
        (n, columns): (usize, usize),
        budget: Budget,
        pair: Pair,
        view: View,
    ) -> Result<Self, AuditError> {
        if problem.neighbours() != pairdp_pairwise::Neighbours::ReplaceOne {
            return Err(AuditError::NotCovered("tables of secret size"));
        }
        if plan.representation().is_some() {
            return Err(AuditError::NotCovered("the release of where columns lie"));
        }
        let mechanism = Mechanism::calibrate(problem, plan, n, columns, budget)?;
        let claimed = best_accuracy(&mechanism.event()?.0)?;
        let facts = Facts::new(problem, plan, mechanism.clone(), n);
        let neighbours = match pair {
            Pair::Worst => worst(&facts, n, columns)?,
            Pair::Typical => typical(problem, n, columns),
        };
        Self::new(problem, plan, mechanism, budget, neighbours, view, Some(claimed))
    }

    /// Prepares the audit of any mechanism against any claim, on given tables.
    ///
    /// # Errors
    /// [`AuditError`] for tables that do not fit.
    pub fn new(
        problem: Problem,
        plan: Plan,
        mechanism: Mechanism,
        claim: Budget,
        neighbours: TablePair,
        view: View,
        best_accuracy: Option<f64>,
    ) -> Result<Self, AuditError> {
        let facts = Facts::new(problem, plan, mechanism.clone(), neighbours.first.targets.len());
        let separation = facts.separation(&neighbours)?;
        // A model is made of releases: what bounds attackers who see these bounds those who see it alone.
        let family = Family::of(&mechanism.event()?.0);
        let likelihood = Likelihood::new(facts, &neighbours)?;
        Ok(Self {
            claim,
            problem,
            mechanism,
            neighbours,
            view,
            likelihood,
            family,
            best_accuracy,
            separation,
        })
    }

    /// The tables.
    pub fn neighbours(&self) -> &TablePair {
        &self.neighbours
    }

    /// How far apart they are in all releases together, in units of the noise.
    pub fn separation(&self) -> f64 {
        self.separation
    }

    /// A text that two audits share only if their runs may be put together.
    pub fn about(&self) -> String {
        format!("{:?} {:?} {:?} {:?}", self.mechanism, self.claim, self.neighbours, self.view)
    }

    /// Runs the mechanism once, by the code that trains models, and looks at what it released.
    ///
    /// # Errors
    /// As training.
    pub fn run<S: Source>(&self, first: bool, source: S) -> Result<Vec<f64>, AuditError> {
        let table: &Table = if first { &self.neighbours.first } else { &self.neighbours.second };
        let records = table.records(self.problem.feature_bound())?;
        let mut curator = Curator::open(records, self.mechanism.clone(), source)?;
        if self.view == View::Model {
            return Ok(run(&mut curator, &mut Checkpointer::none())?);
        }
        let mut curator = curator.traced();
        run(&mut curator, &mut Checkpointer::none())?;
        self.likelihood.numbers(curator.trace())
    }

    /// What a trace of releases says, whoever made it.
    ///
    /// # Errors
    /// [`AuditError`] where the mechanism has no such release.
    pub fn look_at(&self, trace: &[Exchange]) -> Result<Vec<f64>, AuditError> {
        self.likelihood.numbers(trace)
    }

    /// Bounds ε by runs.
    ///
    /// # Errors
    /// As [`report`].
    pub fn report(&self, runs: &[Run], confidence: f64) -> Result<Report, AuditError> {
        let numbers = match self.view {
            View::Releases => Numbers::Likelihood,
            View::Model => Numbers::Unknown,
        };
        report(runs, numbers, &self.family, self.claim, self.best_accuracy, confidence)
    }
}

/// The extreme tables that a mechanism separates best: first the records, then the place where they differ.
fn worst(facts: &Facts, n: usize, columns: usize) -> Result<TablePair, AuditError> {
    let mut best: Option<(f64, usize)> = None;
    let consider = |best: &mut Option<(f64, usize)>, key: usize, found: f64| {
        if best.is_none_or(|(most, _)| found > most) {
            *best = Some((found, key));
        }
    };
    for (k, candidate) in extremes(facts.problem, n, columns, 0).iter().enumerate() {
        consider(&mut best, k, facts.separation(candidate)?);
    }
    let kind = best.map_or(0, |(_, kind)| kind);
    let mut place = best.map(|(found, _)| (found, 0));
    if facts.plan.algorithm().has_order() {
        for position in 1..n {
            let candidate = &extremes(facts.problem, n, columns, position)[kind];
            consider(&mut place, position, facts.separation(candidate)?);
        }
    }
    Ok(extremes(facts.problem, n, columns, place.map_or(0, |(_, place)| place)).swap_remove(kind))
}
