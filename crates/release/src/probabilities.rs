//! Labels by cells of the score, released after training.
//!
//! The release has its part of the budget and a noise that is fixed before any record is read. It is about the scores of a model that
//! is public by then, by cells that follow from the model, so that nothing of a table decides what is asked.

use crate::Law as _;
use crate::curator::{Curator, Holding};
use crate::{LearnError, Mechanism, PublicFacts};
use pairdp_certificate::{Algorithm, CellPlan, NoiseKind, Stage, StageNoise};
use pairdp_noise::Source;
use pairdp_noise::lattice::{self, Lattice};
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::score_cells::{self, CELLS, CellCounts, Stretch};
use pairdp_pairwise::{Neighbours, Objective, PointLoss, Problem, RankingForm};
use pairdp_units::Budget;
use pairdp_units::directed::{down_by, up_by};

/// Refuses what has no probabilities, or no proof of them.
pub(crate) fn check(problem: Problem, plan: crate::Plan) -> Result<(), LearnError> {
    const WHAT: &str = "probabilities";
    let task = |task| LearnError::NotForTask { what: WHAT, task };
    match problem.objective() {
        Objective::Metric { .. } => return Err(task("metric")),
        Objective::Pointwise { loss: PointLoss::Residual { .. } } => return Err(task("regression")),
        Objective::Ranking { form: RankingForm::Comparable, .. } => return Err(task("survival")),
        Objective::Ranking { .. } | Objective::Pointwise { loss: PointLoss::Margin(_) } => {}
    }
    if !matches!(plan.algorithm(), Algorithm::NoisyGd | Algorithm::Moments) {
        return Err(LearnError::NoProof("probabilities under this algorithm"));
    }
    if plan.law() == NoiseKind::Euclidean {
        return Err(LearnError::NoProof("probabilities with Euclidean noise"));
    }
    if matches!(problem.neighbours(), Neighbours::AddRemoveOne { .. }) {
        return Err(LearnError::SecretSize("probabilities without a promised cap"));
    }
    if plan.probabilities().is_some_and(|cells| cells.cells != CELLS) {
        return Err(LearnError::NoProof("probabilities of other cells"));
    }
    Ok(())
}

/// The noise for the cells of a plan, if it has any.
///
/// # Guarantee
/// This release and all others of the run satisfy the budget together: `proofs/calibration.md`.
pub(crate) fn calibrate(public: &PublicFacts, for_data: Budget) -> Result<Option<Stage>, LearnError> {
    let Some(CellPlan { share, cells }) = public.plan.probabilities() else { return Ok(None) };
    let law = public.plan.law();
    let ratio = down_by(law.ratio(for_data, 1.0)? * law.part(share), 4.0);
    let promised = matches!(public.problem.neighbours(), Neighbours::AddRemovePromised { .. });
    // In the norm of the law.
    let sensitivity = match law {
        NoiseKind::Laplace => score_cells::sensitivity_l1(promised),
        NoiseKind::Gaussian | NoiseKind::Euclidean => score_cells::sensitivity(promised),
    };
    let (counts, error) = (2 * cells, score_cells::error_bound(public.records));
    let distance = up_by(sensitivity + 2.0 * law.reach(counts) * error, 2.0);
    let lattice_bits = lattice::bits_for(up_by(public.records as f64 * ratio / distance, 8.0))?;
    let left = down_by(ratio - law.rounding(counts, lattice_bits), 2.0);
    let sigma = up_by(distance / left, 4.0);
    if !(left > 0.0 && sigma.is_finite()) {
        return Err(LearnError::DeltaTooSmall(public.budget));
    }
    let noise = StageNoise { sensitivity, error, ratio, lattice_bits, sigma };
    Ok(Some(Stage::Probabilities { cells, noise }))
}

impl Mechanism {
    /// Scale of the noise on each count of a release of labels by cells of the score, if there is one.
    pub fn probability_noise(&self) -> Option<StageNoise> {
        self.common().probabilities.map(|stage| stage.noise())
    }
}

impl<S: Source> Curator<S> {
    /// Labels by cells of the scores that a model gives, with noise: negative records cell by cell, then positive ones. It is the
    /// last release, and made once.
    ///
    /// # Errors
    /// [`LearnError::WrongQuery`] where the mechanism has no such release, or before training is done or a second time;
    /// [`LearnError::Engine`] for parts.
    pub fn noisy_cells(
        &mut self,
        stretch: Stretch,
        weights: &[f64],
        added: f64,
    ) -> Result<Vec<f64>, LearnError> {
        let Some(noise) = self.mechanism.probability_noise() else {
            return Err(LearnError::WrongQuery("cells of the score"));
        };
        if self.made != self.mechanism.family().releases() || self.counted {
            return Err(LearnError::WrongQuery("cells of the score, once and after training"));
        }
        self.counted = true;
        let lattice = Lattice::new(noise.sigma, noise.lattice_bits)?;
        let drawn = self.public().plan.law().draw(&lattice, &mut self.source, 2 * CELLS);
        let counts = match &mut self.table {
            Holding::Here(records) => CellCounts::of_records(stretch, weights, added, records, Par::Parallel),
            Holding::Elsewhere(parts) => parts.cells(stretch, weights, added)?,
        };
        let mut released = counts.query()?;
        lattice.release_in_place(&mut released, &drawn);
        self.note(weights, &released);
        Ok(released)
    }
}
