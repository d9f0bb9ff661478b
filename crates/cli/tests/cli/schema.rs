//! `schema init`, `schema check`, and tables in other formats than CSV.

use crate::common::Workplace;

const SCHEMA: &str = "ignore = ['id', 'gone']\n\
                      [label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n\
                      [[column]]\nname = 'a'\nrange = [0, 10]\nmissing = 3\n\
                      [[column]]\nname = 'b'\ncategories = ['u', 'v']\nother = true\n";

#[test]
fn a_template_comes_from_the_header_alone() {
    let workplace = Workplace::new();
    // Records that no reader could parse, and that must not matter.
    workplace.write("t.csv", "a,\"b, c\",y\n\"secret,,,,\n\u{0}");
    let run = workplace.run("schema init t.csv");
    assert_eq!(run.code, 0, "{}", run.err);
    let schema = workplace.read("t.schema.toml");
    assert!(schema.contains("name = \"b, c\"") && schema.contains("column = \"y\""), "{schema}");
    assert!(!schema.contains("secret"));

    let again = workplace.run("schema init t.csv");
    assert_eq!(again.code, 1);
    assert!(again.err.contains("there is a schema already"), "{}", again.err);
    assert_eq!(workplace.run("schema init t.csv --out other.toml").code, 0);
    assert_eq!(workplace.read("other.toml"), schema);

    for command in ["schema check t.csv", "train t.csv --epsilon 1 --delta 1e-6"] {
        let run = workplace.run(command);
        assert!(run.code == 1 && run.err.contains("still to be filled in"), "{}", run.err);
    }
    let filled_in = schema.replacen("\"FILL IN\"", "1", 1).replace("\"FILL IN\"", "0");
    workplace.write("t.schema.toml", &filled_in.replace("[nan, nan]", "[0, 1]"));
    let check = workplace.run("schema check t.csv");
    assert_eq!(check.code, 0, "{}", check.err);
    assert!(check.out.contains("2 numbers"), "{}", check.out);
}

#[test]
fn templates_need_a_header_of_distinct_names() {
    let workplace = Workplace::new();
    workplace.write("t.csv", "a,b,a\n");
    workplace.write("t.svm", "1 1:1\n");
    for (name, word) in
        [("t.csv", "`a` appears twice"), ("t.svm", "no header"), ("t.json", "not that of a table")]
    {
        let run = workplace.run(&format!("schema init {name}"));
        assert_eq!(run.code, 1, "{name}");
        assert!(run.err.contains(word), "{}", run.err);
    }
    assert_eq!(workplace.files(), ["t.csv", "t.svm"]);
}

#[test]
fn a_check_tells_what_each_column_becomes() {
    let workplace = Workplace::new();
    workplace.write("t.schema.toml", SCHEMA);
    workplace.write("t.csv", "id,a,b,y,extra\n\"secret");
    let run = workplace.run("schema check t.csv");
    assert_eq!(run.code, 0, "{}", run.err);
    for words in [
        "0 to 10 mapped to −1 to 1; an empty cell counts as 3",
        "2 categories and one for all others: 3 entries; empty cells are refused",
        "`1` ranks above `0`",
        "becomes 4 numbers; records are private",
        "warning: column `extra` is not used: the schema neither lists nor ignores it",
        "warning: the schema ignores a column `gone`",
    ] {
        assert!(run.out.contains(words), "no `{words}` in:\n{}", run.out);
    }
    assert!(!run.out.contains("`id`") && !run.out.contains("secret"), "{}", run.out);
    let json: serde_json::Value =
        serde_json::from_str(&workplace.run("schema check t.csv --json").out).unwrap();
    assert_eq!((&json["dimension"], &json["unlisted"][0]), (&4.into(), &"extra".into()));

    workplace.write("t.schema.toml", &SCHEMA.replace("missing = 3", "missing = 'own'"));
    let run = workplace.run("schema check t.csv");
    for words in ["0 to 10 mapped to −1 to 1; an empty cell has an entry of its own", "becomes 5 numbers"] {
        assert!(run.out.contains(words), "no `{words}` in:\n{}", run.out);
    }

    workplace.write("t.csv", "id,a,y\n");
    let run = workplace.run("schema check t.csv");
    assert_eq!(run.code, 1);
    assert!(run.err.contains("t.csv: line 1: no column `b`"), "{}", run.err);
}

#[test]
fn libsvm_tables_train_and_score() {
    let workplace = Workplace::new();
    let schema = "private = false\n[label]\ncolumn = 'label'\npositive = '+1'\nnegative = -1\n\
                  [[column]]\nname = '1'\nrange = [0, 1]\n[[column]]\nname = '3'\nrange = [0, 1]\n";
    workplace.write("t.schema.toml", schema);
    workplace.write("t.svm", "+1 1:0.5 3:1\n-1 2:7\n+1 3:0.2\n-1 1:1\n");
    assert_eq!(workplace.run("schema check t.svm").code, 0);
    let run = workplace.run("train t.svm --epsilon 1 --delta 1e-6");
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(workplace.run("predict model.json t.svm").out.lines().count(), 5);
    let run = workplace.run("evaluate model.json t.svm");
    assert_eq!(run.code, 0, "{}", run.err);
}
