//! Learning without privacy, to compare with. A baseline is a type of its own and never carries a certificate.

pub use pairdp_release::phase_result;

use crate::{RepresentationKind, Settings};
use pairdp_certificate::{Algorithm, Average, Order};
use pairdp_data::{Encoding, Label, Table};
use pairdp_model::representation::{self, Map};
use pairdp_model::{BaselineModel, Predictor, Task};
use pairdp_pairwise::knots::Spacing;
use pairdp_pairwise::{Objective, PerPerson, Problem, Records, Strata};
use pairdp_release::parts::RowLayout;
use pairdp_release::{Descent, PublicIndices as _, Walk, persons};
use pairdp_release::{LearnError, Plan};
use pairdp_units::directed::larger;

/// How to descend without privacy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Along the mean over all pairs (or records).
    Gd,
    /// One pair, or record, a step (Bassily et al., Algorithm 1 for records).
    Sgd(Order),
    /// Each drawn record against all drawn before it (Yang et al., Algorithm 1).
    SgdHistory(Order),
}

/// Descends without noise, with the steps, step size and average of a plan. What it returns is not private.
///
/// # Errors
/// [`LearnError`] below two records, for a history of single records, or for a network.
pub fn descend(
    baseline: Baseline,
    problem: Problem,
    plan: Plan,
    records: &Records,
) -> Result<Vec<f64>, LearnError> {
    problem.gradient_sensitivity(0.0, records.size())?;
    if !problem.score().is_linear() {
        return Err(LearnError::NotOfNetworks("baseline"));
    }
    let (n, steps) = (records.len(), plan.steps() as usize);
    let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
    let walk = match baseline {
        Baseline::Gd => Walk::FullBatch,
        Baseline::Sgd(order) if pointwise => Walk::Records(order.indices(n, steps)),
        Baseline::Sgd(order) => Walk::Pairs(order.pairs(n, steps)),
        Baseline::SgdHistory(_) if pointwise => return Err(LearnError::NoHistory),
        Baseline::SgdHistory(order) => Walk::History(order.indices(n, steps + 1)),
    };
    let descent = Descent::of(problem, plan);
    Ok(walk.run(&descent, records, &vec![0.0; problem.parameters(records.columns())]))
}

/// λ of the ridge for ranks, over the number of records: what served best on public sets.
const TRACE: f64 = 0.1;
/// Parameters for ranks may be this long: without noise, nothing but the ridge need hold them back.
const FAR: f64 = 1000.0;

/// Descends without privacy: over all pairs until close to a minimum, or once through the table, unless the settings say
/// otherwise. The model is not private.
///
/// As private models do, it learns from ranks, which here are the table's own: it shows what there is to be found, however wide
/// ranges are. Metrics, and whoever asks for `ranges` or bounds rows, have columns as ranges put them.
///
/// # Errors
/// [`LearnError`] when settings and table do not fit.
pub fn fit(
    method: Baseline,
    settings: &Settings,
    mut table: Table,
    encoding: Encoding,
    label: Option<Label>,
) -> Result<BaselineModel, LearnError> {
    let ranges = settings.task == Task::Metric || settings.feature_bound.is_some();
    let usual = if ranges { RepresentationKind::Ranges } else { RepresentationKind::Ranks };
    let representation = settings.representation.or(Some(usual));
    let mut settings = Settings { algorithm: Some(Algorithm::NoisyGd), representation, ..settings.clone() };
    if settings.by_ranks() && settings.ridge <= 0.0 {
        // Five functions a column are many for a small table.
        settings.ridge = TRACE / larger(table.size() as f64, 1.0);
        settings.radius = settings.radius.or(Some(FAR));
    }
    let settings = &settings;
    let random_features = settings.random_features()?;
    let layout = representation::layout(&encoding, Spacing::Fine);
    let width = if settings.by_ranks() { Map::width_of(&layout) } else { table.columns };
    let features = width + settings.random_columns();
    let problem = settings.problem(features)?;
    // Whoever descends record by record takes each for itself.
    let weighs = problem.weighs() && method == Baseline::Gd;
    let problem = problem.with_persons(weighs.then_some(PerPerson::Weights));
    let (mut table, strata) = match table.owners.take() {
        Some(owners) if weighs => persons::weighed(table, &owners, owners.persons())?,
        _ => {
            let strata = Strata::plain(table.rows);
            (table, strata)
        }
    };
    let (feature_bound, constant) = (settings.row_bound(features), settings.constant(features));
    let representation =
        if settings.by_ranks() { Some(representation::exact(&layout, &table, &strata)?) } else { None };
    if let Some(released) = &representation {
        Map::new(&layout, released).apply_to(&mut table, feature_bound);
    }
    let plan = plan(method, settings, problem, strata.size())?;
    let records = RowLayout { problem, feature_bound, random_features, constant }.records(table, strata)?;
    let parameters = descend(method, problem, plan, &records)?;
    let (task, score) = (settings.task, problem.score());
    let mut predictor = Predictor {
        task,
        encoding,
        label,
        feature_bound,
        constant,
        parameters,
        representation,
        probabilities: None,
        random_features,
        score,
    };
    predictor.follow_schema();
    Ok(BaselineModel::new(predictor))
}

/// How far and how fast.
fn plan(method: Baseline, settings: &Settings, problem: Problem, rows: usize) -> Result<Plan, LearnError> {
    const FULL_STEPS: u32 = 300;
    /// The same for ranks, whose minimum is far out where there are many records.
    const STEPS_FOR_RANKS: u32 = 600;
    const MOMENTUM: f64 = 0.98;
    /// A step that momentum bears, in units of the longest without: (1 + β)/(1 − β), 99, of them would be the last stable one.
    const LONGER: f64 = 60.0;
    let longest = Plan::longest_step(problem, rows);
    let left_open = settings.steps.is_none() && settings.step_size.is_none() && settings.by_ranks();
    let (steps, size, average) = match method {
        Baseline::Gd if left_open => (STEPS_FOR_RANKS, LONGER * longest, Average::Last),
        Baseline::Gd => (FULL_STEPS, longest, Average::Last),
        Baseline::Sgd(_) | Baseline::SgdHistory(_) => {
            (u32::try_from(rows).unwrap_or(u32::MAX), longest / (rows as f64).sqrt(), Average::SecondHalf)
        }
    };
    let plan = Plan::new(
        Algorithm::NoisyGd,
        settings.steps.unwrap_or(steps),
        settings.step_size.unwrap_or(size),
        settings.average.unwrap_or(average),
    )?;
    if left_open && method == Baseline::Gd { plan.with_momentum(MOMENTUM) } else { Ok(plan) }
}
