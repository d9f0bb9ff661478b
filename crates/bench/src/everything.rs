//! The search for neighbours that break a claim, over everything that a plan accepts.

use crate::report::Report;
use pairdp_audit::everything::{Found, attack, cases};
use serde_json::json;
use std::collections::BTreeMap;
use std::process::exit;

/// Changes tried for each combination, unless `--tries` says otherwise.
const TRIES: u32 = 2000;

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
    for (seed, case) in (1..).zip(&all) {
        let Some(found) = attack(case, tries, seed).unwrap_or_else(|error| panic!("{case}: {error}")) else {
            refused += 1;
            continue;
        };
        accepted += 1;
        let Found { adjacency, reached, .. } = found;
        let algorithm = case.settings.algorithm.map_or("auto", pairdp_learn::PlanKind::name);
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
    report.object(
        &json!({ "combinations": all.len(), "accepted": accepted, "refused": refused, "broken": broken }),
    );
    if broken > 0 {
        exit(1);
    }
}
