//! Training on parts of a table elsewhere finds the parameters that training on the whole table finds, to the last bit:
//! however the table is divided, and however often workers fail and are asked again.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::Unbooked;
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Schema, Table};
use pairdp_learn::{RepresentationKind, Risk, Rows, Settings, Training};
use pairdp_model::{PrivateModel, Task};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::{LossKind, PerPerson, Unit};
use pairdp_release::parts::{Ask, CountedParts, Part, describe, merge};
use pairdp_release::{Checkpointer, LearnError, Store, certified_event};
use pairdp_units::{Budget, FrontEnd, Hint};
use pairdp_verify::Verdict;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn verify(model: &PrivateModel) -> Verdict {
    pairdp_verify::verify(&model.to_json().unwrap()).unwrap()
}

const ROWS: usize = 900;
const LABEL: &str = "[label]\ncolumn = 'y'\n";
const COLUMNS: &str = "[[column]]\nname = 'a'\nrange = [-1, 1]\n[[column]]\nname = 'b'\nrange = [0, 10]\n\
                       [[column]]\nname = 'c'\ncategories = ['u', 'v', 'w']\n";

fn schema(task: Task) -> Schema {
    let kind = match task {
        Task::Regression => "range = [0, 3]",
        Task::Metric => "classes = [0, 1, 2]",
        Task::Ranking | Task::Classification => "positive = 1\nnegative = 0",
        Task::Survival => {
            let label = "[label]\ntime = 'b'\nevent = 'y'\noccurred = 1\ncensored = 0\nhorizon = 8\n";
            let columns = COLUMNS.replace("[[column]]\nname = 'b'\nrange = [0, 10]\n", "");
            return Schema::parse(&format!("{label}{columns}")).unwrap();
        }
    };
    Schema::parse(&format!("{LABEL}{kind}\n{COLUMNS}")).unwrap()
}

/// The same rows in a folder of so many files of different lengths.
struct Files {
    _folder: tempfile::TempDir,
    paths: Vec<PathBuf>,
}

fn files(task: Task, count: usize) -> Files {
    let mut random = Replay::from_seed(77);
    let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 53) as f64;
    let classes = if task == Task::Metric { 3.0 } else { 2.0 };
    let rows: Vec<String> = (0..ROWS)
        .map(|_| {
            let (a, b, y) = (2.0 * uniform() - 1.0, 10.0 * uniform(), (classes * uniform()).floor());
            let c = if b < 3.0 {
                "u"
            } else if b < 7.0 - y {
                "v"
            } else {
                "w"
            };
            // Of 200 persons, most of them with records in several files.
            let id = (200.0 * uniform() * uniform()).floor();
            format!("{id},{a},{b},{c},{y}")
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    let mut start = 0;
    for part in 0..count {
        // One file is empty but for its header, if there are many.
        let end = match part {
            _ if part + 1 == count => ROWS,
            2 => start,
            _ => start + (ROWS - start) / (count - part) / 2 + 1,
        };
        let mut text = String::from("id,a,b,c,y\n");
        rows[start..end].iter().for_each(|row| writeln!(text, "{row}").unwrap());
        let path = folder.path().join(format!("part-{part:03}.csv"));
        std::fs::write(&path, text).unwrap();
        paths.push(path);
        start = end;
    }
    Files { _folder: folder, paths }
}

fn settings(task: Task, algorithm: Algorithm, loss: Option<LossKind>) -> Settings {
    // Phases have as many steps as records.
    let steps = (algorithm != Algorithm::PhasedGd).then_some(6);
    Settings { task, algorithm: Some(algorithm), loss, steps, order_seed: Some(5), ..Settings::default() }
}

fn training(settings: &Settings, encoding: &Encoding) -> Training {
    let (settings, encoding) = (settings.clone(), encoding.clone());
    Training { settings, encoding, label: None, budget: Budget::new(1.0, 1e-6).unwrap() }
}

/// The parameters with noise from a seed.
fn rehearse(
    training: &Training,
    rows: impl Into<Rows>,
    seed: u64,
    checkpointer: &mut Checkpointer<'_>,
) -> Result<Vec<f64>, LearnError> {
    let run = training.open(&mut Unbooked, checkpointer, || Ok::<_, LearnError>(rows.into()))?;
    run.rehearse(Replay::from_seed(seed), checkpointer)
}

/// What goes wrong: in one of so many questions a worker dies and its part is loaded again, in as many a reply is lost.
struct Faults {
    random: Replay,
    one_in: u64,
    injected: Arc<AtomicUsize>,
}

impl Faults {
    fn strike(&mut self) -> bool {
        let strikes = self.one_in > 0 && self.random.next_word().is_multiple_of(self.one_in);
        self.injected.fetch_add(usize::from(strikes), Ordering::Relaxed);
        strikes
    }
}

fn engine(texts: Vec<String>, mut faults: Faults) -> Ask {
    let mut parts: Vec<Part> = texts.iter().map(|text| Part::load(text).unwrap()).collect();
    Box::new(move |request| {
        let mut merged: Option<Vec<u8>> = None;
        // From another end each time.
        let start = usize::try_from(faults.random.next_word() % parts.len() as u64).unwrap();
        for place in 0..parts.len() {
            let at = (start + place) % parts.len();
            while faults.strike() {
                parts[at].answer(request).map_err(|error| error.to_string())?;
            }
            if faults.strike() {
                parts[at] = Part::load(&texts[at]).unwrap();
            }
            let reply = parts[at].answer(request).map_err(|error| error.to_string())?;
            merged = Some(match merged {
                None => reply,
                Some(before) => merge(&reply, &before).map_err(|error| error.to_string())?,
            });
        }
        merged.ok_or_else(|| "no part".into())
    })
}

fn calm() -> Faults {
    Faults { random: Replay::from_seed(1), one_in: 0, injected: Arc::default() }
}

fn found(task: Task, schema: &Schema, files: &Files, faults: Faults) -> CountedParts {
    let texts =
        describe(task, &files.paths, &Encoding::of(schema), schema.label(), schema.person(), 3).unwrap();
    CountedParts::count(engine(texts, faults)).unwrap()
}

fn table(schema: &Schema) -> impl Fn(Task) -> Table {
    move |task| {
        let whole = files(task, 1);
        Table::read(&whole.paths[0], &Encoding::of(schema), schema.label_use()).unwrap()
    }
}

#[test]
fn parts_give_the_model_of_the_whole_table() {
    let ranker = |algorithm, loss| settings(Task::Ranking, algorithm, loss);
    let mut all = vec![
        ranker(Algorithm::NoisyGd, None),
        ranker(Algorithm::NoisyGd, Some(LossKind::Hinge)),
        ranker(Algorithm::NoisyGd, Some(LossKind::Squared)),
        ranker(Algorithm::OutputGd, None),
        ranker(Algorithm::PhasedGd, None),
        Settings { risk: Some(Risk::Records), ..ranker(Algorithm::NoisyGd, None) },
        settings(Task::Metric, Algorithm::NoisyGd, None),
        settings(Task::Metric, Algorithm::OutputGd, None),
    ];
    for algorithm in [Algorithm::NoisyGd, Algorithm::OutputGd, Algorithm::PhasedGd] {
        all.push(settings(Task::Classification, algorithm, None));
    }
    all.push(settings(Task::Regression, Algorithm::NoisyGd, None));
    for task in [Task::Ranking, Task::Classification, Task::Regression, Task::Survival] {
        all.push(Settings { steps: None, ..settings(task, Algorithm::Moments, None) });
    }
    let representation = Some(RepresentationKind::Ranks);
    for (task, algorithm) in [
        (Task::Ranking, Algorithm::NoisyGd),
        (Task::Regression, Algorithm::Moments),
        (Task::Survival, Algorithm::Moments),
    ] {
        let steps = (algorithm == Algorithm::NoisyGd).then_some(4);
        all.push(Settings { representation, steps, ..settings(task, algorithm, None) });
    }
    all.push(Settings { ridge: 0.01, ..settings(Task::Metric, Algorithm::PhasedGd, None) });
    for settings in all {
        let (task, schema) = (settings.task, schema(settings.task));
        let encoding = Encoding::of(&schema);
        let training = training(&settings, &encoding);
        let run = |rows: Rows| rehearse(&training, rows, 3, &mut Checkpointer::none()).unwrap();
        let expected = run(table(&schema)(task).into());
        assert!(expected.iter().any(|value| *value != 0.0));
        for count in [1, 2, 9] {
            let parts = Rows::from(found(task, &schema, &files(task, count), calm()));
            assert_eq!(parts.count(), ROWS);
            assert_eq!(run(parts), expected, "{settings:?} in {count} parts");
        }
    }
}

/// Labels by cells of the score, too, with what is certified of them.
#[test]
fn parts_count_labels_by_cells_as_the_whole_table_does() {
    for (task, algorithm) in [(Task::Ranking, Algorithm::Moments), (Task::Classification, Algorithm::NoisyGd)]
    {
        let steps = (algorithm == Algorithm::NoisyGd).then_some(4);
        let ranks =
            Settings { representation: Some(RepresentationKind::Ranks), ..settings(task, algorithm, None) };
        let settings = Settings { probabilities: Some(true), steps, ..ranks };
        let schema = schema(task);
        let training = training(&settings, &Encoding::of(&schema));
        let released = |rows: Rows| {
            let open = training.open(&mut Unbooked, &mut Checkpointer::none(), || Ok::<_, LearnError>(rows));
            open.unwrap().releases(Replay::from_seed(4)).unwrap()
        };
        let expected = released(table(&schema)(task).into());
        assert_eq!(expected.1.last().unwrap().answer.len(), 32);
        for count in [1, 2, 9] {
            let parts = found(task, &schema, &files(task, count), calm());
            assert_eq!(released(parts.into()), expected, "{settings:?} in {count} parts");
        }
        let model = training.fit(found(task, &schema, &files(task, 3), calm())).unwrap();
        assert!(verify(&model).holds() && model.predictor.probabilities.is_some());
    }
}

/// More than 200 failures, and neither the parameters, the number of releases nor what the certificate says was released change.
#[test]
fn failures_and_retries_change_nothing() {
    for algorithm in [Algorithm::NoisyGd, Algorithm::PhasedGd] {
        let settings = settings(Task::Ranking, algorithm, None);
        let (schema, divided) = (schema(Task::Ranking), files(Task::Ranking, 9));
        let encoding = Encoding::of(&schema);
        let training = training(&settings, &encoding);
        let injected = Arc::new(AtomicUsize::new(0));
        let faults = || Faults { random: Replay::from_seed(9), one_in: 2, injected: Arc::clone(&injected) };
        let counted = |rows: Rows| {
            let mut checkpointer = Checkpointer::none();
            let parameters = rehearse(&training, rows, 8, &mut checkpointer).unwrap();
            (parameters, checkpointer.counter().load(Ordering::Relaxed))
        };
        let parts = || found(Task::Ranking, &schema, &divided, faults());
        assert_eq!(counted(parts().into()), counted(table(&schema)(Task::Ranking).into()));
        let certified = |rows: Rows| -> PrivateModel { training.fit(rows).unwrap() };
        let (whole, divided) = (certified(table(&schema)(Task::Ranking).into()), certified(parts().into()));
        assert!(injected.load(Ordering::Relaxed) >= 200, "{}", injected.load(Ordering::Relaxed));
        let failed: Vec<_> =
            verify(&divided).checks.into_iter().filter(|check| check.failure.is_some()).collect();
        assert!(failed.is_empty(), "{failed:?}");
        // The noise differs, so iterates and what follows from them do; everything else is the same.
        assert_eq!(
            certified_event(&whole.certificate).unwrap(),
            certified_event(&divided.certificate).unwrap()
        );
    }
}

/// A store in memory that fails after some saves, as a driver that is lost.
struct Memory {
    text: Arc<Mutex<Option<String>>>,
    saves: usize,
}

impl Store for Memory {
    fn load(&mut self) -> io::Result<Option<String>> {
        Ok(self.text.lock().unwrap().clone())
    }

    fn save(&mut self, text: &str) -> io::Result<()> {
        if self.saves == 0 {
            return Err(io::Error::other("the driver is lost"));
        }
        self.saves -= 1;
        *self.text.lock().unwrap() = Some(text.to_owned());
        Ok(())
    }

    fn remove(&mut self) -> io::Result<()> {
        *self.text.lock().unwrap() = None;
        Ok(())
    }
}

/// A driver that is lost goes on from its checkpoint and makes no release twice.
#[test]
fn a_lost_driver_goes_on_and_repeats_no_release() {
    let settings = Settings { steps: Some(12), ..settings(Task::Ranking, Algorithm::NoisyGd, None) };
    let schema = schema(Task::Ranking);
    let encoding = Encoding::of(&schema);
    let training = training(&settings, &encoding);
    let text = Arc::new(Mutex::new(None));
    let asked = Arc::new(AtomicUsize::new(0));
    let run = |saves: usize, count: usize| {
        let mut store = Memory { text: Arc::clone(&text), saves };
        let mut checkpointer = Checkpointer::to(&mut store, Duration::ZERO);
        let mut ask = engine(
            describe(
                Task::Ranking,
                &files(Task::Ranking, count).paths.clone(),
                &encoding,
                schema.label(),
                None,
                1,
            )
            .unwrap_or_default(),
            calm(),
        );
        let asked = Arc::clone(&asked);
        let counted: Ask = Box::new(move |request| {
            asked.fetch_add(1, Ordering::Relaxed);
            ask(request)
        });
        let found = CountedParts::count(counted).unwrap();
        let outcome = rehearse(&training, found, 8, &mut checkpointer);
        (outcome.map(drop), checkpointer.resumed())
    };
    assert!(matches!(run(5, 3), (Err(LearnError::Store(_)), 0)));
    // Divided otherwise, on another cluster: the checkpoint knows nothing of parts.
    assert!(matches!(run(usize::MAX, 2), (Ok(()), 5)));
    // Two counts of rows; of the releases 1 … 6 the last was made and not saved, and is made again with new noise: it was
    // never seen. Each asks twice.
    assert_eq!(asked.load(Ordering::Relaxed), 2 + 2 * 6 + 2 * 7);
}

#[test]
fn what_needs_the_table_in_one_place_is_refused() {
    let schema = schema(Task::Ranking);
    let encoding = Encoding::of(&schema);
    let files = files(Task::Ranking, 2);
    let refused = |settings: Settings| {
        let training = training(&settings, &encoding);
        let found = found(Task::Ranking, &schema, &files, calm());
        let error = rehearse(&training, found, 8, &mut Checkpointer::none()).unwrap_err();
        assert!(matches!(error, LearnError::OnePlace(_)), "{error}");
        assert!(error.hint(FrontEnd::Command).is_some());
    };
    for algorithm in [Algorithm::OutputSgd, Algorithm::NoisySgd, Algorithm::OfflinePair] {
        refused(Settings { steps: None, ..settings(Task::Ranking, algorithm, None) });
    }
    refused(settings(Task::Ranking, Algorithm::NoisyGd, Some(LossKind::QHinge)));
    refused(settings(Task::Survival, Algorithm::NoisyGd, None));
    refused(Settings { max_records: Some(ROWS), ..settings(Task::Ranking, Algorithm::NoisyGd, None) });
    assert!(matches!(
        describe(Task::Ranking, &[], &encoding, schema.label(), None, 1),
        Err(LearnError::NoParts)
    ));
}

/// A part that cannot be read is refused with file and column, and never with a row or a value.
#[test]
fn a_bad_part_is_refused_by_its_form() {
    let schema = schema(Task::Ranking);
    let files = files(Task::Ranking, 2);
    std::fs::write(&files.paths[1], "a,b,c,y\n0.5,1,u,1\n0.5,secret,u,1\n").unwrap();
    let texts =
        describe(Task::Ranking, &files.paths, &Encoding::of(&schema), schema.label(), None, 1).unwrap();
    let error = Part::load(&texts[1]).err().unwrap().to_string();
    // Which row it is, is nobody's business who may ask for a part.
    assert!(error.ends_with("part-001.csv: column `b`: not a number"), "{error}");
    assert!(matches!(Part::load("{}"), Err(LearnError::Engine(_))));
    let part = Part::load(&texts[0]).unwrap();
    assert!(matches!(part.answer(b"\xff\xff"), Err(LearnError::Engine(_))));
    assert!(matches!(merge(b"\x00", b"\x01\x07"), Err(LearnError::Engine(_))));
}

/// An engine that adds a part twice, forgets one, or reloads one whose file has changed, is found out before anything is released.
#[test]
fn engines_that_miscount_are_refused() {
    let schema = schema(Task::Ranking);
    let encoding = Encoding::of(&schema);
    let training = training(&settings(Task::Ranking, Algorithm::NoisyGd, None), &encoding);
    for fault in ["twice", "forgets", "changed"] {
        let divided = files(Task::Ranking, 3);
        let texts = describe(Task::Ranking, &divided.paths, &encoding, schema.label(), None, 1).unwrap();
        let path = divided.paths[1].clone();
        let mut parts: Vec<Part> = texts.iter().map(|text| Part::load(text).unwrap()).collect();
        let mut asked = 0;
        let ask: Ask = Box::new(move |request| {
            asked += 1;
            let mut taken: Vec<usize> = vec![0, 1, 2];
            // The count and a whole release are honest.
            if asked > 3 {
                match fault {
                    "twice" => taken.push(1),
                    "forgets" => drop(taken.pop()),
                    _ => {
                        let text = std::fs::read_to_string(&path).unwrap();
                        std::fs::write(&path, format!("{text}7,0.1,1,u,1\n")).unwrap();
                        parts[1] = Part::load(&texts[1]).unwrap();
                    }
                }
            }
            let mut replies =
                taken.into_iter().map(|part| parts[part].answer(request).map_err(|e| e.to_string()));
            let first = replies.next().unwrap()?;
            replies.try_fold(first, |merged, reply| merge(&merged, &reply?).map_err(|e| e.to_string()))
        });
        let mut checkpointer = Checkpointer::none();
        let found = CountedParts::count(ask).unwrap();
        let error = rehearse(&training, found, 8, &mut checkpointer).unwrap_err();
        assert!(matches!(error, LearnError::Engine(_)), "{fault}: {error}");
        assert_eq!(checkpointer.counter().load(Ordering::Relaxed), 1, "{fault}");
    }
}

/// A file that changes between two questions, or before a worker that died loads it again, ends the run: today's labels are not the
/// ones that the first release was about.
#[test]
fn issue_22_11_a_part_that_changes_during_the_run_ends_it() {
    for algorithm in [Algorithm::NoisyGd, Algorithm::PhasedGd] {
        let schema = schema(Task::Ranking);
        let encoding = Encoding::of(&schema);
        let training = training(&settings(Task::Ranking, algorithm, None), &encoding);
        for changes in [false, true] {
            let files = files(Task::Ranking, 3);
            let path = files.paths[1].clone();
            let texts = describe(Task::Ranking, &files.paths, &encoding, schema.label(), None, 1).unwrap();
            let mut parts: Vec<Part> = texts.iter().map(|text| Part::load(text).unwrap()).collect();
            let mut asked = 0;
            let ask: Ask = Box::new(move |request| {
                asked += 1;
                if asked == 4 {
                    // As many rows as before, and two labels the other way round.
                    let text = std::fs::read_to_string(&path).unwrap();
                    let (yes, no) = (",1\n", ",0\n");
                    assert!(text.contains(yes) && text.contains(no));
                    if changes {
                        let text = text.replacen(yes, ",?\n", 1).replacen(no, yes, 1).replacen(",?\n", no, 1);
                        std::fs::write(&path, text).unwrap();
                    }
                    parts[1] = Part::load(&texts[1]).unwrap();
                }
                let answers =
                    parts.iter().map(|part| part.answer(request).map_err(|error| error.to_string()));
                let together = |a: Result<Vec<u8>, String>, b: Result<Vec<u8>, String>| {
                    merge(&a?, &b?).map_err(|error| error.to_string())
                };
                answers.reduce(together).unwrap()
            });
            let counted = CountedParts::count(ask).unwrap();
            let outcome = rehearse(&training, counted, 8, &mut Checkpointer::none());
            match outcome {
                Err(LearnError::Engine(why)) if changes => {
                    assert!(why.contains("changed during the run"), "{why}");
                }
                Ok(_) if !changes => {}
                outcome => panic!("{changes}: {outcome:?}"),
            }
        }
    }
}

/// A person whose records lie in several parts counts as one: the same bits as in memory, however the table is divided and however
/// often workers fail.
#[test]
fn persons_may_have_records_in_several_parts() {
    for task in [Task::Ranking, Task::Classification, Task::Regression] {
        let text = "[person]\ncolumn = 'id'\nkind = 'integer'\n";
        let kind = if task == Task::Regression { "range = [0, 3]" } else { "positive = 1\nnegative = 0" };
        let schema = Schema::parse(&format!("{LABEL}{kind}\n{text}{COLUMNS}")).unwrap();
        let table = table(&schema);
        let persons = table(task).size();
        assert!(persons < ROWS / 5 && persons > 100);
        for algorithm in [Algorithm::NoisyGd, Algorithm::Moments] {
            for representation in [RepresentationKind::Ranges, RepresentationKind::Ranks] {
                let steps = (algorithm == Algorithm::NoisyGd).then_some(6);
                let representation = Some(representation);
                let settings =
                    Settings { unit: Unit::Person, steps, representation, ..settings(task, algorithm, None) };
                let training = training(&settings, &Encoding::of(&schema));
                let expected = rehearse(&training, table(task), 3, &mut Checkpointer::none()).unwrap();
                for (count, one_in) in [(1, 0), (2, 0), (7, 4)] {
                    let faults = Faults { random: Replay::from_seed(9), one_in, injected: Arc::default() };
                    let divided = files(task, count);
                    let parts = Rows::from(found(task, &schema, &divided, faults));
                    assert_eq!(parts.count(), persons);
                    let parameters = rehearse(&training, parts, 3, &mut Checkpointer::none()).unwrap();
                    assert_eq!(parameters, expected, "{task:?} {algorithm} {count}");
                }
            }
        }
        let divided = files(task, 2);
        let parts = || found(task, &schema, &divided, calm());
        let refused = |settings: &Settings| {
            let training = training(settings, &Encoding::of(&schema));
            rehearse(&training, parts(), 3, &mut Checkpointer::none()).unwrap_err().to_string()
        };
        let of_persons = Settings { unit: Unit::Person, ..settings(task, Algorithm::NoisyGd, None) };
        let one = Settings { per_person: Some(PerPerson::One), ..of_persons.clone() };
        assert!(refused(&one).contains("drawing one record of each person needs the table in one place"));
        let records = Settings { unit: Unit::Record, ..of_persons };
        assert!(refused(&records).contains("only records would be protected"));
    }
}
