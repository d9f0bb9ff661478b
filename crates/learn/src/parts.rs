//! A table that lies in parts elsewhere: on other machines, in other processes.
//!
//! The driver owns the curator, the noise and the account. Workers own records and answer requests: [`Part::answer`] is a
//! function of its records and the request, draws nothing at random, and may be asked again after a failure, elsewhere, any
//! number of times. Replies merge in any order ([`merge`]) to the same bytes, so what is released depends neither on how the
//! table is divided nor on what went wrong. A noisy reply that was asked for twice would be two releases: there are none.
//!
//! Requests and replies hold sums over private records. They stay inside, as the records do.

use crate::fit::records;
use crate::{LearnError, Order, Phase, Task};
use pairdp_data::{DataError, Encoding, Label, LabelUse, Table};
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::kernel::parts::{self, Answer, Question, Share, Workspace};
use pairdp_pairwise::moments::{Target, Totals, Weights};
use pairdp_pairwise::{Problem, Records};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Asks all parts and returns their merged replies, or says in one line why it cannot.
pub type Ask = Box<dyn FnMut(&[u8]) -> Result<Vec<u8>, String> + Send>;

/// What a worker is told to load. Public facts, as JSON text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    /// Among all parts.
    index: usize,
    /// One file; for metrics, whose parts pair every record with every other, all of them.
    paths: Vec<PathBuf>,
    /// Of the pairs, for metrics.
    share: Share,
    encoding: Encoding,
    label: Label,
}

/// How a table's files are divided: a text for each part, for [`Part::load`]. Metrics need as many parts as there are workers.
///
/// # Errors
/// [`LearnError::NoParts`] without files.
pub fn describe(
    task: Task,
    files: &[PathBuf],
    encoding: &Encoding,
    label: &Label,
    workers: usize,
) -> Result<Vec<String>, LearnError> {
    let metric = task == Task::Metric;
    let count = if metric { workers.max(1) } else { files.len() };
    if files.is_empty() {
        return Err(LearnError::NoParts);
    }
    let description = |index: usize| Description {
        index,
        paths: if metric { files.to_vec() } else { vec![files[index].clone()] },
        share: if metric { Share { index, of: count } } else { Share::WHOLE },
        encoding: encoding.clone(),
        label: label.clone(),
    };
    (0..count)
        .map(|index| {
            serde_json::to_string(&description(index)).map_err(|_| LearnError::Engine(UNREADABLE.into()))
        })
        .collect()
}

const UNREADABLE: &str = "a request or reply cannot be read: driver and workers must be of one version";

/// How rows become records.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Form {
    pub(crate) problem: Problem,
    pub(crate) feature_bound: f64,
    /// Appended to every row, unless it is 0.
    pub(crate) constant: f64,
}

#[derive(Serialize, Deserialize)]
enum Request {
    /// How many rows there are.
    Rows,
    Ask {
        /// A [`Form`] as JSON.
        form: String,
        phase: Option<PhaseRows>,
        question: Question,
    },
    Moments {
        form: String,
        weights: Weights,
        target: Target,
        kappa: f64,
    },
}

#[derive(Serialize, Deserialize)]
enum Reply {
    /// By part; for metrics of one part alone, which has them all.
    Rows(Vec<(usize, u64)>),
    Answer(Answer),
    Moments(Totals),
}

/// Which rows belong to a phase: a stretch of a public permutation of all.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct PhaseRows {
    order: Order,
    sizes: Vec<usize>,
    index: usize,
    records: usize,
    /// First row of each part.
    first: Vec<u64>,
}

/// One part of a table, in the memory of a worker.
pub struct Part {
    description: Description,
    held: Mutex<Held>,
}

/// The rows, as far as they have been needed.
enum Held {
    /// As they were read.
    Rows(Table),
    /// As they are learned from.
    Records { form: String, problem: Problem, all: Records, workspace: Workspace },
    /// The same, divided by phase.
    Phases { form: String, problem: Problem, layout: PhaseRows, parts: Vec<(Records, Workspace)> },
    /// While it changes.
    Nothing,
}

impl Part {
    /// Reads a part that [`describe`] described.
    ///
    /// # Errors
    /// [`LearnError::Data`] with file, line and column, never with a value.
    pub fn load(description: &str) -> Result<Self, LearnError> {
        let description: Description =
            serde_json::from_str(description).map_err(|_| LearnError::Engine(UNREADABLE.into()))?;
        let read = |path: &Path| Table::read(path, &description.encoding, LabelUse::Read(&description.label));
        let mut paths = description.paths.iter();
        let mut table = read(paths.next().ok_or(LearnError::NoParts)?)?;
        for path in paths {
            let more = read(path)?;
            table.features.extend_from_slice(&more.features);
            table.targets.extend_from_slice(&more.targets);
            table.rows += more.rows;
        }
        Ok(Self { description, held: Mutex::new(Held::Rows(table)) })
    }

    /// Answers a request: always in the same way, however often.
    ///
    /// # Errors
    /// [`LearnError::Engine`] for a request of another version or about another table.
    pub fn answer(&self, request: &[u8]) -> Result<Vec<u8>, LearnError> {
        let request: Request = read(request)?;
        let mut held = self.held.lock().map_err(|_| LearnError::Engine("a worker failed before".into()))?;
        let reply = match request {
            Request::Rows => {
                let index = self.description.index;
                let counts = self.description.share == Share::WHOLE || self.description.share.index == 0;
                Reply::Rows(counts.then(|| (index, held.rows() as u64)).into_iter().collect())
            }
            Request::Ask { form, phase, question } => {
                *held = std::mem::replace(&mut *held, Held::Nothing).prepared(
                    form,
                    phase.as_ref(),
                    self.description.index,
                )?;
                let (problem, records, workspace) = held.asked(phase.as_ref())?;
                let share = self.description.share;
                Reply::Answer(parts::answer(problem, records, share, &question, workspace, Par::Parallel)?)
            }
            Request::Moments { form, weights, target, kappa } => {
                *held = std::mem::replace(&mut *held, Held::Nothing).prepared(
                    form,
                    None,
                    self.description.index,
                )?;
                let (_, records, _) = held.asked(None)?;
                let all = records.len();
                Reply::Moments(Totals::new(weights, kappa, target, records, all, Par::Parallel))
            }
        };
        written(&reply)
    }
}

impl Held {
    fn rows(&self) -> usize {
        match self {
            Self::Rows(table) => table.rows,
            Self::Records { all, .. } => all.len(),
            Self::Phases { parts, .. } => parts.iter().map(|(records, _)| records.len()).sum(),
            Self::Nothing => 0,
        }
    }

    /// In the form that a request is about. A run has one form, so this happens once.
    fn prepared(self, wanted: String, phase: Option<&PhaseRows>, part: usize) -> Result<Self, LearnError> {
        let held = match self {
            Self::Rows(table) => {
                let parsed: Form =
                    serde_json::from_str(&wanted).map_err(|_| LearnError::Engine(UNREADABLE.into()))?;
                let all = records(parsed.problem, table, parsed.feature_bound, parsed.constant)?;
                Self::Records { form: wanted, problem: parsed.problem, all, workspace: Workspace::default() }
            }
            Self::Records { ref form, .. } | Self::Phases { ref form, .. } if *form == wanted => self,
            Self::Records { .. } | Self::Phases { .. } => {
                return Err(LearnError::Engine("a worker was asked about two runs".into()));
            }
            Self::Nothing => return Err(LearnError::Engine("a worker failed before".into())),
        };
        match (held, phase) {
            (Self::Records { form, problem, all, .. }, Some(layout)) => {
                let parts =
                    layout.divide(&all, part).into_iter().map(|records| (records, Workspace::default()));
                Ok(Self::Phases { form, problem, parts: parts.collect(), layout: layout.clone() })
            }
            (held, _) => Ok(held),
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

/// Two merged replies as one, in any order and grouping.
///
/// # Errors
/// [`LearnError::Engine`] for replies that do not belong together.
pub fn merge(a: &[u8], b: &[u8]) -> Result<Vec<u8>, LearnError> {
    let merged = match (read(a)?, read(b)?) {
        (Reply::Rows(mut a), Reply::Rows(b)) => {
            a.extend(b);
            a.sort_unstable();
            Reply::Rows(a)
        }
        (Reply::Answer(mut a), Reply::Answer(b)) => {
            a.merge(b)?;
            Reply::Answer(a)
        }
        (Reply::Moments(mut a), Reply::Moments(b)) => {
            a.merge(&b)?;
            Reply::Moments(a)
        }
        _ => return Err(parts::Mismatch.into()),
    };
    written(&merged)
}

fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, LearnError> {
    postcard::from_bytes(bytes).map_err(|_| LearnError::Engine(UNREADABLE.into()))
}

fn written(value: &impl Serialize) -> Result<Vec<u8>, LearnError> {
    postcard::to_allocvec(value).map_err(|_| LearnError::Engine(UNREADABLE.into()))
}

/// The parts of a table, as a curator asks them.
pub(crate) struct Parts {
    ask: Ask,
    form: String,
    form_bound: f64,
    columns: usize,
    /// Of each part.
    rows: Vec<u64>,
}

/// Parts before it is known what is to be learned.
pub struct Found {
    ask: Ask,
    rows: Vec<u64>,
}

impl Found {
    /// Asks the parts how many rows they have, which is public.
    ///
    /// # Errors
    /// [`LearnError::Engine`].
    pub fn count(mut ask: Ask) -> Result<Self, LearnError> {
        let Reply::Rows(counts) = read(&ask(&written(&Request::Rows)?).map_err(LearnError::Engine)?)? else {
            return Err(parts::Mismatch.into());
        };
        if counts.iter().enumerate().any(|(place, (part, _))| place != *part) {
            return Err(LearnError::Engine(
                "a part did not say how many rows it has, or said it twice".into(),
            ));
        }
        Ok(Self { ask, rows: counts.into_iter().map(|(_, rows)| rows).collect() })
    }

    /// Rows in all.
    pub fn rows(&self) -> usize {
        usize::try_from(self.rows.iter().sum::<u64>()).unwrap_or(usize::MAX)
    }

    /// The parts with rows in the form that is learned from.
    pub(crate) fn formed(self, form: &Form, columns: usize) -> Result<Parts, LearnError> {
        if !parts::can_ask(form.problem) {
            return Err(LearnError::OnePlace("the q-hinge loss"));
        }
        let text = serde_json::to_string(form).map_err(|_| LearnError::Engine(UNREADABLE.into()))?;
        let form_bound = form.problem.feature_bound();
        Ok(Parts { ask: self.ask, form: text, form_bound, columns, rows: self.rows })
    }
}

impl Parts {
    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.rows.iter().sum::<u64>()).unwrap_or(usize::MAX)
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn feature_bound(&self) -> f64 {
        self.form_bound
    }

    /// The gradient over all records.
    pub(crate) fn gradient(&mut self, problem: Problem, w: &[f64]) -> Result<Vec<f64>, LearnError> {
        let n = self.len();
        self.ask_gradient(problem, None, n, w)
    }

    /// The gradient over the records of a phase.
    pub(crate) fn phase_gradient(
        &mut self,
        problem: Problem,
        order: Order,
        phases: &[Phase],
        index: usize,
        w: &[f64],
    ) -> Result<Vec<f64>, LearnError> {
        let first = self.rows.iter().scan(0, |next, rows| {
            *next += rows;
            Some(*next - rows)
        });
        let first = first.collect();
        let sizes: Vec<usize> = phases.iter().map(|phase| phase.records).collect();
        let n = sizes[index];
        let rows = PhaseRows { order, sizes, index, records: self.len(), first };
        self.ask_gradient(problem, Some(rows), n, w)
    }

    /// The moments of all records.
    pub(crate) fn moments(
        &mut self,
        weights: Weights,
        target: Target,
        kappa: f64,
    ) -> Result<Vec<f64>, LearnError> {
        let form = self.form.clone();
        match self.asked(&Request::Moments { form, weights, target, kappa })? {
            Reply::Moments(totals) => Ok(totals.mean(weights, kappa, self.columns, self.len())?),
            _ => Err(parts::Mismatch.into()),
        }
    }

    fn asked(&mut self, request: &Request) -> Result<Reply, LearnError> {
        read(&(self.ask)(&written(request)?).map_err(LearnError::Engine)?)
    }

    fn ask_gradient(
        &mut self,
        problem: Problem,
        phase: Option<PhaseRows>,
        n: usize,
        w: &[f64],
    ) -> Result<Vec<f64>, LearnError> {
        let ask = |question: &Question| -> Result<Answer, LearnError> {
            let (form, phase, question) = (self.form.clone(), phase.clone(), question.clone());
            match self.asked(&Request::Ask { form, phase, question })? {
                Reply::Answer(answer) => Ok(answer),
                _ => Err(parts::Mismatch.into()),
            }
        };
        parts::gradient(problem, n, w, Par::Parallel, ask)
    }
}

impl From<parts::Mismatch> for LearnError {
    fn from(mismatch: parts::Mismatch) -> Self {
        Self::Engine(mismatch.to_string())
    }
}

impl From<DataError> for LearnError {
    fn from(error: DataError) -> Self {
        Self::Data(Box::new(error))
    }
}
