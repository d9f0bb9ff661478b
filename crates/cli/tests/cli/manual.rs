//! Help, completions, manual pages, and errors for programs.

use crate::common::Workplace;
use serde_json::Value;

/// Every command, from the help text of the command above it.
fn commands(workplace: &Workplace, path: &str, found: &mut Vec<String>) {
    let help = workplace.run(&format!("{path} --help")).out;
    let Some(list) = help.split("Commands:\n").nth(1) else { return };
    for line in list.lines().take_while(|line| !line.trim().is_empty()) {
        let name = line.split_whitespace().next().unwrap();
        // Continuation lines of a description are indented further.
        if name == "help" || line.starts_with("   ") {
            continue;
        }
        let path = format!("{path} {name}").trim().to_owned();
        commands(workplace, &path, found);
        found.push(path);
    }
}

#[test]
fn every_help_ends_with_examples_that_name_the_command() {
    let workplace = Workplace::new();
    let mut found = Vec::new();
    commands(&workplace, "", &mut found);
    assert!(found.len() >= 20, "{found:?}");
    for path in found.iter().chain([&String::new()]) {
        let run = workplace.run(&format!("{path} --help"));
        assert_eq!(run.code, 0, "{path}");
        let examples = run.out.rsplit("\n\n").next().unwrap();
        assert!(examples.starts_with("Examples:\n"), "{path}: {}", run.out);
        assert!(examples.contains(&format!("pairdp {path}")), "{path}: {examples}");
    }
}

#[test]
fn completions_and_pages_know_every_command() {
    let workplace = Workplace::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = workplace.run(&format!("completions {shell}"));
        assert!(run.code == 0 && run.out.contains("evaluate") && run.out.contains("schema"), "{shell}");
    }
    assert!(workplace.run("man").out.starts_with(".ie"), "{}", workplace.run("man").out);
    assert_eq!(workplace.run("man pages").code, 0);
    for page in ["pairdp.1", "pairdp-train.1", "pairdp-budget-create.1", "pairdp-report.1"] {
        assert!(workplace.path("pages").join(page).is_file(), "{page}");
    }
}

/// One JSON object on standard error, nothing on standard output, and a code that programs can rely on.
#[test]
fn errors_have_codes_for_programs() {
    let workplace = Workplace::with_cohort(100);
    workplace.run("train cohort.csv --epsilon 1 --delta 1e-6");
    workplace.write("bare.csv", "a,b\n1,2\n");
    workplace.write("broken.schema.toml", "[label");
    workplace.write("not-a-model.json", "{}");
    for (arguments, code) in [
        ("train cohort.csv --epsilon 0 --delta 1e-6", "number"),
        ("train cohort.csv --epsilon 1 --delta 0 --mechanism gaussian --force", "accounting"),
        ("train cohort.csv --epsilon 1", "usage"),
        ("train absent.csv --epsilon 1 --delta 1e-6 --schema cohort.schema.toml --force", "file"),
        ("train bare.csv --epsilon 1 --delta 1e-6 --force", "no-schema"),
        ("train bare.csv --epsilon 1 --delta 1e-6 --schema cohort.schema.toml --force", "table"),
        ("train bare.csv --epsilon 1 --delta 1e-6 --schema broken.schema.toml --force", "schema"),
        ("train cohort.csv --epsilon 1 --delta 1e-6 --steps 0 --force", "plan"),
        ("verify not-a-model.json", "model"),
        ("budget show --ledger absent.ledger", "ledger"),
        ("evaluate model.json bare.csv", "private-data"),
        ("nonsense", "usage"),
    ] {
        let run = workplace.run(&format!("{arguments} --json"));
        assert!(run.code == 1 && run.out.is_empty(), "{arguments}: {}", run.out);
        let error: Value = serde_json::from_str(&run.err).unwrap_or_else(|_| panic!("{}", run.err));
        assert_eq!(error["code"], code, "{arguments}: {error}");
        assert!(!error["error"].as_str().unwrap().is_empty());
    }
    let run = workplace.run("predict model.json cohort.csv --json");
    let answer: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(
        (answer["columns"][0].as_str(), answer["rows"].as_array().unwrap().len()),
        (Some("score"), 100)
    );
}
