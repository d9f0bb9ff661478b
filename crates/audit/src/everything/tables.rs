//! Two neighbouring tables and public parameters, and how to change them a little.

use crate::Table;
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::{Domain, Objective, PointLoss, Problem};
use pairdp_units::Adjacency;

/// An attacker's choice.
#[derive(Debug, Clone)]
pub(super) struct Attack {
    problem: Problem,
    columns: usize,
    /// How many records count, or the cap.
    size: usize,
    /// The records that both tables have.
    others: Vec<Record>,
    /// What share of a large table each of them is.
    shares: Vec<f64>,
    /// Where the two tables differ.
    place: usize,
    /// The record there in the first table, unless it has none.
    before: Record,
    /// The record there in the second.
    after: Record,
    /// Public parameters, inside the domain.
    pub(super) at: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
struct Record {
    features: Vec<f64>,
    target: f64,
}

impl Attack {
    pub(super) fn new(problem: Problem, columns: usize, size: usize, source: &mut Replay) -> Self {
        let mut attack = Self {
            problem,
            columns,
            size,
            others: Vec::new(),
            shares: Vec::new(),
            place: 0,
            before: Record { features: vec![0.0; columns], target: 0.0 },
            after: Record { features: vec![0.0; columns], target: 0.0 },
            at: vec![0.0; problem.parameters(columns)],
        };
        let others = if attack.replaces() { size - 1 } else { below(source, size + 2) };
        attack.others = (0..others).map(|_| attack.record(source)).collect();
        attack.shares = (0..=size + 1).map(|_| share(source)).collect();
        attack.place = below(source, others + 1);
        (attack.before, attack.after) = (attack.record(source), attack.record(source));
        attack.match_labels();
        attack
    }

    /// Whether the two tables have as many records.
    pub(super) fn replaces(&self) -> bool {
        self.problem.adjacency() != Adjacency::AddRemoveOne
    }

    /// The first table, or the second.
    pub(super) fn table(&self, which: usize) -> Table {
        let mut records: Vec<&Record> = self.others.iter().collect();
        match which {
            0 if self.replaces() => records.insert(self.place, &self.before),
            0 => {}
            _ => records.insert(self.place, &self.after),
        }
        Table {
            features: records.iter().flat_map(|record| record.features.iter().copied()).collect(),
            columns: self.columns,
            targets: records.iter().map(|record| record.target).collect(),
        }
    }

    /// How often each record is in a table of so many: the exchanged one once, the others by their shares of the rest.
    pub(super) fn copies(&self, which: usize, records: usize) -> Vec<f64> {
        let shares = &self.shares[..self.others.len()];
        let (total, rest) = (shares.iter().sum::<f64>(), records as f64 - 1.0);
        let mut copies: Vec<f64> = shares.iter().map(|share| (share / total * rest).floor()).collect();
        let missing = rest - copies.iter().sum::<f64>();
        if let Some(first) = copies.first_mut() {
            *first += missing;
        }
        if which == 1 || self.replaces() {
            copies.insert(self.place, 1.0);
        }
        copies
    }

    /// The same with one or two things changed.
    pub(super) fn changed(&self, source: &mut Replay) -> Self {
        let mut other = self.clone();
        for _ in 0..=below(source, 3) {
            let record = self.record(source);
            match below(source, 9) {
                0 => other.before = record,
                1 => other.after = record,
                2 | 3 if !other.others.is_empty() => {
                    let which = below(source, other.others.len());
                    other.others[which] = record;
                }
                // All others alike, or all of them but a few: what most bounds are attained by.
                4 if !other.others.is_empty() => {
                    let few = below(source, 3).min(other.others.len());
                    other.others[few..].iter_mut().for_each(|other| *other = record.clone());
                }
                8 => {
                    let which = below(source, other.shares.len());
                    other.shares[which] = share(source);
                }
                5 => other.place = below(source, other.others.len() + 1),
                6 if !other.replaces() => {
                    let count = below(source, self.size + 2);
                    other.others.resize(count, record);
                    other.place = other.place.min(count);
                }
                _ => other.at = self.parameters(source),
            }
        }
        other.match_labels();
        other
    }

    /// Labels that are public are the same in both tables.
    fn match_labels(&mut self) {
        if self.problem.adjacency() == Adjacency::ReplaceFeatures {
            self.after.target = self.before.target;
        }
    }

    /// At an end of the ball, in its middle, or anywhere, with any label; now and then beyond the bound, to be clipped.
    fn record(&self, source: &mut Replay) -> Record {
        let kappa = self.problem.feature_bound();
        let feature = |source: &mut Replay| match below(source, 7) {
            0 | 1 => kappa,
            2 | 3 => -kappa,
            4 => 0.0,
            5 => 1e3 * kappa * unit(source),
            _ => kappa * unit(source),
        };
        let features = (0..self.columns).map(|_| feature(source)).collect();
        let target = match self.problem.objective() {
            Objective::Metric { .. } => below(source, 3) as f64,
            Objective::Pointwise { loss: PointLoss::Residual { target_bound, .. } } => match below(source, 4)
            {
                0 => target_bound,
                1 => -target_bound,
                2 => 10.0 * target_bound * unit(source),
                _ => target_bound * unit(source),
            },
            _ => [-1.0, 1.0][below(source, 2)],
        };
        Record { features, target }
    }

    fn parameters(&self, source: &mut Replay) -> Vec<f64> {
        let domain = self.problem.domain();
        let reach = if domain == Domain::Whole { 3.0 } else { domain.radius() };
        let length = [0.0, 1.0, unit(source)][below(source, 3)];
        let mut at: Vec<f64> =
            (0..self.at.len()).map(|_| 2.0 * reach * length * unit(source).signum()).collect();
        domain.project(&mut at);
        at
    }
}

fn below(source: &mut Replay, count: usize) -> usize {
    // A public search: the little that a remainder prefers small numbers does not matter.
    usize::try_from(source.next_word() % count as u64).unwrap_or(0)
}

/// None, a little, or much.
fn share(source: &mut Replay) -> f64 {
    [0.0, 0.001, 0.3, 0.7, 1.0][below(source, 5)] + 1e-9
}

/// Between −1 and 1.
fn unit(source: &mut Replay) -> f64 {
    (source.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}
