//! `pairdp budget recover`: models that are paid for and not in their place.

use crate::args::Recover;
use crate::delivery::Finished;
use crate::failure::Failure;
use crate::files;
use crate::output::{self, Force, Kind, Output, Taken, paid};
use crate::printer::Printer;
use pairdp_ledger::{Ledger, ModelDigest, Outcome, RunState};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// What became of a kept model.
enum Recovered {
    /// It is in its place.
    Placed,
    /// It stays where it is, because of this.
    Left(String),
}

pub(crate) fn run(arguments: &Recover, ledger: &mut Ledger, printer: &Printer) -> Result<ExitCode, Failure> {
    let (folder, file) = (&arguments.folder, &arguments.file.ledger);
    let kept = paid::kept_in(folder).map_err(|error| {
        Failure::refused(format!("{}: {error}", folder.display()), "name a folder to look in")
    })?;
    let taken = Taken::none().and_ledger(file);
    let (mut text, mut placed, mut left) = (String::new(), Vec::new(), Vec::new());
    for found in &kept {
        let (run, place) = (&found.run, &found.place);
        match recover(found, ledger, &taken)? {
            Recovered::Placed => {
                let _ = writeln!(text, "run {run}: its model is now {}", one_line(place));
                placed.push(json!({ "run": run, "model": place }));
            }
            Recovered::Left(why) => {
                let _ = writeln!(text, "{}: left where it is: {why}", one_line(&found.kept));
                left.push(json!({ "file": found.kept, "why": why }));
            }
        }
    }
    see_moved(folder, ledger)?;
    let missing = ledger.unplaced()?;
    for (run, dataset, digest) in &missing {
        let _ = writeln!(
            text,
            "run {run} on `{dataset}` is done, but its model was not found; look for a file with the SHA-256 {digest}"
        );
    }
    let whole = missing.is_empty() && left.is_empty();
    if whole {
        text.push_str("nothing to recover: the model of every run that is done was found");
    }
    let unseen: Vec<_> = missing
        .iter()
        .map(|(run, dataset, digest)| json!({ "run": run, "dataset": dataset, "digest": digest }))
        .collect();
    printer.result(&text, &json!({ "placed": placed, "left": left, "missing": unseen }));
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Puts one model in its place: commit if the run is open, write, note it, and only then remove what was kept.
fn recover(found: &paid::Found, ledger: &mut Ledger, taken: &Taken) -> Result<Recovered, Failure> {
    let left = |why: &str| Ok(Recovered::Left(why.to_owned()));
    if found.locked.is_none() {
        return left("its run is still at work");
    }
    let (Ok(document), Ok(model)) = (std::fs::read_to_string(&found.kept), files::read_model(&found.kept))
    else {
        return left("it is not a model");
    };
    if model.run.as_ref() != Some(&found.run) {
        return left("it is not the model of the run in its name");
    }
    let finished = Finished { model, document };
    let bytes = finished.document.as_bytes();
    let outcome = Outcome::model(bytes);
    match ledger.run(&found.run)? {
        RunState::Unknown => return left("the ledger does not know its run"),
        RunState::Done { outcome: known, .. } if known.as_ref() != Some(&outcome) => {
            return left("it is not the file that its run made");
        }
        RunState::Open | RunState::Done { .. } => {}
    }
    let there = output::holds(&found.place, bytes);
    let out = match Output::new(&found.place, Kind::Model, Force::Never, taken) {
        _ if there => None,
        Ok(out) => Some(out),
        Err(Failure::Refused { message, .. }) => return left(&message),
        Err(failed) => return Err(failed),
    };
    if ledger.run(&found.run)? == RunState::Open {
        let ended = finished.verify().and_then(|()| finished.finish(ledger, &found.run, None));
        match ended {
            Err(Failure::Refused { message, .. }) => return left(&message),
            ended => ended?,
        }
    }
    out.map_or(Ok(()), |out| out.write(bytes))?;
    ledger.placed(&found.run)?;
    // Whoever cannot remove it finds it again, and nothing to do about it.
    let _ = std::fs::remove_file(&found.kept);
    Ok(Recovered::Placed)
}

/// A name that does not look like the next line.
fn one_line(path: &Path) -> String {
    path.display().to_string().replace('\n', "\\n")
}

/// Notes models that lie in the folder under whatever name.
fn see_moved(folder: &Path, ledger: &mut Ledger) -> Result<(), Failure> {
    let missing = ledger.unplaced()?;
    if missing.is_empty() {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in entries.filter(|path| path.is_file() && !paid::is_kept(path)) {
        if !files::read_model(&path).is_ok_and(|model| model.run.is_some()) {
            continue;
        }
        let Ok(digest) = std::fs::read(&path).map(|bytes| ModelDigest::of(&bytes)) else { continue };
        for (run, ..) in missing.iter().filter(|(.., of)| *of == digest) {
            ledger.placed(run.as_str())?;
        }
    }
    Ok(())
}
