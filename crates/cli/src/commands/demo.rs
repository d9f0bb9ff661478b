//! The whole path on simulated data: simulate, train, predict, evaluate, verify, compare.

use crate::args::{Demo, Spending};
use crate::commands::{baseline, train};
use crate::failure::Failure;
use crate::files;
use crate::output::{self, Force, Kind, Output, Taken};
use crate::printer::Printer;
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, LabelUse, Schema, Table, simulate};
use pairdp_learn::Settings;
use pairdp_learn::baseline::Baseline;
use pairdp_model::PrivateModel;
use pairdp_pairwise::measure;
use pairdp_release::Checkpointer;
use pairdp_units::Budget;
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

const RECORDS: usize = 6000;
const HOLDOUT: usize = 20_000;
/// The cohort and the holdout are the same in every demonstration; the model's noise never is.
const SEEDS: (u64, u64) = (1, 2);
const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-6;

pub(crate) fn run(arguments: &Demo, printer: &Printer) -> Result<ExitCode, Failure> {
    let folder = &arguments.out;
    output::folder(folder)?;
    let cohort = folder.join("cohort.csv");
    let holdout = folder.join("holdout.csv");
    let model_file = folder.join("model.json");
    let scores_file = folder.join("scores.csv");

    let schema = Schema::parse(simulate::SCHEMA).map_err(Failure::Failed)?;
    let (learned, unseen) = (simulate::cohort(RECORDS, SEEDS.0), simulate::cohort(HOLDOUT, SEEDS.1));
    let place = |path: &Path, kind: Kind, own: bool| {
        let force = if own { Force::Asked } else { arguments.force.into() };
        Output::new(path, kind, force, &Taken::none())
    };
    let holds = |path: &Path, text: &str| std::fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes());
    let encoding = Encoding::of(&schema);
    // A model of the simulated cohort cost nobody anything.
    let shown_before = files::read_model(&model_file).is_ok_and(|model| model.predictor.encoding == encoding);
    let model_place = place(&model_file, Kind::Model, shown_before)?;
    // Nor did its scores.
    let scores_place = place(&scores_file, Kind::Predictions, shown_before)?;
    let mut inputs = Vec::new();
    for (name, kind, text) in [
        ("cohort.csv", Kind::Table, learned.csv.as_str()),
        ("holdout.csv", Kind::Table, unseen.csv.as_str()),
        ("cohort.schema.toml", Kind::Schema, simulate::SCHEMA),
        ("holdout.schema.toml", Kind::Schema, simulate::SCHEMA),
    ] {
        let path = folder.join(name);
        inputs.push((place(&path, kind, holds(&path, text))?, text));
    }

    printer
        .progress(&format!("simulating {RECORDS} hospital stays to learn from and {HOLDOUT} to test on …"));
    for (place, text) in inputs {
        place.write(text.as_bytes())?;
    }

    printer.progress("training a private ranker …");
    let settings = Settings::default();
    let budget = Budget::new(EPSILON, DELTA)?;
    let spending = Spending::default();
    let run =
        train::TrainingRun { data: &cohort, schema: &schema, budget, spending: &spending, engine: None };
    let (model, _) = run.train(&settings, &mut Checkpointer::none(), printer)?;
    let document = model.to_json().map_err(|error| Failure::about(&model_file, &error))?;
    model_place.write(document.as_bytes())?;

    printer.progress("training the same ranker without privacy, to compare …");
    let ceiling = baseline::train_file(&cohort, &schema, &settings, Baseline::Gd, printer)?;

    printer.progress("scoring, evaluating and verifying …");
    let test = Table::read(&holdout, &encoding, LabelUse::Read(schema.label()))?;
    let scores = model.predictor.scores(&test);
    let lines: Vec<String> = scores.iter().map(ToString::to_string).collect();
    scores_place.write(format!("score\n{}\n", lines.join("\n")).as_bytes())?;
    let positive = test.positive();
    let private = measure::auc(&scores, &positive).unwrap_or(f64::NAN);
    let baseline = measure::auc(&ceiling.predictor.scores(&test), &positive).unwrap_or(f64::NAN);
    let optimal = measure::auc(&unseen.risks, &positive).unwrap_or(f64::NAN);
    let verified =
        pairdp_verify::verify(&document).map_err(|error| Failure::about(&model_file, &error))?.holds();

    let text = page(folder, &model, [private, baseline, optimal], verified);
    let object = json!({
        "model": model_file, "epsilon": EPSILON, "delta": DELTA, "verified": verified,
        "auc": { "chance": 0.5, "private": private, "non_private": baseline, "optimal": optimal },
    });
    printer.result(&text, &object);
    Ok(if verified { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

fn page(
    folder: &Path,
    model: &PrivateModel,
    [private, baseline, optimal]: [f64; 3],
    verified: bool,
) -> String {
    let certificate = &model.certificate;
    let mut text = String::from("\nA private ranker, from start to finish\n\n");
    let _ = writeln!(
        text,
        "  Task        rank hospital stays by risk of readmission: one that is followed by a readmission\n\
         \x20             should come before one that is not\n\
         \x20 Protected   each of the {} stays in the table: exchanging any one of them for any other\n\
         \x20             changes the chance of any outcome by a factor of at most e^ε, up to δ\n\
         \x20 Guarantee   ε = {EPSILON}, δ = {DELTA:e}, by {}, {}\n",
        certificate.records,
        how(model),
        if verified { "verified: yes" } else { "verified: NO" },
    );
    let _ = writeln!(
        text,
        "  How well it ranks {HOLDOUT} other stays (AUC: how often the right one comes first)\n"
    );
    for (name, auc) in [
        ("chance", 0.5),
        ("this private model", private),
        ("without privacy", baseline),
        ("the true risk itself", optimal),
    ] {
        let _ = writeln!(text, "    {name:<20} {auc:.3}  {}", bar(auc));
    }
    let shown = folder.display();
    // As it was called: right after a build it is on nobody's path.
    let pairdp = std::env::args().next().unwrap_or_else(|| "pairdp".into());
    let _ = write!(
        text,
        "\n  Files in {shown}\n\
         \x20   model.json           weights, public encoding, certificate\n\
         \x20   cohort.csv           what it learned from    cohort.schema.toml  the public ranges it used\n\
         \x20   holdout.csv          what it was tested on   scores.csv          the scores it gave\n\
         \n  Try next\n\
         \x20   {pairdp} verify {shown}/model.json      then change a number of its certificate, and again\n\
         \x20   {pairdp} train {shown}/cohort.csv --epsilon 0.2 --delta 1e-6 --out strict.json\n\
         \x20   {pairdp} evaluate strict.json {shown}/holdout.csv\n\
         \x20   {pairdp} report {shown}/model.json {shown}/holdout.csv      a page to open in a browser\n",
    );
    text
}

/// What was released.
fn how(model: &PrivateModel) -> String {
    match model.training.algorithm {
        Algorithm::Moments => "one noisy release of moments".into(),
        algorithm => format!("{} in {} steps", algorithm.name(), model.training.steps),
    }
}

/// AUC from 0.5 to 1 as a bar.
fn bar(auc: f64) -> String {
    const WIDTH: f64 = 40.0;
    let filled = ((auc - 0.5) * 2.0 * WIDTH).round();
    let mut bar = String::new();
    let mut column = 0.0;
    while column < WIDTH {
        bar.push(if column < filled { '█' } else { '·' });
        column += 1.0;
    }
    bar
}
