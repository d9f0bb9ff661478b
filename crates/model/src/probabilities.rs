//! From scores to probabilities, thresholds and classes, by counts of labels in public cells of the score.
//!
//! The counts are released with noise after training, or are those of a public table. Everything here is a function of them and of other
//! released numbers, so that it costs nothing and holds nothing of a table: log-odds are a straight line in the score that never
//! falls, its slope by maximum likelihood in the cells that rise above the noise, its intercept such that as many records are expected to
//! be positive as were counted. A model keeps the counts and not the line, which is computed from them wherever it is needed.
//!
//! # Guarantee
//! `proofs/calibration.md`.

mod fit;

use pairdp_certificate::{Counted, Probabilities};

use crate::representation;
use crate::{ModelError, Predictor, Task};
use fit::Cell;
pub use fit::LogOdds;
use pairdp_data::Table;
use pairdp_pairwise::score_cells::{CELLS, COUNTS, CellCounts, Stretch};
use pairdp_pairwise::{Strata, kernel};
use pairdp_units::directed::{larger, smaller, up_by};

/// How counts are read; a meaning never changes under the same name.
pub(crate) const READING: &str = "log-odds/1";
/// The part of the budget (of μ², or of ε for δ = 0) that the counts get.
pub const SHARE: f64 = 0.1;
/// How many deviations of the score the cells reach to either side.
const DEVIATIONS: f64 = 4.0;

/// Which records to flag, by public numbers alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FlagBy {
    /// So large a share of all records, those with the highest probabilities.
    FlagShare(f64),
    /// Flag as few records as possible that still include this share of the positive ones.
    Sensitivity(f64),
    /// Those that it pays to flag, if missing a positive record costs so many times what flagging a negative one does.
    CostRatio(f64),
}

impl FlagBy {
    /// Refuses numbers that are none of that.
    ///
    /// # Errors
    /// [`ModelError::Number`].
    pub fn check(self) -> Result<Self, ModelError> {
        let (what, range, value, fits) = match self {
            Self::FlagShare(share) => {
                ("the share to flag", "between 0 and 1", share, share > 0.0 && share < 1.0)
            }
            Self::Sensitivity(share) => {
                ("the sensitivity", "between 0 and 1", share, share > 0.0 && share < 1.0)
            }
            Self::CostRatio(ratio) => {
                ("the cost ratio", "a finite number above 0", ratio, ratio.is_finite() && ratio > 0.0)
            }
        };
        if fits { Ok(self) } else { Err(ModelError::Number { what, range, value }) }
    }
}

/// Whether they can be read; files can hold anything.
pub(crate) fn fits(probabilities: &Probabilities) -> bool {
    let Probabilities { reading, low, high, noise, counted, counts, .. } = probabilities;
    reading == READING
        && Stretch::new(*low, *high).is_some()
        && noise.is_finite()
        && *noise >= 0.0
        && counted.is_finite()
        && *counted >= 1.0
        && counts.len() == COUNTS
        && counts.iter().all(|count| count.is_finite())
}

impl Predictor {
    /// Cells of the score, from the model alone: about as far to either side of the middle as scores lie or, where nothing was
    /// released of how columns are spread, as far as they can lie. `None` for what has no scores of records of two classes.
    pub fn stretch(&self) -> Option<Stretch> {
        if !matches!(self.task, Task::Ranking | Task::Classification) || self.scores_here().is_err() {
            return None;
        }
        let reach = if let Some(reach) = self.network_reach() {
            reach
        } else {
            let weights = self.parameters.get(..self.features())?;
            let whole = self.feature_bound * norm(weights);
            let map = representation::map(&self.encoding, self.representation.as_ref());
            match map.filter(|_| self.random_features.is_none()) {
                Some(map) => smaller(DEVIATIONS * map.deviation(weights, self.feature_bound), whole),
                None => whole,
            }
        };
        // A constant score has a cell, too.
        let reach = if reach > 1e-9 { reach } else { 1.0 };
        Stretch::new(self.intercept() - reach, self.intercept() + reach)
    }

    /// The largest score of any row, and the smallest with its sign turned.
    pub(crate) fn score_bound(&self) -> f64 {
        let bound = match self.network_reach() {
            Some(reach) => reach + self.intercept().abs(),
            None => norm(&self.parameters) * self.feature_bound.hypot(self.constant),
        };
        up_by(bound, 16.0) + f64::MIN_POSITIVE
    }

    /// How far a network's scores can be from its intercept: every unit is within ±1.
    fn network_reach(&self) -> Option<f64> {
        let layer = self.hidden_layer()?;
        let linear = layer.linear.get(..self.features()).map_or(f64::INFINITY, norm);
        Some(self.feature_bound * linear + layer.outer.iter().map(|unit| unit.abs()).sum::<f64>())
    }

    /// The log-odds of being positive as a function of the score, where counts were released.
    pub fn log_odds(&self) -> Option<LogOdds> {
        let counted = self.probabilities.as_ref()?;
        Some(LogOdds::read(counted, self.released_positives()))
    }

    /// The score above which a record counts as positive.
    pub fn cut(&self) -> f64 {
        match self.log_odds() {
            _ if self.task != Task::Classification => 0.0,
            Some(line) => line.cut().unwrap_or_else(|| {
                if line.majority() == Some(true) { -self.score_bound() } else { self.score_bound() }
            }),
            None => 0.0,
        }
    }

    /// The probability that each row of an encoded table is positive, where counts were released.
    pub fn probabilities_of(&self, table: &Table) -> Option<Vec<f64>> {
        let line = self.log_odds()?;
        Some(self.scores(table).into_iter().map(|score| line.probability(score)).collect())
    }

    /// The score from which on records are flagged, and the probability there. From public numbers and released counts alone.
    ///
    /// # Errors
    /// [`ModelError::Number`] for a number that is out of range, [`ModelError::NoProbabilities`] where nothing was counted.
    pub fn flagged_from(&self, by: FlagBy) -> Result<(f64, f64), ModelError> {
        let line = self.log_odds().ok_or(ModelError::NoProbabilities)?;
        let score = match by.check()? {
            FlagBy::FlagShare(share) => line.score_with_share_above(share, |_| 1.0),
            FlagBy::Sensitivity(share) => line.score_with_share_above(share, |cell: &Cell| cell.positive),
            FlagBy::CostRatio(ratio) => line
                .score_of(-libm::log(ratio))
                .unwrap_or_else(|always| if always { -self.score_bound() } else { self.score_bound() }),
        };
        Ok((score, line.probability(score)))
    }

    /// The same predictor with probabilities by the labels of a public table, which cost nothing. What was released of private
    /// records is left as it is.
    ///
    /// # Errors
    /// [`ModelError::NotForTask`] for models without scores of two classes, [`ModelError::OneClass`] unless there are records of both.
    pub fn calibrated_on(&self, table: &Table) -> Result<Self, ModelError> {
        let what = "probabilities";
        let stretch = self.stretch().ok_or(ModelError::NotForTask { what, task: self.task.name() })?;
        let counts =
            CellCounts::of_scores(stretch, &self.scores(table), &table.targets, &Strata::plain(table.rows));
        let counts = counts.query()?;
        let positives: f64 = counts[CELLS..].iter().sum();
        if !(positives > 0.0 && positives < table.rows as f64) {
            return Err(ModelError::OneClass);
        }
        let probabilities = Probabilities {
            reading: READING.into(),
            of: Counted::Public,
            low: stretch.low,
            high: stretch.high,
            noise: 0.0,
            counted: table.rows as f64,
            counts,
        };
        Ok(Self { probabilities: Some(probabilities), ..self.clone() })
    }

    /// What was released of how many records are positive, where columns lie, with its noise.
    fn released_positives(&self) -> Option<(f64, f64)> {
        let counted = self.probabilities.as_ref().filter(|counted| counted.of == Counted::Private)?;
        let released = self.representation.as_ref().filter(|_| self.maps_rows())?;
        let at = representation::layout(&self.encoding, representation::spacing(released)).columns();
        let scale = counted.counted / released.counted;
        Some((released.weights.get(at)? * scale, released.noise * scale))
    }
}

/// What was counted, as a model keeps it.
pub fn released(stretch: Stretch, counts: Vec<f64>, noise: f64, records: f64, secret: bool) -> Probabilities {
    // A secret number is what the counts add up to, within what is public about it.
    let sum = larger(1.0, smaller(counts.iter().sum(), records));
    Probabilities {
        reading: READING.into(),
        of: Counted::Private,
        low: stretch.low,
        high: stretch.high,
        noise,
        counted: if secret { sum } else { records },
        counts,
    }
}

/// In units of the largest, whose square would overflow.
fn norm(weights: &[f64]) -> f64 {
    let largest = weights.iter().fold(0.0, |most, weight| larger(most, weight.abs()));
    if largest < 1e100 {
        return kernel::score(weights, weights).sqrt();
    }
    largest * weights.iter().map(|weight| (weight / largest).powi(2)).sum::<f64>().sqrt()
}
