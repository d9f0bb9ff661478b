//! Noisy gradients of secretly sampled pairs or records: `proofs/noisy_sgd.md`.

use crate::constants::{constants, packing_error, pair_relation};
use crate::facts::Facts;
use crate::relations::{Relation, TOLERANCE, UNIT, covers, require, smaller};
use crate::{Family, ROUNDING};
use pairdp_accountant::delta_value;
use pairdp_accountant::event::{Event, Release, Sampling as Sampled};
use pairdp_accountant::quadrature::gaussian_delta;
use pairdp_certificate::{Algorithm, Labels, NoiseKind, Problem, Released, Sampling};
use pairdp_units::Epsilon;

/// How far δ of the contour engine, a value, may lie below the claimed δ, which a pessimistic discretisation calibrated.
const CALIBRATION_SLACK: f64 = 2e-2;
/// How far it may lie above: the engine's own error.
const VALUE_TOLERANCE: f64 = 1e-6;
/// What is beyond the most pairs that are ever kept has this chance at most: 2⁻¹¹².
const TAIL_BITS: i32 = 112;
/// As many pairs in the mean as the sampler can draw.
const MOST_EXPECTED: f64 = 4096.0;

pub(crate) const FAMILY: Family = Family {
    is_of: |algorithm| algorithm == Algorithm::NoisySgd,
    fits_plan: |facts, plan| {
        let Released::SampledGradients { steps, sampling, .. } = facts.certificate.released else {
            return false;
        };
        steps == plan.steps && expected_pairs(sampling) == plan.expected_pairs
    },
    reach: |facts| {
        let Released::SampledGradients { sensitivity, noise_multiplier, sampling, .. } =
            facts.certificate.released
        else {
            return Ok(f64::NAN);
        };
        Ok(most_terms(sampling)? * facts.over_domain().gradient / (sensitivity * noise_multiplier))
    },
    slack: ROUNDING,
    // The number of sampled pairs counts as a sample.
    samples: |facts, _| {
        let Released::SampledGradients { steps, .. } = facts.certificate.released else { return f64::NAN };
        f64::from(steps) * (facts.certificate.parameters as f64 + 1.0)
    },
    relations: |facts, _| relations(facts),
};

fn relations(facts: &Facts) -> Vec<Relation> {
    let Released::SampledGradients { steps, sampling, sensitivity, gradient_error, noise_multiplier, sigma } =
        facts.certificate.released
    else {
        return Vec::new();
    };
    let largest = facts.over_domain().gradient;
    let independent = matches!(sampling, Sampling::PoissonPairs { .. });
    // Any record of the table may stand in for the one replaced in a sample, with a label of its own.
    let any_label = Problem { labels: Labels::Private, ..*facts.problem };
    let (relation, expected) = if independent {
        ("G = the largest gradient of a pair", largest)
    } else {
        (pair_relation(facts.problem), constants(&any_label, facts.radius()).pair)
    };
    let expected_noise = facts.noise_scale(sensitivity + 2.0 * gradient_error, 1.0 / noise_multiplier);
    let fitting = check_sampling(facts, sampling);
    let composed = match fitting {
        Ok(()) => composition(facts, steps, sampling, noise_multiplier),
        Err(_) => Err("not recomputed: the sampling does not fit".into()),
    };
    vec![
        (
            "sampling",
            "one uniform pair of n, pairs kept independently, or one uniform record; Gaussian noise",
            fitting,
        ),
        ("sensitivity", relation, covers("D", sensitivity, expected, TOLERANCE)),
        (
            "gradient error",
            "τ = (8 + k)k·2⁻⁵²·G for at most k terms, plus packing",
            most_terms(sampling).and_then(|k| {
                let expected = (8.0 + k) * k * UNIT * largest + packing_error(facts.problem, k * largest);
                covers("τ", gradient_error, expected, TOLERANCE)
            }),
        ),
        ("noise", "σ = (D + 2τ)/(1/s − √p·(1 + 2⁻⁷)·2^−bits)", covers("σ", sigma, expected_noise, TOLERANCE)),
        (
            "composition",
            "δ of T sampled Gaussian releases of multiplier s, by contour integration, + δ_s = δ",
            composed,
        ),
    ]
}

fn check_sampling(facts: &Facts, found: Sampling) -> Result<(), String> {
    let records = facts.certificate.records as u64;
    let fits = match found {
        Sampling::OneIndex { records: n } => facts.is_pointwise() && n == records,
        Sampling::FixedSize { batch, records: n } => !facts.is_pointwise() && batch == 2 && n == records,
        Sampling::PoissonPairs { records: n, .. } => !facts.is_pointwise() && n == records,
    };
    require(fits && facts.noise == NoiseKind::Gaussian, || format!("{found:?} does not fit"))
}

/// The mean number of kept pairs, if pairs are kept independently.
pub(crate) fn expected_pairs(sampling: Sampling) -> Option<f64> {
    match sampling {
        Sampling::PoissonPairs { expected_pairs, .. } => Some(expected_pairs),
        Sampling::FixedSize { .. } | Sampling::OneIndex { .. } => None,
    }
}

/// The most terms a step adds up.
pub(crate) fn most_terms(sampling: Sampling) -> Result<f64, String> {
    match sampling {
        Sampling::PoissonPairs { records, expected_pairs } => most_kept_pairs(records, expected_pairs)
            .ok_or_else(|| format!("{expected_pairs} expected pairs of {records} records cannot be drawn")),
        Sampling::FixedSize { .. } | Sampling::OneIndex { .. } => Ok(1.0),
    }
}

/// One more than the least number of pairs that is exceeded with a chance of at most 2⁻¹¹², where every unordered pair of so many
/// records is kept independently and so many in the mean. `None` if nobody can draw them.
///
/// Logarithms of the binomial probabilities, from that of 0 on, added up from the far end: good to ten digits of the tail.
pub fn most_kept_pairs(records: u64, expected: f64) -> Option<f64> {
    let n = records as f64;
    let pairs = n * (n - 1.0) / 2.0;
    if !(expected > 0.0 && expected <= MOST_EXPECTED && expected < pairs && pairs <= 2.0_f64.powi(52)) {
        return None;
    }
    let share = expected / pairs;
    let odds = share.ln() - (-share).ln_1p();
    let tail = -f64::from(TAIL_BITS) * std::f64::consts::LN_2;
    let mut logs = vec![pairs * (-share).ln_1p()];
    // Beyond the mean probabilities fall ever faster: what is left out is far below the tail.
    while let Some(&log) = logs.last()
        && (logs.len() as f64) <= pairs
        && (logs.len() as f64 <= expected + 1.0 || log > tail - 60.0)
    {
        let k = logs.len() as f64;
        logs.push(log + ((pairs - k + 1.0) / k).ln() + odds);
    }
    let (mut beyond, mut least) = (0.0, logs.len() - 1);
    for (k, log) in logs.iter().enumerate().rev() {
        // `beyond` is the chance of more than k.
        if beyond > tail.exp() {
            break;
        }
        least = k;
        beyond += log.exp();
    }
    Some(least as f64 + 1.0)
}

fn composition(facts: &Facts, steps: u32, sampling: Sampling, multiplier: f64) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    require(steps > 0 && multiplier > 0.0, || format!("{steps} steps at a multiplier of {multiplier:e}"))?;
    plausible(facts, steps, sampling, multiplier)?;
    let sampling = match sampling {
        Sampling::FixedSize { batch, records } => Sampled::FixedSize { batch, records },
        Sampling::OneIndex { records } => Sampled::OneIndex { records },
        Sampling::PoissonPairs { records, expected_pairs } => {
            Sampled::PoissonPairs { records, expected_pairs }
        }
    };
    let release = Release::Gaussian { noise_multiplier: multiplier, sampling, times: u64::from(steps) };
    let event = Event::new(facts.problem.adjacency(), release).map_err(|error| text(&error))?;
    let (claim, sampler) = (&facts.certificate.claim, facts.certificate.sampler_delta);
    let epsilon = Epsilon::new(claim.epsilon).map_err(|error| text(&error))?;
    let found = delta_value(&event, epsilon).map_err(|error| text(&error))? + sampler;
    let enough = found <= claim.delta * (1.0 + VALUE_TOLERANCE);
    require(enough && found >= claim.delta * (1.0 - CALIBRATION_SLACK), || {
        format!("δ is {:e}, recomputed {found:e}", claim.delta)
    })
}

/// Bounds on δ that cost nothing: what is not between them needs no contour. At most δ of the same steps without sampling, and at most
/// the chance that the record is ever drawn; at least, for samples of fixed size, δ of one step (`proofs/sym.md`).
fn plausible(facts: &Facts, steps: u32, sampling: Sampling, multiplier: f64) -> Result<(), String> {
    let (epsilon, claimed) = (facts.certificate.claim.epsilon, facts.certificate.claim.delta);
    let (chance, distance) = match sampling {
        Sampling::FixedSize { batch, records } => (batch as f64 / records as f64, 1.0 / multiplier),
        Sampling::OneIndex { records } => (1.0 / records as f64, 1.0 / multiplier),
        Sampling::PoissonPairs { records, expected_pairs } => {
            (2.0 * expected_pairs / records as f64, 2.0 * most_terms(sampling)? / multiplier)
        }
    };
    let ever = f64::from(steps) * chance;
    let together = gaussian_delta(epsilon, f64::from(steps).sqrt() * distance).unwrap_or(1.0);
    let most = smaller(ever, together) + facts.certificate.sampler_delta;
    require(claimed * (1.0 - CALIBRATION_SLACK) <= most * (1.0 + VALUE_TOLERANCE), || {
        format!("δ is {claimed:e}, at most {most:e} is possible")
    })?;
    if matches!(sampling, Sampling::PoissonPairs { .. }) {
        return Ok(());
    }
    let one_step = gaussian_delta((epsilon.exp_m1() / chance).ln_1p(), distance);
    let least = chance * one_step.unwrap_or(0.0) * (1.0 - VALUE_TOLERANCE);
    require(claimed >= least, || format!("δ is {claimed:e}, at least {least:e} is lost in one step"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of few pairs may be kept; of many, about as many as a Poisson variable exceeds with that chance.
    #[test]
    fn as_many_pairs_are_kept_as_have_a_chance() {
        assert_eq!(most_kept_pairs(4, 3.0), Some(7.0));
        assert_eq!(most_kept_pairs(2, 0.5), Some(2.0));
        // P(X > k) of Poisson(1) is about e⁻¹/(k + 1)!: 1.4e−33 for k = 29, 4.5e−35 for k = 30, and 2⁻¹¹² is 1.9e−34.
        assert_eq!(most_kept_pairs(1 << 26, 1.0), Some(31.0));
        for (records, expected) in [(0, 1.0), (1, 1.0), (2, 1.0), (10, 45.0), (1 << 40, 1.0), (u64::MAX, 1.0)]
        {
            assert_eq!(most_kept_pairs(records, expected), None, "{records}");
        }
        for expected in [0.0, -1.0, f64::NAN, f64::INFINITY, 4097.0] {
            assert_eq!(most_kept_pairs(1000, expected), None, "{expected}");
        }
    }
}
