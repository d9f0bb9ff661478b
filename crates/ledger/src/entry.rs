//! What is written down: one entry for everything that happens.

use crate::charge::{Charge, charges};
use crate::key::to_hex;
use crate::{DataSet, LedgerError, Outcome, SchemaDigest};
use pairdp_accountant::{Event, Price};
use pairdp_units::{Budget, Delta};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the entries written by this crate.
///
/// Version 2 has schemas, version 3 outcomes, version 4 saved states; entries of earlier versions are read as they are.
pub(crate) const ENTRY_VERSION: u32 = 4;
const LONGEST_NAME: usize = 100;

/// One line of a ledger's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Version of this format.
    pub version: u32,
    /// 1 for the first.
    pub sequence: u64,
    /// Seconds since 1970, by the clock of the machine that wrote it.
    pub time: u64,
    /// The data set it is about.
    pub dataset: String,
    /// What happened.
    pub action: Action,
}

/// What can happen to a data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// It was entered.
    Created(DataSet),
    /// Its total was set anew.
    Granted {
        /// The new total.
        grant: Budget,
    },
    /// Its owner said what its table is read by.
    SchemaSet {
        /// The schema.
        schema: SchemaDigest,
    },
    /// A run is about to read it. From here on the run counts as spent.
    Reserved {
        /// The run.
        run: RunId,
        /// What it will release.
        cost: Price,
        /// What it pays for that.
        charge: Charge,
    },
    /// A state of the run was saved that can be gone on from, and no other.
    Saved {
        /// The run.
        run: RunId,
        /// The state's name.
        state: String,
    },
    /// The run is over.
    Committed {
        /// The run.
        run: RunId,
        /// What it released.
        released: Event,
        /// What it pays on top because it released more than was reserved; never in an honest run.
        excess: Option<Charge>,
        /// What came of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<Outcome>,
    },
    /// The model of a run that is over is where it was asked for.
    Placed {
        /// The run.
        run: RunId,
    },
    /// The run released nothing: its charge is given back.
    Cancelled {
        /// The run.
        run: RunId,
        /// Why.
        reason: Cancelled,
    },
}

/// Why a run that had reserved released nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cancelled {
    /// It ended before the table was opened.
    NotStarted,
    /// The table was refused for its form or its public size.
    TableRefused,
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotStarted => "not started",
            Self::TableRefused => "table refused",
        })
    }
}

/// What a run will release, checked, with the ways it may pay.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    pub(crate) price: Price,
    pub(crate) charges: Vec<Charge>,
}

impl Cost {
    /// Checks that the releases are as private as is claimed, and computes what they cost beside others.
    ///
    /// This is the slow part of reserving for sampled releases (about a second) and needs no ledger, so that no
    /// lock is held meanwhile.
    ///
    /// # Errors
    /// [`LedgerError::Claim`] when the releases cost more than is claimed; [`LedgerError::Accountant`] when no bound is
    /// proved for them; [`LedgerError::Text`] for an unprintable label.
    pub fn new(event: Event, sampler_delta: Delta, claim: Budget, label: &str) -> Result<Self, LedgerError> {
        Self::of(Price { event, sampler_delta, claim, label: label.to_owned() })
    }

    /// The same for a price.
    ///
    /// # Errors
    /// As [`Cost::new`].
    pub fn of(price: Price) -> Result<Self, LedgerError> {
        let charges = charges(&price.event, price.sampler_delta, price.claim)?;
        printable("a label", &price.label)?;
        Ok(Self { price, charges })
    }

    /// What is released.
    pub fn event(&self) -> &Event {
        &self.price.event
    }

    /// What the run alone is private at.
    pub fn claim(&self) -> Budget {
        self.price.claim
    }
}

/// The random name of a run: 128 bits, so that no two ever meet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    pub(crate) fn random() -> Result<Self, LedgerError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(to_hex(&bytes)))
    }

    /// A name that somebody gave, of a run or of none.
    pub(crate) fn named(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// 32 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names are shown in terminals: no control characters, and not too long.
pub(crate) fn printable(what: &'static str, text: &str) -> Result<String, LedgerError> {
    let length = text.chars().count();
    if (1..=LONGEST_NAME).contains(&length) && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(LedgerError::Text { what, most: LONGEST_NAME })
    }
}
