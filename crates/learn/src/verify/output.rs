//! One noisy result of a descent without noise.

use super::{Relation, TOLERANCE, covers, formulas, gradients, lattice_rounding};
use crate::Certificate;
use crate::certificate::Released;
use pairdp_pairwise::{Constants, Objective, Regularity};

pub(super) fn relations(certificate: &Certificate) -> Vec<Relation> {
    let Released::Output { ref kernel, sensitivity, ratio, sigma, .. } = certificate.released else {
        return Vec::new();
    };
    let expected = sensitivity / (ratio - lattice_rounding(certificate));
    vec![
        (
            "kernel",
            "the kernel is the one for this objective",
            formulas::check_kernel(certificate.problem, kernel),
        ),
        (
            "sensitivity",
            "δ_T of δ_{t+1} = step(δ_t), by the recurrence for this loss, averaged as stated",
            path(certificate).and_then(|expected| {
                covers("Δ", sensitivity, expected, 1e-6 + formulas::tolerance(certificate.problem))
            }),
        ),
        ("noise", "σ = Δ/(m − √p·(1 + 2⁻⁷)·2^−bits)", covers("σ", sigma, expected, TOLERANCE)),
        (
            "composition",
            "δ(ε; m) + δ_s = δ, integrated numerically",
            gradients::composition(certificate, 1, ratio),
        ),
    ]
}

/// How far one record moves the result, by the plain recurrence (`proofs/path_lemmas.md`).
fn path(certificate: &Certificate) -> Result<f64, String> {
    let Released::Output { steps, step_size: rate, average, .. } = certificate.released else {
        return Err("not an output".into());
    };
    let problem = certificate.problem;
    let radius = problem.domain().radius();
    if !radius.is_finite() || matches!(problem.objective(), Objective::Metric { .. }) {
        return Err("no proved sensitivity for this problem".into());
    }
    let (n, d) = (certificate.records as f64, certificate.features as f64);
    let (kappa, ridge, unit) = (problem.feature_bound(), problem.ridge(), 2.0_f64.powi(-52));
    let Constants { regularity, same_term_difference, .. } = problem.constants();
    let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
    let touched = formulas::difference(problem, radius) / n;
    // The share of untouched terms, and how far touched terms differ at two parameters.
    let (untouched, apart) = if pointwise {
        (1.0 - 1.0 / n, touched + same_term_difference / n)
    } else {
        (1.0 - 2.0 / n, touched + 2.0 * same_term_difference / n)
    };
    let largest = formulas::largest_term(problem, radius);
    // Rounding: of scores, of sums, of the step.
    let margin_error = 4.0 * (d + 8.0) * unit * kappa * radius;
    let smooth = match regularity {
        Regularity::Smooth { constant } => Some(constant),
        _ => None,
    };
    let gradient_error =
        formulas::kernel_error(certificate, radius) + smooth.map_or(0.0, |l| l / kappa * margin_error);
    let step_error = (4.0 * d + 64.0) * unit * (radius + rate * (largest + ridge * radius));
    let error = 2.0 * (rate * gradient_error + step_error);
    let slack = 2.0 * rate * 2.0 * margin_error * largest / kappa;

    let total = problem.risk_smoothness(certificate.records);
    let kept = average.kept(steps);
    let (mut distance, mut sum) = (0.0_f64, 0.0);
    for step in 1..=steps {
        distance = match total {
            Some(total) if rate * total <= 2.0 => {
                let contraction = if ridge > 0.0 {
                    let (slow, fast) = ((1.0 - rate * ridge).abs(), (1.0 - rate * total).abs());
                    if slow > fast { slow } else { fast }
                } else {
                    1.0
                };
                contraction * distance + rate * touched + error
            }
            // Runs that agree so far differ by touched terms alone.
            _ if distance <= 0.0 => rate * touched + error,
            _ => {
                let spread = spread(regularity, same_term_difference * rate, rate, ridge);
                let kept = (1.0 - rate * ridge) * distance;
                let grown = |part: f64, moved: f64| (kept * kept + slack + part * part).sqrt() + rate * moved;
                let (split, whole) = (grown(spread * untouched, apart), grown(spread, touched));
                (if split < whole { split } else { whole }) + error
            }
        };
        let cap = problem.domain().diameter();
        if distance > cap {
            distance = cap;
        }
        if step + kept > steps {
            sum += distance;
        }
    }
    let mean_error = (4.0 * d + f64::from(steps) + 64.0) * unit * radius;
    Ok(sum / f64::from(kept) + 2.0 * mean_error)
}

/// What an untouched step adds in quadrature: H·η, or less where the slope is Hölder continuous.
fn spread(regularity: Regularity, jump: f64, rate: f64, ridge: f64) -> f64 {
    let Regularity::Hoelder { exponent, constant } = regularity else {
        return jump;
    };
    let power = 1.0 / (1.0 - exponent);
    let base = constant * rate * (-exponent).exp2();
    let shrink = (1.0 - rate * ridge).powf(-exponent * power);
    let smooth = ((1.0 - exponent) / (1.0 + exponent)).sqrt() * base.powf(power) * shrink;
    if smooth < jump { smooth } else { jump }
}
