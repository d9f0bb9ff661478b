//! Which two tables count as neighbours.
//!
//! In pairwise learning one record touches n−1 pairs, and replacing a record changes them twice as much as
//! removing it, so a guarantee without its adjacency is meaningless. There is one type for it in the whole workspace, and
//! each kind has a name of its own in certificates, ledgers and sentences.

use serde::{Deserialize, Serialize};

/// Whether labels count as part of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labels {
    /// Replacing a record may change its label.
    #[default]
    Private,
    /// Labels are known to everyone: neighbours differ in features only, and the guarantee has a name of its own
    /// ([`Adjacency::ReplaceFeatures`]).
    Public,
}

/// Whom a guarantee protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A record: whoever has several is protected the less the more there are.
    #[default]
    Record,
    /// A person with all records, however many.
    Person,
}

impl Unit {
    /// What so many of them are called.
    pub const fn many(self) -> &'static str {
        match self {
            Self::Record => "records",
            Self::Person => "persons",
        }
    }
}

/// How the records of a person enter, where persons are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PerPerson {
    /// All of them, with weights that add up to at most 1.
    Weights,
    /// One, drawn in secret before anything else.
    One,
}

impl PerPerson {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Weights, Self::One];

    /// The name that people type, and certificates have.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::One => "one",
        }
    }
}

/// Which tables count as neighbours, with the number that a proof needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Neighbours {
    /// Tables of the same public size that differ in one record.
    #[default]
    ReplaceOne,
    /// Tables of which one has a record more. Their size is secret; a public cap takes its place, and records after so many do
    /// not count.
    AddRemoveOne {
        /// The cap.
        most: usize,
    },
    /// The same where the custodian promises that no table has more records than the cap: none is pushed out by another, and a
    /// table that breaks the promise is refused.
    AddRemovePromised {
        /// The cap.
        most: usize,
    },
}

/// A neighbouring relation. A new one needs new proofs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjacency {
    /// Tables of the same public size that differ in one record, its label included.
    ReplaceOne,
    /// Tables of the same public size and with the same labels, known to everyone, that differ in the features of one record.
    ReplaceFeatures,
    /// Tables of which one has a record more; how many there are is secret.
    AddRemoveOne,
    /// The same among tables of at most as many records as was promised.
    AddRemovePromised,
    /// Tables of the same public number of persons that differ in one person, who may have any number of records.
    ReplaceOnePerson,
    /// Tables of which one has a person more; how many there are is secret.
    AddRemoveOnePerson,
}

impl Adjacency {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::ReplaceOne,
        Self::ReplaceFeatures,
        Self::AddRemoveOne,
        Self::AddRemovePromised,
        Self::ReplaceOnePerson,
        Self::AddRemoveOnePerson,
    ];

    /// The relation of such neighbours. A person's number of records is secret, so that no labels of persons are public. Nothing is
    /// proved for a promised number of persons, and nothing is claimed: their relation is that without the promise.
    pub const fn of(neighbours: Neighbours, labels: Labels, unit: Unit) -> Self {
        match (neighbours, labels, unit) {
            (Neighbours::ReplaceOne, Labels::Private, Unit::Record) => Self::ReplaceOne,
            (Neighbours::ReplaceOne, Labels::Public, Unit::Record) => Self::ReplaceFeatures,
            (Neighbours::AddRemoveOne { .. }, _, Unit::Record) => Self::AddRemoveOne,
            (Neighbours::AddRemovePromised { .. }, _, Unit::Record) => Self::AddRemovePromised,
            (Neighbours::ReplaceOne, _, Unit::Person) => Self::ReplaceOnePerson,
            (Neighbours::AddRemoveOne { .. } | Neighbours::AddRemovePromised { .. }, _, Unit::Person) => {
                Self::AddRemoveOnePerson
            }
        }
    }

    /// Whom it protects.
    pub const fn unit(self) -> Unit {
        match self {
            Self::ReplaceOne | Self::ReplaceFeatures | Self::AddRemoveOne | Self::AddRemovePromised => {
                Unit::Record
            }
            Self::ReplaceOnePerson | Self::AddRemoveOnePerson => Unit::Person,
        }
    }

    /// Whether the number of records, or of persons, is secret.
    pub const fn is_secret_size(self) -> bool {
        matches!(self, Self::AddRemoveOne | Self::AddRemovePromised | Self::AddRemoveOnePerson)
    }

    /// The name in certificates and ledgers; never reused for another meaning.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReplaceOne => "replace-one",
            Self::ReplaceFeatures => "replace-features",
            Self::AddRemoveOne => "add-remove-one",
            Self::AddRemovePromised => "add-remove-promised",
            Self::ReplaceOnePerson => "replace-one-person",
            Self::AddRemoveOnePerson => "add-remove-one-person",
        }
    }

    /// Whether a guarantee for these neighbours is one for those of `other` as well: all of those are among these.
    pub fn covers(self, other: Self) -> bool {
        let wider =
            [(Self::ReplaceOne, Self::ReplaceFeatures), (Self::AddRemoveOne, Self::AddRemovePromised)];
        self == other || wider.contains(&(self, other))
    }

    /// What a guarantee for a table of so many records or persons (or at most so many, if their number is secret) is *for*, in
    /// words.
    pub fn protects(self, size: usize) -> String {
        match self {
            Self::ReplaceOne => format!("replacing any one of {size} records by any other"),
            Self::ReplaceFeatures => format!(
                "replacing the features of any one of {size} records; the labels count as public and are not protected"
            ),
            Self::AddRemoveOne => {
                format!(
                    "adding or removing any one record; how many there are, at most {size}, shows only through the noise"
                )
            }
            Self::AddRemovePromised => {
                format!(
                    "adding or removing any one record, as long as there are no more than the promised {size}; how many there are shows only through the noise"
                )
            }
            Self::ReplaceOnePerson => format!(
                "exchanging any one of {size} persons, with all of their records, for any other person with any number of records"
            ),
            Self::AddRemoveOnePerson => format!(
                "adding or removing any one person with all of their records; how many persons there are, at most {size}, \
                 shows only through the noise"
            ),
        }
    }
}

impl std::fmt::Display for Adjacency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_in_files() {
        for adjacency in Adjacency::ALL {
            assert_eq!(serde_json::to_string(&adjacency).unwrap(), format!("\"{adjacency}\""));
        }
    }

    #[test]
    fn whole_records_cover_their_features_and_all_tables_those_below_a_promise() {
        let wider = [
            (Adjacency::ReplaceOne, Adjacency::ReplaceFeatures),
            (Adjacency::AddRemoveOne, Adjacency::AddRemovePromised),
        ];
        for one in Adjacency::ALL {
            for other in Adjacency::ALL {
                let covered = one == other || wider.contains(&(one, other));
                assert_eq!(one.covers(other), covered, "{one} and {other}");
            }
        }
    }
}
