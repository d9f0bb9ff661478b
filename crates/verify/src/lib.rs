//! Recomputes the certificate of a model, and says yes or no.
//!
//! *Yes* means: if the noise was drawn as stated, the public facts in the file imply the claimed (ε, δ) for the claimed neighbours.
//! Each number takes part in a named relation, so that a changed number is answered by the name of what no longer fits. Where records were scored
//! by code that is not part of pairdp, the answer is *yes, if* that code kept to its part ([`Verdict::condition`]), which is no yes.
//!
//! # What it is independent of
//! Of the code that trains and calibrates: this crate depends on none of `pairdp-pairwise`, `pairdp-stability`, `pairdp-noise`,
//! `pairdp-data` and `pairdp-learn`, as its Cargo.toml shows, and cannot call them. The constants of losses and domains, the
//! recurrences of descents, the law of Poisson samples, the public orders with their generator, the roundings of kernels and the
//! bits of lattices are written here a second time, from the notes in `proofs/`. If one of those crates has a constant that is too
//! small, its certificates do not hold here; `tests/constants.rs` compares all of them.
//!
//! # What it shares
//! The types of a certificate (`pairdp-certificate`, without arithmetic), the quantities of `pairdp-units`, and two engines of
//! `pairdp-accountant`, each of which is not the one that calibrated: δ of plain Gaussian noise is integrated from its definition
//! where the closed form set the noise, δ of sampled noise comes from the contour engine where discretised privacy losses did. A
//! theorem that is wrong is wrong here too. `python/pairdp/verification` shares nothing with any of this, files of the same name
//! say the same things.
//!
//! # Cost
//! That of following the distances of every record through every step, where results of descents are released. It is estimated
//! first, and refused beyond a limit ([`Patience`]): a hostile file is answered as quickly as an honest one.

mod algorithms;
mod arrivals;
pub mod constants;
mod facts;
mod former;
mod gradients;
mod losses;
mod moments;
mod orders;
mod paths;
mod probabilities;
mod provenance;
mod ranges;
mod relations;
mod results;
mod samples;
mod stages;
mod work;

pub use pairdp_certificate::{DocumentError, ModelDocument};
pub use relations::{Check, Verdict};
pub use samples::most_kept_pairs;
pub use work::Patience;

use facts::Facts;
use pairdp_certificate::{Algorithm, Condition, Released, Score, Training};
use relations::Relation;

/// What a family of releases is, beside its relations. Each function is asked about its own kind of [`Released`].
struct Family {
    /// Whether an algorithm releases this.
    is_of: fn(Algorithm) -> bool,
    /// Whether what was certified is what the plan says.
    fits_plan: fn(&Facts, &Training) -> bool,
    /// The largest query in units of the noise.
    reach: fn(&Facts) -> Result<f64, String>,
    /// How far rounding may move that.
    slack: f64,
    /// Approximate samples, where a release takes so many.
    samples: fn(&Facts, f64) -> f64,
    relations: fn(&Facts, Patience) -> Vec<Relation>,
}

impl Family {
    fn of(released: &Released) -> &'static Self {
        match released {
            Released::Gradients { .. } => &gradients::FAMILY,
            Released::SampledGradients { .. } => &samples::FAMILY,
            Released::Online { .. } => &arrivals::FAMILY,
            Released::Output { .. } => &results::FAMILY,
            Released::Moments { .. } => &moments::FAMILY,
        }
    }
}

/// Rounding of a quotient at the edge between two numbers of bits.
const ROUNDING: f64 = 1e-9;

/// Recomputes the certificate in a model file's text; see the crate's description.
///
/// ```
/// assert!(pairdp_verify::verify("{}").is_err());
/// ```
///
/// # Errors
/// [`DocumentError`] when the text is no model file. What is one and does not hold is a [`Verdict`].
pub fn verify(text: &str) -> Result<Verdict, DocumentError> {
    Ok(verify_document(&ModelDocument::from_json(text)?))
}

/// The same for a document that was read.
pub fn verify_document(document: &ModelDocument) -> Verdict {
    verify_with(document, Patience::default())
}

/// The same, with another limit on the work.
pub fn verify_with(document: &ModelDocument, patience: Patience) -> Verdict {
    let facts = Facts::of(document);
    let mut relations = facts.relations();
    relations.extend((facts.family.relations)(&facts, patience));
    let foreign = matches!(facts.problem.score, Score::Foreign(_));
    Verdict::of(relations, foreign.then_some(Condition::RESTS_ON))
}
