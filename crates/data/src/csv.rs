//! CSV: a header, then a record a line; cells between commas (or what the schema says), quoted where they hold commas, quotes or line ends.
//!
//! Written here rather than taken from a crate, because a table is read once and each cell goes straight into the
//! matrix: most cells are short numbers, and those are parsed in a few words of eight bytes.

mod ends;
mod header;
mod quotes;
mod records;

use crate::cell_encoder::CellEncoder;
use crate::lines::{self, LineProblem, Part};
use crate::source::Source;
use crate::{DataError, Encoding, PersonColumn, Piece, Table};
pub(crate) use header::Header;
use records::{Cell, CsvLines};

/// Reads a table.
pub(crate) fn read(mut source: Source, rules: &CellEncoder<'_>) -> Result<(Table, Vec<u32>), DataError> {
    let style = rules.encoding.text_style();
    let header = Header::read(&mut source, style.delimiter)?;
    let cells = header.cells(&source, rules)?;
    let lines = CsvLines::new(cells, rules);
    lines::read(source, header.rest, header.lines + 1, rules, &lines)
}

/// Reads a table part by part, with the cells of some columns as they are.
pub(crate) fn in_parts<E: From<DataError>>(
    mut source: Source,
    rules: &CellEncoder<'_>,
    keep: &[PersonColumn],
    take: impl FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let style = rules.encoding.text_style();
    let header = Header::read(&mut source, style.delimiter)?;
    let lines = CsvLines::new(header.cells(&source, rules)?, rules);
    let nothing = Encoding::of_nothing(style);
    let kept = |column| header.cells(&source, &CellEncoder::keeping(&nothing, column));
    let kept: Vec<Vec<Cell>> = keep.iter().map(kept).collect::<Result<_, DataError>>()?;
    let width = rules.encoding.dimension();
    let read = |part: Part<'_>| {
        let (table, _) = part.rows(&lines, rules)?;
        let cells = keep.iter().zip(&kept).map(|(column, cells)| {
            let rules = CellEncoder::keeping(&nothing, column);
            let lines = CsvLines::new(cells.clone(), &rules);
            let (_, numbers) = part.rows(&lines, &rules)?;
            Ok(rules.kept(numbers))
        });
        Ok(Piece::new(table, cells.collect::<Result<_, LineProblem>>()?))
    };
    lines::in_parts(source, header.rest.clone(), header.lines + 1, width, &lines, read, take)
}

/// Whether the header has the columns that are to be read; returns its names.
pub(crate) fn check(mut source: Source, rules: &CellEncoder<'_>) -> Result<Vec<String>, DataError> {
    let header = Header::read(&mut source, rules.encoding.text_style().delimiter)?;
    header.cells(&source, rules)?;
    Ok(header.names)
}
