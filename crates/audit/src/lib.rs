//! Evidence: what attacks on the mechanisms find, how stable descents really are, and what a record does to a model.
//!
//! Proofs say what cannot happen; this crate tries to make it happen. An [`Audit`] runs a mechanism many times on two neighbouring
//! tables, by the very code that trains models, and bounds ε from below by how well the best attacker tells them apart. A bound above
//! the claim means that a proof, a constant or the code is wrong.
//!
//! - [`table_pair`]: tables for which the sensitivities are attained;
//! - [`Audit`], [`Runs`], [`report()`]: many runs, two tables;
//! - [`TwoReleases`]: where columns lie and what is learned after it, together;
//! - [`one_run`]: one run, many canaries;
//! - [`confidence`]: exact intervals for counts;
//! - [`Family`]: from accuracy to ε, with the assumption named;
//! - [`stability`], [`gap`]: coupled descents beside their bounds, and what that says about new records;
//! - [`influence`]: leaving one record out, predicted and refitted, for the custodian alone;
//!
//! Audits and measurements work on tables that the auditor made up. They see releases, never the records of a curator.

mod answers;
mod audit;
pub mod confidence;
mod error;
pub mod everything;
mod family;
pub mod gap;
pub mod influence;
mod likelihood;
mod linear;
pub mod one_run;
mod report;
mod runs;
pub mod stability;
pub mod suite;
pub mod table_pair;
mod two_releases;

pub use audit::{Audit, Pair, View};
pub use error::AuditError;
pub use family::{Family, best_accuracy};
pub use report::{Bound, FALSE_ALARM, Numbers, Report, Verdict, report};
pub use runs::{Run, Runs};
pub use table_pair::{Table, TablePair};
pub use two_releases::{Seen, TwoReleases};
