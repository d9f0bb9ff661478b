//! When events came, as the first release of a survival model says.

use super::html::{figure, paragraph, section as titled};
use pairdp_model::PrivateModel;
use pairdp_plot::{Axis, Plot};

/// The section; none for a model that released nothing of times.
pub(super) fn section(model: &PrivateModel) -> Option<String> {
    let curve = model.predictor.survival_curve()?;
    let released = model.predictor.representation.as_ref()?;
    let (horizon, _) = curve.last().map(|[time, share]| (*time, *share))?;
    // Between two edges the share is not known; it is drawn as what it was before.
    let steps: Vec<(f64, f64)> =
        curve.windows(2).flat_map(|pair| [(pair[0][0], pair[0][1]), (pair[1][0], pair[0][1])]).collect();
    let last = curve.last().map(|[time, share]| (*time, *share));
    let points: Vec<(f64, f64)> = steps.into_iter().chain(last).collect();
    let unit = model.predictor.label.as_ref().map_or("time", |label| label.column.as_str());
    let plot = Plot::new(Axis::linear(unit, 0.0, horizon), Axis::linear("share without an event", 0.0, 1.0))
        .line(&points, "main");
    let noise = released.noise / released.counted;
    let caption = format!(
        "The share of the table that had no event until each eighth of the horizon (Kaplan and Meier), from counts that were released with a \
         standard deviation of {noise:.1e} of the table each. Whoever left during an eighth counts as seen until its end."
    );
    Some(titled(
        "When events came",
        &(paragraph(
            "How many records are in each eighth of the time, with and without an event, was released before the scores were learned: \
             it is part of what ε pays for, and about the whole table, not about anybody in it.",
        ) + &figure(&plot.svg("Share without an event over time"), &caption)
            + &paragraph(
                "The model's measure, Harrell's C, depends on who was censored when: compare models on one table, not one model \
                 across tables that were watched differently.",
            )),
    ))
}
