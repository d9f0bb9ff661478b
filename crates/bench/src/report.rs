//! How results are printed.

use crate::Benchmark;
use serde_json::{Value, json};
use std::time::Instant;

/// Prints results as they come.
pub(crate) struct Report {
    json: bool,
}

impl Report {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// One result: a case, its value and unit, and what else identifies it (sizes, parameters).
    #[expect(clippy::print_stdout, reason = "results are this program's data")]
    pub(crate) fn row(&mut self, case: &str, details: &[(&str, f64)], value: f64, unit: &str) {
        if self.json {
            let mut object = json!({ "case": case });
            for (name, number) in details {
                object[*name] = json!(number);
            }
            object["value"] = json!(value);
            object["unit"] = Value::from(unit);
            println!("{object}");
        } else {
            let details: Vec<String> =
                details.iter().map(|(name, number)| format!("{name}={number}")).collect();
            println!("{case:<36} {:<28} {value:>14.6} {unit}", details.join(" "));
        }
    }
}

impl Report {
    /// One result with names of its own.
    #[expect(clippy::print_stdout, reason = "results are this program's data")]
    pub(crate) fn object(&mut self, object: &Value) {
        if self.json {
            println!("{object}");
            return;
        }
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.as_f64().map_or(String::new(), |v| {
                format!("{v:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
            }),
            other => other.to_string(),
        };
        let fields = object.as_object().into_iter().flatten();
        println!(
            "{}",
            fields.map(|(name, value)| format!("{name}={}", text(value))).collect::<Vec<_>>().join("  ")
        );
    }

    /// A benchmark that could not be run.
    #[expect(clippy::print_stderr, reason = "errors go to standard error")]
    pub(crate) fn failed(error: &anyhow::Error) {
        eprintln!("error: {error:#}");
    }
}

/// What can be run.
#[expect(clippy::print_stderr, reason = "help goes to standard error")]
pub(crate) fn list(benchmarks: &[Benchmark]) {
    eprintln!("usage: cargo xtask bench NAME [--json]");
    for (name, what, _) in benchmarks {
        eprintln!("  {name:<12} {what}");
    }
}

/// The least of `repeats` wall-clock times of `work`, in seconds: the least disturbed run.
pub(crate) fn best_seconds<T>(repeats: usize, mut work: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..repeats {
        let start = Instant::now();
        std::hint::black_box(work());
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed < best {
            best = elapsed;
        }
    }
    best
}
