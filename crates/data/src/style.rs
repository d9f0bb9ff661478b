//! How a text file is written: what stands between cells, and before the decimals of numbers.

use crate::error::CellProblem;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What a schema says of it; commas and points unless it says something else. It travels in the model file, as the tables that a model is
/// applied to are written like those that it was trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextStyle {
    /// Between cells.
    #[serde(default)]
    pub delimiter: Delimiter,
    /// Before decimals.
    #[serde(default)]
    pub decimal: Decimal,
}

/// What stands between cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Delimiter {
    /// `,`
    #[default]
    #[serde(rename = ",")]
    Comma,
    /// `;`
    #[serde(rename = ";")]
    Semicolon,
    /// A tab.
    #[serde(rename = "\t")]
    Tab,
    /// `|`
    #[serde(rename = "|")]
    Bar,
}

/// What stands before decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Decimal {
    /// `1.5`
    #[default]
    #[serde(rename = ".")]
    Point,
    /// `1,5`
    #[serde(rename = ",")]
    Comma,
}

impl TextStyle {
    /// Commas and points.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn check(self) -> Result<(), String> {
        if (self.delimiter, self.decimal) == (Delimiter::Comma, Decimal::Comma) {
            return Err("`decimal = \",\"` needs a `delimiter` that is no comma".into());
        }
        Ok(())
    }
}

impl Delimiter {
    /// All that there are.
    pub(crate) const ALL: [Self; 4] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Bar];

    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Bar => b'|',
        }
    }

    /// As a schema writes it.
    pub(crate) fn written(self) -> &'static str {
        match self {
            Self::Comma => ",",
            Self::Semicolon => ";",
            Self::Tab => "\\t",
            Self::Bar => "|",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Comma => "commas",
            Self::Semicolon => "semicolons",
            Self::Tab => "tabs",
            Self::Bar => "bars",
        }
    }
}

impl Decimal {
    /// The cell of a number with a point before its decimals. Where commas are there, a point may be one between thousands, and 1.500 not
    /// what it seems: it is refused.
    pub(crate) fn with_point(self, cell: &[u8]) -> Result<Cow<'_, [u8]>, CellProblem> {
        match self {
            Self::Point => Ok(cell.into()),
            Self::Comma if cell.contains(&b'.') => Err(CellProblem::PointForComma),
            Self::Comma => {
                let point = |byte: &u8| if *byte == b',' { b'.' } else { *byte };
                Ok(cell.iter().map(point).collect::<Vec<u8>>().into())
            }
        }
    }
}
