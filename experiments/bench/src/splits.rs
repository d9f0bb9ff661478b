//! Public sets as files for other libraries: `cargo xtask bench splits --out DIR [--data DIR] [--splits K]
//! [--ranges tight|documented|loose]`. With ranges they are the sets and splits of `bench utility`, otherwise those of `bench algorithms`.
//!
//! A split is one NumPy array: features within [−1, 1] by public ranges, the label ±1 as the last column, first the rows to
//! train on and then those to test on. `index.json` says how many those are, and what δ is.

use crate::report::Report;
use anyhow::{Context as _, Result};
use pairdp_data::Table;
use pairdp_model::Task;
use pairdp_noise::Replay;
use pairdp_reproduce::regimes::{self, Regime};
use pairdp_reproduce::sets::{SETS, part};
use pairdp_reproduce::splits::shuffled;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Tables above this many rows get few splits, and one ε.
const LARGE: usize = 10_000;
/// The largest part that is tested on.
const MOST_TESTED: usize = 20_000;

pub(crate) fn run(report: &mut Report) {
    if let Err(error) = write_all(report) {
        Report::failed(&error);
    }
}

fn write_all(report: &mut Report) -> Result<()> {
    let out = PathBuf::from(Report::option("--out").context("--out DIR")?);
    let data = Report::option("--data").map(PathBuf::from);
    let splits: usize = Report::option("--splits").map_or(Ok(10), |text| text.parse()).context("--splits")?;
    std::fs::create_dir_all(&out)?;
    let mut index = Vec::new();
    if let Some(name) = Report::option("--ranges") {
        let regime = Regime::named(&name).context("--ranges tight, documented or loose")?;
        let data = data.context("--data DIR")?;
        for set in regimes::sets()? {
            let Some(loaded) = set.load(&data, regime)? else { continue };
            let splits = if loaded.train > LARGE { splits.div_ceil(4) } else { splits };
            for split in 0..splits {
                let (mut rows, test) = loaded.split(split as u64);
                rows.features.extend(test.features);
                rows.targets.extend(test.targets);
                rows.rows += test.rows;
                save(&out.join(format!("{}-{split}.npy", set.name)), &rows)?;
            }
            index.push(json!({
                "set": set.name, "train": loaded.train, "splits": splits, "delta": loaded.delta, "ranges": name,
                "positive_rate": null, "tasks": ["ranking"], "epsilons": [0.5, 1.0, 2.0],
            }));
            report.object(&json!({ "wrote": set.name, "train": loaded.train, "splits": splits }));
        }
        std::fs::write(out.join("index.json"), serde_json::to_string_pretty(&index)?)?;
        return Ok(());
    }
    for entry in SETS.iter().filter(|entry| !entry.tasks.contains(&Task::Regression)) {
        let Some(table) = entry.load(data.as_deref())? else {
            report.object(&json!({ "skipped": entry.name, "why": "its file is not in --data" }));
            continue;
        };
        let n = if entry.train == 0 { table.rows * 4 / 5 } else { entry.train };
        let splits = if n > LARGE { splits.div_ceil(4) } else { splits };
        let mut random = Replay::from_seed(1);
        for split in 0..splits {
            let drawn = entry.drawn(split as u64);
            let table = drawn.as_ref().unwrap_or(&table);
            let order = shuffled(table.rows, &mut random);
            let rows = part(table, &order[..order.len().min(n + MOST_TESTED)]);
            save(&out.join(format!("{}-{split}.npy", entry.name)), &rows)?;
        }
        index.push(json!({
            "set": entry.name, "train": n, "splits": splits, "delta": (n as f64).powi(-entry.power),
            "positive_rate": entry.positive_rate, "tasks": entry.tasks,
            "epsilons": if n > LARGE { vec![1.0] } else { vec![0.5, 1.0, 2.0] },
        }));
        report.object(&json!({ "wrote": entry.name, "train": n, "splits": splits }));
    }
    std::fs::write(out.join("index.json"), serde_json::to_string_pretty(&index)?)?;
    Ok(())
}

/// Version 1.0 of NumPy's format: a magic word, a header padded to 64 bytes, the numbers.
fn save(path: &Path, table: &Table) -> Result<()> {
    let about = || format!("{}", path.display());
    let mut header = format!(
        "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {})}}",
        table.rows,
        table.columns + 1
    );
    let padding = 64 - (header.len() + 11) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    let mut file = BufWriter::new(File::create(path).with_context(about)?);
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&u16::try_from(header.len())?.to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    for (row, target) in table.features.chunks_exact(table.columns).zip(&table.targets) {
        for value in row.iter().chain([target]) {
            file.write_all(&value.to_le_bytes())?;
        }
    }
    file.flush().with_context(about)
}
