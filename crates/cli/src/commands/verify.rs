use crate::args::Verify;
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use pairdp_learn::Certificate;
use pairdp_units::shown;
use pairdp_verify::{Patience, Verdict, verify_with};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Verify, printer: &Printer) -> Result<ExitCode, Failure> {
    let model = files::read_certified(&arguments.model)?;
    let verdict = verify_with(&model, Patience::of_seconds(arguments.patience));
    let claim = &model.certificate.claim;
    let mut text = table(&verdict);
    let _ = if verdict.holds() {
        write!(
            text,
            "yes: from its public facts this model is (ε = {}, δ = {})-differentially private\n\
             for {}",
            shown::up(claim.epsilon),
            shown::up(claim.delta),
            model.certificate.protects(),
        )
    } else if verdict.is_unfinished() {
        write!(text, "not verified: this takes longer than {} s, see --patience", arguments.patience)
    } else {
        let names: Vec<&str> = verdict.failures().map(|check| check.name).collect();
        write!(text, "no: the certificate does not prove what it claims; what fails: {}", names.join(", "))
    };
    printer.result(&text, &object(&verdict, &model.certificate));
    Ok(if verdict.holds() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn table(verdict: &Verdict) -> String {
    let mut text = String::new();
    for check in &verdict.checks {
        let mark = if check.failure.is_none() { "holds" } else { "FAILS" };
        let _ = writeln!(text, "{mark}  {:<15} {}", check.name, check.relation);
        if let Some(failure) = &check.failure {
            let _ = writeln!(text, "       {:<15} {failure}", "");
        }
    }
    text
}

/// What is claimed belongs to the answer: "holds" alone does not say what, and for whom.
fn object(verdict: &Verdict, certificate: &Certificate) -> Value {
    let checks: Vec<Value> = verdict
        .checks
        .iter()
        .map(|check| {
            let holds = check.failure.is_none();
            json!({ "name": check.name, "relation": check.relation, "holds": holds, "failure": check.failure })
        })
        .collect();
    let claim = &certificate.claim;
    json!({
        "holds": verdict.holds(), "epsilon": claim.epsilon, "delta": claim.delta, "adjacency": claim.adjacency,
        "protects": certificate.protects(), "checks": checks,
    })
}
