//! Time and memory of training a ranker, from 10⁴ to 10⁷ records and from 10 to 1000 features: `cargo xtask bench scaling
//! [--cells C]`.
//!
//! `noisy-gd` over all pairs with a fixed number of steps, by the same call as the command line's and Python's, on simulated
//! records that are already in memory. Time is CPU time, of all threads together. Tables have at most C cells of 8 bytes,
//! 10⁹ unless said otherwise.

use crate::report::{Point, Report, cpu_seconds, memory, slopes};
use anyhow::{Context as _, Result};
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Table};
use pairdp_learn::{Settings, Training};
use pairdp_model::Task;
use pairdp_noise::{Replay, Source};
use pairdp_units::Budget;
use rayon::prelude::*;
use serde_json::json;

const STEPS: u32 = 20;

pub(crate) fn run(report: &mut Report) {
    if let Err(error) = measure(report) {
        Report::failed(&error);
    }
}

fn measure(report: &mut Report) -> Result<()> {
    let most: f64 = Report::option("--cells").map_or(Ok(1e9), |text| text.parse()).context("--cells")?;
    let mut found = Vec::new();
    let mut least = None;
    for d in [10, 100, 1000] {
        for n in [10_000, 100_000, 1_000_000, 10_000_000] {
            if n as f64 * d as f64 > most {
                continue;
            }
            let (seconds, peak) = train(n, d)?;
            let least = *least.get_or_insert(seconds);
            let cells = n as f64 * d as f64;
            report.object(&json!({
                "n": n, "d": d, "time over the smallest": seconds / least,
                "nanoseconds a cell and step": 1e9 * seconds / cells / f64::from(STEPS), "peak memory over the table": peak,
            }));
            found.push(([(n as f64).ln(), (d as f64).ln()], seconds.ln()));
        }
    }
    for (name, chosen) in [("all", &found[..]), ("10⁷ cells and more", &large(&found)[..])]
        .into_iter()
        .filter(|(_, c)| c.len() > 3)
    {
        let [n, d] = slopes(chosen);
        report.object(&json!({ "tables": name, "exponent of n": n, "exponent of d": d }));
    }
    Ok(())
}

/// Tables that no cache holds.
fn large(points: &[Point]) -> Vec<Point> {
    points.iter().filter(|(at, _)| at[0] + at[1] > 1e7_f64.ln() - 1e-9).copied().collect()
}

/// CPU seconds of a training on all threads, and its peak memory over the size of the table (Linux alone says).
fn train(n: usize, d: usize) -> Result<(f64, Option<f64>)> {
    let settings = Settings {
        task: Task::Ranking,
        algorithm: Some(Algorithm::NoisyGd),
        steps: Some(STEPS),
        step_size: Some(1.0),
        ..Settings::default()
    };
    let training =
        Training { settings, encoding: Encoding::unscaled(d), label: None, budget: Budget::new(1.0, 1e-8)? };
    // Small tables are quickly done and easily disturbed.
    let repeats = (20_000_000 / (n * d)).clamp(1, 20);
    let (mut least, mut most) = (f64::INFINITY, None);
    for _ in 0..repeats {
        let table = table(n, d);
        let held = std::fs::write("/proc/self/clear_refs", "5").ok().and_then(|()| memory("VmRSS:"));
        let start = cpu_seconds();
        training.fit(table)?;
        let seconds = cpu_seconds() - start;
        if seconds < least {
            least = seconds;
        }
        let size = (n * d * size_of::<f64>()) as f64;
        most = held.zip(memory("VmHWM:")).map(|(held, peak)| (peak - held + size) / size);
    }
    Ok((least, most))
}

/// Uniform features; one in ten records is positive, more likely where the first feature is large.
fn table(n: usize, d: usize) -> Table {
    let mut features = vec![0.0; n * d];
    features.par_chunks_mut(d << 10).enumerate().for_each(|(chunk, out)| {
        let mut random = Replay::from_seed(chunk as u64);
        let mut words = vec![0; out.len()];
        random.fill_words(&mut words);
        for (value, word) in out.iter_mut().zip(words) {
            *value = (word >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        }
    });
    let targets = features.chunks_exact(d).map(|row| if row[0] + 0.5 * row[1] > 1.0 { 1.0 } else { -1.0 });
    let targets = targets.collect();
    Table::new(features, d, targets)
}
