//! How a row becomes a vector.

use crate::cell_encoder::{Scale, Scales};
use crate::{Kind, Label, Missing, PersonColumn, Schema, Table, TextStyle};
use serde::{Deserialize, Serialize};

/// The public rules that turn a row into a vector: a number is cut off at its range and mapped to [−1, 1], a
/// category becomes a 1 in its place, and so does an empty cell that has one. It travels in the model file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encoding {
    columns: Vec<ColumnEncoding>,
    /// How text files with these columns are written.
    #[serde(default, skip_serializing_if = "TextStyle::is_usual")]
    text: TextStyle,
}

/// One column's rule.
pub type ColumnEncoding = crate::Column;

impl Encoding {
    /// The rules of a schema.
    pub fn of(schema: &Schema) -> Self {
        Self { columns: schema.columns().to_vec(), text: schema.style() }
    }

    /// Rules for a plain matrix whose columns have these ranges.
    ///
    /// # Errors
    /// One line that says which range is not one.
    pub fn of_ranges(ranges: impl IntoIterator<Item = [f64; 2]>) -> Result<Self, String> {
        let column = |(i, range)| {
            let column = ColumnEncoding::new(format!("x{i}"), Kind::Range(range));
            column.kind.check().map_err(|what| format!("column {i}: {what}"))?;
            Ok(column)
        };
        let columns = ranges.into_iter().enumerate().map(column).collect::<Result<_, String>>()?;
        Ok(Self { columns, text: TextStyle::default() })
    }

    /// Rules for vectors of so many entries that lie within ±1 already.
    pub fn unscaled(columns: usize) -> Self {
        let column = |i| ColumnEncoding::new(format!("x{i}"), Kind::Range([-1.0, 1.0]));
        Self { columns: (0..columns).map(column).collect(), text: TextStyle::default() }
    }

    /// No rules at all, for files of this style.
    pub(crate) fn of_nothing(text: TextStyle) -> Self {
        Self { columns: Vec::new(), text }
    }

    /// The same rules with other ranges of the numeric columns, in their order.
    #[must_use]
    pub fn with_ranges(&self, ranges: &[[f64; 2]]) -> Self {
        let (mut columns, mut ranges) = (self.columns.clone(), ranges.iter());
        for column in &mut columns {
            if let Kind::Range(range) = &mut column.kind
                && let Some(other) = ranges.next()
            {
                *range = *other;
            }
        }
        Self { columns, text: self.text }
    }

    /// The ranges of the numeric columns, in their order.
    pub fn ranges(&self) -> Vec<[f64; 2]> {
        let range = |column: &ColumnEncoding| match column.kind {
            Kind::Range(range) => Some(range),
            Kind::Categories(_) => None,
        };
        self.columns.iter().filter_map(range).collect()
    }

    /// How many columns hold numbers.
    pub fn numeric(&self) -> usize {
        self.ranges().len()
    }

    /// Encodes a row-major matrix of numbers.
    ///
    /// # Errors
    /// One line when the number of columns differs or a column is not numeric.
    pub fn encode_matrix(&self, cells: &[f64], columns: usize) -> Result<Table, String> {
        let rules = self.rules_of_matrix(columns)?;
        let mut table = Table::of_zeros(cells.len() / columns, self.dimension());
        self.encode_rows(&rules, cells, &mut table.features);
        Ok(table)
    }

    /// The same for a matrix that is stored otherwise: `copy` is asked for some rows after the other, from a place on, row-major. So there
    /// is no second matrix.
    ///
    /// # Errors
    /// As [`Encoding::encode_matrix`].
    pub fn encode_copied(
        &self,
        rows: usize,
        columns: usize,
        mut copy: impl FnMut(usize, &mut [f64]),
    ) -> Result<Table, String> {
        /// Rows that stay in a core's cache, wide ones too.
        const TOGETHER: usize = 256;
        let rules = self.rules_of_matrix(columns)?;
        let mut table = Table::of_zeros(rows, self.dimension());
        let mut cells = vec![0.0; TOGETHER * columns];
        for (index, out) in table.features.chunks_mut(TOGETHER * table.columns).enumerate() {
            let cells = &mut cells[..out.len() / table.columns * columns];
            copy(index * TOGETHER, cells);
            self.encode_rows(&rules, cells, out);
        }
        Ok(table)
    }

    /// How to scale each column of a matrix, and what stands for NaN, unless that has a column of its own.
    fn rules_of_matrix(&self, columns: usize) -> Result<Vec<(Scale, Option<f64>)>, String> {
        let scaled = |column: &ColumnEncoding| match (&column.kind, &column.missing) {
            _ if column.date => Err(format!("column `{}` holds dates, not numbers", column.name)),
            (Kind::Range(range), Some(Missing::Number(missing))) => Ok((Scale::new(*range), Some(*missing))),
            (Kind::Range(range), Some(Missing::Own)) => Ok((Scale::new(*range), None)),
            (Kind::Range(range), _) => Ok((Scale::new(*range), Some(f64::NAN))),
            (Kind::Categories(_), _) => {
                Err(format!("column `{}` holds categories, not numbers", column.name))
            }
        };
        let scales = self.columns.iter().map(scaled).collect::<Result<Vec<_>, _>>()?;
        if scales.len() != columns || columns == 0 {
            return Err(format!("{columns} columns where the model has {}", scales.len()));
        }
        Ok(scales)
    }

    fn encode_rows(&self, rules: &[(Scale, Option<f64>)], cells: &[f64], out: &mut [f64]) {
        let (columns, width) = (rules.len(), self.dimension());
        if width == columns {
            // No column of its own for what is missing: a cell for a cell.
            let plain: Vec<_> =
                rules.iter().map(|(scale, missing)| (*scale, missing.unwrap_or(f64::NAN))).collect();
            Scales::new(&plain).apply(cells, out);
            return;
        }
        for (row, out) in cells.chunks_exact(columns).zip(out.chunks_exact_mut(width)) {
            let mut out = out.iter_mut();
            let mut put = |value| out.next().into_iter().for_each(|entry| *entry = value);
            for (value, (scale, missing)) in row.iter().zip(rules) {
                match missing {
                    Some(missing) => put(scale.apply(if value.is_nan() { *missing } else { *value })),
                    None if value.is_nan() => [0.0, 1.0].into_iter().for_each(&mut put),
                    None => [scale.apply(*value), 0.0].into_iter().for_each(&mut put),
                }
            }
        }
    }

    /// What decides which tables of this label are refused, as a text: names, ranges, categories, what empty cells count as, and
    /// the label's values. It is public, as all of these are; a ledger keeps its digest (`proofs/ledger.md`).
    ///
    /// # Errors
    /// One line for a number that JSON cannot hold, which no checked schema has.
    pub fn form(&self, label: &Label, person: Option<&PersonColumn>) -> Result<String, String> {
        // Which way scores go is about the model, and refuses no table.
        let plain = |column: &ColumnEncoding| ColumnEncoding { monotone: None, ..column.clone() };
        let columns: Vec<ColumnEncoding> = self.columns.iter().map(plain).collect();
        match person {
            // Written otherwise, the same tables are refused.
            _ if !self.text.is_usual() => serde_json::to_string(&(&columns, label, person, self.text)),
            None => serde_json::to_string(&(&columns, label)),
            Some(person) => serde_json::to_string(&(&columns, label, person)),
        }
        .map_err(|error| error.to_string())
    }

    /// Whether ranges and categories are what they must be; files can hold anything.
    ///
    /// # Errors
    /// One line that says which column is wrong.
    pub fn check(&self) -> Result<(), String> {
        self.text.check()?;
        self.columns.iter().try_for_each(ColumnEncoding::check)
    }

    /// How text files with these columns are written.
    pub fn text_style(&self) -> TextStyle {
        self.text
    }

    /// The columns it reads.
    pub fn columns(&self) -> &[ColumnEncoding] {
        &self.columns
    }

    /// Length of the vector.
    pub fn dimension(&self) -> usize {
        self.columns.iter().map(ColumnEncoding::width).sum()
    }

    /// A name for each entry of the vector.
    pub fn feature_names(&self) -> Vec<String> {
        let names = |column: &ColumnEncoding| match &column.kind {
            Kind::Range(_) if column.missing == Some(Missing::Own) => {
                vec![column.name.clone(), format!("{} missing", column.name)]
            }
            Kind::Range(_) => vec![column.name.clone()],
            Kind::Categories(values) => {
                let other = column.other.then(|| format!("{}≠", column.name));
                values.iter().map(|v| format!("{}={v}", column.name)).chain(other).collect()
            }
        };
        self.columns.iter().flat_map(names).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_land_in_the_unit_interval(v in any::<f64>(), a in -1e300..1e300_f64, b in -1e300..1e300_f64) {
            prop_assume!(v.is_finite() && a < b);
            let scaled = Scale::new([a, b]).apply(v);
            prop_assert!((-1.0 - 1e-9..=1.0 + 1e-9).contains(&scaled), "{}", scaled);
        }
    }

    #[test]
    fn a_matrix_is_encoded_by_public_rules() {
        let mut encoding = Encoding::of_ranges([[0.0, 10.0], [0.0, 10.0]]).unwrap();
        encoding.columns[1].missing = Some(Missing::Number(2.5));
        let table = encoding.encode_matrix(&[7.5, 1e9, -3.0, f64::NAN], 2).unwrap();
        assert_eq!((table.rows, table.features), (2, vec![0.5, 1.0, -1.0, -0.5]));
        assert!(encoding.encode_matrix(&[0.0; 3], 3).is_err());
        encoding.columns[0].missing = Some(Missing::Own);
        let table = encoding.encode_matrix(&[7.5, 1e9, f64::NAN, f64::NAN], 2).unwrap();
        assert_eq!((table.rows, table.columns), (2, 3));
        assert_eq!(table.features, [0.5, 0.0, 1.0, 0.0, 1.0, -0.5]);
        assert_eq!(encoding.feature_names(), ["x0", "x0 missing", "x1"]);
    }

    /// In whatever order a matrix lies, over more rows than are copied together, with and without places for what is missing; and there is
    /// room for one entry more a row.
    #[test]
    fn a_copied_matrix_is_the_same_table() {
        let mut encoding = Encoding::of_ranges([[0.0, 10.0], [-1.0, 1.0], [2.0, 3.0]]).unwrap();
        for missing in [None, Some(Missing::Number(2.5)), Some(Missing::Own)] {
            encoding.columns[1].missing = missing;
            for rows in [0, 1, 255, 256, 257, 1000] {
                let cell = |row: usize, column: usize| {
                    if (row + column).is_multiple_of(7) {
                        f64::NAN
                    } else {
                        (row * 31 % 17 * column) as f64 - 3.0
                    }
                };
                let cells: Vec<f64> = (0..3 * rows).map(|at| cell(at / 3, at % 3)).collect();
                let whole = encoding.encode_matrix(&cells, 3).unwrap();
                let copied = encoding.encode_copied(rows, 3, |first, out| {
                    (0..out.len()).for_each(|at| out[at] = cell(first + at / 3, at % 3));
                });
                let copied = copied.unwrap();
                assert_eq!((whole.rows, whole.columns), (copied.rows, copied.columns));
                let bits = |table: &Table| table.features.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&whole), bits(&copied));
                assert!(copied.features.capacity() >= rows * (copied.columns + 1));
            }
        }
        assert!(encoding.encode_copied(1, 2, |_, _| unreachable!("of another shape")).is_err());
    }
}
