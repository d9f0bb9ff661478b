//! What is trained is read into the plain types of a certificate and written again as it was, to the last byte; nothing else is read.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod trained;

use pairdp_certificate::{Algorithm, ModelDocument};
use pairdp_data::{Encoding, Label, Schema, Table};
use pairdp_learn::{Calibration, RepresentationKind, Settings, Training};
use pairdp_model::{PrivateModel, Task};
use pairdp_pairwise::LossKind;
use pairdp_units::Budget;
use pairdp_verify::verify;
use serde_json::{Value, json};
use trained::every_algorithm;

const SCHEMA: &str = r#"
    [label]
    column = "y"
    positive = 1
    negative = 0

    [[column]]
    name = "a"
    range = [0, 10]
    missing = 2.5

    [[column]]
    name = "b"
    categories = ["u", "v"]
    missing = "u"
    other = true
"#;

fn model(settings: &Settings, label: Option<Label>) -> PrivateModel {
    let encoding = Encoding::of(&Schema::parse(SCHEMA).unwrap());
    let (rows, columns) = (60, encoding.dimension());
    let features = (0..rows * columns).map(|i| (i % 7) as f64 / 3.0 - 1.0).collect();
    let targets = (0..rows).map(|i| (i % 2) as f64 * 2.0 - 1.0).collect();
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let table = Table::new(features, columns, targets);
    Training { settings: settings.clone(), encoding, label, budget }.fit(table).unwrap()
}

fn models() -> Vec<PrivateModel> {
    let label = || Some(Schema::parse(SCHEMA).unwrap().label().clone());
    let own = Settings::default;
    let mut models = vec![
        model(&own(), label()),
        model(&Settings { task: Task::Classification, ..own() }, label()),
        model(&Settings { max_records: Some(100), algorithm: Some(Algorithm::Moments), ..own() }, None),
        model(
            &Settings {
                representation: Some(RepresentationKind::Ranks),
                algorithm: Some(Algorithm::NoisyGd),
                steps: Some(3),
                ..own()
            },
            None,
        ),
        model(
            &Settings { task: Task::Metric, public_labels: true, loss: Some(LossKind::Logistic), ..own() },
            None,
        ),
        model(
            &Settings {
                calibration: Calibration::Literal,
                algorithm: Some(Algorithm::NoisyGd),
                steps: Some(4),
                radius: Some(1.0),
                ..own()
            },
            None,
        ),
    ];
    models[0].run = Some("r1".into());
    models
}

#[test]
fn files_are_written_as_they_were_read() {
    let mut texts: Vec<String> = models().iter().map(|model| model.to_json().unwrap()).collect();
    texts.extend(every_algorithm().into_iter().map(|(_, document)| document.to_json().unwrap()));
    for text in texts {
        let document = ModelDocument::from_json(&text).unwrap();
        assert_eq!(document.to_json().unwrap(), text);
        // Those who train read it too, and write the same.
        assert_eq!(PrivateModel::from_json(&text).unwrap().to_json().unwrap(), text);
        assert!(verify(&text).unwrap().holds(), "{:?}", verify(&text).unwrap());
        // As version 0.1 wrote it.
        let former = text.replace("pairdp-certificate/3", "pairdp-certificate/2");
        assert_eq!(ModelDocument::from_json(&former).unwrap().to_json().unwrap(), former);
    }
}

#[test]
fn unknown_and_repeated_entries_and_nonsense_are_refused() {
    let text = models()[0].to_json().unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    for place in [
        "",
        "/predictor",
        "/predictor/encoding",
        "/predictor/encoding/columns/0",
        "/predictor/label",
        "/training",
        "/certificate",
        "/certificate/claim",
        "/certificate/problem",
        "/certificate/released",
    ] {
        let mut more = document.clone();
        more.pointer_mut(place).unwrap()["note"] = json!("trust me");
        assert!(verify(&more.to_string()).is_err(), "{place}");
    }
    assert!(verify(&text.replacen("\"ridge\"", "\"ridge\": 0.0, \"ridge\"", 1)).is_err());
    for (place, value) in [
        ("/format", json!("pairdp-model/1")),
        ("/ridge", json!(-1.0)),
        ("/training/steps", json!(1e10)),
        ("/training/step_size", json!(0.0)),
        ("/training/law", json!("none")),
        ("/predictor/feature_bound", json!(0.0)),
        ("/predictor/parameters", json!([])),
        ("/predictor/encoding/columns/0/range", json!([1.0, 0.0])),
        ("/predictor/encoding/columns/1/categories", json!(["u", "u"])),
        ("/certificate/records", json!(-1)),
        ("/certificate/records", json!(60.5)),
        ("/certificate/claim/epsilon", json!(null)),
        ("/certificate/problem/feature_bound", json!(1e31)),
        ("/certificate/problem/domain", json!({ "ball": { "radius": 1e-31 } })),
        ("/certificate/algorithm", json!("magic")),
    ] {
        let mut changed = document.clone();
        *changed.pointer_mut(place).unwrap() = value.clone();
        assert!(verify(&changed.to_string()).is_err(), "{place} {value}");
    }
    // Only a metric of ranks alone takes no step.
    let mut still = document;
    still["training"]["steps"] = json!(0);
    assert!(!verify(&still.to_string()).unwrap().holds());
}

#[test]
fn a_certificate_says_whom_it_protects() {
    let protects =
        |model: &PrivateModel| (model.certificate.adjacency().name(), model.certificate.is_secret_size());
    let models = models();
    assert_eq!(protects(&models[0]), ("replace-one", false));
    assert_eq!(protects(&models[2]), ("add-remove-one", true));
    assert_eq!(protects(&models[4]), ("replace-features", false));
    assert!(models[2].certificate.protects().contains("at most 100"));
}
