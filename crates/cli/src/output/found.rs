//! What a file is that lies where another should go, by its beginning.

use super::{Kind, NOT_PRIVATE, PARQUET_MARK, PLOT_MARK};
use crate::files::Document;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// Enough of a file to know its kind.
const BEGINNING: u64 = 1024;
/// Where a Parquet file says who wrote it.
const LONGEST_FOOTER: u64 = 1 << 16;
/// No schema is longer.
const LONGEST_SCHEMA: u64 = 1 << 20;

/// What is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// No file, or an empty one.
    Nothing,
    /// Something that we write.
    Kind(Kind),
    /// The simulator's schema, to the letter.
    SimulatedSchema,
    /// A ledger, or another database.
    Ledger,
    /// The key of a ledger, or one that signs or checks.
    Key,
    /// Something else.
    Other,
}

impl Found {
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Nothing),
            Err(error) => return Err(error),
        };
        let mut beginning = Vec::new();
        (&mut file).take(BEGINNING).read_to_end(&mut beginning)?;
        if let Some(found) = Self::by_beginning(&beginning) {
            return Ok(found);
        }
        if beginning.starts_with(b"PAR1") {
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(LONGEST_FOOTER)))?;
            let mut end = Vec::new();
            file.take(LONGEST_FOOTER).read_to_end(&mut end)?;
            let mark = PARQUET_MARK.as_bytes();
            let ours = end.windows(mark.len()).any(|part| part == mark);
            return Ok(if ours { Self::Kind(Kind::Predictions) } else { Self::Other });
        }
        file.rewind()?;
        if beginning.trim_ascii_start().starts_with(b"{") {
            let document = serde_json::from_reader::<_, Document>(BufReader::new(file));
            return Ok(document.map_or(Self::Other, |document| Self::by_format(&document.format)));
        }
        let named = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".schema.toml"));
        let mut text = String::new();
        let read = file.take(LONGEST_SCHEMA).read_to_string(&mut text).is_ok();
        if read && text == pairdp_data::simulate::SCHEMA {
            return Ok(Self::SimulatedSchema);
        }
        let schema = named || (read && pairdp_data::Schema::parse(&text).is_ok());
        Ok(if schema { Self::Kind(Kind::Schema) } else { Self::Other })
    }

    fn by_beginning(bytes: &[u8]) -> Option<Self> {
        let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        let kind = match bytes {
            [] => return Some(Self::Nothing),
            _ if bytes.starts_with(b"SQLite format 3\0") => return Some(Self::Ledger),
            _ if is_key(bytes) => return Some(Self::Key),
            _ if bytes.starts_with(b"<!DOCTYPE html>") && has(b"default-src 'none'; style-src") => Kind::Page,
            _ if bytes.starts_with(b"<svg ") && has(PLOT_MARK.as_bytes()) => Kind::Plot,
            _ if bytes.starts_with(b"\x08") && has(b"pairdp") => Kind::Onnx,
            _ if bytes.starts_with(NOT_PRIVATE.as_bytes()) => Kind::Check,
            _ if bytes.starts_with(b"# NOT private") => Kind::Influence,
            _ if bytes.starts_with(b".ie ") && has(b".TH pairdp") => Kind::ManualPage,
            _ if are_predictions(bytes) => Kind::Predictions,
            _ => return None,
        };
        Some(Self::Kind(kind))
    }

    /// Of any version: a model of another one cost as much.
    fn by_format(format: &str) -> Self {
        let kind = match format.split('/').next() {
            Some("pairdp-model") => Kind::Model,
            Some("pairdp-baseline") => Kind::Baseline,
            Some("pairdp-scoring") => Kind::Scoring,
            Some("pairdp-ledger-export") => Kind::LedgerExport,
            Some("pairdp-checkpoint") => Kind::Checkpoint,
            Some("pairdp-signature") => Kind::Signature,
            Some("pairdp-audit") => Kind::AuditRuns,
            _ => return Self::Other,
        };
        Self::Kind(kind)
    }
}

fn is_key(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii();
    let of_ledger = text.len() == 64 && text.iter().all(u8::is_ascii_hexdigit);
    of_ledger || text.starts_with(b"pairdp-signing-key/") || text.starts_with(b"pairdp-public-key/")
}

/// The first line is one that `predict` writes.
fn are_predictions(bytes: &[u8]) -> bool {
    let header = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let header = String::from_utf8_lossy(header);
    let embedded = || header.split(',').enumerate().all(|(k, name)| name == format!("m{}", k + 1));
    // A very long header is cut off in its middle.
    let long = || bytes.len() as u64 == BEGINNING && header.starts_with("m1,m2,m3,");
    let header = header.trim_end();
    let own = [",reasons", ",flag", ",probability"]
        .iter()
        .fold(header, |header, last| header.strip_suffix(last).unwrap_or(header));
    matches!(own, "score" | "score,class" | "prediction") || embedded() || long()
}
