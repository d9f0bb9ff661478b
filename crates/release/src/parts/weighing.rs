//! Persons whose records lie in several parts.
//!
//! What a record counts depends on how many its person has in all. So every part first says how many records each of its persons
//! has, under a name that only this run understands; the driver adds up, and tells parts about persons who have records
//! elsewhere, too. Like all that is asked and answered, both stay inside.

use super::fingerprint::PersonName;
use crate::{LearnError, persons};
use pairdp_data::{Owners, Table};
use pairdp_pairwise::Strata;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many records each person has in some parts, and in how many of them.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Census(BTreeMap<PersonName, (u64, u32)>);

impl Census {
    /// Of one part.
    pub(crate) fn of(owners: &Owners, names: &[PersonName]) -> Self {
        let mut census = BTreeMap::new();
        for (name, records) in names.iter().zip(owners.records()) {
            let (total, _) = census.entry(*name).or_insert((0, 1));
            *total += u64::from(records);
        }
        Self(census)
    }

    /// Of two sets of parts.
    pub(crate) fn merged(mut self, other: Self) -> Self {
        for (name, (records, parts)) in other.0 {
            let (total, places) = self.0.entry(name).or_insert((0, 0));
            *total += records;
            *places += parts;
        }
        self
    }

    /// What parts need to know of it.
    pub(crate) fn weighing(self) -> Weighing {
        let size = self.0.len();
        let elsewhere = self.0.into_iter().filter(|(_, (_, parts))| *parts > 1);
        Weighing { size, shared: elsewhere.map(|(name, (records, _))| (name, records)).collect() }
    }
}

/// How many persons there are, and how many records those have who are in several parts.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Weighing {
    size: usize,
    /// By name.
    shared: Vec<(PersonName, u64)>,
}

impl Weighing {
    /// Persons in all.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// A part's rows as they are weighed.
    pub(crate) fn weighed(
        &self,
        table: Table,
        owners: &Owners,
        names: &[PersonName],
    ) -> Result<(Table, Strata), LearnError> {
        let mut records = owners.records();
        for (own, name) in records.iter_mut().zip(names) {
            if let Ok(at) = self.shared.binary_search_by_key(name, |(name, _)| *name) {
                *own = u32::try_from(self.shared[at].1).map_err(|_| LearnError::TooManyRecords)?;
            }
        }
        persons::weighed_by(table, owners, &records, usize::MAX, self.size)
    }
}
