//! What can be said about a change without running it.

use crate::test::{format, lints, nothing_more};
use crate::{root, run as execute, say};
use anyhow::Result;
use std::process::{Command, Stdio};

/// Tools that are not part of Rust, and what they are asked.
const TOOLS: &[(&str, &[&str])] = &[
    ("typos", &["--config", "typos.toml"]),
    ("cargo-deny", &["--offline", "check", "licenses", "bans", "sources"]),
];

/// Format and lints of Rust always; spelling and dependencies where the tool is installed, which is said.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    nothing_more(arguments)?;
    format()?;
    lints()?;
    for (tool, asked) in TOOLS {
        let version =
            Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if version.is_ok_and(|status| status.success()) {
            execute(Command::new(tool).args(*asked).current_dir(root()))?;
        } else {
            say(&format!("    {tool} is not installed: left out"));
        }
    }
    Ok(())
}
