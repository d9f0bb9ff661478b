//! What the published crates promise: every public item by name, in `docs/api`, a file for each crate.
//!
//! Read off the pages that rustdoc writes, as they list exactly what a user of the crate can reach. Whoever changes the listing
//! sees it in review: what is added has to be kept, and what is gone breaks somebody's program.

use crate::{cargo, root, run as execute, say};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The parts of an item that can be named, as rustdoc calls their places on its page.
const PARTS: &[&str] =
    &["variant", "structfield", "associatedconstant", "associatedtype", "tymethod", "method"];

/// Writes the listing, or with `--check` says what has changed.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => write(),
        ["--check"] => check(),
        _ => bail!("usage: cargo xtask api [--check]"),
    }
}

fn write() -> Result<()> {
    let folder = root().join("docs/api");
    if folder.is_dir() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for (name, items) in listings()? {
        fs::write(folder.join(format!("{name}.txt")), items)?;
    }
    Ok(())
}

/// Fails with what is not listed, and what is listed and not there.
pub(crate) fn check() -> Result<()> {
    let folder = root().join("docs/api");
    let mut changes = Vec::new();
    let listings = listings()?;
    for (name, found) in &listings {
        let listed = fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap_or_default();
        let (listed, found): (BTreeSet<_>, BTreeSet<_>) = (listed.lines().collect(), found.lines().collect());
        changes.extend(found.difference(&listed).map(|item| format!("    + {item}")));
        changes.extend(listed.difference(&found).map(|item| format!("    - {item}")));
    }
    for file in fs::read_dir(&folder).context("docs/api is not there")? {
        let name = file?.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if listings.iter().all(|(crate_name, _)| *crate_name != name) {
            changes.push(format!("    - all of {name}"));
        }
    }
    if changes.is_empty() {
        return Ok(());
    }
    for change in &changes {
        say(change);
    }
    bail!("public items differ from docs/api: if they are meant to, `cargo xtask api` writes it anew");
}

/// For every published library, its items, a line each.
fn listings() -> Result<Vec<(String, String)>> {
    execute(cargo().args(["doc", "--quiet", "--workspace", "--no-deps", "--lib"]))?;
    let mut listings = Vec::new();
    for folder in fs::read_dir(root().join("crates"))? {
        let folder = folder?.path();
        let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
        if manifest.contains("publish = false") || !folder.join("src/lib.rs").is_file() {
            continue;
        }
        let package = manifest.lines().find_map(|line| line.strip_prefix("name = \""));
        let package = package.context("a manifest without a name")?.trim_end_matches('"');
        let name = package.replace('-', "_");
        listings.push((package.to_owned(), items(&root().join("target/doc").join(&name), &name)?));
    }
    listings.sort();
    Ok(listings)
}

/// The items on a crate's pages, sorted.
fn items(pages: &Path, name: &str) -> Result<String> {
    let read = |page: &str| {
        fs::read_to_string(pages.join(page)).with_context(|| format!("rustdoc wrote no {page} of {name}"))
    };
    let mut items: BTreeSet<String> =
        marks(&read("index.html")?, "reexport").map(|item| format!("{name}::{item} (re-export)")).collect();
    let all = read("all.html")?;
    for page in all.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        // An item's page is `module/kind.Name.html`.
        let (module, file) = page.rsplit_once('/').unwrap_or(("", page));
        let Some((kind, item)) = file.strip_suffix(".html").and_then(|file| file.split_once('.')) else {
            continue;
        };
        if page.contains("..") || page.contains("static.files") {
            continue;
        }
        let path: Vec<&str> = [name].into_iter().chain(module.split('/').filter(|m| !m.is_empty())).collect();
        let path = format!("{}::{item}", path.join("::"));
        let text = read(page)?;
        // Implementations of traits are not names of the item's own.
        let own = text.split("id=\"trait-implementations\"").next().unwrap_or(&text);
        let own = own.split("id=\"synthetic-implementations\"").next().unwrap_or(own);
        for part in PARTS {
            items.extend(marks(own, part).map(|mark| format!("{path}::{mark} ({part})")));
        }
        items.insert(format!("{path} ({kind})"));
    }
    let mut text = items.into_iter().collect::<Vec<_>>().join("\n");
    text.push('\n');
    Ok(text)
}

/// The names of a kind of place on a page.
fn marks<'a>(page: &'a str, kind: &'a str) -> impl Iterator<Item = &'a str> {
    let ids = page.split("id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let named = ids.filter_map(move |id| id.strip_prefix(kind)?.strip_prefix('.'));
    // The fields of a variant are `variant.Name.field.name`.
    named.filter(move |mark| !mark.contains('.') || kind == "variant").map(|mark| mark.trim_end_matches("-1"))
}
