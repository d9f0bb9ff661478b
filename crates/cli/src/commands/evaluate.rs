//! `pairdp evaluate`: exactly on public records, with noise on private ones.

use crate::args::Evaluate;
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use crate::require_public::require_public;
use crate::reservation;
use pairdp_accountant::Payer as _;
use pairdp_data::{DataError, Encoding, Label, LabelUse, PersonColumn, Schema, Table};
use pairdp_learn::{Estimate, Evaluation, Histogram, Measured};
use pairdp_ledger::{Booking, Outcome};
use pairdp_model::{Predictor, Task};
use pairdp_noise::Secure;
use pairdp_pairwise::{clip_row, measure};
use pairdp_release::LearnError;
use pairdp_units::{Budget, Unit};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

mod curves;

/// Neighbours that vote on a record's class.
const NEIGHBOURS: usize = 3;

/// A measure for people and for machines.
pub(crate) struct Exact {
    pub(crate) text: String,
    pub(crate) object: Value,
}

pub(crate) fn run(arguments: &Evaluate, printer: &Printer) -> Result<ExitCode, Failure> {
    let predictor = files::read_predictor(&arguments.model)?;
    let label = label_of(&predictor, &arguments.model)?;
    if let Some(epsilon) = arguments.epsilon {
        let budget = Budget::new(epsilon, arguments.delta)?;
        privately(arguments, &predictor, label, budget, printer)?;
    } else {
        let data = &arguments.data;
        require_public(data, arguments.schema.as_deref(), arguments.public)?;
        let table = printer.reading(data, &predictor.encoding, LabelUse::Read(label))?;
        let table = table.require_pairs(data)?;
        let exact = printer.waiting("measuring", || measured(&predictor, &table, data))?;
        let Exact { text, mut object } = exact;
        object["records"] = json!(table.rows);
        printer.result(&format!("{text} on {} records", table.rows), &object);
    }
    Ok(ExitCode::SUCCESS)
}

/// The label column, which a model trained from a file knows.
pub(crate) fn label_of<'a>(predictor: &'a Predictor, model: &Path) -> Result<&'a Label, Failure> {
    predictor.label.as_ref().ok_or_else(|| {
        Failure::refused(
            format!("{}: the model does not say which column is the label", model.display()),
            "train it with `pairdp train`, from a file with a schema",
        )
    })
}

/// Whose records they are, as the schema that was named, or the one beside the table, says. A model that protects persons is not
/// measured on a table that does not tell them apart.
fn person_of(arguments: &Evaluate) -> Result<Option<PersonColumn>, Failure> {
    let beside = files::schema_beside(&arguments.data);
    let path = arguments.schema.clone().or_else(|| beside.is_file().then_some(beside));
    let person =
        path.map(|path| Schema::read(&path)).transpose()?.and_then(|schema| schema.person().cloned());
    let protects_persons = files::read_model(&arguments.model)
        .is_ok_and(|model| model.certificate.adjacency().unit() == Unit::Person);
    if protects_persons && person.is_none() {
        return Err(Failure::refused(
            "the model protects persons, and nothing says which person each record of the table belongs to",
            "name the schema with --schema, and their column under [person] in it",
        ));
    }
    Ok(person)
}

/// What the schema said: ranges that training found are not in it.
fn public_encoding(model: &Path, predictor: &Predictor) -> Encoding {
    let ranges = files::read_model(model).ok().and_then(|model| model.certificate.public_ranges);
    ranges.map_or_else(|| predictor.encoding.clone(), |ranges| predictor.encoding.with_ranges(&ranges))
}

/// Spends first, then reads, then releases noisy shares.
fn privately(
    arguments: &Evaluate,
    predictor: &Predictor,
    label: &Label,
    budget: Budget,
    printer: &Printer,
) -> Result<(), Failure> {
    // A task without a private measure is refused before anything is spent or opened.
    let person = person_of(arguments)?;
    let hides_its_size =
        files::read_model(&arguments.model).is_ok_and(|model| model.certificate.is_secret_size());
    if hides_its_size && !arguments.public_size {
        return Err(Failure::refused(
            "the number of records behind the model is secret, and noisy measures would tell the size of this table",
            "measure it on a table whose size is public, and say so with --public-size",
        ));
    }
    let (unit, labels) = match &person {
        Some(person) => (Unit::Person, LabelUse::OfPersons(label, person)),
        None => (Unit::Record, LabelUse::Read(label)),
    };
    let calibrate = |size| {
        let with_curves = arguments.curves;
        let calibrate = if with_curves { Evaluation::with_curves } else { Evaluation::calibrate };
        calibrate(predictor.task, unit, size, budget)
    };
    calibrate(2)?;
    let encoding = public_encoding(&arguments.model, predictor);
    let mut payer = reservation::payer(&arguments.spending, &encoding, label, person.as_ref())?;
    let mut paid_for = None;
    if let Some(size) = payer.size(None)? {
        let evaluation = calibrate(size)?;
        payer.pay(evaluation.price(budget)?, None)?;
        paid_for = Some(evaluation);
    }
    let data = &arguments.data;
    let table = match unit {
        Unit::Record => printer.reading(data, &predictor.encoding, labels),
        // How many records there are is secret: no line of a bad one, and no bar of how far the reading got.
        Unit::Person => printer
            .waiting("reading", || Table::read(data, &predictor.encoding, labels))
            .map_err(DataError::without_row),
    };
    let table = match table.and_then(|table| table.require_pairs(data)) {
        Ok(table) => table,
        Err(refusal) => {
            payer.refund()?;
            return Err(refusal.into());
        }
    };
    let size = table.size();
    payer.accept(size)?;
    let evaluation = match paid_for {
        Some(evaluation) => evaluation,
        None => calibrate(size)?,
    };
    let mut source = Secure::from_os().map_err(LearnError::from)?;
    let (measured, histogram) = evaluation.release(predictor, table, &mut source)?;
    let released = Released { measured, histogram, unit, size, budget, noise_scale: evaluation.scale() };
    let run = payer.as_ref().and_then(Booking::run).map(str::to_owned);
    if let Some(booking) = payer {
        // Before it is printed: what cannot be printed can be had again.
        booking.settle_with(&evaluation.price(budget)?.event, released.outcome())?;
    }
    released.print(run.as_deref(), printer)
}

/// What a private evaluation says: released numbers and public ones.
struct Released {
    measured: Measured,
    histogram: Option<Histogram>,
    unit: Unit,
    size: usize,
    budget: Budget,
    noise_scale: f64,
}

impl Released {
    fn print(&self, run: Option<&str>, printer: &Printer) -> Result<(), Failure> {
        let Self { measured, histogram, unit, size, budget, noise_scale } = self;
        let mut object =
            serde_json::to_value(measured).map_err(|error| Failure::Failed(error.to_string()))?;
        object[unit.many()] = json!(size);
        object["epsilon"] = json!(budget.epsilon);
        object["delta"] = json!(budget.delta);
        object["noise_scale"] = json!(noise_scale);
        object["run"] = json!(run);
        let mut text = noisy_text(measured, (*size, *unit), *budget, run);
        if let Some(histogram) = histogram {
            object["curves"] = curves::object(histogram);
            text = curves::text(histogram) + &text;
        }
        printer.result(&text, &object);
        Ok(())
    }

    /// For the ledger.
    fn outcome(&self) -> Outcome {
        let estimate = |(name, of): (&str, Option<Estimate>)| {
            of.map(|of| {
                let numbers = [("", of.value), ("-low", of.low), ("-high", of.high)];
                numbers.map(|(end, number)| (format!("{name}{end}"), number))
            })
        };
        let public = [
            (self.unit.many(), self.size as f64),
            (EPSILON, self.budget.epsilon.get()),
            (DELTA, self.budget.delta.get()),
            (NOISE_SCALE, self.noise_scale),
        ];
        let released = self.measured.named().into_iter().filter_map(estimate).flatten();
        let counts = self.histogram.iter().flat_map(curves::numbers);
        Outcome::numbers(released.chain(counts).chain(public.map(|(name, number)| (name.to_owned(), number))))
    }

    /// From the ledger.
    fn from_numbers(numbers: &BTreeMap<String, f64>) -> Option<Self> {
        let number = |name: &str| numbers.get(name).copied();
        let estimate = |name: &str| {
            let of = |end: &str| number(&format!("{name}{end}"));
            Some(Estimate { value: of("")?, low: of("-low")?, high: of("-high")? })
        };
        let measured = Measured::from_named(estimate);
        measured.auc.or(measured.concordance)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of records")]
        let count = |unit: Unit| number(unit.many()).map(|size| (unit, size as usize));
        let (unit, size) = count(Unit::Record).or_else(|| count(Unit::Person))?;
        let budget = Budget::new(number(EPSILON)?, number(DELTA)?).ok()?;
        let histogram = curves::from_numbers(numbers);
        Some(Self { measured, histogram, unit, size, budget, noise_scale: number(NOISE_SCALE)? })
    }
}

/// Names of numbers in a ledger.
const EPSILON: &str = "epsilon";
const DELTA: &str = "delta";
const NOISE_SCALE: &str = "noise-scale";

/// Prints what a run released and a ledger kept.
pub(crate) fn print_again(
    numbers: &BTreeMap<String, f64>,
    run: &str,
    printer: &Printer,
) -> Result<(), Failure> {
    match Released::from_numbers(numbers) {
        Some(released) => released.print(Some(run), printer),
        None => Err(Failure::refused(
            format!("run {run} is not an evaluation that this pairdp knows"),
            "use a newer pairdp",
        )),
    }
}

fn noisy_text(measured: &Measured, (size, unit): (usize, Unit), budget: Budget, run: Option<&str>) -> String {
    let line = |(name, estimate): (&str, Option<Estimate>)| {
        let name = match name {
            "auc" => "AUC",
            "concordance" => "C",
            name => name,
        };
        estimate.map(|Estimate { value, low, high }| {
            format!("{name:<10} {value:.4}   between {low:.4} and {high:.4}\n")
        })
    };
    let mut text: String = measured.named().into_iter().filter_map(line).collect();
    let whom = match unit {
        Unit::Record => "private records",
        Unit::Person => "persons, each counted once by the mean over their records,",
    };
    let _ = write!(
        text,
        "on {size} {whom} with noise for {budget}\neach interval holds the table's own value 95 times in 100",
    );
    if let Some(run) = run {
        let _ = write!(text, "\nspent as run {run}");
    }
    text
}

/// The right measure for a model's task, exactly: for public records.
pub(crate) fn measured(predictor: &Predictor, table: &Table, data: &Path) -> Result<Exact, Failure> {
    Ok(match predictor.task {
        Task::Ranking => {
            let auc = auc(predictor, table, data)?;
            Exact { text: format!("AUC {auc:.4} (chance 0.5)"), object: json!({ "auc": auc }) }
        }
        Task::Classification => classification(predictor, table, data)?,
        Task::Regression => regression(predictor, table),
        Task::Survival => survival(predictor, table, data)?,
        Task::Metric => metric(predictor, table),
    })
}

fn classification(predictor: &Predictor, table: &Table, data: &Path) -> Result<Exact, Failure> {
    let scores = predictor.scores(table);
    let cut = predictor.cut();
    let right =
        scores.iter().zip(&table.targets).filter(|(score, target)| (**score > cut) == (**target > 0.0));
    let accuracy = right.count() as f64 / table.rows as f64;
    let auc = auc(predictor, table, data)?;
    let text = format!("accuracy {accuracy:.4}, AUC {auc:.4}");
    Ok(Exact { text, object: json!({ "accuracy": accuracy, "auc": auc }) })
}

fn auc(predictor: &Predictor, table: &Table, data: &Path) -> Result<f64, Failure> {
    measure::auc(&predictor.scores(table), &table.positive()).ok_or_else(|| {
        Failure::refused(
            format!("{}: AUC needs a record of each class", data.display()),
            "evaluate on a larger table",
        )
    })
}

fn survival(predictor: &Predictor, table: &Table, data: &Path) -> Result<Exact, Failure> {
    let concordance =
        measure::concordance_index(&predictor.scores(table), &table.targets, None).ok_or_else(|| {
            Failure::refused(
                format!("{}: of no two records is it known who failed first", data.display()),
                "evaluate on a larger table",
            )
        })?;
    let text = format!("C {concordance:.4} (chance 0.5)");
    Ok(Exact { text, object: json!({ "concordance": concordance }) })
}

/// Errors in units of half the label's public range.
fn regression(predictor: &Predictor, table: &Table) -> Exact {
    let n = table.rows as f64;
    let mean = table.targets.iter().sum::<f64>() / n;
    let square = |value: f64| value * value;
    let residual: f64 = predictor
        .scores(table)
        .iter()
        .zip(&table.targets)
        .map(|(score, target)| square(target - score))
        .sum();
    let spread: f64 = table.targets.iter().map(|target| square(target - mean)).sum();
    let (error, explained) = ((residual / n).sqrt(), 1.0 - residual / spread);
    let text = format!("root mean square error {error:.4} of half the label's range, R² {explained:.4}");
    Exact { text, object: json!({ "rmse": error, "r2": explained.is_finite().then_some(explained) }) }
}

/// Each record's class by a vote of its nearest others: under the metric, and under none.
fn metric(predictor: &Predictor, table: &Table) -> Exact {
    let mut plain = table.features.clone();
    // The bound of ranks says nothing about rows as ranges put them.
    if !predictor.maps_rows() {
        plain.chunks_exact_mut(table.columns).for_each(|row| clip_row(row, predictor.feature_bound));
    }
    let accuracy = |rows: &[f64], columns: usize| {
        measure::leave_one_out_accuracy(rows, &table.targets, columns, NEIGHBOURS)
    };
    let learned = accuracy(&predictor.embed(table), predictor.features());
    let euclidean = accuracy(&plain, table.columns);
    let text =
        format!("{NEIGHBOURS}-neighbour accuracy {learned:.4} (plain Euclidean distance: {euclidean:.4})");
    Exact { text, object: json!({ "neighbour_accuracy": learned, "euclidean_accuracy": euclidean }) }
}
