//! Parquet files that are written: columns of numbers and texts, row group by row group.

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a group: what is in memory until it is written.
const GROUP: usize = 1 << 16;

/// A column in the making; where nothing is, `None`.
#[derive(Debug, Clone, PartialEq)]
pub enum WrittenColumn {
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<Option<String>>),
}

impl WrittenColumn {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(cells) => cells.len(),
            Self::Texts(cells) => cells.len(),
        }
    }

    fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Numbers(cells), Self::Numbers(mut more)) => cells.append(&mut more),
            (Self::Texts(cells), Self::Texts(mut more)) => cells.append(&mut more),
            (cells, more) => *cells = more,
        }
    }

    fn take(&mut self) -> Self {
        match self {
            Self::Numbers(cells) => Self::Numbers(std::mem::take(cells)),
            Self::Texts(cells) => Self::Texts(std::mem::take(cells)),
        }
    }
}

/// A Parquet file in the making.
pub struct ParquetWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    waiting: Vec<WrittenColumn>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// A file of these columns; `by` says in it who wrote it. Columns without cells say what they will hold.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn new(to: W, by: &str, names: &[String], columns: Vec<WrittenColumn>) -> io::Result<Self> {
        let schema = schema(names, &columns).map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_created_by(by.to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = SerializedFileWriter::new(to, schema, Arc::new(properties)).map_err(failed)?;
        Ok(Self { writer, waiting: columns })
    }

    /// More rows: a column each, of one length.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn write(&mut self, columns: Vec<WrittenColumn>) -> io::Result<()> {
        self.waiting.iter_mut().zip(columns).for_each(|(waiting, more)| waiting.append(more));
        if self.waiting.first().is_some_and(|column| column.len() >= GROUP) { self.flush() } else { Ok(()) }
    }

    /// The rest, and the footer, without which there is no file.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.writer.into_inner().map_err(failed)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.first().is_none_or(|column| column.len() == 0) {
            return Ok(());
        }
        let columns: Vec<WrittenColumn> = self.waiting.iter_mut().map(WrittenColumn::take).collect();
        self.group(&columns).map_err(failed)
    }

    fn group(&mut self, columns: &[WrittenColumn]) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for cells in columns {
            let Some(mut column) = group.next_column()? else { break };
            match (column.untyped(), cells) {
                (ColumnWriter::DoubleColumnWriter(writer), WrittenColumn::Numbers(cells)) => {
                    let (levels, values) = present(cells, |value| *value);
                    writer.write_batch(&values, Some(&levels), None)?;
                }
                (ColumnWriter::ByteArrayColumnWriter(writer), WrittenColumn::Texts(cells)) => {
                    let (levels, values) = present(cells, |text| ByteArray::from(text.as_str()));
                    writer.write_batch(&values, Some(&levels), None)?;
                }
                _ => return Err(ParquetError::General("a column of another type".into())),
            }
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

fn schema(names: &[String], columns: &[WrittenColumn]) -> Result<TypePtr> {
    let field = |(name, column): (&String, &WrittenColumn)| -> Result<TypePtr> {
        let (physical, logical) = match column {
            WrittenColumn::Numbers(_) => (Physical::DOUBLE, None),
            WrittenColumn::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        Ok(Arc::new(builder.with_logical_type(logical).build()?))
    };
    let fields = names.iter().zip(columns).map(field).collect::<Result<_>>()?;
    Ok(Arc::new(Type::group_type_builder("table").with_fields(fields).build()?))
}

/// Which cells are there, and their values.
fn present<T, V>(cells: &[Option<T>], value: impl Fn(&T) -> V) -> (Vec<i16>, Vec<V>) {
    let levels = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    (levels, cells.iter().flatten().map(value).collect())
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, Schema, Survey};

    /// More than a row group, with cells that are not there.
    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let names = ["a".to_owned(), "b".to_owned()];
        let empty = vec![WrittenColumn::Numbers(Vec::new()), WrittenColumn::Texts(Vec::new())];
        let mut writer =
            ParquetWriter::new(std::fs::File::create(&path).unwrap(), "test", &names, empty).unwrap();
        let (mut expected, rows) = (Vec::new(), 50_000);
        for batch in 0..3 {
            let number = |row: usize| (!row.is_multiple_of(7)).then_some((row + batch) as f64);
            let text = |row: usize| (!row.is_multiple_of(5)).then(|| format!("é {row}"));
            writer
                .write(vec![
                    WrittenColumn::Numbers((0..rows).map(number).collect()),
                    WrittenColumn::Texts((0..rows).map(text).collect()),
                ])
                .unwrap();
            expected.extend((0..rows).map(|row| (number(row), text(row).unwrap_or_default())));
        }
        writer.finish().unwrap();
        let schema = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n\
            [[column]]\nname = 'a'\nrange = [-1e6, 1e6]\nmissing = 'own'\n";
        let encoding = Encoding::of(&Schema::parse(schema).unwrap());
        let mut pieces = 0;
        let (mut cells, mut features) = (Vec::new(), Vec::new());
        Survey::in_pieces(&path, &encoding, &["b".to_owned()], &Arc::default(), |piece| {
            pieces += 1;
            features.extend(piece.table.features);
            cells.extend(piece.kept.into_iter().next().unwrap());
            Ok::<(), crate::DataError>(())
        })
        .unwrap();
        assert_eq!((pieces, cells.len()), (2, 3 * rows));
        for (row, (number, text)) in expected.iter().enumerate() {
            assert_eq!(cells[row], *text);
            assert!((features[2 * row] - number.unwrap_or(0.0) / 1e6).abs() < 1e-12);
            assert_eq!(features[2 * row + 1] > 0.0, number.is_none());
        }
    }
}
