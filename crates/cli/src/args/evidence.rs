//! What may be asked of claims.

use super::Tuning;
use super::tuning::named;
use clap::Args;
use pairdp_audit::{Pair, View};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
The mechanism is run on two tables that differ in one record, which the auditor made up: the pair
for which its sensitivity is attained. A fair coin chooses the table; the attacker sees every
release and guesses by the likelihood ratio. The larger δ, the fewer runs show the whole of ε.

--command audits any program that reads a CSV file (header, features, target last) and writes
numbers, as JSON or as text; {data} and {model} stand for the two files. --epsilon and --delta are
then its claim.

Exit code 0 means that no claim was refuted, 1 that one was. A true claim is refuted
at most once in a million audits.

Examples:
  pairdp audit --algorithm noisy-gd --steps 10 --radius 0.1 --runs 20000
  pairdp audit --all --runs 20000
  pairdp audit --algorithm moments --canaries 200 --records 1000 --epsilon 8 --delta 1e-6
  pairdp audit --command 'awk -F, \"NR>1{s+=\\$1} END{print s/(NR-1)}\" {data} > {model}' --runs 200")]
pub(crate) struct Audit {
    /// Records of the tables
    #[arg(long, value_name = "N", default_value_t = pairdp_audit::suite::RECORDS)]
    pub(crate) records: usize,
    /// Features of a record
    #[arg(long, value_name = "D", default_value_t = pairdp_audit::suite::FEATURES)]
    pub(crate) features: usize,
    /// The claim's ε
    #[arg(long, value_name = "E", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) epsilon: f64,
    /// The claim's δ
    #[arg(long, value_name = "D", default_value_t = 1e-3, allow_negative_numbers = true)]
    pub(crate) delta: f64,
    /// How often to run the mechanism
    #[arg(long, value_name = "R", default_value_t = 5000)]
    pub(crate) runs: usize,
    /// How sure the lower bound is to be
    #[arg(long, value_name = "P", default_value_t = 0.999, allow_negative_numbers = true)]
    pub(crate) confidence: f64,
    /// Tables for which sensitivities are attained, or of no special shape
    #[arg(long, value_name = "PAIR", default_value = "worst", value_parser = named::<Pair>(["worst", "typical"]))]
    pub(crate) pair: Pair,
    /// What the attacker sees: every release, or the model alone
    #[arg(long, value_name = "VIEW", default_value = "releases",
        value_parser = named::<View>(["releases", "model"]))]
    pub(crate) view: View,
    /// Keep the runs here, and go on with those that are there
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Audit every algorithm and print one table
    #[arg(long, conflicts_with = "state")]
    pub(crate) all: bool,
    /// Run once instead, with so many records chosen by coins, each with a feature of its own
    #[arg(long, value_name = "M", conflicts_with_all = ["state", "all", "command"])]
    pub(crate) canaries: Option<usize>,
    /// Audit this program instead: it reads {data} and writes {model}
    #[arg(long, value_name = "CMD", conflicts_with = "all")]
    pub(crate) command: Option<String>,
    #[command(flatten)]
    pub(crate) tuning: Tuning,
}

#[derive(Args)]
#[command(after_help = "\
Two descents on tables that differ in one record, with the same indices: how far apart they are
after the last step, beside the bound for these indices, the formula for any, and η√T + ηT/n.
`construction` is the loss on which theory says that descents are least stable. Nothing here reads
a private table.

Exit code 0 means that every measurement is within its bounds, 1 that one is not.

Examples:
  pairdp stability
  pairdp stability --records 20,200 --steps 10,100,1000 --step-size 0.01 --plot stability.svg")]
pub(crate) struct Stability {
    /// Records, n
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [20, 80])]
    pub(crate) records: Vec<usize>,
    /// Steps, T
    #[arg(long, value_name = "T", value_delimiter = ',', default_values_t = [20, 80, 320])]
    pub(crate) steps: Vec<u32>,
    /// Step size, η
    #[arg(long, value_name = "H", value_delimiter = ',', default_values_t = [0.01, 0.1])]
    pub(crate) step_size: Vec<f64>,
    /// Draw the growth on the construction here, as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
For the custodian alone: every number is derived from the records without noise. A ranker is
fitted without privacy (logistic loss, a ridge), and for each record it is predicted how far
leaving it out would move the parameters, and how much that would change the loss of pairs.

Examples:
  pairdp influence cohort.csv --top 10
  pairdp influence cohort.csv --exact 10 --out influence.csv")]
pub(crate) struct Influence {
    /// Table: .csv or .parquet with a header, .svm or .libsvm; text may be packed as .gz
    pub(crate) data: PathBuf,
    /// Public columns, ranges and label [default: DATA with the ending .schema.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Half this times the squared norm of the parameters is added to the risk
    #[arg(long, value_name = "L", default_value_t = 0.1, allow_negative_numbers = true)]
    pub(crate) ridge: f64,
    /// How many records to show, the most influential first
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub(crate) top: usize,
    /// For how many of the first to fit again without the record, and compare
    #[arg(long, value_name = "K", default_value_t = 3)]
    pub(crate) exact: usize,
    /// Write the influence of every record here, as CSV; never over a model
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
