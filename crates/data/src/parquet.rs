//! Parquet: columns of numbers, texts and booleans at the top level; nulls are missing values.
//!
//! A row group's columns are read a few at a time, so that beside the matrix only a few columns of one group are in
//! memory, a thread; groups are read on every core. What the file says about its own sizes is checked first: see
//! [`thrift`](crate::thrift).

mod column;
mod footer;
mod group;
mod value;

use crate::cell_encoder::CellEncoder;
use crate::lines::Rows;
use crate::{DataError, Encoding, PersonColumn, Piece, Table, TextStyle};
use column::Column;
use footer::Footer;
use group::Group;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

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

impl Footer {
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
}
