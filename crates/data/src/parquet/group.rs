//! Row groups: columns of somebody else's decoders into rows of the matrix.
//!
//! A cell is eight bytes of a row, and rows are far apart: writing column by column would fetch each piece of the matrix into the cache once a
//! column. So a bundle of columns is decoded together, a batch of records at a time, into rows that stay in the cache meanwhile.

use super::column::{Column, Moments, Use};
use super::footer::Footer;
use super::value::{Value, julian_day};
use crate::cell_encoder::Scale;
use crate::lines::Rows;
use crate::pages::InOrder;
use crate::{DataError, date};
use pairdp_units::signed_time::signed_time;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{AsBytes as _, DataType};
use parquet::errors::ParquetError;
use parquet::file::serialized_reader::SerializedPageReader;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Records that are decoded at once.
const BATCH: usize = 1024;
/// Columns that are decoded side by side: so many cells fill two lines of a cache. Their packed bytes are in memory, so large ones are fewer.
const COLUMNS: usize = 16;
const BYTES: i64 = 1 << 24;

/// Labels whose targets are kept.
const KNOWN: usize = 8;
/// Bits of no label that has a target: a number that is none.
const NO_NUMBER: u64 = f64::NAN.to_bits();

/// Records of a row group, and the rows they go to.
pub(super) struct Group<'a> {
    pub(super) index: usize,
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) width: usize,
    pub(super) rows: Rows<'a>,
}

impl Group<'_> {
    pub(super) fn read(&mut self, footer: &Footer, columns: &[Column<'_>]) -> Result<(), DataError> {
        let mut file = File::open(&footer.path).map_err(|source| DataError::io(&footer.path, source))?;
        let mut rest = columns;
        while !rest.is_empty() {
            let (bundle, others) = rest.split_at(self.bundle(footer, rest));
            self.read_bundle(&mut file, footer, bundle)?;
            rest = others;
        }
        Ok(())
    }

    /// How many of these columns are read together, one at least.
    fn bundle(&self, footer: &Footer, columns: &[Column<'_>]) -> usize {
        let group = footer.metadata.row_group(self.index);
        let mut bytes = 0_i64;
        let fits = columns.iter().take(COLUMNS).take_while(|column| {
            bytes = bytes.saturating_add(group.column(column.leaf).compressed_size());
            bytes <= BYTES
        });
        fits.count().max(1)
    }

    /// Reads columns side by side. What is wrong is told of the first column that has something wrong, as if they were read one after the
    /// other.
    fn read_bundle(
        &mut self,
        file: &mut File,
        footer: &Footer,
        columns: &[Column<'_>],
    ) -> Result<(), DataError> {
        let (mut decoders, mut fault) = (Vec::with_capacity(columns.len()), None);
        for column in columns {
            match guarded(footer, || self.open(file, footer, column)) {
                Ok(decoder) => decoders.push(decoder),
                Err(error) => {
                    fault = Some(error);
                    break;
                }
            }
        }
        let mut done = 0;
        while done < self.count && !decoders.is_empty() {
            let batch = BATCH.min(self.count - done);
            let mut step = |(index, decoder): (usize, &mut Box<dyn Decode + '_>)| {
                guarded(footer, || decoder.step(self, done, batch)).err().map(|error| (index, error))
            };
            if let Some((index, error)) = decoders.iter_mut().enumerate().find_map(&mut step) {
                // Columns before it may still have something wrong further down.
                decoders.truncate(index);
                fault = Some(error);
            }
            done += batch;
        }
        fault.map_or(Ok(()), Err)
    }

    /// The decoder of a column.
    fn open<'c>(
        &self,
        file: &mut File,
        footer: &'c Footer,
        column: &'c Column<'c>,
    ) -> Result<Box<dyn Decode + 'c>, DataError> {
        let chunk = footer.metadata.row_group(self.index).column(column.leaf);
        let window = footer.window(file, chunk, column)?;
        let damaged = |_: ParquetError| footer.damaged();
        let pages = SerializedPageReader::new(Arc::new(window), chunk, self.count, None).map_err(damaged)?;
        let reader = get_column_reader(chunk.column_descr_ptr(), Box::new(InOrder::new(pages)));
        let place = Place::new(footer, column);
        let (scale, day) = (column.decimals, column.moments);
        Ok(match (reader, scale) {
            (ColumnReader::Int32ColumnReader(reader), _) if day == Some(Moments::Days) => {
                place.decoder(reader, |v| Value::Day(f64::from(*v)))
            }
            (ColumnReader::Int64ColumnReader(reader), _) if column.parts_a_second().is_some() => {
                let parts = column.parts_a_second().unwrap_or(1);
                place.decoder(reader, move |v| Value::Day(date::day_of_moment(*v, parts)))
            }
            (ColumnReader::Int96ColumnReader(reader), _) if day == Some(Moments::Julian) => {
                place.decoder(reader, |v| Value::Day(julian_day(v)))
            }
            // Moments in whole numbers of another length.
            _ if day.is_some() => return Err(column.refused(footer)),
            (ColumnReader::BoolColumnReader(reader), _) => place.decoder(reader, |v| Value::Truth(*v)),
            (ColumnReader::Int32ColumnReader(reader), Some(scale)) => {
                place.decoder(reader, move |v| Value::decimal(i128::from(*v), scale))
            }
            (ColumnReader::Int64ColumnReader(reader), Some(scale)) => {
                place.decoder(reader, move |v| Value::decimal(i128::from(*v), scale))
            }
            (ColumnReader::Int32ColumnReader(reader), None) if column.unsigned => {
                place.decoder(reader, |v| Value::Integer(i128::from(v.cast_unsigned())))
            }
            (ColumnReader::Int64ColumnReader(reader), None) if column.unsigned => {
                place.decoder(reader, |v| Value::Integer(i128::from(v.cast_unsigned())))
            }
            (ColumnReader::Int32ColumnReader(reader), None) => {
                place.decoder(reader, |v| Value::Integer(i128::from(*v)))
            }
            (ColumnReader::Int64ColumnReader(reader), None) => {
                place.decoder(reader, |v| Value::Integer(i128::from(*v)))
            }
            (ColumnReader::FloatColumnReader(reader), _) => {
                place.decoder(reader, |v| Value::Number(f64::from(*v)))
            }
            (ColumnReader::DoubleColumnReader(reader), _) => place.decoder(reader, |v| Value::Number(*v)),
            (ColumnReader::ByteArrayColumnReader(reader), None) => {
                place.decoder(reader, |v| Value::Text(v.as_bytes()))
            }
            (ColumnReader::ByteArrayColumnReader(reader), Some(scale)) => {
                place.decoder(reader, move |v| Value::wide_decimal(v.as_bytes(), scale))
            }
            (ColumnReader::FixedLenByteArrayColumnReader(reader), Some(scale)) => {
                place.decoder(reader, move |v| Value::wide_decimal(v.as_bytes(), scale))
            }
            (ColumnReader::FixedLenByteArrayColumnReader(_) | ColumnReader::Int96ColumnReader(_), _) => {
                return Err(column.refused(footer));
            }
        })
    }
}

/// Work of decoders that are somebody else's: a damaged page may find one of their panics. The rows that it leaves half filled are dropped.
fn guarded<T>(footer: &Footer, work: impl FnOnce() -> Result<T, DataError>) -> Result<T, DataError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(footer.damaged()))
}

/// A column's cells, some after the other.
trait Decode {
    /// Puts the next cells into the rows from `first` on.
    fn step(&mut self, group: &mut Group<'_>, first: usize, batch: usize) -> Result<(), DataError>;
}

/// Where the values of a column go.
#[derive(Clone, Copy)]
struct Place<'c> {
    footer: &'c Footer,
    column: &'c Column<'c>,
    /// How to scale, and which entry it is, where numbers become one.
    plain: Option<(Scale, usize)>,
}

impl<'c> Place<'c> {
    fn new(footer: &'c Footer, column: &'c Column<'c>) -> Self {
        let plain = match column.usage {
            Use::Feature(rule) => rule.as_plain_number().map(|scale| (scale, rule.at)),
            _ => None,
        };
        Self { footer, column, plain }
    }

    fn decoder<T: DataType, F: Fn(&T::T) -> Value<'_> + 'c>(
        self,
        reader: ColumnReaderImpl<T>,
        read: F,
    ) -> Box<dyn Decode + 'c> {
        Box::new(Decoder {
            place: self,
            reader,
            read,
            levels: Vec::new(),
            values: Vec::new(),
            known: Vec::new(),
        })
    }

    fn put(
        &self,
        value: Value<'_>,
        at: usize,
        group: &mut Group<'_>,
        known: &mut Vec<(u64, f64)>,
    ) -> Result<(), DataError> {
        let outcome = match self.column.usage {
            Use::Feature(rule) => {
                value.write(rule, &mut group.rows.features[at * group.width..(at + 1) * group.width])
            }
            Use::Label(rule) => {
                let bits = match value {
                    Value::Number(number) => number.to_bits(),
                    _ => NO_NUMBER,
                };
                let target = match known.iter().find(|(number, _)| *number == bits) {
                    Some((_, target)) => Ok(*target),
                    None => value.target(rule).inspect(|target| {
                        if bits != NO_NUMBER && known.len() < KNOWN {
                            known.push((bits, *target));
                        }
                    }),
                };
                target.map(|target| group.rows.targets[at] = target)
            }
            // The column of times was read before.
            Use::Event(times) => value.event(times).map(|event| {
                let target = &mut group.rows.targets[at];
                *target = signed_time(*target, event, times.horizon);
            }),
            Use::Person(ids) => value.person(ids).map(|person| group.rows.persons[at] = person),
        };
        outcome.map_err(|what| DataError::Record {
            path: self.footer.path.clone(),
            record: group.first + at + 1,
            column: self.column.name.to_owned(),
            what,
        })
    }
}

struct Decoder<'c, T: DataType, F> {
    place: Place<'c>,
    reader: ColumnReaderImpl<T>,
    read: F,
    levels: Vec<i16>,
    values: Vec<T::T>,
    /// The bits of some labels that are numbers, and their targets: a label is one of few, and each goes through its text otherwise.
    known: Vec<(u64, f64)>,
}

impl<T: DataType, F: Fn(&T::T) -> Value<'_>> Decode for Decoder<'_, T, F> {
    fn step(&mut self, group: &mut Group<'_>, first: usize, batch: usize) -> Result<(), DataError> {
        let Self { place, reader, read, levels, values, known } = self;
        let nullable = place.column.nullable;
        let mut done = 0;
        while done < batch {
            levels.clear();
            values.clear();
            let levels_wanted = nullable.then_some(&mut *levels);
            let (records, ..) = reader
                .read_records(batch - done, levels_wanted, None, values)
                .map_err(|_| place.footer.damaged())?;
            let present = if nullable { levels.iter().filter(|level| **level > 0).count() } else { records };
            let whole = !nullable || levels.len() == records;
            if records == 0 || records > batch - done || present != values.len() || !whole {
                return Err(place.footer.damaged());
            }
            let mut values = values.iter();
            for record in 0..records {
                let at = first + done + record;
                let missing = nullable && levels[record] == 0;
                let value = if missing { None } else { values.next() };
                let value = value.map_or(Value::Missing, &mut *read);
                match (place.plain, value.as_number()) {
                    (Some((scale, entry)), Some(number)) => {
                        group.rows.features[at * group.width + entry] = scale.apply(number);
                    }
                    _ => place.put(value, at, group, known)?,
                }
            }
            done += records;
        }
        Ok(())
    }
}
