//! Tables that a program holds in columns, read by the same rules as files.

use crate::cell_encoder::{LabelRule, Rule};
use crate::error::CellProblem;
use crate::{Encoding, Label, Table};
use pairdp_units::signed_time::signed_time;

/// The cells of a column.
pub enum Cells {
    /// Numbers, of dates the days since 1970-01-01; where nothing is, NaN.
    Numbers(Vec<f64>),
    /// Texts, or nothing.
    Texts(Vec<Option<String>>),
}

/// A cell that is not what its column promises. It says where, never what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadCell {
    /// Its column.
    pub column: String,
    /// Its row, from 0.
    pub row: usize,
    /// What is wrong.
    pub what: CellProblem,
}

impl Cells {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(cells) => cells.len(),
            Self::Texts(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Encoding {
    /// Encodes cells, a column each, in the encoding's order.
    ///
    /// # Errors
    /// [`BadCell`], the first in the first such column.
    ///
    /// # Panics
    /// Unless there are as many columns as the encoding has, of one length.
    pub fn encode_cells(&self, columns: &[Cells]) -> Result<Table, BadCell> {
        assert_eq!(columns.len(), self.columns().len(), "a column for each of the encoding's");
        let rows = columns.first().map_or(0, Cells::len);
        assert!(columns.iter().all(|cells| cells.len() == rows), "columns of one length");
        let width = self.dimension();
        let mut table = Table::of_zeros(rows, width);
        for ((rule, cells), column) in Rule::all(self).iter().zip(columns).zip(self.columns()) {
            let bad = |(row, what)| BadCell { column: column.name.clone(), row, what };
            let lines = table.features.chunks_exact_mut(width).enumerate();
            match cells {
                Cells::Numbers(days) if rule.is_date() => lines
                    .zip(days)
                    .try_for_each(|((row, line), day)| rule.write_day(*day, line).map_err(|e| (row, e))),
                Cells::Numbers(cells) => lines
                    .zip(cells)
                    .try_for_each(|((row, line), cell)| rule.write_number(*cell, line).map_err(|e| (row, e))),
                Cells::Texts(cells) => lines.zip(cells).try_for_each(|((row, line), cell)| {
                    let written = match cell {
                        Some(text) => rule.write_text(text.as_bytes(), line),
                        None => rule.write_missing(line),
                    };
                    written.map_err(|e| (row, e))
                }),
            }
            .map_err(bad)?;
        }
        Ok(table)
    }
}

impl Label {
    /// The targets that cells of times, and of whether the event was seen, become.
    ///
    /// # Errors
    /// [`BadCell`], the first of the times or else of the events.
    pub fn read_times(&self, times: &Cells, events: &Cells) -> Result<Vec<f64>, BadCell> {
        let (mut targets, Some(known)) = (self.read_cells(times)?, self.times()) else {
            return Ok(Vec::new());
        };
        let event = |row: usize| match events {
            Cells::Numbers(cells) => known.read_event(&cells[row].to_string()),
            Cells::Texts(cells) => known.read_event(cells[row].as_deref().unwrap_or_default()),
        };
        for (row, target) in targets.iter_mut().enumerate().take(events.len()) {
            let bad = |what| BadCell { column: known.event.clone(), row, what };
            *target = signed_time(*target, event(row).map_err(bad)?, known.horizon);
        }
        Ok(targets)
    }

    /// The targets that cells become; for times, the times.
    ///
    /// # Errors
    /// [`BadCell`], the first.
    pub fn read_cells(&self, cells: &Cells) -> Result<Vec<f64>, BadCell> {
        let rule = LabelRule::new(self);
        let bad = |row| move |what| BadCell { column: self.column.clone(), row, what };
        match cells {
            Cells::Numbers(cells) => cells
                .iter()
                .enumerate()
                .map(|(row, cell)| rule.target_of_number(*cell).map_err(bad(row)))
                .collect(),
            Cells::Texts(cells) => {
                let target = |(row, cell): (usize, &Option<String>)| {
                    let cell = cell.as_deref().unwrap_or_default();
                    rule.target(cell.as_bytes()).map_err(bad(row))
                };
                cells.iter().enumerate().map(target).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LabelUse, Schema};

    const SCHEMA: &str = "[label]\ncolumn = 'ill'\npositive = 'yes'\nnegative = 0\n\
        [[column]]\nname = 'age'\nrange = [0, 100]\nmissing = 25\n\
        [[column]]\nname = 'ward'\ncategories = ['a', 7]\nother = true\n";

    fn texts(cells: &[&str]) -> Cells {
        Cells::Texts(cells.iter().map(|cell| (!cell.is_empty()).then(|| (*cell).to_owned())).collect())
    }

    #[test]
    fn columns_in_memory_are_read_as_files_are() {
        let schema = Schema::parse(SCHEMA).unwrap();
        let (encoding, label) = (Encoding::of(&schema), schema.label());
        let path = std::env::temp_dir().join(format!("pairdp-cells-{}.csv", std::process::id()));
        std::fs::write(&path, "age,ward,ill\n50,a,yes\n,7.0,0\n1e9,c,0\n 75 ,7, yes\n").unwrap();
        let read = Table::read(&path, &encoding, LabelUse::Read(label)).unwrap();
        std::fs::remove_file(&path).unwrap();
        let numbers = [Cells::Numbers(vec![50.0, f64::NAN, 1e9, 75.0]), texts(&["a", "7.0", "c", "7"])];
        for columns in [numbers, [texts(&["50", "", "1e9", " 75 "]), texts(&["a", "7.0", "c", "7"])]] {
            let table = encoding.encode_cells(&columns).unwrap();
            assert_eq!((table.rows, table.columns), (read.rows, read.columns));
            assert_eq!(table.features, read.features);
        }
        assert_eq!(label.read_cells(&texts(&["yes", "0", "0.0", " yes"])).unwrap(), read.targets);
        let seven = encoding.encode_cells(&[texts(&["50"]), Cells::Numbers(vec![7.0])]).unwrap();
        assert_eq!(seven.features, [0.0, 0.0, 1.0, 0.0]);
        let own = Schema::parse(&SCHEMA.replace("missing = 25", "missing = 'own'")).unwrap();
        let ward = || texts(&["a", "c"]);
        for age in [Cells::Numbers(vec![75.0, f64::NAN]), texts(&["75", ""]), texts(&["75", " nan "])] {
            let table = Encoding::of(&own).encode_cells(&[age, ward()]).unwrap();
            assert_eq!(table.features, [0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        }
    }

    /// In whichever order the two columns are, and beyond the horizon.
    #[test]
    fn times_and_events_are_read_as_files_are() {
        let schema = Schema::parse(
            "[label]\ntime = 'days'\nevent = 'died'\noccurred = 'yes'\ncensored = 0\nhorizon = 100\n\
             [[column]]\nname = 'age'\nrange = [0, 100]\n",
        )
        .unwrap();
        let (encoding, label) = (Encoding::of(&schema), schema.label());
        let expected = [1.5, -1.25, -2.0, 2.0, -1.0];
        let path = std::env::temp_dir().join(format!("pairdp-times-{}.csv", std::process::id()));
        for text in [
            "age,days,died\n1,50,yes\n2,25,0\n3,101,yes\n4,100,yes\n5,0,0.0\n",
            "died,age,days\nyes,1,50\n0,2,25\n\"yes\",3,101\nyes,4,1e2\n0.0,5,0\n",
        ] {
            std::fs::write(&path, text).unwrap();
            let read = Table::read(&path, &encoding, LabelUse::Read(label)).unwrap();
            assert_eq!(read.targets, expected);
        }
        for (text, what) in [
            ("age,days,died\n1,50,yes\n2,-1,0\n", "line 3, column `days`: a time is a number of at least 0"),
            ("age,days,died\n1,50,no\n", "line 2, column `died`: neither of the two values"),
            ("age,days,died\n1,,0\n", "column `days`: the label is empty"),
            ("age,days,died\n1,nan,0\n", "column `days`: a time is a number"),
            ("age,days,died\n1,2,\n", "column `died`: neither of the two values"),
            ("age,days\n1,2\n", "`died`"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Table::read(&path, &encoding, LabelUse::Read(label)).err().unwrap().to_string();
            assert!(error.contains(what), "{error}");
        }
        std::fs::remove_file(&path).unwrap();
        let times = Cells::Numbers(vec![50.0, 25.0, 101.0, 100.0, 0.0]);
        let found = label.read_times(&times, &texts(&["yes", "0", "yes", "yes", "0"])).unwrap();
        assert_eq!(found, expected);
        let bad = label.read_times(&times, &texts(&["yes", "0", "", "yes", "0"])).unwrap_err();
        assert_eq!(bad, BadCell { column: "died".into(), row: 2, what: CellProblem::UnknownEvent });
    }

    #[test]
    fn bad_cells_are_placed_and_not_quoted() {
        let schema = Schema::parse(SCHEMA).unwrap();
        let encoding = Encoding::of(&schema);
        let bad = |columns: [Cells; 2]| encoding.encode_cells(&columns).err().unwrap();
        let found = bad([texts(&["1", "old"]), texts(&["a", "a"])]);
        assert_eq!(found, BadCell { column: "age".into(), row: 1, what: CellProblem::NotANumber });
        let found = bad([Cells::Numbers(vec![1.0, 2.0]), texts(&["a", ""])]);
        assert_eq!(found, BadCell { column: "ward".into(), row: 1, what: CellProblem::Missing });
        let found = schema.label().read_cells(&texts(&["yes", "maybe"])).unwrap_err();
        assert_eq!(found, BadCell { column: "ill".into(), row: 1, what: CellProblem::UnknownLabel });
        let found = schema.label().read_cells(&Cells::Numbers(vec![f64::NAN])).unwrap_err();
        assert_eq!(found, BadCell { column: "ill".into(), row: 0, what: CellProblem::MissingLabel });
    }
}
