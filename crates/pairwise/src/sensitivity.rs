//! How far one record can move a query.

use pairdp_units::Adjacency;
use std::marker::PhantomData;

/// An ℓ2 sensitivity under adjacency `A`, rounded up.
///
/// Only this crate builds one, from a proved formula: users never type the number that privacy rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensitivity<A: Adjacency> {
    value: f64,
    adjacency: PhantomData<A>,
}

impl<A: Adjacency> Sensitivity<A> {
    pub(crate) fn new(value: f64) -> Self {
        Self { value, adjacency: PhantomData }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.value
    }
}
