//! What the samplers' distance from the ideal laws costs.
//!
//! If each of M samples is within total variation τ of its ideal law, whatever came before, the whole transcript is
//! within Mτ (a coupling, sample by sample). An ideal mechanism with P(E) ≤ e^ε Q(E) + δ then becomes
//! P′(E) ≤ P(E) + Mτ ≤ e^ε Q(E) + δ + Mτ ≤ e^ε Q′(E) + δ + (1 + e^ε)Mτ. A million samples at ε = 10 cost 2·10⁻²⁰:
//! computed, subtracted and forgotten.

use pairdp_units::directed::up_by;

/// log₂ of a bound on the total variation distance between a sample of [`fill_gaussian`](crate::fill_gaussian) and
/// round(S·Z). Derived in `proofs/ziggurat.md`.
pub const LOG2_SAMPLE_DISTANCE: i32 = -100;

/// (1 + e^ε)·samples·2⁻¹⁰⁰ rounded up: the part of δ to set aside for the samplers.
///
/// Numbers that make no sense (negative, NaN) cost everything: infinity.
pub fn delta_share(epsilon: f64, samples: f64) -> f64 {
    if !(epsilon >= 0.0 && samples >= 0.0) {
        return f64::INFINITY;
    }
    if samples == 0.0 {
        return 0.0;
    }
    let share = (1.0 + epsilon.exp()) * samples * f64::powi(2.0, LOG2_SAMPLE_DISTANCE);
    // `exp` is good to a few units in the last place on every platform; sixteen leaves room.
    up_by(share, 16.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_what_the_formula_says() {
        let share = delta_share(1.0, 1000.0);
        let exact = (1.0 + std::f64::consts::E) * 1000.0 * 7.888_609_052_210_118e-31;
        assert!(share > exact && share < exact * (1.0 + 1e-14));
        assert!(delta_share(10.0, 30_030_000.0) < 1e-18);
    }

    #[test]
    fn nonsense_costs_everything() {
        for (epsilon, samples) in [(f64::NAN, 1.0), (1.0, f64::NAN), (-1.0, 1.0), (1.0, -1.0), (1e4, 1.0)] {
            assert!(delta_share(epsilon, samples).is_infinite());
        }
        assert_eq!(delta_share(1e4, 0.0).to_bits(), 0);
    }
}
