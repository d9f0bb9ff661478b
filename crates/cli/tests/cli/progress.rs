//! Bars for whoever waits at a terminal, and for nobody else.

#![cfg(unix)]

use crate::common::Workplace;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The table is a pipe that stays empty until patience is at its end.
fn slow_run(command: &mut Command) -> String {
    let workplace = Workplace::with_cohort(100);
    assert!(Command::new("mkfifo").arg(workplace.path("pipe.csv")).status().unwrap().success());
    let child = command
        .current_dir(workplace.path(""))
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Opening waits for a reader.
    let mut pipe = std::fs::OpenOptions::new().write(true).open(workplace.path("pipe.csv")).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    pipe.write_all(workplace.read("cohort.csv").as_bytes()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && workplace.path("model.json").exists(), "{text}");
    text.into_owned()
}

#[test]
fn a_terminal_shows_that_something_goes_on_and_a_pipe_does_not() {
    let program = env!("CARGO_BIN_EXE_pairdp");
    let arguments = "train pipe.csv --schema cohort.schema.toml --epsilon 1 --delta 1e-6";
    let piped = slow_run(Command::new(program).args(arguments.split_whitespace()));
    assert!(!piped.contains("reading") && piped.starts_with("trained on 100 records"), "{piped}");

    // From util-linux; others of the name take other options.
    let known = Command::new("script").arg("--version").output();
    if !known.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux")) {
        println!("skipped: there is no `script` to make a terminal with");
        return;
    }
    let at_terminal = |options: &str| {
        slow_run(Command::new("script").args([
            "-qec",
            &format!("{program} {arguments} {options}"),
            "/dev/null",
        ]))
    };
    let shown = at_terminal("");
    assert!(shown.contains("reading") && shown.contains("trained on 100 records"), "{shown}");
    assert!(!at_terminal("--quiet").contains("reading"));
}
