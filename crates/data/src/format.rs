//! What kind of table a file holds, by the ending of its name.

use crate::DataError;
use std::path::Path;

/// A kind of file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Csv { packed: bool },
    Libsvm { packed: bool },
    Parquet,
}

/// The endings of each.
const ENDINGS: [(&str, Format); 9] = [
    (".csv", Format::Csv { packed: false }),
    (".csv.gz", Format::Csv { packed: true }),
    (".tsv", Format::Csv { packed: false }),
    (".tsv.gz", Format::Csv { packed: true }),
    (".parquet", Format::Parquet),
    (".svm", Format::Libsvm { packed: false }),
    (".svm.gz", Format::Libsvm { packed: true }),
    (".libsvm", Format::Libsvm { packed: false }),
    (".libsvm.gz", Format::Libsvm { packed: true }),
];

impl Format {
    pub(crate) fn of(path: &Path) -> Result<Self, DataError> {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().to_lowercase());
        let found = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
        found.map(|(_, format)| *format).ok_or_else(|| DataError::UnknownEnding { path: path.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_decides() {
        for (name, expected) in [
            ("a.csv", Some(Format::Csv { packed: false })),
            ("dir.csv/a.CSV.GZ", Some(Format::Csv { packed: true })),
            ("a.tsv", Some(Format::Csv { packed: false })),
            ("a.b.parquet", Some(Format::Parquet)),
            ("a.svm", Some(Format::Libsvm { packed: false })),
            ("a.libsvm.gz", Some(Format::Libsvm { packed: true })),
            ("a.parquet.gz", None),
            ("a.gz", None),
            ("csv", None),
            ("a.xlsx", None),
        ] {
            assert_eq!(Format::of(Path::new(name)).ok(), expected, "{name}");
        }
    }
}
