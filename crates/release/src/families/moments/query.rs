//! What the curator computes of its records for moments.

use crate::curator::{Curator, Holding, count};
use crate::{LearnError, Mechanism, PublicFacts};
use pairdp_noise::Source;
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::moments;

impl<S: Source> Curator<S> {
    /// The moments of features and label, with noise.
    ///
    /// # Errors
    /// As [`Curator::noisy_gradient`].
    pub fn noisy_moments(&mut self) -> Result<Vec<f64>, LearnError> {
        let Mechanism::Moments(mechanism) = &self.mechanism else {
            return Err(LearnError::WrongQuery("moments"));
        };
        let (lattice, weights, target) = (mechanism.lattice()?, mechanism.weights(), mechanism.target());
        count(&mut self.made, 1)?;
        let noise = self.draw(&lattice);
        let PublicFacts { problem, records: size, .. } = self.public();
        let kappa = problem.feature_bound();
        let mut released = match &mut self.table {
            Holding::Here(records) => moments::query(weights, kappa, target, records, size, Par::Parallel),
            Holding::Elsewhere(parts) => parts.moments(weights, target, kappa)?,
        };
        lattice.release_in_place(&mut released, &noise);
        self.note(&[], &released);
        Ok(released)
    }
}
