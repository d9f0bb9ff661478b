//! The private table, in the form that kernels read.

use crate::Strata;
use crate::clip::clip_row;
use pairdp_units::{FrontEnd, Hint};
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroize as _;

/// A table that has the wrong shape. These are facts about its form, never about its content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The matrix is not rows × columns.
    #[error("{cells} cells do not make {rows} rows of {columns} features")]
    Shape {
        /// Cells given.
        cells: usize,
        /// Rows expected, from the targets.
        rows: usize,
        /// Features a row.
        columns: usize,
    },
    /// No feature at all.
    #[error("a record needs at least one feature")]
    NoFeatures,
}

impl Hint for RecordsError {
    fn hint(&self, _: FrontEnd) -> Option<String> {
        None
    }
}

/// Records with features of norm at most κ and a target: ±1 for rankers and classifiers, a class number for metrics,
/// a real number within ±Y for regression.
///
/// No `Debug`, no `Clone`, no serialisation: records do not travel. When they are dropped their memory is overwritten, so that it
/// does not lie about in what the process, or the next one, uses it for.
pub struct Records {
    features: Vec<f64>,
    columns: usize,
    targets: Vec<f64>,
    feature_bound: f64,
    strata: Strata,
    room: Mutex<Room>,
}

/// Memory of the size of a column or two that kernels work in. A table keeps it from one gradient to the next: asking the system for
/// pages anew takes longer than to fill them.
#[derive(Default)]
pub(crate) struct Room {
    pub(crate) scores: Vec<f64>,
    pub(crate) places: Vec<u32>,
}

impl Records {
    fn wipe(&mut self) {
        self.features.as_mut_slice().zeroize();
        self.targets.as_mut_slice().zeroize();
        let room = self.room.get_mut().unwrap_or_else(PoisonError::into_inner);
        room.scores.as_mut_slice().zeroize();
        room.places.as_mut_slice().zeroize();
    }

    /// The room, or an empty one while somebody else has it.
    pub(crate) fn take_room(&self) -> Room {
        std::mem::take(&mut *self.room.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps it for the next time.
    pub(crate) fn keep_room(&self, room: Room) {
        *self.room.lock().unwrap_or_else(PoisonError::into_inner) = room;
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl Records {
    /// Takes a row-major matrix and clips every row to `feature_bound`; a positive record gets the target +1, a
    /// negative one −1.
    ///
    /// # Errors
    /// [`RecordsError`] when the shapes do not fit.
    pub fn new(
        features: Vec<f64>,
        columns: usize,
        positive: Vec<bool>,
        feature_bound: f64,
    ) -> Result<Self, RecordsError> {
        let targets = positive.into_iter().map(|p| if p { 1.0 } else { -1.0 }).collect();
        Self::with_targets(features, columns, targets, feature_bound)
    }

    /// The same with class numbers, or with real targets; losses cut targets off at their own public bound.
    ///
    /// # Errors
    /// [`RecordsError`] when the shapes do not fit.
    pub fn with_targets(
        mut features: Vec<f64>,
        columns: usize,
        targets: Vec<f64>,
        feature_bound: f64,
    ) -> Result<Self, RecordsError> {
        if columns == 0 {
            return Err(RecordsError::NoFeatures);
        }
        if features.len() != columns * targets.len() {
            return Err(RecordsError::Shape { cells: features.len(), rows: targets.len(), columns });
        }
        for row in features.chunks_exact_mut(columns) {
            clip_row(row, feature_bound);
        }
        let strata = Strata::plain(targets.len());
        Ok(Self { features, columns, targets, feature_bound, strata, room: Mutex::default() })
    }

    /// The same, of persons with several records each.
    ///
    /// # Panics
    /// If the strata are of another number of rows: a mistake of the caller.
    #[must_use]
    pub fn weighed(mut self, strata: Strata) -> Self {
        assert_eq!(strata.rows(), self.len(), "strata of these rows");
        self.strata = strata;
        self
    }

    /// What each record counts.
    pub fn strata(&self) -> &Strata {
        &self.strata
    }

    /// How many records or, where persons are protected, how many persons sums are divided by. It is public.
    pub fn size(&self) -> usize {
        self.strata.size()
    }

    /// Rows: n, which is public where records are protected and their number is, and secret where persons are.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Features a record has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The public bound that every row was clipped to.
    pub fn feature_bound(&self) -> f64 {
        self.feature_bound
    }

    /// The features, row-major.
    pub fn features(&self) -> &[f64] {
        &self.features
    }

    /// The features of one record.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.features[index * self.columns..(index + 1) * self.columns]
    }

    /// The records at these positions, in this order, as a table of its own.
    ///
    /// # Panics
    /// If a position is out of range: a mistake of the caller.
    #[must_use]
    pub fn select(&self, positions: &[u32]) -> Self {
        let mut some = Self {
            features: Vec::with_capacity(positions.len() * self.columns),
            columns: self.columns,
            targets: Vec::with_capacity(positions.len()),
            feature_bound: self.feature_bound,
            strata: self.strata.select(positions),
            room: Mutex::default(),
        };
        self.append(positions, &mut some);
        some
    }

    /// The same in place of what a table selected from this one held, if both select as many.
    ///
    /// # Panics
    /// As [`Records::select`], and if it holds another number of records, which would not be wiped.
    pub fn select_into(&self, positions: &[u32], other: &mut Self) {
        assert_eq!((other.len(), other.columns), (positions.len(), self.columns), "a table of this shape");
        other.features.clear();
        other.targets.clear();
        other.strata = self.strata.select(positions);
        self.append(positions, other);
    }

    /// Adds records at the end, where there is room for them: nothing moves that would have to be wiped.
    fn append(&self, positions: &[u32], other: &mut Self) {
        for &position in positions {
            other.features.extend_from_slice(self.row(position as usize));
            other.targets.push(self.targets[position as usize]);
        }
    }

    /// The targets.
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_wiped() {
        let mut records = Records::new(vec![0.5, -0.25], 1, vec![true, false], 1.0).unwrap();
        assert!(records.features.iter().chain(&records.targets).all(|value| *value != 0.0));
        // All that dropping does, before the memory is given back.
        records.wipe();
        assert_eq!((records.features.len(), records.targets.len()), (2, 2));
        assert!(records.features.iter().chain(&records.targets).all(|value| *value == 0.0));
    }
}
