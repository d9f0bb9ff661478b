//! Whether a table's records are public.
//!
//! What is computed exactly on private records is not protected. Records are private unless somebody says otherwise: the
//! schema, or, for a table without one, the command line. A schema named on the command line does not overrule the one beside
//! the table, which is its custodian's: both have to say it.

use crate::failure::Failure;
use crate::files;
use pairdp_data::Schema;
use std::path::{Path, PathBuf};

/// Refuses to compute anything exactly on records that were not said to be public.
pub(crate) fn require_public(data: &Path, schema: Option<&Path>, said_public: bool) -> Result<(), Failure> {
    // Also beside the table that a link leads to.
    let places = [Some(data.to_owned()), data.canonicalize().ok()];
    let beside = places.into_iter().flatten().map(|table| files::schema_beside(&table));
    let beside = beside.filter(|path| path.exists());
    let found: Vec<PathBuf> = schema.map(Path::to_owned).into_iter().chain(beside).collect();
    let shown = data.display();
    for path in &found {
        if Schema::read(path)?.private() {
            return Err(Failure::coded(
                "private-data",
                format!("{shown}: the records are private, as {} says", path.display()),
                "to measure a model, use `pairdp evaluate --private --epsilon E`; for probabilities, train with --probabilities; if nobody in the table needs protection, \
                 set `private = false` in the schema",
            ));
        }
    }
    match found.first() {
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
