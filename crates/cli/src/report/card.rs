//! The model as a card: the questions that NIST SP 800-226 asks of a guarantee, layer by layer, and where the model comes from.

use super::html::{paragraph, section as titled, table};
use crate::failure::Failure;
use pairdp_certificate::{Provenance, Stage};
use pairdp_model::PrivateModel;
use pairdp_units::{Unit, shown};
use sha2::{Digest as _, Sha256};

/// The section; `document` is the text of the model's file.
pub(super) fn section(model: &PrivateModel, document: &str) -> Result<String, Failure> {
    let certificate = &model.certificate;
    let (claim, adjacency) = (&certificate.claim, certificate.adjacency());
    let unit = match adjacency.unit() {
        Unit::Record => "one record: somebody with several records in the table is protected less",
        Unit::Person => "one person, with all records of the person",
    };
    let mechanism = format!(
        "{} noise on a lattice, in {}",
        if certificate.noise.contains("laplace") {
            "Laplace"
        } else if certificate.noise.contains("euclidean") {
            "Euclidean"
        } else {
            "Gaussian"
        },
        releases(model)
    );
    let accounting = if certificate.noise.contains("gaussian") {
        "ratios of sensitivity to noise compose by their squares, exactly for Gaussian noise; how far the drawn noise can be from exactly Gaussian is part of δ"
    } else {
        "ratios of sensitivity to noise add up"
    };
    let ledger = model.run.as_ref().map_or_else(
        || "this run alone: no ledger adds it up with others on the same table".to_owned(),
        |run| format!("run {run} of a ledger, which adds it up with the other runs that were entered for the same data set"),
    );
    let rows = [
        ("Unit of privacy", unit.to_owned()),
        ("Neighbouring tables", certificate.protects()),
        ("ε and δ", format!("ε = {}, δ = {}", shown::up(claim.epsilon), shown::up(claim.delta))),
        ("Mechanism", mechanism),
        ("Accounting", accounting.to_owned()),
        ("Composition", ledger),
        ("Bounds on data", format!("rows no longer than {}, by the ranges and categories that are listed below; pairdp read none of them from the table, and whoever stated them answers for their being public", shown::up(model.predictor.feature_bound))),
        ("Trust model", "the custodian holds the table and adds the noise; whoever gets the model need not be trusted".to_owned()),
        ("Exposure", "the model file, whatever follows from it alone, and this page, which holds nothing beyond the model file and public test tables; predictions for private rows also tell about those rows".to_owned()),
        ("Side channels", "not covered: how long training took, memory and disks of the custodian's machines, and errors in the form of a table (SECURITY.md)".to_owned()),
        ("Verification", "two programs can recompute the claim from public facts; neither can see that noise was drawn once and from a secure source, or that these weights came from the stated run".to_owned()),
    ];
    let encoding = serde_json::to_string(&(&model.predictor.encoding, &model.predictor.label));
    let encoding = encoding.map_err(|error| Failure::Failed(error.to_string()))?;
    let none = || "none".to_owned();
    let stated = certificate.provenance.as_ref();
    let places = model.predictor.representation.as_ref().map_or(&[][..], |released| &released.weights);
    let weights = digest(&Provenance::hashed(&model.predictor.parameters, places));
    let unstated = || "not stated: the certificate is older".to_owned();
    let provenance = [
        ("Trained by", stated.map_or_else(unstated, |stated| stated.software.clone())),
        (
            "Trained on",
            stated.map_or_else(unstated, |stated| {
                format!("{}, by the clock of the machine that trained it; nothing backs a date", stated.date)
            }),
        ),
        ("Data set in the ledger", stated.and_then(|stated| stated.data_set.clone()).unwrap_or_else(none)),
        ("Run in the ledger", model.run.clone().unwrap_or_else(none)),
        (
            "SHA-256 of the schema's form",
            stated.and_then(|stated| stated.schema.clone()).unwrap_or_else(none),
        ),
        ("SHA-256 of the weights, which the certificate binds", weights),
        ("SHA-256 of the model, as `train` writes it", digest(document.as_bytes())),
        ("SHA-256 of columns and label", digest(encoding.as_bytes())),
        ("Format of the certificate", certificate.format.clone()),
        (
            "Signature",
            "a file of its own, if somebody signed the model: pairdp verify --signed-by".to_owned(),
        ),
        ("Software of this page", format!("pairdp {}", env!("CARGO_PKG_VERSION"))),
    ];
    let body = paragraph(
        "The questions that NIST SP 800-226 asks of a differential privacy guarantee, layer by layer.",
    ) + &table(&rows)
        + &paragraph("Where the model comes from:")
        + &table(&provenance);
    Ok(titled("Model card", &body))
}

/// What was released, in words.
fn releases(model: &PrivateModel) -> String {
    let mut parts: Vec<String> = Vec::new();
    let (before, after): (Vec<&Stage>, Vec<&Stage>) =
        model.certificate.stages.iter().partition(|stage| matches!(stage, Stage::Knots { .. }));
    parts.extend(before.iter().map(|_| "a release of where columns lie".to_owned()));
    let steps = model.training.steps;
    let training = match steps {
        0 => None,
        1 => Some("one release of training".to_owned()),
        steps => Some(format!("{steps} steps of training")),
    };
    parts.extend(training);
    parts.extend(after.iter().map(|_| "a release of labels by cells of the score".to_owned()));
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => "no release".into(),
    }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}
