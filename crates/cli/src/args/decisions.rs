//! From scores to decisions.

use clap::Args;
use pairdp_model::FlagBy;
use std::path::PathBuf;

/// Which records to flag.
#[derive(Args, Clone, Copy)]
#[group(multiple = false)]
pub(crate) struct WhomToFlag {
    /// Flag this share of the records, between 0 and 1: those with the highest scores
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) flag_share: Option<f64>,
    /// Flag as few records as possible that still include this share of the positive ones, between 0 and 1
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) sensitivity: Option<f64>,
    /// Flag every record where flagging costs less than not flagging, if missing a positive one costs this many times as much as flagging a negative one
    #[arg(long, value_name = "RATIO", allow_negative_numbers = true)]
    pub(crate) cost_ratio: Option<f64>,
}

impl WhomToFlag {
    /// What was asked for, if anything was.
    pub(crate) fn by(self) -> Option<FlagBy> {
        let Self { flag_share, sensitivity, cost_ratio } = self;
        flag_share
            .map(FlagBy::FlagShare)
            .or(sensitivity.map(FlagBy::Sensitivity))
            .or(cost_ratio.map(FlagBy::CostRatio))
    }
}

/// Whether labels are counted.
#[derive(Args, Clone, Copy)]
pub(crate) struct Counting {
    /// Rankers and classifiers: count labels by cells of the score, with a tenth of the budget, so that predictions have
    /// probabilities and records can be flagged (noisy-gd and moments) [default: for classifiers with --algorithm auto where noise
    /// leaves enough of the counts]
    #[arg(long)]
    pub(crate) probabilities: bool,
    /// Classifiers: count no labels by cells of the score
    #[arg(long, conflicts_with = "probabilities")]
    pub(crate) no_probabilities: bool,
}

impl Counting {
    /// What was said, if anything was.
    pub(crate) fn said(self) -> Option<bool> {
        (self.probabilities || self.no_probabilities).then_some(self.probabilities)
    }
}

#[derive(Args)]
#[command(after_help = "\
The labels of the table are counted by cells of the model's score, and probabilities follow from the
counts. The table must be public: by `private = false` in its schema, or --public without one. It
costs no budget, and what the model's certificate says of its own records is left as it is. For
private records, train with --probabilities.

Examples:
  pairdp calibrate model.json survey.csv --public --out calibrated.json")]
pub(crate) struct Calibrate {
    /// Model file
    pub(crate) model: PathBuf,
    /// Public table with the model's columns and the label
    pub(crate) data: PathBuf,
    /// Says whether the records are public [default: DATA with the ending .schema.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Nobody in the table needs protection; for a table without a schema
    #[arg(long)]
    pub(crate) public: bool,
    /// File for the model with probabilities
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}
