use crate::args::{Algorithm, Loss, Train, Tuning};
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use pairdp_data::{Encoding, LabelKind, LabelUse, Schema, Table, template};
use pairdp_learn::{LinearRanker, Plan, PlanKind, PrivateModel, train};
use pairdp_noise::Secure;
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm, Records};
use pairdp_units::Budget;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Train, printer: &Printer) -> Result<ExitCode, Failure> {
    // Everything that can be refused is refused before a record is read.
    let budget = Budget::new(arguments.epsilon, arguments.delta)?;
    files::check_writable(&arguments.out)?;
    let schema = find_schema(&arguments.data, arguments.schema.as_deref())?;
    let model = train_file(&arguments.data, &schema, budget, &arguments.tuning)?;
    files::write(&arguments.out, &model.to_json().map_err(|error| Failure::about(&arguments.out, &error))?)?;

    let certificate = &model.certificate;
    let text = format!(
        "trained on {} records of {} features by {}, {} steps\n\
         private at ε = {}, δ = {} for replacing any one record\n\
         wrote {}; check it with: pairdp verify {}",
        certificate.records,
        certificate.features,
        certificate.algorithm.name(),
        model.training.steps(),
        budget.epsilon,
        budget.delta,
        arguments.out.display(),
        arguments.out.display(),
    );
    let object = json!({
        "model": arguments.out, "algorithm": certificate.algorithm, "records": certificate.records,
        "features": certificate.features, "steps": model.training.steps(),
        "epsilon": budget.epsilon, "delta": budget.delta, "adjacency": certificate.claim.adjacency,
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
) -> Result<PrivateModel, Failure> {
    let problem = problem(tuning)?;
    if !matches!(schema.label().kind, LabelKind::Binary { .. }) {
        return Err(Failure::refused(
            "a ranker learns from a label of two values, and the schema's label is of another kind",
            "set `positive` and `negative` under [label] in the schema",
        ));
    }
    let encoding = Encoding::of(schema);
    let table = Table::read(data, &encoding, LabelUse::Read(schema.label()))?.require_pairs(data)?;
    let plan = plan(problem, &table, budget, tuning)?;
    let records =
        Records::with_targets(table.features, table.columns, table.targets, problem.feature_bound())?;
    let (parameters, certificate) = train(problem, plan, budget, records, Secure::from_os()?)?.into_parts();
    let ranker = LinearRanker {
        encoding,
        label: Some(schema.label().clone()),
        feature_bound: problem.feature_bound(),
        parameters,
    };
    Ok(PrivateModel::new(ranker, plan, problem.ridge(), certificate))
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
fn plan(problem: Problem, table: &Table, budget: Budget, tuning: &Tuning) -> Result<Plan, Failure> {
    let algorithm = match tuning.algorithm {
        Algorithm::NoisyGd => PlanKind::NoisyGd,
        Algorithm::OutputGd => PlanKind::OutputGd,
        Algorithm::NoisySgd => PlanKind::NoisySgd,
    };
    let suggested = Plan::suggested(algorithm, problem, table.rows, table.columns, budget)?;
    let steps = tuning.steps.unwrap_or(suggested.steps());
    let step_size = tuning.step_size.unwrap_or(suggested.step_size());
    Ok(Plan::new(algorithm, steps, step_size, suggested.average())?)
}

/// The schema that was named, or the one beside the data; without either, training says what to write.
fn find_schema(data: &Path, named: Option<&Path>) -> Result<Schema, Failure> {
    if let Some(path) = named {
        return Ok(Schema::read(path)?);
    }
    let beside = files::schema_beside(data);
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
