use crate::engine::serve;
use crate::failure::Failure;
use std::io::{BufReader, BufWriter, stdin, stdout};
use std::process::ExitCode;

/// Answers questions of the command that started it.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    serve(&mut BufReader::new(stdin().lock()), &mut BufWriter::new(stdout().lock()))
        .map_err(|error| Failure::Failed(format!("a worker lost its driver: {error}")))?;
    Ok(ExitCode::SUCCESS)
}
