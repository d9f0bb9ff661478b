//! The guarantee in plain words, and the curve behind them.

use super::html;
use crate::failure::Failure;
use pairdp_accountant::calibrate::{TradeOff, trade_off};
use pairdp_learn::cautions_of;
use pairdp_model::PrivateModel;
use pairdp_plot::{Axis, Plot};
use pairdp_release::{LearnError, certified_event};
use pairdp_units::directed::{smaller, up_by};
use pairdp_units::{Adjacency, shown};
use std::fmt::Write as _;

/// False-positive rates of the table, in percent.
const PERCENTS: [f64; 5] = [0.1, 1.0, 5.0, 10.0, 50.0];
/// The one in the sentence.
const SAID: usize = 1;
/// Steps of the curve, and its first rate, which stands for 0.
const STEPS: u32 = 400;
const SMALLEST: f64 = 1e-6;

pub(super) fn section(model: &PrivateModel) -> Result<String, Failure> {
    let certificate = &model.certificate;
    let event = certified_event(certificate)?;
    let grid = (1..=STEPS).map(|k| f64::from(k) / f64::from(STEPS));
    let rates: Vec<f64> =
        PERCENTS.iter().map(|percent| percent / 100.0).chain([SMALLEST]).chain(grid).collect();
    let points = trade_off(&event, &rates).map_err(LearnError::from)?;
    let points: Vec<(f64, f64)> =
        points.iter().map(|point| (point.false_positive, hits(*point, certificate.sampler_delta))).collect();
    let (named, curve) = points.split_at(PERCENTS.len());
    let claim = &certificate.claim;

    let mut body = format!(
        "<p class=\"promise\">Suppose somebody sees this model, knows everything about everybody else, and tries to tell whether \
         {}. If their test accuses \
         {} % of those whom it should not, it finds <strong>at most {} %</strong> of those whom it should. Guessing finds {} %.</p>\n",
        question(certificate.adjacency()),
        PERCENTS[SAID],
        percent_up(named[SAID].1),
        PERCENTS[SAID],
    );
    body += &html::paragraph(&format!(
        "In numbers: (ε = {}, δ = {})-differential privacy for {}. No test, \
         whatever it computes from the model, lies above the curve; on the dashed line a test does no better than a coin. Other models of the same table add to what can be found.",
        shown::up(claim.epsilon),
        shown::up(claim.delta),
        certificate.protects(),
    ));
    if let Some(condition) = &certificate.condition {
        let _ = writeln!(
            body,
            "<p class=\"caution\"><strong>Only if the clip was as stated:</strong> all of this holds if {}. Records were scored by {}, which is \
             not part of pairdp, and nobody can recompute from this file what it did.</p>",
            html::escape(&condition.rests_on),
            html::escape(&condition.function.name),
        );
    }
    let plot = Plot::new(
        Axis::linear("false-positive rate", 0.0, 1.0),
        Axis::linear("true-positive rate, at most", 0.0, 1.0),
    )
    .area(curve)
    .line(&[(0.0, 0.0), (1.0, 1.0)], "faint")
    .line(curve, "main")
    .mark(named[SAID], &format!("{} % at {} %", percent_up(named[SAID].1), PERCENTS[SAID]));
    body += &html::figure(
        &plot.svg("Bound on the power of any test of membership"),
        "The trade-off curve of everything that was released, an upper bound from the accountant.",
    );
    body += "<table>\n<thead><tr><th>wrongly accused</th><th>found, at most</th></tr></thead>\n";
    for (percent, (_, power)) in PERCENTS.iter().zip(named) {
        let _ = writeln!(body, "<tr><td>{percent} %</td><td>{} %</td></tr>", percent_up(*power));
    }
    body += "</table>\n";
    for caution in cautions_of(model)? {
        let _ =
            writeln!(body, "<p class=\"caution\"><strong>Warning:</strong> {}.</p>", html::escape(&caution));
    }
    Ok(html::section("What is promised", &body))
}

/// What a test of membership asks.
fn question(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::ReplaceOne => "<strong>your record</strong> was in the table or another in its place",
        Adjacency::ReplaceFeatures => {
            "<strong>the features of your record</strong>, whose label counts as known, were yours or others in their place"
        }
        Adjacency::AddRemoveOne | Adjacency::AddRemovePromised => {
            "<strong>your record</strong> was in the table or not"
        }
        Adjacency::ReplaceOnePerson => {
            "<strong>you</strong>, with all your records, were in the table or another person in your place"
        }
        Adjacency::AddRemoveOnePerson => {
            "<strong>you</strong>, with all your records, were in the table or not"
        }
    }
}

/// A bound on the true-positive rate. The releases are within a distance d of the event's, d at most the sampler's part of δ,
/// so a test that accuses α of them accuses at most α + d there, and finds at most d more here than T(α + d). T is concave
/// and not negative: T(α + d) is at most T(α) + d/α.
fn hits(point: TradeOff, sampler_delta: f64) -> f64 {
    let more = sampler_delta * (1.0 + 1.0 / point.false_positive);
    smaller(1.0, up_by(1.0 - point.false_negative + more, 8.0))
}

/// To a tenth of a percent, upwards.
fn percent_up(rate: f64) -> f64 {
    (rate * 1000.0).next_up().ceil() / 10.0
}
