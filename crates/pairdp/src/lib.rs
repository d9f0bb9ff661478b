//! Differentially private pairwise models: rankers that maximise AUC, similarity metrics, and the pointwise models beside them.
//!
//! A schema says what is *publicly* known about a table's columns; a [`Training`](learn::Training) says what to learn and what may
//! be spent. What comes back holds its weights and a certificate from which anybody can recompute the guarantee:
//!
//! ```
//! use pairdp::prelude::*;
//!
//! # let folder = tempfile::tempdir()?;
//! # let at = |name: &str| folder.path().join(name);
//! # std::fs::write(at("patients.schema.toml"), pairdp::data::simulate::SCHEMA)?;
//! # std::fs::write(at("patients.csv"), pairdp::data::simulate::cohort(500, 1).csv)?;
//! # std::fs::write(at("new.csv"), pairdp::data::simulate::cohort(20, 2).csv)?;
//! let schema = Schema::read(&at("patients.schema.toml"))?;
//! let encoding = Encoding::of(&schema);
//! let patients = Table::read(&at("patients.csv"), &encoding, LabelUse::Read(schema.label()))?;
//!
//! // Any one of the patients can be exchanged for any other: what is learned changes by a factor of e^ε at most, up to δ.
//! let training = Training {
//!     settings: Settings { task: Task::Ranking, ..Settings::default() },
//!     encoding: encoding.clone(),
//!     label: Some(schema.label().clone()),
//!     budget: Budget::new(1.0, 1e-6)?,
//! };
//! let model = training.fit(patients)?;
//!
//! // Whoever gets the file recomputes why it is private, with code that cannot call the code that trained.
//! let file = model.to_json()?;
//! assert!(verify(&file)?.holds());
//!
//! let scores = model.predictor.scores(&Table::read(&at("new.csv"), &encoding, LabelUse::Ignore)?);
//! assert_eq!(scores.len(), 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Training::fit`](learn::Training::fit) counts this run alone. With a [`Ledger`](ledger::Ledger) all runs on a data set share one
//! budget, which is spent before a record is read: [`Training::open`](learn::Training::open) takes a
//! [`Booking`](ledger::Booking). A run that may be killed goes on from its [`Checkpointer`](release::Checkpointer), and makes no
//! release twice.
//!
//! | crate | what for |
//! |---|---|
//! | [`data`] | tables and public schemas; how a row becomes a vector |
//! | [`learn`] | settings, planner, training, private evaluation |
//! | [`model`] | model files: scores, probabilities, reasons, ONNX |
//! | [`release`] | mechanisms, and the one type that holds records |
//! | [`verify`](mod@verify) | recomputing a certificate; [`certificate`] has its plain types |
//! | [`ledger`] | budgets on disk, for many runs and many colleagues |
//! | [`accountant`] | what releases cost, and noise for a budget |
//! | [`audit`] | attacks on mechanisms, measured stability, influence |
//! | [`pairwise`], [`noise`], [`units`] | problems and their sensitivities; safe noise; ε, δ and adjacency as types |

pub use pairdp_accountant as accountant;
pub use pairdp_audit as audit;
pub use pairdp_certificate as certificate;
pub use pairdp_data as data;
pub use pairdp_learn as learn;
pub use pairdp_ledger as ledger;
pub use pairdp_model as model;
pub use pairdp_noise as noise;
pub use pairdp_pairwise as pairwise;
pub use pairdp_release as release;
pub use pairdp_signature as signature;
pub use pairdp_units as units;
pub use pairdp_verify as verify;

/// What most programs need.
pub mod prelude {
    pub use pairdp_certificate::Algorithm;
    pub use pairdp_data::{Encoding, LabelUse, Schema, Table};
    pub use pairdp_learn::{Settings, Training};
    pub use pairdp_ledger::{Booking, Ledger};
    pub use pairdp_model::{PrivateModel, Task};
    pub use pairdp_release::Checkpointer;
    pub use pairdp_units::{Adjacency, Budget};
    pub use pairdp_verify::{Verdict, verify};
}
