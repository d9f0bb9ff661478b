//! Certificates of version 0.1 that no longer hold, and why.

use super::formulas::is_metric_hinge;
use crate::PrivateModel;
use crate::certificate::FORMER;
use pairdp_pairwise::{Labels, Neighbours, Objective};

/// Refuses what version 0.1 certified and should not have.
pub(super) fn check(model: &PrivateModel) -> Result<(), String> {
    let certificate = &model.certificate;
    if certificate.format != FORMER {
        return Ok(());
    }
    let problem = certificate.problem;
    let metric = matches!(problem.objective(), Objective::Metric { .. });
    let secret_size = problem.neighbours() != Neighbours::ReplaceOne;
    let fault = if metric && problem.labels() == Labels::Public && secret_size {
        "version 0.1 took too little noise for public labels with a cap on records: a new record can push out one of another label"
    } else if metric && problem.labels() == Labels::Public {
        "version 0.1 announced this as a guarantee for whole records: its noise covers the features of a record only, and with \
         uniform pairs not even those"
    } else if secret_size && is_metric_hinge(problem) {
        "version 0.1 did not count that a record more changes how the distances of others are rounded, which the hinge does not forgive"
    } else if certificate.ranges.is_some() {
        "version 0.1 did not state the ranges whose bins were counted, so that the ranges it found cannot be checked"
    } else {
        return Ok(());
    };
    Err(fault.into())
}
