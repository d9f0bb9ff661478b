use pairdp_accountant::AccountantError;
use pairdp_noise::NoiseError;
use pairdp_pairwise::{ProblemError, RecordsError};
use pairdp_release::LearnError;
use pairdp_stability::StabilityError;
use pairdp_units::{FrontEnd, Hint, UnitError, shown};

/// An audit that cannot be done as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// No mechanism for these settings, or it could not run.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// No answer from the accountant.
    #[error(transparent)]
    Accountant(#[from] AccountantError),
    /// No randomness.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// A table of the wrong shape.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// A problem that cannot be.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A bound that does not exist.
    #[error(transparent)]
    Stability(#[from] StabilityError),
    /// A budget that cannot be.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A number out of range.
    #[error("the {what} must be {range}, not {}", shown::as_given(*.value))]
    Range {
        /// Which number.
        what: &'static str,
        /// What is accepted.
        range: &'static str,
        /// What was given.
        value: f64,
    },
    /// Runs of another audit.
    #[error("the saved runs are of another audit")]
    OtherState,
    /// Runs that say different things.
    #[error("a run gave {found} numbers, and the runs before it {expected}")]
    Shape {
        /// Numbers of earlier runs.
        expected: usize,
        /// Numbers of this one.
        found: usize,
    },
    /// A claim that no attack is written for.
    #[error("audits do not cover {0}")]
    NotCovered(&'static str),
    /// Influence is a statement about smooth risks.
    #[error("{0}")]
    NotSmooth(&'static str),
}

impl Hint for AuditError {
    fn hint(&self, to: FrontEnd) -> Option<String> {
        match self {
            Self::Learn(error) => error.hint(to),
            Self::Accountant(error) => error.hint(to),
            Self::Problem(error) => error.hint(to),
            Self::OtherState => {
                Some("name another file, or repeat the settings that it was made with".into())
            }
            Self::NotCovered(_) => Some("audit the same plan without it".into()),
            Self::NotSmooth(_) => Some("use the logistic loss with a ridge".into()),
            _ => None,
        }
    }
}
