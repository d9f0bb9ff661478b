//! What can be typed.

mod budget;
mod decisions;
mod evidence;
mod signing;
mod tuning;

pub(crate) use budget::{Budget, BudgetCommand, LedgerFile, Recover, Spending};
pub(crate) use decisions::{Calibrate, WhomToFlag};
pub(crate) use evidence::{Audit, Influence, Stability};
pub(crate) use signing::{Keygen, Migrate, Sign};
pub(crate) use tuning::Tuning;

use crate::engine::Address;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The version, and the formats that it reads: `docs/formats.md` has more.
const WITH_FORMATS: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nreads pairdp-model/2 with pairdp-certificate/2 and /3, pairdp-baseline/2, pairdp-checkpoint/1,",
    "\nand ledgers with entries up to version 4"
);

/// Train, check and use differentially private pairwise models.
#[derive(Parser)]
#[command(
    name = "pairdp",
    version,
    long_version = WITH_FORMATS,
    propagate_version = true,
    after_help = "\
Start with: pairdp demo

Exit codes: 0 done, 1 refused (or a check says no), 2 the machine failed. With --json results are
one JSON object on standard output, and errors one on standard error with a `code` that stays the
same between versions.

Examples:
  pairdp demo --out pairdp-demo
  pairdp train cohort.csv --epsilon 1 --delta 1e-6 --out model.json
  pairdp verify model.json"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Watch a private model being trained, checked and compared, on a simulated cohort
    Demo(Demo),
    /// Write a synthetic cohort and its schema
    Simulate(Simulate),
    /// Train a private model from a table
    Train(Train),
    /// Train without privacy, to compare with
    Baseline(Baseline),
    /// What training would do and cost for a table of given size, before there is one
    Plan(Plan),
    /// Apply a model to the rows of a table
    Predict(Predict),
    /// Give a model probabilities by the labels of a public table
    Calibrate(Calibrate),
    /// Print what a model says: what each column adds to a score, in its own unit
    Show(Show),
    /// Measure how good a model is on a labelled table
    Evaluate(Evaluate),
    /// Write a page about a model: its guarantee in plain words, plots, the certificate
    Report(Report),
    /// Grant privacy budgets to data sets, and see what was spent
    Budget(Budget),
    /// Recompute a model's privacy certificate and say yes or no
    Verify(Verify),
    /// Make a key with which a custodian signs models
    Keygen(Keygen),
    /// Sign a model file, so that others can check who answers for it
    Sign(Sign),
    /// Write a model of a former version in the formats of this one
    Migrate(Migrate),
    /// Write or check what is publicly known about a table
    Schema(Schema),
    /// Count cells that a schema clips, does not list or finds missing: for the custodian alone
    Check(Check),
    /// What noisy releases cost, or how much noise a budget needs
    Account(Account),
    /// Write a model for other programs: ONNX, or plain JSON
    Export(Export),
    /// Print a script that completes commands in a shell
    Completions(Completions),
    /// Print the manual page, or write those of all commands to a folder
    Man(Man),
    /// Attack a mechanism many times and bound its ε from below
    Audit(Audit),
    /// Measure how far one record moves a descent, beside the bounds
    Stability(Stability),
    /// What single records do to a ranker fitted without privacy: for the custodian alone
    Influence(Influence),
    /// Hold parts of a table and answer questions about them: what `train --engine local:N` starts
    #[command(hide = true)]
    Worker,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  pairdp demo --out pairdp-demo")]
pub(crate) struct Demo {
    /// Folder for the files it writes
    #[arg(long, value_name = "DIR", default_value = "pairdp-demo")]
    pub(crate) out: PathBuf,
    /// Replace files of the same names that are not the demonstration's own
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  pairdp simulate --records 4000 --out cohort.csv")]
pub(crate) struct Simulate {
    /// Rows to write
    #[arg(long, value_name = "N", default_value_t = 4000)]
    pub(crate) records: usize,
    /// The same seed gives the same cohort; it never reaches the noise of a model
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// CSV file to write; its schema goes beside it as NAME.schema.toml
    #[arg(long, value_name = "FILE", default_value = "cohort.csv")]
    pub(crate) out: PathBuf,
    /// Replace a table that is there already, and its schema if that is a simulated table's
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args)]
#[command(after_help = "\
A schema holds public knowledge about the table, never numbers taken from it:
  [label]
  column = \"readmitted\"
  positive = \"yes\"
  negative = \"no\"

  [[column]]
  name = \"age\"
  range = [20, 95]

  [[column]]
  name = \"sex\"
  categories = [\"female\", \"male\"]

Examples:
  pairdp train cohort.csv --epsilon 1 --delta 1e-6 --out model.json
  pairdp train cohort.csv --epsilon 0.3 --delta 1e-6 --ledger clinic.ledger --dataset stays-2026")]
pub(crate) struct Train {
    /// Table: .csv or .parquet with a header, .svm or .libsvm; text may be packed as .gz. Or a folder of such files, or a
    /// pattern such as 'parts/*.parquet'
    pub(crate) data: PathBuf,
    /// Public columns, ranges and label [default: DATA with the ending .schema.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Privacy budget ε; 1 is a common choice, smaller protects more
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: f64,
    /// Privacy budget δ; well below 1/n, or 0 for pure ε
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) delta: f64,
    /// Model file to write
    #[arg(long, value_name = "FILE", default_value = "model.json")]
    pub(crate) out: PathBuf,
    /// Replace a model that is there already; the budget it cost does not come back
    #[arg(long)]
    pub(crate) force: bool,
    /// Sign the model with this key, as `pairdp sign` does
    #[arg(long, value_name = "KEY")]
    pub(crate) sign_with: Option<PathBuf>,
    /// Where the table's files are read and added up: local:N for N processes, ray:auto, ray:HOST:PORT, ray://HOST:PORT or
    /// dask://HOST:PORT for a running cluster; the model is the same
    #[arg(long, value_name = "ENGINE", value_parser = Address::parse)]
    pub(crate) engine: Option<Address>,
    /// Save the public state of the run here, and go on from it if it was interrupted; removed at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Least number of seconds between two saves of the checkpoint
    #[arg(
        long,
        value_name = "S",
        default_value_t = 1.0,
        requires = "checkpoint",
        allow_negative_numbers = true
    )]
    pub(crate) checkpoint_every: f64,
    #[command(flatten)]
    pub(crate) spending: Spending,
    #[command(flatten)]
    pub(crate) tuning: Tuning,
}

#[derive(Args)]
#[command(after_help = "\
The model is not private and its file says so: keep it inside.

Examples:
  pairdp baseline cohort.csv --out ceiling.json
  pairdp baseline cohort.csv --method sgd --order reshuffled --steps 20000 --step-size 0.05")]
pub(crate) struct Baseline {
    /// CSV file with a header
    pub(crate) data: PathBuf,
    /// Public columns, ranges and label [default: DATA with the ending .schema.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Model file to write
    #[arg(long, value_name = "FILE", default_value = "baseline.json")]
    pub(crate) out: PathBuf,
    /// Descend over all pairs, along one pair a step, or along a drawn record's pairs with all drawn before it
    #[arg(long, default_value = "gd", value_parser = ["gd", "sgd", "sgd-history"])]
    pub(crate) method: String,
    #[command(flatten)]
    pub(crate) tuning: Tuning,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  pairdp plan --records 5000 --features 20 --epsilon 1 --delta 1e-6
  pairdp plan --records 1000 --features 10 --epsilon 1 --delta 1e-6 --explain
  pairdp plan --records 5000 --features 20 --epsilon 1 --delta 1e-6 --curve --effect 0.8 --plot auc.svg")]
pub(crate) struct Plan {
    /// Records of the table
    #[arg(long, value_name = "N", required_unless_present = "persons")]
    pub(crate) records: Option<usize>,
    /// Persons of the table, with any number of records each: they are protected then, with all their records
    #[arg(long, value_name = "N", conflicts_with = "records")]
    pub(crate) persons: Option<usize>,
    /// Features of a record, after encoding
    #[arg(long, value_name = "D")]
    pub(crate) features: usize,
    /// Privacy budget ε
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: f64,
    /// Privacy budget δ; well below 1/n, or 0 for pure ε
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) delta: f64,
    /// Compare all algorithms, each with its noise, its paper's, its cost and a bound on its excess risk
    #[arg(long)]
    pub(crate) explain: bool,
    /// Train rankers or classifiers on simulated records, of a quarter to four times N and ε, and say what AUC they reach
    #[arg(long, conflicts_with = "explain", requires = "effect")]
    pub(crate) curve: bool,
    /// The best AUC that any ranking of the simulated records has: what you believe there is to be found
    #[arg(long, value_name = "AUC", requires = "curve")]
    pub(crate) effect: Option<f64>,
    /// The share of positive records among the simulated ones
    #[arg(long, value_name = "SHARE", requires = "curve", default_value_t = 0.3)]
    pub(crate) positive_share: f64,
    /// SVG file to draw the curve into
    #[arg(long, value_name = "FILE", requires = "curve")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tuning: Tuning,
}

#[derive(Args)]
#[command(after_help = "\
Reasons are what columns add to a row's score or prediction, the largest first. They are exact: with
what every row starts at, which `pairdp show` prints, all of them add up to it.

A row with a cell that the model cannot read, such as an empty one in a column that has no value for
missing ones, gets an empty score, and the message at the end says how many there are.

Examples:
  pairdp predict model.json patients.csv --out scores.csv
  pairdp predict model.json patients.csv --keep stay_id,ward --out scores.csv
  pairdp predict model.json patients.csv --reasons --out scores.csv
  pairdp predict model.json patients.csv --flag-share 0.1 --out triage.csv")]
pub(crate) struct Predict {
    /// Model file
    pub(crate) model: PathBuf,
    /// Table with the model's columns
    pub(crate) data: PathBuf,
    /// File to write: Parquet if its name ends in .parquet, otherwise CSV [default: CSV to standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace a file of predictions that is there already
    #[arg(long)]
    pub(crate) force: bool,
    /// Columns of the table to write before each score as they are, such as an id: a,b,c
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) keep: Vec<String>,
    /// Refuse the whole table for a row that cannot be scored, instead of leaving its score empty
    #[arg(long)]
    pub(crate) strict: bool,
    /// Say for every row which columns add most, and how much: three of them, or K
    #[arg(long, value_name = "K", num_args = 0..=1, require_equals = true, default_missing_value = "3")]
    pub(crate) reasons: Option<usize>,
    #[command(flatten)]
    pub(crate) flag: WhomToFlag,
}

#[derive(Args)]
#[command(after_help = "\
A column of numbers adds so much for each unit, or, where the model learned from ranks, a curve, of
which the lowest and the highest place are printed (`pairdp report` draws it). A category or an
empty cell adds one number. All of it follows from the model file and costs no budget.

Examples:
  pairdp show model.json
  pairdp show model.json --json")]
pub(crate) struct Show {
    /// Model file
    pub(crate) model: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
On public records: AUC for rankers, accuracy and AUC for classifiers, errors for regression,
Harrell's C up to the horizon for survival; for metrics the share of records whose class is that
of most of their 3 nearest others, beside the same for the plain Euclidean distance. All are exact
and protect nobody, so records must be public: by `private = false` in the schema, or --public
without one.

With --private, AUC, accuracy and C come with noise that makes them private for replacing any one
record, or any one person where the schema says whose records they are, and with intervals that
hold the exact values 95 times in 100. Gaussian noise (--delta 1e-6) is two to three times the
noise of Laplace at one ε, but takes less from a ledger whose other runs are Gaussian. With
--curves every threshold has the share it flags, its sensitivity, its false positives and its
precision, and every cell of the score the share of positive records, each with such an interval.

Examples:
  pairdp evaluate model.json holdout.csv
  pairdp evaluate model.json patients.csv --private --epsilon 0.1
  pairdp evaluate model.json patients.csv --private --epsilon 1 --curves
  pairdp evaluate model.json patients.csv --private --epsilon 0.1 --ledger clinic.ledger --dataset stays-2026")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Evaluate {
    /// Model file
    pub(crate) model: PathBuf,
    /// Table with the model's columns and the label
    pub(crate) data: PathBuf,
    /// Says whether the records are public, and whose they are [default: DATA with the ending .schema.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Nobody in the table needs protection; for a table without a schema
    #[arg(long, conflicts_with = "private")]
    pub(crate) public: bool,
    /// Release noisy measures of private records
    #[arg(long, requires = "epsilon")]
    pub(crate) private: bool,
    /// Privacy budget ε of the release
    #[arg(long, value_name = "E", allow_negative_numbers = true, requires = "private")]
    pub(crate) epsilon: Option<f64>,
    /// Privacy budget δ of the release: 0 for Laplace noise, more for Gaussian
    #[arg(long, value_name = "D", allow_negative_numbers = true, default_value_t = 0.0)]
    pub(crate) delta: f64,
    /// Rankers and classifiers: release ROC, precision-recall and calibration curves and a table of thresholds as well, from one
    /// noisy histogram of scores, which takes 70 % of the budget
    #[arg(long, requires = "private")]
    pub(crate) curves: bool,
    /// The number of records, or persons, of this table is public, although the model keeps the number it learned from secret
    #[arg(long, requires = "private")]
    pub(crate) public_size: bool,
    #[command(flatten)]
    pub(crate) spending: Spending,
}

#[derive(Args)]
#[command(after_help = "\
The page is one file without scripts that works offline and on paper. A test table must be public,
as for `evaluate`.

Examples:
  pairdp report model.json
  pairdp report model.json holdout.csv -o report.html")]
pub(crate) struct Report {
    /// Model file
    pub(crate) model: PathBuf,
    /// Public table to test it on
    pub(crate) test: Option<PathBuf>,
    /// Page to write [default: MODEL with the ending .html]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Says whether the test records are public [default: TEST with the ending .schema.toml, if there is one]
    #[arg(long, value_name = "FILE", requires = "test")]
    pub(crate) schema: Option<PathBuf>,
    /// Nobody in the test table needs protection; for a table without a schema
    #[arg(long, requires = "test")]
    pub(crate) public: bool,
    /// Give up if verifying the model would take longer than about this
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub(crate) patience: f64,
}

#[derive(Args)]
#[command(after_help = "\
Each line is a relation that must hold between numbers of the certificate. Letters: n records,
κ the bound on the length of a row, B that on the weights w, p released numbers, Δ how far one
record can move them, σ the noise, τ the error of rounding, m sensitivity over noise, T steps,
δ_s what drawing the noise costs. A yes means: if training did what the certificate says, the
claim is true.

Exit code 0 means yes, 1 means no.

Examples:
  pairdp verify model.json
  pairdp verify model.json --signed-by custodian.key.pub")]
pub(crate) struct Verify {
    /// Model file
    pub(crate) model: PathBuf,
    /// Give up if recomputing would take longer than about this
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub(crate) patience: f64,
    /// Accept the answer `yes, if …`: you know the code that scored the records, and that it meets the stated condition
    #[arg(long)]
    pub(crate) accept_foreign: bool,
    /// Say yes only if the holder of this public key signed the file
    #[arg(long, value_name = "KEY")]
    pub(crate) signed_by: Option<PathBuf>,
    /// Signature to check [default: MODEL.signature]
    #[arg(long, value_name = "FILE", requires = "signed_by")]
    pub(crate) signature: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Adjacency is replace-one. The multiplier is the standard deviation of the noise over the
*replace-one sensitivity* of the query on one sample. Libraries that clip each record to C and
count add-or-remove divide by C instead; replacing a record moves their sum by up to 2C, so their
multiplier is twice ours for the same noise.

Examples:
  pairdp account --records 5000 --batch 2 --steps 5000 --epsilon 1 --delta 4e-8
  pairdp account --records 5000 --batch 2 --steps 5000 --noise-multiplier 0.72 --delta 4e-8 --json")]
pub(crate) struct Account {
    /// Records in the table
    #[arg(long, value_name = "N")]
    pub(crate) records: u64,
    /// Records in a sample, drawn uniformly without replacement; 2 for a uniform pair [default: all, no sampling]
    #[arg(long, value_name = "M")]
    pub(crate) batch: Option<u64>,
    /// Releases
    #[arg(long, value_name = "T", default_value_t = 1)]
    pub(crate) steps: u64,
    /// Noise divided by sensitivity: prints the ε that it gives
    #[arg(long, value_name = "S", allow_negative_numbers = true, conflicts_with = "epsilon")]
    pub(crate) noise_multiplier: Option<f64>,
    /// Budget ε: prints the noise that it needs
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: Option<f64>,
    /// Budget δ, as in (ε, δ)-differential privacy; well below 1/n
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) delta: f64,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  pairdp schema init cohort.csv
  pairdp schema check cohort.csv")]
pub(crate) struct Schema {
    #[command(subcommand)]
    pub(crate) command: SchemaCommand,
}

#[derive(Subcommand)]
pub(crate) enum SchemaCommand {
    /// Write a schema to fill in, from the names of a table's columns alone
    Init(SchemaInit),
    /// Check that a schema fits a table, from the names of its columns alone; records are not read
    Check(SchemaCheck),
}

#[derive(Args)]
#[command(after_help = "Examples:\n  pairdp schema init cohort.csv")]
pub(crate) struct SchemaInit {
    /// Table with a header: .csv, .csv.gz, .tsv, .tsv.gz or .parquet
    pub(crate) data: PathBuf,
    /// Schema file to write [default: DATA with the ending .schema.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  pairdp schema check cohort.csv")]
pub(crate) struct SchemaCheck {
    /// Table: .csv, .csv.gz, .tsv, .parquet, .svm or .libsvm
    pub(crate) data: PathBuf,
    /// Public columns, ranges and label [default: DATA with the ending .schema.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
The counts are exact and protect nobody: they are for whoever holds the records, to find a column
that was read wrongly, such as one in another unit. `pairdp schema check` looks at no record.

Examples:
  pairdp check cohort.csv
  pairdp check cohort.csv --out cohort.not-private.txt")]
pub(crate) struct Check {
    /// Table: .csv, .csv.gz, .tsv, .tsv.gz or .parquet
    pub(crate) data: PathBuf,
    /// Public columns, ranges and label [default: DATA with the ending .schema.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// File to write, whose name ends in .not-private.txt [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
An ONNX file takes raw columns: `numbers` (float64, a row each) and `texts` (strings) in the order
that its metadata lists, and has what training did to them inside: ranges, categories, the bound
on a row's length. Its output is `score`, `prediction` in the label's units, or `embedding`, where
the squared Euclidean distance is the metric's.

Examples:
  pairdp export model.json --to onnx -o model.onnx
  pairdp export model.json --to json")]
pub(crate) struct Export {
    /// Model file
    pub(crate) model: PathBuf,
    /// What to write
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) to: ExportFormat,
    /// File to write [default: MODEL with the ending .onnx, or standard output for JSON]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// For ONNX runtimes
    Onnx,
    /// Columns, weights and bounds, as text
    Json,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  pairdp completions bash > ~/.local/share/bash-completion/completions/pairdp
  pairdp completions fish > ~/.config/fish/completions/pairdp.fish")]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  pairdp man | man -l -
  pairdp man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Folder for the pages of all commands [default: the first page to standard output]
    pub(crate) folder: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_names_the_formats_that_are_read() {
        for format in [pairdp_certificate::MODEL_FORMAT, pairdp_certificate::FORMER] {
            assert!(WITH_FORMATS.contains(format), "{format}");
        }
        let number = pairdp_certificate::FORMAT.rsplit('/').next().unwrap_or_default();
        assert!(WITH_FORMATS.contains(&format!("and /{number}")));
    }
}
