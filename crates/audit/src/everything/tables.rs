//! Two neighbouring tables and public parameters, and how to change them a little.

use crate::Table;
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::{Domain, Objective, PointLoss, Problem, RankingForm, clip_row};
use pairdp_units::Adjacency;

/// What records look like before a mechanism sees them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) problem: Problem,
    pub(super) features: usize,
    /// The largest norm of the features, and the constant that follows them, unless there is none.
    pub(super) row_bound: f64,
    pub(super) constant: Option<f64>,
}

/// An attacker's choice.
#[derive(Debug, Clone)]
pub(super) struct Attack {
    shape: Shape,
    /// Whether records and parameters stay on one line, where many bounds are attained and a search has less to look through.
    aligned: bool,
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
    /// With which other record a pair shows best what was exchanged.
    toward: usize,
}

#[derive(Debug, Clone, PartialEq)]
struct Record {
    features: Vec<f64>,
    target: f64,
}

impl Attack {
    pub(super) fn new(shape: Shape, size: usize, aligned: bool, source: &mut Replay) -> Self {
        let columns = shape.features + usize::from(shape.constant.is_some());
        let none = Record { features: vec![0.0; shape.features], target: 0.0 };
        let mut attack = Self {
            shape,
            aligned,
            size,
            others: Vec::new(),
            shares: Vec::new(),
            place: 0,
            before: none.clone(),
            after: none,
            at: vec![0.0; shape.problem.parameters(columns)],
            toward: 0,
        };
        let others = if attack.replaces() { size - 1 } else { below(source, attack.sizes()) };
        attack.others = (0..others).map(|_| attack.record(source)).collect();
        attack.shares = (0..=size + 1).map(|_| share(source)).collect();
        attack.place = below(source, others + 1);
        (attack.before, attack.after) = (attack.record(source), attack.record(source));
        attack.match_labels();
        attack
    }

    /// Whether the two tables have as many records.
    pub(super) fn replaces(&self) -> bool {
        matches!(self.shape.problem.adjacency(), Adjacency::ReplaceOne | Adjacency::ReplaceFeatures)
    }

    /// How many sizes the smaller table may have, where one has a record more: around the cap or, with it, within what is promised.
    fn sizes(&self) -> usize {
        match self.shape.problem.adjacency() {
            Adjacency::AddRemovePromised => self.size,
            _ => self.size + 2,
        }
    }

    /// The records of the first table, or of the second.
    fn records(&self, which: usize) -> Vec<&Record> {
        let mut records: Vec<&Record> = self.others.iter().collect();
        match which {
            0 if self.replaces() => records.insert(self.place, &self.before),
            0 => {}
            _ => records.insert(self.place, &self.after),
        }
        records
    }

    /// A table as it is trained on: rows with a constant are clipped before it follows them, others by whoever takes them in.
    pub(super) fn table(&self, which: usize) -> Table {
        let records = self.records(which);
        let Shape { features, row_bound, constant, .. } = self.shape;
        let mut cells = Vec::new();
        for record in &records {
            let mut row = record.features.clone();
            if let Some(constant) = constant {
                clip_row(&mut row, row_bound);
                row.push(constant);
            }
            cells.extend(row);
        }
        let columns = features + usize::from(constant.is_some());
        let targets = records.iter().map(|record| record.target).collect();
        Table { features: cells, columns, targets, records_of_owner: Vec::new() }
    }

    /// The exchanged record and another, by their places in both tables.
    pub(super) fn looked_at(&self) -> (usize, usize) {
        let records = self.others.len() + 1;
        (self.place, (self.place + 1 + self.toward % self.others.len().max(1)) % records)
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
            match below(source, 12) {
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
                9 => other.toward = below(source, self.size),
                // A little further in some direction.
                10 => {
                    let which = below(source, other.others.len() + 2);
                    let features = match which.checked_sub(2) {
                        Some(other_one) => &mut other.others[other_one].features,
                        None if which == 0 => &mut other.before.features,
                        None => &mut other.after.features,
                    };
                    let free = if self.aligned { 1 } else { features.len() };
                    features.iter_mut().take(free).for_each(|value| *value += 0.2 * unit(source));
                }
                11 => {
                    let free = self.free();
                    other.at.iter_mut().take(free).for_each(|value| *value += 0.1 * unit(source));
                    self.shape.problem.project(&mut other.at);
                }
                6 if !other.replaces() => {
                    let count = below(source, self.sizes());
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
        if self.shape.problem.adjacency() == Adjacency::ReplaceFeatures {
            self.after.target = self.before.target;
        }
    }

    /// At an end of the ball, in its middle, or anywhere, with any label; now and then beyond the bound, to be clipped.
    fn record(&self, source: &mut Replay) -> Record {
        let kappa = self.shape.row_bound;
        let feature = |source: &mut Replay| match below(source, 7) {
            0 | 1 => kappa,
            2 | 3 => -kappa,
            4 => 0.0,
            5 => 1e3 * kappa * unit(source),
            _ => kappa * unit(source),
        };
        let free = if self.aligned { 1 } else { self.shape.features };
        let mut features = vec![0.0; self.shape.features];
        features.iter_mut().take(free).for_each(|value| *value = feature(source));
        let target = match self.shape.problem.objective() {
            Objective::Metric { .. } => below(source, 3) as f64,
            Objective::Pointwise { loss: PointLoss::Residual { target_bound, .. } } => match below(source, 4)
            {
                0 => target_bound,
                1 => -target_bound,
                2 => 10.0 * target_bound * unit(source),
                _ => target_bound * unit(source),
            },
            // When each was last seen, with an event or without: signed times, with ties.
            Objective::Ranking { form: RankingForm::Comparable, .. } => {
                [1.0, 1.25, 1.5, 2.0, -1.0, -1.25, -1.5, -2.0][below(source, 8)]
            }
            _ => [-1.0, 1.0][below(source, 2)],
        };
        Record { features, target }
    }

    fn parameters(&self, source: &mut Replay) -> Vec<f64> {
        let domain = self.shape.problem.domain();
        let reach = if domain == Domain::Whole { 3.0 } else { domain.radius() };
        let length = 2.0 * reach * [0.0, 1.0, unit(source)][below(source, 3)];
        let to_a_corner = below(source, 2) == 0;
        let mut one = || if to_a_corner { unit(source).signum() } else { unit(source) };
        let free = self.free();
        let mut at = vec![0.0; self.at.len()];
        at.iter_mut().take(free).for_each(|value| *value = length * one());
        let growing = self.shape.problem.score().growing(&at).len();
        // What scores do not grow with may be anywhere: units that are flat, steep, or all on one side.
        let steep = [1.0, 10.0, 100.0][below(source, 3)];
        at.iter_mut().skip(growing).for_each(|value| *value = steep * unit(source));
        self.shape.problem.project(&mut at);
        at
    }

    /// How many parameters are looked through: all of a network's, whose gradients point where they say.
    fn free(&self) -> usize {
        if self.aligned && self.shape.problem.score().is_linear() { 1 } else { self.at.len() }
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
