//! A worker's side.

use super::fingerprint::{Fingerprint, PersonName};
use super::weighing::{Census, Weighing};
use super::{CHANGED, Content, Description, PhaseRows, Reply, Request, Run, Seen, UNREADABLE, read, written};
use crate::{LearnError, PublicIndices as _};
use pairdp_data::{DataError, LabelUse, Table};
use pairdp_model::representation;
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::kernel::parts::{self, Share, Workspace};
use pairdp_pairwise::knots::KnotSums;
use pairdp_pairwise::moments::Totals;
use pairdp_pairwise::score_cells::CellCounts;
use pairdp_pairwise::{Problem, Records, Strata};
use std::sync::Mutex;

/// One part of a table, in the memory of a worker.
pub struct Part {
    description: Description,
    /// Of the persons of its rows, in the order of their first.
    names: Vec<PersonName>,
    /// How many records each of them has here.
    census: Option<Census>,
    fingerprint: Fingerprint,
    held: Mutex<Held>,
}

/// The rows, as far as they have been needed.
enum Held {
    /// As they were read.
    Rows(Table),
    /// Those of persons, as they are weighed.
    Weighed { table: Table, strata: Strata, weighing: Weighing },
    /// As they are learned from.
    Records { run: String, problem: Problem, all: Records, workspace: Workspace },
    /// The same, divided by phase.
    Phases { run: String, problem: Problem, layout: PhaseRows, parts: Vec<(Records, Workspace)> },
    /// While it changes.
    Nothing,
}

impl Part {
    /// Reads a part that [`describe`](super::describe) described.
    ///
    /// # Errors
    /// [`LearnError::Data`] with file and column, never with a value or its row.
    pub fn load(description: &str) -> Result<Self, LearnError> {
        let description: Description =
            serde_json::from_str(description).map_err(|_| LearnError::Engine(UNREADABLE.into()))?;
        let Description { paths, encoding, label, person, key, .. } = &description;
        let labels = match person {
            Some(person) => LabelUse::OfPersons(label, person),
            None => LabelUse::Read(label),
        };
        let (table, ids) = Table::read_with_ids(paths, encoding, labels).map_err(DataError::without_row)?;
        let names: Vec<PersonName> = ids.iter().map(|id| PersonName::of(id, *key)).collect();
        let fingerprint = Fingerprint::of(&table, &names, *key);
        let census = table.owners.as_ref().map(|owners| Census::of(owners, &names));
        Ok(Self { description, names, census, fingerprint, held: Mutex::new(Held::Rows(table)) })
    }

    /// Answers a request: always in the same way, however often.
    ///
    /// # Errors
    /// [`LearnError::Engine`] for a request of another version or about another table.
    pub fn answer(&self, request: &[u8]) -> Result<Vec<u8>, LearnError> {
        let request: Request = read(request)?;
        let mut held = self.held.lock().map_err(|_| LearnError::Engine("a worker failed before".into()))?;
        let Description { index, share, .. } = self.description;
        let content = match request {
            Request::Rows => {
                let counts = share == Share::WHOLE || share.index == 0;
                let rows = counts.then(|| (index, held.rows() as u64)).into_iter().collect();
                Content::Rows(rows, self.census.clone())
            }
            Request::Knots { layout, weighing } => {
                held.weigh(weighing.as_ref(), &self.names)?;
                let (Table { features, columns, targets, .. }, strata) = match (&*held, share == Share::WHOLE)
                {
                    (Held::Rows(table), true) => (table, Strata::plain(table.rows)),
                    (Held::Weighed { table, strata, .. }, true) => (table, strata.clone()),
                    // Shares of a metric's pairs all have the whole table.
                    _ => {
                        return Err(LearnError::Engine(
                            "a worker was asked where columns lie too late".into(),
                        ));
                    }
                };
                Content::Knots(KnotSums::new(&layout, features, *columns, targets, &strata, Par::Parallel))
            }
            Request::Ask { run, phase, question } => {
                held.prepare(run, phase.as_ref(), &self.description, &self.names)?;
                let (problem, records, workspace) = held.asked(phase.as_ref())?;
                Content::Answer(parts::answer(problem, records, share, &question, workspace, Par::Parallel)?)
            }
            Request::Moments { run, weights, target, kappa } => {
                held.prepare(run, None, &self.description, &self.names)?;
                let (_, records, _) = held.asked(None)?;
                Content::Moments(Totals::new(weights, kappa, target, records, Par::Parallel))
            }
            Request::Cells { run, stretch, weights, added } => {
                held.prepare(run, None, &self.description, &self.names)?;
                let (_, records, _) = held.asked(None)?;
                Content::Cells(CellCounts::of_records(stretch, &weights, added, records, Par::Parallel))
            }
        };
        written(&Reply { parts: vec![Seen { part: index, rows: self.fingerprint }], content })
    }
}

impl Held {
    fn rows(&self) -> usize {
        match self {
            Self::Rows(table) | Self::Weighed { table, .. } => table.rows,
            Self::Records { all, .. } => all.len(),
            Self::Phases { parts, .. } => parts.iter().map(|(records, _)| records.len()).sum(),
            Self::Nothing => 0,
        }
    }

    /// Weighs the rows of persons. A run has one weighing, so this happens once.
    fn weigh(&mut self, wanted: Option<&Weighing>, names: &[PersonName]) -> Result<(), LearnError> {
        let two_runs = || LearnError::Engine("a worker was asked about two runs".into());
        match (&mut *self, wanted) {
            (Self::Rows(table), Some(weighing)) => {
                let owners = table.owners.take().ok_or(parts::Mismatch)?;
                let Self::Rows(table) = std::mem::replace(self, Self::Nothing) else {
                    return Err(two_runs());
                };
                let (table, strata) = weighing.weighed(table, &owners, names)?;
                *self = Self::Weighed { table, strata, weighing: weighing.clone() };
                Ok(())
            }
            (Self::Rows(table), None) if table.owners.is_some() => Err(parts::Mismatch.into()),
            (Self::Weighed { weighing, .. }, wanted) if Some(&*weighing) != wanted => Err(two_runs()),
            _ => Ok(()),
        }
    }

    /// Puts the rows into the form that a request is about. A run has one form, so this happens once.
    fn prepare(
        &mut self,
        run: String,
        phase: Option<&PhaseRows>,
        description: &Description,
        names: &[PersonName],
    ) -> Result<(), LearnError> {
        if let Self::Rows(_) | Self::Weighed { .. } = self {
            self.weigh(Run::read(&run)?.weighing.as_ref(), names)?;
        }
        *self = std::mem::replace(self, Self::Nothing).prepared(run, phase, description)?;
        Ok(())
    }

    fn prepared(
        self,
        wanted: String,
        phase: Option<&PhaseRows>,
        description: &Description,
    ) -> Result<Self, LearnError> {
        let part = description.index;
        let held = match self.with_strata() {
            Ok((mut table, strata)) => {
                let Run { layout, representation, targets, rows, .. } = Run::read(&wanted)?;
                // Shares of a metric's pairs all have the rows that the first one counted.
                let counted = rows.get(part).or(rows.first());
                if counted != Some(&(table.rows as u64)) {
                    return Err(LearnError::Engine(CHANGED.into()));
                }
                if let Some(released) = representation {
                    if !representation::fits(&released, &description.encoding) {
                        return Err(LearnError::Engine(UNREADABLE.into()));
                    }
                    if let Some(map) = representation::map(&description.encoding, Some(&released)) {
                        map.apply_to(&mut table, layout.feature_bound);
                    }
                }
                if let Some(targets) = targets {
                    targets.apply(&mut table.targets);
                }
                let all = layout.records(table, strata)?;
                Self::Records { run: wanted, problem: layout.problem, all, workspace: Workspace::default() }
            }
            Err(held) => match &*held {
                Self::Records { run, .. } | Self::Phases { run, .. } if *run == wanted => *held,
                Self::Records { .. } | Self::Phases { .. } => {
                    return Err(LearnError::Engine("a worker was asked about two runs".into()));
                }
                _ => return Err(LearnError::Engine("a worker failed before".into())),
            },
        };
        match (held, phase) {
            (Self::Records { run, problem, all, .. }, Some(layout)) => {
                let parts =
                    layout.divide(&all, part).into_iter().map(|records| (records, Workspace::default()));
                Ok(Self::Phases { run, problem, parts: parts.collect(), layout: layout.clone() })
            }
            (held, _) => Ok(held),
        }
    }

    /// The rows, before they are what is learned from, and what each counts; otherwise itself.
    fn with_strata(self) -> Result<(Table, Strata), Box<Self>> {
        match self {
            Self::Rows(table) => {
                let strata = Strata::plain(table.rows);
                Ok((table, strata))
            }
            Self::Weighed { table, strata, .. } => Ok((table, strata)),
            held => Err(Box::new(held)),
        }
    }

    fn asked(
        &mut self,
        phase: Option<&PhaseRows>,
    ) -> Result<(Problem, &Records, &mut Workspace), LearnError> {
        match (self, phase) {
            (Self::Records { problem, all, workspace, .. }, None) => Ok((*problem, all, workspace)),
            (Self::Phases { problem, layout, parts, .. }, Some(wanted))
                if wanted == &(PhaseRows { index: wanted.index, ..layout.clone() }) =>
            {
                let (records, workspace) = parts.get_mut(wanted.index).ok_or(parts::Mismatch)?;
                Ok((*problem, records, workspace))
            }
            _ => Err(parts::Mismatch.into()),
        }
    }
}

impl PhaseRows {
    /// The records of one part by phase. Rows beyond the last phase belong to none.
    fn divide(&self, records: &Records, part: usize) -> Vec<Records> {
        let first = self.first.get(part).copied().unwrap_or(0);
        let here = first..first + records.len() as u64;
        let order = self.order.permutation(self.records);
        let mut start = 0;
        let mut phases = Vec::with_capacity(self.sizes.len());
        for size in &self.sizes {
            let stretch = &order[start..(start + size).min(order.len())];
            let mine = stretch.iter().filter(|row| here.contains(&u64::from(**row)));
            #[expect(clippy::cast_possible_truncation, reason = "rows of a part, numbered in 32 bits")]
            let positions: Vec<u32> = mine.map(|row| (u64::from(*row) - first) as u32).collect();
            phases.push(records.select(&positions));
            start += size;
        }
        phases
    }
}
