//! Gradients over all pairs.
//!
//! A pair's gradient is −a·(x_i − x_j) with steepness a = −φ'(s_i − s_j), so the sum over all pairs is −Σ c_i x_i,
//! where c_i adds up the steepness of record i's pairs (with a minus for negatives). Scores first, then the
//! *charges* c_i, then one weighted sum of rows: no kernel ever forms a pair of feature vectors.

mod naive;

pub use naive::{error_bound, ranking_gradient};
