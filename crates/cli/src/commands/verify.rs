use crate::args::Verify;
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
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
            "yes: from its public facts this model is (ε = {}, δ = {:e})-differentially private\n\
             for {}",
            claim.epsilon,
            claim.delta,
            model.certificate.protects(),
        )
    } else if verdict.is_unfinished() {
        write!(text, "not verified: this takes longer than {} s, see --patience", arguments.patience)
    } else {
        let names: Vec<&str> = verdict.failures().map(|check| check.name).collect();
        write!(text, "no: the certificate contradicts itself ({})", names.join(", "))
    };
    printer.result(&text, &object(&verdict));
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

fn object(verdict: &Verdict) -> Value {
    let checks: Vec<Value> = verdict
        .checks
        .iter()
        .map(|check| {
            let holds = check.failure.is_none();
            json!({ "name": check.name, "relation": check.relation, "holds": holds, "failure": check.failure })
        })
        .collect();
    json!({ "holds": verdict.holds(), "checks": checks })
}
