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

    /// What stands after `name` on the command line.
    pub(crate) fn option(name: &str) -> Option<String> {
        std::env::args().skip_while(|argument| argument != name).nth(1)
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

/// The least CPU time of `repeats` runs of `work`, in seconds: for one thread on a machine that others use, too.
pub(crate) fn best_cpu_seconds<T>(repeats: usize, mut work: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..repeats {
        let start = cpu_seconds();
        std::hint::black_box(work());
        let elapsed = cpu_seconds() - start;
        if elapsed < best {
            best = elapsed;
        }
    }
    best
}

/// The CPU time of all threads so far.
#[cfg(unix)]
pub(crate) fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Wall time, which is never less.
#[cfg(not(unix))]
pub(crate) fn cpu_seconds() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

/// A figure of this process's memory, in bytes (Linux alone says).
pub(crate) fn memory(name: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib * 1024.0)
}

/// Two coordinates and a value.
pub(crate) type Point = ([f64; 2], f64);

/// The slopes of a plane through points, by least squares.
pub(crate) fn slopes(points: &[Point]) -> [f64; 2] {
    let mean = |of: &dyn Fn(&Point) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (mx, my, mz) = (mean(&|p| p.0[0]), mean(&|p| p.0[1]), mean(&|p| p.1));
    let [xx, xy, yy, xz, yz] = [
        mean(&|p| (p.0[0] - mx) * (p.0[0] - mx)),
        mean(&|p| (p.0[0] - mx) * (p.0[1] - my)),
        mean(&|p| (p.0[1] - my) * (p.0[1] - my)),
        mean(&|p| (p.0[0] - mx) * (p.1 - mz)),
        mean(&|p| (p.0[1] - my) * (p.1 - mz)),
    ];
    let area = xx * yy - xy * xy;
    [(xz * yy - yz * xy) / area, (yz * xx - xz * xy) / area]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_has_its_own_slopes() {
        let points =
            [[0.0, 0.0], [1.0, 0.5], [2.0, 3.0], [4.0, 1.0]].map(|at| (at, 2.0 * at[0] - at[1] + 7.0));
        let [x, y] = slopes(&points);
        assert!((x - 2.0).abs() < 1e-12 && (y + 1.0).abs() < 1e-12, "{x} {y}");
    }
}
