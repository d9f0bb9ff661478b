//! A table that is kept in several files.

use crate::DataError;
use crate::format::Format;
use std::path::{Path, PathBuf};

/// The files of a table, in the order of their names: every table of a folder, those that a pattern such as
/// `parts/day-*.parquet` names, or the one file. Names that begin with a dot or `_` are hidden, and not looked at. Whatever else
/// is there is a part or a mistake: records that are left out in silence would be missed by nobody.
///
/// # Errors
/// [`DataError::Io`] when the folder cannot be read, [`DataError::NoTables`] when it has none, [`DataError::NoPart`] for
/// something in it that is not a table.
pub fn table_files(path: &Path) -> Result<Vec<PathBuf>, DataError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (folder, pattern) = if path.is_dir() {
        (path.to_owned(), "*".to_owned())
    } else if name.contains('*') {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        (folder.unwrap_or(Path::new(".")).to_owned(), name)
    } else {
        // A pipe is there, too.
        let missing = std::io::ErrorKind::NotFound;
        return if path.exists() {
            Ok(vec![path.to_owned()])
        } else {
            Err(DataError::io(path, missing.into()))
        };
    };
    let failed = |source| DataError::Io { path: folder.clone(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with(['.', '_']) || !matches(&pattern, &name) {
            continue;
        }
        // A link that leads nowhere is not a file, either.
        if Format::of(&file).is_err() || !file.is_file() {
            return Err(DataError::NoPart { path: file });
        }
        files.push(file);
    }
    files.sort();
    if files.is_empty() { Err(DataError::NoTables { path: path.to_owned() }) } else { Ok(files) }
}

/// Whether a name is what a pattern says, `*` standing for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = name.find(piece) else { return false };
        name = &name[at + piece.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, expected) in [
            ("*", "a.csv", true),
            ("*.csv", "a.csv", true),
            ("*.csv", "a.parquet", false),
            ("day-*.csv", "day-1.csv", true),
            ("day-*.csv", "night-1.csv", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("ab*ab", "ab", false),
            ("a.csv", "a.csv", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_folder_has_its_tables_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv.gz", "c.parquet", ".hidden.csv", "_SUCCESS"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        let names = |path: &Path| -> Vec<String> {
            let files = table_files(path).unwrap();
            files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names(folder.path()), ["a.csv.gz", "b.csv", "c.parquet"]);
        assert_eq!(names(&folder.path().join("*.csv")), ["b.csv"]);
        assert_eq!(names(&folder.path().join("b.csv")), ["b.csv"]);
        assert!(matches!(table_files(&folder.path().join("*.svm")), Err(DataError::NoTables { .. })));
        assert!(matches!(table_files(Path::new("nowhere/*.csv")), Err(DataError::Io { .. })));
    }

    #[test]
    fn issue_22_11_what_is_no_table_among_the_parts_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), "x").unwrap();
        let refused = |name: &str| {
            let error = table_files(folder.path()).unwrap_err();
            assert!(matches!(&error, DataError::NoPart { path } if path.ends_with(name)), "{error}");
            // Whoever names the tables gets those.
            assert_eq!(table_files(&folder.path().join("a*.csv")).unwrap().len(), 1);
        };
        std::fs::write(folder.path().join("b.txt"), "x").unwrap();
        refused("b.txt");
        std::fs::remove_file(folder.path().join("b.txt")).unwrap();
        std::fs::create_dir(folder.path().join("c.csv")).unwrap();
        refused("c.csv");
        std::fs::remove_dir(folder.path().join("c.csv")).unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("nowhere", folder.path().join("d.csv")).unwrap();
            refused("d.csv");
        }
    }
}
