//! Columns of Parquet files: what their cells mean, and what is done with them.

use super::footer::Footer;
use crate::DataError;
use crate::cell_encoder::{LabelRule, Rule};
use crate::label::Times;
use crate::person::Ids;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::schema::types::ColumnDescriptor;

/// A column that is read.
pub(super) struct Column<'a> {
    pub(super) name: &'a str,
    pub(super) usage: Use<'a>,
    /// Its place among the file's columns.
    pub(super) leaf: usize,
    pub(super) nullable: bool,
    pub(super) unsigned: bool,
    /// Digits after the point of decimals.
    pub(super) decimals: Option<i32>,
    /// How dates or moments are stored, where they are.
    pub(super) moments: Option<Moments>,
}

/// How dates and moments are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moments {
    /// Days since 1970-01-01.
    Days,
    /// So many of a second's parts since then.
    Parts(i64),
    /// Nanoseconds, and a Julian day.
    Julian,
}

impl Moments {
    pub(super) fn of(column: &ColumnDescriptor) -> Option<Self> {
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
pub(super) enum Use<'a> {
    Feature(&'a Rule),
    Label(&'a LabelRule<'a>),
    Event(&'a Times),
    Person(&'a Ids<'a>),
}

impl Column<'_> {
    pub(super) fn parts_a_second(&self) -> Option<i64> {
        match self.moments {
            Some(Moments::Parts(parts)) => Some(parts),
            _ => None,
        }
    }

    pub(super) fn refused(&self, footer: &Footer) -> DataError {
        DataError::ColumnType { path: footer.path.clone(), column: self.name.to_owned() }
    }
}

/// Whether integers are unsigned, and the places of decimals; `None` for what is neither numbers nor text.
pub(super) fn meaning(column: &ColumnDescriptor) -> Option<(bool, Option<i32>)> {
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
