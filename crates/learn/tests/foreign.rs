//! Scores of code that is not ours, driven from Rust: the same as our own where they compute the same, and refused where nothing is proved.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::{Interrupted, Payer, Price, Unbooked};
use pairdp_certificate::{Algorithm, Average, Condition};
use pairdp_data::{Encoding, Table};
use pairdp_learn::{RepresentationKind, Risk, Settings, Training};
use pairdp_model::PrivateModel;
use pairdp_noise::{Replay, Source as _};
use pairdp_pairwise::LossKind;
use pairdp_release::{Checkpointer, ForeignScore, LearnError};
use pairdp_units::{Budget, Unit};
use std::sync::{Arc, Mutex};

/// w·x, whose gradient is the row.
#[derive(Default)]
struct Weighted {
    /// Rows that it was shown, all questions together.
    shown: Mutex<Vec<f64>>,
    /// Whether it fails on rows that are not 0.
    fails: bool,
}

impl ForeignScore for Weighted {
    fn condition(&self) -> Condition {
        let code = r#"{"name":"weighted","sha256":null}"#;
        let text = format!(
            r#"{{"class":"conditional","rests_on":"{}","adapter":{code},"function":{code},"packages":{{}}}}"#,
            Condition::RESTS_ON
        );
        serde_json::from_str(&text).unwrap()
    }

    fn initial(&self, _: u64) -> Result<Vec<f64>, String> {
        Ok(vec![0.0; 3])
    }

    fn scores(&self, w: &[f64], rows: &[f64], columns: usize) -> Result<Vec<f64>, String> {
        self.shown.lock().unwrap().extend_from_slice(rows);
        if self.fails && rows.iter().any(|value| *value != 0.0) {
            return Err(format!("no score for {rows:?}"));
        }
        Ok(rows.chunks_exact(columns).map(|row| row.iter().zip(w).map(|(x, w)| x * w).sum()).collect())
    }

    fn weighted_clipped_gradient(
        &self,
        _: &[f64],
        rows: &[f64],
        columns: usize,
        charges: &[f64],
        bound: f64,
    ) -> Result<Vec<f64>, String> {
        let mut sum = vec![0.0; columns];
        for (row, charge) in rows.chunks_exact(columns).zip(charges) {
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            let factor = if norm > bound { bound / norm } else { 1.0 };
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += charge * factor * x);
        }
        Ok(sum)
    }
}

const ROWS: usize = 600;

fn table(encoding: &Encoding) -> Table {
    let mut random = Replay::from_seed(4);
    let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let cells: Vec<f64> = (0..3 * ROWS).map(|_| uniform()).collect();
    let targets = cells.chunks_exact(3).map(|row| if row[0] > 0.2 * row[1] { 1.0 } else { -1.0 }).collect();
    Table { targets, ..encoding.encode_matrix(&cells, 3).unwrap() }
}

fn training(settings: Settings) -> Training {
    let encoding = Encoding::of_ranges([[-1.0, 1.0]; 3]).unwrap();
    Training { settings, encoding, label: None, budget: Budget::new(2.0, 1e-6).unwrap() }
}

fn foreign() -> Settings {
    Settings { foreign_parameters: Some(3), steps: Some(10), ..Settings::default() }
}

fn open(settings: Settings, score: Option<Weighted>) -> Result<pairdp_learn::PaidRun, LearnError> {
    let training = training(settings);
    let table = table(&training.encoding);
    let score = score.map(|score| Arc::new(score) as Arc<dyn ForeignScore>);
    training.open_scored(score, &mut Unbooked, &mut Checkpointer::none(), || Ok(table.into()))
}

#[test]
fn the_same_score_finds_the_same_parameters_under_the_same_noise() {
    // A linear score of records has the maximum that was searched for, raised by a millionth, in its noise.
    for (risk, near) in [(Risk::Pairs, 1e-8), (Risk::Records, 1e-6)] {
        let linear = Settings {
            algorithm: Some(Algorithm::NoisyGd),
            loss: Some(LossKind::CappedLogistic),
            representation: Some(RepresentationKind::Ranges),
            risk: Some(risk),
            intercept: Some(false),
            feature_bound: Some(1.0),
            step_size: Some(1.0),
            average: Some(Average::Last),
            momentum: Some(0.0),
            radius: Some(1e6),
            steps: Some(10),
            ..Settings::default()
        };
        let foreign = Settings { foreign_parameters: Some(3), radius: None, ..linear.clone() };
        let rehearse = |settings: Settings, score| {
            let run = open(settings, score).unwrap();
            run.rehearse(Replay::from_seed(9), &mut Checkpointer::none()).unwrap()
        };
        let (ours, theirs) = (rehearse(linear, None), rehearse(foreign, Some(Weighted::default())));
        let apart =
            ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, pairdp_units::directed::larger);
        assert!(ours[0] > 0.1 && apart < near, "{risk:?}: {ours:?} {theirs:?}");
    }
}

#[test]
fn a_trained_model_says_what_it_rests_on() {
    let model = open(foreign(), Some(Weighted::default())).unwrap().train(&mut Checkpointer::none()).unwrap();
    let certificate = &model.certificate;
    assert_eq!(certificate.condition.as_ref().unwrap().rests_on, Condition::RESTS_ON);
    let verdict = pairdp_verify::verify(&model.to_json().unwrap()).unwrap();
    assert!(verdict.relations_hold() && !verdict.holds(), "{:?}", verdict.failures().collect::<Vec<_>>());
    assert_eq!(verdict.condition, Some(Condition::RESTS_ON));
    let again = PrivateModel::from_json(&model.to_json().unwrap()).unwrap();
    assert!(again.predictor.scores_here().is_err());
}

#[test]
fn a_function_is_shown_zeros_before_records_and_its_words_stay_inside() {
    let fails = Weighted { fails: true, ..Weighted::default() };
    let run = open(foreign(), Some(fails)).unwrap();
    let refused = run.train(&mut Checkpointer::none()).unwrap_err();
    assert!(matches!(refused, LearnError::ForeignFailed("failed")), "{refused}");
    assert!(!refused.to_string().contains("no score for"));
    // A shape that is wrong is told before the table is opened.
    let training = training(Settings { foreign_parameters: Some(4), ..foreign() });
    let (mut opened, mut custodian) = (false, Custodian(Vec::new()));
    let score: Arc<dyn ForeignScore> = Arc::new(Weighted::default());
    let refused = training.open_scored(Some(score), &mut custodian, &mut Checkpointer::none(), || {
        opened = true;
        Ok::<_, LearnError>(table(&training.encoding).into())
    });
    assert!(matches!(refused.err().unwrap(), LearnError::WrongAnswer { columns: 3, .. }));
    assert!(!opened && custodian.0.is_empty());
}

/// Somebody who knows the size, pays, and notes for what.
struct Custodian(Vec<String>);

impl Payer for Custodian {
    type Error = LearnError;

    fn size(&mut self, _: Option<usize>) -> Result<Option<usize>, LearnError> {
        Ok(Some(ROWS))
    }

    fn pay(&mut self, price: Price, _: Option<&Interrupted>) -> Result<Option<String>, LearnError> {
        self.0.push(price.label);
        Ok(None)
    }

    fn accept(&mut self, _: usize) -> Result<(), LearnError> {
        Ok(())
    }

    fn refund(&mut self) -> Result<(), LearnError> {
        Ok(())
    }
}

#[test]
fn whoever_pays_is_told_that_it_is_private_only_if() {
    let mut custodian = Custodian(Vec::new());
    let training = training(foreign());
    let score: Arc<dyn ForeignScore> = Arc::new(Weighted::default());
    let rows = table(&training.encoding).into();
    training
        .open_scored(Some(score), &mut custodian, &mut Checkpointer::none(), || Ok::<_, LearnError>(rows))
        .unwrap();
    let [label] = custodian.0.as_slice() else { panic!("{:?}", custodian.0) };
    assert!(
        label.contains("foreign score") && label.contains("if its gradients were clipped as stated"),
        "{label}"
    );
}

#[test]
fn what_has_no_proof_is_refused() {
    let refused = |settings: Settings| open(settings, Some(Weighted::default())).err().expect("a refusal");
    for settings in [
        Settings { max_records: Some(700), ..foreign() },
        Settings { unit: Unit::Person, ..foreign() },
        Settings { loss: Some(LossKind::Squared), ..foreign() },
        Settings { algorithm: Some(Algorithm::NoisySgd), ..foreign() },
        Settings { algorithm: Some(Algorithm::Moments), ..foreign() },
        Settings { radius: Some(1.0), domain: Some(pairdp_learn::DomainKind::Ball), ..foreign() },
        Settings { hidden: Some(4), ..foreign() },
        Settings { probabilities: Some(true), ..foreign() },
        Settings { task: pairdp_model::Task::Survival, ..foreign() },
        Settings { gradient_bound: Some(f64::NAN), ..foreign() },
    ] {
        let text = format!("{settings:?}");
        let refusal = refused(settings);
        assert!(!matches!(refusal, LearnError::ForeignFailed(_)), "{text}: {refusal}");
    }
    // No function, or one that nobody asks.
    assert!(matches!(open(foreign(), None).err().unwrap(), LearnError::NoFunction));
    let linear = open(Settings::default(), Some(Weighted::default())).err().unwrap();
    assert!(matches!(linear, LearnError::NoFunction));
}

/// Every row comes as ranges put it, however long: no guarantee rests on it, and a function of one's own wants it whole.
#[test]
fn rows_are_shown_as_they_are() {
    let score = Arc::new(Weighted::default());
    let training = training(foreign());
    let table = table(&training.encoding);
    let features = table.features.clone();
    let shared: Arc<dyn ForeignScore> = Arc::clone(&score) as _;
    let checkpointer = &mut Checkpointer::none();
    let run = training
        .open_scored(Some(shared), &mut Unbooked, checkpointer, || Ok::<_, LearnError>(table.into()))
        .unwrap();
    run.train(checkpointer).unwrap();
    let shown = score.shown.lock().unwrap();
    assert!(shown.windows(features.len()).any(|rows| rows == features));
}
