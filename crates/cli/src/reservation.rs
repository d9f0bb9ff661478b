//! The ledger that a command names, if it names one.

use crate::args::{LedgerFile, Spending};
use crate::failure::Failure;
use crate::output::draft;
use pairdp_data::{Encoding, Label, PersonColumn};
use pairdp_ledger::{Booking, Key, Ledger, LedgerError, SchemaDigest};

/// Who pays for a run on a table that is read by such columns, such a label and a column of persons, if it has one; nobody, if no
/// ledger was named.
pub(crate) fn payer(
    spending: &Spending,
    encoding: &Encoding,
    label: &Label,
    person: Option<&PersonColumn>,
) -> Result<Option<Booking>, Failure> {
    let (Some(path), Some(dataset)) = (&spending.ledger, &spending.dataset) else {
        return Ok(None);
    };
    let ledger = Ledger::open_with(path, spending.key_command.as_deref())?;
    Ok(Some(Booking::new(ledger, dataset, schema_digest(encoding, label, person)?)?))
}

/// The digest of what a table could be refused for.
pub(crate) fn schema_digest(
    encoding: &Encoding,
    label: &Label,
    person: Option<&PersonColumn>,
) -> Result<SchemaDigest, Failure> {
    Ok(SchemaDigest::of(&encoding.form(label, person).map_err(Failure::Failed)?))
}

/// Opens the ledger that was named, or makes it and its key.
pub(crate) fn open_or_create(file: &LedgerFile) -> Result<Ledger, Failure> {
    if !file.ledger.exists() {
        draft::sweep(&file.ledger);
        if let Some(folder) =
            file.ledger.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
        {
            return Err(Failure::refused(format!("{}: no such folder", folder.display()), "create it first"));
        }
        let key = match &file.key_command {
            Some(command) => Key::from_command(command),
            None => Key::beside_or_new(&file.ledger),
        };
        match key.and_then(|key| Ledger::create(&file.ledger, key)) {
            // Someone else was faster.
            Err(LedgerError::Exists(_)) => {}
            other => return Ok(other?),
        }
    }
    Ok(Ledger::open_with(&file.ledger, file.key_command.as_deref())?)
}
