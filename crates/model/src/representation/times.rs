//! Who fails first, as a number of one record: where its time lies among all times, as the first release says.
//!
//! A record whose event was seen early comes before nearly everybody; one that was still to be seen late comes before nobody. How
//! many others a record comes before, less how many come before it, is Gehan's score (1965). From all records' times it would be
//! private; from a released histogram of times it is a public function of the record's own cell.

use super::{Representation, layout_for, maps_rows, spacing};
use crate::{Predictor, Task};
use pairdp_data::Label;
use pairdp_pairwise::knots::{Block, Layout, TIME_BINS, TIME_CELLS, time_cell};
use pairdp_units::directed::{larger, smaller};
use serde::{Deserialize, Serialize};

/// A number within ±1 for each cell of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimeScores(Vec<f64>);

impl TimeScores {
    /// The scores that follow from what was released, if such a layout has times.
    pub(crate) fn new(layout: &Layout, released: &Representation) -> Option<Self> {
        let shares = time_shares(layout, released)?;
        let (censored, events) = shares.split_at(TIME_BINS);
        let mut scores = [0.0; TIME_CELLS];
        let (mut before, mut after) = (0.0, shares.iter().sum::<f64>());
        for bin in 0..TIME_BINS {
            // Events of a bin tie with one another, and come before those that were censored in it.
            after -= events[bin];
            scores[TIME_BINS + bin] = after - before;
            after -= censored[bin];
            before += events[bin];
            scores[bin] = -before;
        }
        let least = scores.into_iter().fold(f64::INFINITY, smaller);
        let most = scores.into_iter().fold(f64::NEG_INFINITY, larger);
        // With few events scores would fill little of ±1, to which noise is scaled; moving all alike changes no order.
        let (middle, half) = (f64::midpoint(least, most), (most - least) / 2.0);
        let place =
            |score: f64| if half > 0.0 { smaller(larger((score - middle) / half, -1.0), 1.0) } else { 0.0 };
        Some(Self(scores.map(place).to_vec()))
    }

    /// The score of a record's own cell.
    pub(crate) fn apply(&self, targets: &mut [f64]) {
        targets.iter_mut().for_each(|target| {
            let score = self.0.get(time_cell(*target)).copied().unwrap_or_default();
            *target = smaller(larger(score, -1.0), 1.0);
        });
    }
}

/// The share of records without an event until the end of each bin of time (Kaplan and Meier 1958), from 1 at the beginning. Who was
/// censored in a bin counts as seen to its end.
fn without_event(shares: &[f64]) -> Vec<f64> {
    let (censored, events) = shares.split_at(TIME_BINS);
    let (mut at_risk, mut left) = (shares.iter().sum::<f64>(), 1.0);
    let mut curve = vec![left];
    for bin in 0..TIME_BINS {
        if at_risk > 0.0 {
            left *= smaller(larger(1.0 - events[bin] / at_risk, 0.0), 1.0);
        }
        at_risk -= events[bin] + censored[bin];
        curve.push(left);
    }
    curve
}

impl Predictor {
    /// Times, from 0 to the horizon, with the share of records that had no event until then, as the first release says; none where
    /// nothing was released of times.
    pub fn survival_curve(&self) -> Option<Vec<[f64; 2]>> {
        let released = self.representation.as_ref().filter(|_| self.task == Task::Survival)?;
        let layout = layout_for(&self.encoding, spacing(released), maps_rows(released), Some(Block::Times));
        let horizon = self.label.as_ref().and_then(Label::times).map_or(1.0, |times| times.horizon);
        let curve = without_event(&time_shares(&layout, released)?);
        let time = |edge: usize| horizon * edge as f64 / TIME_BINS as f64;
        Some(curve.into_iter().enumerate().map(|(edge, share)| [time(edge), share]).collect())
    }
}

/// The share of records in each cell, as released and moved towards equal shares by how much of it may be noise (James and Stein
/// 1961).
fn time_shares(layout: &Layout, released: &Representation) -> Option<Vec<f64>> {
    let weights = released.weights.get(layout.times()?..)?.get(..TIME_CELLS)?;
    let even = 1.0 / TIME_CELLS as f64;
    let off: Vec<f64> = weights.iter().map(|weight| weight / released.counted - even).collect();
    let length: f64 = off.iter().map(|off| off * off).sum();
    let noise = released.noise / released.counted;
    let kept = if length > 0.0 { larger(0.0, 1.0 - TIME_CELLS as f64 * noise * noise / length) } else { 0.0 };
    let shares: Vec<f64> = off.iter().map(|off| larger(even + kept * off, 0.0)).collect();
    let total: f64 = shares.iter().sum();
    Some(if total > 0.0 && total.is_finite() {
        shares.iter().map(|share| share / total).collect()
    } else {
        vec![even; TIME_CELLS]
    })
}

#[cfg(test)]
mod tests {
    use super::super::{READING_TIMES, read};
    use super::*;
    use pairdp_pairwise::knots::Spacing;

    fn scores(weights: &[f64; TIME_CELLS], counted: usize, noise: f64) -> TimeScores {
        let layout = Layout::new(Spacing::Coarse, vec![Block::Times]);
        let released = read(&layout, [weights.as_slice(), &[0.0]].concat(), noise, counted);
        assert_eq!(released.reading, READING_TIMES);
        TimeScores::new(&layout, &released).unwrap()
    }

    /// Without noise they are Gehan's scores of the records, moved and stretched.
    #[test]
    fn they_are_how_many_come_after_less_how_many_come_before() {
        let cells: [u32; TIME_CELLS] = [0, 3, 0, 1, 0, 0, 2, 9, 1, 5, 2, 0, 0, 4, 0, 1];
        let n: u32 = cells.iter().sum();
        let found = scores(&cells.map(f64::from), n as usize, 1e-9);
        let gehan = |event: bool, bin: usize| {
            let mut score = 0.0;
            for (cell, count) in cells.iter().enumerate() {
                let (other_event, other) = (cell >= TIME_BINS, cell % TIME_BINS);
                let before = event && (bin < other || (bin == other && !other_event));
                let after = other_event && (other < bin || (bin == other && !event));
                score += f64::from(*count) * (f64::from(u8::from(before)) - f64::from(u8::from(after)));
            }
            score
        };
        let exact: Vec<f64> =
            (0..TIME_CELLS).map(|cell| gehan(cell >= TIME_BINS, cell % TIME_BINS)).collect();
        let (least, most) =
            (exact.iter().copied().fold(f64::MAX, smaller), exact.iter().copied().fold(f64::MIN, larger));
        for (found, exact) in found.0.iter().zip(exact) {
            let expected = 2.0 * (exact - least) / (most - least) - 1.0;
            assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
        }
    }

    /// Against a life table by hand: 100 at risk, 10 events and 20 censored in the first bin, 7 events in the second, the rest censored
    /// at the end.
    #[test]
    fn the_curve_is_that_of_a_life_table() {
        let mut cells = [0.0; TIME_CELLS];
        (cells[TIME_BINS], cells[0], cells[TIME_BINS + 1], cells[TIME_BINS - 1]) = (10.0, 20.0, 7.0, 63.0);
        let curve = without_event(&cells.map(|cell| cell / 100.0));
        assert_eq!(curve.len(), TIME_BINS + 1);
        for (found, expected) in curve.iter().zip([1.0, 0.9, 0.9 * 0.9, 0.81, 0.81, 0.81, 0.81, 0.81, 0.81]) {
            assert!((found - expected).abs() < 1e-12, "{curve:?}");
        }
        assert!(without_event(&[0.0; TIME_CELLS]).iter().all(|share| (share - 1.0).abs() < 1e-12));
    }

    #[test]
    fn whatever_was_released_scores_are_within_one() {
        for absurd in [0.0, -1e300, 1e300, 3.0] {
            for noise in [1e-9, 5.0, 1e9] {
                let found = scores(&[absurd; TIME_CELLS], 10, noise);
                let mut targets = vec![1.0, 1.3, 2.0, -1.0, -2.0, f64::NAN, 77.0];
                found.apply(&mut targets);
                assert!(targets.iter().all(|target| target.abs() <= 1.0), "{targets:?}");
            }
        }
        // An early event, a late one, somebody who was seen to the end: in this order, as everybody expects.
        let mut targets = vec![1.0, 2.0, -2.0];
        scores(&[10.0; TIME_CELLS], 160, 1.0).apply(&mut targets);
        assert!(targets[0] > targets[1] && targets[1] > targets[2], "{targets:?}");
    }
}
