//! Runs of a mechanism on two tables, chosen by coins.

use crate::AuditError;
use pairdp_noise::Source;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

const FORMAT: &str = "pairdp-audit/1";
/// Runs between two looks at the clock.
const BATCH: usize = 256;

/// What an attacker saw, and what was true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Whether it was the first table.
    pub first: bool,
    /// Numbers from which he is to guess.
    pub numbers: Vec<f64>,
}

/// All runs of one audit so far. They can be saved and gone on with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    format: String,
    /// What is audited: runs of another audit must not be mixed in.
    about: String,
    made: Vec<Run>,
}

impl Runs {
    /// None yet.
    pub fn new(about: String) -> Self {
        Self { format: FORMAT.into(), about, made: Vec::new() }
    }

    /// Runs saved earlier.
    ///
    /// # Errors
    /// [`AuditError::OtherState`] for anything but runs about the same.
    pub fn from_json(text: &str, about: &str) -> Result<Self, AuditError> {
        let runs: Self = serde_json::from_str(text).map_err(|_| AuditError::OtherState)?;
        let same = runs.format == FORMAT && runs.about == about;
        let width = runs.made.first().map_or(0, |run| run.numbers.len());
        if same && runs.made.iter().all(|run| run.numbers.len() == width) {
            return Ok(runs);
        }
        Err(AuditError::OtherState)
    }

    /// To be saved.
    ///
    /// # Errors
    /// [`AuditError::OtherState`] for numbers that JSON cannot hold.
    pub fn to_json(&self) -> Result<String, AuditError> {
        serde_json::to_string(self).map_err(|_| AuditError::OtherState)
    }

    /// The runs.
    pub fn all(&self) -> &[Run] {
        &self.made
    }

    /// Adds runs until there are `total`, on every core. For each a fair coin chooses the table; the coins are not the
    /// mechanism's. `watch` is shown all runs now and then.
    ///
    /// # Errors
    /// What the runs or the watcher say; runs made before are kept.
    pub fn collect<E: From<AuditError> + Send>(
        &mut self,
        total: usize,
        coins: &mut impl Source,
        run: impl Fn(bool, u64) -> Result<Vec<f64>, E> + Sync,
        mut watch: impl FnMut(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.made.len() < total {
            let start = self.made.len();
            let batch: Vec<bool> =
                (start..total.min(start + BATCH)).map(|_| coins.next_word() & 1 == 1).collect();
            let made: Result<Vec<Run>, E> = batch
                .into_par_iter()
                .enumerate()
                .map(|(k, first)| Ok(Run { first, numbers: run(first, (start + k) as u64)? }))
                .collect();
            for run in made? {
                let (expected, found) = (self.width().unwrap_or(run.numbers.len()), run.numbers.len());
                if expected != found {
                    return Err(AuditError::Shape { expected, found }.into());
                }
                self.made.push(run);
            }
            watch(self)?;
        }
        Ok(())
    }

    fn width(&self) -> Option<usize> {
        self.made.first().map(|run| run.numbers.len())
    }
}
