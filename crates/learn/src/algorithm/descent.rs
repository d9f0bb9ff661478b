//! What all descents share: the step, and which iterates are kept.

use crate::Plan;
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Problem, Records};

/// w, and the running mean of the iterates that count.
pub(crate) struct Iterates {
    problem: Problem,
    plan: Plan,
    step: u32,
    current: Vec<f64>,
    sum: Vec<f64>,
}

impl Iterates {
    /// Starts at 0.
    pub(crate) fn new(problem: Problem, plan: Plan, parameters: usize) -> Self {
        Self { problem, plan, step: 0, current: vec![0.0; parameters], sum: vec![0.0; parameters] }
    }

    /// Where the next gradient is taken.
    pub(crate) fn current(&self) -> &[f64] {
        &self.current
    }

    /// w ← Π(w − η(gradient + λw)).
    pub(crate) fn step(&mut self, gradient: &[f64]) {
        let (rate, ridge) = (self.plan.step_size(), self.problem.ridge());
        for (value, slope) in self.current.iter_mut().zip(gradient) {
            *value -= rate * (slope + ridge * *value);
        }
        self.problem.domain().project(&mut self.current);
        self.step += 1;
        if self.step + self.plan.average().kept(self.plan.steps()) > self.plan.steps() {
            self.sum.iter_mut().zip(&self.current).for_each(|(sum, value)| *sum += value);
        }
    }

    /// The mean of the iterates that count.
    pub(crate) fn finish(self) -> Vec<f64> {
        let kept = f64::from(self.plan.average().kept(self.plan.steps()));
        let mut mean: Vec<f64> = self.sum.into_iter().map(|sum| sum / kept).collect();
        self.problem.domain().project(&mut mean);
        mean
    }
}

/// Descent without noise. What it returns is private data.
pub(crate) fn descend(problem: Problem, plan: Plan, records: &Records) -> Vec<f64> {
    let mut iterates = Iterates::new(problem, plan, problem.parameters(records.columns()));
    for _ in 0..plan.steps() {
        let gradient = kernel::gradient(problem, records, iterates.current(), Par::Parallel);
        iterates.step(&gradient);
    }
    iterates.finish()
}
