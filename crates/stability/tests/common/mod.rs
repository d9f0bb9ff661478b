//! Small losses in three dimensions, and optimisers written out plainly: what the sensitivities are checked against.
#![allow(dead_code, unreachable_pub, reason = "shared by test programs, each of which uses its own part")]

use pairdp_noise::{Replay, Source};
use pairdp_stability::{Geometry, Output, Regularity};

pub type Vector = [f64; 3];

/// Repeatable draws.
pub struct Draws(Replay);

impl Draws {
    pub fn new(seed: u64) -> Self {
        Self(Replay::from_seed(seed))
    }

    #[allow(clippy::cast_possible_truncation, reason = "the high half is below the bound")]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_word()) * bound as u128) >> 64) as usize
    }

    pub fn unit(&mut self) -> f64 {
        (self.0.next_word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between the two, evenly in the logarithm.
    pub fn scale(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    #[allow(clippy::cast_possible_truncation, reason = "tables here are small")]
    pub fn index(&mut self, n: usize) -> u32 {
        self.below(n) as u32
    }

    pub fn indices(&mut self, n: usize, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.index(n)).collect()
    }

    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut all: Vec<u32> = (0..u32::try_from(n).unwrap()).collect();
        for k in (1..n).rev() {
            all.swap(k, self.below(k + 1));
        }
        all
    }

    pub fn pairs(&mut self, n: usize, count: usize) -> Vec<(u32, u32)> {
        (0..count)
            .map(|_| {
                let first = self.below(n);
                let second = (first + 1 + self.below(n - 1)) % n;
                (u32::try_from(first).unwrap(), u32::try_from(second).unwrap())
            })
            .collect()
    }

    /// Epochs of disjoint pairs.
    pub fn matchings(&mut self, n: usize, epochs: usize) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for _ in 0..epochs {
            pairs.extend(self.permutation(n).chunks_exact(2).map(|pair| (pair[0], pair[1])));
        }
        pairs
    }

    /// A record of norm at most 1: anywhere, or at an end of the first axis, where losses are steepest.
    pub fn record(&mut self) -> Record {
        let label = if self.unit() < 0.5 { 1.0 } else { -1.0 };
        let x = match self.below(4) {
            0 => [1.0, 0.0, 0.0],
            1 => [-1.0, 0.0, 0.0],
            2 => [-label, 0.0, 0.0],
            _ => {
                let x: Vector = std::array::from_fn(|_| 2.0 * self.unit() - 1.0);
                let norm = dot(&x, &x).sqrt();
                if norm > 1.0 { x.map(|v| v / norm) } else { x }
            }
        };
        Record { x, label }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Record {
    pub x: Vector,
    pub label: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// AUC losses of the score difference of a positive first and a negative second record.
    Hinge,
    Logistic,
    Squared,
    PowerHinge(f64),
    /// label·label′·⟨e₁, w⟩: every sensitivity for smooth losses is attained.
    Linear,
}

pub const LOSSES: [Loss; 5] =
    [Loss::Hinge, Loss::Logistic, Loss::Squared, Loss::PowerHinge(1.5), Loss::Linear];

pub fn dot(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sigmoid(s: f64) -> f64 {
    1.0 / (1.0 + (-s).exp())
}

impl Loss {
    fn slope(self, s: f64) -> f64 {
        match self {
            Self::Hinge => -f64::from(s < 1.0),
            Self::Logistic => -sigmoid(-s),
            Self::Squared => 2.0 * (s - 1.0),
            Self::PowerHinge(q) => {
                if s < 1.0 {
                    -q * (1.0 - s).powf(q - 1.0)
                } else {
                    0.0
                }
            }
            Self::Linear => 1.0,
        }
    }

    pub fn pair_gradient(self, w: &Vector, a: &Record, b: &Record) -> Vector {
        if self == Self::Linear {
            return [a.label * b.label, 0.0, 0.0];
        }
        if a.label > 0.0 && b.label < 0.0 {
            let difference: Vector = std::array::from_fn(|k| a.x[k] - b.x[k]);
            let slope = self.slope(dot(w, &difference));
            difference.map(|v| slope * v)
        } else {
            [0.0; 3]
        }
    }

    pub fn record_gradient(self, w: &Vector, a: &Record) -> Vector {
        if self == Self::Linear {
            return [a.label, 0.0, 0.0];
        }
        let signed = a.x.map(|v| a.label * v);
        let slope = self.slope(dot(w, &signed));
        signed.map(|v| slope * v)
    }

    /// Constants of the pair loss for features of norm 1 and parameters of norm at most `radius`.
    pub fn pair_geometry(self, radius: f64) -> Geometry {
        let s = 2.0 * radius;
        // One-sided slopes up to c: terms lie in a ball of diameter 2c, whatever label and parameter.
        let one_sided = |c: f64, regularity| {
            Geometry::new(2.0 * c, 2.0 * c, 2.0 * c, regularity)
                .and_then(|g| g.with_apart(2.0 * c, 2.0 * c))
                .and_then(|g| g.with_self_pairs(0.0, 0.0))
        };
        match self {
            Self::Hinge => one_sided(1.0, Regularity::Jumps),
            Self::Logistic => one_sided(sigmoid(s), Regularity::Smooth { constant: 1.0 }),
            Self::PowerHinge(q) => one_sided(
                q * (1.0 + s).powf(q - 1.0),
                Regularity::Hoelder { exponent: q - 1.0, constant: q * 2.0_f64.powf(q) },
            ),
            Self::Squared => Geometry::lipschitz(4.0 * (1.0 + s), Regularity::Smooth { constant: 8.0 }),
            Self::Linear => Geometry::new(2.0, 4.0, 0.0, Regularity::Smooth { constant: 0.0 })
                .and_then(|g| g.with_self_pairs(0.0, 0.0)),
        }
        .and_then(|g| g.with_diameter(2.0 * radius))
        .unwrap()
    }

    /// Constants of the pointwise loss.
    pub fn record_geometry(self, radius: f64) -> Geometry {
        match self {
            Self::Hinge => Geometry::lipschitz(1.0, Regularity::Jumps),
            Self::Logistic => Geometry::lipschitz(sigmoid(radius), Regularity::Smooth { constant: 0.25 }),
            Self::PowerHinge(q) => Geometry::lipschitz(
                q * (1.0 + radius).powf(q - 1.0),
                Regularity::Hoelder { exponent: q - 1.0, constant: q },
            ),
            Self::Squared => Geometry::lipschitz(2.0 * (1.0 + radius), Regularity::Smooth { constant: 2.0 }),
            Self::Linear => Geometry::new(2.0, 4.0, 0.0, Regularity::Smooth { constant: 0.0 }),
        }
        .and_then(|g| g.with_diameter(2.0 * radius))
        .unwrap()
    }
}

/// Whose terms the steps average.
#[derive(Debug, Clone)]
pub enum Plan {
    History(Vec<u32>),
    Pairs(Vec<(u32, u32)>),
    Records(Vec<u32>),
    AllPairs(usize),
    AllRecords(usize),
    OnePass,
}

#[derive(Debug, Clone)]
pub struct Descent {
    pub loss: Loss,
    pub plan: Plan,
    /// One for each step.
    pub rates: Vec<f64>,
    pub ridge: f64,
    pub radius: f64,
}

impl Plan {
    pub fn n_steps(&self, n_records: usize) -> usize {
        match self {
            Self::History(indices) => indices.len() - 1,
            Self::Pairs(pairs) => pairs.len(),
            Self::Records(indices) => indices.len(),
            Self::AllPairs(steps) | Self::AllRecords(steps) => *steps,
            Self::OnePass => n_records - 1,
        }
    }

    fn gradient(&self, t: usize, loss: Loss, w: &Vector, records: &[Record]) -> Vector {
        let pair = |a: usize, b: usize| loss.pair_gradient(w, &records[a], &records[b]);
        let n = records.len();
        match self {
            Self::History(i) => mean((0..t).map(|k| pair(i[t] as usize, i[k] as usize)), t),
            Self::Pairs(pairs) => pair(pairs[t - 1].0 as usize, pairs[t - 1].1 as usize),
            Self::Records(i) => loss.record_gradient(w, &records[i[t - 1] as usize]),
            Self::AllPairs(_) => mean(
                (0..n)
                    .flat_map(|a| (0..n).filter(move |&b| a != b).map(move |b| (a, b)))
                    .map(|(a, b)| pair(a, b)),
                n * (n - 1),
            ),
            Self::AllRecords(_) => mean(records.iter().map(|record| loss.record_gradient(w, record)), n),
            Self::OnePass => mean((0..t).map(|k| pair(t, k)), t),
        }
    }
}

fn mean(terms: impl Iterator<Item = Vector>, count: usize) -> Vector {
    let mut sum = [0.0; 3];
    for term in terms {
        for (sum, term) in sum.iter_mut().zip(term) {
            *sum += term;
        }
    }
    sum.map(|v| v / count as f64)
}

impl Descent {
    /// All iterates, the start first.
    pub fn run(&self, records: &[Record]) -> Vec<Vector> {
        let mut w = [0.0; 3];
        let mut all = vec![w];
        for (t, &rate) in self.rates.iter().enumerate() {
            let gradient = self.plan.gradient(t + 1, self.loss, &w, records);
            w = std::array::from_fn(|k| w[k] - rate * (gradient[k] + self.ridge * w[k]));
            let norm = dot(&w, &w).sqrt();
            if norm > self.radius {
                w = w.map(|v| v * (self.radius / norm));
            }
            all.push(w);
        }
        all
    }
}

/// The released combination of iterates.
pub fn combine(iterates: &[Vector], output: Output) -> Vector {
    let steps = iterates.len() - 1;
    let counted = match output {
        Output::Last => &iterates[steps..],
        Output::Average => &iterates[1..],
        Output::AverageWithStart => iterates,
        Output::Suffix(count) => &iterates[steps + 1 - count..],
    };
    mean(counted.iter().copied(), counted.len())
}

pub fn distance(a: &Vector, b: &Vector) -> f64 {
    let difference: Vector = std::array::from_fn(|k| a[k] - b[k]);
    dot(&difference, &difference).sqrt()
}
