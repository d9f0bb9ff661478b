//! What was released before training: `proofs/representation.md`. What was released after it is in `probabilities.rs`.
//!
//! The map of rows is not in the file: it follows from the released weights wherever it is needed, so there is nothing to compare.
//! What has to hold is the noise, and that later releases are about rows of the ball that the problem states, whatever the map.

use crate::facts::Facts;
use crate::relations::{TOLERANCE, UNIT, close, covers, larger, require};
use pairdp_certificate::{
    Encoding, NoiseKind, Objective, PointLoss, RankingForm, Released, Representation, Stage,
};

/// Knots of a column of numbers: 33 equally far apart, and six halvings towards −1, from both sides towards 0, and towards 1.
const KNOTS: usize = 33 + 4 * 6;
/// The same where 129 are equally far apart.
const FINE_KNOTS: usize = 129 + 4 * 6;
/// How weights are read.
const READING: &str = "ranks/2";
/// The same from fine knots.
const READING_FINE: &str = "fine-ranks/1";
/// The same where distances of ranks are all that is wanted.
const READING_DISTANCES: &str = "distances/1";
/// The same where they are of times alone.
const READING_TIMES: &str = "times/1";
/// Eight parts of the time up to the horizon, each with and without an event.
const TIME_CELLS: usize = 2 * 8;
/// Of a category's place.
const CATEGORY_WEIGHT: f64 = 0.5;
/// A number becomes its rank, or where that gives no more columns than these, five functions of it.
const MOST_COLUMNS: usize = 600;
const FUNCTIONS: usize = 5;

pub(crate) const RELATION: &str = "the release of where columns lie, if there is one: of every column, Δ = √(2·numbers + ½·categories + 1) (ℓ1 for Laplace noise; the target of a regression, or the times of survival, are a column of numbers too), σ = (Δ + 2τ)/(m − rounding)";

/// Columns of numbers, columns of categories, and places that are no knots: of categories, and of empty cells behind numbers.
fn columns(encoding: &Encoding) -> (usize, usize, usize) {
    let numbers = encoding.columns.iter().filter(|column| column.categories.is_none()).count();
    (numbers, encoding.columns.len() - numbers, encoding.dimension() - numbers)
}

/// Whether rows are mapped by what was released.
pub(crate) fn maps_rows(released: &Representation) -> bool {
    released.reading != READING_TIMES
}

/// Columns of the rows that a map makes.
pub(crate) fn mapped(encoding: &Encoding) -> usize {
    let (numbers, _, entries) = columns(encoding);
    let curves = numbers.saturating_mul(FUNCTIONS).saturating_add(entries);
    if curves <= MOST_COLUMNS { curves } else { numbers + entries }
}

/// Whether where columns lie is all that was released: of a metric that is the Euclidean distance of ranks.
pub(crate) fn alone(facts: &Facts) -> bool {
    let read = facts.document.predictor.representation.as_ref();
    let distances = read.is_some_and(|released| released.reading == READING_DISTANCES);
    let metric = matches!(facts.problem.objective, Objective::Metric { .. });
    distances && metric && facts.certificate.stages.len() == 1
}

pub(crate) fn check(facts: &Facts) -> Result<(), String> {
    let predictor = &facts.document.predictor;
    let planned = facts.document.training.representation;
    let moments = matches!(facts.certificate.released, Released::Moments { .. });
    // What stands for a time in moments follows from a released histogram, and from nothing else.
    let times = moments
        && matches!(facts.problem.objective, Objective::Ranking { form: RankingForm::Comparable, .. });
    require(!times || !facts.certificate.stages.is_empty(), || {
        "moments of times without a histogram".into()
    })?;
    // What is released after training is looked at elsewhere.
    let before = match facts.certificate.stages.as_slice() {
        [before @ .., Stage::Probabilities { .. }] => before,
        all => all,
    };
    let (stage, released) = match (before, &predictor.representation) {
        ([], None) => {
            return require(planned.is_none(), || "the plan has a stage that was not certified".into());
        }
        ([stage], Some(released)) => (stage, released),
        _ => return Err("a stage and what it released come together".into()),
    };
    let Stage::Knots { numbers, categories, coordinates, counts_records, noise } = *stage else {
        return Err("counts of scores before there are scores".into());
    };
    share(facts, planned.map_or(f64::NAN, |plan| plan.share), noise.ratio)?;
    let (own_numbers, own_categories, entries) =
        if maps_rows(released) { columns(&predictor.encoding) } else { (0, 0, 0) };
    require(maps_rows(released) || times, || "weights of nothing".into())?;
    // A target whose place an intercept can say has knots as a column of numbers has.
    let target = matches!(facts.problem.objective, Objective::Pointwise { loss: PointLoss::Residual { .. } })
        && moments
        && predictor.constant != 0.0;
    let with_knots = own_numbers + usize::from(target);
    // A record's time and event are in one cell of a grid, which moves as a column of numbers does.
    let own_numbers = with_knots + usize::from(times);
    let secret = facts.certificate.is_secret_size();
    let cells = if times { TIME_CELLS } else { 0 };
    let knots = if released.reading == READING_FINE { FINE_KNOTS } else { KNOTS };
    let expected = with_knots
        .saturating_mul(knots)
        .saturating_add(entries)
        .saturating_add(cells + 1 + usize::from(secret));
    let agree = (numbers, categories, coordinates) == (own_numbers, own_categories, expected)
        && counts_records == secret
        && planned.is_some_and(|plan| {
            (plan.numbers, plan.categories, plan.coordinates) == (numbers, categories, coordinates)
        });
    require(agree, || {
        format!("{numbers} and {categories} columns, {coordinates} weights do not fit the encoding")
    })?;
    let proved = matches!(facts.certificate.released, Released::Gradients { .. } | Released::Moments { .. })
        && facts.noise != NoiseKind::Euclidean;
    require(proved, || "no proof for such a stage".into())?;
    // ‖h − h′‖² ≤ 2v² a column, 1 for the label; in ℓ1 2v and 1. A secret number of records has the weight √S.
    let (n, p) = (facts.n(), coordinates as f64);
    let squares = numbers as f64 + CATEGORY_WEIGHT.powi(2) * categories as f64;
    let half = numbers as f64 + CATEGORY_WEIGHT * categories as f64;
    let (moved, norm) = match facts.noise {
        NoiseKind::Laplace => (larger(2.0 * half, half + squares.sqrt()) + 1.0, p.sqrt()),
        NoiseKind::Gaussian | NoiseKind::Euclidean => ((2.0 * squares + 1.0).sqrt(), 1.0),
    };
    covers("Δ", noise.sensitivity, moved, TOLERANCE)?;
    covers("τ", noise.error, n * UNIT * (p + 1.0).sqrt(), TOLERANCE)?;
    let distance = noise.sensitivity + 2.0 * norm * noise.error;
    let reach = n * larger(1.0, if secret { squares.sqrt() } else { 0.0 }) * noise.ratio / distance;
    let bits = |factor: f64| (16..=30_u32).rev().find(|bits| reach * factor <= f64::from(46 - bits).exp2());
    require([bits(1.0 + 1e-9), bits(1.0 - 1e-9)].contains(&Some(noise.lattice_bits)), || {
        format!("{} bits for sums up to {reach:e} σ", noise.lattice_bits)
    })?;
    let rounding = norm * p.sqrt() * (1.0 + 2.0_f64.powi(-7)) * (-f64::from(noise.lattice_bits)).exp2();
    covers("σ", noise.sigma, distance / (noise.ratio - rounding), TOLERANCE)?;
    reading(facts, released, noise.sigma, coordinates)
}

/// The part of μ², or of ε where ratios add up, that the plan gives to the stage: all of it only if there is nothing else.
fn share(facts: &Facts, share: f64, ratio: f64) -> Result<(), String> {
    let within = if alone(facts) { share.to_bits() == 1.0_f64.to_bits() } else { share > 0.0 && share < 1.0 };
    require(within, || format!("a share of {share:e}"))?;
    close("the share", share, part_of_all(facts, ratio)?, TOLERANCE)
}

/// What a ratio is of all that is released: squared for Gaussian noise, as it is for others.
pub(crate) fn part_of_all(facts: &Facts, ratio: f64) -> Result<f64, String> {
    let part = |ratio: f64| if facts.noise == NoiseKind::Gaussian { ratio * ratio } else { ratio };
    let training = match facts.certificate.released {
        Released::Gradients { steps, ratio, .. } => f64::from(steps) * part(ratio),
        Released::Moments { ratio, .. } => part(ratio),
        _ => return Err("no proof for such a stage".into()),
    };
    let beside: f64 = facts.certificate.stages.iter().map(|stage| part(stage.noise().ratio)).sum();
    Ok(part(ratio) / (beside + training))
}

/// What the model says of its own weights.
fn reading(facts: &Facts, released: &Representation, sigma: f64, coordinates: usize) -> Result<(), String> {
    let whole =
        released.weights.len() == coordinates && released.weights.iter().all(|weight| weight.is_finite());
    require(whole, || format!("{} weights of {coordinates}", released.weights.len()))?;
    let known = match released.reading.as_str() {
        READING_DISTANCES => alone(facts),
        reading => [READING, READING_FINE, READING_TIMES].contains(&reading),
    };
    require(known, || format!("`{}` is neither `{READING}` nor `{READING_FINE}`", released.reading))?;
    let deviation = sigma * if facts.noise == NoiseKind::Laplace { 2.0_f64.sqrt() } else { 1.0 };
    close("the noise of weights", released.noise, deviation, TOLERANCE)?;
    let possible = if facts.certificate.is_secret_size() {
        released.counted >= 1.0 && released.counted <= facts.n()
    } else {
        released.counted.to_bits() == facts.n().to_bits()
    };
    require(possible, || format!("weights of {} records", released.counted))
}
