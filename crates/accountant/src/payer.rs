//! Who pays for a run, from before its table is opened.
//!
//! Everything that is released has a price that public facts decide, so it can be paid before a record is read. A run asks its
//! payer three things, in this order: how many records the table is publicly known to have, whether the price is paid, and
//! whether the table that was then found is the one that was paid for. The trait lives here, beside what releases cost, so that
//! whoever trains and whoever keeps a ledger need not know each other.

use crate::Event;
use pairdp_units::{Budget, Delta};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// What a run will release, and what that is said to cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Everything that is released.
    pub event: Event,
    /// The part of the claim's δ that is set aside for the sampler.
    pub sampler_delta: Delta,
    /// What the run alone is private at.
    pub claim: Budget,
    /// A public text: which algorithm.
    pub label: String,
}

/// A run that was interrupted, by what was saved of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupted {
    /// The run's name.
    pub run: String,
    /// A name of the saved state that no other state has.
    pub state: String,
    /// The state of this run that it replaced.
    pub replaced: Option<String>,
}

/// Whoever knows which saved state of a run is its last. A state that is not must not be gone on from: what follows it was
/// released already, and would be released a second time under one payment.
pub trait Witness: Send {
    /// Refuses a run that went on elsewhere.
    ///
    /// # Errors
    /// [`Contested`].
    fn still(&mut self) -> Result<(), Contested>;

    /// Notes that this state is now the last.
    ///
    /// # Errors
    /// [`Contested`]; the last state is then what it was.
    fn saved(&mut self, state: &str) -> Result<(), Contested>;
}

/// Why a run must not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Contested {
    /// It did so from another copy of what was saved.
    #[error("run {0} was already continued from another copy of its checkpoint")]
    Elsewhere(String),
    /// Nobody can tell whether it did.
    #[error("{0}")]
    Unknown(String),
}

/// What a payer publicly knows of the table that is learned from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The name of the data set.
    pub data_set: Option<String>,
    /// SHA-256 of the form of the schema by which it is read, in hexadecimal digits.
    pub schema: Option<String>,
}

/// Whoever a run's budget is taken from.
pub trait Payer {
    /// Why it was refused.
    type Error;

    /// The public number of records, or of a cap on it, that the noise has to be for; none if nobody but the table says.
    ///
    /// # Errors
    /// When the payer knows the data set but not its size.
    fn size(&mut self, cap: Option<usize>) -> Result<Option<usize>, Self::Error>;

    /// Takes the price of a run, or finds that this interrupted run has paid it, and names the run.
    ///
    /// # Errors
    /// When the price does not fit, or the run went on elsewhere; nothing is then taken.
    fn pay(&mut self, price: Price, interrupted: Option<&Interrupted>)
    -> Result<Option<String>, Self::Error>;

    /// Who is told of every state that is saved of the run that was paid for; none if nobody keeps count.
    fn witness(&self) -> Option<Box<dyn Witness>> {
        None
    }

    /// What it publicly knows of the table.
    fn origin(&self) -> Origin {
        Origin::default()
    }

    /// Hands the table on if it has the size that was paid for; gives the price back if not.
    ///
    /// # Errors
    /// For a table of another size.
    fn accept(&mut self, records: usize) -> Result<(), Self::Error>;

    /// Gives the price back, because the table was refused for its form and nothing was released.
    ///
    /// # Errors
    /// When that cannot be recorded; the price then stays paid.
    fn refund(&mut self) -> Result<(), Self::Error>;
}

/// Nobody counts: the guarantee holds for the run alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unbooked;

impl Payer for Unbooked {
    type Error = Infallible;

    fn size(&mut self, _: Option<usize>) -> Result<Option<usize>, Infallible> {
        Ok(None)
    }

    fn pay(&mut self, _: Price, _: Option<&Interrupted>) -> Result<Option<String>, Infallible> {
        Ok(None)
    }

    fn accept(&mut self, _: usize) -> Result<(), Infallible> {
        Ok(())
    }

    fn refund(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// A payer, if there is one.
impl<P: Payer> Payer for Option<P> {
    type Error = P::Error;

    fn size(&mut self, cap: Option<usize>) -> Result<Option<usize>, P::Error> {
        self.as_mut().map_or(Ok(None), |payer| payer.size(cap))
    }

    fn pay(&mut self, price: Price, interrupted: Option<&Interrupted>) -> Result<Option<String>, P::Error> {
        self.as_mut().map_or(Ok(None), |payer| payer.pay(price, interrupted))
    }

    fn witness(&self) -> Option<Box<dyn Witness>> {
        self.as_ref().and_then(Payer::witness)
    }

    fn origin(&self) -> Origin {
        self.as_ref().map(Payer::origin).unwrap_or_default()
    }

    fn accept(&mut self, records: usize) -> Result<(), P::Error> {
        self.as_mut().map_or(Ok(()), |payer| payer.accept(records))
    }

    fn refund(&mut self) -> Result<(), P::Error> {
        self.as_mut().map_or(Ok(()), Payer::refund)
    }
}
