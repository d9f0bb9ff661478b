//! Certificates of version 0.1 that no longer hold, and why.

use pairdp_certificate::{Certificate, FORMER, Labels, Objective};

/// Refuses what version 0.1 certified and should not have.
pub(crate) fn check(certificate: &Certificate) -> Result<(), String> {
    if certificate.format != FORMER {
        return Ok(());
    }
    let Objective::Metric { .. } = certificate.problem.objective else { return ranges(certificate) };
    let public_labels = certificate.problem.labels == Labels::Public;
    Err(match (public_labels, certificate.is_secret_size()) {
        (true, true) => {
            "version 0.1 took too little noise for public labels with a cap on records: a new record can push out one of another label"
        }
        (true, false) => {
            "version 0.1 announced this as a guarantee for whole records: its noise covers the features of a record only, and with \
             uniform pairs not even those"
        }
        (false, true) => {
            "version 0.1 did not count that a record more changes how the distances of others are rounded"
        }
        (false, false) => return ranges(certificate),
    }
    .into())
}

fn ranges(certificate: &Certificate) -> Result<(), String> {
    if certificate.ranges.is_none() {
        return Ok(());
    }
    Err("version 0.1 did not state the ranges whose bins were counted, so that the ranges it found cannot be checked".into())
}
