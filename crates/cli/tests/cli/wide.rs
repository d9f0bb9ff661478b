//! Tables of very many columns or categories.

use crate::common::Workplace;
use std::fmt::Write as _;
use std::time::Instant;

const LABEL: &str = "[label]\ncolumn = \"y\"\npositive = 1\nnegative = 0\n";

/// A table with one column of so many categories, and a ledger for it.
fn categories(count: usize) -> Workplace {
    let workplace = Workplace::new();
    let mut rows = String::from("a,k,y\n");
    (0..40).for_each(|row| writeln!(rows, "{},v{},{}", row % 7, row * 611 % count, row % 2).unwrap());
    workplace.write("t.csv", &rows);
    let values: Vec<String> = (0..count).map(|k| format!("\"v{k}\"")).collect();
    let columns = "[[column]]\nname = \"a\"\nrange = [0, 7]\n[[column]]\nname = \"k\"\n";
    workplace.write("t.schema.toml", &format!("{LABEL}{columns}categories = [{}]\n", values.join(",")));
    let create =
        "budget create t --ledger c.ledger --epsilon 2 --delta 1e-6 --records 40 --schema t.schema.toml";
    let run = workplace.run(create);
    assert_eq!(run.code, 0, "{}", run.err);
    workplace
}

const TRAIN: &str = "train t.csv --epsilon 1 --delta 1e-6 --ledger c.ledger --dataset t --out m.json";

#[test]
fn issue_22_8_a_ranker_of_60000_categories_trains() {
    let workplace = categories(60_000);
    let run = workplace.run(&format!("{TRAIN} --json"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("\"features\":60001"), "{}", run.out);
}

#[test]
fn issue_22_8_a_plan_that_memory_does_not_hold_is_refused_before_anything_is_spent() {
    let workplace = categories(400_000);
    for options in ["--algorithm moments", "--task metric --algorithm noisy-gd"] {
        let run = workplace.run(&format!("{TRAIN} {options}"));
        assert_eq!(run.code, 1, "{options}: {}", run.err);
        assert!(run.err.contains("GB of memory beside the table"), "{options}: {}", run.err);
    }
    let show = workplace.run("budget show --ledger c.ledger").out;
    assert!(show.contains("0 done, 0 open or broken off (spent), 0 cancelled"), "{show}");
}

#[test]
fn issue_22_8_a_hundred_thousand_columns_are_checked_in_a_moment_and_trained_on() {
    let workplace = Workplace::new();
    let (mut header, mut schema) = (String::new(), LABEL.to_owned());
    for k in 0..100_000 {
        write!(header, "c{k},").unwrap();
        writeln!(schema, "[[column]]\nname = \"c{k}\"\nrange = [0, 9]").unwrap();
    }
    let mut table = format!("{header}y\n");
    for row in 0..6 {
        (0..100_000).for_each(|k| write!(table, "{},", (k * 7 + row * 13) % 10).unwrap());
        writeln!(table, "{}", row % 2).unwrap();
    }
    workplace.write("t.csv", &table);
    workplace.write("t.schema.toml", &schema);
    let start = Instant::now();
    let run = workplace.run("schema check t.csv --quiet");
    assert_eq!(run.code, 0, "{}", run.err);
    // Half a second on a core of its own; by looking through all names for each it was half a minute.
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    let run = workplace.run("train t.csv --epsilon 1 --delta 1e-6 --steps 3 --out m.json");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("6 records of 100000 features by noisy-gd"), "{}", run.out);
    // By what is chosen for such a table: reading where each column lies took minutes, and read nothing but noise.
    let start = Instant::now();
    let run = workplace.run("train t.csv --epsilon 1 --delta 1e-6 --out chosen.json");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
