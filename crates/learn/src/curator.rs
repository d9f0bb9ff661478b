//! The one type that holds private records.

use crate::algorithm::{descend, mean_against, pair_term, phase_pace, phase_result};
use crate::certificate::{GradientRelease, Released, describe};
use crate::mechanism::{Common, Public, Sampled};
use crate::order::{below, distinct_pair};
use crate::parts::Parts;
use crate::{Certificate, Checkpointer, LearnError, Mechanism, PlanKind, packing};
use pairdp_noise::lattice::Lattice;
use pairdp_noise::{Claimed, Source};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Constants, Neighbours, Objective, Problem, Records, moments};

/// Owns the records and answers noisy queries, as many as its mechanism states and no more.
///
/// # Guarantee
/// Whatever code drives it, everything that leaves a curator is within the budget of its mechanism: the queries
/// may be chosen adaptively, their kind, number and noise may not. Errors depend on public facts alone.
pub struct Curator<S: Source> {
    table: Holding,
    mechanism: Mechanism,
    source: S,
    made: u32,
    gradients: Vec<GradientRelease>,
    /// Worst cases over the domain, at which slopes of single pairs are cut off.
    constants: Constants,
    /// The public permutation of algorithms that follow one.
    order: Vec<u32>,
    /// Lattice and noise of sampled gradients, drawn for many steps at once.
    ahead: Option<Ahead>,
    /// What was asked and answered, if somebody wants to look back at it.
    trace: Option<Vec<Exchange>>,
    /// Public parameters that a descent starts from; 0 unless said.
    start: Vec<f64>,
}

/// Where the records are.
enum Holding {
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

/// Noise for the next steps.
struct Ahead {
    lattice: Lattice,
    noise: Vec<i64>,
    used: usize,
}

/// About as many noise values are drawn at once.
const AHEAD: usize = 4096;

impl<S: Source> Curator<S> {
    /// Takes the records in.
    ///
    /// # Errors
    /// [`LearnError::WrongTable`] when the mechanism is for another size, [`LearnError::FeatureBound`] when the records
    /// were clipped to a larger norm than its noise covers.
    pub fn open(records: Records, mechanism: Mechanism, source: S) -> Result<Self, LearnError> {
        let Public { problem, plan, records: n, features, .. } = mechanism.common().public;
        // Tables of secret size end at the cap.
        let secret_size = problem.neighbours() != Neighbours::ReplaceOne;
        let records = if secret_size && records.len() > n {
            records.select(&(0..u32::try_from(n).unwrap_or(u32::MAX)).collect::<Vec<_>>())
        } else {
            records
        };
        check_table(&mechanism, !secret_size, records.len(), records.columns(), records.feature_bound())?;
        let ahead = match &mechanism {
            Mechanism::Sampled(sampled) => {
                let p = packing::coordinates(problem, features);
                let rows = (AHEAD / p).clamp(1, plan.steps() as usize);
                Some(Ahead { lattice: sampled.lattice()?, noise: vec![0; rows * p], used: rows * p })
            }
            _ => None,
        };
        let order = if plan.algorithm().has_order() { plan.order().permutation(n) } else { Vec::new() };
        Ok(Self { order, ahead, ..Self::over(Holding::Here(records), mechanism, source) })
    }

    /// The same for records that are elsewhere.
    ///
    /// # Errors
    /// As [`Curator::open`]; [`LearnError::OnePlace`] for what cannot be asked of parts.
    pub(crate) fn open_parts(parts: Parts, mechanism: Mechanism, source: S) -> Result<Self, LearnError> {
        let Public { problem, plan, .. } = mechanism.common().public;
        match plan.algorithm() {
            PlanKind::NoisyGd | PlanKind::OutputGd | PlanKind::PhasedGd | PlanKind::Moments => {}
            other => return Err(LearnError::OnePlace(other.name())),
        }
        if problem.neighbours() != Neighbours::ReplaceOne {
            return Err(LearnError::OnePlace("a secret number of records"));
        }
        check_table(&mechanism, true, parts.len(), parts.columns(), parts.feature_bound())?;
        Ok(Self::over(Holding::Elsewhere(parts), mechanism, source))
    }

    fn over(table: Holding, mechanism: Mechanism, source: S) -> Self {
        let constants = mechanism.common().public.problem.constants();
        let public = mechanism.common().public;
        let start = vec![0.0; public.problem.parameters(public.features)];
        let (made, gradients, order, ahead, trace) = (0, Vec::new(), Vec::new(), None, None);
        Self { table, mechanism, source, made, gradients, constants, order, ahead, trace, start }
    }

    /// The records, for queries that need them in one place.
    fn records(&self) -> Result<&Records, LearnError> {
        here(&self.table)
    }

    /// The same, keeping a trace of what it releases, for audits. Nothing is released that would not be without.
    #[must_use]
    pub fn traced(self) -> Self {
        Self { trace: Some(Vec::new()), ..self }
    }

    /// The same with a descent that starts at other public parameters of the domain.
    pub(crate) fn starting_at(self, start: Vec<f64>) -> Result<Self, LearnError> {
        check_domain(self.problem(), &start)?;
        Ok(Self { start, ..self })
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

    fn note(&mut self, at: &[f64], answer: &[f64]) {
        if let Some(trace) = &mut self.trace {
            trace.push(Exchange { at: at.to_vec(), answer: answer.to_vec() });
        }
    }

    fn public(&self) -> Public {
        self.common().public
    }

    fn common(&self) -> &Common {
        self.mechanism.common()
    }

    /// What is minimised.
    pub fn problem(&self) -> Problem {
        self.public().problem
    }

    /// Length of the parameters that queries are about.
    pub fn parameters(&self) -> usize {
        self.problem().parameters(self.public().features)
    }

    /// Releases made so far.
    pub fn made(&self) -> u32 {
        self.made
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
        let release = mechanism.release_at(Problem::norm(parameters))?;
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
        if here == size {
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

    /// The gradient of a uniform pair (or record), or the mean over pairs kept independently, at public parameters, with
    /// noise. Which pairs they were stays secret: the guarantee rests on that.
    ///
    /// # Errors
    /// As [`Curator::noisy_gradient`]; [`LearnError::OutsideDomain`] for parameters that the noise does not cover.
    pub fn noisy_sample(&mut self, parameters: &[f64], out: &mut [f64]) -> Result<(), LearnError> {
        let Public { problem, plan, features, .. } = self.public();
        let p = packing::coordinates(problem, features);
        let (Mechanism::Sampled(mechanism), Some(ahead)) = (&self.mechanism, &mut self.ahead) else {
            return Err(LearnError::WrongQuery("a sampled gradient"));
        };
        check_slopes(problem, parameters)?;
        count(&mut self.made, mechanism.steps())?;
        if ahead.used + p > ahead.noise.len() {
            ahead.lattice.fill(&mut self.source, &mut ahead.noise);
            ahead.used = 0;
        }
        sampled_gradient(mechanism, &self.constants, here(&self.table)?, &mut self.source, parameters, out);
        let noise = &ahead.noise[ahead.used..ahead.used + p];
        ahead.used += p;
        if p == out.len() {
            ahead.lattice.release_in_place(out, noise);
        } else {
            let mut packed = packing::pack(problem, features, out.to_vec());
            ahead.lattice.release_in_place(&mut packed, noise);
            out.copy_from_slice(&packing::unpack(problem, features, packed));
        }
        if let Some(pairs) = plan.expected_pairs() {
            out.iter_mut().for_each(|value| *value /= pairs);
        }
        self.note(parameters, out);
        Ok(())
    }

    /// The mean gradient of the next record's pairs with all before it in the public order, with noise.
    ///
    /// # Errors
    /// As [`Curator::noisy_sample`].
    pub fn noisy_arrival(&mut self, parameters: &[f64]) -> Result<Vec<f64>, LearnError> {
        let Mechanism::Online(mechanism) = &self.mechanism else {
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

    /// The result of the mechanism's next descent from public parameters, with noise.
    ///
    /// # Errors
    /// As [`Curator::noisy_gradient`]; [`LearnError::OutsideDomain`] for a start that the sensitivity does not cover: outside
    /// the domain or, where that has no bound, other than 0.
    pub fn noisy_result(&mut self, start: &[f64]) -> Result<Vec<f64>, LearnError> {
        let Mechanism::Output(mechanism) = &self.mechanism else {
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
        let Mechanism::Output(mechanism) = &self.mechanism else {
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
                descend(&phase_pace(problem, plan, &phase), start, |w| match total {
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
        let Public { problem, records: size, .. } = self.public();
        let kappa = problem.feature_bound();
        let mut released = match &mut self.table {
            Holding::Here(records) => moments::query(weights, kappa, target, records, size, Par::Parallel),
            Holding::Elsewhere(parts) => parts.moments(weights, target, kappa)?,
        };
        lattice.release_in_place(&mut released, &noise);
        self.note(&[], &released);
        Ok(released)
    }

    fn draw(&mut self, lattice: &Lattice) -> Vec<i64> {
        let (law, coordinates) = (self.public().plan.law(), self.mechanism.coordinates());
        law.draw(lattice, &mut self.source, coordinates)
    }

    fn release(&self, lattice: &Lattice, query: Vec<f64>, noise: &[i64]) -> Vec<f64> {
        let Public { problem, features, .. } = self.public();
        let mut packed = packing::pack(problem, features, query);
        lattice.release_in_place(&mut packed, noise);
        packing::unpack(problem, features, packed)
    }

    /// The law of the noise, and coordinates of a release.
    pub(crate) fn noise(&self) -> (crate::Law, usize) {
        (self.public().plan.law(), self.mechanism.coordinates())
    }

    /// The terms of noisy gradients over all pairs, as far as they were made.
    pub(crate) fn releases(&self) -> &[GradientRelease] {
        &self.gradients
    }

    /// Counts releases that an earlier process made.
    pub(crate) fn restore(&mut self, made: u32, releases: Vec<GradientRelease>) -> Result<(), LearnError> {
        let listed = matches!(self.mechanism, Mechanism::Gradients(_));
        let most = self.mechanism.releases();
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

fn here(table: &Holding) -> Result<&Records, LearnError> {
    match table {
        Holding::Here(records) => Ok(records),
        Holding::Elsewhere(_) => Err(LearnError::OnePlace("this query")),
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
    let Public { problem, records: expected, features: expected_features, .. } = mechanism.common().public;
    if (size_matters && found != expected) || found_features != expected_features {
        return Err(LearnError::WrongTable { expected, expected_features, found, found_features });
    }
    if bound > problem.feature_bound() {
        return Err(LearnError::FeatureBound { allowed: problem.feature_bound(), found: bound });
    }
    Ok(())
}

/// Refuses parameters outside the domain.
fn check_domain(problem: Problem, parameters: &[f64]) -> Result<(), LearnError> {
    if problem.domain().contains(parameters) { Ok(()) } else { Err(LearnError::OutsideDomain) }
}

/// Refuses parameters at which a sampled term could move further than over the domain. A metric's slopes are cut off at bounds
/// that make its constants hold for every matrix of numbers; scores are linear in parameters and have no such bound. What is not
/// a number has no distances that a proof could speak of, and a domain without a bound does not notice it.
fn check_slopes(problem: Problem, parameters: &[f64]) -> Result<(), LearnError> {
    if !parameters.iter().all(|value| value.is_finite()) {
        return Err(LearnError::OutsideDomain);
    }
    match problem.objective() {
        Objective::Metric { .. } => Ok(()),
        Objective::Ranking { .. } | Objective::Pointwise { .. } => check_domain(problem, parameters),
    }
}

/// Counts a release before it is made.
fn count(made: &mut u32, most: u32) -> Result<(), LearnError> {
    if *made >= most {
        return Err(LearnError::Exhausted(most));
    }
    *made += 1;
    Ok(())
}

/// The exact gradient of a secret sample: of one pair or record, or the sum over pairs kept independently.
fn sampled_gradient<S: Source>(
    mechanism: &Sampled,
    constants: &Constants,
    records: &Records,
    source: &mut S,
    parameters: &[f64],
    out: &mut [f64],
) {
    let problem = mechanism.common().public.problem;
    let n = records.len() as u64;
    if let Some(kept) = mechanism.kept() {
        let count = kept.draw(source);
        let mut pairs: Vec<(usize, usize)> = Vec::with_capacity(count);
        while pairs.len() < count {
            let (i, j) = distinct_pair(source, n);
            let pair = if i < j { (i, j) } else { (j, i) };
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        out.fill(0.0);
        let mut term = vec![0.0; out.len()];
        for pair in pairs {
            pair_term(problem, constants, records, pair, parameters, &mut term);
            out.iter_mut().zip(&term).for_each(|(sum, value)| *sum += value);
        }
    } else if let Objective::Pointwise { .. } = problem.objective() {
        kernel::record_gradient(problem, constants, records, below(source, n), parameters, out);
    } else {
        pair_term(problem, constants, records, distinct_pair(source, n), parameters, out);
    }
}
