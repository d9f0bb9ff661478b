//! What `train` refuses: one line that says what and where, a hint, exit code 1, and no file touched.

use crate::common::{Run, Workplace};

const SCHEMA: &str = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n\
                      [[column]]\nname = 'a'\nrange = [0, 10]\n\
                      [[column]]\nname = 'b'\ncategories = ['u', 'v']\n";
const GOOD: &str = "a,b,y\n1,u,0\n2,v,1\n3,u,0\n9,v,1\n";
const PRECIOUS: &str = "{\"format\": \"pairdp-model/2\"}";
const BUDGET: &str = "--epsilon 1 --delta 1e-6";

/// Trains on `data` with a model already there, and returns the error after checking that nothing was touched.
fn refused(data: Option<&str>, arguments: &str) -> String {
    let workplace = Workplace::new();
    workplace.write("t.schema.toml", SCHEMA);
    workplace.write("model.json", PRECIOUS);
    if let Some(data) = data {
        workplace.write("t.csv", data);
    }
    let before = workplace.files();
    let run = workplace.run(&format!("train t.csv --out model.json --force {arguments}"));
    assert_eq!(run.code, 1, "{arguments}: {}{}", run.out, run.err);
    assert_eq!(run.out, "");
    assert_eq!(workplace.files(), before);
    assert_eq!(workplace.read("model.json"), PRECIOUS);
    let lines: Vec<&str> = run.err.lines().collect();
    assert!(lines[0].starts_with("error: "), "{}", run.err);
    assert_eq!(lines.iter().filter(|line| line.starts_with("hint: ")).count(), 1, "{}", run.err);
    assert!(lines[1].starts_with("hint: "), "{}", run.err);
    run.err
}

#[test]
fn impossible_budgets() {
    for (budget, word) in [
        ("--epsilon 0 --delta 1e-6", "ε must be"),
        ("--epsilon -1 --delta 1e-6", "ε must be"),
        ("--epsilon NaN --delta 1e-6", "ε must be"),
        ("--epsilon inf --delta 1e-6", "ε must be"),
        ("--epsilon 1 --delta 1", "δ must be"),
        ("--epsilon 1 --delta 2", "δ must be"),
        ("--epsilon 1 --delta -0.1", "δ must be"),
        ("--epsilon 1 --delta 0 --mechanism gaussian", "pure"),
        ("--epsilon 1 --delta 0 --algorithm noisy-sgd", "pure"),
    ] {
        let error = refused(Some(GOOD), budget);
        assert!(error.contains(word), "{budget}: {error}");
    }
}

#[test]
fn tables_of_the_wrong_form() {
    for (data, words) in [
        (None, vec!["t.csv", "no such file"]),
        (Some(""), vec!["t.csv", "empty"]),
        (Some("a,b\n1,u\n"), vec!["t.csv", "line 1", "no column `y`"]),
        (Some("b,y\nu,1\n"), vec!["t.csv", "line 1", "no column `a`"]),
        (Some("a,a,b,y\n1,1,u,1\n"), vec!["t.csv", "line 1", "`a` appears twice"]),
        (Some("a,b,y\n1,u,0\n2,v,1\n3,u,2\n"), vec!["t.csv: line 4, column `y`", "label"]),
        (Some("a,b,y\n1,u,0\nsecret,v,1\n"), vec!["t.csv: line 3, column `a`", "not a number"]),
        (Some("a,b,y\n1,u,0\n,v,1\n"), vec!["t.csv: line 3, column `a`", "empty"]),
        (Some("a,b,y\n1,u,0\ninf,v,1\n"), vec!["t.csv: line 3, column `a`", "not a finite number"]),
        (Some("a,b,y\n1,u,0\nNaN,v,1\n"), vec!["t.csv: line 3, column `a`", "empty"]),
        (Some("a,b,y\n1,u,0\n2,v\n"), vec!["t.csv: line 3", "not as many cells"]),
        (Some("a,b,y\n1,u,0\n2,v,1,9\n"), vec!["t.csv: line 3", "not as many cells"]),
        (Some("a,b,y\n1,u,0\n"), vec!["t.csv", "at least 2 records"]),
        (Some("a,b,y\n"), vec!["t.csv", "at least 2 records"]),
        (Some("a,b,y\n1,\"u\u{fffd},0\n"), vec!["t.csv", "line 2"]),
    ] {
        let error = refused(data, BUDGET);
        for word in words {
            assert!(error.contains(word), "no `{word}` in: {error}");
        }
        assert!(!error.contains("secret"), "quotes a private value: {error}");
    }
}

#[test]
fn other_public_numbers() {
    for (arguments, word) in [
        ("--steps 0", "at least 1"),
        ("--step-size -1", "step size"),
        ("--step-size NaN", "step size"),
        ("--feature-bound 0", "feature bound"),
        ("--radius inf", "radius"),
        ("--delta 1e-30", "drawing the noise"),
        ("--schema absent.toml", "absent.toml: no such file"),
    ] {
        let budget = if arguments.contains("delta") { "--epsilon 1" } else { BUDGET };
        let workplace_error = refused_with_optional_hint(&format!("{budget} {arguments}"));
        assert!(workplace_error.contains(word), "{arguments}: {workplace_error}");
    }
}

fn refused_with_optional_hint(arguments: &str) -> String {
    let workplace = Workplace::new();
    workplace.write("t.schema.toml", SCHEMA);
    workplace.write("t.csv", GOOD);
    let run = workplace.run(&format!("train t.csv {arguments}"));
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(!workplace.path("model.json").exists());
    run.err
}

#[test]
fn a_ranker_needs_a_label_of_two_values() {
    for kind in ["classes = [0, 1, 2]", "range = [0, 1]"] {
        let workplace = Workplace::new();
        workplace.write("t.schema.toml", &SCHEMA.replace("positive = 1\nnegative = 0", kind));
        workplace.write("t.csv", GOOD);
        let run = workplace.run(&format!("train t.csv {BUDGET}"));
        assert_eq!(run.code, 1, "{}", run.err);
        assert!(run.err.contains("ranking cannot be learned"), "{}", run.err);
    }
}

#[test]
fn training_without_ranges_says_what_to_write() {
    let workplace = Workplace::new();
    workplace.write("t.csv", GOOD);
    let run = workplace.run(&format!("train t.csv {BUDGET}"));
    assert_eq!(run.code, 1);
    assert!(run.err.contains("there is no schema"), "{}", run.err);
    assert!(run.err.contains("write t.schema.toml"), "{}", run.err);
    assert!(run.err.contains("name = \"a\"\n  range = [nan, nan]   # FILL IN"), "{}", run.err);
}

/// What depends on the records' content is not an error.
#[test]
fn one_class_constant_columns_and_unseen_categories_train() {
    for data in [
        "a,b,y\n1,u,0\n2,v,0\n3,u,0\n",
        "a,b,y\n1,u,1\n1,u,1\n1,u,1\n",
        "a,b,y\n5,u,0\n5,u,1\n",
        "a,b,y\n5,unheard of,0\n1e300,also unheard of,1\n",
    ] {
        let workplace = Workplace::new();
        workplace.write("t.schema.toml", SCHEMA);
        workplace.write("t.csv", data);
        let run = workplace.run(&format!("train t.csv {BUDGET}"));
        assert_eq!(run.code, 0, "{data}: {}", run.err);
        assert_eq!(workplace.run("verify model.json").code, 0);
    }
}

#[test]
fn quoted_cells_windows_lines_and_extra_columns_are_fine() {
    let workplace = Workplace::new();
    workplace.write("t.schema.toml", SCHEMA);
    workplace.write("t.csv", "\u{feff}id,a,\"b\",y\r\n7,\"1\",u,0\r\n8,2.5,\"v\",1.0\r\n");
    let run = workplace.run(&format!("train t.csv {BUDGET}"));
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn files_that_are_no_models_are_refused() {
    let workplace = Workplace::new();
    for (text, word) in
        [("", "not a pairdp model"), ("{}", "not a pairdp model"), ("{\"format\": 3}", "not a pairdp")]
    {
        workplace.write("m.json", text);
        let run = workplace.run("verify m.json");
        assert_eq!(run.code, 1);
        assert!(run.err.contains("m.json: ") && run.err.contains(word), "{}", run.err);
    }
    assert_eq!(workplace.run("verify absent.json").code, 1);
    assert_eq!(workplace.run("").code, 1);
}

#[cfg(target_os = "linux")]
#[test]
fn issue_22_9_files_that_never_end_are_refused() {
    let workplace = Workplace::new();
    workplace.write("t.csv", GOOD);
    for (command, said) in [
        ("verify /dev/zero", "error: /dev/zero: not a pairdp model\n"),
        ("predict /dev/urandom t.csv", "error: /dev/urandom: not a pairdp model\n"),
        ("schema check t.csv --schema /dev/zero", "error: /dev/zero: longer than any schema\n"),
        (
            "train t.csv --schema /dev/urandom --epsilon 1 --delta 1e-6",
            "error: /dev/urandom: not UTF-8 text\n",
        ),
    ] {
        let run = workplace.run(command);
        assert_eq!(run.code, 1, "{command}: {}", run.err);
        assert!(run.err.starts_with(said), "{command}: {}", run.err);
    }
}

/// A pipe that nobody writes to is given up; one that somebody writes to is a file as any other.
#[cfg(unix)]
#[test]
fn issue_22_9_a_pipe_without_a_writer_is_not_waited_for() {
    let workplace = Workplace::new();
    workplace.write("t.csv", GOOD);
    workplace.write("t.schema.toml", SCHEMA);
    let fifo = std::process::Command::new("mkfifo").arg(workplace.path("pipe")).status().unwrap();
    assert!(fifo.success());
    for command in ["verify pipe", "schema check t.csv --schema pipe"] {
        let run = workplace.run(command);
        assert_eq!(run.code, 1, "{command}: {}", run.err);
        assert!(
            run.err.starts_with("error: pipe: nothing came out of this pipe for 10 seconds\n"),
            "{}",
            run.err
        );
    }
    let pipe = workplace.path("pipe");
    let writer = std::thread::spawn(move || std::fs::write(pipe, SCHEMA));
    let run = workplace.run("schema check t.csv --schema pipe");
    assert_eq!(run.code, 0, "{}", run.err);
    writer.join().unwrap().unwrap();
}

/// Rows beyond the cap do not count, but they are read; whoever's they are, no row is named.
#[test]
fn issue_18_08_a_bad_row_beyond_the_cap_is_refused_without_its_place() {
    let rows = |beyond: &str| format!("{GOOD}4,u,1\n{beyond}\n");
    for (beyond, word) in [
        ("SECRET,u,0", "t.csv: column `a`: not a number"),
        ("4,u,SECRET", "t.csv: column `y`: the label"),
        ("4,u", "t.csv: a row has not as many cells as the header"),
    ] {
        let error = refused(Some(&rows(beyond)), &format!("{BUDGET} --max-records 3"));
        assert!(error.contains(word) && !error.contains("line") && !error.contains("SECRET"), "{error}");
    }
    // And those that are good change nothing that can be seen.
    let workplace = Workplace::new();
    workplace.write("t.schema.toml", SCHEMA);
    for beyond in ["4,u,0", "9,v,1\n9,v,1\n9,v,1"] {
        workplace.write("t.csv", &rows(beyond));
        let run = workplace.run(&format!("train t.csv --out model.json --force {BUDGET} --max-records 3"));
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.out.contains("at most 3") && !run.out.contains("records of 5"), "{}", run.out);
    }
}

/// Results name their files in JSON, which knows UTF-8 only; better before anything is spent than after.
#[cfg(unix)]
#[test]
fn issue_22_names_that_are_not_text_are_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let workplace = Workplace::with_cohort(50);
    let before = workplace.files();
    for options in [&["--json"][..], &[]] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_pairdp"))
            .args("train cohort.csv --epsilon 1 --delta 1e-6 --out".split_whitespace())
            .arg(std::ffi::OsStr::from_bytes(b"model\xff.json"))
            .args(options)
            .current_dir(workplace.path(""))
            .output()
            .unwrap();
        let run = Run::from(output);
        assert!(run.code == 1 && run.err.contains("not text in UTF-8"), "{}", run.err);
        assert_eq!(workplace.files(), before);
    }
}
