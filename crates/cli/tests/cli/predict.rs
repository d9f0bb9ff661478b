//! Rows that cannot be scored, columns that are kept, and the custodian's own look at a table.

use crate::common::Workplace;
use serde_json::Value;

const SCHEMA: &str = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n\
                      [[column]]\nname = 'a'\nrange = [0, 10]\n\
                      [[column]]\nname = 'b'\ncategories = ['u', 'v']\nmissing = 'u'\n";
const NEW: &str = "id,a,b,y\n7.0,3,u,1\n\"x, y\",,v,0\n=1+1,old,u,2\n,99,w,\n";

fn workplace() -> Workplace {
    let workplace = Workplace::new();
    workplace.write("t.schema.toml", SCHEMA);
    let row = |text: String, k: usize| text + &format!("{},{},{}\n", k % 10, ["u", "v"][k % 2], k % 2);
    let rows = (0..200).fold(String::new(), row);
    workplace.write("t.csv", &format!("a,b,y\n{rows}"));
    workplace.write("new.csv", NEW);
    workplace.write("new.schema.toml", SCHEMA);
    let run = workplace.run("train t.csv --epsilon 1 --delta 1e-6 --out model.json");
    assert_eq!(run.code, 0, "{}", run.err);
    workplace
}

#[test]
fn a_row_that_cannot_be_scored_is_empty_and_counted() {
    let workplace = workplace();
    let run = workplace.run("predict model.json new.csv --out scores.csv");
    assert!(run.out.contains("(2 scores") && run.out.contains("2 rows could not be scored"), "{}", run.out);
    let scores = workplace.read("scores.csv");
    let rows: Vec<&str> = scores.lines().collect();
    assert_eq!((rows[2], rows[3], rows.len()), ("\"\"", "\"\"", 5));
    assert!(rows[1].parse::<f64>().is_ok() && rows[4].parse::<f64>().is_ok());
    let told: Value = serde_json::from_str(&workplace.run("predict model.json new.csv --json").out).unwrap();
    assert!(told["rows"][1][0].is_null() && told["rows"][0][0].is_number(), "{told}");
    let run = workplace.run("predict model.json new.csv");
    assert!(run.err.contains("warning: 2 rows could not be scored") && run.code == 0, "{}", run.err);
}

#[test]
fn a_strict_prediction_refuses_the_table_and_says_where() {
    let run = workplace().run("predict model.json new.csv --strict --out scores.csv");
    assert!(run.code == 1 && run.err.contains("new.csv: line 3, column `a`: empty"), "{}", run.err);
}

#[test]
fn kept_columns_come_first_as_they_are_and_no_spreadsheet_runs_them() {
    let workplace = workplace();
    assert_eq!(workplace.run("predict model.json new.csv --keep id,a --reasons=1 --out scores.csv").code, 0);
    let scores = workplace.read("scores.csv");
    let rows: Vec<&str> = scores.lines().collect();
    assert_eq!(rows[0], "id,a,score,reasons");
    assert!(rows[1].starts_with("7.0,3,") && rows[4].starts_with(",99,"), "{scores}");
    assert_eq!((rows[2], rows[3]), ("\"x, y\",,,", "'=1+1,old,,"));
    let run = workplace.run("predict model.json new.csv --keep nothing");
    assert!(run.code == 1 && run.err.contains("no column `nothing`"), "{}", run.err);
    workplace.write("scored.csv", "score,a,b\n1,2,u\n");
    let run = workplace.run("predict model.json scored.csv --keep score");
    assert!(run.code == 1 && run.err.contains("of that name"), "{}", run.err);
}

#[test]
fn a_custodian_sees_what_a_schema_does_to_a_table_and_that_it_is_not_private() {
    let workplace = workplace();
    let run = workplace.run("check new.csv");
    assert!(run.out.starts_with("not private: do not publish"), "{}", run.out);
    let told: Value = serde_json::from_str(&workplace.run("check new.csv --json").out).unwrap();
    assert_eq!(
        (&told["warning"], &told["unreadable_records"]),
        (&"not private: do not publish".into(), &2.into())
    );
    let counts: Vec<Vec<u64>> = told["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| {
            ["clipped", "unlisted", "missing", "unreadable"]
                .map(|what| column[what].as_u64().unwrap())
                .to_vec()
        })
        .collect();
    // y, a and b.
    assert_eq!(counts, [[0, 1, 1, 0], [1, 0, 1, 1], [0, 1, 0, 0]]);
}

#[test]
fn a_check_is_never_written_where_something_released_may_be() {
    let workplace = workplace();
    let model = workplace.read("model.json");
    for out in ["model.json", "check.txt", "report.html", "t.csv"] {
        let run = workplace.run(&format!("check t.csv --out {out}"));
        assert!(run.code == 1 && run.err.contains("must not look like"), "{}", run.err);
    }
    assert_eq!(workplace.read("model.json"), model);
    workplace.write("model.not-private.txt", &model);
    let run = workplace.run("check t.csv --out model.not-private.txt");
    assert!(run.code == 1 && workplace.read("model.not-private.txt") == model, "{}", run.err);
    for _ in 0..2 {
        let run = workplace.run("check t.csv --out t.not-private.txt");
        assert!(run.code == 0 && run.out.contains("NOT private"), "{}{}", run.out, run.err);
    }
    assert!(workplace.read("t.not-private.txt").starts_with("not private: do not publish"));
}

#[test]
fn predictions_are_the_same_in_parquet_and_replace_no_table() {
    let workplace = workplace();
    assert_eq!(workplace.run("predict model.json new.csv --keep id --out scores.csv").code, 0);
    let run = workplace.run("predict model.json new.csv --keep id --out scores.parquet");
    assert!(run.code == 0 && run.out.contains("(2 scores"), "{}{}", run.out, run.err);
    // Read as a table again: the scores of the first are the second's, cell for cell.
    let schema = "[label]\ncolumn = 'id'\nclasses = ['a', 'b']\n\
                  [[column]]\nname = 'score'\nrange = [-1000, 1000]\nmissing = 'own'\n";
    let schema = pairdp_data::Schema::parse(schema).unwrap();
    let encoding = pairdp_data::Encoding::of(&schema);
    let read = |name: &str| {
        let path = workplace.path(name);
        let read =
            pairdp_data::Survey::read(&path, &encoding, &["id".to_owned()], &std::sync::Arc::default());
        let read = read.unwrap();
        (read.table.features, read.kept)
    };
    let (csv, parquet) = (read("scores.csv"), read("scores.parquet"));
    assert_eq!(csv.0, parquet.0);
    assert_eq!(parquet.1[0], ["7.0", "x, y", "=1+1", ""]);
    let run = workplace.run("predict model.json new.csv --out scores.parquet");
    assert!(run.code == 1 && run.err.contains("there is a file of predictions already"), "{}", run.err);
    assert_eq!(workplace.run("predict model.json new.csv --out scores.parquet --force").code, 0);
    let run = workplace.run("predict model.json scores.parquet --out scores.parquet --force");
    assert!(run.code == 1 && run.err.contains("this is the table that the command reads"), "{}", run.err);
    // A Parquet file of somebody else's is no file of predictions.
    std::fs::write(workplace.path("table.parquet"), b"PAR1 something else PAR1").unwrap();
    let run = workplace.run("predict model.json new.csv --out table.parquet --force");
    assert!(run.code == 1 && run.err.contains("it is not a file of predictions"), "{}", run.err);
}

/// A matrix of this table would take 1.6 GB; the command may have 0.5 GB of addresses.
#[cfg(target_os = "linux")]
#[test]
fn a_table_larger_than_memory_is_scored() {
    const CATEGORIES: usize = 2_000;
    const ROWS: usize = 100_000;
    let workplace = Workplace::new();
    let names: Vec<String> = (0..CATEGORIES).map(|k| format!("'c{k}'")).collect();
    let schema = format!(
        "private = false\n[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n[[column]]\nname = 'a'\ncategories = [{}]\n",
        names.join(", ")
    );
    workplace.write("t.schema.toml", &schema);
    let rows = |count: usize| {
        (0..count).fold("a,y\n".to_owned(), |text, k| text + &format!("c{},{}\n", k % CATEGORIES, k % 2))
    };
    workplace.write("t.csv", &rows(400));
    let run = workplace.run("train t.csv --epsilon 1 --delta 1e-6 --algorithm noisy-gd --steps 3 --representation ranges --out model.json");
    assert_eq!(run.code, 0, "{}", run.err);
    workplace.write("large.csv", &rows(ROWS));
    let limited = |arguments: &str| {
        let command = format!("ulimit -v 500000; exec {} {arguments}", env!("CARGO_BIN_EXE_pairdp"));
        let run = std::process::Command::new("bash")
            .args(["-c", &command])
            .current_dir(workplace.path("."))
            .output();
        let run = run.unwrap();
        (
            run.status.success(),
            String::from_utf8_lossy(&run.stdout).into_owned(),
            String::from_utf8_lossy(&run.stderr).into_owned(),
        )
    };
    let (done, said, errors) = limited("predict model.json large.csv --out scores.csv");
    assert!(done && said.contains(&format!("({ROWS} scores")), "{said}{errors}");
    assert_eq!(workplace.read("scores.csv").lines().count(), ROWS + 1);
    let (done, _, errors) = limited("predict model.json large.csv --strict --keep a --out scores.parquet");
    assert!(done, "{errors}");
    let (done, printed, errors) = limited("predict model.json large.csv --json");
    assert!(done && printed.ends_with("]}\n"), "{errors}");
    // The bound bounds something: a command that holds the whole table ends there.
    let (done, ..) = limited("evaluate model.json large.csv --schema t.schema.toml");
    assert!(!done);
}

#[test]
fn a_table_without_rows_has_a_header_and_no_predictions() {
    let workplace = workplace();
    workplace.write("none.csv", "a,b\n");
    assert_eq!(workplace.run("predict model.json none.csv").out, "score\n");
    assert_eq!(
        workplace.run("predict model.json none.csv --json").out,
        "{\"columns\":[\"score\"],\"rows\":[]}\n"
    );
    assert_eq!(workplace.run("predict model.json none.csv --out none.parquet").code, 0);
    assert!(std::fs::metadata(workplace.path("none.parquet")).unwrap().len() > 0);
}

/// Nothing is put in its place by a prediction that fails on its way.
#[test]
fn a_table_that_breaks_off_leaves_no_predictions() {
    let workplace = workplace();
    let rows = (0..50_000).fold("a,b\n".to_owned(), |text, k| text + &format!("{},u\n", k % 10));
    workplace.write("broken.csv", &(rows + "1,u,v,w\n"));
    for out in ["scores.csv", "scores.parquet"] {
        let run = workplace.run(&format!("predict model.json broken.csv --out {out}"));
        assert!(run.code == 1 && run.err.contains("line 50002: not as many cells"), "{}", run.err);
        assert!(!workplace.path(out).exists());
    }
    assert!(workplace.files().iter().all(|name| !name.contains("draft")), "{:?}", workplace.files());
}

#[test]
fn dates_and_other_delimiters_go_from_the_schema_to_the_model() {
    let workplace = Workplace::new();
    let rows = (0..300).fold("seen;dose;y\n".to_owned(), |text, k| {
        text + &format!("2024-{:02}-{:02};{},5;{}\n", 1 + k % 12, 1 + k % 28, k % 9, u8::from(k % 12 > 5))
    });
    workplace.write("t.csv", &rows);
    let run = workplace.run("schema init t.csv");
    assert!(run.code == 0 && workplace.read("t.schema.toml").contains("delimiter = \";\""), "{}", run.err);
    workplace.write(
        "t.schema.toml",
        "delimiter = ';'\ndecimal = ','\n[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n\
         [[column]]\nname = 'seen'\nkind = 'date'\nrange = [2024-01-01, 2024-12-31]\n[[column]]\nname = 'dose'\nrange = [0, 10]\n",
    );
    let run = workplace.run("schema check t.csv");
    assert!(run.out.contains("a date, 2024-01-01 to 2024-12-31 mapped to −1 to 1"), "{}{}", run.out, run.err);
    let run = workplace.run("train t.csv --epsilon 2 --delta 1e-6 --representation ranges --out model.json");
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(workplace.run("verify model.json").code, 0);
    let run = workplace.run("predict model.json t.csv --keep seen --out scores.csv");
    assert!(
        run.code == 0 && workplace.read("scores.csv").starts_with("seen,score\n2024-01-01,"),
        "{}",
        run.err
    );
    assert!(workplace.run("show model.json").out.contains("each day"));
    let run = workplace.run("check t.csv");
    assert!(
        run.code == 0 && run.out.contains("of 300 records, 0 have a feature that cannot be read"),
        "{}",
        run.out
    );
    workplace.write("other.csv", "seen,dose,y\n2024-01-01,1,1\n");
    let run = workplace.run("predict model.json other.csv");
    assert!(
        run.code == 1 && run.err.contains("cells stand between commas, and not between semicolons"),
        "{}",
        run.err
    );
    assert!(run.out.is_empty());
}

/// A pipe is read once.
#[cfg(unix)]
#[test]
fn a_table_may_come_through_a_pipe() {
    let workplace = workplace();
    let pipe = workplace.path("new.fifo.csv");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn(move || std::fs::write(pipe, NEW));
    let run = workplace.run("predict model.json new.fifo.csv --keep id");
    assert!(run.code == 0 && run.out.lines().count() == 5, "{}{}", run.out, run.err);
    drop(writer);
}
