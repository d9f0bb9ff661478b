//! What all descents share: the step, and which iterates are kept.

use crate::Plan;
use pairdp_certificate::Average;
use pairdp_model::kept;
use pairdp_pairwise::Problem;
use serde::{Deserialize, Serialize};

/// w, and the running sum of the iterates that count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Iterates {
    #[serde(rename = "step")]
    taken: u32,
    current: Vec<f64>,
    sum: Vec<f64>,
    /// What steps with momentum repeat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    velocity: Vec<f64>,
}

/// A descent's public numbers.
#[derive(Debug, Clone, Copy)]
pub struct Descent {
    pub(crate) problem: Problem,
    pub(crate) steps: u32,
    pub(crate) step_size: f64,
    pub(crate) average: Average,
    /// β; 0 for plain steps.
    pub(crate) momentum: f64,
}

impl Descent {
    /// A plan's.
    pub fn of(problem: Problem, plan: Plan) -> Self {
        let (steps, step_size) = (plan.steps(), plan.step_size());
        Self { problem, steps, step_size, average: plan.average(), momentum: plan.momentum() }
    }
}

impl Iterates {
    /// Starts at given parameters.
    pub(crate) fn from(start: &[f64]) -> Self {
        Self { taken: 0, current: start.to_vec(), sum: vec![0.0; start.len()], velocity: Vec::new() }
    }

    /// Where the next gradient is taken.
    pub(crate) fn current(&self) -> &[f64] {
        &self.current
    }

    /// Steps taken.
    pub(crate) fn taken(&self) -> u32 {
        self.taken
    }

    /// w ← Π(w − η(gradient + λw)); with momentum β, w ← Π(w − η(1 − β)v) after v ← βv + gradient + λw.
    pub(crate) fn step(&mut self, descent: &Descent, gradient: &[f64]) {
        let (rate, ridge, beta) = (descent.step_size, descent.problem.ridge(), descent.momentum);
        if beta > 0.0 {
            self.velocity.resize(gradient.len(), 0.0);
            let velocity = self.velocity.iter_mut().zip(gradient).zip(&mut self.current);
            for ((velocity, slope), value) in velocity {
                *velocity = beta * *velocity + (slope + ridge * *value);
                *value -= rate * (1.0 - beta) * *velocity;
            }
        } else {
            for (value, slope) in self.current.iter_mut().zip(gradient) {
                *value -= rate * (slope + ridge * *value);
            }
        }
        descent.problem.project(&mut self.current);
        self.taken += 1;
        if self.taken + kept(descent.average, descent.steps) > descent.steps {
            self.sum.iter_mut().zip(&self.current).for_each(|(sum, value)| *sum += value);
        }
    }

    /// Whether it has the shape of another.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        let velocity = self.velocity.is_empty() || self.velocity.len() == other.current.len();
        velocity && self.current.len() == other.current.len() && self.sum.len() == other.sum.len()
    }

    /// Goes on from a result.
    pub(crate) fn replace(&mut self, result: Vec<f64>) {
        self.current = result;
        self.taken += 1;
    }

    /// Where it is.
    pub(crate) fn into_current(self) -> Vec<f64> {
        self.current
    }

    /// The mean of the iterates that count.
    pub(crate) fn finish(self, descent: &Descent) -> Vec<f64> {
        let kept = f64::from(kept(descent.average, descent.steps));
        let mut mean: Vec<f64> = self.sum.into_iter().map(|sum| sum / kept).collect();
        descent.problem.project(&mut mean);
        mean
    }
}
