//! How stated numbers are compared with derived ones.
//!
//! A number that lowers noise must not lie below what is derived, but for the roundings of the derivation. It may not lie far above
//! either, so that a changed number shows: just as far as the outward rounding of the code that wrote it explains.

/// How far a number may lie above its recomputation, relatively.
pub(crate) const TOLERANCE: f64 = 1e-10;
/// How far it may lie below, on the unsafe side: the roundings of the recomputation itself.
const ROUNDING: f64 = 1e-13;
/// 2⁻⁵²: twice the largest relative error of one rounding.
pub(crate) const UNIT: f64 = f64::EPSILON;

/// The relation that recomputing fits the time that a verifier is given.
pub(crate) const WORK: &str = "work";
/// The relation that needs it.
pub(crate) const SENSITIVITY: &str = "sensitivity";

/// A relation by name and formula, and whether it holds.
pub(crate) type Relation = (&'static str, &'static str, Result<(), String>);

/// One relation between the numbers of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it is called.
    pub name: &'static str,
    /// What must hold, as a formula.
    pub relation: &'static str,
    /// Empty if it holds, else what was found instead.
    pub failure: Option<String>,
}

/// The outcome of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Every relation that was examined.
    pub checks: Vec<Check>,
    /// What the claim rests on that nobody can recompute, where there is something.
    pub condition: Option<&'static str>,
}

impl Verdict {
    pub(crate) fn of(relations: Vec<Relation>, condition: Option<&'static str>) -> Self {
        let check = |(name, relation, outcome): Relation| Check { name, relation, failure: outcome.err() };
        Self { checks: relations.into_iter().map(check).collect(), condition }
    }

    /// Whether the claim follows from the public facts, whatever anybody else did: every relation holds, and there is no condition.
    pub fn holds(&self) -> bool {
        self.relations_hold() && self.condition.is_none()
    }

    /// Whether every relation holds: the claim follows if its condition is met, where it has one.
    pub fn relations_hold(&self) -> bool {
        self.checks.iter().all(|check| check.failure.is_none())
    }

    /// Whether nothing fails but that recomputing would have taken too long: neither yes nor no.
    pub fn is_unfinished(&self) -> bool {
        let mut failed = self.failures().map(|check| check.name);
        failed.next() == Some(WORK) && failed.next() == Some(SENSITIVITY) && failed.next().is_none()
    }

    /// The relations that fail.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.failure.is_some())
    }
}

/// Accepts what is so.
pub(crate) fn require(so: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if so { Ok(()) } else { Err(otherwise()) }
}

/// Accepts finite numbers that agree.
pub(crate) fn close(what: &str, found: f64, expected: f64, tolerance: f64) -> Result<(), String> {
    let near = (found - expected).abs() <= tolerance * expected.abs();
    require(near && expected.is_finite(), || mismatch(what, found, expected))
}

/// Accepts a positive number that is not below its recomputation, and not far above it: for what must be rounded up.
pub(crate) fn covers(what: &str, found: f64, expected: f64, tolerance: f64) -> Result<(), String> {
    let enough = expected > 0.0 && expected.is_finite() && found >= expected * (1.0 - ROUNDING);
    require(enough && found <= expected * (1.0 + tolerance), || mismatch(what, found, expected))
}

fn mismatch(what: &str, found: f64, expected: f64) -> String {
    format!("{what} is {found:e}, recomputed {expected:e}")
}

/// The larger of two numbers, neither of them NaN where it matters: NaN never passes a relation afterwards.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers.
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_below_and_little_above_is_accepted() {
        assert!(covers("x", 1.0, 1.0, TOLERANCE).is_ok());
        assert!(covers("x", 1.0 + 0.9e-10, 1.0, TOLERANCE).is_ok());
        for found in [1.0 - 1e-12, 1.0 + 2e-10, f64::NAN, f64::INFINITY, -1.0] {
            assert!(covers("x", found, 1.0, TOLERANCE).is_err(), "{found}");
        }
        for expected in [0.0, f64::NAN, f64::INFINITY, -1.0] {
            assert!(covers("x", expected, expected, TOLERANCE).is_err(), "{expected}");
            assert!(close("x", 1.0, expected, TOLERANCE).is_err(), "{expected}");
        }
        assert!(close("x", f64::NAN, f64::NAN, 1.0).is_err());
    }
}
