//! `pairdp budget`: granting, and seeing what was spent.

mod recover;
mod report;

use super::evaluate;
use crate::args::{Budget as Arguments, BudgetCommand};
use crate::failure::Failure;
use crate::output::{Force, Kind, Output, Taken};
use crate::printer::Printer;
use crate::reservation::{open_or_create, schema_digest};
use pairdp_data::{Encoding, Schema};
use pairdp_ledger::{DataSet, Head, Ledger, LedgerError, Outcome, RunState, SchemaDigest};
use pairdp_units::{Adjacency, Budget, Unit};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<ExitCode, Failure> {
    let reopen =
        |file: &crate::args::LedgerFile| Ledger::open_with(&file.ledger, file.key_command.as_deref());
    match &arguments.command {
        BudgetCommand::Create(create) => {
            let usual =
                if create.persons.is_some() { Adjacency::ReplaceOnePerson } else { Adjacency::ReplaceOne };
            let adjacency = create.adjacency.unwrap_or(usual);
            let records = public_size(create.records, create.persons, adjacency)?;
            let grant = Budget::new(create.epsilon, create.delta)?;
            let schema = create.schema.as_deref().map(Schema::read).transpose()?;
            if let Some(schema) = &schema {
                check_unit(adjacency, schema)?;
            }
            let schema = schema.as_ref().map(digest_of).transpose()?;
            let mut ledger = open_or_create(&create.file)?;
            ledger.add(&create.name, DataSet { grant, adjacency, records, schema })?;
            let mut text = format!("`{}` may spend {grant}", create.name);
            if schema.is_none() {
                text += "\nno run can start before its owner says by which schema its table is read: `pairdp budget schema`";
            }
            printer.result(&text, &granted(&create.name, grant, &ledger));
        }
        BudgetCommand::Grant(change) => {
            let grant = Budget::new(change.epsilon, change.delta)?;
            let mut ledger = reopen(&change.file)?;
            ledger.grant(&change.name, grant)?;
            let text = format!("`{}` may now spend {grant}, what was spent included", change.name);
            printer.result(&text, &granted(&change.name, grant, &ledger));
        }
        BudgetCommand::Schema(set) => {
            let schema = Schema::read(&set.schema)?;
            let mut ledger = reopen(&set.file)?;
            check_unit(ledger.facts(&set.name)?.adjacency, &schema)?;
            let schema = digest_of(&schema)?;
            ledger.set_schema(&set.name, schema)?;
            let text = format!("`{}` is now read by {}", set.name, set.schema.display());
            printer.result(
                &text,
                &json!({ "dataset": set.name, "schema": schema, "head": ledger.head().to_string() }),
            );
        }
        BudgetCommand::Show(show) => {
            let mut ledger = reopen(&show.file)?;
            let balances = match &show.name {
                Some(name) => vec![(name.clone(), ledger.balance(name)?)],
                None => ledger.balances()?,
            };
            let (text, object) = report::balances(&balances, &ledger.unplaced()?, ledger.head());
            printer.result(&text, &object);
        }
        BudgetCommand::History(history) => {
            let mut ledger = reopen(&history.file)?;
            if let Some(name) = &history.name {
                ledger.facts(name)?;
            }
            let mut lines = ledger.history()?;
            lines.retain(|line| history.name.as_ref().is_none_or(|name| *name == line.entry.dataset));
            let (text, object) = report::history(&lines);
            printer.result(&text, &object);
        }
        BudgetCommand::Export(export) => {
            let reads = Taken::none().and_ledger(&export.file.ledger);
            let place = |path: &PathBuf| Output::new(path, Kind::LedgerExport, Force::Never, &reads);
            let out = export.out.as_ref().map(place).transpose()?;
            let mut ledger = reopen(&export.file)?;
            let lines = ledger.history()?;
            let document = format!("{:#}\n", report::export(&ledger.id_hex(), &lines));
            match out {
                Some(out) => {
                    let path = out.path().to_owned();
                    out.write(document.as_bytes())?;
                    let text = format!("wrote {} entries to {}", lines.len(), path.display());
                    printer.result(&text, &json!({ "entries": lines.len(), "out": path }));
                }
                None => printer.data(&document),
            }
        }
        BudgetCommand::Recover(arguments) => {
            return recover::run(arguments, &mut reopen(&arguments.file)?, printer);
        }
        BudgetCommand::Result(arguments) => {
            let state = reopen(&arguments.file)?.run(&arguments.run)?;
            let RunState::Done { outcome: Some(Outcome::Numbers { numbers }), .. } = state else {
                return Err(Failure::refused(
                    format!("the ledger has no result of an evaluation for run {}", arguments.run),
                    "`pairdp budget history` lists runs; results are kept of `pairdp evaluate --private`",
                ));
            };
            evaluate::print_again(&numbers, &arguments.run, printer)?;
        }
        BudgetCommand::Check(check) => {
            let outcome = reopen_for_check(&check.file, check.since);
            return judge(outcome, printer);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a schema of persons for a grant about records, and the other way round.
fn check_unit(adjacency: Adjacency, schema: &Schema) -> Result<(), Failure> {
    match (adjacency.unit(), schema.person()) {
        (Unit::Record, Some(_)) => Err(Failure::refused(
            format!("the schema says whose records they are, and {adjacency} protects records only"),
            "pass --persons with their number, or --adjacency add-remove-one-person if it must stay secret",
        )),
        (Unit::Person, None) => Err(Failure::refused(
            format!("{adjacency} protects persons, and the schema does not say whose records they are"),
            "name their column under [person] in the schema, or grant the budget for records",
        )),
        _ => Ok(()),
    }
}

/// The digest of what a schema could refuse.
fn digest_of(schema: &Schema) -> Result<SchemaDigest, Failure> {
    schema_digest(&Encoding::of(schema), schema.label(), schema.person())
}

/// The number of records or persons, which is needed exactly where it is public.
fn public_size(
    records: Option<u64>,
    persons: Option<u64>,
    adjacency: Adjacency,
) -> Result<Option<u64>, Failure> {
    let many = adjacency.unit().many();
    let (size, other) = match adjacency.unit() {
        Unit::Record => (records, persons),
        Unit::Person => (persons, records),
    };
    let secret = if adjacency.unit() == Unit::Person { "add-remove-one-person" } else { "add-remove-one" };
    match size {
        _ if other.is_some() => Err(Failure::refused(
            format!("{adjacency} adjacency is about {many}"),
            format!("pass their number with --{many}"),
        )),
        Some(0..2) => Err(Failure::refused(
            format!("a table needs at least 2 {many} to form a pair"),
            format!("pass the number of {many} with --{many}"),
        )),
        None if adjacency == Adjacency::AddRemovePromised => Err(Failure::refused(
            "the most records that are promised were not given",
            "pass the cap with --records",
        )),
        size if adjacency == Adjacency::AddRemovePromised => Ok(size),
        None if !adjacency.is_secret_size() => Err(Failure::refused(
            format!("the number of {many} is public under {adjacency} adjacency and was not given"),
            format!("pass --{many}, or --adjacency {secret} if it must stay secret"),
        )),
        Some(_) if adjacency.is_secret_size() => Err(Failure::refused(
            format!("the number of {many} is secret under {adjacency} adjacency"),
            format!("leave out --{many}"),
        )),
        size => Ok(size),
    }
}

fn granted(name: &str, grant: Budget, ledger: &Ledger) -> serde_json::Value {
    json!({ "dataset": name, "epsilon": grant.epsilon, "delta": grant.delta, "head": ledger.head().to_string() })
}

fn reopen_for_check(file: &crate::args::LedgerFile, since: Option<Head>) -> Result<Head, LedgerError> {
    let key = match &file.key_command {
        _ if !file.ledger.exists() => return Err(LedgerError::Missing(file.ledger.clone())),
        Some(command) => pairdp_ledger::Key::from_command(command),
        None => pairdp_ledger::Key::beside(&file.ledger),
    }?;
    Ledger::open(&file.ledger, key)?.check(since)
}

/// A damaged history is an answer, everything else that went wrong is not.
fn judge(outcome: Result<Head, LedgerError>, printer: &Printer) -> Result<ExitCode, Failure> {
    match outcome {
        Ok(head) => {
            let text = format!("yes: {} entries, none changed\nhead {head}", head.count);
            printer.result(&text, &json!({ "holds": true, "entries": head.count, "head": head.to_string() }));
            Ok(ExitCode::SUCCESS)
        }
        Err(LedgerError::Damaged(damage)) => {
            let object = json!({ "holds": false, "failure": damage.to_string() });
            printer.result(&format!("no: {damage}"), &object);
            Ok(ExitCode::from(1))
        }
        Err(error) => Err(error.into()),
    }
}
