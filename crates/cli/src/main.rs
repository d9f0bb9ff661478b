//! `pairdp`: private pairwise learning from the command line.
//!
//! Exit codes: 0 done, 1 refused (the input or the budget does not allow it), 2 failed (the machine did).

mod args;
mod checkpoint;
mod commands;
mod delivery;
mod dump;
mod engine;
mod failure;
mod files;
mod output;
mod printer;
mod progress;
mod report;
mod require_public;
mod reservation;
mod signing;

use args::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use printer::Printer;
use std::process::ExitCode;

fn main() -> ExitCode {
    dump::refuse();
    // Results name their files in JSON, which has no other text.
    if let Some(odd) = std::env::args_os().find(|argument| argument.to_str().is_none()) {
        let message = format!("{}: this is not text in UTF-8", odd.display());
        let json = std::env::args_os().any(|argument| argument == "--json");
        Printer::new(json, false).failure(&Failure::refused(message, "give the file another name"));
        return ExitCode::from(1);
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() && std::env::args().any(|argument| argument == "--json") => {
            Printer::new(true, false).failure(&Failure::usage(&error));
            return ExitCode::from(1);
        }
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    let printer = Printer::new(arguments.json, arguments.quiet);
    match run(&arguments.command, &printer).and_then(|code| printer.check().map(|()| code)) {
        Ok(code) => code,
        Err(failure) => {
            printer.failure(&failure);
            failure.code()
        }
    }
}

fn run(command: &Command, printer: &Printer) -> Result<ExitCode, Failure> {
    match command {
        Command::Account(arguments) => commands::account::run(arguments, printer),
        Command::Audit(arguments) => commands::audit::run(arguments, printer),
        Command::Budget(arguments) => commands::budget::run(arguments, printer),
        Command::Calibrate(arguments) => commands::calibrate::run(arguments, printer),
        Command::Check(arguments) => commands::check::run(arguments, printer),
        Command::Completions(arguments) => commands::manual::completions(arguments, printer),
        Command::Demo(arguments) => commands::demo::run(arguments, printer),
        Command::Export(arguments) => commands::export::run(arguments, printer),
        Command::Keygen(arguments) => commands::sign::keygen(arguments, printer),
        Command::Migrate(arguments) => commands::migrate::run(arguments, printer),
        Command::Sign(arguments) => commands::sign::sign(arguments, printer),
        Command::Man(arguments) => commands::manual::pages(arguments, printer),
        Command::Simulate(arguments) => commands::simulate::run(arguments, printer),
        Command::Train(arguments) => commands::train::run(arguments, printer),
        Command::Baseline(arguments) => commands::baseline::run(arguments, printer),
        Command::Plan(arguments) => commands::plan::run(arguments, printer),
        Command::Predict(arguments) => commands::predict::run(arguments, printer),
        Command::Evaluate(arguments) => commands::evaluate::run(arguments, printer),
        Command::Report(arguments) => commands::report::run(arguments, printer),
        Command::Show(arguments) => commands::show::run(arguments, printer),
        Command::Schema(arguments) => commands::schema::run(arguments, printer),
        Command::Influence(arguments) => commands::influence::run(arguments, printer),
        Command::Stability(arguments) => commands::stability::run(arguments, printer),
        Command::Verify(arguments) => commands::verify::run(arguments, printer),
        Command::Worker => commands::worker::run(),
    }
}
