//! Both releases of a run that learns from ranks, seen together: where columns lie, and what training releases given that.
//!
//! The attacker knows the two tables. What he sees of the first release is compared with the weights of knots of either, and given what was
//! released the map of rows is a public function, by which he maps both and compares every answer of training with theirs. The
//! logarithms of both ratios add up.

use crate::answers::Facts;
use crate::likelihood::{Likelihood, log_normal};
use crate::report::{Numbers, Report, report};
use crate::table_pair::TablePair;
use crate::{AuditError, Family, Run, Table};
use pairdp_accountant::Unbooked;
use pairdp_certificate::{Algorithm, NoiseKind, Representation, Stage};
use pairdp_data::Encoding;
use pairdp_learn::{Settings, Training, TrainingSpec};
use pairdp_model::{Predictor, Task};
use pairdp_noise::Source;
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::knots::{KnotSums, Layout, Spacing};
use pairdp_pairwise::{Objective, Records, Strata};
use pairdp_release::{Checkpointer, Exchange, LearnError};
use pairdp_units::Budget;

/// An audit of a run in two releases, on two tables of numbers within ±1.
pub struct TwoReleases {
    claim: Budget,
    settings: Settings,
    encoding: Encoding,
    spec: TrainingSpec,
    neighbours: TablePair,
    layout: Layout,
    /// Weights of knots of either table.
    knots: [Vec<f64>; 2],
    sigma: f64,
}

/// What a run released.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Where columns lie.
    pub first: Representation,
    /// Every answer of training.
    pub training: Vec<Exchange>,
}

impl TwoReleases {
    /// Prepares the audit of such settings, for tables whose records are all at one knot but for one that is at another knot of every
    /// column, and of another label: but for losses of records, whose gradient is the same on the other side with the other label.
    ///
    /// # Errors
    /// [`AuditError`] where there is no such mechanism, or it releases nothing first.
    pub fn at_knots(
        settings: &Settings,
        (records, columns): (usize, usize),
        claim: Budget,
    ) -> Result<Self, AuditError> {
        let knots = Spacing::Coarse.positions();
        // Far from the ends, where nothing is cut off, and from each other; knots of either spacing.
        let (others, one) = (knots[knots.len() / 4], knots[3 * knots.len() / 4]);
        let problem = settings.prepare(records, &Encoding::unscaled(columns), claim)?.problem();
        let descends = settings.algorithm != Some(Algorithm::Moments);
        let alike = descends && matches!(problem.objective(), Objective::Pointwise { .. });
        // Of times: an event before all others, and nothing seen until after them.
        let [of_others, before, after] = match settings.task {
            Task::Survival => [1.5, 1.0, -2.0],
            _ if alike => [-1.0; 3],
            _ => [-1.0, 1.0, -1.0],
        };
        let table = |place: f64, target: f64| Table {
            features: (0..records * columns).map(|k| if k < columns { place } else { others }).collect(),
            columns,
            targets: (0..records).map(|i| if i == 0 { target } else { of_others }).collect(),
            records_of_owner: Vec::new(),
        };
        let neighbours =
            TablePair { first: table(one, before), second: table(others, after), replaced: 0, uniform: true };
        Self::of(settings, neighbours, claim)
    }

    /// The same on given tables of one size.
    ///
    /// # Errors
    /// As [`TwoReleases::at_knots`].
    pub fn of(settings: &Settings, neighbours: TablePair, claim: Budget) -> Result<Self, AuditError> {
        let columns = neighbours.first.columns;
        let encoding = Encoding::unscaled(columns);
        let spec = settings.prepare(neighbours.first.targets.len(), &encoding, claim)?;
        let stages = spec.mechanism().stages();
        let [Stage::Knots { noise, counts_records: false, .. }] = stages.as_slice() else {
            return Err(AuditError::NotCovered(
                "runs that do not release where columns lie, and nothing else first",
            ));
        };
        if spec.plan().law() != NoiseKind::Gaussian {
            return Err(AuditError::NotCovered("two releases of other noise"));
        }
        let layout = spec.first_release().clone();
        let weights = |table: &Table| {
            let Table { features, columns, targets, .. } = table;
            let strata = Strata::plain(targets.len());
            let sums = KnotSums::new(&layout, features, *columns, targets, &strata, Par::Sequential);
            sums.query(&layout, false).map_err(LearnError::from)
        };
        let knots = [weights(&neighbours.first)?, weights(&neighbours.second)?];
        let sigma = noise.sigma;
        Ok(Self { claim, settings: settings.clone(), encoding, spec, neighbours, layout, knots, sigma })
    }

    /// The run.
    pub fn spec(&self) -> &TrainingSpec {
        &self.spec
    }

    /// The tables.
    pub fn neighbours(&self) -> &TablePair {
        &self.neighbours
    }

    /// Where columns lie in the sums.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The exact weights of knots of either table.
    pub fn weights(&self, first: bool) -> &[f64] {
        &self.knots[usize::from(!first)]
    }

    /// Scale of the first release's noise.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Runs it once, by the code that trains models.
    ///
    /// # Errors
    /// As training.
    pub fn run<S: Source>(&self, first: bool, source: S) -> Result<Seen, AuditError> {
        let Table { features, columns, targets, .. } = self.table(first);
        let table = pairdp_data::Table::new(features.clone(), *columns, targets.clone());
        let training = Training {
            settings: self.settings.clone(),
            encoding: self.encoding.clone(),
            label: None,
            budget: self.claim,
        };
        let rows = || Ok::<_, LearnError>(table.into());
        let run = training.open(&mut Unbooked, &mut Checkpointer::none(), rows)?;
        let (Some(first), training) = run.releases(source)? else {
            return Err(AuditError::NotCovered("runs in one release"));
        };
        Ok(Seen { first, training })
    }

    /// The records of either table as training sees them after a first release.
    ///
    /// # Errors
    /// [`AuditError::Records`] when there is no feature.
    pub fn mapped(&self, first: bool, released: &Representation) -> Result<Records, AuditError> {
        let table = self.mapped_table(first, released);
        table.records(self.spec.problem().feature_bound())
    }

    fn mapped_table(&self, first: bool, released: &Representation) -> Table {
        let (feature_bound, constant) = self.spec.row_bound();
        let predictor = Predictor {
            task: self.settings.task,
            encoding: self.encoding.clone(),
            label: None,
            feature_bound,
            constant: constant.unwrap_or(0.0),
            parameters: Vec::new(),
            representation: Some(released.clone()),
            probabilities: None,
            random_features: None,
            score: pairdp_pairwise::Score::Linear,
        };
        let Table { features, columns, targets, .. } = self.table(first);
        let raw = pairdp_data::Table::new(features.clone(), *columns, targets.clone());
        let mut rows = Vec::new();
        predictor.each_row(&raw, |row| rows.extend_from_slice(row));
        let columns = rows.len() / targets.len().max(1);
        let targets = self.spec.learned_targets(released, targets);
        Table { features: rows, columns, targets, records_of_owner: Vec::new() }
    }

    fn table(&self, first: bool) -> &Table {
        if first { &self.neighbours.first } else { &self.neighbours.second }
    }

    /// How much likelier the first table makes the first release than the second one does, as a logarithm.
    pub fn look_at_first(&self, released: &Representation) -> f64 {
        let [a, b] = &self.knots;
        log_normal(&released.weights, a, self.sigma) - log_normal(&released.weights, b, self.sigma)
    }

    /// What both releases say: the logarithm of the likelihood ratio of all, a second statistic, and the ratio of each.
    ///
    /// # Errors
    /// [`AuditError`] where the mechanism has no such release.
    pub fn look_at(&self, seen: &Seen) -> Result<Vec<f64>, AuditError> {
        let first = self.look_at_first(&seen.first);
        let (problem, plan) = (self.spec.problem(), self.spec.plan());
        let mapped = TablePair {
            first: self.mapped_table(true, &seen.first),
            second: self.mapped_table(false, &seen.first),
            ..self.neighbours
        };
        let records = self.neighbours.first.targets.len();
        let facts = Facts::new(problem, plan, self.spec.mechanism().clone(), records);
        let after = Likelihood::new(facts, &mapped)?.numbers(&seen.training)?;
        let mut numbers = vec![first + after[0], after[1], first];
        numbers.extend(&after[2..]);
        Ok(numbers)
    }

    /// Bounds ε by runs.
    ///
    /// # Errors
    /// As [`report()`].
    pub fn report(&self, runs: &[Run], confidence: f64) -> Result<Report, AuditError> {
        report(runs, Numbers::Likelihood, &Family::Gaussian, self.claim, None, confidence)
    }
}
