use crate::args::{Spending, Train};
use crate::checkpoint::File;
use crate::delivery::{self, Finished, Last};
use crate::engine::Address;
use crate::failure::Failure;
use crate::files;
use crate::output::{Force, Kind, Output, Role, Taken};
use crate::printer::Printer;
use crate::reservation;
use crate::signing::Signing;
use pairdp_data::{DataError, Encoding, LabelUse, Schema, Table, table_files, template};
use pairdp_learn::{Rows, Settings, Training, cautions_of};
use pairdp_ledger::Booking;
use pairdp_model::{PrivateModel, Task};
use pairdp_release::Checkpointer;
use pairdp_release::parts::{CountedParts, describe};
use pairdp_units::{Budget, Unit, shown};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) fn run(arguments: &Train, printer: &Printer) -> Result<ExitCode, Failure> {
    // Everything that can be refused is refused before a record is read.
    let budget = Budget::new(arguments.epsilon, arguments.delta)?;
    let schema = arguments.schema.as_deref();
    let reads = Taken::none().and_table(&arguments.data, schema).and_spending(&arguments.spending);
    reads.refuse(&arguments.out)?;
    let taken = reads.clone().and(&arguments.out, Role::Result);
    // A key that cannot be read, or a place that is taken, is said before anything is spent.
    let signing = arguments.sign_with.as_deref();
    let signing =
        signing.map(|key| Signing::prepare(key, &arguments.out, Force::from(arguments.force), &reads));
    let signing = signing.transpose()?;
    let mut file = arguments.checkpoint.as_deref().map(|path| File::lock(path, &taken)).transpose()?;
    let schema = find_schema(&arguments.data, schema)?;
    let settings = arguments.tuning.settings_by(&schema)?;
    let interval = interval(arguments)?;
    let mut checkpointer = match &mut file {
        Some(file) => Checkpointer::to(file, interval),
        None => Checkpointer::none(),
    };
    let (data, spending, engine) = (&arguments.data, &arguments.spending, arguments.engine.as_ref());
    let run = TrainingRun { data, schema: &schema, budget, spending, engine };
    let force = Force::from(arguments.force);
    let (finished, resumed) = if let Some(finished) = run.finished(&settings, &mut checkpointer)? {
        let found_in = checkpointer.interrupted()?;
        finished.deliver_again(&arguments.out, force, &reads, spending, found_in.as_ref())?;
        (finished, Resumed::AtTheEnd)
    } else {
        let out = Output::new(&arguments.out, Kind::Model, force, &reads)?;
        delivery::refuse_waiting(&arguments.out, force, spending)?;
        let (model, payer) = run.train(&settings, &mut checkpointer, printer)?;
        let resumed = Resumed::After(checkpointer.resumed());
        let document = model.to_json().map_err(|error| Failure::about(&arguments.out, &error))?;
        let last = Last::after(checkpointer.finish(&document), file.as_ref())?;
        let finished = Finished { model, document };
        finished.deliver(out, payer, last)?;
        (finished, resumed)
    };
    if let Some(file) = &file {
        file.forget();
    }
    let model = &finished.model;

    let claim = &model.certificate.claim;
    let plan = &model.training;
    let secret = model.certificate.is_secret_size();
    let unit = model.certificate.adjacency().unit();
    let mut text = format!(
        "trained on {}{} {} of {} features by {}, {}\n",
        if secret { "at most " } else { "" },
        model.certificate.records,
        if unit == Unit::Person { "persons with records" } else { "records" },
        model.predictor.encoding.dimension(),
        plan.algorithm.name(),
        steps_in_words(plan.steps),
    );
    if let Some(because) = &model.because {
        let _ = writeln!(text, "why: {because}");
    }
    match resumed {
        Resumed::After(0) => {}
        Resumed::After(made) => {
            let _ = writeln!(text, "continued an interrupted run, which had made {made} of its releases");
        }
        Resumed::AtTheEnd => {
            let _ = writeln!(text, "an interrupted run had made all its releases; this is its model");
        }
    }
    if let Some(printed) = &model.as_printed {
        let _ = writeln!(
            text,
            "noise as printed by {}, who claim ε = {}, δ = {} for it",
            printed.paper.name(),
            shown::up(printed.claimed_epsilon),
            shown::up(printed.claimed_delta)
        );
    }
    let _ = write!(
        text,
        "private at ε = {}, δ = {} for {}\nwrote {}; check it with: pairdp verify {}",
        shown::up(claim.epsilon),
        shown::up(claim.delta),
        model.certificate.protects(),
        arguments.out.display(),
        arguments.out.display(),
    );
    if let Some(run) = &model.run {
        let _ = write!(text, "\nspent as run {run}");
    }
    let signature = signing.map(|signing| signing.sign(finished.document.as_bytes())).transpose()?;
    if let Some((path, digits)) = &signature {
        let _ = write!(text, "\nwrote {}, its signature with the key {digits}", path.display());
    }
    let object = json!({
        "model": arguments.out, "run": model.run, "task": model.predictor.task, "algorithm": plan.algorithm, "because": model.because,
        (unit.many()): model.certificate.records, "features": model.predictor.encoding.dimension(), "steps": plan.steps,
        "noise": model.certificate.noise, "epsilon": claim.epsilon, "delta": claim.delta,
        "adjacency": claim.adjacency, "resumed_after": resumed.releases(model), "as_printed": model.as_printed,
        "warnings": cautions_of(model)?, "signature": signature.map(|(path, _)| path),
    });
    printer.result(&text, &object);
    Ok(ExitCode::SUCCESS)
}

/// The least time between two checkpoints.
fn interval(arguments: &Train) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(arguments.checkpoint_every).map_err(|_| {
        Failure::refused(
            format!("checkpoints every {} seconds are not possible", arguments.checkpoint_every),
            "give a number of seconds of at least 0",
        )
    })
}

/// How many steps.
pub(crate) fn steps_in_words(steps: u32) -> String {
    if steps == 1 { "1 step".into() } else { format!("{steps} steps") }
}

/// Where an interrupted run went on.
enum Resumed {
    After(u32),
    AtTheEnd,
}

impl Resumed {
    fn releases(&self, model: &PrivateModel) -> u32 {
        match self {
            Self::After(made) => *made,
            Self::AtTheEnd => model.training.steps,
        }
    }
}

/// A table to train on, and who pays; also what the demonstration runs.
pub(crate) struct TrainingRun<'a> {
    pub(crate) data: &'a Path,
    pub(crate) schema: &'a Schema,
    pub(crate) budget: Budget,
    pub(crate) spending: &'a Spending,
    /// Who holds the table, if not this process.
    pub(crate) engine: Option<&'a Address>,
}

impl TrainingRun<'_> {
    /// Spends, reads, trains; what was spent is settled once the model is safe.
    pub(crate) fn train(
        &self,
        settings: &Settings,
        checkpointer: &mut Checkpointer<'_>,
        printer: &Printer,
    ) -> Result<(PrivateModel, Option<Booking>), Failure> {
        let Self { data, schema, spending, .. } = *self;
        check_label(settings.task, schema)?;
        let training = self.training(settings);
        let mut payer = reservation::payer(spending, &training.encoding, schema.label(), schema.person())?;
        let secret = settings.max_records.is_some();
        let run = training.open(&mut payer, checkpointer, || {
            let rows = self.rows(settings.task, &training.encoding, secret, printer)?;
            match (rows.count(), settings.unit) {
                // Where the number of records or persons is secret, too few of them are no error.
                (2.., _) => Ok::<_, Failure>(rows),
                _ if secret => Ok(rows),
                (_, Unit::Record) => Err(DataError::TooFewRecords { path: data.to_owned() }.into()),
                (_, Unit::Person) => Err(DataError::TooFewPersons { path: data.to_owned() }.into()),
            }
        })?;
        let run =
            run.read_by(&training.encoding.form(schema.label(), schema.person()).map_err(Failure::Failed)?);
        for caution in run.spec().cautions()? {
            printer.warning(&caution);
        }
        // Descents whose results are released count their phases only.
        let plan = run.spec().plan();
        let steps = (!plan.algorithm().perturbs_output()).then(|| u64::from(plan.steps()));
        let counter = checkpointer.counter();
        let model = printer.counting("training", steps, &counter, || run.train(checkpointer))?;
        Ok((model, payer))
    }

    /// The model of an interrupted run that had made all its releases.
    fn finished(
        &self,
        settings: &Settings,
        checkpointer: &mut Checkpointer<'_>,
    ) -> Result<Option<Finished>, Failure> {
        let finished = self.training(settings).finished(checkpointer)?;
        Ok(finished.map(|(model, document)| Finished { model, document }))
    }

    fn training(&self, settings: &Settings) -> Training {
        let (encoding, label) = (Encoding::of(self.schema), Some(self.schema.label().clone()));
        Training { settings: settings.clone(), encoding, label, budget: self.budget }
    }

    /// Reads the table, or has an engine read it.
    fn rows(
        &self,
        task: Task,
        encoding: &Encoding,
        secret: bool,
        printer: &Printer,
    ) -> Result<Rows, Failure> {
        let label = self.schema.label();
        let files = table_files(self.data)?;
        if let (Some(_), None) = (self.schema.person(), self.engine) {
            // How many records there are is secret: no line of a bad one, and no bar of how far the reading got.
            let read = || Table::read_files(&files, encoding, self.schema.label_use());
            return Ok(printer.waiting("reading", read).map_err(DataError::without_row)?.into());
        }
        let engine = match (self.engine, files.as_slice()) {
            (None, [file]) => {
                let table = printer.reading(file, encoding, LabelUse::Read(label));
                // Where the number of records is secret, the line of a bad one would say how many there are at least.
                let table = if secret { table.map_err(DataError::without_row)? } else { table? };
                return Ok(table.into());
            }
            (None, _) => &Address::Here,
            (Some(engine), _) => engine,
        };
        let parts = describe(task, &files, encoding, label, self.schema.person(), engine.workers())?;
        Ok(CountedParts::count(engine.connect(parts)?)?.into())
    }
}

/// Refuses a label that a task cannot learn from.
pub(crate) fn check_label(task: Task, schema: &Schema) -> Result<(), Failure> {
    task.check_label(&schema.label().kind).map_err(|wanted| {
        Failure::refused(
            format!("{} cannot be learned from the label that the schema describes", task.name()),
            if schema.label().times().is_some() {
                "for a label of times, pass --task survival".to_owned()
            } else {
                format!("set {wanted} under [label] in the schema, or choose another --task")
            },
        )
    })
}

/// The schema that was named, or the one beside the data; without either, training says what to write.
pub(crate) fn find_schema(data: &Path, named: Option<&Path>) -> Result<Schema, Failure> {
    if let Some(path) = named {
        return Ok(Schema::read(path)?);
    }
    let beside = files::schema_beside(data);
    if beside.is_file() {
        return Ok(Schema::read(&beside)?);
    }
    let first = table_files(data)?.into_iter().next().unwrap_or_else(|| data.to_owned());
    let header = Table::header(&first)?;
    let delimiter = Table::delimiter(&first)?;
    let example = template(header.iter().map(String::as_str), delimiter).replace('\n', "\n  ");
    Err(Failure::coded(
        "no-schema",
        format!("{}: there is no schema that says what is publicly known about its columns", data.display()),
        format!(
            "write {} from public knowledge, never from the data itself, starting from:\n  {example}",
            beside.display()
        ),
    ))
}
