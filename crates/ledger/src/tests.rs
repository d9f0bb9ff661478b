//! What a ledger admits, charges and refuses.

use crate::*;
use pairdp_accountant::event::{Release, Sampling};
use pairdp_accountant::{Adjacency, Event, Interrupted, Payer as _, epsilon_for, gaussian};
use pairdp_units::{Budget, Delta, FrontEnd, Hint as _};
use std::path::PathBuf;

fn schema() -> SchemaDigest {
    SchemaDigest::of("a schema")
}

struct Desk {
    _folder: tempfile::TempDir,
    path: PathBuf,
    ledger: Ledger,
}

/// A ledger with one data set `d` of 1000 records.
fn desk(epsilon: f64, delta: f64) -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.ledger");
    let mut ledger = Ledger::create(&path, Key::beside_or_new(&path).unwrap()).unwrap();
    let grant = Budget::new(epsilon, delta).unwrap();
    ledger
        .add(
            "d",
            DataSet { grant, adjacency: Adjacency::ReplaceOne, records: Some(1000), schema: Some(schema()) },
        )
        .unwrap();
    Desk { _folder: folder, path, ledger }
}

impl Desk {
    fn reopened(&self) -> Ledger {
        Ledger::open(&self.path, Key::beside(&self.path).unwrap()).unwrap()
    }

    fn spent(&mut self) -> f64 {
        let spent = self.ledger.balance("d").unwrap().spent;
        // Who opens the file anew sees the same.
        assert_eq!(spent.to_bits(), self.reopened().balance("d").unwrap().spent.to_bits());
        spent
    }
}

/// One Gaussian release calibrated to a budget.
fn gaussian_run(epsilon: f64, delta: f64) -> Cost {
    let claim = Budget::new(epsilon, delta).unwrap();
    let ratio = gaussian::largest_ratio(claim).unwrap();
    Cost::new(Event::gaussian_steps(1000, None, 1, 1.0 / ratio).unwrap(), Delta::PURE, claim, "g").unwrap()
}

fn pure_run(epsilon: f64) -> Cost {
    let release = Release::Pure { epsilon, sampling: Sampling::None, times: 1 };
    let event = Event::new(Adjacency::ReplaceOne, release).unwrap();
    Cost::new(event, Delta::PURE, Budget::new(epsilon, 0.0).unwrap(), "p").unwrap()
}

#[test]
fn a_run_may_take_the_whole_grant_and_then_nothing_fits() {
    let mut desk = desk(1.0, 1e-6);
    let _spent = desk.ledger.reserve("d", schema(), &gaussian_run(1.0, 1e-6)).unwrap();
    assert!((desk.spent() - 1.0).abs() < 1e-9);
    for epsilon in [1.0, 0.1, 1e-3] {
        assert!(desk.ledger.reserve("d", schema(), &gaussian_run(epsilon, 1e-6)).is_err(), "{epsilon}");
    }
    assert!(desk.ledger.reserve("d", schema(), &pure_run(1e-6)).is_err());
    assert_eq!(desk.ledger.balance("d").unwrap().left, None);
}

#[test]
fn runs_compose_tightly_and_not_by_adding() {
    let mut desk = desk(1.0, 1e-6);
    let mut runs = 0;
    while runs < 100 && desk.ledger.reserve("d", schema(), &gaussian_run(0.2, 1e-6)).is_ok() {
        runs += 1;
    }
    // By adding ε there would be five; the mechanisms themselves compose to ε = 1 in 20.2 of them.
    let ratio = |epsilon| gaussian::largest_ratio(Budget::new(epsilon, 1e-6).unwrap()).unwrap();
    let exact = (ratio(1.0) / ratio(0.2)).powi(2);
    assert!((runs as f64) <= exact && runs as f64 >= 0.93 * exact, "{runs} of {exact}");
    let event = gaussian_run(0.2, 1e-6).event().repeated(runs).unwrap();
    let exact = epsilon_for(&event, Delta::new(1e-6).unwrap()).unwrap().0.get();
    let spent = desk.spent();
    assert!(spent >= exact && spent <= 1.03 * exact && spent <= 1.0, "{spent} against {exact}");
}

#[test]
fn what_is_offered_fits_and_little_more_would() {
    let mut desk = desk(1.0, 1e-6);
    let _first = desk.ledger.reserve("d", schema(), &gaussian_run(0.6, 1e-6)).unwrap();
    let refused = desk.ledger.reserve("d", schema(), &gaussian_run(0.9, 1e-6)).unwrap_err();
    let LedgerError::DoesNotFit { fits: Some(fits), .. } = refused else { panic!("{refused}") };
    assert!(refused.hint(FrontEnd::Command).unwrap().contains(&format!("--epsilon {fits}")));
    assert!(desk.ledger.reserve("d", schema(), &gaussian_run(fits * 1.02, 1e-6)).is_err());
    let _second = desk.ledger.reserve("d", schema(), &gaussian_run(fits, 1e-6)).unwrap();
    assert!(desk.spent() <= 1.0);
}

#[test]
fn pure_releases_need_no_delta_and_mix_with_gaussian_ones() {
    let mut pure = desk(1.0, 0.0);
    let _half = pure.ledger.reserve("d", schema(), &pure_run(0.5)).unwrap();
    assert!(pure.ledger.reserve("d", schema(), &pure_run(0.51)).is_err());
    let _rest = pure.ledger.reserve("d", schema(), &pure_run(0.5)).unwrap();
    assert!((pure.spent() - 1.0).abs() < 1e-9);
    assert!(pure.ledger.reserve("d", schema(), &gaussian_run(0.1, 1e-6)).is_err());

    let mut mixed = desk(1.0, 1e-6);
    let _one = mixed.ledger.reserve("d", schema(), &pure_run(0.4)).unwrap();
    let _two = mixed.ledger.reserve("d", schema(), &gaussian_run(0.3, 1e-7)).unwrap();
    let spent = mixed.spent();
    assert!((0.7..=1.0).contains(&spent), "{spent}");
}

#[test]
fn sampled_runs_cost_less_beside_each_other_than_added_up() {
    let claim = Budget::new(0.5, 1e-7).unwrap();
    let unit = Event::gaussian_steps(1000, Some(2), 1000, 1.0).unwrap();
    let multiplier = pairdp_accountant::calibrate::noise_multiplier(&unit, claim).unwrap();
    let cost = Cost::new(unit.scaled(multiplier).unwrap(), Delta::PURE, claim, "s").unwrap();
    let mut desk = desk(1.0, 1e-6);
    let mut runs = 0;
    while runs < 50 && desk.ledger.reserve("d", schema(), &cost).is_ok() {
        runs += 1;
    }
    let event = cost.event().repeated(runs).unwrap();
    let exact = epsilon_for(&event, Delta::new(1e-6).unwrap()).unwrap().0.get();
    let spent = desk.spent();
    assert!(runs >= 4 && spent >= exact && spent <= 1.0, "{runs} runs: {spent} against {exact}");
}

#[test]
fn a_claim_must_match_its_releases() {
    let event = Event::gaussian_steps(1000, None, 10, 5.0).unwrap();
    let claim = |epsilon| Cost::new(event.clone(), Delta::PURE, Budget::new(epsilon, 1e-6).unwrap(), "g");
    let exact = epsilon_for(&event, Delta::new(1e-6).unwrap()).unwrap().0.get();
    assert!(claim(exact * 1.001).is_ok());
    assert!(matches!(claim(exact * 0.999), Err(LedgerError::Claim { .. })));
    let sampler = Delta::new(1e-5).unwrap();
    let budget = Budget::new(exact * 1.001, 1e-6).unwrap();
    assert!(matches!(Cost::new(event.clone(), sampler, budget, "g"), Err(LedgerError::SamplerDelta { .. })));
    assert!(matches!(Cost::new(event, Delta::PURE, budget, "\u{1b}[2J"), Err(LedgerError::Text { .. })));
}

#[test]
fn a_dropped_reservation_stays_spent_and_a_cancelled_one_does_not() {
    let mut desk = desk(1.0, 1e-6);
    drop(desk.ledger.reserve("d", schema(), &gaussian_run(0.5, 1e-6)).unwrap());
    let spent = desk.spent();
    assert!((spent - 0.5).abs() < 1e-9);
    let second = desk.ledger.reserve("d", schema(), &gaussian_run(0.5, 1e-6)).unwrap();
    assert!(desk.spent() > 0.6);
    second.cancel(&mut desk.ledger, Cancelled::TableRefused).unwrap();
    let back = desk.spent();
    // The claim of the only run left is forgotten, so a little more than it is shown.
    assert!(back >= spent && back < 1.03 * spent, "{back}");
    let balance = desk.ledger.balance("d").unwrap();
    assert_eq!((balance.committed, balance.open, balance.cancelled), (0, 1, 1));
}

#[test]
fn releasing_more_than_was_reserved_is_recorded_and_charged() {
    let mut desk = desk(2.0, 1e-6);
    let cost = gaussian_run(0.5, 1e-6);
    for (more, what) in
        [(cost.event().repeated(4).unwrap(), "longer"), (cost.event().scaled(0.5).unwrap(), "louder")]
    {
        let before = desk.spent();
        let run = desk.ledger.reserve("d", schema(), &cost).unwrap();
        let reserved = desk.spent();
        assert!(matches!(run.commit(&mut desk.ledger, &more), Err(LedgerError::ReleasedMore(_))), "{what}");
        assert!(desk.spent() > reserved && reserved > before, "{what} was free");
    }
    // Less is fine, and costs what was reserved.
    let mut desk = self::desk(2.0, 1e-6);
    let run = desk.ledger.reserve("d", schema(), &cost).unwrap();
    let reserved = desk.spent();
    run.commit(&mut desk.ledger, &cost.event().scaled(2.0).unwrap()).unwrap();
    assert_eq!(desk.spent().to_bits(), reserved.to_bits());
}

#[test]
fn a_reservation_belongs_to_one_ledger_and_one_commit() {
    let (mut one, mut other) = (desk(1.0, 1e-6), desk(1.0, 1e-6));
    let cost = gaussian_run(0.5, 1e-6);
    let run = one.ledger.reserve("d", schema(), &cost).unwrap();
    assert!(matches!(run.commit(&mut other.ledger, cost.event()), Err(LedgerError::NoOpenRun(_))));
    let mut reopened = one.reopened();
    let run = one.ledger.reserve("d", schema(), &gaussian_run(0.1, 1e-6)).unwrap();
    run.commit(&mut reopened, gaussian_run(0.1, 1e-6).event()).unwrap();
    assert_eq!(one.ledger.balance("d").unwrap().committed, 1);
}

#[test]
fn grants_adjacency_and_names_are_kept() {
    let mut desk = desk(1.0, 1e-6);
    let facts = desk.ledger.facts("d").unwrap();
    assert!(matches!(desk.ledger.add("d", facts), Err(LedgerError::DataSetExists(_))));
    assert!(matches!(desk.ledger.add("", facts), Err(LedgerError::Text { .. })));
    assert!(matches!(desk.ledger.reserve("e", schema(), &pure_run(0.1)), Err(LedgerError::NoDataSet(_))));
    let release = Release::Gaussian { noise_multiplier: 100.0, sampling: Sampling::None, times: 1 };
    let event = Event::new(Adjacency::AddRemoveOne, release).unwrap();
    let other = Cost::new(event, Delta::PURE, Budget::new(0.2, 1e-6).unwrap(), "g").unwrap();
    assert!(matches!(desk.ledger.reserve("d", schema(), &other), Err(LedgerError::Adjacency { .. })));

    let _whole = desk.ledger.reserve("d", schema(), &gaussian_run(1.0, 1e-6)).unwrap();
    desk.ledger.grant("d", Budget::new(2.0, 1e-6).unwrap()).unwrap();
    let _more = desk.ledger.reserve("d", schema(), &gaussian_run(1.0, 1e-6)).unwrap();
    desk.ledger.grant("d", Budget::new(0.5, 1e-6).unwrap()).unwrap();
    assert!(desk.ledger.reserve("d", schema(), &gaussian_run(0.01, 1e-6)).is_err());
    assert!(desk.spent() > 1.0, "a smaller grant takes nothing back");
}

#[test]
fn strange_releases_are_refused_and_not_free() {
    let disjoint = Release::Disjoint {
        parts: vec![Release::Gaussian { noise_multiplier: 10.0, sampling: Sampling::None, times: 5 }; 3],
    };
    let event = Event::new(Adjacency::ReplaceOne, disjoint).unwrap();
    let cost = Cost::new(event, Delta::PURE, Budget::new(1.1, 1e-6).unwrap(), "parts").unwrap();
    assert!(cost.charges.iter().all(|c| c.ratio_squared > 0.04 || c.epsilon > 1.0), "{:?}", cost.charges);
    let poisson = Release::Pure { epsilon: 0.1, sampling: Sampling::PoissonRecords { rate: 0.1 }, times: 1 };
    let event = Event::new(Adjacency::ReplaceOne, poisson).unwrap();
    let refused = Cost::new(event, Delta::PURE, Budget::new(1.0, 1e-6).unwrap(), "x");
    assert!(matches!(refused, Err(LedgerError::Accountant(_))));
}

#[test]
fn issue_18_03_a_grant_for_whole_records_does_not_pay_for_features_alone() {
    let mut desk = desk(1.0, 1e-6);
    let release = gaussian_run(0.1, 1e-6).event().release().clone();
    let features = Event::new(Adjacency::ReplaceFeatures, release).unwrap();
    let cost = Cost::new(features, Delta::PURE, Budget::new(0.11, 1e-6).unwrap(), "metric").unwrap();
    assert!(matches!(desk.ledger.reserve("d", schema(), &cost), Err(LedgerError::Adjacency { .. })));
    let grant = Budget::new(1.0, 1e-6).unwrap();
    let facts =
        DataSet { grant, adjacency: Adjacency::ReplaceFeatures, records: Some(1000), schema: Some(schema()) };
    desk.ledger.add("f", facts).unwrap();
    let _features = desk.ledger.reserve("f", schema(), &cost).unwrap();
    let _whole = desk.ledger.reserve("f", schema(), &gaussian_run(0.1, 1e-6)).unwrap();
}

#[test]
fn issue_18_04_nothing_is_reserved_under_another_schema_or_none() {
    let mut desk = desk(1.0, 1e-6);
    let cost = gaussian_run(0.1, 1e-6);
    let other = SchemaDigest::of("another");
    assert!(matches!(desk.ledger.reserve("d", other, &cost), Err(LedgerError::OtherSchema(_))));
    let run = desk.ledger.reserve("d", schema(), &cost).unwrap();
    let name = run.run().as_str().to_owned();
    assert!(matches!(
        desk.ledger.resume("d", other, &saved(&name, "s", None), &cost),
        Err(LedgerError::OtherSchema(_))
    ));
    assert!(desk.ledger.resume("d", schema(), &saved(&name, "s", None), &cost).unwrap().is_some());
    let grant = Budget::new(1.0, 1e-6).unwrap();
    let early = DataSet { grant, adjacency: Adjacency::ReplaceOne, records: Some(1000), schema: None };
    desk.ledger.add("early", early).unwrap();
    let refused = desk.ledger.reserve("early", schema(), &cost).unwrap_err();
    assert!(
        matches!(refused, LedgerError::NoSchema(_))
            && refused.hint(FrontEnd::Command).unwrap().contains("budget schema early")
    );
    desk.ledger.set_schema("early", schema()).unwrap();
    let _paid = desk.ledger.reserve("early", schema(), &cost).unwrap();
    // Whoever opens the file anew sees the same.
    let mut again = Ledger::open(&desk.path, Key::beside(&desk.path).unwrap()).unwrap();
    assert_eq!(again.facts("early").unwrap().schema, Some(schema()));
}

/// An entry as version 0.1 wrote it: without a schema, under version 1.
#[test]
fn issue_18_04_entries_of_version_0_1_are_read() {
    let text = r#"{"version":1,"sequence":1,"time":1,"dataset":"d","action":{"kind":"created","grant":{"epsilon":1.0,"delta":1e-6},"adjacency":"replace-one","records":1000}}"#;
    let entry: Entry = serde_json::from_str(text).unwrap();
    let mut book = crate::account_state::AccountState::default();
    book.apply(&entry).unwrap();
    assert_eq!(book.account("d").unwrap().facts().schema, None);
    assert_eq!(serde_json::to_string(&entry).unwrap(), text);
}

#[test]
fn issue_22_1_what_came_of_a_run_is_in_the_entry_that_ends_it() {
    let mut desk = desk(1.0, 1e-6);
    let cost = gaussian_run(0.2, 1e-6);
    let model = Outcome::model(b"a model");
    let Outcome::Model { digest } = model.clone() else { panic!() };
    let reservation = desk.ledger.reserve("d", schema(), &cost).unwrap();
    let run = reservation.run().as_str().to_owned();
    assert_eq!(desk.ledger.run(&run).unwrap(), RunState::Open);
    assert!(desk.ledger.placed(&run).is_err(), "a run that is not done has no model");
    reservation.commit_with(&mut desk.ledger, cost.event(), Some(model.clone())).unwrap();
    assert_eq!(
        desk.ledger.run(&run).unwrap(),
        RunState::Done { outcome: Some(model.clone()), placed: false }
    );
    let unplaced: Vec<_> = desk.reopened().unplaced().unwrap();
    assert_eq!(
        unplaced.iter().map(|(run, of, found)| (run.as_str(), of.as_str(), *found)).collect::<Vec<_>>(),
        [(run.as_str(), "d", digest)]
    );
    for _ in 0..2 {
        desk.ledger.placed(&run).unwrap();
        assert_eq!(desk.reopened().unplaced().unwrap(), []);
    }
    assert_eq!(desk.reopened().history().unwrap().len(), 4, "placed is said once");
    // It goes on no more, and cannot be ended twice; what was spent stays.
    let error = desk.ledger.resume("d", schema(), &saved(&run, "s", None), &cost).unwrap_err();
    assert!(
        matches!(error, LedgerError::RunIsDone(_)) && error.hint(pairdp_units::FrontEnd::Command).is_some(),
        "{error}"
    );
    assert!(desk.ledger.finish(&run, cost.event(), model.clone(), None).is_err());
    assert!((desk.spent() - 0.2).abs() < 1e-6);
    // A run whose process is gone is ended by whoever finds its model.
    let open = desk.ledger.reserve("d", schema(), &cost).unwrap().run().as_str().to_owned();
    desk.ledger.finish(&open, cost.event(), model, None).unwrap();
    assert_eq!(desk.reopened().unplaced().unwrap().len(), 1);
    assert_eq!(desk.reopened().run("nobody").unwrap(), RunState::Unknown);
}

fn saved(run: &str, state: &str, replaced: Option<&str>) -> Interrupted {
    Interrupted { run: run.to_owned(), state: state.to_owned(), replaced: replaced.map(str::to_owned) }
}

/// Everybody has a handle of their own on the ledger, as processes do.
#[test]
fn issue_22_1_of_all_copies_of_all_saved_states_one_goes_on() {
    let mut desk = desk(1.0, 1e-6);
    let cost = gaussian_run(0.2, 1e-6);
    let mut first = desk.ledger.reserve("d", schema(), &cost).unwrap();
    let run = first.run().as_str().to_owned();
    first.saved(&mut desk.ledger, "a").unwrap();
    first.saved(&mut desk.ledger, "b").unwrap();
    first.saved(&mut desk.ledger, "b").unwrap();
    assert_eq!(desk.reopened().history().unwrap().len(), 4, "a state is told of once");
    let go_on = |state: &Interrupted| desk.reopened().resume("d", schema(), state, &cost);
    let elsewhere = |result: Result<Option<Reservation>, LedgerError>| {
        matches!(result, Err(LedgerError::WentOnElsewhere(_)))
    };
    // An old copy, one that nobody told of, and an edited one do not; nor is anything reserved for them.
    for old in [saved(&run, "a", None), saved(&run, "c", Some("a")), saved(&run, "edited", None)] {
        assert!(elsewhere(go_on(&old)), "{old:?}");
    }
    // The last does, or the one that replaced it and died before it could tell.
    let mut second = go_on(&saved(&run, "b", Some("a"))).unwrap().unwrap();
    let mut third = go_on(&saved(&run, "c", Some("b"))).unwrap().unwrap();
    // Of two that were let go on at once, the first that saves is the run; the other, and the process that was overtaken, end.
    second.saved(&mut desk.reopened(), "b2").unwrap();
    for late in [&mut third, &mut first] {
        assert!(matches!(late.still(&mut desk.reopened()), Err(LedgerError::WentOnElsewhere(_))));
        assert!(matches!(late.saved(&mut desk.reopened(), "c"), Err(LedgerError::WentOnElsewhere(_))));
    }
    let late = first.commit(&mut desk.ledger, cost.event()).unwrap_err();
    assert!(matches!(late, LedgerError::WentOnElsewhere(_)) && late.hint(FrontEnd::Command).is_some());
    let late = |state: &Interrupted| {
        desk.reopened().finish(&run, cost.event(), Outcome::model(b"late"), Some(state))
    };
    assert!(matches!(late(&saved(&run, "end", Some("b"))), Err(LedgerError::WentOnElsewhere(_))));
    second.still(&mut desk.reopened()).unwrap();
    second.commit(&mut desk.reopened(), cost.event()).unwrap();
    assert!(matches!(third.still(&mut desk.reopened()), Err(LedgerError::WentOnElsewhere(_))));
    assert!((desk.spent() - 0.2).abs() < 1e-6);
}

#[test]
fn issue_22_1_a_model_of_other_releases_does_not_end_a_run() {
    let mut desk = desk(1.0, 1e-6);
    let cost = gaussian_run(0.2, 1e-6);
    let run = desk.ledger.reserve("d", schema(), &cost).unwrap().run().as_str().to_owned();
    // Both: one that released more, and one that released less.
    for other in [gaussian_run(0.3, 1e-6), gaussian_run(0.1, 1e-6)] {
        let refused = desk.ledger.finish(&run, other.event(), Outcome::model(b"m"), None);
        assert!(matches!(refused, Err(LedgerError::OtherReleases(_))));
        assert_eq!(desk.reopened().run(&run).unwrap(), RunState::Open);
    }
    assert!((desk.spent() - 0.2).abs() < 1e-6);
}

#[test]
fn issue_22_6_a_large_grant_is_not_used_up_by_a_small_run() {
    let mut desk = desk(50.0, 1e-6);
    let claim = Budget::new(0.2, 1e-6).unwrap();
    let sampler = Delta::new(pairdp_noise_share(0.2, 1000.0)).unwrap();
    let ratio = gaussian::largest_ratio(Budget::new(0.2, 0.99e-6).unwrap()).unwrap();
    let event = Event::gaussian_steps(1000, None, 1, 1.0 / ratio).unwrap();
    let cost = Cost::new(event, sampler, claim, "g").unwrap();
    for _ in 0..3 {
        let _spent = desk.ledger.reserve("d", schema(), &cost).unwrap();
    }
    let balance = desk.ledger.balance("d").unwrap();
    assert!((0.2..0.4).contains(&balance.spent), "{}", balance.spent);
    assert!(balance.left.is_some_and(|left| left > 20.0), "{:?}", balance.left);
}

/// What is set aside for so many samples: (1 + e^ε) times their distance.
fn pairdp_noise_share(epsilon: f64, samples: f64) -> f64 {
    (1.0 + epsilon.exp()) * samples * f64::powi(2.0, -100)
}

/// A promise that whoever trains may choose would read the secret number off refusals: the owner's is the only one, and any other is
/// refused before a table is opened.
#[test]
fn a_promise_belongs_to_the_data_set() {
    let mut desk = desk(1.0, 1e-6);
    let grant = Budget::new(1.0, 1e-6).unwrap();
    let (adjacency, records) = (Adjacency::AddRemovePromised, Some(500));
    desk.ledger.add("p", DataSet { grant, adjacency, records, schema: Some(schema()) }).unwrap();
    let price = |adjacency| {
        let ratio = gaussian::largest_ratio(Budget::new(0.1, 1e-7).unwrap()).unwrap();
        let release = Release::Gaussian { noise_multiplier: 1.0 / ratio, sampling: Sampling::None, times: 1 };
        let event = Event::new(adjacency, release).unwrap();
        let claim = Budget::new(0.1, 1e-7).unwrap();
        pairdp_accountant::Price { event, sampler_delta: Delta::PURE, claim, label: "p".into() }
    };
    let paid = |dataset: &str, adjacency, cap: Option<usize>| {
        let mut booking = Booking::new(desk.reopened(), dataset, schema()).unwrap();
        booking.size(cap).and_then(|_| booking.pay(price(adjacency), None))
    };
    let other =
        |cap| matches!(paid("p", adjacency, cap), Err(LedgerError::OtherPromise { promised: 500, .. }));
    assert!(other(Some(499)) && other(Some(501)) && other(None));
    assert!(paid("p", adjacency, Some(500)).is_ok());
    // Without a promise records beyond a cap are left out and nothing is refused, so every cap will do.
    assert!(paid("p", Adjacency::AddRemoveOne, Some(77)).is_ok());
    assert!(matches!(paid("p", Adjacency::ReplaceOne, None), Err(LedgerError::Adjacency { .. })));
    // Where nothing was promised a promise protects fewer tables than the owner wants protected.
    assert!(matches!(paid("d", adjacency, Some(1000)), Err(LedgerError::Adjacency { .. })));
    let mut booking = Booking::new(desk.reopened(), "p", schema()).unwrap();
    assert!([0, 499, 500, 501].iter().all(|found| booking.accept(*found).is_ok()));
}
