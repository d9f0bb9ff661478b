//! Commands that the pages print run as printed, each page in a fresh folder with the tables that it speaks of.

use crate::common::Workplace;
use std::path::Path;

/// A command of a page, without prompt and remark, and the refusal that the page prints below it, if it does.
struct Printed {
    command: String,
    refusal: Vec<String>,
}

fn commands(page: &str) -> Vec<Printed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let mut fenced = false;
    let mut found: Vec<Printed> = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let code = if fenced { Some(line) } else { line.strip_prefix("    ") };
        let Some(code) = code.map(|code| code.strip_prefix("$ ").unwrap_or(code)) else { continue };
        if let (Some(last), true) =
            (found.last_mut(), code.starts_with("error: ") || code.starts_with("hint: "))
        {
            last.refusal.push(code.to_owned());
        }
        if let Some(arguments) = code.strip_prefix("pairdp ") {
            let arguments = arguments.split("  #").next().unwrap_or(arguments);
            let arguments = arguments.split(" # ").next().unwrap_or(arguments);
            found.push(Printed { command: arguments.trim().to_owned(), refusal: Vec::new() });
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
    let kept: Vec<&Printed> =
        all.iter().filter(|c| !left_out.iter().any(|word| c.command.contains(word))).collect();
    let printed: Vec<&str> = kept.iter().map(|printed| printed.command.as_str()).collect();
    assert_eq!(kept.len(), expected, "{page}: {printed:#?}");
    for Printed { command, refusal } in kept {
        let run = workplace.run(command);
        let wanted = i32::from(!refusal.is_empty());
        assert_eq!(run.code, wanted, "{page}: pairdp {command}\n{}{}", run.out, run.err);
        let found: Vec<&str> = run.err.lines().filter(|line| refusal.iter().any(|one| one == line)).collect();
        assert_eq!(found.len(), refusal.len(), "{page}: pairdp {command}\n{}", run.err);
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

#[test]
fn the_page_on_verifying_runs_as_printed() {
    run("docs/verify.md", 300, true, &[], 3);
}

#[test]
fn the_page_on_planning_runs_as_printed() {
    run("docs/planner.md", 4000, false, &[], 6);
}

/// Simulated tables are public, so that refusals of private ones are left to the transcripts.
#[test]
fn the_page_on_reports_runs_as_printed() {
    run("docs/report.md", 6000, true, &["evaluate"], 4);
}

#[test]
fn the_page_on_papers_runs_as_printed() {
    run("docs/papers.md", 4000, false, &[], 3);
}

#[test]
fn the_page_on_errata_runs_as_printed() {
    run("docs/errata.md", 0, false, &[], 4);
}
