//! What Python is told to do about an error is said in Python's words, and what the command is told in the command's.

use pairdp_accountant::AccountantError;
use pairdp_audit::AuditError;
use pairdp_certificate::Algorithm;
use pairdp_data::DataError;
use pairdp_ledger::{Damage, LedgerError};
use pairdp_model::ModelError;
use pairdp_noise::NoiseError;
use pairdp_pairwise::ProblemError;
use pairdp_release::LearnError;
use pairdp_units::{Adjacency, Budget, Delta, FrontEnd, Hint, Unit, UnitError};
use pairdp_verify::DocumentError;
use std::path::PathBuf;

fn budget() -> Budget {
    Budget::new(1.0, 1e-6).expect("a budget")
}

fn of_training() -> Vec<LearnError> {
    use LearnError::{
        Checkpoint, Data, DeltaTooSmall, FixedSteps, LabelsMakeNoDifference, NeedsPairs, NoHistory,
        NoIntercept, NoParts, NoPrivateMeasure, NoProof, NotPrinted, OnePlace, PathTooLong, PrintedRefused,
        PublicLabelsOfSecretSize, SecretSize, TaskLoss,
    };
    let algorithm = Algorithm::OutputGd;
    vec![
        UnitError::Epsilon(0.0).into(),
        UnitError::Delta(1.0).into(),
        ProblemError::NotLipschitz.into(),
        ProblemError::MatrixDomain.into(),
        ProblemError::Range { what: "radius", range: "above 0", value: 0.0 }.into(),
        AccountantError::PureGaussian.into(),
        AccountantError::Unsupported("this").into(),
        AccountantError::NotBracketed(budget()).into(),
        AccountantError::NoConvergence("this").into(),
        NoiseError::Magnitude(1e30).into(),
        Data(Box::new(DataError::Empty { path: PathBuf::from("t.csv") })),
        DeltaTooSmall(budget()),
        NoProof("this"),
        SecretSize("this"),
        PublicLabelsOfSecretSize,
        LabelsMakeNoDifference("ranking"),
        NeedsPairs(algorithm),
        NoHistory,
        NoIntercept,
        NoPrivateMeasure { task: "metric", because: "why" },
        FixedSteps { algorithm, steps: 1 },
        PathTooLong { records: 1, steps: 1 },
        NoParts,
        OnePlace("this"),
        Checkpoint,
        TaskLoss { task: "metric", loss: "squared" },
        NotPrinted("this"),
        PrintedRefused { paper: "Yang", because: "why", sigma: 1.0, delivered: 2.0, claimed: 1.0 },
    ]
}

fn of_ledgers() -> Vec<LedgerError> {
    use LedgerError::{
        Busy, Damaged, DataSetExists, DoesNotFit, Exists, MalformedKey, Missing, Newer, NoDataSet, NoKey,
        NoSchema, NoSize, NotALedger, OpenKey, OtherSchema, OtherSize, SamplerDelta, WrongKey,
    };
    let (dataset, path) = ("stays".to_owned(), PathBuf::from("l"));
    let does_not_fit =
        |fits| DoesNotFit { dataset: dataset.clone(), asked: budget(), spent: 1.0, granted: budget(), fits };
    let (expected, found) = (Adjacency::ReplaceOne, Adjacency::ReplaceFeatures);
    vec![
        does_not_fit(Some(0.31)),
        does_not_fit(None),
        NoSize(dataset.clone()),
        OtherSize { dataset: dataset.clone(), unit: Unit::Record, found: 1, known: 2 },
        NoDataSet(dataset.clone()),
        DataSetExists(dataset.clone()),
        OtherSchema(dataset.clone()),
        NoSchema(dataset.clone()),
        SamplerDelta { sampler_delta: Delta::PURE, claim: budget() },
        Damaged(Damage::Seal),
        Damaged(Damage::Rollback("1:a".into())),
        WrongKey,
        NoKey(path.clone()),
        OpenKey(path.clone()),
        MalformedKey("l".into()),
        Missing(path.clone()),
        Exists(path.clone()),
        NotALedger(path),
        Newer { found: 2, known: 1 },
        Busy,
        LedgerError::Adjacency { dataset, expected, found },
    ]
}

fn of_files() -> Vec<Box<dyn Hint>> {
    let (path, column) = (PathBuf::from("t.csv"), "a".to_owned());
    let unreadable = || serde_json::from_str::<u8>("x").expect_err("no number");
    vec![
        Box::new(DataError::Schema { path: path.clone(), what: "why".into() }),
        Box::new(DataError::MissingColumn { path: path.clone(), column: column.clone() }),
        Box::new(DataError::DuplicateColumn { path: path.clone(), column: column.clone() }),
        Box::new(DataError::RowWidth { path: path.clone(), line: 1 }),
        Box::new(DataError::ColumnType { path: path.clone(), column: column.clone() }),
        Box::new(DataError::NotAnIndex { path: path.clone(), column }),
        Box::new(DataError::NoTables { path: path.clone() }),
        Box::new(DataError::NoHeader { path: path.clone() }),
        Box::new(DataError::TooLarge { path }),
        Box::new(ModelError::Json(unreadable())),
        Box::new(ModelError::Format { found: "1".into(), expected: "2" }),
        Box::new(ModelError::NotFinite),
        Box::new(DocumentError::Json(unreadable())),
        Box::new(DocumentError::Format { found: "1".into() }),
        Box::new(DocumentError::Shape { parameters: 1, features: 2 }),
        Box::new(AuditError::OtherState),
        Box::new(AuditError::NotCovered("this")),
        Box::new(AuditError::NotSmooth("this")),
    ]
}

#[test]
fn every_hint_is_in_the_words_of_its_front_end() {
    let all = (of_training().into_iter().map(|error| Box::new(error) as Box<dyn Hint>))
        .chain(of_ledgers().into_iter().map(|error| Box::new(error) as Box<dyn Hint>))
        .chain(of_files());
    let mut own_words = 0;
    for error in all {
        let command = error.hint(FrontEnd::Command).expect("a way out");
        let python = error.hint(FrontEnd::Python).expect("a way out");
        assert!(!python.contains("--") && !python.contains("`pairdp "), "{error}: {python}");
        assert!(!command.contains("Ledger.") && !command.contains("=\""), "{error}: {command}");
        assert_eq!(error.explained(FrontEnd::Python), format!("{error}\nhint: {python}"));
        own_words += usize::from(command != python);
    }
    assert!(own_words > 10, "{own_words}");
}
