//! Public choices of a certificate, as people say them.

use serde_json::Value;

/// What is minimised.
pub(super) fn objective(value: &Value) -> String {
    let (kind, of) = named(value);
    let loss = loss(&of["loss"]);
    match kind {
        "ranking" => match of["form"].as_str() {
            Some("symmetric") => {
                format!("the {loss} loss of pairs with different labels, each twice, at twice the margin")
            }
            Some("comparable") => format!("the {loss} loss of pairs of which it is known who fails first"),
            _ => format!("the {loss} loss of pairs of a positive and a negative record"),
        },
        "metric" => format!("the {loss} loss of distances between pairs of records"),
        _ => format!("the {loss} loss of single records"),
    }
}

/// What is compared.
pub(super) fn score(value: &Value) -> String {
    match named(value) {
        ("network", of) => format!(
            "a network: the weighted sum and {} hidden units (tanh), started from the public seed {}",
            of["hidden"], of["seed"]
        ),
        ("foreign", of) => format!(
            "a function in Python with {} parameters, started from the public seed {}; its gradients count as scaled down to {}",
            of["parameters"], of["seed"], of["bound"]
        ),
        _ => "a weighted sum of the features".into(),
    }
}

/// Where parameters may be.
pub(super) fn domain(value: &Value) -> String {
    let (kind, of) = named(value);
    let radius = of["radius"].as_f64().map(|radius| radius.to_string()).unwrap_or_default();
    match kind {
        "whole" => "any".into(),
        "ball" => format!("those of norm up to {radius}"),
        "psd-ball" => format!("positive semidefinite matrices of norm up to {radius}"),
        "psd-diagonal" => {
            format!("a weight of at least 0 for each feature, of norm up to {radius} together")
        }
        "psd-nuclear" => format!("positive semidefinite matrices of trace up to {radius}"),
        other => format!("{other}, up to {radius}"),
    }
}

/// A loss by its name, with its exponent if it has one.
fn loss(value: &Value) -> String {
    match named(value) {
        ("margin", of) => loss(of),
        ("residual", of) if of["q"].as_f64() == Some(2.0) => "squared".into(),
        ("residual", of) => format!("q-norm (q = {})", of["q"]),
        (name, of) => match of["q"].as_f64() {
            Some(q) => format!("{name} (q = {q})"),
            None => name.to_owned(),
        },
    }
}

/// A choice and what belongs to it.
fn named(value: &Value) -> (&str, &Value) {
    match value {
        Value::Object(fields) => fields.iter().next().map_or(("", value), |(name, of)| (name.as_str(), of)),
        _ => (value.as_str().unwrap_or_default(), &Value::Null),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn choices_are_told_in_words() {
        for (value, words) in [
            (
                json!({"ranking": {"form": "indicator", "loss": "logistic"}}),
                "the logistic loss of pairs of a positive and a negative record",
            ),
            (
                json!({"pointwise": {"loss": {"margin": "capped-logistic"}}}),
                "the capped-logistic loss of single records",
            ),
            (
                json!({"pointwise": {"loss": {"residual": {"q": 2.0, "target_bound": 1.0}}}}),
                "the squared loss of single records",
            ),
            (
                json!({"pointwise": {"loss": {"margin": {"q-hinge": {"q": 1.5}}}}}),
                "the q-hinge (q = 1.5) loss of single records",
            ),
            (json!({"metric": {"loss": "hinge"}}), "the hinge loss of distances between pairs of records"),
        ] {
            assert_eq!(objective(&value), words);
        }
        assert_eq!(domain(&json!({"ball": {"radius": 20.0}})), "those of norm up to 20");
        assert_eq!(domain(&json!("whole")), "any");
    }
}
