//! How long a table takes to read, next to reading the same bytes from the page cache and doing nothing with them.
//!
//! The table has the shape of a large one: 3,000,000 records, six numeric columns and a label, about 32 bytes a
//! line. `PAIRDP_BENCH_TABLE` names a file to read instead, with the columns a to f and y.

use crate::report::{Report, best_seconds};
use anyhow::{Context as _, Result};
use pairdp_data::{Encoding, LabelUse, Schema, Table};
use pairdp_noise::{Replay, Source};
use std::io::Write as _;
use std::path::{Path, PathBuf};

const RECORDS: usize = 3_000_000;
const REPEATS: usize = 7;
const SCHEMA: &str = "\
[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n
[[column]]\nname = 'a'\nrange = [0, 1440]\n
[[column]]\nname = 'b'\nrange = [0, 6]\n
[[column]]\nname = 'c'\nrange = [1, 366]\n
[[column]]\nname = 'd'\nrange = [0, 5000]\n
[[column]]\nname = 'e'\nrange = [0, 15]\n
[[column]]\nname = 'f'\nrange = [0, 15]\n";

pub(crate) fn run(report: &mut Report) {
    if let Err(error) = measure(report) {
        Report::failed(&error);
    }
}

fn measure(report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    #[expect(clippy::disallowed_methods, reason = "which table is read")]
    let csv = match std::env::var_os("PAIRDP_BENCH_TABLE") {
        Some(path) => PathBuf::from(path),
        None => write_table(&folder.path().join("table.csv"), false)?,
    };
    let quoted = write_table(&folder.path().join("quoted.csv"), true)?;
    let schema = Schema::parse(SCHEMA).map_err(anyhow::Error::msg)?;
    let encoding = Encoding::of(&schema);
    let parse = |path: &Path| {
        Table::read(path, &encoding, LabelUse::Read(schema.label())).context("the table could not be read")
    };

    for (case, path) in [("csv", &csv), ("csv-quoted", &quoted)] {
        let rows = parse(path)?.rows;
        let matrix = (rows * (encoding.dimension() + 1) * size_of::<f64>()) as f64;
        let details = [("records", rows as f64), ("columns", encoding.dimension() as f64)];
        // Measured before the file is ever held in memory whole; of the first case, for it is a peak.
        if let Some(peak) = peak_memory().filter(|_| case == "csv") {
            report.row("csv memory/matrix", &details, peak / matrix, "ratio of bytes");
        }
        // The two take turns, so that a disturbance of the machine meets both.
        let (mut plain, mut parsed) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..REPEATS {
            let seconds = best_seconds(1, || std::fs::read(path));
            plain = if seconds < plain { seconds } else { plain };
            let seconds = best_seconds(1, || parse(path));
            parsed = if seconds < parsed { seconds } else { parsed };
        }
        report.row("read", &details, plain, "s");
        report.row(case, &details, parsed, "s");
        report.row(&format!("{case}/read"), &details, parsed / plain, "ratio of times");
    }
    Ok(())
}

/// The most memory that this process ever had, where the system tells.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024.0 * line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()?)
}

fn write_table(path: &Path, quoted: bool) -> Result<PathBuf> {
    let mut random = Replay::from_seed(6);
    let mut below = |limit: u64| random.next_word() % limit;
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    writeln!(file, "a,b,c,d,e,f,y")?;
    for record in 0..RECORDS {
        let day = record * 366 / RECORDS + 1;
        let (minute, weekday, miles) = (below(1440), day % 7, 100 + below(2500));
        let (from, to, y) = (80_000 + below(35_000), 80_000 + below(35_000), below(5) / 4);
        let quote = if quoted { "\"" } else { "" };
        writeln!(
            file,
            "{minute},{weekday},{day},{miles},{}.{:04},{quote}{}.{:04}{quote},{y}",
            from / 10_000,
            from % 10_000,
            to / 10_000,
            to % 10_000,
        )?;
    }
    file.flush()?;
    Ok(path.to_owned())
}
