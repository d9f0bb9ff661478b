//! The private table, in the form that kernels read.

use crate::clip_row;
use pairdp_units::Hint;

/// A table that has the wrong shape. These are facts about its form, never about its content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The matrix is not rows × columns.
    #[error("{cells} cells do not make {rows} rows of {columns} features")]
    Shape {
        /// Cells given.
        cells: usize,
        /// Rows expected, from the labels.
        rows: usize,
        /// Features a row.
        columns: usize,
    },
    /// No feature at all.
    #[error("a record needs at least one feature")]
    NoFeatures,
}

impl Hint for RecordsError {
    fn hint(&self) -> Option<String> {
        None
    }
}

/// Records with features of norm at most κ and a binary label.
///
/// No `Debug`, no `Clone`, no serialisation: records do not travel.
pub struct Records {
    features: Vec<f64>,
    columns: usize,
    positive: Vec<bool>,
}

impl Records {
    /// Takes a row-major matrix and clips every row to `feature_bound`.
    ///
    /// # Errors
    /// [`RecordsError`] when the shapes do not fit.
    pub fn new(
        mut features: Vec<f64>,
        columns: usize,
        positive: Vec<bool>,
        feature_bound: f64,
    ) -> Result<Self, RecordsError> {
        if columns == 0 {
            return Err(RecordsError::NoFeatures);
        }
        if features.len() != columns * positive.len() {
            return Err(RecordsError::Shape { cells: features.len(), rows: positive.len(), columns });
        }
        for row in features.chunks_exact_mut(columns) {
            clip_row(row, feature_bound);
        }
        Ok(Self { features, columns, positive })
    }

    /// n, which is public under replace-one adjacency.
    pub fn len(&self) -> usize {
        self.positive.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.positive.is_empty()
    }

    /// Features a record has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The features, row by row.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.features.chunks_exact(self.columns)
    }

    /// Which records are positive.
    pub fn positive(&self) -> &[bool] {
        &self.positive
    }

    /// The score w·x of every record: one function of the record and the parameters, the same code path and
    /// order of summation for every row, so that one record cannot change another's score by a rounding.
    pub fn scores(&self, parameters: &[f64]) -> Vec<f64> {
        self.rows().map(|row| score(row, parameters)).collect()
    }
}

/// w·x, in a fixed order.
pub fn score(row: &[f64], parameters: &[f64]) -> f64 {
    row.iter().zip(parameters).map(|(x, w)| x * w).sum()
}
