//! The verifier cannot call the code that it judges.

/// A fault of version 0.1: `verify` called the constants and the path code that had calibrated the noise.
#[test]
fn issue_18_10_the_verifier_depends_on_none_of_the_code_it_judges() {
    let manifest = include_str!("../Cargo.toml");
    let (_, rest) = manifest.split_once("[dependencies]").expect("dependencies");
    let own = rest.split("\n[").next().unwrap_or_default();
    let ours: Vec<&str> = own.lines().filter_map(|line| line.split(['.', ' ']).next()).collect();
    let ours: Vec<&str> = ours.into_iter().filter(|name| name.starts_with("pairdp-")).collect();
    assert_eq!(ours, ["pairdp-accountant", "pairdp-certificate", "pairdp-units"]);
}
