//! What it takes to learn from ranks: two releases next to one of moments on as many columns as ranks make, and the first release
//! alone. Times are of the processor, so that other work beside it does not count.

use crate::report::{Report, best_cpu_seconds};
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Table};
use pairdp_learn::{RepresentationKind, Settings, Training};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::Strata;
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::knots::{Block, KnotSums, Layout, Spacing};
use pairdp_release::LearnError;
use pairdp_units::Budget;

const RECORDS: usize = 100_000;
const COLUMNS: usize = 50;
/// Functions of a rank.
const FUNCTIONS: usize = 5;
const REPEATS: usize = 2;

pub(crate) fn run(report: &mut Report) {
    if let Err(error) = measure(report) {
        report.row(&format!("refused: {error}"), &[], 0.0, "");
    }
}

fn measure(report: &mut Report) -> Result<(), LearnError> {
    let size = [("records", RECORDS as f64), ("columns", COLUMNS as f64)];
    let Seconds { both, one, first } = seconds()?;
    report.row("two releases/moments of as many columns", &size, both / one, "ratio of times");
    report.row("two releases, beyond 1.25 times that", &size, both - 1.25 * one, "seconds");
    report.row("first release/moments of as many columns", &size, first / one, "ratio of times");
    Ok(())
}

/// Both releases, and the first one, over moments of as many columns.
pub(crate) fn over_moments() -> Result<[f64; 2], LearnError> {
    let Seconds { both, one, first } = seconds()?;
    Ok([both / one, first / one])
}

/// Of both releases, of moments of as many columns, of the first release.
struct Seconds {
    both: f64,
    one: f64,
    first: f64,
}

fn seconds() -> Result<Seconds, LearnError> {
    let (narrow, wide) = (table(COLUMNS), table(FUNCTIONS * COLUMNS));
    let both = trained(&narrow, RepresentationKind::Ranks)?;
    let one = trained(&wide, RepresentationKind::Ranges)?;
    let layout = Layout::new(Spacing::Coarse, (0..COLUMNS).map(|at| Block::Number { at }).collect());
    let Table { features, columns, targets, rows, .. } = &narrow;
    let first = best_cpu_seconds(REPEATS, || {
        KnotSums::new(&layout, features, *columns, targets, &Strata::plain(*rows), Par::Parallel)
    });
    Ok(Seconds { both, one, first })
}

/// Seconds of a run of `moments`.
fn trained(table: &Table, representation: RepresentationKind) -> Result<f64, LearnError> {
    let (algorithm, representation) = (Some(Algorithm::Moments), Some(representation));
    let settings = Settings { algorithm, representation, ..Settings::default() };
    let encoding = Encoding::unscaled(table.columns);
    let training = Training { settings, encoding, label: None, budget: Budget::new(1.0, 1e-8)? };
    let copy = || Table::new(table.features.clone(), table.columns, table.targets.clone());
    training.fit(copy())?;
    Ok(best_cpu_seconds(REPEATS, || training.fit(copy())))
}

fn table(columns: usize) -> Table {
    let mut random = Replay::from_seed(3);
    let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let features: Vec<f64> = (0..RECORDS * columns).map(|_| uniform() / 4.0).collect();
    let label = |row: &[f64]| if row[0] > 0.0 { 1.0 } else { -1.0 };
    let targets = features.chunks_exact(columns).map(label).collect();
    Table::new(features, columns, targets)
}
