//! How a row becomes a vector.

use crate::error::CellProblem;
use crate::{Kind, Schema, Table};
use pairdp_units::directed::{larger, smaller};
use serde::{Deserialize, Serialize};

/// The public rules that turn a row into a vector: a number is cut off at its range and mapped to [−1, 1], a
/// category becomes a 1 in its place. It travels in the model file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encoding {
    columns: Vec<ColumnEncoding>,
}

/// One column's rule.
pub type ColumnEncoding = crate::Column;

impl Encoding {
    /// The rules of a schema.
    pub fn of(schema: &Schema) -> Self {
        Self { columns: schema.columns().to_vec() }
    }

    /// Rules for a plain matrix whose columns have these ranges.
    ///
    /// # Errors
    /// One line that says which range is not one.
    pub fn of_ranges(ranges: impl IntoIterator<Item = [f64; 2]>) -> Result<Self, String> {
        let column = |(i, range)| {
            let column = ColumnEncoding { name: format!("x{i}"), kind: Kind::Range(range) };
            column.kind.check().map_err(|what| format!("column {i}: {what}"))?;
            Ok(column)
        };
        Ok(Self { columns: ranges.into_iter().enumerate().map(column).collect::<Result<_, String>>()? })
    }

    /// Encodes a row-major matrix of numbers.
    ///
    /// # Errors
    /// One line when the number of columns differs or a column is not numeric.
    pub fn encode_matrix(&self, cells: &[f64], columns: usize) -> Result<Table, String> {
        let ranges = self
            .columns
            .iter()
            .map(|column| match column.kind {
                Kind::Range(range) => Ok(range),
                Kind::Categories(_) => Err(format!("column `{}` holds categories, not numbers", column.name)),
            })
            .collect::<Result<Vec<_>, _>>()?;
        if ranges.len() != columns || columns == 0 {
            return Err(format!("{columns} columns where the model has {}", ranges.len()));
        }
        let encode =
            |row: &[f64]| row.iter().zip(&ranges).map(|(v, range)| scale(*v, *range)).collect::<Vec<_>>();
        let features: Vec<f64> = cells.chunks_exact(columns).flat_map(encode).collect();
        let rows = features.len() / columns;
        Ok(Table { features, columns, targets: Vec::new(), rows })
    }

    /// Whether ranges and categories are what they must be; files can hold anything.
    ///
    /// # Errors
    /// One line that says which column is wrong.
    pub fn check(&self) -> Result<(), String> {
        let one = |column: &ColumnEncoding| {
            column.kind.check().map_err(|what| format!("column `{}`: {what}", column.name))
        };
        self.columns.iter().try_for_each(one)
    }

    /// The columns it reads.
    pub fn columns(&self) -> &[ColumnEncoding] {
        &self.columns
    }

    /// Length of the vector.
    pub fn dimension(&self) -> usize {
        self.columns.iter().map(|column| column.kind.width()).sum()
    }

    /// A name for each entry of the vector.
    pub fn feature_names(&self) -> Vec<String> {
        let names = |column: &ColumnEncoding| match &column.kind {
            Kind::Range(_) => vec![column.name.clone()],
            Kind::Categories(values) => values.iter().map(|v| format!("{}={v}", column.name)).collect(),
        };
        self.columns.iter().flat_map(names).collect()
    }
}

impl Kind {
    /// Entries of the vector that a column of this kind takes.
    pub fn width(&self) -> usize {
        match self {
            Self::Range(_) => 1,
            Self::Categories(values) => values.len(),
        }
    }

    /// Appends a cell's entries.
    pub(crate) fn encode(&self, cell: &str, vector: &mut Vec<f64>) -> Result<(), CellProblem> {
        match self {
            Self::Range(range) => {
                let value: f64 = cell.trim().parse().map_err(|_| CellProblem::NotANumber)?;
                if !value.is_finite() {
                    return Err(CellProblem::NotFinite);
                }
                vector.push(scale(value, *range));
            }
            Self::Categories(values) => {
                let cell = cell.trim();
                vector.extend(values.iter().map(|value| if value == cell { 1.0 } else { 0.0 }));
            }
        }
        Ok(())
    }
}

/// Cuts a number off at its range and maps the range to [−1, 1].
pub(crate) fn scale(value: f64, [low, high]: [f64; 2]) -> f64 {
    let inside = larger(low, smaller(value, high));
    // Halves first: high − low could overflow.
    (inside - (low / 2.0 + high / 2.0)) / (high / 2.0 - low / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_land_in_the_unit_interval(v in any::<f64>(), a in -1e300..1e300_f64, b in -1e300..1e300_f64) {
            prop_assume!(v.is_finite() && a < b);
            let scaled = scale(v, [a, b]);
            prop_assert!((-1.0 - 1e-9..=1.0 + 1e-9).contains(&scaled), "{}", scaled);
        }
    }

    #[test]
    fn cells_are_encoded_by_public_rules() {
        let mut vector = Vec::new();
        Kind::Range([0.0, 10.0]).encode(" 7.5", &mut vector).unwrap();
        Kind::Range([0.0, 10.0]).encode("1e9", &mut vector).unwrap();
        Kind::Categories(vec!["a".into(), "b".into()]).encode("b", &mut vector).unwrap();
        Kind::Categories(vec!["a".into(), "b".into()]).encode("unseen", &mut vector).unwrap();
        assert_eq!(vector, [0.5, 1.0, 0.0, 1.0, 0.0, 0.0]);
        assert_eq!(Kind::Range([0.0, 1.0]).encode("", &mut vector), Err(CellProblem::NotANumber));
        assert_eq!(Kind::Range([0.0, 1.0]).encode("NaN", &mut vector), Err(CellProblem::NotFinite));
    }
}
