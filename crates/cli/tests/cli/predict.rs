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
