//! What can be typed.

mod budget;

pub(crate) use budget::{Adjacency, Budget, BudgetCommand, LedgerFile, Spending};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Train, check and use differentially private pairwise models.
#[derive(Parser)]
#[command(name = "pairdp", version, propagate_version = true, after_help = "Start with: pairdp demo")]
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
    /// Train a private ranker from a CSV file
    Train(Train),
    /// Score the rows of a CSV file with a model
    Predict(Predict),
    /// Measure a model's AUC on a labelled CSV file
    Evaluate(Evaluate),
    /// Recompute a model's privacy certificate and say yes or no
    Verify(Verify),
    /// What noisy releases cost, or how much noise a budget needs
    Account(Account),
    /// Grant privacy budgets to data sets, and see what was spent
    Budget(Budget),
}

#[derive(Args)]
#[command(after_help = "Example:\n  pairdp demo --out pairdp-demo")]
pub(crate) struct Demo {
    /// Folder for the files it writes
    #[arg(long, value_name = "DIR", default_value = "pairdp-demo")]
    pub(crate) out: PathBuf,
}

#[derive(Args)]
#[command(after_help = "Example:\n  pairdp simulate --records 4000 --out cohort.csv")]
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
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  pairdp train cohort.csv --epsilon 1 --delta 1e-6 --out model.json
  pairdp train cohort.csv --epsilon 0.3 --delta 1e-6 --ledger clinic.ledger --dataset stays-2026

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
  categories = [\"female\", \"male\"]")]
pub(crate) struct Train {
    /// CSV file with a header
    pub(crate) data: PathBuf,
    /// Public columns, ranges and label [default: DATA with the ending .schema.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Privacy budget ε; 1 is a common choice, smaller protects more
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: f64,
    /// Privacy budget δ; well below 1/n
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) delta: f64,
    /// Model file to write
    #[arg(long, value_name = "FILE", default_value = "model.json")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) spending: Spending,
    #[command(flatten)]
    pub(crate) tuning: Tuning,
}

const FEATURE_BOUND: f64 = 1.0;
const RADIUS: f64 = 20.0;

/// Public choices of the problem and the plan.
#[derive(Args)]
pub(crate) struct Tuning {
    /// How to learn
    #[arg(long, value_enum, default_value_t = Algorithm::NoisyGd)]
    pub(crate) algorithm: Algorithm,
    /// The loss of a pair of a positive and a negative record
    #[arg(long, value_enum, default_value_t = Loss::Logistic)]
    pub(crate) loss: Loss,
    /// Exponent of the q-hinge loss, between 1 and 2
    #[arg(long, value_name = "Q", default_value_t = 1.5, allow_negative_numbers = true)]
    pub(crate) q: f64,
    /// Add half this times the squared norm of the weights
    #[arg(long, value_name = "L", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) ridge: f64,
    /// Longer feature vectors are scaled down to this norm (κ)
    #[arg(long, value_name = "K", default_value_t = FEATURE_BOUND, allow_negative_numbers = true)]
    pub(crate) feature_bound: f64,
    /// The model's weights stay within this norm
    #[arg(long, value_name = "B", default_value_t = RADIUS, allow_negative_numbers = true)]
    pub(crate) radius: f64,
    /// Steps to take [default: from n, the number of features and the budget]
    #[arg(long, value_name = "T")]
    pub(crate) steps: Option<u32>,
    /// Step size [default: from the problem's smoothness]
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub(crate) step_size: Option<f64>,
}

/// What learns.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Algorithm {
    /// Gradient descent over all pairs, noise in every gradient
    NoisyGd,
    /// Gradient descent over all pairs, noise on its result
    OutputGd,
    /// One secret uniform pair a step, noise in every gradient
    NoisySgd,
}

/// What is minimised.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Loss {
    /// log(1 + e^−margin)
    Logistic,
    /// (1 − margin)₊
    Hinge,
    /// (1 − margin)²
    Squared,
    /// (1 − margin)₊^q
    QHinge,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::NoisyGd,
            loss: Loss::Logistic,
            q: 1.5,
            ridge: 0.0,
            feature_bound: FEATURE_BOUND,
            radius: RADIUS,
            steps: None,
            step_size: None,
        }
    }
}

#[derive(Args)]
#[command(after_help = "Example:\n  pairdp predict model.json patients.csv --out scores.csv")]
pub(crate) struct Predict {
    /// Model file
    pub(crate) model: PathBuf,
    /// CSV file with the model's columns
    pub(crate) data: PathBuf,
    /// CSV file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  pairdp evaluate model.json holdout.csv

The AUC is computed exactly: on private records it is not protected, so keep it inside.")]
pub(crate) struct Evaluate {
    /// Model file
    pub(crate) model: PathBuf,
    /// CSV file with the model's columns and the label
    pub(crate) data: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  pairdp verify model.json

Exit code 0 means yes, 1 means no.")]
pub(crate) struct Verify {
    /// Model file
    pub(crate) model: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  pairdp account --records 5000 --batch 2 --steps 5000 --epsilon 1 --delta 4e-8
  pairdp account --records 5000 --batch 2 --steps 5000 --noise-multiplier 0.72 --delta 4e-8 --json

Adjacency is replace-one. The multiplier is the standard deviation of the noise over the *replace-one sensitivity* of the
query on one sample. Libraries that clip each record to C and count add-or-remove divide by C instead; replacing a record
moves their sum by up to 2C, so their multiplier is twice ours for the same noise.")]
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
    /// Noise over sensitivity: asks for ε
    #[arg(long, value_name = "S", allow_negative_numbers = true, conflicts_with = "epsilon")]
    pub(crate) noise_multiplier: Option<f64>,
    /// Budget ε: asks for the noise
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: Option<f64>,
    /// δ
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) delta: f64,
}
