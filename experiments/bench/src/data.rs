//! How long a table takes to read, next to reading the same bytes from the page cache and doing nothing with them.
//!
//! The table has the shape of a large one: 3,000,000 records, six numeric columns and a label, about 32 bytes a
//! line. `PAIRDP_BENCH_TABLE` names a file to read instead, with the columns a to f and y. A second table has 500,000 records of twenty
//! numbers as programs print them that can be read back, with 16 digits or so: as text, and as Parquet next to the parquet crate's own
//! reading of its columns on as many threads, whole tables of them in memory.

use crate::report::{Report, best_cpu_seconds, best_seconds};
use anyhow::{Context as _, Result};
use pairdp_data::{Encoding, LabelUse, ParquetWriter, Schema, Table, WrittenColumn};
use pairdp_noise::{Replay, Source};
use parquet::column::reader::ColumnReader;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
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
    measure_numbers(report, folder.path())
}

/// Columns of long numbers, a label, and the schema of them.
fn measure_numbers(report: &mut Report, folder: &Path) -> Result<()> {
    let range = |column: usize| format!("[[column]]\nname = 'x{column}'\nrange = [-5, 5]\n");
    let label = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n".to_owned();
    let schema = Schema::parse(&(0..NUMBERS).fold(label, |text, column| text + &range(column)));
    let schema = schema.map_err(anyhow::Error::msg)?;
    let encoding = Encoding::of(&schema);
    let (text, columns) = write_numbers(folder)?;
    let parse = |path: &Path| Table::read(path, &encoding, LabelUse::Read(schema.label()));
    let details = [("records", LONG_RECORDS as f64), ("columns", NUMBERS as f64)];
    let mut compare = |case: &str, plain: &dyn Fn() -> bool, path: &Path| -> Result<()> {
        parse(path)?;
        let (mut times, mut ours) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
        for _ in 0..REPEATS {
            let least = |best: &mut f64, seconds: f64| *best = if seconds < *best { seconds } else { *best };
            least(&mut times[0], best_seconds(1, plain));
            least(&mut ours[0], best_seconds(1, || parse(path).is_ok()));
            // For a machine that others use, too.
            least(&mut times[1], best_cpu_seconds(1, plain));
            least(&mut ours[1], best_cpu_seconds(1, || parse(path).is_ok()));
        }
        report.row(case, &details, ours[0] / times[0], "ratio of times");
        report.row(case, &details, ours[1] / times[1], "ratio of CPU times");
        Ok(())
    };
    compare("csv of long numbers/read", &|| std::fs::read(&text).is_ok(), &text)?;
    compare("parquet/columns", &|| read_columns(&columns).is_ok(), &columns)
}

const LONG_RECORDS: usize = 500_000;
const NUMBERS: usize = 20;

fn write_numbers(folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let (text, columns) = (folder.join("long.csv"), folder.join("long.parquet"));
    let names: Vec<String> = (0..NUMBERS).map(|column| format!("x{column}")).chain(["y".into()]).collect();
    let mut random = Replay::from_seed(7);
    let mut file = std::io::BufWriter::new(std::fs::File::create(&text)?);
    writeln!(file, "{}", names.join(","))?;
    let empty = || (0..=NUMBERS).map(|_| WrittenColumn::Numbers(Vec::new())).collect::<Vec<_>>();
    let mut writer = ParquetWriter::new(std::fs::File::create(&columns)?, "bench", &names, empty())?;
    for _ in 0..LONG_RECORDS / 1000 {
        let mut cells: Vec<Vec<Option<f64>>> = vec![Vec::new(); NUMBERS + 1];
        for _ in 0..1000 {
            for column in &mut cells[..NUMBERS] {
                let number = (random.next_word() >> 11) as f64 / (1_u64 << 50) as f64 - 4.0;
                write!(file, "{number},")?;
                column.push(Some(number));
            }
            let label = (random.next_word() % 2) as f64;
            writeln!(file, "{label}")?;
            cells[NUMBERS].push(Some(label));
        }
        writer.write(cells.into_iter().map(WrittenColumn::Numbers).collect())?;
    }
    file.flush()?;
    writer.finish()?;
    Ok((text, columns))
}

/// All columns in memory as the parquet crate decodes them, row groups on every core.
fn read_columns(path: &Path) -> Result<Vec<Vec<f64>>> {
    let open = || Ok::<_, anyhow::Error>(SerializedFileReader::new(std::fs::File::open(path)?)?);
    let (groups, next) = (open()?.num_row_groups(), std::sync::atomic::AtomicUsize::new(0));
    let work = || -> Result<Vec<Vec<f64>>> {
        let (file, mut all) = (open()?, Vec::new());
        loop {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if index >= groups {
                return Ok(all);
            }
            let group = file.get_row_group(index)?;
            let records = usize::try_from(group.metadata().num_rows())?;
            for column in 0..group.num_columns() {
                let ColumnReader::DoubleColumnReader(mut reader) = group.get_column_reader(column)? else {
                    anyhow::bail!("a column of another type");
                };
                let (mut values, mut levels) = (Vec::with_capacity(records), Vec::with_capacity(records));
                while values.len() < records {
                    reader.read_records(records - values.len(), Some(&mut levels), None, &mut values)?;
                }
                all.push(values);
            }
        }
    };
    let threads = std::thread::available_parallelism()?.get();
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work()?;
        for other in others {
            all.extend(other.join().map_err(|_| anyhow::anyhow!("a thread failed"))??);
        }
        Ok(all)
    })
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
