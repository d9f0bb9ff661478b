//! What the curator computes of its records for a gradient over all pairs.

use crate::curator::{Curator, Holding, count};
use crate::foreign::ForeignScore;
use crate::{LearnError, Mechanism};
use pairdp_noise::Source;
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Foreign, Objective, Problem, Records, Score};

impl<S: Source> Curator<S> {
    /// The gradient of the risk over all pairs at public parameters, with noise.
    ///
    /// The noise is drawn before the records are touched, so the time it takes says nothing about them.
    ///
    /// # Errors
    /// [`LearnError::Exhausted`] when all releases have been made, [`LearnError::WrongQuery`] if the mechanism is not
    /// about gradients.
    pub fn noisy_gradient(&mut self, parameters: &[f64]) -> Result<Vec<f64>, LearnError> {
        let Mechanism::Gradients(mechanism) = &self.mechanism else {
            return Err(LearnError::WrongQuery("a gradient over all pairs"));
        };
        let release = mechanism.release_at(self.problem().norm_at(parameters))?;
        let lattice = mechanism.lattice(release)?;
        count(&mut self.made, mechanism.steps())?;
        self.gradients.push(release);
        let noise = self.draw(&lattice);
        let gradient = self.gradient(parameters)?;
        let noisy = self.release(&lattice, gradient, &noise);
        self.note(parameters, &noisy);
        Ok(noisy)
    }

    /// The gradient of the risk, of as many records as its noise is for.
    fn gradient(&mut self, parameters: &[f64]) -> Result<Vec<f64>, LearnError> {
        let (problem, size) = (self.problem(), self.public().records);
        let records = match &mut self.table {
            Holding::Here(records) => &*records,
            Holding::Elsewhere(parts) => return parts.gradient(problem, parameters),
        };
        if let Score::Foreign(form) = problem.score() {
            let score = self.foreign.as_deref().ok_or(LearnError::NoFunction)?;
            return gradient_of(score, form, problem, records, parameters);
        }
        let here = records.len();
        // Persons are divided by the public number of them, which under a cap is the cap.
        if here == size || problem.weighs() {
            return Ok(kernel::gradient(problem, records, parameters, Par::Parallel));
        }
        // Tables of secret size: what there is, divided as if it were as many.
        let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
        if here < if pointwise { 1 } else { 2 } {
            return Ok(vec![0.0; parameters.len()]);
        }
        let mut gradient = kernel::gradient(problem, records, parameters, Par::Parallel);
        let (here, size) = (here as f64, size as f64);
        let share = if pointwise { here / size } else { here * (here - 1.0) / (size * (size - 1.0)) };
        gradient.iter_mut().for_each(|value| *value *= share);
        Ok(gradient)
    }
}

/// The gradient of the risk by a foreign score. A sum that is not finite says that its terms were not bounded, and so does code that fails: then
/// the run ends, as no noise covers what such a release would tell.
fn gradient_of(
    score: &dyn ForeignScore,
    form: Foreign,
    problem: Problem,
    records: &Records,
    parameters: &[f64],
) -> Result<Vec<f64>, LearnError> {
    let (rows, columns, n) = (records.features(), records.columns(), records.len());
    let failed = |_| LearnError::ForeignFailed("failed");
    let scores = score.scores(parameters, rows, columns).map_err(failed)?;
    if scores.len() != n {
        return Err(LearnError::ForeignFailed("returned another number of scores"));
    }
    let charges = kernel::foreign::charges(problem, scores, records.targets(), Par::Parallel);
    let sum =
        score.weighted_clipped_gradient(parameters, rows, columns, &charges, form.bound).map_err(failed)?;
    if sum.len() != form.parameters {
        return Err(LearnError::ForeignFailed("returned a sum of another length"));
    }
    kernel::foreign::gradient(problem, sum, n)
        .ok_or(LearnError::ForeignFailed("returned a sum that is not finite"))
}
