//! What the documents say about the repository is true.

use crate::common::root;

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
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let named = paths(&text);
        assert!(named.len() >= least, "{document} names only {named:?}");
        for path in named {
            assert!(root().join(&path).exists(), "{document} names `{path}`, which is not there");
        }
    }
}

#[test]
fn every_proof_that_the_code_names_exists() {
    let mut found = 0;
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for rest in text.split("`proofs/").skip(1) {
                    let name = rest.split('`').next().unwrap();
                    if std::path::Path::new(name).extension().is_none_or(|extension| extension != "md") {
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
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let ci = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(readme.contains("\ncargo xtask test\n") && ci.contains("\ncargo xtask test\n"));
}
