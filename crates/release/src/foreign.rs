//! A function elsewhere that scores records.
//!
//! The function is code that nobody here has read. It is asked for scores and for sums of clipped gradients, and what lies between is
//! ours. So a guarantee holds on a [condition](Condition), which certificates state; `proofs/foreign_scores.md`.

use crate::LearnError;
use pairdp_certificate::Condition;
use pairdp_pairwise::Foreign;
use pairdp_pairwise::kernel::BLOCK;

/// A function elsewhere that scores rows.
///
/// What it returns must be, to within the stated error, what its score is: see [`Condition::RESTS_ON`]. Rows come in the order of the table, one
/// after the other.
pub trait ForeignScore: Send + Sync {
    /// What a certificate says of it.
    fn condition(&self) -> Condition;

    /// Where a descent starts, from a public seed.
    ///
    /// # Errors
    /// What it said instead.
    fn initial(&self, seed: u64) -> Result<Vec<f64>, String>;

    /// The score of every row.
    ///
    /// # Errors
    /// What it said instead.
    fn scores(&self, parameters: &[f64], rows: &[f64], columns: usize) -> Result<Vec<f64>, String>;

    /// Σ charge·(gradient of the row's score, scaled down to `bound`).
    ///
    /// # Errors
    /// What it said instead.
    fn weighted_clipped_gradient(
        &self,
        parameters: &[f64],
        rows: &[f64],
        columns: usize,
        charges: &[f64],
        bound: f64,
    ) -> Result<Vec<f64>, String>;
}

/// Where a function starts. It is asked about rows of zeros, before a record is shown to it: whether it returns as many numbers as it should.
///
/// # Errors
/// [`LearnError::WrongAnswer`].
pub fn foreign_start(
    score: &dyn ForeignScore,
    foreign: Foreign,
    columns: usize,
) -> Result<Vec<f64>, LearnError> {
    let rows = BLOCK + 1;
    let wrong = |what: String| LearnError::WrongAnswer { rows, columns, what };
    let expect = |what: &str, found: usize, expected: usize| {
        if found == expected {
            Ok(())
        } else {
            Err(wrong(format!("{what} has {found} numbers, not {expected}")))
        }
    };
    let zeros = vec![0.0; rows * columns];
    let start = score.initial(foreign.seed).map_err(wrong)?;
    expect("where it starts", start.len(), foreign.parameters)?;
    if !start.iter().all(|value| value.is_finite()) {
        return Err(wrong("where it starts is no number".into()));
    }
    expect("what it scores", score.scores(&start, &zeros, columns).map_err(wrong)?.len(), rows)?;
    let charges = vec![1.0; rows];
    let sum =
        score.weighted_clipped_gradient(&start, &zeros, columns, &charges, foreign.bound).map_err(wrong)?;
    expect("a sum of gradients", sum.len(), foreign.parameters)?;
    Ok(start)
}
