//! Ranges found in private: what they cost, and that certificates say so.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_data::{Encoding, Table};
use pairdp_learn::{PlanKind, PrivateModel, Settings, Training};
use pairdp_units::Budget;
use pairdp_verify::Verdict;

fn verify(model: &PrivateModel) -> Verdict {
    pairdp_verify::verify(&model.to_json().unwrap()).unwrap()
}

fn budget() -> Budget {
    Budget::new(1.0, 1e-6).unwrap()
}

fn settings(algorithm: PlanKind) -> Settings {
    Settings { algorithm: Some(algorithm), range_share: Some(0.25), ..Settings::default() }
}

fn model(settings: &Settings) -> PrivateModel {
    let encoding = Encoding::of_ranges([[-1e4, 1e4], [0.0, 1e4]]).unwrap();
    let cells: Vec<f64> = (0..8000).flat_map(|i| [f64::from(i % 7) - 3.0, f64::from(i % 90)]).collect();
    let table = encoding.encode_matrix(&cells, 2).unwrap();
    let targets = (0..8000).map(|i| if i % 7 > 3 { 1.0 } else { -1.0 }).collect();
    let training = Training { settings: settings.clone(), encoding, label: None, budget: budget() };
    training.fit(Table { targets, ..table }).unwrap()
}

#[test]
fn certificates_account_for_the_counts() {
    for algorithm in [PlanKind::Moments, PlanKind::NoisyGd] {
        for max_records in [None, Some(5000)] {
            let model = model(&Settings { max_records, ..settings(algorithm) });
            assert!(verify(&model).holds(), "{:?}", verify(&model).checks);
            // The ranges are tight: the values lie within ±4 and below 90.
            let widest = model.predictor.encoding.encode_matrix(&[-3.0, 89.0], 2).unwrap();
            assert!(widest.features[0] < -0.3 && widest.features[1] > 0.1, "{:?}", widest.features);
            let mut silent = model.clone();
            silent.certificate.ranges = None;
            assert!(!verify(&silent).holds(), "counts that are not in the certificate");
            let mut cheap = model.clone();
            cheap.certificate.ranges.as_mut().unwrap().sigma *= 0.9;
            assert!(!verify(&cheap).holds(), "less noise than claimed");
            let mut free = model;
            free.certificate.ranges.as_mut().unwrap().ratio *= 2.0;
            assert!(!verify(&free).holds(), "a larger ratio than was paid for");
        }
    }
}

#[test]
fn other_algorithms_and_noise_are_refused() {
    for algorithm in PlanKind::ALL {
        let calibrated = settings(algorithm).prepare(500, &Encoding::unscaled(2), budget());
        let proved = matches!(algorithm, PlanKind::NoisyGd | PlanKind::Moments);
        assert_eq!(calibrated.is_ok(), proved, "{algorithm:?}");
    }
    for share in [-0.1, 0.0, 1.0, f64::NAN] {
        let settings = Settings { range_share: Some(share), ..settings(PlanKind::Moments) };
        assert!(settings.prepare(500, &Encoding::unscaled(2), budget()).is_err(), "{share}");
    }
    let pure = Budget::new(1.0, 0.0).unwrap();
    assert!(settings(PlanKind::Moments).prepare(500, &Encoding::unscaled(2), pure).is_err());
}
