//! Where predictions go: text with commas, JSON, or a Parquet file; none of them holds more than a piece of the table.

use super::{Cell, Column};
use crate::failure::Failure;
use crate::output::{Output, PARQUET_MARK, Stream};
use crate::printer::Printer;
use pairdp_data::{ParquetWriter, WrittenColumn};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Where rows go.
pub(super) struct Sink<'a> {
    columns: Vec<Column>,
    way: Way<'a>,
}

enum Way<'a> {
    /// Lines with commas, and their header until it is printed: nothing is, where the table is refused.
    Printed(&'a Printer, Option<String>),
    /// JSON, with its beginning until that is printed.
    Json(&'a Printer, Option<String>),
    Csv(PathBuf, Stream),
    Parquet(PathBuf, Box<ParquetWriter<Stream>>),
}

impl<'a> Sink<'a> {
    /// Begins; what is printed begins with the first row. The ending of a file's name says what it will be.
    pub(super) fn new(
        out: Option<Output>,
        printer: &'a Printer,
        columns: Vec<Column>,
    ) -> Result<Self, Failure> {
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let header = || names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",") + "\n";
        let way = match out {
            None if printer.json() => {
                Way::Json(printer, Some(format!("{{\"columns\":{},\"rows\":[", json!(names))))
            }
            None => Way::Printed(printer, Some(header())),
            Some(out) if is_parquet(out.path()) => {
                let path = out.path().to_owned();
                let columns = by_column(&columns, Vec::new());
                let writer = ParquetWriter::new(out.stream(), PARQUET_MARK, &names, columns);
                let writer = written(&path, writer)?;
                Way::Parquet(path, Box::new(writer))
            }
            Some(out) => {
                let (path, mut stream) = (out.path().to_owned(), out.stream());
                written(&path, stream.write_all(header().as_bytes()))?;
                Way::Csv(path, stream)
            }
        };
        Ok(Self { columns, way })
    }

    pub(super) fn write(&mut self, rows: Vec<Vec<Cell<'_>>>) -> Result<(), Failure> {
        match &mut self.way {
            _ if rows.is_empty() => Ok(()),
            Way::Printed(printer, header) => {
                printer.data(&(header.take().unwrap_or_default() + &csv(&rows)));
                printer.check()
            }
            Way::Json(printer, beginning) => {
                let text: Vec<String> = rows.iter().map(|row| json(row).to_string()).collect();
                let before = beginning.take().unwrap_or_else(|| ",".into());
                printer.data(&(before + &text.join(",")));
                printer.check()
            }
            Way::Csv(path, stream) => written(path, stream.write_all(csv(&rows).as_bytes())),
            Way::Parquet(path, writer) => written(path, writer.write(by_column(&self.columns, rows))),
        }
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        match self.way {
            Way::Printed(printer, header) => {
                printer.data(&header.unwrap_or_default());
                Ok(())
            }
            Way::Json(printer, beginning) => {
                printer.data(&(beginning.unwrap_or_default() + "]}\n"));
                Ok(())
            }
            Way::Csv(_, stream) => stream.finish(),
            Way::Parquet(path, writer) => written(&path, writer.finish())?.finish(),
        }
    }
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"))
}

fn written<T>(path: &Path, outcome: io::Result<T>) -> Result<T, Failure> {
    outcome.map_err(|error| Failure::write(path, &error))
}

fn by_column(columns: &[Column], rows: Vec<Vec<Cell<'_>>>) -> Vec<WrittenColumn> {
    let count = rows.len();
    let empty = |column: &Column| {
        if column.number {
            WrittenColumn::Numbers(Vec::with_capacity(count))
        } else {
            WrittenColumn::Texts(Vec::with_capacity(count))
        }
    };
    let mut filled: Vec<WrittenColumn> = columns.iter().map(empty).collect();
    for row in rows {
        for (column, cell) in filled.iter_mut().zip(row) {
            match (column, cell) {
                (WrittenColumn::Numbers(cells), Cell::Number(value)) => cells.push(Some(value)),
                (WrittenColumn::Numbers(cells), _) => cells.push(None),
                (WrittenColumn::Texts(cells), Cell::Text(text)) => cells.push(Some(text.into_owned())),
                (WrittenColumn::Texts(cells), _) => cells.push(None),
            }
        }
    }
    filled
}

fn csv(rows: &[Vec<Cell<'_>>]) -> String {
    let mut text = String::new();
    for row in rows {
        if matches!(row[..], [Cell::Empty]) {
            // A line with nothing on it would be no row.
            text += "\"\"\n";
            continue;
        }
        for (k, cell) in row.iter().enumerate() {
            let comma = if k > 0 { "," } else { "" };
            let _ = match cell {
                Cell::Number(value) => write!(text, "{comma}{value}"),
                Cell::Text(value) => write!(text, "{comma}{}", quoted(value)),
                Cell::Empty => write!(text, "{comma}"),
            };
        }
        text.push('\n');
    }
    text
}

fn json(row: &[Cell<'_>]) -> Value {
    let cell = |cell: &Cell<'_>| match cell {
        Cell::Number(value) => json!(value),
        Cell::Text(value) => json!(value),
        Cell::Empty => Value::Null,
    };
    row.iter().map(cell).collect()
}

/// A cell of a CSV file.
fn quoted(cell: &str) -> String {
    // A spreadsheet runs what begins like this, unless it is a number.
    let runs = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.trim().parse::<f64>().is_err();
    if runs {
        return quoted(&format!("'{cell}"));
    }
    if cell.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell.to_owned()
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn issue_22_10_no_cell_is_run_by_a_spreadsheet() {
        for (cell, written) in [
            ("yes", "yes"),
            ("-1", "-1"),
            ("+2.5e3", "+2.5e3"),
            ("a,b", "\"a,b\""),
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-cmd|' /C calc'!A0", "'-cmd|' /C calc'!A0"),
            ("=HYPERLINK(\"a\",1)", "\"'=HYPERLINK(\"\"a\"\",1)\""),
        ] {
            assert_eq!(quoted(cell), written);
        }
    }
}
