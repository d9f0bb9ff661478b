//! Eight processes reserve 200 times each on one ledger: together they never pass the grant, and nothing is lost.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::{Adjacency, Event, epsilon_for};
use pairdp_ledger::{Action, Cancelled, Cost, DataSet, Key, Ledger, LedgerError, SchemaDigest};
use pairdp_units::{Budget, Delta};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn schema() -> SchemaDigest {
    SchemaDigest::of("a schema")
}

const PROCESSES: u64 = 8;
const RESERVATIONS: u64 = 200;
/// The variable that makes [`worker`] one of the eight.
const LEDGER: &str = "PAIRDP_TEST_LEDGER";

fn open(path: &Path) -> Ledger {
    Ledger::open(path, Key::beside(path).unwrap()).unwrap()
}

/// Gaussian runs of a few sizes: about a thousand of them fill (ε = 1, δ = 1e-6).
fn event(i: u64) -> Event {
    Event::gaussian_steps(1000, None, 1 + i % 3, 200.0).unwrap()
}

/// Not a test of its own: what each process does.
#[test]
#[ignore = "started by the test below"]
fn worker() {
    #[expect(clippy::disallowed_methods, reason = "how a test tells its own process what to do")]
    let Some(path) = std::env::var_os(LEDGER) else { return };
    let mut ledger = open(Path::new(&path));
    let (mut spent, mut refused) = (0, 0);
    for i in 0..RESERVATIONS {
        let claim = Budget::new(0.1, 1e-6).unwrap();
        let cost = Cost::new(event(i), Delta::PURE, claim, "worker").unwrap();
        match ledger.reserve("d", schema(), &cost) {
            Ok(reservation) if i % 7 == 3 => {
                reservation.cancel(&mut ledger, Cancelled::NotStarted).unwrap();
                refused += 1;
            }
            // Every other one is dropped, as if the process had crashed.
            Ok(reservation) if i % 2 == 0 => {
                drop(reservation);
                spent += 1;
            }
            Ok(reservation) => {
                reservation.commit(&mut ledger, &event(i)).unwrap();
                spent += 1;
            }
            Err(LedgerError::DoesNotFit { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    println!("COUNTS {spent} {refused}");
}

#[test]
fn eight_processes_never_pass_the_grant_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("t.ledger");
    let grant = Budget::new(1.0, 1e-6).unwrap();
    let mut ledger = Ledger::create(&path, Key::beside_or_new(&path).unwrap()).unwrap();
    ledger
        .add(
            "d",
            DataSet { grant, adjacency: Adjacency::ReplaceOne, records: Some(1000), schema: Some(schema()) },
        )
        .unwrap();

    let children: Vec<_> = (0..PROCESSES)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "worker", "--ignored", "--nocapture"])
                .env(LEDGER, &path)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let (mut spent, mut refused) = (0, 0);
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let counts = text.lines().find_map(|line| line.split("COUNTS ").nth(1)).unwrap();
        let counts: Vec<u64> = counts.split_whitespace().map(|n| n.parse().unwrap()).collect();
        spent += counts[0];
        refused += counts[1];
    }
    assert_eq!(spent + refused, PROCESSES * RESERVATIONS);
    assert!(spent > 400 && refused > 400, "{spent} spent, {refused} refused: the grant was not contended");

    // What the history says, recounted without the ledger's sums.
    open(&path).check(None).unwrap();
    let (mut reserved, mut cancelled) = (HashSet::new(), HashSet::new());
    let mut steps = 0;
    for line in open(&path).history().unwrap() {
        match line.entry.action {
            Action::Reserved { run, cost, .. } => {
                let times = |event: &Event| match event.release() {
                    pairdp_accountant::Release::Gaussian { times, .. } => *times,
                    _ => panic!("another kind of run"),
                };
                steps += times(&cost.event);
                assert!(reserved.insert((run, times(&cost.event))), "two runs have one name");
            }
            Action::Cancelled { run, .. } => {
                let times = reserved.iter().find(|(name, _)| *name == run).unwrap().1;
                steps -= times;
                assert!(cancelled.insert(run));
            }
            _ => {}
        }
    }
    assert_eq!((reserved.len() - cancelled.len()) as u64, spent, "a reservation was lost");
    let together = Event::gaussian_steps(1000, None, steps, 200.0).unwrap();
    let exact = epsilon_for(&together, grant.delta).unwrap().0.get();
    assert!(exact <= 1.0, "overspent: ε = {exact}");
    assert!(exact > 0.95, "much was refused that would have fitted: ε = {exact}");
    let balance = ledger.balance("d").unwrap();
    assert!(balance.spent >= exact && balance.spent <= 1.0);
    assert_eq!(balance.open + balance.committed, spent);
}
