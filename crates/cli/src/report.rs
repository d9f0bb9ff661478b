//! A model's report: what was trained, what it promises and what that costs, as one page of HTML.
//!
//! Everything on the page comes from the model file, which is public, from computations on public facts, and from a test
//! table that was said to be public.

mod card;
mod guarantee;
pub(crate) mod html;
mod noise;
mod probabilities;
mod quality;
mod shapes;
mod survival;
mod words;

pub(crate) use quality::Quality;

use crate::failure::Failure;
use html::{escape, page, paragraph, section, table};
use pairdp_certificate::{Certificate, Released};
use pairdp_data::{ColumnEncoding, Kind, Missing};
use pairdp_model::PrivateModel;
use pairdp_units::{Unit, shown};
use pairdp_verify::{ModelDocument, Patience, Verdict, verify_with};
use serde_json::{Value, json};
use std::path::Path;

/// The whole page, about the file as it is: what a reader would verify, and not what we would write.
pub(crate) fn render(
    path: &Path,
    (document, text): (&ModelDocument, &str),
    model: &PrivateModel,
    quality: Option<&Quality>,
    patience: f64,
) -> Result<String, Failure> {
    let certificate = &model.certificate;
    let verdict = verify_with(document, Patience::of_seconds(patience));
    if verdict.is_unfinished() {
        return Err(Failure::refused(
            format!("{}: verifying this model takes longer than {patience} s", path.display()),
            "say how long you would wait with --patience",
        ));
    }
    let name = path.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy());
    let title = format!("Privacy report of {name}");
    let mut body = format!(
        "<header>\n<h1>{}</h1>\n<p class=\"subtitle\">A {} model of {} columns, trained on {}{} {}. {}</p>\n</header>\n",
        escape(&title),
        escape(model.predictor.task.name()),
        model.predictor.encoding.columns().len(),
        if certificate.is_secret_size() { "at most " } else { "" },
        certificate.records,
        certificate.adjacency().unit().many(),
        if verdict.holds() {
            "<span class=\"verdict\">certificate verified</span>"
        } else if verdict.relations_hold() {
            "<span class=\"verdict no\">certificate verified, if the clip was as stated</span>"
        } else {
            "<span class=\"verdict no\">certificate does NOT hold</span>"
        },
    );
    if verdict.relations_hold() {
        body += &guarantee::section(model)?;
    } else {
        let failed: Vec<&str> = verdict.failures().map(|check| check.name).collect();
        let text = format!(
            "The certificate does not prove what it claims; what fails: {}. It promises nothing.",
            failed.join(", ")
        );
        body += &section("What is promised", &paragraph(&text));
    }
    if let Some(quality) = quality {
        body += &quality.section();
    }
    if verdict.relations_hold() {
        // Nothing is computed from numbers that contradict each other.
        body += &noise::section(model, quality)?;
        body += &probabilities::section(model).unwrap_or_default();
        body += &shapes::section(model).unwrap_or_default();
        body += &survival::section(model).unwrap_or_default();
    }
    if verdict.relations_hold() {
        body += &card::section(model, text)?;
    }
    body += &section("What was trained", &trained(model));
    body += &section("Columns", &columns(model));
    body += &section("Certificate", &facts(certificate, verdict)?);
    body += &section("Check it yourself", &commands(&name, certificate.adjacency().unit()));
    Ok(page(&title, &body))
}

fn trained(model: &PrivateModel) -> String {
    let (certificate, plan) = (&model.certificate, &model.training);
    let problem = certificate.problem;
    let number = |value: f64| format!("{value}");
    // How many there are may be what the guarantee keeps secret.
    let most = if problem.adjacency().is_secret_size() { "at most " } else { "" };
    let records = format!("{most}{}", certificate.records);
    let of_persons = problem.adjacency().unit() == Unit::Person;
    let mut rows = vec![
        ("Task", model.predictor.task.name().to_owned()),
        ("Algorithm", plan.algorithm.name().to_owned()),
        ("What is minimised", words::objective(&json!(problem.objective))),
        (if of_persons { "Persons N" } else { "Records n" }, records),
        ("Features d, after encoding", certificate.features.to_string()),
        ("Feature bound κ", shown::up(problem.feature_bound)),
        ("Parameters allowed", words::domain(&json!(problem.domain))),
        ("Scores", words::score(&json!(problem.score))),
        ("Ridge λ", number(model.ridge)),
        ("Steps", plan.steps.to_string()),
        ("Step size", format!("{:.4}", plan.step_size)),
        ("Noise", certificate.noise.clone()),
        ("ε", shown::up(certificate.claim.epsilon)),
        ("δ", shown::up(certificate.claim.delta)),
        ("Neighbouring tables", certificate.claim.adjacency.clone()),
    ];
    if let Some(printed) = &model.as_printed {
        let words = format!(
            "{}, who claim ε = {}, δ = {}; the certificate has what it gives",
            printed.paper.name(),
            printed.claimed_epsilon,
            printed.claimed_delta
        );
        rows.push(("Noise as printed by", words));
    }
    if let Some(run) = &model.run {
        rows.push(("Run in the ledger", run.clone()));
    }
    table(&rows)
}

fn columns(model: &PrivateModel) -> String {
    let what = |column: &ColumnEncoding| match &column.kind {
        Kind::Range([low, high]) => format!(
            "{}, cut off at {} and {}{}",
            if column.date { "date" } else { "number" },
            column.text_of(*low),
            column.text_of(*high),
            if column.missing == Some(Missing::Own) { ", or missing" } else { "" }
        ),
        Kind::Categories(values) => format!("one of {}", values.join(", ")),
    };
    let columns = model.predictor.encoding.columns();
    let rows: Vec<(&str, String)> =
        columns.iter().map(|column| (column.name.as_str(), what(column))).collect();
    paragraph(
        "Ranges and categories were stated beforehand as public knowledge. pairdp read none of them from the table; whether somebody did by hand, this page cannot tell.",
    ) + &table(&rows)
}

/// The certificate's text; of a long list of releases, the first and the last.
fn facts(certificate: &Certificate, verdict: Verdict) -> Result<String, Failure> {
    const SHOWN: usize = 2;
    let mut value = serde_json::to_value(certificate).map_err(|error| Failure::Failed(error.to_string()))?;
    if let Released::Gradients { releases, .. } = &certificate.released
        && let Some(Value::Array(list)) = value.pointer_mut("/released/releases")
        && releases.len() > 2 * SHOWN + 1
    {
        let left_out = json!(format!("… {} more in the model file …", releases.len() - 2 * SHOWN));
        list.splice(SHOWN..releases.len() - SHOWN, [left_out]);
    }
    let checks: Vec<(&str, String)> = verdict
        .checks
        .into_iter()
        .map(|check| match check.failure {
            None => (check.name, format!("holds: {}", check.relation)),
            Some(failure) => (check.name, format!("FAILS: {failure}")),
        })
        .collect();
    Ok(format!("{}<pre>{}</pre>\n", table(&checks), escape(&format!("{value:#}"))))
}

fn commands(name: &str, unit: Unit) -> String {
    let assumed = match unit {
        Unit::Record => "that one person is one record",
        Unit::Person => "that the column of persons names each of them by one name",
    };
    let lines = format!("pairdp verify {name}\npython -m pairdp.verification {name}\n");
    format!(
        "{}<pre>{}</pre>\n{}",
        paragraph(
            "Both recompute the guarantee from the public facts above and say yes or no; the second shares no code with \
             the first."
        ),
        escape(&lines),
        paragraph(&format!(
            "What no check of a file can tell: that these weights came from the stated run; that the noise was drawn once, from a secure source; that bounds and \
             settings were chosen without looking at records; {assumed}."
        )),
    )
}
