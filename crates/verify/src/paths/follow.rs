//! Following every record through the steps of each algorithm.

use super::{Step, Touch};
use crate::algorithms::is_full_batch;
use crate::facts::Facts;
use crate::orders;
use crate::relations::larger;
use pairdp_certificate::{Algorithm, Average, Order, Phase};

/// Records that are followed at a time: their distances stay in the fastest memory.
const BLOCK: usize = 512;

/// How far one record can move the result of a phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Followed {
    /// The largest mean of the kept distances, rounding of the result included.
    pub(crate) distance: f64,
    /// Whether distances reached the diameter of the domain.
    pub(crate) capped: bool,
}

/// The sensitivity of a phase by the rule for smooth slopes, or by that for jumps.
pub(crate) fn sensitivity(
    facts: &Facts,
    step: &Step,
    smooth: bool,
    (order, average): (Order, Average),
    phase: &Phase,
) -> Result<Followed, String> {
    if facts.certificate.algorithm == Algorithm::OfflinePair && average != Average::Last {
        return Err("no proved sensitivity for averages of one pass".into());
    }
    let kept = kept(average, phase.steps);
    let path = if smooth { path::<true> } else { path::<false> };
    let (sum, last) = path(facts, step, order, phase, kept)?;
    Ok(Followed { distance: sum / f64::from(kept) + step.result_error, capped: last >= step.cap })
}

/// How many of the last iterates are averaged.
fn kept(average: Average, steps: u32) -> u32 {
    match average {
        Average::Last => 1,
        Average::SecondHalf => steps - steps / 2,
        Average::All => steps,
    }
}

/// The largest sum of the last `kept` distances of a record, and the largest last distance.
fn path<const SMOOTH: bool>(
    facts: &Facts,
    step: &Step,
    order: Order,
    phase: &Phase,
    kept: u32,
) -> Result<(f64, f64), String> {
    let (n, steps) = (phase.records, phase.steps as usize);
    let pointwise = facts.is_pointwise();
    Ok(match facts.certificate.algorithm {
        algorithm if is_full_batch(algorithm) => {
            let size = n as f64;
            let touch = if pointwise {
                step.share(1.0 / size)
            } else {
                Touch {
                    same: step.both_orders / size,
                    apart: (step.both_orders + 2.0 * step.same_term) / size,
                    untouched: 1.0 - 2.0 / size,
                }
            };
            alike(phase.steps, kept, |_, distance| step.after::<SMOOTH>(distance, touch))
        }
        // The worst of the records seen, which are in one of k terms, and of the new one, which is in all.
        Algorithm::OfflinePair => {
            let new = step.after::<SMOOTH>(0.0, step.share(1.0));
            alike(phase.steps, kept, |k, distance| {
                larger(step.after::<SMOOTH>(distance, step.share(1.0 / f64::from(k))), new)
            })
        }
        Algorithm::OutputSgd if pointwise => {
            let alone: Vec<[u32; 2]> =
                orders::indices(order, n, steps).into_iter().map(|index| [index; 2]).collect();
            along_pairs::<SMOOTH>(step, &alone, n, kept)
        }
        Algorithm::OutputSgd => {
            against_history::<SMOOTH>(step, &orders::indices(order, n, steps + 1), n, kept)
        }
        Algorithm::MatchingSgd => along_pairs::<SMOOTH>(step, &orders::pairs(order, n, steps), n, kept),
        Algorithm::LocalizedSgd => {
            let chain: Vec<[u32; 2]> = (0..phase.steps).map(|t| [t, t + 1]).collect();
            along_pairs::<SMOOTH>(step, &chain, n, kept)
        }
        _ => return Err("no proved sensitivity for this algorithm".into()),
    })
}

/// One distance stands for all records.
fn alike(steps: u32, kept: u32, next: impl Fn(u32, f64) -> f64) -> (f64, f64) {
    let (mut distance, mut sum) = (0.0, 0.0);
    for t in 1..=steps {
        distance = next(t, distance);
        if t > steps - kept {
            sum += distance;
        }
    }
    (sum, distance)
}

/// A block of records on its way.
struct Block {
    first: usize,
    distance: Vec<f64>,
    sum: Vec<f64>,
}

impl Block {
    /// All blocks of n records.
    fn all(n: usize) -> impl Iterator<Item = Self> {
        (0..n).step_by(BLOCK).map(move |first| {
            let size = BLOCK.min(n - first);
            Self { first, distance: vec![0.0; size], sum: vec![0.0; size] }
        })
    }

    /// Where a record is, if it is here.
    fn place(&self, record: u32) -> Option<usize> {
        (record as usize).checked_sub(self.first).filter(|place| *place < self.distance.len())
    }

    fn add_up(&mut self) {
        self.sum.iter_mut().zip(&self.distance).for_each(|(sum, distance)| *sum += distance);
    }

    fn most(&self) -> (f64, f64) {
        let most = |values: &[f64]| values.iter().fold(0.0, |most, &value| larger(value, most));
        (most(&self.sum), most(&self.distance))
    }
}

fn worst(blocks: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    blocks.fold((0.0, 0.0), |(sum, last), block| (larger(block.0, sum), larger(block.1, last)))
}

/// Steps along one pair, or twice along one record: those records are in every term, others in none.
fn along_pairs<const SMOOTH: bool>(step: &Step, pairs: &[[u32; 2]], n: usize, kept: u32) -> (f64, f64) {
    let uncounted = pairs.len() - kept as usize;
    worst(Block::all(n).map(|mut block| {
        for (t, pair) in pairs.iter().enumerate() {
            let places = pair.map(|record| block.place(record));
            let moved =
                places.map(|place| place.map(|at| step.after::<SMOOTH>(block.distance[at], step.share(1.0))));
            block.distance.iter_mut().for_each(|distance| *distance = step.rest::<SMOOTH>(*distance));
            for (place, moved) in places.into_iter().zip(moved) {
                if let (Some(place), Some(moved)) = (place, moved) {
                    block.distance[place] = moved;
                }
            }
            if t >= uncounted {
                block.add_up();
            }
        }
        block.most()
    }))
}

/// Each newly drawn record against all drawn before: it is in every term, others in as many as they were drawn.
fn against_history<const SMOOTH: bool>(step: &Step, drawn: &[u32], n: usize, kept: u32) -> (f64, f64) {
    let uncounted = drawn.len() - 1 - kept as usize;
    worst(Block::all(n).map(|mut block| {
        let mut times = vec![0.0; block.distance.len()];
        if let Some(place) = block.place(drawn[0]) {
            times[place] = 1.0;
        }
        for (t, record) in drawn.iter().enumerate().skip(1) {
            let terms = t as f64;
            let place = block.place(*record);
            let moved = place.map(|at| {
                // Paired with itself a record has no gradient.
                let touch = Touch { untouched: 0.0, ..step.share(1.0 - times[at] / terms) };
                step.after::<SMOOTH>(block.distance[at], touch)
            });
            for (distance, times) in block.distance.iter_mut().zip(&times) {
                *distance = step.after::<SMOOTH>(*distance, step.share(times / terms));
            }
            if let (Some(place), Some(moved)) = (place, moved) {
                block.distance[place] = moved;
                times[place] += 1.0;
            }
            if t > uncounted {
                block.add_up();
            }
        }
        block.most()
    }))
}
