//! Balances and histories, for people and for machines.

use pairdp_ledger::{Action, Balance, Head, Line, ModelDigest, RunId, utc};
use pairdp_units::shown;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Runs that are done and whose model was not seen in its place.
pub(crate) type Unplaced = [(RunId, String, ModelDigest)];

pub(crate) fn balances(balances: &[(String, Balance)], unplaced: &Unplaced, head: Head) -> (String, Value) {
    let mut text = String::new();
    for (name, balance) in balances {
        let facts = &balance.dataset;
        let many = facts.adjacency.unit().many();
        let size = facts.records.map(|n| format!(", {n} {many}")).unwrap_or_default();
        let left = match balance.left {
            Some(epsilon) => {
                format!("one more run of up to ε = {} (Gaussian noise, the same δ)", shown::down(epsilon))
            }
            None => "nothing for a run with Gaussian noise at the same δ".into(),
        };
        let _ = writeln!(
            text,
            "{name}\n  granted  ε = {}, δ = {} ({}{size})\n  spent    ε = {}\n  left     {left}\n  runs     {} done, {} open or broken off (spent), {} cancelled (not spent)\n",
            shown::up(facts.grant.epsilon.get()),
            shown::up(facts.grant.delta.get()),
            facts.adjacency,
            shown::up(balance.spent),
            balance.committed,
            balance.open,
            balance.cancelled,
        );
        let unseen = unplaced.iter().filter(|(_, dataset, _)| dataset == name).count();
        if unseen > 0 {
            text.pop();
            let _ = writeln!(
                text,
                "  models   {unseen} of runs that are done were not found in their place: see `pairdp budget recover`\n"
            );
        }
    }
    if balances.is_empty() {
        text.push_str("no data sets yet\n");
    }
    let object = |(name, balance): &(String, Balance)| balance_object(name, balance, unplaced);
    let objects: Vec<Value> = balances.iter().map(object).collect();
    (text, json!({ "datasets": objects, "head": head.to_string() }))
}

fn balance_object(name: &str, balance: &Balance, unplaced: &Unplaced) -> Value {
    let unseen = unplaced.iter().filter(|(_, dataset, _)| dataset == name).map(|(run, ..)| run);
    let facts = &balance.dataset;
    json!({
        "name": name, "epsilon": facts.grant.epsilon, "delta": facts.grant.delta,
        "adjacency": facts.adjacency, (facts.adjacency.unit().many()): facts.records, "schema": facts.schema,
        // JSON has no infinity; null says that no grant with this δ would cover it.
        "spent_epsilon": balance.spent.is_finite().then_some(balance.spent), "left_epsilon": balance.left,
        "committed": balance.committed, "open": balance.open, "cancelled": balance.cancelled,
        "unplaced": unseen.collect::<Vec<_>>(),
    })
}

pub(crate) fn history(lines: &[Line]) -> (String, Value) {
    let mut text = String::new();
    let width = lines.iter().map(|line| line.entry.dataset.chars().count()).fold(0, usize::max);
    for Line { entry, .. } in lines {
        let what = describe(&entry.action);
        let _ =
            writeln!(text, "{:>5}  {}  {:<width$}  {what}", entry.sequence, utc(entry.time), entry.dataset);
    }
    let entries: Vec<Value> =
        lines.iter().map(|line| json!({ "entry": line.entry, "head": line.head.to_string() })).collect();
    (text, json!({ "entries": entries }))
}

fn describe(action: &Action) -> String {
    match action {
        Action::Created(facts) => format!("created    {}, {}", facts.grant, facts.adjacency),
        Action::Granted { grant } => format!("granted    {grant}"),
        Action::SchemaSet { schema } => format!("schema     {schema}"),
        Action::Reserved { run, cost, .. } => format!("reserved   {run}  {} {}", cost.label, cost.claim),
        Action::Saved { run, .. } => format!("saved      {run}"),
        Action::Committed { run, excess: None, .. } => format!("committed  {run}"),
        Action::Committed { run, excess: Some(_), .. } => {
            format!("committed  {run}  RELEASED MORE THAN RESERVED")
        }
        Action::Placed { run } => format!("placed     {run}"),
        Action::Cancelled { run, reason } => format!("cancelled  {run}  {reason}"),
    }
}

/// The bodies as they were hashed, so that a reviewer with the key can recompute every hash.
pub(crate) fn export(id: &str, lines: &[Line]) -> Value {
    let entries: Vec<Value> =
        lines.iter().map(|line| json!({ "body": line.body, "hash": line.head.hash_hex() })).collect();
    json!({ "format": "pairdp-ledger-export/1", "id": id, "entries": entries })
}
