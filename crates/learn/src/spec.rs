//! The value that travels: a run as public facts decide it, before a record is read.
//!
//! [`Settings`] are what people choose. With the columns of a table, its public size and a budget they become a
//! [`TrainingSpec`], which is calibrated once and then only read: a ledger is charged its [`price`](TrainingSpec::price), plans and
//! reports print it, and [`PaidRun::train`](crate::PaidRun::train) carries it out.

mod auto;
pub(crate) mod cautions;
pub(crate) mod explain;
pub(crate) mod foreign;
pub(crate) mod network;
pub(crate) mod settings;

pub(crate) use settings::{Calibration, Settings};

use pairdp_accountant::Price;
use pairdp_certificate::{Algorithm, AsPrinted, CellPlan, KnotPlan, NoiseKind, Order, Representation};
use pairdp_data::{Encoding, Label};
use pairdp_model::Task;
use pairdp_model::representation::{self, Map, TargetMap};
use pairdp_noise::{Secure, Source};
use pairdp_pairwise::knots::{Block, Layout, Spacing};
use pairdp_pairwise::score_cells::CELLS;
use pairdp_pairwise::{Problem, Score, kernel};
use pairdp_release::parts::RowLayout;
use pairdp_release::{Law as _, LearnError, Mechanism, Plan, PublicFacts, as_printed, packing};
use pairdp_units::{Budget, Delta, Unit};

/// A run, calibrated.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingSpec {
    pub(crate) task: Task,
    /// How rows become vectors, from public facts.
    pub(crate) encoding: Encoding,
    pub(crate) label: Option<Label>,
    pub(crate) layout: RowLayout,
    /// What the first release is about; nothing if there is none.
    pub(crate) first: Layout,
    pub(crate) mechanism: Mechanism,
    pub(crate) because: Option<String>,
    pub(crate) as_printed: Option<AsPrinted>,
}

impl TrainingSpec {
    /// What will be released, with its noise.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// What the first release is about: columns, targets or times; nothing where there is one release only.
    pub fn first_release(&self) -> &Layout {
        &self.first
    }

    /// Targets as they are learned from after a first release: by where they lie, and times by whom a record comes before.
    pub fn learned_targets(&self, released: &Representation, targets: &[f64]) -> Vec<f64> {
        let mut targets = targets.to_vec();
        if let Some(map) = TargetMap::new(&self.first, released) {
            map.apply(&mut targets);
        }
        targets
    }

    /// What is minimised.
    pub fn problem(&self) -> Problem {
        self.facts().problem
    }

    /// How.
    pub fn plan(&self) -> Plan {
        self.facts().plan
    }

    /// What is spent: what was asked for, or what a printed formula really spends.
    pub fn budget(&self) -> Budget {
        self.facts().budget
    }

    /// Columns of the records that the curator sees: features and, if gradients need it, the constant.
    pub fn columns(&self) -> usize {
        self.facts().features
    }

    /// The longest row, without the constant that ends it, and that constant if records have one.
    pub fn row_bound(&self) -> (f64, Option<f64>) {
        let RowLayout { feature_bound, constant, .. } = self.row_layout();
        (feature_bound, (constant != 0.0).then_some(constant))
    }

    /// Why this algorithm, if it was left open.
    pub fn because(&self) -> Option<&str> {
        self.because.as_deref()
    }

    /// The paper's claim, if the noise is a paper's.
    pub fn as_printed(&self) -> Option<&AsPrinted> {
        self.as_printed.as_ref()
    }

    /// What the run costs whoever pays for it.
    ///
    /// # Errors
    /// [`LearnError::Accountant`] for a ratio beyond f64.
    pub(crate) fn price(&self) -> Result<Price, LearnError> {
        let (event, sampler_delta) = self.mechanism.event()?;
        let mut label = self.plan().algorithm().name().to_owned();
        if let Score::Foreign(_) = self.problem().score() {
            // Whoever reads the history must not take it for more than it is.
            label += " of a foreign score: private if its gradients were clipped as stated";
        }
        Ok(Price { event, sampler_delta, claim: self.budget(), label })
    }

    /// Bytes that the run takes beside its rows, about, from public numbers alone.
    pub(crate) fn memory(&self) -> u64 {
        /// Parameters, a gradient, noise, sums over steps, and what the projection onto a cone works in.
        const VECTORS: usize = 12;
        let PublicFacts { problem, plan, features, .. } = self.facts();
        let moments = match plan.algorithm() {
            Algorithm::Moments => features.saturating_mul(features),
            _ => 0,
        };
        // Blocks of hidden units in every thread, and their sums.
        let threads = rayon::current_num_threads();
        let blocks = match problem.score() {
            Score::Network(form) => {
                let whole = problem.parameters(features).saturating_mul(8);
                form.hidden.saturating_mul(2 * kernel::BLOCK).saturating_add(whole).saturating_mul(threads)
            }
            Score::Linear | Score::Foreign(_) => 0,
        };
        let numbers =
            problem.parameters(features).max(moments).saturating_mul(VECTORS).saturating_add(blocks);
        (numbers as u64).saturating_mul(size_of::<f64>() as u64)
    }

    /// Refuses a run that would end for want of memory after it was paid for. Asking for memory takes none: pages that stay
    /// untouched cost nothing.
    ///
    /// # Errors
    /// [`LearnError::Memory`].
    pub(crate) fn check_memory(&self) -> Result<(), LearnError> {
        let bytes = self.memory();
        let granted =
            usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
        if granted { Ok(()) } else { Err(LearnError::Memory { gigabytes: bytes as f64 / 1e9 }) }
    }

    pub(crate) fn facts(&self) -> PublicFacts {
        self.mechanism.facts()
    }
}

/// What the first release says of what is to be learned: where targets lie, where an intercept can say it (a descent's is bound by
/// its domain), and of times the cells of a grid, from which a record's own number follows.
fn released_target(problem: Problem, algorithm: Algorithm, constant: f64) -> Option<Block> {
    match Task::of(problem) {
        _ if algorithm != Algorithm::Moments => None,
        Task::Regression if constant != 0.0 => Some(Block::Target),
        Task::Survival => Some(Block::Times),
        _ => None,
    }
}

impl Settings {
    /// The run that these choices make of a table with such columns and a public size; if the size is secret, `records` is not
    /// looked at.
    ///
    /// # Errors
    /// [`LearnError`], from public facts alone.
    pub fn prepare(
        &self,
        records: usize,
        encoding: &Encoding,
        budget: Budget,
    ) -> Result<TrainingSpec, LearnError> {
        let size = self.max_records.unwrap_or(records);
        if self.unit == Unit::Person && size < 2 {
            return Err(LearnError::TooFewPersons(size));
        }
        let records = self.max_records.unwrap_or(records);
        let random_features = self.random_features()?;
        if !self.is_additive() && encoding.columns().iter().any(|column| column.monotone.is_some()) {
            return Err(self.not_additive("monotone columns"));
        }
        let layout = representation::layout(encoding, Spacing::default());
        let (chosen, because) = self.resolved(records, &layout, encoding.dimension(), budget)?;
        let width = if chosen.by_ranks() { Map::width_of(&layout) } else { encoding.dimension() };
        let features = width + chosen.random_columns();
        let algorithm = chosen.algorithm.unwrap_or(Algorithm::NoisyGd);
        let (problem, columns) = (chosen.problem(features)?, chosen.columns(features));
        let (feature_bound, constant) = (chosen.row_bound(features), chosen.constant(features));
        let row_layout = RowLayout { problem, feature_bound, random_features, constant };
        let mut plan = chosen.plan(algorithm, problem, records, columns, budget)?;
        let target = released_target(problem, algorithm, constant);
        let target = target.filter(|block| chosen.by_ranks() || *block == Block::Times);
        let spacing = auto::spacing(records, &layout, chosen.rests(), budget)?;
        let first = representation::layout_for(encoding, spacing, chosen.by_ranks(), target);
        if !first.blocks().is_empty() {
            let (numbers, categories) = first.counts();
            let coordinates = first.coordinates(self.max_records.is_some());
            let usual = match (chosen.rests(), chosen.by_ranks()) {
                (false, true) if !chosen.is_additive() => network::REPRESENTATION_SHARE,
                (true, _) => 1.0,
                (false, true) => auto::REPRESENTATION_SHARE,
                (false, false) => auto::TIMES_SHARE,
            };
            let share = chosen.representation_share.unwrap_or(usual);
            plan = plan.with_representation(KnotPlan { share, numbers, categories, coordinates })?;
        }
        if let Some(share) = chosen.probability_share() {
            if !chosen.is_additive() {
                return Err(chosen.not_additive("probabilities"));
            }
            plan = plan.with_probabilities(CellPlan { share, cells: CELLS })?;
        }
        let (mut budget, mut printed) = (budget, None);
        if self.calibration == Calibration::Literal {
            if self.unit == Unit::Person {
                return Err(LearnError::NoProof("persons with a paper's noise"));
            }
            if !chosen.is_linear() {
                return Err(LearnError::NoProof("a network with a paper's noise"));
            }
            if !first.blocks().is_empty() {
                return Err(LearnError::NoProof("a representation with a paper's noise"));
            }
            if plan.probabilities().is_some() {
                return Err(LearnError::NoProof("probabilities with a paper's noise"));
            }
            if algorithm == Algorithm::NoisyGd {
                plan = plan.with_constant_noise();
            }
            plan = plan.with_law(NoiseKind::Gaussian);
            let (claim, delivered) = as_printed(problem, plan, records, columns, budget, self.paper)?;
            (budget, printed) = (delivered, Some(claim));
        }
        Ok(TrainingSpec {
            task: self.task,
            encoding: encoding.clone(),
            label: None,
            layout: row_layout,
            first,
            mechanism: Mechanism::calibrate(problem, plan, records, columns, budget)?,
            because,
            as_printed: printed,
        })
    }

    /// What is refused where columns do not add up.
    fn not_additive(&self, what: &'static str) -> LearnError {
        if self.has_random_features() {
            LearnError::NotOfRandomFeatures(what)
        } else {
            LearnError::NotOfNetworks(what)
        }
    }

    /// The numbers that were given, and suggested ones for the rest.
    fn plan(
        &self,
        algorithm: Algorithm,
        problem: Problem,
        records: usize,
        columns: usize,
        budget: Budget,
    ) -> Result<Plan, LearnError> {
        if self.rests() && algorithm == Algorithm::NoisyGd {
            let usual = if budget.delta == Delta::PURE { NoiseKind::Laplace } else { NoiseKind::Gaussian };
            return Ok(Plan::at_rest(self.mechanism.unwrap_or(usual)));
        }
        let shared = self.probability_share().unwrap_or(0.0);
        let suggested = if !self.is_linear() && algorithm == Algorithm::NoisyGd {
            let usual = if self.by_ranks() { network::REPRESENTATION_SHARE } else { 0.0 };
            let share = self.representation_share.unwrap_or(usual);
            network::by_time(problem, records, budget, share)?
        } else if self.by_ranks() && algorithm == Algorithm::NoisyGd {
            let usual =
                if self.is_additive() { auto::REPRESENTATION_SHARE } else { network::REPRESENTATION_SHARE };
            let share = self.representation_share.unwrap_or(usual);
            auto::by_time(problem, records, budget, share + shared)?
        } else {
            Plan::suggested(algorithm, problem, records, columns, budget)?
        };
        let steps = self.steps.unwrap_or(suggested.steps());
        let size = self.step_size.unwrap_or(suggested.step_size());
        let mut plan = Plan::new(algorithm, steps, size, self.average.unwrap_or(suggested.average()))?;
        let law = match self.mechanism {
            Some(law) => law,
            // Whose ratios compose with those of a first or last release.
            None if self.by_ranks() || !self.is_linear() => suggested.law(),
            None if self.probability_share().is_some() => {
                if budget.delta == Delta::PURE {
                    NoiseKind::Laplace
                } else {
                    NoiseKind::Gaussian
                }
            }
            None if algorithm == Algorithm::NoisyGd => {
                NoiseKind::quietest(budget, f64::from(steps), packing::coordinates(problem, columns))?
            }
            None => suggested.law(),
        };
        if algorithm.has_order() {
            let seed = match self.order_seed {
                Some(seed) => seed,
                // 53 bits, so that every reader of JSON reads the same number.
                None => Secure::from_os()?.next_word() >> 11,
            };
            plan = plan.with_order(Order { shuffle: self.shuffle, seed });
        }
        if let Some(pairs) = self.expected_pairs {
            plan = plan.with_expected_pairs(pairs)?;
        }
        plan.with_momentum(self.momentum.unwrap_or(suggested.momentum())).map(|plan| plan.with_law(law))
    }
}
