use crate::args::Show;
use crate::failure::Failure;
use crate::files::{self, AnyModel};
use crate::printer::Printer;
use pairdp_model::{At, Effect, Effects, Of, Predictor, Task};
use pairdp_pairwise::Score;
use pairdp_units::shown;
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Show, printer: &Printer) -> Result<ExitCode, Failure> {
    let model = files::read_any(&arguments.model)?;
    let said = match &model {
        AnyModel::Private(model) => Effects::of_private(model),
        AnyModel::Baseline(model) => Effects::of(&model.predictor),
    };
    let predictor = match &model {
        AnyModel::Private(model) => &model.predictor,
        AnyModel::Baseline(model) => &model.predictor,
    };
    let said = said.ok_or_else(|| no_scores(&arguments.model.display().to_string(), predictor))?;
    let guarantee = match &model {
        AnyModel::Private(model) => {
            let claim = &model.certificate.claim;
            let (epsilon, delta) = (shown::up(claim.epsilon), shown::up(claim.delta));
            format!("claims ε = {epsilon}, δ = {delta} for {}", model.certificate.protects())
        }
        AnyModel::Baseline(_) => "trained without privacy: keep it inside".into(),
    };
    let mut text = format!("{}\n{guarantee}\n\n", meaning(said.task));
    text += &table(&said.effects);
    let start = shown_number(said.start);
    if said.start != 0.0 {
        let _ = writeln!(text, "\n  every row starts at {start}");
    }
    for note in &said.notes {
        let _ = write!(text, "\n{}", wrapped(note));
    }
    printer.result(&text, &json!(said));
    Ok(ExitCode::SUCCESS)
}

/// A metric, or a network, is asked for what a score is made of.
pub(crate) fn no_scores(model: &str, predictor: &Predictor) -> Failure {
    if let Err(elsewhere) = predictor.scores_here() {
        return Failure::about(Path::new(model), &elsewhere);
    }
    if let Score::Network(form) = predictor.score {
        return Failure::refused(
            format!(
                "{model}: a network has no coefficients: its {} hidden units take all columns together, so that no column adds a \
                 number of its own",
                form.hidden
            ),
            "score rows with `pairdp predict`, see its layers with `pairdp export --to json`, or train with --scores linear",
        );
    }
    if let Some(form) = predictor.random_features {
        return Failure::refused(
            format!(
                "{model}: random features have no coefficients of columns: their {} directions take all columns together",
                form.directions
            ),
            "score rows with `pairdp predict`, or train with --scores linear",
        );
    }
    Failure::refused(
        format!("{model}: a metric has distances and no scores, so its columns add nothing to one"),
        "see its matrix with `pairdp export --to json`, or its weights with `pairdp report`",
    )
}

fn meaning(task: Task) -> &'static str {
    match task {
        Task::Ranking => "a score, higher means more likely positive, is the sum of what the columns add",
        Task::Classification => "a score, above 0 means positive, is the sum of what the columns add",
        Task::Regression => "a prediction is the sum of what the columns add, in the label's unit",
        Task::Survival => "a score, higher means an earlier event, is the sum of what the columns add",
        Task::Metric => "a distance",
    }
}

fn table(effects: &[Effect]) -> String {
    let rows: Vec<[String; 4]> = effects.iter().map(row).collect();
    let wide =
        |k: usize, least: usize| rows.iter().map(|row| row[k].chars().count()).fold(least, std::cmp::max);
    let (column, what, adds) = (wide(0, "column".len()), wide(1, "cell".len()), wide(2, "adds".len()));
    let head = ["column", "cell", "adds", "±"].map(String::from);
    let mut text = String::new();
    let mut last = "";
    for row in std::iter::once(&head).chain(&rows) {
        // A column's name once.
        let name = if row[0] == last { "" } else { row[0].as_str() };
        let line = format!("  {name:<column$}  {:<what$}  {:>adds$}  {}", row[1], row[2], row[3]);
        let _ = writeln!(text, "{}", line.trim_end());
        last = &row[0];
    }
    text
}

fn row(effect: &Effect) -> [String; 4] {
    let at = match &effect.at {
        Some(At::Number(number)) => shown_number(*number),
        Some(At::Category(category)) => format!("`{category}`"),
        None => String::new(),
    };
    let what = match effect.of {
        Of::Unit => "each unit".into(),
        Of::Day => "each day".into(),
        Of::Lowest => format!("lowest, at {at}"),
        Of::Highest => format!("highest, at {at}"),
        Of::Category => at,
        Of::Empty => "empty".into(),
    };
    let noise = effect.noise.map_or("not known".into(), shown_number);
    [effect.column.clone(), what, signed(effect.adds), noise]
}

/// With its sign.
pub(crate) fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "" } else { "+" };
    format!("{sign}{}", shown_number(value))
}

/// Three digits that matter.
fn shown_number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let size = value.abs().log10().floor();
    if !(-5.0..6.0).contains(&size) {
        return format!("{value:.2e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 7")]
    let digits = if size >= 2.0 { 0 } else { (2.0 - size) as usize };
    format!("{value:.digits$}")
}

/// Lines of at most a hundred letters.
fn wrapped(sentences: &str) -> String {
    const WIDEST: usize = 100;
    let (mut text, mut length) = (String::new(), 0);
    for word in sentences.split(' ') {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > WIDEST {
            text.push('\n');
            length = 0;
        } else if length > 0 {
            text.push(' ');
            length += 1;
        }
        text += word;
        length += letters;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_matter() {
        for (value, text) in [
            (0.0, "0"),
            (0.012_345, "0.0123"),
            (-1.5, "-1.50"),
            (63.0, "63.0"),
            (1234.5, "1234"),
            (1e-9, "1.00e-9"),
        ] {
            assert_eq!(shown_number(value), text);
        }
    }
}
