//! Completions and manual pages, from the same words as `--help`.

use crate::args::{Arguments, Completions, Man};
use crate::failure::Failure;
use crate::output::{self, Force, Kind, Output, Taken};
use crate::printer::Printer;
use clap::CommandFactory as _;
use serde_json::json;
use std::process::ExitCode;

#[expect(clippy::unnecessary_wraps, reason = "all commands are alike")]
pub(crate) fn completions(arguments: &Completions, printer: &Printer) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "pairdp", &mut script);
    printer.data(&String::from_utf8_lossy(&script));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn pages(arguments: &Man, printer: &Printer) -> Result<ExitCode, Failure> {
    match &arguments.folder {
        None => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(Arguments::command()).render(&mut page);
            rendered.map_err(|error| Failure::Failed(format!("the page could not be made: {error}")))?;
            printer.data(&String::from_utf8_lossy(&page));
        }
        Some(folder) => {
            let written = |error: std::io::Error| Failure::write(folder, &error);
            output::folder(folder)?;
            let made = tempfile::tempdir().map_err(written)?;
            clap_mangen::generate_to(Arguments::command(), made.path()).map_err(written)?;
            for page in std::fs::read_dir(made.path()).map_err(written)? {
                let page = page.map_err(written)?;
                let text = std::fs::read(page.path()).map_err(written)?;
                let place = folder.join(page.file_name());
                Output::new(&place, Kind::ManualPage, Force::Never, &Taken::none())?.write(&text)?;
            }
            printer.result(&format!("wrote pages to {}", folder.display()), &json!({ "folder": folder }));
        }
    }
    Ok(ExitCode::SUCCESS)
}
