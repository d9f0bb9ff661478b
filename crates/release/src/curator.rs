//! The one type that holds private records.

use crate::Law as _;
use crate::PublicIndices as _;
use crate::certificate::describe;
use crate::error::ORDER_OF_TIME;
use crate::families::samples::query::Ahead;
use crate::foreign::{ForeignScore, foreign_start};
use crate::parts::Parts;
use crate::{Checkpointer, LearnError, start_of};
use crate::{Mechanism, PublicFacts, packing};
use pairdp_certificate::{Algorithm, Certificate, GradientRelease, NoiseKind, Released};
use pairdp_noise::lattice::Lattice;
use pairdp_noise::{Claimed, Source};
use pairdp_pairwise::kernel::parts;
use pairdp_pairwise::{Constants, Neighbours, Objective, PerPerson, Problem, RankingForm, Records, Score};
use std::sync::Arc;

/// Owns the records and answers noisy queries, as many as its mechanism states and no more.
///
/// # Guarantee
/// Whatever code drives it, everything that leaves a curator is within the budget of its mechanism: the queries
/// may be chosen adaptively, their kind, number and noise may not. Errors depend on public facts alone.
pub struct Curator<S: Source> {
    pub(crate) table: Holding,
    pub(crate) mechanism: Mechanism,
    pub(crate) source: S,
    pub(crate) made: u32,
    pub(crate) gradients: Vec<GradientRelease>,
    /// Worst cases over the domain, at which slopes of single pairs are cut off.
    pub(crate) constants: Constants,
    /// The public permutation of algorithms that follow one.
    pub(crate) order: Vec<u32>,
    /// Lattice and noise of sampled gradients, drawn for many steps at once.
    pub(crate) ahead: Option<Ahead>,
    /// What was asked and answered, if somebody wants to look back at it.
    pub(crate) trace: Option<Vec<Exchange>>,
    /// Public parameters that a descent starts from; those of scores of 0 unless said.
    pub(crate) start: Vec<f64>,
    /// Whether labels were counted by cells of the score.
    pub(crate) counted: bool,
    /// The function that scores records, if it is not ours.
    pub(crate) foreign: Option<Arc<dyn ForeignScore>>,
}

/// Where the records are.
pub(crate) enum Holding {
    Here(Records),
    Elsewhere(Parts),
}

/// One query and its noisy answer. Both are public: the answer was released, and the question follows from earlier answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The public parameters that were asked about; none for moments.
    pub at: Vec<f64>,
    /// What was released.
    pub answer: Vec<f64>,
}

impl<S: Source> Curator<S> {
    /// Takes the records in.
    ///
    /// # Errors
    /// [`LearnError::WrongTable`] when the mechanism is for another size, [`LearnError::FeatureBound`] when the records
    /// were clipped to a larger norm than its noise covers.
    pub fn open(records: Records, mechanism: Mechanism, source: S) -> Result<Self, LearnError> {
        let PublicFacts { problem, plan, records: n, .. } = mechanism.common().public;
        // Tables of secret size end at the cap.
        let secret_size = problem.neighbours() != Neighbours::ReplaceOne;
        keeps_promise(problem, records.len())?;
        let records = if secret_size && !problem.weighs() && records.len() > n {
            records.select(&(0..u32::try_from(n).unwrap_or(u32::MAX)).collect::<Vec<_>>())
        } else {
            records
        };
        if records.strata().is_weighed() != problem.weighs() {
            return Err(if problem.weighs() { LearnError::NoPersons } else { LearnError::Persons });
        }
        check_table(&mechanism, !secret_size, records.size(), records.columns(), records.feature_bound())?;
        let ahead = match &mechanism {
            Mechanism::Samples(samples) => Some(Ahead::new(samples)?),
            _ => None,
        };
        let order = if plan.algorithm().has_order() { plan.order().permutation(n) } else { Vec::new() };
        Ok(Self { order, ahead, ..Self::over(Holding::Here(records), mechanism, source) })
    }

    /// The same for records that are elsewhere.
    ///
    /// # Errors
    /// As [`Curator::open`]; [`LearnError::OnePlace`] for what cannot be asked of parts.
    pub fn open_parts(parts: Parts, mechanism: Mechanism, source: S) -> Result<Self, LearnError> {
        can_ask_parts(&mechanism)?;
        check_table(&mechanism, true, parts.len(), parts.columns(), parts.feature_bound())?;
        Ok(Self::over(Holding::Elsewhere(parts), mechanism, source))
    }

    fn over(table: Holding, mechanism: Mechanism, source: S) -> Self {
        let constants = mechanism.common().public.problem.constants();
        let public = mechanism.common().public;
        let start = start_of(public.problem, public.features);
        let (made, gradients, order, ahead, trace) = (0, Vec::new(), Vec::new(), None, None);
        let (counted, foreign) = (false, None);
        Self {
            table,
            mechanism,
            source,
            made,
            gradients,
            constants,
            order,
            ahead,
            trace,
            start,
            counted,
            foreign,
        }
    }

    /// The records, for queries that need them in one place.
    pub(crate) fn records(&self) -> Result<&Records, LearnError> {
        here(&self.table)
    }

    /// The same, keeping a trace of what it releases, for audits. Nothing is released that would not be without.
    #[must_use]
    pub fn traced(self) -> Self {
        Self { trace: Some(Vec::new()), ..self }
    }

    /// The same with a descent that starts at other public parameters of the domain.
    ///
    /// # Errors
    /// [`LearnError::OutsideDomain`].
    pub fn starting_at(self, start: Vec<f64>) -> Result<Self, LearnError> {
        check_domain(self.problem(), &start)?;
        Ok(Self { start, ..self })
    }

    /// The same with the function that scores its records, and starts where that says.
    ///
    /// # Errors
    /// [`LearnError::NoFunction`] unless scores are foreign exactly where there is a function; [`LearnError::WrongAnswer`] if it cannot score
    /// rows of zeros.
    pub fn scored_by(self, foreign: Option<Arc<dyn ForeignScore>>) -> Result<Self, LearnError> {
        let PublicFacts { problem, features, .. } = self.public();
        match (problem.score(), &foreign) {
            (Score::Foreign(form), Some(score)) => {
                let start = foreign_start(score.as_ref(), form, features)?;
                Ok(Self { start, foreign, ..self })
            }
            (Score::Linear | Score::Network(_), None) => Ok(self),
            _ => Err(LearnError::NoFunction),
        }
    }

    /// Where a descent starts.
    pub(crate) fn start(&self) -> &[f64] {
        &self.start
    }

    /// Queries and answers so far, if they are kept.
    pub fn trace(&self) -> &[Exchange] {
        self.trace.as_deref().unwrap_or_default()
    }

    /// What will be released in all.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    pub(crate) fn note(&mut self, at: &[f64], answer: &[f64]) {
        if let Some(trace) = &mut self.trace {
            trace.push(Exchange { at: at.to_vec(), answer: answer.to_vec() });
        }
    }

    pub(crate) fn public(&self) -> PublicFacts {
        self.mechanism.common().public
    }

    /// What is minimised.
    pub(crate) fn problem(&self) -> Problem {
        self.public().problem
    }

    /// Length of the parameters that queries are about.
    pub(crate) fn parameters(&self) -> usize {
        self.problem().parameters(self.public().features)
    }

    /// Releases made so far.
    pub fn made(&self) -> u32 {
        self.made
    }

    pub(crate) fn draw(&mut self, lattice: &Lattice) -> Vec<i64> {
        let (law, coordinates) = (self.public().plan.law(), self.mechanism.family().coordinates());
        law.draw(lattice, &mut self.source, coordinates)
    }

    pub(crate) fn release(&self, lattice: &Lattice, query: Vec<f64>, noise: &[i64]) -> Vec<f64> {
        let PublicFacts { problem, features, .. } = self.public();
        let mut packed = packing::pack(problem, features, query);
        lattice.release_in_place(&mut packed, noise);
        packing::unpack(problem, features, packed)
    }

    /// The law of the noise, and coordinates of a release.
    pub(crate) fn noise(&self) -> (NoiseKind, usize) {
        (self.public().plan.law(), self.mechanism.family().coordinates())
    }

    /// The terms of noisy gradients over all pairs, as far as they were made.
    pub(crate) fn releases(&self) -> &[GradientRelease] {
        &self.gradients
    }

    /// Counts releases that an earlier process made.
    pub(crate) fn restore(&mut self, made: u32, releases: Vec<GradientRelease>) -> Result<(), LearnError> {
        let listed = matches!(self.mechanism, Mechanism::Gradients(_));
        let most = self.mechanism.family().releases();
        if self.made != 0 || made > most || releases.len() != if listed { made as usize } else { 0 } {
            return Err(LearnError::Checkpoint);
        }
        (self.made, self.gradients) = (made, releases);
        Ok(())
    }

    /// Drops the records and states what was released, for tests of any source: a statement, not a certificate.
    pub fn into_released(self) -> Released {
        self.statement().released
    }

    pub(crate) fn statement(self) -> Certificate {
        describe(&self.mechanism, self.gradients)
    }
}

impl<S: Source<Claim = Claimed>> Curator<S> {
    /// Drops the records and certifies what was released. Only secure noise can be certified:
    ///
    /// ```compile_fail
    /// # fn f(curator: pairdp_release::Curator<pairdp_noise::Replay>) -> pairdp_certificate::Certificate {
    /// curator.close()
    /// # }
    /// ```
    /// ```
    /// # fn f(curator: pairdp_release::Curator<pairdp_noise::Secure>) -> pairdp_certificate::Certificate {
    /// curator.close()
    /// # }
    /// ```
    pub fn close(self) -> Certificate {
        self.statement()
    }

    /// Runs the mechanism's algorithm to its end and certifies it.
    ///
    /// # Errors
    /// As [`run`](crate::run()).
    pub fn certified(
        mut self,
        checkpointer: &mut Checkpointer<'_>,
    ) -> Result<(Vec<f64>, Certificate), LearnError> {
        let parameters = crate::run(&mut self, checkpointer)?;
        Ok((parameters, self.close()))
    }
}

pub(crate) fn here(table: &Holding) -> Result<&Records, LearnError> {
    match table {
        Holding::Here(records) => Ok(records),
        Holding::Elsewhere(_) => Err(LearnError::OnePlace("this query")),
    }
}

/// Whether a mechanism can be asked of a table in parts. It depends on public facts alone, so that it is known before any part is
/// asked, and whoever paid gets the price back.
///
/// # Errors
/// [`LearnError::OnePlace`].
pub fn can_ask_parts(mechanism: &Mechanism) -> Result<(), LearnError> {
    let PublicFacts { problem, plan, .. } = mechanism.common().public;
    match plan.algorithm() {
        Algorithm::NoisyGd | Algorithm::OutputGd | Algorithm::PhasedGd | Algorithm::Moments => {}
        other => return Err(LearnError::OnePlace(other.name())),
    }
    if problem.neighbours() != Neighbours::ReplaceOne {
        return Err(LearnError::OnePlace("a secret number of records"));
    }
    if problem.per_person() == Some(PerPerson::One) {
        return Err(LearnError::OnePlace("drawing one record of each person"));
    }
    if plan.representation().is_some() && matches!(problem.objective(), Objective::Metric { .. }) {
        // Every part of a metric has the whole table, so that weights of knots would be added up once for each.
        return Err(LearnError::OnePlace("a metric by ranks"));
    }
    if let Score::Foreign(_) = problem.score() {
        return Err(LearnError::OnePlace("a foreign score"));
    }
    // Moments are sums over records, whatever the pairs are.
    if plan.algorithm() != Algorithm::Moments && !parts::can_ask(problem) {
        let in_time = matches!(problem.objective(), Objective::Ranking { form: RankingForm::Comparable, .. });
        return Err(LearnError::OnePlace(if in_time { ORDER_OF_TIME } else { "this loss over pairs" }));
    }
    Ok(())
}

/// Refuses a table of more records than were promised: its noise is for those that push none out.
///
/// # Errors
/// [`LearnError::BrokenPromise`].
pub fn keeps_promise(problem: Problem, found: usize) -> Result<(), LearnError> {
    match problem.neighbours() {
        Neighbours::AddRemovePromised { most } if found > most => Err(LearnError::BrokenPromise(most)),
        _ => Ok(()),
    }
}

/// Refuses a table that the mechanism is not for.
fn check_table(
    mechanism: &Mechanism,
    size_matters: bool,
    found: usize,
    found_features: usize,
    bound: f64,
) -> Result<(), LearnError> {
    let PublicFacts { problem, records: expected, features: expected_features, .. } =
        mechanism.common().public;
    if (size_matters && found != expected) || found_features != expected_features {
        return Err(LearnError::WrongTable { expected, expected_features, found, found_features });
    }
    if bound > problem.feature_bound() {
        return Err(LearnError::FeatureBound { allowed: problem.feature_bound(), found: bound });
    }
    Ok(())
}

/// Refuses parameters outside the domain.
pub(crate) fn check_domain(problem: Problem, parameters: &[f64]) -> Result<(), LearnError> {
    if problem.contains(parameters) { Ok(()) } else { Err(LearnError::OutsideDomain) }
}

/// Refuses parameters at which a sampled term could move further than over the domain. A metric's slopes are cut off at bounds
/// that make its constants hold for every matrix of numbers; scores are linear in parameters and have no such bound. What is not
/// a number has no distances that a proof could speak of, and a domain without a bound does not notice it.
pub(crate) fn check_slopes(problem: Problem, parameters: &[f64]) -> Result<(), LearnError> {
    if !parameters.iter().all(|value| value.is_finite()) {
        return Err(LearnError::OutsideDomain);
    }
    match problem.objective() {
        Objective::Metric { .. } => Ok(()),
        Objective::Ranking { .. } | Objective::Pointwise { .. } => check_domain(problem, parameters),
    }
}

/// Counts a release before it is made.
pub(crate) fn count(made: &mut u32, most: u32) -> Result<(), LearnError> {
    if *made >= most {
        return Err(LearnError::Exhausted(most));
    }
    *made += 1;
    Ok(())
}
