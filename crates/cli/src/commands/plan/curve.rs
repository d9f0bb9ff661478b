//! `pairdp plan --curve`: what AUC to expect, from models of simulated records.

use crate::args::Plan;
use crate::failure::Failure;
use crate::output::{Force, Kind, Output, Taken, plot_file};
use crate::printer::Printer;
use pairdp_data::simulate::Effect;
use pairdp_learn::{ExpectedAuc, LARGEST_SIMULATED, Settings, around, expected_auc, has_auc, models_for};
use pairdp_plot::{Axis, Plot};
use pairdp_units::{Budget, shown};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

/// Of the curves, from the smallest ε to the largest.
const COLOURS: [&str; 5] = ["#9fb8d6", "#6f97c6", "#3f74b0", "#1f5187", "#0b2f57"];

pub(super) fn run(
    arguments: &Plan,
    effect: f64,
    records: usize,
    settings: &Settings,
    budget: Budget,
    printer: &Printer,
) -> Result<ExitCode, Failure> {
    if !has_auc(settings.task) {
        return Err(Failure::refused(
            format!("--curve is about AUC, which a model for {} has not", settings.task.name()),
            "use --task ranking or classification",
        ));
    }
    let population = Effect::new(arguments.features, effect, arguments.positive_share).ok_or_else(|| {
        Failure::refused(
            format!(
                "no records are simulated with a best AUC of {effect} and a share of {} positive",
                arguments.positive_share
            ),
            "--effect is above 0.5 and at most 0.995, --positive-share between 0 and 1",
        )
    })?;
    if !(10..=LARGEST_SIMULATED).contains(&records) {
        return Err(Failure::refused(
            format!("tables of {records} records are not simulated"),
            format!(
                "ask about 10 to {LARGEST_SIMULATED}: with more records the AUC only comes nearer to its best"
            ),
        ));
    }
    let place = |path| Output::new(path, Kind::Plot, Force::Never, &Taken::none());
    let out = arguments.plot.as_deref().map(place).transpose()?;
    let (sizes, epsilons) = around(records, budget.epsilon.get());
    let (done, steps) = (AtomicU64::new(0), sizes.len() * epsilons.len());
    let cell = |size: usize, epsilon: f64| -> Result<ExpectedAuc, Failure> {
        let budget = Budget::new(epsilon, arguments.delta)?;
        let found = expected_auc(&population, arguments.features, settings, budget, size, models_for(size))?;
        done.fetch_add(1, Ordering::Relaxed);
        Ok(found)
    };
    let rows: Vec<Vec<ExpectedAuc>> = printer.counting("simulating", Some(steps as u64), &done, || {
        let row = |size: &usize| epsilons.iter().map(|epsilon| cell(*size, *epsilon)).collect();
        sizes.iter().map(row).collect::<Result<_, Failure>>()
    })?;
    let what = if arguments.persons.is_some() { "persons" } else { "records" };
    let mut text = table(&rows, what);
    let _ = write!(
        text,
        "\nmean AUC on other records, and how far the lowest or highest of {} to {} models was from it\n\
         simulated: {} independent columns that all carry the same part of what can be learned, {} positive;\n\
         the best AUC that any model could have is {effect}. Each model is trained as yours would be, on records that are nobody's.\n\
         your table will differ: fewer columns that matter are easier to learn, skewed and correlated ones harder or easier",
        rows.iter().flatten().map(|cell| cell.models).fold(usize::MAX, std::cmp::min),
        rows.iter().flatten().map(|cell| cell.models).fold(0, std::cmp::max),
        arguments.features,
        shown_share(arguments.positive_share),
    );
    if let Some(out) = out {
        let path = out.path().to_owned();
        out.write(plot_file(&picture(&rows, effect, what)).as_bytes())?;
        let _ = write!(text, "\nwrote {}", path.display());
    }
    let cells: Vec<&ExpectedAuc> = rows.iter().flatten().collect();
    let object = json!({ "simulated": true, "effect": effect, "positive_share": arguments.positive_share, "features": arguments.features,
        "delta": arguments.delta, "task": settings.task, "curve": cells, "plot": arguments.plot });
    printer.result(&text, &object);
    Ok(ExitCode::SUCCESS)
}

fn shown_share(share: f64) -> String {
    format!("{} %", (share * 1000.0).round() / 10.0)
}

fn table(rows: &[Vec<ExpectedAuc>], what: &str) -> String {
    let first = rows.first().map(Vec::as_slice).unwrap_or_default();
    let heads: Vec<String> = first.iter().map(|cell| format!("ε = {}", shown::up(cell.epsilon))).collect();
    let mut text = format!("{what:>9}");
    heads.iter().for_each(|head| _ = write!(text, "  {head:>12}"));
    text.push('\n');
    for row in rows {
        let _ = write!(text, "{:>9}", row.first().map_or(0, |cell| cell.records));
        for cell in row {
            let far = pairdp_units::directed::larger(cell.mean - cell.lowest, cell.highest - cell.mean);
            let _ = write!(text, "  {:>12}", format!("{:.3} ± {far:.3}", cell.mean));
        }
        text.push('\n');
    }
    text
}

fn picture(rows: &[Vec<ExpectedAuc>], effect: f64, what: &str) -> String {
    let sizes: Vec<f64> = rows.iter().filter_map(|row| row.first()).map(|cell| cell.records as f64).collect();
    let (first, last) = (sizes.first().copied().unwrap_or(1.0), sizes.last().copied().unwrap_or(10.0));
    // A little above the best.
    let top = (20.0 * effect + 0.5).ceil() / 20.0;
    let mut plot = Plot::new(Axis::logarithmic(what, first, last), Axis::linear("expected AUC", 0.5, top));
    plot = plot.curve("best possible", &[(first, effect), (last, effect)], "#8a96a3", true);
    let budgets = rows.first().map_or(0, Vec::len);
    for (k, colour) in (0..budgets).zip(COLOURS) {
        let points: Vec<(f64, f64)> = rows.iter().map(|row| (row[k].records as f64, row[k].mean)).collect();
        let epsilon = rows.first().map_or(0.0, |row| row[k].epsilon);
        plot = plot.curve(&format!("ε = {}", shown::up(epsilon)), &points, colour, false);
    }
    plot.file("Expected AUC on simulated records")
}
