//! How rows become records.

use crate::LearnError;
use pairdp_certificate::RandomFeatures;
use pairdp_data::Table;
use pairdp_model::Waves;
use pairdp_pairwise::{Problem, Records, Strata, clip_row};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize as _;

/// How rows become records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RowLayout {
    /// What is learned from them.
    pub problem: Problem,
    /// Longer rows are scaled down to it.
    pub feature_bound: f64,
    /// Waves that follow every row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_features: Option<RandomFeatures>,
    /// Appended to every row, unless it is 0.
    pub constant: f64,
}

impl RowLayout {
    /// Rows scaled down to the bound, each followed by its waves and the constant if there are any.
    ///
    /// # Errors
    /// [`LearnError::Records`].
    pub fn records(&self, table: Table, strata: Strata) -> Result<Records, LearnError> {
        let Table { mut features, mut columns, targets, .. } = table;
        let in_place = self.random_features.is_none()
            && self.constant != 0.0
            && features.capacity() - features.len() >= features.len() / columns;
        if in_place {
            features.par_chunks_exact_mut(columns).for_each(|row| clip_row(row, self.feature_bound));
            spread(&mut features, columns, self.constant);
            let records =
                Records::with_targets(features, columns + 1, targets, self.problem.feature_bound())?;
            return Ok(if strata.is_weighed() { records.weighed(strata) } else { records });
        }
        let waves = self.random_features.map(|form| Waves::new(form, columns, self.feature_bound));
        if self.constant != 0.0 || waves.is_some() {
            let width = waves.as_ref().map_or(columns, Waves::width);
            let whole = width + usize::from(self.constant != 0.0);
            let mut rows = vec![0.0; features.len() / columns * whole];
            let pairs = rows.par_chunks_exact_mut(whole).zip(features.par_chunks_exact_mut(columns));
            pairs.for_each_init(Vec::new, |vector, (to, row)| {
                clip_row(row, self.feature_bound);
                match &waves {
                    Some(waves) => {
                        vector.clear();
                        vector.extend_from_slice(row);
                        waves.apply(vector);
                        to[..width].copy_from_slice(vector);
                    }
                    None => to[..width].copy_from_slice(row),
                }
                to[width..].fill(self.constant);
            });
            // Records are wiped when they are dropped; what they were copied from is, too.
            features.zeroize();
            (features, columns) = (rows, whole);
        }
        let records = Records::with_targets(features, columns, targets, self.problem.feature_bound())?;
        Ok(if strata.is_weighed() { records.weighed(strata) } else { records })
    }
}

/// Appends a constant to every row, in the room that there is behind all of them: nothing is copied elsewhere that would have to be wiped.
fn spread(features: &mut Vec<f64>, columns: usize, constant: f64) {
    let rows = features.len() / columns;
    features.resize(rows * (columns + 1), 0.0);
    // From the last row on: each moves to where later ones were.
    for row in (0..rows).rev() {
        let to = row * (columns + 1);
        features.copy_within(row * columns..(row + 1) * columns, to);
        features[to + columns] = constant;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_pairwise::{Domain, MarginLoss, Objective, RankingForm};

    /// With room behind the rows nothing is copied, without it they are; the records are the same to the last bit.
    #[test]
    fn a_constant_is_appended_in_place_where_there_is_room() {
        let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
        let problem = Problem::new(objective, Domain::Ball { radius: 1.0 }, 1.0).unwrap();
        let layout = RowLayout { problem, feature_bound: 0.75, random_features: None, constant: 0.5 };
        for rows in [2, 3, 1000] {
            let features: Vec<f64> = (0..3 * rows).map(|at| (at * 37 % 101) as f64 / 50.0 - 1.0).collect();
            let targets = vec![1.0; rows];
            let mut roomy = Vec::with_capacity(4 * rows);
            roomy.extend_from_slice(&features);
            let place = roomy.as_ptr();
            let records = |features| {
                layout.records(Table::new(features, 3, targets.clone()), Strata::plain(rows)).unwrap()
            };
            let (in_place, copied) = (records(roomy), records(features));
            assert_eq!(in_place.features().as_ptr(), place);
            assert_eq!((in_place.columns(), in_place.len()), (4, rows));
            let bits = |records: &Records| records.features().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&in_place), bits(&copied));
        }
    }
}
