//! Tables in many files, and who holds them.

use super::common::Workplace;
use pairdp_data::{Encoding, Schema};
use pairdp_model::Task;
use pairdp_release::parts;
use serde_json::Value;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A cohort cut into files of different lengths in the folder `parts`, with its schema beside.
fn workplace(records: usize) -> Workplace {
    let workplace = Workplace::with_cohort(records);
    let text = workplace.read("cohort.csv");
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    std::fs::create_dir(workplace.path("parts")).unwrap();
    let mut start = 0;
    for (number, end) in [records / 7, records / 2, records / 2 + 1, records].into_iter().enumerate() {
        let body = rows[start..end].join("\n");
        workplace.write(&format!("parts/{number}.csv"), &format!("{header}\n{body}\n"));
        start = end;
    }
    std::fs::copy(workplace.path("cohort.schema.toml"), workplace.path("parts.schema.toml")).unwrap();
    workplace
}

fn records(workplace: &Workplace, model: &str) -> u64 {
    let verdict = workplace.run(&format!("verify {model}"));
    assert_eq!(verdict.code, 0, "{}{}", verdict.out, verdict.err);
    let model: Value = serde_json::from_str(&workplace.read(model)).unwrap();
    model["certificate"]["records"].as_u64().unwrap()
}

#[test]
fn a_folder_is_a_table() {
    let workplace = workplace(900);
    for (number, data) in ["parts", "parts/*.csv"].into_iter().enumerate() {
        for (engine, name) in [("", "here"), ("--engine local:1", "one"), ("--engine local:3", "three")] {
            for task in ["ranking", "metric", "classification"] {
                let out = format!("{name}-{number}-{task}.json");
                let command = format!(
                    "train {data} {engine} --task {task} --epsilon 1 --delta 1e-6 --force --out {out}"
                );
                let run = workplace.run(&command);
                assert_eq!(run.code, 0, "{command}: {}", run.err);
                assert_eq!(records(&workplace, &out), 900);
            }
        }
    }
    // No worker outlives its command, and nothing else is left behind.
    assert!(workplace.files().iter().all(|name| !name.contains("lock") && !name.starts_with('.')));
}

#[test]
fn what_cannot_be_is_refused() {
    let workplace = workplace(300);
    let refused = |arguments: &str, expected: &str| {
        let run = workplace.run(&format!("train {arguments} --epsilon 1 --delta 1e-6 --force --out m.json"));
        assert_eq!(run.code, 1, "{}", run.out);
        assert!(run.err.contains(expected), "{}", run.err);
        assert!(!workplace.path("m.json").exists());
    };
    refused("parts --engine spark://h:1", "local:N");
    refused("parts --engine local:0", "from 1 to 1024");
    refused("parts/*.parquet --schema parts.schema.toml", "no table was found there");
    refused("parts --engine local:2 --algorithm noisy-sgd", "one place");
    refused("parts --engine local:2 --loss q-hinge", "one place");
    refused("parts --engine local:2 --max-records 400", "one place");
    // A part with a bad cell: its file and column, and never its row or value; nothing is spent.
    let create = "budget create stays --ledger c.ledger --epsilon 1 --delta 1e-6 --records 300 --schema parts.schema.toml";
    assert_eq!(workplace.run(create).code, 0);
    // What public facts refuse is given back, too.
    for choice in ["--algorithm noisy-sgd", "--loss q-hinge", "--loss capped-logistic"] {
        refused(&format!("parts {choice} --ledger c.ledger --dataset stays"), "one place");
    }
    let good = workplace.read("parts/1.csv");
    let header = good.lines().next().unwrap();
    let cells = header.split(',').map(|_| "secret").collect::<Vec<_>>().join(",");
    workplace.write("parts/1.csv", &format!("{good}{cells}\n"));
    for engine in ["", "--engine local:2"] {
        refused(&format!("parts {engine} --ledger c.ledger --dataset stays"), "1.csv: column `age`");
        let run = workplace.run(&format!("train parts {engine} --epsilon 1 --delta 1e-6 --out m.json"));
        assert!(!run.err.contains("secret"), "{}", run.err);
    }
    let show: Value =
        serde_json::from_str(&workplace.run("budget show --ledger c.ledger --json").out).unwrap();
    assert_eq!(show["datasets"][0]["cancelled"], 5, "{show}");
    assert_eq!(show["datasets"][0]["open"], 0, "{show}");
}

/// The bridge to clusters speaks as workers do, so a worker can stand in for it.
#[cfg(unix)]
#[test]
fn clusters_are_reached_over_a_bridge() {
    use std::os::unix::fs::PermissionsExt as _;
    let workplace = workplace(400);
    let command = "train parts --engine dask://127.0.0.1:1 --epsilon 1 --delta 1e-6 --out m.json";
    let python = |script: &str| {
        workplace.write("python", &format!("#!/bin/sh\n{script}\n"));
        let path = workplace.path("python");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        workplace.run_with(command, &[("PAIRDP_PYTHON", path.to_str().unwrap())])
    };
    let checks = "[ \"$1 $2 $3\" = '-m pairdp.engines dask://127.0.0.1:1' ] || exit 7\n";
    let run = python(&format!("{checks}exec {} worker", env!("CARGO_BIN_EXE_pairdp")));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(records(&workplace, "m.json"), 400);
    std::fs::remove_file(workplace.path("m.json")).unwrap();
    let run = python("exit 1");
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("PAIRDP_PYTHON"), "{}", run.err);
    // Killed before it has read its parts, and started again; killed every time, it is given up.
    let run = python(&format!(
        "[ -e killed ] || {{ touch killed; kill -9 $$; }}\nexec {} worker",
        env!("CARGO_BIN_EXE_pairdp")
    ));
    assert_eq!(
        run.code, 0,
        "issue 22: a storm found that a run ended with a worker killed so early: {}",
        run.err
    );
    assert!(workplace.path("killed").exists());
    std::fs::remove_file(workplace.path("m.json")).unwrap();
    let run = python("kill -9 $$");
    assert!(run.code == 1 && run.err.contains("killed 8 times while it loaded its parts"), "{}", run.err);
    let run = workplace.run_with(command, &[("PAIRDP_PYTHON", "no-such-python")]);
    assert!(run.code == 1 && run.err.contains("PAIRDP_PYTHON"), "{}", run.err);
}

/// A child that does not outlive its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(workplace: &Workplace, arguments: &str) -> Running {
    let child = Command::new(env!("CARGO_BIN_EXE_pairdp"))
        .args(arguments.split_whitespace())
        .current_dir(workplace.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Running(child)
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !done() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that a process started.
#[cfg(target_os = "linux")]
fn children(of: u32) -> Vec<String> {
    let parent = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let pids =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    pids.filter(|pid| parent(pid) == Some(of)).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_worker_is_started_again() {
    let workplace = workplace(3000);
    let mut run = start(
        &workplace,
        "train parts --engine local:2 --algorithm noisy-gd --steps 3000 --epsilon 1 --delta 1e-6 --out m.json \
         --checkpoint run.checkpoint --checkpoint-every 0",
    );
    for _ in 0..2 {
        until("two workers", || children(run.0.id()).len() == 2);
        let victim = children(run.0.id()).remove(0);
        until("a release", || workplace.path("run.checkpoint").exists());
        assert!(Command::new("kill").args(["-9", &victim]).status().unwrap().success());
        until("the victim's end", || !children(run.0.id()).contains(&victim));
    }
    until("the end", || run.0.try_wait().unwrap().is_some());
    assert!(run.0.wait().unwrap().success());
    assert_eq!(records(&workplace, "m.json"), 3000);
}

/// The driver is lost; whoever goes on, with another engine, finds its state and its reservation, and pays once.
#[test]
fn a_lost_driver_is_paid_for_once() {
    let workplace = workplace(2000);
    let create = "budget create stays --ledger c.ledger --epsilon 1 --delta 1e-6 --records 2000 --schema parts.schema.toml";
    assert_eq!(workplace.run(create).code, 0);
    let train = |engine: &str| {
        format!(
            "train parts {engine} --algorithm noisy-gd --steps 2000 --epsilon 1 --delta 1e-6 --force --out m.json \
             --ledger c.ledger --dataset stays --checkpoint run.checkpoint --checkpoint-every 0"
        )
    };
    let mut run = start(&workplace, &train("--engine local:2"));
    until("a release", || workplace.path("run.checkpoint").exists());
    // Meanwhile nobody else may go on from it.
    let second = workplace.run(&train(""));
    assert_eq!(second.code, 1, "{}", second.out);
    assert!(second.err.contains("another run uses this checkpoint"), "{}", second.err);
    run.0.kill().unwrap();
    run.0.wait().unwrap();
    assert!(!workplace.path("m.json").exists());

    let run = workplace.run(&train(""));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("continued an interrupted run"), "{}", run.out);
    let show: Value =
        serde_json::from_str(&workplace.run("budget show --ledger c.ledger --json").out).unwrap();
    let stays = &show["datasets"][0];
    assert_eq!((&stays["committed"], &stays["open"]), (&1.into(), &0.into()), "{show}");
    assert_eq!(records(&workplace, "m.json"), 2000);
    assert!(!workplace.path("run.checkpoint.lock").exists());
}

/// A message to a worker: a tag, a length, and as many bytes.
fn frame(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &(body.len() as u64).to_le_bytes(), body].concat()
}

/// What a worker answers, each with its tag, and how it ends.
fn spoken(input: &[u8]) -> (Vec<(char, String)>, i32, String) {
    let mut worker = Command::new(env!("CARGO_BIN_EXE_pairdp"))
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    worker.stdin.take().unwrap().write_all(input).unwrap();
    let run = worker.wait_with_output().unwrap();
    let mut rest = run.stdout.as_slice();
    let mut answers = Vec::new();
    while let Some((tag, after)) = rest.split_first() {
        let (length, after) = after.split_at(8);
        let length = usize::try_from(u64::from_le_bytes(length.try_into().unwrap())).unwrap();
        let (body, after) = after.split_at(length);
        answers.push((char::from(*tag), String::from_utf8_lossy(body).into_owned()));
        rest = after;
    }
    (answers, run.status.code().unwrap(), String::from_utf8(run.stderr).unwrap())
}

/// The whole answer to each bad message. None quotes what it was sent, which may be a cell.
#[test]
fn issue_18_bad_messages_to_workers_have_their_words() {
    const UNREADABLE: &str =
        "the engine failed: a request or reply cannot be read: driver and workers must be of one version";
    const NOTHING: &str = "there is no file to learn from\n\
        hint: name a folder of tables, or a pattern such as 'parts/*.parquet'";
    let workplace = workplace(300);
    let schema = Schema::read(&workplace.path("parts.schema.toml")).unwrap();
    let described = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|name| workplace.path(name)).collect();
        let texts = parts::describe(Task::Ranking, &paths, &Encoding::of(&schema), schema.label(), None, 1);
        frame(b'P', &serde_json::to_vec(&texts.unwrap()).unwrap())
    };
    let whole = described(&["parts/0.csv"]);
    let header = workplace.read("parts/0.csv").lines().next().unwrap().to_owned();
    let cells = header.split(',').map(|_| "SECRET").collect::<Vec<_>>().join(",");
    workplace.write("parts/bad.csv", &format!("{header}\n{cells}\n"));
    workplace.write("parts/short.csv", &format!("{header}\nSECRET\n"));
    workplace.write("parts/other.csv", "SECRET\n1\n");
    let shown = |name: &str| workplace.path(name).display().to_string();
    let mend = "hint: correct the cell, or leave the column out of the schema; decimal commas need `decimal = \",\"` there";
    let bad = format!("{}: column `age`: not a number\n{mend}", shown("parts/bad.csv"));
    let short = format!(
        "{}: a row has not as many cells as the header\nhint: quote cells that contain the delimiter",
        shown("parts/short.csv")
    );
    let other = format!(
        "{}: line 1: no column `age` in the header\nhint: check the spelling: names must match exactly, upper and lower case included",
        shown("parts/other.csv")
    );
    let absent = format!("{}: no such file\nhint: check the path", shown("parts/absent.csv"));
    for (input, message) in [
        (frame(b'X', b"SECRET"), "not a message for a worker"),
        (frame(b'S', b"SECRET"), "not a message for a worker"),
        (frame(b'P', b"SECRET"), "not a list of parts"),
        (frame(b'P', b"{\"SECRET\": 1}"), "not a list of parts"),
        (frame(b'P', b"[1]"), "not a list of parts"),
        (frame(b'P', b"[\"SECRET\"]"), UNREADABLE),
        (frame(b'P', b"[\"{}\"]"), UNREADABLE),
        (frame(b'Q', b"SECRET"), NOTHING),
        ([frame(b'P', b"[]"), frame(b'Q', b"SECRET")].concat(), NOTHING),
        ([whole.clone(), frame(b'Q', b"SECRET")].concat(), UNREADABLE),
        ([whole.clone(), frame(b'Q', b"")].concat(), UNREADABLE),
        (described(&["parts/bad.csv"]), bad.as_str()),
        (described(&["parts/short.csv"]), short.as_str()),
        (described(&["parts/other.csv"]), other.as_str()),
        (described(&["parts/absent.csv"]), absent.as_str()),
    ] {
        let (answers, code, said) = spoken(&input);
        let refusals: Vec<&String> =
            answers.iter().filter(|(tag, _)| *tag == 'E').map(|(_, message)| message).collect();
        assert_eq!(refusals, [message], "{answers:?}");
        assert!(!message.contains("SECRET") && code == 0 && said.is_empty(), "{code}: {said}");
    }
    // What is no message at all ends a worker: it cannot know where the next one begins.
    for (input, message) in [
        (&b"Q\x09\0\0\0\0\0\0\0SECRET"[..], "error: a worker lost its driver: unexpected end of file\n"),
        (&b"Q\xff\xff\xff\xff\xff\xff\xff\xffSECRET"[..], "error: a worker lost its driver: not a frame\n"),
    ] {
        assert_eq!(spoken(input), (Vec::new(), 2, message.to_owned()));
    }
    assert_eq!(spoken(&whole).0, [('R', String::new())]);
}
