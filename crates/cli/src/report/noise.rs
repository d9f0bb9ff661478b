//! Noise next to signal, and what another ε would have meant.

use super::html;
use super::quality::Quality;
use crate::failure::Failure;
use pairdp_certificate::{NoiseKind, Released};
use pairdp_model::{PrivateModel, Task, certified_problem};
use pairdp_pairwise::Score;
use pairdp_plot::{Axis, Plot, bars};
use pairdp_release::{LearnError, Mechanism, NoiseToSignal};
use pairdp_units::directed::{larger, smaller};
use pairdp_units::{Budget, shown};
use std::fmt::Write as _;

/// Bars that are shown at most.
const MOST_BARS: usize = 30;
/// Values of ε on each side of the model's, and the step between them.
const STEPS: i32 = 6;
const FACTOR: f64 = 1.467_799_267_622_069_4; // 10^(1/6)
/// Noise of a normal coordinate stays within so many standard deviations 95 % of the time.
const TWO_SIDED: f64 = 1.96;

pub(super) fn section(model: &PrivateModel, quality: Option<&Quality>) -> Result<String, Failure> {
    Ok(html::section("Privacy and usefulness", &trade(model, quality)?)
        + &html::section("Noise next to signal", &parameters(model)))
}

/// Noise over signal as ε varies, for the same n, d and plan: public facts only.
fn trade(model: &PrivateModel, quality: Option<&Quality>) -> Result<String, Failure> {
    let certificate = &model.certificate;
    let (here, delta) = (certificate.claim.epsilon, certificate.claim.delta);
    let problem = certified_problem(certificate)?;
    let noise_to_signal = |epsilon: f64| -> Result<NoiseToSignal, LearnError> {
        let budget = Budget::new(epsilon, delta)?;
        Mechanism::calibrate(
            problem,
            model.training.try_into()?,
            certificate.records,
            certificate.features,
            budget,
        )?
        .noise_to_signal()
    };
    let ratio = |noise_to_signal: NoiseToSignal| noise_to_signal.noise / noise_to_signal.signal;
    // A ratio that cannot be had at some ε leaves a gap and is no reason to have no report.
    let curve: Vec<(f64, f64)> = (-STEPS..=STEPS)
        .map(|k| here * FACTOR.powi(k))
        .filter_map(|epsilon| Some((epsilon, ratio(noise_to_signal(epsilon).ok()?))))
        .filter(|(_, ratio)| ratio.is_finite() && *ratio > 0.0)
        .collect();
    let now = noise_to_signal(here)?;
    let lowest = curve.iter().fold(ratio(now), |low, point| smaller(low, point.1));
    let highest = curve.iter().fold(ratio(now), |high, point| larger(high, point.1));
    let words = match quality {
        Some(quality) => format!("ε = {}: {}", shown::up(here), quality.headline()),
        None => format!("ε = {}", shown::up(here)),
    };
    let plot = Plot::new(
        Axis::logarithmic("ε, smaller protects more", here / 10.0, here * 10.0),
        Axis::logarithmic("noise over the largest signal", lowest, highest),
    )
    .line(&curve, "main")
    .mark((here, ratio(now)), &words);
    Ok(html::figure(
        &plot.svg("Noise over signal as ε varies"),
        &format!(
            "How long the noise in one release is, divided by the longest that its exact answer can be, for {}{} {} of \
             {} features, δ = {} and the same plan (steps: {}). Computed from public facts. The signal of a real table \
             is smaller than the largest one, and averaging over steps makes the noise smaller.",
            if certificate.is_secret_size() { "at most " } else { "" },
            certificate.records,
            certificate.adjacency().unit().many(),
            certificate.features,
            shown::up(delta),
            model.training.steps,
        ),
    ))
}

fn parameters(model: &PrivateModel) -> String {
    let names = model.predictor.feature_names();
    let weights = &model.predictor.parameters;
    let metric = model.predictor.task == Task::Metric;
    let mut rows: Vec<(String, f64)> = if metric {
        let d = names.len();
        names.iter().enumerate().map(|(i, name)| (name.clone(), weights[i * d + i])).collect()
    } else {
        names.iter().cloned().zip(weights.iter().copied()).collect()
    };
    let all = rows.len();
    if all > MOST_BARS {
        rows.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        rows.truncate(MOST_BARS);
    }
    let band = band(model);
    let mut caption = if metric {
        "How much each entry of a record counts in the squared distance (the diagonal of the metric)"
            .to_owned()
    } else {
        "The weight of each entry of a record in the score".to_owned()
    };
    if all > MOST_BARS {
        let _ = write!(caption, "; the {MOST_BARS} largest of {all}");
    }
    caption += match band {
        Some(_) => ". The line at the end of a bar is where the weight without noise lies, 95 times in 100.",
        None => {
            ". The noise was added to what the weights were computed from, so no single weight has an error bar."
        }
    };
    let mut body = match model.predictor.score {
        Score::Linear if model.predictor.random_features.is_some() => html::paragraph(
            "Random features take all columns together, so that no weight says what a column does, and no reasons are given for a score.",
        ),
        Score::Linear => html::figure(&bars(&rows, band, "Weights of the model"), &caption),
        Score::Network(form) => html::paragraph(&format!(
            "A network has no coefficients: its {} hidden units take all columns together, so that no weight says what a column does, \
             and no reasons are given for a score.",
            form.hidden
        )),
        Score::Foreign(form) => html::paragraph(&format!(
            "Scores are those of a function in Python with {} parameters: no weight says what a column does, and no reasons are given for a score.",
            form.parameters
        )),
    };
    if let Released::Gradients { releases, .. } = &model.certificate.released
        && releases.len() > 1
    {
        let points: Vec<(f64, f64)> =
            releases.iter().enumerate().map(|(t, release)| (1.0 + t as f64, release.sigma)).collect();
        let top = points.iter().fold(0.0, |top, point| larger(top, point.1));
        let plot = Plot::new(
            Axis::linear("step", 0.0, points.len() as f64),
            Axis::linear("σ of the noise in the gradient", 0.0, top * 1.1),
        )
        .line(&points, "main");
        body += &html::figure(
            &plot.svg("Noise of each step"),
            "The noise in each step follows how steep the loss can be at the released weights from which the step began.",
        );
    }
    body
}

/// Half the width of a weight's 95 % band, where noise was added to the weights themselves.
fn band(model: &PrivateModel) -> Option<f64> {
    let Released::Output { phases, .. } = &model.certificate.released else { return None };
    let [phase] = phases.as_slice() else { return None };
    let law = NoiseKind::ALL.into_iter().find(|law| law.name() == model.certificate.noise)?;
    match law {
        NoiseKind::Gaussian => Some(TWO_SIDED * phase.sigma),
        // P(|z| > t) = exp(−t/b).
        NoiseKind::Laplace => Some(20_f64.ln() * phase.sigma),
        // The coordinates are not independent and have no short formula.
        NoiseKind::Euclidean => None,
    }
}
