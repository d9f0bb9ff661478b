//! What the curator computes of its records for one arrival.

use crate::curator::{Curator, check_slopes, count};
use crate::walk::mean_against;
use crate::{LearnError, Mechanism};
use pairdp_noise::Source;

impl<S: Source> Curator<S> {
    /// The mean gradient of the next record's pairs with all before it in the public order, with noise.
    ///
    /// # Errors
    /// As [`Curator::noisy_sample`].
    pub fn noisy_arrival(&mut self, parameters: &[f64]) -> Result<Vec<f64>, LearnError> {
        let Mechanism::Arrivals(mechanism) = &self.mechanism else {
            return Err(LearnError::WrongQuery("the gradient of one arrival"));
        };
        check_slopes(self.problem(), parameters)?;
        let lattice = mechanism.lattice()?;
        count(&mut self.made, mechanism.steps())?;
        let noise = self.draw(&lattice);
        let (before, rest) = self.order.split_at(self.made as usize);
        let gradient =
            mean_against(self.problem(), &self.constants, self.records()?, rest[0], before, parameters);
        let noisy = self.release(&lattice, gradient, &noise);
        self.note(parameters, &noisy);
        Ok(noisy)
    }
}
