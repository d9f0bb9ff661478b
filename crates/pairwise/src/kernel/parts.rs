//! A gradient as questions to parts of a table, whose answers merge.
//!
//! Whether the table is here in one part or on a hundred machines, the same questions are asked and the same whole numbers
//! come back, so the gradient is the same to the last bit. A part's answer is a function of its records and the question:
//! asking again changes nothing.
//!
//! | objective | questions |
//! |---|---|
//! | ranking, logistic or squared | moments of the scores; weighted sum of the rows |
//! | ranking, hinge | counts of classes; sorted scores of one; marks of the other; weighted sum |
//! | metric | tiles of pairs, for which every part needs the whole table; sum of squares |
//! | pointwise | weighted sum |
//!
//! The q-hinge, the capped logistic loss and pairs in the order of time need all scores in one place, and stay there.

use super::blocks::Par;
use super::boxes::{BoxMoments, Boxes};
use super::charges::{self, Charged, Scaled};
use super::counts::{self, Counted, Counts, InOrder, Places, Sorted, Sorting};
use super::exact;
use super::metric::{self, TileSums};
use super::sums::{ClassSums, Sums};
use super::{pointwise, pull_back};
use crate::loss::Summation;
use crate::records::Room;
use crate::{Objective, Problem, Records};
use serde::{Deserialize, Serialize};

/// What a part is asked. It holds sums over private records, as answers do: both stay inside.
#[derive(Clone, Serialize, Deserialize)]
pub struct Question {
    /// The public parameters.
    parameters: Vec<f64>,
    /// Records, or persons, of all parts together.
    size: usize,
    about: About,
}

#[derive(Clone, Serialize, Deserialize)]
enum About {
    Classes,
    Boxes,
    Sums,
    Scores(Sorting),
    Marks(Sorting, Sorted),
    Charged(Field),
    Rows,
    Tiles,
    Squares(Vec<f64>),
}

/// What a charge kernel knows once it has seen all scores.
#[derive(Clone, Serialize, Deserialize)]
enum Field {
    Boxes(Boxes),
    Counts(Counts),
    Sums(Sums),
}

/// What a part answers: whole numbers that merge in any order.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer(Content);

#[derive(Clone, PartialEq, Serialize, Deserialize)]
enum Content {
    Classes([u64; 2]),
    Boxes(BoxMoments),
    Sums(ClassSums),
    Scores(InOrder),
    Marks(Vec<u64>),
    Totals(Vec<i128>),
    Tiles(TileSums),
}

/// An answer that does not belong to the question, or answers that do not belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("answers about parts of a table do not belong together")]
pub struct Mismatch;

impl Answer {
    /// Adds another part's answer to the same question: in any order, with the same result.
    ///
    /// # Errors
    /// [`Mismatch`] if they cannot be answers to one question.
    pub fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
        match (&mut self.0, other.0) {
            (Content::Classes(a), Content::Classes(b)) => a.iter_mut().zip(b).for_each(|(a, b)| *a += b),
            (Content::Boxes(a), Content::Boxes(b)) => a.merge(b),
            (Content::Sums(a), Content::Sums(b)) => a.merge(&b),
            (Content::Scores(a), Content::Scores(b)) => *a = std::mem::take(a).merged(b),
            (Content::Marks(a), Content::Marks(b)) if a.len() == b.len() => {
                *a = counts::added(std::mem::take(a), b);
            }
            (Content::Totals(a), Content::Totals(b)) if a.len() == b.len() => exact::add(a, &b),
            (Content::Tiles(a), Content::Tiles(b)) => a.merge(&b)?,
            _ => return Err(Mismatch),
        }
        Ok(())
    }
}

/// Scores that a part computed last, for the next question about the same parameters; and their places in a sorted class.
#[derive(Default)]
pub struct Workspace {
    parameters: Vec<f64>,
    scores: Vec<f64>,
    places: Option<Box<(Sorting, Sorted, Places)>>,
    /// Memory for scores and places to come.
    room: Room,
}

impl Workspace {
    /// One that knows nothing, in memory that was used before.
    pub(super) fn of(room: Room) -> Self {
        Self { room, ..Self::default() }
    }

    /// The memory, for another.
    pub(super) fn into_room(self) -> Room {
        let places = self.places.map_or(self.room.places, |found| found.2.into_room());
        Room { scores: self.scores, places }
    }
}

/// Which tiles of a metric's pairs a part forms: every `of`-th from `index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Below `of`.
    pub index: usize,
    /// Parts in all.
    pub of: usize,
}

impl Share {
    /// All of it.
    pub const WHOLE: Self = Self { index: 0, of: 1 };
}

/// Whether gradients of a problem can be asked of parts.
pub fn can_ask(problem: Problem) -> bool {
    !charges::is_in_time(problem)
        && !matches!(problem.objective(), Objective::Ranking { loss, .. } if charges::needs_tree(loss))
}

/// A part's answer. A share is of tiles, for metrics, whose parts all have the whole table; others add up their own records.
///
/// # Errors
/// [`Mismatch`] if the question is about another table or problem.
pub fn answer(
    problem: Problem,
    records: &Records,
    share: Share,
    question: &Question,
    workspace: &mut Workspace,
    par: Par,
) -> Result<Answer, Mismatch> {
    let Question { parameters: w, size: n, about } = question;
    if w.len() != problem.parameters(records.columns()) || !can_ask(problem) {
        return Err(Mismatch);
    }
    let content = match (problem.objective(), about) {
        (Objective::Metric { loss }, About::Tiles) if records.len() == *n => {
            Content::Tiles(metric::tiles(problem, loss, records, share, w, par))
        }
        (Objective::Metric { .. }, About::Squares(sums)) if records.len() == *n && sums.len() == *n => {
            Content::Totals(metric::squares(problem, records, share, w, sums, par))
        }
        (Objective::Pointwise { loss }, About::Rows) => {
            Content::Totals(pointwise::total(problem, loss, records, *n, w, par))
        }
        (Objective::Ranking { .. }, About::Classes) => {
            let positives = records.targets().iter().filter(|target| **target > 0.0).count() as u64;
            Content::Classes([records.len() as u64 - positives, positives])
        }
        (Objective::Ranking { .. }, about) => {
            let scaled = Scaled::of(problem);
            let bound = scaled.bound(problem, w);
            if workspace.parameters != *w || workspace.scores.len() != records.len() {
                let room = if workspace.scores.is_empty() {
                    &mut workspace.room.scores
                } else {
                    &mut workspace.scores
                };
                let room = std::mem::take(room);
                workspace.scores =
                    pull_back::scores(problem, records, w, (scaled.margin_scale, bound), room, par);
                workspace.parameters.clone_from(w);
                workspace.places = None;
            }
            let (scores, targets, strata) = (&workspace.scores, records.targets(), records.strata());
            match about {
                About::Boxes => Content::Boxes(BoxMoments::new(scores, targets, strata, bound, par)),
                About::Sums => Content::Sums(ClassSums::new(scores, targets, strata, bound, par)),
                About::Scores(sorting) => {
                    Content::Scores(sorting.scores(scores, targets, &strata.weights(), par))
                }
                About::Marks(sorting, sorted) => {
                    let room = std::mem::take(&mut workspace.room.places);
                    let (marks, places) =
                        sorting.marks(sorted, scores, targets, &strata.weights(), room, par);
                    workspace.places = Some(Box::new((*sorting, sorted.clone(), places)));
                    Content::Marks(marks)
                }
                About::Charged(field) => {
                    let most = charges::most(&scaled, bound, *n);
                    Content::Totals(match field {
                        Field::Boxes(charges) => {
                            let charged = Charged { charges, scores, targets };
                            pull_back::weighted_sum(problem, records, w, most, &charged, par)
                        }
                        Field::Counts(counts) => {
                            let kept = workspace.places.as_deref();
                            let found = kept.filter(|(sorting, sorted, _)| counts.are_of(*sorting, sorted));
                            let again;
                            let places = if let Some((_, _, places)) = found {
                                places
                            } else {
                                again = counts.places(scores, targets, par);
                                &again
                            };
                            let counted = Counted { counts, places, targets };
                            pull_back::weighted_sum(problem, records, w, most, &counted, par)
                        }
                        Field::Sums(charges) => {
                            let charged = Charged { charges, scores, targets };
                            pull_back::weighted_sum(problem, records, w, most, &charged, par)
                        }
                    })
                }
                _ => return Err(Mismatch),
            }
        }
        _ => return Err(Mismatch),
    };
    Ok(Answer(content))
}

/// The gradient of the mean loss over the `n` records, or persons, of all parts, from their merged answers.
///
/// # Errors
/// What `ask` returns; [`Mismatch`] for answers to other questions, and for problems that cannot be asked of parts.
pub fn gradient<X: From<Mismatch>>(
    problem: Problem,
    n: usize,
    w: &[f64],
    par: Par,
    mut ask: impl FnMut(&Question) -> Result<Answer, X>,
) -> Result<Vec<f64>, X> {
    let question = |about: About| Question { parameters: w.to_vec(), size: n, about };
    let mut ask_for = |question: &Question| ask(question).map(|answer| answer.0);
    if n < if matches!(problem.objective(), Objective::Pointwise { .. }) { 1 } else { 2 } {
        // An empty mean.
        return Ok(vec![0.0; w.len()]);
    }
    if !can_ask(problem) {
        return Err(Mismatch.into());
    }
    match problem.objective() {
        Objective::Pointwise { .. } => match ask_for(&question(About::Rows))? {
            Content::Totals(totals) => Ok(pointwise::mean(problem, &totals, w, n)),
            _ => Err(Mismatch.into()),
        },
        Objective::Metric { .. } => {
            let Content::Tiles(tiles) = ask_for(&question(About::Tiles))? else {
                return Err(Mismatch.into());
            };
            let sums = metric::row_sums(problem, &tiles, w);
            match ask_for(&question(About::Squares(sums)))? {
                Content::Totals(own) => Ok(metric::mean(problem, &tiles, &own, w, n)),
                _ => Err(Mismatch.into()),
            }
        }
        Objective::Ranking { .. } => {
            let scaled = Scaled::of(problem);
            let bound = scaled.bound(problem, w);
            let field = match scaled.loss.summation() {
                Summation::Boxes => match ask_for(&question(About::Boxes))? {
                    Content::Boxes(moments) => Field::Boxes(Boxes::slopes(&moments, bound, par)),
                    _ => return Err(Mismatch.into()),
                },
                Summation::Sums => match ask_for(&question(About::Sums))? {
                    Content::Sums(sums) => Field::Sums(Sums::new(&sums, bound)),
                    _ => return Err(Mismatch.into()),
                },
                Summation::Counts => {
                    let Content::Classes(classes) = ask_for(&question(About::Classes))? else {
                        return Err(Mismatch.into());
                    };
                    let sorting = Sorting::of(classes);
                    let Content::Scores(values) = ask_for(&question(About::Scores(sorting)))? else {
                        return Err(Mismatch.into());
                    };
                    let marking = question(About::Marks(sorting, Sorted::new(values, bound)));
                    match (ask_for(&marking)?, marking.about) {
                        (Content::Marks(marks), About::Marks(_, sorted)) => {
                            Field::Counts(Counts::new(sorting, sorted, &marks))
                        }
                        _ => return Err(Mismatch.into()),
                    }
                }
                Summation::Powers { .. } | Summation::Capped => return Err(Mismatch.into()),
            };
            match ask_for(&question(About::Charged(field)))? {
                Content::Totals(totals) => Ok(charges::mean(problem, &scaled, bound, &totals, n)),
                _ => Err(Mismatch.into()),
            }
        }
    }
}
