//! Nothing is lost by writing: no command overwrites what it reads, a ledger, a schema or a model, and what was paid for is kept.

use crate::common::{Run, Workplace};
use std::path::Path;

const TRAIN: &str = "train cohort.csv --epsilon 1 --delta 1e-6";

/// A cohort, a model of it, a baseline and a ledger with a key.
fn workplace() -> Workplace {
    let workplace = Workplace::with_cohort(200);
    for command in [
        format!("{TRAIN} --out model.json"),
        "baseline cohort.csv --out baseline.json".to_owned(),
        "budget create stays --ledger c.ledger --epsilon 9 --delta 1e-5 --records 200 --schema cohort.schema.toml".to_owned(),
    ] {
        let run = workplace.run(&command);
        assert_eq!(run.code, 0, "{}", run.err);
    }
    workplace
}

fn refused(run: &Run, word: &str) {
    assert_eq!((run.code, run.out.as_str()), (1, ""), "{}", run.err);
    assert!(run.err.starts_with("error: ") && run.err.contains(word), "{}", run.err);
    assert!(run.err.contains("\nhint: "), "{}", run.err);
}

/// Everything in the workplace, byte by byte.
fn contents(workplace: &Workplace) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| {
        let bytes = std::fs::read(workplace.path(&name)).unwrap_or_default();
        (name, bytes)
    };
    workplace.files().into_iter().map(read).collect()
}

/// Commands that write to `{out}`, with what they read.
const WRITERS: [(&str, &[&str]); 12] = [
    (
        "train cohort.csv --epsilon 1 --delta 1e-6 --force --ledger c.ledger --dataset stays --out {out}",
        &["cohort.csv", "cohort.schema.toml", "c.ledger", "c.ledger.key"],
    ),
    (
        "train cohort.csv --epsilon 1 --delta 1e-6 --out new.json --checkpoint {out}",
        &["cohort.csv", "cohort.schema.toml"],
    ),
    ("baseline cohort.csv --out {out}", &["cohort.csv", "cohort.schema.toml"]),
    ("influence cohort.csv --out {out}", &["cohort.csv", "cohort.schema.toml"]),
    ("predict model.json cohort.csv --out {out}", &["model.json", "cohort.csv", "cohort.schema.toml"]),
    ("report model.json cohort.csv --out {out}", &["model.json", "cohort.csv", "cohort.schema.toml"]),
    ("export model.json --to onnx --out {out}", &["model.json"]),
    ("export model.json --to json --out {out}", &["model.json"]),
    ("budget export --ledger c.ledger --out {out}", &["c.ledger", "c.ledger.key"]),
    ("schema init cohort.csv --out {out}", &["cohort.csv"]),
    ("stability --records 20 --steps 5 --step-size 0.1 --plot {out}", &[]),
    ("audit --runs 2 --state {out}", &[]),
];

#[test]
fn issue_18_13_no_command_overwrites_what_it_reads() {
    let workplace = workplace();
    #[cfg(unix)]
    for name in ["cohort.csv", "cohort.schema.toml", "model.json", "c.ledger", "c.ledger.key"] {
        std::os::unix::fs::symlink(name, workplace.path(&format!("soft-{name}"))).unwrap();
        std::fs::hard_link(workplace.path(name), workplace.path(&format!("hard-{name}"))).unwrap();
    }
    let before = contents(&workplace);
    for (command, inputs) in WRITERS {
        for input in inputs {
            for out in
                [(*input).to_owned(), format!("./{input}"), format!("soft-{input}"), format!("hard-{input}")]
            {
                let run = workplace.run(&command.replace("{out}", &out));
                let json = command.starts_with("influence")
                    && Path::new(&out).extension().is_some_and(|e| e == "json");
                refused(&run, if json { "influences" } else { "the command" });
            }
        }
    }
    assert!(contents(&workplace) == before, "a refused command touched a file");
}

#[test]
fn issue_18_13_no_command_overwrites_ledgers_keys_schemas_models_and_foreign_files() {
    let workplace = workplace();
    workplace.write("notes.txt", "mine");
    workplace.write("other.schema.toml", "# unfinished");
    workplace.write("rules.toml", &workplace.read("cohort.schema.toml"));
    workplace.write("table.csv", "id,risk\n1,2\n");
    let before = contents(&workplace);
    let precious = [
        "notes.txt",
        "table.csv",
        "other.schema.toml",
        "rules.toml",
        "c.ledger",
        "c.ledger.key",
        "model.json",
    ];
    for (command, _) in WRITERS {
        for name in precious {
            if command.starts_with("train") && !command.contains("--checkpoint") && name == "model.json" {
                continue;
            }
            let run = workplace.run(&command.replace("{out}", name));
            refused(&run, name);
        }
    }
    assert!(contents(&workplace) == before, "a refused command touched a file");
    let run = workplace.run("predict model.json cohort.csv --out c.ledger");
    assert_eq!(run.err, "error: c.ledger: this is a ledger\nhint: name another file to write\n");
    let run = workplace.run("predict model.json cohort.csv --out table.csv");
    assert_eq!(
        run.err,
        "error: table.csv: there is a file already, and it is not a file of predictions\n\
         hint: name another file to write, or move this one away first\n"
    );
}

#[test]
fn issue_18_13_a_model_is_replaced_only_by_force() {
    let workplace = workplace();
    let before = workplace.read("model.json");
    let run = workplace.run(&format!("{TRAIN} --out model.json"));
    assert_eq!(
        run.err,
        "error: model.json: there is a model already, which cost budget\n\
         hint: name another file with --out, or replace it with --force\n"
    );
    assert_eq!(workplace.read("model.json"), before);
    assert_eq!(workplace.run(&format!("{TRAIN} --out model.json --force")).code, 0);
    assert_ne!(workplace.read("model.json"), before);
    // A model of another version cost as much.
    workplace.write("old.json", "{\"format\": \"pairdp-model/1\"}");
    refused(&workplace.run(&format!("{TRAIN} --out old.json")), "there is a model already");
}

#[test]
fn issue_18_13_simulate_never_overwrites_a_schema_or_a_table() {
    let workplace = Workplace::new();
    workplace.write("t.schema.toml", "# by hand");
    refused(&workplace.run("simulate --records 10 --out t.csv"), "t.schema.toml: there is a schema already");
    assert_eq!(workplace.files(), ["t.schema.toml"]);
    workplace.write("t.csv", "a\n1\n");
    refused(&workplace.run("simulate --records 10 --out t.csv"), "t.csv: there is a file already");
    assert_eq!(
        (workplace.read("t.schema.toml").as_str(), workplace.read("t.csv").as_str()),
        ("# by hand", "a\n1\n")
    );
    // The simulator's schema says that the table is public: not even by force does it take the place of one written by hand.
    refused(
        &workplace.run("simulate --records 10 --out t.csv --force"),
        "t.schema.toml: there is a schema already",
    );
    assert_eq!(
        (workplace.read("t.schema.toml").as_str(), workplace.read("t.csv").as_str()),
        ("# by hand", "a\n1\n")
    );
    std::fs::remove_file(workplace.path("t.schema.toml")).unwrap();
    for _ in 0..2 {
        let run = workplace.run("simulate --records 10 --out t.csv --force");
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(workplace.read("t.schema.toml").contains("private = false"));
    }
    let theirs = workplace.read("t.schema.toml").replace("private = false", "private = true");
    workplace.write("t.schema.toml", &theirs);
    refused(&workplace.run("simulate --records 10 --out t.csv --force"), "there is a schema already");
    assert_eq!(workplace.read("t.schema.toml"), theirs);
}

/// SQLite takes what has such a name for a journal, and rolls the ledger back to what it says.
#[test]
fn issue_18_13_no_command_takes_a_name_that_belongs_to_a_ledger() {
    let workplace = workplace();
    std::fs::remove_file(workplace.path("c.ledger.key")).unwrap();
    let before = contents(&workplace);
    for (command, _) in WRITERS {
        for ending in ["-journal", "-wal", "-shm", ".key"] {
            if command.contains("--ledger") {
                continue;
            }
            let run = workplace.run(&command.replace("{out}", &format!("c.ledger{ending}")));
            refused(&run, &format!("c.ledger{ending}: this name belongs to the ledger c.ledger"));
        }
    }
    assert!(contents(&workplace) == before, "a refused command touched a file");
    // Beside no ledger it is a name as any other.
    let run = workplace.run(&format!("{TRAIN} --out notes-journal"));
    assert_eq!(run.code, 0, "{}", run.err);
}

/// A file whose header is `score`, or that begins with `<svg `, may be anybody's.
#[test]
fn issue_18_13_files_that_look_like_ours_are_not_replaced() {
    let workplace = workplace();
    workplace.write("exam.csv", "score\n17\n12\n");
    workplace.write("logo.svg", "<svg viewBox=\"0 0 1 1\"><circle r=\"1\"/></svg>\n");
    let before = contents(&workplace);
    let run = workplace.run("predict model.json cohort.csv --out exam.csv");
    assert_eq!(
        run.err,
        "error: exam.csv: there is a file of predictions already\n\
         hint: name another file with --out, or replace it with --force\n"
    );
    let plot = "stability --records 20 --steps 5 --step-size 0.1 --plot";
    refused(&workplace.run(&format!("{plot} logo.svg")), "it is not a plot");
    assert!(contents(&workplace) == before, "a refused command touched a file");
    let run = workplace.run("predict model.json cohort.csv --out exam.csv --force");
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(workplace.read("exam.csv").lines().count(), 201);
    // By force, but not over anything.
    refused(&workplace.run("predict model.json cohort.csv --out logo.svg --force"), "it is not a file of");
}

#[test]
fn a_file_in_the_place_of_a_folder_is_said_in_plain_words() {
    let workplace = Workplace::new();
    workplace.write("notes.txt", "mine");
    for command in ["man notes.txt", "demo --out notes.txt"] {
        let run = workplace.run(command);
        assert_eq!(run.err, "error: notes.txt: this is a file\nhint: name a folder\n", "{command}");
        assert_eq!(run.code, 1);
    }
    assert_eq!(workplace.read("notes.txt"), "mine");
}

#[test]
fn issue_18_13_the_demonstration_replaces_its_own_files_only() {
    let workplace = Workplace::new();
    assert_eq!(workplace.run("demo --out shown").code, 0);
    let run = workplace.run("demo --out shown");
    assert_eq!(run.code, 0, "{}", run.err);
    for name in ["shown/cohort.csv", "shown/holdout.schema.toml", "shown/scores.csv", "shown/model.json"] {
        let own = std::fs::read(workplace.path(name)).unwrap();
        workplace.write(name, "{\"format\": \"pairdp-model/1\"}");
        refused(&workplace.run("demo --out shown"), name);
        assert_eq!(workplace.read(name), "{\"format\": \"pairdp-model/1\"}");
        std::fs::write(workplace.path(name), own).unwrap();
    }
}

#[test]
fn what_a_command_wrote_before_is_replaced() {
    let workplace = workplace();
    for command in [
        "baseline cohort.csv --out baseline.json",
        "influence cohort.csv --out moved.csv",
        "predict model.json cohort.csv --out scores.csv --force",
        "report model.json --out page.html",
        "export model.json --to onnx --out m.onnx",
        "export model.json --to json --out scoring.json",
        "budget export --ledger c.ledger --out history.json",
        "stability --records 20 --steps 5 --step-size 0.1 --plot p.svg",
        "audit --runs 2 --state runs.json",
        "man pages",
    ] {
        for _ in 0..2 {
            let run = workplace.run(command);
            assert_eq!(run.code, 0, "{command}: {}", run.err);
        }
    }
}

#[test]
fn issue_22_2_a_checkpoint_is_not_the_model_and_its_lock_is_nobody_elses_file() {
    let workplace = Workplace::with_cohort(100);
    for out in ["run", "./run"] {
        refused(
            &workplace.run(&format!("{TRAIN} --out {out} --checkpoint run")),
            "the command already writes another of its files there",
        );
    }
    refused(
        &workplace.run(&format!("{TRAIN} --out y.lock --checkpoint y")),
        "the command already writes another of its files there",
    );
    // What is refused later leaves no lock.
    let run = workplace.run(&format!("{TRAIN} --out m.json --checkpoint y --steps 0"));
    assert_eq!(run.code, 1, "{}", run.err);
    assert_eq!(workplace.files(), ["cohort.csv", "cohort.schema.toml"]);
    workplace.write("y.lock", "somebody's");
    refused(&workplace.run(&format!("{TRAIN} --out m.json --checkpoint y")), "not the lock of a checkpoint");
    assert_eq!(workplace.read("y.lock"), "somebody's");
    assert_eq!(workplace.files(), ["cohort.csv", "cohort.schema.toml", "y.lock"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
    use std::process::{Command, Stdio};

    fn mode(workplace: &Workplace, name: &str) -> u32 {
        std::fs::metadata(workplace.path(name)).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn issue_22_2_links_are_followed_and_nodes_stay_nodes() {
        let workplace = workplace();
        workplace.write("scores.csv", "score\n");
        symlink("scores.csv", workplace.path("link.csv")).unwrap();
        let run = workplace.run("predict model.json cohort.csv --out link.csv --force");
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(workplace.path("link.csv").is_symlink());
        assert_eq!(workplace.read("scores.csv").lines().count(), 201);

        symlink("nowhere", workplace.path("dangling")).unwrap();
        refused(&workplace.run("predict model.json cohort.csv --out dangling"), "leads nowhere");
        refused(
            &workplace.run(&format!("{TRAIN} --out a.json --checkpoint /dev/null")),
            "a device cannot be",
        );

        let pipe = workplace.path("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
        let run = workplace.run("predict model.json cohort.csv --out pipe");
        assert_eq!(run.code, 0, "{}", run.err);
        let read = reader.wait_with_output().unwrap().stdout;
        assert_eq!(String::from_utf8(read).unwrap(), workplace.read("scores.csv"));
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());

        let run = workplace.run("predict model.json cohort.csv --out /dev/null");
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn issue_22_4_permissions_are_kept_and_what_is_about_records_is_its_owners() {
        let workplace = workplace();
        assert_eq!(mode(&workplace, "model.json") & 0o600, 0o600);
        assert_eq!(mode(&workplace, "baseline.json"), 0o600);
        assert_eq!(workplace.run("predict model.json cohort.csv --out scores.csv").code, 0);
        assert_eq!(mode(&workplace, "scores.csv"), 0o600);
        for kept in [0o600, 0o640, 0o644] {
            for name in ["model.json", "scores.csv"] {
                let permissions = std::fs::Permissions::from_mode(kept);
                std::fs::set_permissions(workplace.path(name), permissions).unwrap();
            }
            assert_eq!(workplace.run(&format!("{TRAIN} --out model.json --force")).code, 0);
            assert_eq!(workplace.run("predict model.json cohort.csv --out scores.csv --force").code, 0);
            assert_eq!((mode(&workplace, "model.json"), mode(&workplace, "scores.csv")), (kept, kept));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn issue_22_3_a_result_that_could_not_be_printed_is_a_failure() {
        let workplace = workplace();
        for command in [
            "predict model.json cohort.csv",
            "evaluate model.json cohort.csv",
            "evaluate model.json cohort.csv --private --epsilon 1 --json",
            "export model.json --to json",
            "budget export --ledger c.ledger",
            "budget show --ledger c.ledger",
            "verify model.json",
            "plan --records 100 --features 2 --epsilon 1 --delta 1e-6",
            "completions bash",
            "man",
        ] {
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let run = Command::new(env!("CARGO_BIN_EXE_pairdp"))
                .args(command.split_whitespace())
                .current_dir(workplace.path(""))
                .stdout(full)
                .output()
                .unwrap();
            let said = String::from_utf8(run.stderr).unwrap();
            assert_eq!(run.status.code(), Some(2), "{command}: {said}");
            assert!(
                said.contains("standard output: could not be written: the disk is full"),
                "{command}: {said}"
            );
            // What noise was paid for is not lost with it.
            assert!(!command.contains("--private") || said.contains("\"auc\""), "{said}");
        }
    }

    /// The table is a pipe, so the test can look at what is there while the run waits for it.
    fn waiting(workplace: &Workplace, options: &str) -> std::process::Child {
        assert!(Command::new("mkfifo").arg(workplace.path("pipe.csv")).status().unwrap().success());
        Command::new(env!("CARGO_BIN_EXE_pairdp"))
            .args("train pipe.csv --schema cohort.schema.toml --epsilon 1 --delta 1e-6".split_whitespace())
            .args(options.split_whitespace())
            .current_dir(workplace.path(""))
            .env("TMPDIR", workplace.path("tmp"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    #[test]
    fn issue_22_4_drafts_are_their_owners_and_those_of_dead_runs_go() {
        let workplace = workplace();
        let drafts = |workplace: &Workplace| -> Vec<String> {
            workplace.files().into_iter().filter(|name| name.starts_with(".pairdp-")).collect()
        };
        let mut child = waiting(&workplace, "--out new.json --checkpoint run.checkpoint");
        let pipe = std::fs::OpenOptions::new().write(true).open(workplace.path("pipe.csv")).unwrap();
        let [draft] = &drafts(&workplace)[..] else { panic!("{:?}", workplace.files()) };
        assert_eq!((mode(&workplace, draft), mode(&workplace, "run.checkpoint.lock")), (0o600, 0o600));
        // Another run leaves it alone as long as its process lives.
        assert_eq!(workplace.run("predict model.json cohort.csv --out scores.csv").code, 0);
        assert_eq!(drafts(&workplace).len(), 1);
        child.kill().unwrap();
        child.wait().unwrap();
        drop(pipe);
        assert_eq!(drafts(&workplace).len(), 1);
        assert_eq!(workplace.run("predict model.json cohort.csv --out scores.csv --force").code, 0);
        assert_eq!(drafts(&workplace).len(), 0);
        // A whole model was paid for.
        workplace.write(".pairdp-draft-kept", &workplace.read("model.json"));
        assert_eq!(workplace.run("predict model.json cohort.csv --out scores.csv --force").code, 0);
        assert_eq!(drafts(&workplace).len(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn issue_18_14_a_place_that_cannot_be_written_to_costs_nothing() {
        let workplace = workplace();
        std::fs::remove_file(workplace.path("model.json")).unwrap();
        let show = || workplace.run("budget show --ledger c.ledger").out;
        let before = show();
        for out in ["/proc/model.json", "/sys/model.json", "absent/model.json"] {
            // The table is not even there.
            let run = workplace.run(&format!(
                "train absent.csv --schema cohort.schema.toml --epsilon 1 --delta 1e-6 --ledger c.ledger --dataset stays --out {out}"
            ));
            assert!(
                run.err.contains("could not be written") || run.err.contains("no such folder"),
                "{}",
                run.err
            );
            assert_eq!(run.code, if run.err.contains("no such folder") { 1 } else { 2 });
        }
        assert_eq!(show(), before);
    }

    #[test]
    fn issue_18_14_a_model_that_cannot_be_put_in_its_place_is_kept_elsewhere() {
        for (spoil, why) in
            [("folder", "something else was put there meanwhile"), ("gone", "there is no such place")]
        {
            let workplace = workplace();
            for folder in ["tmp", "out"] {
                std::fs::create_dir(workplace.path(folder)).unwrap();
            }
            let options = "--out out/new.json --ledger c.ledger --dataset stays";
            let child = waiting(&workplace, options);
            let mut pipe = std::fs::OpenOptions::new().write(true).open(workplace.path("pipe.csv")).unwrap();
            match spoil {
                "folder" => std::fs::create_dir_all(workplace.path("out/new.json/full")).unwrap(),
                _ => std::fs::remove_dir_all(workplace.path("out")).unwrap(),
            }
            pipe.write_all(workplace.read("cohort.csv").as_bytes()).unwrap();
            drop(pipe);
            let run = Run::from(child.wait_with_output().unwrap());
            assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
            let start = format!(
                "error: out/new.json: could not be written: {why}; the model is paid for and was kept as "
            );
            let kept = run.err.trim_end().strip_prefix(&start).unwrap_or_else(|| panic!("{}", run.err));
            // Beside its place, if that is still there.
            let folder = if spoil == "folder" { "out".into() } else { workplace.path("tmp") };
            assert!(Path::new(kept).starts_with(folder), "{kept}");
            let permissions = std::fs::metadata(workplace.path(kept)).unwrap().permissions();
            assert_eq!(permissions.mode() & 0o777, 0o600);
            assert_eq!(workplace.run(&format!("verify {kept}")).code, 0);
        }
    }
}
