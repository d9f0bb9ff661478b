//! Whether a table's records are public.
//!
//! What is computed exactly on private records is not protected. Records are private unless somebody says otherwise: the
//! schema, or, for a table without one, the command line.

use crate::failure::Failure;
use crate::files;
use pairdp_data::Schema;
use std::path::Path;

/// Refuses to compute anything exactly on records that were not said to be public.
pub(crate) fn require_public(data: &Path, schema: Option<&Path>, said_public: bool) -> Result<(), Failure> {
    let beside = files::schema_beside(data);
    let found = match schema {
        Some(path) => Some(path),
        None => beside.is_file().then_some(beside.as_path()),
    };
    let shown = data.display();
    match found {
        Some(path) if Schema::read(path)?.private() => Err(Failure::coded(
            "private-data",
            format!("{shown}: the records are private, as {} says", path.display()),
            "release noisy measures with `pairdp evaluate --private --epsilon E`; if nobody in the table needs protection, \
             set `private = false` in the schema",
        )),
        Some(_) => Ok(()),
        None if said_public => Ok(()),
        None => Err(Failure::coded(
            "private-data",
            format!("{shown}: nothing says that the records are public"),
            "pass --public if nobody in the table needs protection; otherwise release noisy measures with \
             `pairdp evaluate --private --epsilon E`",
        )),
    }
}
