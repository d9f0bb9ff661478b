//! Parquet: columns of numbers, texts and booleans at the top level; nulls are missing values.
//!
//! A row group's columns are read one after the other, so that beside the matrix only one column of one group is in
//! memory, a thread; groups are read on every core. What the file says about its own sizes is checked first: see
//! [`thrift`].

use crate::cell_encoder::{CellEncoder, LabelRule, Rule};
use crate::error::CellProblem;
use crate::label::Times;
use crate::lines::Rows;
use crate::pages::{InOrder, Window, check_pages, read_range};
use crate::person::Ids;
use crate::source::open_file;
use crate::{DataError, Encoding, PersonColumn, Piece, Table, TextStyle, date, thrift};
use pairdp_units::signed_time::signed_time;
use parquet::basic::{Compression, ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{AsBytes as _, DataType, Int96};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;
use std::collections::HashMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Records that are decoded at once.
const BATCH: usize = 4096;
/// Bounds on what a small file may claim to be: a record takes two bits at least, in any table worth learning from.
const RECORDS_A_BYTE: u64 = 4;
const RECORDS_ANYWAY: u64 = 1_000_000;
/// Groups of columns within groups: more would exhaust the stack of who reads them.
const MOST_GROUPS: usize = 500;

/// Reads a table.
pub(crate) fn read(path: &Path, rules: &CellEncoder<'_>) -> Result<(Table, Vec<u32>), DataError> {
    let footer = Footer::read(path)?;
    let columns = footer.columns(rules)?;

    let counts = footer.record_counts().ok_or_else(|| footer.damaged())?;
    let records: usize = counts.iter().sum();
    footer.check_size(&counts, rules)?;
    let (width, labelled) = (rules.encoding.dimension(), rules.label.is_some());
    let mut table = Table { rows: records, ..Table::empty(width) };
    let mut persons = vec![0; if rules.ids.is_some() { records } else { 0 }];
    if !table.make_room(records, labelled) {
        return Err(DataError::TooLarge { path: path.to_owned() });
    }

    let mut rest = Rows { features: &mut table.features, targets: &mut table.targets, persons: &mut persons };
    let mut first = 0;
    let groups = counts.iter().enumerate().map(|(index, &count)| {
        let rows = rest.take(count, width);
        first += count;
        Group { index, first: first - count, count, width, rows }
    });
    // Taken from the end, so the first comes last.
    let groups: Vec<_> = groups.collect::<Vec<_>>().into_iter().rev().collect();
    read_groups(&footer, &columns, groups)?;
    Ok((table, persons))
}

/// Reads a table by its row groups, one after the other, with the cells of some columns as they are.
pub(crate) fn in_parts<E: From<DataError>>(
    path: &Path,
    rules: &CellEncoder<'_>,
    keep: &[PersonColumn],
    mut take: impl FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let footer = Footer::read(path)?;
    let counts = footer.record_counts().ok_or_else(|| footer.damaged())?;
    footer.check_size(&counts, rules)?;
    let nothing = Encoding::of_nothing(TextStyle::default());
    let mut first = 0;
    for (index, count) in counts.into_iter().enumerate() {
        let group = |rules: &CellEncoder<'_>| footer.group(rules, index, first, count);
        let (table, _) = group(rules)?;
        let cells = keep.iter().map(|column| {
            let rules = CellEncoder::keeping(&nothing, column);
            let (_, numbers) = group(&rules)?;
            Ok(rules.kept(numbers))
        });
        take(Piece::new(table, cells.collect::<Result<_, DataError>>()?))?;
        first += count;
    }
    Ok(())
}

/// The names of the columns.
pub(crate) fn header(path: &Path) -> Result<Vec<String>, DataError> {
    Ok(Footer::read(path)?.names())
}

/// Whether the file has the columns that are to be read; returns the names of all.
pub(crate) fn check(path: &Path, rules: &CellEncoder<'_>) -> Result<Vec<String>, DataError> {
    let footer = Footer::read(path)?;
    footer.columns(rules)?;
    Ok(footer.names())
}

/// Records of a row group, and the rows they go to.
struct Group<'a> {
    index: usize,
    first: usize,
    count: usize,
    width: usize,
    rows: Rows<'a>,
}

fn read_groups(footer: &Footer, columns: &[Column<'_>], groups: Vec<Group<'_>>) -> Result<(), DataError> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(groups.len());
    let queue = Mutex::new(groups);
    let fault = Mutex::new(None::<(usize, DataError)>);
    let work = || {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(mut group) = next else { return };
            if let Err(error) = group.read(footer, columns) {
                queue.lock().unwrap_or_else(PoisonError::into_inner).clear();
                let mut fault = fault.lock().unwrap_or_else(PoisonError::into_inner);
                if fault.as_ref().is_none_or(|(earliest, _)| group.index < *earliest) {
                    *fault = Some((group.index, error));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // A machine that gives no thread reads with fewer.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    match fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

impl Group<'_> {
    fn read(&mut self, footer: &Footer, columns: &[Column<'_>]) -> Result<(), DataError> {
        let mut file = File::open(&footer.path).map_err(|source| DataError::io(&footer.path, source))?;
        let mut read = || columns.iter().try_for_each(|column| self.read_column(&mut file, footer, column));
        // The decoders are somebody else's, and a damaged page may find one of their panics. The rows that it leaves half filled
        // are dropped.
        catch_unwind(AssertUnwindSafe(&mut read)).unwrap_or_else(|_| Err(footer.damaged()))
    }

    fn read_column(
        &mut self,
        file: &mut File,
        footer: &Footer,
        column: &Column<'_>,
    ) -> Result<(), DataError> {
        let chunk = footer.metadata.row_group(self.index).column(column.leaf);
        let window = footer.window(file, chunk, column)?;
        let damaged = |_: ParquetError| footer.damaged();
        let pages = SerializedPageReader::new(Arc::new(window), chunk, self.count, None).map_err(damaged)?;
        let reader = get_column_reader(chunk.column_descr_ptr(), Box::new(InOrder::new(pages)));
        let sink = Sink { footer, column, group: self, done: 0 };
        let scale = column.decimals;
        match (reader, scale) {
            (ColumnReader::Int32ColumnReader(reader), _) if column.moments == Some(Moments::Days) => {
                sink.fill(reader, |v| Value::Day(f64::from(*v)))
            }
            (ColumnReader::Int64ColumnReader(reader), _) if column.parts_a_second().is_some() => {
                let parts = column.parts_a_second().unwrap_or(1);
                sink.fill(reader, |v| Value::Day(date::day_of_moment(*v, parts)))
            }
            (ColumnReader::Int96ColumnReader(reader), _) if column.moments == Some(Moments::Julian) => {
                sink.fill(reader, |v| Value::Day(julian_day(v)))
            }
            // Moments in whole numbers of another length.
            _ if column.moments.is_some() => Err(column.refused(footer)),
            (ColumnReader::BoolColumnReader(reader), _) => sink.fill(reader, |v| Value::Truth(*v)),
            (ColumnReader::Int32ColumnReader(reader), Some(scale)) => {
                sink.fill(reader, |v| Value::decimal(i128::from(*v), scale))
            }
            (ColumnReader::Int64ColumnReader(reader), Some(scale)) => {
                sink.fill(reader, |v| Value::decimal(i128::from(*v), scale))
            }
            (ColumnReader::Int32ColumnReader(reader), None) if column.unsigned => {
                sink.fill(reader, |v| Value::Integer(i128::from(v.cast_unsigned())))
            }
            (ColumnReader::Int64ColumnReader(reader), None) if column.unsigned => {
                sink.fill(reader, |v| Value::Integer(i128::from(v.cast_unsigned())))
            }
            (ColumnReader::Int32ColumnReader(reader), None) => {
                sink.fill(reader, |v| Value::Integer(i128::from(*v)))
            }
            (ColumnReader::Int64ColumnReader(reader), None) => {
                sink.fill(reader, |v| Value::Integer(i128::from(*v)))
            }
            (ColumnReader::FloatColumnReader(reader), _) => {
                sink.fill(reader, |v| Value::Number(f64::from(*v)))
            }
            (ColumnReader::DoubleColumnReader(reader), _) => sink.fill(reader, |v| Value::Number(*v)),
            (ColumnReader::ByteArrayColumnReader(reader), None) => {
                sink.fill(reader, |v| Value::Text(v.as_bytes()))
            }
            (ColumnReader::ByteArrayColumnReader(reader), Some(scale)) => {
                sink.fill(reader, |v| Value::wide_decimal(v.as_bytes(), scale))
            }
            (ColumnReader::FixedLenByteArrayColumnReader(reader), Some(scale)) => {
                sink.fill(reader, |v| Value::wide_decimal(v.as_bytes(), scale))
            }
            (ColumnReader::FixedLenByteArrayColumnReader(_) | ColumnReader::Int96ColumnReader(_), _) => {
                Err(column.refused(footer))
            }
        }
    }
}

/// Where the values of a column go.
struct Sink<'s, 'a> {
    footer: &'s Footer,
    column: &'s Column<'s>,
    group: &'s mut Group<'a>,
    done: usize,
}

impl Sink<'_, '_> {
    fn fill<T: DataType>(
        mut self,
        mut reader: ColumnReaderImpl<T>,
        read: impl Fn(&T::T) -> Value<'_>,
    ) -> Result<(), DataError> {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        while self.done < self.group.count {
            levels.clear();
            values.clear();
            let batch = BATCH.min(self.group.count - self.done);
            let levels_wanted = self.column.nullable.then_some(&mut levels);
            let (records, ..) = reader
                .read_records(batch, levels_wanted, None, &mut values)
                .map_err(|_| self.footer.damaged())?;
            let present = if self.column.nullable {
                levels.iter().filter(|level| **level > 0).count()
            } else {
                records
            };
            let whole = !self.column.nullable || levels.len() == records;
            if records == 0 || records > batch || present != values.len() || !whole {
                return Err(self.footer.damaged());
            }
            let mut values = values.iter();
            for record in 0..records {
                let missing = self.column.nullable && levels[record] == 0;
                let value = if missing { None } else { values.next() };
                self.put(value.map_or(Value::Missing, &read))?;
            }
        }
        Ok(())
    }

    fn put(&mut self, value: Value<'_>) -> Result<(), DataError> {
        let at = self.done;
        self.done += 1;
        let group = &mut *self.group;
        let outcome = match self.column.usage {
            Use::Feature(rule) => {
                value.write(rule, &mut group.rows.features[at * group.width..(at + 1) * group.width])
            }
            Use::Label(rule) => value.target(rule).map(|target| group.rows.targets[at] = target),
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

/// A cell.
enum Value<'a> {
    Missing,
    Truth(bool),
    Integer(i128),
    Number(f64),
    /// Since 1970-01-01.
    Day(f64),
    Text(&'a [u8]),
}

/// The day of a moment as older programs write it: nanoseconds of a day, and the day of Julius Scaliger's calendar.
fn julian_day(moment: &Int96) -> f64 {
    const DAY: u64 = 86_400_000_000_000;
    let [low, high, day] = moment.data() else { return f64::NAN };
    let nanoseconds = u64::from(*low) | u64::from(*high) << 32;
    f64::from(*day) - 2_440_588.0 + (nanoseconds / DAY) as f64
}

impl Value<'_> {
    fn decimal(unscaled: i128, scale: i32) -> Self {
        Self::Number(unscaled as f64 / 10f64.powi(scale))
    }

    /// Big-endian two's complement; what is wider than 128 bits is beyond any range and counts as no number.
    fn wide_decimal(bytes: &[u8], scale: i32) -> Self {
        if bytes.is_empty() || bytes.len() > 16 {
            return Self::Text(b"?");
        }
        let negative = bytes[0] >= 0x80;
        let start = if negative { -1 } else { 0 };
        Self::decimal(bytes.iter().fold(start, |value, byte| (value << 8) | i128::from(*byte)), scale)
    }

    fn write(self, rule: &Rule, row: &mut [f64]) -> Result<(), CellProblem> {
        let number = rule.as_number().is_some();
        match self {
            Self::Missing => rule.write_missing(row),
            Self::Truth(truth) if number => rule.write_number(f64::from(u8::from(truth)), row),
            Self::Truth(truth) => rule.write_text(truth.to_string().as_bytes(), row),
            Self::Integer(value) if number => rule.write_number(value as f64, row),
            Self::Integer(value) => rule.write_text(value.to_string().as_bytes(), row),
            Self::Number(value) => rule.write_number(value, row),
            Self::Day(day) => rule.write_day(day, row),
            Self::Text(text) => rule.write_text(text, row),
        }
    }

    fn target(self, rule: &LabelRule<'_>) -> Result<f64, CellProblem> {
        match self {
            Self::Missing => Err(CellProblem::MissingLabel),
            // Booleans may be called 1 and 0 in the schema.
            Self::Truth(truth) => rule
                .target(truth.to_string().as_bytes())
                .or_else(|_| rule.target_of_number(f64::from(u8::from(truth)))),
            Self::Integer(value) => rule.target(value.to_string().as_bytes()),
            Self::Number(value) => rule.target_of_number(value),
            Self::Day(_) => Err(CellProblem::NotANumber),
            Self::Text(text) => rule.target(text),
        }
    }
}

impl Value<'_> {
    fn event(self, times: &Times) -> Result<bool, CellProblem> {
        match self {
            Self::Missing | Self::Day(_) => Err(CellProblem::UnknownEvent),
            Self::Truth(truth) => times.read_truth(truth),
            Self::Integer(value) => times.read_event(&value.to_string()),
            Self::Number(value) => times.read_event(&value.to_string()),
            Self::Text(text) => {
                times.read_event(std::str::from_utf8(text).map_err(|_| CellProblem::NotText)?)
            }
        }
    }

    /// Numbers with a point, and booleans, tell no persons apart: 7 and 7.0 would be two, or one, by chance.
    fn person(self, ids: &Ids<'_>) -> Result<u32, CellProblem> {
        match self {
            Self::Missing if ids.verbatim => ids.of_text(b""),
            Self::Truth(truth) if ids.verbatim => ids.of_text(truth.to_string().as_bytes()),
            Self::Number(number) if ids.verbatim => ids.of_text(number.to_string().as_bytes()),
            Self::Day(day) if ids.verbatim => ids.of_text(date::date_text(day).as_bytes()),
            Self::Missing => Err(CellProblem::MissingPerson),
            Self::Integer(id) => ids.of_whole(id),
            Self::Text(id) => ids.of_text(id),
            Self::Truth(_) | Self::Number(_) | Self::Day(_) => Err(CellProblem::NotAPerson),
        }
    }
}

/// A column that is read.
struct Column<'a> {
    name: &'a str,
    usage: Use<'a>,
    /// Its place among the file's columns.
    leaf: usize,
    nullable: bool,
    unsigned: bool,
    /// Digits after the point of decimals.
    decimals: Option<i32>,
    /// How dates or moments are stored, where they are.
    moments: Option<Moments>,
}

/// How dates and moments are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moments {
    /// Days since 1970-01-01.
    Days,
    /// So many of a second's parts since then.
    Parts(i64),
    /// Nanoseconds, and a Julian day.
    Julian,
}

impl Moments {
    fn of(column: &ColumnDescriptor) -> Option<Self> {
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Some(Self::Days),
            (Some(LogicalType::Timestamp(moment)), _) => Some(Self::Parts(match moment.unit {
                TimeUnit::MILLIS => 1_000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            })),
            (None, ConvertedType::TIMESTAMP_MILLIS) => Some(Self::Parts(1_000)),
            (None, ConvertedType::TIMESTAMP_MICROS) => Some(Self::Parts(1_000_000)),
            (None, ConvertedType::NONE) if column.physical_type() == Type::INT96 => Some(Self::Julian),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Use<'a> {
    Feature(&'a Rule),
    Label(&'a LabelRule<'a>),
    Event(&'a Times),
    Person(&'a Ids<'a>),
}

impl Column<'_> {
    fn parts_a_second(&self) -> Option<i64> {
        match self.moments {
            Some(Moments::Parts(parts)) => Some(parts),
            _ => None,
        }
    }

    fn refused(&self, footer: &Footer) -> DataError {
        DataError::ColumnType { path: footer.path.clone(), column: self.name.to_owned() }
    }
}

/// What a Parquet file says of itself.
struct Footer {
    path: PathBuf,
    length: u64,
    metadata: ParquetMetaData,
}

impl Footer {
    fn read(path: &Path) -> Result<Self, DataError> {
        let mut file = open_file(path)?;
        let io = |source| DataError::io(path, source);
        let damaged = || DataError::Damaged { path: path.to_owned() };
        let length = file.metadata().map_err(io)?.len();
        if length == 0 {
            return Err(DataError::Empty { path: path.to_owned() });
        }
        let tail = read_range(&mut file, length.checked_sub(8).ok_or_else(damaged)?, 8).map_err(io)?;
        let &[a, b, c, d, b'P', b'A', b'R', b'1'] = tail.as_slice() else { return Err(damaged()) };
        let size = u64::from(u32::from_le_bytes([a, b, c, d]));
        let start = (length - 8).checked_sub(size).ok_or_else(damaged)?;
        let text = read_range(&mut file, start, size).map_err(io)?;

        check_footer(&text).ok_or_else(damaged)?;
        let metadata = ParquetMetaDataReader::decode_metadata(&text).map_err(|_| damaged())?;
        Ok(Self { path: path.to_owned(), length, metadata })
    }

    fn damaged(&self) -> DataError {
        DataError::Damaged { path: self.path.clone() }
    }

    fn record_counts(&self) -> Option<Vec<usize>> {
        let groups = self.metadata.row_groups();
        let counts: Option<Vec<usize>> =
            groups.iter().map(|group| usize::try_from(group.num_rows()).ok()).collect();
        let counts = counts?;
        counts.iter().try_fold(0_usize, |sum, count| sum.checked_add(*count))?;
        Some(counts)
    }

    /// Where persons are protected, how many equal records one of them has must not decide about the whole table.
    fn check_size(&self, counts: &[usize], rules: &CellEncoder<'_>) -> Result<(), DataError> {
        let records: usize = counts.iter().sum();
        let reasonable = self.length.saturating_mul(RECORDS_A_BYTE).saturating_add(RECORDS_ANYWAY);
        if rules.ids.is_none() && records as u64 > reasonable {
            return Err(DataError::TooLarge { path: self.path.clone() });
        }
        Ok(())
    }

    /// One row group as a table.
    fn group(
        &self,
        rules: &CellEncoder<'_>,
        index: usize,
        first: usize,
        count: usize,
    ) -> Result<(Table, Vec<u32>), DataError> {
        let columns = self.columns(rules)?;
        let width = rules.encoding.dimension();
        let mut table = Table { rows: count, ..Table::empty(width) };
        let mut persons = vec![0; if rules.ids.is_some() { count } else { 0 }];
        if !table.make_room(count, false) {
            return Err(DataError::TooLarge { path: self.path.clone() });
        }
        let rows = Rows { features: &mut table.features, targets: &mut [], persons: &mut persons };
        Group { index, first, count, width, rows }.read(self, &columns)?;
        Ok((table, persons))
    }

    fn names(&self) -> Vec<String> {
        let root = self.metadata.file_metadata().schema();
        root.get_fields().iter().map(|field| field.name().to_owned()).collect()
    }

    /// What is read, in the order of the rules.
    fn columns<'a>(&self, rules: &'a CellEncoder<'a>) -> Result<Vec<Column<'a>>, DataError> {
        // Once for all: there may be a hundred thousand.
        let mut leaves: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, leaf) in self.metadata.file_metadata().schema_descr().columns().iter().enumerate() {
            if let Some(name) = leaf.path().parts().first() {
                leaves.entry(name).or_default().push(at);
            }
        }
        let of = |name: &str| leaves.get(name).map_or(&[][..], Vec::as_slice);
        let features = rules.encoding.columns().iter().zip(&rules.features);
        let features =
            features.map(|(column, rule)| self.column(&column.name, of(&column.name), Use::Feature(rule)));
        let label = rules.label.iter().map(|rule| {
            let name = &rule.label.column;
            self.column(name, of(name), Use::Label(rule))
        });
        let event = rules.times().into_iter().map(|times| {
            let name = &times.event;
            self.column(name, of(name), Use::Event(times))
        });
        let person = rules.ids.iter().map(|ids| {
            let name = &ids.person.column;
            self.column(name, of(name), Use::Person(ids))
        });
        features.chain(label).chain(event).chain(person).collect()
    }

    fn column<'a>(&self, name: &'a str, leaves: &[usize], usage: Use<'a>) -> Result<Column<'a>, DataError> {
        let (path, column) = (self.path.clone(), name.to_owned());
        let schema = self.metadata.file_metadata().schema_descr();
        let mut leaves = leaves.iter().map(|at| (*at, schema.column(*at)));
        let Some((leaf, descriptor)) = leaves.next() else {
            return Err(DataError::MissingColumn { path, column });
        };
        if descriptor.path().parts().len() > 1 || descriptor.max_rep_level() > 0 {
            return Err(DataError::ColumnType { path, column });
        }
        if leaves.next().is_some() {
            return Err(DataError::DuplicateColumn { path, column });
        }
        let moments = Moments::of(&descriptor).filter(|moments| match usage {
            Use::Feature(rule) => rule.is_date(),
            // A cell to be kept is copied with its time, or not at all.
            Use::Person(ids) => ids.verbatim && *moments == Moments::Days,
            Use::Label(_) | Use::Event(_) => false,
        });
        let (unsigned, decimals) = match (moments, meaning(&descriptor)) {
            (Some(_), _) => (false, None),
            (None, Some(meaning)) => meaning,
            (None, None) => return Err(DataError::ColumnType { path, column }),
        };
        let nullable = descriptor.max_def_level() > 0;
        Ok(Column { name, usage, leaf, nullable, unsigned, decimals, moments })
    }

    /// The bytes of a column in a group, after a look at what its pages claim.
    fn window(
        &self,
        file: &mut File,
        chunk: &ColumnChunkMetaData,
        column: &Column<'_>,
    ) -> Result<Window, DataError> {
        let offset = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
        let (Ok(start), Ok(length)) = (u64::try_from(offset), u64::try_from(chunk.compressed_size())) else {
            return Err(self.damaged());
        };
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(self.damaged());
        }
        let known = matches!(
            chunk.compression(),
            Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) | Compression::ZSTD(_)
        );
        let bytes = read_range(file, start, length).map_err(|source| DataError::io(&self.path, source))?;
        match check_pages(&bytes) {
            Some(true) if known => Ok(Window { start, bytes: bytes.into() }),
            Some(_) => {
                Err(DataError::ColumnEncoding { path: self.path.clone(), column: column.name.to_owned() })
            }
            None => Err(self.damaged()),
        }
    }
}

/// Refuses a footer that makes its reader allocate or recurse without end: groups of columns say how many children
/// they have, and may hold each other.
fn check_footer(footer: &[u8]) -> Option<()> {
    let mut groups = 0;
    let mut believable = |path: &[i16], value: i64| {
        if path != [2, 5] {
            return true;
        }
        groups += usize::from(value > 0);
        usize::try_from(value).is_ok_and(|children| children <= footer.len()) && groups <= MOST_GROUPS
    };
    thrift::walk(footer, &mut believable).map(|_| ())
}

/// Whether integers are unsigned, and the places of decimals; `None` for what is neither numbers nor text.
fn meaning(column: &ColumnDescriptor) -> Option<(bool, Option<i32>)> {
    // Nobody has more digits; the power of ten stays finite.
    let decimal = || {
        let scale = column.type_scale();
        (0..=38).contains(&scale).then_some((false, Some(scale)))
    };
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Decimal(_)), _) | (None, ConvertedType::DECIMAL) => decimal(),
        (Some(LogicalType::Integer(kind)), _) => Some((!kind.is_signed, None)),
        (Some(LogicalType::String | LogicalType::Enum), _)
        | (None, ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM) => {
            match column.physical_type() {
                Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY => None,
                _ => Some((false, None)),
            }
        }
        (
            None,
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
        ) => Some((true, None)),
        (
            None,
            ConvertedType::INT_8 | ConvertedType::INT_16 | ConvertedType::INT_32 | ConvertedType::INT_64,
        ) => Some((false, None)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seven bits a byte, the lowest first.
    fn length(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        bytes.push(value.to_le_bytes()[0]);
        bytes
    }

    /// The same with the sign in the lowest bit.
    fn integer(value: u64) -> Vec<u8> {
        length(2 * value)
    }

    /// A footer with groups that have so many children.
    fn footer(children: &[u64]) -> Vec<u8> {
        let mut bytes = vec![0x29, 0xfc];
        bytes.extend(length(children.len() as u64));
        for count in children {
            bytes.extend([0x55].iter().chain(&integer(*count)).chain(&[0x00]));
        }
        bytes.push(0x00);
        bytes
    }

    #[test]
    fn groups_have_children_and_depth_within_reason() {
        assert!(check_footer(&footer(&[2, 1])).is_some());
        assert!(check_footer(&footer(&[2, 1 << 30])).is_none());
        assert!(check_footer(&footer(&[1; 400])).is_some());
        assert!(check_footer(&footer(&[1; 600])).is_none());
    }

    /// A dictionary page with these claims, and its bytes.
    fn page(unpacked: u64, packed: u64, entries: u64) -> Vec<u8> {
        let mut bytes = vec![0x15, 0x04];
        for (header, value) in [(0x15, unpacked), (0x15, packed)] {
            bytes.push(header);
            bytes.extend(integer(value));
        }
        bytes.extend([0x4c, 0x15]);
        bytes.extend(integer(entries));
        bytes.extend([0x00, 0x00]);
        bytes.extend(vec![0; 100]);
        bytes
    }

    #[test]
    fn pages_unpack_within_reason() {
        assert_eq!(check_pages(&page(400, 100, 100)), Some(true));
        assert_eq!(check_pages(&[page(400, 100, 100), page(1 << 24, 100, 0)].concat()), Some(true));
        assert_eq!(check_pages(&page(400, 100, 101)), None);
        assert_eq!(check_pages(&page(1 << 25, 100, 0)), None);
        assert_eq!(check_pages(&page(400, 101, 0)), None);
    }
}
