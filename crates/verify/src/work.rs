//! How much work a verification may be.

use crate::algorithms::follows_records;
use pairdp_certificate::{Algorithm, Phase};

/// Distances that are followed in a second, at least, on a slow core.
const A_SECOND: f64 = 2e8;
/// Following the distances of so many records takes a gigabyte or two, whatever the patience.
const MOST_RECORDS: usize = 20_000_000;
/// So many drawn indices are held in memory at most.
const MOST_DRAWN: u32 = 200_000_000;

/// How long to wait for an answer. Work is estimated from the certificate's own numbers before it is begun, and what would take longer
/// is refused: the numbers of a hostile file would keep a verifier busy for years.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    steps: f64,
}

impl Patience {
    /// As long as it takes for the longest path that training follows: for models of one's own.
    pub const LONG: Self = Self { steps: 600.0 * A_SECOND };

    /// About so many seconds.
    pub fn of_seconds(seconds: f64) -> Self {
        Self { steps: seconds * A_SECOND }
    }
}

/// Ten seconds.
impl Default for Patience {
    fn default() -> Self {
        Self::of_seconds(10.0)
    }
}

/// Refuses descents whose distances take too long to follow, or too much memory.
pub(crate) fn check(algorithm: Algorithm, phases: &[Phase], patience: Patience) -> Result<(), String> {
    let work: f64 = phases.iter().map(|phase| steps(algorithm, phase)).sum();
    let fits = |phase: &Phase| {
        !follows_records(algorithm) || (phase.records <= MOST_RECORDS && phase.steps <= MOST_DRAWN)
    };
    // Work that is no number is too much.
    if work <= patience.steps && phases.iter().all(fits) {
        return Ok(());
    }
    Err(format!("the path is too long to recompute: it would take about {work:.1e} steps"))
}

/// A step of one distance is slower than that of many at once; drawing an index takes as long as a few dozen.
fn steps(algorithm: Algorithm, phase: &Phase) -> f64 {
    let each = if follows_records(algorithm) { phase.records as f64 + 64.0 } else { 4.0 };
    f64::from(phase.steps) * each
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(records: usize, steps: u32) -> [Phase; 1] {
        [Phase { records, steps, step_size: 0.1, sensitivity: 1.0, sigma: 1.0 }]
    }

    #[test]
    fn long_paths_need_patience_and_endless_ones_are_refused() {
        let check = |algorithm, records, steps, seconds| {
            super::check(algorithm, &phase(records, steps), Patience::of_seconds(seconds))
        };
        assert!(check(Algorithm::OutputGd, usize::MAX, 1000, 1.0).is_ok());
        assert!(check(Algorithm::OutputGd, 100, u32::MAX, 10.0).is_err());
        assert!(check(Algorithm::OutputGd, 100, u32::MAX, 1000.0).is_ok());
        assert!(check(Algorithm::MatchingSgd, 1000, 100_000, 1.0).is_ok());
        assert!(check(Algorithm::MatchingSgd, 100_000, 100_000, 10.0).is_err());
        assert!(check(Algorithm::MatchingSgd, 100_000, 100_000, 100.0).is_ok());
        for seconds in [1.0, 1e9, f64::INFINITY] {
            assert!(check(Algorithm::OutputSgd, usize::MAX, 1, seconds).is_err());
            assert!(check(Algorithm::OutputSgd, 2, u32::MAX, seconds).is_err());
        }
        assert!(check(Algorithm::OutputGd, 2, 1, f64::NAN).is_err());
    }
}
