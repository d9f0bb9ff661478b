//! What can be typed about budgets.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use pairdp_ledger::Head;
use pairdp_units::Adjacency;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
A ledger is one file that says what was granted to data sets and what was spent. Runs of all users
and processes add up, and a run that was killed counts as spent. Its key, FILE.key, makes changes
to the history noticeable.

Examples:
  pairdp budget create stays-2026 --ledger clinic.ledger --epsilon 2 --delta 1e-6 --records 6000 \\
      --schema stays.schema.toml
  pairdp train stays.csv --epsilon 0.5 --delta 1e-6 --ledger clinic.ledger --dataset stays-2026
  pairdp budget show --ledger clinic.ledger")]
pub(crate) struct Budget {
    #[command(subcommand)]
    pub(crate) command: BudgetCommand,
}

#[derive(Subcommand)]
pub(crate) enum BudgetCommand {
    /// Enter a data set with what all runs on it may cost; makes the ledger if there is none
    Create(Create),
    /// Change the total that a data set may spend
    Grant(Grant),
    /// Say by which schema a data set's table is read
    Schema(SetSchema),
    /// What was granted, spent and is left
    Show(Show),
    /// Everything that happened, oldest first
    History(History),
    /// The whole history with its hashes, as one JSON document
    Export(Export),
    /// Put finished models in place whose runs were killed just before the end
    Recover(Recover),
    /// Print the result of a private evaluation again
    Result(RunResult),
    /// Recompute every hash and say yes or no
    Check(Check),
}

/// Which ledger.
#[derive(Args)]
pub(crate) struct LedgerFile {
    /// Ledger file
    #[arg(long, value_name = "FILE")]
    pub(crate) ledger: PathBuf,
    /// Command that prints the ledger's key, 64 hexadecimal digits [default: the key is in FILE.key]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) key_command: Option<String>,
}

/// Who pays for a run, if a ledger does.
#[derive(Args, Default)]
pub(crate) struct Spending {
    /// Ledger that the budget is taken from, before the table is read
    #[arg(long, value_name = "FILE", requires = "dataset")]
    pub(crate) ledger: Option<PathBuf>,
    /// Name under which the ledger knows the table
    #[arg(long, value_name = "NAME", requires = "ledger")]
    pub(crate) dataset: Option<String>,
    /// Command that prints the ledger's key [default: the key is in FILE.key]
    #[arg(long, value_name = "COMMAND", requires = "ledger")]
    pub(crate) key_command: Option<String>,
}

/// Adjacencies by name, each with what it protects.
fn adjacency_parser() -> impl TypedValueParser<Value = Adjacency> {
    let listed = Adjacency::ALL.map(|adjacency| {
        PossibleValue::new(adjacency.name()).help(match adjacency {
            Adjacency::ReplaceOne => "Whole records; how many there are is public",
            Adjacency::ReplaceFeatures => {
                "The features of records; labels, and how many there are, are public"
            }
            Adjacency::AddRemoveOne => "Whole records, and how many there are",
            Adjacency::AddRemovePromised => {
                "The same, with the promise that there are never more than --records says: less noise"
            }
            Adjacency::ReplaceOnePerson => {
                "Persons with all their records; how many persons there are is public"
            }
            Adjacency::AddRemoveOnePerson => "Persons with all their records, and how many persons there are",
        })
    });
    PossibleValuesParser::new(listed)
        .try_map(|name| Adjacency::ALL.into_iter().find(|one| one.name() == name).ok_or("unknown"))
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  pairdp budget create stays-2026 --ledger clinic.ledger --epsilon 2 --delta 1e-6 --records 6000 \\
      --schema stays.schema.toml
  pairdp budget create stays-2026 --ledger clinic.ledger --epsilon 2 --delta 1e-6 --records 6000 \\
      --schema stays.schema.toml --key-command 'pass show clinic-ledger'")]
pub(crate) struct Create {
    /// Name of the data set
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) file: LedgerFile,
    /// ε that all runs together may cost
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: f64,
    /// δ that all runs together may cost; 0 allows only runs with δ = 0
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) delta: f64,
    /// Records in the table, which is public under replace-one adjacency, or the most that are promised under
    /// add-remove-promised; `train` needs it
    #[arg(long, value_name = "N")]
    pub(crate) records: Option<u64>,
    /// Persons in the table, if its schema says whose records they are: the grant is then for persons
    #[arg(long, value_name = "N", conflicts_with = "records")]
    pub(crate) persons: Option<u64>,
    /// What the grant protects [default: replace-one, or with --persons replace-one-person]
    #[arg(long, value_name = "NAME", value_parser = adjacency_parser())]
    pub(crate) adjacency: Option<Adjacency>,
    /// Schema that the table is read by. No run with another one is let near the table, because refusals under a schema of
    /// somebody's choice would answer questions about records
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
A schema decides what the refusal of a table tells, so it belongs to the data set and only its
owner should change it. The history keeps every change. Ledgers of version 0.1 need it once.

Examples:
  pairdp budget schema stays-2026 --ledger clinic.ledger --schema stays.schema.toml")]
pub(crate) struct SetSchema {
    /// Name of the data set
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) file: LedgerFile,
    /// Schema that the table is read by
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
The new total includes what was spent. Decide on it without looking at the models: a grant that
was raised because a result was not good enough promises less than it says.

Examples:
  pairdp budget grant stays-2026 --ledger clinic.ledger --epsilon 3 --delta 1e-6")]
pub(crate) struct Grant {
    /// Name of the data set
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) file: LedgerFile,
    /// ε that all runs together may cost
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: f64,
    /// δ that all runs together may cost
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) delta: f64,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  pairdp budget show --ledger clinic.ledger")]
pub(crate) struct Show {
    /// Name of the data set [default: all]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) file: LedgerFile,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  pairdp budget history stays-2026 --ledger clinic.ledger")]
pub(crate) struct History {
    /// Name of the data set [default: all]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) file: LedgerFile,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  pairdp budget export --ledger clinic.ledger --out clinic-2026-03.json")]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) file: LedgerFile,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
A model is paid for before it is put in its place. A run that is killed in between leaves it
beside that place, as .pairdp-model-RUN-NAME. This looks for such files in a folder, checks that
the ledger knows them, and puts them where they belong; nothing is trained or spent. Models that
were moved by hand are recognised by their digest.

Exit code 0 means that every model was found, 1 that some are still missing.

Examples:
  pairdp budget recover --ledger clinic.ledger
  pairdp budget recover /tmp --ledger clinic.ledger")]
pub(crate) struct Recover {
    /// Folder to look in
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) file: LedgerFile,
}

#[derive(Args)]
#[command(after_help = "\
The numbers that `pairdp evaluate --private` released are kept with the run that paid for them.
They are printed again without opening the table, and cost nothing.

Examples:
  pairdp budget result 4c1de0… --ledger clinic.ledger")]
pub(crate) struct RunResult {
    /// Name of the run, as `pairdp budget history` has it
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) file: LedgerFile,
}

#[derive(Args)]
#[command(after_help = "\
Exit code 0 means yes, 1 means no. An old copy of the whole file is a sound history too: keep the
head that this prints somewhere else, and give it as --since next time.

Examples:
  pairdp budget check --ledger clinic.ledger
  pairdp budget check --ledger clinic.ledger --since 12:9f3a…")]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) file: LedgerFile,
    /// Head of an earlier check that this history must continue
    #[arg(long, value_name = "HEAD")]
    pub(crate) since: Option<Head>,
}
