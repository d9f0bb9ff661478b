//! A table that lies in parts elsewhere: on other machines, in other processes.
//!
//! The driver owns the curator, the noise and the account. Workers own records and answer requests: [`Part::answer`] is a
//! function of its records and the request, draws nothing at random, and may be asked again after a failure, elsewhere, any
//! number of times. Replies merge in any order ([`merge`]) to the same bytes, so what is released depends neither on how the
//! table is divided nor on what went wrong. A noisy reply that was asked for twice would be two releases: there are none.
//!
//! Requests and replies hold sums over private records. They stay inside, as the records do.

mod part;

use crate::{LearnError, Order, Phase, Task};
use pairdp_data::{DataError, Encoding, Label};
use pairdp_pairwise::Problem;
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::kernel::parts::{self, Answer, Question, Share};
use pairdp_pairwise::moments::{Target, Totals, Weights};
pub use part::Part;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
        self.ask_gradient(problem, Some(&rows), n, w)
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
        phase: Option<&PhaseRows>,
        n: usize,
        w: &[f64],
    ) -> Result<Vec<f64>, LearnError> {
        let ask = |question: &Question| -> Result<Answer, LearnError> {
            let (form, phase, question) = (self.form.clone(), phase.cloned(), question.clone());
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
