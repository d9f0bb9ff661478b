//! What the curator computes of its records for the result of a descent.

use crate::curator::{Curator, Holding, check_domain, count};
use crate::walk::{descend, phase_descent, phase_result};
use crate::{LearnError, Mechanism};
use pairdp_noise::Source;

impl<S: Source> Curator<S> {
    /// The result of the mechanism's next descent from public parameters, with noise.
    ///
    /// # Errors
    /// As [`Curator::noisy_gradient`]; [`LearnError::OutsideDomain`] for a start that the sensitivity does not cover: outside
    /// the domain or, where that has no bound, other than 0.
    pub fn noisy_result(&mut self, start: &[f64]) -> Result<Vec<f64>, LearnError> {
        let Mechanism::Results(mechanism) = &self.mechanism else {
            return Err(LearnError::WrongQuery("the result of a descent"));
        };
        let problem = self.public().problem;
        check_domain(problem, start)?;
        if problem.domain().radius().is_infinite() && start.iter().any(|value| *value != 0.0) {
            return Err(LearnError::OutsideDomain);
        }
        let total = mechanism.phases().len();
        let before: usize = mechanism.phases().iter().take(self.made as usize).map(|p| p.records).sum();
        let made = self.made as usize;
        count(&mut self.made, u32::try_from(total).unwrap_or(u32::MAX))?;
        let phase = mechanism.phases()[made];
        let lattice = mechanism.lattice(phase)?;
        let plan = self.public().plan;
        let noise = self.draw(&lattice);
        let Mechanism::Results(mechanism) = &self.mechanism else {
            return Err(LearnError::WrongQuery("the result of a descent"));
        };
        let mut moved = match &mut self.table {
            Holding::Here(records) if total > 1 => {
                let part = records.select(&self.order[before..before + phase.records]);
                phase_result(problem, plan, &phase, &part, start)
            }
            Holding::Here(records) => phase_result(problem, plan, &phase, records, start),
            Holding::Elsewhere(parts) => {
                let (order, phases) = (plan.order(), mechanism.phases());
                descend(&phase_descent(problem, plan, &phase), start, |w| match total {
                    1 => parts.gradient(problem, w),
                    _ => parts.phase_gradient(problem, order, phases, made, w),
                })?
            }
        };
        // How far the result is from the start, which is public: late phases move little, and a lattice as fine as their
        // noise must hold what they release.
        moved.iter_mut().zip(start).for_each(|(value, start)| *value -= start);
        let mut noisy = self.release(&lattice, moved, &noise);
        noisy.iter_mut().zip(start).for_each(|(value, start)| *value += start);
        problem.domain().project(&mut noisy);
        self.note(start, &noisy);
        Ok(noisy)
    }
}
