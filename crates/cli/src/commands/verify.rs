use crate::args::Verify;
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use crate::signing;
use pairdp_certificate::Certificate;
use pairdp_signature::SignatureError;
use pairdp_units::shown;
use pairdp_verify::{Patience, Verdict, verify_with};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Verify, printer: &Printer) -> Result<ExitCode, Failure> {
    let (model, file) = files::read_certified(&arguments.model)?;
    let signed = arguments.signed_by.as_deref().map(|key| signature(arguments, key, &file)).transpose()?;
    let verdict = verify_with(&model, Patience::of_seconds(arguments.patience));
    let claim = &model.certificate.claim;
    let mut text = table(&verdict);
    let _ = match &signed {
        Some((digits, Ok(()))) => {
            writeln!(text, "holds  {:<15} the file is signed with the key {digits}", "signature")
        }
        Some((digits, Err(why))) => writeln!(
            text,
            "FAILS  {:<15} the file is signed with the key {digits}\n       {:<15} {why}",
            "signature", ""
        ),
        None => Ok(()),
    };
    let of_custodian = signed.as_ref().is_none_or(|(_, signed)| signed.is_ok());
    let accepted =
        of_custodian && (verdict.holds() || (verdict.relations_hold() && arguments.accept_foreign));
    let _ = if let Some((_, Err(why))) = &signed {
        write!(text, "no: the certificate may hold, but nobody with that key answers for this file: {why}")
    } else if let (true, Some(rests_on)) = (verdict.relations_hold(), verdict.condition) {
        write!(
            text,
            "yes, if the clip was as stated: from its public facts this model is (ε = {}, δ = {})-differentially private\n\
             for {}\n\
             if {rests_on}; {}{}",
            shown::up(claim.epsilon),
            shown::up(claim.delta),
            model.certificate.protects(),
            code(&model.certificate),
            if arguments.accept_foreign {
                ""
            } else {
                "\nthis counts as no; if you know the code and that this is so, pass --accept-foreign"
            },
        )
    } else if verdict.holds() {
        write!(
            text,
            "yes: if training did what the certificate says, this model is (ε = {}, δ = {})-differentially private\n\
             for {}",
            shown::up(claim.epsilon),
            shown::up(claim.delta),
            model.certificate.protects(),
        )
    } else if verdict.is_unfinished() {
        write!(
            text,
            "not verified: this takes longer than {} s; allow more with --patience SECONDS",
            arguments.patience
        )
    } else {
        let names: Vec<&str> = verdict.failures().map(|check| check.name).collect();
        write!(text, "no: the certificate does not prove what it claims; what fails: {}", names.join(", "))
    };
    let mut said = object(&verdict, &model.certificate);
    if let (Some((digits, signed)), Some(said)) = (&signed, said.as_object_mut()) {
        said.insert("signed_by".into(), json!(digits));
        said.insert("signature".into(), json!(signed.is_ok()));
        said.insert("holds".into(), json!(verdict.holds() && signed.is_ok()));
    }
    printer.result(&text, &said);
    Ok(if accepted { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The digits of the key that should have signed a file, and whether it did. A signature that is not there is none.
fn signature(
    arguments: &Verify,
    key: &Path,
    file: &str,
) -> Result<(String, Result<(), SignatureError>), Failure> {
    let key = signing::read_public(key)?;
    let beside = arguments.signature.clone().unwrap_or_else(|| signing::signature_beside(&arguments.model));
    let outcome = key.check(file.as_bytes(), &signing::read_signature(&beside)?);
    Ok((key.digits(), outcome))
}

/// Which code a condition is about.
fn code(certificate: &Certificate) -> String {
    let Some(condition) = &certificate.condition else { return String::new() };
    let named = |name: &str, sha256: Option<&String>| match sha256 {
        Some(hash) => format!("{name} (SHA-256 {hash})"),
        None => format!("{name} (whose text is not known)"),
    };
    let (function, adapter) = (&condition.function, &condition.adapter);
    let packages: Vec<String> =
        condition.packages.iter().map(|(name, version)| format!("{name} {version}")).collect();
    format!(
        "the code is {}, by {}, with {}",
        named(&function.name, function.sha256.as_ref()),
        named(&adapter.name, adapter.sha256.as_ref()),
        packages.join(", ")
    )
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
        "holds": verdict.holds(), "condition": certificate.condition, "relations_hold": verdict.relations_hold(), "epsilon": claim.epsilon, "delta": claim.delta, "adjacency": claim.adjacency,
        "protects": certificate.protects(), "checks": checks,
    })
}
