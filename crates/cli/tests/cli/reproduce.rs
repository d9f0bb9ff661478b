//! `pairdp reproduce`.

use crate::common::Workplace;
use serde_json::Value;

#[test]
fn a_table_is_rerun_once_and_written_in_four_forms() {
    let workplace = Workplace::new();
    let run = workplace.run("reproduce bassily-stability --quick --out rerun");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.out.contains("6 cells, 0 of them") && run.out.contains("quick: up to 400 steps"),
        "{}",
        run.out
    );
    let csv = workplace.read("rerun/bassily-stability.csv");
    // A header, and 6 cells of 3 rows and 4 columns.
    assert_eq!(csv.lines().count(), 1 + 6 * 3 * 4);
    let page = workplace.read("rerun/index.html");
    assert!(page.contains("<svg") && page.contains("printed upper") && !page.contains("<script"));
    assert!(workplace.read("rerun/bassily-stability.svg").ends_with("</svg>\n"));
    assert_eq!(workplace.read("rerun/cells.jsonl").lines().count(), 6);
    let again = workplace.run("reproduce bassily-stability --quick --out rerun --json");
    let object: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(object["experiments"][0]["kept"], 6);
    assert_eq!(workplace.read("rerun/bassily-stability.csv"), csv);
    // The page holds what earlier runs found of other tables.
    assert_eq!(workplace.run("reproduce kang-bounds --out rerun").code, 0);
    let page = workplace.read("rerun/index.html");
    assert!(page.contains("Uniform argument stability") && page.contains("Excess population risk"));
}

#[test]
fn unknown_tables_are_refused_and_known_ones_listed() {
    let workplace = Workplace::new();
    let refused = workplace.run("reproduce table-9 --out rerun");
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("reproduce list"), "{}", refused.err);
    assert!(workplace.files().is_empty());
    let names = workplace.run("reproduce list").out;
    for name in ["xue-auc", "xue-metric", "wang-squares", "bassily-stability", "kang-bounds", "yang-norms"] {
        assert!(names.contains(name), "no {name} in {names}");
    }
}
