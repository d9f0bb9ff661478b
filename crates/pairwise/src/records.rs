//! The private table, in the form that kernels read.

use crate::clip::clip_row;
use pairdp_units::{FrontEnd, Hint};

/// How a feature is stored. Sums are always taken in `f64`.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The value in double precision, exactly.
    fn wide(self) -> f64;
    /// The nearest stored value that is not larger in absolute value.
    fn narrow(value: f64) -> Self;
    /// The values in double precision: the slice itself where that is how they are stored, else a copy in `buffer`.
    fn widen<'a>(values: &'a [Self], buffer: &'a mut Vec<f64>) -> &'a [f64];
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Element for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    fn narrow(value: f64) -> Self {
        value
    }
    fn widen<'a>(values: &'a [Self], _: &'a mut Vec<f64>) -> &'a [f64] {
        values
    }
}

impl Element for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
    fn narrow(value: f64) -> Self {
        let nearest = value as f32;
        // Towards zero, so that a clipped row stays within its bound.
        if f64::from(nearest).abs() > value.abs() {
            if nearest > 0.0 { nearest.next_down() } else { nearest.next_up() }
        } else {
            nearest
        }
    }
    fn widen<'a>(values: &'a [Self], buffer: &'a mut Vec<f64>) -> &'a [f64] {
        buffer.clear();
        buffer.extend(values.iter().map(|v| v.wide()));
        buffer
    }
}

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
/// No `Debug`, no `Clone`, no serialisation: records do not travel.
pub struct Records<E: Element = f64> {
    features: Vec<E>,
    columns: usize,
    targets: Vec<f64>,
    feature_bound: f64,
}

impl Records<f64> {
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
        Ok(Self { features, columns, targets, feature_bound })
    }

    /// The same table stored in single precision, at half the memory.
    pub fn to_single(self) -> Records<f32> {
        Records {
            features: self.features.into_iter().map(f32::narrow).collect(),
            columns: self.columns,
            targets: self.targets,
            feature_bound: self.feature_bound,
        }
    }
}

impl<E: Element> Records<E> {
    /// n, which is public under replace-one adjacency.
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
    pub fn features(&self) -> &[E] {
        &self.features
    }

    /// The features of one record.
    pub fn row(&self, index: usize) -> &[E] {
        &self.features[index * self.columns..(index + 1) * self.columns]
    }

    /// The records at these positions, in this order, as a table of its own.
    ///
    /// # Panics
    /// If a position is out of range: a mistake of the caller.
    #[must_use]
    pub fn select(&self, positions: &[u32]) -> Self {
        let rows = positions.iter().flat_map(|&i| self.row(i as usize)).copied();
        Self {
            features: rows.collect(),
            columns: self.columns,
            targets: positions.iter().map(|&i| self.targets[i as usize]).collect(),
            feature_bound: self.feature_bound,
        }
    }

    /// The targets.
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }
}
