//! `cargo xtask reproduce`, as its program is called.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use serde_json::Value;
use std::fs::{create_dir, hard_link, read_dir, read_to_string, remove_file, write};
use std::path::Path;
use std::process::Command;

/// Exit code, standard output, standard error.
fn run(folder: &Path, command: &str) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_pairdp-reproduce"))
        .args(command.split(' '))
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_table_is_rerun_once_and_written_in_four_forms() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| read_to_string(folder.path().join(name)).unwrap();
    let (code, out, err) = run(folder.path(), "bassily-stability --quick --out rerun");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("6 cells, 0 of them") && out.contains("quick: up to 400 steps"), "{out}");
    let csv = read("rerun/bassily-stability.csv");
    // A header, and 6 cells of 3 rows and 4 columns.
    assert_eq!(csv.lines().count(), 1 + 6 * 3 * 4);
    let page = read("rerun/index.md");
    assert!(page.contains("(bassily-stability.svg)") && page.contains("printed upper"), "{page}");
    // Names of columns, their rule, and 6 cells of 3 rows.
    assert_eq!(page.lines().filter(|line| line.starts_with('|')).count(), 2 + 6 * 3);
    assert!(read("rerun/bassily-stability.svg").ends_with("</svg>\n"));
    assert_eq!(read("rerun/cells.jsonl").lines().count(), 6);
    let (_, again, _) = run(folder.path(), "bassily-stability --quick --out rerun --json");
    let object: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(object["experiments"][0]["kept"], 6);
    assert_eq!(read("rerun/bassily-stability.csv"), csv);
    // The page holds what earlier runs found of other tables.
    assert_eq!(run(folder.path(), "kang-bounds --out rerun").0, 0);
    let page = read("rerun/index.md");
    assert!(page.contains("Uniform argument stability") && page.contains("Excess population risk"));
}

#[test]
fn unknown_tables_are_refused_and_known_ones_listed() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = run(folder.path(), "table-9 --out rerun");
    assert_eq!(code, 1);
    assert!(err.contains("reproduce list"), "{err}");
    assert_eq!(read_dir(folder.path()).unwrap().count(), 0);
    let (_, names, _) = run(folder.path(), "list");
    for name in [
        "xue-auc",
        "xue-metric",
        "wang-squares",
        "bassily-stability",
        "kang-bounds",
        "kang-networks",
        "yang-norms",
    ] {
        assert!(names.contains(name), "no {name} in {names}");
    }
}

/// Cells are added to a file: it has to be one of cells, and what another name of it shows does not change.
#[test]
fn issue_18_13_cells_are_added_to_a_file_of_cells_only() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    create_dir(at("rerun")).unwrap();
    write(at("table.csv"), "a,b\n1,2\n").unwrap();
    hard_link(at("table.csv"), at("rerun/cells.jsonl")).unwrap();
    let command = "bassily-stability --quick --out rerun";
    let (code, _, err) = run(folder.path(), command);
    assert!(code == 1 && err.contains("it is not a file of finished cells"), "{err}");
    assert_eq!(read_to_string(at("table.csv")).unwrap(), "a,b\n1,2\n");
    let cell = "{\"experiment\":\"bassily-stability\",\"key\":\"old\",\"repetitions\":1,\"rows\":[]}\n";
    remove_file(at("rerun/cells.jsonl")).unwrap();
    write(at("kept.jsonl"), cell).unwrap();
    hard_link(at("kept.jsonl"), at("rerun/cells.jsonl")).unwrap();
    let (code, _, err) = run(folder.path(), command);
    assert_eq!(code, 0, "{err}");
    assert_eq!(read_to_string(at("kept.jsonl")).unwrap(), cell);
    assert!(read_to_string(at("rerun/cells.jsonl")).unwrap().starts_with(cell));
}

#[test]
fn files_of_somebody_else_stay_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(at("notes.txt"), "mine").unwrap();
    let (code, _, err) = run(folder.path(), "all --quick --out notes.txt");
    assert!(code == 1 && err.contains("notes.txt: this is a file"), "{err}");
    assert_eq!(read_to_string(at("notes.txt")).unwrap(), "mine");
    for name in ["bassily-stability.csv", "bassily-stability.svg", "index.md"] {
        let place = tempfile::tempdir_in(folder.path()).unwrap();
        write(place.path().join(name), "mine\n").unwrap();
        let command = format!("bassily-stability --quick --out {}", place.path().display());
        let (code, _, err) = run(folder.path(), &command);
        assert!(code == 1 && err.contains("not from an earlier run"), "{name}: {err}");
        assert_eq!(read_to_string(place.path().join(name)).unwrap(), "mine\n");
    }
}
