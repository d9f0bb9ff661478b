//! What leaving one record out does to a ranker: predicted from one fit, and checked by fitting again.
//!
//! All of this is derived from records without noise. It is for the custodian alone, never part of a release, and never a basis for
//! noise: a sensitivity must hold for every table, an influence is about one.
//!
//! Letters: θ minimises L₀(θ) + (λ/2)‖θ‖², L₀ the mean over the n(n−1) ordered pairs; H is the Hessian of the whole at θ; S_i adds up the
//! gradients at θ of the pairs that hold record i.
//!
//! - *Same normaliser* (Kang et al., equation 4): H⁻¹S_i/(n(n−1)) is how far θ moves when the pairs of i are left out of the sum and it is
//!   still divided by n(n−1).
//! - *Centred*: H⁻¹(S_i/(n−1) − 2∇L₀)/(n−2) is how far θ moves when i is left out of the table, which divides by (n−1)(n−2). The two differ where
//!   there is a ridge, because it weighs more against a risk with a smaller normaliser.
//!
//! Both are exact up to a relative error of order 1/n.

use crate::AuditError;
use pairdp_pairwise::{MarginLoss, Objective, Problem, RankingForm, Records, kernel, solve_ridge};
use serde::Serialize;

/// What is left out, and what the rest is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The pairs of the record; by n(n−1) as before.
    SameNormaliser,
    /// The record; by (n−1)(n−2).
    Centred,
}

/// A ranker fitted without privacy, and what its records do to it.
pub struct Influence<'a> {
    problem: Problem,
    records: &'a Records,
    positive: Vec<usize>,
    negative: Vec<usize>,
    theta: Vec<f64>,
    hessian: Vec<f64>,
    /// ∇L₀ at θ, ridge excluded.
    gradient: Vec<f64>,
}

/// Newton steps that end a fit; each squares the error.
const MOST_STEPS: usize = 100;

impl<'a> Influence<'a> {
    /// Fits to the last digits.
    ///
    /// # Errors
    /// [`AuditError::NotSmooth`] for anything but a ranker with the logistic loss in the indicator form and a ridge, without
    /// a bound on its parameters; [`AuditError::Range`] below three records.
    pub fn fit(problem: Problem, records: &'a Records) -> Result<Self, AuditError> {
        let smooth = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
        if problem.objective() != smooth || problem.ridge() <= 0.0 || problem.domain().radius().is_finite() {
            return Err(AuditError::NotSmooth(
                "influence needs a smooth ranking risk with a ridge and no bound",
            ));
        }
        if records.len() < 3 {
            let value = records.len() as f64;
            return Err(AuditError::Range { what: "number of records", range: "at least 3", value });
        }
        let of_sign = |positive: bool| {
            (0..records.len()).filter(|&i| (records.targets()[i] > 0.0) == positive).collect::<Vec<usize>>()
        };
        let d = records.columns();
        let (positive, negative) = (of_sign(true), of_sign(false));
        let mut fitted = Self {
            problem,
            records,
            positive,
            negative,
            theta: vec![0.0; d],
            hessian: Vec::new(),
            gradient: Vec::new(),
        };
        let n = records.len() as f64;
        fitted.theta = fitted.minimise(None, n * (n - 1.0));
        (fitted.gradient, fitted.hessian) = fitted.derivatives(&fitted.theta, None, n * (n - 1.0));
        Ok(fitted)
    }

    /// θ.
    pub fn parameters(&self) -> &[f64] {
        &self.theta
    }

    /// How far θ moves when record i is left out, predicted.
    pub fn predicted(&self, i: usize, form: Form) -> Vec<f64> {
        let n = self.records.len() as f64;
        let touched = self.touched(i);
        let right: Vec<f64> = match form {
            Form::SameNormaliser => touched.iter().map(|s| s / (n * (n - 1.0))).collect(),
            Form::Centred => {
                let both = touched.iter().zip(&self.gradient);
                both.map(|(s, g)| (s / (n - 1.0) - 2.0 * g) / (n - 2.0)).collect()
            }
        };
        solve_ridge(&self.hessian, self.problem.ridge(), &right)
    }

    /// The same by fitting again.
    pub fn exact(&self, i: usize, form: Form) -> Vec<f64> {
        let n = self.records.len() as f64;
        let normaliser = match form {
            Form::SameNormaliser => n * (n - 1.0),
            Form::Centred => (n - 1.0) * (n - 2.0),
        };
        let without = self.minimise(Some(i), normaliser);
        without.iter().zip(&self.theta).map(|(a, b)| a - b).collect()
    }

    /// β(z_i; z_j, z_k) for a move of the parameters: how much it changes the loss of every pair, the mean and the largest over
    /// pairs with a loss.
    ///
    /// # Reference
    /// Kang et al., Definition 6.
    pub fn elastic(&self, moved: &[f64]) -> (f64, f64) {
        let there: Vec<f64> = self.theta.iter().zip(moved).map(|(a, b)| a + b).collect();
        let scores = |w: &[f64]| -> Vec<f64> {
            (0..self.records.len()).map(|i| kernel::score(self.records.row(i), w)).collect()
        };
        let (before, after) = (scores(&self.theta), scores(&there));
        let (mut sum, mut most) = (0.0, 0.0);
        for &p in &self.positive {
            for &q in &self.negative {
                let loss = |s: &[f64]| MarginLoss::Logistic.value(s[p] - s[q]);
                let change = (loss(&after) - loss(&before)).abs();
                sum += change;
                if change > most {
                    most = change;
                }
            }
        }
        let pairs = (self.positive.len() * self.negative.len()) as f64;
        (if pairs > 0.0 { sum / pairs } else { 0.0 }, most)
    }

    /// S_i.
    fn touched(&self, i: usize) -> Vec<f64> {
        let mut sum = vec![0.0; self.theta.len()];
        let own = self.records.targets()[i] > 0.0;
        for &other in if own { &self.negative } else { &self.positive } {
            let (p, q) = if own { (i, other) } else { (other, i) };
            let u = self.difference(p, q);
            let steepness = MarginLoss::Logistic.steepness(kernel::score(&u, &self.theta));
            sum.iter_mut().zip(&u).for_each(|(sum, u)| *sum -= steepness * u);
        }
        sum
    }

    fn difference(&self, p: usize, q: usize) -> Vec<f64> {
        self.records.row(p).iter().zip(self.records.row(q)).map(|(a, b)| a - b).collect()
    }

    /// Gradient and Hessian of the risk without a record, ridge excluded.
    fn derivatives(&self, w: &[f64], without: Option<usize>, normaliser: f64) -> (Vec<f64>, Vec<f64>) {
        let d = w.len();
        let (mut gradient, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
        for &p in self.positive.iter().filter(|&&p| Some(p) != without) {
            for &q in self.negative.iter().filter(|&&q| Some(q) != without) {
                let u = self.difference(p, q);
                let slope = MarginLoss::Logistic.steepness(kernel::score(&u, w)) / normaliser;
                let curvature = slope * (1.0 - slope * normaliser);
                for i in 0..d {
                    gradient[i] -= slope * u[i];
                    for j in 0..d {
                        hessian[i * d + j] += curvature * u[i] * u[j];
                    }
                }
            }
        }
        (gradient, hessian)
    }

    /// Newton's method from θ, or from 0 while there is none. With a ridge the risk is strongly convex, and logistic curvature
    /// varies so slowly over records of norm κ that whole steps converge from 0.
    fn minimise(&self, without: Option<usize>, normaliser: f64) -> Vec<f64> {
        let ridge = self.problem.ridge();
        let mut w = self.theta.clone();
        for _ in 0..MOST_STEPS {
            let (gradient, hessian) = self.derivatives(&w, without, normaliser);
            let slope: Vec<f64> = gradient.iter().zip(&w).map(|(g, w)| g + ridge * w).collect();
            let step = solve_ridge(&hessian, ridge, &slope);
            w.iter_mut().zip(&step).for_each(|(w, step)| *w -= step);
            if length(&step) <= 1e-13 * (1.0 + length(&w)) {
                break;
            }
        }
        w
    }
}

/// Euclidean length.
pub fn length(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// ‖a − b‖/‖b‖.
pub fn relative_error(a: &[f64], b: &[f64]) -> f64 {
    let apart: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    length(&apart) / length(b)
}
