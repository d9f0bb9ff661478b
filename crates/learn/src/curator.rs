//! The one type that holds private records.

use crate::{Certificate, LearnError, Mechanism, Release};
use pairdp_noise::Source;
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Problem, Records};

/// Owns the records and answers noisy queries, as many as its mechanism states and no more.
///
/// # Guarantee
/// Whatever code drives it, everything that leaves a curator is within the budget of its mechanism: the queries
/// may be chosen adaptively, their number and noise may not. Errors depend on public facts alone.
pub struct Curator<S: Source> {
    records: Records,
    mechanism: Mechanism,
    source: S,
    releases: Vec<Release>,
}

impl<S: Source> Curator<S> {
    /// Takes the records in.
    ///
    /// # Errors
    /// [`LearnError::WrongTable`] when the mechanism is for another size.
    pub fn open(records: Records, mechanism: Mechanism, source: S) -> Result<Self, LearnError> {
        if records.len() != mechanism.records() || records.columns() != mechanism.features() {
            return Err(LearnError::WrongTable {
                expected: mechanism.records(),
                expected_features: mechanism.features(),
                found: records.len(),
                found_features: records.columns(),
            });
        }
        Ok(Self { records, mechanism, source, releases: Vec::new() })
    }

    /// What is minimised.
    pub fn problem(&self) -> Problem {
        self.mechanism.problem()
    }

    /// Coordinates of a query.
    pub fn parameters(&self) -> usize {
        self.mechanism.parameters()
    }

    /// The gradient of the pairwise risk at public parameters, with noise.
    ///
    /// The noise is drawn before the records are touched, so the time it takes says nothing about them.
    ///
    /// # Errors
    /// [`LearnError::Exhausted`] when all releases have been made.
    pub fn noisy_gradient(&mut self, parameters: &[f64]) -> Result<Vec<f64>, LearnError> {
        if self.releases.len() >= self.mechanism.steps() as usize {
            return Err(LearnError::Exhausted(self.mechanism.steps()));
        }
        let release = self.mechanism.release_at(Problem::norm(parameters))?;
        let lattice = self.mechanism.lattice(release)?;
        let noise = lattice.draw(&mut self.source, self.mechanism.parameters());
        self.releases.push(release);
        let gradient = kernel::gradient(self.problem(), &self.records, parameters, Par::Parallel);
        Ok(lattice.release(&gradient, &noise))
    }

    /// Drops the records and states what was released.
    pub fn close(self) -> Certificate {
        Certificate::new(&self.mechanism, self.releases)
    }
}
