//! Public choices of the problem and the plan.

use super::decisions::Counting;
use crate::failure::Failure;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use pairdp_certificate::{Algorithm, Average, NoiseKind, Paper, Shuffle};
use pairdp_data::Schema;
use pairdp_learn::{Calibration, DomainKind, RepresentationKind, Risk, ScoreKind, Settings};
use pairdp_model::Task;
use pairdp_pairwise::{LossKind, PerPerson, RankingForm, Unit};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// What may be said about how to learn; everything has a default.
#[derive(Args, Clone)]
#[command(next_help_heading = "How to learn")]
pub(crate) struct Tuning {
    /// What to learn
    #[arg(long, value_name = "TASK", default_value = "ranking",
        value_parser = named::<Task>(["ranking", "metric", "classification", "regression", "survival"]))]
    pub(crate) task: Task,
    /// How: noise in gradients (noisy-*, online-pair), on results, or on moments; auto chooses from n, the number of
    /// features and the budget
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = named::<Choice>(["auto"].into_iter().chain(Algorithm::ALL.map(Algorithm::name))))]
    pub(crate) algorithm: Choice,
    /// The loss [default: logistic, or squared for regression]
    #[arg(long, value_name = "LOSS",
        value_parser = named::<LossKind>(LossKind::all().map(LossKind::name)))]
    pub(crate) loss: Option<LossKind>,
    /// Exponent of the q-hinge and q-norm losses, between 1 and 2
    #[arg(long, value_name = "Q", default_value_t = 1.5, allow_negative_numbers = true)]
    pub(crate) q: f64,
    /// What is compared: a weighted sum of columns, or beside it one hidden layer (with noisy-gd) or waves along random directions, for
    /// tables of some 100,000 records and more [default: linear]
    #[arg(long, alias = "score", value_name = "KIND", value_parser = named::<ScoreKind>(["linear", "network", "random-features"]))]
    pub(crate) scores: Option<ScoreKind>,
    /// Networks: hidden units [default: 64]; random features: how many, an even number [default: 800]
    #[arg(long, value_name = "H")]
    pub(crate) hidden: Option<u32>,
    /// Networks and random features: what the linear term has beside them, between 0 and 1 [default: 0.5; of networks 0.85 where n times μ is
    /// below 20,000]
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub(crate) linear_share: Option<f64>,
    /// Networks and random features: public seed of the first weights or of the directions, which never reaches the noise [default: 1]
    #[arg(long, value_name = "SEED")]
    pub(crate) start_seed: Option<u64>,
    /// Not used any more; accepted so that old commands still run
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub(crate) positive_rate: Option<f64>,
    /// Rankers: minimise the loss of pairs, or of single records in its place [default: pairs,
    /// or with --algorithm auto by n, the number of features and the budget]
    #[arg(long, value_name = "OF", value_parser = named::<Risk>(["pairs", "records"]))]
    pub(crate) risk: Option<Risk>,
    /// Losses of records: learn no intercept
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// Add half this times the squared norm of the parameters
    #[arg(long, value_name = "L", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) ridge: f64,
    /// Longer feature vectors are scaled down to this norm (κ) [default: 1; from 8 features on 0.7, and for metrics 0.6 to 1 times the root of their number]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(crate) feature_bound: Option<f64>,
    /// Which parameters are allowed: those within --radius, any, or for metrics a set of matrices within it [default: ball, or for metrics with --algorithm auto by n, the number of features and the budget]
    #[arg(long, value_name = "SET",
        value_parser = named::<DomainKind>(["ball", "whole", "psd-ball", "psd-diagonal", "psd-nuclear"]))]
    pub(crate) domain: Option<DomainKind>,
    /// How long the vector of parameters may be [default: 20; 3 for losses that grow steeper; 10 for metrics]
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    pub(crate) radius: Option<f64>,
    /// How columns become numbers to learn from: by the schema's ranges, or by ranks, from a first release of where columns lie
    /// (noisy-gd and moments; a metric is then the Euclidean distance of ranks, unless a loss, steps or a domain are given)
    /// [default: ranks with --algorithm auto, but for metrics; otherwise ranges]
    #[arg(long, value_name = "HOW", value_parser = named::<RepresentationKind>(["ranges", "ranks"]))]
    pub(crate) representation: Option<RepresentationKind>,
    /// The share of the budget for where columns lie, and for when each was last seen [default: 0.3; 0.1 for times alone]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) representation_share: Option<f64>,
    #[command(flatten)]
    pub(crate) counting: Counting,
    /// Keep the number of records secret; there are at most this many. The guarantee is then for adding or removing a record instead
    /// of replacing one, and records beyond the cap are not used (noisy-gd and moments)
    #[arg(long, value_name = "N")]
    pub(crate) max_records: Option<usize>,
    /// As --max-records, for tables of persons: how many persons there are is secret, and at most this
    #[arg(long, value_name = "N", conflicts_with = "max_records")]
    pub(crate) max_persons: Option<usize>,
    /// Tables of persons: learn from all records of a person, with weights that add up to 1, or from one, drawn in secret
    /// [default: weights where noise is added to sums over the whole table (noisy-gd, output-gd, moments), otherwise one]
    #[arg(long, value_name = "HOW", value_parser = named::<PerPerson>(PerPerson::ALL.map(PerPerson::name)))]
    pub(crate) per_person: Option<PerPerson>,
    /// You promise that there are never more records than --max-records says: no record can push out another, so less noise is needed. A table
    /// that has more is refused, and that refusal is not covered by any guarantee. With a ledger the promise belongs to the data
    /// set
    #[arg(long, requires = "max_records")]
    pub(crate) promised: bool,
    /// Metrics: labels are known to everyone, and the guarantee is for the features of a record only
    #[arg(long)]
    pub(crate) public_labels: bool,
    /// Rankers, to compare with papers: whether a pair counts once, or twice at twice the margin; survival knows `comparable` alone
    #[arg(long, value_name = "FORM", default_value = "indicator",
        value_parser = named::<RankingForm>(["indicator", "symmetric", "comparable"]))]
    pub(crate) form: RankingForm,
    /// Steps to take [default: by the algorithm, from n, the number of features and the budget]
    #[arg(long, value_name = "T")]
    pub(crate) steps: Option<u32>,
    /// Step size [default: by the algorithm]
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub(crate) step_size: Option<f64>,
    /// How much of the last step a step repeats, from 0 to below 1 [default: 0.9 where columns are ranks, otherwise 0]
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    pub(crate) momentum: Option<f64>,
    /// Which iterates become the model [default: by the algorithm]
    #[arg(long, value_name = "WHICH", value_parser = named::<Average>(["last", "second-half", "all"]))]
    pub(crate) average: Option<Average>,
    /// Which noise [default: the one with the least root mean square; Laplace for δ = 0]
    #[arg(long, value_name = "NOISE", value_parser = mechanism())]
    pub(crate) mechanism: Option<Noise>,
    /// noisy-sgd: how pairs are drawn for a step, in secret: one of all pairs, or each pair by a coin of its own, --expected-pairs of them on average
    #[arg(long, value_name = "LAW", default_value = "uniform-pair",
        value_parser = ["uniform-pair", "poisson-pairs"])]
    pub(crate) sampling: String,
    /// poisson-pairs: how many pairs a step has on average
    #[arg(long, value_name = "M", default_value_t = 8.0, allow_negative_numbers = true)]
    pub(crate) expected_pairs: f64,
    #[command(flatten)]
    pub(crate) order: Order,
    /// Proved noise, or a paper's printed formula with the ε it really gives
    #[arg(long, value_name = "WHOSE", default_value = "certified",
        value_parser = named::<Calibration>(["certified", "literal"]))]
    pub(crate) calibration: Calibration,
    /// Which paper's formula to take for --calibration literal, where several have one
    #[arg(long, value_name = "NAME",
        value_parser = named::<Paper>(["yang", "kang", "xue", "bassily", "wang"]))]
    pub(crate) paper: Option<Paper>,
}

/// The public order of records.
#[derive(Args, Clone, Copy)]
pub(crate) struct Order {
    /// For algorithms that go from record to record: in which public order, drawn at every step, once, or anew each round
    #[arg(long, value_name = "LAW", default_value = "reshuffled",
        value_parser = named::<Shuffle>(["with-replacement", "fixed-permutation", "reshuffled"]))]
    pub(crate) order: Shuffle,
    /// Public seed of that order, which never reaches the noise [default: drawn afresh]
    #[arg(long, value_name = "SEED")]
    pub(crate) order_seed: Option<u64>,
}

/// An algorithm, or the word for none.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
pub(crate) enum Choice {
    Algorithm(Algorithm),
    Auto(Auto),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Auto {
    Auto,
}

/// A noise that was asked for.
#[derive(Clone, Copy)]
pub(crate) enum Noise {
    /// The quietest.
    Auto,
    /// This one.
    NoiseKind(NoiseKind),
}

impl Tuning {
    /// The choices that were typed, for a table whose records are protected each for itself.
    pub(crate) fn settings(&self) -> Settings {
        self.settings_for(Unit::Record)
    }

    /// The choices that were typed, for a table with such a schema.
    pub(crate) fn settings_by(&self, schema: &Schema) -> Result<Settings, Failure> {
        let unit = if schema.person().is_some() { Unit::Person } else { Unit::Record };
        match (unit, self.max_records, self.max_persons) {
            (Unit::Record, _, Some(_)) => Err(Failure::refused(
                "the schema does not say whose records they are, and persons cannot be counted",
                "name their column under [person] in the schema, or use --max-records",
            )),
            (Unit::Person, Some(_), _) => Err(Failure::refused(
                "the schema has persons, and a cap on records protects none of them",
                "use --max-persons",
            )),
            _ => Ok(self.settings_for(unit)),
        }
    }

    pub(crate) fn settings_for(&self, unit: Unit) -> Settings {
        Settings {
            task: self.task,
            algorithm: match self.algorithm {
                Choice::Auto(_) => None,
                Choice::Algorithm(algorithm) => Some(algorithm),
            },
            loss: self.loss,
            q: self.q,
            scores: self.scores,
            hidden: self.hidden,
            linear_share: self.linear_share,
            start_seed: self.start_seed,
            // A function that only Python can hand over.
            foreign_parameters: None,
            gradient_bound: None,
            positive_rate: self.positive_rate,
            risk: self.risk,
            intercept: self.no_intercept.then_some(false),
            max_records: self.max_records.or(self.max_persons),
            promised: self.promised,
            unit,
            per_person: self.per_person,
            representation: self.representation,
            representation_share: self.representation_share,
            probabilities: self.counting.said(),
            momentum: self.momentum,
            ridge: self.ridge,
            feature_bound: self.feature_bound,
            domain: self.domain,
            radius: self.radius,
            public_labels: self.public_labels,
            form: self.form,
            steps: self.steps,
            step_size: self.step_size,
            average: self.average,
            mechanism: match self.mechanism {
                None | Some(Noise::Auto) => None,
                Some(Noise::NoiseKind(law)) => Some(law),
            },
            expected_pairs: (self.sampling == "poisson-pairs").then_some(self.expected_pairs),
            shuffle: self.order.order,
            order_seed: self.order.order_seed,
            calibration: self.calibration,
            paper: self.paper,
        }
    }
}

/// One of the names that a type has in files.
pub(crate) fn named<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    names: impl IntoIterator<Item = &'static str>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(serde_json::Value::String(name)))
}

fn mechanism() -> impl TypedValueParser<Value = Noise> {
    PossibleValuesParser::new(["auto", "gaussian", "laplace", "euclidean"]).map(|name| match name.as_str() {
        "gaussian" => Noise::NoiseKind(NoiseKind::Gaussian),
        "laplace" => Noise::NoiseKind(NoiseKind::Laplace),
        "euclidean" => Noise::NoiseKind(NoiseKind::Euclidean),
        _ => Noise::Auto,
    })
}
