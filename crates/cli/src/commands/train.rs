use crate::args::{Algorithm, Loss, Train, Tuning};
use crate::booking::Booking;
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use pairdp_data::{Encoding, LabelUse, Schema, Table, template};
use pairdp_learn::{LinearRanker, Mechanism, Plan, PlanKind, PrivateModel, train};
use pairdp_noise::Secure;
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm, Records};
use pairdp_units::Budget;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(arguments: &Train, printer: &Printer) -> Result<ExitCode, Failure> {
    // Everything that can be refused is refused before a record is read.
    let budget = Budget::new(arguments.epsilon, arguments.delta)?;
    files::check_writable(&arguments.out)?;
    let schema = find_schema(&arguments.data, arguments.schema.as_deref())?;
    let booking =
        Booking::reserve(&arguments.spending, budget, |n| mechanism(&schema, n, budget, &arguments.tuning))?;
    let model = train_file(&arguments.data, &schema, budget, &arguments.tuning, booking)?;
    files::write(&arguments.out, &model.to_json().map_err(|error| Failure::about(&arguments.out, &error))?)?;

    let certificate = &model.certificate;
    let text = format!(
        "trained on {} records of {} features by {}, {} steps\n\
         private at ε = {}, δ = {} for replacing any one record\n\
         wrote {}; check it with: pairdp verify {}{}",
        certificate.records,
        certificate.features,
        certificate.algorithm.name(),
        model.training.steps(),
        budget.epsilon,
        budget.delta,
        arguments.out.display(),
        arguments.out.display(),
        model.run.as_ref().map(|run| format!("\nspent as run {run}")).unwrap_or_default(),
    );
    let object = json!({
        "model": arguments.out, "algorithm": certificate.algorithm, "records": certificate.records,
        "features": certificate.features, "steps": model.training.steps(),
        "epsilon": budget.epsilon, "delta": budget.delta, "adjacency": certificate.claim.adjacency,
        "run": model.run,
    });
    printer.result(&text, &object);
    Ok(ExitCode::SUCCESS)
}

/// Reads a table and trains on it; also what the demonstration calls.
pub(crate) fn train_file(
    data: &Path,
    schema: &Schema,
    budget: Budget,
    tuning: &Tuning,
    mut booking: Booking,
) -> Result<PrivateModel, Failure> {
    let problem = problem(tuning)?;
    let encoding = Encoding::of(schema);
    let table = Table::read_csv(data, &encoding, LabelUse::Read(schema.label()))
        .and_then(|table| table.require_pairs(data));
    let table = booking.accept(data, table)?;
    let plan = plan(problem, table.rows, table.columns, budget, tuning)?;
    let records = Records::new(table.features, table.columns, table.positive, problem.feature_bound())?;
    let (parameters, certificate) = train(problem, plan, budget, records, Secure::from_os()?)?.into_parts();
    let ranker = LinearRanker {
        encoding,
        label: Some(schema.label().clone()),
        feature_bound: problem.feature_bound(),
        parameters,
    };
    let mut model = PrivateModel::new(ranker, plan, problem.ridge(), certificate);
    booking.settle(&mut model)?;
    Ok(model)
}

/// What training will release, from public facts alone.
fn mechanism(schema: &Schema, records: usize, budget: Budget, tuning: &Tuning) -> Result<Mechanism, Failure> {
    let (problem, features) = (problem(tuning)?, Encoding::of(schema).dimension());
    let plan = plan(problem, records, features, budget, tuning)?;
    Ok(Mechanism::calibrate(problem, plan, records, features, budget)?)
}

pub(crate) fn problem(tuning: &Tuning) -> Result<Problem, Failure> {
    let loss = match tuning.loss {
        Loss::Logistic => MarginLoss::Logistic,
        Loss::Hinge => MarginLoss::Hinge,
        Loss::Squared => MarginLoss::Squared,
        Loss::QHinge => MarginLoss::QHinge { q: tuning.q },
    };
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss };
    let domain = Domain::Ball { radius: tuning.radius };
    Ok(Problem::new(objective, domain, tuning.feature_bound)?.with_ridge(tuning.ridge)?)
}

/// What was typed, or what suits the public facts.
fn plan(
    problem: Problem,
    records: usize,
    features: usize,
    budget: Budget,
    tuning: &Tuning,
) -> Result<Plan, Failure> {
    let algorithm = match tuning.algorithm {
        Algorithm::NoisyGd => PlanKind::NoisyGd,
        Algorithm::OutputGd => PlanKind::OutputGd,
        Algorithm::NoisySgd => PlanKind::NoisySgd,
    };
    let suggested = Plan::suggested(algorithm, problem, records, features, budget)?;
    let steps = tuning.steps.unwrap_or(suggested.steps());
    let step_size = tuning.step_size.unwrap_or(suggested.step_size());
    Ok(Plan::new(algorithm, steps, step_size, suggested.average())?)
}

/// The schema that was named, or the one beside the data; without either, training says what to write.
fn find_schema(data: &Path, named: Option<&Path>) -> Result<Schema, Failure> {
    if let Some(path) = named {
        return Ok(Schema::read(path)?);
    }
    let beside: PathBuf = data.with_extension("schema.toml");
    if beside.is_file() {
        return Ok(Schema::read(&beside)?);
    }
    let header = Table::header(data)?;
    let example = template(header.iter().map(String::as_str)).replace('\n', "\n  ");
    Err(Failure::refused(
        format!("{}: no public ranges are known for its columns", data.display()),
        format!(
            "write {} from public knowledge, never from the data itself, starting from:\n  {example}",
            beside.display()
        ),
    ))
}
