//! Curves of a private evaluation, for people, machines and ledgers.

use pairdp_certificate::NoiseKind;
use pairdp_learn::{Estimate, Histogram};
use pairdp_pairwise::score_cells::COUNTS;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// For machines: what was released, and all that follows from it.
pub(super) fn object(histogram: &Histogram) -> Value {
    json!({ "histogram": histogram, "thresholds": histogram.thresholds(), "calibration": histogram.calibration() })
}

/// For people: two tables.
pub(super) fn text(histogram: &Histogram) -> String {
    let mut text = format!(
        "{:>9} {:>11} {:>19} {:>19} {:>19} {:>19}\n",
        "score", "probability", "flagged", "sensitivity", "false positives", "precision"
    );
    let shown = |Estimate { value, low, high }: Estimate| format!("{value:.3} ({low:.3}–{high:.3})");
    let probability = |p: Option<f64>| p.map_or_else(|| "–".into(), |p| format!("{p:.3}"));
    for at in histogram.thresholds() {
        let _ = writeln!(
            text,
            "{:>9.3} {:>11} {:>19} {:>19} {:>19} {:>19}",
            at.score,
            probability(at.probability),
            shown(at.flagged),
            shown(at.sensitivity),
            shown(at.false_positives),
            shown(at.precision)
        );
    }
    let _ = writeln!(
        text,
        "\n{:>21} {:>11} {:>19} {:>19}",
        "scores", "probability", "positive", "share of records"
    );
    for cell in histogram.calibration() {
        let _ = writeln!(
            text,
            "{:>9.3} to {:>8.3} {:>11} {:>19} {:>19}",
            cell.low,
            cell.high,
            probability(cell.probability),
            shown(cell.positives),
            shown(cell.records)
        );
    }
    text.push_str(
        "each row of the first table says what happens if all records with at least that score are flagged; both tables follow from one noisy histogram\n\n",
    );
    text
}

/// Names of numbers in a ledger.
const LOW: &str = "curve-low";
const HIGH: &str = "curve-high";
const NOISE: &str = "curve-noise";
const LAPLACE: &str = "curve-laplace";
const RECORDS: &str = "curve-records";
const LINE: [&str; 4] = ["curve-intercept", "curve-slope", "curve-from", "curve-to"];

fn count(k: usize) -> String {
    format!("curve-count-{k:02}")
}

/// For a ledger.
pub(super) fn numbers(histogram: &Histogram) -> Vec<(String, f64)> {
    let Histogram { low, high, noise, law, records, counts, log_odds } = histogram;
    let laplace = f64::from(u8::from(*law == NoiseKind::Laplace));
    let facts = [(LOW, *low), (HIGH, *high), (NOISE, *noise), (LAPLACE, laplace), (RECORDS, *records)];
    let line = LINE.into_iter().zip(log_odds.iter().flatten().copied());
    let named = facts.into_iter().chain(line).map(|(name, number)| (name.to_owned(), number));
    named.chain(counts.iter().enumerate().map(|(k, number)| (count(k), *number))).collect()
}

/// From a ledger.
pub(super) fn from_numbers(numbers: &BTreeMap<String, f64>) -> Option<Histogram> {
    let number = |name: &str| numbers.get(name).copied();
    let counts: Option<Vec<f64>> = (0..COUNTS).map(|k| number(&count(k))).collect();
    let line: Option<Vec<f64>> = LINE.into_iter().map(number).collect();
    Some(Histogram {
        low: number(LOW)?,
        high: number(HIGH)?,
        noise: number(NOISE)?,
        law: if number(LAPLACE)? > 0.5 { NoiseKind::Laplace } else { NoiseKind::Gaussian },
        records: number(RECORDS)?,
        counts: counts?,
        log_odds: line.and_then(|line| line.try_into().ok()),
    })
}
