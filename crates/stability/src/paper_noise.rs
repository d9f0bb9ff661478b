//! The papers' noise, as printed.
//!
//! For comparison, and for saying exactly what is wrong. Each function returns the printed σ and a [`Standing`]:
//! whether the claim it is printed with is true, unproved, or must not be certified. Where a formula is too
//! small, [`Printed::sigma`] is still what the paper says; it is for tables, not for releases.
//!
//! # Reference
//! Yang, Lei, Lyu and Ying (2021); Kang, Liu, Li, Wang; Xue, Yang, Huai and Wang (2021); Bassily, Feldman, Guzmán and
//! Talwar (2020); Wang et al. (2024). Corrections are derived in the functions' docs and in `proofs/`.

mod bassily;
mod kang;
mod wang;
mod xue;
mod yang;

pub use bassily::bassily_sgd;
pub use kang::{KANG_BIPARTITE, KANG_METRIC, KangConstants, kang_gradient};
pub use wang::{WangBeta, wang_at_beta, wang_best_beta};
pub use xue::{xue_output, xue_output_laplace, xue_phase, xue_trajectory};
pub use yang::{yang_corrected, yang_output};

use serde::Serialize;

/// Whether a printed formula delivers what it claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "standing", content = "because")]
pub enum Standing {
    /// The claim is true for these arguments.
    Holds,
    /// Neither proved nor refuted for these arguments.
    Unproven(&'static str),
    /// The claim is false, or rests on a condition that fails here: certifying it must be refused.
    Refused(&'static str),
}

/// A printed noise scale and what may be said of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Printed {
    /// The standard deviation (or Laplace scale) per coordinate, as printed.
    pub sigma: f64,
    /// Whether the claim is true.
    #[serde(flatten)]
    pub standing: Standing,
    /// What is wrong in the paper, whether or not it matters here.
    pub erratum: &'static str,
}

/// The classical calibration σ = Δ√(2 ln(1.25/δ))/ε is proved for ε < 1 only.
fn classical(epsilon: f64) -> Standing {
    if epsilon <= 1.0 {
        Standing::Holds
    } else {
        Standing::Refused("the classical Gaussian calibration is proved for ε ≤ 1 only and false for large ε")
    }
}

/// √(2 ln(1.25/δ))/ε.
fn classical_factor(epsilon: f64, delta: f64) -> f64 {
    (2.0 * (1.25 / delta).ln()).sqrt() / epsilon
}
