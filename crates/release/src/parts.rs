//! A table that lies in parts elsewhere: on other machines, in other processes.
//!
//! The driver owns the curator, the noise and the account. Workers own records and answer requests: [`Part::answer`] is a
//! function of its records and the request, draws nothing at random, and may be asked again after a failure, elsewhere, any
//! number of times. Replies merge in any order ([`merge`]) to the same bytes, so what is released depends neither on how the
//! table is divided nor on what went wrong. A noisy reply that was asked for twice would be two releases: there are none.
//!
//! Requests and replies hold sums over private records. They stay inside, as the records do.
//!
//! What a run is private about is one table, so every reply says by a fingerprint which rows it was computed from, and the
//! driver compares it with the first: a part that changed between two questions, or before a worker that died loaded it
//! again, ends the run.

mod fingerprint;
mod layout;
mod part;
mod weighing;

use crate::LearnError;
use fingerprint::{Fingerprint, FingerprintKey};
pub use layout::RowLayout;
use pairdp_certificate::{Order, Phase, Representation};
use pairdp_data::{DataError, Encoding, Label, PersonColumn};
use pairdp_model::Task;
use pairdp_model::representation::TargetMap;
use pairdp_pairwise::Problem;
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::kernel::parts::{self, Answer, Question, Share};
use pairdp_pairwise::knots::{KnotSums, Layout};
use pairdp_pairwise::moments::{Target, Totals, Weights};
use pairdp_pairwise::score_cells::{CellCounts, Stretch};
pub use part::Part;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use weighing::{Census, Weighing};

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
    /// Where it says whose records they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    person: Option<PersonColumn>,
    /// Of fingerprints; drawn anew for every run.
    key: FingerprintKey,
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
    person: Option<&PersonColumn>,
    workers: usize,
) -> Result<Vec<String>, LearnError> {
    let metric = task == Task::Metric;
    let count = if metric { workers.max(1) } else { files.len() };
    if files.is_empty() {
        return Err(LearnError::NoParts);
    }
    let key = FingerprintKey::draw()?;
    let description = |index: usize| Description {
        index,
        paths: if metric { files.to_vec() } else { vec![files[index].clone()] },
        share: if metric { Share { index, of: count } } else { Share::WHOLE },
        encoding: encoding.clone(),
        label: label.clone(),
        person: person.cloned(),
        key,
    };
    (0..count)
        .map(|index| {
            serde_json::to_string(&description(index)).map_err(|_| LearnError::Engine(UNREADABLE.into()))
        })
        .collect()
}

const UNREADABLE: &str = "a request or reply cannot be read: driver and workers must be of one version";

const CHANGED: &str = "the files of a part changed during the run";

/// A [`RowLayout`], what was released of where columns lie, and the rows of each part when they were counted: files that change meanwhile are noticed.
#[derive(Serialize, Deserialize)]
struct Run {
    layout: RowLayout,
    /// Rows are mapped by it first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    representation: Option<Representation>,
    /// What records count, where persons have several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weighing: Option<Weighing>,
    /// Targets are, if they have knots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    targets: Option<TargetMap>,
    rows: Vec<u64>,
}

impl Run {
    fn read(text: &str) -> Result<Self, LearnError> {
        serde_json::from_str(text).map_err(|_| LearnError::Engine(UNREADABLE.into()))
    }
}

#[derive(Serialize, Deserialize)]
enum Request {
    /// How many rows there are and, where it is known whose they are, how many each person has.
    Rows,
    /// Weights of knots, before anything else.
    Knots {
        layout: Layout,
        weighing: Option<Weighing>,
    },
    Ask {
        /// A [`Run`] as JSON.
        run: String,
        phase: Option<PhaseRows>,
        question: Box<Question>,
    },
    Moments {
        run: String,
        weights: Weights,
        target: Target,
        kappa: f64,
    },
    /// Labels by cells of the score, after everything else.
    Cells {
        run: String,
        stretch: Stretch,
        weights: Vec<f64>,
        added: f64,
    },
}

/// What some parts say together. Each is counted once: one that were added twice would move the sum by more than the noise
/// covers.
#[derive(Serialize, Deserialize)]
struct Reply {
    /// In order.
    parts: Vec<Seen>,
    content: Content,
}

/// A part, and the rows that it had.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Seen {
    part: usize,
    rows: Fingerprint,
}

#[derive(Serialize, Deserialize)]
enum Content {
    /// By part; for metrics of one part alone, which has them all. With how many records each person has in all of them.
    Rows(Vec<(usize, u64)>, Option<Census>),
    Knots(KnotSums),
    Answer(Answer),
    Moments(Totals),
    Cells(CellCounts),
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
    let (a, b): (Reply, Reply) = (read(a)?, read(b)?);
    let mut parts = [a.parts, b.parts].concat();
    parts.sort_unstable();
    if parts.windows(2).any(|pair| pair[0].part == pair[1].part) {
        return Err(LearnError::Engine("the reply of a part was counted twice".into()));
    }
    let content = match (a.content, b.content) {
        (Content::Rows(mut a, persons), Content::Rows(b, others)) => {
            a.extend(b);
            a.sort_unstable();
            let census = match (persons, others) {
                (Some(persons), Some(others)) => Some(persons.merged(others)),
                (None, None) => None,
                _ => return Err(parts::Mismatch.into()),
            };
            Content::Rows(a, census)
        }
        (Content::Knots(mut a), Content::Knots(b)) => {
            a.merge(&b)?;
            Content::Knots(a)
        }
        (Content::Answer(mut a), Content::Answer(b)) => {
            a.merge(b)?;
            Content::Answer(a)
        }
        (Content::Moments(mut a), Content::Moments(b)) => {
            a.merge(&b)?;
            Content::Moments(a)
        }
        (Content::Cells(mut a), Content::Cells(b)) => {
            a.merge(&b)?;
            Content::Cells(a)
        }
        _ => return Err(parts::Mismatch.into()),
    };
    written(&Reply { parts, content })
}

fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, LearnError> {
    postcard::from_bytes(bytes).map_err(|_| LearnError::Engine(UNREADABLE.into()))
}

fn written(value: &impl Serialize) -> Result<Vec<u8>, LearnError> {
    postcard::to_allocvec(value).map_err(|_| LearnError::Engine(UNREADABLE.into()))
}

/// The parts of a table, as a curator asks them.
pub struct Parts {
    ask: Ask,
    /// All parts, as they were when their rows were counted.
    seen: Vec<Seen>,
    run: String,
    feature_bound: f64,
    columns: usize,
    /// Of each part.
    rows: Vec<u64>,
    /// Records, or persons, in all.
    size: usize,
}

/// Parts before it is known what is to be learned.
pub struct CountedParts {
    ask: Ask,
    seen: Vec<Seen>,
    rows: Vec<u64>,
    weighing: Option<Weighing>,
}

impl CountedParts {
    /// Asks the parts how many rows, or persons, they have, which is public. Where it is persons, their rows are not.
    ///
    /// # Errors
    /// [`LearnError::Engine`].
    pub fn count(mut ask: Ask) -> Result<Self, LearnError> {
        let Reply { parts, content: Content::Rows(counts, census) } =
            read(&ask(&written(&Request::Rows)?).map_err(LearnError::Engine)?)?
        else {
            return Err(parts::Mismatch.into());
        };
        let numbered =
            |numbers: &mut dyn Iterator<Item = usize>| numbers.enumerate().all(|(at, part)| at == part);
        if !numbered(&mut parts.iter().map(|seen| seen.part))
            || !numbered(&mut counts.iter().map(|(part, _)| *part))
        {
            return Err(LearnError::Engine("a part did not say how many rows it has".into()));
        }
        let rows: Vec<u64> = counts.into_iter().map(|(_, rows)| rows).collect();
        if census.is_some() {
            crate::persons::countable(usize::try_from(rows.iter().sum::<u64>()).unwrap_or(usize::MAX))?;
        }
        Ok(Self { ask, seen: parts, rows, weighing: census.map(Census::weighing) })
    }

    /// Records, or persons, in all.
    pub fn size(&self) -> usize {
        match &self.weighing {
            Some(weighing) => weighing.size(),
            None => usize::try_from(self.rows.iter().sum::<u64>()).unwrap_or(usize::MAX),
        }
    }

    /// Whether they say whose records they are.
    pub fn has_persons(&self) -> bool {
        self.weighing.is_some()
    }

    /// Weights of knots, summed over all parts.
    ///
    /// # Errors
    /// [`LearnError::Engine`].
    pub fn knots(&mut self, layout: &Layout) -> Result<KnotSums, LearnError> {
        let request = Request::Knots { layout: layout.clone(), weighing: self.weighing.clone() };
        let reply: Reply = read(&(self.ask)(&written(&request)?).map_err(LearnError::Engine)?)?;
        every_part(&self.seen, &reply.parts)?;
        match reply.content {
            Content::Knots(sums) => Ok(sums),
            _ => Err(parts::Mismatch.into()),
        }
    }

    /// Whether every part but the last has a multiple of so many rows.
    pub fn hold_whole(&self, block: u64) -> bool {
        self.rows.iter().rev().skip(1).all(|rows| rows.is_multiple_of(block))
    }

    /// The parts with rows laid out as they are learned from.
    ///
    /// # Errors
    /// [`LearnError::Engine`] for numbers that cannot be written.
    pub fn laid_out(
        self,
        layout: RowLayout,
        released: Option<(Representation, Option<TargetMap>)>,
        columns: usize,
    ) -> Result<Parts, LearnError> {
        let size = self.size();
        let Self { ask, seen, rows, weighing } = self;
        let feature_bound = layout.problem.feature_bound();
        let (representation, targets) = released.map_or((None, None), |(r, targets)| (Some(r), targets));
        let run = Run { layout, representation, weighing, targets, rows };
        let text = serde_json::to_string(&run).map_err(|_| LearnError::Engine(UNREADABLE.into()))?;
        Ok(Parts { ask, seen, run: text, feature_bound, columns, rows: run.rows, size })
    }
}

impl Parts {
    /// Records, or persons, in all.
    pub(crate) fn len(&self) -> usize {
        self.size
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn feature_bound(&self) -> f64 {
        self.feature_bound
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
        let run = self.run.clone();
        match self.asked(&Request::Moments { run, weights, target, kappa })? {
            Content::Moments(totals) => Ok(totals.mean(weights, kappa, self.columns, self.len())?),
            _ => Err(parts::Mismatch.into()),
        }
    }

    /// Labels by cells of the score of all records.
    pub(crate) fn cells(
        &mut self,
        stretch: Stretch,
        weights: &[f64],
        added: f64,
    ) -> Result<CellCounts, LearnError> {
        let (run, weights) = (self.run.clone(), weights.to_vec());
        match self.asked(&Request::Cells { run, stretch, weights, added })? {
            Content::Cells(counts) => Ok(counts),
            _ => Err(parts::Mismatch.into()),
        }
    }

    /// What all parts say, each of them once.
    fn asked(&mut self, request: &Request) -> Result<Content, LearnError> {
        let reply: Reply = read(&(self.ask)(&written(request)?).map_err(LearnError::Engine)?)?;
        every_part(&self.seen, &reply.parts)?;
        Ok(reply.content)
    }

    fn ask_gradient(
        &mut self,
        problem: Problem,
        phase: Option<&PhaseRows>,
        n: usize,
        w: &[f64],
    ) -> Result<Vec<f64>, LearnError> {
        let ask = |question: &Question| -> Result<Answer, LearnError> {
            let (run, phase) = (self.run.clone(), phase.cloned());
            let question = Box::new(question.clone());
            match self.asked(&Request::Ask { run, phase, question })? {
                Content::Answer(answer) => Ok(answer),
                _ => Err(parts::Mismatch.into()),
            }
        };
        parts::gradient(problem, n, w, Par::Parallel, ask)
    }
}

/// Whether a reply counts every part once, with the rows that it had at first.
fn every_part(first: &[Seen], now: &[Seen]) -> Result<(), LearnError> {
    if now.iter().map(|seen| seen.part).ne(first.iter().map(|seen| seen.part)) {
        return Err(LearnError::Engine("a reply does not count every part".into()));
    }
    if now != first {
        return Err(LearnError::Engine(CHANGED.into()));
    }
    Ok(())
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
