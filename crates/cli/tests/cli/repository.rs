//! What the documents say about the repository is true.

use crate::common::root;
use pairdp_certificate::Algorithm;
use pairdp_pairwise::LossKind;
use std::fs::{read_dir, read_to_string};
use std::path::Path;

/// Words in backquotes that look like a path: with a slash, and nothing but path characters.
fn paths(text: &str) -> Vec<String> {
    let quoted = text.split("```").step_by(2).flat_map(|prose| prose.split('`').skip(1).step_by(2));
    let is_path = |word: &&str| {
        // What a build makes is not in the repository.
        word.contains('/')
            && !word.starts_with("target/")
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
    };
    quoted.filter(is_path).map(str::to_owned).collect()
}

#[test]
fn every_path_that_the_documents_name_exists() {
    for (document, least) in [("ARCHITECTURE.md", 20), ("CONTRIBUTING.md", 1), ("README.md", 2)] {
        let text = read_to_string(root().join(document)).unwrap();
        let named = paths(&text);
        assert!(named.len() >= least, "{document} names only {named:?}");
        for path in named {
            assert!(root().join(&path).exists(), "{document} names `{path}`, which is not there");
        }
    }
    // Guides and proofs also name files of their readers: those that are ours begin with one of our folders.
    let ours = ["crates/", "experiments/", "python/", "proofs/", "docs/", "xtask/", "testdata/"];
    let mut found = 0;
    for folder in ["docs", "proofs"] {
        for document in read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()) {
            let text = read_to_string(&document).unwrap_or_default();
            for path in
                paths(&text).into_iter().filter(|path| ours.iter().any(|start| path.starts_with(start)))
            {
                assert!(
                    root().join(&path).exists(),
                    "{} names `{path}`, which is not there",
                    document.display()
                );
                found += 1;
            }
        }
    }
    assert!(found >= 30, "guides and proofs name only {found} files");
}

/// A map that is too long to read is none.
#[test]
fn the_code_map_has_at_most_forty_rows_and_a_call_eight_hops() {
    let text = read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = |title: &str, start: &str| {
        let section = text.split("\n## ").find(|section| section.starts_with(title)).unwrap();
        section.lines().filter(|line| line.starts_with(start)).count()
    };
    assert!((20..=40).contains(&rows("Code map", "| `")));
    let hops: usize = (1..=20).map(|hop| rows("A training call", &format!("| {hop} |"))).sum();
    assert!((4..=8).contains(&hops));
}

#[test]
fn every_proof_that_the_code_names_exists() {
    let mut found = 0;
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = read_to_string(&path).unwrap();
                for rest in text.split("`proofs/").skip(1) {
                    let name = rest.split('`').next().unwrap();
                    if Path::new(name).extension().is_none_or(|extension| extension != "md") {
                        continue;
                    }
                    assert!(
                        root().join("proofs").join(name).is_file(),
                        "{} names proofs/{name}",
                        path.display()
                    );
                    found += 1;
                }
            }
        }
    }
    assert!(found >= 5, "only {found} proofs are named");
}

#[test]
fn ci_runs_the_readme_s_test_command() {
    let readme = read_to_string(root().join("README.md")).unwrap();
    let ci = read_to_string(root().join(".ci/run")).unwrap();
    assert!(readme.contains("\ncargo xtask test\n") && ci.contains("\ncargo xtask test\n"));
}

/// The text of all files of a folder.
fn texts(folder: &Path) -> String {
    let files = read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| if path.is_dir() { texts(&path) } else { read_to_string(path).unwrap_or_default() })
        .collect()
}

/// Nothing is listed here by hand: what the tables name has its row with proof notes that exist, and both verifiers know it.
#[test]
fn every_algorithm_and_loss_has_its_proofs_its_verifiers_and_its_row() {
    let documents = root().join("docs");
    let page = read_to_string(documents.join("papers.md")).unwrap();
    let rust = texts(&root().join("crates/verify/src"));
    let python = texts(&root().join("python/pairdp/verification"));
    let check = |name: &str, in_rust: &str, in_python: &str| {
        let row = page.lines().find(|line| {
            line.split(" | ")
                .next()
                .is_some_and(|first| first.starts_with('|') && first.contains(&format!("`{name}`")))
        });
        let row = row.unwrap_or_else(|| panic!("docs/papers.md has no row for {name}"));
        let notes: Vec<&str> = row.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        assert!(!notes.is_empty(), "{name} has no proof note");
        for note in notes {
            assert!(note.contains("proofs/") && documents.join(note).is_file(), "{name}: no {note}");
        }
        assert!(rust.contains(in_rust), "crates/verify does not know {name}");
        assert!(python.contains(in_python), "pairdp.verification does not know {name}");
    };
    for algorithm in Algorithm::ALL {
        let name = algorithm.name();
        check(name, &format!("Algorithm::{algorithm:?}"), &format!("\"{name}\""));
    }
    for kind in LossKind::all() {
        match kind.of_margins(1.5) {
            Some(loss) => {
                let variant = format!("{loss:?}");
                let variant = variant.split(' ').next().unwrap();
                check(
                    kind.name(),
                    &format!("MarginLoss::{variant}"),
                    &format!("\"{}\": Margin(", kind.name()),
                );
            }
            None => check(kind.name(), "PointLoss::Residual", "\"residual\""),
        }
    }
}
