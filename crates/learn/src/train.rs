//! From a plan to a model.

use crate::algorithm::{Pace, moments as solve_moments, noisy_gd, noisy_sgd, online_pair, phases};
use crate::mechanism::Public;
use crate::parts::Parts;
use crate::{Certificate, Curator, Journal, LearnError, Mechanism, Plan};
use pairdp_noise::{Claimed, Source};
use pairdp_pairwise::{Problem, Records};
use pairdp_units::Budget;
use std::marker::PhantomData;

/// Parameters, and what may be claimed of them: only noise from a secure source gives `Trained<Claimed>`, and
/// only that has a certificate.
///
/// ```compile_fail
/// # use pairdp_learn::{Certificate, Trained};
/// fn take(trained: &Trained<pairdp_noise::Unclaimed>) -> &Certificate {
///     trained.certificate()
/// }
/// ```
/// ```
/// # use pairdp_learn::{Certificate, Trained};
/// fn take(trained: &Trained<pairdp_noise::Claimed>) -> &Certificate {
///     trained.certificate()
/// }
/// ```
pub struct Trained<C> {
    parameters: Vec<f64>,
    certificate: Certificate,
    claim: PhantomData<C>,
}

impl<C> Trained<C> {
    /// The weights of the score.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }
}

impl Trained<Claimed> {
    /// The facts that the guarantee rests on.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Both parts.
    pub fn into_parts(self) -> (Vec<f64>, Certificate) {
        (self.parameters, self.certificate)
    }
}

/// Trains a model within a budget. The mechanism is fixed before the records are looked at.
///
/// ```
/// use pairdp_learn::{Average, Plan, PlanKind, train};
/// use pairdp_noise::Secure;
/// use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm, Records};
/// use pairdp_units::Budget;
///
/// let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
/// let problem = Problem::new(objective, Domain::Ball { radius: 10.0 }, 1.0)?;
/// let plan = Plan::new(PlanKind::NoisyGd, 10, 4.0, Average::Last)?;
/// let records = Records::new(vec![0.9, -0.8, 0.7, -0.2], 1, vec![true, false, true, false], 1.0)?;
/// let trained = train(problem, plan, Budget::new(1.0, 1e-6)?, records, Secure::from_os()?)?;
/// assert_eq!(trained.certificate().records, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`LearnError`], which depends on public facts alone.
pub fn train<S: Source>(
    problem: Problem,
    plan: Plan,
    budget: Budget,
    records: Records,
    source: S,
) -> Result<Trained<S::Claim>, LearnError> {
    train_with(problem, plan, budget, records, source, &mut Journal::none())
}

/// [`train`] that saves checkpoints and goes on from one.
///
/// # Errors
/// As [`train`], and when a checkpoint is of another run or cannot be saved.
pub fn train_with<S: Source>(
    problem: Problem,
    plan: Plan,
    budget: Budget,
    records: Records,
    source: S,
    journal: &mut Journal<'_>,
) -> Result<Trained<S::Claim>, LearnError> {
    let mechanism = Mechanism::calibrate(problem, plan, records.len(), records.columns(), budget)?;
    finish(Curator::open(records, mechanism, source)?, journal)
}

/// [`train_with`] for a table that lies in parts elsewhere.
pub(crate) fn train_parts<S: Source>(
    problem: Problem,
    plan: Plan,
    budget: Budget,
    parts: Parts,
    source: S,
    journal: &mut Journal<'_>,
) -> Result<Trained<S::Claim>, LearnError> {
    let mechanism = Mechanism::calibrate(problem, plan, parts.len(), parts.columns(), budget)?;
    finish(Curator::open_parts(parts, mechanism, source)?, journal)
}

fn finish<S: Source>(
    mut curator: Curator<S>,
    journal: &mut Journal<'_>,
) -> Result<Trained<S::Claim>, LearnError> {
    let parameters = run(&mut curator, journal)?;
    Ok(Trained { parameters, certificate: curator.statement(), claim: PhantomData })
}

/// Asks a curator everything that its mechanism's algorithm asks, and returns the parameters that come of it: what [`train`]
/// does once records and mechanism are together. For whoever runs one mechanism many times.
///
/// # Errors
/// As [`train_with`].
pub fn run<S: Source>(curator: &mut Curator<S>, journal: &mut Journal<'_>) -> Result<Vec<f64>, LearnError> {
    let mechanism = curator.mechanism().clone();
    let Public { problem, plan, .. } = mechanism.common().public;
    let pace = Pace { problem, steps: plan.steps(), step_size: plan.step_size(), average: plan.average() };
    match &mechanism {
        Mechanism::Gradients(_) => noisy_gd(curator, &pace, journal),
        Mechanism::Sampled(_) => noisy_sgd(curator, &pace, journal),
        Mechanism::Online(_) => online_pair(curator, &pace, journal),
        Mechanism::Output(_) => phases(curator, mechanism.releases(), journal),
        Mechanism::Moments(moments) => solve_moments(curator, moments),
    }
}
