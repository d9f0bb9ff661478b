//! From what was released to the pairs that dominate it.
//!
//! Disjoint parts give *alternatives*: the differing record lies in one of them, so the whole is dominated by the
//! sequence of that part with everything else, and a claim must hold for each choice. Add-or-remove adjacency has
//! two directions, and a dominating pair for each.

use crate::AccountantError;
use crate::event::{Adjacency, Event, Release, Sampling};
use crate::gaussian;
use crate::moments::Term;
use crate::pair::Pair;

/// The most ways in which the differing record can be placed.
const MOST_ALTERNATIVES: usize = 256;
/// The most kept pairs per record for which the mixture is computed.
const MOST_PARTNERS: f64 = 200.0;

/// A dominating pair, how often, and whether some neighbours attain it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    term: Term,
    attained: bool,
}

/// One placement of the differing record, in one direction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Alternative {
    /// Dominates every pair of neighbours.
    pub(crate) upper: Vec<Term>,
    /// Each attained by some neighbours.
    pub(crate) lower: Vec<Vec<Term>>,
}

/// All placements and directions.
pub(crate) fn alternatives(event: &Event) -> Result<Vec<Alternative>, AccountantError> {
    let mut all = Vec::new();
    for steps in expand(event.release(), event.adjacency())? {
        let upper: Vec<Term> = steps.iter().map(|step| step.term).collect();
        let attained: Vec<Term> = steps.iter().filter(|step| step.attained).map(|step| step.term).collect();
        let symmetric = |term: &Term| matches!(term.pair, Pair::Symmetric { .. });
        let directed = |turn: fn(f64, f64) -> Pair| {
            let turned = attained.iter().map(|term| match term.pair {
                Pair::Symmetric { rate, shift } => Term { pair: turn(rate, shift), ..*term },
                _ => *term,
            });
            merge(turned)
        };
        let lower = if attained.iter().any(symmetric) {
            vec![
                directed(|rate, shift| Pair::Remove { rate, shift }),
                directed(|rate, shift| Pair::Add { rate, shift }),
            ]
        } else {
            vec![merge(attained.iter().copied())]
        };
        let merged = merge(upper.iter().copied());
        let reversed = merge(upper.iter().map(|term| Term { pair: term.pair.reversed(), ..*term }));
        let two_way = merged != reversed;
        // Removing first: it is the worse of the two directions nearly always.
        all.push(Alternative { upper: merged, lower });
        if two_way {
            let lower = vec![merge(attained.iter().map(|t| Term { pair: t.pair.reversed(), ..*t }))];
            all.push(Alternative { upper: reversed, lower });
        }
    }
    Ok(all)
}

fn expand(release: &Release, adjacency: Adjacency) -> Result<Vec<Vec<Step>>, AccountantError> {
    let one =
        |pair: Pair, count: u64, attained: bool| vec![vec![Step { term: Term { pair, count }, attained }]];
    match release {
        Release::Gaussian { noise_multiplier, sampling, times } => {
            let pair = gaussian_pair(1.0 / noise_multiplier, *sampling, adjacency)?;
            Ok(one(pair, *times, true))
        }
        Release::Pure { epsilon, sampling, times } => {
            let epsilon = pure_epsilon(*epsilon, *sampling, adjacency)?;
            Ok(one(Pair::RandomisedResponse { epsilon }, *times, false))
        }
        Release::LastIterate(run) => Ok(one(Pair::Gaussian { shift: run.ratio()? }, 1, false)),
        Release::Sequence { parts } => {
            let mut all = vec![Vec::new()];
            for part in parts {
                let choices = expand(part, adjacency)?;
                let longer = all.iter().flat_map(|steps: &Vec<Step>| {
                    choices.iter().map(move |choice| [steps.as_slice(), choice.as_slice()].concat())
                });
                all = longer.collect();
                within_limit(all.len())?;
            }
            Ok(all)
        }
        Release::Disjoint { parts } => {
            let mut all = vec![];
            for part in parts {
                all.extend(expand(part, adjacency)?);
                within_limit(all.len())?;
            }
            // A record may also lie in no part at all.
            if all.is_empty() {
                all.push(Vec::new());
            }
            Ok(all)
        }
    }
}

fn within_limit(count: usize) -> Result<(), AccountantError> {
    if count <= MOST_ALTERNATIVES {
        Ok(())
    } else {
        Err(AccountantError::Unsupported("so many combinations of disjoint parts"))
    }
}

fn gaussian_pair(shift: f64, sampling: Sampling, adjacency: Adjacency) -> Result<Pair, AccountantError> {
    match (sampling, adjacency.is_secret_size()) {
        (Sampling::None, _) => Ok(Pair::Gaussian { shift }),
        (Sampling::FixedSize { batch, records }, false) => {
            Ok(Pair::Symmetric { rate: batch as f64 / records as f64, shift })
        }
        (Sampling::OneIndex { records }, false) => Ok(Pair::Symmetric { rate: 1.0 / records as f64, shift }),
        (Sampling::PoissonRecords { rate }, false) => Ok(Pair::PlusMinus { rate, radius: shift }),
        (Sampling::PoissonRecords { rate }, true) => Ok(Pair::Remove { rate, shift }),
        (Sampling::PoissonPairs { records, expected_pairs }, false) => {
            let n = records as f64;
            let rate = expected_pairs / (n * (n - 1.0) / 2.0);
            if rate < 1.0 && rate * n > MOST_PARTNERS {
                return Err(AccountantError::Unsupported("more than 200 kept pairs per record"));
            }
            Ok(Pair::PoissonPairs { partners: records - 1, rate, radius: shift })
        }
        (Sampling::FixedSize { .. } | Sampling::OneIndex { .. }, true) => {
            Err(AccountantError::Unsupported("fixed-size samples under add-or-remove adjacency"))
        }
        (Sampling::PoissonPairs { .. }, true) => {
            Err(AccountantError::Unsupported("Poisson over pairs under add-or-remove adjacency"))
        }
    }
}

/// ε of a pure release on a sample: log(1 + q(e^ε − 1)), rounded up.
fn pure_epsilon(epsilon: f64, sampling: Sampling, adjacency: Adjacency) -> Result<f64, AccountantError> {
    let rate = match (sampling, adjacency.is_secret_size()) {
        (Sampling::None, _) => return Ok(epsilon),
        (Sampling::FixedSize { batch, records }, false) => batch as f64 / records as f64,
        (Sampling::OneIndex { records }, false) => 1.0 / records as f64,
        (Sampling::PoissonRecords { rate }, true) => rate,
        _ => return Err(AccountantError::Unsupported("a pure release on this kind of sample")),
    };
    let amplified = if epsilon < 700.0 { (rate * epsilon.exp_m1()).ln_1p() } else { epsilon };
    Ok(pairdp_units::directed::up_by(amplified, 8.0))
}

/// Equal pairs counted together, all plain Gaussian ones as one, nothing that costs nothing.
fn merge(terms: impl Iterator<Item = Term>) -> Vec<Term> {
    let mut merged: Vec<Term> = Vec::new();
    let mut shifts: Vec<(f64, u64)> = Vec::new();
    for term in terms {
        if term.count == 0 {
            continue;
        }
        if let Some(shift) = term.pair.as_gaussian() {
            if shift > 0.0 {
                shifts.push((shift, term.count));
            }
        } else if let Some(known) = merged.iter_mut().find(|known| known.pair == term.pair) {
            known.count = known.count.saturating_add(term.count);
        } else {
            merged.push(term);
        }
    }
    if !shifts.is_empty() {
        // In a fixed order, so that the order of releases cannot matter.
        shifts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let shift = gaussian::compose(shifts.iter().map(|&(shift, count)| shift * (count as f64).sqrt()));
        merged.push(Term { pair: Pair::Gaussian { shift }, count: 1 });
    }
    merged.sort_by(|a, b| key(a.pair).partial_cmp(&key(b.pair)).unwrap_or(std::cmp::Ordering::Equal));
    merged
}

/// An order of pairs.
fn key(pair: Pair) -> (u8, f64, f64) {
    match pair {
        Pair::Gaussian { shift } => (0, 1.0, shift),
        Pair::Remove { rate, shift } => (1, rate, shift),
        Pair::Add { rate, shift } => (2, rate, shift),
        Pair::Symmetric { rate, shift } => (3, rate, shift),
        Pair::PlusMinus { rate, radius } => (4, rate, radius),
        Pair::PoissonPairs { partners, rate, radius } => (5, partners as f64 * rate, radius),
        Pair::RandomisedResponse { epsilon } => (6, epsilon, 0.0),
    }
}
