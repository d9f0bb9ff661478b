//! Learning without privacy, to compare with. A baseline is a type of its own and never carries a certificate.

use crate::algorithm::descend;
use crate::{LearnError, Plan};
use pairdp_pairwise::{Problem, Records};

/// Gradient descent over all pairs without noise. What it returns is not private.
///
/// # Errors
/// [`LearnError`] below two records.
pub fn gd(problem: Problem, plan: Plan, records: &Records) -> Result<Vec<f64>, LearnError> {
    problem.gradient_sensitivity(0.0, records.len())?;
    Ok(descend(problem, plan, records))
}
