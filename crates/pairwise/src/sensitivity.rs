//! How far one record can move a query.

/// An ℓ2 sensitivity between neighbouring tables, rounded up.
///
/// Only this crate builds one, from a proved formula: users never type the number that privacy rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensitivity(f64);

impl Sensitivity {
    pub(crate) fn new(value: f64) -> Self {
        Self(value)
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}
