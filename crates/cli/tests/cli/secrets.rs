//! No message quotes a cell: bad tables in every format, with a mark in the cell that is wrong.

use crate::common::{Run, Workplace, root};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const MARK: &str = "P00000SECRET";

/// The bad tables that `tests/snapshots/bad-inputs.md` is about.
fn workplace() -> Workplace {
    let workplace = Workplace::new();
    copy(&root().join("crates/cli/tests/snapshots/bad-inputs.in"), &workplace.path(""));
    workplace
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir(&place).unwrap();
            copy(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), place).unwrap();
        }
    }
}

fn silent(run: &Run, about: &str) {
    assert!(!run.out.contains(MARK) && !run.err.contains(MARK), "{about}: {}{}", run.out, run.err);
}

#[test]
fn issue_18_16_no_command_quotes_a_cell() {
    let workplace = workplace();
    let run = workplace.run("train t.csv --epsilon 1 --delta 1e-6 --out model.json");
    assert_eq!(run.code, 0, "{}", run.err);
    let tables: Vec<String> = workplace
        .files()
        .into_iter()
        .filter(|name| {
            [".csv", ".gz", ".parquet", ".svm", "parts"].iter().any(|ending| name.ends_with(ending))
        })
        .collect();
    assert!(tables.len() > 20);
    for table in &tables {
        let schema = if table.contains(".svm") { "svm.schema.toml" } else { "t.schema.toml" };
        let mut commands = vec![
            format!("evaluate model.json {table} --public"),
            format!("evaluate model.json {table} --private --epsilon 1"),
            format!("predict model.json {table}"),
            format!("report model.json {table} --public -o page.html"),
        ];
        for command in ["train", "train --max-records 50", "train --engine local:2", "baseline", "influence"]
        {
            let budget = if command.starts_with("train") {
                "--epsilon 1 --delta 1e-6 --out m.json --force"
            } else {
                ""
            };
            commands.push(format!("{command} {table} --schema {schema} {budget}"));
        }
        for command in commands {
            for ending in ["", " --json"] {
                let run = workplace.run(&format!("{command}{ending}"));
                silent(&run, &format!("{command}{ending}"));
                if command.contains("--max-records") || table == "parts" {
                    // The header is line 1, of which nothing is secret.
                    let rows = ["line 2", "line 3", "line 4", "line 5", "line 6", "record 2", "record 3"];
                    assert!(!rows.iter().any(|row| run.err.contains(row)), "{command}: {}", run.err);
                }
            }
        }
    }
}

/// What a worker answers goes over pipes and networks.
#[test]
fn issue_18_16_no_worker_quotes_a_cell_or_names_a_row() {
    let workplace = workplace();
    for table in [
        "parts/2.csv",
        "text.csv",
        "label.csv",
        "short.csv",
        "long.csv",
        "quote.csv",
        "label.parquet",
        "text.parquet",
    ] {
        let path = workplace.path(table);
        let schema = pairdp_data::Schema::read(&workplace.path("t.schema.toml")).unwrap();
        let encoding = pairdp_data::Encoding::of(&schema);
        let task = pairdp_model::Task::Ranking;
        let parts =
            pairdp_release::parts::describe(task, &[path], &encoding, schema.label(), None, 1).unwrap();
        let body = serde_json::to_vec(&parts).unwrap();
        let mut worker = Command::new(env!("CARGO_BIN_EXE_pairdp"))
            .arg("worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut frame = vec![b'P'];
        frame.extend((body.len() as u64).to_le_bytes());
        frame.extend(body);
        worker.stdin.take().unwrap().write_all(&frame).unwrap();
        let output = worker.wait_with_output().unwrap();
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.stdout.first(), Some(&b'E'), "{table}: {said}");
        let file = Path::new(table).file_name().unwrap().to_string_lossy();
        assert!(said.contains(&*file) && !said.contains(MARK), "{table}: {said}");
        assert!(!said.contains("line 6") && !said.contains("record 2"), "{table}: {said}");
    }
}

/// Names from files and from the command line cannot paint the terminal or pretend to be another line.
#[test]
fn issue_22_10_names_from_files_do_nothing_to_a_terminal() {
    let workplace = Workplace::new();
    let column = "a\u{1b}[31m\u{202e}\u{7}";
    workplace.write("t.csv", &format!("{column},{column},y\n1,2,3\n"));
    workplace.write(
        "t.schema.toml",
        "[label]\ncolumn = \"y\\nhint: rm\"\npositive = 1\nnegative = 0\n[[column]]\nname = \"a\"\nrange = [0, 1]\n",
    );
    for command in
        ["schema init t.csv --out s.schema.toml", "train t.csv --epsilon 1 --delta 1e-6", "verify \u{1b}[2J"]
    {
        let run = workplace.run(command);
        assert_eq!(run.code, 1, "{}", run.out);
        let said = run.out + &run.err;
        assert!(!said.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{said:?}");
        assert!(!said.contains("\nhint: rm"), "{said}");
    }
}

/// The table of refusals is long enough to be called one, and none of them quotes a cell.
#[test]
fn issue_18_a_hundred_bad_inputs_have_their_words() {
    let table = std::fs::read_to_string(root().join("crates/cli/tests/snapshots/bad-inputs.md")).unwrap();
    assert!(table.lines().filter(|line| line.starts_with("$ pairdp ")).count() >= 100);
    assert!(!table.contains(MARK));
    for (at, line) in table.lines().enumerate().filter(|(_, line)| line.starts_with("error: ")) {
        assert!(!line.ends_with('.') || line.ends_with("'."), "line {}: {line}", at + 1);
        assert!(!line.contains("os error"), "line {}: {line}", at + 1);
    }
}

/// A process that holds records leaves no core: it has no right to write one, and is not to be dumped.
#[cfg(target_os = "linux")]
#[test]
fn no_process_with_records_can_be_dumped() {
    use std::os::unix::fs::MetadataExt as _;
    let workplace = Workplace::with_cohort(100);
    let pipe = workplace.path("pipe.csv");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for command in ["train pipe.csv --schema cohort.schema.toml --epsilon 1 --delta 1e-6", "worker"] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_pairdp"))
            .args(command.split_whitespace())
            .current_dir(workplace.path(""))
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let limit = || {
            let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap_or_default();
            let line = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap_or_default();
            line.split_whitespace().skip(4).take(2).map(str::to_owned).collect::<Vec<_>>()
        };
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while limit() != ["0", "0"] {
            assert!(std::time::Instant::now() < deadline, "{command}: {:?}", limit());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // What cannot be dumped belongs to root, whoever started it.
        let owner = std::fs::metadata(format!("/proc/{}/environ", child.id())).unwrap().uid();
        assert_eq!(owner, 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
