//! The search for neighbours that break a claim, over everything that a plan accepts.

use crate::report::Report;
use pairdp_audit::everything::{Found, attack, cases, reverted};
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::process::exit;

/// Changes tried for each combination, unless `--tries` says otherwise.
const TRIES: u32 = 500;
/// Of secret samples so many times fewer: each try is two integrals.
const SLOWER: u32 = 2;
/// Changes tried where a mend is taken back, which are few combinations.
const REVERTED: u32 = 4000;

/// What became of the combinations of a task, an algorithm and an adjacency.
#[derive(Default)]
struct Row {
    accepted: u32,
    /// The largest share of a claim that was reached, and by which combination.
    reached: f64,
    by: String,
    broken: u32,
}

pub(crate) fn run(report: &mut Report) {
    let tries = Report::option("--tries").and_then(|text| text.parse().ok()).unwrap_or(TRIES);
    let mut rows: BTreeMap<(&str, &str, &str), Row> = BTreeMap::new();
    let (mut accepted, mut refused, mut broken) = (0, 0, 0);
    let all = cases().unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<Option<Found>> = all
        .par_iter()
        .enumerate()
        .map(|(seed, case)| {
            let tries = if case.samples() { tries / SLOWER } else { tries };
            attack(case, tries, seed as u64 + 1).unwrap_or_else(|error| panic!("{case}: {error}"))
        })
        .collect();
    for (case, found) in all.iter().zip(found) {
        let Some(found) = found else {
            refused += 1;
            continue;
        };
        accepted += 1;
        let Found { adjacency, reached, .. } = found;
        let algorithm = case.settings.algorithm.map_or("auto", pairdp_certificate::Algorithm::name);
        let row = rows.entry((case.settings.task.name(), algorithm, adjacency.name())).or_default();
        row.accepted += 1;
        if reached > row.reached {
            (row.reached, row.by) = (reached, case.to_string());
        }
        if !found.holds() {
            (row.broken, broken) = (row.broken + 1, broken + 1);
        }
    }
    for ((task, algorithm, adjacency), row) in rows {
        report.object(&json!({
            "task": task, "algorithm": algorithm, "adjacency": adjacency, "accepted": row.accepted,
            "reached": row.reached, "broken": row.broken, "by": row.by,
        }));
    }
    // What the search is worth: the claims that version 0.1 made, with the noise that it had.
    for (what, found) in reverted(REVERTED, 1).unwrap_or_else(|error| panic!("{error}")) {
        report.object(&json!({
            "reverted": what, "claimed ε": found.claim.epsilon, "claimed δ": format!("{:e}", found.claim.delta.get()),
            "found δ": format!("{:.3e}", found.delta), "times": found.delta / found.claim.delta.get(),
        }));
    }
    report.object(
        &json!({ "combinations": all.len(), "accepted": accepted, "refused": refused, "broken": broken }),
    );
    if broken > 0 {
        exit(1);
    }
}
