//! What was released: a description that can be stored, read back and accounted for.
//!
//! The format is versioned and closed: an unknown kind or field, or a combination without a proved pair, is an
//! error. Nothing that cannot be accounted for is ever free.
//!
//! # Supported
//! | sampling | Gaussian, replace-one | Gaussian, add-or-remove | pure, replace-one | pure, add-or-remove |
//! |---|---|---|---|---|
//! | none | yes | yes | yes | yes |
//! | fixed size, one index | yes | refused | yes | refused |
//! | Poisson over records | yes | yes | refused | yes |
//! | Poisson over pairs | yes | refused | refused | refused |
//!
//! Sequences and disjoint parts of these, and [`Release::LastIterate`], are supported under both adjacencies.
//!
//! # Noise multipliers
//! A multiplier is the noise's standard deviation divided by what one record can do to the noised quantity:
//!
//! * no sampling: the sensitivity of the query under the event's adjacency;
//! * fixed-size samples or one index (replace-one): the *replace-one* sensitivity of the query on a sample that
//!   contains the record. For a sum of gradients clipped to C that is 2C, so a multiplier in the clipping
//!   convention σ/C is divided by 2;
//! * Poisson over records: the largest norm of one record's contribution, under both adjacencies;
//! * Poisson over pairs: the largest norm of one *pair's* contribution, the noise being on the sum of kept pairs.

use crate::AccountantError;
use crate::hidden_state::LastIterate;
pub use pairdp_units::Adjacency;
use pairdp_units::UnitError;
use serde::{Deserialize, Serialize};

/// The version of the format written by this crate.
pub const EVENT_VERSION: u32 = 1;

/// Everything that was released about one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "UncheckedEvent")]
pub struct Event {
    version: u32,
    adjacency: Adjacency,
    release: Release,
}

/// An event as read, before its numbers are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedEvent {
    version: u32,
    adjacency: Adjacency,
    release: Release,
}

/// A release, or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Release {
    /// A query with Gaussian noise, repeated with fresh noise and fresh samples.
    Gaussian {
        /// Noise over sensitivity, see the module's documentation.
        noise_multiplier: f64,
        /// How the records of each repetition were chosen.
        #[serde(default)]
        sampling: Sampling,
        /// Repetitions.
        #[serde(default = "once")]
        times: u64,
    },
    /// An ε-private release: Laplace or K-norm noise, randomised response.
    Pure {
        /// ε of one repetition on the whole sample.
        epsilon: f64,
        /// How the records of each repetition were chosen.
        #[serde(default)]
        sampling: Sampling,
        /// Repetitions.
        #[serde(default = "once")]
        times: u64,
    },
    /// The last iterate of noisy projected descent, the earlier ones kept secret.
    LastIterate(LastIterate),
    /// One after the other, each free to depend on what was released before.
    Sequence {
        /// The releases.
        parts: Vec<Release>,
    },
    /// Each about its own part of the table; the parts were fixed without looking at the records and no record is
    /// in two of them.
    Disjoint {
        /// The releases, one per part.
        parts: Vec<Release>,
    },
}

/// How a sample is drawn. The chosen indices are secret.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sampling {
    /// All records.
    #[default]
    None,
    /// `batch` of `records`, uniformly without replacement. A uniform pair of records has `batch` 2.
    FixedSize {
        /// m.
        batch: u64,
        /// n.
        records: u64,
    },
    /// One uniform index of `records`.
    OneIndex {
        /// n.
        records: u64,
    },
    /// Every record independently with probability `rate`.
    PoissonRecords {
        /// q.
        rate: f64,
    },
    /// Every unordered pair independently, `expected_pairs` in the mean.
    PoissonPairs {
        /// n.
        records: u64,
        /// The mean number of kept pairs.
        expected_pairs: f64,
    },
}

fn once() -> u64 {
    1
}

impl Event {
    /// Checks the numbers of a release.
    ///
    /// # Errors
    /// [`AccountantError::Invalid`] naming the field that is out of range.
    pub fn new(adjacency: Adjacency, release: Release) -> Result<Self, AccountantError> {
        release.check()?;
        Ok(Self { version: EVENT_VERSION, adjacency, release })
    }

    /// `steps` Gaussian releases under replace-one adjacency, each on a uniform sample of `batch` records, or on all
    /// when there is none.
    ///
    /// # Errors
    /// [`AccountantError::Invalid`] as in [`Event::new`].
    pub fn gaussian_steps(
        records: u64,
        batch: Option<u64>,
        steps: u64,
        noise_multiplier: f64,
    ) -> Result<Self, AccountantError> {
        let sampling = batch.map_or(Sampling::None, |batch| Sampling::FixedSize { batch, records });
        Self::new(Adjacency::ReplaceOne, Release::Gaussian { noise_multiplier, sampling, times: steps })
    }

    /// Which tables count as neighbours.
    pub fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// What was released.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// The same event with every Gaussian noise multiplied by `factor`.
    ///
    /// # Errors
    /// [`AccountantError::Invalid`] when a multiplier leaves its range.
    pub fn scaled(&self, factor: f64) -> Result<Self, AccountantError> {
        Self::new(self.adjacency, self.release.map(&|multiplier| multiplier * factor, &|times| times))
    }

    /// The same event with every repetition count multiplied by `factor`.
    ///
    /// # Errors
    /// [`AccountantError::Invalid`] as in [`Event::new`].
    pub fn repeated(&self, factor: u64) -> Result<Self, AccountantError> {
        Self::new(
            self.adjacency,
            self.release.map(&|multiplier| multiplier, &|times| times.saturating_mul(factor)),
        )
    }
}

impl TryFrom<UncheckedEvent> for Event {
    type Error = AccountantError;
    fn try_from(event: UncheckedEvent) -> Result<Self, AccountantError> {
        if event.version != EVENT_VERSION {
            return Err(AccountantError::Unsupported("this version of the event format"));
        }
        Self::new(event.adjacency, event.release)
    }
}

impl Release {
    fn check(&self) -> Result<(), AccountantError> {
        match self {
            Self::Gaussian { noise_multiplier, sampling, .. } => {
                accept(
                    "noise_multiplier",
                    *noise_multiplier,
                    noise_multiplier.is_finite() && *noise_multiplier >= 0.0,
                )?;
                sampling.check()
            }
            Self::Pure { epsilon, sampling, .. } => {
                pairdp_units::Epsilon::new(*epsilon).map_err(|_: UnitError| invalid("epsilon", *epsilon))?;
                sampling.check()
            }
            Self::LastIterate(run) => run.check(),
            Self::Sequence { parts } | Self::Disjoint { parts } => parts.iter().try_for_each(Self::check),
        }
    }

    fn map(&self, noise: &dyn Fn(f64) -> f64, count: &dyn Fn(u64) -> u64) -> Self {
        match self {
            Self::Gaussian { noise_multiplier, sampling, times } => Self::Gaussian {
                noise_multiplier: noise(*noise_multiplier),
                sampling: *sampling,
                times: count(*times),
            },
            Self::Pure { epsilon, sampling, times } => {
                Self::Pure { epsilon: *epsilon, sampling: *sampling, times: count(*times) }
            }
            Self::LastIterate(run) => Self::LastIterate(LastIterate {
                noise_multiplier: noise(run.noise_multiplier),
                steps: count(run.steps),
                ..run.clone()
            }),
            Self::Sequence { parts } => {
                Self::Sequence { parts: parts.iter().map(|part| part.map(noise, count)).collect() }
            }
            Self::Disjoint { parts } => {
                Self::Disjoint { parts: parts.iter().map(|part| part.map(noise, count)).collect() }
            }
        }
    }
}

impl Sampling {
    fn check(self) -> Result<(), AccountantError> {
        match self {
            Self::None => Ok(()),
            Self::FixedSize { batch, records } => {
                accept("records", records as f64, (1..=1 << 52).contains(&records))?;
                if (1..=records).contains(&batch) {
                    Ok(())
                } else {
                    Err(AccountantError::Sample { batch, records })
                }
            }
            Self::OneIndex { records } => accept("records", records as f64, (1..=1 << 52).contains(&records)),
            Self::PoissonRecords { rate } => accept("rate", rate, rate > 0.0 && rate <= 1.0),
            Self::PoissonPairs { records, expected_pairs } => {
                accept("records", records as f64, (2..=1 << 26).contains(&records))?;
                let pairs = records as f64 * (records as f64 - 1.0) / 2.0;
                accept("expected_pairs", expected_pairs, expected_pairs > 0.0 && expected_pairs <= pairs)
            }
        }
    }
}

pub(crate) fn invalid(field: &'static str, value: f64) -> AccountantError {
    AccountantError::Invalid { field, value }
}

/// Refuses unless `good`, which NaN never is.
pub(crate) fn accept(field: &'static str, value: f64, good: bool) -> Result<(), AccountantError> {
    if good { Ok(()) } else { Err(invalid(field, value)) }
}
