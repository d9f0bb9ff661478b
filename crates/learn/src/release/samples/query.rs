//! What the curator computes of its records for a secret sample.

use super::Samples;
use crate::LearnError;
use crate::release::curator::{Curator, check_slopes, count, here};
use crate::release::walk::pair_term;
use crate::release::{Family as _, Mechanism, PublicFacts, packing};
use crate::spec::order::{distinct_pair, samples};
use pairdp_noise::Source;
use pairdp_noise::lattice::Lattice;
use pairdp_pairwise::{Constants, Objective, Problem, Records, kernel};

/// Lattice and noise of the next steps, drawn at once; and their records, which do not depend on what is released in between:
/// memory brings the rows of many steps together as fast as those of one.
pub(in crate::release) struct Ahead {
    lattice: Lattice,
    noise: Vec<i64>,
    used: usize,
    sample: Option<Records>,
    /// The first of the sample that the next step takes.
    next: usize,
}

/// About as many noise values are drawn at once.
const AHEAD: usize = 4096;

impl Ahead {
    /// None drawn yet.
    pub(in crate::release) fn new(samples: &Samples) -> Result<Self, LearnError> {
        let p = samples.coordinates();
        let rows = (AHEAD / p).clamp(1, samples.steps() as usize);
        let (noise, used) = (vec![0; rows * p], rows * p);
        Ok(Self { lattice: samples.lattice()?, noise, used, sample: None, next: 0 })
    }
}

impl<S: Source> Curator<S> {
    /// The gradient of a uniform pair (or record), or the mean over pairs kept independently, at public parameters, with
    /// noise. Which pairs they were stays secret: the guarantee rests on that.
    ///
    /// # Errors
    /// As [`Curator::noisy_gradient`]; [`LearnError::OutsideDomain`] for parameters that the noise does not cover.
    pub fn noisy_sample(&mut self, parameters: &[f64], out: &mut [f64]) -> Result<(), LearnError> {
        let PublicFacts { problem, plan, features, .. } = self.public();
        let p = packing::coordinates(problem, features);
        let (Mechanism::Samples(mechanism), Some(ahead)) = (&self.mechanism, &mut self.ahead) else {
            return Err(LearnError::WrongQuery("a sampled gradient"));
        };
        check_slopes(problem, parameters)?;
        count(&mut self.made, mechanism.steps())?;
        if ahead.used + p > ahead.noise.len() {
            ahead.lattice.fill(&mut self.source, &mut ahead.noise);
            ahead.used = 0;
            if mechanism.kept().is_none() {
                // As many steps as there is noise for.
                let pairs = !matches!(problem.objective(), Objective::Pointwise { .. });
                let table = here(&self.table)?;
                let (steps, n) = (ahead.noise.len() / p, table.len() as u64);
                let positions = samples(&mut self.source, pairs, steps, n);
                match &mut ahead.sample {
                    Some(sample) => table.select_into(&positions, sample),
                    none => *none = Some(table.select(&positions)),
                }
                ahead.next = 0;
            }
        }
        if let Some(sample) = &ahead.sample {
            ahead.next += next_term(problem, &self.constants, sample, ahead.next, parameters, out);
        } else {
            let table = here(&self.table)?;
            kept_pairs(mechanism, &self.constants, table, &mut self.source, parameters, out);
        }
        let noise = &ahead.noise[ahead.used..ahead.used + p];
        ahead.used += p;
        if p == out.len() {
            ahead.lattice.release_in_place(out, noise);
        } else {
            let mut packed = packing::pack(problem, features, out.to_vec());
            ahead.lattice.release_in_place(&mut packed, noise);
            out.copy_from_slice(&packing::unpack(problem, features, packed));
        }
        if let Some(pairs) = plan.expected_pairs() {
            out.iter_mut().for_each(|value| *value /= pairs);
        }
        self.note(parameters, out);
        Ok(())
    }
}

/// The exact gradient of the next pair or record of a sample, from the `next` of its records on, and how many of them it took.
fn next_term(
    problem: Problem,
    constants: &Constants,
    sample: &Records,
    next: usize,
    parameters: &[f64],
    out: &mut [f64],
) -> usize {
    if let Objective::Pointwise { .. } = problem.objective() {
        kernel::record_gradient(problem, constants, sample, next, parameters, out);
        1
    } else {
        pair_term(problem, constants, sample, (next, next + 1), parameters, out);
        2
    }
}

/// The exact sum of the gradients of pairs that are each kept in secret.
fn kept_pairs<S: Source>(
    mechanism: &Samples,
    constants: &Constants,
    records: &Records,
    source: &mut S,
    parameters: &[f64],
    out: &mut [f64],
) {
    let problem = mechanism.common().public.problem;
    let n = records.len() as u64;
    let Some(kept) = mechanism.kept() else { return };
    let count = kept.draw(source);
    let mut pairs: Vec<(usize, usize)> = Vec::with_capacity(count);
    while pairs.len() < count {
        let (i, j) = distinct_pair(source, n);
        let pair = if i < j { (i, j) } else { (j, i) };
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    out.fill(0.0);
    let mut term = vec![0.0; out.len()];
    for pair in pairs {
        pair_term(problem, constants, records, pair, parameters, &mut term);
        out.iter_mut().zip(&term).for_each(|(sum, value)| *sum += value);
    }
}
