//! The faults.

use super::Random;
use super::engines::{self, Engine};
use super::place::{Ended, Place, RECORDS, SPENDING, ended, train};
use anyhow::{Context, Result};
use std::time::Duration;

/// Rounds before a storm moves on to fresh files.
pub(super) const ROUNDS_A_PLACE: u32 = 12;
/// Mutated files a round.
const MUTATIONS: u64 = 25;

/// What was tried how often, and what was lost by it.
type Tried = Result<(u64, Vec<String>)>;

type Act = dyn Fn(&Place, &mut Random) -> Tried;

/// One kind of fault.
pub(super) struct Kind {
    pub(super) name: String,
    /// In every so manieth round.
    pub(super) every: u32,
    pub(super) act: Box<Act>,
}

fn kind(name: &str, act: fn(&Place, &mut Random) -> Tried) -> Kind {
    Kind { name: name.to_owned(), every: 1, act: Box::new(act) }
}

/// All kinds, on the engines that are there.
pub(super) fn all(engines: &[Engine]) -> Vec<Kind> {
    let mut kinds = vec![kind("`train` killed", kill_train)];
    for engine in engines {
        let (whole, worker) = (engine.clone(), engine.clone());
        kinds.push(Kind {
            name: format!("`train --engine {}` killed", engine.name),
            every: engine.every,
            act: Box::new(move |place, random| whole.kill_run(place, random)),
        });
        kinds.push(Kind {
            name: format!("a worker of `train --engine {}` killed", engine.name),
            every: engine.every,
            act: Box::new(move |place, random| worker.kill_worker(place, random)),
        });
    }
    kinds.push(kind("`train --checkpoint` killed and gone on", kill_and_go_on));
    let others = engines.to_vec();
    kinds.push(Kind {
        name: "`train --checkpoint` killed on one engine, gone on with another".to_owned(),
        every: engines.iter().map(|engine| engine.every).max().unwrap_or(1),
        act: Box::new(move |place, random| engines::change_engines(&others, place, random)),
    });
    kinds.extend([
        kind("`train --checkpoint` killed, its checkpoint copied, both gone on", copy_and_go_on),
        kind("`evaluate --private` killed", kill_evaluate),
        kind("`budget create` and `grant` killed", kill_budget),
        kind("eight commands at once", at_once),
        kind("a full disk", full_disk),
        kind("a place that cannot be written to", read_only),
        kind("a result that cannot be printed", unprintable),
        kind("mutated models", mutated_models),
        kind("mutated ledgers", mutated_ledgers),
    ]);
    kinds
}

pub(super) fn wrong(ended: &[Ended]) -> Vec<String> {
    ended.iter().filter_map(Ended::wrong).collect()
}

fn kill_train(place: &Place, random: &mut Random) -> Tried {
    let moment = random.moment(place.whole.mul_f64(1.2));
    Ok((1, wrong(&[place.killed(&train("cohort.csv", "model.json", "--force"), moment)?])))
}

fn kill_and_go_on(place: &Place, random: &mut Random) -> Tried {
    killed_and_gone_on(place, random, &|_| ("cohort.csv".to_owned(), String::new(), place.whole))
}

/// Killed some times, then let finish: paid at most once for every time that nothing was saved yet. `engine` says, for each time,
/// the table, more options and how long it would take.
pub(super) fn killed_and_gone_on(
    place: &Place,
    random: &mut Random,
    engine: &dyn Fn(&mut Random) -> (String, String, Duration),
) -> Tried {
    let words = |table: &str, more: &str| {
        train(
            table,
            "model.json",
            &format!("--force --checkpoint run.checkpoint --checkpoint-every 0 {more}"),
        )
    };
    let (before, mut tries, mut lost) = (place.spent_runs()?, 0, Vec::new());
    let mut begun = 1;
    for _ in 0..=random.below(4) {
        let (table, more, whole) = engine(random);
        let moment = random.moment(whole.mul_f64(1.2));
        lost.extend(place.killed(&words(&table, &more), moment)?.wrong());
        tries += 1;
        begun += u64::from(!place.path("run.checkpoint").exists());
    }
    let (table, more, _) = engine(random);
    let last = place.run(&words(&table, &more))?;
    if last.code != Some(0) {
        lost.push(format!("it does not go on: {}", last.err.trim()));
    }
    if !place.path("model.json").exists() || place.path("run.checkpoint").exists() {
        lost.push("it went on and has no model".to_owned());
    }
    if place.spent_runs()? > before + begun {
        lost.push("it was paid for twice".to_owned());
    }
    Ok((tries, lost))
}

/// Two copies of a checkpoint at once: one model, however they meet, and paid for once.
fn copy_and_go_on(place: &Place, random: &mut Random) -> Tried {
    let words = |name: &str| {
        let options = format!("--force --checkpoint {name}.checkpoint --checkpoint-every 0");
        train("cohort.csv", &format!("model-{name}.json"), &options)
    };
    let mut lost = Vec::new();
    lost.extend(place.killed(&words("a"), random.moment(place.whole.mul_f64(1.2)))?.wrong());
    let _ = std::fs::copy(place.path("a.checkpoint"), place.path("b.checkpoint"));
    lost.extend(place.killed(&words("a"), random.moment(place.whole))?.wrong());
    if !place.path("a.checkpoint").exists() || !place.path("b.checkpoint").exists() {
        // There was nothing to copy yet, or nothing left to do.
        let _ = std::fs::remove_file(place.path("b.checkpoint"));
        let last = place.run(&words("a"))?;
        return Ok((2, lost.into_iter().chain(last.wrong()).collect()));
    }
    let (before, settled) = (place.spent_runs()?, place.told_of("a.checkpoint")?);
    let differ = std::fs::read(place.path("a.checkpoint"))? != std::fs::read(place.path("b.checkpoint"))?;
    let both: Vec<_> = ["a", "b"].map(|name| place.command(&words(name)).spawn()).into_iter().collect();
    let both = both.into_iter().map(|child| ended(child?)).collect::<Result<Vec<_>>>()?;
    lost.extend(wrong(&both));
    let models = ["a", "b"].map(|name| std::fs::read(place.path(&format!("model-{name}.json"))));
    match models {
        [Ok(a), Ok(b)] if a != b => lost.push("two copies made a model each".to_owned()),
        [Err(_), Ok(_)] if differ && settled => {
            lost.push("an old copy made again what the other had released".to_owned());
        }
        [Err(_), Err(_)] => lost.push(format!("neither went on: {} {}", both[0].err, both[1].err)),
        _ => {}
    }
    if place.spent_runs()? != before {
        lost.push("a copy was paid for".to_owned());
    }
    for name in ["a.checkpoint", "b.checkpoint", "a.checkpoint.lock", "b.checkpoint.lock"] {
        let _ = std::fs::remove_file(place.path(name));
    }
    Ok((2, lost))
}

fn kill_evaluate(place: &Place, random: &mut Random) -> Tried {
    let moment = random.moment(place.whole.mul_f64(1.2));
    Ok((1, wrong(&[place.killed(&evaluation(), moment)?])))
}

fn evaluation() -> String {
    format!("evaluate first.json cohort.csv --private --epsilon 0.02 --delta 1e-7 {SPENDING}")
}

/// A ledger whose making was killed can be made; one whose grant was killed has the old one or the new one.
fn kill_budget(place: &Place, random: &mut Random) -> Tried {
    let create = format!("budget create d --ledger new.ledger --epsilon 1 --delta 1e-6 --records {RECORDS}");
    let moment = random.moment(Duration::from_millis(30));
    let mut lost = wrong(&[place.killed(&create, moment)?]);
    let again = place.run(&create)?;
    let made = again.code == Some(0) || again.err.contains("has a data set `d` already");
    if !made || place.run("budget check --ledger new.ledger")?.code != Some(0) {
        lost.push(format!("a ledger cannot be made any more: {}", again.err.trim()));
    }
    let grant = "budget grant stays --ledger c.ledger --epsilon 8 --delta 1e-6";
    lost.extend(place.killed(grant, random.moment(Duration::from_millis(30)))?.wrong());
    for name in ["new.ledger", "new.ledger.key"] {
        let _ = std::fs::remove_file(place.path(name));
    }
    Ok((2, lost))
}

fn at_once(place: &Place, _: &mut Random) -> Tried {
    let spawn = |words: String| place.command(&words).spawn().context("could not start a command");
    let mut children = Vec::new();
    for k in 0..3 {
        children.push(spawn(train("cohort.csv", &format!("model{k}.json"), ""))?);
        children.push(spawn(evaluation())?);
    }
    children.push(spawn("budget show --ledger c.ledger".to_owned())?);
    children.push(spawn("budget recover --ledger c.ledger".to_owned())?);
    let ended = children.into_iter().map(ended).collect::<Result<Vec<_>>>()?;
    let failed = ended.iter().filter(|one| one.code == Some(2)).map(|one| one.err.trim().to_owned());
    Ok((8, wrong(&ended).into_iter().chain(failed).collect()))
}

fn full_disk(place: &Place, random: &mut Random) -> Tried {
    // From nothing at all to enough for the model but not for the ledger.
    let blocks = random.below(160);
    let words = train("cohort.csv", "model.json", "--force");
    let starved = ended(place.starved(&words, blocks).spawn()?)?;
    let mut lost = wrong(std::slice::from_ref(&starved));
    if starved.err.contains("went to standard output") {
        // Where it would be saved by whoever reads this.
        std::fs::write(place.path("tmp/model-printed.json"), &starved.out)?;
    }
    if starved.code == Some(0) && !place.path("model.json").exists() {
        lost.push("it says that it went well, and there is no model".to_owned());
    }
    Ok((1, lost))
}

fn read_only(place: &Place, _: &mut Random) -> Tried {
    let before = place.spent_runs()?;
    let run = place.run(&train("cohort.csv", "/proc/model.json", ""))?;
    let mut lost = wrong(std::slice::from_ref(&run));
    if run.code == Some(0) || place.spent_runs()? != before {
        lost.push("budget was spent on a model that cannot be written".to_owned());
    }
    Ok((1, lost))
}

/// The numbers of an evaluation that nobody could read are had again; [`Place::unsound`] looks at that.
fn unprintable(place: &Place, _: &mut Random) -> Tried {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full")?;
    let run = ended(place.command(&evaluation()).stdout(full).spawn()?)?;
    let silent = (run.code == Some(0)).then(|| "what could not be printed was no failure".to_owned());
    Ok((1, wrong(&[run]).into_iter().chain(silent).collect()))
}

fn mutated_models(place: &Place, random: &mut Random) -> Tried {
    let model = std::fs::read(place.path("first.json"))?;
    let mut lost = Vec::new();
    for _ in 0..MUTATIONS {
        std::fs::write(place.path("mutant.json"), mutated(&model, random))?;
        for words in ["verify mutant.json", "report mutant.json --out mutant.html"] {
            let run = place.run(words)?;
            if run.code == Some(2) {
                lost.push(format!("{words} failed: {}", run.err.trim()));
            }
            lost.extend(run.wrong());
        }
    }
    Ok((MUTATIONS, lost))
}

/// A changed history is noticed: the check says no, or the change was where nothing is written, and the head is the same.
fn mutated_ledgers(place: &Place, random: &mut Random) -> Tried {
    let ledger = std::fs::read(place.path("c.ledger"))?;
    std::fs::copy(place.path("c.ledger.key"), place.path("mutant.ledger.key"))?;
    let head = place.run("budget check --ledger c.ledger")?.out;
    let mut lost = Vec::new();
    for _ in 0..MUTATIONS {
        std::fs::write(place.path("mutant.ledger"), mutated(&ledger, random))?;
        let run = place.run("budget check --ledger mutant.ledger")?;
        lost.extend(run.wrong());
        if run.code == Some(0) && run.out != head {
            lost.push(format!("a changed history was taken for a sound one: {}", run.out));
        }
    }
    let _ = std::fs::remove_file(place.path("mutant.ledger-journal"));
    Ok((MUTATIONS, lost))
}

/// Some bytes changed, cut out, doubled, or a number replaced by an unkind one.
fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let length = bytes.len() as u64;
        let at = usize::try_from(random.below(length)).unwrap_or(0);
        let run = usize::try_from(random.below(40)).unwrap_or(0).min(bytes.len() - at);
        match random.below(5) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => drop(bytes.drain(at..at + run)),
            2 => {
                let piece = bytes[at..at + run].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => bytes.truncate(at),
            _ => {
                let unkind =
                    ["0", "-1", "4294967295", "18446744073709551615", "1e308", "1e-320", "null", "[]"];
                let digits = |byte: &u8| byte.is_ascii_digit();
                if let Some(start) = bytes[at..].iter().position(digits).map(|more| at + more) {
                    let end = bytes[start..]
                        .iter()
                        .position(|byte| !digits(byte))
                        .map_or(bytes.len(), |more| start + more);
                    let new = unkind[usize::try_from(random.below(8)).unwrap_or(0)];
                    bytes.splice(start..end, new.bytes());
                }
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}
