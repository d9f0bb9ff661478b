//! Whole runs that learn who fails first.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Table};
use pairdp_learn::{RepresentationKind, Settings, Training};
use pairdp_model::{PrivateModel, Task};
use pairdp_noise::{Replay, Source};
use pairdp_release::LearnError;
use pairdp_units::Budget;
use pairdp_units::signed_time::signed_time;

const LEARN: [Algorithm; 5] =
    [Algorithm::Moments, Algorithm::NoisyGd, Algorithm::NoisySgd, Algorithm::OutputGd, Algorithm::PhasedGd];

fn settings(algorithm: Option<Algorithm>) -> Settings {
    Settings { task: Task::Survival, algorithm, ..Settings::default() }
}

/// Whoever has much of the first column fails early; a third leaves before.
fn table(n: usize) -> Table {
    let mut random = Replay::from_seed(5);
    let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let (mut features, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let row = [uniform(), uniform()];
        let (fails, leaves) = (0.5 - 0.4 * row[0] + 0.1 * uniform(), 0.75 + 0.25 * uniform());
        features.extend(row);
        targets.push(signed_time(if fails < leaves { fails } else { leaves }, fails < leaves, 1.0));
    }
    Table::new(features, 2, targets)
}

fn fit(settings: Settings, table: Table, budget: Budget) -> Result<PrivateModel, LearnError> {
    let encoding = Encoding::of_ranges([[-1.0, 1.0], [-1.0, 1.0]]).unwrap();
    Training { settings, encoding, label: None, budget }.fit(table)
}

fn holds(text: &str) -> bool {
    pairdp_verify::verify(text).is_ok_and(|verdict| verdict.holds())
}

fn usual() -> Budget {
    Budget::new(1.0, 1e-6).unwrap()
}

#[test]
fn every_algorithm_over_times_is_certified_and_no_other_is_there() {
    for algorithm in Algorithm::ALL {
        match fit(settings(Some(algorithm)), table(400), usual()) {
            Ok(model) => {
                assert!(LEARN.contains(&algorithm), "{algorithm}");
                assert!(holds(&model.to_json().unwrap()), "{algorithm}");
            }
            Err(error) => {
                assert!(matches!(error, LearnError::NotForTask { .. }), "{algorithm}: {error}");
                assert!(!LEARN.contains(&algorithm), "{algorithm}");
            }
        }
    }
    let model = fit(settings(None), table(4000), Budget::new(4.0, 1e-6).unwrap()).unwrap();
    let c = {
        let table = table(1000);
        pairdp_pairwise::measure::concordance_index(&model.predictor.scores(&table), &table.targets, None)
    };
    assert!(c.unwrap() > 0.85, "{c:?}");
}

/// Pure ε, a secret number of records, and rows by ranks: every way in which times are released first.
#[test]
fn times_are_released_first_in_every_way() {
    for representation in [RepresentationKind::Ranges, RepresentationKind::Ranks] {
        for (most, promised, delta) in
            [(None, false, 1e-6), (None, false, 0.0), (Some(500), false, 1e-6), (Some(500), true, 1e-6)]
        {
            let chosen = Settings {
                representation: Some(representation),
                max_records: most,
                promised,
                ..settings(Some(Algorithm::Moments))
            };
            let model = fit(chosen, table(400), Budget::new(1.0, delta).unwrap()).unwrap();
            let text = model.to_json().unwrap();
            assert!(holds(&text), "{representation:?} {most:?} {promised} {delta}");
            assert!(
                !holds(&text.replace("times/1", "ranks/2")) || representation == RepresentationKind::Ranks
            );
            let curve = model.predictor.survival_curve().unwrap();
            assert!(
                curve.windows(2).all(|pair| pair[0][1] >= pair[1][1]) && (curve[0][1] - 1.0).abs() < 1e-12
            );
        }
    }
    assert!(
        fit(settings(Some(Algorithm::NoisyGd)), table(50), usual())
            .unwrap()
            .predictor
            .survival_curve()
            .is_none()
    );
}

/// Certificates that would need less noise: of an AUC ranker, of σ(2R) in place of T, of a first release that is cheaper, or none.
#[test]
fn certificates_of_too_little_noise_are_refused() {
    let edit = |text: &str, path: &str, change: &dyn Fn(f64) -> f64| {
        let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
        let found = value.pointer_mut(path).unwrap_or_else(|| panic!("{path}"));
        *found = change(found.as_f64().unwrap()).into();
        value.to_string()
    };
    let model = fit(settings(Some(Algorithm::NoisyGd)), table(400), usual()).unwrap();
    let text = model.to_json().unwrap();
    assert!(holds(&text));
    let release = "/certificate/released/releases/0";
    for name in ["sensitivity", "sigma"] {
        assert!(!holds(&edit(&text, &format!("{release}/{name}"), &|value| value / 2.0)));
    }
    assert!(!holds(&text.replace("\"comparable\"", "\"indicator\"")));
    assert!(!holds(&text.replace("comparable/1", "charges/2")));
    // At a norm above 0, T lies above σ(2R): a constant of rankers would be too small.
    let last = model.certificate.clone();
    let pairdp_certificate::Released::Gradients { releases, .. } = &last.released else { unreachable!() };
    let (k, far) =
        releases.iter().enumerate().max_by(|a, b| a.1.iterate_norm.total_cmp(&b.1.iterate_norm)).unwrap();
    if far.iterate_norm > 0.0 {
        let reach = 2.0 * last.problem.feature_bound * far.iterate_norm;
        let of_rankers = 2.0 * last.problem.feature_bound / (1.0 + (-reach).exp()) / 400.0;
        let path = format!("/certificate/released/releases/{k}/sensitivity");
        assert!(of_rankers < far.sensitivity && !holds(&edit(&text, &path, &|_| of_rankers)));
    }
    let model = fit(settings(Some(Algorithm::Moments)), table(400), usual()).unwrap();
    let text = model.to_json().unwrap();
    let stage = "/certificate/stages/0/noise";
    for (name, share) in [("sensitivity", 0.8), ("sigma", 0.9), ("ratio", 1.2)] {
        assert!(!holds(&edit(&text, &format!("{stage}/{name}"), &|value| value * share)), "{name}");
    }
    // A format that knew no times.
    assert!(holds(&text) && !holds(&text.replace("pairdp-certificate/3", "pairdp-certificate/2")));
    assert!(!holds(&edit(&text, "/certificate/released/ratio", &|value| value * 1.05)));
}
