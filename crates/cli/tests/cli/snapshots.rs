//! The transcripts under `tests/snapshots`: what is typed and what comes back, word for word. `[..]` stands for what noise or
//! the machine decides. `TRYCMD=overwrite cargo test -p pairdp-cli snapshots` writes them anew.

#[test]
fn transcripts_are_what_the_command_prints() {
    trycmd::TestCases::new().env("COLUMNS", "100").case("tests/snapshots/*.md");
}
