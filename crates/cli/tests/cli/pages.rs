//! Commands that the pages print run as printed, each page in a fresh folder with the tables that it speaks of.

use crate::common::Workplace;
use std::path::Path;

/// The commands of a page, without prompts and remarks.
fn commands(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let code = if fenced { Some(line) } else { line.strip_prefix("    ") };
        let Some(code) = code.map(|code| code.strip_prefix("$ ").unwrap_or(code)) else { continue };
        if let Some(arguments) = code.strip_prefix("pairdp ") {
            let arguments = arguments.split("  #").next().unwrap_or(arguments);
            let arguments = arguments.split(" # ").next().unwrap_or(arguments);
            found.push(arguments.trim().to_owned());
        }
    }
    found
}

/// A folder with a cohort under every name that pages have for one; public, as simulated ones are. An empty one for pages that make
/// their own.
fn folder(records: usize) -> Workplace {
    if records == 0 {
        return Workplace::new();
    }
    let workplace = Workplace::with_cohort(records);
    let (table, schema) = (workplace.read("cohort.csv"), workplace.read("cohort.schema.toml"));
    for name in ["stays", "patients", "holdout", "new", "survey"] {
        workplace.write(&format!("{name}.csv"), &table);
        workplace.write(&format!("{name}.schema.toml"), &schema);
    }
    workplace
}

/// Runs a page's commands. What takes minutes is left out by a word of it; whether models are there already is up to the page.
fn run(page: &str, records: usize, model: bool, left_out: &[&str], expected: usize) {
    let workplace = folder(records);
    if model {
        let run = workplace.run("train stays.csv --epsilon 1 --delta 1e-6 --probabilities --out model.json");
        assert_eq!(run.code, 0, "{}", run.err);
    }
    let all = commands(page);
    let kept: Vec<&String> = all.iter().filter(|c| !left_out.iter().any(|word| c.contains(word))).collect();
    assert_eq!(kept.len(), expected, "{page}: {kept:#?}");
    for command in kept {
        let run = workplace.run(command);
        assert_eq!(run.code, 0, "{page}: pairdp {command}\n{}{}", run.out, run.err);
    }
}

#[test]
fn the_page_on_decisions_runs_as_printed() {
    run("docs/decisions.md", 0, false, &[], 5);
}

#[test]
fn the_page_on_ledgers_runs_as_printed() {
    run("docs/ledger.md", 6000, false, &[], 3);
}

#[test]
fn the_page_on_additive_models_runs_as_printed() {
    run("docs/additive_models.md", 300, true, &[], 2);
}

/// Audits at 20,000 runs take minutes; `crates/audit` has them shorter.
#[test]
fn the_readme_runs_as_printed() {
    run("README.md", 6000, false, &["audit"], 12);
}
