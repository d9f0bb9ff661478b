mod sink;

use crate::args::Predict;
use crate::commands::show::{no_scores, signed};
use crate::failure::Failure;
use crate::files;
use crate::output::{Kind, Output, Role, Taken};
use crate::printer::Printer;
use pairdp_data::{LabelKind, Piece, Survey, Table};
use pairdp_model::{FlagBy, Predictor, Task};
use serde_json::json;
use sink::Sink;
use std::borrow::Cow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn run(arguments: &Predict, printer: &Printer) -> Result<ExitCode, Failure> {
    let reads = Taken::none().and(&arguments.model, Role::Model).and_table(&arguments.data, None);
    let place = |path: &PathBuf| Output::new(path, Kind::Predictions, arguments.force.into(), &reads);
    let out = arguments.out.as_ref().map(place).transpose()?;
    let predictor = files::read_predictor(&arguments.model)?;
    let encoding = &predictor.encoding;
    let predicting = Predicting::new(arguments, &predictor)?;
    if arguments.strict {
        // Says where the first cell is that cannot be read, before anything is written.
        printer.waiting("reading", || Survey::require_readable(&arguments.data, encoding))?;
    }
    let path = out.as_ref().map(|out| out.path().to_owned());
    let mut sink = Sink::new(out, printer, predicting.columns())?;
    let (mut records, mut unscored) = (0, 0);
    let mut each = || {
        Survey::in_pieces(&arguments.data, encoding, &arguments.keep, &Arc::default(), |piece| {
            records += piece.table.rows;
            unscored += piece.readable.iter().filter(|readable| !**readable).count();
            sink.write(predicting.rows(piece))
        })
    };
    // A bar would stand among the rows on a terminal.
    if path.is_some() {
        printer.waiting("predicting", each)?
    } else {
        each()?
    };
    sink.finish()?;
    let without = match unscored {
        0 => String::new(),
        1 => "; 1 row could not be scored and has an empty cell".to_owned(),
        _ => format!("; {unscored} rows could not be scored and have an empty cell"),
    };
    let Some(path) = path else {
        if unscored > 0 {
            printer.warning(without.trim_start_matches("; "));
        }
        return Ok(ExitCode::SUCCESS);
    };
    let what = match predictor.task {
        Task::Ranking => "scores, higher means more likely positive",
        Task::Classification => "scores and classes",
        Task::Regression => "predictions",
        Task::Survival => "scores, higher means an earlier event",
        Task::Metric => "rows mapped to where Euclidean distance is the metric's",
    };
    let message = format!("wrote {} ({} {what}){without}", path.display(), records - unscored);
    printer.result(&message, &json!({ "predictions": path, "records": records, "unscored": unscored }));
    Ok(ExitCode::SUCCESS)
}

/// What becomes of rows.
struct Predicting<'a> {
    predictor: &'a Predictor,
    keep: &'a [String],
    /// From which score on a row is flagged.
    flagged_from: Option<f64>,
    /// How many columns are named as reasons.
    reasons: Option<usize>,
}

/// A column of predictions.
struct Column {
    name: String,
    number: bool,
}

impl Column {
    fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), number: true }
    }

    fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), number: false }
    }
}

enum Cell<'a> {
    Number(f64),
    Text(Cow<'a, str>),
    /// Of a row that cannot be scored.
    Empty,
}

/// What is predicted of a row.
#[derive(Clone, Copy)]
enum Predicted<'a> {
    Places,
    Score,
    Class { positive: &'a str, negative: &'a str },
    Target { middle: f64, half: f64 },
}

impl<'a> Predicting<'a> {
    fn new(arguments: &'a Predict, predictor: &'a Predictor) -> Result<Self, Failure> {
        let from = |by: FlagBy| Ok::<_, Failure>(predictor.flagged_from(by)?.0);
        let flagged_from = arguments.flag.by().map(from).transpose()?;
        let (keep, reasons) = (arguments.keep.as_slice(), arguments.reasons);
        let nothing = Table::new(Vec::new(), predictor.encoding.dimension(), Vec::new());
        if reasons.is_some() && predictor.explain(&nothing).is_none() {
            return Err(no_scores(&arguments.model.display().to_string(), predictor));
        }
        let predicting = Self { predictor, keep, flagged_from, reasons };
        predicting.check_names()?;
        Ok(predicting)
    }

    fn check_names(&self) -> Result<(), Failure> {
        let columns = self.columns();
        let (_, own) = columns.split_at(self.keep.len());
        for (k, name) in self.keep.iter().enumerate() {
            if self.keep[..k].contains(name) {
                let message = format!("--keep names `{name}` twice");
                return Err(Failure::refused(message, "name every column once"));
            }
            if own.iter().any(|column| column.name == *name) {
                return Err(Failure::refused(
                    format!("--keep {name}: the predictions have a column of that name"),
                    "give the column of the table another name",
                ));
            }
        }
        Ok(())
    }

    /// Kept columns, then what is predicted.
    fn columns(&self) -> Vec<Column> {
        let mut columns: Vec<Column> = self.keep.iter().map(Column::text).collect();
        match self.kind() {
            Predicted::Places => {
                let places = 1..=self.predictor.features();
                columns.extend(places.map(|k| Column::number(format!("m{k}"))));
            }
            Predicted::Class { .. } => columns.extend([Column::number("score"), Column::text("class")]),
            Predicted::Target { .. } => columns.push(Column::number("prediction")),
            Predicted::Score => columns.push(Column::number("score")),
        }
        if self.predictor.log_odds().is_some() {
            columns.push(Column::number("probability"));
            columns.extend(self.flagged_from.map(|_| Column::text("flag")));
        }
        columns.extend(self.reasons.map(|_| Column::text("reasons")));
        columns
    }

    fn kind(&self) -> Predicted<'a> {
        match (self.predictor.task, self.predictor.label.as_ref().map(|label| &label.kind)) {
            (Task::Metric, _) => Predicted::Places,
            (Task::Classification, Some(LabelKind::Binary { positive, negative })) => {
                Predicted::Class { positive, negative }
            }
            (Task::Regression, Some(LabelKind::Range([low, high]))) => {
                Predicted::Target { middle: low / 2.0 + high / 2.0, half: high / 2.0 - low / 2.0 }
            }
            _ => Predicted::Score,
        }
    }

    /// The rows of a piece of the table.
    fn rows(&self, piece: Piece) -> Vec<Vec<Cell<'a>>> {
        let mut rows = self.predicted(&piece.table);
        let unreadable = rows.iter_mut().zip(&piece.readable).filter(|(_, readable)| !**readable);
        unreadable.flat_map(|(row, _)| row).for_each(|cell| *cell = Cell::Empty);
        for (at, column) in piece.kept.into_iter().enumerate() {
            rows.iter_mut().zip(column).for_each(|(row, cell)| row.insert(at, Cell::Text(cell.into())));
        }
        rows
    }

    fn predicted(&self, table: &Table) -> Vec<Vec<Cell<'a>>> {
        let (predictor, kind) = (self.predictor, self.kind());
        if let Predicted::Places = kind {
            let places = predictor.embed(table);
            let row = |row: &[f64]| row.iter().copied().map(Cell::Number).collect();
            return places.chunks_exact(predictor.features()).map(row).collect();
        }
        let (cut, line) = (predictor.cut(), predictor.log_odds());
        let reasons = self.reasons.map(|most| self.explained(table, most)).unwrap_or_default();
        let mut reasons = reasons.into_iter();
        let row = |score: f64| {
            let mut row = match kind {
                Predicted::Target { middle, half } => vec![Cell::Number(middle + score * half)],
                Predicted::Class { positive, negative } => {
                    let class = if score > cut { positive } else { negative };
                    vec![Cell::Number(score), Cell::Text(class.into())]
                }
                _ => vec![Cell::Number(score)],
            };
            if let Some(line) = &line {
                row.push(Cell::Number(line.probability(score)));
                let flag = |from| Cell::Text(if score >= from { "yes" } else { "no" }.into());
                row.extend(self.flagged_from.map(flag));
            }
            row.extend(reasons.next().map(|words| Cell::Text(words.into())));
            row
        };
        predictor.scores(table).into_iter().map(row).collect()
    }

    /// What adds most to each row, in words.
    fn explained(&self, table: &Table, most: usize) -> Vec<String> {
        let columns = self.predictor.encoding.columns();
        let adds = self.predictor.explain(table).unwrap_or_default();
        let words = |adds: &[f64]| {
            let mut order: Vec<usize> = (0..columns.len()).filter(|k| adds[*k] != 0.0).collect();
            order.sort_by(|a, b| adds[*b].abs().total_cmp(&adds[*a].abs()));
            let words = order.iter().take(most).map(|k| format!("{} {}", columns[*k].name, signed(adds[*k])));
            words.collect::<Vec<_>>().join("; ")
        };
        adds.chunks_exact(columns.len()).map(words).collect()
    }
}
