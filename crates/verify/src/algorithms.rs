//! What a proof needs to know of each algorithm.

use pairdp_certificate::Algorithm;

/// Whether noise is added to results of descents. Those that may are listed: what is new is not taken for one of them.
pub(crate) fn perturbs_output(algorithm: Algorithm) -> bool {
    matches!(
        algorithm,
        Algorithm::OutputGd
            | Algorithm::OutputSgd
            | Algorithm::PhasedGd
            | Algorithm::LocalizedSgd
            | Algorithm::OfflinePair
            | Algorithm::MatchingSgd
    )
}

/// Whether it has no counterpart for single records.
pub(crate) fn needs_pairs(algorithm: Algorithm) -> bool {
    matches!(
        algorithm,
        Algorithm::OnlinePair | Algorithm::OfflinePair | Algorithm::LocalizedSgd | Algorithm::MatchingSgd
    )
}

/// Whether it may learn who fails first.
pub(crate) fn learns_from_times(algorithm: Algorithm) -> bool {
    is_full_batch(algorithm)
        || matches!(algorithm, Algorithm::Moments | Algorithm::NoisyGd | Algorithm::NoisySgd)
}

/// Whether steps of a descent without noise go over the whole table.
pub(crate) fn is_full_batch(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::OutputGd | Algorithm::PhasedGd)
}

/// Whether the table is divided into phases, whose step sizes are quartered.
pub(crate) fn has_phases(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::PhasedGd | Algorithm::LocalizedSgd)
}

/// Whether records are followed one by one; otherwise one distance stands for all.
pub(crate) fn follows_records(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::OutputSgd | Algorithm::MatchingSgd | Algorithm::LocalizedSgd)
}

/// Whether a step touches one or two records, so that noise was calibrated to runs of untouched steps.
pub(crate) fn steps_in_runs(algorithm: Algorithm, pointwise: bool) -> bool {
    matches!(algorithm, Algorithm::MatchingSgd | Algorithm::LocalizedSgd)
        || (algorithm == Algorithm::OutputSgd && pointwise)
}
