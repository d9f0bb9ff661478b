//! Sums of a slope with a kink, by a tree of expansions: q·(t − s + 1)₊^{q−1} of the q-hinge, min(σ(t − s), ½) of the capped
//! logistic loss.
//!
//! With s' = s − 1 the q-hinge's steepness is a power of the distance t − s' where t is above, and 0 where it is below; that of
//! the capped loss is ½ less ½·tanh of half the distance where t is below s, and ½ where it is above. Such a kernel has a
//! kink at distance 0, so no polynomial serves across it; but on two intervals that are well apart (their gap at least twice
//! the wider one) a degree 15 in each variable does, to 10⁻¹⁵ of the largest value. The sources are sorted and halved again and
//! again; each node keeps 16 Chebyshev moments on its interval. A leaf of targets takes far nodes by their moments, and the
//! few near points one by one. Ties and clusters make intervals short, not the tree deep.

use super::blocks::{self, Par, SUB_BLOCK};
use crate::MarginLoss;
use crate::loss::Summation;
use pairdp_units::directed::larger;
use rayon::prelude::*;
use std::ops::Range;

const ORDER: usize = 16;
const LEAF: usize = 64;

type Moments = [f64; ORDER];

/// Charges of all records, computed when it is built.
pub(super) struct Tree {
    charges: Vec<f64>,
}

impl Tree {
    pub(super) fn slopes(scores: &[f64], targets: &[f64], loss: MarginLoss, par: Par) -> Self {
        let mut charges = vec![0.0; scores.len()];
        let sums = match loss.summation() {
            Summation::Powers { q } => {
                let power = |distance: f64| if distance > 0.0 { q * distance.powf(q - 1.0) } else { 0.0 };
                both_sides(scores, targets, &power, Kink::NegativeAbove { shift: 1.0 }, par)
            }
            Summation::Capped => capped(scores, targets, par),
            Summation::Boxes | Summation::Counts | Summation::Sums => {
                unreachable!("these need no tree")
            }
        };
        for (index, sum) in sums {
            charges[index] = if targets[index] > 0.0 { sum } else { -sum };
        }
        Self { charges }
    }

    pub(super) fn charges(&self, range: Range<usize>, out: &mut [f64]) {
        out.copy_from_slice(&self.charges[range]);
    }

    /// The sum of the loss over pairs.
    pub(super) fn values(scores: &[f64], targets: &[f64], loss: MarginLoss, par: Par) -> f64 {
        let of_positives = |sums: Vec<(usize, f64)>| -> f64 {
            sums.into_iter().filter(|(index, _)| targets[*index] > 0.0).map(|(_, sum)| sum).sum()
        };
        if let Summation::Powers { q } = loss.summation() {
            let power = |distance: f64| if distance > 0.0 { distance.powf(q) } else { 0.0 };
            return of_positives(both_sides(
                scores,
                targets,
                &power,
                Kink::NegativeAbove { shift: 1.0 },
                par,
            ));
        }
        let right = |m: f64| if m > 0.0 { loss.value(m) } else { 0.0 };
        let wrong = |m: f64| if m > 0.0 { loss.value(-m) } else { 0.0 };
        of_positives(both_sides(scores, targets, &right, Kink::NegativeBelow, par))
            + of_positives(both_sides(scores, targets, &wrong, Kink::NegativeAbove { shift: 0.0 }, par))
            + loss.value(0.0) * ties(scores, targets)
    }
}

/// Pairs of equal scores.
fn ties(scores: &[f64], targets: &[f64]) -> f64 {
    let of = |positive: bool| {
        let chosen = scores.iter().zip(targets).filter(move |(_, target)| (**target > 0.0) == positive);
        chosen.map(|(score, _)| *score)
    };
    let mut negatives: Vec<f64> = of(false).collect();
    negatives.sort_unstable_by(f64::total_cmp);
    let equal = |score: f64| {
        let above = negatives.partition_point(|other| *other <= score);
        above - negatives.partition_point(|other| *other < score)
    };
    of(true).map(equal).sum::<usize>() as f64
}

/// For every record, the sum of min(σ(t − s), ½) over the other class: half of all, less ½·tanh((s − t)/2) of those in the right
/// order.
fn capped(scores: &[f64], targets: &[f64], par: Par) -> Vec<(usize, f64)> {
    let less = |distance: f64| if distance > 0.0 { 0.5 * (distance / 2.0).tanh() } else { 0.0 };
    let positives = targets.iter().filter(|target| **target > 0.0).count();
    let (of_positive, of_negative) = ((targets.len() - positives) as f64 / 2.0, positives as f64 / 2.0);
    let sums = both_sides(scores, targets, &less, Kink::NegativeBelow, par);
    let charge = |(index, sum): (usize, f64)| {
        let half = if targets[index] > 0.0 { of_positive } else { of_negative };
        (index, larger(half - sum, 0.0))
    };
    sums.into_iter().map(charge).collect()
}

/// Which pairs a kernel counts.
#[derive(Clone, Copy)]
enum Kink {
    /// Those whose negative is above the positive less a shift, at their distance.
    NegativeAbove { shift: f64 },
    /// Those whose negative is below the positive.
    NegativeBelow,
}

/// For every record, the sum of a kernel of the distance over the other class.
fn both_sides(
    scores: &[f64],
    targets: &[f64],
    power: &(impl Fn(f64) -> f64 + Sync),
    kink: Kink,
    par: Par,
) -> Vec<(usize, f64)> {
    let shift = match kink {
        Kink::NegativeAbove { shift } => shift,
        Kink::NegativeBelow => 0.0,
    };
    let sorted = |positive: bool| {
        let mut points: Vec<(f64, usize)> = (0..scores.len())
            .filter(|i| (targets[*i] > 0.0) == positive)
            .map(|i| (if positive { scores[i] - shift } else { scores[i] }, i))
            .collect();
        points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    let (positives, negatives) = (sorted(true), sorted(false));
    let (of_positives, of_negatives) = match kink {
        Kink::NegativeAbove { .. } => (Side::Above, Side::Below),
        Kink::NegativeBelow => (Side::Below, Side::Above),
    };
    let mut sums = one_side(&positives, &negatives, power, of_positives, par);
    sums.extend(one_side(&negatives, &positives, power, of_negatives, par));
    sums
}

/// Where sources have to be, seen from a target, to count.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Above,
    Below,
}

/// A stretch of sorted sources: its interval and its moments there; children follow by halving.
struct Node {
    range: Range<usize>,
    low: f64,
    high: f64,
    moments: Moments,
    children: Option<(usize, usize)>,
}

fn one_side(
    targets: &[(f64, usize)],
    sources: &[(f64, usize)],
    power: &(impl Fn(f64) -> f64 + Sync),
    side: Side,
    par: Par,
) -> Vec<(usize, f64)> {
    let mut nodes = Vec::new();
    if !sources.is_empty() {
        build(sources, 0..sources.len(), &mut nodes);
    }
    let leaf = |leaf: &[(f64, usize)]| {
        let mut sums = vec![0.0; leaf.len()];
        if let (Some(first), Some(last), false) = (leaf.first(), leaf.last(), nodes.is_empty()) {
            let mut local = [0.0; ORDER];
            let interval = (first.0, last.0);
            visit(0, &nodes, sources, leaf, interval, power, side, &mut local, &mut sums);
            for (sum, (x, _)) in sums.iter_mut().zip(leaf) {
                *sum += local.iter().zip(chebyshev(place(*x, interval))).map(|(c, t)| c * t).sum::<f64>();
            }
        }
        leaf.iter().zip(sums).map(|((_, index), sum)| (*index, sum)).collect::<Vec<_>>()
    };
    match par {
        Par::Sequential => targets.chunks(LEAF).flat_map(leaf).collect(),
        Par::Parallel => targets.par_chunks(LEAF).flat_map_iter(leaf).collect(),
    }
}

fn build(sources: &[(f64, usize)], range: Range<usize>, nodes: &mut Vec<Node>) -> usize {
    let (low, high) = (sources[range.start].0, sources[range.end - 1].0);
    let mut moments = [0.0; ORDER];
    // In two levels, so that roundings do not grow with n.
    for some in sources[range.clone()].chunks(SUB_BLOCK) {
        let mut part = [0.0; ORDER];
        for (x, _) in some {
            blocks::add(&mut part, &chebyshev(place(*x, (low, high))));
        }
        blocks::add(&mut moments, &part);
    }
    let at = nodes.len();
    nodes.push(Node { range: range.clone(), low, high, moments, children: None });
    if range.len() > LEAF {
        let middle = range.start + range.len() / 2;
        let left = build(sources, range.start..middle, nodes);
        let right = build(sources, middle..range.end, nodes);
        nodes[at].children = Some((left, right));
    }
    at
}

#[expect(clippy::too_many_arguments, reason = "one recursion over fixed context")]
fn visit(
    at: usize,
    nodes: &[Node],
    sources: &[(f64, usize)],
    leaf: &[(f64, usize)],
    interval: (f64, f64),
    power: &impl Fn(f64) -> f64,
    side: Side,
    local: &mut Moments,
    sums: &mut [f64],
) {
    let node = &nodes[at];
    let (gap, nothing) = match side {
        Side::Above => (node.low - interval.1, node.high <= interval.0),
        Side::Below => (interval.0 - node.high, node.low >= interval.1),
    };
    if nothing {
        return;
    }
    let wider = if node.high - node.low > interval.1 - interval.0 {
        node.high - node.low
    } else {
        interval.1 - interval.0
    };
    if gap >= 2.0 * wider && gap > 0.0 {
        take_far(node, interval, gap, power, side, local);
    } else if let Some((left, right)) = node.children {
        visit(left, nodes, sources, leaf, interval, power, side, local, sums);
        visit(right, nodes, sources, leaf, interval, power, side, local, sums);
    } else {
        for (sum, (target, _)) in sums.iter_mut().zip(leaf) {
            let one = |(source, _): &(f64, usize)| match side {
                Side::Above => power(source - target),
                Side::Below => power(target - source),
            };
            *sum += sources[node.range.clone()].iter().map(one).sum::<f64>();
        }
    }
}

/// Adds a far node to the local expansion: interpolate the kernel on both intervals, contract with the moments.
///
/// Distances are built up from the gap and the two widths, each known to its own last bit; differences of positions would
/// lose them on intervals that are a few roundings wide.
fn take_far(
    node: &Node,
    interval: (f64, f64),
    gap: f64,
    power: &impl Fn(f64) -> f64,
    side: Side,
    local: &mut Moments,
) {
    let nodes = nodes();
    let (here, there) = (0.5 * (interval.1 - interval.0), 0.5 * (node.high - node.low));
    let distance = |u: f64, v: f64| match side {
        Side::Above => gap + (here * (1.0 - u) + there * (1.0 + v)),
        Side::Below => gap + (here * (1.0 + u) + there * (1.0 - v)),
    };
    // Charges on the source nodes: Σ_l (moment l)·(coefficient l of each node's cardinal polynomial).
    let charges: Moments = std::array::from_fn(|j| {
        let terms = chebyshev(nodes[j]);
        let mut sum = node.moments[0];
        for l in 1..ORDER {
            sum += 2.0 * node.moments[l] * terms[l];
        }
        sum / ORDER as f64
    });
    let values: Moments =
        std::array::from_fn(|i| (0..ORDER).map(|j| charges[j] * power(distance(nodes[i], nodes[j]))).sum());
    for (i, value) in values.iter().enumerate() {
        let terms = chebyshev(nodes[i]);
        local[0] += value / ORDER as f64;
        for k in 1..ORDER {
            local[k] += 2.0 * value * terms[k] / ORDER as f64;
        }
    }
}

fn nodes() -> Moments {
    std::array::from_fn(|i| ((2.0 * i as f64 + 1.0) * std::f64::consts::PI / (2.0 * ORDER as f64)).cos())
}

fn chebyshev(u: f64) -> Moments {
    let mut terms = [1.0; ORDER];
    terms[1] = u;
    for k in 2..ORDER {
        terms[k] = 2.0 * u * terms[k - 1] - terms[k - 2];
    }
    terms
}

/// Where a point lies in an interval, in [−1, 1]; the middle of an interval without length.
fn place(x: f64, (low, high): (f64, f64)) -> f64 {
    if high > low { ((x - low) - (high - x)) / (high - low) } else { 0.0 }
}
