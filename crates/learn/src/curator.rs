//! The one type that holds private records.

use crate::algorithm::descend;
use crate::certificate::{GradientRelease, Released};
use crate::{Certificate, LearnError, Mechanism};
use pairdp_noise::lattice::Lattice;
use pairdp_noise::{Claimed, Source};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Objective, Problem, Records};

/// Owns the records and answers noisy queries, as many as its mechanism states and no more.
///
/// # Guarantee
/// Whatever code drives it, everything that leaves a curator is within the budget of its mechanism: the queries
/// may be chosen adaptively, their kind, number and noise may not. Errors depend on public facts alone.
pub struct Curator<S: Source> {
    records: Records,
    mechanism: Mechanism,
    source: S,
    made: u32,
    gradients: Vec<GradientRelease>,
    scratch: Vec<f64>,
}

impl<S: Source> Curator<S> {
    /// Takes the records in.
    ///
    /// # Errors
    /// [`LearnError::WrongTable`] when the mechanism is for another size, [`LearnError::FeatureBound`] when the records
    /// were clipped to a larger norm than its noise covers.
    pub fn open(records: Records, mechanism: Mechanism, source: S) -> Result<Self, LearnError> {
        let common = mechanism.common();
        if records.len() != common.records || records.columns() != common.features {
            return Err(LearnError::WrongTable {
                expected: common.records,
                expected_features: common.features,
                found: records.len(),
                found_features: records.columns(),
            });
        }
        if records.feature_bound() > common.problem.feature_bound() {
            return Err(LearnError::FeatureBound {
                allowed: common.problem.feature_bound(),
                found: records.feature_bound(),
            });
        }
        let scratch = vec![0.0; common.parameters()];
        Ok(Self { records, mechanism, source, made: 0, gradients: Vec::new(), scratch })
    }

    /// What is minimised.
    pub fn problem(&self) -> Problem {
        self.mechanism.common().problem
    }

    /// Coordinates of a query.
    pub fn parameters(&self) -> usize {
        self.scratch.len()
    }

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
        if self.made >= mechanism.steps() {
            return Err(LearnError::Exhausted(mechanism.steps()));
        }
        let release = mechanism.release_at(Problem::norm(parameters))?;
        let lattice = mechanism.lattice(release)?;
        self.made += 1;
        self.gradients.push(release);
        let noise = lattice.draw(&mut self.source, self.scratch.len());
        let gradient = kernel::gradient(self.problem(), &self.records, parameters, Par::Parallel);
        Ok(lattice.release(&gradient, &noise))
    }

    /// The gradient of a uniform pair (or record) at public parameters, with noise. Which pair it was stays secret: the
    /// guarantee rests on that.
    ///
    /// # Errors
    /// As [`Curator::noisy_gradient`].
    pub fn noisy_sample(&mut self, parameters: &[f64], out: &mut [f64]) -> Result<(), LearnError> {
        let Mechanism::Sampled(mechanism) = &self.mechanism else {
            return Err(LearnError::WrongQuery("a sampled gradient"));
        };
        if self.made >= mechanism.steps() {
            return Err(LearnError::Exhausted(mechanism.steps()));
        }
        self.made += 1;
        let lattice = mechanism.lattice()?;
        let noise = lattice.draw(&mut self.source, self.scratch.len());
        let n = self.records.len() as u64;
        let problem = self.problem();
        if let Objective::Pointwise { .. } = problem.objective() {
            let index = below(&mut self.source, n);
            kernel::record_gradient(problem, &self.records, index, parameters, &mut self.scratch);
        } else {
            let pair = distinct_pair(&mut self.source, n);
            kernel::pair_gradient(problem, &self.records, pair, parameters, &mut self.scratch);
        }
        out.copy_from_slice(&lattice.release(&self.scratch, &noise));
        Ok(())
    }

    /// The result of the mechanism's descent, with noise.
    ///
    /// # Errors
    /// As [`Curator::noisy_gradient`].
    pub fn noisy_result(&mut self) -> Result<Vec<f64>, LearnError> {
        let Mechanism::Output(mechanism) = &self.mechanism else {
            return Err(LearnError::WrongQuery("the result of a descent"));
        };
        if self.made >= 1 {
            return Err(LearnError::Exhausted(1));
        }
        self.made += 1;
        let lattice: Lattice = mechanism.lattice()?;
        let noise = lattice.draw(&mut self.source, self.scratch.len());
        let result = descend(self.problem(), mechanism.plan(), &self.records);
        let mut noisy = lattice.release(&result, &noise);
        self.problem().domain().project(&mut noisy);
        Ok(noisy)
    }

    /// Drops the records and states what was released, for tests of any source: a statement, not a certificate.
    pub fn into_released(self) -> Released {
        self.statement().released
    }

    pub(crate) fn statement(self) -> Certificate {
        Certificate::new(&self.mechanism, self.gradients)
    }
}

impl<S: Source<Claim = Claimed>> Curator<S> {
    /// Drops the records and certifies what was released. Only secure noise can be certified:
    ///
    /// ```compile_fail
    /// # fn f(curator: pairdp_learn::Curator<pairdp_noise::Replay>) -> pairdp_learn::Certificate {
    /// curator.close()
    /// # }
    /// ```
    /// ```
    /// # fn f(curator: pairdp_learn::Curator<pairdp_noise::Secure>) -> pairdp_learn::Certificate {
    /// curator.close()
    /// # }
    /// ```
    pub fn close(self) -> Certificate {
        self.statement()
    }
}

/// A uniform ordered pair of distinct indices below `n`.
fn distinct_pair<S: Source>(source: &mut S, n: u64) -> (usize, usize) {
    let first = below(source, n);
    let other = below(source, n - 1);
    // Uniform over the indices that are not `first`.
    (first, if other < first { other } else { other + 1 })
}

/// A uniform index below `n`, exactly: products that fall into the incomplete last round are drawn again (Lemire 2019).
fn below<S: Source>(source: &mut S, n: u64) -> usize {
    let threshold = n.wrapping_neg() % n;
    loop {
        let product = u128::from(source.next_word()) * u128::from(n);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of the product")]
        let (high, low) = ((product >> 64) as u64, product as u64);
        if low >= threshold {
            return usize::try_from(high).unwrap_or(usize::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_noise::Replay;

    /// χ² over the 12 ordered pairs of 4 indices: above 60 on 11 degrees of freedom once in 10⁸ runs.
    #[test]
    fn pairs_are_distinct_and_uniform() {
        let mut source = Replay::from_seed(5);
        let mut counts = [[0.0_f64; 4]; 4];
        let draws = 120_000;
        for _ in 0..draws {
            let (i, j) = distinct_pair(&mut source, 4);
            counts[i][j] += 1.0;
        }
        let expected = f64::from(draws) / 12.0;
        let mut statistic = 0.0;
        for (i, row) in counts.iter().enumerate() {
            for (j, count) in row.iter().enumerate() {
                if i == j {
                    assert!(*count < 0.5, "a record was paired with itself");
                } else {
                    statistic += (count - expected) * (count - expected) / expected;
                }
            }
        }
        assert!(statistic < 60.0, "{statistic}");
    }
}
