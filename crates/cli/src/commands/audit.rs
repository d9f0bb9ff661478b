mod black_box;

use crate::args::Audit as Arguments;
use crate::failure::Failure;
use crate::output::{Kept, Kind, Taken};
use crate::printer::Printer;
use pairdp_audit::suite::suite;
use pairdp_audit::{Audit, AuditError, Report, Runs, Verdict, one_run};
use pairdp_data::Encoding;
use pairdp_learn::{RepresentationKind, Settings, TrainingSpec};
use pairdp_noise::Secure;
use pairdp_units::{Budget, shown};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Between two lines of progress, and two saved states.
const PAUSE: Duration = Duration::from_secs(5);

pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<ExitCode, Failure> {
    if arguments.runs == 0 {
        return Err(Failure::refused("an audit needs at least 1 run, not 0", "the default is 5000"));
    }
    if arguments.all {
        return all(arguments, printer);
    }
    if let Some(canaries) = arguments.canaries {
        return one_run(arguments, canaries, printer);
    }
    if let Some(command) = &arguments.command {
        let report = black_box::audit(arguments, command, printer)?;
        printer.result(&describe(&report), &serde_json::to_value(&report).unwrap_or_default());
        return Ok(code(report.verdict));
    }
    let (report, spec) = one(arguments, &arguments.tuning.settings(), printer)?;
    let plan = spec.plan();
    let name = plan.algorithm().name();
    let text = format!(
        "{name}: {} steps, n = {}, d = {}, {}\n{}",
        plan.steps(),
        arguments.records,
        arguments.features,
        plan.law().name(),
        describe(&report)
    );
    let mut object = serde_json::to_value(&report).unwrap_or_default();
    if let Value::Object(fields) = &mut object {
        fields.insert("algorithm".into(), json!(name));
    }
    printer.result(&text, &object);
    Ok(code(report.verdict))
}

/// Exit code 1 for a claim that was refuted.
fn code(verdict: Verdict) -> ExitCode {
    ExitCode::from(u8::from(verdict == Verdict::Violated))
}

fn one(
    arguments: &Arguments,
    settings: &Settings,
    printer: &Printer,
) -> Result<(Report, TrainingSpec), Failure> {
    let budget = Budget::new(arguments.epsilon, arguments.delta)?;
    let size = (arguments.records, arguments.features);
    let mut settings = settings.clone();
    // Runs of one audit follow one public order; so must those of one that goes on.
    settings.order_seed = settings.order_seed.or(Some(1));
    // Rows are given as they are, and what is audited is what is learned from them.
    settings.representation = settings.representation.or(Some(RepresentationKind::Ranges));
    let spec = settings.prepare(size.0, &Encoding::unscaled(size.1), budget)?;
    let audit = Audit::of_plan(
        spec.problem(),
        spec.plan(),
        (size.0, spec.columns()),
        spec.budget(),
        arguments.pair,
        arguments.view,
    )?;
    let mut runs = saved(arguments, audit.about())?;
    let run =
        |first, _| audit.run(first, Secure::from_os().map_err(AuditError::from)?).map_err(Failure::from);
    collect(arguments, printer, &mut runs, run)?;
    Ok((audit.report(runs.all(), arguments.confidence)?, spec))
}

/// The runs that were kept, if any.
fn saved(arguments: &Arguments, about: String) -> Result<Runs, Failure> {
    place(arguments)?;
    let Some(path) = arguments.state.as_ref().filter(|path| path.exists()) else {
        return Ok(Runs::new(about));
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Failed(format!("{}: could not be read: {error}", path.display())))?;
    Runs::from_json(&text, &about).map_err(|error| Failure::about(path, &error))
}

/// Where runs are kept, if they are.
fn place(arguments: &Arguments) -> Result<Option<Kept>, Failure> {
    let state = arguments.state.as_deref();
    state.map(|path| Kept::new(path, Kind::AuditRuns, &Taken::none())).transpose()
}

/// One run with many canaries.
fn one_run(arguments: &Arguments, canaries: usize, printer: &Printer) -> Result<ExitCode, Failure> {
    let budget = Budget::new(arguments.epsilon, arguments.delta)?;
    let settings = arguments.tuning.settings();
    // A canary is a direction, and an intercept none that a record can choose.
    let representation = Some(RepresentationKind::Ranges);
    let settings = Settings { intercept: Some(false), representation, ..settings };
    let spec = settings.prepare(arguments.records, &Encoding::unscaled(canaries), budget)?;
    let (problem, plan, budget) = (spec.problem(), spec.plan(), spec.budget());
    let (mut coins, source) = (Secure::from_os()?, Secure::from_os()?);
    let size = (arguments.records, canaries);
    let found = one_run::audit(problem, plan, size, budget, arguments.confidence, &mut coins, source)?;
    let text = format!(
        "{} over {} records, one run\nclaimed     ε = {} at δ = {}\naudited     ε ≥ {}, {} % sure: {} of {} guesses about \
         {canaries} canaries are right\nverdict     {}",
        plan.algorithm().name(),
        arguments.records,
        shown::up(found.claimed_epsilon),
        shown::up(found.delta),
        shown::down(found.audited_lower_bound),
        100.0 * found.confidence,
        found.correct,
        found.guesses,
        words(found.verdict)
    );
    printer.result(&text, &serde_json::to_value(&found).unwrap_or_default());
    Ok(code(found.verdict))
}

/// Makes the runs that are missing, says how far it is, and saves them where that was asked for.
fn collect(
    arguments: &Arguments,
    printer: &Printer,
    runs: &mut Runs,
    run: impl Fn(bool, u64) -> Result<Vec<f64>, Failure> + Sync,
) -> Result<(), Failure> {
    let kept = place(arguments)?;
    let save = |runs: &Runs| match (&kept, &arguments.state) {
        (Some(kept), Some(path)) => {
            kept.save(runs.to_json()?.as_bytes()).map_err(|error| Failure::write(path, &error))
        }
        _ => Ok(()),
    };
    let mut shown = Instant::now();
    runs.collect(arguments.runs, &mut Secure::from_os()?, run, |runs| {
        if shown.elapsed() < PAUSE {
            return Ok(());
        }
        shown = Instant::now();
        printer.progress(&format!("{} of {} runs", runs.all().len(), arguments.runs));
        save(runs)
    })?;
    save(runs)
}

fn describe(report: &Report) -> String {
    let mut text = format!(
        "claimed     ε = {} at δ = {}\naudited     ε ≥ {}, {} % sure after {} runs\n",
        shown::up(report.claimed_epsilon),
        shown::up(report.delta),
        shown::down(report.audited_lower_bound),
        100.0 * report.confidence,
        report.runs
    );
    for bound in &report.bounds {
        let _ = writeln!(
            text,
            "  {:<10}ε ≥ {} by {}, {}",
            bound.method,
            shown::down(bound.lower_bound),
            bound.test,
            bound.assumption
        );
    }
    if let Some(attainable) = report.attainable {
        let _ = writeln!(
            text,
            "attainable  ε ≥ {} by the best attacker with as many runs, on average",
            shown::down(attainable)
        );
    }
    let _ = write!(text, "verdict     {}", words(report.verdict));
    text
}

fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NotRefuted => "not refuted",
        Verdict::Violated => {
            "VIOLATED: the claim is refuted; a true claim would be accused at most once in a million audits"
        }
    }
}

/// Every algorithm, claimed beside audited.
fn all(arguments: &Arguments, printer: &Printer) -> Result<ExitCode, Failure> {
    let mut text = format!(
        "{:<15} {:<14} {:<14} {:>8} {:>8} {:>10}  verdict\n",
        "task", "algorithm", "", "claimed", "audited", "attainable"
    );
    let (mut rows, mut worst) = (Vec::new(), Verdict::NotRefuted);
    for case in suite() {
        let (report, spec) = one(arguments, &case.settings, printer)?;
        let task = case.settings.task.name();
        let algorithm = spec.plan().algorithm().name();
        let attainable = report.attainable.map_or("–".into(), shown::down);
        let line = format!(
            "{task:<15} {algorithm:<14} {:<14} {:>8} {:>8} {attainable:>10}  {}",
            case.note,
            shown::up(report.claimed_epsilon),
            shown::down(report.audited_lower_bound),
            words(report.verdict)
        );
        printer.progress(&line);
        text += &(line + "\n");
        if report.verdict == Verdict::Violated {
            worst = report.verdict;
        }
        rows.push(json!({ "task": task, "algorithm": algorithm, "note": case.note, "report": report }));
    }
    let _ = write!(
        text,
        "\nε at δ = {}, {} % sure, {} runs each, n = {}, d = {}",
        shown::up(arguments.delta),
        100.0 * arguments.confidence,
        arguments.runs,
        arguments.records,
        arguments.features
    );
    printer.result(&text, &json!({ "audits": rows, "verdict": worst }));
    Ok(code(worst))
}
