//! What the curator computes of its records for a gradient over all pairs.

use crate::LearnError;
use crate::release::Mechanism;
use crate::release::curator::{Curator, Holding, count};
use pairdp_noise::Source;
use pairdp_pairwise::Objective;
use pairdp_pairwise::kernel::{self, Par};

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
