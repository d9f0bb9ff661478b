//! Tighter ranges, found from noisy counts before training: `proofs/ranges.md`.

use crate::facts::Facts;
use crate::relations::{TOLERANCE, covers, larger, require};
use pairdp_certificate::{NoiseKind, Ranges, Released};

/// Bins of a column: 26 of either sign.
const BINS: usize = 52;

/// A replaced record changes two counts of each column by 1. What the model encodes by can then only be the range that was public,
/// or one from the edge of a bin to that of another.
pub(crate) fn check(facts: &Facts) -> Result<(), String> {
    let certificate = facts.certificate;
    let (ranges, public) = match (&certificate.ranges, &certificate.public_ranges) {
        (None, None) => return Ok(()),
        (Some(ranges), Some(public)) => (ranges, public),
        _ => return Err("counts and the ranges they are of come together".into()),
    };
    let found = facts.document.predictor.encoding.ranges();
    require([public.len(), found.len()] == [ranges.columns; 2], || {
        format!("{} columns counted, {} stated, {} encoded", ranges.columns, public.len(), found.len())
    })?;
    found.iter().zip(public).try_for_each(|(found, public)| edges(*found, *public))?;
    let proved = matches!(certificate.released, Released::Gradients { .. } | Released::Moments { .. });
    let fits = proved && facts.noise == NoiseKind::Gaussian && ranges.bins == BINS && ranges.columns > 0;
    require(fits, || "no proof for such counts".into())?;
    counts(facts.n(), ranges)
}

fn counts(n: f64, ranges: &Ranges) -> Result<(), String> {
    let (bits, columns) = (f64::from(ranges.lattice_bits), ranges.columns as f64);
    let most = n * ranges.ratio / ranges.sensitivity;
    let fine = (16.0..=30.0).contains(&bits) && most <= (46.0 - bits).exp2() * (1.0 + TOLERANCE);
    require(fine, || format!("{bits} bits for counts up to {most:e} σ"))?;
    let rounding = (columns * BINS as f64).sqrt() * (1.0 + 2.0_f64.powi(-7)) * (-bits).exp2();
    covers("Δ", ranges.sensitivity, (2.0 * columns).sqrt(), TOLERANCE)?;
    covers("σ", ranges.sigma, ranges.sensitivity / (ranges.ratio - rounding), TOLERANCE)
}

/// Bins of either sign end at m, m/2, m/4 … m·2⁻²⁵ and 0, m the larger absolute value of the public limits.
fn edges(found: [f64; 2], public: [f64; 2]) -> Result<(), String> {
    let [low, high] = public;
    let most = larger(low.abs(), high.abs());
    let is_edge = |value: f64| {
        let edge = (0..=25).map(|k| most * 2.0_f64.powi(-k)).chain([0.0]);
        public.map(f64::to_bits).contains(&value.to_bits())
            || edge.into_iter().any(|edge| edge.to_bits() == value.abs().to_bits())
    };
    let inside = low < high && low <= found[0] && found[0] < found[1] && found[1] <= high;
    require(inside && found.into_iter().all(is_edge), || {
        format!("{found:?} does not follow from bins of {public:?}")
    })
}
