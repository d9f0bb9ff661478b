mod curve;

use super::train::steps_in_words;
use crate::args::Plan;
use crate::failure::Failure;
use crate::printer::Printer;
use pairdp_data::Encoding;
use pairdp_learn::{Explained, Settings, explain, is_worth_a_network};
use pairdp_model::Task;
use pairdp_units::{Budget, Unit};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Plan, printer: &Printer) -> Result<ExitCode, Failure> {
    let budget = Budget::new(arguments.epsilon, arguments.delta)?;
    let unit = if arguments.persons.is_some() { Unit::Person } else { Unit::Record };
    let settings = arguments.tuning.settings_for(unit);
    if arguments.features == 0 {
        return Err(Failure::refused("a record has at least 1 feature, not 0", "count them after encoding"));
    }
    // One of the two is there.
    let records = arguments.persons.or(arguments.records).unwrap_or_default();
    let features = arguments.features;
    if let (true, Some(effect)) = (arguments.curve, arguments.effect) {
        return curve::run(arguments, effect, records, &settings, budget, printer);
    }
    if arguments.explain {
        let rows = explain(settings.problem(features)?, records, settings.columns(features), budget);
        let network =
            scores_records(&settings) && is_worth_a_network(settings.max_records.unwrap_or(records), budget)?;
        let mut text = table(&rows);
        if network {
            text.push_str(
                "\nnetwork: n times μ (records times what the budget allows) is at least 20,000 here, where one hidden layer may find what linear scores cannot: try --scores network.",
            );
        }
        printer.result(&text, &json!({ "algorithms": rows, "network": network }));
        return Ok(ExitCode::SUCCESS);
    }
    let spec = settings.prepare(records, &Encoding::unscaled(features), budget)?;
    let (plan, budget) = (spec.plan(), spec.budget());
    let (what, sigma) = spec.mechanism().noise_at(0.0)?;
    let adjacency = spec.problem().adjacency();
    let protects = adjacency.protects(spec.problem().size(records));
    let how = match plan.steps() {
        0 => "ranks, and nothing learned from them".to_owned(),
        steps => format!(
            "{} with {} of size {:.4}",
            plan.algorithm().name(),
            steps_in_words(steps),
            plan.step_size()
        ),
    };
    let law = plan.law().name();
    let mut text = format!("{how}, {law}\n{what}: scale {sigma:.6}\nprivate at {budget}\nfor {protects}");
    if let Some(because) = spec.because() {
        let _ = write!(text, "\nwhy: {because}");
    }
    let warnings = spec.cautions()?;
    for caution in &warnings {
        let _ = write!(text, "\nwarning: {caution}");
    }
    let object = json!({ "plan": plan, "problem": spec.problem(), "because": spec.because(), "sigma": sigma, "epsilon": budget.epsilon,
        "delta": budget.delta, "adjacency": adjacency, "protects": protects, "as_printed": spec.as_printed(), "warnings": warnings });
    printer.result(&text, &object);
    Ok(ExitCode::SUCCESS)
}

/// Whether scores are linear for want of another word.
fn scores_records(settings: &Settings) -> bool {
    settings.task != Task::Metric && settings.scores.is_none()
}

/// The papers' comparison tables with numbers in them.
fn table(rows: &[Explained]) -> String {
    let mut text = format!(
        "{:<14} {:>8} {:>10} {:>10} {:>11} {:>11} {:>7} {:>10} {:>8}  {}\n",
        "algorithm",
        "steps",
        "step size",
        "noise",
        "scale",
        "as printed",
        "ratio",
        "gradients",
        "excess",
        "printed by"
    );
    let number = |value: Option<f64>, digits: usize| value.map_or("–".into(), |v| format!("{v:.digits$}"));
    for row in rows {
        if let Some(refused) = &row.refused {
            let _ = writeln!(text, "{:<14} {refused}", row.algorithm.name());
            continue;
        }
        let law = row.law.name().split('/').next().unwrap_or_default();
        let _ = writeln!(
            text,
            "{:<14} {:>8} {:>10.5} {:>10} {:>11.6} {:>11} {:>7} {:>10.2e} {:>8}  {}",
            row.algorithm.name(),
            row.steps,
            row.step_size,
            law.rsplit('-').next().unwrap_or(law),
            row.sigma,
            number(row.printed_sigma, 6),
            number(row.ratio, 2),
            row.gradients,
            number(row.excess_risk, 3),
            standing(row),
        );
    }
    text.push_str(
        "\nscale: of the noise in a gradient at the edge of the domain, or on the (first) result. ratio: printed over\n\
         ours, in root mean square. gradients: of pairs, by the definition. excess: bound on the expected excess risk.",
    );
    text
}

fn standing(row: &Explained) -> String {
    use pairdp_stability::paper_noise::Standing;
    let Some(paper) = row.paper else { return String::new() };
    match row.standing {
        Some(Standing::Holds) | None => paper.name().to_owned(),
        Some(Standing::Unproven(because)) => format!("{} (unproven: {because})", paper.name()),
        Some(Standing::Refused(because)) => format!("{} (NOT private: {because})", paper.name()),
    }
}
