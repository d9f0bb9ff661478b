//! Faults that a review found in version 0.1, each with its counterexample. The number in a test's name is that of the finding.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::quadrature::gaussian_delta;
use pairdp_certificate::{Algorithm, Average, Bounds, ModelDocument};
use pairdp_data::{Encoding, Table};
use pairdp_learn::{DomainKind, Risk, Settings, Training};
use pairdp_model::{PrivateModel, Task};
use pairdp_noise::Replay;
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{
    Domain, Labels, LossKind, MarginLoss, MetricLoss, Neighbours, Objective, Problem, RankingForm, Records,
};
use pairdp_release::{Curator, LearnError, Mechanism, Plan, certified_event};
use pairdp_units::{Adjacency, Budget};
use pairdp_verify::Verdict;

fn verify(model: &PrivateModel) -> Verdict {
    pairdp_verify::verify(&model.to_json().unwrap()).unwrap()
}

fn budget() -> Budget {
    Budget::new(1.0, 1e-6).unwrap()
}

fn metric(loss: LossKind) -> Settings {
    Settings {
        task: Task::Metric,
        loss: Some(loss),
        algorithm: Some(Algorithm::NoisyGd),
        feature_bound: Some(1.0),
        steps: Some(3),
        ..Settings::default()
    }
}

/// A model of so many records with one feature, the class of each its place modulo 2.
fn model(settings: &Settings, records: usize) -> PrivateModel {
    let encoding = Encoding::of_ranges([[-1.0, 1.0]]).unwrap();
    let features = (0..records).map(|i| (i % 7) as f64 / 3.0 - 1.0).collect();
    let label =
        |i: usize| if settings.task == Task::Metric { (i % 2) as f64 } else { (i % 2) as f64 * 2.0 - 1.0 };
    let table = Table::new(features, 1, (0..records).map(label).collect());
    Training { settings: settings.clone(), encoding, label: None, budget: budget() }.fit(table).unwrap()
}

fn failures(verdict: &Verdict) -> Vec<(&'static str, String)> {
    verdict.failures().map(|check| (check.name, check.failure.clone().unwrap())).collect()
}

/// As version 0.1 would have written it.
fn former(mut model: PrivateModel) -> PrivateModel {
    model.certificate.format = "pairdp-certificate/2".into();
    if model.certificate.claim.adjacency == "replace-features" {
        model.certificate.claim.adjacency = "replace-one".into();
    }
    model
}

/// 99 records (−1, class 0) and one (+1, class 0), a cap of 100; the other table begins with (+1, class 1), which pushes the last
/// one out. At W = 0 the gradients are +0.08 and −0.08.
#[test]
fn issue_18_01_a_cap_can_push_out_a_record_of_another_label() {
    let objective = Objective::Metric { loss: MetricLoss::Logistic };
    let problem = Problem::new(objective, Domain::Ball { radius: 1.0 }, 1.0).unwrap();
    let hinge =
        Problem::new(Objective::Metric { loss: MetricLoss::Hinge }, Domain::Ball { radius: 1.0 }, 1.0)
            .unwrap();
    let table = |last_first: bool| {
        let (mut x, mut y) = (vec![-1.0; 99], vec![0.0; 99]);
        if last_first {
            x.insert(0, 1.0);
            y.insert(0, 1.0);
        } else {
            x.push(1.0);
            y.push(0.0);
        }
        Records::with_targets(x, 1, y, 1.0).unwrap()
    };
    let at = |table: &Records| kernel::gradient(hinge, table, &[0.0], Par::Sequential)[0];
    let apart = (at(&table(false)) - at(&table(true))).abs();
    assert!((apart - 0.16).abs() < 1e-12, "{apart}");
    let capped = hinge.with_labels(Labels::Public).with_neighbours(Neighbours::AddRemoveOne { most: 100 });
    let sensitivity = capped.gradient_sensitivity(0.0, 0).unwrap().get();
    assert!(sensitivity >= apart, "{sensitivity} for {apart}");
    // Noise for 0.08, which is what public labels cost without a cap, does not give the claimed δ.
    let cheap = hinge.with_labels(Labels::Public).gradient_sensitivity(0.0, 100).unwrap().get();
    let ratio = pairdp_accountant::gaussian::largest_ratio(budget()).unwrap();
    assert!(gaussian_delta(1.0, apart / cheap * ratio).unwrap() > 1e3 * 1e-6);
    assert!(gaussian_delta(1.0, apart / sensitivity * ratio).unwrap() <= 1e-6 * (1.0 + 1e-6));
    // Labels that everybody knows have a number that everybody knows: the two do not go together.
    let both = Settings { public_labels: true, max_records: Some(100), ..metric(LossKind::Logistic) };
    assert!(matches!(
        both.prepare(0, &Encoding::unscaled(1), budget()),
        Err(LearnError::PublicLabelsOfSecretSize)
    ));
    let plan = Plan::new(Algorithm::NoisyGd, 1, 1.0, Average::Last).unwrap();
    let by_hand = problem.with_labels(Labels::Public).with_neighbours(Neighbours::AddRemoveOne { most: 100 });
    let calibrated = Mechanism::calibrate(by_hand, plan, 0, 1, budget());
    assert!(matches!(calibrated, Err(LearnError::PublicLabelsOfSecretSize)));
}

#[test]
fn issue_18_01_to_03_certificates_of_version_0_1_with_public_labels_are_refused_with_the_reason() {
    for algorithm in [Algorithm::NoisyGd, Algorithm::NoisySgd, Algorithm::OutputGd] {
        let settings =
            Settings { algorithm: Some(algorithm), public_labels: true, ..metric(LossKind::Logistic) };
        let model = model(&settings, 40);
        assert!(verify(&model).holds(), "{:?}", failures(&verify(&model)));
        let found = failures(&verify(&former(model)));
        assert!(
            found.iter().any(|(name, why)| *name == "version" && why.contains("version 0.1")),
            "{found:?}"
        );
    }
    // Others are still accepted.
    for settings in [
        Settings { steps: Some(3), algorithm: Some(Algorithm::NoisyGd), ..Settings::default() },
        Settings { max_records: Some(50), algorithm: Some(Algorithm::Moments), ..Settings::default() },
        metric(LossKind::Hinge),
    ] {
        let verdict = verify(&former(model(&settings, 40)));
        assert!(verdict.holds(), "{:?}", failures(&verdict));
    }
}

#[test]
fn issue_18_02_public_labels_spare_no_noise_for_uniform_pairs() {
    let objective = Objective::Metric { loss: MetricLoss::Hinge };
    let problem = Problem::new(objective, Domain::Ball { radius: 1.0 }, 1.0).unwrap();
    let plan = Plan::new(Algorithm::NoisySgd, 1, 1.0, Average::Last).unwrap();
    let sigma =
        |labels| match Mechanism::calibrate(problem.with_labels(labels), plan, 1000, 1, budget()).unwrap() {
            Mechanism::Samples(sampled) => (sampled.sensitivity(), sampled.sigma()),
            other => panic!("{other:?}"),
        };
    assert_eq!(sigma(Labels::Public), sigma(Labels::Private));
    assert!(sigma(Labels::Public).0 >= 8.0);
}

#[test]
fn issue_18_03_public_labels_have_an_adjacency_of_their_own() {
    let settings = Settings { public_labels: true, ..metric(LossKind::Logistic) };
    let certificate = model(&settings, 40).certificate;
    assert_eq!(certificate.claim.adjacency, "replace-features");
    assert_eq!(certified_event(&certificate).unwrap().adjacency(), Adjacency::ReplaceFeatures);
    assert!(certificate.protects().contains("labels count as public"), "{}", certificate.protects());
    let mut bold = model(&settings, 40);
    bold.certificate.claim.adjacency = "replace-one".into();
    assert!(!verify(&bold).holds(), "a guarantee for whole records that is not one");
    // Where labels make no difference to the noise, the guarantee covers them: nothing is to be had from giving them up.
    for task in [Task::Ranking, Task::Classification, Task::Regression] {
        let settings = Settings { task, public_labels: true, ..Settings::default() };
        let refused = settings.prepare(100, &Encoding::unscaled(2), budget());
        assert!(matches!(refused, Err(LearnError::LabelsMakeNoDifference(_))), "{}", task.name());
    }
}

/// Version 0.1 could look for tighter ranges; what it wrote is still judged.
#[test]
fn issue_18_05_found_ranges_end_where_bins_do() {
    let text = include_str!("../../verify/tests/fixtures/ranges.json");
    let honest = ModelDocument::from_json(text).unwrap();
    let judged = |document: &ModelDocument| failures(&pairdp_verify::verify_document(document));
    assert!(judged(&honest).is_empty(), "{:?}", judged(&honest));
    let mut elsewhere = honest.clone();
    let range = elsewhere.predictor.encoding.columns.iter_mut().find_map(|column| column.range.as_mut());
    let Some(Bounds::Numbers([low, _])) = range else { panic!("no range") };
    *low += 0.3;
    assert!(judged(&elsewhere).iter().any(|(name, _)| *name == "ranges"), "no bin ends there");
    let mut more = honest.clone();
    more.certificate.ranges.as_mut().unwrap().columns += 1;
    assert!(judged(&more).iter().any(|(name, _)| *name == "ranges"), "so many columns are not encoded");
    let mut silent = honest.clone();
    silent.certificate.public_ranges = None;
    assert!(!judged(&silent).is_empty());
    let mut early = honest;
    early.certificate.format = "pairdp-certificate/2".into();
    early.certificate.public_ranges = None;
    let found = judged(&early);
    assert!(found.iter().any(|(name, why)| *name == "version" && why.contains("ranges")), "{found:?}");
}

#[test]
fn issue_18_07_a_secret_number_is_not_called_a_number_of_records() {
    let settings =
        Settings { max_records: Some(100), algorithm: Some(Algorithm::Moments), ..Settings::default() };
    let words = model(&settings, 40).certificate.protects();
    assert_eq!(
        words,
        "adding or removing any one record; how many there are, at most 100, shows only through the noise"
    );
    let public = Settings { algorithm: Some(Algorithm::Moments), ..Settings::default() };
    assert_eq!(model(&public, 40).certificate.protects(), "replacing any one of 40 records by any other");
}

/// A record more moves the others to other places of a tile. Pairs at the kink of the hinge do not forgive another rounding.
#[test]
fn issue_18_08_the_hinge_of_metrics_needs_a_public_number_of_records() {
    let capped = |loss| Settings { max_records: Some(60), ..metric(loss) };
    let refused = capped(LossKind::Hinge).prepare(0, &Encoding::unscaled(1), budget());
    assert!(matches!(refused, Err(LearnError::SecretSize(_))));
    // A smooth slope moves with its distance, by no more than is counted.
    let logistic = model(&capped(LossKind::Logistic), 40);
    assert!(verify(&logistic).holds(), "{:?}", failures(&verify(&logistic)));
    let plan = Plan::new(Algorithm::NoisyGd, 1, 1.0, Average::Last).unwrap();
    let problem = |neighbours| {
        let objective = Objective::Metric { loss: MetricLoss::Logistic };
        Problem::new(objective, Domain::Ball { radius: 1e6 }, 1.0).unwrap().with_neighbours(neighbours)
    };
    let error = |neighbours| match Mechanism::calibrate(problem(neighbours), plan, 60, 1, budget()).unwrap() {
        Mechanism::Gradients(gradients) => gradients.release_at(1e6).unwrap().kernel_error,
        other => panic!("{other:?}"),
    };
    let most = 60;
    assert!(error(Neighbours::AddRemoveOne { most }) > 100.0 * error(Neighbours::ReplaceOne));
}

#[test]
fn issue_18_09_bounds_that_rounding_is_not_proved_for_are_refused() {
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    for bound in [1e-145, 1e-31, 1e31, 1e300, 0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Problem::new(objective, Domain::Ball { radius: 1.0 }, bound).is_err(), "κ = {bound}");
        assert!(Problem::new(objective, Domain::Ball { radius: bound }, 1.0).is_err(), "B = {bound}");
        let settings = Settings {
            feature_bound: Some(bound),
            algorithm: Some(Algorithm::Moments),
            ..Settings::default()
        };
        assert!(settings.prepare(100, &Encoding::unscaled(2), budget()).is_err(), "{bound}");
        let weights = pairdp_pairwise::moments::Weights { mean: 0.25, second: 0.3 };
        assert!(pairdp_pairwise::moments::sensitivity(weights, bound, 100).is_err(), "{bound}");
    }
    assert!(Problem::new(objective, Domain::Ball { radius: 1e30 }, 1e-30).is_ok());
}

/// A run with an intercept, whose square hides a sign, was paid for and left a model that nobody could read.
#[test]
fn feature_bounds_below_zero_are_refused_beside_an_intercept_too() {
    for bound in [-3.0, -0.5, 0.0, 1e-31, 1e31, f64::NAN] {
        let by_records = Settings { risk: Some(Risk::Records), ..Settings::default() };
        for settings in [by_records, Settings { task: Task::Classification, ..Settings::default() }] {
            let settings = Settings { feature_bound: Some(bound), intercept: Some(true), ..settings };
            let refused = settings.prepare(100, &Encoding::unscaled(2), budget());
            let named = matches!(refused, Err(LearnError::Plan { what: "the feature bound", .. }));
            assert!(named, "{bound} for {:?}", settings.task);
        }
    }
}

/// n = 100, 50 records at 1 and 50 at 0.1, one of them replaced by −1; 400 steps of 4.9478e13 within a radius of 1e17: coupled
/// descents were twice as far apart as certified, because scores are cut off at 2⁴⁰.
#[test]
fn issue_18_11_descents_whose_scores_would_be_cut_off_are_refused() {
    let settings = |radius| Settings {
        loss: Some(LossKind::Hinge),
        algorithm: Some(Algorithm::OutputGd),
        feature_bound: Some(1.0),
        radius: Some(radius),
        steps: Some(400),
        step_size: Some(4.9478e13),
        ..Settings::default()
    };
    let calibrated =
        |settings: &Settings| settings.prepare(100, &Encoding::unscaled(1), Budget::new(20.0, 1e-6).unwrap());
    assert!(matches!(calibrated(&settings(1e17)), Err(LearnError::NoProof(_))));
    let edge = 2.0_f64.powi(40);
    assert!(calibrated(&settings(edge * 0.999)).is_ok());
    for (form, algorithm) in
        [(RankingForm::Symmetric, Algorithm::OutputGd), (RankingForm::Indicator, Algorithm::PhasedGd)]
    {
        let other = Settings { form, algorithm: Some(algorithm), steps: None, ..settings(edge) };
        assert!(matches!(calibrated(&other), Err(LearnError::NoProof(_))), "{algorithm:?}");
    }
    // Without a bound, as far as the steps carry.
    let free = Settings { domain: Some(DomainKind::Whole), ..settings(1.0) };
    assert!(matches!(calibrated(&free), Err(LearnError::NoProof(_))));
    // A certificate that says otherwise is refused by name.
    let mut far =
        model(&Settings { steps: Some(3), step_size: Some(0.1), radius: Some(1e9), ..settings(1.0) }, 40);
    assert!(verify(&far).holds(), "{:?}", failures(&verify(&far)));
    let text = far.to_json().unwrap().replace("1000000000.0", "1e17");
    far = PrivateModel::from_json(&text).unwrap();
    assert!(
        failures(&verify(&far)).iter().any(|(_, why)| why.contains("2⁴⁰")),
        "{:?}",
        failures(&verify(&far))
    );
}

#[test]
fn issue_18_12_a_curator_answers_about_pairs_inside_the_domain_only() {
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Squared };
    let problem = Problem::new(objective, Domain::Ball { radius: 1.0 }, 1.0).unwrap();
    let records = || Records::new(vec![1.0, -1.0, 0.5], 1, vec![true, false, false], 1.0).unwrap();
    for (algorithm, steps) in [(Algorithm::NoisySgd, 2), (Algorithm::OnlinePair, 2)] {
        let plan = Plan::new(algorithm, steps, 1.0, Average::Last).unwrap();
        let mechanism = Mechanism::calibrate(problem, plan, 3, 1, budget()).unwrap();
        let mut curator = Curator::open(records(), mechanism, Replay::from_seed(1)).unwrap();
        let mut ask = |at: &[f64]| match algorithm {
            Algorithm::NoisySgd => curator.noisy_sample(at, &mut [0.0]),
            _ => curator.noisy_arrival(at).map(drop),
        };
        assert!(matches!(ask(&[1.5]), Err(LearnError::OutsideDomain)), "{algorithm:?}");
        assert!(matches!(ask(&[f64::NAN]), Err(LearnError::OutsideDomain)), "{algorithm:?}");
        assert!(ask(&[0.9]).is_ok(), "{algorithm:?}");
    }
}

/// A metric's slopes are cut off at bounds that hold for every matrix, so its curator also answers outside the domain; but not about
/// what is no matrix of numbers. A domain without a bound notices neither NaN nor ∞.
#[test]
fn issue_18_12_a_curator_answers_about_finite_parameters_only() {
    let hinge = Objective::Metric { loss: MetricLoss::Hinge };
    let metric = Problem::new(hinge, Domain::Ball { radius: 1.0 }, 1.0).unwrap();
    let logistic = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    let ranking = Problem::new(logistic, Domain::Whole, 1.0).unwrap();
    let records = || Records::new(vec![1.0, -1.0, 0.5], 1, vec![true, false, false], 1.0).unwrap();
    for problem in [metric, ranking] {
        for algorithm in [Algorithm::NoisySgd, Algorithm::OnlinePair] {
            let plan = Plan::new(algorithm, 2, 1.0, Average::Last).unwrap();
            let mechanism = Mechanism::calibrate(problem, plan, 3, 1, budget()).unwrap();
            let mut curator = Curator::open(records(), mechanism, Replay::from_seed(1)).unwrap();
            let mut ask = |at: &[f64]| match algorithm {
                Algorithm::NoisySgd => curator.noisy_sample(at, &mut [0.0]),
                _ => curator.noisy_arrival(at).map(drop),
            };
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert!(
                    matches!(ask(&[bad]), Err(LearnError::OutsideDomain)),
                    "{problem:?} {algorithm:?} {bad}"
                );
            }
            assert!(ask(&[1e6]).is_ok(), "{problem:?} {algorithm:?}");
        }
    }
}

/// Whatever stands beyond the cap, the answer is the same to the last bit: numbers that would be refused or clipped, other labels,
/// any number of rows.
#[test]
fn issue_18_08_records_beyond_the_cap_change_nothing() {
    let settings = Settings {
        max_records: Some(3),
        algorithm: Some(Algorithm::NoisyGd),
        steps: Some(1),
        feature_bound: Some(1.0),
        ..Settings::default()
    };
    let spec = settings.prepare(0, &Encoding::unscaled(1), budget()).unwrap();
    let answer = |beyond: &[(f64, bool)]| {
        let (features, labels): (Vec<f64>, Vec<bool>) =
            [(1.0, true), (-1.0, false), (0.5, true)].iter().chain(beyond).copied().unzip();
        let wide = features.iter().flat_map(|x| vec![*x; spec.columns()]).collect();
        let records = Records::new(wide, spec.columns(), labels, 1.0).unwrap();
        let mut curator = Curator::open(records, spec.mechanism().clone(), Replay::from_seed(1)).unwrap();
        curator.noisy_gradient(&vec![0.2; spec.columns()]).unwrap()
    };
    let plain = answer(&[]);
    for beyond in [vec![(0.3, true)], vec![(1e9, false)], vec![(-1.0, false); 50]] {
        assert_eq!(plain, answer(&beyond), "{beyond:?}");
    }
}
