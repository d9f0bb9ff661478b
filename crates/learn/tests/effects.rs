//! What a model says of its columns adds up to what it predicts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_certificate::Algorithm;
use pairdp_data::{Cells, Encoding, Schema, Table};
use pairdp_learn::{RepresentationKind, Settings, Training};
use pairdp_model::{At, Effects, Of, Predictor, PrivateModel, Task};
use pairdp_noise::{Replay, Source};
use pairdp_units::Budget;

fn schema(label: &str) -> Schema {
    Schema::parse(&format!(
        "[label]\ncolumn = 'y'\n{label}\n\
         [[column]]\nname = 'kind'\ncategories = ['u', 'v']\nother = true\n\
         [[column]]\nname = 'level'\nrange = [0, 1000]\nmissing = 'own'\n\
         [[column]]\nname = 'age'\nrange = [0, 120]\n"
    ))
    .unwrap()
}

fn table(schema: &Schema, rows: usize) -> Table {
    let mut random = Replay::from_seed(1);
    let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 53) as f64;
    let (mut kinds, mut levels, mut ages, mut targets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let ill = uniform() < 0.5;
        kinds.push(Some(["u", "v", "w"][usize::from(uniform() < 0.5) + usize::from(ill)].to_owned()));
        levels.push(if uniform() < 0.2 { f64::NAN } else { 1000.0 * uniform() });
        ages.push(60.0 * uniform() + if ill { 40.0 } else { 0.0 });
        targets.push(if ill { 1.0 } else { -1.0 });
    }
    let cells = [Cells::Texts(kinds), Cells::Numbers(levels), Cells::Numbers(ages)];
    Table { targets, ..Encoding::of(schema).encode_cells(&cells).unwrap() }
}

fn trained(schema: &Schema, rows: Table, settings: Settings) -> PrivateModel {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let (encoding, label) = (Encoding::of(schema), Some(schema.label().clone()));
    Training { settings, encoding, label, budget }.fit(rows).unwrap()
}

/// To rounding, for every row, whether or not it is scaled down.
#[test]
fn what_columns_add_sums_to_the_score() {
    let (classes, range) = ("positive = 1\nnegative = 0", "range = [10, 50]");
    for (task, label) in
        [(Task::Ranking, classes), (Task::Classification, classes), (Task::Regression, range)]
    {
        for representation in [RepresentationKind::Ranks, RepresentationKind::Ranges] {
            let schema = schema(label);
            let rows = table(&schema, 400);
            let settings = Settings { task, representation: Some(representation), ..Settings::default() };
            let predictor = trained(&schema, table(&schema, 400), settings).predictor;
            let adds = predictor.explain(&rows).unwrap();
            let scores = predictor.scores(&rows);
            for (adds, score) in adds.chunks_exact(3).zip(scores) {
                let told = predictor.start() + adds.iter().sum::<f64>();
                let is = if task == Task::Regression { 30.0 + 20.0 * score } else { score };
                assert!((told - is).abs() < 1e-9, "{task:?} {representation:?}: {told} and {is}");
            }
        }
    }
}

/// One column by its range, whose rows are never longer than the bound: 20 years more add 20 times what a year adds.
#[test]
fn a_slope_is_per_unit_and_exact_where_no_row_is_scaled_down() {
    let predictor = |columns: usize| Predictor {
        task: Task::Ranking,
        encoding: Encoding::of_ranges(vec![[0.0, 100.0]; columns]).unwrap(),
        label: None,
        feature_bound: 1.0,
        constant: 0.0,
        parameters: vec![0.5; columns],
        representation: None,
        probabilities: None,
        random_features: None,
        score: pairdp_pairwise::Score::Linear,
    };
    let one = predictor(1);
    let said = Effects::of(&one).unwrap();
    assert!(said.exact && said.effects.len() == 1 && said.effects[0].of == Of::Unit);
    let rows = one.encoding.encode_matrix(&[30.0, 50.0], 1).unwrap();
    let scores = one.scores(&rows);
    assert!((scores[1] - scores[0] - 20.0 * said.effects[0].adds).abs() < 1e-12, "{said:?}");

    let two = Effects::of(&predictor(2)).unwrap();
    assert!(
        !two.exact && two.notes[0].contains("scaled down"),
        "two columns at their ends are longer than 1"
    );
}

#[test]
fn categories_and_empty_cells_have_a_number_each_and_ranks_a_lowest_and_a_highest_place() {
    let schema = schema("positive = 1\nnegative = 0");
    let settings = |representation| Settings { representation: Some(representation), ..Settings::default() };
    let of = |model: &PrivateModel, column: &str| -> Vec<(Of, Option<At>)> {
        let effects = Effects::of_private(model).unwrap().effects.into_iter();
        effects.filter(|effect| effect.column == column).map(|effect| (effect.of, effect.at)).collect()
    };
    let ranges = trained(&schema, table(&schema, 2000), settings(RepresentationKind::Ranges));
    let category = |name: &str| (Of::Category, Some(At::Category(name.into())));
    assert_eq!(of(&ranges, "kind"), [category("u"), category("v"), category("any other")]);
    assert_eq!(of(&ranges, "level"), [(Of::Unit, None), (Of::Empty, None)]);
    let ranks = trained(&schema, table(&schema, 2000), settings(RepresentationKind::Ranks));
    let said = of(&ranks, "age");
    assert!(
        matches!(said[..], [(Of::Lowest, Some(At::Number(_))), (Of::Highest, Some(At::Number(_)))]),
        "{said:?}"
    );
}

/// The noise of one released result is its own. Over 80 trainings a standard deviation is found to 8 %, so a false alarm is five
/// of those off.
#[test]
fn the_standard_error_of_a_released_result_is_what_trainings_show() {
    let schema = schema("positive = 1\nnegative = 0");
    let settings =
        Settings { algorithm: Some(Algorithm::OutputGd), radius: Some(10.0), ..Settings::default() };
    let (mut slopes, mut stated) = (Vec::new(), 0.0);
    for _ in 0..80 {
        let said = Effects::of_private(&trained(&schema, table(&schema, 1000), settings.clone())).unwrap();
        let age = said.effects.into_iter().find(|effect| effect.column == "age").unwrap();
        slopes.push(age.adds);
        stated = age.noise.unwrap();
    }
    let mean = slopes.iter().sum::<f64>() / 80.0;
    let found = (slopes.iter().map(|slope| (slope - mean).powi(2)).sum::<f64>() / 79.0).sqrt();
    assert!((found / stated - 1.0).abs() < 0.4, "found {found}, stated {stated}");
}

#[test]
fn where_noise_is_not_known_a_sentence_says_so() {
    let schema = schema("positive = 1\nnegative = 0");
    let with = |algorithm| {
        let settings = Settings { algorithm: Some(algorithm), steps: Some(20), ..Settings::default() };
        let settings =
            if algorithm == Algorithm::Moments { Settings { steps: None, ..settings } } else { settings };
        Effects::of_private(&trained(&schema, table(&schema, 300), settings)).unwrap()
    };
    for algorithm in [Algorithm::Moments, Algorithm::NoisySgd, Algorithm::NoisyGd] {
        let said = with(algorithm);
        let unknown = said.effects.iter().all(|effect| effect.noise.is_none());
        assert_eq!(unknown, algorithm != Algorithm::NoisyGd);
        assert_eq!(
            said.notes[1].starts_with("How much of this is noise is not"),
            unknown,
            "{:?}",
            said.notes
        );
    }
}
