//! A changed history is noticed, and by name.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::{Adjacency, Event};
use pairdp_ledger::{Cost, Damage, DataSet, Head, Key, Ledger, LedgerError, Line, SchemaDigest};
use pairdp_units::{Budget, Delta};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

fn schema() -> SchemaDigest {
    SchemaDigest::of("a schema")
}

struct Desk {
    folder: tempfile::TempDir,
    path: PathBuf,
}

/// A ledger with eight entries.
fn desk() -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.ledger");
    let mut ledger = Ledger::create(&path, Key::beside_or_new(&path).unwrap()).unwrap();
    let grant = Budget::new(1.0, 1e-6).unwrap();
    ledger
        .add(
            "d",
            DataSet { grant, adjacency: Adjacency::ReplaceOne, records: Some(1000), schema: Some(schema()) },
        )
        .unwrap();
    for steps in [1, 2, 3] {
        run(&mut ledger, steps);
    }
    ledger.grant("d", Budget::new(2.0, 1e-6).unwrap()).unwrap();
    assert_eq!(ledger.head().count, 8);
    Desk { folder, path }
}

fn run(ledger: &mut Ledger, steps: u64) {
    let event = Event::gaussian_steps(1000, None, steps, 60.0).unwrap();
    let cost = Cost::new(event.clone(), Delta::PURE, Budget::new(0.9, 1e-6).unwrap(), "noisy-gd").unwrap();
    ledger.reserve("d", schema(), &cost).unwrap().commit(ledger, &event).unwrap();
}

/// What `pairdp budget check` asks.
fn check(path: &Path) -> Result<Head, LedgerError> {
    Ledger::open(path, Key::beside(path)?)?.check(None)
}

fn damage(path: &Path) -> Damage {
    match check(path) {
        Err(LedgerError::Damaged(damage)) => damage,
        other => panic!("not noticed: {other:?}"),
    }
}

impl Desk {
    /// A copy, changed by hand.
    fn changed(&self, change: impl FnOnce(&Connection)) -> PathBuf {
        let copy = self.copy("copy.ledger");
        change(&Connection::open(&copy).unwrap());
        copy
    }

    fn copy(&self, name: &str) -> PathBuf {
        let copy = self.folder.path().join(name);
        std::fs::copy(&self.path, &copy).unwrap();
        let mut key = copy.clone().into_os_string();
        key.push(".key");
        std::fs::copy(self.folder.path().join("t.ledger.key"), key).unwrap();
        copy
    }

    fn sql(&self, sql: &str) -> Damage {
        damage(&self.changed(|connection| connection.execute_batch(sql).unwrap()))
    }
}

#[test]
fn an_untouched_history_is_accepted() {
    let desk = desk();
    assert_eq!(check(&desk.path).unwrap().count, 8);
    assert_eq!(check(&desk.changed(|_| {})).unwrap().count, 8);
}

#[test]
fn any_changed_byte_of_an_entry_is_noticed_and_the_entry_named() {
    let desk = desk();
    let copy = desk.copy("copy.ledger");
    let connection = Connection::open(&copy).unwrap();
    connection.pragma_update(None, "synchronous", "OFF").unwrap();
    for sequence in 1..=8_u64 {
        for column in ["body", "hash"] {
            let kind = if column == "body" { "TEXT" } else { "BLOB" };
            let original: Vec<u8> = connection
                .query_row(
                    &format!("SELECT CAST({column} AS BLOB) FROM entry WHERE sequence = {sequence}"),
                    (),
                    |row| row.get(0),
                )
                .unwrap();
            let put = |bytes: &[u8]| {
                let sql =
                    format!("UPDATE entry SET {column} = CAST(?1 AS {kind}) WHERE sequence = {sequence}");
                connection.execute(&sql, [bytes]).unwrap();
            };
            for place in 0..original.len() {
                let mut changed = original.clone();
                changed[place] ^= 1 << (place % 8);
                put(&changed);
                assert_eq!(damage(&copy), Damage::Entry(sequence), "byte {place} of {column} of {sequence}");
            }
            put(&original);
        }
    }
    assert!(check(&copy).is_ok());
}

#[test]
fn removed_rows_are_noticed() {
    let desk = desk();
    for sequence in 1..8 {
        let found = desk.sql(&format!("DELETE FROM entry WHERE sequence = {sequence}"));
        assert_eq!(found, Damage::Missing(sequence));
    }
    assert_eq!(desk.sql("DELETE FROM entry WHERE sequence = 8"), Damage::Count { found: 7, sealed: 8 });
    assert_eq!(desk.sql("DELETE FROM entry WHERE sequence >= 5"), Damage::Count { found: 4, sealed: 8 });
    assert_eq!(desk.sql("DELETE FROM entry"), Damage::Count { found: 0, sealed: 8 });
    // With the head turned back as well, but without the key to seal it.
    let back = "DELETE FROM entry WHERE sequence = 8;
                UPDATE head SET count = 7, hash = (SELECT hash FROM entry WHERE sequence = 7);";
    assert_eq!(desk.sql(back), Damage::Seal);
    assert_eq!(desk.sql("DELETE FROM head"), Damage::Seal);
}

#[test]
fn moved_and_added_rows_are_noticed() {
    let desk = desk();
    let swap = "UPDATE entry SET sequence = 100 WHERE sequence = 2;
                UPDATE entry SET sequence = 2 WHERE sequence = 4;
                UPDATE entry SET sequence = 4 WHERE sequence = 100;";
    assert_eq!(desk.sql(swap), Damage::Entry(2));
    let again = "INSERT INTO entry SELECT 9, body, hash FROM entry WHERE sequence = 8";
    assert_eq!(desk.sql(again), Damage::Count { found: 9, sealed: 8 });
    let closed = "DELETE FROM entry WHERE sequence = 3;
                  UPDATE entry SET sequence = sequence - 1 WHERE sequence > 3;";
    assert_eq!(desk.sql(closed), Damage::Entry(3));
}

#[test]
fn foreign_tables_triggers_and_views_are_noticed() {
    let desk = desk();
    for sql in [
        "CREATE TABLE other (x)",
        "CREATE INDEX other ON entry (hash)",
        "CREATE VIEW other AS SELECT * FROM entry",
        "CREATE TRIGGER other AFTER INSERT ON entry BEGIN DELETE FROM entry WHERE sequence = new.sequence; END",
    ] {
        assert_eq!(desk.sql(sql), Damage::Tables, "{sql}");
    }
    // And a trigger does not run.
    let copy = desk.changed(|connection| {
        connection
            .execute_batch(
                "CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry WHERE sequence = 1; END",
            )
            .unwrap();
    });
    let mut ledger = Ledger::open(&copy, Key::beside(&copy).unwrap()).unwrap();
    run(&mut ledger, 1);
    assert_eq!(ledger.history().unwrap().len(), 10);
}

/// Whatever byte of the file is changed: either it is noticed, or the history is the same.
#[test]
fn no_byte_of_the_file_can_be_changed_to_another_history() {
    let desk = desk();
    let history =
        |path: &Path| -> Result<Vec<Line>, LedgerError> { Ledger::open(path, Key::beside(path)?)?.history() };
    let original = history(&desk.path).unwrap();
    let bytes = std::fs::read(&desk.path).unwrap();
    let copy = desk.copy("copy.ledger");
    let mut noticed = 0;
    for place in (0..bytes.len()).step_by(3) {
        let mut changed = bytes.clone();
        changed[place] ^= 1 << (place % 8);
        std::fs::write(&copy, &changed).unwrap();
        match history(&copy) {
            Err(_) => noticed += 1,
            Ok(found) => assert_eq!(found, original, "byte {place}"),
        }
        for side in ["-journal", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{side}", copy.display()));
        }
    }
    assert!(noticed > 500, "only {noticed} changes mattered");
}

#[test]
fn an_old_copy_is_noticed_by_who_has_seen_more() {
    let desk = desk();
    let old = std::fs::read(&desk.path).unwrap();
    let mut ledger = Ledger::open(&desk.path, Key::beside(&desk.path).unwrap()).unwrap();
    let seen = ledger.check(None).unwrap();
    run(&mut ledger, 1);
    let newer = ledger.check(Some(seen)).unwrap();
    std::fs::write(&desk.path, old).unwrap();
    // To a newcomer the old copy is a sound history: only a head that was kept tells.
    let mut newcomer = Ledger::open(&desk.path, Key::beside(&desk.path).unwrap()).unwrap();
    assert_eq!(newcomer.check(None).unwrap(), seen);
    assert!(matches!(newcomer.check(Some(newer)), Err(LedgerError::Damaged(Damage::Rollback(_)))));
    assert!(matches!(ledger.balance("d"), Err(LedgerError::Damaged(Damage::Rollback(_)))));
    // Another history of the same length is not a continuation either.
    run(&mut newcomer, 2);
    assert!(matches!(newcomer.check(Some(newer)), Err(LedgerError::Damaged(Damage::Rollback(_)))));
    assert_eq!(newer.to_string().parse::<Head>().unwrap(), newer);
}

#[test]
fn keys_are_private_and_belong_to_their_ledger() {
    let desk = desk();
    let other = desk.folder.path().join("other.ledger");
    Ledger::create(&other, Key::beside_or_new(&other).unwrap()).unwrap();
    let wrong = Ledger::open(&desk.path, Key::beside(&other).unwrap());
    assert!(matches!(wrong, Err(LedgerError::WrongKey)));
    let key = desk.folder.path().join("t.ledger.key");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |mode| std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
        mode(0o640);
        assert!(matches!(Key::beside(&desk.path), Err(LedgerError::OpenKey(_))));
        mode(0o600);
        let text = std::fs::read_to_string(&key).unwrap();
        assert!(Ledger::open(&desk.path, Key::from_command(&format!("echo {text}")).unwrap()).is_ok());
        assert!(matches!(Key::from_command("echo short"), Err(LedgerError::MalformedKey(_))));
        assert!(matches!(Key::from_command("exit 3"), Err(LedgerError::KeyCommand(_))));
    }
    std::fs::remove_file(&key).unwrap();
    assert!(matches!(Key::beside(&desk.path), Err(LedgerError::NoKey(_))));
}

#[test]
fn newer_foreign_and_missing_files_are_refused() {
    let desk = desk();
    let newer = desk.changed(|c| c.pragma_update(None, "user_version", 2).unwrap());
    assert!(matches!(check(&newer), Err(LedgerError::Newer { found: 2, known: 1 })));
    let foreign = desk.changed(|c| c.pragma_update(None, "application_id", 7).unwrap());
    assert!(matches!(check(&foreign), Err(LedgerError::NotALedger(_))));
    std::fs::write(&foreign, "not a database, but long enough to be looked at by SQLite".repeat(20)).unwrap();
    assert!(matches!(check(&foreign), Err(LedgerError::NotALedger(_))));
    std::fs::write(&foreign, "").unwrap();
    assert!(matches!(check(&foreign), Err(LedgerError::NotALedger(_))));
    let key = Key::beside(&desk.path).unwrap();
    assert!(matches!(Ledger::open(Path::new("absent.ledger"), key), Err(LedgerError::Missing(_))));
    let key = Key::beside(&desk.path).unwrap();
    assert!(matches!(Ledger::create(&desk.path, key), Err(LedgerError::Exists(_))));
    // A write-ahead log is turned off again: a copy of the one file must be the whole ledger.
    let logged = desk.changed(|c| c.pragma_update(None, "journal_mode", "WAL").unwrap());
    run(&mut Ledger::open(&logged, Key::beside(&logged).unwrap()).unwrap(), 1);
    assert!(!desk.folder.path().join("copy.ledger-wal").exists());
}
