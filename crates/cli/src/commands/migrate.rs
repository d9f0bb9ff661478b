//! `pairdp migrate`: a model of a former version in the formats of this one.

use crate::args::Migrate;
use crate::failure::Failure;
use crate::files;
use crate::output::{Force, Kind, Output, Role, Taken};
use crate::printer::Printer;
use pairdp_certificate::{FORMAT, FORMER};
use pairdp_verify::{ModelDocument, Patience, verify_with};
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Migrate, printer: &Printer) -> Result<ExitCode, Failure> {
    let Migrate { model, out, patience } = arguments;
    let reads = Taken::none().and(model, Role::Model);
    let place = Output::new(out, Kind::Model, Force::Never, &reads)?;
    let (mut document, _) = files::read_certified(model)?;
    if document.certificate.format != FORMER {
        let message =
            format!("{}: the model has the newest formats already; nothing was written", model.display());
        printer.result(&message, &json!({ "model": null, "format": document.certificate.format }));
        return Ok(ExitCode::SUCCESS);
    }
    let holds = |document: &ModelDocument| {
        let verdict = verify_with(document, Patience::of_seconds(*patience));
        let failures: Vec<String> = verdict
            .failures()
            .map(|check| format!("{}: {}", check.name, check.failure.as_deref().unwrap_or_default()))
            .collect();
        if verdict.holds() { Ok(()) } else { Err(failures.join("; ")) }
    };
    let refused = |what: &str, why: String| {
        Failure::coded(
            "model",
            format!("{}: {what} ({why})", model.display()),
            "a guarantee that does not hold is not written again: train another model",
        )
    };
    holds(&document).map_err(|why| refused("the certificate does not prove what it claims", why))?;
    let adjacency = document.certificate.adjacency().name();
    document.certificate.format = FORMAT.into();
    // Format 3 has a name of its own for what format 2 announced too widely.
    let renamed = document.certificate.claim.adjacency != adjacency;
    adjacency.clone_into(&mut document.certificate.claim.adjacency);
    holds(&document).map_err(|why| refused("the certificate has no equal in the newest format", why))?;
    let text = document.to_json().map_err(|error| Failure::about(out, &error))?;
    place.write(text.as_bytes())?;
    let named = if renamed {
        format!("\nthe guarantee is called `{adjacency}` now, which is what it was")
    } else {
        String::new()
    };
    let message =
        format!("wrote {}: the same weights and guarantee, as `{FORMAT}` states them{named}", out.display());
    printer.result(&message, &json!({ "model": out, "format": FORMAT, "adjacency": adjacency }));
    Ok(ExitCode::SUCCESS)
}
