//! A score, column by column: what each cell adds to it.
//!
//! Scores are sums over columns, but for rows that are scaled down to their bound, whose parts all shrink alike. So a model can
//! be read: a curve for each column of numbers, a bar for each category. All of it follows from the model file.

use crate::representation;
use crate::{Predictor, PrivateModel, kept};
use pairdp_certificate::{NoiseKind, Released};
use pairdp_data::{Kind, Missing};
use serde::Serialize;

/// What a column adds to the score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shape {
    /// The column.
    pub column: String,
    /// Whether its numbers are days since 1970-01-01.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub date: bool,
    /// What each of its cells adds.
    pub parts: ShapeParts,
    /// What an empty cell adds, where a column of numbers has a place for it.
    pub missing: Option<EmptyCell>,
    /// Where a column of numbers lies, as it was released: below these, in its unit, are 5, 25, 50, 75 and 95 % of the records
    /// that have one.
    pub quantiles: Option<[f64; 5]>,
    /// How far the noise alone may have moved each part, as a standard deviation; none where that is not known.
    pub noise: Option<Vec<f64>>,
}

/// Cells and what they add.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeParts {
    /// Numbers from one end of the range to the other, in the column's unit.
    Curve(Vec<(f64, f64)>),
    /// Categories by their name.
    Bars(Vec<(String, f64)>),
}

/// An empty cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EmptyCell {
    /// What it adds.
    pub adds: f64,
    /// How far the noise alone may have moved that, as a standard deviation; none where that is not known.
    pub noise: Option<f64>,
}

impl ShapeParts {
    /// What the cells add, in order.
    pub fn values(&self) -> Vec<f64> {
        match self {
            Self::Curve(points) => points.iter().map(|(_, value)| *value).collect(),
            Self::Bars(bars) => bars.iter().map(|(_, value)| *value).collect(),
        }
    }
}

impl Shape {
    /// From the least to the most that it can add.
    pub fn reach(&self) -> f64 {
        let mut values = self.parts.values();
        values.extend(self.missing.map(|missing| missing.adds));
        let fold = |start: f64, better: fn(&f64, &f64) -> bool| {
            values.iter().fold(start, |best, value| if better(value, &best) { *value } else { best })
        };
        fold(f64::NEG_INFINITY, f64::gt) - fold(f64::INFINITY, f64::lt)
    }
}

/// Points of a curve.
const POINTS: usize = 201;

impl Predictor {
    /// What every column adds to a score; none for metrics, which have no score, and networks and random features, whose columns do not add up.
    ///
    /// `noise` is the standard deviation of the noise in each parameter, where it is known.
    pub fn shapes(&self, noise: Option<f64>) -> Option<Vec<Shape>> {
        if !self.is_additive() {
            return None;
        }
        let map = representation::map(&self.encoding, self.representation.as_ref());
        let unit = self.unit();
        let mut shapes = Vec::with_capacity(self.encoding.columns().len());
        // Where the column starts among the entries of an encoded row, and among those of a mapped one.
        let (mut at, mut place) = (0, 0);
        for (index, column) in self.encoding.columns().iter().enumerate() {
            let width = column.width();
            let vector = |entries: &[f64]| match &map {
                Some(map) => map.column(index, entries, self.feature_bound),
                None => entries.to_vec(),
            };
            let mut spread = Vec::new();
            let mut add = |entries: &[f64]| {
                let vector = vector(entries);
                let weights = &self.parameters[place..place + vector.len()];
                let square: f64 = vector.iter().map(|v| v * v).sum();
                spread.push(unit * square.sqrt());
                unit * vector.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>()
            };
            let parts = match &column.kind {
                Kind::Range([low, high]) => ShapeParts::Curve(
                    (0..POINTS)
                        .map(|k| k as f64 / (POINTS - 1) as f64)
                        // Behind the number: not missing.
                        .map(|share| (low + share * (high - low), add(&[2.0 * share - 1.0, 0.0][..width])))
                        .collect(),
                ),
                Kind::Categories(_) => {
                    let names = self.encoding.feature_names();
                    let one = |k: usize| {
                        let entries: Vec<f64> = (0..width).map(|i| f64::from(u8::from(i == k))).collect();
                        (names[at + k].clone(), add(&entries))
                    };
                    ShapeParts::Bars((0..width).map(one).collect())
                }
            };
            let missing = (column.missing == Some(Missing::Own)).then(|| add(&[0.0, 1.0]));
            let mut noise: Option<Vec<f64>> =
                noise.map(|deviation| spread.iter().map(|length| length * deviation).collect());
            let missing = missing.map(|adds| EmptyCell { adds, noise: noise.as_mut().and_then(Vec::pop) });
            let quantiles = match (&column.kind, map.as_ref().and_then(|map| map.quantiles(index))) {
                (Kind::Range([low, high]), Some(places)) => {
                    Some(places.map(|place| low + f64::midpoint(place, 1.0) * (high - low)))
                }
                _ => None,
            };
            shapes.push(Shape {
                column: column.name.clone(),
                date: column.date,
                parts,
                missing,
                quantiles,
                noise,
            });
            place += vector(&vec![0.0; width]).len();
            at += width;
        }
        Some(shapes)
    }
}

impl PrivateModel {
    /// What every column adds to a score, and how far the noise may have moved it. A descent's noise is known from its releases,
    /// were nothing pulling it back, and that of one released result is its own; that of moments is not in the file.
    pub fn shapes(&self) -> Option<Vec<Shape>> {
        let plan = &self.training;
        // Of one coordinate, in units of the scale.
        let deviation = match plan.law {
            NoiseKind::Gaussian => 1.0,
            NoiseKind::Laplace => 2.0_f64.sqrt(),
            NoiseKind::Euclidean => (self.predictor.parameters.len() as f64 + 1.0).sqrt(),
        };
        let noise = match &self.certificate.released {
            Released::Gradients { releases, .. } => {
                let (steps, kept) = (plan.steps, kept(plan.average, plan.steps));
                let square = |(t, sigma): (u32, f64)| {
                    let after = f64::from((steps - t).min(kept)) / f64::from(kept);
                    (plan.step_size * deviation * sigma * after).powi(2)
                };
                Some((0..).zip(releases.iter().map(|release| release.sigma)).map(square).sum::<f64>().sqrt())
            }
            Released::Output { phases, .. } => match phases.as_slice() {
                [phase] => Some(deviation * phase.sigma),
                _ => None,
            },
            _ => None,
        };
        self.predictor.shapes(noise)
    }
}
