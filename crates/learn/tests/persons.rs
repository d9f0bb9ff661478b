//! Whole runs on tables of persons with several records each.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::Unbooked;
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Owners, Table};
use pairdp_learn::{RepresentationKind, Risk, Rows, Settings, Training};
use pairdp_model::{PrivateModel, Task};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::{LossKind, PerPerson, Unit};
use pairdp_release::{Checkpointer, LearnError};
use pairdp_units::Budget;

const PERSONS: usize = 40;

fn settings(algorithm: Algorithm) -> Settings {
    Settings {
        algorithm: Some(algorithm),
        unit: Unit::Person,
        steps: steps(algorithm),
        ..Settings::default()
    }
}

/// As many as the algorithm insists on, and few of the others.
fn steps(algorithm: Algorithm) -> Option<u32> {
    matches!(algorithm, Algorithm::NoisyGd | Algorithm::OutputGd).then_some(5)
}

fn training(settings: Settings) -> Training {
    let encoding = Encoding::of_ranges([[-1.0, 1.0], [-1.0, 1.0]]).unwrap();
    Training { settings, encoding, label: None, budget: Budget::new(1.0, 1e-6).unwrap() }
}

/// `PERSONS` persons of one to three records, the last one with as many as is said.
fn table(last: usize) -> Table {
    let mut random = Replay::from_seed(7);
    let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let (mut features, mut targets, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    for person in 0..PERSONS {
        let records = if person + 1 == PERSONS { last } else { person % 3 + 1 };
        for _ in 0..records {
            features.extend([uniform(), uniform()]);
            targets.push(if uniform() < 0.0 { 1.0 } else { -1.0 });
            owners.push(u32::try_from(1000 - person).unwrap());
        }
    }
    Table { owners: Some(Owners::new(owners)), ..Table::new(features, 2, targets) }
}

fn fit(settings: Settings, table: Table) -> Result<PrivateModel, LearnError> {
    training(settings).fit(table)
}

fn rehearse(settings: Settings, table: Table, seed: u64) -> Vec<f64> {
    let checkpointer = &mut Checkpointer::none();
    let open = || Ok::<Rows, LearnError>(table.into());
    let run = training(settings).open(&mut Unbooked, checkpointer, open).unwrap();
    run.rehearse(Replay::from_seed(seed), checkpointer).unwrap()
}

/// Everything in the file of a model but what the noise decided.
fn without_released_numbers(model: &PrivateModel) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_str(&model.to_json().unwrap()).unwrap();
    // What was released, and the digest of it.
    for path in [
        "/predictor/parameters",
        "/predictor/representation/weights",
        "/predictor/representation/counted",
        "/certificate/provenance/weights",
    ] {
        if let Some(found) = value.pointer_mut(path) {
            *found = serde_json::Value::Null;
        }
    }
    // Norms of public iterates, and the noise that follows them.
    if let Some(serde_json::Value::Array(releases)) = value.pointer_mut("/certificate/released/releases") {
        releases.iter_mut().for_each(|release| *release = serde_json::Value::Null);
    }
    for path in ["/certificate/released/order/seed", "/training/order/seed"] {
        if let Some(found) = value.pointer_mut(path) {
            *found = serde_json::Value::Null;
        }
    }
    value
}

#[test]
fn every_algorithm_protects_persons_and_both_verifiers_know_it() {
    for algorithm in Algorithm::ALL {
        let model = fit(settings(algorithm), table(2)).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        let certificate = &model.certificate;
        assert_eq!(certificate.claim.adjacency, "replace-one-person", "{algorithm}");
        assert_eq!(certificate.records, PERSONS);
        let weights = matches!(algorithm, Algorithm::NoisyGd | Algorithm::Moments | Algorithm::OutputGd);
        let expected = if weights { PerPerson::Weights } else { PerPerson::One };
        assert_eq!(certificate.problem.per_person, Some(expected), "{algorithm}");
        let text = model.to_json().unwrap();
        let verdict = pairdp_verify::verify(&text).unwrap();
        assert!(verdict.holds(), "{algorithm}: {:?}", verdict.failures().collect::<Vec<_>>());
        assert!(certificate.protects().contains("40 persons, with all of their records"));
        // As if it were about records, about more persons, or of another kernel.
        for (from, to) in [
            ("\"per_person\": \"weights\"", "\"per_person\": \"one\""),
            ("\"per_person\": \"one\"", "\"per_person\": \"weights\""),
            ("replace-one-person", "replace-one"),
            ("\"records\": 40", "\"records\": 90"),
            ("charges/3", "charges/2"),
            ("rows/3", "rows/2"),
        ] {
            // Moments of all records and of one have the same certificate: both protect persons alike.
            let alike = algorithm == Algorithm::Moments && from.contains("per_person");
            if text.contains(from) && !alike {
                let changed = text.replacen(from, to, 1);
                let refused = pairdp_verify::verify(&changed).map_or(true, |verdict| !verdict.holds());
                assert!(refused, "{algorithm}: {from} → {to}");
            }
        }
    }
}

/// One record more or a hundred thousand: the file says nothing of it, and neither does a message.
#[test]
fn nothing_but_the_noise_tells_how_many_records_a_person_has() {
    let by_auto = Settings { unit: Unit::Person, ..Settings::default() };
    let pairs =
        Settings { loss: Some(LossKind::Logistic), risk: Some(Risk::Pairs), ..settings(Algorithm::NoisyGd) };
    let ranks = Settings { representation: Some(RepresentationKind::Ranks), ..settings(Algorithm::NoisyGd) };
    let capped = Settings { max_records: Some(50), ..settings(Algorithm::Moments) };
    let sampled = settings(Algorithm::NoisySgd);
    for settings in [by_auto, pairs, ranks, capped, sampled] {
        let few = without_released_numbers(&fit(settings.clone(), table(1)).unwrap());
        let many = without_released_numbers(&fit(settings, table(100_000)).unwrap());
        assert_eq!(few, many);
    }
}

/// `--per-person one` is the record-level run on the records that were drawn, which come from the first words of the source.
#[test]
fn one_record_each_is_a_table_of_records() {
    let table_of_persons = table(3);
    let owners = table_of_persons.owners.clone().unwrap();
    let mut source = Replay::from_seed(99);
    let mut left: Vec<u64> = owners
        .records()
        .iter()
        .map(|m| u64::try_from((u128::from(source.next_word()) * u128::from(*m)) >> 64).unwrap())
        .collect();
    let (mut features, mut targets) = (vec![Vec::new(); PERSONS], vec![0.0; PERSONS]);
    for (row, owner) in owners.of_row().iter().enumerate() {
        let owner = *owner as usize;
        if left[owner] == 0 {
            features[owner] = table_of_persons.features[2 * row..2 * row + 2].to_vec();
            targets[owner] = table_of_persons.targets[row];
        }
        left[owner] = left[owner].wrapping_sub(1);
    }
    let drawn = Table::new(features.concat(), 2, targets);
    // What is left of the source is the noise of both.
    for algorithm in Algorithm::ALL {
        let one = Settings { per_person: Some(PerPerson::One), order_seed: Some(3), ..settings(algorithm) };
        let records = Settings { unit: Unit::Record, per_person: None, ..one.clone() };
        let run = |settings: Settings, table: Table, source: Replay| {
            let checkpointer = &mut Checkpointer::none();
            let open = || Ok::<Rows, LearnError>(table.into());
            let run = training(settings).open(&mut Unbooked, checkpointer, open).unwrap();
            run.rehearse(source, checkpointer).unwrap()
        };
        let mut rest = Replay::from_seed(99);
        (0..PERSONS).for_each(|_| {
            rest.next_word();
        });
        let copy = Table::new(drawn.features.clone(), 2, drawn.targets.clone());
        assert_eq!(run(one, table(3), Replay::from_seed(99)), run(records, copy, rest), "{algorithm}");
    }
}

/// Rows in any order, persons in any order: the same sums, so the same model with the same noise.
#[test]
fn rows_of_persons_may_lie_in_any_order() {
    let table_in_order = table(4);
    let rows = table_in_order.rows;
    let order: Vec<usize> = (0..rows).map(|i| (i * 17) % rows).collect();
    assert_eq!(order.iter().collect::<std::collections::HashSet<_>>().len(), rows);
    let owners = table_in_order.owners.as_ref().unwrap().of_row().to_vec();
    let shuffled = || {
        let features: Vec<f64> =
            order.iter().flat_map(|i| table_in_order.features[2 * i..2 * i + 2].to_vec()).collect();
        let targets = order.iter().map(|i| table_in_order.targets[*i]).collect();
        let owners = Owners::new(order.iter().map(|i| owners[*i]).collect());
        Table { owners: Some(owners), ..Table::new(features, 2, targets) }
    };
    let of_ranges = [Algorithm::NoisyGd, Algorithm::Moments, Algorithm::OutputGd];
    for algorithm in of_ranges {
        let settings = settings(algorithm);
        assert_eq!(rehearse(settings.clone(), table(4), 5), rehearse(settings, shuffled(), 5));
    }
    for algorithm in [Algorithm::NoisyGd, Algorithm::Moments] {
        for representation in [RepresentationKind::Ranges, RepresentationKind::Ranks] {
            let settings = Settings { representation: Some(representation), ..settings(algorithm) };
            assert_eq!(rehearse(settings.clone(), table(4), 5), rehearse(settings, shuffled(), 5));
        }
    }
}

#[test]
fn what_has_no_proof_for_persons_is_refused_with_the_reason() {
    let message = |settings: Settings, table: Table| fit(settings, table).unwrap_err().to_string();
    let record = Settings { unit: Unit::Record, ..settings(Algorithm::NoisyGd) };
    assert!(message(record, table(1)).contains("only records would be protected"));
    let without = Table { owners: None, ..table(1) };
    assert!(message(settings(Algorithm::NoisyGd), without).contains("does not say whose records"));
    let weights = |algorithm| Settings { per_person: Some(PerPerson::Weights), ..settings(algorithm) };
    for algorithm in [Algorithm::PhasedGd, Algorithm::NoisySgd, Algorithm::OutputSgd] {
        assert!(
            message(weights(algorithm), table(1)).contains("with all records of a person"),
            "{algorithm}"
        );
    }
    let kinked = Settings { loss: Some(LossKind::QHinge), ..weights(Algorithm::NoisyGd) };
    assert!(message(kinked, table(1)).contains("this loss"));
    let metric = Settings { task: Task::Metric, ..weights(Algorithm::NoisyGd) };
    assert!(message(metric, table(1)).contains("this loss"));
    let labels = Settings { task: Task::Metric, public_labels: true, ..settings(Algorithm::NoisyGd) };
    assert!(message(labels, table(1)).contains("labels cannot be public"));
    let half = Settings { per_person: Some(PerPerson::One), unit: Unit::Record, ..Settings::default() };
    assert!(message(half, Table { owners: None, ..table(1) }).contains("does not say whose"));
}

/// With a cap no number of persons is an error, and persons beyond it do not count.
#[test]
fn a_secret_number_of_persons_ends_at_the_cap() {
    for algorithm in [Algorithm::NoisyGd, Algorithm::Moments] {
        for per_person in PerPerson::ALL {
            let capped = |most| Settings {
                max_records: Some(most),
                per_person: Some(per_person),
                ..settings(algorithm)
            };
            for most in [10, PERSONS, 200] {
                let model = fit(capped(most), table(2)).unwrap();
                assert_eq!(model.certificate.claim.adjacency, "add-remove-one-person");
                assert_eq!(model.certificate.records, most);
                assert!(pairdp_verify::verify(&model.to_json().unwrap()).unwrap().holds());
            }
        }
        let rows: usize = (0..10).map(|person| person % 3 + 1).sum();
        let whole = table(2);
        let first = Table {
            owners: Some(Owners::new(whole.owners.unwrap().of_row()[..rows].to_vec())),
            ..Table::new(whole.features[..2 * rows].to_vec(), 2, whole.targets[..rows].to_vec())
        };
        let settings = Settings { max_records: Some(10), ..settings(algorithm) };
        assert_eq!(rehearse(settings.clone(), table(2), 8), rehearse(settings, first, 8));
    }
    let empty = Table { owners: Some(Owners::new(Vec::new())), ..Table::new(Vec::new(), 2, Vec::new()) };
    let capped = Settings { max_records: Some(20), ..settings(Algorithm::NoisyGd) };
    assert!(fit(capped, empty).is_ok());
}
