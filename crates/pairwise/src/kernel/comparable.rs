//! Charges of pairs of which it is known who failed first, by halving time.
//!
//! Records are put in the order of their times, and the order is cut in two between records of different times. Every event of
//! the earlier half and every record of the later half are a pair, whatever their times are: a sum over two classes, for which the
//! kernels of rankers are at hand. What is left are the pairs within each half, which are found in the same way, so that every
//! pair is in exactly one cut. Records of one time, and of one kind, form no pair and are never cut apart.

use super::blocks::Par;
use super::charges::{self, Scaled};
use super::exponential::exp_of_negative;
use super::pull_back;
use crate::{MarginLoss, Problem, Records};
use pairdp_units::directed::larger;
use pairdp_units::signed_time;
use pulp::{Arch, NullaryFnOnce};
use rayon::slice::ParallelSliceMut as _;

/// A cut with at most so many pairs is summed pair by pair: faster than to prepare anything.
const FEW_PAIRS: usize = 1 << 14;
/// So that such a sum has fewer terms than one over boxes.
const FEW_RECORDS: usize = 4096;
/// Shorter stretches are worked on by one thread.
const ALONE: usize = 8192;

/// Records in the order of their times, as one stretch or a part of it.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    scores: &'a [f64],
    /// [Keys](signed_time::key) of their times.
    keys: &'a [u64],
}

impl<'a> Stretch<'a> {
    /// Both sides of the place nearest to the middle where times differ; none if all are equal.
    fn cut(self) -> Option<(Self, Self)> {
        let differ = |at: &usize| self.keys[at - 1] != self.keys[*at];
        let middle = self.keys.len() / 2;
        let before = (1..=middle).rev().find(differ);
        let after = (middle + 1..self.keys.len()).find(differ);
        let at = match (before, after) {
            (Some(before), Some(after)) if after - middle < middle - before => after,
            (before, after) => before.or(after)?,
        };
        let ((left, right), (earlier, later)) = (self.scores.split_at(at), self.keys.split_at(at));
        Some((Self { scores: left, keys: earlier }, Self { scores: right, keys: later }))
    }

    fn events(self) -> impl Iterator<Item = usize> + 'a {
        (0..self.keys.len()).filter(move |i| self.keys[*i].is_multiple_of(2))
    }
}

/// The pairs of a cut, one by one, in the registers that the machine has.
struct PairByPair<'a> {
    loss: MarginLoss,
    events: &'a [usize],
    earlier: &'a [f64],
    later: &'a [f64],
    before: &'a mut [f64],
    of_later: &'a mut [f64],
}

impl NullaryFnOnce for PairByPair<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { loss, events, earlier, later, before, of_later } = self;
        // Slopes first, as many at once as registers hold, and then sums in the order of records: the same everywhere.
        let mut slopes = vec![0.0; later.len()];
        for &event in events {
            let own = earlier[event];
            if loss == MarginLoss::Logistic {
                slopes.iter_mut().zip(later).for_each(|(slope, score)| *slope = falling(own - score));
            } else {
                slopes.iter_mut().zip(later).for_each(|(slope, score)| *slope = steepness(loss, own, *score));
            }
            of_later.iter_mut().zip(&slopes).for_each(|(charge, slope)| *charge += slope);
            before[event] += slopes.iter().sum::<f64>();
        }
    }
}

/// How steeply the logistic loss falls, 1/(1 + eᵐ), for vector registers; next to which the library's is the same to 10⁻¹⁴.
#[inline(always)]
fn falling(margin: f64) -> f64 {
    let e = exp_of_negative(-margin.abs());
    (if margin > 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// How steeply the loss of a pair falls: what every way to add pairs up computes, to the last bit where a rounding decides. A slope
/// like that of the q-hinge rises so fast from its corner that two roundings of one margin would be two slopes, and which way is taken
/// depends on other records.
fn steepness(loss: MarginLoss, event: f64, later: f64) -> f64 {
    match loss {
        MarginLoss::QHinge { q } => q * larger(later - (event - 1.0), 0.0).powf(q - 1.0),
        // As other kernels: the hinge compares the same rounded difference, the others' slopes are Lipschitz in it.
        MarginLoss::Hinge | MarginLoss::Logistic | MarginLoss::CappedLogistic | MarginLoss::Squared => {
            loss.steepness(event - later)
        }
    }
}

/// Adds the charges of the pairs of a stretch.
fn add_charges(stretch: Stretch<'_>, loss: MarginLoss, bound: f64, par: Par, out: &mut [f64]) {
    let Some((earlier, later)) = stretch.cut() else { return };
    let (before, after) = out.split_at_mut(earlier.keys.len());
    let events: Vec<usize> = earlier.events().collect();
    let few = events.len().saturating_mul(later.keys.len()) <= FEW_PAIRS
        && events.len().max(later.keys.len()) <= FEW_RECORDS;
    if few {
        // Each cut in sums of its own, so that roundings of one do not add up with those of others.
        let mut of_later = vec![0.0; later.scores.len()];
        Arch::new().dispatch(PairByPair {
            loss,
            events: &events,
            earlier: earlier.scores,
            later: later.scores,
            before,
            of_later: &mut of_later,
        });
        after.iter_mut().zip(of_later).for_each(|(total, charge)| *total -= charge);
    } else {
        let (scores, targets) = two_classes(earlier, &events, later);
        let charges = charges::of_two_classes(&scores, &targets, loss, bound, par);
        let (of_events, of_later) = charges.split_at(events.len());
        events.iter().zip(of_events).for_each(|(event, charge)| before[*event] += charge);
        after.iter_mut().zip(of_later).for_each(|(total, charge)| *total += charge);
    }
    let left = |par, out: &mut [f64]| add_charges(earlier, loss, bound, par, out);
    let right = |par, out: &mut [f64]| add_charges(later, loss, bound, par, out);
    if par == Par::Parallel && stretch.keys.len() > ALONE {
        rayon::join(|| left(par, before), || right(par, after));
    } else {
        left(Par::Sequential, before);
        right(Par::Sequential, after);
    }
}

/// The sum of the loss over the pairs of a stretch.
fn sum_of_values(stretch: Stretch<'_>, loss: MarginLoss, bound: f64, par: Par) -> f64 {
    let Some((earlier, later)) = stretch.cut() else { return 0.0 };
    let events: Vec<usize> = earlier.events().collect();
    let (scores, targets) = two_classes(earlier, &events, later);
    charges::sum_of_values(&scores, &targets, loss, bound, par)
        + sum_of_values(earlier, loss, bound, par)
        + sum_of_values(later, loss, bound, par)
}

/// The events of the earlier half as positives, all of the later half as negatives.
fn two_classes(earlier: Stretch<'_>, events: &[usize], later: Stretch<'_>) -> (Vec<f64>, Vec<f64>) {
    let positives = events.iter().map(|event| earlier.scores[*event]);
    let scores = positives.chain(later.scores.iter().copied()).collect();
    let targets = [vec![1.0; events.len()], vec![-1.0; later.scores.len()]].concat();
    (scores, targets)
}

/// Scores and keys of records in the order of their times, and where each was. Equal ones stay as they were.
struct InOrder {
    scores: Vec<f64>,
    keys: Vec<u64>,
    places: Vec<usize>,
}

impl InOrder {
    fn new(scores: &[f64], times: &[f64], par: Par) -> Self {
        let mut order: Vec<(u64, usize)> =
            times.iter().enumerate().map(|(i, time)| (signed_time::key(*time), i)).collect();
        match par {
            Par::Parallel => order.par_sort_unstable(),
            Par::Sequential => order.sort_unstable(),
        }
        let (keys, places): (Vec<u64>, Vec<usize>) = order.into_iter().unzip();
        Self { scores: places.iter().map(|i| scores[*i]).collect(), keys, places }
    }

    fn stretch(&self) -> Stretch<'_> {
        Stretch { scores: &self.scores, keys: &self.keys }
    }
}

pub(super) fn gradient(problem: Problem, records: &Records, w: &[f64], par: Par) -> Vec<f64> {
    let n = records.len();
    if n < 2 {
        // An empty mean.
        return vec![0.0; w.len()];
    }
    let scaled = Scaled::of(problem);
    let bound = scaled.bound(problem, w);
    let scores = pull_back::scores(problem, records, w, (scaled.margin_scale, bound), Vec::new(), par);
    let in_order = InOrder::new(&scores, records.targets(), par);
    let mut in_time = vec![0.0; n];
    add_charges(in_order.stretch(), scaled.loss, bound, par, &mut in_time);
    let mut charges = vec![0.0; n];
    in_order.places.iter().zip(in_time).for_each(|(i, charge)| charges[*i] = charge);
    let most = charges::most(&scaled, bound, n);
    let of_rows = |range: std::ops::Range<usize>, out: &mut [f64]| out.copy_from_slice(&charges[range]);
    let totals = pull_back::weighted_sum(problem, records, w, most, &of_rows, par);
    charges::mean(problem, &scaled, bound, &totals, n)
}

pub(super) fn risk(problem: Problem, records: &Records, w: &[f64], par: Par) -> f64 {
    let n = records.len() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let scaled = Scaled::of(problem);
    let bound = scaled.bound(problem, w);
    let scores = pull_back::scores(problem, records, w, (scaled.margin_scale, bound), Vec::new(), par);
    let in_order = InOrder::new(&scores, records.targets(), par);
    sum_of_values(in_order.stretch(), scaled.loss, bound, par) / (n * (n - 1.0))
}

/// Roundings of a charge beyond those of a sum over two classes: one for each cut that a record is on a side of. A cut that meets a
/// long run of equal times may leave more than half on one side, but not twice in a row.
pub(super) fn roundings(n: usize) -> f64 {
    let halvings = f64::from(usize::BITS - n.leading_zeros());
    2.0 * (2.0 * halvings + 2.0)
}
